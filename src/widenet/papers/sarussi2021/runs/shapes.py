"""Small networks whose boundaries are known: two neurons, clusters that mix signs, and perfect clusters."""

from dataclasses import dataclass

import numpy as np

from widenet.diagnostics.sign_clusters import widest_angle
from widenet.papers.sarussi2021.runs.clouds import Clouds, ask
from widenet.papers.sarussi2021.settings import SignedNetwork

GRID = 200


@dataclass(frozen=True, eq=False)
class TwoNeurons:
    """The network w = (1, 0), u = (0, 1) on a grid of the square [−1, 1]².

    Attributes:
      signs: of N on the grid; zeros stay 0.
      rays_plus, rays_minus: the two rays of the boundary, in degrees, when zeros count as positive, as negative.
      slope: α.
    """

    signs: np.ndarray
    rays_plus: np.ndarray
    rays_minus: np.ndarray
    slope: float


def two_neurons(slope: float) -> TwoNeurons:
    """An even grid, which has no node at 0."""
    side = np.linspace(-1, 1, GRID)
    network = SignedNetwork(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]), 1.0, slope)
    points = np.stack([each.ravel() for each in np.meshgrid(side, side)], axis=1)
    signs = np.sign(network.outputs(points)).reshape(GRID, GRID)
    return TwoNeurons(signs, _turns(network, 1.0), _turns(network, -1.0), slope)


def _turns(network: SignedNetwork, zero: float) -> np.ndarray:
    """Where the label changes on the circle, if 0 has this label: between two of 16 arcs without a kink inside."""
    angles = np.radians(np.arange(16) * 22.5 + 11.25)
    outputs = network.outputs(np.stack([np.cos(angles), np.sin(angles)], axis=1))
    labels = np.where(outputs == 0, zero, np.sign(outputs))
    return np.flatnonzero(labels != np.roll(labels, 1)) * 22.5


@dataclass(frozen=True, eq=False)
class MixedClusters:
    """Networks with two tight clusters of neurons, each with neurons of both signs, per slope."""

    networks: tuple[SignedNetwork, ...]
    spread: float


def mixed_clusters(*, matched: bool = False, spread: float = 0.01) -> MixedClusters:
    """w = (1 + δ)e₁, (1 + δ)e₂ and u = e₁, e₂. `matched` sorts the same vectors by sign, for a control."""
    first, second = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    if matched:
        plus, minus = np.stack([(1 + spread) * first, first]), np.stack([(1 + spread) * second, second])
    else:
        plus, minus = (1 + spread) * np.stack([first, second]), np.stack([first, second])
    return MixedClusters(tuple(SignedNetwork(plus, minus, 1.0, slope) for slope in (0.1, 0.4)), spread)


@dataclass(frozen=True, eq=False)
class PerfectClusters:
    """Pairs of a network and a point in small whole numbers, where nothing is rounded.

    Attributes:
      equal: networks whose rows of one sign are equal; collinear: they are positive multiples of one row.
      widest: the largest angle between two rows of one sign, of the collinear networks, in degrees.
    """

    equal: Clouds
    collinear: Clouds
    widest: float


def perfect_clusters(seed: int, *, turned: float = 1.0) -> PerfectClusters:
    """Rows and points with entries from −3 to 3. `turned` multiplies one collinear row, for a control."""
    draw = np.random.default_rng([seed, 61])
    equal, collinear, widest = [], [], 0.0
    for _ in range(60):
        k, slope = int(draw.choice([1, 2, 4])), float(draw.choice([0.25, 0.5]))
        w, u = draw.integers(-3, 4, (2, 3)).astype(float)
        points = draw.integers(-3, 4, (40, 3)).astype(float)
        # Ties: points orthogonal to w, to u, to both and to their difference.
        points[:4] = np.stack([_across(w, points[0]), _across(u, points[1]), np.cross(w, u), _across(w - u, points[3])])
        equal.append(ask(SignedNetwork(np.tile(w, (k, 1)), np.tile(u, (k, 1)), 1.0, slope), points))
        multiples = draw.choice([0.5, 1.0, 2.0], size=(2, 4))
        multiples[0, 0] *= turned
        rows = multiples[0][:, None] * w, multiples[1][:, None] * u
        collinear.append(ask(SignedNetwork(*rows, 1.0, slope), points))
        angles = [float(widest_angle(each)) for each in rows if each.any()]
        widest = max([widest, *angles])
    return PerfectClusters(Clouds.joined(equal), Clouds.joined(collinear), widest)


def _across(normal: np.ndarray, point: np.ndarray) -> np.ndarray:
    """A whole-number point orthogonal to `normal`."""
    return np.cross(normal, point)
