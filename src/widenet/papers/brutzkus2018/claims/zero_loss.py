"""Where the training loss is 0: some multiple of W* always, W* itself only if the output weights are large enough."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Claim, Evidence, Kind, Runs, Verdict, at_least, less_than, more_than
from widenet.claims.legacy import Evidence_, decide
from widenet.papers.brutzkus2018.runs.draws import basis_sequence, draw_trials, plus_minus_weights
from widenet.papers.brutzkus2018.runs.ledger import outputs_of, start_of
from widenet.papers.brutzkus2018.runs.trials import ROUNDING
from widenet.types import Progress, Scale, silent


@dataclass(frozen=True)
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


def check_section_2_zero_minimum(
    cases: Sequence[Separated], progress: Progress = silent, *, shrink: float = 1.0
) -> Evidence:
    """L_S = 0 at s·W* for the smallest admissible s (and a hair); a control shrinks s."""
    conditions = (
        at_least(
            "separable",
            "separable: smallest y⟨w*, x⟩",
            min(case.smallest_margin for case in cases),
            1,
            tolerance=ROUNDING,
        ),
        more_than("smallest_output_weight_v", "smallest output weight v", min(case.output_weight for case in cases), 0),
    )
    losses = [case.mean_hinge(shrink * (1 + 1e-9) / case.gain) for case in cases]
    conclusion = max(losses) == 0
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=len(cases)),
        conclusion=conclusion,
        quantity="largest training loss at s·W*",
        promised=0.0,
        measured=max(losses),
        config={"relu_cases": sum(case.slope == 0 for case in cases), "s": "1/(kv(1 + α)), for ReLU 1/(kv)"},
    )


def _separated_cases(scale: Scale, seed: int) -> list[Separated]:
    """Random separable data for Leaky ReLU and for ReLU, and the basis, where every margin is exactly 1."""
    cases = []
    for trials in [*draw_trials(seed, 4, 10 if scale is Scale.QUICK else 100, 1e9), basis_sequence(5, 3, 0.5, 1.0)]:
        for start in (start_of(trials, run) for run in range(len(trials))):
            parts = (start.inputs, start.labels, start.separator, start.half_width, start.output_weight)
            cases += [Separated(*parts, start.slope), Separated(*parts, 0.0)]
    return cases


section_2_zero_minimum = Claim(
    id="brutzkus2018.section_2_zero_minimum",
    kind=Kind.CONSTRUCTION,
    statement=(
        "On separable data some W has training loss exactly 0, for Leaky ReLU and for ReLU: s·W* does, W* being k rows "
        "w* and k rows −w*, as soon as s·kv(1 + α) ≥ 1 (for ReLU, α = 0)."
    ),
    where="after Eq. 2, Section 2",
    judge=check_section_2_zero_minimum,
    draws=_separated_cases,
)


def check_separator_is_global_minimum(cases: Sequence[Separated], progress: Progress = silent) -> Evidence:
    """L_S(W*) = 0 wherever kv(1 + α)·min y⟨w*, x⟩ ≥ 1, and N_{W*}(x) = kv(1 + α)⟨w*, x⟩ everywhere."""
    reach = min(case.gain * case.smallest_margin for case in cases)
    conditions = (
        more_than("smallest_output_weight_v", "smallest output weight v", min(case.output_weight for case in cases), 0),
        at_least("smallest_kv_1_slope_yw_x", "smallest kv(1 + α)·y⟨w*, x⟩", reach, 1, tolerance=ROUNDING),
    )
    losses = [case.mean_hinge(1.0) for case in cases]
    conclusion = max(losses) <= ROUNDING
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=len(cases)),
        conclusion=conclusion,
        quantity="largest training loss at W*",
        promised=0.0,
        measured=max(losses),
        config={"cases": len(cases), "smallest_reach": reach},
    )


def _wide_enough(scale: Scale, seed: int) -> list[Separated]:
    """Those of the random cases that meet the hypothesis, and k = 2 with Eq. 6 on one point, where loss 0 begins."""
    reaching = [case for case in _separated_cases(scale, seed) if case.gain * case.smallest_margin >= 1]
    return [*reaching, _one_point(2, 0.5, 0.1)]


def _one_point(half_width: int, output_weight: float, slope: float) -> Separated:
    """S = {(e_1, 1)} and w* = e_1."""
    return Separated(np.ones((1, 1)), np.ones(1), np.ones(1), half_width, output_weight, slope)


separator_is_global_minimum = Claim(
    id="brutzkus2018.separator_is_global_minimum",
    kind=Kind.STEP,
    statement=(
        "W* (k rows w*, k rows −w*) is a global minimum, L_S(W*) = 0, provided kv(1 + α)·min y⟨w*, x⟩ ≥ 1. "
        "(Repaired: the paper states it without the condition; its proofs use only ⟨W, W*⟩ and do not need it.)"
    ),
    where="proof sketch in Section 5.1 and Section 9.1.2",
    judge=check_separator_is_global_minimum,
    draws=_wide_enough,
)


@dataclass(frozen=True)
class ExactPoint:
    """S = {(1, +1)} in one dimension with w* = 1, in exact numbers."""

    half_width: int
    output_weight: Fraction
    slope: Fraction


def check_separator_is_global_minimum_as_printed(points: Sequence[ExactPoint], progress: Progress = silent) -> Evidence:
    """L_S(W*) = 0 with no condition on kv, as printed; evaluated in fractions, so that no rounding is to blame."""
    losses = []
    for point in points:
        plus, minus = Fraction(1), point.slope * Fraction(-1)  # σ(⟨w*, x⟩) and σ(⟨−w*, x⟩)
        output = point.half_width * point.output_weight * (plus - minus)
        losses.append(max(1 - output, Fraction(0)))
    conditions = (
        more_than(
            "smallest_output_weight_v", "smallest output weight v", float(min(p.output_weight for p in points)), 0
        ),
        more_than("smallest_leaky_slope_slope", "smallest Leaky slope α", float(min(p.slope for p in points)), 0),
        less_than("largest_leaky_slope_slope", "largest Leaky slope α", float(max(p.slope for p in points)), 1),
    )
    conclusion = max(losses) == 0
    worst = points[int(np.argmax([float(loss) for loss in losses]))]
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=len(points)),
        conclusion=conclusion,
        quantity="training loss at W* on the one point (1, +1) with w* = 1",
        promised=0.0,
        measured=float(max(losses)),
        config={"k": worst.half_width, "v": str(worst.output_weight), "alpha": str(worst.slope)},
        note=(
            f"k = {worst.half_width}, v = {worst.output_weight}, α = {worst.slope}: N(1) = kv(1 + α) = "
            f"{1 - max(losses)} < 1. The same happens with v = 1/√(2k) at k = 1, where N(1)² = (1 + α)²/2 < 1 for "
            "α < √2 − 1. No proof of the paper needs L_S(W*) = 0."
        ),
    )


def _exact_points(scale: Scale, seed: int) -> list[ExactPoint]:
    return [ExactPoint(1, Fraction(1, 2), Fraction(1, 10))]


separator_is_global_minimum_as_printed = Claim(
    id="brutzkus2018.separator_is_global_minimum_as_printed",
    kind=Kind.STEP,
    statement="W* (k rows w*, k rows −w*) is a global minimum, L_S(W*) = 0, for every k and every v > 0.",
    where="proof sketch in Section 5.1 and Section 9.1.2",
    judge=check_separator_is_global_minimum_as_printed,
    draws=_exact_points,
    expected=Verdict.VIOLATED,
)
