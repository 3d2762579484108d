"""Every formula against values computed apart from this code, with 40 digits."""

import math

import mpmath
import numpy as np
import pytest

from widenet.papers.li2018 import formulas as f


def explicit_large_share(distance, n_classes, per_class):
    """¼(2Φ(y) − 1), y = δ/(2√2·c_G·(k − 1)l): Pr[‖P‖ ≥ v/2] for every data set with this δ ≤ √2."""
    return float(f.within(distance / (2 * math.sqrt(2) * f.HALF_NORMAL * (n_classes - 1) * per_class)) / 4)


def close(value, pinned):
    np.testing.assert_allclose(value, pinned, rtol=1e-10)


def test_separability():
    close([f.widest_component(2), f.widest_component(3)], [0.0625, 0.04166666666667])
    close(f.cap_sizes(1.1, 1 / 16), (1.035294117647, 0.03235294117647))
    close(f.cap_sizes(0.9, 1 / 24), (0.864, 0.018))
    close([f.squared_sine(0.5), f.squared_sine(3)], [0.4375, 0.75])
    close([f.least_squared_sine(0.9), f.least_squared_sine(1.3)], [0.645975, 0.975975])


def test_coupling():
    close([f.move_bound(3.7, 0.001, 7), f.move_bound(4.2, 2e-5, 40)], [0.0518, 0.00672])
    close(f.coupling_time(0.05 / 20000**0.5, 4.5, 1e-6), 39.28371006592)
    close(f.coupling_time(0.002, 3, 1e-5), 33.33333333333)
    close([f.coupled_bound(0.005, 6), f.coupled_bound(0.02, 4)], [0.9184515451462, 0.7825374537233])
    close(f.coupled_bound(0.005, 6, f.HALF_NORMAL), 0.9760634631759)
    close(f.coupled_bound(0.02, 4, f.HALF_NORMAL), 0.9361692351358)
    close(
        [f.coupled_mean_orthonormal(0.005, 6), f.coupled_mean_orthonormal(0.02, 4)], [0.9763010272729, 0.9376849877271]
    )
    close([f.uniform_failure(4, 4), f.uniform_failure(4, 6)], [0.2935253263475, 0.1956835508983])
    close(f.uniform_failure(2, 2, 1), f.HALF_NORMAL)
    close([f.point_coupled_bound(0.01), f.point_coupled_bound(0.05)], [0.9, 0.5])
    close(f.point_coupled_bound(0.01, 2 * f.HALF_NORMAL), 0.9840423087839)
    close([f.batch_threshold(0.01, 0.1, 8), f.batch_threshold(0.02, 0.3, 16)], [1.25e-6, 3.75e-6])


@pytest.mark.parametrize(
    ("deviation", "distance", "components", "limit", "pinned"),
    [
        (0.1, 0.8, 6, 3.065662009762e-4, (0.02083333333333, 0.006672055306988, 5.638970134859e-4, 1.296538238746e-5)),
        (0.05, 1.2, 10, 1.379547904393e-4, (0.0125, 0.004586307968254, 5.075073121373e-4, 1.166884414872e-5)),
    ],
)
def test_the_event_of_lemma_a_2(deviation, distance, components, limit, pinned):
    threshold = f.event_threshold(distance, deviation, components)
    close(threshold, limit)
    half, sine = threshold / 2, distance * np.sqrt(1 - distance**2 / 4)
    close(f.hit_bound(half, distance, deviation), pinned[0])
    close(f.hit_probability(half, deviation, sine), pinned[1])
    close(f.alpha_bound(half, deviation), pinned[2])
    close(f.event_bound(half, deviation), pinned[3])


def test_the_push_and_its_tail():
    close(f.push_level(0.1, 0.002), 1.5625e-6)
    close(f.push_level(1 / 18, 0.001), 4.340277777778e-7)
    close(f.PUSH_SHARE, 0.02299246507322)
    close(f.PUSH_SHARE * f.event_bound(0.002, 0.1), 0.002 / (256 * np.e**3 * 0.1))
    close([f.tail_safe(6), f.tail_safe(20, 0.05)], [5.484344001553, 6.91988278568])


def test_shares_of_large_gradients():
    two, four = np.array([0.3, -0.5]), np.array([0.8, 0.1, -0.6, 0.4])
    close(f.large_share(0.4, two), 0.1114772046651)
    close(f.large_share(0.15, four), 0.04099806903367)
    close([f.best_large_share(two), f.best_large_share(four)], [0.1322458522035, 0.04774803187952])
    close(f.best_large_share(np.zeros(1)), 0.5 * f.within(np.exp(3)))
    assert f.best_large_share(np.array([1.0])) <= 0
    assert f.best_large_share(np.array([np.nextafter(1, 2)])) <= 0  # a cosine that rounding has carried beyond 1
    close(explicit_large_share(0.9, 3, 2), 0.01985447988374)
    close(explicit_large_share(2**0.5, 2, 1), 0.1172789872325)
    # The worst case is δ = √2 with one other point: 0.11727898/√2 = 0.08292876, cut to four digits.
    close(f.EXPLICIT_SLOPE, 0.0829)
    assert explicit_large_share(2**0.5, 2, 1) >= f.EXPLICIT_SLOPE * 2**0.5
    close(
        [f.two_point_share(0.4), f.two_point_share(0.5), f.two_point_share(0.51)],
        [0.1273239544735, 0.1591549430919, 0.5811690209769],
    )
    close(f.CRITICAL_ANGLE, 0.5053605102842)
    # At the critical angle itself 2·sin(ψ/2) = 1/2: the piece has size v/2, which is large.
    close(f.two_point_share(f.CRITICAL_ANGLE), (np.pi + 0.5053605102842) / (2 * np.pi))
    close(f.target_share(f.large_share(0.4, two)), 0.01768644421371)
    close(f.target_share(f.large_share(0.15, four)), 0.006504559053237)


def test_mixing_and_nets():
    close([f.mixing_share(4), f.mixing_share(7)], [0.3864762307712, 0.3545394797735])
    close(f.LEAST_MIXING, 0.3173105078629)
    close([f.net_bound(4, 2, 3, 0.001), f.net_bound(5, 3, 2.5, 0.002), f.net_bound(11, 1, 1.0, 1.0)], [0.096, 0.3, 110])


def test_the_event_of_lemma_b_2():
    close(f.mean_event_threshold_as_printed(0.8, 0.1, 2), 0.003333333333333)
    close(f.mean_event_threshold_as_printed(1.2, 0.05, 3), 0.001666666666667)
    close(f.mean_event_threshold(0.8, 0.1, 3, 2), 8.333333333333e-4)
    close(f.mean_event_threshold(1.2, 0.05, 10, 3), 9.259259259259e-5)
    close([f.mean_event_share(0.8), f.mean_event_share(2**0.5)], [0.5647182862243, 0.4358104164522])


def test_convergence():
    close([f.drop_share(0.05), f.drop_share(1.5)], [0.9875, 0.625])
    close(np.array([f.KINK_AREA, f.KINK_AREA_SHARP]) * 3 * 0.5**2, (0.09375, 0.1875))
    close([f.KINK_LEVEL * 3 * 0.5, f.KINK_SHARE, f.KINK_SHARE_SHARP], (0.01171875, 0.0625, 0.492063492063492))
    close(np.array([f.CURVE_AREA, f.CURVE_AREA_SHARP]) * 3 * 0.5**2, (0.0234375, 0.046875))
    close([f.CURVE_LEVEL * 3 * 0.5, f.CURVE_SHARE, f.CURVE_SHARE_SHARP], (0.0029296875, 0.015625, 0.248031496062992))
    close(f.batch_deviation_bound(3.5, 1000, 64), 5.073710173165)
    close(f.batch_deviation_bound(2, 50, 16, 0.05), 4.71692218885)
    close([f.smooth_bound(2, 4, 1, 0.1), f.smooth_bound(0.5, 3, 2, 0.3)], [1.68, 0.25125])
    close(f.logit_bound(0.4, 3, 0.002, 5, 50), 9.4)
    close(f.logit_bound(1.1, 2.5, 1e-4, 30, 800), 31.1)
    close([f.loss_bound(3, 9.4), f.loss_bound(4, 31.1)], [19.89861228867, 63.58629436112])


def test_theorem_4_1():
    close([f.margin_of(0.3), f.margin_of(0.2)], [0.8472978603872, 1.38629436112])
    close([f.reduction_as_printed(0.2, 6), f.reduction(0.2, 6)], [1.666666666667e-4, 0.01666666666667])
    close([f.reduction_as_printed(0.05, 20), f.reduction(0.05, 20)], [7.8125e-7, 0.00125])
    close([f.start_variance(64, 1 / 8), f.start_variance(100, 0.2)], [0.5, 2])
    close(f.start_bound(0.5, 3, 6), 2.861588566591)
    close(f.start_bound(2, 4, 50, 0.05), 5.995730754683)


# ── where floats cancel ──


def exactly(cosines, level):
    """The bound of `large_share` at τ/σ, with 40 digits."""
    total = mpmath.mpf(0)
    for each in cosines:
        cosine = abs(mpmath.mpf(float(each)))
        total += mpmath.erf(level * cosine / mpmath.sqrt(2 * (1 - cosine**2)))
    return mpmath.erf(level / mpmath.sqrt(2)) * (1 - total) / 2


def best_exactly(cosines, start):
    """Its maximum over τ/σ, by Newton on its slope."""
    with mpmath.workdps(40):
        slope = lambda log: mpmath.diff(lambda each: exactly(cosines, mpmath.e**each), log)  # noqa: E731
        return float(exactly(cosines, mpmath.e ** mpmath.findroot(slope, mpmath.log(start), solver="secant")))


@pytest.mark.parametrize("distance", [1e-7, 1e-5, 1e-3, 0.003, 0.01, 0.1, 1.0, 1.4])
def test_the_best_threshold_at_small_distances(distance):
    """One other point at distance δ: the best τ is some δ, far below any fixed grid."""
    cosine = np.array([1 - distance**2 / 2])
    best = f.best_large_share(cosine)
    # 1 − c is exact in floats; what c itself lost when it was made is lost for both sides.
    np.testing.assert_allclose(best, best_exactly(cosine, 0.7 * distance), rtol=1e-9)
    assert best >= explicit_large_share(distance, 2, 1) * (1 - 1e-8)


def test_the_best_threshold_among_several_points():
    for cosines in ([0.3, -0.5], [0.8, 0.1, -0.6, 0.4], [0.999999, 0.2, 0.0], [0.99] * 20):
        start = 1 / (1 + 2 * f.slopes_of(np.array(cosines)).sum())
        np.testing.assert_allclose(f.best_large_share(np.array(cosines)), best_exactly(cosines, start), rtol=1e-9)


def test_points_that_no_threshold_tells_apart():
    assert f.best_large_share(np.array([1.0, 0.2])) == 0
    assert f.best_large_share(np.array([np.nextafter(1, 0)])) > 0


def test_small_shares():
    """1 − erf loses all digits here."""
    with mpmath.workdps(40):
        for level in (1e-9, 0.5, 6.0, 9.0, 20.0):
            share = mpmath.erfc(mpmath.mpf(level) / mpmath.sqrt(2))
            np.testing.assert_allclose(f.beyond(level), float(share), rtol=1e-12)
            np.testing.assert_allclose(f.coupled_mean_orthonormal(level, 3), float(share**3), rtol=1e-12)
