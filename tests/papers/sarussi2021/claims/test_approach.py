"""How near gradient flow must be to its limit: both bounds on flows integrated apart, and on a path that is known."""

import functools

import numpy as np
import pytest
import scipy.integrate

from tests.papers.records import altered
from tests.papers.sarussi2021.paths import AT_20, flip_one, toy_path
from tests.papers.sarussi2021.toys import changed_weights
from widenet.diagnostics.agreement_program import separate
from widenet.papers.sarussi2021.claims.approach import towards_pattern, towards_program
from widenet.papers.sarussi2021.formulas import approach_bound, slack_bound, turning_bound
from widenet.papers.sarussi2021.runs.flows import READINGS

TIMES = np.array([0.0, 1, 2, 5, 10, 20, 50, 100, 200, 400])
LATE = -1
DRAWS = (LATE, *range(10))


def psi(margins):
    """−log(∏(1 + e^{−q}) − 1), and its gradient in q, in plain arithmetic with the smallest margin taken out."""
    low = margins.min()
    shares = np.exp(low - margins)
    whole = np.prod(1 + np.exp(-margins)) - 1 if low < 20 else np.exp(-low) * shares.sum()
    gradient = np.prod(1 + np.exp(-margins)) / whole * np.exp(-low) * shares / (1 + np.exp(-margins))
    return -np.log(whole), gradient


@functools.cache
def drawn(number):
    """A flow of four margins that are linear in W ∈ R³, or the one that turns late: features, W, γ* and Û."""
    if number == LATE:
        features = np.array([(1.0, 1.0), (1.0, -1.0), (0.99, 0.3)])
    else:
        draw = np.random.default_rng(number)
        features = np.column_stack([1 + 0.3 * draw.uniform(size=4), draw.normal(size=(4, 2))])

    def velocity(_, weights):
        """−∇ log Σ log(1 + e^{−q})."""
        margins = features @ weights
        losses, low = np.logaddexp(0, -margins), margins.min()
        pushes = np.exp(low) / (1 + np.exp(margins)) if low < 30 else np.exp(low - margins)
        total = np.exp(low) * losses.sum() if low < 30 else np.exp(low - margins).sum()
        return pushes @ features / total

    start = np.array([0.1, 0.0, 0.0])[: features.shape[1]]
    path = scipy.integrate.solve_ivp(velocity, (0, 400), start, "LSODA", TIMES, rtol=1e-10, atol=1e-10).y.T
    separator = separate(features, np.ones(len(features))).separator
    assert separator is not None
    return features, path, float(1 / np.linalg.norm(separator)), separator / np.linalg.norm(separator)


@pytest.mark.parametrize("number", DRAWS)
def test_what_never_increases_and_what_follows(number):
    """E = γ*‖W‖ − ψ and ‖∇ψ‖ fall; and both directions keep their bounds from T = 1 on."""
    features, path, margin, goal = drawn(number)
    values, gradients = zip(*(psi(features @ weights) for weights in path), strict=True)
    norms, flow = np.linalg.norm(path, axis=1), np.array(gradients) @ features
    excess, speed = margin * norms - np.array(values), np.linalg.norm(flow, axis=1)
    assert (np.diff(excess) <= 1e-6).all()
    assert (np.diff(speed) <= 1e-6).all()
    assert (speed >= margin * (1 - 1e-6)).all()
    later = slice(1, None)
    off = 1 - path @ goal / norms
    turned = 1 - flow @ goal / speed
    assert (off[later] <= approach_bound(excess[1], margin, norms[later]) + 1e-6).all()
    moved = np.linalg.norm(path[later] - path[1], axis=1)
    assert (turned[later] <= turning_bound(excess[1], margin, moved) + 1e-6).all()


def test_a_flow_that_turns_late():
    """Along (1, 0) the third margin is the smallest by 1 %: it takes over only when s is some hundreds, and in the last
    doubling W/‖W‖ moves four times as far as in the one before. It keeps the bounds all the same.
    """
    _, path, _, _ = drawn(LATE)
    units = path / np.linalg.norm(path, axis=1, keepdims=True)
    moves = np.linalg.norm(np.diff(units[-3:], axis=0), axis=1)
    assert moves[1] > 4 * moves[0]


@pytest.mark.parametrize("n", [2, 3, 40])
def test_the_slack_is_attained(n):
    """n − 1 margins that lie 1 + W₀ above the smallest, far out: Σxe^{−x}/(1 + Σe^{−x}) = W₀((n − 1)/e)."""
    value = float(slack_bound(n, 50.0, 1.0, 1.0))
    assert value * np.exp(value) == pytest.approx((n - 1) / np.e)
    above = np.linspace(0, 9, 9001)
    seen = (n - 1) * above * np.exp(-above) / (1 + (n - 1) * np.exp(-above))
    assert seen.max() == pytest.approx(value, rel=1e-6)
    assert seen.max() <= value
    assert float(slack_bound(n, 0.0, 2.0, 3.0)) == pytest.approx(value * 2 / 6)
    assert float(slack_bound(1, 0.0, 2.0, 3.0)) == 0


def test_both_bounds_in_plain_numbers():
    assert float(approach_bound(0.6, 2.0, 30.0)) == pytest.approx(0.01)
    assert float(turning_bound(0.6, 2.0, 30.0)) == pytest.approx(0.6 / 60.6)


def test_the_program_of_a_regime_is_that_of_its_pattern():
    (course,) = toy_path().each()
    program, pattern = towards_program(course, course.solution, course.value), towards_pattern(course)
    assert program.margin == pytest.approx(pattern.margin, rel=1e-9)
    np.testing.assert_allclose(program.errors, pattern.errors, atol=1e-9)
    assert program.looks.tolist() == pattern.looks.tolist() == list(range(len(READINGS)))
    # E of the first look, with ψ = −log((1 + e^{−q₁})(1 + e^{−q₂}) − 1).
    first = course.margins[0]
    excess = program.margin * course.norms[0] + np.log(np.prod(1 + np.exp(-first)) - 1)
    assert program.excess == pytest.approx(excess)
    np.testing.assert_allclose(
        program.distances[1:], np.linalg.norm(np.diff(course.weights, axis=0).cumsum(0), axis=(1, 2))
    )


def test_from_when_on_a_run_is_followed():
    """From the last crossing, from the last look with another pattern, and not at all where it ends on a kink."""
    (late,) = altered(toy_path(), last_crossing=np.array([30.0])).each()
    assert towards_pattern(late).looks[0] == READINGS.index(30)
    assert towards_program(late, late.solution, late.value).looks[0] == READINGS.index(30)
    (flipped,) = changed_weights(toy_path(), flip_one).each()
    assert towards_pattern(flipped).looks[0] == AT_20 + 3

    def onto(place, share):
        def change(weights):
            """Nearly orthogonal to (−1, −3), by this share of its length."""
            weights[place, 0] = np.linalg.norm(weights[place, 0]) * (np.array([3.0, -1.0]) + share) / 10**0.5

        return next(changed_weights(toy_path(), change).each())

    ends_on_a_kink = towards_pattern(onto(-1, 1e-5))
    assert len(ends_on_a_kink.looks) == 0
    assert np.isnan([ends_on_a_kink.margin, ends_on_a_kink.excess]).all(), "no number of a run that is not followed"
    assert towards_pattern(onto(-2, 1e-5)).looks.tolist() == [len(READINGS) - 1]
