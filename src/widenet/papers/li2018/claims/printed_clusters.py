"""Lines of the proof of Lemma B.2 that fail as printed: the event at the larger τ, and the spread of a component."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Evidence, Kind, at_most, claim
from widenet.claims.sides import Rate, Sense, Sides, evidence
from widenet.claims.tolerances import ROUNDING
from widenet.papers.li2018.claims.mixing import MeanEvents, measure_mean_events
from widenet.papers.li2018.formulas import (
    mean_event_threshold,
    mean_event_threshold_as_printed,
    widest_component,
    within,
)
from widenet.papers.li2018.settings import Basis
from widenet.records import Scale


def draw_printed_events(scale: Scale, seed: int) -> MeanEvents:
    """Orthonormal centres of 30 classes at τ = σδ/(12l)."""
    centres = Basis(n_classes=30)
    distance, k, per_class = 2**0.5, centres.n_classes, centres.per_class
    larger = mean_event_threshold_as_printed(distance, 1.0, per_class)
    factor = larger / mean_event_threshold(distance, 1.0, k, per_class)
    return measure_mean_events([centres], seed, factor=factor)


@claim("li2018.lemma_b_2_event_as_printed", Kind.STEP, "proof of Lemma B.2", draws=draw_printed_events)
def lemma_b_2_event_as_printed(found: MeanEvents, *, joint: float = 0.33) -> Evidence:
    """E 1[|⟨β, x*⟩| ≤ 4τ] ≤ 4τ/(δσ), so Σ_{a≠1,b} E|p v_{1,a,b}|·1[|⟨β, x*⟩| ≤ 4τ] ≤ (4τ/(δσ))·vl, and with
    τ = σδ/(12l) Pr[E_τ] = Ω(τ/σ).

    Judged in closed form on orthonormal centres with |p v| = v, the last line against 0.33. Each of the (k − 1)l
    indicators is 1 with probability q = 2Φ(4τ/σ) − 1, and Pr[S ≤ v/3] = (1 − q)^{(k−1)l} falls geometrically in k, so
    no constant would do.
    """
    relative, hit = 4 * found.thresholds / found.distances, within(4 * found.thresholds)
    both = within(found.thresholds) * found.exact
    return evidence(
        {
            "E 1[|⟨β, x*⟩| ≤ 4τ] ≤ 4τ/(δσ)": Sides(hit, relative),
            "Σ E|p v|·1[…] ≤ (4τ/(δσ))·vl": Sides(found.others * hit, relative * found.per_class),
            "Pr[E_τ] ≥ 0.33τ/σ": Sides(both, joint * found.thresholds, Sense.AT_LEAST),
        },
        (at_most("coefficients", "largest |p v_{1,a,b}|/v of other classes", found.largest, 1, tolerance=ROUNDING),),
    )


@dataclass(frozen=True, eq=False)
class Spread:
    """A component of two points at a distance λδ, seen from its normalised mean x*, for neurons drawn.

    Attributes:
      products: ⟨β, x* − x⟩/(σδ) of draws, at one of the two points; per_class: l; relative_diameter: λ.
    """

    products: Float[np.ndarray, " draw"]
    per_class: int
    relative_diameter: float


def measure_spread(per_class: int, relative_diameter: float, seed: int, *, distance: float = 2**0.5) -> Spread:
    """x at an angle ψ from x* with 2·sin ψ = λδ; β is Gaussian across x*."""
    sine = relative_diameter * distance / 2
    beta = np.random.default_rng([seed, 75]).normal(size=4000)
    return Spread(-sine * beta / distance, per_class, relative_diameter)


def draw_spread(scale: Scale, seed: int) -> Spread:
    """One component per class, as wide as (A1) allows: λ = 1/8."""
    return measure_spread(1, 1 / 8, seed)


@claim("li2018.lemma_b_2_spread_as_printed", Kind.STEP, "proof of Lemma B.2", draws=draw_spread)
def lemma_b_2_spread_as_printed(found: Spread, *, failure: float = 0.01) -> Evidence:
    """With τ = σδ/(12l) and λ ≤ 1/(8l): (3/2)σλδ < 2τ, and with high probability ⟨β, x* − x⟩ ≤ τ/4 on a component.

    At λ = 1/(8l) the first says 3/16 < 1/6. For two points at a distance λδ, ⟨β, x* − x⟩ is N(0, (σλδ/2)²) exactly,
    so the second has probability Φ(1/3) = 0.63; high probability is 0.99 here.
    """
    tau = mean_event_threshold_as_printed(1.0, 1.0, found.per_class)
    limit = widest_component(found.per_class)
    return evidence(
        {
            "(3/2)σλδ < 2τ": Sides(1.5 * found.relative_diameter, 2 * tau, strict=True),
            "⟨β, x* − x⟩ ≤ τ/4": Rate(found.products > tau / 4, failure, quantity="share of draws beyond"),
        },
        (at_most("relative_diameter", "λ, against 1/(8l)", found.relative_diameter, limit, tolerance=ROUNDING),),
    )
