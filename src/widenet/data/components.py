"""Classes that consist of several components each (li2018): points, caps of the sphere, Gaussians, balls of the plane.

Everything is drawn in plain NumPy. Classes are numbered from 0, and a component by its place in (class, component).
"""

import numpy as np
from jaxtyping import Float, Int

from widenet.data.points import unit_rows
from widenet.errors import DataError

Points = Float[np.ndarray, "point dim"]
Numbers = Int[np.ndarray, " point"]

ATTEMPTS = 10_000
BALL_CENTRES = np.array([[[0.0, 0.0], [2.0, 2.0]], [[0.0, 2.0], [2.0, 0.0]]])
"""Figure 3 of li2018: the centres of the two balls of either class."""


def spread_centres(
    draw: np.random.Generator,
    n_classes: int,
    per_class: int,
    dim: int,
    least_distance: float,
) -> Float[np.ndarray, "class component dim"]:
    """Uniform unit vectors with this distance across classes, also from each other's mirror images.

    Raises:
      DataError: no such draw was found.
    """
    classes = np.repeat(np.arange(n_classes), per_class)
    across = classes[:, None] != classes
    for _ in range(ATTEMPTS):
        centres = unit_rows(draw, n_classes * per_class, dim)
        nearest = np.abs(centres @ centres.T)
        if not across.any() or np.sqrt(np.maximum(2 - 2 * nearest[across].max(), 0)) >= least_distance:
            return centres.reshape(n_classes, per_class, dim)
    raise DataError(f"no {len(classes)} unit vectors of R^{dim} with distance {least_distance:g} across classes found.")


def cap_points(draw: np.random.Generator, centres: Points, chord: float) -> Points:
    """One unit vector near each of these: at distance chord·U^{1/(d−1)}, in a direction across."""
    n, dim = centres.shape
    across = draw.normal(size=(n, dim))
    across -= (across * centres).sum(axis=1, keepdims=True) * centres
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    distances = chord * draw.uniform(size=(n, 1)) ** (1 / max(1, dim - 1))
    angles = 2 * np.arcsin(distances / 2)
    return np.cos(angles) * centres + np.sin(angles) * across


def gaussian_components(
    draw: np.random.Generator,
    means: Float[np.ndarray, "component dim"],
    which: Numbers,
    spread: float,
    *,
    unit_norm: bool = True,
) -> Points:
    """x = mean + N(0, spread²/d·I), brought to norm 1 unless told otherwise."""
    dim = means.shape[1]
    points = means[which] + draw.normal(size=(len(which), dim)) * (spread / np.sqrt(dim))
    return points / np.linalg.norm(points, axis=1, keepdims=True) if unit_norm else points


def xor_balls(draw: np.random.Generator, per_ball: int, diameter: float = 0.1) -> tuple[Points, Numbers, Numbers]:
    """(points, classes, components) uniform in the balls of Figure 3."""
    centres = BALL_CENTRES.reshape(4, 2)
    which = np.repeat(np.arange(4), per_ball)
    angles = draw.uniform(0, 2 * np.pi, len(which))
    radii = diameter / 2 * np.sqrt(draw.uniform(size=len(which)))
    offsets = radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return centres[which] + offsets, which // 2, which


def antipodal_polygon(n_directions: int = 3, turn: float = 0.0) -> tuple[Points, Numbers]:
    """Class 0: the corners of a regular polygon with an odd number of them; class 1: minus these, turned by an angle.

    With turn 0 no bias-free two-layer ReLU network classifies all of them: f(y) − f(−y) is linear in y, and the y add
    up to 0.
    """
    angles = 2 * np.pi * np.arange(n_directions) / n_directions
    corners = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    turned = np.stack([np.cos(angles + turn), np.sin(angles + turn)], axis=1)
    return np.concatenate([corners, -turned]), np.repeat([0, 1], n_directions)
