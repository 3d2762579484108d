"""Footnote 4: the results hold with first-layer biases, because a bias is a weight on a constant coordinate."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from widenet.claims.base import Evidence, Kind, at_least, at_most, claim, less_than, more_than
from widenet.claims.sides import Fact, Sense, Sides, evidence
from widenet.claims.tolerances import ROUNDING
from widenet.papers.brutzkus2018.formulas import max_nonzero_updates
from widenet.papers.brutzkus2018.runs.biased import BiasedRuns, biased_runs
from widenet.records import Scale
from widenet.types import RunStatus


@claim("brutzkus2018.footnote_4", Kind.STEP, "footnote 4, Section 2", reads=biased_runs)
def footnote_4(cells: Sequence[BiasedRuns], *, bound: Callable[..., np.ndarray] = max_nonzero_updates) -> Evidence:
    """With first-layer biases, on data with y(⟨w, x⟩ + b) ≥ 1, SGD makes at most M_k non-zero updates, M_k taken
    for ‖w'‖² = 2(‖w‖² + b²): the biased network is the plain one on the inputs (x, 1)/√2.
    """
    (runs,) = cells
    limits = bound(*runs.parameters)
    hypotheses = (
        at_least(
            "separable_with_bias",
            "separable with a bias: smallest y(⟨w, x⟩ + b)",
            runs.smallest_margin.min(),
            1,
            tolerance=ROUNDING,
        ),
        at_most("input_norm", "largest norm of a lifted input", runs.largest_input.max(), 1, tolerance=ROUNDING),
        at_most("row_norm", "largest initial row norm − R", runs.row_excess.max(), 0, tolerance=ROUNDING),
        more_than("output_weight", "smallest output weight v", runs.smallest_output.min(), 0),
        at_most("equal_outputs", "unequal output weights (+v, …, −v)", runs.output_spread.max(), 0),
        more_than("slope_positive", "smallest Leaky slope α", runs.slope.min(), 0),
        less_than("slope_below_one", "largest Leaky slope α", runs.slope.max(), 1),
        more_than("step_size", "smallest step size η", runs.step_size.min(), 0),
    )
    lost = runs.status == RunStatus.DIVERGED
    return evidence(
        {
            "at most M_k non-zero updates": Sides(
                runs.updates,
                limits,
                Sense.AT_MOST,
                room=ROUNDING * limits,
                undecided=lost,
                quantity="non-zero updates in the tightest lifted run",
            ),
            "loss 0 at the end": Sides(runs.last_margin, 1.0, Sense.AT_LEAST, room=ROUNDING, undecided=lost),
            "the biased network is updated by the same samples": Fact(runs.same_samples, undecided=lost),
            "both networks say the same": Sides(runs.difference, 0.0, Sense.EQUAL, room=ROUNDING),
            "‖w'‖² = 2(‖w‖² + b²)": Sides(
                runs.separator_norm**2, 2 * runs.affine_square, Sense.EQUAL, room=ROUNDING * runs.affine_square
            ),
        },
        hypotheses,
        note=(
            "The extra coordinate is 1/√2 and x is divided by √2 too, so that ‖x‖ ≤ 1 still holds: a plain 1 leaves "
            "the unit ball. M_k is that of w' = √2(w, b)."
        ),
    )


@dataclass(frozen=True)
class LiftedPoint:
    """One point x = 1 with label +1, lifted to (x, 1)·scale, with k = v = 1 from W_0 = 0, in exact numbers.

    Attributes:
      square: ‖x'‖² of the lifted point, 2·scale².
      slope, step_size: α and η.
    """

    square: Fraction
    slope: Fraction
    step_size: Fraction

    @property
    def separator_square(self) -> Fraction:
        """The shortest vector with ⟨w', x'⟩ = 1 is x'/‖x'‖²."""
        return 1 / self.square

    @property
    def update_bound(self) -> Fraction:
        """M_k = ‖w'‖²/α² + ‖w'‖²/(kηv²α²) of Theorem 2 for R = 0, where its other terms vanish."""
        return self.separator_square / self.slope**2 * (1 + 1 / self.step_size)

    def updates(self) -> int:
        """T: each update moves ⟨w, x'⟩ up and ⟨u, x'⟩ down by η‖x'‖²σ'."""
        plus, minus, count = Fraction(0), Fraction(0), 0
        while self._activation(plus) - self._activation(minus) < 1:
            plus += self.step_size * self.square * self._derivative(plus)
            minus -= self.step_size * self.square * self._derivative(minus)
            count += 1
        return count

    def _derivative(self, z: Fraction) -> Fraction:
        return Fraction(1) if z >= 0 else self.slope

    def _activation(self, z: Fraction) -> Fraction:
        return z * self._derivative(z)


def lifted_points(scale: Scale, seed: int) -> list[LiftedPoint]:
    """The point (1, 1), of norm √2."""
    return [LiftedPoint(Fraction(2), Fraction(9, 10), Fraction(10))]


@claim("brutzkus2018.footnote_4_as_printed", Kind.STEP, "footnote 4, Section 2", draws=lifted_points)
def footnote_4_as_printed(points: Sequence[LiftedPoint]) -> Evidence:
    """The results hold with first-layer biases, by adding a dimension to the input with the value 1: SGD on (x, 1)
    makes at most M_k non-zero updates. Counterexample: x = 1, y = +1, α = 9/10, η = 10, k = v = 1, W_0 = 0. The
    lifted point (1, 1) is outside the unit ball, its shortest separator is (½, ½), and M_k = 55/81 < 1, but N = 0
    at the start, so one update is made.

    In fractions, so that no rounding is to blame.
    """
    counts, limits = [point.updates() for point in points], [point.update_bound for point in points]
    sides = Sides(
        counts,
        [float(limit) for limit in limits],
        exact=[count <= limit for count, limit in zip(counts, limits, strict=True)],
        quantity="non-zero updates on the lifted point, against M_k",
    )
    return evidence(
        {"at most M_k non-zero updates": sides},
        [
            more_than("slope_positive", "smallest Leaky slope α", float(min(p.slope for p in points)), 0),
            less_than("slope_below_one", "largest Leaky slope α", float(max(p.slope for p in points)), 1),
            more_than("step_size", "smallest step size η", float(min(p.step_size for p in points)), 0),
        ],
        details={"M_k": [str(limit) for limit in limits], "squared_norm": [str(point.square) for point in points]},
    )
