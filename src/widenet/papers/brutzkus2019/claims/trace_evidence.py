"""How a statement about trajectories is judged: on every run that starts in the event of Lemma E.3, at every t up to T.

Runs outside the event are counted and never scored. Where no run is inside, the conclusion is measured all the same,
and the hypothesis fails.
"""

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.base import Evidence, Hypothesis, Runs, at_least, at_most
from widenet.claims.sides import Fact, Sense, Sides, evidence
from widenet.data.xord import PATTERNS
from widenet.papers.brutzkus2019.claims.start import deviation_hypothesis
from widenet.papers.brutzkus2019.formulas import LARGEST_STEP, SMALLEST_MARGIN, SMALLEST_WIDTH
from widenet.papers.brutzkus2019.runs.traces import Trace
from widenet.types import RunStatus

LARGEST_STEP_OF_LEMMAS = 1 / 8
"""Appendix E up to Lemma E.16 needs no smaller c_η."""
FEWEST_FITS = 100
"""From fewer starting fits σ_g is not estimated; whether each run is in the event is measured anyway."""

Values = Any
"""An array over (run, time), (run, 1), (1, time) or run, or one number."""
Compared = tuple[Trace, Values, Values, Values]
"""Both sides in the runs of a trace, and where they are compared."""
Answered = tuple[Trace, Values, Values]
"""Whether a statement without sides holds in the runs of a trace, and where it is asked."""


class ScoredRuns:
    """The runs that a statement speaks about: in the event, and at zero loss if it asks for that."""

    def __init__(self, traces: Sequence[Trace], *, at_zero_loss: bool = False):
        self.traces, self.at_zero_loss = traces, at_zero_loss
        inside = {id(trace): trace.in_event & (trace.converged | (not at_zero_loss)) for trace in traces}
        self.n_inside = [int(mask.sum()) for mask in inside.values()]
        # Outside the event nothing is promised; what happens there is shown when there is nothing else.
        self._scored = {key: mask | (sum(self.n_inside) == 0) for key, mask in inside.items()}

    def sides(
        self,
        compared: Iterable[Compared],
        sense: Sense = Sense.AT_MOST,
        *,
        strict: bool = False,
        room: float = 0.0,
        trivial: Callable[[Trace], Values] | None = None,
        quantity: str = "",
    ) -> Sides:
        """One case per run and entry of `compared`: the t at which the run goes furthest beyond the promise.

        With one promise for all t that is the closest case of the run; where it changes with t, give one entry per t.
        A run is broken where one of its t is. It is undecided where a side is not finite, or where its budget ended
        it: then nothing is known of the later t.
        """
        rows = [_furthest(*each, sense) for each in compared]
        build = functools.partial(
            Sides,
            _join(row.measured for row in rows),
            _join(row.promised for row in rows),
            sense,
            room,
            strict=strict,
            scored=_join(self._scored[id(row.trace)] & row.tested for row in rows) > 0,
            trivial=None if trivial is None else _join(trivial(row.trace) for row in rows),
            quantity=quantity,
        )
        # What a run broke before it was cut off stays broken.
        return build(undecided=(_join(row.lost for row in rows) > 0) & ~build().broken)

    def fact(self, answered: Iterable[Answered]) -> Fact:
        """One case per run: the statement holds at every t at which it is asked."""
        # A broken promise is one "no" where none is promised.
        found = self.sides((trace, ~np.asarray(holds), 0.0, where) for trace, holds, where in answered)
        return Fact(~found.broken, undecided=found.undecided, scored=found.scored)

    def evidence(
        self,
        parts: Mapping[str, Sides | Fact],
        *more: Hypothesis,
        regime: bool = False,
        note: str = "",
    ) -> Evidence:
        """The evidence over all traces.

        Arguments:
          parts: the conjuncts, from `sides` and `fact`.
          more: further hypotheses.
          regime: ask for k ≥ 120, c_η ≤ 1/410 and γ ≥ 8, the regime of Theorem 6.3.
        """
        outside = sum(int((~trace.in_event).sum()) for trace in self.traces)
        words = [note] if note else []
        if outside:
            words.append(f"{outside} runs outside the event of Lemma E.3 are not scored.")
        return evidence(
            parts,
            (*self._hypotheses(regime), *more),
            runs=Runs(
                tried=sum(len(trace.steps) for trace in self.traces),
                unfinished=self._count(RunStatus.BUDGET_SPENT, scored=True),
                outside=outside,
            ),
            details={"dtype": "float64, multiples of 2^-32", "runs_stalled": self._count(RunStatus.STALLED)},
            note=" ".join(words),
        )

    def _count(self, status: RunStatus, *, scored: bool = False) -> int:
        masks = [(trace.status == status) & (self._scored[id(trace)] | (not scored)) for trace in self.traces]
        return sum(int(mask.sum()) for mask in masks)

    def _hypotheses(self, regime: bool) -> list[Hypothesis]:
        settings = [trace.setting for trace in self.traces]
        asked = "start in the event" + (" and reach zero loss" if self.at_zero_loss else "")
        found = [
            # That each trace has a run inside: one without would pass unseen beside others.
            at_least("in_event", f"runs that {asked}, fewest of a setting", min(self.n_inside, default=0), 1),
            *_deviation(self.traces),
            at_most(
                "step_constant",
                "largest c_η",
                max(setting.step_constant for setting in settings),
                LARGEST_STEP if regime else LARGEST_STEP_OF_LEMMAS,
            ),
            at_least(
                "margin", "smallest γ", min(setting.margin for setting in settings), SMALLEST_MARGIN if regime else 1
            ),
        ]
        if regime:
            found.append(at_least("width", "smallest half-width k", smallest_width(self.traces), SMALLEST_WIDTH))
        return found


def smallest_width(traces: Sequence[Trace]) -> int:
    """The smallest half-width k."""
    return min(trace.half_width for trace in traces)


def times(factor: float) -> str:
    """A factor before a symbol, as a part's name shows it: nothing for 1."""
    return "" if factor == 1 else f"{factor:g}"


def filled(trace: Trace, group: str) -> Bool[np.ndarray, "run 1"]:
    """Whether the run starts with a filter in this group."""
    return trace.sizes[group] > 0


def furthest(extremes: Int[np.ndarray, "2 run time"], value: Int[np.ndarray, "run time"] | int) -> np.ndarray:
    """Of the smallest and the largest value in a group, the one that is further from this."""
    low, high = extremes
    return np.where(np.abs(low - value) > np.abs(high - value), low, high)


def _rows(value: Values) -> np.ndarray:
    array = np.asarray(value)
    return array[:, None] if array.ndim == 1 else np.atleast_2d(array)


def _join(rows: Iterable[Values]) -> np.ndarray:
    return np.concatenate([np.empty(0), *(np.asarray(row) for row in rows)])


@dataclass(frozen=True, eq=False)
class _Row:
    """Of each run: both sides where they leave the least room, whether there is such a t, and whether any t is lost."""

    trace: Trace
    measured: Float[np.ndarray, " run"]
    promised: Float[np.ndarray, " run"]
    tested: Bool[np.ndarray, " run"]
    lost: Bool[np.ndarray, " run"]


def _furthest(trace: Trace, measured: Values, promised: Values, where: Values, sense: Sense) -> _Row:
    runs = np.zeros((len(trace.steps), 1))
    measured, promised, where, _ = np.broadcast_arrays(_rows(measured), _rows(promised), _rows(where), runs)
    with np.errstate(invalid="ignore"):
        over = np.subtract(measured, promised, dtype=np.float64)
    excess = {Sense.AT_MOST: over, Sense.AT_LEAST: -over, Sense.EQUAL: np.abs(over)}[sense]
    finite = np.isfinite(over)
    at = np.arange(len(over)), np.argmax(np.where(where & finite, excess, -np.inf), axis=1)
    lost = (where & ~finite).any(axis=1) | (trace.status == RunStatus.BUDGET_SPENT)
    return _Row(trace, measured[at].astype(float), promised[at].astype(float), where.any(axis=1), lost)


def _deviation(traces: Sequence[Trace]) -> list[Hypothesis]:
    """σ_g ≤ c_η/(16k^{3/2}), measured on all drawn starts, scored or not; the trace nearest to breaking it."""
    found = [
        deviation_hypothesis(trace.setting.step_size * trace.start @ PATTERNS[:2] / 2, trace.setting.step_size)
        for trace in traces
        if trace.start.size >= FEWEST_FITS
    ]
    return [min(found, key=_slack)] if found else []


def _slack(hypothesis: Hypothesis) -> float:
    return -math.inf if hypothesis.slack is None else hypothesis.slack
