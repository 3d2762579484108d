"""What the statements of the paper assume about a training set, a start and a network, measured."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

from widenet.claims.cases import Cases, Number, column
from widenet.claims.implication import at_least, at_most, equal, hypothesis, less_than, more_than
from widenet.claims.sides import Sides
from widenet.claims.tolerances import BY_CHANCE, ROUNDING
from widenet.papers.brutzkus2019.formulas import (
    LARGEST_STEP,
    SMALL_NET_STEP,
    SMALLEST_MARGIN,
    SMALLEST_WIDTH,
    largest_deviation,
    start_limit,
)
from widenet.papers.brutzkus2019.runs.trained import TrainedXord
from widenet.papers.brutzkus2019.sources import TrainingSet
from widenet.papers.brutzkus2019.user_data import NOT_SIGNS, WRONG_LABEL, about_diversity
from widenet.papers.brutzkus2019.xor_formulas import LARGEST_STEP as LARGEST_XOR_STEP


class OnPoints(Cases):
    """Runs on one training set per cell, with what is assumed about it."""

    points: TrainingSet

    @column
    def not_signs(self) -> int:
        """Points with an entry that is not ±1."""
        return self.points.not_signs

    @column
    def mislabelled(self) -> int:
        """Points whose label is not f*(x)."""
        return self.points.mislabelled

    @column
    def non_diverse(self) -> int:
        """Points that lack a pattern that their class can have."""
        return self.points.non_diverse

    @column
    def smaller_class(self) -> int:
        """Points in the smaller class."""
        return min(self.points.per_class)

    @column
    def imbalance(self) -> int:
        """The difference of the two class sizes."""
        return abs(self.points.per_class[0] - self.points.per_class[1])


class FromGaussian(Cases):
    """Runs from Gaussian filters, with σ_g as it was drawn."""

    start: Float[np.ndarray, "run filter 2"]
    step_size: Number

    @column
    def deviation_share(self) -> float:
        """σ_g, measured on the entries drawn around 0, over c_η/(16k^{3/2})."""
        half_width = self.start.shape[1] // 2
        drawn = math.sqrt(np.square(self.start).mean()) if self.start.size else math.nan
        return drawn / largest_deviation(self.step_size * half_width, half_width)

    @column
    def deviation_error(self) -> float:
        """Six standard errors of it."""
        return 6 / math.sqrt(2 * max(self.start.size, 1))


class XordNetworks(OnPoints, FromGaussian, TrainedXord):
    """Trained networks, with what is assumed about each training set and its starts."""


def _left_out(each: Any, counts: np.ndarray, what: str) -> Callable[[int], str]:
    def why(case: int) -> str:
        return f"{counts[case]} of {each.points[case].size} points {what}: not trained on." if counts[case] else ""

    return why


@hypothesis("points with an entry that is not $±1$", extreme=False)
def signs(runs: OnPoints) -> Sides:
    """Points of XORD."""
    each = runs.per("cell")
    return at_most(each.not_signs, 0, why=_left_out(each, each.not_signs, NOT_SIGNS))


@hypothesis("points whose label is not $f*(x)$", extreme=False)
def labels(runs: OnPoints) -> Sides:
    """The right labels."""
    each = runs.per("cell")
    return at_most(each.mislabelled, 0, why=_left_out(each, each.mislabelled, WRONG_LABEL))


@hypothesis("points that are not diverse", extreme=False)
def diverse(runs: OnPoints) -> Sides:
    """Every point has all patterns that its class can have."""
    each: Any = runs.per("cell")
    return at_most(each.non_diverse, 0, why=lambda case: about_diversity(each.points[case]))


@hypothesis("points in the smaller class", extreme=False)
def both_classes(runs: OnPoints) -> Sides:
    """Both classes occur."""
    return at_least(runs.per("cell").smaller_class, 1)


@hypothesis("difference of the two class sizes", extreme=False)
def balanced(runs: OnPoints) -> Sides:
    """As many points of each class."""
    return at_most(runs.per("cell").imbalance, 0)


@hypothesis("$σ_g$ as drawn, over $c_η/(16k^{3/2})$", extreme=False)
def deviation(runs: FromGaussian) -> Sides:
    """σ_g ≤ c_η/(16k^{3/2}), up to six standard errors."""
    each = runs.per("cell")
    return at_most(each.deviation_share, 1, room=each.deviation_error)


# ── Width, step and margin ──


@hypothesis("width $k$", key="width")
def some_filters(runs: Any) -> Sides:
    """k ≥ 1."""
    return at_least(runs.half_width, 1)


@hypothesis("width $k$", key="width")
def two_filters(runs: Any) -> Sides:
    """k = 2."""
    return equal(runs.half_width, 2)


@hypothesis("filters of each sign in the construction", key="width", extreme=False)
def filters_of_construction(networks: Any) -> Sides:
    """k ≤ 2."""
    return at_most(networks.per("cell").half_width, 2)


@hypothesis("width $k$", key="width")
def width_above_16(runs: Any) -> Sides:
    """k > 16."""
    return more_than(runs.half_width, 16)


@hypothesis("width $k$", key="width")
def widths_above_16(finish: Any) -> Sides:
    """k > 16, of all widths."""
    return more_than(finish.per("width").widths, 16)


@hypothesis("width $k$", key="width")
def width_of_64(runs: Any) -> Sides:
    """k ≥ 64."""
    return at_least(runs.half_width, 64)


@hypothesis("width $k$", key="width")
def width_above_64(runs: Any) -> Sides:
    """k > 64."""
    return more_than(runs.half_width, 64)


@hypothesis("width $k$", key="width")
def width_of_120(runs: Any) -> Sides:
    """k ≥ 120."""
    return at_least(runs.half_width, SMALLEST_WIDTH)


@hypothesis("step constant $c_η$", key="step_constant")
def step_positive(runs: Any) -> Sides:
    """c_η > 0."""
    return more_than(runs.step_constant, 0)


@hypothesis("step constant $c_η$", key="step_constant")
def step_below_half(runs: Any) -> Sides:
    """c_η < 1/2."""
    return less_than(runs.step_constant, LARGEST_XOR_STEP)


@hypothesis("step constant $c_η$", key="step_constant")
def step_of_lemmas(runs: Any) -> Sides:
    """c_η ≤ 1/8, as everywhere in Appendix E."""
    return at_most(runs.step_constant, 1 / 8)


@hypothesis("step constant $c_η$", key="step_constant")
def step_of_theorem_6_4(runs: Any) -> Sides:
    """c_η ≤ 1/41."""
    return at_most(runs.step_constant, SMALL_NET_STEP)


@hypothesis("step constant $c_η$", key="step_constant")
def step_of_theorem_6_3(runs: Any) -> Sides:
    """c_η ≤ 1/410."""
    return at_most(runs.step_constant, LARGEST_STEP)


@hypothesis("margin $γ$", key="margin")
def margin_of_one(runs: Any) -> Sides:
    """γ ≥ 1."""
    return at_least(runs.required_margin, 1)


@hypothesis("margin $γ$", key="margin")
def margin_of_two(runs: Any) -> Sides:
    """γ ≥ 2."""
    return at_least(runs.required_margin, 2)


@hypothesis("margin $γ$", key="margin")
def margin_of_eight(runs: Any) -> Sides:
    """γ ≥ 8."""
    return at_least(runs.required_margin, SMALLEST_MARGIN)


@hypothesis("$γ − 1 − 2c_η$", extreme=False)
def angle_below_a_right_one(runs: Any) -> Sides:
    """The angle that is promised is below 90°."""
    return more_than(runs.per("cell").spare_margin, 0)


@hypothesis("$β$")
def beta(runs: Any) -> Sides:
    """β > 1."""
    return more_than(runs.beta, 1)


@hypothesis("$k − 64((β + 1)/(β − 1))²$", key="width")
def spare_width(runs: Any) -> Sides:
    """k > 64((β + 1)/(β − 1))²."""
    return more_than(runs.per("cell").spare_width, 0)


DIVERSE_POINTS = (signs, labels, diverse, both_classes, balanced)
TRAINING_SET = (*DIVERSE_POINTS, deviation)
REGIME = (width_of_120, step_of_theorem_6_3, margin_of_eight)
THEOREM_6_3 = (*REGIME, *TRAINING_SET)
SMALL_NETWORKS = (two_filters, step_of_theorem_6_4, margin_of_one)
THEOREM_6_4 = (*SMALL_NETWORKS, *TRAINING_SET)


# ── Theorem 6.5: numbers of samples ──

SMALLEST_DELTA = "$δ$ against $1 − p₊p₋(1 − c − 16e⁻⁸)$"


@hypothesis(SMALLEST_DELTA, key="delta", extreme=False)
def delta_up_to_rounding(runs: Any) -> Sides:
    """δ ≥ 1 − p₊p₋(1 − c − 16e⁻⁸); the strictest δ is this very number."""
    return at_least(runs.delta, runs.smallest_delta, room=ROUNDING)


@hypothesis(SMALLEST_DELTA, extreme=False)
def delta(runs: Any) -> Sides:
    """δ ≥ 1 − p₊p₋(1 − c(120) − 16e⁻⁸)."""
    return at_least(runs.delta, runs.smallest_delta_of_120)


@hypothesis("samples, fewest", extreme=False)
def samples_fewest(runs: Any) -> Sides:
    """At least two points."""
    return at_least(runs.n_points, 2)


@hypothesis("samples, most", extreme=False)
def samples(runs: Any) -> Sides:
    """At most two points."""
    return at_most(runs.n_points, 2)


@hypothesis("samples, most of a run", key="samples", extreme=False)
def fewer_samples(runs: Any) -> Sides:
    """Fewer than m_2 points."""
    return less_than(runs.n_points, runs.fewer_than)


@hypothesis("$p*$", extreme=False)
def hard_share(runs: Any) -> Sides:
    """p* > 0."""
    return more_than(runs.per("cell").smallest_hard_share, 0)


TWO_SAMPLES = (
    *(each.of(0, 1) for each in REGIME),
    *(each.of(0) for each in DIVERSE_POINTS),
    *(each.of(0, 1) for each in (deviation, samples_fewest, samples, delta_up_to_rounding)),
)
"""Of trained networks, and of those on pairs drawn from the law, which need not be diverse."""
FEW_SAMPLES = (*SMALL_NETWORKS, deviation, delta, fewer_samples, hard_share)


# ── Sections 3 to 5, and single lemmas ──


@hypothesis("distance of an initial fit from a multiple of $2η$, in units of $η$")
def off_lattice(runs: Any) -> Sides:
    """No ⟨w_0, p⟩ is a multiple of 2η."""
    return more_than(runs.lattice_distance, 0)


@hypothesis("entries that are not $±1$", key="signs", extreme=False)
def entries(runs: Any) -> Sides:
    """Words of ±1."""
    return at_most(runs.per("cell").other_entries, 0)


@hypothesis("random filters", extreme=False)
def filters(runs: Any) -> Sides:
    """As many as there are pattern sets."""
    return at_least(runs.per("cell").n_filters, 15)


@hypothesis("required margin $γ$", key="margin", extreme=False)
def margin_of_decoy(runs: Any) -> Sides:
    """γ ≤ 8."""
    return at_most(runs.per("cell").margin, 8)


@hypothesis("number of patches $d$")
def patches(runs: Any) -> Sides:
    """d ≥ 4."""
    return at_least(runs.n_patches, 4)


# XOR and the traces of Appendix E


@hypothesis("runs that start in the event, fewest of a setting", extreme=False, key="in_event")
def runs_in_event(runs: Any) -> Sides:
    """Each setting has a run in the event: one without would pass unseen beside others."""
    return at_least(runs.per("cell").n_inside, 1)


@hypothesis("runs that start in the event and reach zero loss, fewest of a setting", extreme=False, key="in_event")
def runs_at_zero_loss(runs: Any) -> Sides:
    """Each setting has a run in the event that reaches zero loss."""
    return at_least(runs.per("cell").n_at_zero_loss, 1)


@hypothesis("$σ_g$ as drawn, over $c_η/(16k^{3/2})$", extreme=False, key="deviation")
def deviation_of_starts(runs: Any) -> Sides:
    """σ_g ≤ c_η/(16k^{3/2}), measured on all drawn starts, scored or not, up to six standard errors."""
    each = runs.per("cell")
    return at_most(
        each.relative_deviation,
        1,
        room=each.deviation_error,
        where=each.has_deviation,
        event="settings with 100 starting fits or more",
        optional=True,
    )


@hypothesis("$|⟨u_0, p⟩|$ in units of $η$")
def start_size(units: Any) -> Sides:
    """Units start inside the event of Lemma E.3."""
    return at_most(units.largest_fit, start_limit(1.0))


@hypothesis("units, all of them in U13 at the start", extreme=False)
def units_in_u13(units: Any) -> Sides:
    """There are units, and no other."""
    return at_least(units.per("cell").n_in_u13, 1)


@hypothesis(
    "directions uniform: p-value that a filter is in each octant equally often", extreme=False, key="uniform_directions"
)
def uniform_directions(runs: Any) -> Sides:
    """The filters that were drawn look in every direction."""
    return at_least(runs.per("cell").uniform, BY_CHANCE)


@hypothesis("runs that start in the event, fewest of a setting", extreme=False, key="in_event")
def runs_in_both_events(runs: Any) -> Sides:
    """Each setting has a run in the events of Lemmas B.2 and 3.1."""
    return at_least(runs.per("cell").n_in_both, 1)


@hypothesis("$kη/c_η$", key="step_size")
def xor_step_size(runs: Any) -> Sides:
    """η ≤ c_η/k."""
    return at_most(runs.per("cell").step_share, 1, within=ROUNDING)


DRAWN = {"event": "settings that were drawn", "optional": True}


@hypothesis("$16√k·σ_g/η$, $σ_g$ as drawn", key="deviation")
def xor_deviation(runs: Any) -> Sides:
    """σ_g ≤ η/(16√k): the paper allows c_η/(16k^{3/2}), and Lemma B.2 compares σ_g with η."""
    each = runs.per("cell")
    return at_most(each.spread, 1, room=each.spread_error, where=each.is_drawn, **DRAWN)


@hypothesis("$16k^{3/2}·σ_g/c_η$, $σ_g$ as drawn", key="deviation")
def xor_deviation_as_printed(runs: Any) -> Sides:
    """σ_g ≤ c_η/(16k^{3/2}), the paper's own limit."""
    each = runs.per("cell")
    return at_most(each.spread * each.step_share, 1, room=each.spread_error, where=each.is_drawn, **DRAWN)


SECTION_3 = (step_below_half, xor_step_size, xor_deviation)
"""What Section 3 asks for, with the σ_g that Lemma B.2 needs."""
SECTION_3_AS_PRINTED = (step_below_half, xor_step_size, xor_deviation_as_printed)
TRAJECTORIES = (runs_in_event, deviation_of_starts, step_of_lemmas, margin_of_one)
"""What the lemmas of Appendix E up to E.16 need."""
AT_ZERO_LOSS = (runs_at_zero_loss, *TRAJECTORIES[1:])
IN_REGIME = (runs_in_event, deviation_of_starts, *REGIME)
"""The regime of Theorem 6.3."""
AT_ZERO_LOSS_IN_REGIME = (runs_at_zero_loss, *IN_REGIME[1:])
