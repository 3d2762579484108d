"""Identities of the softmax network: Eq. 1, the residuals v, and the pseudo gradient."""

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.implication import Promised, at_least, at_most, equal
from widenet.claims.tolerances import CLOSED_FORM, ROUNDING
from widenet.papers.li2018.hypotheses import off_kinks
from widenet.papers.li2018.runs.random_networks import (
    GradientSlopes,
    Pseudo,
    Residuals,
    draw_pseudo,
    draw_residuals,
    draw_slopes,
)
from widenet.records import Form

# ── Eq. 1 ──


@claim("li2018.equation_1", Kind.IDENTITY, "Eq. 1, Section 3", draws=draw_slopes, given=[off_kinks],
       title="Eq. 1 is the gradient of the loss")  # fmt: skip
def equation_1(found: GradientSlopes) -> Promised:
    """$∂L/∂w_r = (Σ_{i≠y} a_{i,r} o_i − Σ_{i≠y} a_{y,r} o_i)·1[⟨w_r, x⟩ ≥ 0]·x$ is the gradient of the loss $−log o_y$
    wherever it exists; where $⟨w_r, x⟩ = 0$ it is a definition, with the neuron switched on.
    """
    d, e = found.per("direction"), found.per("entry")
    return {
        "differences": equal(
            d.measured, d.along, within=CLOSED_FORM, of=d.slope_sizes + 1, text="differences of the loss"
        ),
        "entries": equal(e.entries, e.written, within=ROUNDING, of=e.entry_sizes, text="row by row as printed"),
    }


# ── the residuals ──


@claim("li2018.section_5_residuals", Kind.IDENTITY, "Section 5.1, and properties 1 and 2, Appendix A",
       draws=draw_residuals, given=[], title="The residuals of a point add up to 0, its own is largest")  # fmt: skip
def section_5_residuals(found: Residuals) -> Promised:
    """$v_{a,a,b} = 1 − o_a$ lies in $[0, 1]$, $v_{s,a,b} = −o_s$ for $s ≠ a$, and $Σ_s v_{s,a,b} = 0$. So $|v_{s,a,b}|
    ≤ v_{a,a,b}$, and the largest $p·v$ is that of a class at its own component.
    """
    return {
        "sum": equal(found.own + found.others.sum(axis=1), 0, within=ROUNDING, text="$Σ_s v_s = 0$"),
        "lower": at_least(found.own, 0, text="$v_a ≥ 0$"),
        "upper": at_most(found.own, 1, text="$v_a ≤ 1$"),
        "largest": at_most(np.abs(found.others), found.own[:, None], room=ROUNDING, text="$|v_s| ≤ v_a$"),
    }


# ── the pseudo gradient ──


@claim("li2018.pseudo_gradient", Kind.IDENTITY, "last display before Appendix A.1, and A.2", draws=draw_pseudo,
       given=[], form=Form.REPAIR, title="The pseudo gradient is minus the sum of votes times pieces")  # fmt: skip
def pseudo_gradient(found: Pseudo, *, sign: float = -1.0) -> Promised:
    """The pseudo gradient, Eq. 1 with the patterns of the start, is $−Σ_i a_{i,r} P_{i,r}$ with $P_{i,r} = Σ_{a,b}
    p_{a,b} v_{i,a,b} 1[⟨w_r⁰, x_{a,b}⟩ ≥ 0] x_{a,b}$.
    """
    text = "$∂̃L/∂w_r$ and the sum over classes"
    return {"sum": equal(found.defined, sign * found.combined, within=ROUNDING, of=found.entry_sizes, text=text)}


pseudo_gradient_as_printed = pseudo_gradient.variant(
    "pseudo_gradient_as_printed",
    where="last display before Appendix A.1, and A.2",
    statement=(
        "The pseudo gradient is $Σ_{a,b,i} p_{a,b} a_{i,r} v_{i,a,b} 1[⟨w_r⁰, x_{a,b}⟩ ≥ 0] x_{a,b}$, with a plus."
    ),
    title="The pseudo gradient is the sum of votes times pieces",
    sign=1.0,
)


@claim("li2018.lemma_a_3_sum", Kind.IDENTITY, "proof of Lemma A.3", draws=draw_pseudo, given=[],
       title="The pieces of a neuron add up to 0 over the classes")  # fmt: skip
def lemma_a_3_sum(found: Pseudo) -> Promised:
    """$Σ_i P_{i,r} = 0$ for every neuron of every network, because $Σ_i v_{i,a,b} = 0$.

    The proof of Lemma A.3 prints twice that this sum is Ω̃(vδ/(kl)); meant is Σ_i a_{i,r} P_{i,r}.
    """
    return {"sum": equal(found.sums, 0, within=ROUNDING, of=found.largest, text="$Σ_i P_{i,r} = 0$")}
