"""The assumptions on the data, and what else the statements need, each measured on a column of its runs or draws."""

from typing import Any

import numpy as np

from widenet.claims.implication import Given, at_least, at_most, hypothesis, more_than
from widenet.claims.sides import Sides
from widenet.claims.tolerances import IDENTITY, ROUNDING, STEP
from widenet.papers.li2018.formulas import LEAST_SCALED, event_threshold, widest_component
from widenet.papers.li2018.sources import SAME

# ── the assumptions (A1), (A1') and (A2) ──


@hypothesis("(A2): distance of a norm $‖x‖$ from 1")
def unit_norm(runs: Any) -> Sides:
    """‖x‖ = 1."""
    return at_most(runs.norm_error, 0, within=ROUNDING)


@hypothesis("$|Σp − 1|$", extreme=False)
def total(runs: Any) -> Sides:
    """Shares that add up to 1."""
    return at_most(runs.total, 0, within=ROUNDING)


def _apart(distances: Any, **how: Any) -> Sides:
    """More than 0; undecided where it may be rounding alone."""
    known = np.array(distances)
    may_be_rounding = (known > 0) & (known <= SAME)
    why = "so small a distance of unit vectors may be rounding"
    return more_than(known, 0, undecided=may_be_rounding, unknown=why, **how)


@hypothesis("(A1): least distance $δ$ across classes", extreme=False)
def distance(runs: Any) -> Sides:
    """δ > 0."""

    def components(case: int) -> str:
        return f"k = {runs.n_classes[case]} classes, l = {runs.per_class[case]} components in one at most"

    return _apart(runs.separation, why=components)


@hypothesis("(A1'): least $‖x + x'‖$ across classes", extreme=False)
def opposite_distance(runs: Any) -> Sides:
    """δ counts mirror images, which the paper needs and does not state."""
    return _apart(runs.opposite_separation)


DIAMETER = "(A1): $λ$, largest diameter of a component over $δ$, against $1/(8l)$"


@hypothesis(DIAMETER, extreme=False)
def relative_diameter(runs: Any) -> Sides:
    """λ ≤ 1/(8l)."""
    return at_most(runs.relative_diameter, widest_component(runs.per_class), room=ROUNDING)


@hypothesis(DIAMETER, extreme=False, key="relative_diameter")
def relative_diameter_as_printed(runs: Any) -> Sides:
    """(A1) to the letter: the δ of λ does not count mirror images."""
    both = np.minimum(runs.separation, runs.opposite_separation)
    with np.errstate(divide="ignore", invalid="ignore"):
        diameter = np.where(both > 0, runs.relative_diameter * both, 0.0)
        relative = np.where(diameter == 0, 0.0, diameter / runs.separation)
    return at_most(relative, widest_component(runs.per_class), room=ROUNDING)


SEPARATED = (distance, opposite_distance, relative_diameter)
"""(A1), and (A1'): δ for points and mirror images, λ ≤ 1/(8l)."""
SEPARATED_AS_PRINTED = (distance, relative_diameter_as_printed)
"""(A1) to the letter."""
DATA = (unit_norm, *SEPARATED)
DATA_AS_PRINTED = (unit_norm, *SEPARATED_AS_PRINTED)
SHARES = (unit_norm, total)
"""(A2), and shares that add up to 1: what every descent on single points needs."""


# ── enough runs ──


def different(values: Any) -> int:
    """How many values occur."""
    return len(np.unique(values))


@hypothesis("number of widths", extreme=False)
def widths(runs: Any) -> Sides:
    """A slope needs three."""
    return at_least(different(runs.width), 3)


@hypothesis("fewest runs of a width", extreme=False, key="seeds")
def runs_of_a_width(runs: Any) -> Sides:
    """A mean needs five."""
    return at_least(np.unique(runs.width, return_counts=True)[1], 5)


@hypothesis("number of scales", extreme=False)
def scales(runs: Any) -> Sides:
    """A trend needs three."""
    return at_least(different(runs.start_scale), 3)


@hypothesis("numbers of components", extreme=False)
def components(runs: Any) -> Sides:
    """A trend needs three."""
    return at_least(different(runs.per_class), 3)


@hypothesis("number of runs", extreme=False)
def runs(runs: Any) -> Sides:
    """A mean over eight."""
    return at_least(len(runs), 8)


def seeds(least: int) -> Given:
    """So many seeds at least."""
    return Given("seeds", "number of seeds", lambda runs: at_least(different(runs.seed), least), extreme=False)


# ── coupling ──

PROMISED_STEPS = "fewest steps that are promised"


@hypothesis("$eτklm/σ$")
def scaled_threshold(runs: Any) -> Sides:
    """τ is so large that the statement is one about a share of many neurons."""
    return at_least(runs.per("threshold").scaled_thresholds, LEAST_SCALED)


@hypothesis("$eτklm/σ$", key="scaled_threshold")
def scaled_theta(found: Any) -> Sides:
    """The same where θ = eτkl/σ is given."""
    return at_least(found.thetas * found.width, LEAST_SCALED)


@hypothesis("$10τm/σ$", key="scaled_threshold")
def scaled_threshold_at_a_point(runs: Any) -> Sides:
    """The same for one point, with 10 in place of ekl."""
    return at_least(runs.per("threshold").scaled_at_a_point, LEAST_SCALED)


@hypothesis(PROMISED_STEPS, extreme=False, key="steps")
def a_step_is_promised(runs: Any) -> Sides:
    """At every τ."""
    return at_least(runs.per("threshold").limits, 1)


@hypothesis("steps that are promised", extreme=False, key="steps")
def first_step_is_promised(found: Any) -> Sides:
    """t = 1."""
    return at_least(found.steps, 1)


@hypothesis(PROMISED_STEPS, extreme=False, key="steps")
def two_steps_are_promised(runs: Any) -> Sides:
    """So that the weights have moved."""
    return at_least(runs.promised_steps, 2)


LARGE_RESIDUAL = 0.05
"""v of the steps that Lemma B.4 is looked at in."""


@hypothesis("steps with $v ≥ 0.05$", extreme=False, key="steps")
def large_residuals(runs: Any) -> Sides:
    """The statement is about some step."""
    return more_than(np.sum(runs.per("step").residuals >= LARGE_RESIDUAL), 0)


@hypothesis("$η‖A‖²$")
def step_size(runs: Any) -> Sides:
    """η ≤ 2/‖A‖²."""
    return at_most(runs.scaled_step, 2)


# ── draws ──


@hypothesis("$p_{1,b}v_{1,1,b}/v$")
def signs(found: Any) -> Sides:
    """Coefficients of the own class that are not negative."""
    return at_least(found.least_own, 0)


@hypothesis("$τ/σ$, against $δ/(16ekl)$", extreme=False)
def threshold(found: Any) -> Sides:
    """τ ≤ δσ/(16ekl)."""
    return at_most(found.threshold, event_threshold(found.distance, 1.0, found.n_components), within=ROUNDING)


@hypothesis("$‖Σ_i P_i‖/‖P_1‖$", key="sum_zero")
def pieces_sum_to_zero(found: Any) -> Sides:
    """Σ_i P_i = 0."""
    return at_most(found.totals, 0, within=IDENTITY)


@hypothesis("$|Σ_i|$ of the moves, over $ε₀$", key="sum_zero")
def moves_sum_to_zero(found: Any) -> Sides:
    """Residuals that stay admissible."""
    return at_most(found.totals, 0, within=IDENTITY)


@hypothesis("$δ$ to points and mirror images, less rounding", key="distance")
def some_distance(found: Any) -> Sides:
    """δ > 0."""
    return more_than(found.distances - ROUNDING, 0)


@hypothesis("$δ$")
def distance_limit(found: Any) -> Sides:
    """δ ≤ √2."""
    return at_most(found.distances, 2**0.5, within=ROUNDING)


@hypothesis("$|p v_{1,a,b}|/v$ of other classes")
def coefficients(found: Any) -> Sides:
    """|p v| ≤ v."""
    return at_most(found.largest, 1, within=ROUNDING)


@hypothesis("$λ$, against $1/(8l)$", extreme=False, key="relative_diameter")
def spread(found: Any) -> Sides:
    """λ ≤ 1/(8l) of one component."""
    return at_most(found.relative_diameter, widest_component(found.per_class), room=ROUNDING)


@hypothesis("$|⟨w, x⟩|$ over the step of the differences")
def off_kinks(found: Any) -> Sides:
    """No kink within ten steps of a difference."""
    return more_than(found.clearance, 10)


@hypothesis("$|⟨β, x⟩|/|α⟨x_{1,1}, x⟩|$")
def clearance(found: Any) -> Sides:
    """No point of another class changes sides."""
    return more_than(found.clearance, 1)


@hypothesis("distance of two points")
def nearest(runs: Any) -> Sides:
    """No two points are equal."""
    return more_than(runs.nearest, 0)


@hypothesis("distance to a mirror image")
def parallel(runs: Any) -> Sides:
    """No two points lie on one line."""
    return more_than(runs.parallel, 0)


# ── functions of one number ──


@hypothesis("$φ$ convex: increase of its slope")
def convex(drawn: Any) -> Sides:
    """Slopes that do not fall."""
    return at_least(drawn.least_bend, 0, within=STEP)


@hypothesis("$φ$ and $l$ convex: increase of a slope", key="convex")
def both_convex(drawn: Any) -> Sides:
    """Of both functions."""
    return at_least(np.minimum(drawn.least_bend, drawn.least_line_bend), 0, within=STEP)


@hypothesis("$l$ linear: change of its slope")
def linear(drawn: Any) -> Sides:
    """One slope."""
    return at_most(drawn.line_bend, 0, within=STEP)


@hypothesis("jump $ρ$ of the slope at 0")
def jump(drawn: Any) -> Sides:
    """ρ > 0."""
    return more_than(drawn.jump, 0)


@hypothesis("$γ$")
def gap(drawn: Any) -> Sides:
    """γ > 0."""
    return more_than(drawn.gap, 0)


@hypothesis("$‖δ_i‖/p$")
def radius(drawn: Any) -> Sides:
    """‖δ_i‖ ≤ p."""
    return at_most(drawn.largest / drawn.radius, 1, within=ROUNDING)


@hypothesis("$L·m$")
def scale(drawn: Any) -> Sides:
    """Lm ≥ 1."""
    return at_least(drawn.lipschitz * drawn.n_terms, 1, within=ROUNDING)
