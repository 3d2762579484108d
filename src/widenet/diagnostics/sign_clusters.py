"""How tightly the neurons of one sign lie together, and where that makes a network linear (sarussi2021, Section 5).

`plus` are the rows w whose output weight is +v, `minus` the rows u with −v. Everything is NumPy, with any leading axes.
"""

import numpy as np
from jaxtyping import Float

Rows = Float[np.ndarray, "*batch neuron dim"]
"""Weight vectors, one per neuron."""


def cluster_radius(rows: Rows) -> Float[np.ndarray, "*batch"]:
    """max_j ‖w^(j) − w̄‖: the smallest ball around the mean of the rows that holds them all."""
    return np.asarray(np.linalg.norm(rows - rows.mean(axis=-2, keepdims=True), axis=-1).max(axis=-1))


def mean_difference(plus: Rows, minus: Rows) -> Float[np.ndarray, "*batch dim"]:
    """w̄ − ū, the linear classifier that the network is compared with."""
    return np.asarray(plus.mean(axis=-2) - minus.mean(axis=-2))


def cluster_ratio(plus: Rows, minus: Rows) -> Float[np.ndarray, "*batch"]:
    """r/‖w̄ − ū‖, with r the larger of the two radii; the radius alone says nothing."""
    radius = np.maximum(cluster_radius(plus), cluster_radius(minus))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(radius / np.linalg.norm(mean_difference(plus, minus), axis=-1))


def widest_angle(rows: Rows) -> Float[np.ndarray, "*batch"]:
    """The largest angle between two of the rows, in degrees; NaN where a row is 0."""
    if rows.shape[-1] > 2 * rows.shape[-2]:  # few rows in many dimensions: their coordinates in the space they span
        rows = np.swapaxes(np.linalg.qr(np.swapaxes(rows, -1, -2), mode="r"), -1, -2)
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    units = np.divide(rows, lengths, out=np.full(rows.shape, np.nan), where=lengths > 0)
    cosines = units @ np.swapaxes(units, -1, -2)
    closest = np.clip(cosines, -1, 1).min(axis=(-2, -1))
    # For small angles the cosine has lost its digits; the sine of half the angle has not.
    apart = np.sqrt(np.maximum(2 - 2 * cosines, 0)).max(axis=(-2, -1))
    if units.shape[-2] <= 200:
        apart = np.linalg.norm(units[..., :, None, :] - units[..., None, :, :], axis=-1).max(axis=(-2, -1))
    return np.where(closest > 0, 2 * np.degrees(np.arcsin(np.clip(apart / 2, 0, 1))), np.degrees(np.arccos(closest)))


def nonlinear_share(
    difference: Float[np.ndarray, "*batch dim"],
    radius: Float[np.ndarray, "*batch"] | float,
    points: Float[np.ndarray, "point dim"],
    factor: float = 2.0,
) -> Float[np.ndarray, "*batch"]:
    """The share of the points with |(w̄ − ū)·x| < factor·r‖x‖, about which the theorem says nothing."""
    reach = np.asarray(radius)[..., None] * np.linalg.norm(points, axis=-1)
    return np.asarray((np.abs(difference @ points.T) < factor * reach).mean(axis=-1))


def uncovered_directions(ratio: Float[np.ndarray, "*batch"], factor: float | np.ndarray) -> Float[np.ndarray, "*batch"]:
    """The share of the directions of the plane with |cos| ≤ factor·r/‖w̄ − ū‖: a bound on what is not linear there."""
    return np.asarray(4 / 360 * np.degrees(np.arcsin(np.clip(factor * np.asarray(ratio), 0, 1))))
