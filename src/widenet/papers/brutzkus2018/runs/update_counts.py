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
from widenet.progress import Progress, silent
from widenet.records import ClosedModel, Scale


class UpdateSetting(ClosedModel):
    """Runs of one shape, with C and η as text, so that fractions stay what they are ("1/4")."""

    n_runs: int
    dim: int  #: d
    half_width: int  #: k
    delta: float  #: δ
    entry_bound: str  #: C
    step_size: str  #: η
    exact: bool = False  #: whether to count in fractions
    seed: int = 0


@dataclass(frozen=True, eq=False)
class UpdateCounts(Cases):
    """Counted updates of many runs of one shape."""

    setting: UpdateSetting  #: where they come from
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
        return _number(self.setting.entry_bound, self.setting.exact)

    @property
    def exact_step(self) -> float | Fraction:
        """η, as the run used it."""
        return _number(self.setting.step_size, self.setting.exact)


def run_updates(setting: UpdateSetting, progress: Progress = silent) -> UpdateCounts:
    """Runs of SGD from entries uniform on [−C, C]."""
    return _in_fractions(setting) if setting.exact else _in_float64(setting)


def _in_float64(setting: UpdateSetting) -> UpdateCounts:
    bound, step = float(setting.entry_bound), float(setting.step_size)
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
    bound, step = Fraction(setting.entry_bound), Fraction(setting.step_size)
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


def update_settings(scale: Scale, seed: int) -> list[UpdateSetting]:
    """d = 50 and δ = 0.1 at the width of the theorem: the same starts under two bounds, with small and large steps."""
    dim, delta = 50, 0.1
    return [
        UpdateSetting(
            n_runs=20 if scale is Scale.QUICK else 200,
            dim=dim,
            half_width=math.ceil(wide_width(dim, delta)),
            delta=delta,
            entry_bound=bound,
            step_size=step,
            seed=seed,
        )
        for bound in ("0.3", "1.0")
        for step in ("0.05", "0.3", "0.6", "1.1", "2.0", "10.0")
    ]


def exact_settings(scale: Scale, seed: int) -> list[UpdateSetting]:
    """d = 2, δ = ½, k = 3 = log2(2d/δ), C = ¼, η = 2: both points start with N ≤ kC = ¾ < 1, so T ≥ 2 > 1 = printed."""
    return [
        UpdateSetting(
            n_runs=100 if scale is Scale.QUICK else 1000,
            dim=2,
            half_width=3,
            delta=0.5,
            entry_bound="1/4",
            step_size="2",
            exact=True,
            seed=seed,
        )
    ]


update_counts = Experiment("brutzkus2018.update_counts", update_settings, run_updates, seconds=0.02)


def _number(text: str, exact: bool) -> float | Fraction:
    return Fraction(text) if exact else float(text)
