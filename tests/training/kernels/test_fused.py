"""The GPU kernel, interpreted on the CPU, against the step-by-step autodiff oracle."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.training.kernels.test_block import hold_against
from tests.training.kernels.test_kernels import assert_same, weights
from tests.training.problems import awkward, forget_programs, kernel_of, networks, run_keys, separable, with_method
from widenet.losses import hinge, logistic
from widenet.networks import leaky_relu, relu
from widenet.training import SGD, Listed, Recipe, Record, ensemble
from widenet.training.kernels import fused
from widenet.types import Layers

STEPS = 53
"""Several segments and blocks, and a multiple of neither."""
LIST = (0, 0, 3, 7, 7, 1, 8)


@pytest.fixture(scope="module", autouse=True)
def small_blocks():
    """The same kernel in smaller blocks: an interpreted stride of 16 rows takes ten seconds to compile."""
    if jax.default_backend() == "gpu":
        pytest.skip("interpreted on a CPU, in float64")
    with pytest.MonkeyPatch.context() as patch:
        jax.config.update("jax_disable_most_optimizations", True)
        for name, value in {"ROWS": 4, "STRIDE": 2, "NEURONS": 16, "LAUNCH": 30}.items():
            patch.setattr(fused, name, value)
        forget_programs()
        yield
        forget_programs()
        jax.config.update("jax_disable_most_optimizations", False)


@pytest.mark.parametrize(("loss", "bias"), [(hinge, False), (logistic, True)], ids=["hinge", "logistic"])
def test_a_segment_is_sgd(loss, bias):
    hold_against("fused", loss, Layers.HIDDEN, 1, bias)


def both_ways(nets, data, recipe, n_runs, times):
    record = Record(tuple(times), {"weights": weights})

    def go(kernel):
        return ensemble(nets, data, with_method(recipe, kernel=kernel), run_keys(n_runs), record=record)

    return go("plain"), go("fused")


@pytest.mark.parametrize(("loss", "bias", "n_neurons"), [(hinge, False, 6), (logistic, True, 20)])
def test_fused_follows_plain_at_every_step(loss, bias, n_neurons):
    """Twenty neurons are two groups; a record at every step starts and stops segments at every place of a block."""
    nets = networks(3, n_neurons, bias=bias)
    recipe = Recipe(loss, SGD(0.7), STEPS, check_every=35)
    assert_same(*both_ways(nets, separable(), recipe, 3, range(STEPS + 1)), rtol=1e-12)
    assert_same(*both_ways(nets, separable(), recipe, 3, (0, STEPS)), rtol=1e-12)


def test_fused_follows_plain_on_kinks_ties_and_duplicates():
    """All arithmetic here is exact in binary, so margins of exactly 1 and units at exactly 0 do occur."""
    for activation in (leaky_relu(0.5), relu(), relu(1.0)):
        nets = networks(2, n_neurons=4, dim=4, activation=activation)
        grid = jnp.asarray([[-0.5, 0.0, 0.5, 1.0], [0.0, 0.0, 0.0, 0.0], [1.0, -1.0, 0.5, 0.0], [0.0, 0.5, 0.0, -0.5]])
        nets = eqx.tree_at(
            lambda net: (net.hidden_weights, net.output_weights),
            nets,
            (jnp.stack([grid, 0 * grid]), jnp.broadcast_to(jnp.asarray([0.5, 0.5, -0.5, -0.5]), (2, 4))),
        )
        plain, fast = both_ways(nets, awkward(), Recipe(hinge, SGD(0.5, Listed(LIST)), STEPS), 2, (0, 1, 9, STEPS))
        assert_same(plain, fast, rtol=1e-12)
        assert (plain.updates < plain.steps).all()  # some steps moved nothing


@settings(max_examples=15)
@given(
    loss=st.sampled_from([hinge, logistic]),
    step_size=st.sampled_from([0.01, 1.0, 30.0]),
    slope=st.sampled_from([0.0, 0.1, 0.9]),
    seed=st.integers(0, 1000),
)
def test_fused_follows_plain_on_random_networks(loss, step_size, slope, seed):
    nets, data = networks(2, 4, 4, slope, seed), separable(9, 4, seed)
    recipe = Recipe(loss, SGD(step_size, Listed(LIST)), STEPS, check_every=STEPS)
    assert_same(*both_ways(nets, data, recipe, 2, times=(0, STEPS)), rtol=1e-12)


@pytest.mark.usefixtures("half_precision")
def test_in_float32_split_products_are_as_good_as_float32():
    """Every run against float64: no further away than step-by-step float32, apart from counted kink flips."""
    nets, data = networks(8, 10, 30), separable(64, 30)
    exact = ensemble(nets, data, Recipe(logistic, SGD(0.3, kernel="plain"), 640), run_keys(8))

    def small(tree):
        return jax.tree.map(lambda leaf: jnp.asarray(leaf).astype(jnp.float32), tree)

    plain, fast = both_ways(small(nets), small(data), Recipe(logistic, SGD(0.3), 640), 8, times=(640,))

    def rows(run):
        return np.asarray(run.network.hidden_weights, np.float64)

    def away(run):
        return np.abs(rows(run) - rows(exact)).max(axis=2) / np.abs(rows(exact)).max()

    flipped = away(fast) > 2e-5
    assert flipped.mean() <= 0.02, f"{flipped.sum()} of {flipped.size} neurons flipped"
    assert np.median(away(fast)) <= 2 * np.median(away(plain))
    np.testing.assert_array_equal(fast.updates, exact.updates)


@pytest.mark.usefixtures("half_precision")
def test_pieces_keep_what_a_single_float16_loses():
    draw = np.random.default_rng(0)
    left, right = (jnp.asarray(draw.normal(size=(32, 784)), jnp.float32) for _ in range(2))
    exact = np.asarray(left, np.float64) @ np.asarray(right, np.float64).T
    scale = fused.power_of_two(jnp.max(jnp.abs(left)))
    split = fused.pieces_of(left * scale), fused.pieces_of(right)

    def error(found, beside=exact):
        return np.abs(np.asarray(found, np.float64) - beside).max() / np.abs(exact).max()

    def in_float64(*pairs):
        lefts, rights = ([np.asarray(piece, np.float64) for piece in pieces] for pieces in split)
        return np.sum([lefts[one] @ rights[two].T for one, two in pairs], axis=0) / float(scale)

    # What the split itself loses has no rounding of a sum in it, so it is the same on every machine: two pieces keep 22
    # bits of each entry. One piece keeps 11, and so do two without one of the cross products.
    kept = in_float64((0, 0), (0, 1), (1, 0))
    assert error(kept) < 2.0**-22
    for pairs in (((0, 0),), ((0, 0), (0, 1)), ((0, 0), (1, 0))):
        assert error(in_float64(*pairs)) > 2.0**-16
    # How a float32 sum of 784 products is rounded depends on the processor; that of the same machine is the measure.
    plain = error(jnp.dot(left, right.T, precision="highest"))
    found = fused.product(*split, (1, 1)) / scale
    assert error(found, kept) < 3 * plain + 2.0**-22
    assert 3 * plain + 2.0**-22 < 2.0**-16, "or a product left out would pass"


@pytest.mark.parametrize("bound", [1e-38, 1e-20, 0.3, 1.0, 7e4, 3e38])
def test_scales_are_powers_of_two_and_never_overflow(bound):
    scale = float(fused.power_of_two(jnp.float32(bound)))
    assert np.log2(scale) == round(np.log2(scale))
    assert bound * scale < 2**15


def test_it_is_chosen_where_it_pays_and_refused_where_it_does_not_fit(monkeypatch):
    nets, data = networks(2, dtype=jnp.float32), separable(dtype=jnp.float32)
    recipe = Recipe(logistic, SGD(0.1), 10)
    assert kernel_of(recipe, nets, data) != "fused"  # no GPU here
    monkeypatch.setattr(fused, "pays", lambda network, data: True)
    assert kernel_of(recipe, nets, data) == "fused"
    for other in (with_method(recipe, batch_size=5), dataclasses.replace(recipe, layers=Layers.BOTH)):
        assert kernel_of(other, nets, data) != "fused"
        with pytest.raises(ValueError, match="the fused kernel trains the hidden layer"):
            kernel_of(with_method(other, kernel="fused"), nets, data)
    monkeypatch.setattr(fused, "triton", None)  # a JAX without Triton
    assert kernel_of(recipe, nets, data) != "fused"


def test_inputs_of_very_different_size_are_left_to_the_other_kernels():
    data = separable(dtype=jnp.float32)
    uneven = eqx.tree_at(lambda d: d.inputs, data, data.inputs.at[:, 0].multiply(1e6))
    assert fused.spread(data) < 100 < fused.WIDEST_SPREAD < fused.spread(uneven)
    zeros = eqx.tree_at(lambda d: d.inputs, data, data.inputs.at[:, 0].set(0))
    assert fused.spread(zeros) < 100
