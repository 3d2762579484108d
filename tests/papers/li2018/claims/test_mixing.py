"""From one class to the pseudo gradient, with the extreme case of mixing and the hexagon."""

import functools

import numpy as np
import pytest
from scipy.special import erf
from scipy.stats import binom

from tests.controls import breaks_hypothesis, breaks_part, every_part_of, part_edges, spares
from tests.papers.li2018.toys import altered, sample
from widenet.claims.base import Silence, Verdict
from widenet.claims.specimen import Specimen
from widenet.data import from_arrays
from widenet.papers.li2018.claims import mixing
from widenet.papers.li2018.claims.geometry import random_coefficients
from widenet.papers.li2018.claims.mixing import (
    draw_clusters,
    draw_mean_events,
    draw_mixed,
    draw_printed_mixing,
    extreme_pieces,
    fitted_slope,
    hexagon_settings,
    lemma_5_2,
    lemma_5_2_as_printed,
    lemma_a_3_mixing,
    lemma_a_3_mixing_as_printed,
    lemma_b_2,
    lemma_b_2_event,
    lemma_b_3,
    lemma_b_4_batches,
    measure_clusters,
    measure_mean_events,
    measure_mixed,
)
from widenet.papers.li2018.formulas import batch_deviation_bound
from widenet.papers.li2018.runs.batches import BatchSetting, run_batches
from widenet.papers.li2018.runs.large_gradients import LargeGradientSetting, run_large_gradients
from widenet.papers.li2018.settings import TOY, Basis, Caps, SpreadPoints
from widenet.progress import silent
from widenet.records import Scale


@functools.cache
def mixed():
    return draw_mixed(Scale.QUICK, 0)


@functools.cache
def events():
    return draw_mean_events(Scale.QUICK, 0)


@functools.cache
def clusters():
    return draw_clusters(Scale.QUICK, 0)


@functools.cache
def gradients():
    return run_large_gradients(
        LargeGradientSetting(data=TOY, width=300, n_random=10, n_steps=20, every=5, n_searches=1, search_steps=5),
        silent,
    )


@functools.cache
def batched(copies=False):
    return run_batches(
        BatchSetting(data=Caps(dim=10), width=60, sizes=(4, 16, 64), n_reference=4000, copies=copies), silent
    )


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_they_hold_for_other_seeds(seed):
    pairs = ((lemma_a_3_mixing, draw_mixed), (lemma_b_2_event, draw_mean_events), (lemma_b_2, draw_clusters))
    for claim, draw in pairs:
        assert claim(draw(Scale.QUICK, seed)).verdict is Verdict.HOLDS, claim.id


@breaks_part(lemma_a_3_mixing, "q_k at P_i = −P_1/(k − 1)")
def test_control_two_percent_off():
    shares = np.where(mixed().is_extreme, 0.96 * mixed().shares, mixed().shares)
    return lemma_a_3_mixing(mixed()), lemma_a_3_mixing(altered(mixed(), shares=shares))


@breaks_part(lemma_a_3_mixing, "at least q_k")
def test_control_neurons_that_mix_less():
    shares = np.where(mixed().is_extreme, mixed().shares, 0.8 * mixed().shares)
    return lemma_a_3_mixing(mixed()), lemma_a_3_mixing(altered(mixed(), shares=shares))


@breaks_part(lemma_a_3_mixing, "variance at least k/(k − 1)")
def test_control_a_smaller_variance():
    small = lambda v: np.where(mixed().is_extreme, v - 1e-6, v)  # noqa: E731
    return lemma_a_3_mixing(mixed()), lemma_a_3_mixing(altered(mixed(), variances=small))


@breaks_hypothesis(lemma_a_3_mixing, "sum_zero")
def test_control_pieces_that_do_not_add_up_to_zero():
    return lemma_a_3_mixing(mixed()), lemma_a_3_mixing(measure_mixed([(extreme_pieces(5, 2.0), True, 1000)], 0))


def test_the_printed_constant_fails_from_six_classes_on():
    assert lemma_a_3_mixing_as_printed(draw_printed_mixing(Scale.QUICK, 0)).verdict is Verdict.VIOLATED
    many = measure_mixed([(extreme_pieces(6), True, 200_000)], 0)
    assert lemma_a_3_mixing_as_printed(many).verdict is Verdict.VIOLATED


@spares(lemma_a_3_mixing_as_printed)
def test_four_classes_spare_it():
    return lemma_a_3_mixing_as_printed(measure_mixed([(extreme_pieces(4), True, 60_000)], 0))


test_control_each_family_of_residuals = part_edges(
    lemma_5_2,
    lambda kind=None: lemma_5_2(
        [altered(gradients(), shares=np.where(gradients().kinds == kind, 0.001, gradients().shares), width=2048)]
    ),
    {
        "residuals met in training": ({}, {"kind": 0}),
        "residuals drawn": ({}, {"kind": 1}),
        "residuals searched for": ({}, {"kind": 2}),
    },
)


def test_control_a_hundred_times_the_target():
    assert lemma_5_2([gradients()], share=100.0).conclusion is False


def test_lemmas_whose_width_is_not_given_are_neither_confirmed_nor_refuted():
    targets = np.where(np.arange(len(gradients().shares)) == 0, 0.0, gradients().targets)
    few = altered(gradients(), shares=0.25 * targets, targets=targets, width=10**9)
    less = altered(batched(), large=0.5 * 0.0829 * batched().distance / (2 * batched().per_class))
    for found, kept, words in (
        (lemma_5_2([gradients(), few]), False, "is 0.25 times"),
        (lemma_5_2([gradients()]), True, "the smallest share seen"),
        (lemma_b_3([batched(), less]), False, "is 0.5 times"),
        (lemma_b_3([batched()]), True, "the share seen"),
    ):
        assert (found.verdict, found.conclusion) == (Verdict.CONSTANT_UNSPECIFIED, kept)
        assert words in found.open_constant


test_control_each_hypothesis_of_5_2 = [
    breaks_hypothesis(lemma_5_2, key, also=also)(
        lambda fields=fields: (lemma_5_2([gradients()]), lemma_5_2([altered(gradients(), **fields)]))
    )
    for key, also, fields in (
        ("unit_norm", (), {"norm_error": 0.01}),
        ("distance", (), {"separation": 0.0}),
        ("opposite_distance", (), {"opposite_separation": 0.0}),
        ("relative_diameter", (), {"relative_diameter": 0.0631}),
    )
]


@pytest.mark.parametrize("number", range(4))
def test_control_hypotheses_of_5_2(number):
    test_control_each_hypothesis_of_5_2[number]()


def test_the_hexagon_refutes_the_printed_lemma():
    (setting,) = hexagon_settings(Scale.QUICK, 0)
    small = setting.model_copy(update={"width": 60, "n_steps": 2000, "every": 2000})
    found = lemma_5_2_as_printed([run_large_gradients(small, silent)])
    assert found.verdict is Verdict.VIOLATED
    assert found.measured == 0


@spares(lemma_5_2_as_printed)
def test_toys_spare_it():
    return lemma_5_2_as_printed([gradients()])


def test_targets_are_those_of_the_component_with_the_largest_residual():
    assert 0 < gradients().targets.min() < gradients().targets.max() < 0.08


test_control_each_part_of_the_event = part_edges(
    lemma_b_2_event,
    lambda constants=None, **fields: lemma_b_2_event(altered(events(), **fields), **(constants or {})),
    {
        "Pr[S ≤ v/3] ≥ 1 − c_G/(2√(1 − δ²/4))": ({}, {"constants": {"share": 2.0}}),
        "exactly so on orthonormal centres": ({}, {"exact": lambda e: 1.1 * e}),
        "Pr[E_τ] ≥ 0.33τ/σ": ({}, {"constants": {"joint": 0.7}}),
    },
)


def test_control_the_printed_threshold():
    """σδ/(12l): with 20 classes S ≤ v/3 has probability 4e-4; a constant of 4 in place of 24 gives 0.318."""
    printed = measure_mean_events([Basis(n_classes=20)], 0, factor=24 * 19 / 12)
    assert printed.exact[0] == pytest.approx(3.952829543214e-4, rel=1e-6)
    assert lemma_b_2_event(printed).conclusion is False
    wider = measure_mean_events([Basis(n_classes=20)], 0, factor=24 / 4)
    assert wider.exact[0] == pytest.approx(0.318, abs=1e-3)
    assert lemma_b_2_event(wider).conclusion is False
    assert events().exact[:2] == pytest.approx([0.8248830403986, 0.828176577835], rel=1e-10)


@breaks_hypothesis(lemma_b_2_event, "distance_limit")
def test_control_no_such_distance():
    return lemma_b_2_event(events()), lemma_b_2_event(altered(events(), distances=lambda d: np.maximum(d, 1.415)))


@breaks_hypothesis(lemma_b_2_event, "coefficients")
def test_control_larger_coefficients_of_other_classes():
    """k = 2, l = 1, p = ½, 1 − o₁(x₁) = 0.1, o₁(x₂) = 0.9: |p v| of the other class is 9v."""
    return lemma_b_2_event(events()), lemma_b_2_event(
        measure_mean_events([Basis(n_classes=2, per_class=1)], 0, largest=9.0)
    )


@breaks_part(lemma_b_2, "Pr[‖P‖ ≥ v/4] ≥ 0.0829·δ/((k − 1)l)")
def test_control_small_pieces():
    """‖P‖ ≤ kl·v, so a 25th of it is always below v/4."""
    return lemma_b_2(clusters()), lemma_b_2(measure_clusters([Caps(dim=15, n_points=240).draw(0)], 0, factor=0.04))


CLUSTER_CHANGES = (
    ("unit_norm", (), {"norm_error": 0.01}),
    ("signs", (), {"least_own": -0.01}),
)


@pytest.mark.parametrize(
    "test",
    [
        breaks_hypothesis(lemma_b_2, key, also=also)(
            lambda fields=fields: (lemma_b_2(clusters()), lemma_b_2(altered(clusters(), **fields)))
        )
        for key, also, fields in CLUSTER_CHANGES
    ],
    ids=[key for key, _, _ in CLUSTER_CHANGES],
)
def test_control_hypotheses_of_b_2(test):
    test()


STRUCTURE_CHANGES = (
    ("distance", ("relative_diameter",), {"separation": 0.0}),
    ("opposite_distance", ("relative_diameter",), {"opposite_separation": 0.0}),
    ("relative_diameter", (), {"diameter": 0.1}),
)


def clusters_with(**fields):
    return lemma_b_2(altered(clusters(), structures=tuple(altered(each, **fields) for each in clusters().structures)))


@pytest.mark.parametrize(
    "test",
    [
        breaks_hypothesis(lemma_b_2, key, also=also)(lambda fields=fields: (clusters_with(), clusters_with(**fields)))
        for key, also, fields in STRUCTURE_CHANGES
    ],
    ids=[key for key, _, _ in STRUCTURE_CHANGES],
)
def test_control_structure_of_b_2(test):
    test()


test_control_each_part_of_b_3 = part_edges(
    lemma_b_3,
    lambda copies=False, constants=None, **fields: lemma_b_3([altered(batched(copies), **fields)], **(constants or {})),
    {
        "the gap falls like S^{−1/2}, not slower": ({}, {"copies": True}),
        "the gap falls like S^{−1/2}, not faster": ({}, {"gaps": lambda g: g / batched().sizes[:, None]}),
        "many neurons have a large mean gradient": ({}, {"large": 0.001}),
    },
)

B_3_CHANGES = (
    ("unit_norm", (), {"norm_error": 0.01}),
    ("distance", (), {"separation": 0.0}),
    ("opposite_distance", (), {"opposite_separation": 0.0}),
    ("relative_diameter", (), {"relative_diameter": 0.0631}),
)


@pytest.mark.parametrize(
    "test",
    [
        breaks_hypothesis(lemma_b_3, key, also=also)(
            lambda fields=fields: (lemma_b_3([batched()]), lemma_b_3([altered(batched(), **fields)]))
        )
        for key, also, fields in B_3_CHANGES
    ],
    ids=[key for key, _, _ in B_3_CHANGES],
)
def test_control_hypotheses_of_b_3(test):
    test()


def far_batches(size):
    """A tenth of the batches of this size lie beyond the bound."""
    gaps = batched().gaps.copy()
    gaps[list(batched().sizes).index(size), ::10] = 100.0
    return lemma_b_4_batches([altered(batched(), gaps=gaps)])


@pytest.mark.parametrize(
    "test",
    [
        breaks_part(lemma_b_4_batches, f"batches of {size}")(
            lambda size=size: (lemma_b_4_batches([batched()]), far_batches(size))
        )
        for size in (4, 16, 64)
    ],
    ids=["4", "16", "64"],
)
def test_control_batches_beyond_the_bound(test):
    test()


@breaks_hypothesis(lemma_b_4_batches, "unit_norm")
def test_control_longer_points():
    return lemma_b_4_batches([batched()]), lemma_b_4_batches([altered(batched(), norm_error=0.01)])


def test_control_a_bound_that_is_twenty_times_too_small():
    assert lemma_b_4_batches([batched()], factor=0.05).conclusion is False


def test_slopes():
    assert np.isnan(fitted_slope(np.array([4.0]), np.array([3.0])))
    assert fitted_slope(np.array([1.0, 4.0, 16.0]), np.array([3.0, 1.5, 0.75])) == pytest.approx(-0.5)


def sloped(power):
    """Gaps that are exactly proportional to a power of the size."""
    return altered(batched(), gaps=lambda g: np.ones_like(g) * batched().sizes[:, None] ** power)


@pytest.mark.parametrize(("power", "kept"), [(-0.36, True), (-0.34, False), (-0.64, True), (-0.66, False)])
def test_the_slope_of_samples_at_its_edges(power, kept):
    assert lemma_b_3([sloped(power)]).conclusion is kept


def test_large_shares_at_their_edges():
    level = 0.0829 * batched().distance / (2 * batched().per_class)
    for factor, kept in ((1.01, True), (0.99, False)):
        assert lemma_b_3([altered(batched(), large=factor * level)]).parts[2].kept is kept
        share = factor * 0.0829 * clusters().slopes
        assert lemma_b_2(altered(clusters(), shares=share, draws=10**12)).parts[0].kept is kept
        many = altered(gradients(), shares=factor * gradients().targets, width=10**9)
        assert lemma_5_2([many]).conclusion is kept
        slope = 0.0829 * gradients().separation / (2 * gradients().per_class)
        hexagon = altered(gradients(), shares=gradients().shares * 0 + factor * slope)
        assert lemma_5_2_as_printed([hexagon]).conclusion is kept


def test_the_events_at_their_edges():
    for factor, kept in ((1.01, True), (0.98, False)):
        levels = 1 - 0.7978845608 / (2 * np.sqrt(1 - events().distances ** 2 / 4))
        found = altered(events(), shares=factor * levels, exact=np.full(4, np.nan), draws=10**12)
        assert lemma_b_2_event(found).parts[0].kept is kept
        joint = factor * 0.33 / 0.7978845608
        found = altered(events(), shares=np.full(4, joint), thresholds=np.full(4, 1e-6))
        assert lemma_b_2_event(found).parts[2].kept is kept


def test_mixing_at_its_edge():
    for factor, kept in ((1.01, True), (0.98, False)):
        found = altered(mixed(), draws=np.full(len(mixed().shares), 1e12))
        shares = factor * np.array([2 * 0.5 * (1 - erf(np.sqrt((k - 1) / k / 2))) for k in mixed().n_classes])
        assert lemma_a_3_mixing(altered(found, shares=shares)).parts[1].kept is kept


def test_one_cell_of_several_is_enough_to_fail():
    bad = altered(gradients(), norm_error=0.01, separation=0.0)
    worse = altered(batched(), norm_error=0.01)
    for cells in ([gradients(), bad], [bad, gradients()]):
        assert [h.met for h in lemma_5_2(cells).hypotheses][:2] == [False, False]
        assert [h.met for h in lemma_5_2_as_printed(cells).hypotheses] == [False, False, True]
    for cells in ([batched(), worse], [worse, batched()]):
        assert lemma_b_3(cells).hypotheses[0].met is False
        assert lemma_b_4_batches(cells).hypotheses[0].met is False


def test_batches_may_fail_once_in_a_hundred():
    few = altered(batched(), gaps=batched().gaps[:, :298])
    assert lemma_b_4_batches([few]).verdict is Verdict.INSUFFICIENT_EVIDENCE
    limit = 2 * batched().largest_vote * (1 + np.sqrt(2 * np.log(60 / 0.01))) / np.sqrt(batched().sizes)
    for factor, kept in ((0.99, True), (1.01, False)):
        gaps = np.ones((3, 300)) * factor * limit[:, None]
        assert lemma_b_4_batches([altered(batched(), gaps=gaps)]).conclusion is kept


def test_caps_have_coefficients_as_the_lemma_asks():
    """λ = 0: P is a sum of six points, each with its whole coefficient."""
    points = Caps(dim=15, n_points=240, relative_diameter=0.0).draw(5)
    found = measure_clusters([points], 5)
    assert 0 <= found.least_own <= 1
    assert found.structures[0].diameter == pytest.approx(0, abs=1e-12)
    assert found.slopes[0] == pytest.approx(found.structures[0].distance / 4)
    assert measure_clusters([points], 5, factor=0.5).shares[0] < found.shares[0]


def test_extreme_pieces_add_up_to_zero():
    np.testing.assert_allclose(extreme_pieces(5).sum(), 0, atol=1e-15)
    assert extreme_pieces(4)[0] == 1


def test_shares_of_the_mean_event_are_those_of_the_law():
    """One other class of one point: S ≤ v/3 exactly when it is not hit, at 4τ."""
    for factor in (1.0, 6.0):
        found = measure_mean_events([Basis(n_classes=2, per_class=1)], 0, factor=factor)
        tau = factor * 2**0.5 / 24
        assert found.thresholds[0] == pytest.approx(tau)
        assert found.exact[0] == pytest.approx(1 - erf(4 * tau / 2**0.5))
        assert found.shares[0] == pytest.approx(found.exact[0], abs=0.025)
    wide = measure_mean_events([SpreadPoints(dim=30, least_distance=0.5)], 3, factor=8.0)
    sample = SpreadPoints(dim=30, least_distance=0.5).draw(3)
    assert wide.distances[0] == sample.measured().distance
    assert np.isnan(wide.exact[0])
    # The points of other classes are nearly orthogonal, so the hits are nearly independent.
    assert wide.shares[0] == pytest.approx((1 - erf(4 * wide.thresholds[0] / 2**0.5)) ** 4, abs=0.05)


@pytest.mark.parametrize(("largest", "allowed"), [(0.33, 1), (1 / 3, 1), (0.34, 0), (0.17, 1), (0.16, 2)])
def test_a_third_of_v_may_be_hit(largest, allowed):
    """So many of four points may be hit where each has |p v| = largest·v."""
    found = measure_mean_events([Basis(n_classes=3)], 0, factor=8.0, largest=largest)
    hit = erf(4 * 8 * 2**0.5 / (24 * 4) / 2**0.5)
    assert found.shares[0] == pytest.approx(binom.cdf(allowed, 4, hit), abs=0.03)


def test_the_numbers_of_the_mean_event():
    found = lemma_b_2_event(altered(events(), distances=np.full(4, 0.8), shares=np.full(4, 0.7), draws=10**9))
    assert found.parts[0].promised == pytest.approx(0.5647182862243, rel=1e-10)
    assert found.parts[1].promised in events().exact
    worst = np.argmin(erf(events().thresholds / 2**0.5) / events().thresholds)
    assert found.parts[2].measured == pytest.approx(0.7 * erf(events().thresholds[worst] / 2**0.5))
    assert found.parts[2].promised == pytest.approx(0.33 * events().thresholds[worst])


def test_hypotheses_of_the_mean_event_at_their_edges():
    for distances, met in (([0.5, 2**0.5 + 5e-13], True), ([0.5, 2**0.5 + 5e-12], False), ([1.5, 0.5], False)):
        one = altered(events(), distances=np.array(distances * 2))
        assert lemma_b_2_event(one).hypotheses[0].met is met
    for largest, met in ((1 + 5e-13, True), (1 + 5e-12, False), (1.05, False)):
        assert lemma_b_2_event(altered(events(), largest=largest)).hypotheses[1].met is met


def test_clusters_are_measured_by_hand():
    """Two components of one class, one of another; the shares of points weigh within a component."""
    points = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0], [-0.6, 0.8]])
    own = sample(points, [0, 0, 0, 1], components=[7, 7, 9, 4], shares=[0.1, 0.3, 0.2, 0.4])
    found = measure_clusters([own], 0)
    draw = np.random.default_rng([0, 74, 0])
    # Components in the order of their numbers, so 4 comes first and is the class of its own.
    coefficients = random_coefficients(draw, np.array([True, False, False]))[0]
    assert coefficients[0] == 1
    weights = np.array([0.25, 0.75, 1.0, 1.0]) * coefficients[[1, 1, 2, 0]]
    gates = draw.normal(size=(800, 2)) @ points.T >= 0
    norms = np.linalg.norm((gates * weights) @ points, axis=1)
    assert found.shares[0] == (norms >= 0.25).mean()
    assert found.least_own == 1
    half = measure_clusters([own], 0, factor=0.5)
    assert half.shares[0] == (norms >= 0.5).mean()
    one = sample(np.eye(2), [0, 1])
    for factor, share in ((0.25, 0.5), (0.24, 0.0)):  # ‖P‖ is 0 or v: v/4 itself is large enough
        alone = measure_clusters([altered(one, points=np.array([[1.0, 0.0], [0.0, 0.0]]))], 0, factor=factor)
        assert alone.shares[0] == pytest.approx(share, abs=0.06)


def test_all_clusters_are_seen():
    good, caps = sample(np.eye(3), [0, 1, 2]), Caps(dim=8, n_points=60)
    long = sample(1.5 * np.eye(3), [0, 1, 2])
    for given in ([good, long], [long, good]):
        assert measure_clusters(given, 0).norm_error == pytest.approx(0.5)
    both = [caps.draw(0), caps.draw(1)]
    least = [measure_clusters([each], 0).least_own for each in both[:1]]
    assert measure_clusters(both, 0).least_own <= least[0] < 1
    wide = altered(clusters(), structures=(clusters().structures[0], altered(clusters().structures[1], diameter=0.5)))
    assert [h.key for h in lemma_b_2(wide).hypotheses if not h.met] == ["relative_diameter"]


def test_the_least_coefficient_of_the_own_class():
    """Three components of the class of the first one."""
    own = sample(np.eye(4), [0, 0, 0, 1])
    expected = random_coefficients(np.random.default_rng([0, 74, 0]), np.array([True, True, True, False]))[0]
    assert measure_clusters([own], 0).least_own == expected[:3].min()
    other = random_coefficients(np.random.default_rng([0, 74, 1]), np.array([True, True, True, False]))[0]
    assert measure_clusters([own, own], 0).least_own == min(expected[:3].min(), other[:3].min())


def test_slopes_need_two_sizes_and_no_zeros():
    two, three = np.array([1.0, 4.0]), np.array([1.0, 4.0, 16.0])
    assert fitted_slope(two, np.array([2.0, 1.0])) == pytest.approx(-0.5)
    assert fitted_slope(three, np.array([1.0, 0.9, 0.1])) == pytest.approx(-np.log(10) / np.log(16))
    for zero in ([1.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, -1.0, 1.0]):
        assert np.isnan(fitted_slope(three, np.array(zero)))
    assert fitted_slope(three, np.array([0.09, 0.05, 0.02])) < 0


def test_rounding_is_no_excuse():
    for total, met in ((5e-11, True), (5e-10, False), (0.05, False)):
        for claim in (lemma_a_3_mixing, lemma_a_3_mixing_as_printed):
            for totals in ([total, 0.0], [0.0, total]):
                one = altered(mixed(), totals=np.resize(totals, len(mixed().totals)))
                assert claim(one).hypotheses[0].met is met
    least = mixed().n_classes / (mixed().n_classes - 1)
    for miss, kept in ((5e-11, True), (5e-10, False)):
        assert lemma_a_3_mixing(altered(mixed(), variances=least - miss)).parts[2].kept is kept


def test_neurons_near_the_extreme_case_are_left_to_their_variance():
    """Scored are those whose variance is more than a tenth above k/(k − 1), and that are not extreme."""
    count = len(mixed().n_classes)
    least = mixed().n_classes / (mixed().n_classes - 1)
    for factor, scored in ((1.1, 0), (1.1001, 20), (1.05, 0), (1.2, 20)):
        found = lemma_a_3_mixing(altered(mixed(), variances=factor * least))
        assert found.parts[1].cases == (scored and count - 5)
        assert found.parts[0].cases == 5


def test_pieces_that_mix_exactly_as_often_as_is_said():
    """‖a₁P₁ + a₂P₂‖ ≥ ‖P₁‖ where P₂ = 0: Pr[|a₁| ≥ 1] = 0.3173."""
    found = measure_mixed([(np.array([[2.0], [0.0]]), False, 40_000), (extreme_pieces(3), True, 100)], 0)
    assert found.shares[0] == pytest.approx(0.3173, abs=0.01)
    np.testing.assert_array_equal(found.is_extreme, [False, True])
    np.testing.assert_array_equal(found.totals.round(12), [1.0, 0.0])
    assert found.variances == pytest.approx([1.0, 1.5])
    np.testing.assert_array_equal(found.draws, [40_000, 100])


def test_a_target_below_zero_promises_nothing():
    for target, vacuous in ((-0.05, True), (0.0, True), (0.05, False)):
        found = lemma_5_2([altered(gradients(), targets=np.full(len(gradients().targets), target), width=10**9)])
        assert [part.vacuous for part in found.parts] == [vacuous] * 3
        assert found.conclusion is True


def test_chance_is_allowed_for_in_the_share_of_neurons():
    """5·√(0.02·0.98/2000) = 0.0157: within, it decides nothing."""
    for share, kept in ((0.0201, True), (0.005, None), (0.0040, False)):
        shares = np.full(len(gradients().shares), share)
        found = lemma_5_2([altered(gradients(), shares=shares, targets=np.full(len(shares), 0.02), width=2000)])
        assert found.conclusion is kept
    none = altered(gradients(), shares=0 * gradients().shares, targets=np.full(len(gradients().shares), -1e-9))
    assert lemma_5_2([none]).conclusion is True


def test_every_cell_counts():
    bad = altered(gradients(), relative_diameter=0.0631)
    for cells in ([gradients(), bad], [bad, gradients()]):
        for claim in (lemma_5_2, lemma_5_2_as_printed):
            assert [h.key for h in claim(cells).hypotheses if not h.met] == ["relative_diameter"]
    wide = altered(batched(), relative_diameter=0.0631)
    for cells in ([batched(), wide], [wide, batched()]):
        assert [h.key for h in lemma_b_3(cells).hypotheses if not h.met] == ["relative_diameter"]


def test_a_gap_as_large_as_the_bound_is_not_beyond_it():
    limit = batch_deviation_bound(batched().largest_vote, 60, batched().sizes)
    at = altered(batched(), gaps=np.ones((3, 300)) * limit[:, None])
    assert lemma_b_4_batches([at]).conclusion is True


def test_they_speak_about_three_classes():
    toy = TOY.draw(5)
    own = Specimen(from_arrays(3 * toy.points, toy.classes))
    assert lemma_b_2(lemma_b_2.on(own)).verdict is Verdict.HOLDS
    (setting,) = lemma_5_2.on(own)
    found = lemma_5_2([run_large_gradients(setting.model_copy(update={"width": 500, "n_steps": 20}), silent)])
    assert (found.verdict, found.conclusion) == (Verdict.CONSTANT_UNSPECIFIED, True)
    for claim in (lemma_b_3, lemma_b_4_batches):
        assert "fresh batches" in claim.on(own)
    many = Specimen(from_arrays(np.random.default_rng(0).normal(size=(301, 2)), np.arange(301) % 3))
    assert isinstance(lemma_5_2.on(many), Silence)
    assert isinstance(lemma_b_2.on(many), Silence)


test_every_part_has_a_control = every_part_of(mixing)
