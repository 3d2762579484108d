"""Every formula against values computed apart from this code, with 50 digits; compared to the digits given."""

import mpmath
import numpy as np
import pytest

from widenet.papers.sarussi2021 import formulas as f

M1 = (1.1, 0.9, 0.5, 0.8, 2, 1.2, 3.0)
M2 = (0.9, 0.7, 0.05, 0.6, 4, 0.7, 20.0)


def close(value, pinned, digits=11):
    np.testing.assert_allclose(value, pinned, rtol=10.0**-digits * 5)


@pytest.mark.parametrize(
    ("arguments", "n", "level", "pinned"),
    [
        (M1, 2, 4.0, 248.309767614),
        (M2, 3, 1.5, 12548.786311),
        ((2.0, 0.3, 0.1, 0.3, 5, 3.0, 2.0), 20, 0.1, 16841554523.445),
        ((*M2[:6], 0.0), 3, 1.5, 702.119046325),
    ],
)
def test_the_update_bound(arguments, n, level, pinned):
    close(f.update_bound(*arguments, n, level), pinned)  # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize(
    ("arguments", "pinned"),
    [
        (M1, (3.70679012346, 7.86001497396, 16.6666666667)),
        (M2, (29.3446712018, 236.420413275, 1904.76190476)),
    ],
)
def test_its_constants(arguments, pinned):
    close(f.update_bound_constants(*arguments[1:]), pinned)


@pytest.mark.parametrize(
    ("arguments", "n", "level", "relaxed", "before", "abc", "root"),
    [
        (M1, 3, 0.4, 995.524323921, 787.145042443, (0.158246377903, 3.0496793274, 26.4), 663.08273364),
        (M2, 5, 0.05, 659241.679134, 635116.496453, (0.00163869133678, 0.819061316386, 288.0), 544610.641299),
    ],
)
def test_equation_19(arguments, n, level, relaxed, before, abc, root):
    constants = f.update_bound_constants(*arguments[1:])
    close(f.epoch_bound(arguments[0], n, 1 + 1 / level, constants), relaxed)
    close(f.epoch_bound(arguments[0], n, 1 / -np.expm1(-level), constants), before)
    close(f.quadratic(*arguments, n, level), abc)  # pyright: ignore[reportCallIssue]
    close(f.quadratic_root(*f.quadratic(*arguments, n, level)), root)  # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize(
    ("abc", "root", "bound"),
    [
        ((2, 3, 5), 6.25, 7.12170824513),
        ((1, 0.01, 1), 1.010050125, 1.0101),
        ((3, 0, 7), 2.33333333333, 2.33333333333),
        ((2, 5, 0), 6.25, 6.25),
    ],
)
def test_the_root_and_its_bound(abc, root, bound):
    close(f.quadratic_root(*abc), root, 9)
    close(f.quadratic_root_bound(*abc), bound, 11)


@pytest.mark.parametrize(
    ("n", "s", "level", "shape", "pinned"),
    [
        (4, 3, 0.3, (0.2, 0.5, 3, 1.5), (0.52484310312, 0.699790804159, 0.81, 1.11)),
        (6, 1, 1.2, (0.7, 0.9, 2, 0.4), (0.253582644381, 1.52149586629, 2.612736, 3.812736)),
    ],
)
def test_what_a_clean_epoch_can_do(n, s, level, shape, pinned):
    reach = f.one_epoch(n, *shape)
    values = (
        f.output_change(s, level, *shape),
        f.output_change(n, level, *shape),
        reach * level,
        (1 + reach) * level,
    )
    close(values, pinned)


@pytest.mark.parametrize(
    ("level", "n", "shape", "pinned"),
    [(0.3, 4, (0.2, 0.5, 3, 1.5), 0.0810810810811), (2, 9, (0.7, 0.9, 2, 0.4), 0.468832045608)],
)
def test_the_clean_level(level, n, shape, pinned):
    close(f.clean_level(level, n, *shape), pinned)


def test_one_update():
    close(f.norm_square_after(2, 0.25, 1.1, 0.4, 0.6, 3, 1.5), 2.2686)
    close(f.norm_square_after(0.3, 0.7, -0.8, 0.9, 0.5, 2, 0.7), -0.513519)
    close(2 + 7 * f.norm_square_growth(0.4, 0.6, 3, 1.5), 13.0432)
    close(2 + 7 * f.norm_square_growth(0.4, 0.6, 3, 1.5, f.LARGEST_PUSH), 9.00260143946)
    close(5 + 3 * f.norm_square_growth(0.2, 0.5, 1, 2), 6.44)
    close(5 + 3 * f.norm_square_growth(0.2, 0.5, 1, 2, f.LARGEST_PUSH), 5.57415745131)
    close(5 * f.alignment_growth(0.2, 0.4, 0.6, 3, 0.3), 0.373221762218)
    close(11 * f.alignment_growth(0.7, 0.1, 0.9, 2, 1.1), 1.84928135599)


def test_the_largest_push():
    x = 1.27846454276107
    close(x / (1 + np.exp(x)), f.LARGEST_PUSH, 13)
    grid = np.linspace(-5, 20, 100_001)
    assert (grid / (1 + np.exp(grid))).max() <= f.LARGEST_PUSH


def test_gradient_flow():
    close(f.LOG_2, 0.69314718055994530942, 14)
    close(f.flow_time_bound(1.2, 0.3, 0.4, 3, 5, 0.8, 0.2, 0.278465), 7418.18822324)
    close(f.flow_time_bound(0.7, 0.6, 0.9, 1, 2, 10, 0.5, 0.278465), 133.332551729)
    close(f.cluster_bound(0.1, 1.2, 0.7, 0.3, 4, 3, 2.5), 0.109898326215)
    close(f.cluster_bound(0.5, 0.6, 0.2, 0.8, 9, 2, 1.5), 0.06)
    assert f.cluster_bound(0.5, 0.6, -20.0, 0.8, 9, 2, 1.5) == np.inf


@pytest.mark.parametrize(
    ("slope", "even", "three", "seven"),
    [(0.2, 0.666666666667, 0.571428571429, 0.631578947368), (0.45, 0.379310344828, 0.289473684211, 0.34375)],
)
def test_the_sharp_factor(slope, even, three, seven):
    close(f.sharp_factor(slope), even)
    close(f.sharp_factor(slope, 4), even)
    close(f.sharp_factor(slope, 3), three)
    close(f.sharp_factor(slope, 7), seven)
    assert f.sharp_factor(slope, 1) == 0


def test_margins_and_programs():
    close(f.margin_threshold(0.2, 0.6, 3, 2.5), 0.519615242271)
    close(f.margin_threshold(0.35, 0.11, 7, 4), 0.407445701904)
    close(f.limit_margin(81 / 410, 0.4, 3), 1.55872692593)
    close(f.limit_margin(8 / 5, 0.4, 3), 0.547722557505)
    close(f.largest_feasible_value(0.2, 2.5), 4.0)
    close(f.largest_feasible_value(0.45, 1.4), 2.51952632905)
    close(f.antipodal_margin_share(0.2), 0.235702260396)
    close(f.antipodal_margin_share(0.45), 0.438893864185)


def test_lipschitz_constants():
    close(f.lipschitz_constant(0.4, 1.7, 3), 1.66565302509)
    close(f.lipschitz_constant_as_printed(0.4, 1.7, 3), 1.36)
    close(f.lipschitz_constant(0.1, 2.3, 50), 2.3)
    close(f.lipschitz_constant_as_printed(0.1, 2.3, 50), 0.46)


def test_rows_and_norms():
    # k = 4, v = 1/2, α = 1/5, η = 3/10, x = (3, 4): one step in which one plus row has slope α and all others 1.
    close(f.row_growth(0.2, 0.0281422833635 * (8**0.5) * 5 / 0.2, 4, 5), 0.0281422833635, 10)
    # w = x, u = −αx attains the bound: q = vk(1 + α²)‖x‖², ‖W‖² = k(1 + α²)‖x‖².
    close(f.least_norm(0.4 * 3 * 1.04 * 4, 0.2, 0.4, 3, 2), (3 * 1.04 * 4) ** 0.5, 12)


def test_figure_constants():
    close(f.fit_of_the_value(0.1), 0.856637168142)
    close(f.fit_of_the_value(0.4), 0.956097560976)
    close(f.mixed_clusters_angle(0.1), 101.421186275)
    close(f.mixed_clusters_angle(0.4), 133.602818973)


def test_a_cluster_bound_without_a_positive_denominator_is_infinite():
    assert f.cluster_bound(0.0, 1.0, 0.0, 0.3, 0.0, 3, 2.5) == np.inf
    assert f.cluster_bound(0.1, 1.0, -1.0, 0.3, 0.0, 3, 2.5) == np.inf
    assert f.cluster_bound(0.1, 1.0, 0.01, 0.3, 0.0, 3, 2.5) == pytest.approx(10)


@pytest.mark.parametrize(
    ("norm", "slope", "step", "weight", "radius", "row"),
    [
        (0.5, 0.5, 1e-230, 1.0, 2.0, 3.0),  # (ηvα)^1.5 is 1e-345
        (0.5, 1e-120, 1e-60, 1e-70, 2.0, 1e-100),
        (0.5, 0.5, 1e150, 1e-200, 2.0, 3.0),  # (vα)² is 1e-400
        (1e-120, 0.5, 1e-200, 1e-20, 1e120, 1e-80),
        (0.7, 0.3, 0.1, 0.4, 1.5, 2.0),
    ],
)
def test_the_bound_where_its_powers_leave_float64(norm, slope, step, weight, radius, row):
    """Against the printed formula in 60 digits, and exponents without end."""
    k, inverse, n = 3, 12.5, 4
    with mpmath.workdps(60):
        w, a, eta, v, big, r = (mpmath.mpf(value) for value in (norm, slope, step, weight, radius, row))
        printed = (
            big**2 / a**2 + 1 / (k * eta * v**2 * a**2),
            mpmath.sqrt(r * (8 * k**2 * eta**2 * v**2 * big**2 + 8 * k * eta)) / (2 * k * (eta * v * a) ** 1.5),
            2 * r / (eta * v * a),
        )
        unit = w * n * mpmath.mpf(inverse)
        whole = printed[0] * unit**2 + printed[1] * unit**1.5 + printed[2] * unit
        expected = [float(value) for value in (*printed, whole)]
    constants = f.update_bound_constants(slope, step, weight, k, radius, row)
    found = [*constants, f.epoch_bound(norm, n, inverse, constants)]
    np.testing.assert_allclose(found, expected, rtol=1e-14)
