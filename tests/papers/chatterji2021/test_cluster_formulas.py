"""Every formula of Theorem 2 against values computed apart from this code, with 40 digits."""

import math

import mpmath
import numpy as np
import pytest

from widenet.papers.chatterji2021 import cluster_formulas as f

NARROW, SQUARE, WIDE, WIDEST = (3000, 0.3, "sec4"), (3000, 0.3, "exact"), (30000, 0.4, "sec4"), (10**6, 0.45, "sec4")
COLUMNS = (NARROW, SQUARE, WIDE, WIDEST)
OVERLAP, RADIUS = 0.13, 0.07


def close(value, pinned, rel=1e-9):
    assert value == pytest.approx(pinned, rel=rel, abs=0)


def scales(p, beta, scaling):
    """(σ, α_0, a)."""
    return f.initial_deviation(p, beta, scaling), f.first_step_size(p, beta, scaling), f.capture_level(p, beta, scaling)


def per_column(p, beta, scaling):
    """What the table pins, by row."""
    sigma, step, level = scales(p, beta, scaling)
    clusters = (OVERLAP, RADIUS)
    chi = f.captured_mean(level, sigma)
    window = f.window_share(p, step, sigma, *clusters)
    return {
        "sigma": sigma,
        "alpha_0": step,
        "a": level,
        "chi": chi,
        "zeta": f.captured_share(level, sigma),
        "p chi": p * chi,
        "sd": f.captured_deviation(level, sigma, p),
        "loss of shares": f.capture_loss(level, sigma),
        "log of 15.3": math.log(f.pull_failure(p, beta, 12, scaling)),
        "pair": f.pair_share(RADIUS, level, sigma) - p**-0.25,
        "opposite": f.opposite_share(*clusters) + p**-0.25,
        "window": window,
        "window bottom": f.window_bottom(step, *clusters),
        "exact": f.window_probability(level, step, sigma, *clusters),
        "middle": f.window_middle(p, step, sigma, *clusters),
        "right": f.window_right(p, step, sigma, *clusters),
        "rest": f.rest_bound(p, step, sigma, *clusters),
        "lifted": f.lifted_bound(p, chi, step, 1),
        "lowered": f.lifted_bound(p, chi, step, -1),
        "own pull": f.captured_share(level, sigma) / 8,
        "other pull": float(f.captured_and_active(level, sigma, np.array([0.5]))[0]) / 8,
        "both at 0.9": float(f.both_captured(level, sigma, np.array([0.9]))[0]),
        "slack": p**-0.25,
        "tight slack": f.tight_slack(p, 4 * 12),
        "tight slack of pairs": f.tight_slack(p, 2 * 12**2),
        "tight slack of opposite pairs": f.tight_slack(p, 12**2),
        "pull slack": f.pull_slack(p, beta),
        "low norm, d = 2": 0.6 * f.norm_unit(2, p, beta),
        "high norm, d = 5": 3 * f.norm_unit(5, p, beta),
        "first loss": f.first_loss_bound(p, beta),
    }


PINNED = {
    "sigma": (0.00549377899366, 0.00776937676152, 0.000734539443635, 4.46683592151e-5),
    "alpha_0": (0.00165311473214, 0.00330622946428, 9.34524885583e-5, 1.99526231497e-6),
    "a": (0.00694579226188, 0.0135582511904, 0.000407143287567, 8.98104925988e-6),
    "chi": (0.000985554216559, 0.000676098990488, 0.000251310673512, 1.74635207744e-5),
    "zeta": (0.10306094054, 0.0404847196258, 0.289692330042, 0.420325575879),
    "p chi": (2.95666264968, 2.02829697147, 7.53932020536, 17.4635207744),
    "sd": (0.164176879676, 0.182921277685, 0.0765765054225, 0.0262778607207),
    "loss of shares": (0.504383268302, 0.696189644832, 0.221127228768, 0.0802115935103),
    "log of 15.3": (2.34723143084, 2.76264263059, 1.21304611636, -2.41874901607),
    "pair": (-0.776174117637, -1.1597868707, -0.150525591655, 0.175666470825),
    "opposite": (0.570953348814, 0.570953348814, 0.511816901898, 0.467456109935),
    "window": (2.68938802952, 3.76913699816, 1.15283588247, 0.409904546239),
    "window bottom": (-0.00148780325892, -0.00297560651785, -8.41072397025e-5, -1.79573608347e-6),
    "exact": (0.503672783268, 0.608652307154, 0.255888281335, 0.0957081925203),
    "middle": (0.612423221418, 0.848981211807, 0.266807463228, 0.0962496808886),
    "right": (0.744472053004, 1.03572646033, 0.322638860901, 0.115851787684),
    "rest": (149.402998106, 415.002986339, 36.7055119807, 9.40644257854),
    "lifted": (1.05998232044, 0.234936312983, 5.59772801071, 15.5050887392),
    "lowered": (4.85334297892, 3.82165762995, 9.48091240001, 19.4219528095),
    "own pull": (0.0128826175676, 0.00506058995322, 0.0362115412553, 0.0525406969849),
    "other pull": (0.0107690614786, 0.00449396483443, 0.0269003152473, 0.036457439265),
    "both at 0.9": (0.0712226906107, 0.0252296002424, 0.228294213314, 0.350003391643),
    "slack": (0.135120015481, 0.135120015481, 0.0759835685652, 0.0316227766017),
    "tight slack": (0.0375862811783, 0.0375862811783, 0.0118858257299, 0.00205868540541),
    "tight slack of pairs": (0.0413685280258, 0.0413685280258, 0.013081877201, 0.00226584759705),
    "tight slack of opposite pairs": (0.039947848264, 0.039947848264, 0.0126326188137, 0.0021880337618),
    "pull slack": (0.548549604027, 0.548549604027, 0.356687487381, 0.211348903984),
    "low norm, d = 2": (0.255327774602, 0.255327774602, 0.107954809971, 0.0379023596466),
    "high norm, d = 5": (2.01854329411, 2.01854329411, 0.853457709699, 0.299644462945),
    "first loss": (0.813312925304, 0.813312925304, 0.88974923828, 0.920226052584),
}


@pytest.mark.parametrize("row", PINNED)
def test_the_table_of_theorem_2(row):
    for column, pinned in zip(COLUMNS, PINNED[row], strict=True):
        close(per_column(*column)[row], pinned)


@pytest.mark.parametrize(
    ("column", "up", "down"),
    [
        (NARROW, -16.81311083, -21.02727755),
        (SQUARE, -12.97363622, -18.27138662),
        (WIDE, -81.80201675, -89.2659532),
        (WIDEST, -709.5803909, -739.5777409),
    ],
)
def test_chernoff_exponents(column, up, down):
    sigma, _, level = scales(*column)
    close(f.captured_sum_tail(level, sigma, column[0], 1), up, 1e-6)
    close(f.captured_sum_tail(level, sigma, column[0], -1), down, 1e-6)


def test_how_often_the_sums_fail():
    sigma, _, level = scales(2000, 0.25, "sec4")
    close(40 * sum(math.exp(f.captured_sum_tail(level, sigma, 2000, side)) for side in (1, -1)), 7.6e-5, 0.01)


@pytest.mark.parametrize(
    ("column", "pinned"),
    [(NARROW, -2159.11351358), (SQUARE, -4320.71193382), (WIDE, -3861.7443902), (WIDEST, -15875.308103)],
)
def test_the_failure_of_the_window(column, pinned):
    """Its logarithm, from a network so narrow that it does not underflow: log n − 2η²p."""
    sigma, step, _ = scales(*column)
    share = 1e-4
    found = math.log(f.window_failure(column[0] * share, step, sigma, 12))
    close((found - math.log(12)) / share + math.log(12), pinned)


@pytest.mark.parametrize("scaling", ["sec4", "exact"])
@pytest.mark.parametrize("beta", [0.25])
@pytest.mark.parametrize("p", [1, 20, 1e6, 1e12, 1e20, 1e60])
def test_the_deviation_of_the_first_output_against_mpmath(p, beta, scaling):
    """E φ and E φ² by integrals over both pieces, to 40 digits."""
    with mpmath.workdps(40):
        h, width = 1 / mpmath.mpf(p), mpmath.mpf(p)
        sigma = mpmath.sqrt(2 if scaling == "exact" else 1) * width ** -(mpmath.mpf(1) / 2 + mpmath.mpf(beta) / 2)
        k = h / sigma
        pieces = [k, *(k + each for each in (1, 3, 6, 10, 20))]

        def moment(power):
            below = mpmath.quad(lambda z: (z**2 / (2 * k)) ** power * mpmath.npdf(z), [0, k])
            return mpmath.mpf(below + mpmath.quad(lambda z: (z - k / 2) ** power * mpmath.npdf(z), pieces))

        expected = sigma * mpmath.sqrt(2 * width * (moment(2) - moment(1) ** 2))
        close(f.first_output_deviation(p, beta, scaling), float(expected), 1e-13)


def test_the_failures_of_norms():
    close(math.log(f.lower_norm_tail(2, 3000, 1 / 32)), -4.39453125)
    close(math.log(f.upper_norm_tail(2, 3000, 1 / 32)), -8.7890625)
    close(math.log(f.lower_norm_tail(5, 30000, 1 / 32)), -87.890625)
    close(f.lower_norm_tail(2, 2000, 1 / 32) + f.upper_norm_tail(2, 2000, 1 / 32), 0.056, 0.02)
    close(f.lower_norm_tail(2, 20, 0.2), 0.301194211912)
    close(f.lower_norm_tail(3, 10, 0.3), 0.165298888222)
    close(f.upper_norm_tail(2, 20, 0.2), 0.0907179532894)
    close(f.upper_norm_tail(3, 10, 0.3), 0.0273237224473)
    close(f.output_tail(20, 0.05, 0.5), 0.57300959372)
    close(f.output_tail(500, 0.01, 0.4), 0.898657928234)


@pytest.mark.parametrize(
    ("p", "beta", "pinned"), [(3000, 0.3, 0.810902485686), (1000, 0.25, 0.807401157155), (30000, 0.4, 0.814634136517)]
)
def test_the_deviation_of_the_first_output(p, beta, pinned):
    close(f.first_output_deviation(p, beta, "sec4") * p ** (beta / 2), pinned)


def test_the_deviation_of_a_wide_network_is_that_of_a_relu():
    close(f.first_output_deviation(1e16, 0.4, "sec4") * 1e16**0.2, 0.825645271177, 1e-3)
    wide = f.first_output_deviation(1e12, 0.4, "exact") / f.first_output_deviation(1e12, 0.4, "sec4")
    close(wide, math.sqrt(2), 1e-2)


@pytest.mark.parametrize(("overlap", "radius", "pinned"), [
    (0.13, 0.07, (0.705, 0.666444949366, 0.86)), (0.4, 0.1, (0.9, 0.846421356237, 0.8)),
])  # fmt: skip
def test_products_of_clusters(overlap, radius, pinned):
    found = f.cluster_product_bounds(overlap, radius)
    for value, pin in zip(found, pinned, strict=False):
        close(value, pin)
    close(found[3], 1 + (1 + overlap) / 2 - pinned[1])


def test_orthants():
    np.testing.assert_allclose(f.orthant(np.array([0.3, 0.8])), [0.29849334201, 0.39758361765], rtol=1e-10)
    np.testing.assert_allclose(f.both_captured(0.0, 1.0, np.array([0.3, 0.8])), f.orthant(np.array([0.3, 0.8])))
    np.testing.assert_allclose(f.captured_and_active(0.0, 1.0, np.array([0.3, -0.8])), f.orthant(np.array([0.3, -0.8])))
    np.testing.assert_allclose(f.both_captured(0.7, 1.0, np.array([1.0])), f.captured_share(0.7, 1.0))
    np.testing.assert_allclose(f.captured_and_active(0.7, 1.0, np.array([1.0, 0.0])), [0.24196365222, 0.12098182611])


@pytest.mark.parametrize(
    ("radius", "points", "captured", "claimed"),
    [
        (0.5, 500, 0.12067731, 0.14644661),
        (0.5, 2000, 0.095071357, 0.14644661),
        (0.2, 200_000, 0.25321364, 0.2763932),
        (0.1, 500, 0.40926791, 0.34188612),
        (0.4, 1000, 0.16199966, 0.18377223),
        (0.6, 300, 0.088277435, 0.11270167),
    ],
)
def test_the_share_that_captures_a_whole_cluster(radius, points, captured, claimed):
    close(f.whole_cluster_share(radius, math.log(points)), captured, 1e-6)
    close(f.same_cluster_share(radius), claimed, 1e-6)


def test_the_whole_cap():
    assert f.whole_cap_share(2, 0.1) == pytest.approx(0.4601, abs=1e-4)
    edge = math.pi / 0.3
    assert f.whole_cap_share(edge, 0.3) == pytest.approx(f.same_cluster_share(0.3))  # pyright: ignore[reportArgumentType]


def test_late_losses():
    close(f.late_loss_bound(3, 2000, 0.3, 1e-8, 1e9), 1.34585440152e-9)
    close(f.late_loss_bound(2, 30000, 0.25, 9e-9, 1e10), 9.77504935388e-10)
    close(f.RATE_CONSTANT, 0.00395932789938)
    close(f.STEP_CONSTANT, 0.0615754674911)


def test_terms_of_the_step_limit():
    first = f.step_limit_terms(7.92446596231, 10**6, 0.3, 3, 0.5)
    close(first[0], 1.4672042491e-6)
    close(first[1], 0.0103659550216)
    close(first[2], 0.0615754674911e-6)
    second = f.step_limit_terms(15.6098591972, 20000, 0.2, 2, 0.8)
    close(second[0], 0.0411458928565)
    close(second[1], 8.69600958224)
    close(0.5 * (10**6) ** 0.2, 7.92446596231)


def test_the_predicted_gain():
    inputs = np.array([(3 / 5, 4 / 5), (4 / 5, 3 / 5), (5 / 13, 12 / 13)])
    labels = np.array([1.0, -1.0, 1.0])
    found = f.predicted_gain(100, 0.01, inputs @ inputs.T, labels, np.full(3, 0.5))
    np.testing.assert_allclose(found, [0.169870152619, -0.0981309107045, 0.196165544655], rtol=1e-9)


def test_section_5():
    close(f.simulation_deviation(100), 0.0236435402251)
    close(f.simulation_deviation(30), 0.0501778121397)
    close(f.simulation_first_step(100), 0.0111803398875)
    close(f.simulation_first_step(30), 0.0275812576637)


@pytest.mark.parametrize(
    ("dim", "scaling", "ratio"),
    [(2, "sec4", 1.73205080757), (5, "sec4", 1.54919333848), (2, "exact", 2.44948974278), (5, "exact", 2.19089023002)],
)
def test_where_the_norm_goes(dim, scaling, ratio):
    sigma = f.initial_deviation(10**6, 0.45, scaling)
    close(sigma * math.sqrt(2 * (dim + 1) * 10**6) / f.norm_unit(dim, 10**6, 0.45), ratio)


def test_how_wide_for_the_bounds_of_the_norm():
    assert f.least_width_power(2, "sec4") < 2
    assert max(f.least_width_power(dim, "sec4") for dim in range(1, 200)) <= 2
    assert f.least_width_power(2, "exact") == pytest.approx(4.3, abs=0.1)
    assert f.least_width_power(3, "exact") == pytest.approx(2.7, abs=0.1)


def test_products_beyond_one_are_rounding():
    """x·x' of equal and of opposite unit vectors, and a rounding more; Z_1 = ±Z_2 there."""
    cosines, (sigma, _, level) = np.array([-1 - 1e-15, -1.0, 1.0, 1 + 1e-15]), scales(*NARROW)
    share = f.captured_share(level, sigma)
    np.testing.assert_allclose(f.orthant(cosines), [0, 0, 0.5, 0.5], atol=1e-12)
    for formula in (f.both_captured, f.captured_and_active):
        np.testing.assert_allclose(formula(level, sigma, cosines), [0, 0, share, share], atol=1e-12)


@pytest.mark.parametrize(
    ("dim", "scaling", "scale", "push", "binds"),
    [(1, "sec4", 1, 1, "high"), (50, "sec4", 1, 1, "low"), (2, "exact", math.sqrt(2), 2, "high")],
)
def test_the_least_width_is_attained(dim, scaling, scale, push, binds):
    """At it a start whose norm is off by a share 1/32, and a step of norm √(2p)·α_0, just reach a bound of part 7."""
    power = f.least_width_power(dim, scaling)
    start, step, unit = scale * math.sqrt(2 * (dim + 1)) / power, push * math.sqrt(2) / power**2, math.sqrt(dim) / power
    room = {"low": start * math.sqrt(31 / 32) - step - 3 / 5 * unit, "high": 3 * unit - start * 33 / 32 - step}
    assert min(room, key=lambda name: room[name]) == binds
    assert room[binds] == pytest.approx(0, abs=1e-12)
    assert max(room.values()) > 0.01


def test_the_height_of_the_rest():
    """The middle of Eq. 27 times σ√(2π)."""
    for column, middle in zip(COLUMNS, PINNED["middle"], strict=True):
        sigma, step, _ = scales(*column)
        close(f.rest_height(column[0], step, OVERLAP, RADIUS), middle * sigma * math.sqrt(2 * math.pi))


def test_the_late_bound_counts_steps_from_the_first_iterate():
    """1/(t − 1): twice as large at t = 2 as at t = 3."""
    second, third = (f.late_loss_bound(3, 2000, 0.3, 1e-8, t) for t in (2, 3))
    close(second, 2 * third)
    close(1e9 * 1.34585440152e-9, second, 1e-8)
