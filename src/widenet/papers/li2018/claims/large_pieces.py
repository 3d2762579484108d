"""How often P_{1,r} is large for one neuron and fixed coefficients: Lemma A.2, what repairs it, and the fact behind."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Cases, Count, Number
from widenet.claims.implication import Promised, at_least, equal
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.li2018.claims.geometry import random_coefficients, share_room, split_off, weights_in_span
from widenet.papers.li2018.formulas import EXPLICIT_SLOPE, best_large_share, two_point_share
from widenet.papers.li2018.hypotheses import SEPARATED, SEPARATED_AS_PRINTED, clearance, signs, unit_norm
from widenet.papers.li2018.sources import HEXAGON, TOY, Sample, equal_shares, structure_columns
from widenet.papers.li2018.user_data import drawn_on
from widenet.records import Scale

Instances = Float[np.ndarray, " instance"]


@dataclass(frozen=True, eq=False)
class Large(Cases):
    """Instances of fixed coefficients with p₁v₁ = v: how often ‖P₁‖ ≥ v/2."""

    rows = "instance"

    shares: Instances  #: of the draws
    bounds: Instances  #: the sharp bound
    exact: Instances  #: the probability where it is known, NaN elsewhere
    slopes: Instances  #: δ/((k − 1)l)
    draws: Count
    least_own: Number  #: the smallest coefficient of the own class over v
    norm_error: Number
    separation: Instances
    opposite_separation: Instances
    relative_diameter: Instances
    n_classes: Int[np.ndarray, " instance"]
    per_class: Int[np.ndarray, " instance"]

    @property
    def share_room(self) -> Instances:
        """What chance may do to the shares."""
        return share_room(self.shares, self.draws)


def large_draws(sample: Sample, coefficients: np.ndarray, draw: np.random.Generator, count: int) -> np.ndarray:
    """‖P₁‖/v of drawn neurons; the coefficient of the first point is v."""
    gates = weights_in_span(draw, count, sample.points) @ sample.points.T >= 0
    return np.linalg.norm((gates * coefficients) @ sample.points, axis=1) / coefficients[0]


def measure_large(
    instances: Sequence[tuple[Sample, np.ndarray, float]], seed: int, *, count: int = 8000, level: float = 0.5
) -> Large:
    """Instances (points, coefficients p·v of the class of the first point, exact probability or NaN)."""
    rows, structures = [], tuple(sample.measured() for sample, _, _ in instances)
    for number, ((sample, coefficients, exact), found) in enumerate(zip(instances, structures, strict=True)):
        draw = np.random.default_rng([seed, 65, number])
        share = (large_draws(sample, coefficients, draw, count) >= level - ROUNDING).mean()
        own = sample.classes == sample.classes[0]
        slope = found.distance / ((found.n_classes - 1) * found.per_class)
        rows.append((share, best_large_share(sample.points[~own] @ sample.points[0]), exact, slope))
    columns = np.array(rows).T
    error = max(sample.norm_error for sample, _, _ in instances)
    least = least_own([each[:2] for each in instances])
    return Large(*columns, draws=count, least_own=least, norm_error=error, **structure_columns(structures))


def least_own(instances: Sequence[tuple[Sample, np.ndarray]]) -> float:
    """The smallest coefficient of the class of the first point, over its own."""
    return min(
        float((coefficients[sample.classes == sample.classes[0]] / coefficients[0]).min())
        for sample, coefficients in instances
    )


def two_points(angle: float) -> tuple[Sample, np.ndarray, float]:
    """One point of either class at this angle, coefficients v and −v; the probability is known."""
    points = np.array([[1.0, 0.0], [np.cos(angle), np.sin(angle)]])
    return equal_shares(points, np.arange(2), np.arange(2)), np.array([1.0, -1.0]), two_point_share(angle)


def idle_cross() -> tuple[Sample, np.ndarray, float]:
    """An orthogonal point of the other class with coefficient 0: ‖P₁‖ is v or 0, each with probability 1/2."""
    return equal_shares(np.eye(2), np.arange(2), np.arange(2)), np.array([1.0, 0.0]), 0.5


def toy_instances(draw: np.random.Generator, count: int) -> list[tuple[Sample, np.ndarray, float]]:
    """Toys with random coefficients."""
    toys = [TOY.draw(int(draw.integers(2**31))) for _ in range(count)]
    return [(toy, random_coefficients(draw, toy.classes == toy.classes[0], 1, 0.1)[0], np.nan) for toy in toys]


def measure_own_large(sample: Sample, seed: int) -> Large:
    """Three points in turn are the first, every point a component."""
    instances = []
    for number in range(min(3, len(sample.points))):
        order = np.roll(np.arange(len(sample.points)), -number * len(sample.points) // 3)
        turned = Sample(sample.points[order], sample.classes[order], order, sample.shares[order])
        own = turned.classes == turned.classes[0]
        draw = np.random.default_rng([seed, 69, number])
        instances.append((turned, random_coefficients(draw, own, 1, 0.1)[0], np.nan))
    return measure_large(instances, seed, count=2000)


@drawn_on(measure_own_large, most=300)
def draw_large(scale: Scale, seed: int) -> Large:
    """Toys, two points at angles around the critical one, and the instance that attains the sharp bound."""
    known = [two_points(angle) for angle in (0.05, 0.4, 0.5, 0.51, 1.3)]
    return measure_large([*toy_instances(np.random.default_rng([seed, 66]), 5), *known, idle_cross()], seed)


ADMISSIBLE = (unit_norm, signs)
"""(A2), and coefficients of the own class that are not negative."""


@claim("li2018.lemma_a_2", Kind.STEP, "Lemma A.2, Appendix A.2", draws=draw_large, given=[*ADMISSIBLE, *SEPARATED],
       title="A neuron has a large piece with probability $Ω(δ/(kl))$")  # fmt: skip
def lemma_a_2(found: Large, *, slope: float = EXPLICIT_SLOPE) -> Promised:
    """For fixed coefficients with p_{1,1}v_{1,1,1} = v and p_{1,b}v_{1,1,b} ≥ 0, a neuron has a large P_{1,r} with
    probability Ω(δ/(kl)), where δ counts mirror images: Pr[‖P_{1,r}‖ ≥ v/2] ≥ 0.0829·δ/((k − 1)l). For two points at
    an angle ψ it is ψ/π below 2·arcsin(1/4) and (π + ψ)/(2π) above.
    """
    return {
        "likely": at_least(
            found.shares, slope * found.slopes, room=found.share_room, text="$Pr[‖P‖ ≥ v/2] ≥ 0.0829·δ/((k − 1)l)$"
        ),
        "two_points": equal(
            found.shares,
            found.exact,
            room=found.share_room,
            where=~np.isnan(found.exact),
            event="instances of two points",
            optional=True,
            text="exactly so for two points",
        ),
    }


@claim("li2018.lemma_a_2_sharp", Kind.STEP, "repairs the proof of Lemma A.2; not in the paper", draws=draw_large,
       given=ADMISSIBLE, title="A sharp bound on the probability of a large piece")  # fmt: skip
def lemma_a_2_sharp(found: Large, *, half: float = 1.0) -> Promised:
    """For fixed coefficients as in Lemma A.2 and every τ: Pr[‖P_{1,r}‖ ≥ v/2] ≥
    ½(2Φ(τ/σ) − 1)(1 − Σ(2Φ(τ|c|/(σs)) − 1)) over the points of other classes, c = ⟨x_{1,1}, x⟩, s² = 1 − c²; 1/2 is
    attained. No logarithm, no bound on the coefficients of other classes, and no tail is needed.
    """
    bounds, attained = half * np.maximum(found.bounds, 0), np.isclose(found.bounds, found.exact)
    return {
        "bound": at_least(
            found.shares,
            bounds,
            room=found.share_room,
            where=~attained,
            event="instances that do not attain it",
            trivial=0.0,
            text="$Pr[‖P‖ ≥ v/2]$ is at least the bound",
        ),
        "attained": equal(
            found.shares,
            bounds,
            room=found.share_room,
            where=attained,
            event="instances that attain it",
            optional=True,
            text="attained",
        ),
    }


def draw_hexagon_large(scale: Scale, seed: int) -> Large:
    """The antipodal hexagon with o = 1/2 everywhere: coefficients 1/12 and −1/12."""
    sample = HEXAGON.draw(seed)
    return measure_large([(sample, np.where(sample.classes == 0, 1 / 12, -1 / 12), np.nan)], seed)


@claim("li2018.lemma_a_2_as_printed", Kind.STEP, "Lemma A.2, Appendix A.2", draws=draw_hexagon_large,
       given=[*ADMISSIBLE, *SEPARATED_AS_PRINTED],
       title="A large piece is likely even beside mirror images")  # fmt: skip
def lemma_a_2_as_printed(found: Large) -> Promised:
    """For any possible fixed {p v} in [−v, v] with p_{1,1}v_{1,1,1} = v, under (A1) to (A3): ‖P_{1,r}‖ = Ω̃(vδ/(kl))
    with probability Ω(δ/(kl)).

    Judged against the constant 0.0829 at size v/2, with the δ of (A1). On the hexagon no constant would do: P is 0.
    """
    slopes = found.separation / ((found.n_classes - 1) * found.per_class)
    limit = EXPLICIT_SLOPE * slopes
    return {"likely": at_least(found.shares, limit, room=found.share_room, text="a large $P$ is likely")}


lemma_b_2_as_printed = lemma_a_2_as_printed.variant(
    "lemma_b_2_as_printed",
    where="Lemma B.2, Appendix B.2",
    title="A large piece is likely even beside mirrored components",
    statement=(
        "Under (A1) to (A3), for any fixed {p v} with E[p_{1,1}v_{1,1,1}] = max E[p v] = v: ‖P_{1,r}‖ = Ω̃(vδ/(kl)) "
        "with probability Ω(δ/(kl)). Judged on components of one point each."
    ),
)


# ── the reflection behind the repair ──


@dataclass(frozen=True, eq=False)
class Reflections(Cases):
    """Pairs of weights αx + β and −αx + β."""

    rows = "pair"

    jumps: Float[np.ndarray, " pair"]  #: ⟨P(α) − P(−α), x_{1,1}⟩/v
    clearance: Float[np.ndarray, " pair"]  #: the smallest |⟨β, x⟩|/|α⟨x_{1,1}, x⟩| of another class
    alone: Bool[np.ndarray, " pair"]  #: whether the class has one point only
    least_own: Number


def measure_reflections(
    instances: Sequence[tuple[Sample, np.ndarray]], seed: int, *, keep_all: bool = False
) -> Reflections:
    """Pairs in which a point of another class would change sides are left out, unless a control keeps them."""
    rows = []
    for number, (sample, coefficients) in enumerate(instances):
        draw = np.random.default_rng([seed, 67, number])
        alpha, beta = split_off(weights_in_span(draw, 3000, sample.points), sample.points[0])
        alpha, first = np.abs(alpha), sample.points[0]
        own = sample.classes == sample.classes[0]
        reach = np.abs(alpha[:, None] * (sample.points[~own] @ first))
        with np.errstate(divide="ignore"):  # a point across x₁ never changes sides
            clearance = (np.abs(beta @ sample.points[~own].T) / reach).min(axis=1)
        sides = []
        for sign in (1, -1):
            gates = (beta + sign * alpha[:, None] * first) @ sample.points.T >= 0
            sides.append((gates * coefficients) @ (sample.points @ first))
        kept = (clearance > 1) | keep_all
        jumps = (sides[0] - sides[1]) / coefficients[0]
        rows.append(np.stack([jumps, clearance, np.full(len(jumps), own.sum() == 1)])[:, kept])
    columns = np.concatenate(rows, axis=1)
    return Reflections(columns[0], columns[1], columns[2].astype(bool), least_own(instances))


def draw_reflections(scale: Scale, seed: int) -> Reflections:
    """Toys, and classes of one point."""
    toys = [each[:2] for each in toy_instances(np.random.default_rng([seed, 68]), 4)]
    return measure_reflections([*toys, two_points(1.0)[:2]], seed)


@claim("li2018.lemma_a_2_reflection", Kind.STEP, "behind lemma_a_2_sharp; not in the paper", draws=draw_reflections,
       given=[clearance, signs], title="Reflecting a neuron changes its piece by at least $v$")  # fmt: skip
def lemma_a_2_reflection(found: Reflections, *, size: float = 1.0) -> Promised:
    """Where no point of another class changes sides between αx_{1,1} + β and −αx_{1,1} + β, α > 0, P_{1,r} changes by
    at least v along x_{1,1}, and by v exactly if its class has no other point: so one of the two has norm ≥ v/2.
    """
    return {
        "several": at_least(
            found.jumps,
            size,
            within=STEP,
            where=~found.alone,
            event="classes of several points",
            text="changes by at least $v$",
        ),
        "one": equal(
            found.jumps,
            size,
            within=STEP,
            where=found.alone,
            event="classes of one point",
            text="by $v$ for a class of one point",
        ),
    }
