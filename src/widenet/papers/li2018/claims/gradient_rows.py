"""How large a row of the gradient is, and how far it moves when the residuals do."""

from widenet.claims.base import Kind, claim
from widenet.claims.implication import Promised, at_most, less_than
from widenet.claims.tolerances import BOUND, ROUNDING
from widenet.papers.li2018.hypotheses import moves_sum_to_zero, unit_norm
from widenet.papers.li2018.runs.gradient_rows import (
    GradientRows,
    Nets,
    draw_aligned_nets,
    draw_nets,
    draw_rows,
    draw_steep_rows,
)
from widenet.records import Form

# ── how large a row is ──


@claim("li2018.lemma_a_1_gradient", Kind.STEP, "proof of Lemma A.1", draws=draw_rows, given=[unit_norm],
       form=Form.REPAIR, title="Rows of the gradient are shorter than twice the largest vote")  # fmt: skip
def lemma_a_1_gradient(found: GradientRows, *, tight: float = 1.0, twice: float = 2.0) -> Promised:
    """$‖∂L/∂w_r‖ ≤ max_{i,j} |a_{i,r} − a_{j,r}|·Σ p(1 − o_y) < 2·max|a|$ for every $r$ and $t$, on points of norm 1;
    with equality on the left for two classes and one active point.
    """
    bound = tight * found.spreads * found.masses
    return {
        "spread": at_most(found.norms, bound, within=BOUND, text="at most $max|a_i − a_j|·Σp(1 − o_y)$"),
        "twice": less_than(found.norms, twice * found.largest, text="less than $2·max|a|$"),
    }


@claim("li2018.lemma_a_1_gradient_as_printed", Kind.STEP, "proof of Lemma A.1", draws=draw_steep_rows,
       given=[unit_norm], title="No row of the gradient is longer than the largest vote")  # fmt: skip
def lemma_a_1_gradient_as_printed(found: GradientRows) -> Promised:
    """$‖∂L/∂w_r‖ ≤ L$ for every $r$ and $t$, where $L$ bounds every $|a_{i,r}|$."""
    return {"once": at_most(found.norms, found.largest, text="at most $max|a|$")}


# ── the net of Lemma A.3 ──


@claim("li2018.lemma_a_3_net", Kind.STEP, "proof of Lemma A.3", draws=draw_nets,
       given=[unit_norm, moves_sum_to_zero],
       form=Form.REPAIR, title="The pseudo gradient moves little when the residuals do")  # fmt: skip
def lemma_a_3_net(found: Nets, *, sharp: float = 1.0) -> Promised:
    """Where all $p·v$ move by at most $ε₀$ and stay admissible (their sum over the classes is 0), $∂̃L/∂w_r$ moves by
    at most $2⌊k/2⌋·kl·max|a|·ε₀ ≤ k²l·max|a|·ε₀$; the first is approached for every $k$.

    The proof prints L·ε₀ (`lemma_a_3_net_as_printed`); the factor only enters a logarithm.
    """
    return {
        "sharp": at_most(found.moves, sharp * found.bounds, within=ROUNDING, text="at most $2⌊k/2⌋·kl·max|a|·ε₀$"),
        "loose": at_most(found.moves, found.loose, within=ROUNDING, text="at most $k²l·max|a|·ε₀$"),
    }


@claim("li2018.lemma_a_3_net_as_printed", Kind.STEP, "proof of Lemma A.3", draws=draw_aligned_nets,
       given=[unit_norm, moves_sum_to_zero],
       title="The pseudo gradient moves by at most $L$ times $ε₀$")  # fmt: skip
def lemma_a_3_net_as_printed(found: Nets) -> Promised:
    """Where all $p·v$ move by at most $ε₀$, $∂̃L/∂w_r$ moves by at most $Lε₀$, where $L$ bounds every $|a_{i,r}|$."""
    return {"printed": at_most(found.moves, found.printed, within=ROUNDING, text="at most $max|a|·ε₀$")}
