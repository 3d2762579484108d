"""Every fast kernel against the step-by-step autodiff oracle."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.training.problems import awkward, kernel_of, networks, run_keys, separable, with_method
from widenet.losses import hinge, logistic
from widenet.networks import leaky_relu, relu
from widenet.training import SGD, Cyclic, Listed, Permutation, Recipe, Record, ensemble
from widenet.types import Dataset, Layers

STEPS = 70
"""More than one block, and not a multiple of it."""


def weights(now):
    network = now.network
    parts = [network.hidden_weights.ravel(), network.output_weights.ravel()]
    return jnp.concatenate(parts if network.bias is None else [*parts, network.bias])


def both_ways(nets, data, recipe, n_runs, fast, times=None):
    record = Record(tuple(times or range(STEPS + 1)), {"weights": weights})
    runs = {
        kernel: ensemble(nets, data, with_method(recipe, kernel=kernel), run_keys(n_runs), record=record)
        for kernel in ("plain", fast)
    }
    return runs["plain"], runs[fast]


def assert_same(plain, fast, rtol):
    scale = np.abs(plain.records["weights"]).max(axis=(1, 2), keepdims=True)
    worst = (np.abs(plain.records["weights"] - fast.records["weights"]) / scale).max()
    assert worst <= rtol, f"weights differ by {worst:.3g} of the largest"
    for name in ("status", "updates", "mistakes", "last_update", "zero_loss_step", "steps"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(fast, name), err_msg=name)


FAST = pytest.mark.parametrize("fast", ["blocked", "gram", "single"])


@pytest.mark.parametrize("loss", [hinge, logistic], ids=lambda loss: loss.__name__)
@pytest.mark.parametrize(
    ("fast", "layers", "batch", "bias"),
    [
        *[(fast, *way) for fast in ("blocked", "gram", "single") for way in (("hidden", 1, False), ("both", 1, True))],
        *[(fast, "both", 5, False) for fast in ("blocked", "gram")],
    ],
)
def test_a_fast_kernel_follows_plain_at_every_step(fast, loss, layers, batch, bias):
    nets = networks(3, bias=bias)
    recipe = Recipe(loss, SGD(0.7, batch_size=batch), STEPS, layers=Layers(layers), check_every=35)
    assert_same(*both_ways(nets, separable(), recipe, 3, fast), rtol=1e-12)


@FAST
@pytest.mark.parametrize(
    ("order", "activation"),
    [
        (Cyclic, leaky_relu(0.5)),
        (Cyclic, relu()),
        (functools.partial(Listed, (0, 0, 3, 7, 7, 1, 8)), relu(1.0)),
    ],
    ids=["leaky", "relu", "relu-on"],
)
def test_a_fast_kernel_follows_plain_on_kinks_ties_and_duplicates(fast, order, activation):
    """All arithmetic here is exact in binary, so margins of exactly 1 and units at exactly 0 do occur."""
    nets = networks(2, n_neurons=4, dim=4, activation=activation)
    grid = jnp.asarray([[-0.5, 0.0, 0.5, 1.0], [0.0, 0.0, 0.0, 0.0], [1.0, -1.0, 0.5, 0.0], [0.0, 0.5, 0.0, -0.5]])
    nets = eqx.tree_at(
        lambda net: (net.hidden_weights, net.output_weights),
        nets,
        (jnp.stack([grid, 0 * grid]), jnp.broadcast_to(jnp.asarray([0.5, 0.5, -0.5, -0.5]), (2, 4))),
    )
    plain, fast = both_ways(nets, awkward(), Recipe(hinge, SGD(0.5, order()), STEPS), 2, fast)
    assert_same(plain, fast, rtol=1e-12)
    assert (plain.updates < plain.steps).all()  # some steps moved nothing


def test_samples_of_a_batch_that_cancel_each_other_are_no_update():
    """Twins with other labels in one batch; opposite samples with one label at zero weights."""
    inputs = jnp.asarray([[0.5, 0.25], [0.5, 0.25], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, 0.5]])
    data = Dataset(inputs, jnp.asarray([1.0, -1, 1, 1, -1, -1]))
    grid = jnp.asarray([[0.5, 0.0], [0.0, 0.5], [0.25, 0.25], [-0.5, 0.5]])
    nets = networks(2, n_neurons=4, dim=2)
    nets = eqx.tree_at(lambda net: net.hidden_weights, nets, jnp.stack([grid, 0 * grid]))
    plain, blocked, gram = (
        ensemble(nets, data, Recipe(hinge, SGD(0.5, Cyclic(), 2, kernel=kernel), 3), run_keys(2))
        for kernel in ("plain", "blocked", "gram")
    )
    np.testing.assert_array_equal(plain.updates, [2, 1])
    for fast in (blocked, gram):
        np.testing.assert_array_equal(fast.updates, plain.updates)
        np.testing.assert_array_equal(fast.last_update, plain.last_update)


shapes = st.sampled_from([(9, 1, 4), (17, 6, 2)])  # every shape is compiled for every kernel and loss


@settings(max_examples=16)
@given(
    shape=shapes,
    loss=st.sampled_from([hinge, logistic]),
    step_size=st.sampled_from([0.01, 1.0, 30.0]),
    slope=st.sampled_from([0.0, 0.1, 0.9]),
    seed=st.integers(0, 1000),
    fast=st.sampled_from(["blocked", "gram", "single"]),
)
def test_fast_kernels_follow_plain_on_random_networks(shape, loss, step_size, slope, seed, fast):
    n_samples, dim, n_neurons = shape
    nets = networks(2, n_neurons, dim, slope, seed)
    data = separable(n_samples, dim, seed)
    recipe = Recipe(loss, SGD(step_size, Permutation()), STEPS, check_every=STEPS)
    assert_same(*both_ways(nets, data, recipe, 2, fast, times=(0, 1, STEPS)), rtol=1e-12)


def test_control_the_comparison_can_fail():
    nets = networks(2)
    recipe = Recipe(logistic, SGD(0.7), STEPS)
    plain, fast = both_ways(nets, separable(), recipe, 2, "blocked")
    fast.records["weights"][0, 50, 3] += 1e-9
    with pytest.raises(AssertionError, match="weights differ"):
        assert_same(plain, fast, rtol=1e-12)
    other, _ = both_ways(nets, separable(seed=3), recipe, 2, "blocked")
    with pytest.raises(AssertionError):
        assert_same(plain, other, rtol=1e-12)


def test_float32_agrees_apart_from_counted_kink_flips():
    """A pre-activation within rounding of 0 may take the other branch; then one neuron leaves, and is counted."""
    nets, data = networks(20, 10, 30, dtype=jnp.float32), separable(64, 30, dtype=jnp.float32)
    plain, fast = both_ways(nets, data, Recipe(logistic, SGD(0.3), 640), 20, "blocked", times=(640,))

    def rows(run):
        return np.asarray(run.network.hidden_weights)

    scale = np.abs(rows(plain)).max()
    off = np.abs(rows(plain) - rows(fast)).max(axis=2) > 2e-5 * scale
    assert off.mean() <= 0.02, f"{off.sum()} of {off.size} neurons flipped"
    assert rows(fast).dtype == np.float32


def test_fewer_samples_than_dimensions_take_the_gram_kernel():
    few, many = separable(4, 6), separable(24, 5)
    assert kernel_of(Recipe(hinge, SGD(0.5), 10), networks(1, dim=6), few) == "gram"
    assert kernel_of(Recipe(hinge, SGD(0.5), 10), networks(1), many) == "blocked"
    assert kernel_of(Recipe(hinge, SGD(0.5, batch_size=None), 10), networks(1), many) == "blocked"
    assert kernel_of(Recipe(hinge, SGD(0.5, batch_size=2), 10), networks(1), many, object()) == "plain"


def test_no_tf32_in_the_products():
    """Ones and 2^-12: a product with ten bits of mantissa would lose the small term."""
    nets, data = networks(1, 2, 1, dtype=jnp.float32), separable(2, 1, dtype=jnp.float32)
    nets = eqx.tree_at(lambda net: net.hidden_weights, nets, jnp.full((1, 2, 1), 1 + 2.0**-20, jnp.float32))
    data = eqx.tree_at(lambda d: d.inputs, data, jnp.full((2, 1), 1 + 2.0**-20, jnp.float32))
    outputs = jax.vmap(jax.vmap(lambda net, x: net.preactivations(x), (None, 0)), (0, None))(nets, data.inputs)
    assert (np.asarray(outputs) > 1 + 2.0**-20).all()
