"""Why the lower-bound sequence is one scalar recursion: the rows of the network never part (proof of Theorem 10)."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.given import output_weight, slope_below_one, slope_positive, step_size
from widenet.claims.implication import Promise, at_most, equal, hypothesis
from widenet.claims.sides import Fact, Sides
from widenet.papers.brutzkus2018.runs.exact_networks import ExactRun, exact_networks, sequence_of
from widenet.papers.brutzkus2018.runs.several_cases import SeveralCases


class Collapsed(SeveralCases, ExactRun):
    """Runs as cells, in fractions."""


def recursion_count(run: ExactRun) -> int:
    """T of the scalar recursion with the parameters of this run."""
    return sequence_of(run).updates()


@hypothesis("start: distance of an entry from $∓R/√d$")
def start(runs: Collapsed) -> Sides:
    """W_0 is that of the theorem."""
    return at_most(runs.start_distance, 0)


@claim(
    "brutzkus2018.theorem_10_collapse",
    Kind.STEP,
    "proof of Theorem 10, Appendix 9.1.4",
    reads=exact_networks,
    given=[start, output_weight, slope_positive, slope_below_one, step_size],
    title="On the basis, a whole network is one scalar recursion",
)
def theorem_10_collapse(
    runs: Collapsed,
    *,
    count: Callable[[ExactRun], int] = recursion_count,
    threshold_factor: Fraction = Fraction(1),
) -> Promise:
    """On the sequence of Theorem 10 all plus rows stay equal, all minus rows stay equal, and after each pass all
    coordinates are equal: training the $2k×d$ network is one scalar recursion. When it ends, some coordinate has $w ≥
    1/(2kv)$ or $u ≤ −1/(2αkv)$.
    """
    expected = runs.map(count, int)
    apart = runs.untied_plus + runs.untied_minus + runs.untied_coordinates > 0
    # The condition that the proof shows to be necessary for zero loss.
    size = 2 * runs.half_width * runs.output_weight
    reached = (runs.largest_plus * size >= threshold_factor) | (
        -runs.smallest_minus * runs.slope * size >= threshold_factor
    )
    words = "non-zero updates of the whole network, against those of the scalar recursion"
    return Promise(
        {
            "updates": equal(runs.updates, expected, text="as many updates as the recursion", quantity=words),
            "plus_rows": at_most(runs.untied_plus, 0, text="plus rows stay equal"),
            "minus_rows": at_most(runs.untied_minus, 0, text="minus rows stay equal"),
            "coordinates": at_most(runs.untied_coordinates, 0, text="coordinates are equal after each pass"),
            "threshold": Fact(reached, text="a coordinate has reached its threshold at the end"),
        },
        details=lambda: {
            "arithmetic": "fractions",
            "dims": np.unique(runs.dim),
            "neurons": np.unique(2 * runs.half_width),
            "most_updates": np.max(runs.updates),
            "runs_with_rows_or_coordinates_apart": np.sum(apart),
            "runs_with_another_count": np.sum(runs.updates != expected),
            "runs_that_reach_neither_threshold": np.sum(~reached),
        },
    )
