"""Networks trained on one training set of XORD by exact gradient descent: the runs behind Section 6.

Two experiments share the result. `trained` starts from random filters; `from_every_octant` starts once in each of the
8⁴ = 4096 rows of octants that two filters of each sign can lie in.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.applicability import Applied, NotApplicable
from widenet.claims.cases import Cases, Count, Number, column
from widenet.claims.experiments import Experiment
from widenet.claims.user_data import UserData
from widenet.data.xord import SET_LABELS
from widenet.papers.brutzkus2019.formulas import (
    LARGEST_STEP,
    SMALL_NET_STEP,
    SMALLEST_MARGIN,
    SMALLEST_WIDTH,
    largest_deviation,
    steps_of_theorem_6_3,
)
from widenet.papers.brutzkus2019.runs.octants import all_octants, from_octant
from widenet.papers.brutzkus2019.runs.starts import (
    axes_are_explored,
    is_small,
    negative_parts_are_explored,
    positive_cones_are_explored,
)
from widenet.papers.brutzkus2019.sources import PAIR, TrainingSet, as_networks, draw_filters
from widenet.papers.brutzkus2019.user_data import OWN_RUNS, fixed_by_regime, points_in_time, up_to
from widenet.progress import Progress, silent
from widenet.records import ClosedModel, Scale
from widenet.training import train_patterns
from widenet.training.xord import GRID, class_weights
from widenet.types import RunStatus

COARSE = 1e-6
"""η is moved to the grid where that changes less than this share of it."""


class TrainedSetting(ClosedModel):
    """Networks from random starts.

    Attributes:
      half_width, step_constant, required_margin: k, c_η = ηk and γ.
      relative_deviation: σ_g over its largest value, c_η/(16k^{3/2}).
      points: the training set; a reader's own points are here as counts, all that training sees of them.
    """

    half_width: int
    step_constant: float
    required_margin: float
    n_runs: int
    max_steps: int
    seed: int
    relative_deviation: float = 1.0
    points: TrainingSet = PAIR


class OctantSetting(ClosedModel):
    """Networks with two filters of each sign, started in each of the 4096 rows of octants; see `TrainedSetting`."""

    step_constant: float
    required_margin: float
    max_steps: int
    seed: int
    points: TrainingSet = PAIR


@dataclass(frozen=True, eq=False)
class TrainedXord(Cases):
    """Networks of one shape before and after gradient descent on one training set."""

    step_size: Number  #: η
    required_margin: Number  #: γ
    points: TrainingSet  #: the training set
    max_steps: Count  #: the budget of steps
    start: Float[np.ndarray, "run filter 2"]  #: all filters, the plus half first
    final: Float[np.ndarray, "run filter 2"]  #: the same at the end
    outputs: Float[np.ndarray, "run 15"]  #: N on the 15 pattern sets at the end
    steps: Int[np.ndarray, " run"]  #: until the end
    status: Int[np.ndarray, " run"]  #: why the run ended
    loss: Float[np.ndarray, " run"]  #: at the end

    @column
    def half_width(self) -> int:
        """The number of filters of each sign, k."""
        return self.start.shape[1] // 2

    @column
    def step_constant(self) -> float:
        """c_η = ηk."""
        return self.step_size * self.half_width

    @property
    def n_runs(self) -> int:
        """How many networks."""
        return len(self.start)

    @property
    def converged(self) -> Bool[np.ndarray, " run"]:
        """Whether the loss is exactly 0."""
        return (self.status == RunStatus.CONVERGED) & (self.loss == 0)

    @property
    def unfinished(self) -> Bool[np.ndarray, " run"]:
        """Whether the budget ran out while the weights still moved."""
        return self.status == RunStatus.BUDGET_SPENT

    @property
    def diverged(self) -> Bool[np.ndarray, " run"]:
        """Whether something is no longer finite."""
        return self.status == RunStatus.DIVERGED

    @property
    def wrong(self) -> Bool[np.ndarray, "run 15"]:
        """On which pattern sets the sign is wrong; an output of 0 is, and so is one that is not a number."""
        return ~(SET_LABELS * self.outputs > 0)

    def right_on(self, places: Any = slice(None)) -> Bool[np.ndarray, " run"]:
        """Whether the sign is right on all of these pattern sets, by default on all 15."""
        return np.asarray(~self.wrong[:, places].any(axis=1))

    @property
    def recovers(self) -> Bool[np.ndarray, " run"]:
        """Zero loss and the right sign on all 15 sets."""
        return self.converged & self.right_on()

    @column
    def small_start(self) -> Bool[np.ndarray, " run"]:
        """The event of Lemma E.3."""
        return is_small(self.start, float(self.step_size))

    @column
    def axes_explored(self) -> Bool[np.ndarray, " run"]:
        """The events of Lemmas E.2 and E.3."""
        return self.small_start & axes_are_explored(self.start)

    @column
    def explored_for_positive(self) -> Bool[np.ndarray, " run"]:
        """The events of Lemmas E.2, E.3 and E.15."""
        return self.axes_explored & positive_cones_are_explored(self.start)

    @column
    def explored_for_negative(self) -> Bool[np.ndarray, " run"]:
        """The events of Lemmas E.2, E.3 and E.19."""
        return self.axes_explored & negative_parts_are_explored(self.start)

    @column
    def summary(self) -> dict:
        """What was run, for the evidence."""
        return {
            "half_width": self.half_width,
            "step_constant": self.step_constant,
            "required_margin": self.required_margin,
            "runs": self.n_runs,
            "converged": int(self.converged.sum()),
            "recover": int(self.recovers.sum()),
            "steps": [int(self.steps.min()), int(self.steps.max())] if self.n_runs else [],
        }


def train_from(
    filters: Float[np.ndarray, "run filter 2"],
    step_size: float,
    required_margin: float,
    *,
    points: TrainingSet = PAIR,
    max_steps: int,
    progress: Progress = silent,
) -> TrainedXord:
    """Gradient descent from given filters until the update is exactly zero.

    Filters and step size are first moved to the grid on which nothing is rounded (η downwards, by less than `COARSE` of
    itself), so an update that is zero in the paper is zero here. With two class sizes of a huge common multiple there
    is no such grid, and η stays as it is.
    """
    counts = np.tile(points.proportions, (len(filters), 1))
    unit = GRID * float(class_weights(counts[:1])[1][0])
    on_grid = math.floor(step_size / unit) * unit
    exact_step = on_grid if on_grid > step_size * (1 - COARSE) else step_size
    start = np.round(filters / GRID) * GRID
    run = train_patterns(
        as_networks(start),
        counts,
        exact_step,
        margin=required_margin,
        max_steps=max_steps,
        patience=None,
        progress=progress,
    )
    final = np.asarray(run.network.filters)
    return TrainedXord(
        exact_step, required_margin, points, max_steps, start, final, run.outputs, run.steps, run.status, run.loss
    )


def run_trained(setting: TrainedSetting, progress: Progress = silent) -> TrainedXord:
    """Networks from random starts, η = c_η/k."""
    width, step_constant = setting.half_width, setting.step_constant
    deviation = setting.relative_deviation * largest_deviation(step_constant, width)
    # Runs of two settings are pooled as independent, so they do not start from the same draws.
    stream = round(1 / step_constant) * 10_000 + round(100 * setting.required_margin)
    filters = draw_filters(setting.seed, setting.n_runs, width, deviation, stream)
    return train_from(
        filters,
        step_constant / width,
        setting.required_margin,
        points=setting.points,
        max_steps=setting.max_steps,
        progress=progress,
    )


def run_octants(setting: OctantSetting, progress: Progress = silent) -> TrainedXord:
    """Networks with k = 2 from every row of octants."""
    deviation = largest_deviation(setting.step_constant, 2)
    return train_from(
        spread_over_octants(setting.seed, deviation),
        setting.step_constant / 2,
        setting.required_margin,
        points=setting.points,
        max_steps=setting.max_steps,
        progress=progress,
    )


def spread_over_octants(seed: int, deviation: float) -> Float[np.ndarray, "start 4 2"]:
    """For each of the 4096 rows of octants, filters whose fits have the sizes of Gaussian ones."""
    rows = all_octants(4)
    fits = np.abs(np.random.default_rng([seed, 4096]).normal(0, math.sqrt(2) * deviation, (*rows.shape, 2)))
    return from_octant(rows, fits.max(axis=-1), fits.min(axis=-1))


def corner(
    seed: int, n_runs: int, required_margin: float = SMALLEST_MARGIN, points: TrainingSet = PAIR
) -> TrainedSetting:
    """k = 120, c_η = 1/410, γ = 8: the corner of the regime of Theorem 6.3, with all the steps that it grants."""
    return TrainedSetting(
        half_width=SMALLEST_WIDTH,
        step_constant=LARGEST_STEP,
        required_margin=required_margin,
        n_runs=n_runs,
        max_steps=math.floor(steps_of_theorem_6_3(LARGEST_STEP, required_margin)),
        seed=seed,
        points=points,
    )


def corner_settings(scale: Scale, seed: int) -> list[TrainedSetting]:
    """As many runs as can confirm Theorem 6.3: 557 without a failure are the fewest."""
    return [corner(seed, 557 if scale is Scale.QUICK else 2300)]


def narrow_budget(step_constant: float, required_margin: float) -> int:
    """3(γ + 1)/c_η steps: about twice what a network with k = 2 has been seen to need."""
    return math.ceil(3 * (required_margin + 1) / step_constant)


def octant_settings(scale: Scale, seed: int) -> list[OctantSetting]:
    """Three margins, each with its own sizes of the fits."""
    return [
        OctantSetting(
            step_constant=SMALL_NET_STEP,
            required_margin=margin,
            max_steps=narrow_budget(SMALL_NET_STEP, margin),
            seed=seed + place,
        )
        for place, margin in enumerate((1.0, 2.0, 8.0))
    ]


def narrow_settings(scale: Scale, seed: int) -> list[TrainedSetting]:
    """Random starts, at the margins of `octant_settings`."""
    return [
        TrainedSetting(
            half_width=2,
            step_constant=each.step_constant,
            required_margin=each.required_margin,
            n_runs=4096 if scale is Scale.QUICK else 40_960,
            max_steps=2 * each.max_steps + 1000,
            seed=seed,
        )
        for each in octant_settings(scale, seed)
    ]


def wide_on(user_data: UserData) -> Applied | NotApplicable:
    """Networks at the corner of Theorem 6.3 on your points, or of the width and step that you chose, the same for every
    statement about wide networks.

    A set with points that are not diverse may need the whole budget of steps.
    """
    points, choices = points_in_time(user_data), user_data.choices
    if isinstance(points, NotApplicable):
        return points
    neurons, step = choices.chosen("n_neurons"), choices.chosen("step_size")
    half_width = SMALLEST_WIDTH if neurons is None else neurons // 2
    step_constant = LARGEST_STEP if step is None else step * half_width
    setting = corner(choices.seed, choices.n_runs or OWN_RUNS, choices.required_margin, points)
    steps = max(1, math.floor(steps_of_theorem_6_3(step_constant, choices.required_margin)))
    changes = {"half_width": half_width, "step_constant": step_constant, "max_steps": up_to(user_data, steps)}
    fixed = fixed_by_regime(user_data, half_width, step_constant)
    for name in ("step_size", "n_neurons"):
        fixed.pop(name, None)
    return Applied([setting.model_copy(update=changes)], user_data.unused(fixed))


def octants_on(user_data: UserData) -> Applied | NotApplicable:
    """Networks with k = 2 on a user's points, from every octant."""
    points, choices = points_in_time(user_data), user_data.choices
    if isinstance(points, NotApplicable):
        return points
    setting = OctantSetting(
        step_constant=SMALL_NET_STEP,
        required_margin=choices.required_margin,
        max_steps=up_to(user_data, 5 * narrow_budget(SMALL_NET_STEP, choices.required_margin)),
        seed=choices.seed,
        points=points,
    )
    return Applied([setting], user_data.unused(fixed_by_regime(user_data, 2, SMALL_NET_STEP)))


def narrow_on(user_data: UserData) -> Applied | NotApplicable:
    """The same from random starts."""
    every = octants_on(user_data)
    if isinstance(every, NotApplicable):
        return every
    same = {name: value for name, value in every.settings[0]}
    setting = TrainedSetting(half_width=2, n_runs=user_data.choices.n_runs or OWN_RUNS, **same)
    return Applied([setting], every.note)


trained = Experiment("brutzkus2019.trained", corner_settings, run_trained, seconds=2.0, on=wide_on)
narrow_trained = Experiment("brutzkus2019.trained", narrow_settings, run_trained, seconds=2.0, on=narrow_on)
from_every_octant = Experiment("brutzkus2019.octants", octant_settings, run_octants, seconds=0.5, on=octants_on)
