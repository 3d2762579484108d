"""Networks with first-layer biases beside plain ones on lifted inputs (footnote 4): the same runs, twice.

Training W' on (x, 1)/√2 with step η is training (W, b) = W'/√2 on x with step η/2: the same samples update, and both
networks say the same about every point.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.cases import Cases
from widenet.claims.experiments import Experiment
from widenet.data.points import unit_rows
from widenet.networks.arrays import outputs_of, plus_minus_weights
from widenet.papers.brutzkus2018.formulas import max_nonzero_updates
from widenet.papers.brutzkus2018.runs.sgd import RecordedRun, train_trial
from widenet.papers.brutzkus2018.sources import Trial, equal_scale
from widenet.progress import Progress, over, silent
from widenet.records import ClosedModel, Scale


class BiasedSetting(ClosedModel):
    """How many data sets."""

    seed: int
    count: int


@dataclass(frozen=True, eq=False)
class BiasedCase:
    """Data with y(⟨w, x⟩ + b) ≥ 1, and a trial on the lifted inputs (x, 1)/√2 with w' = √2(w, b).

    `inputs` are the points before the lift, `affine` is (w, b).
    """

    inputs: Float[np.ndarray, "sample dim"]
    affine: Float[np.ndarray, " lifted"]
    trial: Trial


PerCase = Float[np.ndarray, " case"]


@dataclass(frozen=True, eq=False)
class LiftedRuns(Cases):
    """Runs on lifted inputs, each beside the same run with explicit biases."""

    rows: ClassVar = "case"

    separator_norm: PerCase  #: ‖w'‖
    slope: PerCase  #: α
    step_size: PerCase  #: η
    output_weight: PerCase  #: v
    row_bound: PerCase  #: R
    half_width: PerCase  #: k
    affine_square: PerCase  #: ‖w‖² + b²
    smallest_margin: PerCase  #: min y(⟨w, x⟩ + b)
    largest_input: PerCase  #: the largest norm of a lifted input
    row_excess: PerCase  #: the longest row of W_0 minus R
    smallest_output: PerCase  #: the smallest of the signed output weights (+v, …, −v)
    output_spread: PerCase  #: how far they are apart
    last_margin: PerCase  #: min y N(x) at the end
    updates: Int[np.ndarray, " case"]  #: T
    status: Int[np.ndarray, " case"]  #: why the run ended
    same_samples: Bool[np.ndarray, " case"]  #: whether the biased network is updated by the same samples
    difference: PerCase  #: between what both networks say at the end, relative to the largest output

    @property
    def parameters(self) -> tuple[np.ndarray, ...]:
        """The arguments of `formulas.max_nonzero_updates`, in its order."""
        return self.separator_norm, self.slope, self.step_size, self.output_weight, self.row_bound, self.half_width


def lift(inputs: Float[np.ndarray, "sample dim"], scale: float = 2**-0.5) -> Float[np.ndarray, "sample lifted"]:
    """(x, 1)·scale; 1/√2 keeps the unit ball, 1 does not."""
    return np.concatenate([inputs, np.ones((len(inputs), 1))], axis=1) * scale


def train_biased(cases: Sequence[BiasedCase], progress: Progress = silent) -> LiftedRuns:
    """Each case with lifted inputs, and with explicit biases."""
    rows = []
    for case in over(cases, progress, "lifted runs"):
        trial = case.trial
        most = int(max_nonzero_updates(*trial.parameters)) + 1
        lifted, biased = train_trial(trial, most), train_trial(_with_bias_of(case), most)
        signed = trial.output * trial.votes
        rows.append(
            (
                *trial.parameters,
                case.affine @ case.affine,
                (trial.labels * (lift(case.inputs, 1.0) @ case.affine)).min(),
                np.linalg.norm(trial.inputs, axis=1).max(),
                np.linalg.norm(trial.hidden, axis=1).max() - trial.row_bound,
                signed.min(),
                np.ptp(signed),
                lifted.last_margin,
                lifted.updates,
                lifted.end,
                np.array_equal(lifted.samples, biased.samples),
                _difference(case, lifted, biased),
            )
        )
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    numbers = [column.astype(np.float64) for column in columns[:13]]
    return LiftedRuns(*numbers, *(column.astype(np.int64) for column in columns[13:15]), *columns[15:])


def _with_bias_of(case: BiasedCase) -> Trial:
    """The network with explicit biases: inputs (x, 1), weights (W, b) = W'/√2, half the step."""
    trial, root = case.trial, 2**0.5
    return Trial(
        lift(case.inputs, 1.0),
        trial.labels,
        trial.separator / root,
        trial.hidden / root,
        trial.output,
        trial.slope,
        trial.step_size / 2,
        trial.row_bound,
    )


def _difference(case: BiasedCase, lifted: RecordedRun, biased: RecordedRun) -> float:
    """Between the lifted network and ⟨w_r, x⟩ + b_r written out, relative to the largest output."""
    trial = case.trial
    weights, bias = biased.hidden[:, :-1], biased.hidden[:, -1]
    explicit = outputs_of(weights, trial.output, case.inputs, trial.slope, bias)
    through_lift = outputs_of(lifted.hidden, lifted.output, trial.inputs, trial.slope)
    return float(np.abs(explicit - through_lift).max() / max(1.0, np.abs(through_lift).max()))


def biased_case(draw: np.random.Generator) -> BiasedCase:
    """Clouds on one side of the origin: no separator without a bias, an easy one with it."""
    dim, half = int(draw.integers(2, 9)), int(draw.integers(1, 9))
    n_samples = 8 * dim  # fewer points of so many dimensions might be separable without a bias, too
    direction = unit_rows(draw, 1, dim)[0]
    offset, gap = draw.uniform(0.3, 0.5), draw.uniform(0.1, 0.25)
    labels = draw.permutation(np.where(np.arange(n_samples) % 2, 1.0, -1.0))
    along = offset + labels * draw.uniform(gap, 0.3, n_samples)
    across = draw.normal(size=(n_samples, dim))
    across -= np.outer(across @ direction, direction)
    across *= 0.5 * draw.random((n_samples, 1)) / np.linalg.norm(across, axis=1, keepdims=True)
    inputs = np.outer(along, direction) + across
    # y(⟨w, x⟩ + b) ≥ 1 for w = u/gap, b = −offset/gap; a hair more, so that rounding does not undercut it.
    affine = np.r_[direction, -offset] / gap * (1 + 1e-9)
    scale = equal_scale(half)
    trial = Trial(
        lift(inputs),
        labels,
        2**0.5 * affine,
        scale * unit_rows(draw, 2 * half, dim + 1),
        plus_minus_weights(half, scale),
        float(draw.choice([0.1, 0.3, 0.7])),
        float(np.exp(draw.uniform(-1, 3))),
        scale,
    )
    return BiasedCase(inputs, affine, trial)


def one_biased_point() -> BiasedCase:
    """S = {(1, +1)} with w = b = ½ and k = v = 1 from W_0 = 0: M_k = 1.358, and one update is made."""
    trial = Trial(
        lift(np.ones((1, 1))),
        np.ones(1),
        np.full(2, 2**-0.5),
        np.zeros((2, 2)),
        plus_minus_weights(1, 1.0),
        0.9,
        10.0,
        0.0,
    )
    return BiasedCase(np.ones((1, 1)), np.full(2, 0.5), trial)


def run_biased(setting: BiasedSetting, progress: Progress) -> LiftedRuns:
    """One cell."""
    draw = np.random.default_rng(setting.seed)
    return train_biased([one_biased_point(), *(biased_case(draw) for _ in range(setting.count))], progress)


def biased_settings(scale: Scale, seed: int) -> list[BiasedSetting]:
    """One cell."""
    return [BiasedSetting(seed=seed, count=12 if scale is Scale.QUICK else 200)]


biased_runs = Experiment("brutzkus2018.biases", biased_settings, run_biased, seconds=0.3)


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
