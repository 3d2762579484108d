"""The kernel that sweeps over the weights, interpreted on the CPU: against the step-by-step autodiff oracle."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.kernels.test_block import hold_against
from tests.training.kernels.test_kernels import assert_same, weights
from tests.training.kernels.test_outputs import classes, several
from tests.training.problems import forget_programs, kernel_of, run_keys, with_method
from widenet.losses import cross_entropy, hinge, multiclass_hinge
from widenet.training import SGD, Permutation, Recipe, Record, ensemble
from widenet.training.kernels import minibatch
from widenet.types import Layers

STEPS = 21
"""Several segments and blocks, and a multiple of neither."""


@pytest.fixture(scope="module", autouse=True)
def small_tiles():
    """The same kernel in smaller tiles and blocks: more than one of each."""
    if jax.default_backend() == "gpu":
        pytest.skip("interpreted on a CPU, in float64")
    with pytest.MonkeyPatch.context() as patch:
        jax.config.update("jax_disable_most_optimizations", True)
        for name, value in {"NEURONS": 4, "COLUMNS": 16, "STEPS": 3}.items():
            patch.setattr(minibatch, name, value)
        forget_programs()
        yield
        forget_programs()
        jax.config.update("jax_disable_most_optimizations", False)


def test_a_segment_is_sgd():
    """Other losses, and biases, in `test_minibatch_scales`."""
    hold_against("minibatch", hinge, Layers.HIDDEN, 2, False)


def both_ways(nets, data, recipe, n_runs, times):
    record = Record(tuple(times), {"weights": weights})

    def go(kernel):
        return ensemble(nets, data, with_method(recipe, kernel=kernel), run_keys(n_runs), record=record)

    return go("plain"), go("minibatch")


@pytest.mark.parametrize(("loss", "bias"), [(cross_entropy, True), (multiclass_hinge, False)])
def test_several_outputs_follow_plain_at_every_step(loss, bias):
    """A record at every step starts and stops segments at every place of a block; at two, blocks are whole."""
    nets, recipe = several(2, bias=bias), Recipe(loss, SGD(0.3, Permutation(), 5), STEPS, check_every=10)
    for times in (range(STEPS + 1), (0, STEPS)):
        plain, quick = both_ways(nets, classes(), recipe, 2, times)
        assert_same(plain, quick, rtol=1e-12)
        assert (plain.updates > 5).all()


def test_slopes_of_the_softmax_keep_small_differences():
    outputs = np.array([[0.0, 40.0, 3.0], [800.0, 0.0, -800.0], [1.0, 1.0, 1.0]])
    labels = jnp.asarray([1.0, 0.0, 2.0])
    found = jnp.stack(minibatch._softmax_slopes(list(jnp.asarray(outputs.T)), labels), axis=1)
    wanted = jax.grad(lambda o: jnp.sum(cross_entropy(o, labels)))(jnp.asarray(outputs))
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert found[0, 1] == pytest.approx(-np.exp(-37) - np.exp(-40), rel=1e-12)


@pytest.mark.usefixtures("half_precision")
def test_in_float32_split_products_are_as_good_as_float32():
    nets, data = several(4, n_neurons=10, dim=30), classes(64, 30)
    exact = ensemble(nets, data, Recipe(cross_entropy, SGD(0.1, batch_size=8, kernel="plain"), 96), run_keys(4))

    def small(tree):
        return jax.tree.map(lambda leaf: jnp.asarray(leaf).astype(jnp.float32), tree)

    plain, fast = both_ways(small(nets), small(data), Recipe(cross_entropy, SGD(0.1, batch_size=8), 96), 4, (96,))

    def rows(run):
        return np.asarray(run.network.hidden_weights, np.float64)

    def away(run):
        return np.abs(rows(run) - rows(exact)).max(axis=2) / np.abs(rows(exact)).max()

    assert (away(fast) > 2e-5).mean() <= 0.02
    assert np.median(away(fast)) <= 1.2 * np.median(away(plain))
    np.testing.assert_array_equal(fast.updates, exact.updates)
    halves = [np.float32(np.float16(rows(exact)))]  # control: a single float16 piece would lose three digits
    assert np.median(np.abs(halves[0] - rows(exact)).max(axis=2)) > 1e2 * np.median(away(plain))


def test_it_is_chosen_on_a_gpu_for_wide_networks_alone(monkeypatch):
    def small(tree):
        return jax.tree.map(lambda leaf: jnp.asarray(leaf).astype(jnp.float32), tree)

    wide, narrow, data = small(several(2, n_neurons=minibatch.FEWEST_NEURONS)), small(several(2)), small(classes())
    recipe = Recipe(cross_entropy, SGD(0.1, batch_size=8), 10)
    assert kernel_of(recipe, wide, data) == "blocked"
    monkeypatch.setattr(minibatch, "has_tensor_cores", lambda: True)
    assert kernel_of(recipe, wide, data) == "minibatch"
    assert kernel_of(recipe, narrow, data) == "blocked"
    assert kernel_of(recipe, wide, data, object()) == "plain"
    assert kernel_of(dataclasses.replace(recipe, layers=Layers.BOTH), wide, data) == "blocked"
    uneven = eqx.tree_at(lambda data: data.inputs, data, data.inputs.at[:, 0].multiply(1e-6))
    assert kernel_of(recipe, wide, uneven) == "blocked"


def test_what_it_cannot_do_is_refused():
    with pytest.raises(ValueError, match="the minibatch kernel trains the hidden layer"):
        ensemble(
            several(1), classes(), Recipe(cross_entropy, SGD(0.1, kernel="minibatch"), 4, layers="both"), run_keys(1)
        )
