"""Footnote 4: the results hold with first-layer biases, because a bias is a weight on a constant coordinate."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Cases
from widenet.claims.given import slope_below_one, slope_positive, step_size
from widenet.claims.implication import Promise, at_least, at_most, equal, hypothesis
from widenet.claims.sides import Fact, Sides
from widenet.claims.tolerances import ROUNDING
from widenet.papers.brutzkus2018.formulas import max_nonzero_updates
from widenet.papers.brutzkus2018.hypotheses import equal_outputs, output_weight
from widenet.papers.brutzkus2018.runs.biased import BiasedRuns, biased_runs
from widenet.records import Scale
from widenet.types import RunStatus


@hypothesis("separable with a bias: $y(⟨w, x⟩ + b)$")
def separable_with_bias(runs: BiasedRuns) -> Sides:
    """y(⟨w, x⟩ + b) ≥ 1."""
    return at_least(runs.smallest_margin, 1, within=ROUNDING)


@hypothesis("norm of a lifted input")
def input_norm(runs: BiasedRuns) -> Sides:
    """‖(x, 1)/√2‖ ≤ 1."""
    return at_most(runs.largest_input, 1, within=ROUNDING)


@hypothesis("initial row norm − $R$")
def row_norm(runs: BiasedRuns) -> Sides:
    """‖w_0‖ ≤ R."""
    return at_most(runs.row_excess, 0, within=ROUNDING)


@claim(
    "brutzkus2018.footnote_4",
    Kind.STEP,
    "footnote 4, Section 2",
    reads=biased_runs,
    given=[separable_with_bias, input_norm, row_norm, output_weight, equal_outputs, slope_positive, slope_below_one,
           step_size],
    title="The bound on updates holds with first-layer biases",
)  # fmt: skip
def footnote_4(runs: BiasedRuns, *, bound: Callable[..., np.ndarray] = max_nonzero_updates) -> Promise:
    """With first-layer biases, on data with y(⟨w, x⟩ + b) ≥ 1, SGD makes at most M_k non-zero updates, M_k taken
    for ‖w'‖² = 2(‖w‖² + b²): the biased network is the plain one on the inputs (x, 1)/√2.
    """
    lost = runs.status == RunStatus.DIVERGED
    return Promise(
        {
            "updates": at_most(
                runs.updates,
                bound(*runs.parameters),
                within=ROUNDING,
                undecided=lost,
                text="at most $M_k$ non-zero updates",
                quantity="non-zero updates in the tightest lifted run",
            ),
            "zero_loss": at_least(runs.last_margin, 1.0, within=ROUNDING, undecided=lost, text="loss 0 at the end"),
            "samples": Fact(
                runs.same_samples, undecided=lost, text="the biased network is updated by the same samples"
            ),
            "outputs": equal(runs.difference, 0.0, within=ROUNDING, text="both networks say the same"),
            "norm": equal(
                runs.separator_norm**2,
                2 * runs.affine_square,
                within=ROUNDING,
                of=runs.affine_square,
                text="$‖w'‖² = 2(‖w‖² + b²)$",
            ),
        },
        note=(
            "The extra coordinate is 1/√2 and x is divided by √2 too, so that ‖x‖ ≤ 1 still holds: a plain 1 leaves "
            "the unit ball. M_k is that of w' = √2(w, b)."
        ),
    )


@dataclass(frozen=True, eq=False)
class LiftedPoint(Cases):
    """One point x = 1 with label +1, lifted to (x, 1)·scale, with k = v = 1 from W_0 = 0, in exact numbers."""

    square: Fraction  #: ‖x'‖² of the lifted point, 2·scale²
    slope: Fraction  #: α
    step_size: Fraction  #: η

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


@claim(
    "brutzkus2018.footnote_4_as_printed",
    Kind.STEP,
    "footnote 4, Section 2",
    draws=lifted_points,
    given=[slope_positive, slope_below_one, step_size],
    title="With a constant coordinate 1, the bound still holds",
)
def footnote_4_as_printed(points: LiftedPoint) -> Promise:
    """The results hold with first-layer biases, by adding a dimension to the input with the value 1: SGD on (x, 1)
    makes at most M_k non-zero updates. Counterexample: x = 1, y = +1, α = 9/10, η = 10, k = v = 1, W_0 = 0. The
    lifted point (1, 1) is outside the unit ball, its shortest separator is (½, ½), and M_k = 55/81 < 1, but N = 0
    at the start, so one update is made.

    In fractions, so that no rounding is to blame.
    """
    within = at_most(
        points.map(lambda point: point.updates(), int),
        points.map(lambda point: float(point.update_bound)),
        exact=points.map(lambda point: point.updates() <= point.update_bound, bool),
        text="at most $M_k$ non-zero updates",
        quantity="non-zero updates on the lifted point, against M_k",
    )
    return Promise(
        {"updates": within},
        details=lambda: {
            "M_k": [str(point.update_bound) for point in points.cells],
            "squared_norm": [str(point.square) for point in points.cells],
        },
    )
