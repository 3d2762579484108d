"""Theorem 9: how many updates ReLU runs on e_1, …, e_d make, in float64 and in fractions."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Bool, Int

from widenet.claims.cases import Cases, Number
from widenet.claims.experiments import Experiment
from widenet.papers.brutzkus2018.formulas import wide_width
from widenet.papers.brutzkus2018.runs.basis import BasisShape, basis_start
from widenet.papers.brutzkus2018.runs.exact_sgd import relu_on_basis
from widenet.papers.brutzkus2018.runs.online import mean_hinge, train_online
from widenet.progress import Progress, over
from widenet.records import ClosedModel, Scale


class UpdateSetting(ClosedModel):
    """The same starts under several bounds C on their entries and several step sizes η.

    Attributes:
      n_runs, dim, half_width, delta: runs, d, k and δ.
      entry_bounds, step_sizes: C and η as text, so that fractions stay what they are ("1/4").
      exact: count in fractions.
    """

    n_runs: int
    dim: int
    half_width: int
    delta: float
    entry_bounds: tuple[str, ...]
    step_sizes: tuple[str, ...]
    exact: bool = False
    seed: int = 0


@dataclass(frozen=True, eq=False)
class UpdateCounts(Cases):
    """Counted updates of many runs of one shape."""

    setting: UpdateSetting  #: where they come from, with one bound and one step size
    excess: Number  #: the largest |entry of W_0| minus C
    gram_error: Number  #: the largest entry of XXᵀ − I
    slope: Number  #: for z < 0
    weight_error: Number  #: |v − 1|
    smallest_label: Number
    updates: Int[np.ndarray, "run sample"]  #: non-zero updates of each run on each point
    solvable: Bool[np.ndarray, " run"]  #: whether K_0 is empty
    reached: Bool[np.ndarray, " run"]  #: whether the loss is 0 at the end
    ended: Bool[np.ndarray, " run"]  #: whether no point would make another update

    @property
    def exact_bound(self) -> float | Fraction:
        """C, as the run used it."""
        return _number(self.setting.entry_bounds[0], self.setting.exact)

    @property
    def exact_step(self) -> float | Fraction:
        """η, as the run used it."""
        return _number(self.setting.step_sizes[0], self.setting.exact)


@dataclass(frozen=True, eq=False)
class AllCounts:
    """What a setting leaves: one case per bound and step size."""

    cases: tuple[UpdateCounts, ...]


def count_updates(setting: UpdateSetting) -> UpdateCounts:
    """Runs of SGD from entries uniform on [−C, C], with the first bound and the first step size."""
    return _in_fractions(setting) if setting.exact else _in_float64(setting)


def _in_float64(setting: UpdateSetting) -> UpdateCounts:
    bound, step = float(setting.entry_bounds[0]), float(setting.step_sizes[0])
    shape = BasisShape(
        n_runs=setting.n_runs, dim=setting.dim, half_width=setting.half_width, step_size=step, entry_bound=bound
    )
    start = basis_start(np.random.default_rng([setting.seed, 9]), shape, seed=setting.seed)
    runs = train_online(start)
    return UpdateCounts(
        setting,
        float(np.abs(start.weights).max()) - bound,
        float(np.abs(start.inputs @ start.inputs.T - np.eye(len(start.inputs))).max()),
        start.slope,
        abs(start.output_weight - 1),
        float(start.labels.min()),
        runs.updates,
        np.asarray(~start.stuck(start.weights).any(axis=1)),
        runs.ended & (mean_hinge(runs.outputs, start.labels) == 0),
        runs.ended,
    )


def _in_fractions(setting: UpdateSetting) -> UpdateCounts:
    """The whole network in exact arithmetic. The points never meet, so the order does not matter for the counts."""
    bound, step = Fraction(setting.entry_bounds[0]), Fraction(setting.step_sizes[0])
    problem = relu_on_basis(setting.dim, setting.half_width)
    starts = exact_starts(setting.seed, (setting.n_runs, setting.dim, 2 * setting.half_width), bound)
    ends = [problem.train(start.T, step) for start in starts]
    return UpdateCounts(
        setting,
        float(np.abs(starts).max() - bound),
        float(problem.gram_error()),
        float(problem.slope),
        float(problem.weight_error),
        float(problem.labels.min()),
        np.stack([end.updates for end in ends]),
        np.array([not end.stuck[0].any() for end in ends]),
        np.array([end.solved for end in ends]),
        np.array([end.ended for end in ends]),
    )


def exact_starts(seed: int, shape: tuple[int, ...], bound: Fraction) -> np.ndarray:
    """Entries uniform on the odd multiples of C/2^20 in [−C, C], as fractions: none of them is 0."""
    grid = 2 * np.random.default_rng([seed, 10]).integers(-(2**19), 2**19, shape) + 1
    return np.array([Fraction(int(n), 2**20) * bound for n in grid.ravel()], dtype=object).reshape(shape)


def run_updates(setting: UpdateSetting, progress: Progress) -> AllCounts:
    """Count under every bound and every step size of a setting."""
    cases = [
        setting.model_copy(update={"entry_bounds": (bound,), "step_sizes": (step,)})
        for bound in setting.entry_bounds
        for step in setting.step_sizes
    ]
    return AllCounts(tuple(count_updates(case) for case in over(cases, progress, "bounds and step sizes")))


def update_settings(scale: Scale, seed: int) -> list[UpdateSetting]:
    """d = 50 and δ = 0.1 at the width of the theorem, for small and large steps."""
    dim, delta = 50, 0.1
    return [
        UpdateSetting(
            n_runs=20 if scale is Scale.QUICK else 200,
            dim=dim,
            half_width=math.ceil(wide_width(dim, delta)),
            delta=delta,
            entry_bounds=("0.3", "1.0"),
            step_sizes=("0.05", "0.3", "0.6", "1.1", "2.0", "10.0"),
            seed=seed,
        )
    ]


def exact_settings(scale: Scale, seed: int) -> list[UpdateSetting]:
    """d = 2, δ = ½, k = 3 = log2(2d/δ), C = ¼, η = 2: both points start with N ≤ kC = ¾ < 1, so T ≥ 2 > 1 = printed."""
    return [
        UpdateSetting(
            n_runs=100 if scale is Scale.QUICK else 1000,
            dim=2,
            half_width=3,
            delta=0.5,
            entry_bounds=("1/4",),
            step_sizes=("2",),
            exact=True,
            seed=seed,
        )
    ]


update_counts = Experiment("brutzkus2018.update_counts", update_settings, run_updates, seconds=0.2)


def _number(text: str, exact: bool) -> float | Fraction:
    return Fraction(text) if exact else float(text)
