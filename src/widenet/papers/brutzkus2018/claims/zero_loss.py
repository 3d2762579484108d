"""Where the training loss is 0: some multiple of W* always, W* itself only if the output weights are large enough."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Evidence, Kind, Silence, at_least, claim, less_than, more_than, separable
from widenet.claims.sides import Sense, Sides, evidence
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.brutzkus2018.claims.specimens import silence_over_labels
from widenet.papers.brutzkus2018.runs.ledger import outputs_of
from widenet.papers.brutzkus2018.runs.trials import BasisTrial, RandomTrials, equal_scale, plus_minus_weights
from widenet.records import Scale


@dataclass(frozen=True, eq=False)
class Separated:
    """Separable data and a ±v network: S, w*, k, v and α (0 for ReLU)."""

    inputs: Float[np.ndarray, "sample dim"]
    labels: Float[np.ndarray, " sample"]
    separator: Float[np.ndarray, " dim"]
    half_width: int
    output_weight: float
    slope: float

    @property
    def smallest_margin(self) -> float:
        """min_i y_i⟨w*, x_i⟩."""
        return float((self.labels * (self.inputs @ self.separator)).min())

    @property
    def gain(self) -> float:
        """kv(1 + α): the network W* says gain·⟨w*, x⟩."""
        return self.half_width * self.output_weight * (1 + self.slope)

    def mean_hinge(self, scale: float) -> float:
        """L_S at scale·W*, W* being k copies of w* over k copies of −w*."""
        hidden = scale * np.outer(np.repeat([1.0, -1.0], self.half_width), self.separator)
        outputs = plus_minus_weights(self.half_width, self.output_weight)
        margins = self.labels * outputs_of(hidden, outputs, self.inputs, self.slope)
        return float(np.maximum(1 - margins, 0).mean())


def separated_cases(scale: Scale, seed: int) -> list[Separated]:
    """Random separable data for Leaky ReLU and for ReLU, and the basis, where every margin is exactly 1."""
    each = 10 if scale is Scale.QUICK else 100
    drawn = RandomTrials(seed=seed, n_batches=4, per_batch=each, max_bound=1e9).draw()
    cases = []
    for trial in [*drawn, *BasisTrial(dim=5, half_width=3, slope=0.5, step_size=1.0).draw()]:
        parts = (trial.inputs, trial.labels, trial.separator, trial.half_width, trial.output_weight)
        cases += [Separated(*parts, trial.slope), Separated(*parts, 0.0)]
    return cases


@claim("brutzkus2018.section_2_zero_minimum", Kind.CONSTRUCTION, "after Eq. 2, Section 2", draws=separated_cases)
def section_2_zero_minimum(cases: Sequence[Separated], *, shrink: float = 1.0) -> Evidence:
    """On separable data some W has training loss exactly 0, for Leaky ReLU and for ReLU: s·W* does, W* being k rows
    w* and k rows −w*, as soon as s·kv(1 + α) ≥ 1 (for ReLU, α = 0).

    At the smallest such s and a hair more, which covers rounding; a control shrinks it.
    """
    losses = np.array([case.mean_hinge(shrink * (1 + STEP) / case.gain) for case in cases])
    hypotheses = (
        separable(case.smallest_margin for case in cases),
        more_than("output_weight", "smallest output weight v", min(case.output_weight for case in cases), 0),
    )
    relu = np.array([case.slope == 0 for case in cases])
    parts = {
        f"loss 0 at s·W* ({activation})": Sides(
            losses, 0.0, Sense.EQUAL, scored=chosen, quantity="largest training loss at s·W*"
        )
        for activation, chosen in (("Leaky ReLU", ~relu), ("ReLU", relu))
    }
    return evidence(parts, hypotheses, details={"s": "1/(kv(1 + α)), for ReLU 1/(kv)"})


@section_2_zero_minimum.speaks
def separated_on(specimen: Specimen) -> list[Separated] | Silence:
    """The reader's data with the separator that was found, for both activations."""
    if (reason := silence_over_labels(specimen)) is not None:
        return reason
    separator = specimen.separation.vector(specimen.inputs.shape[1])
    half = specimen.choices.n_neurons // 2
    parts = (specimen.inputs, specimen.labels, separator, half, equal_scale(half))
    return [Separated(*parts, specimen.choices.slope), Separated(*parts, 0.0)]


def reaching_cases(scale: Scale, seed: int) -> list[Separated]:
    """Those of the random cases that meet the hypothesis, and k = 2 with Eq. 6 on one point, where loss 0 begins."""
    reaching = [case for case in separated_cases(scale, seed) if case.gain * case.smallest_margin >= 1]
    one_point = Separated(np.ones((1, 1)), np.ones(1), np.ones(1), 2, 0.5, 0.1)  # S = {(e_1, 1)} and w* = e_1
    return [*reaching, one_point]


@claim(
    "brutzkus2018.separator_is_global_minimum",
    Kind.STEP,
    "proof sketch in Section 5.1 and Section 9.1.2",
    draws=reaching_cases,
)
def separator_is_global_minimum(cases: Sequence[Separated]) -> Evidence:
    """W* (k rows w*, k rows −w*) is a global minimum, L_S(W*) = 0, provided kv(1 + α)·min y⟨w*, x⟩ ≥ 1. (Repaired: the
    paper states it without the condition; its proofs use only ⟨W, W*⟩ and do not need it.)
    """
    reach = min(case.gain * case.smallest_margin for case in cases)
    hypotheses = (
        more_than("output_weight", "smallest output weight v", min(case.output_weight for case in cases), 0),
        at_least("reach", "smallest kv(1 + α)·y⟨w*, x⟩", reach, 1, tolerance=ROUNDING),
    )
    losses = np.array([case.mean_hinge(1.0) for case in cases])
    sides = Sides(losses, 0.0, Sense.EQUAL, room=ROUNDING, quantity="largest training loss at W*")
    return evidence({"L_S(W*) = 0": sides}, hypotheses, details={"smallest_reach": reach})


@dataclass(frozen=True)
class ExactPoint:
    """S = {(1, +1)} in one dimension with w* = 1, in exact numbers."""

    half_width: int
    output_weight: Fraction
    slope: Fraction

    @property
    def output(self) -> Fraction:
        """N(1) at W*: kv(σ(1) − σ(−1))."""
        return self.half_width * self.output_weight * (1 - self.slope * Fraction(-1))


def exact_points(scale: Scale, seed: int) -> list[ExactPoint]:
    """The instance."""
    return [ExactPoint(1, Fraction(1, 2), Fraction(1, 10))]


@claim(
    "brutzkus2018.separator_is_global_minimum_as_printed",
    Kind.STEP,
    "proof sketch in Section 5.1 and Section 9.1.2",
    draws=exact_points,
)
def separator_is_global_minimum_as_printed(points: Sequence[ExactPoint]) -> Evidence:
    """W* (k rows w*, k rows −w*) is a global minimum, L_S(W*) = 0, for every k and every v > 0.

    Evaluated in fractions, so that no rounding is to blame.
    """
    losses = [max(1 - point.output, Fraction(0)) for point in points]
    worst = points[int(np.argmax([float(loss) for loss in losses]))]
    hypotheses = (
        more_than("output_weight", "smallest output weight v", float(min(p.output_weight for p in points)), 0),
        more_than("slope_positive", "smallest Leaky slope α", float(min(p.slope for p in points)), 0),
        less_than("slope_below_one", "largest Leaky slope α", float(max(p.slope for p in points)), 1),
    )
    sides = Sides(
        [float(loss) for loss in losses],
        0.0,
        Sense.EQUAL,
        quantity="training loss at W* on the one point (1, +1) with w* = 1",
    )
    return evidence(
        {"L_S(W*) = 0": sides},
        hypotheses,
        details={"k": worst.half_width, "v": str(worst.output_weight), "alpha": str(worst.slope)},
        note=(
            f"k = {worst.half_width}, v = {worst.output_weight}, α = {worst.slope}: N(1) = kv(1 + α) = "
            f"{worst.output} < 1. The same happens with v = 1/√(2k) at k = 1, where N(1)² = (1 + α)²/2 < 1 for "
            "α < √2 − 1. No proof of the paper needs L_S(W*) = 0."
        ),
    )
