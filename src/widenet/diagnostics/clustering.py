"""How filters gather around a few directions: angles, steps along a direction, and which points still push.

In brutzkus2019 a filter that starts near a pattern moves by η·pattern whenever points that hold it are active (their
loss is positive), so it ends close to the pattern. `angles` measures how close, `coefficients` how many steps it took
along each direction, and `phases` which points were active when. Everything is NumPy, with any leading axes.
"""

import enum

import numpy as np
from jaxtyping import Bool, Float, Int, Real


class Phase(enum.IntEnum):
    """Which of the two diverse points of XORD are active: N(x⁺) < γ, −N(x⁻) < 1."""

    NONE = 0
    ONLY_POSITIVE = 1
    ONLY_NEGATIVE = 2
    BOTH = 3


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


def coefficients(
    filters: Float[np.ndarray, "*batch filter dim"],
    initial: Float[np.ndarray, "*start filter dim"],
    directions: Float[np.ndarray, "centre dim"],
    step_size: float,
) -> Float[np.ndarray, "*batch filter centre"]:
    """How many steps of η·p were taken along each direction p: ⟨w_t − w_0, p⟩/(η‖p‖²).

    Whole numbers where the directions are orthogonal and every step is ±ηp. The start broadcasts over leading axes.
    """
    return (filters - initial) @ directions.T / (step_size * (directions**2).sum(axis=-1))


def active_counts(active: Bool[np.ndarray, " time *point"]) -> Int[np.ndarray, " time *point"]:
    """a(t): at how many of the times 0, …, t a point was active."""
    return np.cumsum(active, axis=0)


def updates_before(active: Bool[np.ndarray, " time *point"]) -> Int[np.ndarray, " time *point"]:
    """n(t) = a(t − 1): how many updates a point has made to w_t. It is 0 at t = 0, where a(0) may be 1."""
    return active_counts(active) - active


def phases(
    output_positive: Real[np.ndarray, "*batch"], output_negative: Real[np.ndarray, "*batch"], margin: float
) -> Int[np.ndarray, "*batch"]:
    """The `Phase` for the outputs N(x⁺) and N(x⁻) of the diverse points, with γ = margin. Active is strict."""
    for name, outputs in (("N(x⁺)", output_positive), ("N(x⁻)", output_negative)):
        if np.isnan(outputs).any():
            raise ValueError(f"{name} is not a number somewhere, so it has no phase")
    return np.where(output_positive < margin, 1, 0) + np.where(-output_negative < 1, 2, 0)


def longest_stretch(member: Bool[np.ndarray, " time *batch"]) -> Int[np.ndarray, "*batch"]:
    """The longest run of consecutive times at which something is true."""
    longest = current = np.zeros(member.shape[1:], int)
    for now in member:
        current = np.where(now, current + 1, 0)
        longest = np.maximum(longest, current)
    return longest


def _units(vectors: Float[np.ndarray, "*batch dim"]) -> Float[np.ndarray, "*batch dim"]:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, lengths, out=np.full(np.shape(vectors), np.nan), where=lengths > 0)
