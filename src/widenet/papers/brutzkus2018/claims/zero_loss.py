"""Where the training loss is 0: some multiple of W* always, W* itself only if the output weights are large enough."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Kind, Silence, claim
from widenet.claims.cases import Cases, Count, Number, column
from widenet.claims.given import output_weight, separable, slope_below_one, slope_positive
from widenet.claims.implication import Promise, equal, more_than
from widenet.claims.sides import Sides
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.brutzkus2018.runs.sgd import outputs_of
from widenet.papers.brutzkus2018.sources import BasisTrial, RandomTrials, equal_scale, plus_minus_weights
from widenet.papers.brutzkus2018.user_data import silence_over_labels
from widenet.records import Scale


@dataclass(frozen=True, eq=False)
class Separated(Cases):
    """Separable data and a ±v network."""

    inputs: Float[np.ndarray, "sample dim"]
    labels: Float[np.ndarray, " sample"]
    separator: Float[np.ndarray, " dim"]  #: w*
    half_width: Count  #: k
    output_weight: Number  #: v
    slope: Number  #: α, 0 for ReLU

    @column
    def smallest_margin(self) -> Number:
        """min_i y_i⟨w*, x_i⟩."""
        return float((self.labels * (self.inputs @ self.separator)).min())

    @column
    def gain(self) -> Number:
        """kv(1 + α): the network W* says gain·⟨w*, x⟩."""
        return self.half_width * self.output_weight * (1 + self.slope)

    @column
    def reach(self) -> Number:
        """kv(1 + α)·min y⟨w*, x⟩: the smallest margin of the network W*."""
        return self.gain * self.smallest_margin

    def stacked(self) -> Float[np.ndarray, "neuron dim"]:
        """W*: k copies of w* over k copies of −w*."""
        return np.outer(np.repeat([1.0, -1.0], self.half_width), self.separator)

    def outputs(self, hidden: Float[np.ndarray, "neuron dim"]) -> Float[np.ndarray, " sample"]:
        """N(x) for every point."""
        output = plus_minus_weights(int(self.half_width), float(self.output_weight))
        return outputs_of(hidden, output, self.inputs, float(self.slope))

    def mean_hinge(self, hidden: Float[np.ndarray, "neuron dim"]) -> float:
        """L_S."""
        return float(np.maximum(1 - self.labels * self.outputs(hidden), 0).mean())


def separated_cases(scale: Scale, seed: int) -> list[Separated]:
    """Random separable data for Leaky ReLU and for ReLU, and the basis, where every margin is exactly 1."""
    each = 10 if scale is Scale.QUICK else 100
    drawn = RandomTrials(seed=seed, n_batches=4, per_batch=each, max_bound=1e9).draw()
    cases = []
    for trial in [*drawn, *BasisTrial(dim=5, half_width=3, slope=0.5, step_size=1.0).draw()]:
        parts = (trial.inputs, trial.labels, trial.separator, trial.half_width, trial.output_weight)
        cases += [Separated(*parts, trial.slope), Separated(*parts, 0.0)]
    return cases


PerCase = Callable[[Separated], float]


def reach_of(case: Separated) -> float:
    """kv(1 + α)·min y⟨w*, x⟩."""
    return case.reach


def whole(case: Separated) -> float:
    """1."""
    return 1.0


def separated_on(specimen: Specimen) -> list[Separated] | Silence:
    """The reader's data with the separator that was found, for both activations."""
    if (reason := silence_over_labels(specimen)) is not None:
        return reason
    separator = specimen.separation.vector(specimen.inputs.shape[1])
    half = specimen.choices.n_neurons // 2
    parts = (specimen.inputs, specimen.labels, separator, half, equal_scale(half))
    return [Separated(*parts, specimen.choices.slope), Separated(*parts, 0.0)]


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
    """On separable data some W has training loss exactly 0, for Leaky ReLU and for ReLU: s·W* does, W* being k rows
    w* and k rows −w*, as soon as s·kv(1 + α) ≥ 1 (for ReLU, α = 0).

    At the smallest such s and a hair more, which covers rounding; a control takes a share of it.
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


def cases_around_one(scale: Scale, seed: int) -> list[Separated]:
    """The random cases, and one point with kv(1 + α) exactly 1, just below, and 1 only if α counted twice."""
    point = (np.ones((1, 1)), np.ones(1), np.ones(1))  # S = {(1, +1)} and w* = 1
    edges = [Separated(*point, 1, weight, 0.25) for weight in (0.8, 0.79, 2 / 3)]
    return [*separated_cases(scale, seed), *edges]


@claim(
    "brutzkus2018.separator_is_global_minimum",
    Kind.STEP,
    "proof sketch in Section 5.1 and Section 9.1.2",
    draws=cases_around_one,
    given=[output_weight],
    title="When the stacked separator $W*$ is a global minimum",
)
def separator_is_global_minimum(
    cases: Separated, *, weights: Callable[[Separated], np.ndarray] = Separated.stacked, reach: PerCase = reach_of
) -> Promise:
    """W* (k rows w*, k rows −w*) says N(x) = kv(1 + α)⟨w*, x⟩, so it is a global minimum, L_S(W*) = 0, if and only if
    kv(1 + α)·min y⟨w*, x⟩ ≥ 1. (Repaired: the paper states it without the condition; its proofs use only ⟨W, W*⟩ and
    do not need it.)
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


@dataclass(frozen=True, eq=False)
class ExactPoint(Cases):
    """S = {(1, +1)} in one dimension with w* = 1, in exact numbers."""

    half_width: int  #: k
    output_weight: Fraction  #: v
    slope: Fraction  #: α

    @property
    def output(self) -> Fraction:
        """N(1) at W*: kv(σ(1) − σ(−1))."""
        return self.half_width * self.output_weight * (1 - self.slope * Fraction(-1))

    @column
    def loss(self) -> Number:
        """L_S(W*)."""
        return float(max(1 - self.output, Fraction(0)))


def exact_points(scale: Scale, seed: int) -> list[ExactPoint]:
    """The instance."""
    return [ExactPoint(1, Fraction(1, 2), Fraction(1, 10))]


@claim(
    "brutzkus2018.separator_is_global_minimum_as_printed",
    Kind.STEP,
    "proof sketch in Section 5.1 and Section 9.1.2",
    draws=exact_points,
    given=[output_weight, slope_positive, slope_below_one],
    title="The stacked separator $W*$ is always a global minimum",
)
def separator_is_global_minimum_as_printed(points: ExactPoint) -> Promise:
    """W* (k rows w*, k rows −w*) is a global minimum, L_S(W*) = 0, for every k and every v > 0.

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
