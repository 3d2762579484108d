"""One neuron drawn at random: the event of Lemma A.2, its push, and the tail of that. σ is 1 here."""

from dataclasses import dataclass

import numpy as np
import scipy.special
from jaxtyping import Bool, Float

from widenet.claims.cases import Cases, Count, Number, column
from widenet.papers.li2018.formulas import event_threshold, hit_probability, within
from widenet.papers.li2018.sources import TOY, OnData, Sample, structure_numbers
from widenet.records import Scale

Draws = Float[np.ndarray, "draw dim"]


def weights_in_span(draw: np.random.Generator, count: int, points: np.ndarray) -> Draws:
    """Gaussian weights, projected on the span of the points: nothing else of them is seen."""
    if len(points) >= points.shape[1]:
        return draw.normal(size=(count, points.shape[1]))
    basis = np.linalg.qr(points.T)[0]
    return draw.normal(size=(count, basis.shape[1])) @ basis.T


def split_off(weights: Draws, point: np.ndarray) -> tuple[Float[np.ndarray, " draw"], Draws]:
    """w = αx + β with β across x."""
    alpha = weights @ point
    return alpha, weights - alpha[:, None] * point


# ── the event ──


@dataclass(frozen=True, eq=False)
class PushEvent(OnData):
    """How often the event E_τ of Lemma A.2 was drawn."""

    hits: Float[np.ndarray, " point"]  #: per point of another class, the share of draws with |⟨β, x⟩| ≤ 4τ
    sines: Float[np.ndarray, " point"]  #: √(1 − ⟨x, x₁⟩²) of that point
    clear: Bool[np.ndarray, " draw"]  #: whether all |⟨β, x⟩| ≥ 4τ
    near: Bool[np.ndarray, " draw"]  #: whether |α| ≤ τ
    threshold: Number  #: τ
    distance: Number  #: δ that it was made from
    n_components: Count  #: kl

    @column
    def n_draws(self) -> Count:
        """How many."""
        return len(self.clear)

    @column
    def clear_share(self) -> Number:
        """How often no point was hit."""
        return self.clear.mean()

    @column
    def near_share(self) -> Number:
        """How often |α| ≤ τ."""
        return self.near.mean()

    @column
    def hit_chance(self) -> Float[np.ndarray, " point"]:
        """Pr[|⟨β, x⟩| ≤ 4τ] in closed form."""
        return hit_probability(self.threshold, 1.0, self.sines)

    @column
    def near_chance(self) -> Number:
        """Pr[|α| ≤ τ] in closed form."""
        return float(within(self.threshold))

    @column
    def event_chance(self) -> Number:
        """Pr[E_τ]: α and β are independent."""
        return float(within(self.threshold)) * self.clear_share

    def counts(self) -> dict[str, int]:
        """A draw is what was tried."""
        return {"tried": len(self.per("draw"))}


def measure_event(sample: Sample, seed: int, *, factor: float = 1.0, distance: float | None = None) -> PushEvent:
    """At `factor` times the largest τ; `distance` is another δ, for controls."""
    draw, count = np.random.default_rng([seed, 61]), 40_000
    found = sample.measured()
    delta = found.distance if distance is None else distance
    threshold = factor * event_threshold(delta, 1.0, sample.n_components)
    alpha, beta = split_off(weights_in_span(draw, count, sample.points), sample.points[0])
    others = sample.points[sample.classes != sample.classes[0]]
    products = np.abs(beta @ others.T)
    return PushEvent(
        hits=(products <= 4 * threshold).mean(axis=0),
        sines=np.sqrt(1 - (others @ sample.points[0]) ** 2),
        clear=np.asarray((products >= 4 * threshold).all(axis=1)),
        near=np.abs(alpha) <= threshold,
        threshold=threshold,
        distance=delta,
        n_components=sample.n_components,
        norm_error=sample.norm_error,
        **structure_numbers(found),
    )


def draw_event(scale: Scale, seed: int) -> PushEvent:
    """Toy points, τ at its limit."""
    return measure_event(TOY.draw(seed), seed)


# ── Eq. 2 ──


@dataclass(frozen=True, eq=False)
class Pushes(OnData):
    """h/(vτ) of draws given E_τ, for several sets of coefficients."""

    pushes: Float[np.ndarray, "set draw"]
    least_own: Number  #: the smallest coefficient of the own class over v
    threshold: Number  #: τ
    event_share: Number  #: Pr[E_τ]
    sample: Sample | None = None  #: the points

    @property
    def distance(self) -> Number:
        """δ, with mirror images."""
        return np.minimum(self.separation, self.opposite_separation)

    @property
    def n_components(self) -> Count:
        """kl."""
        return self.n_classes * self.per_class

    def counts(self) -> dict[str, int]:
        """A draw is what was tried."""
        return {"tried": len(self.per("draw"))}


def measure_pushes(sample: Sample, sets: np.ndarray, threshold: float, seed: int) -> Pushes:
    """Coefficients `sets` (set, point), the first of them v."""
    draw, count = np.random.default_rng([seed, 62]), 12_000
    points, own = sample.points, sample.classes == sample.classes[0]
    _, beta = split_off(weights_in_span(draw, count, points), points[0])
    clear = (np.abs(beta @ points[~own].T) >= 4 * threshold).all(axis=1)
    low, high = scipy.special.ndtr(-threshold), scipy.special.ndtr(threshold)
    alpha = scipy.special.ndtri(draw.uniform(low, high, count))
    weights = (beta + alpha[:, None] * points[0])[clear]
    found = np.maximum(weights @ points.T, 0) @ sets.T / (sets[:, 0] * threshold)
    least = float((sets[:, own] / sets[:, :1]).min())
    share = float(within(threshold)) * float(clear.mean())
    numbers = structure_numbers(sample.measured())
    return Pushes(found.T, least, threshold, share, sample=sample, norm_error=sample.norm_error, **numbers)


def random_coefficients(draw: np.random.Generator, own: np.ndarray, count: int = 1, size: float = 1.0) -> np.ndarray:
    """The first is v, those of its class lie in [0, v], the others in [−v, v]."""
    sets = draw.uniform(-size, size, (count, len(own)))
    sets[:, own] = np.abs(sets[:, own])
    sets[:, 0] = size
    return sets


def draw_pushes(scale: Scale, seed: int) -> Pushes:
    """Twenty sets of coefficients on toy points."""
    sample = TOY.draw(seed)
    sets = random_coefficients(np.random.default_rng([seed, 63]), sample.classes == sample.classes[0], 20, 0.1)
    return measure_pushes(sample, sets, event_threshold(sample.measured().distance, 1.0, 6), seed)


FAN = Sample(
    np.array([[1.0, 0.0], [0.5, 0.75**0.5], [0.5, -(0.75**0.5)]]), np.array([0, 1, 1]), np.arange(3), np.full(3, 1 / 3)
)
"""x₁₁ = e₁, and the other class at 60° on either side, whose sum it is; δ = 1, k = l = 2."""


def draw_fan_pushes(scale: Scale, seed: int) -> Pushes:
    """Coefficients v, −v, −v: h ≤ 0 for every w, because ReLU(a + b) ≤ ReLU(a) + ReLU(b)."""
    return measure_pushes(FAN, np.array([[0.1, -0.1, -0.1]]), event_threshold(1.0, 1.0, 4), seed)


# ── the tail ──


@dataclass(frozen=True, eq=False)
class PushTails(Cases):
    """h/(σ‖P‖) of draws, with n orthonormal points of one class and equal coefficients."""

    rows = "draw"

    ratios: Float[np.ndarray, " draw"]
    n_points: Count

    @column
    def mean_ratio(self) -> Number:
        """The mean."""
        return self.ratios.mean()


def draw_tails_of(seed: int, n_points: int, draws: int) -> PushTails:
    """h = Σ ReLU(z), ‖P‖ = √(how many are active)."""
    z = np.random.default_rng([seed, 64]).normal(size=(draws, n_points))
    return PushTails(np.maximum(z, 0).sum(axis=1) / np.sqrt((z >= 0).sum(axis=1)), n_points)


def draw_tails(scale: Scale, seed: int) -> PushTails:
    """A hundred points."""
    return draw_tails_of(seed, 100, 600)


def draw_long_tails(scale: Scale, seed: int) -> PushTails:
    """So many points that the printed tail is passed on every draw."""
    return draw_tails_of(seed, 40_000, 20)
