"""How filters gather around a few directions: angles, and which points still push.

In brutzkus2019 a filter that starts near a pattern moves by η·pattern whenever points that hold it are active (their
loss is positive), so it ends close to the pattern. `angles` measures how close, `active_counts` how often its points
were active. Everything is NumPy, with any leading axes.
"""

import numpy as np
from jaxtyping import Bool, Float, Int


def angles(
    filters: Float[np.ndarray, "*batch filter dim"], directions: Float[np.ndarray, "centre dim"]
) -> Float[np.ndarray, "*batch filter centre"]:
    """The angle of every filter to every direction, in degrees; NaN where one of the two is 0.

    By 2·atan2(‖a − b‖, ‖a + b‖) of the unit vectors (Kahan), which keeps its digits near 0 and 180 degrees.
    """
    first, second = _units(filters)[..., :, None, :], _units(directions)
    apart, together = np.linalg.norm(first - second, axis=-1), np.linalg.norm(first + second, axis=-1)
    return np.degrees(2 * np.arctan2(apart, together))


def angles_to_own(
    filters: Float[np.ndarray, "*batch filter dim"],
    directions: Float[np.ndarray, "centre dim"],
    membership: Bool[np.ndarray, "*batch filter centre"],
) -> Float[np.ndarray, "*batch filter"]:
    """The angle of each filter to the direction whose set it is in, in degrees; to the farthest if it is in several.

    The sets are those at the start of training, say (`widenet.diagnostics.exploration`). A filter in no set gets NaN.
    """
    own = np.where(membership, angles(filters, directions), -np.inf).max(axis=-1)
    return np.where(membership.any(axis=-1), own, np.nan)


def angles_to_closest(
    filters: Float[np.ndarray, "*batch filter dim"], centres: Float[np.ndarray, "centre dim"]
) -> Float[np.ndarray, "*batch filter"]:
    """The angle of each filter to the closest of the given centres, in degrees."""
    return angles(filters, centres).min(axis=-1)


def active_counts(active: Bool[np.ndarray, " time *point"]) -> Int[np.ndarray, " time *point"]:
    """a(t): at how many of the times 0, …, t a point was active."""
    return np.cumsum(active, axis=0)


def updates_before(active: Bool[np.ndarray, " time *point"]) -> Int[np.ndarray, " time *point"]:
    """n(t) = a(t − 1): how many updates a point has made to w_t. It is 0 at t = 0, where a(0) may be 1."""
    return active_counts(active) - active


def _units(vectors: Float[np.ndarray, "*batch dim"]) -> Float[np.ndarray, "*batch dim"]:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, lengths, out=np.full(np.shape(vectors), np.nan), where=lengths > 0)
