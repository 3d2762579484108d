"""A reader's own data: every claim of every paper is asked whether it speaks about it, and what it finds."""

import logging
from typing import Any

from pydantic import ValidationError

from widenet import papers
from widenet.claims import Claim, Evidence, Silence
from widenet.claims.specimen import Choices, Specimen
from widenet.errors import InputError, StoreError, UnknownName
from widenet.progress import Progress, parts, silent
from widenet.run.cells import Cells, Task
from widenet.run.executors import InProcess
from widenet.run.outcomes import read_all
from widenet.run.watch import InTurn
from widenet.store import Store, default_root
from widenet.types import Dataset

logger = logging.getLogger(__name__)


class Mishap(Silence):
    """A claim that should have spoken and could not: a mistake in this program, not in the data."""

    __slots__ = ()


def check_on(
    data: Dataset, *, store: Store | None = None, progress: Progress = silent, **choices: Any
) -> dict[str, Evidence | Silence]:
    """What the claims of all papers say about this data, by their ids in the order of the papers.

    Claims that read the same runs share one training.

    Arguments:
      data: one data set, as `from_arrays`, `load_csv` or the data sets of this package give it.
      store: where runs are kept; by default where the command line keeps them. The data itself is not kept.
      choices: fields of `widenet.claims.specimen.Choices`, such as n_runs, n_neurons, slope, step_size and seed.

    Raises:
      InputError: the choices are wrong, or the data is not one data set.
      StoreError: the store cannot be read or written.
    """
    specimen = Specimen(data, _choices(choices))
    cells = Cells(store or Store(default_root()), InProcess())
    return {claim.id: _ask(claim, specimen, cells, share) for claim, share in parts(papers.claims_of(), progress)}


def _ask(claim: Claim, specimen: Specimen, cells: Cells, progress: Progress) -> Evidence | Silence:
    try:
        answer = claim.on(specimen)
        if not isinstance(answer, Silence):
            found = claim.judge(answer) if claim.draws is not None else _run(claim, answer, cells, progress)
            answer = _with_reasons(found, specimen)
    except StoreError:
        raise
    except InputError as refusal:
        answer = Silence(f"It cannot be checked on this data: {refusal}")
    except Exception as error:
        logger.exception("%s failed on a reader's data", claim.id)
        answer = Mishap(f"Its check failed, which is a mistake in widenet: {type(error).__name__}: {error}")
    progress(1.0, claim.id)
    return answer


def _with_reasons(found: Evidence, specimen: Specimen) -> Evidence:
    """The certificate that was found on the data, beside the hypothesis that it decides or leaves open."""
    open_here = {each.key for each in found.hypotheses if each.key == "separable" and not each.met}
    if not open_here:
        return found
    why = specimen.separation.sentence
    hypotheses = [each.model_copy(update={"why": why}) if each.key in open_here else each for each in found.hypotheses]
    return found.model_copy(update={"hypotheses": tuple(hypotheses)})


def _run(claim: Claim, settings: Any, cells: Cells, progress: Progress) -> Evidence:
    groups = [settings] if len(claim.reads) == 1 else settings
    tasks = [[Task(experiment, each) for each in group] for experiment, group in zip(claim.reads, groups, strict=True)]
    missing = cells.missing(task for group in tasks for task in group)
    readings = read_all(tasks, cells, InTurn(progress, len(missing)))
    return claim.judge(*([each.result for each in group] for group in readings))


def _choices(given: dict[str, Any]) -> Choices:
    for name in given:
        if name not in Choices.model_fields:
            raise UnknownName("choice", name, Choices.model_fields)
    try:
        return Choices(**given)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"{first['loc'][0]}: {first['msg'].lower()}, got {first['input']!r}.") from None
