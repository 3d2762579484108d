"""Small changes that would make a theorem apply, each verified by asking it again with the change made."""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
import scipy.optimize

from widenet import papers
from widenet.certificates.clock import Clock, OutOfTime
from widenet.certificates.promises import promises_of
from widenet.certificates.rows import Row
from widenet.certificates.views import View
from widenet.claims import Evidence, Verdict
from widenet.claims.specimen import Specimen
from widenet.diagnostics import find_separator
from widenet.errors import DataError
from widenet.progress import Progress, parts, silent
from widenet.records import ClosedModel
from widenet.run import ask
from widenet.run.cells import Cells
from widenet.types import Dataset

MOST_NUMBERS = 300_000
"""Above so many numbers the program that looks for points to leave out would take minutes."""
MOST_PUT_BACK = 25
"""More points than this, or points of large data, are not put back one by one: each takes a program of its own."""
FACTORS = (2, 4)
SHOWN = 8
WANTING = (Verdict.HYPOTHESES_NOT_MET, Verdict.INSUFFICIENT_EVIDENCE)


class Change(ClosedModel):
    """A change that makes a theorem apply.

    Attributes:
      id: of the claim.
      words: what to change.
      left_out: the rows (from 1) of the points that would be left out.
      margin: how far the closest point is from the best flat boundary then; None where no point is left out.
      before, after: the verdict without it and with it.
      result: what the theorem says then, in a line.
      gain: what it promises then, in plain words; "" where it has none.
    """

    id: str
    words: str
    left_out: tuple[int, ...] = ()
    margin: float | None = None
    before: Verdict
    after: Verdict
    result: str
    gain: str = ""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A changed specimen."""

    words: str
    specimen: Specimen
    left_out: tuple[int, ...] = ()


def small_changes(
    rows: Sequence[Row], views: Sequence[View], cells: Cells, clock: Clock, progress: Progress = silent
) -> list[Change]:
    """For each main result that does not apply, or was not confirmed, the first change with which it does.

    Raises:
      StoreError: the store cannot be read or written.
    """
    by_name = {view.name: view for view in views}
    claims = {claim.id: claim for claim in papers.claims_of()}
    wanting = [row for row in rows if row.about in by_name and row.verdict in WANTING]
    # A warning that applies is no gain, so changes for the others are looked for first.
    wanting.sort(key=lambda row: row.meaning is None or row.meaning.topic.is_warning)
    found = []
    for row, share in parts(wanting, progress):
        view = by_name[row.about]
        for candidate in _candidates(row, view.specimen, view.rows):
            if clock.left <= 0:
                return found
            try:
                answer = ask(claims[row.id], candidate.specimen, cells, clock.share(0.3).watched(share))
            except OutOfTime:
                break
            if isinstance(answer, Evidence) and _is_better(row, answer) and row.verdict is not None:
                found.append(
                    Change(
                        id=row.id,
                        words=candidate.words,
                        left_out=candidate.left_out,
                        margin=_margin(candidate),
                        before=row.verdict,
                        after=answer.verdict,
                        result=str(answer),
                        gain=_gain(row, answer),
                    )
                )
                break
    return found


def _margin(candidate: Candidate) -> float | None:
    """How widely the points that are left are separated."""
    specimen = candidate.specimen
    if not candidate.left_out or not specimen.has_signs_as_labels or not specimen.separation.separable:
        return None
    return specimen.separation.margin


def _gain(row: Row, answer: Evidence) -> str:
    promised = promises_of([row.model_copy(update={"evidence": answer})])
    return f"{promised[0].words} ({promised[0].standing.value})" if promised else ""


def _is_better(row: Row, answer: Evidence) -> bool:
    """Whether the theorem applies now, or is confirmed now."""
    if row.verdict is Verdict.HYPOTHESES_NOT_MET:
        return all(each.met for each in answer.hypotheses)
    return answer.verdict is Verdict.HOLDS


def _candidates(row: Row, specimen: Specimen, numbers: np.ndarray) -> Iterator[Candidate]:
    """Changes worth trying, the least first."""
    choices = specimen.choices
    if row.verdict is Verdict.INSUFFICIENT_EVIDENCE:
        for factor in (10, 100):
            allowed = 2_000 * factor
            more = choices.model_copy(update={"max_updates": allowed})
            yield Candidate(f"allow {allowed:,} updates", Specimen(specimen.data, more))
        return
    for make in (_without_repeats, _without_clashes):
        if (candidate := make(specimen, numbers)) is not None:
            yield candidate
    for factor in FACTORS:
        wider = choices.model_copy(update={"n_neurons": choices.n_neurons * factor})
        yield Candidate(f"take {wider.n_neurons} neurons or more", Specimen(specimen.data, wider))
    for factor in (0.1, 10.0):
        other = choices.model_copy(update={"step_size": choices.step_size * factor})
        bound = "at most" if factor < 1 else "at least"
        yield Candidate(f"take a step size of {bound} {other.step_size:g}", Specimen(specimen.data, other))


def _left_out(specimen: Specimen, drop: np.ndarray, numbers: np.ndarray, why: str) -> Candidate:
    keep = np.setdiff1d(np.arange(len(specimen.labels)), drop)
    data = Dataset(jnp.asarray(specimen.inputs[keep]), jnp.asarray(specimen.labels[keep]))
    rows = tuple(int(numbers[place]) + 1 for place in drop)
    named = ", ".join(map(str, rows[:SHOWN])) + (", …" if len(rows) > SHOWN else "")
    words = (
        f"leave out {len(rows):,} of the {len(specimen.labels):,} points, {why} (row{'s' if len(rows) > 1 else ''} "
        f"{named}; the first point is row 1)"
    )
    return Candidate(words, Specimen(data, specimen.choices), rows)


def _without_repeats(specimen: Specimen, numbers: np.ndarray) -> Candidate | None:
    """Points in the direction of an earlier one are left out."""
    norms = np.linalg.norm(specimen.inputs, axis=1, keepdims=True)
    units = np.round(specimen.inputs / np.where(norms > 0, norms, 1.0), 9) + 0.0
    first = np.unique(units, axis=0, return_index=True)[1]
    drop = np.setdiff1d(np.arange(len(units)), first)
    if not len(drop) or len(drop) > len(units) // 2:
        return None
    return _left_out(specimen, drop, numbers, "in the same direction from the origin as an earlier one")


def _without_clashes(specimen: Specimen, numbers: np.ndarray) -> Candidate | None:
    """Points on the wrong side of the flat boundary that is least wrong are left out; verified to be enough."""
    drop = clashing(specimen)
    return None if drop is None else _left_out(specimen, drop, numbers, "on the wrong side of the best flat boundary")


@functools.lru_cache(maxsize=4)
def clashing(specimen: Specimen) -> np.ndarray | None:
    """Points without which a flat boundary separates the rest, and of which none can be put back if they are few.

    A linear program finds them. There may be fewer: the least number is hard to find.

    None where the data is separable as it is, too large, or more than half would have to go.
    """
    if not specimen.has_signs_as_labels or specimen.inputs.size > MOST_NUMBERS:
        return None
    if specimen.separation.separable is not False:
        return None
    signed = specimen.labels[:, None] * specimen.inputs
    count, dim = signed.shape
    solved = scipy.optimize.linprog(
        np.r_[np.zeros(dim), np.ones(count)],
        A_ub=-np.hstack([signed, np.eye(count)]),
        b_ub=-np.ones(count),
        bounds=[(None, None)] * dim + [(0, None)] * count,
        method="highs",
        options={"time_limit": 5.0},
    )
    if solved.x is None:
        return None
    drop = np.flatnonzero(signed @ solved.x[:dim] <= 1e-7)
    rest = np.setdiff1d(np.arange(count), drop)
    if not len(drop) or len(drop) > count // 2 or len(np.unique(specimen.labels[rest])) < 2:
        return None
    try:
        left = find_separator(Dataset(jnp.asarray(specimen.inputs[rest]), jnp.asarray(specimen.labels[rest])))
    except DataError:
        return None
    return _put_back(specimen, drop) if left.separable else None


def _put_back(specimen: Specimen, drop: np.ndarray) -> np.ndarray:
    """Those of the points that still have to go when each is put back in turn; all of them where that takes long."""
    if len(drop) > MOST_PUT_BACK or len(drop) * specimen.inputs.size > MOST_NUMBERS:
        return drop
    inputs, labels = specimen.inputs, specimen.labels
    for point in drop:
        rest = np.setdiff1d(np.arange(len(labels)), drop[drop != point])
        if find_separator(Dataset(jnp.asarray(inputs[rest]), jnp.asarray(labels[rest]))).separable:
            drop = drop[drop != point]
    return drop
