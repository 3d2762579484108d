"""Pairs of runs whose starts differ in the sign of one u filter, followed step by step (Lemma F.2)."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.applicability import Applied, NotApplicable
from widenet.claims.cases import Cases, column
from widenet.claims.experiments import Experiment
from widenet.claims.user_data import UserData
from widenet.papers.brutzkus2019.formulas import SMALL_NET_STEP, largest_deviation
from widenet.papers.brutzkus2019.runs.trained import narrow_budget, train_from
from widenet.papers.brutzkus2019.sources import PAIR, TrainingSet, draw_filters
from widenet.papers.brutzkus2019.user_data import MOST_RUNS, fixed_by_regime, points_of, up_to
from widenet.progress import Progress, silent
from widenet.records import ClosedModel, Scale
from widenet.types import RunStatus


class SignFlipSetting(ClosedModel):
    """Random starts in the regime of Theorem F.1, and for how many steps they are followed at most."""

    half_width: int
    required_margin: float
    n_pairs: int
    max_steps: int
    seed: int
    points: TrainingSet = PAIR


@dataclass(frozen=True, eq=False)
class SignFlips(Cases):
    """Both runs of every pair after 0, 1, 2, … steps, until all have stopped."""

    rows = "pair"

    points: TrainingSet  #: the training set
    paths: Float[np.ndarray, "2 time pair filter 2"]  #: the filters; u^(1) is the first of the second half
    steps: Int[np.ndarray, "2 pair"]  #: of each run at its end
    status: Int[np.ndarray, "2 pair"]  #: why it ended

    @column
    def half_width(self) -> int:
        """The number of filters of each sign, k."""
        return self.paths.shape[3] // 2

    @column
    def unfinished(self) -> Bool[np.ndarray, " pair"]:
        """Whether one of the two was still moving when it was no longer followed."""
        return (self.status == RunStatus.BUDGET_SPENT).any(axis=0)

    @column
    def diverged(self) -> Bool[np.ndarray, " pair"]:
        """Whether something of one of the two is no longer finite."""
        return (self.status == RunStatus.DIVERGED).any(axis=0)


def flip(filters: Float[np.ndarray, "run filter 2"]) -> Float[np.ndarray, "run filter 2"]:
    """The same filters with u^(1) negated."""
    flipped = filters.copy()
    flipped[:, filters.shape[1] // 2] *= -1
    return flipped


def follow(
    filters: Float[np.ndarray, "pair filter 2"],
    step_size: float,
    required_margin: float,
    *,
    points: TrainingSet = PAIR,
    max_steps: int,
    progress: Progress = silent,
) -> SignFlips:
    """Train the starts and their twins, one step at a time: nothing of a step depends on those before it."""
    n_pairs = len(filters)
    run = train_from(np.concatenate([filters, flip(filters)]), step_size, required_margin, points=points, max_steps=1)
    path, steps = [run.start, run.final], run.steps
    while run.unfinished.any() and len(path) <= max_steps:
        progress(len(path) / max_steps, f"steps of {n_pairs} pairs")
        run = train_from(run.final, step_size, required_margin, points=points, max_steps=1)
        path.append(run.final)
        steps = steps + run.steps
    paths = np.stack(path)
    return SignFlips(
        points,
        np.stack([paths[:, :n_pairs], paths[:, n_pairs:]]),
        steps.reshape(2, n_pairs),
        run.status.reshape(2, n_pairs),
    )


def run(setting: SignFlipSetting, progress: Progress = silent) -> SignFlips:
    """Pairs with the largest η and σ_g of Theorem F.1."""
    deviation = largest_deviation(SMALL_NET_STEP, setting.half_width)
    filters = draw_filters(setting.seed, setting.n_pairs, setting.half_width, deviation)
    return follow(
        filters,
        SMALL_NET_STEP / setting.half_width,
        setting.required_margin,
        points=setting.points,
        max_steps=setting.max_steps,
        progress=progress,
    )


def flip_setting(seed: int, n_pairs: int, required_margin: float, points: TrainingSet = PAIR) -> SignFlipSetting:
    """Pairs with k = 2, and steps enough for them."""
    budget = narrow_budget(SMALL_NET_STEP, required_margin)
    return SignFlipSetting(
        half_width=2, required_margin=required_margin, n_pairs=n_pairs, max_steps=budget, seed=seed, points=points
    )


def settings(scale: Scale, seed: int) -> list[SignFlipSetting]:
    """Few pairs: a difference would show in each of them."""
    return [flip_setting(seed, 50, 1.0) if scale is Scale.QUICK else flip_setting(seed, 500, 8.0)]


def flips_on(user_data: UserData) -> Applied | NotApplicable:
    """Twenty pairs on a user's points, or fewer if so chosen, at γ = 1."""
    points, choices = points_of(user_data), user_data.choices
    if isinstance(points, NotApplicable):
        return points
    setting = flip_setting(choices.seed, min(choices.n_runs or MOST_RUNS, MOST_RUNS), 1.0, points)
    fixed = fixed_by_regime(user_data, 2, SMALL_NET_STEP)
    if choices.required_margin != 1:
        fixed["required_margin"] = "γ = 1 is used"
    if (choices.n_runs or 0) > MOST_RUNS:
        fixed["n_runs"] = f"{MOST_RUNS} pairs are compared"
    settings = [setting.model_copy(update={"max_steps": up_to(user_data, setting.max_steps)})]
    return Applied(settings, user_data.unused(fixed))


sign_flips = Experiment("brutzkus2019.sign_flips", settings, run, seconds=1.0, on=flips_on)
