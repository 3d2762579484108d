"""What the statements of Section 3 share: their hypotheses, the event they speak about, and sides over many runs.

Most of them hold in every run that starts in the event of Lemma B.2 (all initial fits are at most √2η/4). Runs outside
are counted and not scored. Where none is inside, the conclusion is measured all the same and the hypothesis fails.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from widenet.claims.base import Hypothesis, Part, Runs, at_least, at_most, less_than, more_than
from widenet.claims.sides import Fact, Rate, Sides
from widenet.claims.tolerances import ROUNDING
from widenet.papers.brutzkus2019.runs.xor import XorTrace
from widenet.papers.brutzkus2019.runs.xor_starts import XorStart
from widenet.papers.brutzkus2019.xor_formulas import LARGEST_STEP, SMALLEST_WIDTH

Mask = Bool[np.ndarray, " _"]
"""Some runs of a trace; another trace may have another number of them."""
IN_EVENT = "runs that start in the event, fewest of a setting"


def setting_of_section_3(starts: Sequence[XorStart], *, as_printed: bool = False) -> tuple[Hypothesis, ...]:
    """What Section 3 asks for, each at the start nearest to breaking it.

    The paper allows η ≤ c_η/k and σ_g ≤ c_η/(16k^{3/2}). Lemma B.2 compares σ_g with η, so with a smaller η it needs
    σ_g ≤ η/(16√k), which is the same at η = c_η/k. With `as_printed` the paper's own limit is measured.
    """
    shares = [start.half_width * start.step_size / start.step_constant for start in starts]
    return (
        less_than("step_constant", "largest c_η", max(start.step_constant for start in starts), LARGEST_STEP),
        at_most("step_size", "largest kη/c_η", max(shares), 1, tolerance=ROUNDING),
        *_deviation(starts, as_printed),
    )


def _deviation(starts: Sequence[XorStart], as_printed: bool) -> tuple[Hypothesis, ...]:
    """How large the weights were really drawn, where they were."""
    measured: list[tuple[float, float]] = []
    for start in starts:
        if start.deviation is not None:
            unit = start.half_width * start.step_size / start.step_constant if as_printed else 1.0
            # An empirical deviation of n numbers is off by a share of 1/√(2n); six of these are not chance.
            measured.append((start.spread * unit, 6 / math.sqrt(2 * start.fits.size)))
    if not measured:
        return ()
    spread, error = max(measured, key=lambda pair: pair[0] - pair[1])
    name = "largest 16k^{3/2}·σ_g/c_η, σ_g as drawn" if as_printed else "largest 16√k·σ_g/η, σ_g as drawn"
    return (at_most("deviation", name, spread, 1, tolerance=error),)


def wide(half_widths: Iterable[int]) -> Hypothesis:
    """k > 16."""
    return more_than("width", "smallest half-width k", min(half_widths), SMALLEST_WIDTH)


def two_filters(starts: Sequence[XorStart]) -> Hypothesis:
    """k = 2."""
    widths = {start.half_width for start in starts}
    return Hypothesis(
        key="width",
        name="half-width k",
        required="= 2",
        actual=float(max(widths)),
        slack=None,
        met=widths == {2},
    )


@dataclass(frozen=True, eq=False)
class Event:
    """The runs that a statement speaks about.

    Attributes:
      inside: for each trace, which runs are in the event.
      name: of the hypothesis that some are.
    """

    traces: Sequence[XorTrace]
    inside: Sequence[Mask]
    name: str = IN_EVENT

    @property
    def scored(self) -> list[Mask]:
        """The runs inside; all of them where none is: nothing is promised then, and what happens is shown."""
        some = any(mask.any() for mask in self.inside)
        return [mask if some else np.ones_like(mask) for mask in self.inside]

    @property
    def hypothesis(self) -> Hypothesis:
        """That each trace has a run inside: one without would pass unseen beside others."""
        return at_least("in_event", self.name, min((int(mask.sum()) for mask in self.inside), default=0), 1)

    @property
    def runs(self) -> Runs:
        """How many were tried, were not finished, and are outside."""
        return Runs(
            tried=sum(len(mask) for mask in self.inside),
            unfinished=sum(int((~run.ended & mask).sum()) for run, mask in self),
            outside=sum(int((~mask).sum()) for mask in self.inside),
        )

    @property
    def ended(self) -> Fact:
        """The part that a run which is still moving leaves undecided."""
        moving = np.concatenate([~run.ended for run in self.traces])
        return Fact(~moving, undecided=moving, scored=np.concatenate(self.scored))

    def __iter__(self) -> Iterator[tuple[XorTrace, Mask]]:
        """Each trace with the runs of it that are scored."""
        return iter(zip(self.traces, self.scored, strict=True))


def event_of(traces: Sequence[XorTrace]) -> Event:
    """The event of Lemma B.2."""
    return Event(traces, [run.start.in_event for run in traces])


def both_events(traces: Sequence[XorTrace]) -> Event:
    """The events of Lemmas B.2 and 3.1."""
    return Event(traces, [run.start.in_event & run.start.explored for run in traces])


def reached_in_event(traces: Sequence[XorTrace]) -> Event:
    """The event of Lemma B.2, and loss 0 at the end."""
    name = "runs that start in the event and reach loss 0, fewest of a setting"
    return Event(traces, [run.start.in_event & run.reached for run in traces], name)


def everyone(traces: Sequence[XorTrace]) -> Event:
    """No event: a statement about probabilities speaks about all runs."""
    return Event(traces, [np.ones(run.start.n_runs, bool) for run in traces])


def together(pieces: Iterable[Sides]) -> Sides:
    """The cases of several sides that state the same."""
    pieces = list(pieces)
    first, names = pieces[0], ("room", "scored", "undecided", "trivial")
    measured, promised = (np.concatenate([getattr(each, name) for each in pieces]) for name in ("measured", "promised"))
    if all(each.exact is not None for each in pieces):
        names = (*names, "exact")
    others = {name: np.concatenate([getattr(each, name) for each in pieces]) for name in names}
    return Sides(measured, promised, first.sense, strict=first.strict, quantity=first.quantity, **others)


def with_probability(
    traces: Sequence[XorTrace],
    failed: Iterable[Mask],
    allowed: Callable[[int], float],
    sides: Sequence[Sides] | None = None,
) -> Part:
    """ "Fails with at most this probability", at each of several settings.

    Arguments:
      failed: which runs of each trace fail.
      allowed: how often a network of half-width k may.
      sides: for each trace, the two sides whose breaking is the failure, to be shown.
    """
    rates = [
        Rate(runs, allowed(run.start.half_width), ~run.ended, sides=shown)
        for run, runs, shown in zip(traces, failed, sides or [None] * len(traces), strict=True)
    ]
    return worst_of([rate.part("") for rate in rates])


def worst_of(parts: Sequence[Part]) -> Part:
    """The same conjunct at several settings as one part, with the numbers of the setting in which most runs fail."""
    answers = [part.kept for part in parts]
    kept = False if False in answers else None if None in answers else True
    worst = max(parts, key=lambda part: (part.kept is False, part.broken / max(part.cases, 1), part.tightness or 0.0))
    totals = {field: sum(getattr(part, field) for part in parts) for field in ("cases", "broken", "undecided")}
    return worst.model_copy(update={"kept": kept, **totals})
