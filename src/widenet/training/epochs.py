"""Passes over weighted samples: SGD with mini-batches, one small compiled program per shape, called once per pass.

`ensemble` compiles dozens of programs before its first step, which pays where training is long. Here only the pass is
compiled: starts and orders are drawn in NumPy, step sizes and slopes are arguments of the program, and the number of
samples is rounded up, so that the folds of a cross-validation share one program.
"""

import functools
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from widenet.losses import OF_SIGNS, Loss
from widenet.networks.two_layer import EXACT
from widenet.training.engine.memory import cores
from widenet.types import Layers

PIECES = 16
"""Numbers of samples are rounded up to a multiple of a sixteenth of a power of two: by 6 % at most, to few shapes."""
SMALL_BYTES = 16 << 10
"""On a CPU, runs of fewer bytes than this are trained side by side in one program; larger ones each in a thread."""


class NetworkWeights(NamedTuple):
    """Two-layer networks, runs first, with a row of output weights for each output.

    Attributes:
      hidden, output, bias: W, A and b; b is None for networks without biases.
    """

    hidden: Float[Array | np.ndarray, "run neuron dim"]
    output: Float[Array | np.ndarray, "run output neuron"]
    bias: Float[Array | np.ndarray, "run neuron"] | None

    def of(self, runs: slice) -> "NetworkWeights":
        """Some runs."""
        return NetworkWeights(self.hidden[runs], self.output[runs], None if self.bias is None else self.bias[runs])

    @property
    def n_bytes(self) -> int:
        """Of one run."""
        return sum(leaf.nbytes for leaf in self if leaf is not None) // len(self.hidden)


@dataclass(frozen=True)
class WeightedPasses:
    """How networks are trained.

    Attributes:
      loss: of `widenet.losses`.
      step_size: η. A step subtracts η times the mean of weight times gradient over the batch.
      batch_size: samples per step; the last batch of a pass may have fewer.
      slope: α of the activation. Its derivative at 0 is 1, and 0 for ReLU, where α is 0.
      layers: which layers move.
    """

    loss: Loss
    step_size: float
    batch_size: int
    slope: float
    layers: Layers

    def train(
        self,
        start: NetworkWeights,
        inputs: Float[np.ndarray, "sample dim"],
        labels: Int[np.ndarray, " sample"],
        weights: Float[np.ndarray, " sample"],
        orders: Iterable[Int[np.ndarray, "run position"]],
    ) -> Iterator[tuple[NetworkWeights, Float[np.ndarray, " run"]]]:
        """For each order: the networks after one pass, and the weighted sum of the losses that its steps saw.

        An order may name a sample several times; all orders of a call have one length.
        """
        n_runs, dtype = len(start.hidden), start.hidden.dtype
        length = rounded_up(len(labels))
        numbers = np.array([self.step_size, self.slope, self.slope > 0], dtype)
        # One sample more, of weight 0, fills up the batches.
        samples = tuple(_longer(values.astype(dtype), length + 1) for values in (inputs, labels, weights))
        together = jax.default_backend() != "cpu" or start.n_bytes < SMALL_BYTES
        pieces = [slice(None)] if together else [slice(run, run + 1) for run in range(n_runs)]
        parts = [start.of(piece) for piece in pieces]
        program = _program(self.loss, self.layers)
        with ThreadPoolExecutor(min(cores(), len(pieces))) as pool:
            for order in orders:
                positions = rounded_up(order.shape[1])
                batch = min(self.batch_size, positions)
                steps = -(-positions // batch)
                filled = np.full((n_runs, steps * batch), length, np.int32)
                filled[:, : order.shape[1]] = order
                batches = filled.reshape(n_runs, steps, batch)
                calls = [(part, samples, batches[piece], numbers) for part, piece in zip(parts, pieces, strict=True)]
                done = list(pool.map(lambda call: jax.block_until_ready(program(*call)), calls))
                parts = [part for part, _ in done]
                yield _joined(parts), np.concatenate([np.asarray(losses, np.float64) for _, losses in done])


def rounded_up(size: int) -> int:
    """The next number of samples that has a program of its own."""
    piece = max(1, (1 << (size.bit_length() - 1)) // PIECES)
    return -(-size // piece) * piece


def _longer(values: np.ndarray, length: int) -> np.ndarray:
    filled = np.zeros((length, *values.shape[1:]), values.dtype)
    filled[: len(values)] = values
    return filled


def _joined(parts: list[NetworkWeights]) -> NetworkWeights:
    if len(parts) == 1:
        return parts[0]
    biases = [part.bias for part in parts if part.bias is not None]
    hidden, output = np.concatenate([part.hidden for part in parts]), np.concatenate([part.output for part in parts])
    return NetworkWeights(hidden, output, np.concatenate(biases) if biases else None)


@functools.cache
def _program(loss: Loss, layers: Layers) -> Callable[..., tuple[NetworkWeights, Array]]:
    return jax.jit(jax.vmap(functools.partial(_pass, loss, layers), in_axes=(0, None, 0, None)))


def _pass(
    loss: Loss,
    layers: Layers,
    network: NetworkWeights,
    samples: tuple[Array, Array, Array],
    batches: Int[Array, "step batch"],
    numbers: Float[Array, "3"],
) -> tuple[NetworkWeights, Float[Array, ""]]:
    """One network over the samples. Only the loss is differentiated; the rest of the gradient is written out, which
    takes a fraction of the time to compile."""
    inputs, labels, weights = samples
    step_size, slope, at_zero = numbers

    def step(network: NetworkWeights, rows: Int[Array, " batch"]) -> tuple[NetworkWeights, Float[Array, ""]]:
        x, y, weight = inputs[rows], labels[rows], weights[rows]
        z = jnp.dot(x, network.hidden.T, precision=EXACT)
        z = z if network.bias is None else z + network.bias[None]
        derivative = jnp.where(z > 0, jnp.ones((), z.dtype), jnp.where(z < 0, slope, at_zero))
        active = z * derivative
        outputs = jnp.dot(active, network.output.T, precision=EXACT)

        def total(outputs: Array) -> Float[Array, ""]:
            return jnp.sum(weight * loss(outputs[:, 0] if loss in OF_SIGNS else outputs, y))

        lost, pulls = jax.value_and_grad(total)(outputs)
        rate = step_size / jnp.maximum(jnp.sum(rows < len(labels) - 1), 1).astype(z.dtype)
        back = jnp.dot(pulls, network.output, precision=EXACT) * derivative
        hidden = network.hidden - rate * jnp.dot(back.T, x, precision=EXACT)
        bias = None if network.bias is None else network.bias - rate * jnp.sum(back, axis=0)
        moves = layers is Layers.BOTH
        output = network.output - rate * jnp.dot(pulls.T, active, precision=EXACT) if moves else network.output
        return NetworkWeights(hidden, output, bias), lost

    network, losses = jax.lax.scan(step, network, batches)
    return network, jnp.sum(losses)
