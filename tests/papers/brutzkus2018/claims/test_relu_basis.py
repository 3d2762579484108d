"""Section 7.2: the fate of a ReLU run on orthonormal points is decided by its start."""

import dataclasses

import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims.relu_basis import (
    lemma_12,
    section_7_2_labels,
    theorem_9_equivalence,
    theorem_9_local_minimum,
    theorem_9_stuck_count,
)
from widenet.papers.brutzkus2018.runs.basis import BasisRuns, BasisShape, basis_start, stuck_balls, train_batch
from widenet.papers.brutzkus2018.runs.online import OnlineStart

SHAPES = (
    BasisShape(n_runs=20, dim=8, half_width=2, step_size=0.3),
    BasisShape(n_runs=20, dim=6, half_width=5, step_size=0.7),
)
CLAIMS = (lemma_12, theorem_9_equivalence, theorem_9_stuck_count, theorem_9_local_minimum)


def unmet(evidence):
    return [hypothesis.key for hypothesis in evidence.hypotheses if not hypothesis.met]


def broken(evidence):
    return [part.name for part in evidence.parts if part.kept is False]


def starts(seed=0, *, mixed_labels=False, **others):
    draw = np.random.default_rng(seed)
    made = [basis_start(draw, shape, mixed_labels=mixed_labels, seed=seed) for shape in SHAPES]
    return [dataclasses.replace(start, **others) for start in made]


def trained(some_starts, perturbations=20, **others):
    batches = (train_batch(start, perturbations=perturbations, **others) for start in some_starts)
    return [BasisRuns(tuple(batches))]


def coherent_start(seed=0, dim=8, n_runs=60):
    """Unit vectors whose pairwise cosine is ½, so an update on one point moves all the others."""
    gram = np.full((dim, dim), 0.5) + 0.5 * np.eye(dim)
    shape = BasisShape(n_runs=n_runs, dim=dim, half_width=2, step_size=0.1)
    return dataclasses.replace(basis_start(np.random.default_rng(seed), shape, seed=0), inputs=np.linalg.cholesky(gram))


def altered(runs, **changes):
    """The first batch with arrays of its runs altered after the fact."""
    first, *others = runs[0].batches
    record = dataclasses.replace(first.runs, **{name: change(first) for name, change in changes.items()})
    return [BasisRuns((dataclasses.replace(first, runs=record), *others))]


@pytest.fixture(scope="module")
def runs():
    return trained(starts())


@pytest.fixture(scope="module")
def mixed():
    return trained(starts(mixed_labels=True), perturbations=0)


@pytest.mark.parametrize("claim", CLAIMS)
def test_it_holds(claim, runs):
    evidence = claim(runs)
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.runs.unfinished == 0


def test_mixed_labels_hold(mixed):
    evidence = section_7_2_labels(mixed)
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.runs.tried == 40


def test_nothing_to_train_decides_nothing():
    """Every start is solved before the first step: no update was watched and no point is stuck."""
    weights = np.repeat([[[2.0], [-0.5]]], 8, axis=2)
    solved = trained([OnlineStart(np.eye(8), np.ones((1, 8)), weights, 0.3, entry_bound=2.0)])
    for claim in CLAIMS:
        assert claim(solved).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_runs_that_were_cut_off_decide_nothing():
    cut_off = trained(starts(), max_passes=1)
    evidence = theorem_9_equivalence(cut_off)
    assert evidence.runs.unfinished > 0
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"slope": 1e-3}, "relu"),
        ({"output_weight": 1.001}, "unit_output_weights"),
        ({"entry_bound": 0.5}, "entry_bound"),
        ({"step_size": 0.0}, "step_size"),
        ({"inputs": np.eye(8) * (1 + 1e-6)}, "orthonormal"),
        ({"labels": -np.ones((20, 8))}, "plus_labels"),
    ],
)
def test_control_each_hypothesis(runs, change, key):
    """The start as it was recorded is altered; the training is kept."""
    first, *others = runs[0].batches
    wrong = [BasisRuns((dataclasses.replace(first, start=dataclasses.replace(first.start, **change)), *others))]
    for claim in CLAIMS:
        assert unmet(claim(wrong)) == [key]


def test_control_an_entry_that_is_exactly_0(runs):
    """Lemma 12 allows it; what needs a continuous start does not."""
    first, *others = runs[0].batches
    weights = first.start.weights.copy()
    weights[0, 0, 0] = 0.0
    zero = trained([dataclasses.replace(first.start, weights=weights), *(batch.start for batch in others)])
    assert lemma_12(zero).verdict is Verdict.HOLDS
    assert unmet(theorem_9_equivalence(zero)) == ["continuous_start"]


def test_control_lemma_12_needs_orthogonal_points():
    evidence = lemma_12(trained([coherent_start()], perturbations=0))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert unmet(evidence) == ["orthonormal"]


@pytest.mark.parametrize(("side", "part"), [("entered", "no point enters K"), ("left", "no point leaves K")])
def test_control_each_part_of_lemma_12(runs, side, part):
    once = altered(runs, **{side: lambda batch: np.eye(1, len(batch.runs.ended), 3, dtype=int)[0]})
    assert broken(lemma_12(once)) == [part]


def test_a_set_that_nobody_watched_decides_nothing(runs):
    assert lemma_12(altered(runs, entered=lambda _: None)).verdict is Verdict.INSUFFICIENT_EVIDENCE


@pytest.mark.parametrize("wrong", [lambda: [coherent_start()], lambda: starts(slope=0.1)])
def test_control_theorem_9_equivalence_needs_orthogonal_points_and_relu(wrong):
    evidence = theorem_9_equivalence(trained(wrong(), perturbations=0))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


def test_control_theorem_9_equivalence_leaky_relu_is_never_stuck():
    evidence = theorem_9_equivalence(trained(starts(slope=0.1), perturbations=0))
    assert evidence.details["runs_ending_at_loss_0"] == 40 > evidence.details["runs_with_empty_K_0"]


def outputs_of(batch, chosen, value):
    return np.where(chosen, value, batch.runs.outputs)


def test_control_each_part_of_the_equivalence(runs):
    """A stuck run at loss 0, a solved one at 1/d, and a stuck run that is off by 1/d."""

    def solved(batch):
        run = int(np.flatnonzero(batch.stuck.sum(axis=1) == 1)[0])
        return outputs_of(batch, batch.stuck & (np.arange(20) == run)[:, None], 1.0)

    def unsolved(batch):
        run = int(np.flatnonzero(~batch.stuck.any(axis=1))[0])
        return outputs_of(batch, (np.arange(20) == run)[:, None] & (np.arange(8) == 0), 0.0)

    def shifted(batch):
        run = int(np.flatnonzero(batch.stuck.sum(axis=1) >= 2)[0])
        first = int(np.flatnonzero(batch.stuck[run])[0])
        return outputs_of(batch, (np.arange(20) == run)[:, None] & (np.arange(8) == first), 1.0)

    level, positive, zero = (part.name for part in theorem_9_equivalence(runs).parts)
    assert broken(theorem_9_equivalence(altered(runs, outputs=solved))) == [level, positive]
    assert broken(theorem_9_equivalence(altered(runs, outputs=unsolved))) == [zero]
    assert broken(theorem_9_equivalence(altered(runs, outputs=shifted))) == [level]


def test_control_stuck_count_rounded_down(runs):
    evidence = theorem_9_stuck_count(runs, rounding=np.floor)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.promised is not None
    assert evidence.measured == evidence.promised + 1


def test_control_each_part_of_the_stuck_count(runs):
    once_more = altered(runs, updates=lambda batch: batch.runs.updates + batch.stuck)
    assert broken(theorem_9_stuck_count(once_more)) == ["the number of updates"]
    off_zero = altered(runs, outputs=lambda batch: outputs_of(batch, batch.stuck, 1e-3))
    assert broken(theorem_9_stuck_count(off_zero)) == ["N = 0 at the end"]


def test_a_count_that_rounding_decides_is_left_open():
    """u = 0.8 and η = 0.1: eight steps, or nine."""
    tie = OnlineStart(np.ones((1, 1)), np.ones((1, 1)), np.array([[[-1.0], [0.8]]]), 0.1)
    assert theorem_9_stuck_count(trained([tie])).conclusion is None


def test_control_labels_read_from_the_wrong_half(mixed):
    evidence = section_7_2_labels(mixed, plus_half_only=True)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.details["mismatches"] > 15
    assert "points labelled −1" in broken(evidence)
    assert "points labelled +1" not in broken(evidence)


@pytest.mark.parametrize(("sign", "part"), [(1, "points labelled +1"), (-1, "points labelled −1")])
def test_control_each_label(mixed, sign, part):
    """One stuck point of this label at margin ½ in the place of 0."""

    def half_solved(batch):
        run, point = np.argwhere(batch.stuck & (batch.start.labels == sign))[0]
        outputs = batch.runs.outputs.copy()
        outputs[run, point] = 0.5 * sign
        return outputs

    found = broken(section_7_2_labels(altered(mixed, outputs=half_solved)))
    assert [name for name in found if name.startswith("points")] == [part]


def test_control_local_minimum_just_outside_its_ball():
    evidence = theorem_9_local_minimum(trained(starts(), radius_factor=1.01))
    assert evidence.verdict is Verdict.VIOLATED
    assert broken(evidence) == ["the loss is constant in the ball"]


def test_control_local_minimum_with_one_neuron_switched_on(runs):
    """One +1 neuron of a stuck point at +0.01: the loss falls as that neuron grows."""
    batches = []
    for batch in runs[0].batches:
        weights = batch.runs.weights.copy()
        for run, stuck in enumerate(batch.stuck):
            if stuck.any():
                weights[run, 0, np.argmax(stuck)] = 0.01
        on = dataclasses.replace(batch.runs, weights=weights, outputs=batch.start.outputs(weights))
        moved = dataclasses.replace(batch, runs=on)
        batches.append(dataclasses.replace(moved, balls=stuck_balls(moved, 20)))
    evidence = theorem_9_local_minimum([BasisRuns(tuple(batches))])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert unmet(evidence) == ["ended"]


def test_control_a_ball_of_radius_0(runs):
    first, *others = runs[0].batches
    flat = dataclasses.replace(first.balls, radius=np.zeros_like(first.balls.radius))
    evidence = theorem_9_local_minimum([BasisRuns((dataclasses.replace(first, balls=flat), *others))])
    assert broken(evidence) == ["a ball of positive radius"]
