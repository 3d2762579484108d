"""Theorem B.8: where gradient descent fails, it ends at a local minimum."""

import dataclasses

import numpy as np
import pytest

from tests.control_table import at, controls, leaves_open, spared
from tests.controls import broken_in, lacking_in
from tests.papers.brutzkus2019.claims.xor_edges import deviation_rows, narrow_runs, still_moving
from tests.papers.brutzkus2019.claims.xor_toys import altered, chosen, drawn, octants, toy
from widenet.claims.base import Verdict
from widenet.diagnostics.exploration import XOR_LABELS
from widenet.papers.brutzkus2019.claims import xor_narrow
from widenet.papers.brutzkus2019.claims.xor_narrow import (
    first_satisfied,
    lemma_b_7,
    observation_xor_realizable,
    theorem_3_4,
    theorem_b_8,
    theorem_b_8_standstill,
    theorem_b_8_standstill_as_printed,
)
from widenet.papers.brutzkus2019.runs.xor import lowest_change

MINIMUM, ANSWERS = "no small change lowers the loss", "no filter answers to a wrong point"


class Asked(np.random.Generator):
    """A generator that keeps what it is asked for."""

    def __init__(self):
        super().__init__(np.random.PCG64(0))
        self.asked = []

    def uniform(self, low=0.0, high=1.0, size=None):  # type: ignore[override]
        self.asked.append((low, high))
        return np.full(() if size is None else size, float(high))


def test_every_fit_may_move_by_the_same_share_both_ways():
    draw = Asked()
    lowest = lowest_change(toy("X2"), draw, 2, 0.5)
    assert draw.asked == [(-1, 1)] * 2
    moved = toy("X2").end + 0.5 * np.abs(toy("X2").end).min()
    sums = np.concatenate([np.maximum(moved, 0).sum(axis=2), np.maximum(-moved, 0).sum(axis=2)], axis=2)
    hinges = np.maximum(1 - XOR_LABELS * (sums[:, 0] - sums[:, 1]) / toy("X2").goal, 0)
    assert lowest == pytest.approx(hinges.sum(axis=1) - toy("X2").final_loss, abs=1e-12)


def test_a_small_positive_loss_counts():
    goal = toy("X3").goal
    nearly = altered(toy("X3"), own_sums=((-1, 0, 0), goal * (1 - 1e-6)), opposing_sums=((-1, 0, 0), 0.0))
    assert theorem_b_8([nearly], [toy("X2")], changes=1).runs.tried == 2


def test_control_large_changes_do_lower_the_loss():
    evidence = theorem_b_8([drawn(2, 0.1, 200)], [octants()], share=400.0)
    assert evidence.verdict is Verdict.VIOLATED
    assert broken_in(evidence) == [MINIMUM]
    assert evidence.measured is not None
    assert evidence.measured < 0


def test_control_local_minimum_of_a_run_by_hand():
    """The smallest fit is 3/64 η, and ⟨w, x_1⟩ is 6η: only a change by far more than it lets some w answer to x_3."""
    assert broken_in(theorem_b_8([toy("X2")], [toy("X2")], changes=400, share=200.0)) == [MINIMUM]
    assert theorem_b_8([toy("X2")], [toy("X2")], changes=200, share=0.99).conclusion is True
    assert theorem_b_8([toy("X2")], [toy("X2")]).details == {"changes_per_run": 20, "share_of_the_smallest_fit": 0.5}


def test_control_a_filter_that_answers_to_a_wrong_point():
    """One w with ⟨w, x_3⟩ = 10⁻⁶, so little that no small change shows it: they are smaller still."""
    evidence = theorem_b_8([altered(toy("X2"), end=((0, 0, 0, 0), -1e-6))], [toy("X2")], changes=0)
    assert ANSWERS in broken_in(evidence)


def test_control_a_recorded_loss_that_is_too_large():
    """A loss of 1 + 1e-6 is lowered by every change: the comparison is with the loss itself."""
    worse = altered(toy("X2"), own_sums=((-1, 0, 0), toy("X2").goal * (1 - 1e-6)), opposing_sums=((-1, 0, 0), 0.0))
    evidence = theorem_b_8([worse], [toy("X2")])
    assert broken_in(evidence) == [MINIMUM]
    assert evidence.measured == pytest.approx(-1e-6, rel=1e-3)


def test_control_every_wrong_point_is_looked_at():
    """All four signs of a filter that answers: at x_1 and x_3 by the first fit, at x_2 and x_4 by the second."""
    run = octants()
    for point in range(4):
        rows = np.flatnonzero(run.forgotten[:, point])[:1]
        end = run.end[rows].copy()
        place = (0, (point + 1) % 2, 0, point % 2)  # an opposing filter
        end[place] = 1e-6 if point < 2 else -1e-6
        answering = dataclasses.replace(chosen(run, rows), end=end)
        assert broken_in(theorem_b_8([answering], [run], changes=1)) == [ANSWERS]
        end[place] = 0.0
        assert ANSWERS not in broken_in(theorem_b_8([dataclasses.replace(answering, end=end)], [run], changes=0))


def test_filters_may_answer_to_a_point_with_a_small_margin():
    sums = {"own_sums": 1e-9 * toy("X2").goal, "opposing_sums": 0.0}
    nearly = altered(toy("X2"), **{name: ((-1, 0, 0), value) for name, value in sums.items()})
    assert ANSWERS not in broken_in(theorem_b_8([nearly], [toy("X2")], changes=1))


def test_runs_outside_the_event_are_counted_and_not_scored():
    run = drawn(2, 0.1, 400, spread=4.0)
    evidence = theorem_b_8([run], [octants()], changes=1)
    outside = int((~run.in_event).sum())
    assert 0 < outside < 400
    assert evidence.runs.outside == outside
    assert evidence.runs.tried <= 400 - outside + 4096
    failed = (run.final_loss[run.in_event] > 0).sum() + 3072
    assert evidence.runs.tried == failed


def test_control_no_failed_run_no_verdict():
    wide = drawn(50, 0.1, 20)
    evidence = theorem_b_8([wide], [wide])
    assert evidence.conclusion is None
    assert lacking_in(evidence) == ["width"]


def test_the_time_of_the_proof_on_a_run_by_hand():
    """In exact fractions: the margins of x_2 and x_3 are 647/640 and 673/640 at t = 3, that of x_2 is 319/320 at 4."""
    run = toy("X4")
    assert run.forgotten.tolist() == [[True, False, False, True]]
    margins = run.margins[:, 0] / run.goal
    assert margins[3, [1, 2]] == pytest.approx([647 / 640, 673 / 640], rel=1e-15)
    assert margins[4, [1, 2]] == pytest.approx([319 / 320, 131 / 128], rel=1e-15)
    assert (first_satisfied(run).tolist(), run.steps.tolist()) == ([3], [6])
    assert run.active[4, 0].tolist() == [True, True, False, True]
    assert broken_in(theorem_b_8_standstill_as_printed([run])) == ["nothing moves from t' + 1 on"]


def test_the_printed_time_on_a_run_that_keeps_it():
    """In X2 x_3 is forgotten, and x_1 is never active again."""
    assert toy("X2").steps[0] - first_satisfied(toy("X2"))[0] <= 1
    spared(theorem_b_8_standstill_as_printed, at(toy("X2")))


@pytest.mark.parametrize(("step_constant", "share"), [(0.1, 0.015), (0.4, 0.14), (0.01, 0.19)])
def test_how_long_stuck_runs_move_on(step_constant, share):
    """T − t' is 0, 1 or 3, as on each axis the own sum is passed at most once more; the shares are from another engine.

    The tolerance is five standard errors of 3000 runs.
    """
    run = drawn(2, step_constant, 4000)
    stuck = run.in_event & run.forgotten.any(axis=1)
    waits = (run.steps - first_satisfied(run))[stuck]
    assert set(waits.tolist()) <= {0, 1, 3}
    assert abs((waits == 3).mean() - share) < 5 * np.sqrt(share / 2900)


def test_runs_that_forget_nothing_are_not_asked_about():
    assert theorem_b_8_standstill([toy("J12")]).conclusion is None
    assert theorem_b_8_standstill([toy("X4"), toy("J12")]).runs.tried == 1


def stuck(**changes):
    return at(toy("X2"), [toy("X2")], **changes)


def answering():
    """⟨u, x_3⟩ = 10⁻⁶: N(x_3) is then below 0, and no small change lowers the loss below what is recorded."""
    return at(altered(toy("X2"), end=((0, 1, 0, 0), -1e-6)), [toy("X2")])


test_control = controls(
    xor_narrow,
    narrow_runs,
    (theorem_b_8_standstill, "ends"),
    *deviation_rows(narrow_runs(), theorem_b_8, theorem_b_8_standstill),
    *((theorem_b_8, "width", stuck(), at(drawn(k, 0.1, 50), [octants()])) for k in (1, 3)),
    *((theorem_b_8_standstill, "width", at(toy("X4")), at(drawn(k, 0.1, 50))) for k in (1, 3)),
    (theorem_b_8, "minimum", stuck(share=0.99), stuck(changes=400, share=200.0)),
    (theorem_b_8, "silent", stuck(), answering()),
    # A run that still moves breaks nothing.
    (theorem_b_8, "ends", stuck(), leaves_open(still_moving(toy("X2"), 0), [toy("X2")])),
    # In X4 nothing moves from t' + 3 on.
    (theorem_b_8_standstill, "standstill", at(toy("X4")), at(altered(toy("X4"), steps=(0, 7)))),
    but=(observation_xor_realizable, lemma_b_7, theorem_3_4, theorem_b_8_standstill_as_printed),
)
