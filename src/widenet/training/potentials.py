"""The potentials of a proof, followed by scalars: the norm of the weights and their inner product with a direction.

An update is W ← W + Σ_b c_b x_bᵀ, and the kernels know h_b = W x_b. So what it adds to the square G² = ‖W‖² is
2 Σ_b ⟨c_b, h_b⟩ + Σ_{b,b'} ⟨x_b, x_b'⟩⟨c_b, c_b'⟩, and to the alignment F = ⟨W, W*⟩ with W* = u w*ᵀ it adds
Σ_b ⟨u, c_b⟩⟨w*, x_b⟩. No kernel has to form W for that. A bias is one more coordinate with input 1.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from widenet.networks.two_layer import EXACT, TwoLayer


class Move(eqx.Module):
    """One non-zero update, as the inequalities on `Potentials` see it.

    Attributes:
      square, alignment: G² and F after the update.
      square_gain, alignment_gain: what the update added to them.
      labels, outputs: of the batch, before the update.
      output_weights: after the update.
      updates: how many non-zero updates there were, this one included.
      number: the step count after it, from 1.
    """

    square: Float[Array, ""]
    alignment: Float[Array, ""]
    square_gain: Float[Array, ""]
    alignment_gain: Float[Array, ""]
    labels: Float[Array, " batch"]
    outputs: Float[Array, " batch *output"]
    output_weights: Float[Array, "*output neuron"]
    updates: Int[Array, ""]
    number: Int[Array, ""]


class Potentials(eqx.Module):
    """G² = ‖W‖² and F = ⟨W, u w*ᵀ⟩ of a two-layer network. Every array has a leading run axis in an ensemble.

    Attributes:
      votes: u, one number per neuron (+1 and −1 in brutzkus2018).
      direction: w*.
      shift: the entry of w* that meets the biases; None counts as 0.
    """

    votes: Float[Array, "*run neuron"]
    direction: Float[Array, "*run dim"]
    shift: Float[Array, "*run"] | None = eqx.field(default=None, kw_only=True)

    def of(self, network: TwoLayer) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """(G², F) of one network."""
        square = jnp.sum(network.hidden_weights**2)
        alignment = jnp.dot(self.votes, self.along(network.hidden_weights), precision=EXACT)
        if network.bias is None:
            return square, alignment
        square = square + jnp.sum(network.bias**2)
        return square, alignment if self.shift is None else alignment + self.shift * jnp.dot(self.votes, network.bias)

    def along(self, rows: Float[Array, "row dim"]) -> Float[Array, " row"]:
        """⟨w*, ·⟩ of every row, the entry for the biases left out."""
        return jnp.dot(rows, self.direction, precision=EXACT)

    def projections(self, inputs: Float[Array, "sample dim"], has_bias: bool) -> Float[Array, " sample"]:
        """⟨w*, x⟩ of every sample."""
        along = self.along(inputs)
        return along + self.shift if has_bias and self.shift is not None else along

    def gains(
        self,
        coefficients: Float[Array, "batch neuron"],
        hidden: Float[Array, "batch neuron"],
        products: Float[Array, "batch batch"],
        projections: Float[Array, " batch"],
    ) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """What a step adds to (G², F), from what the kernels know of it."""
        own = jnp.dot(coefficients, coefficients.T, precision=EXACT)
        square = 2 * jnp.sum(coefficients * hidden) + jnp.sum(products * own)
        return square, jnp.dot(jnp.dot(coefficients, self.votes, precision=EXACT), projections, precision=EXACT)
