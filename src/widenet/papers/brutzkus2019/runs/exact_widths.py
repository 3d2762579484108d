"""Widths that the bounds of Appendix E ask for, in exact arithmetic.

Every comparison has the form a + b√k > 0 with rational a, b, and is decided by comparing squares.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.cases import Cases, Count, column
from widenet.claims.tolerances import ROUNDING
from widenet.papers.brutzkus2019.formulas import negative_output_limit, positive_output_limit
from widenet.papers.brutzkus2019.runs.octants import RADIUS, within
from widenet.records import Scale

RootForm = tuple[Fraction, Fraction]
"""a and b of a + b√k."""


def sign(rational: Fraction | int, times_root: Fraction | int, half_width: int) -> int:
    """The sign of a + b√k."""
    # x|x| grows with x, so a > −b√k is a|a| > −b|b|k.
    value = rational * abs(rational) + times_root * abs(times_root) * half_width
    return (value > 0) - (value < 0)


def in_whole_numbers(form: RootForm) -> tuple[int, int]:
    """The form times a positive number that makes both parts whole: it has the same sign, and is quicker to compare."""
    times = math.lcm(form[0].denominator, form[1].denominator)
    return int(form[0] * times), int(form[1] * times)


@dataclass(frozen=True, eq=False)
class ConeCounts(Cases):
    """For each width k, the smallest and largest |W⁺(1)| and |W⁺(3)| that are near enough to k/4."""

    rows = "width"

    half_width: Int[np.ndarray, " width"]  #: k
    first: Int[np.ndarray, "width 2"]  #: |W⁺(1)|, smallest and largest
    third: Int[np.ndarray, "width 2"]  #: |W⁺(3)|

    @property
    def alpha(self) -> np.ndarray:
        """α(k)."""
        with np.errstate(divide="ignore"):
            return (np.sqrt(self.half_width) + 8) / (np.sqrt(self.half_width) - 8)

    @column
    def at_most_alpha(self) -> Bool[np.ndarray, " width"]:
        """Whether the largest |W⁺(1)|/|W⁺(3)| is at most α(k), exactly."""
        return _below_alpha(self.half_width, self.first[:, 1], self.third[:, 0])

    @column
    def at_least_inverse(self) -> Bool[np.ndarray, " width"]:
        """Whether the smallest |W⁺(1)|/|W⁺(3)| is at least 1/α(k), exactly."""
        return _below_alpha(self.half_width, self.third[:, 1], self.first[:, 0])


def _below_alpha(widths: np.ndarray, larger: np.ndarray, smaller: np.ndarray) -> np.ndarray:
    """Whether larger/smaller ≤ (√k + 8)/(√k − 8), multiplied by smaller(√k − 8) > 0."""
    rows = zip(widths.tolist(), larger.tolist(), smaller.tolist(), strict=True)
    return np.array([k > 64 and low > 0 and sign(8 * (low + high), low - high, k) >= 0 for k, high, low in rows], bool)


def counts_near_a_quarter(widths: Sequence[int], radius: Fraction = RADIUS) -> ConeCounts:
    """The counts within radius·√k of k/4."""
    near = [np.flatnonzero(within(k, 4, radius)) for k in widths]
    ends = np.array([(allowed[0], allowed[-1]) for allowed in near], int).reshape(-1, 2)
    return ConeCounts(np.array(widths, int), ends, ends)


def cone_counts(scale: Scale, seed: int) -> ConeCounts:
    """All widths above 64, up to some."""
    return counts_near_a_quarter(range(65, 300 if scale is Scale.QUICK else 3000))


@dataclass(frozen=True)
class WidthChoice:
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
    helps: Callable[[Fraction, Fraction], RootForm]
    bound: Callable[[int, float, float], float]


def _positive_beta(step: Fraction, margin: Fraction) -> Fraction:
    return (margin - Fraction(161, 4) * step) / (39 * step + 1)


def _positive_form(step: Fraction, margin: Fraction) -> RootForm:
    lead = margin + 1 - Fraction(5, 4) * step
    return -8 * lead, lead - 2 * (39 * step + 1)


def _negative_beta(step: Fraction, margin: Fraction) -> Fraction:
    return (1 - Fraction(145, 4) * step) / (35 * step)


def _negative_form(step: Fraction, margin: Fraction) -> RootForm:
    lead = 1 - Fraction(5, 4) * step
    return -8 * lead, lead - 70 * step


def _negative_bound(half_width: int, step: float, margin: float) -> float:
    return -negative_output_limit(half_width, step)


POSITIVE = Equivalence(_positive_beta, _positive_form, positive_output_limit)
"""Footnote 12, for Eq. 18."""


NEGATIVE = Equivalence(_negative_beta, _negative_form, _negative_bound)
"""Footnote 15, for the end of the proof of Proposition E.22."""


@dataclass(frozen=True, eq=False)
class Sided(Cases):
    """Choices of k, c_η and γ on both sides of a limit, and on which side each of three conditions sees them."""

    rows = "point"

    half_width: Int[np.ndarray, " point"]  #: k
    step_constant: Float[np.ndarray, " point"]  #: c_η
    beta: Float[np.ndarray, " point"]  #: β
    form: Int[np.ndarray, " point"]  #: the sign of the linear form, exact
    below: Bool[np.ndarray, " point"]  #: whether α(k) < β, exact
    beyond: Int[np.ndarray, " point"]  #: the sign of k − 64((β + 1)/(β − 1))², exact
    bound: Float[np.ndarray, " point"]  #: the bound on N(z) in floats, positive where it has the right sign

    @property
    def off(self) -> np.ndarray:
        """Whether the bound in floats has the wrong sign, by more than rounding."""
        return ~np.isfinite(self.bound) | ((np.abs(self.bound) > ROUNDING) & ((self.bound > 0) != (self.form > 0)))


def on_both_sides(choices: Sequence[WidthChoice], which: Equivalence, factor: int = 64) -> Sided:
    """The three conditions at every choice and width. A control has another factor, or another form of the bound."""
    rows = []
    for choice in choices:
        pair = choice.step_constant, choice.required_margin
        step, margin = (float(number) for number in pair)
        beta = which.beta(*pair)
        helps, below_beta = in_whole_numbers(which.helps(*pair)), in_whole_numbers((-8 * (beta + 1), beta - 1))
        # Without a β beyond 1 no width is above its limit; k > a/b is bk > a.
        limit = factor * ((beta + 1) / (beta - 1)) ** 2 if beta != 1 else Fraction(max(choice.half_widths) + 1)
        for k in choice.half_widths:
            above = k * limit.denominator - limit.numerator
            signs = sign(*helps, k), sign(*below_beta, k) > 0, (above > 0) - (above < 0)
            rows.append((k, step, float(beta), *signs, which.bound(k, step, margin)))
    kinds = (int, float, float, int, bool, int, float)
    return Sided(*(np.array([row[place] for row in rows], kind) for place, kind in enumerate(kinds)))


def grid_12(scale: Scale) -> list[WidthChoice]:
    """A grid on both sides of the limit, and for square k the margins γ that lie exactly on it."""
    steps = [Fraction(1, n) for n in (8, 41, 155, 410, 1000)]
    margins = [Fraction(n, 2) for n in range(4, 42, 3)] + [Fraction(100)]
    widths = (*range(65, 400, 17 if scale is Scale.QUICK else 1), 1000, 10**6)
    grid = [WidthChoice(widths, c, g) for c in steps for g in margins if _positive_beta(c, g) > 1]
    for root in range(9, 60):
        alpha = Fraction(root + 8, root - 8)
        grid += [WidthChoice((root**2,), c, alpha * (39 * c + 1) + Fraction(161, 4) * c) for c in steps]
    return grid


def grid_15(scale: Scale) -> list[WidthChoice]:
    """A grid on both sides of the limit, and for square k the c_η that lies exactly on it."""
    steps = [Fraction(1, n) for n in range(75, 600, 10 if scale is Scale.QUICK else 1)]
    widths, margin = (*range(65, 400, 17), 1000, 10**6), Fraction(8)
    grid = [WidthChoice(widths, c, margin) for c in steps if _negative_beta(c, margin) > 1]
    for root in range(9, 60):
        alpha = Fraction(root + 8, root - 8)
        grid.append(WidthChoice((root**2,), 1 / (35 * alpha + Fraction(145, 4)), margin))
    return grid


def both_sides_12(scale: Scale, seed: int) -> Sided:
    """For footnote 12."""
    return on_both_sides(grid_12(scale), POSITIVE)


def both_sides_15(scale: Scale, seed: int) -> Sided:
    """For footnote 15."""
    return on_both_sides(grid_15(scale), NEGATIVE)


@dataclass(frozen=True, eq=False)
class Finish(Cases):
    """What Section E.0.9 combines: choices of c_η and γ, and widths for its bound on T."""

    rows = "choice"

    half_width: Count  #: the width that is promised to be enough
    step_constant: Float[np.ndarray, " choice"]  #: c_η
    required_margin: Float[np.ndarray, " choice"]  #: γ
    positive_width: Float[np.ndarray, " choice"]  #: the width that Proposition E.18 asks for
    negative_width: Float[np.ndarray, " choice"]  #: that of Proposition E.22
    positive_enough: Bool[np.ndarray, " choice"]  #: whether the first is below the promised one, exactly
    negative_enough: Bool[np.ndarray, " choice"]  #: whether the second is
    widths: Int[np.ndarray, " width"]  #: k above 16, where the bound of Proposition E.14 is positive
    covers: Bool[np.ndarray, " width"]  #: whether T of Theorem 6.3 is at least that of Proposition E.14, exactly

    def counts(self) -> dict[str, int]:
        """Widths and choices."""
        tried = sum(len(cell) + len(cell.widths) for cell in self.cells)
        return {"tried": tried, "diverged": 0, "unfinished": 0}


def finish_of(
    widths: Sequence[int],
    choices: Sequence[tuple[Fraction, Fraction]],
    half_width: int = 120,
    factor: Fraction | int = 28,
) -> Finish:
    """At these widths and (c_η, γ). A control has another factor than 28."""
    positive, negative = ([_limit(which.beta(*pair)) for pair in choices] for which in (POSITIVE, NEGATIVE))
    # factor/c ≥ 7k/((k/2 − 2√k)c), multiplied by 2c(k/2 − 2√k): factor·(k − 4√k) ≥ 14k
    covers = [sign((factor - 14) * k, -4 * factor, k) >= 0 for k in widths]
    return Finish(
        half_width=half_width,
        step_constant=np.array([c for c, _ in choices], float),
        required_margin=np.array([gamma for _, gamma in choices], float),
        positive_width=np.array(positive, float),
        negative_width=np.array(negative, float),
        positive_enough=np.array([limit < half_width for limit in positive], bool),
        negative_enough=np.array([limit < half_width for limit in negative], bool),
        widths=np.array(widths, int),
        covers=np.array(covers, bool),
    )


def _limit(beta: Fraction) -> Fraction | float:
    return 64 * ((beta + 1) / (beta - 1)) ** 2 if beta > 1 else math.inf


def width_finish(scale: Scale, seed: int) -> Finish:
    """Choices in the regime of Theorem 6.3, and widths above 16."""
    steps = [Fraction(1, n) for n in (410, 411, 500, 1000, 10**5)]
    margins = [Fraction(n) for n in (8, 9, 16, 100, 10**4)]
    last = 1000 if scale is Scale.QUICK else 20_000
    return finish_of(range(17, last), [(c, g) for c in steps for g in margins])
