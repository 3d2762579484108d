"""The convolutional classifier of brutzkus2019's MNIST figures, written for one image; `jax.vmap` makes it a batch.

Two forms compute the same function of the same weights. Calling the network runs equinox's convolution and pooling,
layer by layer as the paper describes them. `on_patches` takes one matrix product of patches that were cut before: a
convolution whose kernel differs from run to run is slow on every device, a matrix product is not.
"""

import functools
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from widenet.bits import gaussians, rounded, uniforms
from widenet.networks.activations import relu
from widenet.networks.two_layer import EXACT
from widenet.types import Layers, RunKey

IMAGE_SIDE = 28
N_CLASSES = 10
POOL = 2
CUT = 2.0
"""A truncated normal number lies within this many standard deviations (before the cut) of 0."""


class PooledHead(eqx.Module):
    """What follows the filters: bias, ReLU, fully connected layer. Its input is the pooled response of each filter.

    Attributes:
      bias: one per channel. Pooling takes a maximum and the bias is the same at every place, so it may come after.
      output: from all channels and places to the classes.
    """

    bias: Float[Array, "*run channel"]
    output: eqx.nn.Linear

    def __call__(self, responses: Float[Array, "channel place"]) -> Float[Array, " class"]:
        """One output per class."""
        hidden = relu()(responses + self.bias[:, None])
        with jax.default_matmul_precision("highest"):
            return self.output(hidden.ravel())


class ConvClassifier(eqx.Module):
    """Convolution q × q with bias, ReLU, 2 × 2 max pooling, fully connected layer to one output per class.

    Stride 1, no padding; a last row or column that fills no pooling window is left out. σ'(0) = 0 for the ReLU.
    """

    convolution: eqx.nn.Conv2d
    output: eqx.nn.Linear

    @property
    def filters(self) -> Float[Array, "*run channel pixel"]:
        """One row of q² weights per channel."""
        weight = self.convolution.weight
        return weight.reshape(*weight.shape[:-3], -1)

    @property
    def filter_side(self) -> int:
        """q."""
        return self.convolution.weight.shape[-1]

    @property
    def head(self) -> PooledHead:
        """Everything after the filters."""
        return PooledHead(self.bias, self.output)

    @property
    def bias(self) -> Float[Array, "*run channel"]:
        """One per channel.

        Raises:
          ValueError: the convolution has none.
        """
        if self.convolution.bias is None:
            raise ValueError("the convolution must have a bias; make_conv_classifier gives it one")
        return self.convolution.bias[..., 0, 0]

    def __call__(self, image: Float[Array, "row column"]) -> Float[Array, " class"]:
        """One output per class, layer by layer."""
        with jax.default_matmul_precision("highest"):
            hidden = eqx.nn.MaxPool2d(POOL, POOL)(relu()(self.convolution(image[None])))
            return self.output(hidden.ravel())

    def on_patches(self, patches: Float[Array, "window place pixel"]) -> Float[Array, " class"]:
        """The same outputs from the patches of an image: training on a few images looks at each of them many times."""
        return self.head(pooled_responses(self.filters, patches))


class OnFlat(eqx.Module):
    """A classifier on inputs that are laid out flat, one row per image, as a `Dataset` holds them. Every weight moves.

    Attributes:
      network: the classifier, or what follows its filters.
      shape: of one input.
      forward: what the network does with it; a plain function.
    """

    network: ConvClassifier | PooledHead
    shape: tuple[int, ...] = eqx.field(static=True)
    forward: Callable[..., Float[Array, " class"]] = eqx.field(static=True)

    def __call__(self, x: Float[Array, " dim"]) -> Float[Array, " class"]:
        """One output per class."""
        return self.forward(self.network, x.reshape(self.shape))

    def trainable(self, layers: Layers) -> "OnFlat":
        """The same tree with True at every weight."""
        return jax.tree.map(lambda _: True, self)


def pooled_responses(
    filters: Float[Array, "channel pixel"], patches: Float[Array, "window place pixel"]
) -> Float[Array, "channel place"]:
    """max over each pooling window of ⟨filter, patch⟩, without bias.

    Where patches tie (black ones do, all the time) they are equal, so it does not matter which one counts.
    """
    return jnp.einsum("cp,wsp->cws", filters, patches, precision=EXACT).max(axis=1)


def cut_patches(images: Float[np.ndarray, "sample row column"], filter_side: int) -> Float[np.ndarray, "..."]:
    """(sample, window, place, pixel): the patches of every image, as `patch_pixels` orders them."""
    return images.reshape(len(images), -1)[:, patch_pixels(filter_side, images.shape[-1])]


def patch_pixels(filter_side: int, image_side: int = IMAGE_SIDE) -> Int[np.ndarray, "window place pixel"]:
    """The flat index of every pixel of every patch, the four patches of a pooling window along the first axis."""
    pooled = (image_side - filter_side + 1) // POOL
    if pooled < 1:
        raise ValueError(f"a filter of side {filter_side} leaves nothing to pool in an image of side {image_side}")
    # Along one axis: pixel of the patch that starts at 2·place + offset.
    along = POOL * np.arange(pooled)[:, None] + np.arange(POOL)[None, :]
    along = along[:, :, None] + np.arange(filter_side)  # (place, offset, pixel)
    rows = along.transpose(1, 0, 2)[:, None, :, None, :, None]
    columns = along.transpose(1, 0, 2)[None, :, None, :, None, :]
    return (rows * image_side + columns).reshape(POOL**2, pooled**2, filter_side**2)


def make_conv_classifier(
    key: RunKey,
    n_channels: int,
    filter_side: int,
    scale: float | Float[Array, ""],
    *,
    image_side: int = IMAGE_SIDE,
    dtype=jnp.float32,
) -> ConvClassifier:
    """Weights from a normal law with this standard deviation, cut at two of them; biases 0.

    The draw belongs to the key: the same bits alone and in any batch.
    """
    pooled = (image_side - filter_side + 1) // POOL
    n_filter, n_output = n_channels * filter_side**2, N_CLASSES * n_channels * pooled**2
    drawn = truncated_normal(key, n_filter + n_output, scale).astype(dtype)
    # The layers would draw weights of their own: only their shapes are made.
    shapes = functools.partial(eqx.filter_eval_shape, dtype=dtype, key=key)
    convolution = shapes(eqx.nn.Conv2d, 1, n_channels, filter_side)
    output = shapes(eqx.nn.Linear, n_channels * pooled**2, N_CLASSES)
    replaced = drawn[:n_filter].reshape(n_channels, 1, filter_side, filter_side)
    convolution = eqx.tree_at(
        lambda layer: (layer.weight, layer.bias), convolution, (replaced, jnp.zeros((n_channels, 1, 1), dtype))
    )
    output = eqx.tree_at(
        lambda layer: (layer.weight, layer.bias),
        output,
        (drawn[n_filter:].reshape(N_CLASSES, -1), jnp.zeros(N_CLASSES, dtype)),
    )
    return ConvClassifier(convolution, output)


def truncated_normal(key: RunKey, size: int, scale: float | Float[Array, ""]) -> Float[Array, " size"]:
    """Normal numbers of this standard deviation that lie within two of them."""
    drawn, zero = uniforms(key, (size,))
    tail = jax.scipy.stats.norm.cdf(-CUT)
    inside = rounded(tail + rounded(drawn * (1 - 2 * tail), zero), zero)
    return rounded(gaussians(inside) * scale, zero)
