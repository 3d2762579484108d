"""The setting of Section 6.1: samples of one distribution, and SGD that keeps the list of the points it updated on.

The list is what a compression scheme needs.
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float, Int
from pydantic import Field

from widenet.claims.applicability import NotApplicable
from widenet.claims.cases import Cases, Count, Number, column
from widenet.claims.experiments import Experiment
from widenet.claims.user_data import UserData
from widenet.data.points import unit_rows
from widenet.networks.arrays import plus_minus_weights
from widenet.papers.brutzkus2018.formulas import (
    max_nonzero_updates,
)
from widenet.papers.brutzkus2018.sources import DrawnSamples, OwnSamples, SampleSets, equal_scale
from widenet.papers.brutzkus2018.user_data import reason_in_labels
from widenet.progress import Progress, silent
from widenet.records import ClosedModel, Scale
from widenet.training.small import Inputs, Recorder, SmallNetworks, train_small, uniform

PATIENCE, GIVEN_UP = 1e6, 1000
"""The largest M_k that a run is given time for, and the updates it gets otherwise."""
LARGEST_PIECE = 64
"""So many points that make no update are passed at once."""
MOST_PADDING = 20_000
"""Where M_k is in the billions, so many points of padding show that padding changes nothing."""
Weights = Float[np.ndarray, "neuron dim"]


class LearningRule(ClosedModel):
    """SGD on a ±v Leaky ReLU network with R = v = 1/√(2k) (Eq. 6)."""

    half_width: int  #: k
    slope: float  #: α
    step_size: float  #: η
    max_updates: int | None = None  #: stop after so many updates, whatever the loss; None to go on to loss 0

    @property
    def scale(self) -> float:
        """R = v = 1/√(2k)."""
        return equal_scale(self.half_width)

    @functools.cached_property
    def votes(self) -> Float[np.ndarray, " neuron"]:
        """(+v, …, +v, −v, …, −v)."""
        return plus_minus_weights(self.half_width, self.scale)

    def update_bound(self, separator_norm: float) -> float:
        """M_k of Theorem 2."""
        return float(
            max_nonzero_updates(separator_norm, self.slope, self.step_size, self.scale, self.scale, self.half_width)
        )

    def start(self, draw: np.random.Generator, dim: int) -> Weights:
        """W_0, drawn without a look at the sample."""
        return self.scale * unit_rows(draw, 2 * self.half_width, dim)

    def networks(self, weights: Float[np.ndarray, "run neuron dim"]) -> SmallNetworks:
        """Networks with these W; σ'(0) = 1."""
        return SmallNetworks(weights, np.tile(self.votes, (len(weights), 1)), self.slope, 1.0)

    def outputs(self, weights: Weights, inputs: Float[np.ndarray, "sample dim"]) -> Float[np.ndarray, " sample"]:
        """N(x) of every point."""
        return self.networks(weights[None]).outputs(inputs)[0]


@dataclass(frozen=True, eq=False)
class Learned:
    """What SGD left: W, the indices of the updated points in their order, and the mean hinge loss on S."""

    weights: Weights
    updated: list[int]
    loss: float

    def unused(self, n_samples: int) -> Bool[np.ndarray, " sample"]:
        """V: the points that made no update."""
        mask = np.ones(n_samples, bool)
        mask[self.updated] = False
        return mask


def learn(
    rule: LearningRule,
    starts: Float[np.ndarray, "run neuron dim"],
    inputs: Inputs,
    labels: Float[np.ndarray, "run sample"],
    seeds: Sequence[Any],
    most: int,
    progress: Progress = silent,
) -> list[Learned]:
    """SGD with points drawn with replacement, until loss 0, `rule.max_updates`, or `most` updates.

    Draws that make no update change nothing, so they are left out: the next point updated is uniform among those
    with y N(x) < 1, the first such in a random order.
    """
    recorder = Recorder()
    trained = train_small(
        rule.networks(starts),
        inputs,
        labels,
        step_size=rule.step_size,
        max_updates=most if rule.max_updates is None else min(rule.max_updates, most),
        order=uniform(seeds),
        watch=lambda update: recorder.add(update.runs, samples=np.asarray(update.samples)),
        progress=progress,
    )
    losses = np.maximum(1 - trained.margins, 0).mean(axis=1)
    updated = [rows.astype(int).tolist() for rows in recorder.by_run("samples", len(labels))]
    return list(map(Learned, trained.networks.hidden, updated, losses.tolist()))


def replay(
    rule: LearningRule,
    start: Weights,
    inputs: Float[np.ndarray, "sample dim"],
    labels: Float[np.ndarray, " sample"],
    points: Sequence[int],
) -> Weights:
    """B_{W_0}: the weights that the compression points give, in their order, by the rule of training."""
    networks, rows, place, size = rule.networks(start[None]).copy(), np.array(points, int), 0, 1
    while place < len(rows):
        # Points that make no update are passed in pieces: between two updates the weights rest.
        piece = rows[place : place + size]
        copies = networks.of(np.zeros(len(piece), int))
        increment = copies.increment(inputs[piece], labels[piece], rule.step_size)
        first = np.flatnonzero(increment.moves)[:1]
        if len(first):
            networks.add(inputs[piece[first]], increment.of(first))
            place, size = place + int(first[0]) + 1, 1
        else:
            place, size = place + size, min(2 * size, LARGEST_PIECE)
    return networks.hidden[0]


@dataclass(frozen=True, eq=False)
class Learning:
    """Samples and the rule that learns from each; `patience` is how many updates a run gets at most."""

    samples: SampleSets
    rule: LearningRule
    seed: int = 0
    patience: float = PATIENCE

    def start(self, trial: int) -> Weights:
        """W_0 of a trial."""
        return self.rule.start(np.random.default_rng([self.seed, trial]), self.samples.inputs.shape[2])

    @property
    def update_bound(self) -> float:
        """M_k; infinite without a separator."""
        return self.rule.update_bound(self.samples.separator_norm) if self.samples.separator_norm > 0 else np.inf

    @property
    def is_waited_for(self) -> bool:
        """Whether a run gets all the updates it is promised to need; otherwise its loss at the end says nothing."""
        return self.update_bound < self.patience

    def run(self, trial: int) -> Learned:
        """The training of one trial, the same bits each time and in any company."""
        return self.run_all([trial])[0]

    def run_all(self, trials: Sequence[int], progress: Progress = silent) -> list[Learned]:
        """The training of some trials, side by side."""
        return learn(
            self.rule,
            np.stack([self.start(trial) for trial in trials]),
            self.samples.inputs[list(trials)],
            self.samples.labels[list(trials)],
            [[self.seed, trial, 1] for trial in trials],
            int(self.update_bound) + 1 if self.is_waited_for else int(min(self.patience, GIVEN_UP)),
            progress,
        )


class LearningSetting(ClosedModel):
    """Samples, a rule, whether each run is replayed from its compression points, and the updates it gets at most."""

    samples: DrawnSamples | OwnSamples = Field(discriminator="kind")
    rule: LearningRule
    seed: int
    replayed: bool = False
    most_updates: int | None = None


PerTrial = Float[np.ndarray, " trial"]
Counts = Int[np.ndarray, " trial"]
Answer = bool | np.ndarray


@dataclass(frozen=True, eq=False)
class LearningRuns(Cases):
    """What a rule learned from each sample."""

    rows: ClassVar = "trial"

    rule: LearningRule
    n_samples: Count  #: n
    n_fresh: Count  #: how many points the error is measured on
    separator_norm: Number  #: ‖w*‖
    separator_is_given: Answer  #: whether w* is that of the distribution, and not found on the data
    smallest_margin: Number  #: min y⟨w*, x⟩
    largest_input: Number  #: max ‖x‖
    is_waited_for: Answer  #: see `Learning`
    relative_row: Number  #: the longest row of a W_0, against 1/√(2k)
    output_error: Number  #: the largest relative difference of an output weight from ±1/√(2k)
    updates: Counts  #: T
    distinct: Counts  #: how many different points made these updates
    loss: PerTrial  #: the mean hinge loss on S at the end
    n_unused: Counts  #: |V|
    unused_error: PerTrial  #: L_V, the 0-1 error on V; NaN where V is empty
    error: PerTrial  #: L_D, the 0-1 error on fresh points; NaN where there are none
    #: whether the compression points, in their order and padded to ⌊M_k⌋, give the same W bit for bit; empty unless it
    #: was asked for
    same_replay: Bool[np.ndarray, " replay"]

    @column
    def slope(self) -> Number:
        """α."""
        return self.rule.slope

    @column
    def step_size(self) -> Number:
        """η."""
        return self.rule.step_size

    @column
    def half_width(self) -> Count:
        """k."""
        return self.rule.half_width

    @column
    def update_bound(self) -> Number:
        """M_k; infinite without a separator."""
        return self.rule.update_bound(float(self.separator_norm)) if self.separator_norm > 0 else np.inf

    @column
    def compression_size(self) -> Count:
        """c_k: the number of updates after which the rule stops, or ⌊M_k⌋ with the w* of the distribution."""
        if self.rule.max_updates is not None:
            return self.rule.max_updates
        return int(self.update_bound) if np.isfinite(self.update_bound) else 0


def _all_of_them(updated: list[int]) -> list[int]:
    return updated


def learn_all(
    learning: Learning,
    progress: Progress = silent,
    *,
    replayed: bool = False,
    run: Callable[[Learning, int], Learned] | None = None,
    keep: Callable[[list[int]], list[int]] = _all_of_them,
    start: Callable[[Learning, int], Weights] = Learning.start,
) -> LearningRuns:
    """Train every trial. A control passes another `run`, keeps fewer points, or replays from another `start`."""
    samples, rule = learning.samples, learning.rule
    size = int(learning.update_bound) if np.isfinite(learning.update_bound) else 0
    padding = np.random.default_rng([learning.seed, 2])
    trials = range(len(samples))
    all_learned = learning.run_all(trials, progress) if run is None else [run(learning, trial) for trial in trials]
    rows, same = [], []
    for trial, learned in enumerate(all_learned):
        inputs, labels = samples.inputs[trial], samples.labels[trial]
        outside = learned.unused(samples.n_samples)
        wrong = labels * rule.outputs(learned.weights, inputs) <= 0
        fresh = samples.fresh_labels * rule.outputs(learned.weights, samples.fresh_inputs) <= 0
        unused_error = wrong[outside].mean() if outside.any() else np.nan  # V may be empty where M_k is large
        error = fresh.mean() if len(fresh) else np.nan
        counts = (len(learned.updated), len(set(learned.updated)))
        rows.append((*counts, learned.loss, int(outside.sum()), unused_error, error))
        if replayed:
            points = keep(learned.updated)
            missing = int(min(max(size - len(points), 0), MOST_PADDING, learning.patience))
            spare = padding.integers(samples.n_samples, size=missing).tolist()
            weights = replay(rule, start(learning, trial), inputs, labels, [*points, *spare])
            same.append(np.array_equal(weights, learned.weights))
    updates, distinct, loss, n_unused, unused_error, error = (np.array(column) for column in zip(*rows, strict=True))
    before = rule.networks(np.stack([learning.start(trial) for trial in trials]))
    unit = (2 * rule.half_width) ** 0.5 * plus_minus_weights(rule.half_width)
    return LearningRuns(
        rule=rule,
        n_samples=samples.n_samples,
        n_fresh=len(samples.fresh_labels),
        separator_norm=samples.separator_norm,
        separator_is_given=samples.separator_is_given,
        smallest_margin=samples.smallest_margin,
        largest_input=samples.largest_norm,
        is_waited_for=learning.is_waited_for,
        relative_row=float((np.linalg.norm(before.hidden, axis=2) * np.abs(unit)).max()),
        output_error=float(np.abs(before.output * unit - 1).max()),
        updates=updates,
        distinct=distinct,
        loss=loss,
        n_unused=n_unused,
        unused_error=unused_error,
        error=error,
        same_replay=np.array(same, bool),
    )


def run_learning(setting: LearningSetting, progress: Progress) -> LearningRuns:
    """One cell."""
    patience = PATIENCE if setting.most_updates is None else min(float(setting.most_updates), PATIENCE)
    learning = Learning(setting.samples.draw(), setting.rule, setting.seed, patience)
    return learn_all(learning, progress, replayed=setting.replayed)


def learning_settings(scale: Scale, seed: int) -> list[LearningSetting]:
    """Easy and hard margins, three widths: from 2 updates to some hundred."""
    trials = 10 if scale is Scale.QUICK else 60
    easy = DrawnSamples(seed=seed, trials=trials, n_samples=300, separator_norm=2.0, largest_margin=0.7)
    hard = DrawnSamples(seed=seed + 1, trials=trials, n_samples=300, separator_norm=5.0, largest_margin=0.4)
    rules = [
        LearningRule(half_width=half, slope=slope, step_size=eta)
        for half, slope, eta in ((1, 0.5, 1.0), (5, 0.3, 1.0), (50, 0.9, 10.0))
    ]
    return [
        LearningSetting(samples=samples, rule=rule, seed=seed, replayed=True)
        for samples in (easy, hard)
        for rule in rules
    ]


FEWEST_POINTS = 4
TRIALS_THAT_DECIDE = 60
"""Enough to decide "at most δ of them fail" with a failure or two."""


def rule_on(user_data: UserData) -> LearningRule:
    """The rule with the reader's width, slope and step."""
    chosen = user_data.choices
    return LearningRule(half_width=chosen.n_neurons // 2, slope=chosen.slope, step_size=chosen.step_size)


def learning_on(user_data: UserData, trials: int, *, replayed: bool) -> list[LearningSetting] | NotApplicable:
    """Trials on halves of the reader's data, the rest split between the next trial and what is held out."""
    n_points = len(user_data.labels)
    if n_points < FEWEST_POINTS:
        return NotApplicable(f"It needs at least {FEWEST_POINTS} points to split, and there are {n_points}.")
    if (reason := reason_in_labels(user_data)) is not None:
        return reason
    samples = OwnSamples(own_data=user_data.digest, trials=trials, n_samples=n_points // 2, seed=user_data.choices.seed)
    chosen = user_data.choices
    return [
        LearningSetting(
            samples=samples,
            rule=rule_on(user_data),
            seed=chosen.seed,
            replayed=replayed,
            most_updates=chosen.max_updates,
        )
    ]


def replays_on(user_data: UserData) -> list[LearningSetting] | NotApplicable:
    """A few trials, replayed."""
    return learning_on(user_data, user_data.choices.n_runs or 3, replayed=True)


def errors_on(user_data: UserData) -> list[LearningSetting] | NotApplicable:
    """As many trials as can decide, where the data is large enough for the theorems about errors to speak."""
    if (reason := reason_in_labels(user_data)) is not None:
        return reason
    norm = user_data.separation.norm_upper
    speaks = math.isfinite(norm) and rule_on(user_data).update_bound(norm) <= len(user_data.labels)
    trials = user_data.choices.n_runs or (TRIALS_THAT_DECIDE if speaks else 3)
    return learning_on(user_data, trials, replayed=False)


def theorem_5_settings(scale: Scale, seed: int) -> list[LearningSetting]:
    """Runs to loss 0, and runs stopped after four updates, where the unused points are misclassified too."""
    wide, narrow = _samples(scale, seed + 1, 2.0, 0.7), _samples(scale, seed + 2, 20.0, 0.1)
    return [
        LearningSetting(samples=wide, rule=LearningRule(half_width=5, slope=0.9, step_size=10.0), seed=seed),
        LearningSetting(samples=narrow, rule=_stopped(step_size=1.0), seed=seed),
        LearningSetting(samples=wide, rule=_stopped(step_size=0.1), seed=seed),
    ]


def theorem_6_settings(scale: Scale, seed: int) -> list[LearningSetting]:
    """An example in which the bound is far below 1: M = 7.99, so c_k = 7 of 2000 points. Three widths."""
    samples = _samples(scale, seed, 2.0, 0.7)
    return [
        LearningSetting(
            samples=samples, rule=LearningRule(half_width=half, slope=0.9, step_size=10.0), seed=seed + index
        )
        for index, half in enumerate((1, 5, 50))
    ]


def _samples(scale: Scale, seed: int, separator_norm: float, largest_margin: float) -> DrawnSamples:
    """An error of one in two is measured to about .01, or .004 at the paper's scale."""
    trials, fresh = (100, 2_000) if scale is Scale.QUICK else (200, 20_000)
    return DrawnSamples(
        seed=seed,
        trials=trials,
        n_samples=2000,
        separator_norm=separator_norm,
        largest_margin=largest_margin,
        fresh=fresh,
    )


def _stopped(step_size: float) -> LearningRule:
    return LearningRule(half_width=5, slope=0.2, step_size=step_size, max_updates=4)


learning_runs = Experiment("brutzkus2018.learning", learning_settings, run_learning, seconds=0.7, on=replays_on)
test_errors = Experiment("brutzkus2018.learning", theorem_5_settings, run_learning, seconds=0.7, on=errors_on)
"""The same training, on samples for which the error on fresh points is measured."""
