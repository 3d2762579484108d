"""Points against the assumption (A1): the balls of Figure 3, pairs across classes, and three points that cancel."""

from dataclasses import dataclass

import numpy as np
import scipy.optimize
import scipy.spatial.distance
from jaxtyping import Float

from widenet.claims.cases import Cases, Count, Number, column
from widenet.data.components import BALL_CENTRES, antipodal_polygon, xor_balls
from widenet.diagnostics.components import Structure, is_obstructed, measure_structure, natural_components
from widenet.papers.li2018.sources import HEXAGON, TOY, OnData, Sample, equal_shares, structure_numbers
from widenet.papers.li2018.user_data import drawn_on_points
from widenet.records import Scale


@dataclass(frozen=True, eq=False)
class XorBalls(Cases):
    """Points of balls, as two components per class and as one; and whether a line separates the classes."""

    separation: Number  #: across classes
    diameter: Number  #: of a ball
    whole_diameter: Number  #: of a class
    per_class: Count
    separable: bool | np.ndarray

    @column
    def relative_diameter(self) -> Number:
        """λ of two components per class."""
        return self.diameter / self.separation

    @column
    def whole_relative_diameter(self) -> Number:
        """λ of one."""
        return self.whole_diameter / self.separation


def measure_balls(points: np.ndarray, classes: np.ndarray, components: np.ndarray) -> XorBalls:
    """Separability by a linear program with a bias."""
    signed = np.where(classes == 0, 1.0, -1.0)[:, None] * np.concatenate([points, np.ones((len(points), 1))], axis=1)
    solved = scipy.optimize.linprog(
        np.zeros(points.shape[1] + 1), A_ub=-signed, b_ub=-np.ones(len(points)), bounds=(None, None), method="highs"
    )
    apart, together = (measure_structure(points, classes, each) for each in (components, classes))
    return XorBalls(apart.separation, apart.diameter, together.diameter, apart.per_class, solved.status != 2)


def with_extremes(points: np.ndarray, classes: np.ndarray, components: np.ndarray, diameter: float) -> tuple:
    """The same points, and eight on the rim of each ball, those on the lines between centres among them."""
    around = np.radians(np.arange(0, 360, 45))
    rim = diameter / 2 * np.stack([np.cos(around), np.sin(around)], axis=1)
    ends = (BALL_CENTRES[:, :, None] + rim).reshape(-1, 2)
    which = np.arange(len(ends)) // len(rim)
    return (
        np.concatenate([points, ends]),
        np.concatenate([classes, which // BALL_CENTRES.shape[1]]),
        np.concatenate([components, which]),
    )


def draw_balls(scale: Scale, seed: int) -> XorBalls:
    """Balls of diameter 1/10, with their extreme points."""
    drawn = xor_balls(np.random.default_rng([seed, 7]), 200)
    return measure_balls(*with_extremes(*drawn, diameter=0.1))


PerPair = Float[np.ndarray, " pair"]


@dataclass(frozen=True, eq=False)
class CrossPairs(Cases):
    """Pairs of points across classes."""

    rows = "pair"

    sines: PerPair  #: 1 − ⟨x, x'⟩²
    squares: PerPair  #: ‖x − x'‖²
    opposite_squares: PerPair  #: ‖x + x'‖²
    distances: PerPair  #: δ of the data they come from, with mirror images
    separations: PerPair  #: and without
    norm_error: Number
    separation: Number = np.nan  #: δ of the last data, and its other numbers
    opposite_separation: Number = np.nan
    relative_diameter: Number = np.nan
    n_classes: Count = 0
    per_class: Count = 0
    sample: Sample | None = None  #: the first data


def measure_pairs(samples: list[Sample]) -> CrossPairs:
    """All pairs across classes."""
    rows, structures = [], [sample.measured() for sample in samples]
    for sample, found in zip(samples, structures, strict=True):
        pairs = np.triu(sample.classes[:, None] != sample.classes, 1)
        sines = 1 - (sample.points @ sample.points.T)[pairs] ** 2
        squares, opposite = (
            scipy.spatial.distance.cdist(sample.points, sign * sample.points, "sqeuclidean")[pairs] for sign in (1, -1)
        )
        ones = np.ones(len(sines))
        rows.append(np.stack([sines, squares, opposite, found.distance * ones, found.separation * ones]))
    error = max(sample.norm_error for sample in samples)
    numbers = structure_numbers(structures[-1])
    return CrossPairs(*np.concatenate(rows, axis=1), norm_error=error, **numbers, sample=samples[0])


def pair_at(distance: float) -> Sample:
    """Two unit vectors at exactly this distance, one of each class."""
    angle = 2 * np.arcsin(distance / 2)
    points = np.array([[1.0, 0.0], [np.cos(angle), np.sin(angle)]])
    return equal_shares(points, np.arange(2), np.arange(2))


@drawn_on_points(lambda sample, _: measure_pairs([sample]))
def draw_pairs(scale: Scale, seed: int) -> CrossPairs:
    """Toys, and pairs at exactly their δ."""
    return measure_pairs([*(TOY.draw(1000 * seed + number) for number in range(10)), pair_at(0.9), pair_at(1.3)])


def draw_bad_pairs(scale: Scale, seed: int) -> CrossPairs:
    """Antipodal points, and a pair at exactly δ."""
    return measure_pairs([HEXAGON.draw(seed), pair_at(0.9)])


@dataclass(frozen=True, eq=False)
class Assumed(OnData):
    """A sample; and, of your data, the components that stand apart, whether (A1) allows them or not."""

    n_components: Count
    distance: Number  #: δ, with mirror images
    obstructed: bool | np.ndarray  #: whether antipodal points are in the way of every network
    natural: Structure | None = None


def measure_assumed(sample: Sample, natural: Structure | None = None) -> Assumed:
    """δ, λ and l as (A1) has them."""
    found = sample.measured()
    return Assumed(
        **structure_numbers(found),
        n_components=found.n_components,
        norm_error=sample.norm_error,
        distance=found.distance,
        obstructed=is_obstructed(sample.points, sample.classes),
        natural=natural,
    )


def measure_own(sample: Sample, seed: int) -> Assumed:
    """With the components that stand apart."""
    components = natural_components(sample.points, sample.classes)
    return measure_assumed(sample, measure_structure(sample.points, sample.classes, components))


@drawn_on_points(measure_own, most=5000, for_what="All distances are taken here")
def draw_toy(scale: Scale, seed: int) -> Assumed:
    """Six points of three classes."""
    return measure_assumed(TOY.draw(seed))


@dataclass(frozen=True, eq=False)
class Cancelled(Cases):
    """‖P‖ over v of three points at 120° with equal coefficients."""

    rows = "draw"

    linear: Float[np.ndarray, " draw"]  #: with all gates on
    gated: Float[np.ndarray, " draw"]  #: with the gates of drawn weights


def draw_cancelled(scale: Scale, seed: int) -> Cancelled:
    """2000 neurons."""
    points, _ = antipodal_polygon()
    gates = np.random.default_rng([seed, 8]).normal(size=(2000, 2)) @ points[:3].T >= 0
    linear = np.linalg.norm(np.ones_like(gates) @ points[:3], axis=1)
    return Cancelled(linear, np.linalg.norm(gates @ points[:3], axis=1))
