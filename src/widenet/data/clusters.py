"""Four clusters of unit vectors, two of each class, the setting of Theorem 2 of chatterji2021."""

import itertools

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from widenet.bits import gaussians, ordered_norm, rounded, uniforms
from widenet.types import Dataset, RunKey, require_count

EQUAL = (0.25, 0.25, 0.25, 0.25)


class FourClusters(eqx.Module):
    """Unit vectors around ±(√½, −√½), labelled +1, and around a pair ±μ, labelled −1, of the same plane.

    x = cosθ·μ_k + sinθ·w with w uniform on the unit sphere orthogonal to μ_k, so that ‖x − μ_k‖ is uniform on [0, r].
    Centres of opposite classes have inner products Δ and −Δ.

    Attributes:
      dim: d, at least 2.
      shares: how the points are shared out, cluster by cluster in turn; the counts follow from n alone.
      radius: r.
      overlap: Δ, from 0 to 1.
    """

    dim: int = eqx.field(static=True)
    shares: tuple[float, float, float, float] = eqx.field(static=True)
    radius: Float[Array, "*run"]
    overlap: Float[Array, "*run"]

    @property
    def centres(self) -> Float[Array, "4 dim"]:
        """μ_1, …, μ_4; the first two are those of the label +1."""
        half = jnp.sqrt(0.5)
        side = jnp.sqrt(1 - self.overlap**2)
        first = jnp.stack([half, -half])
        second = half * jnp.stack([side + self.overlap, side - self.overlap])
        plane = jnp.stack([first, -first, second, -second])
        return jnp.concatenate([plane, jnp.zeros((4, self.dim - 2))], axis=1)

    def clusters(self, n_samples: int) -> Int[np.ndarray, " sample"]:
        """The cluster of each point, 0 to 3."""
        ends = list(itertools.accumulate(self.shares))[:-1]
        return np.searchsorted(ends, (np.arange(n_samples) + 0.5) / n_samples)

    @eqx.filter_jit
    def sample(self, key: RunKey, n_samples: int) -> Dataset:
        """n points, those of the first cluster first."""
        require_count("n_samples", n_samples)
        drawn, zero = uniforms(key, (n_samples, self.dim))
        own = self.clusters(n_samples)
        centres = rounded(self.centres[own][:, :2], zero)
        distance = rounded(rounded(self.radius, zero) * drawn[:, 0], zero)
        squared = rounded(distance * distance, zero)
        along = rounded(1 - squared / 2, zero)
        across = rounded(distance * rounded(jnp.sqrt(1 - squared / 4), zero), zero)

        # In the basis of μ, the vector of the plane that is orthogonal to it, and the further axes.
        sphere = gaussians(drawn[:, 1:])
        offsets = rounded(sphere * rounded(across / ordered_norm(sphere, zero), zero)[:, None], zero)
        turned = jnp.stack([-centres[:, 1], centres[:, 0]], axis=1)
        plane = rounded(along[:, None] * centres, zero) + rounded(offsets[:, :1] * turned, zero)
        return Dataset(jnp.concatenate([plane, offsets[:, 1:]], axis=1), jnp.where(own < 2, 1.0, -1.0))


def make_clusters(
    dim: int = 2,
    radius: float | Float[Array, ""] = 0.1,
    overlap: float | Float[Array, ""] = 0.0,
    shares: tuple[float, float, float, float] = EQUAL,
) -> FourClusters:
    """Four clusters of this radius r and overlap Δ; of arrays, the ranges are the caller's to check."""
    if dim < 2:
        raise ValueError(f"dim must be at least 2 (two orthogonal pairs of centres), got {dim}")
    if isinstance(radius, float | int) and not 0 <= radius <= 1:
        raise ValueError(f"radius must lie between 0 and 1, got {radius}")
    if isinstance(overlap, float | int) and not 0 <= overlap <= 1:
        raise ValueError(f"overlap must lie between 0 and 1, got {overlap}")
    if min(shares) <= 0 or abs(sum(shares) - 1) > 1e-12:
        raise ValueError(f"shares must be positive and sum to 1, got {shares}")
    return FourClusters(dim, shares, jnp.asarray(radius, jnp.float64), jnp.asarray(overlap, jnp.float64))
