"""The convolutional network of brutzkus2019, written for one input; `jax.vmap` makes it a batch."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from widenet.bits import gaussians, rounded, uniforms
from widenet.networks.activations import relu
from widenet.networks.two_layer import EXACT, plus_minus
from widenet.types import Layers, RunKey


class ConvMaxPool(eqx.Module):
    """N(x) = Σ_j a_j max_i σ(⟨w_j, x_i⟩) over the patches x_i of x, with σ = ReLU and no bias.

    Conventions where the derivative is not unique: σ'(0) = 0. Where several patches attain the maximum, the one with
    the largest first coordinate counts, then the largest second, and so on. So output and derivative depend on the set
    of patches alone, not on their order or multiplicity. (Automatic differentiation of `max` would share the derivative
    among tied patches by multiplicity.)

    Attributes:
      filters: w_j, one row per channel (the paper's w's, then its u's).
      output_weights: a_j, +1 for the first half and −1 for the second; never trained in the paper.
    """

    filters: Float[Array, "*run channel patch_dim"]
    output_weights: Float[Array, "*run channel"]

    @property
    def n_channels(self) -> int:
        """The number of filters (2k)."""
        return self.output_weights.shape[-1]

    def responses(self, x: Float[Array, " dim"]) -> Float[Array, " channel"]:
        """max_i σ(⟨w_j, x_i⟩) for each filter; x is the patches one after the other."""
        patches = _in_order(x.reshape(-1, self.filters.shape[-1]))
        fits = jnp.dot(self.filters, patches.T, precision=EXACT)
        # Of equal fits, `argmax` takes the first; the choice is constant around any point without ties.
        winner = jax.lax.stop_gradient(jnp.argmax(fits, axis=-1))
        return relu()(jnp.take_along_axis(fits, winner[:, None], axis=-1)[:, 0])

    def __call__(self, x: Float[Array, " dim"]) -> Float[Array, ""]:
        """N(x)."""
        return jnp.dot(self.output_weights, self.responses(x), precision=EXACT)

    def trainable(self, layers: Layers) -> "ConvMaxPool":
        """The same tree with True at the leaves that training moves (for `equinox.partition`)."""
        marks = (True, layers is Layers.BOTH)
        return eqx.tree_at(lambda net: (net.filters, net.output_weights), self, marks)


def _in_order(patches: Float[Array, "patch patch_dim"]) -> Float[Array, "patch patch_dim"]:
    """Largest first coordinate first; among equals the largest second, and so on."""
    return patches[jnp.lexsort(-patches.T[::-1])]


def make_conv_maxpool(key: RunKey, n_channels: int, scale: float | Float[Array, ""]) -> ConvMaxPool:
    """Filters of the plane with independent N(0, scale²) entries (σ_g) and a ±1 second layer.

    They are the same bits in any batch.
    """
    drawn, zero = uniforms(key, (n_channels, 2))
    filters = rounded(gaussians(drawn) * scale, zero)
    return ConvMaxPool(filters.astype(jnp.float64), plus_minus(n_channels, 1.0))
