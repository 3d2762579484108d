"""Section 7.2: ReLU on orthonormal points. Whether a run succeeds is decided before it starts.

The points never meet, so each is its own small problem. A point at which every neuron that votes for its label
starts off (⟨w, x⟩ ≤ 0) is stuck: those neurons have derivative 0 there and stay off. Any other point is solved.
K_0 is the set of stuck points, and the final loss is exactly #K_0/d.
"""

import functools
from collections.abc import Callable, Sequence

import numpy as np

from widenet.claims.base import Claim, Evidence, Hypothesis, Kind, Runs, at_least, at_most, more_than
from widenet.claims.legacy import Evidence_, decide, ratio
from widenet.papers.brutzkus2018.runs.online import OnlineRuns, Start, Weights, flat_ball, train_online
from widenet.papers.brutzkus2018.runs.trials import ROUNDING
from widenet.types import Progress, Scale, silent

Rounding = Callable[[np.ndarray], np.ndarray]


def basis_start(
    draw: np.random.Generator,
    n_runs: int,
    dim: int,
    half_width: int,
    step_size: float,
    *,
    entry_bound: float = 1.0,
    mixed_labels: bool = False,
    seed: int = 0,
) -> Start:
    """The points e_1, …, e_d, and networks whose entries are uniform on [−C, C]."""
    weights = draw.uniform(-entry_bound, entry_bound, (n_runs, 2 * half_width, dim))
    labels = draw.choice([-1.0, 1.0], (n_runs, dim)) if mixed_labels else np.ones((n_runs, dim))
    return Start(np.eye(dim), labels, weights, step_size, entry_bound=entry_bound, seed=seed)


@functools.lru_cache(maxsize=32)
def trained(start: Start) -> OnlineRuns:
    """The training of a start, shared by all the claims about it."""
    return train_online(start, watch_stuck=True)


def basis_hypotheses(starts: Sequence[Start], *, one_label: bool = True) -> list[Hypothesis]:
    """What Section 7.2 asks of the data and of W_0, each at the run nearest to breaking it."""
    grams = [np.abs(start.inputs @ start.inputs.T - np.eye(len(start.inputs))).max() for start in starts]
    sizes = [np.abs(start.weights) for start in starts]
    found = [
        at_most(
            "orthonormal_points", "orthonormal points: largest entry of XXᵀ − I", max(grams), 0, tolerance=ROUNDING
        ),
        at_most("relu", "ReLU: slope for z < 0", max(start.slope for start in starts), 0),
        at_most(
            "output_weights_1", "output weights ±1: |v − 1|", max(abs(start.output_weight - 1) for start in starts), 0
        ),
        at_most(
            "largest_entry_of_w_0_minus",
            "largest |entry of W_0| minus C",
            max(size.max() - start.entry_bound for size, start in zip(sizes, starts, strict=True)),
            0,
        ),
        more_than(
            "continuous_start", "continuous start: smallest |entry of W_0|", min(size.min() for size in sizes), 0
        ),
        more_than("smallest_step_size_step_size", "smallest step size η", min(start.step_size for start in starts), 0),
    ]
    if one_label:
        found.append(
            at_least("every_label_is_1", "every label is +1: smallest label", min(s.labels.min() for s in starts), 1)
        )
    return found


def check_lemma_12(starts: Sequence[Start], progress: Progress = silent) -> Evidence:
    """K_t is the same set after every single update."""
    conditions = basis_hypotheses(starts)
    runs = _train_all(starts, progress)
    changes = sum(int(run.stuck_changes.sum()) for run in runs)
    updates = sum(int(run.updates.sum()) for run in runs)
    conclusion = None if updates == 0 else changes == 0
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=_count(runs),
        conclusion=conclusion,
        quantity="updates after which the set K of stuck points differs from the K before",
        promised=0.0,
        measured=float(changes),
        config=_describe(starts) | {"updates_watched": updates},
    )


def check_theorem_9_equivalence(starts: Sequence[Start], progress: Progress = silent) -> Evidence:
    """The run ends with a positive loss iff K_0 is not empty, and the loss is #K_0/d."""
    return _stuck_share(starts, progress, one_label=True)


def check_section_7_2_labels(
    starts: Sequence[Start], progress: Progress = silent, *, plus_half_only: bool = False
) -> Evidence:
    """The same law for mixed labels. A control reads K_0 from the +1 neurons for both labels."""
    return _stuck_share(starts, progress, one_label=False, plus_half_only=plus_half_only)


def _stuck_share(
    starts: Sequence[Start], progress: Progress, *, one_label: bool, plus_half_only: bool = False
) -> Evidence:
    conditions = basis_hypotheses(starts, one_label=one_label)
    runs = _train_all(starts, progress)
    predicted = np.concatenate(
        [s.stuck(s.weights, np.ones(1) if plus_half_only else None).mean(axis=1) for s in starts]
    )
    losses = np.concatenate([start.loss(run.weights) for start, run in zip(starts, runs, strict=True)])
    ended = np.concatenate([run.ended for run in runs])
    wrong = ended & (np.abs(losses - predicted) > 1e-12)
    both_kinds = (predicted > 0).any() and (predicted == 0).any()
    conclusion = False if wrong.any() else None if not ended.all() or not both_kinds else True
    # The run that is furthest off; when none is, the one that is stuck most.
    worst = int(np.argmax(np.where(ended, np.abs(losses - predicted), 0) * 1e6 + predicted))
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=_count(runs),
        conclusion=conclusion,
        quantity="training loss at the end, in the run furthest from (or else with the largest) #K_0/d",
        promised=float(predicted[worst]),
        measured=float(losses[worst]),
        tightness=ratio(float(losses[worst]), float(predicted[worst])),
        config=_describe(starts)
        | {
            "runs_with_empty_K_0": int((predicted == 0).sum()),
            "runs_ending_at_loss_0": int((losses[ended] == 0).sum()),
            "mismatches": int(wrong.sum()),
        },
    )


def check_theorem_9_stuck_count(
    starts: Sequence[Start], progress: Progress = silent, *, rounding: Rounding = np.ceil
) -> Evidence:
    """A stuck point makes ⌈max_i max(u_0^(i), 0)/η⌉ updates, which switch its other neurons off, and has N = 0."""
    conditions = basis_hypotheses(starts)
    runs = _train_all(starts, progress)
    predicted, counted, outputs = [], [], []
    for start, run in zip(starts, runs, strict=True):
        stuck = start.stuck(start.weights) & run.ended[:, None]
        z = start.weights[:, start.half_width :] @ start.inputs.T
        predicted.append(rounding(np.maximum(z, 0).max(axis=1) / start.step_size)[stuck])
        counted.append(run.updates[stuck])
        outputs.append(start.outputs(run.weights)[stuck])
    promise, count, output = (np.concatenate(parts) for parts in (predicted, counted, outputs))
    conclusion = None if not count.any() else bool((promise == count).all() and (output == 0).all())
    worst = int(np.argmax(np.abs(promise - count) * 1e6 + count)) if len(count) else None
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=_count(runs),
        conclusion=conclusion,
        quantity="non-zero updates on one stuck point (the one furthest off, or else with the most)",
        promised=None if worst is None else float(promise[worst]),
        measured=None if worst is None else float(count[worst]),
        tightness=None if worst is None else ratio(float(count[worst]), float(promise[worst])),
        config=_describe(starts) | {"stuck_points": len(count), "updates_on_them": int(count.sum())},
    )


def check_theorem_9_local_minimum(
    starts: Sequence[Start],
    progress: Progress = silent,
    *,
    radius_factor: float = 0.999,
    perturbations: int = 200,
    alter: Callable[[Start, Weights], Weights] | None = None,
) -> Evidence:
    """Around the end of every run that is stuck, the loss is constant in a ball.

    A neuron off at an active point stays off while its row moves by less than |z|/‖x‖; a solved point stays solved
    while the whole of W moves by less than (yN − 1)/(v√(2k)‖x‖). The ball is the smaller of the two. It is tried
    in random directions and in the two that the bounds come from.
    """
    conditions = basis_hypotheses(starts)
    runs = _train_all(starts, progress)
    changed, tried, radii, moving = 0, 0, [np.inf], 0
    for start, run in zip(starts, runs, strict=True):
        final = run.weights if alter is None else alter(start, run.weights)
        bad = np.flatnonzero(run.ended & (start.loss(final) > 0))
        moving += int(start.would_update(final)[bad].sum())
        draw = np.random.default_rng([start.seed, 2])
        for index in bad:
            one = _one_run(start, int(index), perturbations + 2)
            radius, directions = flat_ball(one, final[index])
            directions = np.concatenate([directions, draw.normal(size=(perturbations, *final[index].shape))])
            directions /= np.linalg.norm(directions, axis=(1, 2), keepdims=True)
            moved = one.loss(final[index] + radius_factor * radius * directions)
            changed += bool((moved != one.loss(np.repeat(final[index][None], len(moved), 0))).any())
            radii.append(radius)
        tried += len(bad)
    conditions.append(at_most("ended", "ended: active points that would still make an update", moving, 0))
    smallest = float(min(radii))
    conclusion = None if not tried else bool(changed == 0 and smallest > 0)
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=Runs(tried=tried, unfinished=_count(runs).unfinished),
        conclusion=conclusion,
        quantity="stuck runs whose loss changes within the ball",
        promised=0.0,
        measured=float(changed),
        config=_describe(starts) | {"perturbations_per_run": perturbations + 2, "smallest_radius": smallest},
    )


def _one_run(start: Start, index: int, copies: int) -> Start:
    """The setting of one run, for many weights at once."""
    labels, weights = (np.repeat(part[index][None], copies, axis=0) for part in (start.labels, start.weights))
    return Start(start.inputs, labels, weights, start.step_size, start.output_weight, start.slope)


def _train_all(starts: Sequence[Start], progress: Progress) -> list[OnlineRuns]:
    runs = []
    for index, start in enumerate(starts):
        runs.append(trained(start))
        progress((index + 1) / len(starts), f"{len(start.labels)} runs in dimension {start.inputs.shape[1]}")
    return runs


def _count(runs: Sequence[OnlineRuns]) -> Runs:
    return Runs(tried=sum(len(r.ended) for r in runs), unfinished=sum(int((~r.ended).sum()) for r in runs))


def _describe(starts: Sequence[Start]) -> dict:
    return {
        "order": "with replacement",
        "batches": [
            {
                "runs": len(start.labels),
                "dim": start.inputs.shape[1],
                "neurons": 2 * start.half_width,
                "step_size": start.step_size,
                "entry_bound": start.entry_bound,
            }
            for start in starts
        ],
    }


SHAPES = ((8, 2, 0.1), (8, 3, 1.5), (20, 3, 0.3), (50, 6, 0.7))
"""Dimension, half-width k and step size: from always stuck to mostly solved."""


@functools.lru_cache(maxsize=4)
def _setting(scale: Scale, seed: int) -> list[Start]:
    return _starts(scale, seed, mixed_labels=False)


@functools.lru_cache(maxsize=4)
def _mixed_setting(scale: Scale, seed: int) -> list[Start]:
    return _starts(scale, seed, mixed_labels=True)


def _starts(scale: Scale, seed: int, *, mixed_labels: bool) -> list[Start]:
    draw = np.random.default_rng([seed, 72 + mixed_labels])
    each = 100 if scale is Scale.QUICK else 400
    return [
        basis_start(draw, each, dim, half, eta, mixed_labels=mixed_labels, seed=seed + index)
        for index, (dim, half, eta) in enumerate(SHAPES)
    ]


lemma_12 = Claim(
    id="brutzkus2018.lemma_12",
    kind=Kind.STEP,
    statement=(
        "ReLU with ±1 output weights, on e_1, …, e_d labelled +1: the set K_t of points at which every neuron with "
        "output weight +1 is off (⟨w, e_j⟩ ≤ 0) is the same after every SGD update, K_{t+1} = K_t."
    ),
    where="Lemma 12, Section 9.3.2",
    judge=check_lemma_12,
    draws=_setting,
)

theorem_9_equivalence = Claim(
    id="brutzkus2018.theorem_9_equivalence",
    kind=Kind.STEP,
    statement=(
        "ReLU on e_1, …, e_d labelled +1: SGD ends at a non-global point iff K_0, the set of points at which every "
        "neuron with output weight +1 starts off, is not empty. The final training loss is exactly #K_0/d."
    ),
    where="Section 7.2, the observation before Theorem 9",
    judge=check_theorem_9_equivalence,
    draws=_setting,
)

section_7_2_labels = Claim(
    id="brutzkus2018.section_7_2_labels",
    kind=Kind.STEP,
    statement=(
        "The same result holds for mixed labels on orthonormal points: with K_0 the set of points at which every "
        "neuron whose output sign is the label starts off, the final training loss is exactly #K_0/d."
    ),
    where="Section 7.2, first paragraph",
    judge=check_section_7_2_labels,
    draws=_mixed_setting,
)

theorem_9_stuck_count = Claim(
    id="brutzkus2018.theorem_9_stuck_count",
    kind=Kind.IDENTITY,
    statement=(
        "ReLU on e_1, …, e_d labelled +1: a point e_j of K_0 makes exactly ⌈max_i max(⟨u_0^(i), e_j⟩, 0)/η⌉ non-zero "
        "updates, which switch the neurons with output weight −1 off, and ends with N(e_j) = 0."
    ),
    where="Theorem 9, Section 9.3.2 (derived from its proof)",
    judge=check_theorem_9_stuck_count,
    draws=_setting,
)

theorem_9_local_minimum = Claim(
    id="brutzkus2018.theorem_9_local_minimum",
    kind=Kind.STEP,
    statement=(
        "ReLU on e_1, …, e_d labelled +1, with a continuous start: the non-global point at which SGD ends is almost "
        "surely a local minimum. The loss is constant in a ball whose radius is computed from the pre-activations."
    ),
    where="Theorem 9, proof in Section 9.3.2",
    judge=check_theorem_9_local_minimum,
    draws=_setting,
)
