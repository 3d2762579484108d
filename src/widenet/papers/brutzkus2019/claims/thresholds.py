"""The algebra that turns bounds into widths (Eq. 17, footnotes 12 and 15, Section E.0.9), in exact arithmetic.

Every comparison has the form a + b√k > 0 with rational a, b, and is decided by comparing squares.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from widenet.claims.base import Claim, Evidence, Hypothesis, Kind, Runs, at_least, at_most, more_than
from widenet.claims.legacy import Evidence_, decide, ratio
from widenet.papers.brutzkus2019.formulas import negative_output_limit, positive_output_limit
from widenet.papers.brutzkus2019.runs.octants import RADIUS, within
from widenet.types import Progress, Scale, silent


def sign(rational: Fraction | int, times_root: Fraction | int, half_width: int) -> int:
    """The sign of a + b√k."""
    # x|x| grows with x, so a > −b√k is a|a| > −b|b|k.
    value = rational * abs(rational) + times_root * abs(times_root) * half_width
    return (value > 0) - (value < 0)


@dataclass(frozen=True)
class Point:
    """One choice of k, c_η and γ, as exact numbers."""

    half_width: int
    step_constant: Fraction
    required_margin: Fraction


@dataclass(frozen=True)
class Equivalence:
    """Three conditions that a footnote says are the same.

    Attributes:
      beta: β from c_η and γ.
      bound_helps: (a, b) of the linear form that is positive where the bound on N(z) has the right sign. The factor
        1 + α(k) = 2√k/(√k − 8) is positive for k > 64.
      bound: the same bound in floats, as the runs are compared with it; positive where it has the right sign.
    """

    beta: Callable[[Point], Fraction]
    bound_helps: Callable[[Point], tuple[Fraction, Fraction]]
    bound: Callable[[Point], float]


def _positive_form(point: Point) -> tuple[Fraction, Fraction]:
    lead = point.required_margin + 1 - Fraction(5, 4) * point.step_constant
    return -8 * lead, lead - 2 * (39 * point.step_constant + 1)


def _negative_form(point: Point) -> tuple[Fraction, Fraction]:
    lead = 1 - Fraction(5, 4) * point.step_constant
    return -8 * lead, lead - 70 * point.step_constant


POSITIVE = Equivalence(
    beta=lambda at: (at.required_margin - Fraction(161, 4) * at.step_constant) / (39 * at.step_constant + 1),
    bound_helps=_positive_form,
    bound=lambda at: positive_output_limit(at.half_width, float(at.step_constant), float(at.required_margin)),
)
"""Footnote 12, for Eq. 18."""

NEGATIVE = Equivalence(
    beta=lambda at: (1 - Fraction(145, 4) * at.step_constant) / (35 * at.step_constant),
    bound_helps=_negative_form,
    bound=lambda at: -negative_output_limit(at.half_width, float(at.step_constant)),
)
"""Footnote 15, for the end of the proof of Proposition E.22."""


def check_footnote_12(points: Sequence[Point], progress: Progress = silent, *, factor: int = 64) -> Evidence:
    """Eq. 18 says something exactly where k is above its limit. A control passes another factor than 64."""
    return _equivalent(points, progress, POSITIVE, factor)


def check_footnote_15(points: Sequence[Point], progress: Progress = silent, *, factor: int = 64) -> Evidence:
    """The bound of Proposition E.22 is negative exactly where k is above its limit."""
    return _equivalent(points, progress, NEGATIVE, factor)


def _equivalent(points: Sequence[Point], progress: Progress, which: Equivalence, factor: int) -> Evidence:
    different, rounding, borders, above = 0, 0, 0, 0
    for number, point in enumerate(points):
        beta, k = which.beta(point), point.half_width
        helps = sign(*which.bound_helps(point), k) > 0
        below_beta = sign(-8 * (beta + 1), beta - 1, k) > 0
        wide = beta != 1 and k > factor * ((beta + 1) / (beta - 1)) ** 2
        different += not helps == below_beta == wide
        borders += beta != 1 and k == factor * ((beta + 1) / (beta - 1)) ** 2
        above += wide
        value = which.bound(point)
        rounding += not math.isfinite(value) or (abs(value) > 1e-12 and (value > 0) != helps)
        if number % 512 == 0:
            progress(number / len(points), "points of the grid")
    conditions = (
        more_than("smallest_width_k", "smallest width k", min((p.half_width for p in points), default=0), 64),
        more_than("smallest", "smallest β", float(min((which.beta(p) for p in points), default=0)), 1),
        more_than(
            "smallest_step_constant_c_step_size",
            "smallest step constant c_η",
            float(min((p.step_constant for p in points), default=0)),
            0,
        ),
    )
    conclusion = None if not (above and len(points) > above) else different == 0 and rounding == 0
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=len(points)),
        conclusion=conclusion,
        quantity="points of the grid (k, c_η, γ) at which the three conditions differ",
        promised=0.0,
        measured=float(different + rounding),
        config={"points": len(points), "wide_enough": above, "exactly_at_the_limit": borders, "floats_off": rounding},
        note=f"{borders} points lie exactly on the limit, where the bound is 0 and decides nothing: the condition on k "
        "has to be strict.",
    )


def check_equation_17(widths: Sequence[int], progress: Progress = silent, *, radius: Fraction = RADIUS) -> Evidence:
    """The extreme counts within 2√k of k/4 have a ratio of at most α(k). A control passes a larger radius."""
    worst, broken, tightest = 0, 0, 0.0
    for number, k in enumerate(widths):
        allowed = np.flatnonzero(within(k, 4, radius)).tolist()
        low, high = (allowed[0], allowed[-1]) if allowed else (0, 0)
        # high/low ≤ (√k + 8)/(√k − 8), multiplied by low(√k − 8) > 0
        holds = low > 0 and k > 64 and sign(8 * (low + high), low - high, k) >= 0
        broken += not holds
        size = high / low * (math.sqrt(k) - 8) / (math.sqrt(k) + 8) if low else math.inf
        if size > tightest:
            worst, tightest = k, size
        progress((number + 1) / len(widths), f"k = {k}")
    conditions = (more_than("smallest_width_k", "smallest width k", min(widths, default=0), 64),)
    conclusion = None if not len(widths) else broken == 0
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=len(widths)),
        conclusion=conclusion,
        quantity="largest |W⁺(1)|/|W⁺(3)| over α(k), at the worst width",
        promised=1.0,
        measured=tightest,
        tightness=ratio(tightest, 1.0),
        config={"widths": [min(widths, default=0), max(widths, default=0)], "worst_width": worst, "broken": broken},
    )


@dataclass(frozen=True)
class Finish:
    """What Section E.0.9 combines: widths for its bound on T, and choices of c_η ≤ 1/410 and γ ≥ 8.

    Attributes:
      widths: k above 16, where the bound of Proposition E.14 is positive.
      choices: (c_η, γ).
      half_width: the width that is promised to be enough.
    """

    widths: tuple[int, ...]
    choices: tuple[tuple[Fraction, Fraction], ...]
    half_width: int = 120


def check_section_e_0_9(
    setting: Finish,
    progress: Progress = silent,
    *,
    largest_step: Fraction = Fraction(1, 410),
    from_width: int = 64,
    factor: int = 28,
) -> Evidence:
    """T of Theorem 6.3 covers that of E.14 exactly from k = 64 on; 120 is above both limits of width.

    Controls pass another width than 64, and another factor than 28.
    """
    # factor/c ≥ 7k/((k/2 − 2√k)c), multiplied by 2c(k/2 − 2√k): factor·(k − 4√k) ≥ 14k
    covers = {k: sign((factor - 14) * k, -4 * factor, k) >= 0 for k in setting.widths}
    late = [k for k, covered in covers.items() if covered != (k >= from_width)]
    limits = []
    for step, margin in setting.choices:
        at = Point(setting.half_width, step, margin)
        limits.append([_limit(which.beta(at)) for which in (POSITIVE, NEGATIVE)])
    worst = max(range(len(limits)), key=lambda place: max(limits[place]), default=None)
    largest = max(limits[worst]) if worst is not None else math.nan
    conditions: tuple[Hypothesis, ...] = (
        more_than("smallest_width_k", "smallest width k", min(setting.widths, default=0), 16),
        at_most(
            "largest_c_step_size",
            "largest c_η",
            float(max((s for s, _ in setting.choices), default=0)),
            float(largest_step),
        ),
        at_least("smallest_margin", "smallest γ", float(min((m for _, m in setting.choices), default=0)), 8),
    )
    conclusion = not late and largest < setting.half_width if limits and covers else None
    progress(1.0, "limits")
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=len(covers) + len(limits)),
        conclusion=conclusion,
        quantity="width that both propositions ask for, at the worst c_η and γ",
        promised=float(setting.half_width),
        measured=float(largest),
        tightness=ratio(float(largest), float(setting.half_width)),
        config={
            "largest_limit_of_E_18": float(max((pair[0] for pair in limits), default=math.nan)),
            "largest_limit_of_E_22": float(max((pair[1] for pair in limits), default=math.nan)),
            "widths_where_T_is_off": late,
        },
        note="The section takes the larger of the two β; both propositions need theirs, so it is the smaller that "
        "counts. 120 is enough for both.",
    )


def _limit(beta: Fraction) -> Fraction | float:
    return 64 * ((beta + 1) / (beta - 1)) ** 2 if beta > 1 else math.inf


def _grid_12(scale: Scale, seed: int) -> list[Point]:
    """A grid on both sides of the limit, and for square k the margins γ that lie exactly on it."""
    steps = [Fraction(1, n) for n in (8, 41, 155, 410, 1000)]
    margins = [Fraction(n, 2) for n in range(4, 42, 3)] + [Fraction(100)]
    widths = (*range(65, 400, 17 if scale is Scale.QUICK else 1), 1000, 10**6)
    grid = [Point(k, c, g) for c in steps for g in margins for k in widths]
    for root in range(9, 60):
        alpha = Fraction(root + 8, root - 8)
        grid += [Point(root**2, c, alpha * (39 * c + 1) + Fraction(161, 4) * c) for c in steps]
    return [point for point in grid if POSITIVE.beta(point) > 1]


def _grid_15(scale: Scale, seed: int) -> list[Point]:
    """A grid on both sides of the limit, and for square k the c_η that lies exactly on it."""
    steps = [Fraction(1, n) for n in range(75, 600, 10 if scale is Scale.QUICK else 1)]
    grid = [Point(k, c, Fraction(8)) for c in steps for k in (*range(65, 400, 17), 1000, 10**6)]
    for root in range(9, 60):
        alpha = Fraction(root + 8, root - 8)
        grid.append(Point(root**2, 1 / (35 * alpha + Fraction(145, 4)), Fraction(8)))
    return [point for point in grid if NEGATIVE.beta(point) > 1]


def _finish(scale: Scale, seed: int) -> Finish:
    steps = [Fraction(1, n) for n in (410, 411, 500, 1000, 10**5)]
    margins = [Fraction(n) for n in (8, 9, 16, 100, 10**4)]
    last = 1000 if scale is Scale.QUICK else 20_000
    return Finish(tuple(range(17, last)), tuple((c, g) for c in steps for g in margins))


def _wide(scale: Scale, seed: int) -> tuple[int, ...]:
    return tuple(range(65, 300 if scale is Scale.QUICK else 3000))


equation_17 = Claim(
    id="brutzkus2019.equation_17",
    kind=Kind.STEP,
    statement=(
        "Where |W⁺(1)| and |W⁺(3)| are within 2√k of k/4 and k > 64, their ratio lies between 1/α(k) and α(k) = "
        "(k/4 + 2√k)/(k/4 − 2√k)."
    ),
    where="Eq. 17, proof of Proposition E.18",
    judge=check_equation_17,
    draws=_wide,
)

footnote_12 = Claim(
    id="brutzkus2019.footnote_12",
    kind=Kind.IDENTITY,
    statement=(
        "For k > 64 and β(γ) = (γ − 40¼c_η)/(39c_η + 1) > 1: (γ + 1 − 1¼c_η)/(1 + α(k)) − 39c_η − 1 > 0 if and only if "
        "α(k) < β(γ), if and only if k > 64((β(γ) + 1)/(β(γ) − 1))²."
    ),
    where="footnote 12, proof of Proposition E.18",
    judge=check_footnote_12,
    draws=_grid_12,
)

footnote_15 = Claim(
    id="brutzkus2019.footnote_15",
    kind=Kind.IDENTITY,
    statement=(
        "For k > 64 and β = (1 − 36¼c_η)/(35c_η) > 1: 35c_η − (1 − 1¼c_η)/(1 + α(k)) < 0 if and only if α(k) < β, if "
        "and only if k > 64((β + 1)/(β − 1))²."
    ),
    where="footnote 15, proof of Proposition E.22",
    judge=check_footnote_15,
    draws=_grid_15,
)

section_e_0_9 = Claim(
    id="brutzkus2019.section_e_0_9",
    kind=Kind.STEP,
    statement=(
        "28(γ + 1 + 8c_η)/c_η ≥ 7(γ + 1 + 8c_η)/((k/2 − 2√k)η) exactly for k ≥ 64, and for γ ≥ 8, c_η ≤ 1/410 the "
        "widths that Propositions E.18 and E.22 ask for, 64((β + 1)/(β − 1))² for either β, are below 120."
    ),
    where="Section E.0.9",
    judge=check_section_e_0_9,
    draws=_finish,
)

CLAIMS = (equation_17, footnote_12, footnote_15, section_e_0_9)
