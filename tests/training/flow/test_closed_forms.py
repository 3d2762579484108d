# pyright: reportArgumentType=false, reportCallIssue=false, reportOperatorIssue=false
"""Whole runs against flows that are solved by hand, and controls that these would notice another field."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import exp1, expi

from tests.training.flow import oracles
from tests.training.flow.oracles import SLOPE, level, margin_at, one_neuron, one_point, pull, two_points
from widenet.losses import logistic
from widenet.networks import TwoLayer, leaky_relu
from widenet.training import (
    Flow,
    LinearClock,
    LossClock,
    Recipe,
    Record,
    ensemble,
    loss_below,
    train,
    zero_error,
)
from widenet.training.flow import solver
from widenet.types import Dataset, Layers, RunStatus

STEP, STEPS = 0.5, 60
TIMES = (0, 10, 20, 60)
RULES = {"separated": zero_error, "low": loss_below(0.4)}
SEES = Record(TIMES, {"rows": lambda seen: seen.network.hidden_weights})


@functools.cache
def key():
    return jax.random.key(0)


def stack(trees):
    return jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(leaf) for leaf in leaves]), *trees)


@pytest.fixture(scope="module")
def runs():
    """One program for all: a crossing, a sliding that starts on the kink, two that arrive at it, a plain point, and the
    first sliding again with its points in the other order.
    """
    networks = [
        one_neuron([-0.5, 0.1]),
        one_neuron([0.5, 0.0], 1.0),
        one_neuron([0.5, 0.05], 1.0),
        one_neuron([0.5, -0.05], 1.0),
        one_neuron([0.5, -0.05], 1.0),
        one_neuron([0.5, 0.0], 1.0),
    ]
    points = [one_point(), two_points(), two_points(), two_points(), two_points((1.0, 1.0))]
    data = [*points, Dataset(points[1].inputs[::-1], points[1].labels[::-1])]
    recipe = Recipe(logistic, method=Flow(LinearClock(STEP), 1e-10, RULES), max_steps=STEPS)
    return ensemble(stack(networks), stack(data), recipe, jax.random.split(key(), 6), record=SEES)


CROSSING, ON_KINK, FROM_ABOVE, FROM_BELOW, PLAIN, TURNED = range(6)
START = -0.3  # ⟨w, x⟩ of the run that crosses
CROSSED = (level(0) - level(oracles.OUTER * SLOPE * START)) / pull(SLOPE)


def test_one_neuron_on_one_point_crosses_its_kink_when_and_as_derived(runs):
    crossings = runs.report.crossings
    assert (crossings.count[CROSSING], crossings.neuron[CROSSING], crossings.sample[CROSSING]) == (1, 0, 0)
    np.testing.assert_allclose(crossings.first[CROSSING], CROSSED, rtol=1e-9)
    margins = [oracles.OUTER * np.dot(row[0], oracles.POINT) for row in runs.records["rows"][CROSSING]]
    expected = [margin_at(1 + pull(1.0) * (step * STEP - CROSSED)) for step in TIMES[1:]]
    np.testing.assert_allclose(margins[1:], expected, rtol=1e-9)
    assert runs.report.sliding.count[CROSSING] == 0


@pytest.mark.parametrize("wrong", [pull(SLOPE) / 2, pull(1.0), -pull(SLOPE)])
def test_control_another_field_is_seen(runs, wrong):
    """Half the field, the field of the other side, and its opposite would cross at other times, or never."""
    expected = (level(0) - level(oracles.OUTER * SLOPE * START)) / wrong
    assert abs(runs.report.crossings.first[CROSSING] / expected - 1) > 0.4


def test_events_are_located(runs):
    events = runs.report.events
    np.testing.assert_allclose(events["separated"].reading[CROSSING], CROSSED, rtol=1e-9)
    expected = CROSSED + (level(-np.log(np.expm1(0.4))) - 1) / pull(1.0)  # where log(1 + e^−q) = 0.4
    np.testing.assert_allclose(events["low"].reading[CROSSING], expected, rtol=1e-8)
    np.testing.assert_allclose(events["low"].log_time[CROSSING], np.log(expected), rtol=1e-8)
    # A sliding neuron says 0 to the second point, which is wrong until it slides no more.
    ended = runs.report.sliding.ended[ON_KINK, 0]
    np.testing.assert_allclose(events["separated"].reading[ON_KINK], ended, rtol=1e-9)
    np.testing.assert_allclose(events["separated"].reading[PLAIN], runs.report.crossings.first[PLAIN], rtol=1e-9)


def test_sliding_is_reported_followed_and_left_as_derived(runs):
    sliding = runs.report.sliding
    assert sliding.count[ON_KINK] == 1
    assert (sliding.neuron[ON_KINK, 0], sliding.sample[ON_KINK, 0]) == (0, 1)
    assert sliding.begun[ON_KINK, 0] < 1e-9
    np.testing.assert_allclose(sliding.ended[ON_KINK, 0], oracles.slide_end(0.5), rtol=1e-9)
    rows = runs.records["rows"][ON_KINK][:, 0]
    for step, row in zip(TIMES[:3], rows[:3], strict=True):
        np.testing.assert_allclose(row, [margin_at(level(0.5) + step * STEP / 2), 0.0], atol=1e-9)
    assert rows[-1][1] < -0.1  # released to the side of the slope it had come down to


def test_which_point_is_first_does_not_matter(runs):
    sliding, rows = runs.report.sliding, runs.records["rows"]
    assert (sliding.count[TURNED], sliding.sample[TURNED, 0]) == (1, 0)
    np.testing.assert_allclose(sliding.ended[TURNED, 0], sliding.ended[ON_KINK, 0], rtol=1e-9)
    np.testing.assert_allclose(rows[TURNED], rows[ON_KINK], atol=1e-9)


@pytest.mark.parametrize("run", [FROM_ABOVE, FROM_BELOW])
def test_sliding_is_found_from_both_sides(runs, run):
    sliding = runs.report.sliding
    assert sliding.count[run] == 1
    assert 0.3 < sliding.begun[run, 0] < 0.7
    assert abs(sliding.ended[run, 0] - oracles.slide_end(0.5)) < 0.01
    np.testing.assert_allclose(runs.records["rows"][run][1:3, 0, 1], 0.0, atol=1e-15)


def test_control_a_crossing_is_no_sliding(runs):
    """The same start, but the second point has the other label: nothing holds the neuron."""
    assert runs.report.sliding.count[PLAIN] == 0
    assert runs.report.crossings.count[PLAIN] == 1
    assert np.isnan(runs.report.sliding.begun[PLAIN]).all()


def test_control_another_end_of_sliding_is_seen(runs):
    """Were σ' free down to 0, or held by half, the sliding would last longer, or end at once."""
    wrong = (level(np.log(2 * oracles.BETA / (SLOPE / 2) - 1)) - level(0.5)) * 2
    assert abs(runs.report.sliding.ended[ON_KINK, 0] / wrong - 1) > 0.3


def test_the_clock_of_the_loss_runs_through_the_same_path():
    """Its time is integrated beside the weights: it must be the one at which the closed form has this margin."""
    recipe = Recipe(logistic, method=Flow(LossClock(0.1), 1e-10), max_steps=30)
    run = train(one_neuron([0.5, 0.1]), one_point(), recipe, key(), record=SEES)
    for step, row in zip(TIMES[1:3], run.records["rows"][1:3], strict=True):
        assert oracles.OUTER * row[0] @ oracles.POINT > 0.49, step
    margin = oracles.OUTER * np.asarray(run.network.hidden_weights[0]) @ oracles.POINT
    time = (level(margin) - level(0.49)) / pull(1.0)
    np.testing.assert_allclose(run.report.now.log_time, np.log(time), rtol=1e-8)
    np.testing.assert_allclose(run.report.now.reading, 3.0)


def exponential(outputs, labels):
    """y e^−yf: the exponential loss where y = 1, and a loss without a lower bound where y = −1."""
    return labels * jnp.exp(-labels * outputs)


@pytest.fixture(scope="module")
def balanced():
    """One neuron with a = w on the point x = 1.5 with f = a w x, to the time 3, with either label."""
    network = TwoLayer(jnp.asarray([[0.3]]), jnp.asarray([0.3]), None, leaky_relu(0.5))
    data = [Dataset(jnp.asarray([[1.5]]), jnp.asarray([label])) for label in (1.0, -1.0)]
    recipe = Recipe(exponential, method=Flow(LinearClock(0.5), 1e-11), max_steps=6, layers=Layers.BOTH)
    return ensemble(stack([network, network]), stack(data), recipe, jax.random.split(key(), 2))


def test_both_layers_of_a_balanced_neuron_under_the_exponential_loss(balanced):
    """df/dt = 2 x f e^−f, so Ei(f) = Ei(f₀) + 2 x t; a and w stay equal."""
    outer, inner = balanced.network.output_weights[0, 0], balanced.network.hidden_weights[0, 0, 0]
    np.testing.assert_allclose(expi(outer * inner * 1.5), expi(0.3 * 0.3 * 1.5) + 2 * 1.5 * 3.0, rtol=1e-9)
    np.testing.assert_allclose(outer, inner, rtol=1e-12)
    assert balanced.status[0] == RunStatus.BUDGET_SPENT


def test_weights_that_blow_up_in_finite_time_are_diverged_and_the_time_is_told(balanced):
    """df/dt = 2 x f e^f, so f is infinite when 2 x t = E₁(f₀)."""
    assert balanced.status[1] == RunStatus.DIVERGED
    np.testing.assert_allclose(balanced.report.now.reading[1], exp1(0.3 * 0.3 * 1.5) / (2 * 1.5), rtol=1e-5)


def squared(outputs, labels):
    return 0.5 * (outputs - labels) ** 2


@pytest.fixture(scope="module")
def linear():
    """A linear network on three points, and what it says at its start and after time 2."""
    draw = np.random.default_rng(0)
    inputs, rows, outer = draw.normal(size=(3, 2)), draw.normal(size=(2, 2)), np.array([0.8, -0.6])
    labels = np.array([0.7, -1.2, 0.4])
    network = TwoLayer(jnp.asarray(rows), jnp.asarray(outer), None, leaky_relu(1.0))
    recipe = Recipe(squared, method=Flow(LinearClock(0.5), 1e-11), max_steps=4)
    run = train(network, Dataset(jnp.asarray(inputs), jnp.asarray(labels)), recipe, key())
    return inputs, labels, inputs @ rows.T @ outer, np.asarray(jax.vmap(run.network)(jnp.asarray(inputs))), outer, run


def solution(inputs, labels, start, outer, time):
    """Outputs f of a linear network under the squared loss: df/dt = −(‖a‖²/n) X Xᵀ (f − y)."""
    values, vectors = np.linalg.eigh(inputs @ inputs.T * (outer @ outer) / len(labels))
    return labels + vectors @ (np.exp(-time * values) * (vectors.T @ (start - labels)))


def test_a_linear_network_on_several_points(linear):
    inputs, labels, start, end, outer, run = linear
    np.testing.assert_allclose(end, solution(inputs, labels, start, outer, 2.0), rtol=1e-9)
    assert run.report.crossings.count == 0  # nothing is at stake where both slopes are 1


@pytest.mark.parametrize("time", [1.0, -2.0])
def test_control_half_the_field_or_its_opposite_ends_elsewhere(linear, time):
    inputs, labels, start, end, outer, _ = linear
    assert np.abs(end - solution(inputs, labels, start, outer, time)).max() > 0.05


class Halved(Flow):
    """A kind of its own: no program of another test is used for it, nor its program for another test."""


def test_control_a_flow_with_another_field_fails_the_closed_form(monkeypatch):
    """The flow itself made wrong: half of the velocity."""
    right = solver.FlowSolver.velocity

    def half(self, *arguments):
        return jax.tree.map(lambda leaf: 0.5 * leaf, right(self, *arguments))

    monkeypatch.setattr(solver.FlowSolver, "velocity", half)
    recipe = Recipe(logistic, method=Halved(LinearClock(STEP), 1e-9), max_steps=10)
    run = train(one_neuron([0.5, 0.1]), one_point(), recipe, key())
    margin = oracles.OUTER * np.asarray(run.network.hidden_weights[0]) @ oracles.POINT
    assert abs(margin - margin_at(level(0.49) + pull(1.0) * 10 * STEP)) > 0.05
    np.testing.assert_allclose(margin, margin_at(level(0.49) + pull(1.0) * 5 * STEP), rtol=1e-7)
