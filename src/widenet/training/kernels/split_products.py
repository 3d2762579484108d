"""Products of float32 numbers on tensor cores, for kernels written in Pallas.

Tensor cores have no float32 mode of full precision. Each operand is split into two float16
pieces after scaling by a power of two, and three of the four piece products are added in float32: x = x₁ + x₂ keeps
22 bits, and what is lost is below the rounding of a float32 sum. Power-of-two scales are exact; they are chosen
from bounds on the weights and coefficients, so nothing overflows, and an entry is represented to 2^-22 of itself
or 2^-34 of the largest one, whichever is more. Measured against float64 the weights come out closer than
step-by-step float32 does. In float64 (tests) the operands are used whole.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from widenet.networks.two_layer import EXACT
from widenet.types import Dataset

try:
    from jax.experimental.pallas import triton
except ImportError:  # a JAX that has dropped Triton
    triton: Any = None

WIDEST_SPREAD = 2.0**12
"""Ratio of the largest to the smallest column maximum up to which one scale for all inputs keeps float32's accuracy."""

int32, float32 = jnp.int32, jnp.float32


def has_tensor_cores() -> bool:
    """Whether this is an NVIDIA GPU with tensor cores."""
    if jax.default_backend() != "gpu":
        return False
    capability = str(getattr(jax.devices()[0], "compute_capability", "0"))
    return capability.replace(".", "").isdigit() and float(capability) >= 8


def spread(data: Dataset) -> float:
    """The largest column maximum over the smallest, columns of zeros left out."""
    return float(_spread_of(data.inputs))


@jax.jit
def _spread_of(inputs: Float[Array, "*run sample dim"]) -> Float[Array, ""]:
    columns = jnp.max(jnp.abs(inputs), axis=tuple(range(inputs.ndim - 1)))
    largest = jnp.max(columns)
    return jnp.where(largest > 0, largest / jnp.min(jnp.where(columns > 0, columns, jnp.inf)), 1)


def padded(size: int) -> int:
    """Triton's blocks have powers of two as sizes, its products at least 16 rows."""
    return max(16, 1 << (size - 1).bit_length())


def power_of_two(bound: Array) -> Array:
    """The power of two that brings `bound` just under 2^15, by its exponent bits; 1 where nothing is split."""
    if bound.dtype != float32:
        return jnp.ones_like(bound)
    exponent = jax.lax.bitcast_convert_type(jnp.maximum(bound, float32(1e-30)), int32) >> 23
    return jax.lax.bitcast_convert_type((int32(254 + 14) - exponent) << 23, float32)


def pieces_of(x: Array) -> tuple[Array, ...]:
    """x as a sum of float16 arrays (of itself, where it is not float32)."""
    if x.dtype != float32:
        return (x,)
    high = x.astype(jnp.float16)
    return high, (x - high.astype(float32)).astype(jnp.float16)


def scaled_pieces(inputs: Array, columns: int) -> tuple[tuple[Array, ...], Array]:
    """The inputs, filled up to whole tiles of so many columns, scaled and split; with their scale."""
    inputs = jnp.pad(inputs, ((0, 0), (0, -inputs.shape[1] % columns)))
    scale = power_of_two(jnp.max(jnp.abs(inputs)))
    if inputs.dtype != float32:
        return (inputs,), scale
    # `pieces_of` outside a kernel would be simplified away: XLA drops a rounding that is undone at once.
    high = jax.lax.reduce_precision(inputs * scale, exponent_bits=5, mantissa_bits=10)
    return (high.astype(jnp.float16), (inputs * scale - high).astype(jnp.float16)), scale


def product(left, right, contract: tuple[int, int], total: Array | None = None) -> Array:
    """The sum of all piece products but the smallest, in the precision of the whole; small ones first."""
    pairs = [(0, 0)] if len(left) == 1 else [(0, 1), (1, 0), (0, 0)]
    for i, j in pairs:
        dims = (((contract[0],), (contract[1],)), ((), ()))
        kind = float32 if len(left) > 1 else left[i].dtype
        part = jax.lax.dot_general(left[i], right[j], dims, precision=EXACT, preferred_element_type=kind)
        total = part if total is None else total + part
    return total  # type: ignore


def loaded(ref, place, exists) -> Array:
    """What is at this place of device memory, and 0 outside of it."""
    return triton.load(ref.at[place], mask=exists, other=0)  # type: ignore


def stored(ref, place, exists, value) -> None:
    """Write to this place of device memory, and nothing outside of it."""
    triton.store(ref.at[place], value, mask=exists)  # type: ignore
