"""What the statements of Section 3 share: the events they are about, and rates at each of several settings.

Most of them hold in every run that starts in the event of Lemma B.2 (all initial fits are at most √2η/4). Runs outside
are counted and not scored. Where none is inside, the conclusion is measured all the same and the hypothesis fails.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from jaxtyping import Bool

from widenet.claims.base import Runs
from widenet.claims.cases import Count, by_value, derived
from widenet.claims.implication import Promise, at_most
from widenet.claims.rates import Conjunct, Rate
from widenet.claims.sides import Sides
from widenet.papers.brutzkus2019.runs.xor import XorTrace

Mask = Bool[np.ndarray, " run"]
EACH = np.ones((1, 1), bool)
"""All points, or all filters, of a row."""


class XorRuns(XorTrace):
    """Runs on XOR, with how many of a setting are in each event."""

    n_inside: Count = derived(lambda runs: int(runs.in_event.sum()))  #: in that of Lemma B.2
    n_in_both: Count = derived(lambda runs: int((runs.in_event & runs.explored).sum()))  #: and in that of Lemma 3.1
    n_at_zero_loss: Count = derived(
        lambda runs: int((runs.in_event & runs.reached).sum())
    )  #: and with loss 0 at the end


class XorEvent:
    """The runs that a statement is about.

    Attributes:
      scored: the runs inside; all of them where none is: nothing is promised then, and what happens is shown.
    """

    scored: Mask

    def __init__(self, runs: XorRuns, inside: Mask, words: str):
        self._runs, self._inside, self.words = runs, inside, words
        self.scored = inside | ~inside.any()

    @property
    def ended(self) -> Sides:
        """The part that a run which is still moving leaves undecided."""
        return at_most(self._runs.unfinished, 0, undecided=self._runs.unfinished, text="every run ends", **self.where())

    def where(self, rows: XorRuns | None = None, also: Any = True) -> dict[str, Any]:
        """The cases of a comparison that are in the event: of runs, or of rows of another axis."""
        scored = self.scored if rows is None else self.scored[rows.run]
        return {"where": (scored if np.ndim(also) < 2 else scored[:, None]) & also, "event": self.words}

    def promise(self, parts: Mapping[str, Conjunct], *, tried: int | None = None, **more: Any) -> Promise:
        """The conjuncts with how many runs were tried, were not finished, and are outside."""
        counts = Runs(
            tried=len(self.scored) if tried is None else tried,
            unfinished=int((self._runs.unfinished & self.scored).sum()),
            outside=int((~self._inside).sum()),
        )
        return Promise(parts, runs=counts, **more)


def event_of(runs: XorRuns) -> XorEvent:
    """The event of Lemma B.2."""
    return XorEvent(runs, runs.in_event, "runs in the event of Lemma B.2")


def both_events(runs: XorRuns) -> XorEvent:
    """The events of Lemmas B.2 and 3.1."""
    return XorEvent(runs, runs.in_event & runs.explored, "runs in the events of Lemmas B.2 and 3.1")


def reached_in_event(runs: XorRuns) -> XorEvent:
    """The event of Lemma B.2, and loss 0 at the end."""
    return XorEvent(runs, runs.in_event & runs.reached, "runs in the event of Lemma B.2 that reach loss 0")


def everyone(runs: XorRuns) -> XorEvent:
    """No event: a statement about probabilities is about all runs."""
    return XorEvent(runs, np.ones(len(runs), bool), "")


def with_probability(
    runs: XorRuns, failed: Mask, allowed: Callable[[int], float], *, text: str, sides: Sides | None = None
) -> Rate:
    """ "Fails with at most this probability", at each of several settings.

    Arguments:
      allowed: how often a network of half-width k may.
      sides: the two sides whose breaking is the failure, to be shown.
    """
    rates = by_value(allowed, runs.half_width)
    return Rate(failed, rates, undecided=runs.unfinished, sides=sides, setting=runs.cell, text=text)
