"""Data separable through the origin by a known vector, the setting of brutzkus2018."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, UInt64

from widenet.bits import coarse, gaussians, ordered_norm, ordered_sum, rounded, uniforms
from widenet.types import Dataset, RunKey, require_count

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
        require_count("n_samples", n_samples)
        dim = self.direction.shape[0]
        drawn, zero = uniforms(key, (n_samples, dim + 2))
        labels = jnp.where(drawn[:, 0] < 0.5, -1.0, 1.0)

        smallest = jnp.minimum((1 + ROOM) / rounded(self.separator_norm, zero), 1.0)
        largest = jnp.maximum(smallest, jnp.minimum(self.margin_max, 1 - ROOM))
        margins = rounded(smallest + rounded(drawn[:, 1] * rounded(largest - smallest, zero), zero), zero)

        # Uniform in the ball orthogonal to u; in one dimension that ball is a point.
        sphere = gaussians(drawn[:, 3:])
        depth = coarse(drawn[:, 2] ** (1 / max(dim - 1, 1)))
        widest = jnp.sqrt(jnp.maximum((1 - ROOM) ** 2 - rounded(margins * margins, zero), 0.0))
        radii = rounded(rounded(widest, zero) * depth, zero)
        across = rounded(sphere * rounded(radii / ordered_norm(sphere, zero), zero)[:, None], zero)

        # Drawn with u as the first axis, then turned: a reflection keeps lengths and angles to the last digits, where
        # a projection onto the complement of u would cancel.
        points = jnp.concatenate([(labels * margins)[:, None], across], axis=1)
        return Dataset(reflect(points, self.direction, zero), labels)


def make_separable(
    key: RunKey,
    dim: int,
    separator_norm: float | Float[Array, ""],
    margin_max: float | Float[Array, ""] = 1.0,
) -> Separable:
    """A separator in a uniformly random direction, with this norm.

    The two numbers may be arrays, one per run under `jax.vmap`; then their ranges are the caller's to check.
    """
    require_count("dim", dim)
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
    drawn, zero = uniforms(key, (dim,))
    direction = gaussians(drawn)
    return rounded(direction / ordered_norm(direction, zero), zero)


def reflect(
    points: Float[Array, "sample dim"], direction: Float[Array, " dim"], zero: UInt64[Array, ""]
) -> Float[Array, "sample dim"]:
    """The points turned so that the first axis becomes `direction`: a reflection (Householder) and perhaps a sign."""
    sign = jnp.where(direction[0] > 0, -1.0, 1.0)
    # The far one of ±e₁, so that this difference does not cancel.
    normal = rounded(direction.at[0].add(-sign), zero)
    ratio = rounded(2 / ordered_sum(normal * normal, zero), zero)
    along = rounded(ordered_sum(points * normal, zero) * ratio, zero)
    return sign * (points - rounded(along[:, None] * normal, zero))
