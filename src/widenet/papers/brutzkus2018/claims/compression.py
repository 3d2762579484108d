"""Section 6.1: the trained network is a function of its start and of the few points that made updates."""

from collections.abc import Callable, Sequence

import numpy as np

from widenet.claims.base import Claim, Evidence, Kind, Runs, at_least, at_most
from widenet.claims.legacy import Evidence_, decide, ratio
from widenet.papers.brutzkus2018.runs.learning import (
    Learning,
    Rule,
    Weights,
    describe,
    draw_samples,
    replay,
    setting_of_the_paper,
)
from widenet.types import Progress, Scale, silent

MOST_PADDING = 20_000
"""Where M_k is in the billions, so many points of padding show that padding changes nothing."""


def _all_of_them(updated: list[int]) -> list[int]:
    return updated


def check_compression_replay(
    learnings: Sequence[Learning],
    progress: Progress = silent,
    *,
    keep: Callable[[list[int]], list[int]] = _all_of_them,
    start: Callable[[Learning, int], Weights] = Learning.start,
) -> Evidence:
    """The points updated, in their order and padded to ⌊M_k⌋ with any others, give the same W bit for bit.

    A control keeps fewer points, or replays from another `start`.
    """
    counts, sizes, distinct, losses, same = [], [], [], [], []
    for index, learning in enumerate(learnings):
        size = int(learning.rule.update_bound(learning.samples.separator_norm))
        padding = np.random.default_rng([learning.seed, 2])
        for trial in range(len(learning.samples)):
            learned = learning.run(trial)
            points = keep(learned.updated)
            missing = min(max(size - len(points), 0), MOST_PADDING)
            spare = padding.integers(learning.samples.n_samples, size=missing).tolist()
            inputs, labels = learning.samples.inputs[trial], learning.samples.labels[trial]
            weights = replay(learning.rule, start(learning, trial), inputs, labels, [*points, *spare])
            same.append(np.array_equal(weights, learned.weights))
            counts.append(len(learned.updated))
            distinct.append(len(set(learned.updated)))
            sizes.append(size)
            losses.append(learned.loss)
        progress((index + 1) / len(learnings), "replays")
    conditions = [
        *setting_of_the_paper(learnings),
        at_most("largest_training_loss_at_the_end", "largest training loss at the end", max(losses), 0),
    ]
    small = all(count <= size for count, size in zip(counts, sizes, strict=True))
    conclusion = (all(same) and small) if max(counts) > 0 else None
    worst = int(np.argmax(np.divide(counts, sizes)))
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=Runs(tried=len(counts), unfinished=sum(loss > 0 for loss in losses)),
        conclusion=conclusion,
        quantity="compression points (updates, repetitions counted) in the tightest run, against ⌊M_k⌋",
        promised=float(sizes[worst]),
        measured=float(counts[worst]),
        tightness=ratio(float(counts[worst]), float(sizes[worst])),
        config={
            "dtype": "float64",
            "replays_with_other_weights": same.count(False),
            "distinct_points": [min(distinct), max(distinct)],
            "updates": [min(counts), max(counts)],
            "cases": describe(learnings),
        },
        note="" if all(same) else f"{same.count(False)} of {len(same)} replays ended at other weights.",
    )


def check_section_6_1_unused_points(learnings: Sequence[Learning], progress: Progress = silent) -> Evidence:
    """At training loss 0 no point outside the compression set is misclassified."""
    errors, left, losses = [], [], []
    for index, learning in enumerate(learnings):
        for trial in range(len(learning.samples)):
            learned = learning.run(trial)
            outside = learned.unused(learning.samples.n_samples)
            inputs, labels = learning.samples.inputs[trial][outside], learning.samples.labels[trial][outside]
            wrong = labels * learning.rule.outputs(learned.weights, inputs) <= 0
            left.append(len(wrong))
            errors.append(float(wrong.mean()) if len(wrong) else 0.0)
            losses.append(learned.loss)
        progress((index + 1) / len(learnings), "runs")
    conditions = [
        *setting_of_the_paper(learnings),
        at_most("largest_training_loss_at_the_end", "largest training loss at the end", max(losses), 0),
        at_least(
            "fewest_points_outside_the_compression_set", "fewest points outside the compression set", min(left), 1
        ),
    ]
    conclusion = max(errors) == 0
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=Runs(tried=len(errors), unfinished=sum(loss > 0 for loss in losses)),
        conclusion=conclusion,
        quantity="largest 0-1 error L_V on the points that made no update",
        promised=0.0,
        measured=max(errors),
        config={"dtype": "float64", "mean_error": float(np.mean(errors)), "cases": describe(learnings)},
    )


def _setting(scale: Scale, seed: int) -> list[Learning]:
    """Easy and hard margins, three widths: from 2 updates to some hundred."""
    trials = 10 if scale is Scale.QUICK else 60
    easy = draw_samples(seed, trials, 300, 2.0, 0.7)
    hard = draw_samples(seed + 1, trials, 300, 5.0, 0.4)
    rules = [Rule(half, slope, eta) for half, slope, eta in ((1, 0.5, 1.0), (5, 0.3, 1.0), (50, 0.9, 10.0))]
    return [Learning(samples, rule, seed) for samples in (easy, hard) for rule in rules]


compression_replay = Claim(
    id="brutzkus2018.compression_replay",
    kind=Kind.IDENTITY,
    statement=(
        "The trained weights are a function of W_0 and of at most c_k = ⌊M_k⌋ labelled points: replaying only the "
        "points that made updates, in their order and padded to c_k with any others, gives exactly the same network."
    ),
    where="Section 6.1",
    judge=check_compression_replay,
    draws=_setting,
)

section_6_1_unused_points = Claim(
    id="brutzkus2018.section_6_1_unused_points",
    kind=Kind.STEP,
    statement="At a global minimum of the training loss L_V = 0: no point that made no update is misclassified.",
    where="Section 6.1, before Theorem 6",
    judge=check_section_6_1_unused_points,
    draws=_setting,
)
