from fractions import Fraction

import mpmath
import numpy as np
import pytest

from widenet.papers.brutzkus2018 import formulas as bounds
from widenet.papers.brutzkus2018.formulas import max_nonzero_updates, update_bound_terms


def root_of_the_proof(norm, slope, eta, weight, radius, half):
    """M_R, an independent derivation: the largest T with G and F of the proof still compatible.

    2kηvα·T ≤ ws√(4k²η²v² + 4ηk)·√T + 4kR·ws, the quadratic at the end of Section 9.1.2 before it is loosened.
    """
    a = 2 * half * eta * weight * slope
    b = norm * np.sqrt(4 * (half * eta * weight) ** 2 + 4 * eta * half)
    c = 4 * half * radius * norm
    return ((b / a + np.sqrt((b / a) ** 2 + 4 * c / a)) / 2) ** 2


def test_the_bound_is_never_below_the_root_it_loosens():
    draw = np.random.default_rng(0)
    for _ in range(500):
        norm, slope, half = draw.uniform(1, 20), draw.uniform(0.01, 0.99), int(draw.integers(1, 50))
        eta, weight, radius = np.exp(draw.uniform(-3, 3, 3))
        bound = max_nonzero_updates(norm, slope, eta, weight, radius, half)
        assert bound >= root_of_the_proof(norm, slope, eta, weight, radius, half) * (1 - 1e-12)


def test_without_initial_weights_bound_and_root_agree():
    arguments = (3.0, 0.3, 0.7, 0.2, 0.0, 5)
    np.testing.assert_allclose(max_nonzero_updates(*arguments), root_of_the_proof(*arguments), rtol=1e-13)


@pytest.mark.parametrize("half", [1, 7, 100, 1000])
def test_corollary_3_the_bound_does_not_depend_on_the_width(half):
    norm, slope, eta = 5.0, 0.2, 0.3
    scale = (2 * half) ** -0.5
    closed = (
        norm**2 / slope**2
        + 2 * norm**2 / (eta * slope**2)
        + np.sqrt(2) * norm**1.5 * np.sqrt(1 / eta + 2 / eta**2) / slope**1.5
        + 2 * norm / (eta * slope)
    )
    np.testing.assert_allclose(max_nonzero_updates(norm, slope, eta, scale, scale, half), closed, rtol=1e-12)


def test_control_another_initialization_depends_on_the_width():
    narrow, wide = (max_nonzero_updates(5.0, 0.2, 0.3, 1 / k, 1 / k, k) for k in (1, 100))
    assert wide > 10 * narrow


def test_no_slope_no_promise():
    assert max_nonzero_updates(2.0, 0.0, 1.0, 1.0, 1.0, 3) == np.inf
    assert max_nonzero_updates(2.0, 0.0, 1.0, 1.0, 0.0, 3) == np.inf


def test_terms_add_up_and_broadcast():
    terms = update_bound_terms(np.array([1.0, 2.0]), 0.5, 1.0, 1.0, 1.0, 1)
    np.testing.assert_allclose(sum(terms), max_nonzero_updates(np.array([1.0, 2.0]), 0.5, 1.0, 1.0, 1.0, 1))


def drawn_parameters(count, seed):
    """(‖w*‖, α, η, v, R, k), all over the place."""
    draw = np.random.default_rng(seed)
    return [
        (draw.uniform(1, 20), draw.uniform(0.01, 0.99), *np.exp(draw.uniform(-4, 4, 3)).tolist(), draw.integers(1, 50))
        for _ in range(count)
    ]


PARAMETERS = [(*floats, int(half)) for *floats, half in drawn_parameters(200, 1)]


def test_the_root_is_where_the_two_sides_of_the_proof_meet():
    for norm, slope, eta, weight, radius, half in PARAMETERS:
        root = float(bounds.root_bound(norm, slope, eta, weight, radius, half))
        np.testing.assert_allclose(root, root_of_the_proof(norm, slope, eta, weight, radius, half), rtol=1e-12)
        gain = 2 * half * eta * weight * slope
        stacked = np.sqrt(2 * half) * norm
        grown = stacked * np.sqrt(root * (2 * half * (eta * weight) ** 2 + 2 * eta)) + 2 * stacked * radius * np.sqrt(
            2 * half
        )
        np.testing.assert_allclose(gain * root, grown, rtol=1e-10)


def test_the_bound_from_the_start_is_where_f_meets_g():
    """F_0 + AT = B√(G_0² + DT) at the bound, for starts of every alignment, also where q < 0 cancels."""
    draw = np.random.default_rng(2)
    cancelling = 0
    for norm, slope, eta, weight, radius, half in PARAMETERS:
        length = draw.uniform(0, 1) * np.sqrt(2 * half) * radius
        stacked = np.sqrt(2 * half) * norm
        start = draw.uniform(-1, 1) * stacked * length
        bound = float(bounds.start_bound(norm, slope, eta, weight, half, start, length))
        gain, growth = 2 * half * eta * weight * slope, 2 * half * (eta * weight) ** 2 + 2 * eta
        cancelling += stacked**2 * growth < 2 * gain * start
        left, right = start + gain * bound, stacked * np.sqrt(length**2 + growth * bound)
        np.testing.assert_allclose(left, right, rtol=1e-9)
        assert bound <= bounds.root_bound(norm, slope, eta, weight, radius, half) * (1 + 1e-11)
    assert cancelling > 3


def test_the_conjugate_form_keeps_its_digits():
    """F_0 close to B·G_0 and large: the direct form returns 0 or noise, exact rationals say what is right."""
    norm, slope, eta, weight, half, length = 2, 1, 1, 1, 1, Fraction(10**6)
    # B² = 2k ws² = 8 is no square, so F_0 is given directly, just inside |F_0| ≤ B·G_0.
    start = Fraction(2_828_427)
    gain, square, growth = 2 * half * eta * weight * slope, 8, 2 * half * eta**2 * weight**2 + 2 * eta
    middle = square * growth - 2 * gain * start
    constant = square * length**2 - start**2
    assert middle < 0 < constant

    def at(t: Fraction) -> Fraction:
        return gain**2 * t**2 - middle * t - constant

    bound = float(bounds.start_bound(norm, slope, eta, weight, half, float(start), float(length)))
    assert at(Fraction(bound * (1 - 1e-12))) < 0 < at(Fraction(bound * (1 + 1e-12)))


def test_a_start_that_rounding_carries_beyond_cauchy_schwarz():
    """B² = 2, G_0 = 10 and F_0² = 200.05 for 200 at most: what is left under the root is 0, and no step is allowed."""
    assert float(bounds.start_bound(1.0, 0.5, 1.0, 1.0, 1, np.sqrt(200.05), 10.0)) == 0


def test_a_start_from_which_no_step_is_allowed():
    """B² = 4, D = 6, A = 3, G_0 = 2 and F_0 = 4 = B·G_0: q = 0 and the constant is 0, so 9T² = 0."""
    assert float(bounds.start_bound(1.0, 0.75, 1.0, 1.0, 2, 4.0, 2.0)) == 0


@pytest.mark.parametrize("place", [0, 1])
def test_a_nan_that_comes_in_goes_out(place):
    """The norm of w* and α are in every term."""
    given = [1.5, 0.6, 0.7, 0.5, 0.6, 4]
    given[place] = np.nan
    assert np.isnan(update_bound_terms(*given)).all()


def test_equation_14_splits_the_square_root():
    """Its third and fourth term are √a + √b where M has √(a + b); the others are the same."""
    for norm, slope, eta, *_ in PARAMETERS:
        terms = bounds.equation_14_terms(norm, slope, eta)
        third, fourth = float(terms[2]), float(terms[3])
        rebuilt = float(terms[0] + terms[1] + terms[4]) + np.hypot(third, fourth)
        np.testing.assert_allclose(rebuilt, bounds.width_free_bound(norm, slope, eta), rtol=1e-12)
        # At η = 1 both arguments of min(η, √η) agree, so K(α) is the sum of the other constants there.
    np.testing.assert_allclose(sum(bounds.equation_14_terms(1.0, 0.3, 1.0)[1:]), bounds.corollary_3_constant(0.3))


def test_both_layers_bound_is_the_root_of_its_own_quadratic_loosened():
    for norm, slope, eta, weight, radius, half in PARAMETERS:
        np.testing.assert_allclose(
            bounds.both_layers_bound(norm, slope, eta, weight, radius, half, 1.0, 1.0),
            max_nonzero_updates(norm, slope, eta, weight, radius, half),
            rtol=1e-12,
        )
        # t ≤ (b/a)² + √(c/a)·b/a + c/a with a = 2kηcvα, b = ws√(4k²η²C²v² + 4ηk), c = 4kR·ws.
        low, high = 0.3, 4.0
        gain = 2 * half * eta * low * weight * slope
        linear = norm * np.sqrt(4 * (half * eta * high * weight) ** 2 + 4 * eta * half) / gain
        constant = 4 * half * radius * norm / gain
        np.testing.assert_allclose(
            bounds.both_layers_bound(norm, slope, eta, weight, radius, half, low, high),
            linear**2 + np.sqrt(constant) * linear + constant,
            rtol=1e-12,
        )
    assert bounds.both_layers_bound(2.0, 0.5, 1.0, 1.0, 1.0, 1, 0.0, 1.0) == np.inf
    assert bounds.both_layers_bound(2.0, 0.5, 1.0, 1.0, 1.0, 1, -0.5, 1.0) == np.inf


@pytest.mark.parametrize(
    ("n_samples", "dim", "n_plus", "printed", "swept", "bumps"),
    [
        (60, 5, 25, 16, 12, 32),
        (61, 2, 30, 62, 31, 122),
        (200, 20, 101, 12, 10, 24),
        (50, 3, 50, 26, 17, 50),
        (17, 9, 8, 4, 2, 6),
        (16, 9, 8, 2, 2, 4),
        (33, 9, 10, 6, 4, 10),
    ],
)
def test_the_widths_of_theorem_7(n_samples, dim, n_plus, printed, swept, bumps):
    assert bounds.printed_half_width(n_samples, dim) == printed
    assert bounds.swept_half_width(n_samples, dim) == swept
    assert bounds.bump_half_width(n_plus, n_samples - n_plus, dim) == bumps


def test_the_swept_width_is_never_above_the_printed_one():
    for n in range(1, 60):
        for dim in range(2, 12):
            assert bounds.swept_half_width(n, dim) <= bounds.printed_half_width(n, dim)


@pytest.mark.parametrize(
    ("dim", "delta", "narrow", "wide", "chances"),
    [
        (20, 0.05, 2.73901939795, 9.64385618977, {1: 9.53674316406e-7, 2: 0.00317121193893, 10: 0.980648890805}),
        (64, 0.1, 4.7967455273, 10.3219280949, {4: 0.016075396351, 11: 0.969225837434}),
        (7, 0.3, 2.53955211759, 5.54432051622, {2: 0.133483886719, 6: 0.895620505427}),
        (32, np.exp(-1), 5.0, 7.44269504089, {5: 0.362055289256}),
        (1000, 0.01, 7.76252981196, 17.6096404744, {7: 0.00039242015781, 18: 0.996192562201}),
    ],
)
def test_the_widths_and_the_law_of_theorem_9(dim, delta, narrow, wide, chances):
    assert bounds.narrow_width(dim, delta) == pytest.approx(narrow, rel=1e-11)
    assert bounds.wide_width(dim, delta) == pytest.approx(wide, rel=1e-11)
    for half, chance in chances.items():
        assert bounds.success_probability(dim, half) == pytest.approx(chance, rel=1e-11)


@pytest.mark.parametrize(
    ("dim", "entry_bound", "step_size", "printed", "repaired", "on_one_point"),
    [
        (50, 1.0, 0.6, 84, 100, 2),
        (50, 0.3, 1.1, 46, 50, 1),
        (7, 2.5, 0.4, 44, 49, 7),
        (10, 1.0, 0.6, 17, 20, 2),
        (2, Fraction(1, 4), Fraction(2), 1, 2, 1),
        (6, 3.0, 0.75, 24, 24, 4),
        (3, Fraction(1, 2), Fraction(1, 2), 6, 6, 2),
        (3, Fraction(1, 2), Fraction(99, 200), 7, 9, 3),
    ],
)
def test_the_counts_of_theorem_9(dim, entry_bound, step_size, printed, repaired, on_one_point):
    assert bounds.updates_allowed_as_printed(dim, entry_bound, step_size) == printed
    assert bounds.updates_allowed(dim, entry_bound, step_size) == repaired
    assert bounds.updates_allowed(1, entry_bound, step_size) == on_one_point


A, B, D = (1.7, 0.6, 0.8, 0.9, 1.3, 3), (3.2, 0.35, 2.5, 0.4, 0.15, 7), (1.2, 0.9, 0.05, 0.3, 2.5, 2)
"""‖w*‖, α, η, v, R, k. The values below were computed apart from this program, with 50 digits."""


@pytest.mark.parametrize(
    ("parameters", "terms", "total"),
    [
        (A, (8.02777777778, 4.12951531779, 11.1528973443, 10.2314814815), 33.5416719213),
        (B, (83.5918367347, 29.8542274052, 17.6399078046, 2.74285714286), 133.828829087),
        (D, (1.77777777778, 197.530864198, 297.626643054, 444.444444444), 941.379729474),
    ],
)
def test_pinned_terms_of_the_update_bound(parameters, terms, total):
    assert [float(term) for term in update_bound_terms(*parameters)] == pytest.approx(terms, rel=1e-11)
    assert float(max_nonzero_updates(*parameters)) == pytest.approx(total, rel=1e-11)


def test_pinned_bound_from_zero_weights():
    ws, a, eta, v, _, k = A
    assert float(max_nonzero_updates(ws, a, eta, v, 0.0, k)) == pytest.approx(12.1572930956, rel=1e-11)


@pytest.mark.parametrize(
    ("parameters", "low", "high", "total", "without"),
    [
        (A, 0.7, 1.9, 113.614228186, 33.5416719213),
        ((2.4, 0.8, 0.3, 0.5, 0.6, 4), 0.95, 1.2, 107.542130744, 93.5941170816),
    ],
)
def test_pinned_bound_of_equation_13(parameters, low, high, total, without):
    assert float(bounds.both_layers_bound(*parameters, low, high)) == pytest.approx(total, rel=1e-11)  # pyright: ignore[reportCallIssue]
    assert float(bounds.both_layers_bound(*parameters, 1.0, 1.0)) == pytest.approx(without, rel=1e-11)  # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize(
    ("parameters", "start", "norm", "root", "from_start"),
    [
        (A, -4.1, 2.6, 29.0119807691, 16.2410795502),
        ((2.1, 0.5, 0.4, 0.6, 3.0, 2), -7.0, 4.0, 243.638538222, 116.729108382),
        (D, 3.0, 4.0, 857.965938528, 218.635923743),
        ((1.2, 0.9, 50.0, 2.0, None, 2), 450.0, 200.0, None, 0.227693596654),
        (B, None, None, 118.868487763, None),
    ],
)
def test_pinned_roots_of_the_proof(parameters, start, norm, root, from_start):
    ws, a, eta, v, radius, k = parameters
    if root is not None:
        assert float(bounds.root_bound(ws, a, eta, v, radius, k)) == pytest.approx(root, rel=1e-11)
    if from_start is not None:
        assert float(bounds.start_bound(ws, a, eta, v, k, start, norm)) == pytest.approx(from_start, rel=1e-11)


@pytest.mark.parametrize(
    ("norm", "slope", "eta", "total", "simple", "terms"),
    [
        (
            1.5,
            0.6,
            0.7,
            44.3722664792,
            58.4342719062,
            (6.25, 17.8571428571, 6.68153104781, 11.2938487863, 7.14285714286),
        ),
        (2.4, 0.8, 12.0, 13.2912878475, 26.2869897214, (9.0, 1.5, 2.12132034356, 0.866025403784, 0.5)),
        (
            2.0,
            0.9,
            10.0,
            7.99325202224,
            15.9305164424,
            (4.93827160494, 0.987654320988, 1.48148148148, 0.66253866, 0.444444444444),
        ),
    ],
)
def test_pinned_bound_of_corollary_3(norm, slope, eta, total, simple, terms):
    assert float(bounds.width_free_bound(norm, slope, eta)) == pytest.approx(total, rel=1e-11)
    for half in (1, 7, 500):
        scale = (2 * half) ** -0.5
        assert float(max_nonzero_updates(norm, slope, eta, scale, scale, half)) == pytest.approx(total, rel=1e-11)
    found = [float(term) for term in bounds.equation_14_terms(norm, slope, eta)]
    assert found == pytest.approx(terms, rel=1e-8)
    constant = bounds.corollary_3_constant(slope)
    assert float(bounds.simple_bound(norm, slope, eta, constant)) == pytest.approx(simple, rel=1e-11)


@pytest.mark.parametrize(("eta", "value"), [(0.25, 152.365961337), (16.0, 15.3822475836)])
def test_pinned_simple_bound_on_both_sides_of_one(eta, value):
    """min{η, √η} is η below 1 and √η above."""
    constant = bounds.corollary_3_constant(0.6)
    assert float(bounds.simple_bound(1.5, 0.6, eta, constant)) == pytest.approx(value, rel=1e-11)


@pytest.mark.parametrize(("slope", "value"), [(0.6, 16.2351068153), (0.95, 8.00860248662), (0.13, 206.568769613)])
def test_pinned_constant_of_corollary_3(slope, value):
    assert float(bounds.corollary_3_constant(slope)) == pytest.approx(value, rel=1e-11)


@pytest.mark.parametrize(
    ("norm", "slope", "eta", "five", "simple"),
    [
        (1, 0.99, 1e-6, 0.999764439, 0.809258),
        (1, 0.99, 1e6, 0.999998014, 0.994078),
        (3, 0.99, 1e9, 0.999999999, 0.999792),
        (1, 0.5, 1e-6, 0.999773591, 0.815301),
    ],
)
def test_how_tight_the_forms_of_corollary_3_are(norm, slope, eta, five, simple):
    closed = float(bounds.width_free_bound(norm, slope, eta))
    assert closed / sum(map(float, bounds.equation_14_terms(norm, slope, eta))) == pytest.approx(five, rel=1e-8)
    constant = bounds.corollary_3_constant(slope)
    assert closed / float(bounds.simple_bound(norm, slope, eta, constant)) == pytest.approx(simple, rel=1e-6)


def test_pinned_steps_of_the_proof():
    """Eq. 11 and Eq. 12, one update."""
    assert float(bounds.largest_square_gain(0.2, 0.6, 3)) == pytest.approx(0.4864)
    assert float(bounds.largest_square_gain(1.5, 0.4, 2, 1.7)) == pytest.approx(7.1616)
    assert float(bounds.least_alignment_gain(0.2, 0.6, 3, 0.3)) == pytest.approx(0.216)
    assert float(bounds.least_alignment_gain(1.5, 0.4, 2, 0.7, 0.8)) == pytest.approx(1.344)


@pytest.mark.parametrize(
    ("unused", "size", "n_samples", "delta", "value"),
    [
        (0.3, 4, 500, 0.05, 1.18681555891),
        (0.02, 11, 4000, 0.2, 0.28455399323),
        (0.0, 7, 2000, 0.1, 0.277297651471),
    ],
)
def test_pinned_bound_of_theorem_5(unused, size, n_samples, delta, value):
    assert bounds.compression_bound(unused, size, n_samples, delta) == pytest.approx(value, rel=1e-11)


@pytest.mark.parametrize(
    ("updates", "n_samples", "delta", "value"),
    [
        (7.99325202224, 2000, 0.1, 0.316644287626),
        (7, 2000, 0.1, 0.277297651471),
        (44.3722664792, 5000, 0.05, 0.817367354699),
        (44, 5000, 0.05, 0.810509952734),
        (13.2912878475, 800, 0.2, 1.10238601188),
        (13, 800, 0.2, 1.07822645321),
    ],
)
def test_pinned_bound_of_theorem_6(updates, n_samples, delta, value):
    assert bounds.risk_bound(updates, n_samples, delta) == pytest.approx(value, rel=1e-11)


@pytest.mark.parametrize(
    ("dim", "delta", "proof"),
    [(20, 0.05, 8.64385618977), (64, 0.1, 9.32192809489), (7, 0.3, 4.54432051622), (1000, 0.01, 16.6096404744)],
)
def test_pinned_width_of_the_proof_of_theorem_9(dim, delta, proof):
    assert bounds.proof_width(dim, delta) == pytest.approx(proof, rel=1e-11)


EXTREMES = (1e-307, 1e-220, 1e-150, 1e-90, 1e-12, 1.0, 1e12, 1e90, 1e150, 1e220, 1e307)
"""Sizes of ‖w*‖, α, η, v and R: (ηvα)^{1.5} underflows at 1e-216, squares do at 1e-162."""
LARGEST = mpmath.mpf(2) ** 1024


def in_many_digits(norm, slope, eta, weight, radius, half, low=1.0, high=1.0):
    """Eq. 13 as it is printed, in 60 digits; M_k for c = C = 1."""
    with mpmath.workdps(60):
        norm, slope, eta, weight, radius, low, high = map(mpmath.mpf, (norm, slope, eta, weight, radius, low, high))
        root = mpmath.sqrt(radius * (8 * (half * eta * high * weight) ** 2 + 8 * eta * half))
        return (
            (high * norm / (low * slope)) ** 2
            + norm**2 / (half * eta * (low * weight * slope) ** 2)
            + root * norm**1.5 / (2 * half * (eta * low * weight * slope) ** 1.5)
            + 2 * radius * norm / (eta * low * weight * slope)
        )


def agrees(value, exact):
    """To 1e-14, and infinite where the exact value is too large. A bound on a count may lose digits below 1e-100."""
    if exact >= LARGEST * (1 - mpmath.mpf(10) ** -13):
        return np.isinf(value)
    return abs(mpmath.mpf(float(value)) - exact) <= 1e-14 * exact + 1e-100


def test_no_power_on_the_way_to_the_bound_under_or_overflows():
    draw = np.random.default_rng(5)
    tried = {"finite": 0, "infinite": 0}
    for _ in range(3000):
        norm, slope, eta, weight, radius = draw.choice(EXTREMES, 5) * draw.uniform(1, 9, 5)
        low, high, half = draw.uniform(0.1, 1), draw.uniform(1, 10), int(draw.integers(1, 1000))
        given = (norm, slope, eta, weight, radius, half)
        exact = in_many_digits(*given)
        assert agrees(max_nonzero_updates(*given), exact), given
        assert agrees(bounds.both_layers_bound(*given, low, high), in_many_digits(*given, low, high)), given
        tried["finite" if exact < LARGEST else "infinite"] += 1
    assert min(tried.values()) > 300


@pytest.mark.parametrize("eta", [1e-300, 1e-220, 1e-160, 1e160, 1e300])
def test_the_bound_of_corollary_3_is_finite_where_its_value_is(eta):
    """M = 2‖w*‖²/(ηα²) and smaller terms: 3.2e301 at η = 1e-300, where 1/η² is infinite."""
    given = (2.0, 0.5, eta)
    assert agrees(bounds.width_free_bound(*given), in_many_digits(*given, mpmath.sqrt(0.5), mpmath.sqrt(0.5), 1))


def test_the_root_does_not_overflow_before_the_bound():
    """η = 1e-215, ‖w*‖ = v = α = R = k = 1: S = 1 + 1e215, P = 2e215, and the root is ((√S + √(S + 4P))/2)²."""
    value = float(bounds.root_bound(1.0, 1.0, 1e-215, 1.0, 1.0, 1))
    assert value == pytest.approx(4e215, rel=1e-12)  # ((1 + 3)/2)² · 1e215
    assert value <= float(max_nonzero_updates(1.0, 1.0, 1e-215, 1.0, 1.0, 1))


@pytest.mark.parametrize("negative", ["smallest_ratio", "output_weight", "slope", "step_size"])
def test_a_negative_factor_promises_nothing(negative):
    """Also where R = 0 and the third term has a factor 0."""
    given = dict(
        separator_norm=2.0, slope=0.5, step_size=1.0, output_weight=1.0, row_bound=0.0, half_width=1,
        smallest_ratio=1.0, largest_ratio=1.0,
    )  # fmt: skip
    assert np.isfinite(bounds.both_layers_bound(**given))
    assert bounds.both_layers_bound(**given | {negative: -0.5}) == np.inf
