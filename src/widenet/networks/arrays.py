"""Two-layer networks in NumPy, where compiling takes longer than running: output weights ±v, and the Leaky ReLU."""

import numpy as np
from jaxtyping import Float

BLOCK = 1 << 22
"""Pre-activations that are held at a time."""


def plus_minus_weights(half_width: int, output_weight: float = 1.0) -> Float[np.ndarray, " neuron"]:
    """(+v, …, +v, −v, …, −v)."""
    return output_weight * np.repeat([1.0, -1.0], half_width)


def leaky(z: np.ndarray, slope: float | np.ndarray) -> np.ndarray:
    """σ: z where it is positive, αz elsewhere."""
    return np.where(z > 0, z, slope * z)


def outputs_of(
    hidden: Float[np.ndarray, "neuron dim"],
    output: Float[np.ndarray, "*output neuron"],
    inputs: Float[np.ndarray, "sample dim"],
    slope: float,
    bias: Float[np.ndarray, " neuron"] | None = None,
) -> Float[np.ndarray, " sample *output"]:
    """N(x) of one network for every row of `inputs`."""
    z = inputs @ hidden.T
    return leaky(z if bias is None else z + bias, slope) @ output.T


def outputs_by_blocks(
    hidden: Float[np.ndarray, "neuron dim"],
    output: Float[np.ndarray, "*output neuron"],
    inputs: Float[np.ndarray, "sample dim"],
    slope: float,
    bias: Float[np.ndarray, " neuron"] | None = None,
) -> Float[np.ndarray, " sample *output"]:
    """The same, some samples at a time."""
    size = max(1, BLOCK // len(hidden))
    blocks = (inputs[first : first + size] for first in range(0, max(len(inputs), 1), size))
    return np.concatenate([outputs_of(hidden, output, block, slope, bias) for block in blocks])
