"""Two-layer networks in NumPy, one per run, and what a sample adds to them.

Everything here runs on one thread: a library that wakes its threads for each of these small products takes ten times
as long, and a hundred times on a busy machine.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import scipy.special
from jaxtyping import Bool, Float

from widenet.losses import Loss, hinge, logistic
from widenet.types import Layers

EPSILON = float(np.finfo(np.float64).eps)
BLURRED = 1e-3
"""Outputs whose rounding error exceeds this could carry a margin across 1."""
ONE_THREAD, FEWEST = 2**18, 16
"""Products are cut into pieces of at most so many multiplications, which the library leaves to one thread; not where a
piece would have fewer samples than this."""
SMALL = 2**13
"""A matrix of at most so many entries is multiplied with a vector by the library on one thread."""

Inputs = Float[np.ndarray, "sample dim"] | Float[np.ndarray, "run sample dim"]
"""The same points for all runs, or points of each run's own."""
PerRun = float | Float[np.ndarray, " run"]


def _hinge_pull(margins: np.ndarray) -> np.ndarray:
    return 1.0 * (margins < 1)


def _logistic_pull(margins: np.ndarray) -> np.ndarray:
    return scipy.special.expit(-margins)


PULLS: dict[Loss, Callable[[np.ndarray], np.ndarray]] = {hinge: _hinge_pull, logistic: _logistic_pull}
"""−ℓ'(yN(x)) as a function of yN(x): how much a sample pulls; 0 for the hinge where yN(x) = 1 exactly."""


@dataclass(frozen=True, eq=False)
class Increment:
    """What one sample of each run adds.

    Attributes:
      margins: y N(x) before.
      coefficients: c; row r of W gains c_r x, and b_r gains c_r where there are biases.
      outputs: what a gains; None where the second layer stays.
    """

    margins: Float[np.ndarray, " run"]
    coefficients: Float[np.ndarray, "run neuron"]
    outputs: Float[np.ndarray, "run neuron"] | None

    @property
    def moves(self) -> Bool[np.ndarray, " run"]:
        """Whether a weight changes (where x is not 0)."""
        moves = (self.coefficients != 0).any(axis=1)
        return moves if self.outputs is None else moves | (self.outputs != 0).any(axis=1)

    def of(self, runs: np.ndarray) -> "Increment":
        """The same for some runs."""
        outputs = None if self.outputs is None else self.outputs[runs]
        return Increment(self.margins[runs], self.coefficients[runs], outputs)


@dataclass(frozen=True, eq=False)
class SmallNetworks:
    """N(x) = Σ_r a_r σ(⟨w_r, x⟩ + b_r) for every run, with σ(z) = z for z > 0 and αz below.

    Attributes:
      hidden, output, bias: W, a and b; no biases where it is None.
      slope: α; 0 for ReLU.
      at_zero: σ'(0).
    """

    hidden: Float[np.ndarray, "run neuron dim"]
    output: Float[np.ndarray, "run neuron"]
    slope: PerRun = 0.0
    at_zero: PerRun = 0.0
    bias: Float[np.ndarray, "run neuron"] | None = None
    slopes: Float[np.ndarray, " run"] = field(init=False, repr=False)
    at_zeros: Float[np.ndarray, " run"] = field(init=False, repr=False)
    is_convex: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """One slope and one derivative at 0 for each run."""
        for name, values in (("slopes", self.slope), ("at_zeros", self.at_zero)):
            object.__setattr__(self, name, np.broadcast_to(np.asarray(values, np.float64), (len(self.hidden),)))
        object.__setattr__(self, "is_convex", bool((self.slopes <= 1).all()))

    def __len__(self) -> int:
        """The number of runs."""
        return len(self.hidden)

    def of(self, runs: np.ndarray) -> "SmallNetworks":
        """The networks of some runs."""
        bias = None if self.bias is None else self.bias[runs]
        return SmallNetworks(self.hidden[runs], self.output[runs], self.slopes[runs], self.at_zeros[runs], bias)

    def preactivations(self, inputs: Inputs) -> Float[np.ndarray, "run sample neuron"]:
        """⟨w_r, x⟩ + b_r."""
        return self._in_blocks(inputs, self._preactivations)

    def _preactivations(self, inputs: Inputs) -> Float[np.ndarray, "run sample neuron"]:
        z = inputs @ self.hidden.transpose(0, 2, 1)
        return z if self.bias is None else z + self.bias[:, None, :]

    def activation(self, z: Float[np.ndarray, " run *rest"], room: np.ndarray | None = None) -> np.ndarray:
        """σ(z), written into `room` where there is some."""
        below = np.multiply(_beside(self.slopes, z), z, out=room)
        return np.maximum(z, below, out=room) if self.is_convex else np.where(z > 0, z, below)

    def derivative(self, z: Float[np.ndarray, " run *rest"]) -> Float[np.ndarray, " run *rest"]:
        """σ'(z), with the stated value exactly at 0."""
        return np.where(z > 0, 1.0, np.where(z == 0, _beside(self.at_zeros, z), _beside(self.slopes, z)))

    def readout(
        self, z: Float[np.ndarray, "run sample neuron"], room: np.ndarray | None = None
    ) -> Float[np.ndarray, "run sample"]:
        """The outputs as a function of the pre-activations."""
        return times(self.activation(z, room), self.output)

    def outputs(self, inputs: Inputs) -> Float[np.ndarray, "run sample"]:
        """N(x) of every point."""
        return self._in_blocks(inputs, lambda block: self.readout(self._preactivations(block)))

    def movable(self, z: Float[np.ndarray, "run sample neuron"], layers: Layers) -> Bool[np.ndarray, "run sample"]:
        """Where an active sample would change a weight, if it is not the origin."""
        if not self.slopes.any() and not self.at_zeros.any():  # σ(z) = 0 where σ'(z) = 0: one product tells
            answers = (self.output != 0).astype(np.float64) if layers is Layers.HIDDEN else np.ones_like(self.output)
            return times(np.maximum(z, 0.0), answers) > 0
        moves = (self.derivative(z) * self.output[:, None, :] != 0).any(axis=2)
        return moves if layers is Layers.HIDDEN else moves | (self.activation(z) != 0).any(axis=2)

    def increment(
        self,
        inputs: Float[np.ndarray, "run dim"],
        labels: Float[np.ndarray, " run"],
        step_size: PerRun,
        loss: Loss = hinge,
        layers: Layers = Layers.HIDDEN,
    ) -> Increment:
        """What one sample of each run adds, computed from it alone: the same bits whatever else is trained."""
        z = times(self.hidden, inputs)
        if self.bias is not None:
            z = z + self.bias
        active = self.activation(z)
        margins = labels * np.einsum("rn,rn->r", self.output, active)
        rate = (step_size * labels * PULLS[loss](margins))[:, None]
        gains = rate * active if layers is Layers.BOTH else None
        return Increment(margins, rate * (self.output * self.derivative(z)), gains)

    def add(self, inputs: Float[np.ndarray, "run dim"], increment: Increment) -> None:
        """Take the step, in place."""
        self.hidden[...] += increment.coefficients[:, :, None] * inputs[:, None, :]
        if increment.outputs is not None:
            self.output[...] += increment.outputs
        if self.bias is not None:
            self.bias[...] += increment.coefficients

    def _in_blocks(self, inputs: Inputs, see: Callable[[Inputs], np.ndarray]) -> np.ndarray:
        """What is seen of all samples, some at a time."""
        size, n_samples = ONE_THREAD // max(1, self.hidden[:1].size), inputs.shape[-2]
        if size < FEWEST or n_samples <= size:
            return see(inputs)
        blocks = (inputs[..., first : first + size, :] for first in range(0, n_samples, size))
        return np.concatenate([see(block) for block in blocks], axis=1)

    def copy(self) -> "SmallNetworks":
        """Networks whose weights can move without moving these."""
        bias = None if self.bias is None else self.bias.astype(np.float64)
        hidden, output = self.hidden.astype(np.float64), self.output.astype(np.float64)
        return dataclasses.replace(self, hidden=hidden, output=output, bias=bias)

    def blurred(self, inputs: Inputs) -> Bool[np.ndarray, " run"]:
        """Whether the outputs are so large that rounding alone could carry a margin across 1; so is a NaN."""
        rows = np.linalg.norm(self.hidden, axis=2)
        bias = 0.0 if self.bias is None else np.abs(self.bias)
        largest = np.linalg.norm(inputs, axis=-1).max(axis=-1, initial=0.0)
        size = np.abs(self.output).sum(axis=1) * (rows * np.reshape(largest, (-1, 1)) + bias).max(axis=1)
        return ~(size * EPSILON < BLURRED)


def times(
    rows: Float[np.ndarray, "run row column"], vectors: Float[np.ndarray, "run column"]
) -> Float[np.ndarray, "run row"]:
    """A matrix times a vector, for every run."""
    if rows.shape[1] * rows.shape[2] <= SMALL:
        return (rows @ vectors[:, :, None])[:, :, 0]
    return np.einsum("rij,rj->ri", rows, vectors)


def _beside(values: Float[np.ndarray, " run"], z: Float[np.ndarray, " run *rest"]) -> Float[np.ndarray, " run *ones"]:
    return values.reshape(-1, *(1,) * (z.ndim - 1))
