"""Section 7.2: ReLU on orthonormal points. Whether a run succeeds is decided before it starts.

The points never meet, so each is its own small problem. A point at which every neuron that votes for its label
starts off (⟨w, x⟩ ≤ 0) is stuck: those neurons have derivative 0 there and stay off. Any other point is solved.
K_0 is the set of stuck points, and the final loss is exactly #K_0/d.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from widenet.claims.base import Evidence, Hypothesis, Kind, Runs, at_least, at_most, claim, more_than, pick
from widenet.claims.sides import Fact, Sense, Sides, evidence
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.brutzkus2018.runs.basis import BasisBatch, BasisRuns, basis, mixed_settings

Rounding = Callable[[np.ndarray], np.ndarray]

ANY_LABELS = ("orthonormal", "relu", "unit_output_weights", "entry_bound", "continuous_start", "step_size")
"""The hypotheses of Section 7.2 for labels of both signs."""


def basis_hypotheses(batches: Sequence[BasisBatch]) -> list[Hypothesis]:
    """What Section 7.2 asks of the data and of W_0, each at the run nearest to breaking it."""
    starts = [batch.start for batch in batches]
    grams = [np.abs(start.inputs @ start.inputs.T - np.eye(len(start.inputs))).max() for start in starts]
    sizes = [np.abs(start.weights) for start in starts]
    excess = max(size.max() - start.entry_bound for size, start in zip(sizes, starts, strict=True))
    smallest = min(size.min() for size in sizes)
    return [
        at_most("orthonormal", "orthonormal points: largest entry of XXᵀ − I", max(grams), 0, tolerance=ROUNDING),
        at_most("relu", "ReLU: slope for z < 0", max(start.slope for start in starts), 0),
        at_most("unit_output_weights", "output weights ±1: |v − 1|", max(abs(s.output_weight - 1) for s in starts), 0),
        at_most("entry_bound", "largest |entry of W_0| minus C", excess, 0),
        more_than("continuous_start", "continuous start: smallest |entry of W_0|", smallest, 0),
        more_than("step_size", "smallest step size η", min(start.step_size for start in starts), 0),
        at_least("plus_labels", "every label is +1: smallest label", min(s.labels.min() for s in starts), 1),
    ]


@claim("brutzkus2018.lemma_12", Kind.STEP, "Lemma 12, Section 9.3.2", reads=basis)
def lemma_12(runs: Sequence[BasisRuns]) -> Evidence:
    """ReLU with ±1 output weights, on e_1, …, e_d labelled +1: the set K_t of points at which every neuron with
    output weight +1 is off (⟨w, e_j⟩ ≤ 0) is the same after every SGD update, K_{t+1} = K_t.

    A start with an entry that is exactly 0 is allowed here.
    """
    batches = _batches(runs)
    updates = np.concatenate([batch.runs.updates.sum(axis=1) for batch in batches])
    entered, left = (
        np.concatenate([_watched(getattr(batch.runs, side), batch) for batch in batches])
        for side in ("entered", "left")
    )
    moved = updates != 0
    return evidence(
        {
            "no point enters K": Sides(entered, 0.0, scored=moved, quantity="updates after which a point is new in K"),
            "no point leaves K": Sides(left, 0.0, scored=moved, quantity="updates after which a point of K is gone"),
        },
        pick(
            basis_hypotheses(batches),
            "orthonormal",
            "relu",
            "unit_output_weights",
            "entry_bound",
            "step_size",
            "plus_labels",
        ),
        runs=_count(batches),
        details=_describe(batches) | {"updates_watched": int(updates.sum())},
    )


def _watched(changes: np.ndarray | None, batch: BasisBatch) -> np.ndarray:
    """How often K changed; unknown where nobody looked."""
    return np.full(len(batch.runs.ended), np.nan) if changes is None else changes.astype(np.float64)


@claim("brutzkus2018.theorem_9_equivalence", Kind.STEP, "Section 7.2, the observation before Theorem 9", reads=basis)
def theorem_9_equivalence(runs: Sequence[BasisRuns]) -> Evidence:
    """ReLU on e_1, …, e_d labelled +1: SGD ends at a non-global point iff K_0, the set of points at which every
    neuron with output weight +1 starts off, is not empty. The final training loss is exactly #K_0/d.

    Runs that have not ended decide nothing; nor does a setting in which all starts are of one kind.
    """
    batches = _batches(runs)
    predicted = np.concatenate([batch.stuck.mean(axis=1) for batch in batches])
    losses, ended = _ends(batches)
    return evidence(
        {
            "a loss of #K_0/d": _level(losses, predicted, predicted != 0),
            "a positive loss if K_0 is not empty": Fact(losses > 0, undecided=~ended, scored=predicted != 0),
            "loss 0 if K_0 is empty": Fact(losses == 0, undecided=~ended, scored=predicted == 0),
        },
        basis_hypotheses(batches),
        runs=_count(batches),
        details=_describe(batches) | _tally(losses, predicted),
    )


@claim("brutzkus2018.section_7_2_labels", Kind.STEP, "Section 7.2, first paragraph", reads=basis.at(mixed_settings))
def section_7_2_labels(runs: Sequence[BasisRuns], *, plus_half_only: bool = False) -> Evidence:
    """The same result holds for mixed labels on orthonormal points: with K_0 the set of points at which every
    neuron whose output sign is the label starts off, the final training loss is exactly #K_0/d.

    A control reads K_0 from the +1 neurons for both labels.
    """
    batches = _batches(runs)
    read = np.ones(1) if plus_half_only else None
    stuck = [batch.start.stuck(batch.start.weights, read) for batch in batches]
    predicted = np.concatenate([each.mean(axis=1) for each in stuck])
    losses, _ = _ends(batches)
    shares, residues = [], []
    for sign in (1, -1):
        # The share of points of this label that are unsolved, against the share that is stuck.
        of_sign = [batch.start.labels == sign for batch in batches]
        shares.append(np.concatenate([(k & s).mean(axis=1) for k, s in zip(stuck, of_sign, strict=True)]))
        residues.append(np.concatenate([_loss_on(batch, s) for batch, s in zip(batches, of_sign, strict=True)]))
    return evidence(
        {
            "a loss of #K_0/d": _level(losses, predicted, predicted != 0),
            "loss 0 if K_0 is empty": Sides(losses, 0.0, room=ROUNDING, scored=predicted == 0),
            "points labelled +1": Sides(residues[0], shares[0], Sense.EQUAL, room=ROUNDING),
            "points labelled −1": Sides(residues[1], shares[1], Sense.EQUAL, room=ROUNDING),
        },
        pick(basis_hypotheses(batches), *ANY_LABELS),
        runs=_count(batches),
        details=_describe(batches) | _tally(losses, predicted),
    )


@claim(
    "brutzkus2018.theorem_9_stuck_count",
    Kind.IDENTITY,
    "Theorem 9, Section 9.3.2 (derived from its proof)",
    reads=basis,
)
def theorem_9_stuck_count(runs: Sequence[BasisRuns], *, rounding: Rounding = np.ceil) -> Evidence:
    """ReLU on e_1, …, e_d labelled +1: a point e_j of K_0 makes exactly ⌈max_i max(⟨u_0^(i), e_j⟩, 0)/η⌉ non-zero
    updates, which switch the neurons with output weight −1 off, and ends with N(e_j) = 0.

    Where the quotient is an integer up to rounding, the count is left open.
    """
    batches = _batches(runs)
    predicted, counted, outputs = [], [], []
    for batch in batches:
        start = batch.start
        stuck = batch.stuck & batch.runs.ended[:, None]
        z = start.weights[:, start.half_width :] @ start.inputs.T
        with np.errstate(divide="ignore", invalid="ignore"):  # a step size of 0 is a hypothesis that fails
            steps = (np.maximum(z, 0).max(axis=1) / start.step_size)[stuck]
            tie = (steps > 0) & (np.abs(steps - np.round(steps)) <= STEP * np.maximum(steps, 1))
        predicted.append(np.where(tie, np.nan, rounding(steps)))
        counted.append(batch.runs.updates[stuck])
        outputs.append(batch.runs.outputs[stuck])
    promise, count, output = (np.concatenate(parts) for parts in (predicted, counted, outputs))
    # Points that make no update are no test of a count.
    moved = (count != 0) | (promise != 0)
    return evidence(
        {
            "the number of updates": Sides(
                count, promise, Sense.EQUAL, scored=moved, quantity="non-zero updates on one stuck point"
            ),
            "N = 0 at the end": Sides(np.abs(output), 0.0, quantity="|N(e_j)|"),
        },
        basis_hypotheses(batches),
        runs=_count(batches),
        details=_describe(batches) | {"stuck_points": len(count), "updates_on_them": int(count.sum())},
    )


@claim("brutzkus2018.theorem_9_local_minimum", Kind.STEP, "Theorem 9, proof in Section 9.3.2", reads=basis)
def theorem_9_local_minimum(runs: Sequence[BasisRuns]) -> Evidence:
    """ReLU on e_1, …, e_d labelled +1, with a continuous start: the non-global point at which SGD ends is almost
    surely a local minimum. The loss is constant in a ball whose radius is computed from the pre-activations.

    A neuron off at an active point stays off while its row moves by less than |z|/‖x‖; a solved point stays solved
    while the whole of W moves by less than (yN − 1)/(v√(2k)‖x‖). The ball is the smaller of the two.
    """
    batches = _batches(runs)
    balls = [batch.balls for batch in batches if batch.balls is not None]
    radius, changed, moving = (
        np.concatenate([np.zeros(0), *(getattr(ball, name) for ball in balls)])
        for name in ("radius", "changed", "moving")
    )
    ended = at_most("ended", "ended: active points that would still make an update", int(moving.sum()), 0)
    return evidence(
        {
            "the loss is constant in the ball": Sides(
                changed, 0.0, quantity="directions in which the loss changes within the ball"
            ),
            "a ball of positive radius": Sides(radius, 0.0, Sense.AT_LEAST, strict=True, quantity="its radius"),
        },
        [*basis_hypotheses(batches), ended],
        runs=Runs(tried=len(radius), unfinished=_count(batches).unfinished),
        details=_describe(batches)
        | {
            "perturbations_per_run": max((ball.tried for ball in balls), default=0),
            "smallest_radius": float(radius.min(initial=np.inf)),
        },
    )


def _batches(runs: Sequence[BasisRuns]) -> list[BasisBatch]:
    return [batch for run in runs for batch in run.batches]


def _ends(batches: Sequence[BasisBatch]) -> tuple[np.ndarray, np.ndarray]:
    """The loss at the end of every run, NaN where there is no end, and whether there is one."""
    ended = np.concatenate([batch.runs.ended for batch in batches])
    return np.where(ended, np.concatenate([batch.losses for batch in batches]), np.nan), ended


def _loss_on(batch: BasisBatch, chosen: np.ndarray) -> np.ndarray:
    """The part of the final loss that comes from the chosen points; NaN where there is no end."""
    hinge = np.maximum(1 - batch.start.labels * batch.runs.outputs, 0)
    return np.where(batch.runs.ended, np.where(chosen, hinge, 0.0).mean(axis=1), np.nan)


def _level(losses: np.ndarray, predicted: np.ndarray, scored: np.ndarray) -> Sides:
    return Sides(
        losses, predicted, Sense.EQUAL, room=ROUNDING, scored=scored, quantity="training loss at the end of a stuck run"
    )


def _tally(losses: np.ndarray, predicted: np.ndarray) -> dict[str, Any]:
    return {
        "runs_with_empty_K_0": int((predicted == 0).sum()),
        "runs_ending_at_loss_0": int((losses == 0).sum()),
        "mismatches": int((np.abs(losses - predicted) > ROUNDING).sum()),
    }


def _count(batches: Sequence[BasisBatch]) -> Runs:
    ended = [batch.runs.ended for batch in batches]
    return Runs(tried=sum(len(each) for each in ended), unfinished=sum(int((~each).sum()) for each in ended))


def _describe(batches: Sequence[BasisBatch]) -> dict[str, Any]:
    return {
        "order": "with replacement",
        "batches": [
            {
                "runs": len(batch.start.labels),
                "dim": batch.start.inputs.shape[1],
                "neurons": 2 * batch.start.half_width,
                "step_size": batch.start.step_size,
                "entry_bound": batch.start.entry_bound,
            }
            for batch in batches
        ],
    }
