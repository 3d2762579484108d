"""The plane that a picture of the data shows: the data's own, or the two directions that tell classes apart best.

Two classes that a linear boundary separates are apart in the picture: across it goes the direction of discriminant
analysis if the classes do not overlap along it, and else that of the separator with the widest margin.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.certificates.preparation import Prepared
from widenet.certificates.samples import drawn_points

MOST_POINTS = 2000
"""More points would hide each other."""


@dataclass(frozen=True, eq=False)
class Plane:
    """Points and directions seen in two dimensions.

    Attributes:
      axes: two orthonormal directions among the coordinates of the prepared data.
      centre: what is subtracted first; 0 in the data's own plane.
      points: of the data, in the plane.
      rows: which points of the prepared data they are.
      is_own: whether the data itself has two coordinates, so that regions can be drawn.
      boundary: where a linear boundary crosses the first axis that has each of two classes on one side; None without.
    """

    axes: Float[np.ndarray, "2 dim"]
    centre: Float[np.ndarray, " dim"]
    points: Float[np.ndarray, "point 2"]
    rows: np.ndarray
    is_own: bool
    boundary: float | None = None

    def seen(self, directions: Float[np.ndarray, "*batch dim"]) -> Float[np.ndarray, "*batch 2"]:
        """Directions, such as weights of neurons, in the plane."""
        return directions @ self.axes.T


def plane_of(prepared: Prepared) -> Plane:
    """The plane in which the classes are best separated."""
    inputs = np.asarray(prepared.data.inputs, np.float64)
    labels = np.asarray(prepared.data.labels)
    rows = drawn_points(labels, MOST_POINTS, seed=0)
    plain = prepared.plain_dim
    if plain <= 2:
        axes = np.eye(max(plain, 2), inputs.shape[1])[:2]
        return Plane(axes, np.zeros(inputs.shape[1]), inputs[rows] @ axes.T, rows, plain == 2)
    centre = np.append(inputs[rows, :plain].mean(axis=0), np.zeros(inputs.shape[1] - plain))
    points, boundary = inputs[:, :plain] - centre[:plain], None
    # A boundary is drawn only if it has all points of each class on its own side, not only those of a part.
    every = points
    if not prepared.has_all_points:
        every = prepared.points * (math.sqrt(0.5) if prepared.record.has_bias else prepared.stretch) - centre[:plain]
    found = _discriminants(points[rows], labels[rows])
    for first in (found[0], _separator(prepared)):
        boundary = None if first is None else _between(every @ first, prepared.labels)
        if first is not None and boundary is not None:
            found = [first, *found]
            break
    axes = np.zeros((2, inputs.shape[1]))
    axes[:, :plain] = _orthonormal(found, points[rows])
    return Plane(axes, centre, points[rows] @ axes[:, :plain].T, rows, False, boundary)


def _discriminants(points: Float[np.ndarray, "point dim"], labels: np.ndarray) -> list[np.ndarray]:
    """The leading directions of discriminant analysis, of length 1; where no class is spread out, a way between two."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    if len(points) <= len(np.unique(labels)):
        return [_way_between(points)]
    try:  # Shrinkage, since there may be more coordinates than points.
        solved = LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.1).fit(points, labels)
    except np.linalg.LinAlgError:  # the points of each class are equal, or closer than their squares can tell
        return [_way_between(points)]
    found = np.asarray(solved.scalings_).T[: min(2, len(np.unique(labels)) - 1)]
    return [_unit(each) for each in found]


def _way_between(points: Float[np.ndarray, "point dim"]) -> np.ndarray:
    """From the first point to the farthest one; the first axis where all points are equal."""
    steps = points - points[0]
    lengths = np.linalg.norm(steps, axis=1)
    return _unit(steps[lengths.argmax()]) if lengths.any() else np.eye(points.shape[1])[0]


def _separator(prepared: Prepared) -> np.ndarray | None:
    """The direction across the linear boundary of the widest margin, for two classes; None where there is none."""
    found = prepared.with_bias if prepared.with_bias is not None and prepared.with_bias.separable else None
    return None if found is None or found.separator is None else _unit(found.separator[:-1])


def _unit(direction: np.ndarray) -> np.ndarray:
    return direction / np.linalg.norm(direction)


def _between(places: Float[np.ndarray, " point"], labels: np.ndarray) -> float | None:
    """The middle of the gap between two classes on an axis; None where they overlap, or there are more."""
    kinds = np.unique(labels)
    if len(kinds) != 2:
        return None
    one, other = places[labels == kinds[0]], places[labels == kinds[1]]
    for low, high in ((one, other), (other, one)):
        if low.max() < high.min():
            return float(low.max() + high.min()) / 2
    return None


def _orthonormal(found: list[np.ndarray], points: Float[np.ndarray, "point dim"]) -> Float[np.ndarray, "2 dim"]:
    """The first two of these directions, made orthogonal; where they are too few, that of the largest variance left."""
    basis: list[np.ndarray] = []
    rest = points - np.outer(points @ found[0], found[0])
    # Points on one line have no variance left, and any direction will do.
    for direction in (*found, np.linalg.svd(rest, full_matrices=False)[2][0], *np.eye(points.shape[1])[:2]):
        rest = direction - sum(((direction @ each) * each for each in basis), np.zeros_like(direction))
        if np.linalg.norm(rest) > 1e-6:
            basis.append(_unit(rest))
    return np.stack(basis[:2])
