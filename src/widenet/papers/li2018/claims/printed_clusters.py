"""Lines of the proof of Lemma B.2 that fail as printed: the event at the larger τ, and the spread of a component."""

from widenet.claims.base import Kind, claim
from widenet.claims.cases import derived
from widenet.claims.implication import Promised, at_least, at_most, less_than
from widenet.claims.rates import Rate
from widenet.papers.li2018.formulas import mean_event_threshold_as_printed, within
from widenet.papers.li2018.hypotheses import coefficients, spread
from widenet.papers.li2018.runs.mixtures_of_pieces import (
    ComponentSpread,
    Instances,
    MeanEvents,
    draw_printed_events,
    draw_spread,
)


class PrintedEvents(MeanEvents):
    """The lines of the proof, in closed form."""

    hits: Instances = derived(lambda run: within(4 * run.thresholds))  #: E 1[|⟨β, x*⟩| ≤ 4τ]
    all_hits: Instances = derived(lambda run: run.others * within(4 * run.thresholds))  #: the sum over other components
    exact_joint: Instances = derived(lambda run: within(run.thresholds) * run.exact)  #: Pr[E_τ]


@claim("li2018.lemma_b_2_event_as_printed", Kind.STEP, "proof of Lemma B.2", draws=draw_printed_events,
       given=[coefficients], title="The event of Lemma B.2 is likely at the printed threshold")  # fmt: skip
def lemma_b_2_event_as_printed(found: PrintedEvents, *, joint: float = 0.33) -> Promised:
    """$E 1[|⟨β, x*⟩| ≤ 4τ] ≤ 4τ/(δσ)$, so $Σ_{a≠1,b} E|p v_{1,a,b}|·1[|⟨β, x*⟩| ≤ 4τ] ≤ (4τ/(δσ))·vl$, and with $τ =
    σδ/(12l)$ $Pr[E_τ] = Ω(τ/σ)$.

    Judged in closed form on orthonormal centres with |p v| = v, the last line against 0.33. Each of the (k − 1)l
    indicators is 1 with probability q = 2Φ(4τ/σ) − 1, and Pr[S ≤ v/3] = (1 − q)^{(k−1)l} falls geometrically in k, so
    no constant would do.
    """
    relative = 4 * found.thresholds / found.distances
    return {
        "one": at_most(found.hits, relative, text="$E 1[|⟨β, x*⟩| ≤ 4τ] ≤ 4τ/(δσ)$"),
        "sum": at_most(found.all_hits, relative * found.per_class, text="$Σ E|p v|·1[…] ≤ (4τ/(δσ))·vl$"),
        "event": at_least(found.exact_joint, joint * found.thresholds, text="$Pr[E_τ] ≥ 0.33τ/σ$"),
    }


@claim("li2018.lemma_b_2_spread_as_printed", Kind.STEP, "proof of Lemma B.2", draws=draw_spread, given=[spread],
       title="A component of the largest width is seen as one point")  # fmt: skip
def lemma_b_2_spread_as_printed(found: ComponentSpread, *, failure: float = 0.01) -> Promised:
    """With $τ = σδ/(12l)$ and $λ ≤ 1/(8l)$: $(3/2)σλδ < 2τ$, and with high probability $⟨β, x* − x⟩ ≤ τ/4$ on a
    component.

    At λ = 1/(8l) the first says 3/16 < 1/6. For two points at a distance λδ, ⟨β, x* − x⟩ is N(0, (σλδ/2)²) exactly,
    so the second has probability Φ(1/3) = 0.63; high probability is 0.99 here.
    """
    cell = found.per("cell")
    tau, level = (mean_event_threshold_as_printed(1.0, 1.0, each.per_class) for each in (cell, found))
    return {
        "width": less_than(1.5 * cell.relative_diameter, 2 * tau, text="$(3/2)σλδ < 2τ$"),
        "products": Rate(
            found.products > level / 4, failure, quantity="share of draws beyond", text="$⟨β, x* − x⟩ ≤ τ/4$"
        ),
    }
