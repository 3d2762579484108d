"""The assumption (A1): the balls of Figure 3, angles across classes, and what a ReLU adds to a linear unit."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.optimize
import scipy.spatial.distance
from jaxtyping import Float

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Cases, Count, Number, column
from widenet.claims.implication import Promise, Promised, at_least, at_most, equal, more_than
from widenet.claims.sides import Fact
from widenet.claims.tolerances import IDENTITY, ROUNDING
from widenet.data.components import BALL_CENTRES, antipodal_polygon, xor_balls
from widenet.diagnostics.components import Structure, is_obstructed, measure_structure, natural_components
from widenet.papers.li2018.formulas import least_squared_sine, squared_sine, widest_component
from widenet.papers.li2018.hypotheses import DATA, unit_norm
from widenet.papers.li2018.sources import HEXAGON, TOY, OnData, Sample, equal_shares, structure_numbers
from widenet.papers.li2018.user_data import drawn_on
from widenet.records import Scale


@dataclass(frozen=True, eq=False)
class Balls(Cases):
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


def measure_balls(points: np.ndarray, classes: np.ndarray, components: np.ndarray) -> Balls:
    """Separability by a linear program with a bias."""
    signed = np.where(classes == 0, 1.0, -1.0)[:, None] * np.concatenate([points, np.ones((len(points), 1))], axis=1)
    solved = scipy.optimize.linprog(
        np.zeros(points.shape[1] + 1), A_ub=-signed, b_ub=-np.ones(len(points)), bounds=(None, None), method="highs"
    )
    apart, together = (measure_structure(points, classes, each) for each in (components, classes))
    return Balls(apart.separation, apart.diameter, together.diameter, apart.per_class, solved.status != 2)


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


def draw_balls(scale: Scale, seed: int) -> Balls:
    """Balls of diameter 1/10, with their extreme points."""
    drawn = xor_balls(np.random.default_rng([seed, 7]), 200)
    return measure_balls(*with_extremes(*drawn, diameter=0.1))


def ball_details(balls: Balls) -> dict[str, Any]:
    """Both λ."""
    cell = balls.cells[-1]
    return {"λ with l = 2": cell.relative_diameter, "λ with l = 1": cell.whole_relative_diameter}


@claim("li2018.assumption_a1_balls", Kind.CONSTRUCTION, "Figure 3, Appendix C", draws=draw_balls, given=[],
       details=ball_details, title="Four balls meet (A1) with two components per class only")  # fmt: skip
def assumption_a1_balls(
    balls: Balls, *, distance: float = 1.9, diameter: float = 0.1, one_component: float = widest_component(1)
) -> Promised:
    """Balls of diameter 1/10 around (0, 0) and (2, 2) for one class, (0, 2) and (2, 0) for the other, have distance
    19/10 across classes, so they meet (A1) with l = 2: λ = 1/19 ≤ 1/16. With l = 1, λ = (2√2 + 1/10)/(19/10) = 1.54
    exceeds 1/8. No line separates the classes.
    """
    limit = widest_component(balls.per_class)
    return {
        "distance": equal(balls.separation, distance, within=ROUNDING, text="distance 19/10 across classes"),
        "diameter": equal(balls.diameter, diameter, within=ROUNDING, text="diameters of 1/10"),
        "two_components": at_most(balls.relative_diameter, limit, text="$λ ≤ 1/(8l)$ with two components"),
        "one_component": more_than(balls.whole_relative_diameter, one_component, text="$λ > 1/8$ with one component"),
        "no_line": Fact(~np.asarray(balls.separable, bool), text="no line separates the classes"),
    }


PerPair = Float[np.ndarray, " pair"]


@dataclass(frozen=True, eq=False)
class Pairs(Cases):
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


def measure_pairs(samples: list[Sample]) -> Pairs:
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
    return Pairs(*np.concatenate(rows, axis=1), norm_error=error, **structure_numbers(structures[-1]))


def pair_at(distance: float) -> Sample:
    """Two unit vectors at exactly this distance, one of each class."""
    angle = 2 * np.arcsin(distance / 2)
    points = np.array([[1.0, 0.0], [np.cos(angle), np.sin(angle)]])
    return equal_shares(points, np.arange(2), np.arange(2))


@drawn_on(lambda sample, _: measure_pairs([sample]))
def draw_pairs(scale: Scale, seed: int) -> Pairs:
    """Toys, and pairs at exactly their δ."""
    return measure_pairs([*(TOY.draw(seed + number) for number in range(10)), pair_at(0.9), pair_at(1.3)])


def draw_bad_pairs(scale: Scale, seed: int) -> Pairs:
    """Antipodal points, and a pair at exactly δ."""
    return measure_pairs([HEXAGON.draw(seed), pair_at(0.9)])


def structure_details(cell: Any) -> dict[str, Any]:
    """δ, λ and l of one data set."""
    return {
        "classes": cell.n_classes,
        "components per class": cell.per_class,
        "δ": cell.separation,
        "δ to mirror images": cell.opposite_separation,
        "λ": cell.relative_diameter,
    }


@claim("li2018.cross_class_sine", Kind.STEP, "proof of Lemma A.2", draws=draw_pairs, given=[unit_norm],
       details=lambda pairs: structure_details(pairs.cells[-1]),
       title="Points of different classes enclose a large angle")  # fmt: skip
def cross_class_sine(pairs: Pairs, *, quarter: float = 4.0, share: float = 1.0) -> Promised:
    """1 − ⟨x, x'⟩² = ‖x − x'‖²·‖x + x'‖²/4 for unit vectors. So with distance δ across classes from points and from
    their mirror images it is at least δ²(1 − δ²/4), which is attained.

    `quarter` and `share` are for controls.
    """
    product, bound = pairs.squares * pairs.opposite_squares / quarter, share * least_squared_sine(pairs.distances)
    return {
        "product": equal(pairs.sines, product, room=ROUNDING, text="$1 − ⟨x, x'⟩² = ‖x − x'‖²·‖x + x'‖²/4$"),
        "bound": at_least(pairs.sines, bound, room=ROUNDING, text="at least $δ²(1 − δ²/4)$"),
        "one_distance": equal(
            pairs.sines, squared_sine(pairs.squares), room=IDENTITY, text="from one distance alone: $u(4 − u)/4$"
        ),
    }


@claim("li2018.cross_class_sine_as_printed", Kind.STEP, "proof of Lemma A.2", draws=draw_bad_pairs,
       given=[unit_norm], title="The squared sine across classes is at least $δ²$")  # fmt: skip
def cross_class_sine_as_printed(pairs: Pairs) -> Promised:
    """1 − ⟨x, x'⟩² ≥ δ² for points of different classes, from (A1) and (A2)."""
    return {"bound": at_least(pairs.sines, pairs.separations**2, room=ROUNDING, text="$1 − ⟨x, x'⟩² ≥ δ²$")}


@dataclass(frozen=True, eq=False)
class Assumed(OnData):
    """A sample; and, of a reader's, the components that stand apart, whether (A1) allows them or not."""

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


@drawn_on(measure_own, most=5000, for_what="All distances are taken here")
def draw_toy(scale: Scale, seed: int) -> Assumed:
    """Six points of three classes."""
    return measure_assumed(TOY.draw(seed))


@claim("li2018.assumption_a1", Kind.CONSTRUCTION, "(A1) and (A2), Section 3", draws=draw_toy, given=DATA,
       title="Data that meets (A1) has no antipodal obstruction")  # fmt: skip
def assumption_a1(data: Assumed, *, widest: float = 2**0.5) -> Promise:
    """Classes whose components are farther than δ > 0 from those of other classes, and from their mirror images, and
    have diameters of at most λδ with λ ≤ 1/(8l), have δ ≤ √2, and some two-layer ReLU network may classify them: no
    antipodal points are in its way.

    That mirror images count is ours: see `cross_class_sine_as_printed`.
    """
    return Promise(
        {
            "distance_limit": at_most(data.distance, widest, within=ROUNDING, text="$δ ≤ √2$"),
            "no_obstruction": Fact(~np.asarray(data.obstructed, bool), text="no antipodal obstruction"),
        },
        details=lambda: {**structure_details(data.cells[-1]), "components": data.cells[-1].n_components},
        note=lambda: natural_note(data.cells[-1].natural),
    )


def natural_note(natural: Structure | None) -> str:
    """By how much the components that stand apart miss (A1), where they do."""
    if natural is None or natural.relative_diameter <= natural.widest_allowed:
        return ""
    excess = natural.relative_diameter - natural.widest_allowed
    return (
        f"{natural.n_components} components stand apart, {natural.per_class} in a class at most, but are too wide: "
        f"λ = {natural.relative_diameter:.4g} exceeds 1/(8l) = {natural.widest_allowed:.4g} by {excess:.2g}."
    )


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


@claim("li2018.remark_without_relu", Kind.CONSTRUCTION, "after Lemma A.2, Appendix A.2", draws=draw_cancelled,
       given=[], title="Pieces that cancel with linear units do not with ReLU")  # fmt: skip
def remark_without_relu(found: Cancelled) -> Promised:
    """Without ReLU P_{1,r} can vanish: where Σ_b x_{1,b} = 0, all p_{1,b}v_{1,1,b} are v and the other classes add
    nothing, it is 0. With ReLU one or two of three such points at 120° are active, and ‖P_{1,r}‖ = v for every w_r.
    """
    return {
        "linear": at_most(found.linear, 0, within=ROUNDING, text="0 with linear units"),
        "gated": equal(found.gated, 1, within=ROUNDING, text="$v$ with ReLU"),
    }
