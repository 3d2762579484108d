"""The introduction: every example is captured by about half of the units, and every unit by half of the examples."""

from collections.abc import Sequence

import numpy as np
import scipy.stats

from widenet.claims.base import Evidence, Kind, claim, pick
from widenet.claims.sides import Sense, Sides, evidence
from widenet.claims.statistics import matches_rate
from widenet.papers.chatterji2021.claims.lifted_units import centres_of_xor
from widenet.papers.chatterji2021.claims.starts import conditions, rows_of, runs_of
from widenet.papers.chatterji2021.runs.first_steps import FirstSteps, first_steps, theorem_2_settings

CHANCE = 0.001
"""A p-value below this, over the number of tests, is not chance."""
LAW = (1 / 6, 1 / 6, 1 / 3, 1 / 6, 1 / 6)
"""How many of the four centres a unit with a bias is active on: 0, 1, 2, 3, 4."""


@claim("chatterji2021.section_1_capture", Kind.TREND, "Section 1, overview of Theorem 2",
       reads=first_steps.at(theorem_2_settings))  # fmt: skip
def section_1_capture(cells: Sequence[FirstSteps], *, law: tuple[float, ...] = LAW) -> Evidence:
    """At a random start every example is active on roughly half of the units, a Binomial(2p, 1/2) number of them; and
    every unit on roughly half of the examples on average: on the centres of XOR, with biases, on 0, 1, 2, 3, 4 of them
    with probability 1/6, 1/6, 1/3, 1/6, 1/6.
    """
    units = [2 * cell.half_width * cell.n_runs for cell in cells]
    halves = [
        matches_rate(int(count), total, 0.5)
        for cell, total in zip(cells, units, strict=True)
        for count in cell.active.sum(axis=0)
    ]
    fits = [
        float(scipy.stats.chisquare(cell.activity.sum(axis=0), total * np.asarray(law)).pvalue)
        for cell, total in zip(cells, units, strict=True)
    ]
    return evidence(
        {
            "each example, on half of the units": Sides(
                min(halves), CHANCE / len(halves), Sense.AT_LEAST, quantity="p-value of the binomial tests"
            ),
            "each unit, on 0 to 4 examples by that law": Sides(
                min(fits), CHANCE / len(fits), Sense.AT_LEAST, quantity="p-value of the χ² tests"
            ),
        },
        (*pick(conditions(cells), "unit_inputs"), centres_of_xor(cells)),
        runs=runs_of(cells),
        details=rows_of(cells),
    )
