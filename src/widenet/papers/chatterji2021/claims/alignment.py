"""Lemma 10 and what leads to it: the negative gradient points along the weights. And the constants of (6) and (7)."""

from collections.abc import Callable

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.given import labels
from widenet.claims.implication import Promise, Promised, at_least, at_most, equal
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.chatterji2021.claims.columns import FollowedDescent, Looked, both
from widenet.papers.chatterji2021.formulas import (
    THIRD_TERM_LIMIT,
    alignment_bound,
    alignment_share,
    rate_constant,
    step_scale_terms,
)
from widenet.papers.chatterji2021.hypotheses import (
    SETTING,
    bandwidth,
    narrow_band,
    small_loss,
    step_scale,
    two_points,
)
from widenet.papers.chatterji2021.runs.descents import descents, possible_descents
from widenet.papers.chatterji2021.runs.networks import networks, thin_networks
from widenet.papers.chatterji2021.runs.scalars import StartNumbers, draw_starts
from widenet.records import Form

Bound = Callable[..., np.ndarray]


def _rounding(cells: Looked) -> np.ndarray:
    """What rounding may do to a sum of g·y·f: large units may cancel in f."""
    return ROUNDING * cells.half_width * cells.norms * cells.pulls


@claim("chatterji2021.equation_4", Kind.STEP, "Eq. 4, proof of Lemma 10", reads=networks, given=[labels, narrow_band],
       form=Form.SHARPER, title="$−⟨∇L, V⟩$ is the weighted mean margin up to $L$")  # fmt: skip
def equation_4(cells: Looked, *, printed: float = 1.0, by_loss: float = 1.0, sharp: float = 0.5) -> Promised:
    """$−⟨∇L, V⟩$ falls short of $mean(g·y f(x))$ by at most $hp·mean(g)$ and so, where $hp ≤ 1$, by at most $L$.
    Sharper, and attained: by at most $(hp/2)·mean(g)$.
    """
    shortfall, room = cells.weighted_margins - cells.alignments, _rounding(cells)
    pull = cells.band * cells.pulls
    limits = {
        "printed": ("at most $hp·mean(g)$", printed * pull),
        "by_loss": ("at most $L$", by_loss * cells.losses),
        "sharp": ("at most $(hp/2)·mean(g)$", sharp * pull),
    }
    return {
        key: at_most(shortfall, limit, room=room + STEP * limit, text=text) for key, (text, limit) in limits.items()
    }


@claim("chatterji2021.equation_5", Kind.STEP, "Eq. 5, proof of Lemma 10", reads=networks, given=[labels, bandwidth],
       form=Form.SHARPER, title="The negative gradient points along the weights")  # fmt: skip
def equation_5(cells: Looked, *, printed: float = 1.0, sharp: float = 0.5) -> Promise:
    """$−⟨∇L, V⟩ ≥ F(nL)/n − L$ with $F(z) = (1 − e^{−z}) log(1/(e^z − 1))$, for $h = 1/p$ and any $L$. Sharper:
    $mean(g)/2$ in place of the last $L$.

    The paper derives it from the concavity of F, which ends at 1.524. It holds beyond: F(z) = H(e^{−z}) − z with H the
    entropy of a coin, and the entropy of "all heads" is at most the sum of the entropies.
    """
    shortfall = alignment_bound(cells.n_samples, cells.losses, 0.0) - cells.alignments
    room = _rounding(cells)
    limits = {
        "printed": ("$−⟨∇L, V⟩ ≥ F(nL)/n − L$", printed * cells.losses),
        "sharp": ("$−⟨∇L, V⟩ ≥ F(nL)/n − mean(g)/2$", sharp * cells.pulls),
    }
    return Promise(
        {
            key: at_most(shortfall, limit, room=room + STEP * limit, text=text, quantity="F(nL)/n + ⟨∇L, V⟩")
            for key, (text, limit) in limits.items()
        },
        details=lambda: {"largest nL": (cells.n_samples * cells.losses).max()},
    )


@claim("chatterji2021.lemma_10", Kind.STEP, "Lemma 10, Section 3.3 (with n ≥ 2)",
       reads=(descents, thin_networks), given=[two_points, small_loss, labels, bandwidth],
       form=Form.REPAIR, title="The gradient is at least $(5/6)L log(1/L)/‖V‖$")  # fmt: skip
def lemma_10(
    runs: FollowedDescent,
    cells: Looked,
    *,
    share: Callable[[np.ndarray], np.ndarray] = alignment_share,
    aligned_share: Callable[[np.ndarray], np.ndarray] = alignment_share,
) -> Promised:
    """$‖∇L_t‖ ≥ (5/6)L_t log(1/L_t)/‖V^(t)‖$ where $L_t ≤ n^{−(1+C₁)}$ and $n ≥ 2$. The proof gives more: $−⟨∇L_t,
    V^(t)⟩ ≥ (5/6)L_t log(1/L_t)$.

    The lemma itself does not ask for n ≥ 2; Theorem 1 does, and so does the proof: at n = 1 a point on which every unit
    is off has L = log 2 ≤ 1 and no gradient. The paper leaves C₁ open; 19.6564 is enough for every n. What is asked
    here is what the proof uses: a loss at which (5) gives 5/6, which is larger.
    """
    t = runs.per("iterate")
    loss, found = both(t.losses, cells.losses), both(t.alignments, cells.alignments)
    products = both(t.gradient_norms * t.norms, cells.gradient_norms * cells.norms)
    return {
        "gradient": at_least(products, share(loss), within=STEP, text="$‖∇L‖‖V‖ ≥ (5/6)L log(1/L)$"),
        "aligned": at_least(found, aligned_share(loss), within=STEP, text="$−⟨∇L, V⟩ ≥ (5/6)L log(1/L)$"),
    }


@claim("chatterji2021.equation_6_third_term", Kind.STEP, "not in the paper; about Eq. 6",
       reads=(networks, possible_descents), given=SETTING, form=Form.OURS,
       title="The largest step scale is $e²/(120p)$")  # fmt: skip
def equation_6_third_term(
    cells: Looked,
    runs: FollowedDescent,
    *,
    terms: Callable[..., tuple] = step_scale_terms,
    limit: float = THIRD_TERM_LIMIT,
) -> Promise:
    """Where $L₁ ≤ 0.65$, the minimum in (6) is its third term: $Q̃₁ = e²/(120p)$.

    The first is not smaller because z log²(1/z) ≤ 4/e², the second because some margin is at least log(1/(e^L − 1)) and
    none exceeds √p‖V‖. Networks with a larger loss are not scored.
    """
    loss, norm = both(cells.losses, runs.first_loss), both(cells.norms, runs.first_norm)
    first, second, third = terms(norm, loss, both(cells.half_width, runs.half_width))
    how = {"within": STEP, "where": loss <= limit, "event": "starts with a loss up to 0.65"}
    return Promise(
        {
            "first": at_least(first, third, text="first term ≥ third", **how),
            "second": at_least(second, third, text="second term ≥ third", **how),
        },
        event=loss <= limit,
    )


@claim("chatterji2021.equation_7_half", Kind.STEP, "not in the paper; Eqs. 6 and 7", draws=draw_starts,
       given=[step_scale], form=Form.OURS, title="The rate constant is at most $1/2$")  # fmt: skip
def equation_7_half(drawn: StartNumbers, *, rate: Bound = rate_constant) -> Promised:
    """$Q̃₂(Q₁) ≤ 1/2$ for every $Q₁ ≤ Q̃₁$, with equality exactly where $Q₁$ is the second term of (6)."""
    rates = rate(drawn.step_scale, drawn.norm, drawn.loss)
    second = step_scale_terms(drawn.norm, drawn.loss, drawn.half_width)[1]
    attained = np.abs(drawn.step_scale / second - 1) <= STEP
    return {
        "half": at_most(rates, 0.5, within=ROUNDING, text="$Q̃₂(Q₁) ≤ 1/2$"),
        "attained": equal(
            rates,
            0.5,
            within=STEP,
            where=attained,
            event="starts with Q₁ at the second term of (6)",
            text="$= 1/2$ where $Q₁$ is the second term",
        ),
    }
