"""Theorem 9: how many updates it takes."""

import dataclasses
import math

import numpy as np
import pytest

from tests.control_table import at, controls, spared
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims import relu_updates
from widenet.papers.brutzkus2018.claims.relu_updates import theorem_9b_updates, theorem_9b_updates_as_printed
from widenet.papers.brutzkus2018.formulas import updates_allowed_as_printed
from widenet.papers.brutzkus2018.runs.update_counts import (
    UpdateSetting,
    exact_settings,
    run_updates,
)
from widenet.records import Scale


def counted(n_runs, dim, half_width, delta, bound, step, *, exact=False, seed=0):
    setting = UpdateSetting(
        n_runs=n_runs,
        dim=dim,
        half_width=half_width,
        delta=delta,
        entry_bound=bound,
        step_size=step,
        exact=exact,
        seed=seed,
    )
    return [run_updates(setting)]


def altered(runs, **changes):
    (case,) = runs
    return [dataclasses.replace(case, **changes)]


@pytest.fixture(scope="module")
def small():
    """At most three updates on each of four points."""
    return counted(20, 4, 5, 0.5, "1", "2/5", exact=True)


@pytest.fixture(scope="module")
def counterexample():
    return [run_updates(setting) for setting in exact_settings(Scale.QUICK, 1)]


def test_it_holds_in_float64_and_in_fractions(small):
    assert theorem_9b_updates(small).verdict is Verdict.HOLDS
    evidence = theorem_9b_updates(counted(10, 50, 10, 0.1, "0.3", "1.1"))
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.tightness == 1


def test_the_printed_count_is_violated_in_exact_arithmetic(counterexample):
    evidence = theorem_9b_updates_as_printed(counterexample)
    assert evidence.verdict is Verdict.VIOLATED
    assert (evidence.promised, evidence.measured) == (0.5, 1)
    row = evidence.details["cases"][0]
    assert (row["allowed"], row["most_updates"]) == (1, 2)
    assert row["runs_over"] == row["runs_with_empty_K_0"] > 0


def test_the_repaired_count_holds_on_the_same_instance(counterexample):
    assert theorem_9b_updates(counterexample).verdict is Verdict.HOLDS


def test_the_printed_count_fails_in_ordinary_runs_too():
    """d = 50, C = 1: no run over the printed count at η = 0.3, all of them at η = 2."""
    fine, coarse = (counted(5, 50, 10, 0.1, "1.0", eta) for eta in ("0.3", "2.0"))
    assert theorem_9b_updates(fine, allowed=updates_allowed_as_printed).verdict is Verdict.HOLDS
    evidence = theorem_9b_updates(coarse, allowed=updates_allowed_as_printed)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.details["cases"][0]["runs_over"] == 5


def test_control_the_printed_count_is_a_probability():
    """d = 50, k = 8, δ = ½, C = 1: at η = 5/4 some 43 % of the runs are late, which is allowed; at η = 2 nearly all."""
    assert theorem_9b_updates_as_printed(counted(100, 50, 8, 0.5, "1.0", "1.25")).verdict is not Verdict.VIOLATED
    assert theorem_9b_updates_as_printed(counted(30, 50, 8, 0.5, "1.0", "2.0")).verdict is Verdict.VIOLATED


def test_control_per_point_count_rounded_down():
    def down(dim, bound, step):
        return dim * math.floor(max(bound, 1) / step)

    runs = counted(5, 20, 9, 0.1, "1.0", "10.0")
    assert theorem_9b_updates(runs).verdict is Verdict.HOLDS
    assert theorem_9b_updates(runs, allowed=down).verdict is Verdict.VIOLATED


def test_a_run_that_was_cut_off_decides_nothing(small):
    (case,) = small
    lost = altered(small, reached=np.zeros_like(case.reached), ended=np.zeros_like(case.ended))
    assert theorem_9b_updates(lost).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_runs_that_are_all_stuck_decide_nothing():
    stuck = counted(1, 40, 1, 0.5, "1", "1", exact=True)
    assert theorem_9b_updates(stuck).conclusion is None


SMALL = counted(20, 4, 5, 0.5, "1", "2/5", exact=True)
"""At most three updates on each of four points."""
CASE = SMALL[0]
SOLVED = int(np.flatnonzero(CASE.solvable)[0])


def with_counts(*counts):
    """So many updates on each point of one solvable run."""
    updates = CASE.updates.copy()
    updates[SOLVED] = counts
    return at([CASE, dataclasses.replace(CASE, updates=updates), CASE])


def late_runs(number):
    """100 runs at δ = ½, of which so many are late."""
    case = counted(100, 2, 3, 0.5, "1/4", "2", exact=True)[0]
    updates = np.where((np.arange(100) < number)[:, None], [[1, 1]], [[1, 0]])
    ones = np.ones(100, bool)
    return dataclasses.replace(case, updates=updates, reached=ones, ended=ones)


COUNT, PRINTED = theorem_9b_updates, theorem_9b_updates_as_printed
test_control = controls(
    relu_updates,
    {PRINTED: lambda: counted(100, 2, 3, 0.5, "1/4", "2", exact=True)[0], relu_updates.Counted: [CASE, CASE]},
    (COUNT, "on_each_point", with_counts(3, 3, 3, 3), with_counts(4, 2, 0, 0)),
    # d times what one point may take cannot be exceeded unless some point exceeds its share
    (COUNT, "updates", with_counts(3, 3, 3, 3), with_counts(4, 3, 3, 3), "on_each_point"),
    (COUNT, "zero_loss", {}, {"reached": np.where(np.arange(20) == SOLVED, False, CASE.reached)}),
    (PRINTED, "on_time", at([late_runs(39)]), at([late_runs(61)])),
    (PRINTED, "on_time", at([late_runs(0), late_runs(39)]), at([late_runs(61), late_runs(0)])),
)


def test_the_width_of_theorem_9b():
    """d = 4, δ = ½: k ≥ log2(16) = 4."""
    for changes, spare in (({"half_width": 4}, 0), ({"half_width": 4, "delta": 0.25}, -1)):
        case = dataclasses.replace(CASE, setting=CASE.setting.model_copy(update=changes))
        assert relu_updates.Counted.join([case]).spare[0] == spare


def test_a_step_that_divides_evenly_spares_the_printed_count():
    """η = 1: the printed count is d, and every point takes one update."""
    spared(PRINTED, at(counted(60, 2, 5, 0.5, "1/4", "1", exact=True)[0]))


@pytest.mark.parametrize(("late", "kept"), [(39, True), (45, None), (61, False)])
def test_the_printed_count_is_judged_as_a_probability(late, kept):
    """100 runs at δ = ½, of which so many are late or stuck."""
    case = late_runs(late)
    assert theorem_9b_updates_as_printed([case]).parts[0].kept is kept
    stuck = altered([case], updates=0 * case.updates, reached=np.arange(100) >= late)
    assert theorem_9b_updates_as_printed(stuck).parts[0].kept is kept


def test_a_run_that_was_cut_off_is_late_only_if_it_is():
    """d = 2, η = 2: the printed count is 1."""
    case = counted(100, 2, 3, 0.5, "1/4", "2", exact=True)[0]
    never = {"reached": np.zeros(100, bool), "ended": np.zeros(100, bool)}
    for updates, kept in (([1, 0], None), ([1, 1], False)):
        runs = altered([case], updates=np.tile(updates, (100, 1)), **never)
        assert theorem_9b_updates_as_printed(runs).parts[0].kept is kept


def test_the_count_is_attained_in_the_default_settings():
    """Entries near C = 0.3 leave N < 1 at η = 1.1, so every point takes its one update, 50 of 50."""
    evidence = theorem_9b_updates(counted(10, 50, 10, 0.1, "0.3", "1.1"))
    assert [part.tightness for part in evidence.parts[:2]] == [1, 1]
