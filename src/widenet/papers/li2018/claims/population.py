"""One step of SGD and the population loss: Lemma B.4, its Eq. 3, and coupling on whole batches."""

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Number, derived
from widenet.claims.implication import Promise, Promised, at_least, at_most
from widenet.claims.rates import Rate
from widenet.claims.tolerances import ROUNDING
from widenet.papers.li2018.hypotheses import DATA, LARGE_RESIDUAL, large_residuals, two_steps_are_promised, unit_norm
from widenet.papers.li2018.runs.drops import Drops, PerStep, batch_coupling_settings, drops
from widenet.papers.li2018.runs.weight_moves import WeightMoves, draw_moves
from widenet.records import Form


@claim("li2018.equation_3", Kind.STEP, "Eq. 3, proof of Lemma B.4", draws=draw_moves, given=[unit_norm],
       title="A step changes the loss by little more than its linear part",
       form=Form.REPAIR)  # fmt: skip
def equation_3(found: WeightMoves, *, quarter: float = 0.25, root: float = 2**0.5) -> Promised:
    """A step $D$ changes the loss at a point of norm 1 by at most $Σ_{r∈S}⟨∂ℓ/∂w_r, D_r⟩ + ¼(Σ‖a_r‖‖D_r‖)² +
    √2·Σ_{r∉S}‖a_r‖‖D_r‖$, where $S$ is the set of neurons that keep their pattern there: Eq. 3 with its constants. ¼
    and √2 are both approached.

    The paper takes S = {r: ⟨w_r, x'⟩ ≥ τ}; without an absolute value that is less than half of the neurons.
    """
    bound = found.linear + quarter * found.quadratic + root * found.rough
    room = {"within": ROUNDING, "of": 1 + np.abs(found.linear) + found.quadratic}
    smooth = found.rough == 0
    return {
        "smooth": at_most(found.increase, bound, where=smooth, event="moves without a change of pattern",
                          text="no pattern changes", **room),
        "rough": at_most(found.increase, bound, where=~smooth, event="moves with a change of pattern",
                         text="some patterns change", **room),
    }  # fmt: skip


class DropSteps(Drops):
    """Drops, as a share of what a small step gives; and for how many steps coupling is promised."""

    ratios: PerStep = derived(lambda runs: runs.drops / (runs.step_size * runs.squares))
    promised_steps: Number = derived(lambda runs: runs.promised.sum())


@claim("li2018.lemma_b_4", Kind.STEP, "Lemma B.4, Appendix B.3", reads=drops, given=[*DATA, large_residuals],
       form=Form.REPAIR, title="A step of SGD lowers the population loss")  # fmt: skip
def lemma_b_4(runs: DropSteps, *, half: float = 0.5, failure: float = 0.05) -> Promise:
    """A step of SGD on a fresh batch lowers the population loss by $ηγm·Ω̃((vδ/(kl))²)$ while $v$ is large, for $η$
    small, $B$ large and $t$ small enough, without constants. Checked with $(η/2)Σ_r‖∇_r‖²$, $∇$ the gradient of the
    population, in 95 of 100 steps with $v ≥ 0.05$; ½ is the printed coefficient of that term, the rest is ours.

    The text has the sign of Δ_t the other way round, and uses two values of τ; see `theorem_4_1_budget`.
    """
    s = runs.per("step")
    large = s.residuals >= LARGE_RESIDUAL
    least = float(s.ratios[large].min(initial=np.inf))
    falls = Rate(
        s.ratios < half,
        failure,
        where=large,
        event="steps with v ≥ 0.05",
        quantity="share of steps that drop less",
        text="the loss drops by $(η/2)Σ‖∇_r‖²$",
    )
    return Promise(
        {"drop": falls},
        details={"smallest ratio": least if large.any() else None},
        open_constant=f"those of η = Õ(·), B = Ω̃(·), t = Õ(·) and the drop (smallest drop seen: {least:.3g}·ηΣ‖∇_r‖²)",
    )


@claim("li2018.lemma_b_4_coupled", Kind.STEP, "proof of Lemma B.4", reads=drops.at(batch_coupling_settings),
       given=[unit_norm, two_steps_are_promised],
       title="Most neurons keep their patterns on a whole batch",
       form=Form.SHARPER)  # fmt: skip
def lemma_b_4_coupled(runs: DropSteps, *, tenth: float = 0.1) -> Promised:
    """With $τ = σγ/(100B)$, for $t ≤ τ/(2·max|a|·η)$, at least a share $1 − γ/10$ of the neurons has the patterns of
    the start and $|⟨w_r^t, x⟩| ≥ τ$ on all points of a fresh batch of $B$.

    The proof uses the weaker 1 − γ/(2B) for one point.
    """
    s = runs.per("step")
    limit = 1 - tenth * s.share
    return {
        "coupled": at_least(
            s.coupled, limit, where=s.promised == 1, event="steps that are promised", text="share of neurons"
        )
    }
