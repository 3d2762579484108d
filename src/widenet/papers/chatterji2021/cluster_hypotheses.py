"""The hypotheses of Section 4, measured on the starts, runs and clusters that a statement is judged on."""

import math
from typing import Any

from widenet.claims.implication import at_least, at_most, hypothesis, less_than, more_than
from widenet.claims.sides import Sides
from widenet.claims.tolerances import ROUNDING, STEP


@hypothesis("distance of $‖x‖²$ from $1$")
def unit_inputs(runs: Any) -> Sides:
    """‖x‖ = 1."""
    return at_most(runs.length_error, 0, within=STEP)


@hypothesis("distance of $hp$ from $1$")
def bandwidth(runs: Any) -> Sides:
    """h = 1/p."""
    return at_most(runs.bandwidth_error, 0, within=ROUNDING)


@hypothesis("distance of $σ$ from its value, relative")
def start(runs: Any) -> Sides:
    """σ as Section 4, or Theorem 2, has it."""
    return at_most(runs.start_error, 0, within=ROUNDING)


@hypothesis("distance of $α_0$ from its value, relative")
def first_step(runs: Any) -> Sides:
    """α_0 as Section 4, or Theorem 2, has it."""
    return at_most(runs.step_error, 0, within=ROUNDING)


@hypothesis("$β$")
def beta_positive(runs: Any) -> Sides:
    """β > 0."""
    return more_than(runs.beta, 0)


@hypothesis("$β$")
def beta_below_half(runs: Any) -> Sides:
    """β < 1/2."""
    return less_than(runs.beta, 0.5)


@hypothesis("fewest points $n$", extreme=False)
def points(runs: Any) -> Sides:
    """n ≥ 4."""
    return at_least(runs.n_points, 4)


@hypothesis("$x_s·x_q$")
def products(runs: Any) -> Sides:
    """x_s·x_q ≥ 0 for all pairs."""
    return at_least(runs.smallest_product, 0, within=ROUNDING)


@hypothesis("$x_s·x_q − (1 − 2r)$ in one cluster")
def one_cluster(runs: Any) -> Sides:
    """x_s·x_q ≥ 1 − 2r in one cluster."""
    return at_least(runs.cluster_gap, 0, within=ROUNDING)


@hypothesis("$x_s·x_q − (1 + Δ)/2 − 2r$ of opposite classes")
def opposite(runs: Any) -> Sides:
    """x_s·x_q ≤ (1 + Δ)/2 + 2r for opposite classes."""
    return at_most(runs.opposite_excess, 0, within=ROUNDING)


@hypothesis("distance of $x_s·x_q$ from those of XOR")
def centres(runs: Any) -> Sides:
    """Four points with the inner products of the centres of XOR."""
    return at_most(runs.centre_gap, 0, within=STEP)


@hypothesis("cluster radius $r$", key="radius")
def radius_at_most_one(runs: Any) -> Sides:
    """r ≤ 1."""
    return at_most(runs.radius, 1, within=ROUNDING)


@hypothesis("$p^(β/2)$, over what the proof needs")
def wide_enough(runs: Any) -> Sides:
    """p^(β/2) as large as the proof needs; see `least_width_power`."""
    return at_least(runs.width_ratio, 1)


@hypothesis("distance of $Q_1$ from $e²/(120p)$, relative", extreme=False)
def schedule(runs: Any) -> Sides:
    """Q_1 = e²/(120p)."""
    return at_most(runs.schedule_error, 0, within=ROUNDING)


@hypothesis("$L_1$ over what Theorem 1 allows for $n$", extreme=False)
def first_loss(runs: Any) -> Sides:
    """L_1 small enough for Theorem 1."""
    return at_most(runs.loss_share, 1)


@hypothesis("$‖V^(1)‖/√(d/p^β)$")
def norm_low(runs: Any) -> Sides:
    """‖V^(1)‖ ≥ 3/5·√(d/p^β)."""
    return at_least(runs.norm_ratio, 0.6)


@hypothesis("$‖V^(1)‖/√(d/p^β)$")
def norm_high(runs: Any) -> Sides:
    """‖V^(1)‖ ≤ 3√(d/p^β)."""
    return at_most(runs.norm_ratio, 3)


@hypothesis("$C_4 p^(1/2−β)$")
def exponent(cases: Any) -> Sides:
    """C_4 p^(1/2−β) ≥ 2."""
    return at_least(cases.exponents, 2)


@hypothesis("$L_1/exp(−C_4 p^(1/2−β))$", key="first_loss")
def loss_after(cases: Any) -> Sides:
    """L_1 ≤ exp(−C_4 p^(1/2−β))."""
    return at_most(cases.over, 1, within=ROUNDING)


@hypothesis("$‖V^(1)‖/(3/5·√(d/p^β))$")
def norm(cases: Any) -> Sides:
    """‖V^(1)‖ ≥ 3/5·√(d/p^β)."""
    return at_least(cases.under, 1, within=ROUNDING)


@hypothesis("cluster radius $r$", key="radius")
def small_radius(clusters: Any) -> Sides:
    """r < 1."""
    return less_than(clusters.radius, 1)


@hypothesis("$dr$")
def few_dimensions(caps: Any) -> Sides:
    """dr ≤ π."""
    return at_most(caps.spread, math.pi)


@hypothesis("$‖x − μ‖$, in units of $r/√2$", key="from_centre")
def distance(clusters: Any) -> Sides:
    """‖x − μ‖ ≤ r/√2."""
    return at_most(clusters.distance, 1, within=STEP / 4)


@hypothesis("distance of $‖μ‖$ from $1$", key="centres")
def unit_centres(clusters: Any) -> Sides:
    """‖μ‖ = 1."""
    return at_most(clusters.centre_error, 0, within=STEP)


@hypothesis("$r$", key="radius")
def radius_positive(cases: Any) -> Sides:
    """r ≥ 0."""
    return at_least(cases.radius, 0)


@hypothesis("$r$")
def radius_below_one(cases: Any) -> Sides:
    """r ≤ 1."""
    return at_most(cases.radius, 1)


@hypothesis("$Δ$")
def overlap(cases: Any) -> Sides:
    """Δ ≥ 0."""
    return at_least(cases.overlap, 0)


THEOREM_2 = (unit_inputs, bandwidth, start, first_step, beta_positive, beta_below_half, points)
"""What can be measured of Theorem 2."""
SECOND_PHASE = (schedule, points, unit_inputs, bandwidth, beta_positive, beta_below_half)
"""The same of its later steps."""
