"""Networks with several outputs: the fast kernels against the step-by-step autodiff oracle."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.training.kernels.test_kernels import STEPS, assert_same, both_ways
from tests.training.problems import kernel_of, networks, run_keys, separable
from widenet.losses import cross_entropy, hinge, multiclass_hinge
from widenet.training import SGD, Recipe, ensemble
from widenet.training.kernels import fused
from widenet.types import Dataset, Layers, RunStatus

CLASSES = 3


def several(n_runs, seed=1, **others):
    """Networks with three outputs, Gaussian second layers."""
    nets = networks(n_runs, seed=seed, **others)

    def draw(run):
        return np.random.default_rng([seed, run, 1]).normal(size=(CLASSES, nets.n_neurons))

    second = np.stack([draw(run) for run in range(n_runs)])
    return eqx.tree_at(lambda net: net.output_weights, nets, jnp.asarray(second, nets.hidden_weights.dtype))


def classes(n_samples=24, dim=5, seed=0):
    """Three classes by the largest of three random directions; one input of zeros, one sample twice."""
    data, draw = separable(n_samples, dim, seed), np.random.default_rng(seed)
    inputs = np.asarray(data.inputs).copy()
    inputs[0], inputs[2] = 0, inputs[1]
    labels = np.argmax(inputs @ draw.normal(size=(dim, CLASSES)), axis=1)
    return Dataset(jnp.asarray(inputs), jnp.asarray(labels, jnp.float64))


@pytest.mark.parametrize(
    ("fast", "loss", "layers", "batch", "bias"),
    [
        ("gram", cross_entropy, "hidden", 1, False),
        ("blocked", cross_entropy, "both", 5, True),
        ("gram", multiclass_hinge, "both", 1, True),
        ("blocked", multiclass_hinge, "hidden", 5, False),
    ],
)
def test_several_outputs_follow_plain_at_every_step(fast, loss, layers, batch, bias):
    recipe = Recipe(loss, SGD(0.3, batch_size=batch), STEPS, layers=Layers(layers), check_every=35)
    plain, quick = both_ways(several(2, bias=bias), classes(), recipe, 2, fast)
    assert_same(plain, quick, rtol=1e-12)
    assert (plain.updates > 10).all()


@settings(max_examples=10)
@given(
    loss=st.sampled_from([cross_entropy, multiclass_hinge]),
    step_size=st.sampled_from([0.01, 0.5, 3.0]),
    slope=st.sampled_from([0.0, 0.1, 0.9]),
    seed=st.integers(0, 1000),
)
def test_several_outputs_follow_plain_on_random_networks(loss, step_size, slope, seed):
    recipe = Recipe(loss, SGD(step_size), STEPS, check_every=STEPS)
    both = both_ways(several(2, seed, slope=slope), classes(seed=seed), recipe, 2, "blocked", times=(0, 1, STEPS))
    assert_same(*both, rtol=1e-12)


def test_one_step_is_the_formula_of_softmax():
    nets, data = several(1), classes()
    run = ensemble(nets, data, Recipe(cross_entropy, SGD(0.3, batch_size=None, kernel="blocked"), 1), run_keys(1))
    hidden, second, x = np.asarray(nets.hidden_weights[0]), np.asarray(nets.output_weights[0]), np.asarray(data.inputs)
    z = x @ hidden.T
    outputs = np.where(z > 0, z, 0.2 * z) @ second.T
    shares = np.exp(outputs) / np.exp(outputs).sum(axis=1, keepdims=True)
    slopes = (shares - np.eye(CLASSES)[np.asarray(data.labels, int)]) / len(x)
    expected = hidden - 0.3 * ((slopes @ second) * np.where(z > 0, 1, 0.2)).T @ x
    np.testing.assert_allclose(run.network.hidden_weights[0], expected, atol=1e-15)


def test_classes_are_learned_and_counted():
    recipe = Recipe(multiclass_hinge, SGD(0.1), 20_000, layers=Layers.BOTH)
    runs = ensemble(several(3, bias=True), classes(), recipe, run_keys(3))
    outputs = jax.vmap(lambda net: jax.vmap(net)(classes().inputs))(runs.network)
    solved = runs.status == RunStatus.CONVERGED
    assert solved.any()
    np.testing.assert_array_equal(
        np.argmax(outputs, -1)[solved], np.asarray(classes().labels)[None].repeat(3, 0)[solved]
    )
    assert (runs.mistakes[solved] > 0).all()


@pytest.mark.usefixtures("as_on_cpu")
def test_the_fused_kernel_leaves_several_outputs_to_the_others():
    recipe = Recipe(cross_entropy, SGD(0.1), 10)
    assert not fused.fits(several(2), classes(), 1, Layers.HIDDEN, None)
    assert fused.fits(networks(2), classes(), 1, Layers.HIDDEN, None)
    assert kernel_of(recipe, several(2), classes()) == "blocked"


@pytest.mark.parametrize("wrong", [-1.0, 3.0, 0.5, np.nan])
def test_labels_must_name_classes(wrong):
    data = eqx.tree_at(lambda d: d.labels, classes(), classes().labels.at[4].set(wrong))
    with pytest.raises(ValueError, match="must be classes 0 to 2"):
        ensemble(several(2), data, Recipe(cross_entropy, SGD(0.1), 10), run_keys(2))


def test_a_loss_of_one_output_refuses_several():
    with pytest.raises(Exception, match=r"(?i)shape|type-check"):
        ensemble(several(2), classes(), Recipe(hinge, SGD(0.1), 10), run_keys(2))
