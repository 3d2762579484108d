"""A reader's own data: every claim of every paper is asked whether it speaks about it, and what it finds."""

import logging
import os
import re
from collections.abc import Sequence
from typing import Any

from widenet import papers
from widenet.claims import Claim, Evidence, NotApplicable
from widenet.claims.applicability import Applied
from widenet.claims.hypotheses import normalized
from widenet.claims.user_data import Choices, UserData
from widenet.data.arrays import from_arrays
from widenet.data.tables import load_file
from widenet.errors import DataError, InputError, StoreError
from widenet.progress import Progress, parts, require_progress, silent
from widenet.run.answers import Answers
from widenet.run.cells import Cells, tasks_at
from widenet.run.failures import CellFailed
from widenet.run.outcomes import cells_of, read_all
from widenet.run.watch import InTurn
from widenet.store import Store
from widenet.types import Dataset

logger = logging.getLogger(__name__)

DataLike = Any
"""A `Dataset`, the name of a file, or a pair of arrays: inputs and labels."""


class Mishap(NotApplicable):
    """A claim that should have spoken and could not: a mistake in this program, not in the data."""

    __slots__ = ()


def check_on(
    data: DataLike,
    *claims: Claim | str | Sequence[Claim | str],
    paper: str | None = None,
    store: Store | None = None,
    progress: Progress = silent,
    **choices: Any,
) -> Answers:
    """Check claims on your data: those that are named, those of a paper, or all, in the order of the papers.

    Claims that read the same runs share one training.

    Arguments:
      claims: claims or their ids, such as "brutzkus2018.theorem_2"; or one list of them.
      data: one data set, as `from_arrays`, `load_csv` or the data sets of this package give it; or the name of a
        file (.csv, .tsv, .npz, .parquet); or a pair of arrays, inputs and labels.
      paper: the key of a paper, such as "brutzkus2018": its claims alone are checked.
      store: where runs are kept; by default where the command line keeps them. The data itself is not kept.
      choices: fields of `Choices`, such as n_runs, n_neurons, slope, step_size and seed.

    Raises:
      InputError: a claim or the paper is unknown, the choices are wrong, or the data is not one data set, or cannot be
        read.
      StoreError: the store cannot be read or written.
    """
    require_progress(progress)
    if claims and paper is not None:
        raise InputError(f"name claims or a paper, not both; got paper={paper!r} and {len(claims)} claims.")
    listed = claims[0] if len(claims) == 1 and isinstance(claims[0], list | tuple) else claims
    if claims and not listed:
        raise InputError("the list of claims is empty; leave it out to check all.")
    named = [papers.claim_of(each) for each in listed]
    chosen = named or papers.claims_of(paper)
    return _answers(chosen, UserData(_dataset(data), Choices(**choices)), cells_of(store), progress)


def _answers(claims: Sequence[Claim], user_data: UserData, cells: Cells, progress: Progress) -> Answers:
    return Answers({claim.id: ask(claim, user_data, cells, share) for claim, share in parts(claims, progress)})


def ask(claim: Claim, user_data: UserData, cells: Cells, progress: Progress = silent) -> Evidence | NotApplicable:
    """What one claim says about user data; what it trains is found in these cells, or computed into them.

    Raises:
      StoreError: the store cannot be read or written.
    """
    try:
        answer = claim.on(user_data)
        if not isinstance(answer, NotApplicable):
            applied = answer if isinstance(answer, Applied) else Applied(answer)
            material = applied.settings
            found = claim(material) if claim.draws is not None else _run(claim, material, cells, progress)
            answer = _with_reasons(_told(found, applied, _not_used(claim, user_data, applied.note)), user_data)
    except StoreError:
        raise
    except CellFailed as error:
        logger.error("%s: %s\n%s", claim.id, error, error.failure.traceback)
        answer = Mishap(f"Its check failed, which is a mistake in widenet: {error}.")
    except InputError as refusal:
        answer = NotApplicable(f"It cannot be checked on this data: {refusal}")
    except Exception as error:
        logger.exception("%s failed on your data", claim.id)
        answer = Mishap(f"Its check failed, which is a mistake in widenet: {type(error).__name__}: {error}")
    progress(1.0, claim.id)
    return answer


def _with_reasons(found: Evidence, user_data: UserData) -> Evidence:
    """The certificate that was found on the data, beside the hypothesis that it decides or leaves open."""
    open_here = {each.key for each in found.hypotheses if each.key == "separable" and not each.met}
    if not open_here:
        return found
    why = user_data.separation.sentence
    hypotheses = [each.model_copy(update={"why": why}) if each.key in open_here else each for each in found.hypotheses]
    return found.model_copy(update={"hypotheses": tuple(hypotheses)})


def _not_used(claim: Claim, user_data: UserData, said: str) -> str:
    """The choices that do not reach this claim, where its own words do not name them."""
    unnamed = [
        f"{name} = {value}"
        for name, value in user_data.unreached(claim.ways).items()
        if not re.search(rf"\b{name}\b", said)
    ]
    return f"Not used here: {', '.join(unnamed)}." if unnamed else ""


def _told(found: Evidence, applied: Applied, not_used: str) -> Evidence:
    """What has to be said about these runs: at the end of the note, and beside what their preparation makes true."""
    choices, note = applied.normalized, " ".join(filter(None, (found.note, applied.note, not_used)))
    hypotheses = tuple(
        normalized(each, choices[each.key]) if each.key in choices else each for each in found.hypotheses
    )
    return found.model_copy(update={"hypotheses": hypotheses, "note": note})


def _run(claim: Claim, settings: Any, cells: Cells, progress: Progress) -> Evidence:
    groups = [settings] if len(claim.reads) == 1 else settings
    tasks = [tasks_at(experiment, group) for experiment, group in zip(claim.reads, groups, strict=True)]
    missing = cells.missing(task for group in tasks for task in group)
    readings = read_all(tasks, cells, InTurn(progress, len(missing)))
    found = claim(*([each.result for each in group] for group in readings))
    return found.model_copy(update={"settings": tuple(task.row for group in tasks for task in group)})


def _dataset(given: Any) -> Dataset:
    match given:
        case Dataset():
            return given
        case str() | os.PathLike():
            return load_file(os.fspath(given))
        case (inputs, labels):
            return from_arrays(inputs, labels)
    raise DataError(
        f"data must be a Dataset, the name of a file, or a pair (inputs, labels), got "
        f"{type(given).__name__}; widenet.from_arrays(inputs, labels) makes a Dataset."
    )
