"""The assumption (A1): the balls of Figure 3, angles across classes, and what a ReLU adds to a linear unit."""

from dataclasses import dataclass

import numpy as np
import scipy.optimize
import scipy.spatial.distance
from jaxtyping import Float

from widenet.claims.base import Evidence, Kind, claim
from widenet.claims.sides import Fact, Sense, Sides, evidence
from widenet.claims.specimen import Silence, Specimen
from widenet.claims.tolerances import IDENTITY, ROUNDING
from widenet.data.components import BALL_CENTRES, antipodal_polygon, xor_balls
from widenet.diagnostics.components import Structure, is_obstructed, measure_structure, natural_components, relative
from widenet.papers.li2018.claims.network import unit_norm
from widenet.papers.li2018.claims.specimens import applies, prepared, separated
from widenet.papers.li2018.formulas import least_squared_sine, squared_sine, widest_component
from widenet.papers.li2018.settings import HEXAGON, TOY, Sample, equal_shares
from widenet.records import Scale


@dataclass(frozen=True, eq=False)
class Balls:
    """Points of balls, as two components per class and as one; and whether a line separates the classes."""

    apart: Structure
    together: Structure
    separable: bool


def measure_balls(points: np.ndarray, classes: np.ndarray, components: np.ndarray) -> Balls:
    """Separability by a linear program with a bias."""
    signed = np.where(classes == 0, 1.0, -1.0)[:, None] * np.concatenate([points, np.ones((len(points), 1))], axis=1)
    solved = scipy.optimize.linprog(
        np.zeros(points.shape[1] + 1), A_ub=-signed, b_ub=-np.ones(len(points)), bounds=(None, None), method="highs"
    )
    return Balls(
        measure_structure(points, classes, components),
        measure_structure(points, classes, classes),
        solved.status != 2,
    )


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


@claim("li2018.assumption_a1_balls", Kind.CONSTRUCTION, "Figure 3, Appendix C", draws=draw_balls)
def assumption_a1_balls(
    balls: Balls, *, distance: float = 1.9, diameter: float = 0.1, one_component: float = widest_component(1)
) -> Evidence:
    """Balls of diameter 1/10 around (0, 0) and (2, 2) for one class, (0, 2) and (2, 0) for the other, have distance
    19/10 across classes, so they meet (A1) with l = 2: λ = 1/19 ≤ 1/16. With l = 1, λ = (2√2 + 1/10)/(19/10) = 1.54
    exceeds 1/8. No line separates the classes.
    """
    two = relative(balls.apart.diameter, balls.apart.separation)
    one = relative(balls.together.diameter, balls.together.separation)
    limit = widest_component(balls.apart.per_class)
    return evidence(
        {
            "distance 19/10 across classes": Sides(balls.apart.separation, distance, Sense.EQUAL, room=ROUNDING),
            "diameters of 1/10": Sides(balls.apart.diameter, diameter, Sense.EQUAL, room=ROUNDING),
            "λ ≤ 1/(8l) with two components": Sides(two, limit),
            "λ > 1/8 with one component": Sides(one, one_component, Sense.AT_LEAST, strict=True),
            "no line separates the classes": Fact(not balls.separable),
        },
        details={"λ with l = 2": two, "λ with l = 1": one},
    )


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of points across classes: 1 − ⟨x, x'⟩², ‖x − x'‖² and ‖x + x'‖²; and δ of the data they come from."""

    sines: Float[np.ndarray, " pair"]
    squares: Float[np.ndarray, " pair"]
    opposite_squares: Float[np.ndarray, " pair"]
    distances: Float[np.ndarray, " pair"]
    separations: Float[np.ndarray, " pair"]
    norm_error: float
    structure: Structure | None = None


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
    return Pairs(*np.concatenate(rows, axis=1), norm_error=error, structure=structures[-1])


def pair_at(distance: float) -> Sample:
    """Two unit vectors at exactly this distance, one of each class."""
    angle = 2 * np.arcsin(distance / 2)
    points = np.array([[1.0, 0.0], [np.cos(angle), np.sin(angle)]])
    return equal_shares(points, np.arange(2), np.arange(2))


def draw_pairs(scale: Scale, seed: int) -> Pairs:
    """Toys, and pairs at exactly their δ."""
    return measure_pairs([*(TOY.draw(seed + number) for number in range(10)), pair_at(0.9), pair_at(1.3)])


def draw_bad_pairs(scale: Scale, seed: int) -> Pairs:
    """Antipodal points, and a pair at exactly δ."""
    return measure_pairs([HEXAGON.draw(seed), pair_at(0.9)])


@claim("li2018.cross_class_sine", Kind.STEP, "proof of Lemma A.2", draws=draw_pairs)
def cross_class_sine(pairs: Pairs, *, quarter: float = 4.0, share: float = 1.0) -> Evidence:
    """1 − ⟨x, x'⟩² = ‖x − x'‖²·‖x + x'‖²/4 for unit vectors. So with distance δ across classes from points and from
    their mirror images it is at least δ²(1 − δ²/4), which is attained.

    `quarter` and `share` are for controls.
    """
    bound = share * least_squared_sine(pairs.distances)
    product = pairs.squares * pairs.opposite_squares / quarter
    found = pairs.structure
    return evidence(
        {
            "1 − ⟨x, x'⟩² = ‖x − x'‖²·‖x + x'‖²/4": Sides(pairs.sines, product, Sense.EQUAL, room=ROUNDING),
            "at least δ²(1 − δ²/4)": Sides(pairs.sines, bound, Sense.AT_LEAST, room=ROUNDING),
            "from one distance alone: u(4 − u)/4": Sides(
                pairs.sines, squared_sine(pairs.squares), Sense.EQUAL, room=IDENTITY
            ),
        },
        (unit_norm(pairs.norm_error),),
        details={} if found is None else {
            "classes": found.n_classes,
            "components per class": found.per_class,
            "δ": found.separation,
            "δ to mirror images": found.opposite_separation,
            "λ": found.relative_diameter,
        },
    )  # fmt: skip


@applies(cross_class_sine)
def _(specimen: Specimen) -> Pairs | Silence:
    sample = prepared(specimen)
    return sample if isinstance(sample, Silence) else measure_pairs([sample])


@claim("li2018.cross_class_sine_as_printed", Kind.STEP, "proof of Lemma A.2", draws=draw_bad_pairs)
def cross_class_sine_as_printed(pairs: Pairs) -> Evidence:
    """1 − ⟨x, x'⟩² ≥ δ² for points of different classes, from (A1) and (A2)."""
    sides = Sides(pairs.sines, pairs.separations**2, Sense.AT_LEAST, room=ROUNDING)
    return evidence({"1 − ⟨x, x'⟩² ≥ δ²": sides}, (unit_norm(pairs.norm_error),))


@dataclass(frozen=True, eq=False)
class Assumed:
    """A sample; and, of a reader's, the components that stand apart, whether (A1) allows them or not."""

    sample: Sample
    natural: Structure | None = None


def draw_toy(scale: Scale, seed: int) -> Assumed:
    """Six points of three classes."""
    return Assumed(TOY.draw(seed))


@claim("li2018.assumption_a1", Kind.CONSTRUCTION, "(A1) and (A2), Section 3", draws=draw_toy)
def assumption_a1(given: Assumed, *, widest: float = 2**0.5) -> Evidence:
    """Classes whose components are farther than δ > 0 from those of other classes, and from their mirror images, and
    have diameters of at most λδ with λ ≤ 1/(8l), have δ ≤ √2, and some two-layer ReLU network may classify them: no
    antipodal points are in its way.

    That mirror images count is ours: see `cross_class_sine_as_printed`.
    """
    sample, found = given.sample, given.sample.measured()
    return evidence(
        {
            "δ ≤ √2": Sides(found.distance, widest, room=ROUNDING),
            "no antipodal obstruction": Fact(not is_obstructed(sample.points, sample.classes)),
        },
        (unit_norm(sample.norm_error), *separated(found)),
        details={
            "classes": found.n_classes,
            "components": found.n_components,
            "components per class": found.per_class,
            "δ": found.separation,
            "δ to mirror images": found.opposite_separation,
            "λ": found.relative_diameter,
        },
        note=natural_note(given.natural),
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


@applies(assumption_a1)
def _(specimen: Specimen) -> Assumed | Silence:
    sample = prepared(specimen, most=5000, for_what="All distances are taken here")
    if isinstance(sample, Silence):
        return sample
    components = natural_components(sample.points, sample.classes)
    return Assumed(sample, measure_structure(sample.points, sample.classes, components))


@dataclass(frozen=True, eq=False)
class Cancelled:
    """‖P‖ over v of three points at 120° with equal coefficients: all gates on, and with the gates of drawn weights."""

    linear: Float[np.ndarray, " draw"]
    gated: Float[np.ndarray, " draw"]


def draw_cancelled(scale: Scale, seed: int) -> Cancelled:
    """2000 neurons."""
    points, _ = antipodal_polygon()
    gates = np.random.default_rng([seed, 8]).normal(size=(2000, 2)) @ points[:3].T >= 0
    linear = np.linalg.norm(np.ones_like(gates) @ points[:3], axis=1)
    return Cancelled(linear, np.linalg.norm(gates @ points[:3], axis=1))


@claim("li2018.remark_without_relu", Kind.CONSTRUCTION, "after Lemma A.2, Appendix A.2", draws=draw_cancelled)
def remark_without_relu(found: Cancelled) -> Evidence:
    """Without ReLU P_{1,r} can vanish: where Σ_b x_{1,b} = 0, all p_{1,b}v_{1,1,b} are v and the other classes add
    nothing, it is 0. With ReLU one or two of three such points at 120° are active, and ‖P_{1,r}‖ = v for every w_r.
    """
    return evidence(
        {
            "0 with linear units": Sides(found.linear, 0.0, room=ROUNDING),
            "v with ReLU": Sides(found.gated, 1.0, Sense.EQUAL, room=ROUNDING),
        }
    )
