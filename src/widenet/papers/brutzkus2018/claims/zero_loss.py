"""Where the training loss is 0: some multiple of W* always, W* itself only if the output weights are large enough."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Evidence, Kind, Runs, Silence, claim, less_than, more_than, separable
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

    @property
    def reach(self) -> float:
        """kv(1 + α)·min y⟨w*, x⟩: the smallest margin of the network W*."""
        return self.gain * self.smallest_margin

    def stacked(self) -> Float[np.ndarray, "neuron dim"]:
        """W*: k copies of w* over k copies of −w*."""
        return np.outer(np.repeat([1.0, -1.0], self.half_width), self.separator)

    def outputs(self, hidden: Float[np.ndarray, "neuron dim"]) -> Float[np.ndarray, " sample"]:
        """N(x) for every point."""
        return outputs_of(hidden, plus_minus_weights(self.half_width, self.output_weight), self.inputs, self.slope)

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


@claim("brutzkus2018.section_2_zero_minimum", Kind.CONSTRUCTION, "after Eq. 2, Section 2", draws=separated_cases)
def section_2_zero_minimum(cases: Sequence[Separated], *, share: PerCase = whole) -> Evidence:
    """On separable data some W has training loss exactly 0, for Leaky ReLU and for ReLU: s·W* does, W* being k rows
    w* and k rows −w*, as soon as s·kv(1 + α) ≥ 1 (for ReLU, α = 0).

    At the smallest such s and a hair more, which covers rounding; a control takes a share of it.
    """
    with np.errstate(divide="ignore", invalid="ignore"):  # v = 0 is a hypothesis that fails
        scales = [share(case) * np.divide(1 + STEP, case.gain) for case in cases]
        losses = np.array([case.mean_hinge(s * case.stacked()) for s, case in zip(scales, cases, strict=True)])
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
)
def separator_is_global_minimum(
    cases: Sequence[Separated],
    *,
    weights: Callable[[Separated], np.ndarray] = Separated.stacked,
    reach: PerCase = reach_of,
) -> Evidence:
    """W* (k rows w*, k rows −w*) says N(x) = kv(1 + α)⟨w*, x⟩, so it is a global minimum, L_S(W*) = 0, if and only if
    kv(1 + α)·min y⟨w*, x⟩ ≥ 1. (Repaired: the paper states it without the condition; its proofs use only ⟨W, W*⟩ and
    do not need it.)
    """
    reaches = np.array([reach(case) for case in cases])
    losses = np.array([case.mean_hinge(weights(case)) for case in cases])
    said = np.concatenate([case.outputs(weights(case)) for case in cases])
    linear = np.concatenate([case.gain * (case.inputs @ case.separator) for case in cases])
    at_zero_loss = Sides(
        losses,
        0.0,
        Sense.EQUAL,
        room=ROUNDING,
        scored=reaches >= 1 - ROUNDING,
        quantity="largest training loss at W* where kv(1 + α)·y⟨w*, x⟩ ≥ 1",
    )
    return evidence(
        {
            "L_S(W*) = 0 if kv(1 + α)·y⟨w*, x⟩ ≥ 1": at_zero_loss,
            "L_S(W*) > 0 otherwise": Sides(
                losses, 0.0, Sense.AT_LEAST, strict=True, scored=reaches < 1 - ROUNDING, quantity="training loss at W*"
            ),
            "N(x) = kv(1 + α)⟨w*, x⟩": Sides(said, linear, Sense.EQUAL, room=ROUNDING * np.maximum(np.abs(linear), 1)),
        },
        [more_than("output_weight", "smallest output weight v", min(case.output_weight for case in cases), 0)],
        runs=Runs(tried=len(cases)),
        details={"cases_with_loss_0": int((losses <= ROUNDING).sum())},
    )


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
