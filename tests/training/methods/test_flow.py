# pyright: reportArgumentType=false, reportCallIssue=false
"""How a flow ends, and what it refuses; `tests/training/flow` has its oracles."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.flow.oracles import one_neuron, one_point, problem, stacked
from tests.training.problems import networks, run_keys, separable
from widenet.losses import hinge, logistic
from widenet.networks import ConvMaxPool
from widenet.training import Flow, LinearClock, LossClock, Recipe, ensemble, train
from widenet.types import Layers, RunStatus


@functools.cache
def key():
    return jax.random.key(0)


def unbounded(outputs, labels):
    """Of which no logarithm is known."""
    return -jnp.exp(labels * outputs)


def kinked(outputs, labels):
    """A loss with a kink that attracts: |f − 1|, of which no flow is told."""
    return jnp.abs(outputs - labels)


def test_a_tolerance_that_cannot_be_reached_is_unresolved():
    method = Flow(LinearClock(1.0), most_solver_steps=500)
    run = train(one_neuron([0.5, 0.1]), one_point(), Recipe(kinked, method=method, max_steps=20), key())
    assert run.status == RunStatus.UNRESOLVED
    assert "tolerance" in RunStatus.UNRESOLVED.sentence
    assert 501 <= run.report.solver_steps < 600, run.report.solver_steps
    # It stands where the loss has its kink: at q = 1, which dq/dt = κ reaches from q₀.
    np.testing.assert_allclose(run.report.now.reading, (1 - 0.49) / (0.49 * 5), rtol=1e-2)


def test_too_few_slots_end_a_run_where_it_is():
    nets, data = stacked([problem(seed, "random", n_samples=20, dim=6, n_neurons=4) for seed in range(3)])
    recipe = Recipe(logistic, method=Flow(LinearClock(10.0), slots=1), max_steps=3, check_every=1)
    runs = ensemble(nets, data, recipe, run_keys(3))
    assert (runs.status == RunStatus.UNRESOLVED).all()
    assert (runs.report.now.reading < 30).all()
    assert np.isfinite(runs.loss).all()


def test_what_cannot_be_followed_is_refused():
    data, nets = separable(), networks(2)
    single = jax.tree.map(lambda leaf: leaf.astype(jnp.float32), (nets, data))
    with pytest.raises(ValueError, match="without kinks"):
        ensemble(nets, data, Recipe(hinge, method=Flow(LinearClock(1.0)), max_steps=3), run_keys(2))
    with pytest.raises(ValueError, match="logarithm is known, logistic or cross_entropy, got unbounded"):
        ensemble(nets, data, Recipe(unbounded, method=Flow(LossClock(1.0)), max_steps=3), run_keys(2))
    with pytest.raises(ValueError, match="followed in float64, got float32"):
        ensemble(*single, Recipe(logistic, method=Flow(LinearClock(1.0)), max_steps=3), run_keys(2))
    for rule, words in (
        (lambda outputs: True, "must take"),
        (lambda outputs, labels, losses: losses < 1, "a single true"),
    ):
        flow = Flow(LinearClock(1.0), events={"low": rule})
        with pytest.raises(ValueError, match=f"event 'low' .*{words}"):
            ensemble(nets, data, Recipe(logistic, method=flow, max_steps=3), run_keys(2))
    with pytest.raises(ValueError, match="two-layer networks"):
        Flow(LinearClock(1.0)).fitted(
            ConvMaxPool(jnp.zeros((2, 4, 2)), jnp.zeros((2, 4))), data, hinge, Layers.HIDDEN, None
        )


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Flow(0.5), "clock must be LinearClock"),
        (lambda: Flow(LinearClock(0.0)), "the step of a clock must be positive and finite"),
        (lambda: Flow(LinearClock(1.0), 1e-20), "tolerance must lie between"),
        (lambda: Flow(LinearClock(1.0), 1.0), "tolerance must lie between"),
        (lambda: Flow(LinearClock(1.0), slots=0), "slots must be a whole number"),
        (lambda: Flow(LinearClock(1.0), events={"low": 0.1}), "event 'low' must be a rule"),
    ],
)
def test_mistakes_get_a_sentence(make, sentence):
    with pytest.raises(Exception, match=rf"(?i){sentence}|type-check"):
        make()


@pytest.mark.parametrize(("tolerance", "fits"), [(1e-13, True), (0.99e-13, False), (1e-2, True), (1.01e-2, False)])
def test_the_smallest_and_the_largest_tolerance(tolerance, fits):
    if fits:
        assert Flow(LinearClock(1.0), tolerance).tolerance == tolerance
    else:
        with pytest.raises(ValueError, match="tolerance must lie between"):
            Flow(LinearClock(1.0), tolerance)
