"""Theorem 9: how many updates it takes."""

import dataclasses
import math

import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims.relu_updates import theorem_9b_updates, theorem_9b_updates_as_printed
from widenet.papers.brutzkus2018.formulas import updates_allowed_as_printed
from widenet.papers.brutzkus2018.runs.update_counts import (
    AllCounts,
    UpdateSetting,
    count_updates,
    exact_settings,
    run_updates,
)
from widenet.progress import silent
from widenet.records import Scale


def counted(n_runs, dim, half_width, delta, bound, step, *, exact=False, seed=0):
    setting = UpdateSetting(
        n_runs=n_runs,
        dim=dim,
        half_width=half_width,
        delta=delta,
        entry_bounds=(bound,),
        step_sizes=(step,),
        exact=exact,
        seed=seed,
    )
    return [AllCounts((count_updates(setting),))]


def broken(evidence):
    return [part.name for part in evidence.parts if part.kept is False]


def unmet(evidence):
    return [hypothesis.key for hypothesis in evidence.hypotheses if not hypothesis.met]


def altered(runs, **changes):
    (case,) = runs[0].cases
    return [AllCounts((dataclasses.replace(case, **changes),))]


@pytest.fixture(scope="module")
def small():
    """At most three updates on each of four points."""
    return counted(20, 4, 5, 0.5, "1", "2/5", exact=True)


@pytest.fixture(scope="module")
def counterexample():
    return [run_updates(setting, silent) for setting in exact_settings(Scale.QUICK, 1)]


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


def test_control_each_part(small):
    (case,) = small[0].cases
    run = int(np.flatnonzero(case.solvable)[0])
    total, on_one_point, loss = (part.name for part in theorem_9b_updates(small).parts)
    uneven = case.updates.copy()
    uneven[run] = [4, 2, 0, 0]
    assert broken(theorem_9b_updates(altered(small, updates=uneven))) == [on_one_point]
    uneven[run] = [4, 3, 3, 3]
    assert broken(theorem_9b_updates(altered(small, updates=uneven))) == [total, on_one_point]
    uneven[run] = [3, 3, 3, 3]
    assert broken(theorem_9b_updates(altered(small, updates=uneven))) == []
    short = np.where(np.arange(20) == run, False, case.reached)
    assert broken(theorem_9b_updates(altered(small, reached=short))) == [loss]


def test_a_run_that_was_cut_off_decides_nothing(small):
    (case,) = small[0].cases
    lost = altered(small, reached=np.zeros_like(case.reached), ended=np.zeros_like(case.ended))
    assert theorem_9b_updates(lost).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_the_hypotheses(small):
    (case,) = small[0].cases
    assert unmet(theorem_9b_updates(altered(small, excess=1e-6))) == ["entry_bound"]
    narrow = case.setting.model_copy(update={"half_width": 3})
    assert unmet(theorem_9b_updates(altered(small, setting=narrow))) == ["width"]


def test_runs_that_are_all_stuck_decide_nothing():
    stuck = counted(1, 40, 1, 0.5, "1", "1", exact=True)
    assert theorem_9b_updates(stuck).conclusion is None
