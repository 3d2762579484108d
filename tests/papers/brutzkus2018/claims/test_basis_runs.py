"""Section 7.2 on runs that were trained: what holds, and what a wrong reading of them breaks."""

import dataclasses

import numpy as np
import pytest

from tests.control_table import broken_in
from tests.controls import lacking_in
from tests.papers.brutzkus2018.basis_toys import altered, coherent_start, starts, trained
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims.relu_basis import (
    lemma_12,
    section_7_2_labels,
    theorem_9_equivalence,
    theorem_9_local_minimum,
    theorem_9_stuck_count,
)
from widenet.papers.brutzkus2018.runs.basis import BasisRuns, stuck_balls
from widenet.papers.brutzkus2018.runs.online import OnlineStart

CLAIMS = (lemma_12, theorem_9_equivalence, theorem_9_stuck_count, theorem_9_local_minimum)


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


def test_control_an_entry_that_is_exactly_0(runs):
    """Lemma 12 allows it; what needs a continuous start does not."""
    first, *others = runs[0].cases
    weights = first.start.weights.copy()
    weights[0, 0, 0] = 0.0
    zero = trained([dataclasses.replace(first.start, weights=weights), *(batch.start for batch in others)])
    assert lemma_12(zero).verdict is Verdict.HOLDS
    assert lacking_in(theorem_9_equivalence(zero)) == ["continuous_start"]


def test_control_lemma_12_needs_orthogonal_points():
    evidence = lemma_12(trained([coherent_start()], perturbations=0))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert lacking_in(evidence) == ["orthonormal"]


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


def test_control_stuck_count_rounded_down(runs):
    evidence = theorem_9_stuck_count(runs, rounding=np.floor)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.promised is not None
    assert evidence.measured == evidence.promised + 1


def test_a_count_that_rounding_decides_is_left_open():
    """u = 0.8 and η = 0.1: eight steps, or nine."""
    tie = OnlineStart(np.ones((1, 1)), np.ones((1, 1)), np.array([[[-1.0], [0.8]]]), 0.1)
    assert theorem_9_stuck_count(trained([tie])).conclusion is None


def one_stuck_point(u, step_size=0.25):
    """w = −1 and this u at the point 1, trained."""
    start = OnlineStart(np.ones((1, 1)), np.ones((1, 1)), np.array([[[-1.0], [u]]]), step_size)
    return trained([start], perturbations=0)


@pytest.mark.parametrize(("quotient", "kept"), [(4e-10, None), (0.95e-9, None), (1.05e-9, True)])
def test_a_count_that_is_nearly_zero_is_left_open(quotient, kept):
    """u/η of 1e-9 or less may be 0: no step, or one."""
    assert theorem_9_stuck_count(one_stuck_point(quotient / 4)).parts[0].kept is kept


def test_a_point_whose_neurons_are_all_off_makes_no_step():
    """u = −½ is ten steps of η = 1/20 below 0."""
    count = theorem_9_stuck_count(one_stuck_point(-0.5, step_size=0.05)).parts[0]
    assert (count.kept, count.n_cases) == (None, 0)


@pytest.mark.parametrize(("more", "kept"), [(-1, False), (0, True), (1, False)])
def test_control_a_long_count_that_is_off_by_one(more, kept):
    """u = 5 and η = 0.3: seventeen steps."""
    runs = one_stuck_point(5.0, step_size=0.3)
    part = theorem_9_stuck_count(altered(runs, updates=lambda batch: batch.runs.updates + more)).parts[0]
    assert (part.measured, part.promised, part.kept) == (17 + more, 17, kept)


def test_control_labels_read_from_the_wrong_half(mixed):
    evidence = section_7_2_labels(mixed, plus_half_only=True)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.details["mismatches"] > 15
    assert "minus" in broken_in(evidence)
    assert "plus" not in broken_in(evidence)


def test_control_local_minimum_just_outside_its_ball():
    evidence = theorem_9_local_minimum(trained(starts(), radius_factor=1.01))
    assert evidence.verdict is Verdict.VIOLATED
    assert broken_in(evidence) == ["constant"]


def test_control_local_minimum_with_one_neuron_switched_on(runs):
    """One +1 neuron of a stuck point at +0.01: the loss falls as that neuron grows."""
    batches = []
    for batch in runs[0].cases:
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
    assert lacking_in(evidence) == ["ended"]
