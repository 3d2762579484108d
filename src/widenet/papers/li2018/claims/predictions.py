"""From residuals to predictions, in the proof of Theorem 4.1: margins, Markov's step, the reduction, and the start."""

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.implication import Promised, at_least, at_most, equal
from widenet.claims.rates import Rate
from widenet.claims.sides import Fact
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.li2018.formulas import E, loss_bound, reduction, reduction_as_printed, start_variance
from widenet.papers.li2018.hypotheses import total, unit_norm
from widenet.papers.li2018.runs.outputs import (
    START_FAILURE,
    START_WIDTHS,
    OutputErrors,
    OutputMargins,
    StartOutputs,
    draw_errors,
    draw_margins,
    draw_printed_margin,
    draw_starts,
)
from widenet.records import Form


@claim("li2018.theorem_4_1_margin", Kind.STEP, "proof of Theorem 4.1", draws=draw_margins, given=[],
       form=Form.REPAIR, title="A small residual gives a margin, and a right answer")  # fmt: skip
def theorem_4_1_margin(found: OutputMargins, *, share: float = 1.0, half: float = 0.5) -> Promised:
    """$1 − o_a ≤ ε$ gives $f_a ≥ f_i + ln((1 − ε)/ε)$ for every $i ≠ a$, with equality for two classes; so below $ε =
    1/2$ the prediction is correct, and a margin of 1 needs $ε ≤ 1/(1 + e) = 0.269$.
    """
    with np.errstate(divide="ignore"):
        promised = np.log1p(-found.residuals) - found.log_residuals
    among = {"where": found.residuals < half, "event": "points of residual below 1/2"}
    text = "margin at least $ln((1 − ε)/ε)$"
    return {
        "margin": at_least(found.margins, share * promised, within=STEP, of=1 + promised, text=text, **among),
        "right": Fact(found.margins > 0, text="right below $ε = 1/2$", **among),
    }


@claim("li2018.theorem_4_1_margin_as_printed", Kind.STEP, "proof of Theorem 4.1", draws=draw_printed_margin,
       given=[], title="A residual of at most $1/e$ gives a margin of 1")  # fmt: skip
def theorem_4_1_margin_as_printed(found: OutputMargins) -> Promised:
    """For every $ε ≤ 1/e$, $1 − o_a ≤ ε$ gives $f_a ≥ f_i + 1$ for every $i ≠ a$."""
    among = {"where": found.residuals <= (1 + ROUNDING) / E, "event": "points of residual up to 1/e"}
    return {"margin": at_least(found.margins, 1, within=ROUNDING, text="margin at least 1", **among)}


# ── errors and residuals ──


@claim("li2018.theorem_4_1_markov", Kind.STEP, "proof of Theorem 4.1", draws=draw_errors, given=[],
       title="The error on a component is at most twice its mean residual",
       form=Form.SHARPER)  # fmt: skip
def theorem_4_1_markov(found: OutputErrors, *, factor: float = 2.0, limit: float = 1 / E) -> Promised:
    """$E[1 − o_a] ≤ ε²$ on a component, $ε ≤ 1/e$, gives an error of at most $ε$ there; at most $2·E[1 − o_a]$ always,
    with equality where two classes tie, which counts as an error.
    """
    c = found.per("component")
    root = np.sqrt(c.component_means)
    return {
        "twice": at_most(
            c.component_errors,
            factor * c.component_means,
            room=ROUNDING,
            trivial=1.0,
            text="at most $2·E[1 − o_a]$",
        ),
        "root": at_most(
            c.component_errors,
            root,
            room=ROUNDING,
            where=root <= limit,
            event="components of small residual",
            text="at most $√E[1 − o_a]$ up to $1/e$",
        ),
    }


@claim("li2018.theorem_4_1_reduction", Kind.STEP, "proof of Theorem 4.1", draws=draw_errors, given=[total],
       title="An error leaves a large residual on some component",
       form=Form.SHARPER)  # fmt: skip
def theorem_4_1_reduction(found: OutputErrors, *, sharp: float = 1.0, printed: float = 1.0) -> Promised:
    """An error of $ε$ gives $max p·E[1 − o_a] ≥ ε³/(8kl)$, even at least $ε/(2kl)$, with equality where two classes tie
    and all components have equal probability.
    """
    n = found.per("network")
    low, lower = reduction(n.errors, n.n_components), reduction_as_printed(n.errors, n.n_components)
    return {
        "sharp": at_least(n.largest, sharp * low, room=ROUNDING, text="$v ≥ ε/(2kl)$"),
        "printed": at_least(n.largest, printed * lower, room=ROUNDING, text="$v ≥ ε³/(8kl)$"),
    }


# ── the start ──


@claim("li2018.theorem_4_1_start", Kind.STEP, "proof of Theorem 4.1", draws=draw_starts, given=[unit_norm],
       title="At the start outputs and loss are of order 1 at every width")  # fmt: skip
def theorem_4_1_start(found: StartOutputs, *, failure: float = START_FAILURE) -> Promised:
    """At the start $|f_i(x)| = Õ(1)$ and $L = Õ(1)$ for points fixed before it: $f_i(x)$ is Gaussian given $W⁰$ with a
    variance $V_x$ whose mean is $mσ²/2 = 1/2$ for every $m$, so with probability $1 − p₀$ all $|f_i(x)|$ of $n$ points
    are at most $√(2V_x ln(2kn/p₀))$, and the loss is at most $ln k + 2·max|f|$.
    """
    cell = found.per("cell")
    variance = start_variance(cell.width, cell.width**-0.5)
    squares = {
        f"variance_{width}": equal(
            cell.mean_square,
            variance,
            room=cell.square_room,
            where=cell.width == width,
            event=f"networks of width {width}",
            optional=True,
            text=f"$E f² = 1/2$ at $m = {width}$",
        )
        for width in START_WIDTHS
    }
    text = "$|f| ≤ √(2V ln(2kn/p₀))$ with probability $1 − p₀$"
    return {
        **squares,
        "outputs": Rate(found.ratios > 1, failure, text=text),
        "loss": at_most(
            found.losses, loss_bound(found.n_classes, found.largest), room=STEP, text="$L ≤ ln k + 2·max|f|$"
        ),
    }
