"""The hypotheses of the paper, measured on the runs that a statement is judged on. Section 4 first."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from widenet.claims.given import labels, output_weight, separable, slope_below_one, slope_positive, step_size
from widenet.claims.implication import Given, at_most, hypothesis, less_than, more_than
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

# Section 6. The hypotheses are about all later times; they are measured up to the end of the record, s = 400.

SETTLED, LAST = 20, 400
"""A run must separate the data, and settle in its regime, by the first reading of the clock; the record ends at the
second."""
ON_A_KINK = 1e-4
"""A neuron with |⟨w, x⟩| below this share of ‖w‖·R_x may slide along the kink of x."""


@hypothesis("first reading $s$ of the clock with $nL < log 2$", extreme=False)
def separating(runs: Any) -> Sides:
    """Assumption 6.1 with log 2, early enough for what is said about the record."""
    return at_most(runs.started, SETTLED)


@hypothesis("first reading $s$ of the clock with $nL < log 2$", extreme=False, key="separating")
def separating_at_last(runs: Any) -> Sides:
    """The same, at any time of the record."""
    return at_most(runs.started, LAST)


@hypothesis("reading $s$ at which a neuron last changed sides", extreme=False)
def stays(runs: Any) -> Sides:
    """The run enters a regime and does not leave it, as far as the record goes."""
    return at_most(runs.last_crossing, SETTLED)


@hypothesis("runs in which neurons of one sign do not agree", extreme=False)
def agreement(runs: Any) -> Sides:
    """Neurons of one sign agree on every point."""
    return at_most(runs.disagrees * runs.disagrees.sum(), 0)


@hypothesis("$β$ of the regime / $R_x$, beyond rounding")
def margin(runs: Any) -> Sides:
    """β > 0."""
    return more_than(runs.relative_beta, ROUNDING)


@hypothesis("largest smoothed margin $γ̃$ against $√k·αvR_x$", extreme=False, key="smoothed_margin")
def smoothed_margin_large(runs: Any) -> Sides:
    """γ̃ > √k·αvR_x."""
    return more_than(runs.best_margin, runs.threshold)


@hypothesis("$β$ with $V_β⁺$ or $V_β⁻$ not empty")
def critical_margin(runs: Any) -> Sides:
    """V_β⁺ and V_β⁻ are empty, with β of the regime."""
    return less_than(runs.critical, runs.beta)


@hypothesis("$|⟨w, x⟩|/(‖w‖·R_x)$ at the end")
def off_the_kinks(runs: Any) -> Sides:
    """At a kink a neuron has no gradient, and it may slide along one: then multipliers alone do not decide."""
    return more_than(runs.end_clearance, ON_A_KINK)


REGIME = (separating, stays, agreement, margin)
THREE = (*REGIME, smoothed_margin_large)
ALL = (*THREE, critical_margin)
"""What Theorem 6.2 needs; its first step needs no more than `THREE`."""

# Data sets and their programs.


@hypothesis("margin $γ$", key="separable")
def positive_margin(sets: Any) -> Sides:
    """The largest certified margin of each data set is positive."""
    return more_than(sets.margin, 0)


@hypothesis("distance of a $−x$ from the data, relative")
def antipodal(sets: Any) -> Sides:
    """−x is a point of the data for every point x."""
    return at_most(sets.asymmetry, 0)


def met(runs: Any, hypotheses: Sequence[Given]) -> np.ndarray:
    """Which runs meet these."""
    return np.all([each(runs).slack()[1] for each in hypotheses], axis=0)
