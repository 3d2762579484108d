"""Data and networks of the paper: points with classes and components as records, and exact instances."""

import dataclasses
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import scipy.sparse.csgraph
import scipy.spatial
from jaxtyping import Float, Int
from pydantic import Field

from widenet.claims.cases import Cases, Count, Number
from widenet.claims.tolerances import ROUNDING
from widenet.data.components import antipodal_polygon, cap_points, gaussian_components, spread_centres
from widenet.data.mnist import load_mnist
from widenet.data.own import recall_points
from widenet.data.points import unit_rows
from widenet.diagnostics.components import (
    Structure,
    components_per_class,
    count_lines,
    find_components,
    measure_structure,
)
from widenet.papers.li2018.formulas import cap_sizes
from widenet.records import ClosedModel
from widenet.training.small.softmax import SoftmaxNetwork


@dataclass(frozen=True, eq=False)
class Sample:
    """Points with their classes, their components and their shares p of the loss, which add up to 1."""

    points: Float[np.ndarray, "point dim"]
    classes: Int[np.ndarray, " point"]
    components: Int[np.ndarray, " point"]
    shares: Float[np.ndarray, " point"]

    @property
    def n_classes(self) -> int:
        """k; classes are numbered from 0."""
        return int(self.classes.max()) + 1

    @property
    def n_components(self) -> int:
        """kl, or the number of components found."""
        return len(np.unique(self.components))

    @property
    def norm_error(self) -> float:
        """How far a norm is from 1."""
        return float(np.abs(np.linalg.norm(self.points, axis=1) - 1).max())

    @property
    def n_lines(self) -> int:
        """Distinct lines through 0 that carry points."""
        return count_lines(self.points)

    def measured(self) -> Structure:
        """δ, λ and l."""
        return measure_structure(self.points, self.classes, self.components)

    def residual_max(self, wrong: Float[np.ndarray, " point"]) -> float:
        """v_max: the largest Σ p(1 − o_y) over a component."""
        places = np.unique(self.components, return_inverse=True)[1]
        return float(np.bincount(places, self.shares * wrong).max())


@dataclass(frozen=True, eq=False, kw_only=True)
class OnData(Cases):
    """Runs or draws on data, with what (A1), (A1') and (A2) are asked of."""

    separation: Number  #: δ across classes
    opposite_separation: Number  #: δ to mirror images
    relative_diameter: Number  #: λ
    n_classes: Count  #: k
    per_class: Count  #: l
    norm_error: Number  #: how far a norm is from 1


STRUCTURE = tuple(field.name for field in dataclasses.fields(OnData) if field.name != "norm_error")


def structure_numbers(found: Structure) -> dict[str, Any]:
    """Of one data set."""
    return {name: getattr(found, name) for name in STRUCTURE}


def structure_columns(found: Sequence[Structure]) -> dict[str, Any]:
    """Of several, one entry each."""
    return {name: np.array([getattr(each, name) for each in found]) for name in STRUCTURE}


def equal_shares(
    points: Float[np.ndarray, "point dim"], classes: Int[np.ndarray, " point"], components: Int[np.ndarray, " point"]
) -> Sample:
    """p = 1/n for every point."""
    return Sample(points, classes, components, np.full(len(points), 1 / len(points)))


class SpreadPoints(ClosedModel):
    """One point per component: unit vectors far from those of other classes and from their mirror images."""

    kind: Literal["spread points"] = "spread points"
    n_classes: int = 3
    per_class: int = 2
    dim: int = 20
    least_distance: float = 0.9
    padding: int = 0

    def draw(self, seed: int) -> Sample:
        """Other points for every seed; `padding` coordinates are 0."""
        draw = np.random.default_rng([seed, 20])
        centres = spread_centres(draw, self.n_classes, self.per_class, self.dim, self.least_distance)
        points = centres.reshape(-1, self.dim)
        points = np.concatenate([points, np.zeros((len(points), self.padding))], axis=1)
        return equal_shares(points, np.repeat(np.arange(self.n_classes), self.per_class), np.arange(len(points)))


class Polygon(ClosedModel):
    """An antipodal polygon, whose second class may be turned by an angle in degrees; see `widenet.data.components`."""

    kind: Literal["polygon"] = "polygon"
    n_directions: int = 3
    degrees: float = 0.0

    def draw(self, seed: int) -> Sample:
        """The same for every seed."""
        points, classes = antipodal_polygon(self.n_directions, float(np.radians(self.degrees)))
        return equal_shares(points, classes, np.arange(len(points)))


class Basis(ClosedModel):
    """One basis vector per component."""

    kind: Literal["basis"] = "basis"
    n_classes: int = 3
    per_class: int = 2

    def draw(self, seed: int) -> Sample:
        """The same for every seed."""
        count = self.n_classes * self.per_class
        return equal_shares(np.eye(count), np.repeat(np.arange(self.n_classes), self.per_class), np.arange(count))


class Caps(ClosedModel):
    """Caps of the sphere that meet (A1) with this λ, and so do their mirror images."""

    kind: Literal["caps"] = "caps"
    n_classes: int = 3
    per_class: int = 2
    dim: int = 50
    relative_diameter: float = 1 / 16
    least_distance: float = 0.9
    n_points: int = 1000

    def centres(self, seed: int) -> tuple[Float[np.ndarray, "component dim"], float]:
        """The middles of the caps, and the least distance across classes or to a mirror image."""
        draw = np.random.default_rng([seed, 21])
        found = spread_centres(draw, self.n_classes, self.per_class, self.dim, self.least_distance)
        middles = found.reshape(-1, self.dim)
        own = np.repeat(np.arange(self.n_classes), self.per_class)
        cosines = np.abs(middles @ middles.T)[own[:, None] != own]
        return middles, float(np.sqrt(2 - 2 * cosines.max()))

    def draw(self, seed: int, fresh: int = 0, n_points: int | None = None) -> Sample:
        """Points drawn component by component with equal probability; `fresh` makes others in the same caps."""
        middles, apart = self.centres(seed)
        draw = np.random.default_rng([seed, 22, fresh])
        which = draw.integers(0, len(middles), self.n_points if n_points is None else n_points)
        points = cap_points(draw, middles[which], cap_sizes(apart, self.relative_diameter)[1])
        return equal_shares(points, which // self.per_class, which)


class Gaussians(ClosedModel):
    """The mixture of Section 7: means N(0, σ₀²/d), covariance σ²/d; brought to norm 1 unless told otherwise."""

    kind: Literal["gaussians"] = "gaussians"
    n_classes: int = 10
    per_class: int = 2
    dim: int = 1000
    mean_scale: float = 5.0
    spread: float = 1.0
    unit_norm: bool = True
    n_points: int = 1000

    def draw(self, seed: int, fresh: int = 0, n_points: int | None = None) -> Sample:
        """`fresh` makes other points of the same Gaussians."""
        means = np.random.default_rng([seed, 23]).normal(size=(self.n_classes * self.per_class, self.dim))
        draw = np.random.default_rng([seed, 24, fresh])
        which = draw.integers(0, len(means), self.n_points if n_points is None else n_points)
        means = means * (self.mean_scale / np.sqrt(self.dim))
        points = gaussian_components(draw, means, which, self.spread, unit_norm=self.unit_norm)
        return equal_shares(points, which // self.per_class, which)


class Images(ClosedModel):
    """Images of MNIST; their classes are the digits, and every class is one component.

    They have norm 1 unless told otherwise; then pixels lie between 0 and 1.
    """

    kind: Literal["images"] = "images"
    n_points: int = 1000
    part: Literal["train", "test"] = "train"
    unit_norm: bool = True

    def draw(self, seed: int, fresh: int = 0, n_points: int | None = None) -> Sample:
        """Other images for every seed; all of them, in their order, where so many are asked for."""
        images, digits = load_mnist(self.part)
        count = self.n_points if n_points is None else n_points
        rows = np.arange(len(digits))
        if count < len(rows):
            rows = np.random.default_rng([seed, 26, fresh]).permutation(rows)[:count]
        points = images[rows].reshape(len(rows), -1).astype(np.float64)
        classes = digits[rows].astype(np.int64)
        size = np.linalg.norm(points, axis=1, keepdims=True) if self.unit_norm else 255.0
        return equal_shares(points / size, classes, classes)


class SphereLabels(ClosedModel):
    """Uniform unit vectors with labels that know nothing of them: every point is a component."""

    kind: Literal["sphere labels"] = "sphere labels"
    n_classes: int = 5
    dim: int = 50
    n_points: int = 100

    def draw(self, seed: int) -> Sample:
        """Other points and labels for every seed."""
        draw = np.random.default_rng([seed, 25])
        points = unit_rows(draw, self.n_points, self.dim)
        return equal_shares(points, draw.integers(0, self.n_classes, self.n_points), np.arange(self.n_points))


class OwnSample(ClosedModel):
    """A reader's own data: rows divided by their norm, rows of 0 left out, equal points merged into one share.

    `single` makes every point a component of its own, as statements about single points (λ = 0) have it; otherwise
    `n_components` is the number of them per class, or None for those that (A1) allows.
    """

    kind: Literal["own"] = "own"
    own_data: str
    single: bool = False
    n_components: int | None = None

    def draw(self, seed: int) -> Sample:
        """The same for every seed; components as `find_components` or `components_per_class` finds them."""
        found = prepare(self.own_data)[0]
        if self.n_components is not None and not self.single:
            own = components_per_class(found.points, found.classes, self.n_components)
            return dataclasses.replace(found, components=own)
        return dataclasses.replace(found, components=np.arange(len(found.points))) if self.single else found


@dataclass(frozen=True)
class RowPreparation:
    """What was done to your rows before a claim saw them."""

    n_rows: int
    n_zero: int  #: rows of 0, which were left out
    n_points: int  #: what is left when rows of one direction and one label are merged
    least: float  #: norm of the rows that were kept
    most: float

    @property
    def n_merged(self) -> int:
        """Rows that were merged with another one."""
        return self.n_rows - self.n_zero - self.n_points

    @property
    def rescales(self) -> bool:
        """Whether some row did not have norm 1 before."""
        return max(1 - self.least, self.most - 1) > ROUNDING

    @property
    def sentence(self) -> str:
        """What was done, with counts and factors; "" where the rows were taken as they are."""
        steps = []
        if self.n_zero:
            steps.append(f"{self.n_zero} zero row{'s' * (self.n_zero > 1)} dropped")
        if self.rescales:
            steps.append(f"every row divided by its norm ({self.least:.3g} to {self.most:.3g})")
        if self.n_merged:
            steps.append(f"{self.n_merged} duplicate{'s' * (self.n_merged > 1)} (same direction and label) merged")
        done = "; ".join(steps)
        return f"Your {self.n_rows} rows were prepared first: {done}. {self.n_points} points remain." if done else ""


@functools.lru_cache(maxsize=4)
def prepare(digest: str) -> tuple[Sample, RowPreparation]:
    """Your data as points of norm 1 with their shares, and what was done to get there."""
    inputs, labels = recall_points(digest)
    norms = np.linalg.norm(inputs, axis=1)
    kept = norms > 0
    units = inputs[kept] / norms[kept][:, None]
    classes = np.unique(labels[kept], return_inverse=True)[1]
    together, counts = merged(np.concatenate([units, classes[:, None]], axis=1))
    points, classes = together[:, :-1], together[:, -1].astype(np.int64)
    sample = Sample(points, classes, find_components(points, classes), counts / counts.sum())
    least, most = float(norms[kept].min()), float(norms[kept].max())
    return sample, RowPreparation(len(norms), int((~kept).sum()), len(points), least, most)


Source = Annotated[
    SpreadPoints | Polygon | Basis | Caps | Gaussians | Images | SphereLabels | OwnSample, Field(discriminator="kind")
]
"""Where points come from: `draw(seed)`."""


Mixture = Annotated[Caps | Gaussians | Images, Field(discriminator="kind")]
"""Laws with as many fresh points as are asked for: `draw(seed, fresh, n_points)`."""


class DataSetting(ClosedModel):
    """What every setting with data has."""

    data: Source


SAME = 4e-15
"""Unit vectors that are nearer have one direction: dividing a row by its norm moves it by some 1e-16."""
TOY = SpreadPoints()
HEXAGON = Polygon()


def merged(rows: Float[np.ndarray, "row dim"]) -> tuple[Float[np.ndarray, "kept dim"], Int[np.ndarray, " kept"]]:
    """Rows that are equal up to `SAME` as one, with how many there were of it; in lexicographic order."""
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    near = scipy.spatial.KDTree(distinct).query_pairs(SAME, output_type="ndarray")
    ones, shape = np.ones(len(near)), (len(distinct), len(distinct))
    group = scipy.sparse.csgraph.connected_components(scipy.sparse.coo_array((ones, near.T), shape), directed=False)[1]
    first = np.unique(group, return_index=True)[1]
    order = np.argsort(first)
    return distinct[first[order]], np.bincount(group, counts)[order].astype(np.int64)


def listed_network() -> tuple[SoftmaxNetwork, SoftmaxNetwork, Sample]:
    """(start, network, points) small enough to be worked out by hand; a neuron sits exactly on a kink."""
    votes = np.array([[1, -0.5, 0.75, -2], [-1.5, 1, 0.25, 0.5], [0.5, 2, -1, 1]])
    start = np.array([[0.5, 0.25], [-0.25, 1], [1, -0.5], [-0.5, -0.5]])
    end = np.array([[0.75, 0], [-0.25, 1.25], [1, -1], [-0.25, -1]])
    points = np.array([[3 / 5, 4 / 5], [-12 / 13, 5 / 13], [0.0, -1.0]])
    sample = Sample(points, np.arange(3), np.arange(3), np.array([1 / 2, 1 / 3, 1 / 6]))
    return SoftmaxNetwork(start, votes), SoftmaxNetwork(end, votes), sample


def steep_network(height: float = 3.0, width: int = 1) -> tuple[SoftmaxNetwork, Sample]:
    """Votes ±1, one point of the second class, f = (F, −F): rows of the gradient have norm 2/(1 + e^{−2F})."""
    point = np.array([[1.0, 0.0]])
    hidden = np.tile(height / width * point, (width, 1))
    votes = np.stack([np.ones(width), -np.ones(width)])
    return SoftmaxNetwork(hidden, votes), Sample(point, np.array([1]), np.array([0]), np.ones(1))
