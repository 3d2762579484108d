"""Two-layer networks in NumPy, where compiling takes longer than running: output weights ±v, and the Leaky ReLU."""

import numpy as np
from jaxtyping import Float


def plus_minus_weights(half_width: int, output_weight: float = 1.0) -> Float[np.ndarray, " neuron"]:
    """(+v, …, +v, −v, …, −v)."""
    return output_weight * np.repeat([1.0, -1.0], half_width)


def leaky(z: np.ndarray, slope: float | np.ndarray) -> np.ndarray:
    """σ: z where it is positive, αz elsewhere."""
    return np.where(z > 0, z, slope * z)
