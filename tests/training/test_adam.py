"""Adam in one program against a loop in plain Python with `optax.adam`."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from widenet.networks.conv_classifier import ConvClassifier, cut_patches, make_conv_classifier
from widenet.training.adam import (
    FEWEST_EPOCHS,
    AdamRecipe,
    AdamRuns,
    Forward,
    draw_orders,
    error_rates,
    train_adam,
)
from widenet.training.orders import Permutation
from widenet.types import RunStatus

SIDE, N_SAMPLES, N_RUNS = 6, 24, 3
KEYS = jax.random.split(jax.random.key(7), N_RUNS)
STEPS = jnp.asarray([0.01, 0.05, 0.02])


def easy_data() -> tuple[jax.Array, jax.Array]:
    """Three classes that differ in where the light is."""
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 3, N_SAMPLES).astype(np.int32)
    images = 0.1 * rng.random((N_SAMPLES, SIDE, SIDE))
    images[np.arange(N_SAMPLES), 2 * classes] += 1
    return jnp.asarray(images), jnp.asarray(classes)


INPUTS, CLASSES = easy_data()
NETWORKS = jax.vmap(lambda key: make_conv_classifier(key, 2, 3, 0.3, image_side=SIDE, dtype=jnp.float64))(KEYS)


def trained(recipe: AdamRecipe, networks=NETWORKS, forward: Forward = ConvClassifier.by_patches) -> AdamRuns:
    return train_adam(networks, INPUTS, CLASSES, recipe, STEPS, KEYS, forward=forward)


def one_of(tree, run: int):
    return jax.tree.map(lambda leaf: leaf[run], tree)


def by_hand(run: int, epochs: int):
    """The same run, one step after the other, by equinox's convolution and optax's Adam."""
    network, optimizer = one_of(NETWORKS, run), optax.adam(float(STEPS[run]))
    state = optimizer.init(eqx.filter(network, eqx.is_array))

    @jax.jit
    def step(network, state, rows):
        def loss(network):
            outputs = jax.vmap(network)(INPUTS[rows])
            chosen = jax.nn.log_softmax(outputs)[jnp.arange(len(rows)), CLASSES[rows]]
            return -chosen.mean()

        updates, state = optimizer.update(jax.grad(loss)(network), state)
        return optax.apply_updates(network, updates), state

    for epoch in range(epochs):
        for rows in Permutation().epoch(KEYS[run], jnp.asarray(epoch), N_SAMPLES, 8):
            network, state = step(network, state, rows)
    return network


def test_agrees_with_the_loop_by_hand():
    runs = trained(AdamRecipe(8, 3))
    for run in (0, 1):
        expected = by_hand(run, 3)
        for one, other in zip(jax.tree.leaves(one_of(runs.network, run)), jax.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-10)
    assert runs.epochs.tolist() == [3, 3, 3]


def test_one_after_the_other_and_all_together_are_the_same(monkeypatch: pytest.MonkeyPatch):
    recipe = AdamRecipe(8, 12, after_fit=2)
    apart = trained(recipe)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    # Another function is another program, compiled for the other way.
    together = trained(recipe, forward=lambda network, image: network.by_patches(image))
    assert together.epochs.tolist() == apart.epochs.tolist()
    for one, other in zip(jax.tree.leaves(together.network), jax.tree.leaves(apart.network), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-10)


def test_stops_after_the_fit_and_says_so():
    short, long = trained(AdamRecipe(8, 60, after_fit=0)), trained(AdamRecipe(8, 60, after_fit=2))
    assert short.count(RunStatus.CONVERGED) == N_RUNS
    assert (short.train_error == 0).all()
    assert (short.epochs < 40).all()
    assert (long.epochs - short.epochs).tolist() == [2, 2, 2]
    budget = trained(AdamRecipe(8, 1))
    assert budget.count(RunStatus.BUDGET_SPENT) == N_RUNS


def test_a_network_that_is_no_longer_finite_has_diverged_and_is_wrong_everywhere():
    weights = NETWORKS.output.weight.at[1].set(jnp.nan)
    broken = eqx.tree_at(lambda net: net.output.weight, NETWORKS, weights)
    runs = trained(AdamRecipe(8, 2), broken)
    assert runs.status[1] == RunStatus.DIVERGED
    assert runs.train_error[1] == 1
    assert runs.count(RunStatus.DIVERGED) == 1
    assert error_rates(runs.network, INPUTS, CLASSES, forward=ConvClassifier.by_patches, block=5)[1] == 1


def test_error_rates_count_every_input_once():
    runs = trained(AdamRecipe(8, 3))
    rates = error_rates(runs.network, INPUTS, CLASSES, forward=ConvClassifier.by_patches, block=7)
    for run, rate in enumerate(rates):
        outputs = jax.vmap(one_of(runs.network, run))(INPUTS)
        assert rate == np.mean(np.asarray(outputs).argmax(axis=1) != np.asarray(CLASSES))
    np.testing.assert_array_equal(rates, runs.train_error)


def test_epochs_and_step_sizes_are_not_compiled_again():
    traced = []

    def counting(network, image):
        traced.append(1)
        return network.by_patches(image)

    trained(AdamRecipe(8, 1), forward=counting)
    once = len(traced)
    train_adam(NETWORKS, INPUTS, CLASSES, AdamRecipe(8, 2), 2 * STEPS, KEYS, forward=counting)
    assert len(traced) == once > 0


@pytest.mark.parametrize("batch_size", [0, N_SAMPLES + 1])
def test_impossible_batches_are_refused(batch_size: int):
    with pytest.raises(ValueError, match="batch_size"):
        trained(AdamRecipe(batch_size, 1))


def test_no_epochs_are_refused():
    with pytest.raises(ValueError, match="max_epochs"):
        trained(AdamRecipe(8, 0))


def test_orders_are_those_of_the_key_and_the_epoch():
    recipe = AdamRecipe(8, 3)
    orders = draw_orders(KEYS, N_SAMPLES, recipe)
    assert orders.shape == (N_RUNS, FEWEST_EPOCHS, N_SAMPLES // 8, 8)
    for run, epoch in ((0, 0), (2, 1)):
        expected = Permutation().epoch(KEYS[run], jnp.asarray(epoch), N_SAMPLES, 8)
        np.testing.assert_array_equal(orders[run, epoch], expected)


def test_inputs_may_be_prepared_block_by_block():
    runs = trained(AdamRecipe(8, 3))
    seen = []

    def prepare(images):
        seen.append(len(images))
        return cut_patches(images, 3)

    rates = error_rates(runs.network, INPUTS, CLASSES, forward=ConvClassifier.on_patches, block=10, prepare=prepare)
    np.testing.assert_array_equal(rates, runs.train_error)
    assert seen == [10, 10, 4]
