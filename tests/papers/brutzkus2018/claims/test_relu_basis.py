"""Section 7.2: the fate of a ReLU run on orthonormal points is decided by its start."""

import dataclasses

import numpy as np
import pytest

from tests.controls import breaks_hypothesis, breaks_part, broken_in, every_part_of, hypothesis_edges, part_edges
from tests.papers.brutzkus2018.basis_toys import altered, starts, trained
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims import relu_basis
from widenet.papers.brutzkus2018.claims.relu_basis import (
    lemma_12,
    section_7_2_labels,
    theorem_9_equivalence,
    theorem_9_local_minimum,
    theorem_9_stuck_count,
)
from widenet.papers.brutzkus2018.runs.basis import BasisRuns
from widenet.papers.brutzkus2018.runs.online import OnlineStart

RUNS, MIXED = trained(starts()), trained(starts(mixed_labels=True), perturbations=0)
LEVEL, POSITIVE, ZERO = "a loss of #K_0/d", "a positive loss if K_0 is not empty", "loss 0 if K_0 is empty"


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


@breaks_part(theorem_9_equivalence, POSITIVE, also=(LEVEL,))
def test_control_a_stuck_run_that_ends_at_loss_0():
    return theorem_9_equivalence(RUNS), theorem_9_equivalence(with_output(RUNS, the_only_stuck_point, 1.0))


@breaks_part(theorem_9_equivalence, LEVEL)
def test_control_a_stuck_run_whose_loss_is_a_little_off():
    inside, outside = (with_output(RUNS, one_of_several_stuck_points, value) for value in (1e-13, 4e-11))
    return theorem_9_equivalence(inside), theorem_9_equivalence(outside)


@breaks_part(theorem_9_equivalence, ZERO)
def test_control_a_solved_run_that_is_not_solved():
    inside, outside = (with_output(RUNS, a_point_of_a_solved_run, value) for value in (1.0, 1 - 5e-12))
    return theorem_9_equivalence(inside), theorem_9_equivalence(outside)


def test_each_kind_of_run_has_its_own_level():
    """A loss of 0.05 is positive, one above #K_0/d is off too, and a solved run is no stuck one."""
    small, above, solved = (
        broken_in(theorem_9_equivalence(with_output(RUNS, pick, value)))
        for pick, value in ((the_only_stuck_point, 0.6), (the_only_stuck_point, -0.1), (a_point_of_a_solved_run, 0.99))
    )
    assert (small, above, solved) == ([LEVEL], [LEVEL], [ZERO])


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


def test_a_count_where_none_is_promised_and_none_where_one_is():
    start = OnlineStart(np.ones((1, 1)), np.ones((1, 1)), np.array([[[-1.0], [-0.5]]]), 0.25)
    silent_ = trained([start], perturbations=0)
    assert theorem_9_stuck_count(altered(silent_, updates=lambda _: np.array([[1]]))).parts[0].kept is False
    start = dataclasses.replace(start, weights=np.array([[[-1.0], [0.4]]]))
    silent_ = trained([start], perturbations=0)
    assert theorem_9_stuck_count(altered(silent_, updates=lambda _: np.array([[0]]))).parts[0].kept is False


def once(batch):
    return np.eye(1, len(batch.runs.ended), 3, dtype=int)[0]


@breaks_part(lemma_12, "no point enters K")
def test_control_a_point_that_enters_and_leaves_again():
    return lemma_12(RUNS), lemma_12(altered(RUNS, entered=once))


@breaks_part(lemma_12, "no point leaves K")
def test_control_a_point_that_leaves():
    return lemma_12(RUNS), lemma_12(altered(RUNS, left=once))


@breaks_part(theorem_9_stuck_count, "the number of updates")
def test_control_one_update_more_on_a_stuck_point():
    def more(batch):
        updates = batch.runs.updates.copy()
        updates[the_only_stuck_point(batch)] += 1
        return updates

    return theorem_9_stuck_count(RUNS), theorem_9_stuck_count(altered(RUNS, updates=more))


@breaks_part(theorem_9_stuck_count, "N = 0 at the end")
def test_control_a_stuck_point_that_says_something():
    return theorem_9_stuck_count(RUNS), theorem_9_stuck_count(with_output(RUNS, the_only_stuck_point, 1e-15))


def test_points_without_an_update_are_no_test_of_a_count():
    count, silent_ = theorem_9_stuck_count(RUNS).parts
    assert 0 < count.cases < silent_.cases


def stuck_point_of(sign):
    def pick(batch):
        run, point = np.argwhere(batch.stuck & (batch.start.labels == sign) & (batch.stuck.sum(axis=1) > 1)[:, None])[0]
        return int(run), int(point)

    return pick


@breaks_part(section_7_2_labels, "points labelled +1", also=(LEVEL,))
def test_control_a_stuck_point_labelled_plus():
    return section_7_2_labels(MIXED), section_7_2_labels(with_output(MIXED, stuck_point_of(1), 4e-11))


@breaks_part(section_7_2_labels, "points labelled −1", also=(LEVEL,))
def test_control_a_stuck_point_labelled_minus():
    return section_7_2_labels(MIXED), section_7_2_labels(with_output(MIXED, stuck_point_of(-1), -4e-11))


@breaks_part(section_7_2_labels, LEVEL, also=("points labelled +1", "points labelled −1"))
def test_control_both_labels():
    both = with_output(with_output(MIXED, stuck_point_of(1), 4e-11), stuck_point_of(-1), -4e-11)
    return section_7_2_labels(MIXED), section_7_2_labels(both)


@breaks_part(section_7_2_labels, ZERO, also=("points labelled +1",))
def test_control_a_solved_run_with_mixed_labels():
    def plus_point(batch):
        run, point = np.argwhere(~batch.stuck.any(axis=1)[:, None] & (batch.start.labels == 1))[0]
        return int(run), int(point)

    return section_7_2_labels(MIXED), section_7_2_labels(with_output(MIXED, plus_point, 1 - 4e-11))


def two_points_by_hand():
    """e_1 labelled −, e_2 labelled +, w = (½, ¼), u = (−1, −1), η = ¼: K_0 = {e_1}, read from u."""
    weights = np.array([[[0.5, 0.25], [-1.0, -1.0]]])
    return OnlineStart(np.eye(2), np.array([[-1.0, 1.0]]), weights, 0.25)


def test_mixed_labels_by_hand():
    """Two updates on e_1, three on e_2, loss ½; K_0 read from w were empty."""
    (batch,) = trained([two_points_by_hand()], perturbations=0)[0].batches
    assert batch.runs.updates.tolist() == [[2, 3]]
    assert batch.losses.tolist() == [0.5]
    assert batch.stuck.tolist() == [[True, False]]
    assert "points labelled −1" in broken_in(section_7_2_labels([BasisRuns((batch,))], plus_half_only=True))


def with_balls(**changes):
    first, *others = RUNS[0].batches
    balls = dataclasses.replace(first.balls, **{name: change(first.balls) for name, change in changes.items()})  # pyright: ignore[reportArgumentType]
    return theorem_9_local_minimum([BasisRuns((dataclasses.replace(first, balls=balls), *others))])


def first_entry(name, value):
    return {name: lambda balls: np.where(np.arange(len(balls.run)) == 0, value, getattr(balls, name))}


test_control_each_part_of_the_local_minimum = part_edges(
    theorem_9_local_minimum,
    with_balls,
    {
        "the loss is constant in the ball": ({}, first_entry("changed", 1)),
        "a ball of positive radius": (first_entry("radius", 1e-300), first_entry("radius", 0.0)),
    },
)


@breaks_hypothesis(theorem_9_local_minimum, "ended")
def test_control_an_end_that_would_still_move():
    return with_balls(), with_balls(**first_entry("moving", 1))


def started(claim, runs):
    """Judges runs whose recorded start is another one; the training is kept."""

    def judged(**changes):
        first, *others = runs[0].batches
        start = dataclasses.replace(first.start, **changes)
        return claim([BasisRuns((dataclasses.replace(first, start=start), *others))])

    return judged


def edges_of(runs):
    """Of the hypotheses of Section 7.2, in the units of the first batch."""
    start = runs[0].batches[0].start
    largest, weights = np.abs(start.weights).max(), start.weights
    place = tuple(np.argwhere(weights[:, : start.half_width] < 0)[0])
    tiny, zero = weights.copy(), weights.copy()
    tiny[place], zero[place] = -1e-300, 0.0
    return {
        "orthonormal": ({"inputs": np.eye(8) * (1 + 1e-14)}, {"inputs": np.eye(8) * (1 + 2e-12)}),
        "relu": ({}, {"slope": 1e-9}),
        "unit_output_weights": ({}, {"output_weight": 1 + 5e-12}),
        "entry_bound": ({"entry_bound": largest}, {"entry_bound": largest * (1 - 5e-12)}),
        "continuous_start": ({"weights": tiny}, {"weights": zero}),
        "step_size": ({}, {"step_size": 0.0}),
        "plus_labels": ({}, {"labels": np.where(np.eye(20, 8) > 0, 1 - 5e-12, 1.0)}),
    }


ALL = edges_of(RUNS)
OF_LEMMA_12 = {key: edge for key, edge in ALL.items() if key != "continuous_start"}
OF_MIXED = {key: edge for key, edge in edges_of(MIXED).items() if key != "plus_labels"}
test_control_hypotheses_of_lemma_12 = hypothesis_edges(lemma_12, started(lemma_12, RUNS), **OF_LEMMA_12)
test_control_hypotheses_of_the_equivalence = hypothesis_edges(
    theorem_9_equivalence, started(theorem_9_equivalence, RUNS), **ALL
)
test_control_hypotheses_of_the_stuck_count = hypothesis_edges(
    theorem_9_stuck_count, started(theorem_9_stuck_count, RUNS), **ALL
)
test_control_hypotheses_of_the_local_minimum = hypothesis_edges(
    theorem_9_local_minimum, started(theorem_9_local_minimum, RUNS), **ALL
)
test_control_hypotheses_of_mixed_labels = hypothesis_edges(
    section_7_2_labels, started(section_7_2_labels, MIXED), **OF_MIXED
)


@pytest.mark.parametrize(("entry", "updates"), [(0.5, 2), (-0.5, 0)])
def test_a_stuck_point_by_hand(entry, updates):
    """w = −1, η = ¼: u = ½ takes two updates and hits 0 exactly, where a third would follow if σ'(0) were 1."""
    start = OnlineStart(np.ones((1, 1)), np.ones((1, 1)), np.array([[[-1.0], [entry]]]), 0.25)
    (batch,) = trained([start], perturbations=0)[0].batches
    assert batch.runs.updates.tolist() == [[updates]]
    assert batch.runs.outputs.tolist() == [[0.0]]


def test_lemma_12_with_an_entry_that_is_exactly_0():
    """w = 0, u = −1, η = 1: no update, because σ'(0) = 0; were it 1, K would lose the point."""
    start = OnlineStart(np.eye(2), np.ones((1, 2)), np.array([[[0.0, -1.0], [-1.0, 1.0]]]), 1.0)
    (batch,) = trained([start], perturbations=0)[0].batches
    assert batch.runs.updates.tolist() == [[0, 1]]
    evidence = lemma_12([BasisRuns((batch,))])
    assert evidence.verdict is Verdict.HOLDS


test_every_part_has_a_control = every_part_of(relu_basis)
