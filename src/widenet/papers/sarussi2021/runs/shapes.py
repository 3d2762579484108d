"""Small networks whose boundaries are known: two neurons, clusters that mix signs, and perfect clusters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.cases import Cases, Number, column
from widenet.diagnostics.rays import boundary_rays
from widenet.diagnostics.sign_clusters import widest_angle
from widenet.papers.sarussi2021.runs.clouds import Clouds, Pairs, ask
from widenet.papers.sarussi2021.sources import SignedNetwork
from widenet.records import Scale

GRID = 200


@dataclass(frozen=True, eq=False)
class TwoNeurons(Cases):
    """The network w = (1, 0), u = (0, 1) on a grid of the square [−1, 1]², of m by m nodes."""

    signs: Float[np.ndarray, "y x"]  #: of N on the grid; zeros stay 0
    rays_plus: Float[np.ndarray, " ray"]  #: of the boundary, in degrees, when zeros count as positive
    rays_minus: Float[np.ndarray, " ray"]  #: when they count as negative
    slope: Number  #: α

    @column
    def zeros(self) -> int:
        """At how many nodes N is 0."""
        return int((self.signs == 0).sum())

    @column
    def expected_zeros(self) -> int:
        """m²/4 in the quadrant, and m/2 on the diagonal ray."""
        return self.signs.size // 4 + len(self.signs) // 2

    @column
    def plus_bends(self) -> bool:
        """Whether the rays are those at 45° and 180°, if 0 is positive."""
        return self.rays_plus.tolist() == [45.0, 180.0]

    @column
    def minus_bends(self) -> bool:
        """Whether they are those at 45° and 270°, if 0 is negative."""
        return self.rays_minus.tolist() == [45.0, 270.0]


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
class MixedClusters(Cases):
    """Networks with two tight clusters of neurons, each with neurons of both signs."""

    rows: ClassVar = "network"

    gap: Float[np.ndarray, " network"]  #: the angle between the two rays of the boundary; NaN where there are not two
    slope: Float[np.ndarray, " network"]  #: α
    spread: Number  #: of a cluster, relative to its length


def mixed_clusters(*, matched: bool = False, spread: float = 0.01) -> MixedClusters:
    """w = (1 + δ)e₁, (1 + δ)e₂ and u = e₁, e₂. `matched` sorts the same vectors by sign, for a control."""
    first, second = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    if matched:
        plus, minus = np.stack([(1 + spread) * first, first]), np.stack([(1 + spread) * second, second])
    else:
        plus, minus = (1 + spread) * np.stack([first, second]), np.stack([first, second])
    return clusters_of([SignedNetwork(plus, minus, 1.0, slope) for slope in (0.1, 0.4)], spread)


def clusters_of(networks: Sequence[SignedNetwork], spread: float) -> MixedClusters:
    """How far apart the rays of their boundaries are."""
    rays = [boundary_rays(each.weights, each.output_weights, each.slope) for each in networks]
    gaps = np.array([each[1] - each[0] if len(each) == 2 else np.nan for each in rays])
    return MixedClusters(gaps, np.array([each.slope for each in networks]), spread)


@dataclass(frozen=True, eq=False)
class PerfectClusters(Clouds):
    """Pairs of a network and a point in small whole numbers, where nothing is rounded."""

    collinear: Bool[np.ndarray, " pair"]  #: rows of one sign are positive multiples of one row, and not all equal
    widest: Number  #: the largest angle between two such rows, in degrees

    @column
    def farthest(self) -> Pairs:
        """How far a row of equal ones is from its mean."""
        return np.where(self.collinear, 0.0, np.maximum(self.plus_distance, self.minus_distance))


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
    return clusters(Clouds.joined(equal), Clouds.joined(collinear), widest)


def clusters(equal: Clouds, collinear: Clouds, widest: float) -> PerfectClusters:
    """Both kinds of pairs in turn."""
    both = Clouds.joined([equal, collinear])
    return PerfectClusters(**vars(both), collinear=np.arange(len(both)) >= len(equal), widest=widest)


def _across(normal: np.ndarray, point: np.ndarray) -> np.ndarray:
    """A whole-number point orthogonal to `normal`."""
    return np.cross(normal, point)


def draw_relu(scale: Scale, seed: int) -> TwoNeurons:
    """α = 0."""
    return two_neurons(0.0)


def draw_mixed(scale: Scale, seed: int) -> MixedClusters:
    """At α = 0.1 and 0.4."""
    return mixed_clusters()


def draw_perfect(scale: Scale, seed: int) -> PerfectClusters:
    """Sixty networks of each kind."""
    return perfect_clusters(seed)
