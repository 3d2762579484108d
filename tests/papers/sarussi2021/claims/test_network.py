import functools

import numpy as np
import pytest

from tests.controls import breaks_hypothesis, breaks_part, every_part_of, hypothesis_edges
from tests.papers.records import altered
from tests.papers.sarussi2021.inputs import handed
from widenet.claims.base import Verdict, at_least, undecided
from widenet.papers.sarussi2021.claims import network
from widenet.papers.sarussi2021.claims.network import (
    draw_expressed,
    draw_scaled,
    equation_27,
    express,
    nearest,
    section_3_expressiveness,
    section_8_1,
)
from widenet.papers.sarussi2021.formulas import update_bound
from widenet.papers.sarussi2021.runs.clouds import Clouds, CloudSetting, ask, run_clouds
from widenet.papers.sarussi2021.runs.epochs import lifted_epoch_settings, run_epochs
from widenet.papers.sarussi2021.settings import kappa_network
from widenet.progress import silent
from widenet.records import Scale


@functools.cache
def toy_units():
    return draw_expressed(Scale.QUICK, 0)


@functools.cache
def toy_scaled():
    return draw_scaled(Scale.QUICK, 0)


@functools.cache
def toy_pairs():
    return run_clouds(CloudSetting(n_networks=30, n_points=30, lifted=True), silent)


@functools.cache
def toy_trained():
    return [run_epochs(setting, silent) for setting in lifted_epoch_settings(Scale.QUICK, 0)]


def one_percent(units, positive):
    first = np.flatnonzero((units.weights >= 0) == positive)[0]
    outputs = units.outputs.copy()
    outputs[first] *= 1.001
    return altered(units, outputs=outputs)


@breaks_part(section_3_expressiveness, "units with a ≥ 0")
def test_control_a_positive_weight_a_little_too_large():
    return section_3_expressiveness(toy_units()), section_3_expressiveness(one_percent(toy_units(), True))


@breaks_part(section_3_expressiveness, "units with a < 0")
def test_control_a_negative_weight_a_little_too_large():
    return section_3_expressiveness(toy_units()), section_3_expressiveness(one_percent(toy_units(), False))


def test_a_unit_of_weight_zero_counts_as_positive():
    units = altered(toy_units(), weights=np.resize([0.0, 0.01, -0.01, 1.0, -1.0], len(toy_units().weights)))
    parts, _ = handed(section_3_expressiveness, units)
    first, second = (part.scored[:5].tolist() for part in parts.values())
    assert first == [True, True, False, True, False]
    assert second == [False, False, True, False, True]


def test_control_without_the_division_by_v():
    assert section_3_expressiveness(express(np.random.default_rng(0), 5, divide=False)).verdict is Verdict.VIOLATED


@breaks_hypothesis(section_3_expressiveness, "output_weight")
def test_control_output_weight_zero():
    return section_3_expressiveness(altered(toy_units(), output_weight=0.0))


@breaks_part(equation_27, "N_{cW} = c·N_W")
def test_control_one_row_a_little_longer():
    scaled = toy_scaled().scaled.copy()
    scaled[5] *= 1.001
    return equation_27(toy_scaled()), equation_27(altered(toy_scaled(), scaled=scaled))


@breaks_part(equation_27, "the signs are the same")
def test_control_one_sign_turned():
    signs = toy_scaled().signs.copy()
    signs[5] *= -1
    return equation_27(toy_scaled()), equation_27(altered(toy_scaled(), signs=signs))


def test_a_sign_that_rounding_decides_is_not_scored():
    """1e-10 of what cancels."""
    outputs = np.full_like(toy_scaled().outputs, 1.0)
    for size, cases in ((0.999e10, len(outputs)), (1.001e10, 0)):
        drawn = altered(toy_scaled(), outputs=outputs, signs=-outputs, sizes=size * outputs)
        assert handed(equation_27, drawn)[0]["the signs are the same"].scored.sum() == cases


def test_one_factor_of_zero_is_enough():
    factors = toy_scaled().factors.copy()
    factors[3] = 0.0
    assert [h.met for h in equation_27(altered(toy_scaled(), factors=factors)).hypotheses] == [False]


@breaks_hypothesis(equation_27, "factor")
def test_control_a_negative_factor():
    found = equation_27(draw_scaled(Scale.QUICK, 0, factors=(-1.0,)))
    assert found.conclusion is False
    return found


def judged(pairs=None, trained=None, **constants):
    return section_8_1([pairs or toy_pairs()], trained or toy_trained(), **constants)


@breaks_part(section_8_1, "the two networks are equal")
def test_control_a_bias_one_percent_too_large():
    return judged(), judged(bias_share=1.01)


@breaks_part(section_8_1, "Theorem 5.1 with ‖(x, 1)‖")
def test_control_the_norm_without_the_bias_coordinate():
    """The sharp network in the coordinate of the bias, at x = 0: with ‖x‖ = 0 every pair is inside the region."""
    sharp = ask(kappa_network(0.2, 0.8 / 1.2 - 1e-3), np.array([[1.0, 0.0]]))
    honest = Clouds.joined([toy_pairs(), sharp])
    return judged(honest), judged(Clouds.joined([toy_pairs(), altered(sharp, norms=np.zeros(1))]))


@breaks_part(section_8_1, "Theorem 4.1 with √(R_x² + 1)")
def test_control_a_bound_that_is_too_small():
    return judged(), judged(bound=lambda *given: 1e-8 * update_bound(*given))


def test_the_bound_needs_the_lifted_norm():
    (runs,) = toy_trained()
    lower = network.promised(altered(runs, largest_norm=lambda r: np.sqrt(r**2 - 1)), update_bound, 0.5)
    assert (lower < network.promised(runs, update_bound, 0.5)).all()


@breaks_part(section_8_1, "V_β⁺ and V_β⁻ are not empty for β ≤ 1")
def test_control_without_the_column_of_ones():
    return judged(), judged(ones=False)


def test_a_run_that_is_given_up_after_the_bound_breaks_it():
    """And before it decides nothing."""
    (runs,) = toy_trained()
    limits = network.promised(runs, update_bound, 0.5)
    for updates, kept in ((int(limits.max()) + 1, False), (int(limits.min()), None)):
        lost = altered(runs, hits=lambda h: np.full_like(h, -1), updates=updates)
        found = judged(trained=[lost])
        assert found.parts[2].kept is kept
        assert found.runs.unfinished == 2


@pytest.mark.parametrize(("hit", "updates", "kept"), [(0, 13, True), (12, 1, True), (13, 1, False), (-1, 12, None),
                                                      (-1, 13, False)])  # fmt: skip
def test_the_edge_of_the_bound_with_biases(hit, updates, kept):
    (runs,) = toy_trained()
    changed = altered(runs, hits=lambda h: 0 * h + hit, updates=updates)
    assert judged(trained=[changed], bound=lambda *given: np.full(2, 12.0)).parts[2].kept is kept


def test_the_factor_two_at_the_edge_of_the_region_with_biases():
    """|(w̄ − ū)·x| is 2.01, 2(1 + 1e-12) and 1.99 times r‖x‖."""
    sharp = ask(kappa_network(0.2, 0.5), np.array([[1.0, 0.0]]))
    for factor, cases in ((2.01, 1), (2 * (1 + 1e-12), 1), (1.99, 0)):
        pair = altered(sharp, plus_mean=np.array([factor]), minus_mean=np.zeros(1), plus_radius=np.ones(1))
        assert judged(altered(pair, minus_radius=np.ones(1), minus_distance=np.ones(1))).parts[1].cases == cases


def test_of_two_hypotheses_with_one_key_the_nearer_is_shown():
    far, near = (at_least("margin", "a margin", actual, 1) for actual in (3, 2))
    other, unknown = at_least("norm", "a norm", np.nan, 1), undecided("margin", "a margin", "≥ 1", why="nothing found")
    for order in ((far, near, other), (near, other, far)):
        assert {each.key: each.actual for each in nearest(*order) if each.key == "margin"} == {"margin": 2}
    for order in ((far, unknown), (unknown, far)):
        assert [each.met for each in nearest(*order)] == [None]
    fine = at_least("norm", "a norm", 5, 1)
    for order in ((fine, other), (other, fine)):
        assert [each.met for each in nearest(*order)] == [False]


def trained_with(**fields):
    (runs,) = toy_trained()
    return judged(trained=[altered(runs, **fields)])


test_edges_of_the_lifted_runs = hypothesis_edges(
    section_8_1,
    trained_with,
    separable=({"smallest_margin": np.ones(2)}, {"smallest_margin": np.array([1.0, 1 - 1e-6])}),
    input_norm=({"relative_input": np.ones(2)}, {"relative_input": np.array([1.0, 1.001])}),
    row_norm=({"relative_row": np.ones(2)}, {"relative_row": np.array([1.0, 1.001])}),
    labels=({}, {"label_error": np.array([0.0, 1e-15])}),
    once_per_epoch=({}, {"visits": np.array([0.0, 1.0])}),
    step_size=({}, {"step_size": 0.0}),
    output_weight=({}, {"output_weight": 0.0}),
    slope_positive=({}, {"slope": 0.0}),
    slope_below_one=({}, {"slope": 1.0}),
)


@breaks_hypothesis(section_8_1, "balls")
def test_control_rows_outside_their_ball():
    return judged(altered(toy_pairs(), plus_distance=lambda d: d + 1e3))


@breaks_hypothesis(section_8_1, "slope_positive")
def test_control_slope_zero():
    return judged(altered(toy_pairs(), slopes=lambda a: 0 * a))


@breaks_hypothesis(section_8_1, "slope_below_one")
def test_control_slope_one():
    return judged(altered(toy_pairs(), slopes=lambda a: 0 * a + 1))


test_every_part_has_a_control = every_part_of(network)
