"""Scales and pieces of float32 numbers, and which kernel is chosen."""

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl

from tests.training.problems import kernel_of, networks, separable, toy
from widenet.losses import hinge
from widenet.training import SGD, LogSquared, Recipe
from widenet.training.kernels import block, fused, gram, minibatch, split_products
from widenet.types import Dataset, Layers


@pytest.mark.parametrize(
    ("bound", "power"), [(1.0, 14), (1.999, 14), (2.0, 13), (0.5, 15), (3.0, 13), (0.0, 114), (3e38, -113)]
)
def test_a_bound_is_brought_just_under_two_to_the_fifteenth(bound, power):
    assert float(split_products.power_of_two(jnp.float32(bound))) == 2.0**power
    assert float(split_products.power_of_two(jnp.float64(bound))) == 1


def test_the_spread_of_columns():
    def spread(rows):
        return split_products.spread(Dataset(jnp.asarray(rows), jnp.ones(np.shape(rows)[:-1])))

    assert spread([[1.0, -8.0], [-2.0, 4.0]]) == 4
    assert spread([[1.0, -8.0, 0.0], [-2.0, 4.0, 0.0]]) == 4
    assert spread([[[1.0, -8.0]], [[-2.0, 0.25]]]) == 4
    assert spread([[0.0, 0.0]]) == 1
    assert spread([[0.05, 0.5]]) == pytest.approx(10)


@pytest.mark.usefixtures("half_precision")
def test_inputs_are_filled_up_scaled_and_split():
    draw = np.random.default_rng(0).normal(size=(3, 5))
    inputs = jnp.asarray(draw, jnp.float32)
    (high, low), scale = split_products.scaled_pieces(inputs, 4)
    assert (high.shape, high.dtype, low.dtype) == ((3, 8), jnp.float16, jnp.float16)
    together = (np.asarray(high, np.float64) + np.asarray(low, np.float64)) / float(scale)
    np.testing.assert_allclose(together[:, :5], np.asarray(inputs, np.float64), rtol=2.0**-21)
    assert not together[:, 5:].any()
    rounded = (np.asarray(inputs) * float(scale)).astype(np.float16)
    np.testing.assert_array_equal(np.asarray(high)[:, :5], rounded)  # all eleven bits of it are used
    assert 2**14 <= float(scale) * np.abs(np.asarray(inputs)).max() < 2**15
    (whole,), one = split_products.scaled_pieces(jnp.asarray(draw), 5)
    np.testing.assert_array_equal(whole, draw)
    assert float(one) == 1
    assert len(split_products.pieces_of(jnp.ones(2))) == 1
    first, second = split_products.pieces_of(jnp.asarray([1 + 2.0**-12], jnp.float32))
    assert (float(first[0]), float(second[0])) == (1, 2.0**-12)


@pytest.mark.parametrize(
    ("capability", "has"),
    [("8.0", True), ("9.0", True), ("7.5", False), ("10.3", True), ("gfx90a", False), (None, False)],
)
@pytest.mark.usefixtures("as_on_cpu")
def test_tensor_cores_are_those_of_nvidia_from_ampere_on(monkeypatch, capability, has):
    device = SimpleNamespace() if capability is None else SimpleNamespace(compute_capability=capability)
    other = SimpleNamespace(compute_capability="7.0" if has else "9.0")
    assert not split_products.has_tensor_cores()
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    monkeypatch.setattr(jax, "devices", lambda: [device, other])  # the first one is computed on
    assert split_products.has_tensor_cores() is has


def test_which_kernel_is_chosen_on_a_cpu():
    """Inner products of inputs pay with fewer samples than dimensions, blocks with batches up to half of their rows."""
    assert [gram.pays(separable(count, 5)) for count in (4, 5, 6)] == [True, False, False]
    data = separable(40, 5)
    assert kernel_of(Recipe(hinge, SGD(0.5, batch_size=32), 10), networks(1), data) == "blocked"
    assert kernel_of(Recipe(hinge, SGD(0.5, batch_size=33), 10), networks(1), data) == "plain"
    assert kernel_of(Recipe(hinge, SGD(0.5, batch_size=3), 10), networks(1, dim=60), separable(40, 60)) == "gram"
    assert kernel_of(Recipe(hinge, method=SGD(LogSquared(1.0)), max_steps=10), networks(1), data) == "single"
    assert block.ROWS == fused.ROWS == 64


@pytest.mark.parametrize("kernel", ["blocked", "gram", "fused", "minibatch"])
def test_a_rule_for_steps_needs_the_plain_kernel(kernel):
    ruled = Recipe(hinge, method=SGD(LogSquared(1.0), kernel=kernel), max_steps=10)
    with pytest.raises(ValueError, match=f"the {kernel} kernel trains"):
        kernel_of(ruled, networks(1), toy())


@pytest.mark.usefixtures("half_precision")
def test_products_of_pieces():
    """Three of four piece products keep 22 bits; numbers that are not split are multiplied as they are."""
    draw = np.random.default_rng(1)
    left, right = draw.normal(size=(3, 4)), draw.normal(size=(5, 4))
    whole = split_products.product((jnp.asarray(left),), (jnp.asarray(right),), (1, 1), jnp.ones((3, 5)))
    np.testing.assert_allclose(whole, left @ right.T + 1, rtol=1e-14)
    turned = split_products.product((jnp.asarray(left.T),), (jnp.asarray(right.T),), (0, 0))
    np.testing.assert_allclose(turned, left @ right.T, rtol=1e-14)
    split = [split_products.pieces_of(jnp.asarray(each, jnp.float32)) for each in (left, right)]
    found = split_products.product(split[0], split[1], (1, 1))
    assert found.dtype == jnp.float32
    exact = np.float32(left).astype(float) @ np.float32(right).astype(float).T
    np.testing.assert_allclose(found, exact, atol=2e-6)
    assert np.abs(np.asarray(split_products.product(split[0][:1], split[1][:1], (1, 1)), float) - exact).max() > 1e-5


@pytest.mark.usefixtures("as_on_cpu")
def test_a_kernel_that_was_asked_for_is_taken_whatever_the_others_can_do(monkeypatch):
    """And one that would pay is not taken where it does not fit."""
    assert kernel_of(Recipe(hinge, SGD(0.5), 10), networks(1), toy()) == "blocked"
    both = Recipe(hinge, SGD(0.5, kernel="plain"), 10, layers=Layers.BOTH)
    assert kernel_of(both, networks(1), toy()) == "plain"
    assert kernel_of(Recipe(hinge, SGD(0.5, kernel="plain"), 10), networks(1), toy(), object()) == "plain"
    with monkeypatch.context() as fitting:
        fitting.setattr(fused, "fits", lambda *_: True)
        assert kernel_of(Recipe(hinge, SGD(0.5, kernel="fused"), 10), networks(1), toy()) == "fused"
    monkeypatch.setattr(minibatch, "pays", lambda network, data, batch: True)
    assert kernel_of(Recipe(hinge, SGD(0.5), 10), networks(1), toy()) == "minibatch"
    assert kernel_of(Recipe(hinge, SGD(0.5), 10, layers=Layers.BOTH), networks(1), toy()) == "blocked"


def test_tiles_of_gpu_programs_are_powers_of_two():
    """Triton knows no others, and its products have at least 16 rows."""
    tiles = (fused.ROWS, fused.STRIDE, fused.COLUMNS, fused.NEURONS, minibatch.NEURONS, minibatch.COLUMNS)
    assert all(tile >= 16 and tile & (tile - 1) == 0 for tile in tiles)
    assert all(warps & (warps - 1) == 0 for warps in (fused.WARPS, minibatch.WARPS))
    assert fused.ROWS % fused.STRIDE == 0
    assert [split_products.padded(size) for size in (1, 16, 17, 64, 65)] == [16, 16, 32, 64, 128]
    assert split_products.WIDEST_SPREAD == 4096


def test_nothing_is_read_or_written_outside():
    """A place that does not exist is read as 0, whatever is next to it, and stays as it is."""

    def kernel(source, mask, target):
        place, exists = (jnp.arange(4, dtype=jnp.int32),), mask[:]
        target[:] = jnp.full(4, 7.0)
        read = split_products.loaded(source, place, exists) + split_products.loaded(source, place, ~exists)
        split_products.stored(target, place, exists, read)

    call = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((4,), float), interpret=True)
    found = call(jnp.asarray([1.0, 2.0, 3.0, 4.0]), jnp.asarray([True, False, True, False]))
    np.testing.assert_array_equal(found, [1.0, 7.0, 3.0, 7.0])
