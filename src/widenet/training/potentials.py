"""The potentials of a proof, followed by scalars: the norm of the weights and their inner product with a direction.

An update is W ← W + Σ_b c_b x_bᵀ, and the kernels know h_b = W x_b. So what it adds to the square G² = ‖W‖² is
2 Σ_b ⟨c_b, h_b⟩ + Σ_{b,b'} ⟨x_b, x_b'⟩⟨c_b, c_b'⟩, and to the alignment F = ⟨W, W*⟩ with W* = u w*ᵀ it adds
Σ_b ⟨u, c_b⟩⟨w*, x_b⟩. No kernel has to form W for that. A bias is one more coordinate with input 1.
"""

import abc
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PyTree

from widenet.networks.two_layer import EXACT, TwoLayer
from widenet.training.record import Step


class Move(eqx.Module):
    """One non-zero update as a `PotentialWatch` sees it.

    Attributes:
      square, alignment: G² and F after the update.
      square_gain, alignment_gain: what the update added to them.
      labels, outputs: of the sampled batch, before the update.
      output_weights: after the update.
      number: the step count after it, from 1.
    """

    square: Float[Array, ""]
    alignment: Float[Array, ""]
    square_gain: Float[Array, ""]
    alignment_gain: Float[Array, ""]
    labels: Float[Array, " batch"]
    outputs: Float[Array, " batch *output"]
    output_weights: Float[Array, "*output neuron"]
    number: Int[Array, ""]


class PotentialWatch(eqx.Module):
    """A `Watch` that follows G² = ‖W‖² and F = ⟨W, u w*ᵀ⟩ and is told of every non-zero update, in any kernel.

    Write `begin` and `fold`. Array fields have a leading run axis.

    Attributes:
      votes: u, one number per neuron (+1 and −1 in brutzkus2018).
      direction: w*.
      shift: the entry of w* that meets the biases; None counts as 0.
    """

    votes: Float[Array, "*run neuron"]
    direction: Float[Array, "*run dim"]
    shift: Float[Array, "*run"] | None = eqx.field(default=None, kw_only=True)

    @abc.abstractmethod
    def begin(self, square: Float[Array, ""], alignment: Float[Array, ""]) -> PyTree:
        """The value before training, from G² and F of the first weights."""

    @abc.abstractmethod
    def fold(self, value: PyTree, move: Move) -> PyTree:
        """The value after one more non-zero update."""

    def start(self, network: TwoLayer) -> PyTree:
        """The value before training."""
        return self.begin(*self.of(network))

    def update(self, value: PyTree, step: Step) -> PyTree:
        """The value after one more step, from the weights on both sides of it: what the scalars are tested against."""
        (square, alignment), before = self.of(step.after), self.of(step.before)
        gains = square - before[0], alignment - before[1]
        output_weights = step.after.output_weights
        move = Move(square, alignment, *gains, step.labels, step.outputs, output_weights, step.number)
        return _where(step.is_update, self.fold(value, move), value)

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


class Followed(eqx.Module):
    """Inside a kernel: the watch's value, and the two scalars that travel with it."""

    value: PyTree
    square: Float[Array, ""]
    alignment: Float[Array, ""]

    def after(
        self,
        watch: PotentialWatch,
        coefficients: Float[Array, "batch neuron"],
        hidden: Float[Array, "batch neuron"],
        products: Float[Array, "batch batch"],
        projections: Float[Array, " batch"],
        seen: tuple[Array, Array, Array, Array],
        happens: Array,
    ) -> "Followed":
        """After one step; `seen` is (labels, outputs, output weights, number), `happens` whether it is an update."""
        own = jnp.dot(coefficients, coefficients.T, precision=EXACT)
        square_gain = 2 * jnp.sum(coefficients * hidden) + jnp.sum(products * own)
        alignment_gain = jnp.dot(jnp.dot(coefficients, watch.votes, precision=EXACT), projections, precision=EXACT)
        square, alignment = self.square + square_gain, self.alignment + alignment_gain
        move = Move(square, alignment, square_gain, alignment_gain, *seen)
        return _where(happens, Followed(watch.fold(self.value, move), square, alignment), self)


class Extremes(PotentialWatch):
    """G² and F at the end, the extremes of what single updates added to them, and of the margins y N(x) they met."""

    def begin(self, square: Float[Array, ""], alignment: Float[Array, ""]) -> dict[str, Array]:
        """No update yet: the extremes are infinite."""
        high, low = jnp.full_like(square, jnp.inf), jnp.full_like(square, -jnp.inf)
        return {
            "square": square,
            "alignment": alignment,
            "smallest_square_gain": high,
            "largest_square_gain": low,
            "smallest_alignment_gain": high,
            "largest_alignment_gain": low,
            "smallest_margin": high,
            "largest_margin": low,
        }

    def fold(self, value: dict[str, Array], move: Move) -> dict[str, Array]:
        """One more update. A NaN stays a NaN, so no bound is passed by a run that blew up."""
        margins = move.labels * move.outputs
        return {
            "square": move.square,
            "alignment": move.alignment,
            "smallest_square_gain": jnp.minimum(value["smallest_square_gain"], move.square_gain),
            "largest_square_gain": jnp.maximum(value["largest_square_gain"], move.square_gain),
            "smallest_alignment_gain": jnp.minimum(value["smallest_alignment_gain"], move.alignment_gain),
            "largest_alignment_gain": jnp.maximum(value["largest_alignment_gain"], move.alignment_gain),
            "smallest_margin": jnp.minimum(value["smallest_margin"], jnp.min(margins)),
            "largest_margin": jnp.maximum(value["largest_margin"], jnp.max(margins)),
        }


def followed(watch: Any, network: TwoLayer, value: PyTree) -> PyTree:
    """What a kernel carries for this watch: with a `PotentialWatch`, the scalars of these weights beside the value."""
    return Followed(value, *watch.of(network)) if isinstance(watch, PotentialWatch) else value


def value_of(watched: PyTree) -> PyTree:
    """What is left of `followed` when the kernel is done."""
    return watched.value if isinstance(watched, Followed) else watched


def _where(condition: Array, yes: PyTree, no: PyTree) -> PyTree:
    return jax.tree.map(lambda new, old: jnp.where(condition, new, old), yes, no)
