"""The numerical examples of Section 6.3, as columns."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.cases import Cases, column
from widenet.papers.brutzkus2019.formulas import (
    per_setting,
    smallest_delta,
)
from widenet.papers.brutzkus2019.sources import Law, equal_law
from widenet.records import ClosedModel, Scale


class Example(ClosedModel):
    """A numerical example of Section 6.3: p₊ = p₋ and δ, p*, and the number of samples that is claimed."""

    law: Law
    largest_error: float
    samples: int


EXAMPLES = (
    Example(law=equal_law(0.98, 0.05), largest_error=0.005, samples=129),
    Example(law=equal_law(0.92, 0.16), largest_error=0.02, samples=17),
)


LAWS = (*(example.law for example in EXAMPLES), *map(equal_law, (0.98, 0.92, 0.5)))
"""What the first half of the theorem is asked about: the examples, and the strictest δ."""


PerExample = Float[np.ndarray, " example"]


@dataclass(frozen=True, eq=False)
class Examples(Cases):
    """The examples with a gap, and shares p₊ = p₋ for which there should be none."""

    rows = "example"

    share: PerExample  #: p₊ = p₋
    delta: PerExample  #: δ
    smallest_hard_share: PerExample  #: p*
    largest_error: PerExample  #: the printed limit of ε
    claimed: PerExample  #: the printed number of samples
    without_gap: Float[np.ndarray, " other"]

    @column
    def smallest_delta_of_120(self) -> PerExample:
        """1 − p₊p₋(1 − c − 16e⁻⁸)."""
        return per_setting(smallest_delta, self.share, self.share)

    def counts(self) -> dict[str, int]:
        """Both kinds."""
        tried = sum(len(cell) + len(cell.without_gap) for cell in self.cells)
        return {"tried": tried, "diverged": 0, "unfinished": 0}


def as_examples(with_gap: tuple[Example, ...], without_gap: np.ndarray) -> Examples:
    """The numbers of these examples."""
    laws = [each.law for each in with_gap]
    columns = (
        [law.diverse_positive for law in laws],
        [law.delta for law in laws],
        [law.smallest_hard_share for law in laws],
        [each.largest_error for each in with_gap],
        [each.samples for each in with_gap],
    )
    return Examples(*(np.array(column, float) for column in columns), without_gap=without_gap)


def printed_examples(scale: Scale, seed: int) -> Examples:
    """Those of Section 6.3, and shares up to 0.7."""
    return as_examples(EXAMPLES, np.linspace(0.05, 0.7, 66))
