"""The limits of all hypotheses as the paper prints them, written by hand: a relaxed one in the source differs here."""

import numpy as np
import pytest

from widenet import papers
from widenet.claims.sides import Sides
from widenet.papers.brutzkus2018.runs.bad_global_minimum import BadMinimum, BadMinimumSetting
from widenet.papers.brutzkus2018.runs.initializations import Initializations
from widenet.papers.brutzkus2018.runs.memories import Remembered

CLAIMS = {id: papers.find_claim(id) for id in papers.claim_ids("brutzkus2018")}
LIMITS = {
    # Section 2: separable data of the unit ball, a ±v network, Leaky ReLU with 0 < α < 1, SGD with η > 0
    "separable": "≥ 1",
    "input_norm": "≤ 1",
    "labels": "≤ 0",
    "output_weight": "> 0",
    "equal_outputs": "≤ 0",
    "slope_positive": "> 0",
    "slope_below_one": "< 1",
    "step_size": "> 0",
    "row_norm": "≤ 1",  # a row of W_0 over R
    "derivative_above_slope": "≥ 0",
    "derivative_at_zero": "≤ 1",
    # Footnotes 1, 4 and 5, Proposition 1, Eq. 10
    "separable_with_bias": "≥ 1",
    "constant_coordinate": "≤ 0",
    "homogeneous": "≤ 0",
    "nonzero_point": "> 0",
    "off_kink": "> 0",
    "off_loss_kink": "> 0",
    "nonzero_update": "< 1",
    # Eq. 6 and Corollary 3
    "normalized_output": "≤ 0",
    "normalized_rows": "≤ 0",
    "equal_scale": "≤ 0",
    "output_scale": "≤ 0",
    "separator_norm": "≥ 1",
    "formula_slope_positive": "> 0",
    "formula_slope_below_one": "< 1",
    "formula_step_size": "> 0",
    "large_steps": "≥ 1e+09",  # ours: η is followed this far towards infinity
    "tied": "≤ 0",
    # Theorem 10 and Eq. 13
    "start": "≤ 0",
    "no_sign_change": "> 0",
    # Section 6
    "loss_zero": "≤ 0",
    "same_points": "≤ 0",
    "unused_points": "≥ 1",
    "enough_samples": "≥ 0",  # n − 2c_k
    "few_updates": "≤ 0",  # T − c_k
    "fixed_before": "≥ 1",
    "dimension": "≥ 2",
    "distinct_rays": "> 1e-09",  # ours: directions this close count as one
    # Section 7
    "antipodal": "≤ 0",
    "relu": "≤ 0",
    "unit_output_weights": "≤ 0",
    "plus_labels": "≥ 1",
    "orthonormal": "≤ 0",
    "entry_bound": "≤ 0",
    "continuous_start": "> 0",
    "ended": "≤ 0",
    "bounded": "< inf",
    "symmetric": "≤ 1",  # ours: in six standard errors
    "independent": "≤ 1",
    "small_start": "< 1",
    "large_step": "> 0",
    "exponent_positive": "> 0",
    "exponent_at_most_half": "≤ 0.5",
}
OTHERS = {
    ("footnote_4", "row_norm"): "≤ 0",  # a row of W_0 minus R
    ("theorem_9a", "width"): "≤ 0",
    ("theorem_9a_as_printed", "width"): "≤ 0",
    ("footnote_4_theorem_9_as_printed", "width"): "≤ 0",
    ("theorem_9b", "width"): "≥ 0",
    ("theorem_9b_as_printed", "width"): "≥ 0",
    ("theorem_9b_updates", "width"): "≥ 0",
    ("theorem_9b_updates_as_printed", "width"): "≥ 0",
    ("theorem_7", "width"): "≥ 0",
    ("theorem_7_sweep", "width"): "≥ 0",
    ("section_6_2_bad_global", "width"): "≥ 0",
}


@pytest.mark.parametrize("id", CLAIMS)
def test_every_limit_is_that_of_the_paper(id):
    given = [clause for clause in CLAIMS[id].clauses.values() if clause.role == "given"]
    assert {each.key: f"{each.sense} {each.limit:g}" for each in given} == {
        each.key: OTHERS.get((CLAIMS[id].name, each.key)) or LIMITS[each.key] for each in given
    }
    assert {each.key for each in given if each.tolerance not in ("", "to 1e-12")} <= {"tied"}


def starts(dim, delta, half_width):
    return Initializations(dim, delta, half_width, np.ones(1, bool), 0.0, 0.0, 1.0, np.ones(0, bool), np.ones(0, bool))


def fitted(n_samples, dim, half_width):
    values, votes = np.ones((n_samples, 1)), np.repeat([1.0, -1.0], half_width)
    return Remembered(values, values, votes, dim, 0.5, "swept", np.zeros(0, int), 1.0, 1.0, False)


def minima(n_train, n_test, dim, multiple):
    setting = BadMinimumSetting(n_train=n_train, n_test=n_test, dim=dim, multiples=(multiple,), n_sets=1)
    margins = np.ones((3, 1, 1, n_train + n_test))
    return BadMinimum(setting, margins, np.ones(1), np.zeros((1, 1)), np.ones((1, 1), bool))


@pytest.mark.parametrize(
    ("name", "cell", "spare"),
    [
        ("theorem_9a", starts(32, np.exp(-1), 5), 0),  # k − log2(d/ln(1/δ)), log2 32 = 5
        ("theorem_9a", starts(64, np.exp(-4), 2), -2),  # log2(64/4) = 4
        ("theorem_9b", starts(3, 3 / 32, 5), 0),  # k − log2(d/δ), log2 32 = 5
        ("theorem_9b", starts(64, 0.25, 10), 2),  # log2 256 = 8
        ("theorem_9b_as_printed", starts(64, 0.25, 9), 0),  # k − log2(2d/δ), log2 512 = 9
        ("theorem_9b_as_printed", starts(4, 0.5, 3), -1),  # log2 16 = 4
        ("theorem_7", fitted(61, 2, 62), 0),  # k − 2⌈n/(2d − 2)⌉, 2⌈61/2⌉ = 62
        ("theorem_7", fitted(60, 5, 17), 1),  # 2⌈60/8⌉ = 16
        ("theorem_7_sweep", fitted(61, 2, 31), 0),  # k − ⌈n/d⌉, ⌈61/2⌉ = 31
        ("theorem_7_sweep", fitted(60, 5, 10), -2),  # 60/5 = 12
        ("section_6_2_bad_global", minima(50, 150, 20, 1), 0),  # k = 12 = 2⌈200/38⌉
        ("section_6_2_bad_global", minima(5, 6, 3, 2), 6),  # k = 12, 2⌈11/4⌉ = 6
    ],
)
def test_a_width_is_measured_from_the_limit_of_its_theorem(name, cell, spare):
    sides = CLAIMS[f"brutzkus2018.{name}"].clauses["width"]([cell])
    assert isinstance(sides, Sides)
    np.testing.assert_allclose(sides.measured, spare, atol=1e-12)
