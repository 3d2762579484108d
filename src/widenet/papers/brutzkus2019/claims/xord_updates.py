"""Gradient descent on diverse points: one pair is enough, the update in closed form, and what the two outputs share.

Section 6 trains on one pair (x⁺, x⁻) without loss of generality (`observation_one_pair`), Eqs. 7 and 8 are
`equation_7_8`, footnote 10 `footnote_10`, the split of the outputs before Section E.0.1 `observation_decomposition`,
and footnote 3 (XOR is XORD with one patch) `footnote_3`. All are compared with automatic differentiation.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Kind, claim
from widenet.claims.cases import column
from widenet.claims.implication import Promise, Promised, at_most, equal, more_than
from widenet.claims.tolerances import IDENTITY, ROUNDING, STEP
from widenet.papers.brutzkus2019.hypotheses import DIVERSE_POINTS, OnPoints, off_lattice, step_below_half
from widenet.papers.brutzkus2019.runs.one_patch import OnePatch, one_patch
from widenet.papers.brutzkus2019.runs.xord_descent import XordDescent, descents
from widenet.records import Form

Indicator = Callable[[np.ndarray], np.ndarray]
"""Whether the negative point is active, from N(x⁻)."""


class Descents(OnPoints, XordDescent):
    """Gradient descent on points of XORD, with what is assumed about them."""


def sizes(runs: Descents) -> dict[str, Any]:
    """Of every setting."""
    each = runs.per("cell")
    return {
        "points": each.n_points,
        "patches": each.n_patches,
        "half_width": each.half_width,
        "step_size": each.step_size,
        "margin": each.margin,
    }


@claim("brutzkus2019.observation_one_pair", Kind.IDENTITY, "Section 6, before Section 6.1; Appendix E", reads=descents,
       given=DIVERSE_POINTS, details=sizes,
       title="One diverse pair gives the trajectory of all diverse points")  # fmt: skip
def observation_one_pair(runs: Descents) -> Promised:
    """XORD: on any training set of diverse points, gradient descent takes the same trajectory as on one diverse
    positive and one diverse negative point.

    Where no training set has a third point, a run is compared with itself: that decides nothing.
    """
    t = runs.per("time")
    same = equal(
        t.pair_distance,
        0.0,
        within=ROUNDING,
        where=t.n_distinct > 2,
        text="the same weights at every $t$",
        quantity=_up_to_rounding("largest difference of a weight, at any step"),
        event="training sets with a third point",
    )
    return {"weights": same}


def below_margin(negative_outputs: np.ndarray) -> np.ndarray:
    """−N(x⁻) < 1. (Eqs. 7 and 8 print N(x⁻) < 1, which would be true for good.)"""
    return -negative_outputs < 1


@claim("brutzkus2019.equation_7_8", Kind.IDENTITY,
       "Eqs. 7 and 8, Appendix E (1[N(x⁻) < 1] is printed where 1[−N(x⁻) < 1] is meant)", reads=descents,
       given=DIVERSE_POINTS, details=sizes,
       form=Form.REPAIR,
       title="The update of every filter in closed form")  # fmt: skip
def equation_7_8(runs: Descents, *, is_active: Indicator = below_margin) -> Promise:
    """XORD, diverse points: a filter in $W_t⁺(i) ∩ W_t⁻(l)$ moves by $η·p_i·1[N(x⁺) < γ] − η·p_l·1[−N(x⁻) < 1]$, and a
    filter in $U_t⁺(i) ∩ U_t⁻(l)$ by minus that.

    Every step is compared with the step of automatic differentiation, those after the last update among them. (A step
    before it is rounded into a weight differs from the difference of weights by less than 1e-15.)
    """
    t = runs.per("time")
    first, second = t.positive_output < t.margin, is_active(t.negative_output)
    residual = t.residual[np.arange(len(t)), first.astype(int), second.astype(int)]
    how = {"within": ROUNDING, "quantity": _up_to_rounding("largest difference of an update, at any step")}
    phases = {
        "both": first & second,
        "only_negative": ~first & second,
        "only_positive": first & ~second,
        "none": ~first & ~second,
    }
    return Promise(
        {
            "plus": equal(residual[:, 0], 0.0, text="the $w$'s", **how),
            "minus": equal(residual[:, 1], 0.0, text="the $u$'s", **how),
            "finished": at_most(runs.unfinished, 0, undecided=runs.unfinished, text="seen until after the last update"),
        },
        details=lambda: {
            "last_update": runs.per("cell").last_update,
            "steps": {name: int(which.sum()) for name, which in phases.items()},
        },
    )


@claim("brutzkus2019.footnote_10", Kind.STEP, "Footnote 10, Appendix E", reads=descents,
       given=[off_lattice, *DIVERSE_POINTS], details=sizes,
       form=Form.REPAIR,
       title="No filter ever sits at the kink of the ReLU")  # fmt: skip
def footnote_10(runs: Descents) -> Promise:
    """XORD, diverse points: with probability 1 no filter ever sits at the kink of $σ$. For $⟨w_t, p⟩ = 0$ some
    $⟨w_0, p⟩$ must be a multiple of $2η$.

    Random starts are off these multiples, and then a fit can be 0 only if a step is no multiple of 2η: both are looked
    at.
    """
    t = runs.per("time")
    return Promise(
        {
            "fits": more_than(
                t.smallest_fit,
                0.0,
                text="no fit is ever $0$",
                quantity="smallest |⟨w_t, p_l⟩| over filters and times, in units of η",
            ),
            "steps": equal(
                t.off_lattice,
                0.0,
                within=STEP,
                text="fits change by multiples of $2η$",
                quantity="largest distance of ⟨w_t − w_0, p_l⟩ from a multiple of 2η, in units of 2η",
            ),
        },
        note="Steps change a fit by 2η, so multiples of 2η matter; the paper says multiples of η.",
    )


@claim("brutzkus2019.observation_decomposition", Kind.IDENTITY, "Appendix E, before Section E.0.1", reads=descents,
       given=DIVERSE_POINTS, details=sizes,
       title="What the outputs on two diverse points have in common")  # fmt: skip
def observation_decomposition(runs: Descents) -> Promised:
    """XORD, diverse points: $R_t⁺ = R_t⁻$, so $N(x⁺) − N(x⁻) = S_t⁺ − P_t⁺ + P_t⁻ − S_t⁻$ for all $t$.

    R is compared on all points, the identity on x⁺ and x⁻, whose six sums are taken one by one.
    """
    t = runs.per("time")
    return {
        "rest": equal(
            t.rest_spread,
            0.0,
            within=IDENTITY,
            text="$R$ is the same on all points",
            quantity=f"largest difference of R between two points, at any t; up to {IDENTITY:g} counts as 0",
        ),
        "difference": equal(
            t.positive_output - t.negative_output,
            t.s_plus - t.p_plus + t.p_minus - t.s_minus,
            room=IDENTITY,
            text="$N(x⁺) − N(x⁻) = S⁺ − P⁺ + P⁻ − S⁻$",
        ),
    }


class BesideXor(OnePatch):
    """XOR beside XORD with one patch, and how far the two trajectories are apart."""

    @column
    def weight_distance(self) -> Float[np.ndarray, "run weight"]:
        """Of every weight at every t."""
        return _per_run(np.abs(self.xor_weights - self.xord_weights))

    @column
    def output_distance(self) -> Float[np.ndarray, "run output"]:
        """Of N on every point at every t, per filter."""
        return _per_run(np.abs(self.xor_outputs - self.xord_outputs) / (2 * self.half_width))

    @column
    def other_labels(self) -> int:
        """Points whose XOR label is not f*(x) for d = 1."""
        return int((self.xor_labels != self.xord_labels).sum())


def _per_run(values: np.ndarray) -> np.ndarray:
    return np.moveaxis(values, 1, 0).reshape(values.shape[1], -1)


@claim("brutzkus2019.footnote_3", Kind.IDENTITY, "Footnote 3, Section 3 (the factor is added)", reads=one_patch,
       given=[step_below_half], title="XOR is XORD with one patch, at half the loss")  # fmt: skip
def footnote_3(runs: BesideXor, *, loss_ratio: float = 2.0) -> Promise:
    """XOR is XORD with $d = 1$: the network and $f*$ are the same, and on all four points with $γ = 1$ the loss is half
    of XOR's, so twice the step size gives the same trajectory.

    Its loss is half of XOR's: two means over two points for a sum over four.
    """
    t, each = runs.per("time"), runs.per("cell")
    return Promise(
        {
            "weights": equal(
                runs.per("weight").weight_distance,
                0.0,
                within=ROUNDING,
                text="the same weights at every $t$",
                quantity=_up_to_rounding("largest difference of a weight, at any step"),
            ),
            "outputs": equal(
                runs.per("output").output_distance,
                0.0,
                within=ROUNDING,
                text="the same outputs at every $t$",
                quantity=_up_to_rounding("largest difference of an output per filter, at any step"),
            ),
            "loss": equal(loss_ratio * t.xord_loss, t.xor_loss, room=IDENTITY, text="half the loss at every $t$"),
            "labels": at_most(
                each.other_labels,
                0,
                text="the same labels",
                quantity="points whose XOR label is not f*(x) for d = 1",
            ),
            "finished": at_most(runs.unfinished, 0, undecided=runs.unfinished, text="seen until nothing moves"),
        },
        details={"half_widths": each.half_width, "step_ratio": each.step_ratio},
    )


def _up_to_rounding(quantity: str) -> str:
    return f"{quantity}; up to {ROUNDING:g} counts as 0"
