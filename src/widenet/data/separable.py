"""Data separable through the origin by a known vector, the setting of brutzkus2018."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, UInt64

from widenet.data.bits import coarse, opaque_zero, ordered_norm, ordered_sum, rounded
from widenet.types import Dataset, RunKey

ROOM = 1e-12
"""Points keep this far inside ‖x‖ ≤ 1 and y⟨w*, x⟩ ≥ 1, so that rounding does not carry them out."""


class Separable(eqx.Module):
    """Points of the unit ball with margins uniform on [1/‖w*‖, margin_max], and w* known.

    y is ±1 with equal probability, m ~ U[1/‖w*‖, margin_max], and x = y·m·u + r·q with q uniform on the unit sphere
    orthogonal to u and r = √(1 − m²)·U^{1/(d−1)}. So w* = ‖w*‖·u separates the distribution, not only a sample.

    y⟨w*, x⟩ ≥ 1 and ‖x‖ ≤ 1 hold in float64 without tolerance, except for ‖w*‖ = 1, where x = ±w* is the only
    possibility and both hold to 1e-12.

    Attributes:
      direction: u, a unit vector.
      separator_norm: ‖w*‖, at least 1.
      margin_max: the largest margin, from 1/‖w*‖ to 1.
    """

    direction: Float[Array, "*run dim"]
    separator_norm: Float[Array, "*run"]
    margin_max: Float[Array, "*run"]

    @property
    def separator(self) -> Float[Array, "*run dim"]:
        """w*, with y⟨w*, x⟩ ≥ 1 for every point."""
        return self.separator_norm[..., None] * self.direction

    @eqx.filter_jit
    def sample(self, key: RunKey, n_samples: int) -> Dataset:
        """n independent points."""
        label_key, margin_key, radius_key, sphere_key, zero_key = jax.random.split(key, 5)
        zero = opaque_zero(zero_key)
        dim = self.direction.shape[0]
        labels = jax.random.rademacher(label_key, (n_samples,), jnp.float64)

        smallest = jnp.minimum((1 + ROOM) / rounded(self.separator_norm, zero), 1.0)
        largest = jnp.maximum(smallest, jnp.minimum(self.margin_max, 1 - ROOM))
        share = rounded(jax.random.uniform(margin_key, (n_samples,), jnp.float64), zero)
        margins = rounded(smallest + rounded(share * rounded(largest - smallest, zero), zero), zero)

        # Uniform in the ball orthogonal to u; in one dimension that ball is a point.
        sphere = coarse(jax.random.normal(sphere_key, (n_samples, dim - 1), jnp.float64))
        depth = coarse(jax.random.uniform(radius_key, (n_samples,), jnp.float64) ** (1 / max(dim - 1, 1)))
        widest = jnp.sqrt(jnp.maximum((1 - ROOM) ** 2 - rounded(margins * margins, zero), 0.0))
        radii = rounded(rounded(widest, zero) * depth, zero)
        across = rounded(sphere * rounded(radii / ordered_norm(sphere, zero), zero)[:, None], zero)

        # Drawn with u as the first axis, then turned: a reflection keeps lengths and angles to the last digits, where
        # a projection onto the complement of u would cancel.
        drawn = jnp.concatenate([(labels * margins)[:, None], across], axis=1)
        return Dataset(_reflect(drawn, self.direction, zero), labels)


def make_separable(
    key: RunKey,
    dim: int,
    separator_norm: float | Float[Array, ""],
    margin_max: float | Float[Array, ""] = 1.0,
) -> Separable:
    """A separator in a uniformly random direction, with this norm.

    The two numbers may be arrays, one per run under `jax.vmap`; then their ranges are the caller's to check.
    """
    if dim < 1:
        raise ValueError(f"dim must be at least 1, got {dim}")
    if isinstance(separator_norm, float | int) and not separator_norm >= 1:
        raise ValueError(f"separator_norm must be at least 1 (y⟨w*, x⟩ ≥ 1 with ‖x‖ ≤ 1), got {separator_norm}")
    if isinstance(margin_max, float | int):
        lowest = 1 / separator_norm if isinstance(separator_norm, float | int) else 0.0
        if not lowest <= margin_max <= 1:
            raise ValueError(f"margin_max must lie between 1/separator_norm = {lowest:g} and 1, got {margin_max}")
    return Separable(
        _random_direction(key, dim),
        jnp.asarray(separator_norm, jnp.float64),
        jnp.asarray(margin_max, jnp.float64),
    )


@eqx.filter_jit
def _random_direction(key: RunKey, dim: int) -> Float[Array, " dim"]:
    gaussian_key, zero_key = jax.random.split(key)
    zero = opaque_zero(zero_key)
    gaussian = coarse(jax.random.normal(gaussian_key, (dim,), jnp.float64))
    return rounded(gaussian / ordered_norm(gaussian, zero), zero)


def _reflect(
    points: Float[Array, "sample dim"], direction: Float[Array, " dim"], zero: UInt64[Array, ""]
) -> Float[Array, "sample dim"]:
    """The points turned so that the first axis becomes `direction`: a reflection (Householder) and perhaps a sign."""
    sign = jnp.where(direction[0] > 0, -1.0, 1.0)
    # The far one of ±e₁, so that this difference does not cancel.
    normal = rounded(direction.at[0].add(-sign), zero)
    ratio = rounded(2 / ordered_sum(normal * normal, zero), zero)
    along = rounded(ordered_sum(points * normal, zero) * ratio, zero)
    return sign * (points - rounded(along[:, None] * normal, zero))
