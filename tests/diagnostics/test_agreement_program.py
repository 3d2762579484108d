from fractions import Fraction

import numpy as np
import pytest
from sklearn.svm import SVC

from widenet.diagnostics import agreement_program
from widenet.diagnostics.agreement_program import (
    agreement_kernel,
    critical_margins,
    separate,
    solve_perfect_agreement,
    solve_regime,
)
from widenet.diagnostics.separability import Separation

E1 = ([(2, 1), (-1, -3)], [1, -1])
E2 = ([(1, 0), (0, 1)], [1, -1])
E3 = ([(3, 0), (1, 2), (-3, 0), (-1, -2)], [1, 1, -1, -1])
E4 = ([(3, 0), (1, 2), (-3, 0)], [1, 1, -1])
WEDGE = ([(0, 2), (3, 3), (2, -1)], [1, 1, -1])


def arrays(data):
    return np.array(data[0], float), np.array(data[1], float)


@pytest.mark.parametrize(
    ("data", "slope", "solution", "value", "inside"),
    [
        (E1, 1 / 3, ("66/205", "81/410", "-6/41", "-15/82"), "81/410", True),
        (E2, 1 / 2, ("4/5", "-2/5", "-2/5", "4/5"), "8/5", True),
        (E3, 1 / 5, ("5/18", "5/18", "-5/18", "-5/18"), "25/81", True),
        (E4, 1 / 5, ("5/18", "25/78", "-5/18", "-5/78"), "275/1053", True),
        (WEDGE, 1 / 20, ("-3048/160481", "78524/160481", "60960/160481", "-34330/160481"), "68980/160481", False),
    ],
)
def test_perfect_agreement_in_fractions(data, slope, solution, value, inside):
    found = solve_perfect_agreement(*arrays(data), slope)
    np.testing.assert_allclose(found.solution, [float(Fraction(each)) for each in solution], rtol=1e-11, atol=1e-14)
    assert found.value == pytest.approx(float(Fraction(value)), rel=1e-12)
    assert max(found.stationarity, abs(found.slack), found.gap) < 1e-12
    points, labels = arrays(data)
    assert (labels * (points @ np.stack([found.plus, -found.minus]).T).T > 0).all() == inside


@pytest.mark.parametrize(
    ("data", "slope", "plus", "minus", "value", "inside"),
    [
        (E1, 1 / 3, (1, 1), (-1, 1), "9/50", False),
        (E1, 1 / 3, (1, -1), (1, 1), "7/60", False),
        (E1, 1 / 3, (-1, -1), (-1, 1), "9/10", False),
        (WEDGE, 1 / 20, (1, 1, -1), (-1, 1, 1), "8181325/19019646", True),
    ],
)
def test_other_regimes_in_fractions(data, slope, plus, minus, value, inside):
    found = solve_regime(*arrays(data), np.array(plus, float), np.array(minus, float), slope)
    assert found.value == pytest.approx(float(Fraction(value)), rel=1e-12)
    signs = np.array([plus, minus])
    assert (signs * (np.stack([found.plus, found.minus]) @ arrays(data)[0].T) > 0).all() == inside


def test_multipliers():
    np.testing.assert_allclose(solve_perfect_agreement(*arrays(E1), 1 / 3).multipliers, [63 / 410, 9 / 205])
    found = solve_perfect_agreement(*arrays(WEDGE), 1 / 20).multipliers
    np.testing.assert_allclose(found, [38500 / 160481, 0, 30480 / 160481], atol=1e-14)


def test_data_that_nothing_separates():
    found = solve_regime(np.array([(1.0, 0.0), (1.0, 0.0)]), np.array([1.0, -1.0]), np.ones(2), np.ones(2), 0.5)
    assert found.value == np.inf
    assert np.isnan(found.solution).all()


def test_the_kernel():
    np.testing.assert_allclose(agreement_kernel(*arrays(E1), 1 / 3), [(50 / 9, -10 / 3), (-10 / 3, 100 / 9)])
    pinned = [(401 / 100, 1203 / 200, -1 / 5), (1203 / 200, 3609 / 200, 3 / 10), (-1 / 5, 3 / 10, 401 / 80)]
    np.testing.assert_allclose(agreement_kernel(*arrays(WEDGE), 1 / 20), pinned)


def test_it_is_the_svm_of_that_kernel():
    """scikit-learn's SVC has a bias; mirrored points with mirrored labels make it 0."""
    draw = np.random.default_rng(0)
    points, labels = draw.normal(size=(12, 3)) + 1.5, np.ones(12)
    points, labels = np.concatenate([points, -points]), np.concatenate([labels, -labels])
    found = solve_perfect_agreement(points, labels, 0.3)
    machine = SVC(C=1e9, kernel="precomputed", tol=1e-10).fit(agreement_kernel(points, labels, 0.3), labels)
    assert np.abs(machine.dual_coef_).sum() == pytest.approx(found.value, rel=1e-6)


@pytest.mark.parametrize(
    ("data", "plus", "minus"),
    [
        (WEDGE, [1.1094004], [1.1094004, 2.1828206]),
        (([(1, 0), (-1, 1)], [1, -1]), [0.4472136], [0.4472136]),
        (([(1, 0), (0, 2), (-1, 1), (1, -1), (-2, -1)], [1, 1, -1, -1, -1]), [0.4472136, 0.63245553, 0], [0, 0]),
        (E3, [0, 0], [0, 0]),
        (E4, [0], [0, 1.3416408]),
        (([(1, 1), (-1, 1)], [1, -1]), [1], [1]),
    ],
)
def test_critical_margins(data, plus, minus):
    found = critical_margins(*arrays(data))
    np.testing.assert_allclose(found[0], plus, atol=1e-7)
    np.testing.assert_allclose(found[1], minus, atol=1e-7)


def test_the_shortest_separator():
    found = separate(*arrays(WEDGE))
    np.testing.assert_allclose(found.separator, [-2 / 9, 5 / 9])  # pyright: ignore[reportCallIssue, reportArgumentType]
    assert found.margin == pytest.approx(1.67125804359)


def test_residuals_of_a_pair_that_is_no_solution(monkeypatch):
    """z = (2, −1, −3, 2) with the weights ½, ½ on E2: λ = 4/5 twice, and Σ λ a = (4/5, −2/5, −2/5, 4/5)."""
    found = Separation(True, np.array([2.0, -1.0, -3.0, 2.0]), 4.0, 3.0, np.array([0.5, 0.5]), 1 / 3)
    monkeypatch.setattr(agreement_program, "_shortest", lambda rows: found)
    solved = solve_perfect_agreement(*arrays(E2), 1 / 2)
    assert solved.multipliers == pytest.approx([0.8, 0.8])
    assert (solved.value, solved.gap) == (18, 0.25)
    assert solved.stationarity == pytest.approx((10 / 18) ** 0.5)
    assert solved.slack == pytest.approx(3.2 / 18)


def test_critical_margins_of_one_class_alone():
    """Nothing to add, and nothing to be added to: the lengths of the points."""
    none, alone = critical_margins(np.array([(3.0, 4.0), (0.0, 2.0)]), np.ones(2))
    assert none.shape == (0,)
    assert alone == pytest.approx([5, 2])
