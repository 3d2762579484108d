"""Section 7.1: how to place a ReLU network where at least half of the points switch every neuron off.

Group the points by the line through 0 on which they lie, and call a set direction-antipodal if every line carries as
many points on one ray as on the other. A vector ŵ that is orthogonal to no point has, on each line, all of one ray
behind it. So on a direction-antipodal set exactly half of the points are behind ŵ, whatever ŵ is; on every other set
some ŵ has more than half behind it (Lemma 11, repaired).
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from widenet.diagnostics import find_separator
from widenet.errors import DataError
from widenet.papers.brutzkus2018.runs.online import Start
from widenet.types import Dataset

SAME_RAY = 1e-9
"""Unit vectors this close count as one direction."""


@dataclass(frozen=True, eq=False)
class PointSet:
    """A finite set S and a vector that separates it.

    Attributes:
      inputs, labels: the points and their labels ±1.
      separator: w* with y⟨w*, x⟩ ≥ 1.
    """

    inputs: Float[np.ndarray, "sample dim"]
    labels: Float[np.ndarray, " sample"]
    separator: Float[np.ndarray, " dim"]

    @property
    def lines(self) -> Int[np.ndarray, "line 2"]:
        """How many points lie on the two rays of each line through 0."""
        line, side = _lines(self.inputs)
        return np.array([[((line == each) & (side == s)).sum() for s in (1, -1)] for each in range(line.max() + 1)])

    @property
    def imbalance(self) -> int:
        """Σ |difference of the two rays|: 0 exactly for a direction-antipodal set."""
        return int(np.abs(self.lines[:, 0] - self.lines[:, 1]).sum())

    @property
    def most_behind(self) -> int:
        """No vector has more points strictly behind it than one ray of each line."""
        return int(self.lines.max(axis=1).sum())


def separable_set(
    draw: np.random.Generator, n_samples: int, dim: int, separator_norm: float = 3.0, margin_max: float = 0.999
) -> PointSet:
    """Points of the unit ball with margins uniform on [1/‖w*‖, margin_max] along a random direction."""
    direction = draw.normal(size=dim)
    direction /= np.linalg.norm(direction)
    labels = draw.choice([-1.0, 1.0], n_samples)
    margins = draw.uniform(1 / separator_norm + 1e-9, margin_max, n_samples)
    across = draw.normal(size=(n_samples, dim))
    across -= np.outer(across @ direction, direction)
    length = np.sqrt(1 - margins**2) * draw.uniform(0, 0.999, n_samples)
    if dim > 1:
        across *= (length / np.linalg.norm(across, axis=1))[:, None]
    else:
        across *= 0
    return PointSet((labels * margins)[:, None] * direction + across, labels, separator_norm * direction)


def antipodal_set(draw: np.random.Generator, n_pairs: int, dim: int, separator_norm: float = 6.0) -> PointSet:
    """Pairs x, −x/2^j: opposite rays, opposite labels, unequal norms. A power of two keeps the line exact."""
    half = separable_set(draw, n_pairs, dim, separator_norm / 2)
    scale = draw.choice([-1.0, -0.5], n_pairs)[:, None]
    return PointSet(
        np.concatenate([half.inputs, scale * half.inputs]),
        np.concatenate([half.labels, -half.labels]),
        2 * half.separator,
    )


def points_on(data: Dataset) -> PointSet:
    """A user's own data, with its certified separator; zero where there is none, so that the hypothesis fails visibly.

    Raises:
      DataError: a point is 0, which has no direction.
    """
    inputs, labels = np.asarray(data.inputs, np.float64), np.asarray(data.labels, np.float64)
    zero = np.flatnonzero(~inputs.any(axis=1))
    if len(zero):
        raise DataError(f"point {zero[0]} is 0, so the data is not separable through the origin.")
    separator = find_separator(data).separator
    return PointSet(inputs, labels, np.zeros(inputs.shape[1]) if separator is None else separator)


def mostly_behind(points: PointSet, draw: np.random.Generator) -> Float[np.ndarray, " dim"]:
    """ŵ with ⟨ŵ, x⟩ ≠ 0 everywhere and at least half of the points behind it; more than half where that is possible.

    Random search fails on sets that are nearly direction-antipodal. Instead: take a line with unequal rays, a generic
    h orthogonal to it, and tilt h towards either ray by less than any other point notices. The two tilts differ in
    Σ sign⟨ŵ, x⟩ by twice the imbalance of the line, so one of the sums is not 0; its sign chooses ŵ or −ŵ.
    """
    line, side = _lines(points.inputs)
    sums = np.array([side[line == each].sum() for each in range(line.max() + 1)])
    chosen = int(np.argmax(np.abs(sums)))
    on_it = line == chosen
    axis = points.inputs[np.argmax(on_it)] / np.linalg.norm(points.inputs[np.argmax(on_it)])
    across = draw.normal(size=len(axis))
    across -= (across @ axis) * axis
    tilt = 0.5 * np.abs(points.inputs[~on_it] @ across).min(initial=2.0)
    candidates = [across + tilt * axis, across - tilt * axis]
    signs = [np.sign(points.inputs @ candidate).sum() for candidate in candidates]
    best = int(np.argmax(np.abs(signs)))
    return -candidates[best] if signs[best] > 0 else candidates[best]


def bad_minimum(
    points: PointSet, half_width: int, direction: Float[np.ndarray, " dim"]
) -> Float[np.ndarray, "neuron dim"]:
    """The W of Theorem 8: rows cŵ + w* and cŵ − w*, with c so large that ŵ alone decides every sign.

    In front of ŵ all neurons are on and yN = 2k·y⟨w*, x⟩ ≥ 2k; behind it all are off, N = 0 and the loss is 1.
    """
    smallest = 0.5 * np.abs(points.inputs @ direction).min()
    c = 1.01 * np.linalg.norm(points.separator) / smallest
    rows = np.stack([c * direction + points.separator, c * direction - points.separator])
    return np.repeat(rows, half_width, axis=0)


def as_start(points: PointSet, half_width: int, copies: int = 1, slope: float = 0.0) -> Start:
    """The loss on these points for many weight matrices at once (v = 1)."""
    labels = np.repeat(points.labels[None], copies, axis=0)
    weights = np.zeros((copies, 2 * half_width, points.inputs.shape[1]))
    return Start(points.inputs, labels, weights, 1.0, slope=slope)


def _lines(inputs: Float[np.ndarray, "sample dim"]) -> tuple[Int[np.ndarray, " sample"], Int[np.ndarray, " sample"]]:
    """The line through 0 of each point, and its side of 0 on it."""
    units = inputs / np.linalg.norm(inputs, axis=1, keepdims=True)
    line, side = np.full(len(units), -1), np.ones(len(units), int)
    found = 0
    for index, unit in enumerate(units):
        if line[index] >= 0:
            continue
        forward = np.linalg.norm(units - unit, axis=1) <= SAME_RAY
        backward = np.linalg.norm(units + unit, axis=1) <= SAME_RAY
        line[forward | backward] = found
        side[backward] = -1
        found += 1
    return line, side
