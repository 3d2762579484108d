"""Training sets drawn from a law of XORD points, and networks trained on them: each run has its own."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.cases import Cases, Count, Number, column
from widenet.claims.experiments import Experiment
from widenet.data.xord import DIVERSE_NEGATIVE, DIVERSE_POSITIVE, SET_LABELS
from widenet.papers.brutzkus2019.formulas import (
    LARGEST_STEP,
    SMALL_NET_STEP,
    SMALLEST_MARGIN,
    SMALLEST_WIDTH,
    largest_deviation,
    steps_of_theorem_6_3,
)
from widenet.papers.brutzkus2019.runs.printed_examples import EXAMPLES
from widenet.papers.brutzkus2019.runs.trained import COARSE
from widenet.papers.brutzkus2019.sources import Law, as_networks, draw_filters, equal_law
from widenet.progress import Progress, silent
from widenet.records import ClosedModel, Scale
from widenet.training import on_grid, train_patterns
from widenet.types import RunStatus


class SampleSetting(ClosedModel):
    """Networks from random starts, each on its own points, `per_class` of each label; see `TrainedSetting`."""

    law: Law
    per_class: int
    n_runs: int
    seed: int
    half_width: int = 2
    step_constant: float = SMALL_NET_STEP
    required_margin: float = 8.0
    max_steps: int = 6000


@dataclass(frozen=True, eq=False)
class Samples(Cases):
    """Networks trained on training sets drawn from a law, each on its own."""

    law: Law  #: the distribution, with δ
    per_class: Count  #: training points of each class
    half_width: Count  #: k
    step_size: Number  #: η
    required_margin: Number  #: γ
    start: Float[np.ndarray, "run filter 2"]  #: the initial filters
    per_set: Int[np.ndarray, "run 15"]  #: how often each pattern set occurs in each training set
    outputs: Float[np.ndarray, "run 15"]  #: N on the 15 sets at the end
    loss: Float[np.ndarray, " run"]  #: at the end
    status: Int[np.ndarray, " run"]  #: why the run ended

    @property
    def zero_loss(self) -> Bool[np.ndarray, " run"]:
        """Whether the loss is exactly 0."""
        return (self.status == RunStatus.CONVERGED) & (self.loss == 0)

    @property
    def unfinished(self) -> Bool[np.ndarray, " run"]:
        """Whether the budget ran out while the weights still moved."""
        return self.status == RunStatus.BUDGET_SPENT

    @column
    def diverse(self) -> Bool[np.ndarray, " run"]:
        """Whether all points of the training set are diverse."""
        return self.per_set[:, [DIVERSE_POSITIVE, DIVERSE_NEGATIVE]].sum(axis=1) == self.per_set.sum(axis=1)

    @column
    def test_error(self) -> Float[np.ndarray, " run"]:
        """Exact, a sum over the 15 sets; an output of 0 is wrong."""
        return np.where(SET_LABELS * self.outputs > 0, 0.0, self.law.probabilities).sum(axis=1)


def draw_counts(seed: int, n_runs: int, law: Law, per_class: int) -> Int[np.ndarray, "run 15"]:
    """How often each pattern set occurs among m positive and m negative points, for every run."""
    draw, weights = np.random.default_rng([seed, per_class, 15]), law.probabilities
    parts = [np.where(label == SET_LABELS, weights, 0.0) for label in (1, -1)]
    return np.sum([draw.multinomial(per_class, part / part.sum(), n_runs) for part in parts], axis=0)


def run(setting: SampleSetting, progress: Progress = silent) -> Samples:
    """Every run draws its own points and its own filters.

    Only pattern sets matter, so points are drawn as counts of sets, which are multinomial.
    """
    n_runs, width, step_constant = setting.n_runs, setting.half_width, setting.step_constant
    counts = draw_counts(setting.seed, n_runs, setting.law, setting.per_class)
    filters = draw_filters(
        setting.seed, n_runs, width, largest_deviation(step_constant, width), stream=setting.per_class
    )
    # The grid rounds to the nearest: a little below, so that c_η is not above its limit afterwards.
    networks, steps = on_grid(as_networks(filters), counts, np.full(n_runs, step_constant / width * (1 - COARSE)))
    ended = train_patterns(
        networks,
        counts,
        steps,
        margin=setting.required_margin,
        max_steps=setting.max_steps,
        patience=None,
        progress=progress,
    )
    return Samples(
        setting.law,
        setting.per_class,
        width,
        float(steps.max()),
        setting.required_margin,
        np.asarray(networks.filters),
        counts,
        ended.outputs,
        ended.loss,
        ended.status,
    )


def settings(scale: Scale, seed: int) -> list[SampleSetting]:
    """Sixteen samples where the bound of Theorem 6.5 is 17.5, and 128 where it is 129.7."""
    count = 512 if scale is Scale.QUICK else 10_000
    return [
        SampleSetting(
            law=Law(diverse_positive=share, diverse_negative=share, delta=delta),
            per_class=per_class,
            n_runs=count,
            seed=seed,
        )
        for share, delta, per_class in ((0.92, 0.16, 8), (0.98, 0.05, 64))
    ]


samples = Experiment("brutzkus2019.samples", settings, run, seconds=1.5)


def pair_settings(scale: Scale, seed: int) -> list[SampleSetting]:
    """Wide networks in the corner of the regime, each on its own two points of the second example; the smallest δ."""
    return [
        SampleSetting(
            law=equal_law(0.92),
            per_class=1,
            n_runs=120 if scale is Scale.QUICK else 2400,
            seed=seed,
            half_width=SMALLEST_WIDTH,
            step_constant=LARGEST_STEP,
            required_margin=SMALLEST_MARGIN,
            max_steps=math.floor(steps_of_theorem_6_3(LARGEST_STEP, SMALLEST_MARGIN)),
        )
    ]


def sixteen_settings(scale: Scale, seed: int) -> list[SampleSetting]:
    """Wide networks on 16 points of the second example, of which the theorem does not speak; only shown."""
    count = 60 if scale is Scale.QUICK else 600
    return [SampleSetting(law=EXAMPLES[1].law, per_class=8, n_runs=count, seed=seed, half_width=120)]
