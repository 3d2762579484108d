"""Section 2.2 and Appendix A: derivatives of the loss, the reduction to zero biases, and a network that fits."""

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.implication import Promise, Promised, at_least, at_most, equal
from widenet.claims.tolerances import CLOSED_FORM, IDENTITY, ROUNDING
from widenet.papers.chatterji2021.hypotheses import (
    away_from_kinks,
    distinct,
    unit_inputs,
)
from widenet.papers.chatterji2021.runs.coordinates import BothCoordinates, coordinates
from widenet.papers.chatterji2021.runs.derivatives import (
    CURVED,
    HESSIAN_NEAR,
    NEAR_KINK,
    OFF,
    STRAIGHT,
    GradientEntries,
    HessianEntries,
    draw_curvatures,
    draw_slopes,
)
from widenet.papers.chatterji2021.runs.fits import BuiltFit, draw_fits
from widenet.records import Form


@claim("chatterji2021.section_2_gradient", Kind.IDENTITY, "Section 2.2; Appendix B.2, first display", draws=draw_slopes,
       given=[away_from_kinks(NEAR_KINK)],
       title="The gradient formula agrees with differences of the loss")  # fmt: skip
def section_2_gradient(drawn: GradientEntries) -> Promised:
    """$∇_{v_i}L = −(u_i/n) Σ_s g_s y_s φ'(⟨v_i, x_s⟩) x_s$, compared with central differences of $L$."""
    return {
        key: equal(drawn.formula, drawn.differences, room=CLOSED_FORM, where=drawn.votes == sign, text=text, event=text)
        for key, sign, text in (("plus", 1, "rows that vote plus"), ("minus", -1, "rows that vote minus"))
    }


@claim("chatterji2021.equations_19_20", Kind.IDENTITY, "Eqs. 19 and 20, Appendix B.2", draws=draw_curvatures,
       given=[away_from_kinks(HESSIAN_NEAR)],
       title="Blocks of the Hessian agree with differences of the gradient")  # fmt: skip
def equations_19_20(drawn: HessianEntries) -> Promised:
    """The blocks of the weak Hessian, (19) off the diagonal and (20) on it, compared with central differences of $∇L$
    where no pre-activation is at 0 or $h$.
    """
    how = {"room": CLOSED_FORM}
    kinds = {
        "off_diagonal": ("(19)", OFF, "blocks off the diagonal"),
        "curved": ("(20), a point on the parabola", CURVED, "blocks of units with a point on the parabola"),
        "straight": ("(20), none", STRAIGHT, "blocks of units without one"),
    }
    return {
        key: equal(drawn.formula, drawn.differences, where=drawn.kinds == kind, text=text, event=event, **how)
        for key, (text, kind, event) in kinds.items()
    }


@claim("chatterji2021.appendix_a", Kind.IDENTITY, "Appendix A", reads=coordinates, given=[unit_inputs],
       title="A network with biases is one without, on extended inputs")  # fmt: skip
def appendix_a(runs: BothCoordinates) -> Promise:
    """A run with biases on $x$ and one without on $x̃ = (x, 1)/√2$ are the same where $Ṽ^(1) = √2θ^(1)$ and $α̃ = 2α$:
    $Ṽ^(t) = √2θ^(t)$, with equal pre-activations and losses at every step. And $⟨x̃, x̃'⟩ = (1 + ⟨x, x'⟩)/2 ≥ 0$ for
    unit inputs.
    """
    t, pairs = runs.per("time"), runs.per("pair")
    return Promise(
        {
            "weights": equal(t.weights, 0.0, within=IDENTITY, text="$Ṽ^(t) = √2θ^(t)$"),
            "preactivations": equal(t.preactivations, 0.0, within=IDENTITY, text="equal pre-activations"),
            "losses": equal(t.losses, 0.0, within=IDENTITY, text="equal losses"),
            "halves": equal(pairs.overlaps, pairs.halves, room=ROUNDING, text="$⟨x̃, x̃'⟩ = (1 + ⟨x, x'⟩)/2$"),
            "overlaps": at_least(pairs.overlaps, 0.0, within=ROUNDING, text="$⟨x̃, x̃'⟩ ≥ 0$"),
        },
        details=lambda: {"largest move of a weight": np.min(runs.moved)},
    )


@claim("chatterji2021.theorem_1_start", Kind.CONSTRUCTION, "not in the paper; a start for Theorem 1", draws=draw_fits,
       given=[distinct, unit_inputs],
       form=Form.OURS, title="One neuron per point builds a start for Theorem 1")  # fmt: skip
def theorem_1_start(fits: BuiltFit) -> Promised:
    """On unit inputs, no two of them equal with different labels, a network with one neuron per point is a start for
    Theorem 1: each neuron votes on a cap of the sphere without points of the other label, and all are scaled up until
    $L₁$ is small enough. If two equal inputs have different labels, every network has $L ≥ 2 log 2/n$, which is too
    large.
    """
    text = "$L₁$ is small enough for Theorem 1"
    return {"loss": at_most(fits.loss, fits.target, within=ROUNDING, text=text)}
