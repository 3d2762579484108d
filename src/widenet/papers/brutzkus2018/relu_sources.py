"""Finite sets S in front of a separator, and the lines through 0 on which their points lie.

A set is direction-antipodal if every line through 0 carries as many points on one ray as on the other.
"""

import functools
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from widenet.diagnostics import find_separator
from widenet.errors import DataError
from widenet.types import Dataset

SAME_RAY = 1e-9
"""Unit vectors this close count as one direction."""
FEW = 4
"""Sets of at most so many points are written out in words."""


@dataclass(frozen=True, eq=False)
class Lines:
    """The lines through 0 that carry points, numbered as they are met."""

    line: Int[np.ndarray, " sample"]  #: of each point
    side: Int[np.ndarray, " sample"]  #: +1 on the ray of the first point of the line, −1 on the other

    @property
    def rays(self) -> Int[np.ndarray, "line 2"]:
        """How many points lie on the two rays of each line."""
        return np.stack([np.bincount(self.line, self.side == side).astype(int) for side in (1, -1)], axis=1)


@dataclass(frozen=True, eq=False)
class PointSet:
    """A finite set S and a vector that separates it."""

    #: the points and their labels ±1
    inputs: Float[np.ndarray, "sample dim"]
    labels: Float[np.ndarray, " sample"]
    separator: Float[np.ndarray, " dim"]  #: w* with y⟨w*, x⟩ ≥ 1

    @property
    def smallest_margin(self) -> float:
        """min y⟨w*, x⟩."""
        return float((self.labels * (self.inputs @ self.separator)).min())

    @property
    def largest_norm(self) -> float:
        """max ‖x‖."""
        return float(np.linalg.norm(self.inputs, axis=1).max())

    @functools.cached_property
    def lines(self) -> Lines:
        """The lines through 0."""
        return lines_of(self.inputs)

    @property
    def imbalance(self) -> int:
        """Σ |difference of the two rays|: 0 exactly for a direction-antipodal set."""
        rays = self.lines.rays
        return int(np.abs(rays[:, 0] - rays[:, 1]).sum())

    @property
    def most_behind(self) -> int:
        """No vector has more points strictly behind it than one ray of each line."""
        return int(self.lines.rays.max(axis=1).sum())

    @property
    def words(self) -> str:
        """The set itself where it is small, otherwise its size."""
        if len(self.labels) > FEW:
            return f"{len(self.labels)} points in dimension {self.inputs.shape[1]}"
        rows = (", ".join(f"{each:g}" for each in x) for x in self.inputs)
        points = ", ".join(f"(({row}), {y:+g})" for row, y in zip(rows, self.labels, strict=True))
        return f"S = {{{points}}}"


def directions_of(inputs: Float[np.ndarray, "sample dim"]) -> Float[np.ndarray, "sample dim"]:
    """x/‖x‖. The largest entry is divided out first: squares of very small points would vanish."""
    scaled = inputs / np.abs(inputs).max(axis=1, keepdims=True)
    return scaled / np.linalg.norm(scaled, axis=1, keepdims=True)


def lines_of(inputs: Float[np.ndarray, "sample dim"]) -> Lines:
    """The line through 0 of each point, and its side of 0 on it. No point may be 0.

    Points of one line have the same |⟨r, x⟩|/‖x‖ for every r, so after sorting by one generic r only neighbours have to
    be compared.
    """
    units = directions_of(inputs)
    generic = np.random.default_rng(0).normal(size=inputs.shape[1])
    places = np.abs(units @ (generic / np.linalg.norm(generic)))
    order = np.argsort(places, kind="stable")
    cuts = np.flatnonzero(np.diff(places[order]) > 2 * SAME_RAY) + 1
    first, side = np.empty(len(units), int), np.ones(len(units), int)
    for neighbours in np.split(order, cuts):
        waiting = np.sort(neighbours)
        while len(waiting):
            forward = np.linalg.norm(units[waiting] - units[waiting[0]], axis=1) <= SAME_RAY
            backward = np.linalg.norm(units[waiting] + units[waiting[0]], axis=1) <= SAME_RAY
            first[waiting[forward | backward]] = waiting[0]
            side[waiting[backward]] = -1
            waiting = waiting[~(forward | backward)]
    return Lines(np.unique(first, return_inverse=True)[1], side)


def separable_set(draw: np.random.Generator, n_samples: int, dim: int) -> PointSet:
    """Points of the unit ball with margins uniform on [1/‖w*‖, 0.999] along a random direction, ‖w*‖ = 3."""
    separator_norm = 3.0
    direction = draw.normal(size=dim)
    direction /= np.linalg.norm(direction)
    labels = draw.choice([-1.0, 1.0], n_samples)
    margins = draw.uniform(1 / separator_norm + 1e-9, 0.999, n_samples)
    across = draw.normal(size=(n_samples, dim))
    across -= np.outer(across @ direction, direction)
    length = np.sqrt(1 - margins**2) * draw.uniform(0, 0.999, n_samples)
    if dim > 1:
        across *= (length / np.linalg.norm(across, axis=1))[:, None]
    else:
        across *= 0
    return PointSet((labels * margins)[:, None] * direction + across, labels, separator_norm * direction)


def antipodal_set(draw: np.random.Generator, n_pairs: int, dim: int) -> PointSet:
    """Pairs x, −x/2^j: opposite rays, opposite labels, unequal norms. A power of two keeps the line exact."""
    half = separable_set(draw, n_pairs, dim)
    scale = draw.choice([-1.0, -0.5], n_pairs)[:, None]
    return PointSet(
        np.concatenate([half.inputs, scale * half.inputs]),
        np.concatenate([half.labels, -half.labels]),
        2 * half.separator,
    )


def antipodal_pair() -> PointSet:
    """S = {(e_1, +1), (−e_1, −1)}: every coordinate is an integer, so nothing is rounded."""
    return PointSet(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, -1.0]), np.array([1.0, 0.0]))


def nearly_antipodal_pair(gap: float) -> PointSet:
    """Two points whose directions miss being opposite by twice `gap`."""
    return PointSet(np.array([[0.5, 0.0], [-0.5, gap]]), np.array([1.0, -1.0]), np.array([2.0, 0.0]))


def points_on(data: Dataset) -> PointSet:
    """Your own data with its certified separator; 0 where there is none, NaN where that is not known.

    Raises:
      DataError: a point is 0, which has no direction.
    """
    inputs, labels = np.asarray(data.inputs, np.float64), np.asarray(data.labels, np.float64)
    zero = np.flatnonzero(~inputs.any(axis=1))
    if len(zero):
        raise DataError(f"point {zero[0]} is 0, so the data is not separable through the origin.")
    return PointSet(inputs, labels, find_separator(data).vector(inputs.shape[1]))
