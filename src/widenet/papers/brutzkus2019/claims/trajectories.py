"""How a statement about trajectories is judged: on every run that starts in the event of Lemma E.3, at every t up to T.

Runs outside the event are counted and never scored. Where no run is inside, the conclusion is measured all the same,
and the hypothesis fails.
"""

import copy
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float, Int, Num

from widenet.claims.cases import Count, Number, derived
from widenet.claims.implication import Promise, at_most
from widenet.claims.sides import Sense, Sides
from widenet.papers.brutzkus2019.formulas import largest_deviation
from widenet.papers.brutzkus2019.runs.traces import Series, Trace
from widenet.types import RunStatus

FEWEST_FITS = 100
"""From fewer starting fits σ_g is not estimated; whether each run is in the event is measured anyway."""

Extremes = Int[np.ndarray, "run time 2"]
"""The smallest and the largest value in a group of filters."""
PerRun = Float[np.ndarray, " run"]


def after(series: Num[np.ndarray, "run time"]) -> Num[np.ndarray, "run time"]:
    """The value at t + 1; at the last t, the same."""
    return np.concatenate([series[:, 1:], series[:, -1:]], axis=1)


def _group(extremes: Mapping[str, Int[np.ndarray, "2 run time"]], group: str) -> Extremes:
    return np.moveaxis(extremes[group], 0, -1)


class Trajectories(Trace):
    """Traces, with what the statements compare at every t and at T, and what is assumed about their starts."""

    a_w13: Extremes = derived(lambda runs: _group(runs.a_range, "w13"))
    a_w24: Extremes = derived(lambda runs: _group(runs.a_range, "w24"))
    a_u13: Extremes = derived(lambda runs: _group(runs.a_range, "u13"))
    a_u24: Extremes = derived(lambda runs: _group(runs.a_range, "u24"))
    b_w13: Extremes = derived(lambda runs: _group(runs.b_range, "w13"))
    b_w24: Extremes = derived(lambda runs: _group(runs.b_range, "w24"))
    b_u13: Extremes = derived(lambda runs: _group(runs.b_range, "u13"))
    b_u24: Extremes = derived(lambda runs: _group(runs.b_range, "u24"))
    a_step_w13: Extremes = derived(lambda runs: _group(runs.a_step, "w13"))
    a_step_w24: Extremes = derived(lambda runs: _group(runs.a_step, "w24"))
    b_step_w13: Extremes = derived(lambda runs: _group(runs.b_step, "w13"))
    b_step_w24: Extremes = derived(lambda runs: _group(runs.b_step, "w24"))

    s_plus_after: Series = derived(lambda runs: after(runs.s_plus))  #: S⁺ at t + 1
    n_plus_after: Series = derived(lambda runs: after(runs.n_plus))  #: N(x⁺) at t + 1
    s_plus_end: PerRun = derived(lambda runs: runs.at_end(runs.s_plus))  #: S⁺_T
    x_end: PerRun = derived(lambda runs: runs.at_end(runs.x))  #: X_T
    y_end: PerRun = derived(lambda runs: runs.at_end(runs.y))  #: Y_T
    rest_end: PerRun = derived(lambda runs: runs.at_end(runs.s_minus + runs.x))  #: S⁻_T + X_T

    n_inside: Count = derived(lambda runs: int(runs.in_event.sum()))  #: runs of the setting in the event
    n_at_zero_loss: Count = derived(lambda runs: int((runs.in_event & runs.converged).sum()))
    has_deviation: bool | np.ndarray = derived(lambda runs: runs.start.size >= FEWEST_FITS)
    deviation_error: Number = derived(lambda runs: 6 / math.sqrt(2 * runs.start.size))  #: six standard errors
    relative_deviation: Number = derived(lambda runs: _deviation(runs))  #: σ_g as drawn, over c_η/(16k^{3/2})

    @property
    def unfinished(self) -> np.ndarray:
        """Runs that their budget ended, of those that are scored: in the event, or all where none is."""
        return (self.status == RunStatus.BUDGET_SPENT) & (self.in_event | ~self.in_event.any())

    @property
    def above_margin(self) -> np.ndarray:
        """(N(x⁺) − γ)/c_η."""
        return (self.n_plus - self.plus_goal) / self.half_width

    @property
    def above_one(self) -> np.ndarray:
        """(−N(x⁻) − 1)/c_η."""
        return (-self.n_minus - self.minus_goal) / self.half_width

    @property
    def sum_above(self) -> np.ndarray:
        """(S⁺ − γ − 1)/c_η."""
        return (self.s_plus - (self.plus_goal + self.minus_goal)) / self.half_width


def _deviation(runs: Trace) -> float:
    """An entry of a filter is 1/√2 of a fit in mean square, as ⟨p, p⟩ = 2."""
    filters = runs.step_size * math.sqrt(float(np.square(runs.start).mean()) / 2)
    return filters / largest_deviation(runs.step_size * runs.half_width, runs.half_width)


class Scored:
    """The runs that a statement is about: in the event, and at zero loss if it asks for that."""

    def __init__(self, runs: Trajectories, *, at_zero_loss: bool = False):
        self._runs = runs
        inside = runs.in_event & (runs.converged | (not at_zero_loss))
        # Outside the event nothing is promised; what happens there is shown when there is nothing else.
        self._scored = inside | ~inside.any()
        self._cut = runs.status == RunStatus.BUDGET_SPENT
        self._event = "runs in the event of Lemma E.3" + (" that reach zero loss" if at_zero_loss else "")

    def sides(self, rows: Trajectories, sides: Sides, by: Any = 0) -> Sides:
        """One case per run (and value of `by`): of its rows, the one at which it goes furthest beyond the promise.

        With one promise for all t that is the closest case of the run. A run is broken where one of its t is. It is
        undecided where a side is not finite, or where its budget ended it: then nothing is known of the later t.
        """
        starts = _first_rows(rows.run, np.broadcast_to(by, len(rows)))
        with np.errstate(invalid="ignore"):
            over = sides.measured - sides.promised
        excess = {Sense.AT_MOST: over, Sense.AT_LEAST: -over, Sense.EQUAL: np.abs(over)}[sides.sense]
        known = np.isfinite(over)
        at = _first_of_largest(np.where(sides.scored & known, excess, -np.inf), starts)
        run = rows.run[starts]
        worst = copy.copy(sides)
        for name in ("measured", "promised", "room", "grain", "trivial", "undecided"):
            setattr(worst, name, getattr(sides, name)[at])
        worst.scored = self._scored[run] & _any(sides.scored, starts)
        # What a run broke before it was cut off stays broken.
        worst.undecided = (_any(sides.scored & ~known, starts) | self._cut[run]) & ~worst.broken
        worst.given, worst.event = None, self._event
        return worst

    def always(self, rows: Trajectories, holds: np.ndarray, *, where: Any = True, text: str) -> Sides:
        """One case per run: at how many t the statement fails, among those at which it is asked. None may be."""
        fails = np.broadcast_to(np.asarray(where, bool) & ~np.asarray(holds, bool), (len(rows),))
        # A broken promise is one "no" where none is promised.
        found = self.sides(rows, Sides(~holds, False, where=where))
        times = np.add.reduceat(fails.astype(float), _first_rows(rows.run)) if len(rows) else []
        event = {"where": found.scored, "event": self._event, "quantity": "times at which it fails"}
        return at_most(times, 0, undecided=found.undecided, text=text, **event)

    def promise(self, parts: Mapping[str, Sides], *, note: str = "") -> Promise:
        """The conjuncts, with what a reader may want to know about the runs."""
        runs = self._runs
        outside = int((~runs.in_event).sum())
        words = [f"{outside} runs outside the event of Lemma E.3 are not scored."] if outside else []
        return Promise(
            parts,
            event=runs.in_event,
            details={
                "dtype": "float64, multiples of 2^-32",
                "runs_stalled": int((runs.status == RunStatus.STALLED).sum()),
            },
            note=" ".join([*([note] if note else []), *words]),
        )


def _first_rows(*names: Int[np.ndarray, " case"]) -> Int[np.ndarray, " group"]:
    """The rows at which one of these names is another one than in the row before."""
    return np.flatnonzero(np.any([np.diff(each, prepend=np.nan) for each in names], axis=0))


def times(factor: float) -> str:
    """A factor before a symbol, as a part's name shows it: nothing for 1."""
    return "" if factor == 1 else f"{factor:g}"


def furthest(extremes: Int[np.ndarray, "*case 2"], value: Any) -> np.ndarray:
    """Of the smallest and the largest value in a group, the one that is further from this."""
    low, high = np.moveaxis(extremes, -1, 0)
    return np.where(np.abs(low - value) > np.abs(high - value), low, high)


def _first_of_largest(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The place of the largest value in each stretch; of several the first."""
    if not len(starts):
        return starts
    largest = np.repeat(np.maximum.reduceat(values, starts), np.diff(starts, append=len(values)))
    places = np.flatnonzero(values == largest)
    return places[np.searchsorted(places, starts)]


def _any(answers: np.ndarray, starts: np.ndarray) -> np.ndarray:
    return np.logical_or.reduceat(answers, starts) if len(starts) else np.zeros(0, bool)
