"""The hypotheses of the paper, measured on the runs that a statement is judged on. Section 4 first."""

from typing import Any

from widenet.claims.given import labels, output_weight, separable, slope_below_one, slope_positive, step_size
from widenet.claims.implication import at_most, hypothesis
from widenet.claims.sides import Sides
from widenet.claims.tolerances import ROUNDING


@hypothesis("input norm $‖x‖/R_x$")
def input_norm(runs: Any) -> Sides:
    """‖x‖ ≤ R_x."""
    return at_most(runs.relative_input, 1, within=ROUNDING, normalization="R_x is the largest input norm")


@hypothesis("initial row norm / $R_0$")
def row_norm(runs: Any) -> Sides:
    """‖w_0‖ ≤ R_0."""
    return at_most(runs.relative_row, 1, within=ROUNDING, normalization="R_0 is the largest initial row norm")


@hypothesis("visits of a point in an epoch, beyond or below 1", extreme=False)
def once_per_epoch(runs: Any) -> Sides:
    """Every point is visited once in every epoch."""
    return at_most(runs.visits, 0)


NETWORK = (output_weight, slope_positive, slope_below_one)
SHAPE = (*NETWORK, step_size)
SGD = (separable, input_norm, row_norm, labels, once_per_epoch, *SHAPE)
"""All that Theorem 4.1 needs."""
