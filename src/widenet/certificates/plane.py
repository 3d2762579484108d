"""The plane that a picture of the data shows: the data's own, or the two directions that tell classes apart best."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.certificates.preparation import Prepared

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
    """

    axes: Float[np.ndarray, "2 dim"]
    centre: Float[np.ndarray, " dim"]
    points: Float[np.ndarray, "point 2"]
    rows: np.ndarray
    is_own: bool

    def seen(self, directions: Float[np.ndarray, "*batch dim"]) -> Float[np.ndarray, "*batch 2"]:
        """Directions, such as weights of neurons, in the plane."""
        return directions @ self.axes.T


def plane_of(prepared: Prepared) -> Plane:
    """The plane in which the classes are best told apart."""
    inputs = np.asarray(prepared.data.inputs, np.float64)
    labels = np.asarray(prepared.data.labels)
    rows = np.arange(len(inputs))
    if len(rows) > MOST_POINTS:
        rows = np.sort(np.random.default_rng(0).choice(rows, MOST_POINTS, replace=False))
    plain = prepared.plain_dim
    if plain <= 2:
        axes = np.eye(max(plain, 2), inputs.shape[1])[:2]
        centre = np.zeros(inputs.shape[1])
    else:
        centre = np.append(inputs[rows, :plain].mean(axis=0), np.zeros(inputs.shape[1] - plain))
        axes = np.zeros((2, inputs.shape[1]))
        axes[:, :plain] = _telling(inputs[rows, :plain] - centre[:plain], labels[rows])
    return Plane(axes, centre, (inputs[rows] - centre) @ axes.T, rows, plain == 2)


def _telling(points: Float[np.ndarray, "point dim"], labels: np.ndarray) -> Float[np.ndarray, "2 dim"]:
    """Two orthonormal directions: those of discriminant analysis, then that of the largest variance."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    # Shrinkage, since there may be more coordinates than points.
    solved = LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.1).fit(points, labels)
    found = list(np.asarray(solved.scalings_).T[: min(2, len(np.unique(labels)) - 1)])
    basis: list[np.ndarray] = []
    for _ in range(2):
        rest = points - sum((np.outer(points @ each, each) for each in basis), np.zeros_like(points))
        direction = found.pop(0) if found else np.linalg.svd(rest, full_matrices=False)[2][0]
        direction = direction - sum(((direction @ each) * each for each in basis), np.zeros(points.shape[1]))
        length = np.linalg.norm(direction)
        if not length > 1e-12:
            direction = np.linalg.svd(rest, full_matrices=False)[2][0]
            length = np.linalg.norm(direction)
        basis.append(direction / length)
    return np.stack(basis)
