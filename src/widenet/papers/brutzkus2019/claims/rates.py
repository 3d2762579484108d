"""Statements about random starts: "with probability at least 1 − δ", judged twice.

Over all runs the failures must be as rare as promised (exact binomial limits); and inside the events of the proof,
whose probability `octants` computes exactly, no run may fail at all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Bool

from widenet.claims.base import Hypothesis, Runs
from widenet.claims.sides import Conjunct, Fact, Rate, Sense, Sides
from widenet.claims.statistics import fails_at_most, runs_needed
from widenet.papers.brutzkus2019.claims.diverse_data import data_hypotheses
from widenet.papers.brutzkus2019.claims.start import deviation_hypothesis
from widenet.papers.brutzkus2019.formulas import large_start_probability
from widenet.papers.brutzkus2019.runs.trained import Trained

Mask = Bool[np.ndarray, " run"]


@dataclass(frozen=True, eq=False)
class Case:
    """A probability statement on one set of runs.

    Attributes:
      networks: the runs.
      right: which of them end with the signs that the statement promises.
      event: which of them are in the event of the proof.
      allowed: the promised failure rate.
      exact_event: the exact probability that a start is outside the event.
      allowed_steps: the steps after which zero loss is certain.
      timed: whether the statement promises that time, so that later is a failure.
    """

    networks: Trained
    right: Mask
    event: Mask
    allowed: float
    exact_event: float
    allowed_steps: float
    timed: bool = True

    @property
    def good(self) -> Mask:
        """The runs that end as promised."""
        in_time = self.networks.steps <= self.allowed_steps if self.timed else True
        return self.networks.converged & self.right & in_time

    @property
    def cut(self) -> Mask:
        """Runs that were stopped before the statement said they would be done: no failures, no successes."""
        return self.networks.unfinished & (self.networks.max_steps + 1 <= self.allowed_steps)

    @property
    def failures(self) -> int:
        """Runs that surely failed."""
        return int((~self.good & ~self.cut).sum())

    @property
    def refuted(self) -> bool:
        """Whether these runs alone fail more often than promised."""
        return fails_at_most(self.failures, self.networks.n_runs, self.allowed) is False

    @property
    def is_decided(self) -> bool:
        """Whether there are enough runs, or some of them in an event that is as likely as promised."""
        alone = Rate(~self.good, self.allowed, self.cut).part("").kept is not None
        return alone or (bool((self.event & ~self.cut).any()) and self.exact_event <= self.allowed)

    def row(self) -> dict:
        """What was seen, for the evidence."""
        return {
            **self.networks.summary(),
            "failures": self.failures,
            "failures_inside_the_event": int((~self.good & ~self.cut & self.event).sum()),
            "outside_the_event": int((~self.event).sum()),
            "exact_probability_outside_the_event": self.exact_event,
            "allowed": self.allowed,
        }


def event_failure(half_width: int, explored: Callable[[int], Fraction]) -> float:
    """P(outside an event of counts, or outside that of Lemma E.3): the two are independent of each other."""
    return float(1 - explored(half_width) * (1 - Fraction(large_start_probability(half_width))))


def rate_parts(cases: Sequence[Case], quantity: str, right: str = "") -> dict[str, Conjunct]:
    """All runs together against the smallest promised rate, every case alone, and the implication inside the events.

    Arguments:
      quantity: which share is counted.
      right: what `Case.right` says, where the statement is about signs too.
    """
    allowed = min((case.allowed for case in cases), default=1.0)
    failed, cut = joined([~case.good for case in cases]), joined([case.cut for case in cases])
    parts: dict[str, Conjunct] = {
        "runs fail at most as often as promised": Rate(failed, allowed, cut, quantity=quantity)
    }
    if len(cases) > 1:
        # Fewer runs than its rate needs are enough for a case whose events carry the statement.
        parts["no setting alone fails more often"] = Fact([not case.refuted for case in cases])
        parts["every setting has runs enough, or an event as likely as promised"] = Fact(
            True, undecided=[not case.is_decided for case in cases]
        )
    event = joined([case.event for case in cases])
    converged = joined([case.networks.converged for case in cases])
    parts["zero loss inside the events of the proof"] = Fact(converged, undecided=cut, scored=event)
    if any(case.timed for case in cases):
        parts["in time inside the events"] = Sides(
            joined([case.networks.steps for case in cases]),
            joined([np.full(case.networks.n_runs, case.allowed_steps) for case in cases]),
            Sense.AT_MOST,
            scored=event & converged,
            quantity="steps until zero loss",
        )
    if right:
        rightly = joined([case.right for case in cases])
        parts[f"{right} inside the events"] = Fact(rightly, scored=event & converged)
    return parts


def rate_details(cases: Sequence[Case]) -> dict:
    """Every case, and how many runs without a failure the smallest promised rate needs."""
    return {"cases": [case.row() for case in cases], "runs_needed": _needed(cases)}


def rate_note(cases: Sequence[Case]) -> str:
    """The counts in words."""
    inside = sum(case.row()["failures_inside_the_event"] for case in cases)
    return (
        f"{sum(case.failures for case in cases)} of {sum(case.networks.n_runs for case in cases)} runs failed; "
        f"{_needed(cases)} without a failure are needed. Inside the events of the proof, which a start misses with "
        f"probability {max((case.exact_event for case in cases), default=1):.2g} (exact), {inside} failed."
    )


def joined(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """The runs of all cases on one axis."""
    return np.concatenate([np.asarray(array) for array in arrays]) if arrays else np.zeros(0, bool)


def nearest(every: Sequence[Sequence[Hypothesis]]) -> list[Hypothesis]:
    """Of the same hypotheses measured in many settings, those nearest to breaking."""
    return [min(column, key=_how_near) for column in zip(*every, strict=True)]


def shared_hypotheses(networks: Sequence[Trained]) -> list[Hypothesis]:
    """The assumptions on the training set and on the initial deviation."""
    return nearest([[*data_hypotheses(t.points), deviation_hypothesis(t.start, t.step_size)] for t in networks])


def count_runs(networks: Sequence[Trained], outside: int = 0) -> Runs:
    """All runs, and how they ended."""
    return Runs(
        tried=sum(trained.n_runs for trained in networks),
        diverged=sum(int(trained.diverged.sum()) for trained in networks),
        unfinished=sum(int(trained.unfinished.sum()) for trained in networks),
        outside=outside,
    )


def _how_near(hypothesis: Hypothesis) -> tuple[bool, float]:
    return hypothesis.met is True, hypothesis.slack or 0.0


def _needed(cases: Sequence[Case]) -> int:
    allowed = min((case.allowed for case in cases), default=1.0)
    return runs_needed(allowed) if 0 < allowed < 1 else 0
