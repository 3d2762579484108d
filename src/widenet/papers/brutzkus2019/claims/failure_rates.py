"""Statements about random starts: "with probability at least 1 − δ", judged twice.

Over all runs the failures must be as rare as promised (exact binomial limits); and inside the events of the proof,
whose probability `octants` computes exactly, no run may fail at all.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.implication import Promise, at_most
from widenet.claims.rates import Conjunct, Rate
from widenet.claims.sides import Fact
from widenet.claims.statistics import CONFIDENCE, fails_at_most, runs_needed
from widenet.papers.brutzkus2019.claims.setting_rows import beside
from widenet.papers.brutzkus2019.formulas import large_start_probability
from widenet.papers.brutzkus2019.hypotheses import XordNetworks

Mask = Bool[np.ndarray, " run"]
Settings = Float[np.ndarray, " cell"]


def event_failure(half_width: int, explored: Callable[[int], Fraction]) -> float:
    """P(outside an event of counts, or outside that of Lemma E.3): the two are independent of each other."""
    return float(1 - explored(half_width) * (1 - Fraction(large_start_probability(half_width))))


def refuted(
    failures: Int[np.ndarray, " cell"], tried: Int[np.ndarray, " cell"], allowed: Any, confidence: float = CONFIDENCE
) -> Bool[np.ndarray, " cell"]:
    """Whether the runs of a setting alone fail more often than promised."""

    def is_refuted(failed: int, runs: int, rate: float) -> bool:
        return fails_at_most(failed, runs, rate, confidence) is False

    return np.vectorize(is_refuted, otypes=[bool])(failures, tried, allowed)


def often(
    runs: XordNetworks,
    *,
    event: Mask,
    missed: Settings,
    allowed: Settings,
    steps: Settings,
    quantity: str,
    right: Mask | None = None,
    words: str = "",
    timed: bool = True,
) -> Promise:
    """A probability statement over all runs, in every setting alone, and inside the events of the proof.

    Arguments:
      event: which runs start in the event of the proof.
      missed: of each setting, the exact probability that a start misses the event.
      allowed: of each setting, the promised failure rate.
      steps: of each setting, the steps after which zero loss is certain.
      right: which runs end with the signs that the statement promises; `words` says what that is.
      timed: whether the statement promises that time, so that later is a failure.
    """
    time, several = steps[runs.cell], len(allowed) > 1
    in_time = runs.steps <= time if timed else True
    good = runs.converged & in_time & (True if right is None else right)
    # Stopped before the statement said they would be done: no failures, no successes.
    cut = runs.unfinished & (runs.max_steps + 1 <= time)
    failures, tried = runs.count(~good & ~cut), runs.count(True)
    parts: dict[str, Conjunct] = {
        "rate": Rate(~good, allowed, cut, quantity=quantity, text="runs fail at most as often as promised"),
        "alone": Fact(
            ~refuted(failures, tried, allowed),
            where=several,
            optional=True,
            text="no setting alone fails more often",
            event="several settings",
        ),
        # Fewer runs than its rate needs are enough for a setting whose events carry the statement.
        "enough": Fact(
            np.ones(len(allowed), bool),
            undecided=~(_decided(runs, good, cut, allowed) | ((runs.count(event & ~cut) > 0) & (missed <= allowed))),
            where=several,
            optional=True,
            text="every setting has runs enough, or an event as likely as promised",
            event="several settings",
        ),
        "zero_loss": at_most(
            ~runs.converged,
            0,
            undecided=cut,
            where=event,
            text="zero loss inside the events of the proof",
            quantity="runs without zero loss",
            event="runs that start inside the events",
        ),
    }
    scored = {"where": event & runs.converged, "event": "runs at zero loss that start inside the events"}
    if timed:
        parts["time"] = at_most(
            runs.steps, time, text="in time inside the events", quantity="steps until zero loss", **scored
        )
    if right is not None:
        parts["right"] = Fact(right, text=f"{words} inside the events", **scored)
    inside = runs.count(~good & ~cut & event)
    needed = _needed(allowed)

    def rows() -> list[dict]:
        return beside(
            runs.per("cell").summary,
            failures=failures,
            failures_inside_the_event=inside,
            outside_the_event=runs.count(~event),
            exact_probability_outside_the_event=missed,
            allowed=allowed,
        )

    def note() -> str:
        return (
            f"{failures.sum()} of {len(runs)} runs failed; {needed} without a failure are needed. Inside the events of "
            f"the proof, which a start misses with probability {missed.max(initial=0):.2g} (exact), {inside.sum()} "
            "failed."
        )

    return Promise(parts, details=lambda: {"cases": rows(), "runs_needed": needed}, note=note)


def _decided(runs: XordNetworks, good: Mask, cut: Mask, allowed: Settings) -> Bool[np.ndarray, " cell"]:
    """Whether the runs of a setting alone decide its rate."""
    answers = [
        Rate(~good, rate, cut, where=runs.cell == place).part("").kept is not None for place, rate in enumerate(allowed)
    ]
    return np.array(answers, bool)


def _needed(allowed: Settings) -> int:
    """How many runs without a failure the smallest promised rate needs."""
    smallest = float(np.min(allowed, initial=1.0))
    return runs_needed(smallest) if 0 < smallest < 1 else 0
