"""Proposition 1: every critical point of the training loss is a global minimum, and the loss is not convex."""

from collections.abc import Callable
from typing import Any

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.given import output_weight, slope_below_one, slope_positive
from widenet.claims.hypotheses import NOT_KNOWN
from widenet.claims.implication import Promise, at_least, equal, hypothesis, more_than
from widenet.claims.meaning import Meaning, Topic
from widenet.claims.sides import Fact, Sides
from widenet.claims.tolerances import CLOSED_FORM, ROUNDING, STEP
from widenet.papers.brutzkus2018.hypotheses import derivative_above_slope, derivative_at_zero
from widenet.papers.brutzkus2018.runs.landscapes import (
    Certified,
    OnePair,
    Point,
    certified_landscapes,
    proposition_1_2_on,
    random_pairs,
    random_points,
)

GAP = "L((A + B)/2) − (L(A) + L(B))/2"


@hypothesis("separable: $y⟨w*, x⟩$")
def separable(cases: Any) -> Sides:
    """y⟨w*, x⟩ ≥ 1, with the sentence of the certificate."""
    margins = cases.smallest_margin
    unknown = np.isnan(margins)
    said = next((why for why in cases.why[unknown] if why), NOT_KNOWN)
    return at_least(margins, 1, within=ROUNDING, undecided=unknown, unknown=said, why=lambda case: cases.why[case])


Slopes = Callable[[Point], tuple[np.ndarray, float]]


def gradient(point: Point) -> tuple[np.ndarray, float]:
    """∂L_S/∂W with the chosen σ'(0), and a(W), the fraction of samples with y N(x) < 1."""
    scape = point.landscape
    z = scape.inputs @ point.hidden.T
    slopes = np.where(z > 0, 1.0, np.where(z < 0, scape.slope, point.at_zero))
    active = (scape.margins(point.hidden) < 1).astype(np.float64)
    weights = (active * scape.labels)[:, None] * slopes * scape.outputs
    return weights.T @ scape.inputs / -float(len(scape.labels)), float(active.mean())


@claim(
    "brutzkus2018.proposition_1_1",
    Kind.MAIN,
    "Proposition 1 (1), Section 5.1; proof in Section 9.1.1",
    draws=random_points,
    given=[separable, output_weight, slope_positive, derivative_above_slope, derivative_at_zero],
    title="Every critical point is a global minimum",
)
def proposition_1_1(
    points: Point, *, factor: float = 1.0, leak: float | None = None, slopes_at: Slopes = gradient
) -> Promise:
    """Every critical point of the training loss is a global minimum (loss $0$). Quantitatively, $−⟨∇L_S(W), W*⟩ ≥
    2kvα·a(W)$, so $‖∇L_S(W)‖ ≥ √(2k)vα·a(W)/‖w*‖$, where $a(W)$ is the fraction of samples with $y N(x) < 1$, for any
    choice of $σ'(0)$ between $α$ and $1$.

    a(W) is positive wherever the loss is, so the gradient vanishes only at loss 0.

    In code: `factor` multiplies the bounds, `leak` takes the place of α, and `slopes_at` that of the gradient.
    """

    def promised(point: Point) -> float:
        scape, used = point.landscape, point.landscape.slope if leak is None else leak
        return factor * 2 * scape.half_width * scape.output_weight * used * slopes_at(point)[1]

    bounds = points.map(promised)
    descents = points.map(lambda point: -float(np.vdot(slopes_at(point)[0], _stacked(point))))
    # ‖W*‖ = √(2k)‖w*‖, so the second bound is the first with ‖∇L‖‖W*‖ on its left.
    lengths = points.map(lambda point: np.linalg.norm(slopes_at(point)[0]) * np.linalg.norm(_stacked(point)))
    bounded = {"within": STEP, "where": bounds > 0, "event": "places with a positive bound"}
    return Promise(
        {
            "descent": at_least(
                descents,
                bounds,
                text="$−⟨∇L, W*⟩ ≥ 2kvα·a(W)$",
                quantity="−⟨∇L, W*⟩ where it comes closest to 2kvα·a(W)",
                **bounded,
            ),
            "length": at_least(
                lengths,
                bounds,
                text="$‖∇L‖ ≥ √(2k)vα·a(W)/‖w*‖$",
                quantity="‖∇L‖·√(2k)‖w*‖ where it comes closest to 2kvα·a(W)",
                **bounded,
            ),
            "not_critical": more_than(
                lengths,
                0.0,
                where=points.loss > 0,
                event="places with a positive loss",
                text="a gradient other than 0 wherever the loss is positive",
                quantity="‖∇L‖·√(2k)‖w*‖",
            ),
        },
        details=lambda: {
            "points": len(points),
            "points_with_positive_loss": (points.loss > 0).sum(),
            "critical_points_met": (lengths == 0).sum(),
        },
    )


def _stacked(point: Point) -> np.ndarray:
    """W*."""
    return np.outer(np.sign(point.landscape.outputs), point.landscape.separator)


@claim(
    "brutzkus2018.proposition_1_2",
    Kind.MAIN,
    "Proposition 1 (2), Section 5.1",
    draws=certified_landscapes,
    given=[separable, output_weight, slope_below_one],
    on=proposition_1_2_on,
    title="The training loss is not convex",
    means=Meaning(
        topic=Topic.TRAPS,
        promise="Between two networks that fit the points there may be worse ones: averaging the weights of two good "
        "networks can give a bad one.",
    ),
)
def proposition_1_2(scapes: Certified) -> Promise:
    """The training loss is not convex, on any separable data: there are $A$ and $B$ with $L_S((A + B)/2) > (L_S(A) +
    L_S(B))/2$, and the gap has a closed form.

    A certificate that was not found decides nothing.
    """
    found = scapes.has_certificate
    errors = (np.abs(scapes.measured - scapes.predicted) / scapes.predicted)[found]
    missing = int((~found).sum())

    def closed_form(name: str, kind: np.ndarray) -> Sides:
        """The measured gap against its closed form; a difference of losses of size 1 is rounded too."""
        return equal(
            scapes.measured,
            scapes.predicted,
            room=CLOSED_FORM * np.nan_to_num(scapes.predicted) + ROUNDING,
            where=kind & (kind & found).any(),
            event=name,
            text=f"the gap {name} has its closed form",
            quantity=GAP,
            optional=True,
        )

    return Promise(
        {
            "from_zero": closed_form("from $W = 0$", ~scapes.balanced),
            "on_balanced": closed_form("on balanced data", scapes.balanced),
            # An inequality without its right side: no number to come close to.
            "gap": more_than(scapes.measured, 0.0, text="a positive gap", quantity=GAP),
        },
        details=lambda: {
            "landscapes": len(scapes),
            "certificates": len(scapes) - missing,
            "balanced_data_sets": scapes.balanced.sum(),
            "largest_relative_error_of_the_predicted_gap": errors.max(initial=0.0),
        },
        note=f"No certificate in {missing} of {len(scapes)} landscapes." if missing else "",
    )


@hypothesis("$‖x‖$")
def nonzero_point(pairs: OnePair) -> Sides:
    """x ≠ 0."""
    return more_than(pairs.norm, 0)


@claim(
    "brutzkus2018.proposition_1_2_own_example",
    Kind.STEP,
    "proof of Proposition 1 (2), Section 9.1.1",
    draws=random_pairs,
    given=[nonzero_point, slope_below_one],
    title="A difference of two neurons is not convex",
)
def proposition_1_2_own_example(pairs: OnePair, *, factors: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> Promise:
    """$f_x(w, u) = σ(⟨w, x⟩) − σ(⟨u, x⟩)$ is not convex: it is $0$ at $(x, x)$, $(1 + α)‖x‖²$ at $(x, −x)$, and $‖x‖²$
    halfway, which is $(1 − α)‖x‖²/2$ above the mean.

    In code: `factors` multiply the value at (x, −x), the value halfway, and the excess.
    """
    rounding = {"within": ROUNDING, "of": pairs.square}
    excess = pairs.halfway - (pairs.same + pairs.opposite) / 2
    plus, minus = int(_bends(pairs, 1).sum()), int(_bends(pairs, -1).sum())
    return Promise(
        {
            "excess": equal(
                excess,
                factors[2] * (1 - pairs.slope) / 2 * pairs.square,
                text="the midpoint exceeds the mean by $(1 − α)‖x‖²/2$",
                quantity="f at the midpoint minus the mean of f at the ends",
                **rounding,
            ),
            "exceeds": Fact(excess > ROUNDING * pairs.square, text="the midpoint exceeds the mean"),
            "same": equal(pairs.same, 0.0, text="0 at $(x, x)$", **rounding),
            "opposite": equal(
                pairs.opposite,
                factors[0] * (1 + pairs.slope) * pairs.square,
                text="$(1 + α)‖x‖²$ at $(x, −x)$",
                **rounding,
            ),
            "halfway": equal(pairs.halfway, factors[1] * pairs.square, text="$‖x‖²$ halfway", **rounding),
        },
        details=lambda: {
            "pairs": len(pairs),
            "hinge_not_convex_here_for_label_plus": plus,
            "hinge_not_convex_here_for_label_minus": minus,
        },
        note=(
            "The proof is about f, not about the loss: through the hinge these three points show non-convexity for "
            f"y = −1 ({minus} of {len(pairs)}) and never for y = +1 ({plus}). proposition_1_2 is about the loss."
        ),
    )


def _bends(pairs: OnePair, label: int) -> np.ndarray:
    """Whether the hinge loss of this label is above the mean of the ends halfway."""
    same, opposite, halfway = (
        np.maximum(1 - label * value, 0) for value in (pairs.same, pairs.opposite, pairs.halfway)
    )
    return halfway > (same + opposite) / 2
