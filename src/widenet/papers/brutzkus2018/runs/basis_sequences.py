"""Families of runs on the basis sequence, counted exactly, for the claims about Theorems 4 and 10."""

import enum
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from widenet.claims.cases import Cases, derived
from widenet.claims.experiments import Experiment
from widenet.papers.brutzkus2018.runs.lower_bound import (
    BasisSequence,
    basis_sequence,
    one_pass_step,
)
from widenet.progress import Progress, over, silent
from widenet.records import ClosedModel, Scale


class BasisFamily(enum.StrEnum):
    """Which parameters the runs have."""

    RANDOM = "random"
    """d ≤ 400, k ≤ 100, any α, η ∈ [0.003, 100], v and R over two decades and more; and the closest known."""
    EQUATION_6 = "equation 6"
    """A grid of dimensions, slopes and step sizes under R = v = 1/√(2k)."""
    LARGE_STEPS = "large steps"
    """η = 100 and 10⁹ under R = v = 1/√(2k), where T/M_k approaches α²."""


class SequenceSetting(ClosedModel):
    """A family; `size` is the number of random runs, or of step sizes in the grid."""

    family: BasisFamily
    size: int = 0
    seed: int = 0


@dataclass(frozen=True, eq=False)
class BasisCounts(Cases):
    """Runs on the basis sequence with their counts."""

    dim: Int[np.ndarray, " run"]  #: d
    #: of α, η, kv², R/v and the two initial entries of `BasisSequence`
    numerators: Int[np.ndarray, "run 6"]
    denominators: Int[np.ndarray, "run 6"]
    updates: Int[np.ndarray, " run"]  #: T
    mistakes: Int[np.ndarray, " run"]  #: the updates at points with N ≤ 0
    certain: Bool[np.ndarray, " run"]  #: whether the counts are those of √d where d is no square

    @functools.cached_property
    def sequences(self) -> list[BasisSequence]:
        """The runs themselves."""
        rows = zip(self.dim.tolist(), self.numerators.tolist(), self.denominators.tolist(), strict=True)
        return [BasisSequence(dim, *map(Fraction, above, below)) for dim, above, below in rows]


def count(sequences: Sequence[BasisSequence], progress: Progress = silent) -> BasisCounts:
    """The counts of these runs."""
    fields = [(run.slope, run.step_size, run.gain, run.radius, run.plus, run.minus) for run in sequences]
    counts = [(run.updates(), run.mistakes()) for run in over(sequences, progress, "runs")]
    return BasisCounts(
        np.array([run.dim for run in sequences]),
        np.array([[value.numerator for value in row] for row in fields]),
        np.array([[value.denominator for value in row] for row in fields]),
        np.array([updates for updates, _ in counts]),
        np.array([mistakes for _, mistakes in counts]),
        np.array([run.has_one_count for run in sequences]),
    )


def random_sequences(seed: int, size: int) -> list[BasisSequence]:
    """Random parameters; every other run has round ones, where the recursion hits its thresholds exactly."""
    draw = np.random.default_rng(seed)
    drawn = [_random_sequence(draw, is_round=bool(index % 2)) for index in range(size)]
    return [*drawn, *closest_sequences()]


def closest_sequences() -> list[BasisSequence]:
    """Where Theorem 10 is nearly attained as printed, and in its sharp form with B₁ and with B₂ the smaller one."""
    tenth, quarter = Fraction(1, 10), Fraction(1, 4)
    cases = (
        (Fraction(999, 1000), 20, Fraction(1), 500),
        (tenth, 1, quarter, 20),
        (Fraction(99, 100), 1, quarter, 5),
    )
    return [
        basis_sequence(1, slope, tenth, gain=half * weight**2, radius=radius / weight)
        for slope, half, weight, radius in cases
    ]


def _random_sequence(draw: np.random.Generator, *, is_round: bool) -> BasisSequence:
    half, root, other = int(draw.integers(1, 101)), int(draw.integers(1, 21)), int(draw.integers(1, 401))
    dim = root**2 if draw.random() < 0.5 else other
    slope = Fraction(int(draw.integers(1, 100)), 100)
    eta, weight, radius = (_log_uniform(draw, *ends) for ends in ((0.003, 100.0), (0.05, 5.0), (0.01, 300.0)))
    if is_round:
        weight, radius = Fraction(1, int(draw.integers(1, 5))), Fraction(int(draw.integers(0, 21)), 2)
        slope, eta = Fraction(int(draw.choice([1, 2, 5, 8, 9])), 10), Fraction(int(draw.integers(1, 40)), 10)
    return basis_sequence(dim, slope, eta, gain=half * weight**2, radius=radius / weight)


def _log_uniform(draw: np.random.Generator, low: float, high: float) -> Fraction:
    return Fraction(float(np.exp(draw.uniform(np.log(low), np.log(high))))).limit_denominator(10_000)


def equation_6_grid(n_steps: int) -> list[BasisSequence]:
    """η from 0.003 to 100 for seven dimensions and eight slopes, under Eq. 6."""
    steps = [Fraction(float(eta)).limit_denominator(10_000) for eta in np.geomspace(0.003, 100, n_steps)]
    slopes = [Fraction(percent, 100) for percent in (1, 10, 30, 50, 70, 90, 95, 99)]
    dims = (1, 3, 4, 25, 77, 100, 400)
    closest = [basis_sequence(dim, Fraction(999, 1000), Fraction(1)) for dim in (1, 2, 400)]
    return [
        *(basis_sequence(dim, slope, eta) for dim in dims for slope in slopes for eta in steps),
        # Every point is updated once, at the smallest η that does this: no other runs come so close to Theorem 4.
        *(replace(run, step_size=one_pass_step(run) * (1 + CLOSE)) for run in closest),
        # And these to the two ends of its reading as sign errors.
        basis_sequence(1, Fraction(99, 100), Fraction(21, 20)),
        basis_sequence(100, Fraction(99, 100), Fraction(1, 10)),
    ]


CLOSE = Fraction(1, 10**9)
"""How far above the threshold η₁ a step is taken, so that the fraction for √d does not matter."""


def large_step_sequences() -> list[BasisSequence]:
    """d = 10⁴ under Eq. 6, slopes up to 0.999."""
    slopes = [Fraction(permille, 1000) for permille in (100, 500, 900, 990, 999)]
    return [basis_sequence(10_000, slope, Fraction(eta)) for slope in slopes for eta in (100, 10**9)]


def run_basis_sequences(setting: SequenceSetting, progress: Progress) -> BasisCounts:
    """The runs of a family, counted."""
    match setting.family:
        case BasisFamily.RANDOM:
            sequences = random_sequences(setting.seed, setting.size)
        case BasisFamily.EQUATION_6:
            sequences = equation_6_grid(setting.size)
        case BasisFamily.LARGE_STEPS:
            sequences = large_step_sequences()
    return count(sequences, progress)


def random_settings(scale: Scale, seed: int) -> list[SequenceSetting]:
    """Random runs."""
    size = 400 if scale is Scale.QUICK else 3000
    return [SequenceSetting(family=BasisFamily.RANDOM, size=size, seed=seed)]


def equation_6_settings(scale: Scale, seed: int) -> list[SequenceSetting]:
    """The grid, in which nothing is random."""
    return [SequenceSetting(family=BasisFamily.EQUATION_6, size=20 if scale is Scale.QUICK else 40)]


def gap_settings(scale: Scale, seed: int) -> list[SequenceSetting]:
    """The random runs, and large steps under Eq. 6."""
    return [*random_settings(scale, seed), SequenceSetting(family=BasisFamily.LARGE_STEPS)]


basis_sequences = Experiment("brutzkus2018.basis_sequences", random_settings, run_basis_sequences, seconds=0.3)


PerRun = Float[np.ndarray, " run"]


class OnBasis(Cases):
    """What the hypotheses measure of `sequences`, the runs in fractions."""

    slope: PerRun = derived(lambda runs: _floats(run.slope for run in runs.sequences))  #: α
    step_size: PerRun = derived(lambda runs: _floats(run.step_size for run in runs.sequences))  #: η
    gain: PerRun = derived(lambda runs: _floats(run.gain for run in runs.sequences))  #: kv²
    radius: PerRun = derived(lambda runs: _floats(run.radius for run in runs.sequences))  #: R/v
    separator_norm: PerRun = derived(lambda runs: _floats(run.separator_norm for run in runs.sequences))  #: ‖w*‖
    #: how far the initial entries are from ∓R/√d, in units of v
    start_distance: PerRun = derived(lambda runs: _floats(run.start_distance for run in runs.sequences))
    gain_error: PerRun = derived(lambda runs: _floats(abs(2 * run.gain - 1) for run in runs.sequences))  #: |2kv² − 1|
    radius_error: PerRun = derived(lambda runs: _floats(abs(run.radius - 1) for run in runs.sequences))  #: |R/v − 1|


def _floats(values: Any) -> np.ndarray:
    return np.array([float(value) for value in values])


@dataclass(frozen=True, eq=False)
class LargeSteps(OnBasis):
    """Runs with a step near η₁: whether it is at least the threshold, the passes until N ≥ 1, and the network then."""

    sequence: Shaped[np.ndarray, " run"]  #: a `BasisSequence`
    from_threshold: Bool[np.ndarray, " run"]
    passes: Int[np.ndarray, " run"]
    agrees: Bool[np.ndarray, " run"]  #: whether it classifies every x as w* does

    @property
    def sequences(self) -> list[BasisSequence]:
        """The runs themselves."""
        return self.sequence.tolist()

    @property
    def dim(self) -> np.ndarray:
        """d."""
        return np.array([run.dim for run in self.sequences], int)


ABOVE = (Fraction(1), Fraction(10_001, 10_000), Fraction(2), Fraction(10**6))


BELOW = (Fraction(9_999, 10_000), Fraction(1, 2))


def large_steps(
    runs: Sequence[BasisSequence], threshold: Callable[[BasisSequence], Fraction] = one_pass_step
) -> LargeSteps:
    """Each run at multiples of the threshold, among them the threshold itself; a control passes another threshold."""
    taken = [
        (replace(run, step_size=multiple * threshold(run)), multiple >= 1)
        for run in runs
        for multiple in (*ABOVE, *BELOW)
    ]
    # Very near the threshold a fraction near √d may say nothing about √d.
    taken = [(run, from_threshold) for run, from_threshold in taken if run.has_one_count]
    sequences = np.empty(len(taken), object)
    sequences[:] = [run for run, _ in taken]
    ends = [run.solved() for run, _ in taken]
    return LargeSteps(
        sequences,
        np.array([from_threshold for _, from_threshold in taken]),
        np.array([passes for passes, _, _ in ends]),
        np.array([run.agrees_with_separator(*entries) for (run, _), (_, *entries) in zip(taken, ends, strict=True)]),
    )


def large_step_runs(scale: Scale, seed: int) -> LargeSteps:
    """Multiples of η₁ for some dimensions and slopes."""
    slopes = [Fraction(percent, 100) for percent in ((10, 50, 90) if scale is Scale.QUICK else (1, 10, 30, 50, 90, 99))]
    return large_steps([basis_sequence(dim, slope, Fraction(1)) for dim in (1, 4, 7, 25, 100) for slope in slopes])
