"""The hypotheses of Section 3, measured on the networks and runs that a statement is judged on."""

from typing import Any

import numpy as np

from widenet.claims.given import labels
from widenet.claims.implication import Given, at_least, at_most, hypothesis, less_than, more_than
from widenet.claims.sides import Sides
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.chatterji2021.formulas import INFLECTION, LEAST_SHARE


@hypothesis("$|‖x‖ − 1|$")
def unit_inputs(runs: Any) -> Sides:
    """‖x‖ = 1."""
    error = runs.unit_error
    divide = "divide every row by its norm, in float64"
    return at_most(error, 0, within=ROUNDING, why=lambda case: "" if error[case] <= ROUNDING else divide)


@hypothesis("$|hp − 1|$")
def bandwidth(runs: Any) -> Sides:
    """h = 1/p."""
    return at_most(runs.band_error, 0, within=ROUNDING)


@hypothesis("$hp$")
def narrow_band(runs: Any) -> Sides:
    """hp ≤ 1."""
    return at_most(runs.band, 1, within=ROUNDING)


@hypothesis("$h$")
def bandwidth_below_one(runs: Any) -> Sides:
    """h ≤ 1."""
    return at_most(runs.bandwidth, 1, within=ROUNDING)


@hypothesis("fewest points $n$", extreme=False)
def two_points(runs: Any) -> Sides:
    """n ≥ 2."""
    return at_least(runs.n_samples, 2)


UNITS = "in units of the loss up to which (5) gives Lemma 10"


@hypothesis(f"$L$, {UNITS}")
def small_loss(runs: Any) -> Sides:
    """L at most where (5) gives Lemma 10, at every iterate."""
    return at_most(runs.iterates.loss_share, 1, within=ROUNDING)


@hypothesis(f"$L₁$, {UNITS}")
def start_loss(runs: Any) -> Sides:
    """The same of the first loss alone."""
    return at_most(runs.start_share, 1, within=ROUNDING)


@hypothesis("$log L_t$")
def loss_below_one(runs: Any) -> Sides:
    """L_t < 1."""
    return less_than(runs.iterates.log_losses, 0)


@hypothesis("I2: $30pα_tL_t$")
def step_product(runs: Any) -> Sides:
    """I2: 30pα_tL_t ≤ 1 at every step."""
    return at_most(runs.per("step").step_product, 1, within=ROUNDING)


@hypothesis("I1: $L₁/L_t − 1 − Q₂(t − 1)$")
def rate(runs: Any) -> Sides:
    """I1: L₁/L_t − 1 ≥ Q₂(t − 1) at every iterate before the last."""
    return at_least(runs.per("step").rate_slack, 0)


@hypothesis("I3: log of $(log²(1/L_t)/‖V^(t)‖)/(log²(1/L₁)/‖V^(1)‖)$")
def weight_use(runs: Any) -> Sides:
    """I3: log²(1/L_t)/‖V^(t)‖ is at least its first value, at every iterate before the last."""
    return at_least(runs.per("step").use_slack, 0)


def aligned(share: float) -> Given:
    """The conclusion of Lemma 10, with this share of L log(1/L)."""

    @hypothesis("$‖∇L‖‖V‖/(L log(1/L))$", key="lemma_10")
    def measure(runs: Any) -> Sides:
        return at_least(runs.iterates.gradient_share, share, within=ROUNDING)

    return measure


lemma_10 = aligned(LEAST_SHARE)


@hypothesis("$(L_t − L_{t+1})/(α_t‖∇L_t‖²)$")
def lemma_8(runs: Any) -> Sides:
    """The conclusion of Lemma 8."""
    return at_least(runs.per("step").efficiencies, LEAST_SHARE, within=ROUNDING)


@hypothesis("$Q₁/Q̃₁$")
def step_scale(runs: Any) -> Sides:
    """Q₁ ≤ Q̃₁."""
    return at_most(runs.scale_share, 1, within=ROUNDING)


@hypothesis("$Q₁·120p/e²$", key="step_scale")
def third_term(runs: Any) -> Sides:
    """Q₁ at most the third term of (6)."""
    return at_most(runs.third_share, 1, within=ROUNDING)


@hypothesis("$|α_t/(Q₁ log²(1/L_t)) − 1|$")
def schedule(runs: Any) -> Sides:
    """α_t = Q₁ log²(1/L_t), as the steps were taken."""
    return at_most(runs.per("step").schedule_error, 0, within=STEP)


@hypothesis("$Q₂/Q̃₂(Q₁)$")
def rate_share(runs: Any) -> Sides:
    """Q₂ ≤ Q̃₂(Q₁)."""
    return at_most(runs.rate_share, 1, within=ROUNDING)


@hypothesis("$3αM$", key="short_step")
def local_step(runs: Any) -> Sides:
    """α ≤ 1/(3M), where there is a step."""
    return at_most(runs.local_product, 1, within=ROUNDING, **_that_move(runs, runs.local_product))


@hypothesis("step $α$", key="step_positive")
def local_step_positive(runs: Any) -> Sides:
    """α > 0, where there is a step."""
    return more_than(runs.local_steps, 0, **_that_move(runs, runs.local_steps))


def _that_move(runs: Any, measured: np.ndarray) -> dict[str, Any]:
    """Networks that have a step; one that has, and whose number is NaN, decides nothing."""
    lost = {"undecided": np.isnan(measured), "unknown": "a step could not be computed"}
    return {"where": runs.moves, "event": "networks that move", **lost}


CHOSEN = "steps up to this length"


def steps_up_to(longest: float) -> tuple[Given, Given]:
    """Steps with pαL up to `longest`. A look has steps for several lemmas; the longer ones belong to another one."""

    @hypothesis("$pαL$, in units of what is allowed")
    def short_step(runs: Any) -> Sides:
        u = runs.per("step")
        return at_most(u.step_product / (30 * longest), 1, within=ROUNDING, where=u.share <= longest, event=CHOSEN)

    @hypothesis("step $α$")
    def step_positive(runs: Any) -> Sides:
        u = runs.per("step")
        return more_than(u.steps, 0, where=u.share <= longest, event=CHOSEN)

    return short_step, step_positive


@hypothesis("$30pαL$", key="short_step")
def lemma_8_step(runs: Any) -> Sides:
    """αL ≤ 1/(30p), of the step of Lemma 8."""
    return at_most(runs.segment_product, 1, within=ROUNDING)


@hypothesis("$|Σ‖a_j‖² − 1|$")
def unit_direction(directions: Any) -> Sides:
    """Σ‖a_j‖² = 1."""
    return at_most(directions.square_error, 0, within=ROUNDING)


def away_from_kinks(distance: float) -> Given:
    """No pre-activation crosses 0 or h while the weights are nudged."""

    @hypothesis("distance of a pre-activation from $0$ and $h$", key="away_from_kinks")
    def measure(drawn: Any) -> Sides:
        return more_than(drawn.nearest_kink, distance)

    return measure


@hypothesis("no two equal inputs with different labels", extreme=False)
def distinct(fits: Any) -> Sides:
    """No network separates equal inputs; float64 none that are too close."""
    reasons, unknown = fits.why_not, "too close for float64"
    open_still = np.isnan(fits.clashes)
    return at_most(fits.clashes, 0, undecided=open_still, unknown=unknown, why=lambda case: str(reasons[case]))


@hypothesis("$|ψ(0⁺)|$", extreme=False)
def finite_limit(splits: Any) -> Sides:
    """ψ has a finite limit at 0."""
    return less_than(splits.limit_size, np.inf)


@hypothesis("second difference of $ψ$")
def concave(splits: Any) -> Sides:
    """ψ is concave."""
    return at_most(splits.bend, 0, within=ROUNDING)


@hypothesis("$z$")
def below_inflection(grid: Any) -> Sides:
    """F is concave up to there."""
    return at_most(grid.z, INFLECTION, within=ROUNDING)


@hypothesis("$h$")
def bandwidth_positive(grid: Any) -> Sides:
    """h > 0."""
    return more_than(grid.bandwidth, 0)


@hypothesis("$z$")
def at_most_one(grid: Any) -> Sides:
    """z ≤ 1."""
    return at_most(grid.per("z").z, 1)


@hypothesis("$z$")
def positive(grid: Any) -> Sides:
    """z > 0."""
    return more_than(grid.per("z").z, 0)


@hypothesis("$z$")
def not_negative(grid: Any) -> Sides:
    """z ≥ 0."""
    return at_least(grid.per("z").z, 0)


@hypothesis("$2nL$")
def log_not_negative(grid: Any) -> Sides:
    """2nL ≤ 1."""
    return at_most(grid.per("case").log_argument, 1, within=ROUNDING)


@hypothesis("$n$", key="two_points")
def two_or_more(counts: Any) -> Sides:
    """n ≥ 2."""
    return at_least(counts.n_samples, 2)


SETTING = (unit_inputs, labels, bandwidth)
"""Section 3 as a whole: unit inputs, labels ±1, and h = 1/p."""
