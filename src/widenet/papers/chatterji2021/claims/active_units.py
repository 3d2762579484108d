"""The introduction: every example is captured by about half of the units, and every unit by half of the examples."""

import numpy as np
import scipy.stats
from jaxtyping import Float

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Count, column
from widenet.claims.implication import Promise, at_least
from widenet.claims.statistics import matches_rate
from widenet.papers.chatterji2021.claims.starts import RandomStarts
from widenet.papers.chatterji2021.cluster_hypotheses import centres, unit_inputs
from widenet.papers.chatterji2021.runs.first_steps import centre_steps, rows_of, theorem_2_settings

CHANCE = 0.001
"""A p-value below this, over the number of tests, is not chance."""
LAW = (1 / 6, 1 / 6, 1 / 3, 1 / 6, 1 / 6)
"""How many of the four centres a unit with a bias is active on: 0, 1, 2, 3, 4."""


class Activity(RandomStarts):
    """Random starts, with one test per example and per data set."""

    @column
    def n_units(self) -> Count:
        """In all runs together."""
        return 2 * self.half_width * len(self)

    @column
    def halves(self) -> Float[np.ndarray, " point"]:
        """The p-value of "active on half of the units", for every example."""
        return np.array([matches_rate(int(count), self.n_units, 0.5) for count in self.active.sum(axis=0)])

    @column
    def fit(self) -> float:
        """The p-value of "active on 0, 1, …, n examples by that law"."""
        return float(scipy.stats.chisquare(self.activity.sum(axis=0), self.n_units * np.asarray(LAW)).pvalue)


@claim("chatterji2021.section_1_capture", Kind.TREND, "Section 1, overview of Theorem 2",
       reads=centre_steps.at(theorem_2_settings), given=[unit_inputs, centres],
       title="At a random start every example activates half of the units")  # fmt: skip
def section_1_capture(runs: Activity) -> Promise:
    """At a random start every example activates roughly half of the units, a binomial number with parameters $2p$
    and 1/2, and every unit is active on half of the examples on average. On the centres of XOR, with biases, a unit is
    active on 0, 1, 2, 3 or 4 of them with probability 1/6, 1/6, 1/3, 1/6 and 1/6.
    """
    each = runs.per("cell")
    return Promise(
        {
            "halves": at_least(
                each.halves,
                CHANCE / max(each.halves.size, 1),
                text="each example, on half of the units",
                quantity="p-value of the binomial tests",
            ),
            "law": at_least(
                each.fit,
                CHANCE / max(len(each), 1),
                text="each unit, on 0 to 4 examples by that law",
                quantity="p-value of the χ² tests",
            ),
        },
        details=lambda: rows_of(runs.cells),
    )
