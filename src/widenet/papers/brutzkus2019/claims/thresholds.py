"""The algebra that turns bounds into widths (Eq. 17, footnotes 12 and 15, Section E.0.9), in exact arithmetic.

Every comparison has the form a + b√k > 0 with rational a, b, and is decided by comparing squares.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Int

from widenet.claims.base import Evidence, Kind, Runs, at_least, at_most, claim, more_than
from widenet.claims.sides import Sense, Sides, evidence
from widenet.claims.tolerances import ROUNDING
from widenet.papers.brutzkus2019.formulas import LARGEST_STEP, negative_output_limit, positive_output_limit
from widenet.papers.brutzkus2019.runs.octants import RADIUS, within
from widenet.records import Scale

Form = tuple[Fraction, Fraction]
"""a and b of a + b√k."""


def sign(rational: Fraction | int, times_root: Fraction | int, half_width: int) -> int:
    """The sign of a + b√k."""
    # x|x| grows with x, so a > −b√k is a|a| > −b|b|k.
    value = rational * abs(rational) + times_root * abs(times_root) * half_width
    return (value > 0) - (value < 0)


def in_whole_numbers(form: Form) -> tuple[int, int]:
    """The form times a positive number that makes both parts whole: it has the same sign, and is quicker to compare."""
    times = math.lcm(form[0].denominator, form[1].denominator)
    return int(form[0] * times), int(form[1] * times)


@dataclass(frozen=True, eq=False)
class ConeCounts:
    """For each width k, the smallest and largest |W⁺(1)| and |W⁺(3)| that are near enough to k/4."""

    widths: Int[np.ndarray, " width"]
    first: Int[np.ndarray, "width 2"]
    third: Int[np.ndarray, "width 2"]


def counts_near_a_quarter(widths: Sequence[int], radius: Fraction = RADIUS) -> ConeCounts:
    """The counts within radius·√k of k/4."""
    near = [np.flatnonzero(within(k, 4, radius)) for k in widths]
    ends = np.array([(allowed[0], allowed[-1]) for allowed in near], int).reshape(-1, 2)
    return ConeCounts(np.array(widths, int), ends, ends)


def _cone_counts(scale: Scale, seed: int) -> ConeCounts:
    return counts_near_a_quarter(range(65, 300 if scale is Scale.QUICK else 3000))


@claim("brutzkus2019.equation_17", Kind.STEP, "Eq. 17, proof of Proposition E.18", draws=_cone_counts)
def equation_17(counts: ConeCounts) -> Evidence:
    """Where |W⁺(1)| and |W⁺(3)| are within 2√k of k/4 and k > 64, their ratio lies between 1/α(k) and α(k) = (k/4 +
    2√k)/(k/4 − 2√k).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        most, least = counts.first[:, 1] / counts.third[:, 0], counts.first[:, 0] / counts.third[:, 1]
        limit = (np.sqrt(counts.widths) + 8) / (np.sqrt(counts.widths) - 8)
        upper = Sides(
            most / limit,
            1.0,
            exact=_below_alpha(counts.widths, counts.first[:, 1], counts.third[:, 0]),
            quantity="largest |W⁺(1)|/|W⁺(3)| over α(k), at the worst width",
        )
        lower = Sides(
            least * limit,
            1.0,
            Sense.AT_LEAST,
            exact=_below_alpha(counts.widths, counts.third[:, 1], counts.first[:, 0]),
            quantity="smallest |W⁺(1)|/|W⁺(3)| times α(k), at the worst width",
        )
    ends = [int(counts.widths.min(initial=10**9)), int(counts.widths.max(initial=0))]
    worst = upper.closest
    return evidence(
        {"at most α(k)": upper, "at least 1/α(k)": lower},
        [more_than("width", "smallest width k", ends[0] if len(counts.widths) else 0, 64)],
        details={
            "widths": ends,
            "worst_width": None if worst is None else int(counts.widths[worst]),
            "broken": int((upper.broken | lower.broken).sum()),
        },
    )


def _below_alpha(widths: np.ndarray, larger: np.ndarray, smaller: np.ndarray) -> list[bool]:
    """Whether larger/smaller ≤ (√k + 8)/(√k − 8), multiplied by smaller(√k − 8) > 0."""
    rows = zip(widths.tolist(), larger.tolist(), smaller.tolist(), strict=True)
    return [k > 64 and low > 0 and sign(8 * (low + high), low - high, k) >= 0 for k, high, low in rows]


@dataclass(frozen=True)
class Choice:
    """One choice of c_η and γ, as exact numbers, with widths k."""

    half_widths: tuple[int, ...]
    step_constant: Fraction
    required_margin: Fraction


@dataclass(frozen=True)
class Equivalence:
    """Three conditions that a footnote says are the same.

    Attributes:
      beta: β from c_η and γ.
      helps: the linear form that is positive where the bound on N(z) has the right sign. The factor 1 + α(k) =
        2√k/(√k − 8) is positive for k > 64.
      bound: the same bound in floats, as the runs are compared with it; positive where it has the right sign.
    """

    beta: Callable[[Fraction, Fraction], Fraction]
    helps: Callable[[Fraction, Fraction], Form]
    bound: Callable[[int, float, float], float]


def _positive_beta(step: Fraction, margin: Fraction) -> Fraction:
    return (margin - Fraction(161, 4) * step) / (39 * step + 1)


def _positive_form(step: Fraction, margin: Fraction) -> Form:
    lead = margin + 1 - Fraction(5, 4) * step
    return -8 * lead, lead - 2 * (39 * step + 1)


def _negative_beta(step: Fraction, margin: Fraction) -> Fraction:
    return (1 - Fraction(145, 4) * step) / (35 * step)


def _negative_form(step: Fraction, margin: Fraction) -> Form:
    lead = 1 - Fraction(5, 4) * step
    return -8 * lead, lead - 70 * step


def _negative_bound(half_width: int, step: float, margin: float) -> float:
    return -negative_output_limit(half_width, step)


POSITIVE = Equivalence(_positive_beta, _positive_form, positive_output_limit)
"""Footnote 12, for Eq. 18."""
NEGATIVE = Equivalence(_negative_beta, _negative_form, _negative_bound)
"""Footnote 15, for the end of the proof of Proposition E.22."""


def _grid_12(scale: Scale, seed: int) -> list[Choice]:
    """A grid on both sides of the limit, and for square k the margins γ that lie exactly on it."""
    steps = [Fraction(1, n) for n in (8, 41, 155, 410, 1000)]
    margins = [Fraction(n, 2) for n in range(4, 42, 3)] + [Fraction(100)]
    widths = (*range(65, 400, 17 if scale is Scale.QUICK else 1), 1000, 10**6)
    grid = [Choice(widths, c, g) for c in steps for g in margins if _positive_beta(c, g) > 1]
    for root in range(9, 60):
        alpha = Fraction(root + 8, root - 8)
        grid += [Choice((root**2,), c, alpha * (39 * c + 1) + Fraction(161, 4) * c) for c in steps]
    return grid


def _grid_15(scale: Scale, seed: int) -> list[Choice]:
    """A grid on both sides of the limit, and for square k the c_η that lies exactly on it."""
    steps = [Fraction(1, n) for n in range(75, 600, 10 if scale is Scale.QUICK else 1)]
    widths, margin = (*range(65, 400, 17), 1000, 10**6), Fraction(8)
    grid = [Choice(widths, c, margin) for c in steps if _negative_beta(c, margin) > 1]
    for root in range(9, 60):
        alpha = Fraction(root + 8, root - 8)
        grid.append(Choice((root**2,), 1 / (35 * alpha + Fraction(145, 4)), margin))
    return grid


@claim("brutzkus2019.footnote_12", Kind.IDENTITY, "footnote 12, proof of Proposition E.18", draws=_grid_12)
def footnote_12(choices: Sequence[Choice], *, factor: int = 64, which: Equivalence = POSITIVE) -> Evidence:
    """For k > 64 and β(γ) = (γ − 40¼c_η)/(39c_η + 1) > 1: (γ + 1 − 1¼c_η)/(1 + α(k)) − 39c_η − 1 > 0 if and only if
    α(k) < β(γ), if and only if k > 64((β(γ) + 1)/(β(γ) − 1))².

    Controls pass another factor than 64, or another form of the bound.
    """
    return _equivalent(choices, which, factor)


@claim("brutzkus2019.footnote_15", Kind.IDENTITY, "footnote 15, proof of Proposition E.22", draws=_grid_15)
def footnote_15(choices: Sequence[Choice], *, factor: int = 64, which: Equivalence = NEGATIVE) -> Evidence:
    """For k > 64 and β = (1 − 36¼c_η)/(35c_η) > 1: 35c_η − (1 − 1¼c_η)/(1 + α(k)) < 0 if and only if α(k) < β, if and
    only if k > 64((β + 1)/(β − 1))².
    """
    return _equivalent(choices, which, factor)


def _equivalent(choices: Sequence[Choice], which: Equivalence, factor: int) -> Evidence:
    widths = [k for choice in choices for k in choice.half_widths]
    signs, below, beyond, floats, betas = [], [], [], [], []
    for choice in choices:
        pair = choice.step_constant, choice.required_margin
        step, margin = (float(number) for number in pair)
        beta = which.beta(*pair)
        helps, below_beta = in_whole_numbers(which.helps(*pair)), in_whole_numbers((-8 * (beta + 1), beta - 1))
        # Without a β beyond 1 no width is above its limit; k > a/b is bk > a.
        limit = factor * ((beta + 1) / (beta - 1)) ** 2 if beta != 1 else Fraction(max(choice.half_widths) + 1)
        betas.append(beta)
        for k in choice.half_widths:
            above = k * limit.denominator - limit.numerator
            signs.append(sign(*helps, k))
            below.append(sign(*below_beta, k) > 0)
            beyond.append((above > 0) - (above < 0))
            floats.append(which.bound(k, step, margin))
    helping, below, wide = np.array(signs) > 0, np.array(below, bool), np.array(beyond) > 0
    border, floats = np.array(beyond) == 0, np.array(floats)
    # Choices on one side of the limit alone decide nothing.
    decides = bool(wide.any() and not wide.all())
    off = ~np.isfinite(floats) | ((np.abs(floats) > ROUNDING) & ((floats > 0) != helping))
    counted = {
        "the bound says something exactly where α(k) < β": helping != below,
        "α(k) < β exactly where k is above its limit": below != wide,
        "at the limit itself the bound is 0": border & (np.array(signs) != 0),
        "the bound in floats has the right sign": off,
    }
    return evidence(
        {
            name: Sides(int(differ.sum()), 0, scored=decides, quantity=f"choices of k, c_η and γ for which not: {name}")
            for name, differ in counted.items()
        },
        [
            more_than(
                "width", "smallest width k", min((k for each in choices for k in each.half_widths), default=0), 64
            ),
            more_than("beta", "smallest β", float(min(betas, default=0)), 1),
            more_than(
                "step_constant",
                "smallest step constant c_η",
                float(min((each.step_constant for each in choices), default=0)),
                0,
            ),
        ],
        runs=Runs(tried=len(widths)),
        details={
            "points": len(widths),
            "wide_enough": int(wide.sum()),
            "exactly_at_the_limit": int(border.sum()),
            "floats_off": int(off.sum()),
        },
        note=f"{int(border.sum())} points lie exactly on the limit, where the bound is 0 and decides nothing: the "
        "condition on k has to be strict.",
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


def _finish(scale: Scale, seed: int) -> Finish:
    steps = [Fraction(1, n) for n in (410, 411, 500, 1000, 10**5)]
    margins = [Fraction(n) for n in (8, 9, 16, 100, 10**4)]
    last = 1000 if scale is Scale.QUICK else 20_000
    return Finish(tuple(range(17, last)), tuple((c, g) for c in steps for g in margins))


@claim("brutzkus2019.section_e_0_9", Kind.STEP, "Section E.0.9", draws=_finish)
def section_e_0_9(
    finish: Finish, *, largest_step: float = LARGEST_STEP, from_width: int = 64, factor: Fraction | int = 28
) -> Evidence:
    """28(γ + 1 + 8c_η)/c_η ≥ 7(γ + 1 + 8c_η)/((k/2 − 2√k)η) exactly for k ≥ 64, and for γ ≥ 8, c_η ≤ 1/410 the widths
    that Propositions E.18 and E.22 ask for, 64((β + 1)/(β − 1))² for either β, are below 120.

    Controls pass another width than 64, and another factor than 28.
    """
    # factor/c ≥ 7k/((k/2 − 2√k)c), multiplied by 2c(k/2 − 2√k): factor·(k − 4√k) ≥ 14k
    off = [k for k in finish.widths if (sign((factor - 14) * k, -4 * factor, k) >= 0) != (k >= from_width)]
    limits = {name: [_limit(which.beta(*pair)) for pair in finish.choices] for name, which in _PROPOSITIONS.items()}
    widths = {
        f"{name} asks for less than the promised width": Sides(
            [float(limit) for limit in asked],
            finish.half_width,
            exact=[limit < finish.half_width for limit in asked],
            quantity=f"width that Proposition {name} asks for, at the worst c_η and γ",
        )
        for name, asked in limits.items()
    }
    return evidence(
        widths
        | {
            "T of Theorem 6.3 covers that of E.14 exactly from k = 64 on": Sides(
                len(off), 0, scored=len(finish.widths) > 0, quantity="widths at which one is true and not the other"
            )
        },
        [
            more_than("width", "smallest width k", min(finish.widths, default=0), 16),
            at_most(
                "step_constant", "largest c_η", float(max((c for c, _ in finish.choices), default=0)), largest_step
            ),
            at_least("margin", "smallest γ", min((float(g) for _, g in finish.choices), default=0), 8),
        ],
        runs=Runs(tried=len(finish.widths) + len(finish.choices)),
        details={
            **{
                f"largest_limit_of_{name.replace('.', '_')}": float(max(asked))
                for name, asked in limits.items()
                if asked
            },
            "widths_where_T_is_off": off,
        },
        note="The section takes the larger of the two β; both propositions need theirs, so it is the smaller that "
        "counts. 120 is enough for both.",
    )


_PROPOSITIONS = {"E.18": POSITIVE, "E.22": NEGATIVE}


def _limit(beta: Fraction) -> Fraction | float:
    return 64 * ((beta + 1) / (beta - 1)) ** 2 if beta > 1 else math.inf
