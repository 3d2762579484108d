"""The classifier by patches against equinox's convolution, and how it is drawn."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from widenet.networks.conv_classifier import (
    ConvClassifier,
    cut_patches,
    make_conv_classifier,
    patch_pixels,
    truncated_normal,
)


def with_biases(network: ConvClassifier, seed: int) -> ConvClassifier:
    assert network.convolution.bias is not None
    biases = 0.1 * np.random.default_rng(seed).standard_normal(network.convolution.bias.shape)
    return eqx.tree_at(lambda net: net.convolution.bias, network, jnp.asarray(biases))


@pytest.fixture(scope="module", params=[(3, 11), (4, 11), (7, 12)], ids=lambda pair: f"{pair[0]}x{pair[0]}")
def case(request):
    """A network and images: noise, black, and half black, where patches tie."""
    filter_side, side = request.param
    network = make_conv_classifier(jax.random.key(0), 5, filter_side, 0.3, image_side=side, dtype=jnp.float64)
    noise = np.random.default_rng(1).random((3, side, side))
    noise[1] = 0
    noise[2, : side // 2] = 0
    return with_biases(network, 2), jnp.asarray(noise)


def by_patches(network: ConvClassifier, images: jax.Array) -> jax.Array:
    return jax.vmap(network.on_patches)(jnp.asarray(cut_patches(np.asarray(images), network.filter_side)))


def test_by_patches_it_is_the_convolution(case):
    network, images = case
    np.testing.assert_allclose(by_patches(network, images), jax.vmap(network)(images), rtol=1e-12, atol=1e-13)


def test_a_convolution_without_bias_is_refused(case):
    network, images = case
    without = eqx.tree_at(lambda net: net.convolution.bias, network, None, is_leaf=lambda leaf: leaf is None)
    with pytest.raises(ValueError, match="must have a bias"):
        by_patches(without, images)


def test_so_is_its_gradient(case):
    network, images = case

    def loss(network, forward):
        return jnp.sum(jnp.sin(forward(network, images)))

    one_way = jax.grad(loss)(network, lambda network, images: jax.vmap(network)(images))
    other_way = jax.grad(loss)(network, by_patches)
    for one, other in zip(jax.tree.leaves(one_way), jax.tree.leaves(other_way), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-11, atol=1e-12)


def test_control_a_transposed_filter_is_seen(case):
    network, images = case
    turned = eqx.tree_at(lambda net: net.convolution.weight, network, network.convolution.weight.swapaxes(-1, -2))
    assert np.abs(by_patches(turned, images) - jax.vmap(network)(images)).max() > 1e-3


def test_patches_lie_in_the_image_and_windows_side_by_side():
    where = patch_pixels(3, 6)
    assert where.shape == (4, 4, 9)
    # The first pooling window holds the patches that start at (0, 0), (0, 1), (1, 0) and (1, 1).
    assert where[:, 0, 0].tolist() == [0, 1, 6, 7]
    assert where[0, :, 0].tolist() == [0, 2, 12, 14]
    assert where[0, 0].tolist() == [0, 1, 2, 6, 7, 8, 12, 13, 14]
    with pytest.raises(ValueError, match="nothing to pool"):
        patch_pixels(6, 6)


def test_a_draw_belongs_to_its_key():
    keys = jax.random.split(jax.random.key(3), 4)
    together = jax.jit(jax.vmap(lambda key: make_conv_classifier(key, 4, 3, 0.05, image_side=8)))(keys)
    alone = make_conv_classifier(keys[2], 4, 3, 0.05, image_side=8)
    for one, many in zip(jax.tree.leaves(alone), jax.tree.leaves(together), strict=True):
        assert one.dtype == jnp.float32
        np.testing.assert_array_equal(one, many[2])


def test_weights_follow_the_truncated_law_and_biases_are_0():
    drawn = np.asarray(truncated_normal(jax.random.key(0), 20_000, 0.05))
    assert np.abs(drawn).max() <= 0.1
    assert stats.kstest(drawn / 0.05, stats.truncnorm(-2, 2).cdf).pvalue > 0.01
    assert stats.kstest(drawn / 0.05, stats.norm.cdf).pvalue < 1e-6  # control: not cut
    network = make_conv_classifier(jax.random.key(0), 4, 3, 0.05, image_side=8)
    assert not np.any(network.head.bias)
    assert not np.any(network.output.bias)
