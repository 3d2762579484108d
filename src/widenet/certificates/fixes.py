"""Small changes that would make a theorem apply, each verified by asking it again with the change made."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeGuard

import jax.numpy as jnp
import numpy as np

from widenet import papers
from widenet.certificates.data_forms import DataForm
from widenet.certificates.misplaced_points import clashing
from widenet.certificates.promises import promises_of
from widenet.certificates.rows import ClaimRow
from widenet.certificates.time_limit import OutOfTime, TimeLimit
from widenet.claims import Claim, Evidence, NotApplicable, Verdict
from widenet.claims.user_data import UserData
from widenet.data.arrays import scale_to_unit_ball, with_bias
from widenet.progress import Progress, parts, silent
from widenet.records import ClosedModel
from widenet.run import ask
from widenet.run.cells import Cells
from widenet.types import Dataset

MOST_NUMBERS = 300_000
"""Of larger data no points are left out: it would take minutes to see what follows."""
BISECTIONS = 6
CLOSE = 1.1
"""Step sizes are not tried any finer than by this factor."""
SHOWN = 8


class Change(ClosedModel):
    """A change that makes a theorem apply.

    Attributes:
      id: of the claim.
      words: what to change.
      about: which form of the data it was verified on; "" for the data as it was prepared.
      left_out: the rows (from 1) of the points that would be left out.
      margin: the margin that the theorem gets then, of boundaries through the origin; None where no point is left out.
      before, after: the verdict without it and with it.
      result: what the theorem says then, in a line.
      gain: what it promises then, in plain words; "" where it has none.
      is_for_a_warning: whether that is no good news, so that nobody would make the change for its sake.
    """

    id: str
    words: str
    about: str = ""
    left_out: tuple[int, ...] = ()
    margin: float | None = None
    before: Verdict
    after: Verdict
    result: str
    gain: str = ""
    is_for_a_warning: bool = False


@dataclass(frozen=True, eq=False)
class Candidate:
    """A changed user_data.

    Attributes:
      words: what was changed; `{other}` in it is a value of the same choice that is not enough.
      choice, value: your choice that was changed, and its value; None where points were.
    """

    words: str
    user_data: UserData
    left_out: tuple[int, ...] = ()
    choice: str = ""
    value: int | float = 0


def small_changes(
    rows: Sequence[ClaimRow], views: Sequence[DataForm], cells: Cells, clock: TimeLimit, progress: Progress = silent
) -> list[Change]:
    """For each main result whose assumptions fail, the first change that you can make with which they hold.

    Raises:
      StoreError: the store cannot be read or written.
    """
    by_name = {view.name: view for view in views}
    claims = {claim.id: claim for claim in papers.claims_of()}
    wanting = [row for row in rows if row.about in by_name and row.verdict is Verdict.HYPOTHESES_NOT_MET]
    # A warning that applies is no gain, so changes for the others are looked for first.
    wanting.sort(key=lambda row: row.meaning is None or row.meaning.topic.is_warning)
    found = []
    for row, share in parts(wanting, progress):
        trial = Retrial(claims[row.id], row, cells, clock, share)
        view = by_name[row.about]
        for candidate in _candidates(row, view.user_data, view.rows):
            if clock.left <= 0:
                return found
            answer = trial.answer(candidate)
            if answer is None:
                break
            if trial.helps(answer) and row.verdict is not None:
                candidate, answer, words = _least(candidate, answer, view.user_data, trial)
                found.append(
                    Change(
                        id=row.id,
                        words=words,
                        about=row.about,
                        left_out=candidate.left_out,
                        margin=_margin(candidate),
                        before=row.verdict,
                        after=answer.verdict,
                        result=str(answer),
                        gain=_gain(row, answer),
                        is_for_a_warning=row.meaning is not None and row.meaning.topic.is_warning,
                    )
                )
                break
    return found


@dataclass(frozen=True, eq=False)
class Retrial:
    """A claim that is asked again."""

    claim: Claim
    row: ClaimRow
    cells: Cells
    clock: TimeLimit
    progress: Progress

    def answer(self, candidate: Candidate) -> Evidence | NotApplicable | None:
        """What it says with the change; None where its share of the time is spent."""
        try:
            return ask(self.claim, candidate.user_data, self.cells, self.clock.share(0.3).watched(self.progress))
        except OutOfTime:
            return None

    def helps(self, answer: Evidence | NotApplicable | None) -> TypeGuard[Evidence]:
        """Whether the theorem applies now."""
        return isinstance(answer, Evidence) and all(each.met for each in answer.hypotheses)


def _least(candidate: Candidate, answer: Evidence, before: UserData, trial: Retrial) -> tuple[Candidate, Evidence, str]:
    """Between a value that is enough and your own, which is not: the least that is enough, and its words."""
    if not candidate.choice:
        return candidate, answer, candidate.words
    missed = getattr(before.choices, candidate.choice)
    for _ in range(BISECTIONS):
        middle = _between(candidate.choice, missed, candidate.value)
        if middle is None or trial.clock.left <= 0:
            break
        nearer = _chosen(before, candidate.choice, middle)
        found = trial.answer(nearer)
        if found is None:
            break
        if trial.helps(found):
            candidate, answer = nearer, found
        else:
            missed = middle
    return candidate, answer, candidate.words.replace("{other}", f"{missed:,g}")


def _between(choice: str, missed: int | float, enough: int | float) -> int | float | None:
    """A value halfway between two; None where they are as good as neighbours."""
    if choice == "n_neurons":
        middle = 2 * round((missed + enough) / 4)
        return None if middle in (missed, enough) else middle
    if max(missed, enough) <= CLOSE * min(missed, enough):
        return None
    middle = float(f"{math.sqrt(missed * enough):.2g}")
    return None if middle in (missed, enough) else middle


def _chosen(user_data: UserData, choice: str, value: int | float) -> Candidate:
    """The same points with another choice."""
    changed = UserData(user_data.data, user_data.choices.model_copy(update={choice: value}))
    if choice == "n_neurons":
        return Candidate(f"take {value} neurons ({{other}} are not enough)", changed, choice=choice, value=value)
    side = "large" if value < user_data.choices.step_size else "small"
    return Candidate(f"take a step size of {value:g} ({{other}} is too {side})", changed, choice=choice, value=value)


def _margin(candidate: Candidate) -> float | None:
    """How widely the points that are left are separated."""
    user_data = candidate.user_data
    if not candidate.left_out or not user_data.has_signs_as_labels or not user_data.separation.separable:
        return None
    return user_data.separation.margin


def _gain(row: ClaimRow, answer: Evidence) -> str:
    promised = promises_of([row.model_copy(update={"evidence": answer})])
    return f"{promised[0].words} ({promised[0].standing.value})" if promised else ""


def _candidates(row: ClaimRow, user_data: UserData, numbers: np.ndarray) -> Iterator[Candidate]:
    """Changes worth trying, the least first."""
    choices = user_data.choices
    yield from _moved(user_data, {each.key for each in row.missing})
    for make in (_without_repeats, _without_clashes):
        if (candidate := make(user_data, numbers)) is not None:
            yield candidate
    if choices.init_scale is not None:
        own = choices.model_copy(update={"init_scale": None})
        yield Candidate("start as the paper does (without --init-scale)", UserData(user_data.data, own))
    for factor in (2, 4):
        yield _chosen(user_data, "n_neurons", factor * choices.n_neurons)
    for factor in (0.1, 10.0):
        yield _chosen(user_data, "step_size", float(f"{factor * choices.step_size:.6g}"))


def _moved(user_data: UserData, missing: set[str]) -> Iterator[Candidate]:
    """All points scaled, or with a bias, or both, where that may be what is missing."""
    data, words = user_data.data, ""
    if user_data.largest_norm > 1:
        data, factor = scale_to_unit_ball(data)
        words = f"divide every point by {factor:.4g}"
        yield Candidate(words, UserData(data, user_data.choices))
    if "separable" in missing and not (np.ptp(user_data.inputs, axis=0) == 0).any():
        bias = "add a constant coordinate (a bias)"
        yield Candidate(f"{words} and {bias}" if words else bias, UserData(with_bias(data), user_data.choices))


def _left_out(user_data: UserData, drop: np.ndarray, numbers: np.ndarray, why: str) -> Candidate:
    keep = np.setdiff1d(np.arange(len(user_data.labels)), drop)
    data = Dataset(jnp.asarray(user_data.inputs[keep]), jnp.asarray(user_data.labels[keep]))
    rows = tuple(int(numbers[place]) + 1 for place in drop)
    named = ", ".join(map(str, rows[:SHOWN])) + (", …" if len(rows) > SHOWN else "")
    words = (
        f"leave out {len(rows):,} of the {len(user_data.labels):,} points, {why} (row{'s' if len(rows) > 1 else ''} "
        f"{named}; the first point is row 1)"
    )
    return Candidate(words, UserData(data, user_data.choices), rows)


def _without_repeats(user_data: UserData, numbers: np.ndarray) -> Candidate | None:
    """Points in the direction of an earlier one are left out."""
    norms = np.linalg.norm(user_data.inputs, axis=1, keepdims=True)
    units = np.round(user_data.inputs / np.where(norms > 0, norms, 1.0), 9) + 0.0
    first = np.unique(units, axis=0, return_index=True)[1]
    drop = np.setdiff1d(np.arange(len(units)), first)
    if not len(drop) or len(drop) > len(units) // 2:
        return None
    return _left_out(user_data, drop, numbers, "in the same direction from the origin as an earlier one")


def _without_clashes(user_data: UserData, numbers: np.ndarray) -> Candidate | None:
    """Points on the wrong side of the linear boundary that is least wrong are left out; verified to be enough."""
    if not user_data.has_signs_as_labels or user_data.inputs.size > MOST_NUMBERS:
        return None
    if user_data.separation.separable is not False:
        return None
    drop = clashing(user_data.data).rows
    rest = np.delete(user_data.labels, drop)
    if not len(drop) or len(drop) > len(rest) or len(np.unique(rest)) < 2:
        return None
    candidate = _left_out(user_data, drop, numbers, "on the wrong side of the best linear boundary")
    return candidate if candidate.user_data.separation.separable else None
