"""Two Gaussians with mirrored means and a margin between them, as in sarussi2021, in NumPy."""

import numpy as np
from jaxtyping import Float

from widenet.errors import DataError

Points = Float[np.ndarray, "sample dim"]
Labels = Float[np.ndarray, " sample"]

MOST_TRIES = 1000
"""Rounds of drawing again before a margin is called out of reach."""


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
    points: Points, labels: Labels, outlier: Float[np.ndarray, " dim"]
) -> tuple[Float[np.ndarray, "more dim"], Float[np.ndarray, " more"]]:
    """The same points and one more of the label 1 at the end."""
    return np.concatenate([points, np.asarray(outlier, np.float64)[None]]), np.append(labels, 1.0)


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
