"""Theorem 3.3: loss 0 for wide networks, and how many iterations it takes."""

import dataclasses

import numpy as np
import pytest

from tests.control_table import at, controls, spared
from tests.controls import broken_in, lacking_in
from tests.papers.brutzkus2019.claims.xor_edges import (
    deviation_rows,
    second_outside,
    wide_runs,
    with_deviation,
    with_start,
)
from tests.papers.brutzkus2019.claims.xor_toys import altered, as_expected, chosen, drawn, toy, undecided
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims import xor_convergence
from widenet.papers.brutzkus2019.claims.xor_convergence import (
    Convergence,
    theorem_3_3,
    theorem_3_3_iterations,
    theorem_3_3_iterations_as_printed,
    theorem_3_3_lower_bound,
)
from widenet.progress import silent
from widenet.records import Scale
from widenet.types import RunStatus

CLAIMS = [theorem_3_3, theorem_3_3_iterations, theorem_3_3_iterations_as_printed, theorem_3_3_lower_bound]
LOSS, SIGNS, EVENTS = "loss 0", "all four signs right", "no failure in the events of Lemmas B.2 and 3.1"
POINTS, WIDTH = "T ≤ Σ_i ⌈(1 + 2kη)/(2ηn_i)⌉", "T ≤ 4⌈(1 + 2kη)√k/(kη(√k − 4))⌉"
ORDER = "Σ_i ⌈(1 + 2kη)/(2ηn_i)⌉ ≤ 4⌈(1 + 2kη)√k/(kη(√k − 4))⌉"
STEPS, REACHED = "T ≤ Σ_i a_i(T)", "loss 0 is reached"


def by_points(run):
    return Convergence.join([run]).by_points


def by_width(run):
    return Convergence.join([run]).by_width


def few():
    return drawn(50, 0.1, 20)


test_verdict_on_the_default_setting = as_expected(CLAIMS)


def test_the_printed_numbers():
    assert Convergence.join([few()]).printed[0] == pytest.approx(22.31, abs=0.01)
    rows = theorem_3_3_iterations([drawn(50, 0.01, 50)]).details["iterations"]
    assert rows[0]["printed"][0] == pytest.approx(16.33, abs=0.01)
    assert Convergence.join([drawn(50, 0.01, 50)]).needed[0] == pytest.approx(99.82, abs=0.01)


def test_the_printed_number_holds_for_large_steps_and_fails_for_small_ones():
    assert theorem_3_3_iterations_as_printed([drawn(50, 0.4, 1200)]).verdict is Verdict.HOLDS
    evidence = theorem_3_3_iterations_as_printed([drawn(50, 0.01, 50)])
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.parts[0].broken == 50
    assert evidence.details["iterations"][0]["fewest"] >= 100


def test_control_the_printed_number_is_22():
    run = drawn(50, 0.4, 1200)
    in_time, late = (dataclasses.replace(run, steps=np.full(1200, steps)) for steps in (22, 23))
    assert theorem_3_3_iterations_as_printed([in_time]).verdict is Verdict.HOLDS
    evidence = theorem_3_3_iterations_as_printed([late])
    assert evidence.verdict is Verdict.VIOLATED
    assert (evidence.measured, evidence.promised) == (23, pytest.approx(22.310308043, rel=1e-10))
    (part,) = theorem_3_3_iterations_as_printed([in_time], printed=lambda runs: np.full(len(runs), 22.0)).parts
    assert part.broken == 0


def test_the_printed_number_is_judged_where_the_paper_states_it():
    assert lacking_in(theorem_3_3_iterations_as_printed([drawn(16, 0.1, 20)])) == ["width"]


def test_iterations_are_asked_of_runs_in_the_events_that_reach_loss_0():
    late = altered(few(), steps=(3, 10**6))
    assert broken_in(theorem_3_3_iterations([late])) == [POINTS, WIDTH, STEPS]
    assert broken_in(theorem_3_3_iterations([altered(late, status=(3, RunStatus.STALLED))])) == [REACHED]
    assert broken_in(theorem_3_3_iterations([outside(late, 4)])) == []
    assert broken_in(theorem_3_3_iterations([altered(outside(few(), 4), status=(3, RunStatus.STALLED))])) == []


def test_the_lower_bound_is_asked_in_the_event_up_to_rounding():
    early = altered(second_outside(toy("J12")), steps=(1, 1))
    assert broken_in(theorem_3_3_lower_bound([early])) == []
    for off, n_broken in ((0.5e-12, 0), (3e-12, 1)):
        (part,) = theorem_3_3_lower_bound([toy("J12")], limit=lambda start, off=off: np.full(1, 16 * (1 + off))).parts
        assert part.broken == n_broken


def test_a_small_output_has_a_sign():
    run = outside(drawn(50, 0.4, 1200), 8)
    sums = {"own_sums": 1e-9 * run.goal, "opposing_sums": 0.0}
    small = altered(run, **{name: ((-1, slice(8), 2), value) for name, value in sums.items()})
    assert broken_in(theorem_3_3([small])) == [LOSS]


def test_control_the_printed_number_asks_for_loss_0():
    stalled = altered(drawn(50, 0.4, 1200), status=(slice(12), RunStatus.STALLED))
    assert theorem_3_3_iterations_as_printed([stalled]).verdict is Verdict.VIOLATED


def test_control_too_few_runs_cannot_confirm_the_printed_number():
    evidence = theorem_3_3_iterations_as_printed([drawn(50, 0.4, 100)])
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_convergence_at_k_2():
    evidence = theorem_3_3([drawn(2, 0.1, 1200)])
    assert lacking_in(evidence) == ["width"]
    assert evidence.conclusion is False
    assert evidence.parts[0].broken / 1200 == pytest.approx(0.75, abs=0.05)


def test_control_convergence_on_too_few_runs():
    assert theorem_3_3([drawn(50, 0.4, 200)]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_convergence_is_asked_for_under_the_hypotheses_of_the_paper():
    """η ≤ c_η/k and σ_g ≤ c_η/(16k^{3/2}): a smaller η beside the largest σ_g is inside, a larger σ_g is not."""
    small = drawn(50, 0.4, 200, step_share=0.1)
    assert small.in_event.mean() < 0.9
    evidence = theorem_3_3([small])
    assert not lacking_in(evidence)
    assert (evidence.parts[0].n_cases, evidence.parts[0].broken) == (200, 0)
    assert lacking_in(theorem_3_3([drawn(50, 0.4, 200, spread=2.0)])) == ["deviation"]
    assert lacking_in(theorem_3_3([drawn(16, 0.4, 200)])) == ["width"]


def test_control_one_failure_inside_the_events_refutes_however_few_the_runs():
    evidence = theorem_3_3([altered(few(), status=(3, RunStatus.STALLED))])
    assert evidence.verdict is Verdict.VIOLATED
    assert broken_in(evidence) == [EVENTS]
    # The same run outside the events is one of twenty that fails, which decides nothing.
    fits = few().fits.copy()
    fits[3, 0, 0, 0] = 0.36
    outside = with_start(few(), fits=fits, deviation=np.nan)
    assert theorem_3_3([altered(outside, status=(3, RunStatus.STALLED))]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_a_loss_of_a_trillionth_is_not_0():
    last = few().opposing_sums[-1, 3, 0] + few().goal * (1 - 1e-12)
    assert broken_in(theorem_3_3([altered(few(), own_sums=((-1, 3, 0), last))])) == [EVENTS]


def outside(run, n_runs):
    """The first runs start outside the event of Lemma B.2, so that only the rate speaks about them."""
    fits = run.fits.copy()
    fits[:n_runs, 0, 0, 0] = 0.36
    return with_start(run, fits=fits, deviation=np.nan)


def failing(n_runs):
    """1200 runs of which so many stall at a loss of 1e-9, outside the events."""
    run = outside(drawn(50, 0.4, 1200), n_runs)
    last = run.opposing_sums[-1, :n_runs, 0] + run.goal * (1 - 1e-9)
    return altered(run, own_sums=((-1, slice(n_runs), 0), last), status=(slice(n_runs), RunStatus.STALLED))


def test_what_is_shown_of_failures():
    """8e⁻⁸ = 0.00268: of 1200 runs seven failures refute it, six do not decide, none confirms it."""
    assert theorem_3_3([failing(6)]).parts[0].kept is None
    shown = theorem_3_3([failing(7)]).parts[0]
    assert (shown.measured, shown.promised) == (pytest.approx(1e-9, rel=1e-3), 0)


@pytest.mark.parametrize(("n_runs", "verdict"), [(1115, Verdict.HOLDS), (1114, Verdict.INSUFFICIENT_EVIDENCE)])
def test_how_many_runs_confirm_theorem_3_3(n_runs, verdict):
    """The fewest n with (1 − 8e⁻⁸)ⁿ ≤ 0.05; the same for the printed number of iterations."""
    run = chosen(drawn(50, 0.4, 1200), np.arange(n_runs))
    assert theorem_3_3([run]).verdict is verdict
    assert theorem_3_3_iterations_as_printed([run]).verdict is verdict


def test_a_failure_outside_one_of_the_two_events_is_none_inside_both():
    run = chosen(drawn(50, 0.4, 1200), np.arange(12_000) % 1200)
    stalled = altered(run, status=(3, RunStatus.STALLED))
    assert broken_in(theorem_3_3([outside(stalled, 4)])) == []
    fits = stalled.fits.copy()
    fits[3] = np.abs(fits[3])
    assert broken_in(theorem_3_3([with_start(stalled, fits=fits, deviation=np.nan)])) == []


def test_control_the_deviation_against_the_constant_and_not_the_step():
    """With η = c_η/(10k) the limit on 16√k·σ_g/η is ten times as large."""
    run = drawn(17, 0.4, 30, step_share=0.1)
    most = 10 * (1 + 6 / np.sqrt(2 * run.fits.size))
    assert lacking_in(theorem_3_3([with_deviation(run, most - 1e-6)])) == []
    assert lacking_in(theorem_3_3([with_deviation(run, most + 1e-6)])) == ["deviation"]


def test_the_edges_of_the_regime_are_among_the_defaults():
    (experiment,) = theorem_3_3.reads
    rows = {(s.half_width, s.step_constant, s.step_share) for s in experiment.settings(Scale.QUICK, 0)}
    assert {(17, 0.49, 1.0), (17, 0.49, 0.05), (50, 0.4, 0.1)} <= rows
    assert toy("J12").steps[0] == 16
    (lower,) = theorem_3_3_lower_bound.reads
    nearest = lower.run(lower.settings(Scale.QUICK, 0)[-1], silent)
    assert np.array_equal(nearest.fits, toy("J12").fits)
    assert nearest.goal == toy("J12").goal


def test_control_twelve_failures_of_1200():
    run = drawn(50, 0.4, 1200)
    assert LOSS in broken_in(theorem_3_3([altered(run, status=(slice(12), RunStatus.STALLED))]))
    one = theorem_3_3([altered(run, status=(0, RunStatus.STALLED))])
    assert undecided(one) == [LOSS]
    # A sign that is wrong at loss 0 cannot be; the part looks by itself.
    wrong = altered(run, own_sums=((-1, slice(12), 2), 0.0))
    assert SIGNS in broken_in(theorem_3_3([wrong]))


def test_control_runs_that_still_move_decide_nothing():
    moving = altered(drawn(50, 0.4, 1200), status=(slice(12), RunStatus.BUDGET_SPENT))
    assert theorem_3_3([moving]).verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert theorem_3_3_iterations([moving]).verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert theorem_3_3_iterations_as_printed([moving]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_a_setting_without_a_scored_run_is_not_hidden_by_another():
    runs = [drawn(50, 0.4, 20), drawn(50, 0.4, 20, spread=40.0)]
    evidence = theorem_3_3_lower_bound([with_start(run, deviation=np.nan) for run in runs])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert lacking_in(evidence) == ["in_event"]


def test_control_each_number_of_iterations():
    """The last run of a setting later by one than it may be, and in time at the number itself."""
    updates, points, width = few().updates.sum(axis=1), by_points(few()), by_width(few())
    assert (updates < points).any()
    assert (points < width).all()
    run = int(np.argmax(points - updates))

    def ending_at(steps):
        return broken_in(theorem_3_3_iterations([altered(few(), steps=(run, steps))]))

    assert ending_at(updates[run]) == []
    assert ending_at(updates[run] + 1) == [STEPS]
    assert ending_at(points[run]) == [STEPS]
    assert ending_at(points[run] + 1) == [POINTS, STEPS]
    assert ending_at(width[run]) == [POINTS, STEPS]
    assert ending_at(width[run] + 1) == [POINTS, WIDTH, STEPS]


def test_the_numbers_of_iterations_that_are_promised():
    """1/η = 500 and k = 50: Σ_i ⌈600/(2n_i)⌉, and 4⌈600/(√50(√50 − 4))⌉."""
    assert np.array_equal(by_points(few()), np.ceil(300 / few().own_counts).sum(axis=1))
    assert set(by_width(few())) == {4 * 28}
    promised = {part.name: part.promised for part in theorem_3_3_iterations([few()]).parts}
    assert promised[POINTS] in by_points(few())
    assert promised[WIDTH] == 112


def test_control_the_order_of_the_two_numbers():
    evidence = theorem_3_3_iterations([few()], points=lambda runs: 2 * runs.by_points + runs.by_width)
    assert broken_in(evidence) == [ORDER]


def test_control_a_run_that_stalls_has_no_number_of_iterations():
    evidence = theorem_3_3_iterations([altered(few(), status=(3, RunStatus.STALLED))])
    assert broken_in(evidence) == [REACHED]


def test_control_half_the_iterations():
    evidence = theorem_3_3_iterations([drawn(50, 0.01, 50)], points=lambda runs: runs.by_points / 8)
    assert evidence.verdict is Verdict.VIOLATED


def test_control_twice_the_lower_bound():
    evidence = theorem_3_3_lower_bound([drawn(50, 0.01, 50)], limit=lambda runs: 2 * runs.needed)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.parts[0].broken == 50


def test_control_the_lower_bound_where_it_is_nearly_attained():
    def more(extra):
        return theorem_3_3_lower_bound([toy("J12")], limit=lambda runs: runs.needed + extra)

    evidence = more(0.0)
    assert evidence.verdict is Verdict.HOLDS
    assert (evidence.measured, evidence.promised) == (16, pytest.approx(15.8544733047, rel=1e-11))
    assert more(0.14).verdict is Verdict.HOLDS
    assert more(0.15).verdict is Verdict.VIOLATED


def test_control_outside_the_setting():
    assert lacking_in(theorem_3_3_iterations([drawn(50, 0.7, 20)])) == ["step_constant"]
    assert lacking_in(theorem_3_3_iterations([drawn(16, 0.1, 20)])) == ["width"]


def test_no_iterations_at_all_say_nothing():
    for least, vacuous in ((1e-9, False), (0.0, True)):
        evidence = theorem_3_3_lower_bound([toy("J12")], limit=lambda start, least=least: np.full(1, least))
        assert evidence.vacuous is vacuous


def test_the_printed_number_of_iterations_with_large_steps():
    spared(theorem_3_3_iterations_as_printed, at(drawn(50, 0.4, 1200)))


def wrong_signs():
    """At loss 0 all signs are right, so a wrong one is a failure of the first part too. N = 0 is wrong."""
    run = outside(drawn(50, 0.4, 1200), 8)
    return altered(run, own_sums=((-1, slice(8), 2), 0.0), opposing_sums=((-1, slice(8), 2), 0.0))


def twelve_thousand(**arrays):
    """Among so many runs one failure does not refute the rate, which two events exclude."""
    run = chosen(drawn(50, 0.4, 1200), np.arange(12_000) % 1200)
    assert (run.in_event & run.explored)[3]
    return at(altered(run, **arrays))


UPDATES = few().updates.sum(axis=1)
LATEST = int(np.argmax(by_points(few()) - UPDATES))
"""The run of few() with most room."""


def ending(steps):
    return at(altered(few(), steps=(LATEST, steps)))


def bounded(by, **limits):
    """T is at most such a number, exactly: the largest of the runs, and a little less or more."""
    return at(few, **{name: lambda runs, value=value: value(runs) + by for name, value in limits.items()})


def steps_of(runs):
    return runs.steps


def points_of(runs):
    return runs.by_points


def narrowed(by):
    """Both numbers are T itself."""
    return at(few, points=steps_of, width=lambda runs: runs.steps + by)


def needing(number):
    return at(toy("J12"), limit=lambda runs: np.full(1, number))


GAP = (by_width(few()) - by_points(few())).min()
test_control = controls(
    xor_convergence,
    wide_runs,
    *deviation_rows(wide_runs(), theorem_3_3, theorem_3_3_iterations, theorem_3_3_lower_bound),
    (theorem_3_3, "zero_loss", at(failing(0)), at(failing(7))),
    (theorem_3_3, "signs", at(failing(0)), at(wrong_signs()), "zero_loss"),
    (theorem_3_3, "in_events", twelve_thousand(), twelve_thousand(status=(3, RunStatus.STALLED))),
    (theorem_3_3_iterations, "updates", ending(UPDATES[LATEST]), ending(UPDATES[LATEST] + 1)),
    # T ≤ Σa_i ≤ that number, so the first breaks with it.
    (theorem_3_3_iterations, "by_points", at(few), ending(by_points(few())[LATEST] + 1), "updates"),
    (theorem_3_3_iterations, "by_points", bounded(0, points=steps_of), bounded(-1e-9, points=steps_of)),
    (theorem_3_3_iterations, "by_width", at(few), ending(by_width(few())[LATEST] + 1), "by_points", "updates"),
    (theorem_3_3_iterations, "by_width", narrowed(0.0), narrowed(-1e-9), "order"),
    # By k/2 − 2√k ≤ n_i alone: the limit of the points is raised by what lies between the two, and by one more.
    (theorem_3_3_iterations, "order", bounded(GAP, points=points_of), bounded(GAP + 1e-9, points=points_of)),
    (theorem_3_3_iterations, "zero_loss", at(few), at(altered(few(), status=(3, RunStatus.STALLED)))),
    # J12 needs 15.854 iterations.
    (theorem_3_3_lower_bound, "iterations", at(toy("J12")), at(altered(toy("J12"), steps=(0, 15)))),
    (theorem_3_3_lower_bound, "iterations", needing(16 * (1 + 0.5e-12)), needing(16 * (1 + 3e-12))),
    but=(theorem_3_3_iterations_as_printed,),
)
