"""Arithmetic whose last bit does not depend on how it was compiled.

A draw belongs to its key: alone, in a batch of a thousand, compiled or not, on any device, it must be the same bits.
Three habits of compilers stand in the way. A reduction chooses its order by the shape of the whole batch
(`ordered_sum` writes the order down). A product that feeds a sum is rounded or not, depending on what else is in the
program (`rounded` makes each product a number of its own). The last bits of a logarithm or a power depend on the
vector width (`coarse` does not keep them).
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, UInt64

from widenet.types import RunKey


def opaque_zero(key: RunKey) -> UInt64[Array, ""]:
    """The integer 0, in a way no compiler can know. (It is 1 for one key in 2⁶⁴, which flips a last bit.)"""
    return (jax.random.bits(key, (), jnp.uint64) == 0).astype(jnp.uint64)


def rounded(values: Float[Array, "*shape"], zero: UInt64[Array, ""]) -> Float[Array, "*shape"]:
    """The values, passed through integers so that no arithmetic is fused across this point."""
    bits = jax.lax.bitcast_convert_type(values, jnp.uint64)
    return jax.lax.bitcast_convert_type(bits ^ zero, jnp.float64)


def coarse(values: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """The values kept to 24 bits."""
    return jax.lax.reduce_precision(values, exponent_bits=11, mantissa_bits=23)


def ordered_sum(values: Float[Array, "*sample dim"], zero: UInt64[Array, ""]) -> Float[Array, "*sample"]:
    """The sum over the last axis, by halving."""
    values = rounded(values, zero)
    length = values.shape[-1]
    if length == 0:
        return jnp.zeros(values.shape[:-1], values.dtype)
    while length > 1:
        half = length // 2
        rest = values[..., 2 * half :]
        values = jnp.concatenate([values[..., :half] + values[..., half : 2 * half], rest], axis=-1)
        length = values.shape[-1]
    return rounded(values[..., 0], zero)


def ordered_norm(values: Float[Array, "*sample dim"], zero: UInt64[Array, ""]) -> Float[Array, "*sample"]:
    """The Euclidean norm over the last axis."""
    return rounded(jnp.sqrt(ordered_sum(values * values, zero)), zero)
