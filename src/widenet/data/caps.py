"""Classes that consist of several caps of the sphere each, the setting of Theorem 4.1 of li2018."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from widenet.bits import gaussians, ordered_norm, rounded, uniforms
from widenet.data.components import spread_centres
from widenet.data.separable import reflect
from widenet.types import Dataset, RunKey


class CapMixture(eqx.Module):
    """Unit vectors at a distance uniform on [0, r] from a centre, which is one of the kl with equal probability.

    Labels are the numbers of the classes, from 0; of two classes, −1 and +1.

    Attributes:
      centres: unit vectors, those of the first class first.
      radius: r.
      n_classes: k.
    """

    centres: Float[Array, "component dim"]
    radius: Float[Array, ""]
    n_classes: int = eqx.field(static=True)

    @eqx.filter_jit
    def sample(self, key: RunKey, n_samples: int) -> Dataset:
        """n independent points."""
        count, dim = self.centres.shape
        drawn, zero = uniforms(key, (n_samples, dim + 1))
        own = jnp.floor(count * drawn[:, 0]).astype(jnp.int32)
        distance = rounded(rounded(self.radius, zero) * drawn[:, 1], zero)
        squared = rounded(distance * distance, zero)
        along = rounded(1 - squared / 2, zero)
        across = rounded(distance * rounded(jnp.sqrt(1 - squared / 4), zero), zero)

        # Drawn with the centre as the first axis, then turned.
        sphere = gaussians(drawn[:, 2:])
        offsets = rounded(sphere * rounded(across / ordered_norm(sphere, zero), zero)[:, None], zero)
        points = jnp.concatenate([along[:, None], offsets], axis=1)
        turned = jax.vmap(lambda point, centre: reflect(point[None], centre, zero)[0])(points, self.centres[own])
        classes = (own // (count // self.n_classes)).astype(jnp.float64)
        return Dataset(turned, 2 * classes - 1 if self.n_classes == 2 else classes)


def make_caps(
    key: RunKey,
    n_classes: int = 3,
    per_class: int = 2,
    dim: int = 20,
    relative_diameter: float | None = None,
    least_distance: float = 0.9,
) -> CapMixture:
    """Caps that meet (A1) of li2018, and so do their mirror images: λ is 1/(8l) if it is left out.

    Arguments:
      n_classes, per_class: k and l.
      relative_diameter: λ, the largest diameter of a cap over the least distance δ across classes.
      least_distance: of two centres across classes, and of a centre from the mirror image of another.

    Raises:
      DataError: no such centres were found.
    """
    if n_classes < 2 or per_class < 1 or dim < 2:
        raise ValueError(
            f"there are at least two classes of one cap each, in two dimensions, got {n_classes}, {per_class}, {dim}"
        )
    ratio = 1 / (8 * per_class) if relative_diameter is None else relative_diameter
    if not 0 <= ratio <= 1:
        raise ValueError(f"relative_diameter must lie between 0 and 1, got {relative_diameter}")
    draw = np.random.default_rng(np.asarray(jax.random.key_data(key)).tolist())
    centres = spread_centres(draw, n_classes, per_class, dim, least_distance).reshape(-1, dim)
    own = np.repeat(np.arange(n_classes), per_class)
    nearest = np.sqrt(2 - 2 * np.abs(centres @ centres.T)[own[:, None] != own].max())
    # Two points lose one diameter λδ of the distance of their centres, so δ = d/(1 + λ).
    return CapMixture(jnp.asarray(centres), jnp.asarray(ratio * nearest / (1 + ratio) / 2), n_classes)
