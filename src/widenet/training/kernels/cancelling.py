"""Samples of one batch that are equal or opposite: a step in which they cancel each other moves nothing."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt32


def twins(inputs: Float[Array, "sample dim"], has_bias: bool) -> Float[Array, "sample sample"]:
    """1 where two samples are equal, −1 where they are opposite: such samples of one batch may cancel each other.

    Other samples could only do so by chance. With a bias opposite samples differ in its constant coordinate. Samples
    are compared by 64 bits made of their bits, and not coordinate by coordinate, which would cost as much as a step.
    """
    own = _fingerprints(inputs)

    def equal(other: Array) -> Array:
        return jnp.all(own[:, None] == other[None], axis=-1).astype(inputs.dtype)

    return equal(own) if has_bias else equal(own) - equal(_fingerprints(-inputs))


def _fingerprints(inputs: Float[Array, "sample dim"]) -> UInt32[Array, "sample 2"]:
    """64 bits that stand for a sample: sums, modulo 2^32, of its mixed words. 0 and −0 count as the same."""
    # `inputs + 0` would do the same by the rules of arithmetic, but a compiler leaves it out.
    inputs = jnp.where(inputs == 0, jnp.zeros_like(inputs), inputs)
    words = jax.lax.bitcast_convert_type(inputs, jnp.uint32).reshape(inputs.shape[0], -1)  # a float64 has two
    place, weight = np.random.default_rng(0).integers(0, 2**32, (2, words.shape[1]), np.uint32)
    mixed = words ^ place[None]
    for factor, shift in ((0x85EBCA6B, 13), (0xC2B2AE35, 16)):  # the end of MurmurHash3: every bit reaches every other
        mixed = (mixed ^ (mixed >> 16)) * np.uint32(factor)
        mixed = mixed ^ (mixed >> shift)
    return jnp.stack(
        [jnp.sum(mixed, axis=1, dtype=jnp.uint32), jnp.sum(mixed * weight[None], axis=1, dtype=jnp.uint32)], 1
    )
