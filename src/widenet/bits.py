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

from widenet.types import RunKey, require_key


def uniforms(key: RunKey, shape: tuple[int, ...]) -> tuple[Float[Array, "..."], UInt64[Array, ""]]:
    """Uniform numbers on [0, 1), and the integer 0 in a way no compiler can know.

    One call for everything a draw needs: compiling a generator takes about a second. (The zero is 1 for one key in 2⁵²,
    which flips some last bits.)

    Raises:
      ValueError: `key` is no key.
    """
    values = jax.random.uniform(require_key(key), shape, jnp.float64)
    return values, (values.ravel()[0] == 0.5488135039273248).astype(jnp.uint64)


def gaussians(uniform: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """Standard normal numbers from uniform ones, kept to 24 bits."""
    # 2u − 1 may be exactly −1, where the inverse is infinite; one step above it is as rare as any other value.
    centred = jnp.maximum(2 * uniform - 1, -1 + 2.0**-53)
    return coarse(jnp.sqrt(2.0) * jax.lax.erf_inv(centred))


def rounded(values: Float[Array, "*shape"], zero: UInt64[Array, ""]) -> Float[Array, "*shape"]:
    """The values, passed through integers so that no arithmetic is fused across this point."""
    bits = jax.lax.bitcast_convert_type(values, jnp.uint64)
    return jax.lax.bitcast_convert_type(bits ^ zero, jnp.float64)


def coarse(values: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """The values kept to 24 bits."""
    return jax.lax.reduce_precision(values, exponent_bits=11, mantissa_bits=23)


def ordered_sum(values: Float[Array, "*sample dim"], zero: UInt64[Array, ""]) -> Float[Array, "*sample"]:
    """The sum over the last axis, by halving."""
    return rounded(halved_sum(rounded(values, zero)), zero)


def halved_sum(values: Float[Array, "*sample dim"]) -> Float[Array, "*sample"]:
    """The sum over the last axis, halves added to halves: XLA may choose the order of `jnp.sum` by the other axes.

    What is added must not come from a product next to it, or the two may be fused; `ordered_sum` sees to that.
    """
    length = values.shape[-1]
    if length == 0:
        return jnp.zeros(values.shape[:-1], values.dtype)
    while length > 1:
        half = length // 2
        rest = values[..., 2 * half :]
        values = jnp.concatenate([values[..., :half] + values[..., half : 2 * half], rest], axis=-1)
        length = values.shape[-1]
    return values[..., 0]


def ordered_norm(values: Float[Array, "*sample dim"], zero: UInt64[Array, ""]) -> Float[Array, "*sample"]:
    """The Euclidean norm over the last axis."""
    return rounded(jnp.sqrt(ordered_sum(values * values, zero)), zero)
