"""Mixtures of four Gaussians in the plane, two of each class: the simulations of chatterji2021."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from widenet.bits import gaussians, rounded, uniforms
from widenet.types import Dataset, RunKey, require_count

HALF = 0.5**0.5
NEGATIVE = ((HALF, HALF), (-HALF, -HALF))


class GaussianMixture(eqx.Module):
    """Classes are equally likely, and so are the two Gaussians of each.

    Attributes:
      centres: the means; the first two are those of the label +1.
      spread: the standard deviation of every coordinate.
    """

    centres: Float[Array, "4 dim"]
    spread: float

    @eqx.filter_jit
    def sample(self, key: RunKey, n_samples: int) -> Dataset:
        """n independent points."""
        require_count("n_samples", n_samples)
        dim = self.centres.shape[1]
        drawn, zero = uniforms(key, (n_samples, dim + 1))
        own = jnp.floor(4 * drawn[:, 0]).astype(jnp.int32)
        noise = rounded(self.spread * gaussians(drawn[:, 1:]), zero)
        return Dataset(self.centres[own] + noise, jnp.where(own < 2, 1.0, -1.0))


def make_xor_mixture(spread: float = 0.1) -> GaussianMixture:
    """Positive around ±(√½, −√½), negative around ±(√½, √½)."""
    return _around(((HALF, -HALF), (-HALF, HALF)), spread)


def make_shoulders(spread: float = 0.1) -> GaussianMixture:
    """Positive around (1, 0) and (0, 1), on both sides of the negative centre (√½, √½); the other is (−√½, −√½)."""
    return _around(((1.0, 0.0), (0.0, 1.0)), spread)


def _around(positive: tuple[tuple[float, float], ...], spread: float) -> GaussianMixture:
    if not spread >= 0:
        raise ValueError(f"spread must not be negative, got {spread}")
    return GaussianMixture(jnp.asarray((*positive, *NEGATIVE)), float(spread))
