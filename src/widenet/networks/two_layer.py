"""The two-layer network, written for one input; `jax.vmap` makes it a batch."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from widenet.bits import gaussians, ordered_norm, rounded, uniforms
from widenet.networks.activations import Activation, as_activation
from widenet.types import Layers, RunKey, require_count, require_float, require_key

EXACT = jax.lax.Precision.HIGHEST
"""True float32 products: the default on recent GPUs keeps three digits."""


class TwoLayer(eqx.Module):
    """N(x) = Σ_r a_r σ(⟨w_r, x⟩ + b_r), one number or, with one row of output weights per class, several.

    Attributes:
      hidden_weights: W, one row per neuron.
      output_weights: a, the second layer (the paper's ±v), or A, one row per output.
      bias: b, or None for a network without biases.
      activation: σ with its derivative at 0. A function of your own, such as `jnp.tanh`, becomes an `Elementwise`.
    """

    hidden_weights: Float[Array, "*run neuron dim"]
    output_weights: Float[Array, "*run neuron"] | Float[Array, "*run output neuron"]
    bias: Float[Array, "*run neuron"] | None
    activation: Activation = eqx.field(converter=as_activation)

    @property
    def n_neurons(self) -> int:
        """The number of hidden units (2k where half of them vote plus and half minus)."""
        return self.output_weights.shape[-1]

    @property
    def n_outputs(self) -> int | None:
        """The number of outputs of a network with an output axis, None for one whose output is a number."""
        return self.output_weights.shape[-2] if self.output_weights.ndim == self.hidden_weights.ndim else None

    def preactivations(self, x: Float[Array, " dim"]) -> Float[Array, " neuron"]:
        """⟨w_r, x⟩ + b_r."""
        z = jnp.dot(self.hidden_weights, x, precision=EXACT)
        return z if self.bias is None else z + self.bias

    def readout(self, z: Float[Array, " neuron"]) -> Float[Array, "*output"]:
        """The output as a function of the pre-activations alone."""
        return jnp.dot(self.output_weights, self.activation(z), precision=EXACT)

    def __call__(self, x: Float[Array, " dim"]) -> Float[Array, "*output"]:
        """N(x)."""
        return self.readout(self.preactivations(x))

    def trainable(self, layers: Layers) -> "TwoLayer":
        """The same tree with True at the leaves that training moves (for `equinox.partition`)."""
        frozen = jax.tree.map(lambda _: False, self)
        return eqx.tree_at(
            lambda net: (net.hidden_weights, net.output_weights, net.bias),
            frozen,
            (True, layers is Layers.BOTH, None if self.bias is None else True),
            is_leaf=lambda leaf: leaf is None,
        )


def plus_minus(n_neurons: int, output_weight: float | Float[Array, ""], dtype=jnp.float64) -> Float[Array, " neuron"]:
    """(+v, …, +v, −v, …, −v): the first half votes plus, the second minus."""
    if n_neurons % 2:
        raise ValueError(f"a ±v output layer needs an even number of neurons, got {n_neurons}")
    half = jnp.full(n_neurons // 2, output_weight, dtype)
    return jnp.concatenate([half, -half])


def sphere_rows(
    key: RunKey, n_neurons: int, dim: int, radius: float | Float[Array, ""], dtype=jnp.float64
) -> Float[Array, "neuron dim"]:
    """Rows uniform on the sphere of this radius (R), the same bits in any batch; drawn in float64, then rounded.

    Drawing in the target dtype would make a float32 run start elsewhere than its float64 oracle.
    """
    drawn, zero = uniforms(key, (n_neurons, dim))
    rows = gaussians(drawn)
    return (rows * rounded(radius / ordered_norm(rows, zero), zero)[:, None]).astype(dtype)


def make_two_layer(
    key: RunKey,
    n_neurons: int,
    dim: int,
    activation: Activation | Callable[[Array], Array],
    *,
    radius: float | None = None,
    output_weight: float | None = None,
    bias: bool = False,
    n_outputs: int | None = None,
    dtype=jnp.float64,
) -> TwoLayer:
    """A ±v network with rows on a sphere; radius and v default to 1/√(neurons) (R = v = 1/√(2k)).

    A bias starts at 0, inside any bound on the rows. With several outputs each neuron votes for or against each of them
    by a fair coin.
    """
    for name, size in (("n_neurons", n_neurons), ("dim", dim)):
        require_count(name, size)
    require_key(key)
    require_float(dtype)
    scale = n_neurons**-0.5
    vote = scale if output_weight is None else output_weight
    if n_outputs is None:
        votes = plus_minus(n_neurons, vote, dtype)
    else:
        votes = jnp.where(jax.random.bernoulli(jax.random.fold_in(key, 1), 0.5, (n_outputs, n_neurons)), vote, -vote)
    return TwoLayer(
        sphere_rows(key, n_neurons, dim, scale if radius is None else radius, dtype),
        votes.astype(dtype),
        jnp.zeros(n_neurons, dtype) if bias else None,
        activation,
    )
