"""Steps of the proof of Lemma A.2, for one neuron and fixed coefficients: its event, Eq. 2, and the tail.

σ is 1 here: everything scales with it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.special
from jaxtyping import Bool, Float

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Cases, Count, Number, column
from widenet.claims.implication import Promised, at_least, at_most, equal
from widenet.claims.sides import Rate
from widenet.papers.li2018.formulas import (
    PUSH_SHARE,
    alpha_bound,
    event_bound,
    event_threshold,
    hit_bound,
    hit_probability,
    push_level,
    tail_safe,
    within,
)
from widenet.papers.li2018.hypotheses import DATA, signs, threshold
from widenet.papers.li2018.sources import TOY, OnData, Sample, structure_numbers
from widenet.records import Scale

SIGMAS = 5
"""Standard errors by which a frequency may be off: once in two million."""

Draws = Float[np.ndarray, "draw dim"]


def share_room(share: Any, draws: Any) -> Any:
    """What chance may do to a frequency."""
    return SIGMAS * np.sqrt(np.maximum(share * (1 - share), 1 / np.asarray(draws)) / draws)


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
class Event(OnData):
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


def measure_event(sample: Sample, seed: int, *, factor: float = 1.0, distance: float | None = None) -> Event:
    """At `factor` times the largest τ; `distance` is another δ, for controls."""
    draw, count = np.random.default_rng([seed, 61]), 40_000
    found = sample.measured()
    delta = found.distance if distance is None else distance
    threshold = factor * event_threshold(delta, 1.0, sample.n_components)
    alpha, beta = split_off(weights_in_span(draw, count, sample.points), sample.points[0])
    others = sample.points[sample.classes != sample.classes[0]]
    products = np.abs(beta @ others.T)
    return Event(
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


def draw_event(scale: Scale, seed: int) -> Event:
    """Toy points, τ at its limit."""
    return measure_event(TOY.draw(seed), seed)


@claim("li2018.lemma_a_2_event", Kind.STEP, "proof of Lemma A.2", draws=draw_event, given=[*DATA, threshold],
       title="The event of Lemma A.2 is as likely as its proof needs")  # fmt: skip
def lemma_a_2_event(found: Event, *, hit: float = 1.0, union: float = 0.5, event: float = 1.0) -> Promised:
    """For τ ≤ δσ/(16ekl) the event E_τ, that |α| ≤ τ and |⟨β, x⟩| ≥ 4τ for all x of other classes, has probability at
    least τ/(16e²σ): Pr[|⟨β, x⟩| ≤ 4τ] ≤ 4eτ/(δσ), so with probability 1/2 no x is hit, and Pr[|α| ≤ τ] ≥ τ/(eσ). It
    needs δ for mirror images too.
    """
    p, tau = found.per("point"), found.threshold
    hit_limit, hit_room = hit * hit_bound(p.threshold, p.distance, 1.0), share_room(p.hit_chance, p.n_draws)
    near_room = share_room(found.near_chance, found.n_draws)
    no_hit = Rate(
        ~found.per("draw").clear, 1 - union, quantity="share of draws with a hit", text="$Pr[$no $x$ is hit$] ≥ 1/2$"
    )
    return {
        "hit": at_most(p.hit_chance, hit_limit, text="$Pr[|⟨β, x⟩| ≤ 4τ] ≤ 4eτ/(δσ)$"),
        "hit_frequency": equal(p.hits, p.hit_chance, room=hit_room, text="as often as its closed form"),
        "no_hit": no_hit,
        "near": at_least(found.near_chance, alpha_bound(tau, 1.0), text="$Pr[|α| ≤ τ] ≥ τ/(eσ)$"),
        "near_frequency": equal(
            found.near_share, found.near_chance, room=near_room, text="$|α| ≤ τ$ as often as its closed form"
        ),
        "event": at_least(found.event_chance, event * event_bound(tau, 1.0), text="$Pr[E_τ] ≥ τ/(16e²σ)$"),
    }


# ── Eq. 2 ──


@dataclass(frozen=True, eq=False)
class Pushes(OnData):
    """h/(vτ) of draws given E_τ, for several sets of coefficients."""

    pushes: Float[np.ndarray, "set draw"]
    least_own: Number  #: the smallest coefficient of the own class over v
    threshold: Number  #: τ
    event_share: Number  #: Pr[E_τ]

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
    return Pushes(found.T, least, threshold, share, norm_error=sample.norm_error, **numbers)


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


PUSHED = (*DATA, signs, threshold)
"""(A1), (A1') and (A2), coefficients of the own class that are not negative, and a small τ."""
BELOW = "share of draws below"


def rarest(large: Bool[np.ndarray, "draw set"]) -> Bool[np.ndarray, " draw"]:
    """The draws of the set of coefficients with the fewest large ones."""
    return large[:, int(large.mean(axis=0).argmin())]


@claim("li2018.equation_2", Kind.STEP, "Eq. 2, proof of Lemma A.2", draws=draw_pushes, given=PUSHED,
       title="The push of a neuron is far from 0 often enough")  # fmt: skip
def equation_2(found: Pushes, *, level: float = 1.0, joint: float = 1.0) -> Promised:
    """h = Σ p v_{1,a,b} ReLU(⟨w, x_{a,b}⟩), with p_{1,1}v_{1,1,1} = v and p_{1,b}v_{1,1,b} ≥ 0, is far from 0:
    Pr[|h| ≥ vτ/128 given E_τ] ≥ 1/(16e), so Pr[|h| ≥ vτ/128] ≥ τ/(256e³σ), for τ ≤ δσ/(16ekl).
    """
    large = rarest(np.abs(found.per("draw").pushes) >= level * push_level(1.0, 1.0))
    return {
        "given_event": Rate(~large, 1 - PUSH_SHARE, quantity=BELOW, text="$Pr[|h| ≥ vτ/128$ given $E_τ] ≥ 1/(16e)$"),
        "joint": at_least(
            large.mean() * found.event_share,
            joint * PUSH_SHARE * event_bound(found.threshold, 1.0),
            text="$Pr[|h| ≥ vτ/128] ≥ τ/(256e³σ)$",
        ),
    }


@claim("li2018.equation_2_as_printed", Kind.STEP, "Eq. 2, proof of Lemma A.2", draws=draw_fan_pushes, given=PUSHED,
       title="The push of a neuron is positive often enough")  # fmt: skip
def equation_2_as_printed(found: Pushes) -> Promised:
    """Pr[h ≥ vτ/128] ≥ Pr[h ≥ vτ/128 given E_τ]·Pr[E_τ] ≥ τ/(256e³σ), without an absolute value; the first factor is at
    least 1/(16e).

    Judged by that factor. In the instance h ≤ 0 for every w, so the first probability is 0 as well.
    """
    large = rarest(found.per("draw").pushes >= push_level(1.0, 1.0))
    text = "$Pr[h ≥ vτ/128$ given $E_τ] ≥ 1/(16e)$"
    return {"given_event": Rate(~large, 1 - PUSH_SHARE, quantity=BELOW, text=text)}


# ── the tail ──


@dataclass(frozen=True, eq=False)
class Tails(Cases):
    """h/(σ‖P‖) of draws, with n orthonormal points of one class and equal coefficients."""

    rows = "draw"

    ratios: Float[np.ndarray, " draw"]
    n_points: Count

    @column
    def mean_ratio(self) -> Number:
        """The mean."""
        return self.ratios.mean()


def draw_tails_of(seed: int, n_points: int, draws: int) -> Tails:
    """h = Σ ReLU(z), ‖P‖ = √(how many are active)."""
    z = np.random.default_rng([seed, 64]).normal(size=(draws, n_points))
    return Tails(np.maximum(z, 0).sum(axis=1) / np.sqrt((z >= 0).sum(axis=1)), n_points)


def draw_tails(scale: Scale, seed: int) -> Tails:
    """A hundred points."""
    return draw_tails_of(seed, 100, 600)


def draw_long_tails(scale: Scale, seed: int) -> Tails:
    """So many points that the printed tail is passed on every draw."""
    return draw_tails_of(seed, 40_000, 20)


@claim("li2018.lemma_a_2_tail", Kind.STEP, "proof of Lemma A.2", draws=draw_tails, given=[],
       title="A push may exceed its piece by the root of the rank")  # fmt: skip
def lemma_a_2_tail(found: Tails, *, failure: float = 0.01, rank: bool = True) -> Promised:
    """h = ⟨P_{1,r}, w_r⟩ ≤ σ‖P_{1,r}‖(√rank + √(2 ln 1/p₀)) with probability 1 − p₀, where rank counts the dimensions
    of the points: P depends on w, so h is no Gaussian of size σ‖P‖. On n orthonormal points it is about √(n/π)·σ‖P‖.
    """
    limit, whole = tail_safe(rank * found.n_points, failure), found.per("cell")
    return {
        "tail": Rate(found.ratios > limit, failure, text="at most $σ‖P‖(√rank + √(2 ln 1/p₀))$"),
        "mean": equal(
            whole.mean_ratio, np.sqrt(whole.n_points / np.pi), room=0.03 * whole.mean_ratio, text="about $√(n/π)$"
        ),
    }


@claim("li2018.lemma_a_2_tail_as_printed", Kind.STEP, "proof of Lemma A.2", draws=draw_long_tails, given=[],
       title="The push of a neuron has the tail of one Gaussian")  # fmt: skip
def lemma_a_2_tail_as_printed(found: Tails, *, c: float = 10.01) -> Promised:
    """For every fixed v_{1,a,b} and every c > 10: Pr[h ≥ 10cσ‖P_{1,r}‖] < e^{−c²}."""
    return {"tail": Rate(found.ratios >= 10 * c, float(np.exp(-(c**2))), text="$Pr[h ≥ 10cσ‖P‖] < e^{−c²}$")}
