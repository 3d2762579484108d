import numpy as np
import pytest

from widenet.claims.brutzkus2018.bounds import max_nonzero_updates, update_bound_terms


def root_of_the_proof(norm, slope, eta, weight, radius, half):
    """M_root, an independent derivation: the largest T with G and F of the proof still compatible.

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
