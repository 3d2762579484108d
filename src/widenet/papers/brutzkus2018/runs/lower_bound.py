"""The sequence that forces many updates (Theorems 4 and 10), in exact arithmetic.

Data e_1, …, e_d, all labelled +1, cycled; plus rows start at −(R/√d)·1, minus rows at +(R/√d)·1. The coordinates
never meet, so the whole training is one scalar recursion. On round parameters it hits its thresholds exactly,
where float64 miscounts by whole passes: fractions do not. Where d is no square, a fraction stands for √d, and
`has_one_count` shows that the count is that of √d itself.

Two versions of it: `BasisSequence` leaps from one sign change of the recursion to the next, and `basis_updates` takes
every pass in the units of the network. The promises of the theorems stand beside them, as fractions too.
"""

import functools
import math
from dataclasses import dataclass, replace
from fractions import Fraction

LARGEST_DENOMINATOR = 10**6
"""Of the fractions on both sides of √d that stand for it where d is no square: they are less than 1e-7 apart."""


@functools.cache
def roots(dim: int) -> tuple[Fraction, Fraction]:
    """The last two convergents of √d's continued fraction, on both sides of it; √d itself, twice, for a square."""
    whole = math.isqrt(dim)
    if whole**2 == dim:
        return Fraction(whole), Fraction(whole)
    before, now, offset, divisor, digit = (1, 0), (whole, 1), 0, 1, whole
    while True:
        offset = digit * divisor - offset
        divisor = (dim - offset**2) // divisor
        digit = (whole + offset) // divisor
        following = digit * now[0] + before[0], digit * now[1] + before[1]
        if following[1] > LARGEST_DENOMINATOR:
            return Fraction(*before), Fraction(*now)
        before, now = now, following


Leap = tuple[int, Fraction, Fraction]
"""Passes taken at once, and what each of them adds to the plus entry and takes from the minus entry, in units of η."""


@dataclass(frozen=True)
class BasisSequence:
    """One run on the sequence, in units of v: k, v and R matter only through kv² and R/v."""

    dim: int  #: d
    slope: Fraction  #: α
    step_size: Fraction  #: η
    gain: Fraction  #: kv²; 1/2 under Eq. 6
    radius: Fraction  #: R/v; 1 under Eq. 6
    #: the entries of the initial rows divided by v; the theorem has ∓R/(v√d)
    plus: Fraction
    minus: Fraction

    @property
    def separator_norm(self) -> Fraction:
        """‖w*‖ = √d: w* = (1, …, 1) is the shortest vector with ⟨w*, e_j⟩ ≥ 1."""
        return roots(self.dim)[0]

    @property
    def has_one_count(self) -> bool:
        """Whether a start from either side of √d makes the same leaps.

        The quantities that the recursion looks at are then linear in 1/√d between the two, with one sign at both
        ends: the run from √d itself makes these leaps too.
        """
        first, second = roots(self.dim)
        if first == second:
            return True
        other = replace(self, plus=self.plus * first / second, minus=self.minus * first / second)
        return self._until_solved == other._until_solved and self._until_correct == other._until_correct

    @property
    def start_distance(self) -> Fraction:
        """How far the initial entries are from ∓R/(v√d)."""
        entry = self.radius / self.separator_norm
        return max(abs(self.plus + entry), abs(self.minus - entry))

    def output(self, plus: Fraction, minus: Fraction) -> Fraction:
        """N(e_j) when the rows have these entries there."""
        return self.gain * (plus * self._derivative(plus) - minus * self._derivative(minus))

    def solved(self) -> tuple[int, Fraction, Fraction]:
        """Passes until every N(e_j) is at least 1, and the entries then."""
        plus, minus, passes = self.plus, self.minus, 0
        for leap, rise, fall in self._until_solved:
            plus, minus = plus + leap * self.step_size * rise, minus - leap * self.step_size * fall
            passes += leap
        return passes, plus, minus

    @functools.cached_property
    def _until_solved(self) -> list[Leap]:
        return self._leaps(1, strictly=False)

    @functools.cached_property
    def _until_correct(self) -> list[Leap]:
        return self._leaps(0, strictly=True)

    def _leaps(self, level: int, strictly: bool) -> list[Leap]:
        """Between two sign changes everything is linear in the number of passes, so they are taken at once.

        At a sign change the recursion looks again.
        """
        plus, minus, taken = self.plus, self.minus, []
        while (missing := level - self.output(plus, minus)) > 0 or (strictly and missing == 0):
            rise, fall = self._derivative(plus), self._derivative(minus)
            each = missing / (self.gain * self.step_size * (rise**2 + fall**2))
            leaps = [math.floor(each) + 1 if strictly else math.ceil(each)]
            if plus < 0:
                leaps.append(math.ceil(-plus / (self.step_size * rise)))
            if minus >= 0:
                leaps.append(math.floor(minus / (self.step_size * fall)) + 1)
            leap = min(leaps)
            taken.append((leap, rise, fall))
            plus, minus = plus + leap * self.step_size * rise, minus - leap * self.step_size * fall
        return taken

    def updates(self) -> int:
        """T: every point is updated once in each pass until all have N ≥ 1."""
        return self.dim * sum(leap for leap, _, _ in self._until_solved)

    def mistakes(self) -> int:
        """The updates at points with N ≤ 0, sign errors in the literal sense."""
        return self.dim * sum(leap for leap, _, _ in self._until_correct)

    def agrees_with_separator(self, plus: Fraction, minus: Fraction) -> bool:
        """Whether N has the sign of ⟨w*, x⟩ for every x, when all rows are plus·1 and minus·1.

        N(x) is a function of ⟨w*, x⟩ = ⟨1, x⟩ alone, and σ(cz) = cσ(z) for c > 0: the values ±1 decide.
        """
        return self.output(plus, minus) > 0 > self.output(-plus, -minus)

    def _derivative(self, z: Fraction) -> Fraction:
        return Fraction(1) if z >= 0 else self.slope


def basis_sequence(
    dim: int,
    slope: Fraction,
    step_size: Fraction,
    *,
    gain: Fraction = Fraction(1, 2),
    radius: Fraction = Fraction(1),
) -> BasisSequence:
    """The start of the theorem, with R = v = 1/√(2k) (Eq. 6, any k) unless kv² and R/v are given."""
    if dim < 1:
        raise ValueError(f"dim must be at least 1, got {dim}")
    root = roots(dim)[0]
    return BasisSequence(dim, slope, step_size, gain, radius, -radius / root, radius / root)


def printed_terms(run: BasisSequence) -> tuple[Fraction, Fraction]:
    """B₁ and B₂ as the statement of Theorem 10 has them: min{·, 0}, and ‖w*‖ in the subtracted terms."""
    norm, per_radius, per_pass = _parts(run)
    return (
        per_radius / run.slope + min(per_pass - run.slope * norm, Fraction(0)),
        per_radius + min(per_pass / run.slope**2 - norm / run.slope, Fraction(0)),
    )


def sharp_terms(run: BasisSequence) -> tuple[Fraction, Fraction]:
    """B₁ and B₂ as the argument of the proof gives them: the remaining distance is max{·, 0}, and d = ‖w*‖²."""
    _, per_radius, per_pass = _parts(run)
    return (
        per_radius / run.slope + max(per_pass - run.slope * run.dim, Fraction(0)),
        per_radius + max(per_pass / run.slope**2 - run.dim / run.slope, Fraction(0)),
    )


def _parts(run: BasisSequence) -> tuple[Fraction, Fraction, Fraction]:
    """‖w*‖, R‖w*‖/(ηv) and ‖w*‖²/(2ηkv²)."""
    norm = run.separator_norm
    return norm, run.radius * norm / run.step_size, run.dim / (2 * run.step_size * run.gain)


def half_the_sum(run: BasisSequence) -> Fraction:
    """½(‖w*‖/η + ‖w*‖²): what the printed Theorem 10 gives under Eq. 6.

    If ‖w*‖ ≥ αη, neither minimum is negative and B₁, B₂ ≥ ‖w*‖/η; otherwise ‖w*‖/η < α < ‖w*‖². So the bound is at
    least the larger of ‖w*‖/η and ‖w*‖².
    """
    return (run.separator_norm / run.step_size + run.dim) / 2


def third_of_squares(run: BasisSequence) -> Fraction:
    """⅓(‖w*‖²/η + ‖w*‖²): what the sharp form gives under Eq. 6.

    There B₁, B₂ ≥ ‖w*‖²(1/η − 1), and max{1/η − 1, 1} ≥ (1/η + 1)/3.
    """
    return (run.dim / run.step_size + run.dim) / 3


def most_mistakes(run: BasisSequence) -> Fraction:
    """‖w*‖/(αη) + ‖w*‖²: sign errors under Eq. 6 are no more than this."""
    return run.separator_norm / (run.slope * run.step_size) + run.dim


def mistakes_in_closed_form(run: BasisSequence) -> int:
    """Sign errors under Eq. 6, from the two lines the entries follow: d·max{m₁, ⌊(2s − m₁η(1−α))/(2ηα)⌋ + 1}.

    s = 1/√d. Since σ grows, N > 0 exactly when the plus entry exceeds the minus entry; the minus entry is negative
    after m₁ = ⌊s/η⌋ + 1 passes, the plus entry not before, and from then on both approach at rate ηα.
    """
    start, eta = 1 / run.separator_norm, run.step_size
    crossing = math.floor(start / eta) + 1
    meeting = (2 * start - crossing * eta * (1 - run.slope)) / (2 * eta * run.slope)
    return run.dim * max(crossing, math.floor(meeting) + 1)


def one_pass_step(run: BasisSequence) -> Fraction:
    """η₁ = (1 + (1+α)/(2√d))/α: the smallest η with N ≥ 1 after one update, ½(2αη − (1+α)/√d) = 1."""
    return (1 + (1 + run.slope) / (2 * run.separator_norm)) / run.slope


def basis_updates(
    dim: int,
    half_width: int,
    slope: Fraction,
    step_size: Fraction,
    output_weight: Fraction,
    start: Fraction,
) -> int:
    """T on the basis sequence, exactly. `start` is R/√d, the size of every entry of W_0."""
    plus, minus, passes = -start, start, 0

    def activation(z: Fraction) -> Fraction:
        return z if z >= 0 else slope * z

    def derivative(z: Fraction) -> Fraction:
        return Fraction(1) if z >= 0 else slope

    while half_width * output_weight * (activation(plus) - activation(minus)) < 1:
        plus, minus = (
            plus + step_size * output_weight * derivative(plus),
            minus - step_size * output_weight * derivative(minus),
        )
        passes += 1
    return dim * passes
