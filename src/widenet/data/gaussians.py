"""Two Gaussians with mirrored means and a margin between them, as in sarussi2021: a distribution, and plain NumPy."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import scipy.special
from jaxtyping import Array, Float

from widenet.bits import gaussians, rounded, uniforms
from widenet.data.separable import reflect
from widenet.errors import DataError
from widenet.types import Dataset, RunKey

Points = Float[np.ndarray, "sample dim"]
Labels = Float[np.ndarray, " sample"]

MOST_TRIES = 1000
"""Rounds of drawing again before a margin is called out of reach."""
FARTHEST = 5.0
"""A margin so many spreads beyond the mean, or farther, is called out of reach of the distribution."""


class TwoGaussians(eqx.Module):
    """x = y·mean + spread·z with y⟨x, mean⟩/‖mean‖ ≥ least_margin, y = ±1 with equal probability.

    The margin is no rejection: the coordinate along the mean is drawn from its truncated law. y⟨x, mean⟩/‖mean‖ is at
    least the margin up to the rounding of one turn.

    Attributes:
      direction, length: of the mean.
      share: the probability that a Gaussian misses the margin.
      mirrored: every second half of a sample is the first one times −1, labels too: antipodal data.
      outlier: the last point of every sample, labelled +1.
    """

    direction: Float[Array, " dim"]
    length: Float[Array, ""]
    spread: Float[Array, ""]
    least_margin: Float[Array, ""]
    share: Float[Array, ""]
    outlier: Float[Array, " dim"] | None = None
    mirrored: bool = eqx.field(static=True, default=False)

    @eqx.filter_jit
    def sample(self, key: RunKey, n_samples: int) -> Dataset:
        """n points, the outlier among them.

        Raises:
          DataError: an odd number of points where every one has its mirror image.
        """
        n_drawn = n_samples - (self.outlier is not None)
        if self.mirrored and n_drawn % 2:
            raise DataError(f"mirrored points come in pairs, got {n_drawn} of them.")
        n_drawn = n_drawn // 2 if self.mirrored else n_drawn
        drawn, zero = uniforms(key, (n_drawn, self.direction.shape[0] + 1))
        labels = jnp.where(drawn[:, 0] < 0.5, -1.0, 1.0)
        above = rounded(self.share + rounded(drawn[:, 1] * rounded(1 - self.share, zero), zero), zero)
        along = rounded(self.length + rounded(self.spread * gaussians(above), zero), zero)
        across = rounded(self.spread * gaussians(drawn[:, 2:]), zero)
        along = jnp.maximum(along, self.least_margin)
        points = reflect(jnp.concatenate([along[:, None], across], axis=1), self.direction, zero)
        points = labels[:, None] * points
        if self.mirrored:
            points, labels = jnp.concatenate([points, -points]), jnp.concatenate([labels, -labels])
        if self.outlier is not None:
            points, labels = jnp.concatenate([points, self.outlier[None]]), jnp.append(labels, 1.0)
        return Dataset(points, labels)


def make_gaussians(
    mean: Float[np.ndarray, " dim"] | tuple[float, ...] = (2.0, 2.0),
    spread: float = 1.0,
    least_margin: float = 0.0,
    mirrored: bool = False,
    outlier: Float[np.ndarray, " dim"] | tuple[float, ...] | None = None,
) -> TwoGaussians:
    """Two Gaussians around ±mean; with (4, 0, …, 0) in R^50 and a margin of 1, the data of Figure 8 of sarussi2021.

    Arguments:
      least_margin: no point has less of the direction of its mean in it.
      mirrored: antipodal data, x and −x under opposite labels.
      outlier: one more point, labelled +1, as in Figure 9.
    """
    centre = np.asarray(mean, np.float64)
    length = float(np.linalg.norm(centre))
    if centre.ndim != 1 or not length > 0:
        raise ValueError(f"mean must be a vector that is not 0, got {mean}")
    if not spread > 0:
        raise ValueError(f"spread must be positive, got {spread}")
    if not (least_margin - length) / spread < FARTHEST:
        raise ValueError(f"least_margin must be less than {FARTHEST:g} spreads beyond the mean, got {least_margin}")
    far = None if outlier is None else jnp.asarray(outlier, jnp.float64)
    if far is not None and far.shape != centre.shape:
        raise ValueError(f"outlier must have {len(centre)} coordinates, as the mean has, got shape {far.shape}")
    return TwoGaussians(
        direction=jnp.asarray(centre / length),
        length=jnp.asarray(length),
        spread=jnp.asarray(spread, jnp.float64),
        least_margin=jnp.asarray(least_margin, jnp.float64),
        share=jnp.asarray(scipy.special.ndtr((least_margin - length) / spread)),
        outlier=far,
        mirrored=mirrored,
    )


def two_gaussians(
    draw: np.random.Generator,
    n_samples: int,
    mean: Float[np.ndarray, " dim"],
    *,
    spread: float = 1.0,
    least_margin: float = 0.0,
    mirrored: bool = False,
) -> tuple[Points, Labels]:
    """(inputs, labels): x = y·mean + spread·z, drawn again while y⟨x, mean⟩/‖mean‖ < least_margin.

    The positive half comes first. With `mirrored` the negative points are the positive ones times −1: antipodal data
    in the sense of Section 15, where otherwise only the means are antipodal.

    Raises:
      DataError: an odd number of points, or a margin that is hardly ever reached.
    """
    if n_samples < 2 or n_samples % 2:
        raise DataError(f"two Gaussians have equally many points each, so n_samples must be even, got {n_samples}.")
    mean = np.asarray(mean, np.float64)
    half = n_samples // 2
    positive = _beyond(draw, half, mean, spread, least_margin)
    negative = -positive if mirrored else -_beyond(draw, half, mean, spread, least_margin)
    return np.concatenate([positive, negative]), np.concatenate([np.ones(half), -np.ones(half)])


def with_outlier(
    points: Points, labels: Labels, outlier: Float[np.ndarray, " dim"], label: float = 1.0
) -> tuple[Float[np.ndarray, "more dim"], Float[np.ndarray, " more"]]:
    """The same points and one more at the end."""
    return np.concatenate([points, np.asarray(outlier, np.float64)[None]]), np.append(labels, label)


def _beyond(
    draw: np.random.Generator, count: int, mean: Float[np.ndarray, " dim"], spread: float, least_margin: float
) -> Points:
    """Points around the mean with at least this much of it in them."""
    length = np.linalg.norm(mean)
    direction = mean / length if length > 0 else mean
    points = mean + spread * draw.normal(size=(count, len(mean)))
    for _ in range(MOST_TRIES):
        short = points @ direction < least_margin
        if not short.any():
            return points
        points[short] = mean + spread * draw.normal(size=(int(short.sum()), len(mean)))
    raise DataError(f"a margin of {least_margin:g} is hardly ever reached around a mean of norm {length:g}.")
