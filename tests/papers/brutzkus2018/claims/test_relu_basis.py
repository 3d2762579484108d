"""Section 7.2: the fate of a ReLU run on orthonormal points is decided by its start."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from tests.control_table import at, broken_in, controls
from tests.papers.brutzkus2018.basis_toys import altered, starts, trained
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims import relu_basis
from widenet.papers.brutzkus2018.claims.relu_basis import (
    lemma_12,
    section_7_2_labels,
    theorem_9_equivalence,
    theorem_9_stuck_count,
)
from widenet.papers.brutzkus2018.runs.basis import BasisRuns
from widenet.papers.brutzkus2018.runs.online import OnlineStart

RUNS, MIXED = trained(starts()), trained(starts(mixed_labels=True), perturbations=0)


def first_of(condition):
    return int(np.flatnonzero(condition)[0])


def with_output(runs, pick, value):
    """One output of the first batch at the end: `pick` says of which run at which point."""

    def outputs(batch):
        changed = batch.runs.outputs.copy()
        changed[pick(batch)] = value
        return changed

    return altered(runs, outputs=outputs)


def the_only_stuck_point(batch):
    run = first_of(batch.stuck.sum(axis=1) == 1)
    return run, first_of(batch.stuck[run])


def one_of_several_stuck_points(batch):
    run = first_of(batch.stuck.sum(axis=1) >= 2)
    return run, first_of(batch.stuck[run])


def a_point_of_a_solved_run(batch):
    return first_of(~batch.stuck.any(axis=1)), 0


def test_each_kind_of_run_has_its_own_level():
    """A loss of 0.05 is positive, one above #K_0/d is off too, and a solved run is no stuck one."""
    small, above, solved = (
        broken_in(theorem_9_equivalence(with_output(RUNS, pick, value)))
        for pick, value in ((the_only_stuck_point, 0.6), (the_only_stuck_point, -0.1), (a_point_of_a_solved_run, 0.99))
    )
    assert (small, above, solved) == (["level"], ["level"], ["zero_loss"])


def test_a_run_without_updates_is_no_test_of_lemma_12():
    def none_there(batch):
        return np.where(once(batch)[:, None] == 1, 0, batch.runs.updates)

    for side, place in (("entered", 0), ("left", 1)):
        assert lemma_12(altered(RUNS, updates=none_there, **{side: once})).parts[place].kept is True


def counted_on_a_stuck_point(change, **others):
    def updates(batch):
        changed = batch.runs.updates.copy()
        changed[most_updated_stuck_point(batch)] += change
        return changed

    return theorem_9_stuck_count(altered(RUNS, updates=updates, **others)).parts[0].kept


def most_updated_stuck_point(batch):
    return np.unravel_index(np.argmax(np.where(batch.stuck, batch.runs.updates, -1)), batch.stuck.shape)


def test_counts_are_met_from_both_sides_where_a_run_has_ended():
    def cut_off(batch):
        return np.arange(len(batch.runs.ended)) != most_updated_stuck_point(batch)[0]

    assert [counted_on_a_stuck_point(change) for change in (1, 0, -1)] == [False, True, False]
    assert counted_on_a_stuck_point(1, ended=cut_off) is True


def test_the_largest_and_the_smallest_entry_are_measured():
    batch = SimpleNamespace(start=SimpleNamespace(weights=np.array([[-0.5, 0.25]]), entry_bound=0.375))
    assert (relu_basis.Fates.excess.func(batch), relu_basis.Fates.smallest_entry.func(batch)) == (0.125, 0.25)


def test_a_count_where_none_is_promised_and_none_where_one_is():
    start = OnlineStart(np.ones((1, 1)), np.ones((1, 1)), np.array([[[-1.0], [-0.5]]]), 0.25)
    silent_ = trained([start], perturbations=0)
    assert theorem_9_stuck_count(altered(silent_, updates=lambda _: np.array([[1]]))).parts[0].kept is False
    start = dataclasses.replace(start, weights=np.array([[[-1.0], [0.4]]]))
    silent_ = trained([start], perturbations=0)
    assert theorem_9_stuck_count(altered(silent_, updates=lambda _: np.array([[0]]))).parts[0].kept is False


def once(batch):
    return np.eye(1, len(batch.runs.ended), 3, dtype=int)[0]


def test_points_without_an_update_are_no_test_of_a_count():
    count, silent_ = theorem_9_stuck_count(RUNS).parts
    assert 0 < count.n_cases < silent_.n_cases


def stuck_point_of(sign):
    def pick(batch):
        run, point = np.argwhere(batch.stuck & (batch.start.labels == sign) & (batch.stuck.sum(axis=1) > 1)[:, None])[0]
        return int(run), int(point)

    return pick


def two_points_by_hand():
    """e_1 labelled −, e_2 labelled +, w = (½, ¼), u = (−1, −1), η = ¼: K_0 = {e_1}, read from u."""
    weights = np.array([[[0.5, 0.25], [-1.0, -1.0]]])
    return OnlineStart(np.eye(2), np.array([[-1.0, 1.0]]), weights, 0.25)


def test_mixed_labels_by_hand():
    """Two updates on e_1, three on e_2, loss ½; K_0 read from w were empty."""
    (batch,) = trained([two_points_by_hand()], perturbations=0)[0].cases
    assert batch.runs.updates.tolist() == [[2, 3]]
    assert batch.losses.tolist() == [0.5]
    assert batch.stuck.tolist() == [[True, False]]
    assert "minus" in broken_in(section_7_2_labels([BasisRuns((batch,))], plus_half_only=True))


def counting(change):
    """Another number of updates on a stuck point."""

    def updates(batch):
        changed = batch.runs.updates.copy()
        changed[most_updated_stuck_point(batch)] += change
        return changed

    return at_runs(altered(RUNS, updates=updates))


def a_solved_plus_point(batch):
    run, point = np.argwhere(~batch.stuck.any(axis=1)[:, None] & (batch.start.labels == 1))[0]
    return int(run), int(point)


def said(pick, value, runs=RUNS):
    """The network says this at the end, at that point."""
    return at_runs(with_output(runs, pick, value))


def at_runs(runs):
    return at(list(runs[0].cases))


BOTH = with_output(with_output(MIXED, stuck_point_of(1), 4e-11), stuck_point_of(-1), -4e-11)
EQUIVALENCE, COUNT = theorem_9_equivalence, theorem_9_stuck_count
test_control = controls(
    relu_basis,
    {section_7_2_labels: list(MIXED[0].cases), relu_basis.Fates: list(RUNS[0].cases)},
    (relu_basis.theorem_9_local_minimum, "constant"),
    (relu_basis.theorem_9_local_minimum, "ball"),
    (lemma_12, "entering"),
    (lemma_12, "leaving"),
    (EQUIVALENCE, "level", said(one_of_several_stuck_points, 1e-13), said(one_of_several_stuck_points, 4e-11)),
    (EQUIVALENCE, "positive", {}, said(the_only_stuck_point, 1.0), "level"),
    (EQUIVALENCE, "zero_loss", said(a_point_of_a_solved_run, 1.0), said(a_point_of_a_solved_run, 1 - 5e-12)),
    (section_7_2_labels, "plus", said(stuck_point_of(1), 1e-13, MIXED), said(stuck_point_of(1), 4e-11, MIXED), "level"),
    (section_7_2_labels, "minus", {}, said(stuck_point_of(-1), -4e-11, MIXED), "level"),
    (section_7_2_labels, "minus", {}, said(stuck_point_of(-1), 4e-11, MIXED), "level"),
    (section_7_2_labels, "plus", {}, said(stuck_point_of(1), -4e-11, MIXED), "level"),
    (section_7_2_labels, "level", {}, at_runs(BOTH), "plus", "minus"),
    (section_7_2_labels, "zero_loss", {}, said(a_solved_plus_point, 1 - 4e-11, MIXED), "plus"),
    (COUNT, "updates", counting(0), counting(1)),
    (COUNT, "updates", {}, counting(-1)),
    (COUNT, "silent", {}, said(the_only_stuck_point, 1e-15)),
)


@pytest.mark.parametrize(("entry", "updates"), [(0.5, 2), (-0.5, 0)])
def test_a_stuck_point_by_hand(entry, updates):
    """w = −1, η = ¼: u = ½ takes two updates and hits 0 exactly, where a third would follow if σ'(0) were 1."""
    start = OnlineStart(np.ones((1, 1)), np.ones((1, 1)), np.array([[[-1.0], [entry]]]), 0.25)
    (batch,) = trained([start], perturbations=0)[0].cases
    assert batch.runs.updates.tolist() == [[updates]]
    assert batch.runs.outputs.tolist() == [[0.0]]


def test_lemma_12_with_an_entry_that_is_exactly_0():
    """w = 0, u = −1, η = 1: no update, because σ'(0) = 0; were it 1, K would lose the point."""
    start = OnlineStart(np.eye(2), np.ones((1, 2)), np.array([[[0.0, -1.0], [-1.0, 1.0]]]), 1.0)
    (batch,) = trained([start], perturbations=0)[0].cases
    assert batch.runs.updates.tolist() == [[0, 1]]
    evidence = lemma_12([BasisRuns((batch,))])
    assert evidence.verdict is Verdict.HOLDS
