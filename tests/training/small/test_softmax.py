"""The NumPy softmax network against the compiled one, and against numbers worked out by hand."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special

from widenet.losses import cross_entropy, zero_one
from widenet.networks import TwoLayer, relu
from widenet.training.small.softmax import (
    SoftmaxNetwork,
    cross_entropies,
    decided_rightly,
    descend,
    descend_by_batches,
    gradient,
    log_wrong_mass,
    residuals,
    start_softmax,
    wrong_mass,
)

VOTES = np.array([[1, -0.5, 0.75, -2], [-1.5, 1, 0.25, 0.5], [0.5, 2, -1, 1]])
NETWORK = SoftmaxNetwork(np.array([[0.75, 0], [-0.25, 1.25], [1, -1], [-0.25, -1]]), VOTES)
POINTS = np.array([[3 / 5, 4 / 5], [-12 / 13, 5 / 13], [0.0, -1.0]])
CLASSES, SHARES = np.arange(3), np.array([1 / 2, 1 / 3, 1 / 6])


def test_outputs_computed_by_hand():
    logits = NETWORK.logits(POINTS)
    np.testing.assert_allclose(logits[0], [0.025, 0.175, 1.925], rtol=1e-12)
    np.testing.assert_allclose(logits[1], [-0.3557692307692, 0.7115384615385, 1.423076923077], rtol=1e-10)
    np.testing.assert_allclose(logits[2], [-1.25, 0.75, 0], atol=1e-15)
    assert SHARES @ cross_entropies(logits, CLASSES) == pytest.approx(1.700277386628, rel=1e-11)
    assert cross_entropies(logits, CLASSES).mean() == pytest.approx(1.541051544604, rel=1e-11)
    np.testing.assert_allclose(wrong_mass(logits, CLASSES), [0.8869766427519, 0.7042344281144, 0.7061852252885])
    np.testing.assert_allclose(np.exp(log_wrong_mass(logits, CLASSES)), wrong_mass(logits, CLASSES))
    np.testing.assert_allclose(residuals(logits, CLASSES).sum(axis=1), 0, atol=1e-15)
    assert NETWORK.largest_vote == 2
    assert NETWORK.n_neurons == 4


def test_a_neuron_on_the_kink_is_on():
    assert NETWORK.preactivations(POINTS)[2, 0] == 0
    slope = gradient(NETWORK, POINTS, CLASSES, SHARES)
    np.testing.assert_allclose(slope[0], [-0.2118351404202, -0.08212650477373], rtol=1e-10)


def test_it_is_the_gradient_of_the_compiled_network():
    draw = np.random.default_rng(0)
    network = start_softmax(draw, 7, 4, 3)
    points, classes = draw.normal(size=(5, 4)), np.array([0, 1, 2, 1, 0])
    compiled = TwoLayer(jnp.asarray(network.hidden), jnp.asarray(network.votes), None, relu(1.0))

    def loss(hidden):
        net = TwoLayer(hidden, compiled.output_weights, None, compiled.activation)
        return cross_entropy(jax.vmap(net)(jnp.asarray(points)), jnp.asarray(classes, float)).mean()

    expected = jax.grad(loss)(compiled.hidden_weights)
    np.testing.assert_allclose(gradient(network, points, classes, np.full(5, 0.2)), expected, rtol=1e-10)
    outputs = jax.vmap(compiled)(jnp.asarray(points))
    np.testing.assert_allclose(network.logits(points), outputs, rtol=1e-12)
    right = decided_rightly(network.logits(points), classes)
    np.testing.assert_array_equal(~right, np.asarray(zero_one(outputs, jnp.asarray(classes, float)), bool))


def test_tiny_losses_and_ties():
    logits = np.array([[400.0, 0.0], [0.0, 0.0]])
    assert cross_entropies(logits, np.array([0, 0]))[0] == pytest.approx(np.exp(-400))
    assert wrong_mass(logits, np.array([0, 0]))[0] == pytest.approx(np.exp(-400))
    assert list(decided_rightly(logits, np.array([0, 0]))) == [True, False]


def test_gates_of_the_start_give_other_outputs():
    gates = NETWORK.preactivations(POINTS) >= 0
    np.testing.assert_allclose(NETWORK.gated_logits(POINTS, gates), NETWORK.logits(POINTS), atol=1e-15)
    assert np.abs(NETWORK.gated_logits(POINTS, ~gates) - NETWORK.logits(POINTS)).max() > 0.1


def test_descent_takes_the_steps_it_shows():
    steps = list(descend(NETWORK, POINTS, CLASSES, SHARES, 0.1, 3))
    assert [step.number for step in steps] == [0, 1, 2, 3]
    for before, after in itertools.pairwise(steps):
        np.testing.assert_allclose(after.network.hidden, before.network.hidden - 0.1 * before.gradient)
    losses = [SHARES @ cross_entropies(step.logits, CLASSES) for step in steps]
    assert losses == sorted(losses, reverse=True)


def test_batches_of_everything_are_descent():
    batches = np.tile(np.arange(3), (3, 1))
    whole = list(descend(NETWORK, POINTS, CLASSES, np.full(3, 1 / 3), 0.1, 3))
    for step, (number, network, slope) in zip(
        whole, descend_by_batches(NETWORK, POINTS, CLASSES, batches, 0.1), strict=True
    ):
        np.testing.assert_allclose(network.hidden, step.network.hidden, rtol=1e-12)
        assert number == step.number
        assert number == 3 or np.allclose(slope, step.gradient)


def test_starts_have_the_deviations_asked_for():
    network = start_softmax(np.random.default_rng(0), 400, 50, 5)
    assert network.hidden.std() == pytest.approx(1 / 20, rel=0.02)
    assert network.votes.std() == pytest.approx(1, rel=0.05)
    assert start_softmax(np.random.default_rng(0), 400, 50, 5, deviation=3.0).hidden.std() == pytest.approx(3, rel=0.02)


def log_sum(logits):
    return np.asarray(scipy.special.logsumexp(logits, axis=1))


@pytest.mark.parametrize("size", [1e-300, 1.0, 30.0, 700.0, 1e6, 1e300])
def test_sums_of_exponentials_are_those_of_scipy(size):
    logits = size * np.random.default_rng(1).normal(size=(9, 4))
    logits[0] = logits[0, 0]
    classes = np.arange(9) % 4
    own, others = logits[np.arange(9), classes], logits.copy()
    others[np.arange(9), classes] = -np.inf
    top = logits.max(axis=1)[:, None]
    masses = log_sum(others - top) - log_sum(logits - top)
    np.testing.assert_allclose(log_wrong_mass(logits, classes), masses, rtol=1e-12, atol=1e-15)
    losses = log_sum(logits - own[:, None])
    np.testing.assert_allclose(cross_entropies(logits, classes), losses, rtol=1e-12, atol=1e-15)
    shares = scipy.special.softmax(logits, axis=1)
    found = residuals(logits, classes)
    np.testing.assert_allclose(-np.delete(found[0], 0), np.delete(shares[0], 0), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(np.abs(found.sum(axis=1)), 0, atol=1e-12)


def test_one_class_alone_has_nothing_wrong():
    assert log_wrong_mass(np.ones((2, 1)), np.zeros(2, int)).tolist() == [-np.inf, -np.inf]
    assert cross_entropies(np.ones((2, 1)), np.zeros(2, int)).tolist() == [0, 0]


def test_logits_that_overflowed_decide_nothing_and_warn_of_nothing():
    logits, classes = np.array([[np.inf, 0.0], [0.0, np.inf]]), np.zeros(2, int)
    assert np.isnan(log_wrong_mass(logits, classes)).tolist() == [False, True]
    assert np.isnan(residuals(logits, classes)).any(axis=1).tolist() == [False, True]


def test_steps_of_batches_that_are_fewer_than_their_samples():
    """Two batches of three points, the mean of each written out point by point."""
    batches, hidden = np.array([[0, 2, 2], [1, 0, 2]]), NETWORK.hidden.copy()
    states = list(descend_by_batches(NETWORK, POINTS, CLASSES, batches, 0.1))
    for (number, network, slope), rows in zip(states[:2], batches, strict=True):
        np.testing.assert_allclose(network.hidden, hidden, rtol=1e-13)
        each = [gradient(network, POINTS[[row]], CLASSES[[row]], np.ones(1)) for row in rows]
        np.testing.assert_allclose(slope, (each[0] + each[1] + each[2]) / 3, rtol=1e-13, atol=1e-16)
        assert number == (network is not NETWORK)
        hidden = hidden - 0.1 * slope
    number, network, slope = states[2]
    np.testing.assert_allclose(network.hidden, hidden, rtol=1e-13)
    assert number == 2
    assert not slope.any()


def test_a_decision_is_right_above_all_the_others():
    logits = np.array([[1.0, 3, 2], [1, 3, 2], [1, 3, 2], [2, 2, 1], [-3, -1, -2]])
    assert decided_rightly(logits, np.array([0, 1, 2, 0, 1])).tolist() == [False, True, False, False, True]
    assert logits.tolist()[0] == [1, 3, 2]
