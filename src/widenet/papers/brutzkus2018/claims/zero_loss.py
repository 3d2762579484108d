"""Where the training loss is 0: some multiple of W* always, W* itself only if the output weights are large enough."""

from collections.abc import Callable
from typing import Any

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.given import output_weight, separable, slope_below_one, slope_positive
from widenet.claims.implication import Promise, equal, more_than
from widenet.claims.sides import Sides
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.brutzkus2018.runs.separated import (
    ExactPoint,
    Separated,
    cases_around_one,
    exact_points,
    separated_cases,
    separated_on,
)
from widenet.records import Form

PerCase = Callable[[Separated], float]


def reach_of(case: Separated) -> float:
    """kv(1 + α)·min y⟨w*, x⟩."""
    return case.reach


def whole(case: Separated) -> float:
    """1."""
    return 1.0


@claim(
    "brutzkus2018.section_2_zero_minimum",
    Kind.CONSTRUCTION,
    "after Eq. 2, Section 2",
    draws=separated_cases,
    given=[separable, output_weight],
    on=separated_on,
    title="Some network has training loss 0 on separable data",
)
def section_2_zero_minimum(cases: Separated, *, share: PerCase = whole) -> Promise:
    """On separable data some $W$ has training loss exactly $0$, for Leaky ReLU and for ReLU: $s·W*$ does, with $W*$
    made of $k$ rows $w*$ and $k$ rows $−w*$, as soon as $s·kv(1 + α) ≥ 1$ (for ReLU, $α = 0$).

    At the smallest such s and a hair more, which covers rounding.
    """
    with np.errstate(divide="ignore", invalid="ignore"):  # v = 0 is a hypothesis that fails
        losses = cases.map(lambda case: case.mean_hinge(share(case) * np.divide(1 + STEP, case.gain) * case.stacked()))

    def zero(activation: str, chosen: np.ndarray) -> Sides:
        text, closest = f"loss 0 at $s·W*$ ({activation})", "largest training loss at s·W*"
        return equal(losses, 0.0, where=chosen, event=activation, text=text, quantity=closest)

    is_relu = np.equal(cases.slope, 0)
    return Promise(
        {"leaky_relu": zero("Leaky ReLU", ~is_relu), "relu": zero("ReLU", is_relu)},
        details={"s": "1/(kv(1 + α)), for ReLU 1/(kv)"},
    )


@claim(
    "brutzkus2018.separator_is_global_minimum",
    Kind.STEP,
    "proof sketch in Section 5.1 and Section 9.1.2",
    draws=cases_around_one,
    given=[output_weight],
    form=Form.REPAIR,
    title="When the stacked separator $W*$ is a global minimum",
)
def separator_is_global_minimum(
    cases: Separated, *, weights: Callable[[Separated], np.ndarray] = Separated.stacked, reach: PerCase = reach_of
) -> Promise:
    """$W*$ ($k$ rows $w*$, $k$ rows $−w*$) has the outputs $N(x) = kv(1 + α)⟨w*, x⟩$, so it is a global minimum,
    $L_S(W*) = 0$, if and only if $kv(1 + α)·min y⟨w*, x⟩ ≥ 1$. (Repaired: the paper states it without the condition.
    Its proofs use only $⟨W, W*⟩$ and do not need it.)
    """
    points = cases.per("sample")
    far = cases.map(reach) >= 1 - ROUNDING
    losses = cases.map(lambda case: case.mean_hinge(weights(case)))
    said = points.map(lambda case: case.outputs(weights(case)))
    linear = points.map(lambda case: case.gain * (case.inputs @ case.separator))
    return Promise(
        {
            "zero_loss": equal(
                losses,
                0.0,
                within=ROUNDING,
                where=far,
                event="cases with $kv(1 + α)·y⟨w*, x⟩ ≥ 1$",
                text="$L_S(W*) = 0$ if $kv(1 + α)·y⟨w*, x⟩ ≥ 1$",
                quantity="largest training loss at W* where kv(1 + α)·y⟨w*, x⟩ ≥ 1",
            ),
            "positive": more_than(
                losses,
                0.0,
                where=~far,
                event="the other cases",
                text="$L_S(W*) > 0$ otherwise",
                quantity="training loss at W*",
            ),
            "outputs": equal(
                said, linear, within=ROUNDING, of=np.maximum(np.abs(linear), 1), text="$N(x) = kv(1 + α)⟨w*, x⟩$"
            ),
        },
        details=lambda: {"cases_with_loss_0": (losses <= ROUNDING).sum()},
    )


@claim(
    "brutzkus2018.separator_is_global_minimum_as_printed",
    Kind.STEP,
    "proof sketch in Section 5.1 and Section 9.1.2",
    draws=exact_points,
    given=[output_weight, slope_positive, slope_below_one],
    title="The stacked separator $W*$ is always a global minimum",
)
def separator_is_global_minimum_as_printed(points: ExactPoint) -> Promise:
    """$W*$ ($k$ rows $w*$, $k$ rows $−w*$) is a global minimum, $L_S(W*) = 0$, for every $k$ and every $v > 0$.

    Evaluated in fractions, so that no rounding is to blame.
    """
    words = "training loss at W* on the one point (1, +1) with w* = 1"
    return Promise(
        {"zero_loss": equal(points.loss, 0.0, text="$L_S(W*) = 0$", quantity=words)},
        details=lambda: _told(_worst(points)),
        note=lambda: _note(_worst(points)),
    )


def _worst(points: ExactPoint) -> ExactPoint:
    return points.cells[int(np.argmax(points.loss))]


def _told(point: ExactPoint) -> dict[str, Any]:
    return {"k": point.half_width, "v": str(point.output_weight), "alpha": str(point.slope)}


def _note(point: ExactPoint) -> str:
    return (
        f"k = {point.half_width}, v = {point.output_weight}, α = {point.slope}: N(1) = kv(1 + α) = {point.output} < 1. "
        "The same happens with v = 1/√(2k) at k = 1, where N(1)² = (1 + α)²/2 < 1 for α < √2 − 1. No proof of the "
        "paper needs L_S(W*) = 0."
    )
