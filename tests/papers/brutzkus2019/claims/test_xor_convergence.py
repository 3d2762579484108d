"""Theorem 3.3: loss 0 for wide networks, and how many iterations it takes."""

import dataclasses

import numpy as np
import pytest

from tests.controls import breaks_hypothesis, breaks_part, broken_in, every_part_of, lacking_in, spares
from tests.papers.brutzkus2019.claims.xor_edges import second_outside, shared_edges, with_deviation, with_start
from tests.papers.brutzkus2019.claims.xor_toys import altered, as_expected, chosen, drawn, toy, undecided
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims import xor_convergence
from widenet.papers.brutzkus2019.claims.xor_convergence import (
    as_printed,
    by_points,
    by_width,
    needed,
    theorem_3_3,
    theorem_3_3_iterations,
    theorem_3_3_iterations_as_printed,
    theorem_3_3_lower_bound,
)
from widenet.papers.brutzkus2019.runs.xor import trace_xor
from widenet.progress import silent
from widenet.records import Scale
from widenet.types import RunStatus

CLAIMS = [theorem_3_3, theorem_3_3_iterations, theorem_3_3_iterations_as_printed, theorem_3_3_lower_bound]
LOSS, SIGNS, EVENTS = "loss 0", "all four signs right", "no failure in the events of Lemmas B.2 and 3.1"
POINTS, WIDTH = "T ≤ Σ_i ⌈(1 + 2kη)/(2ηn_i)⌉", "T ≤ 4⌈(1 + 2kη)√k/(kη(√k − 4))⌉"
ORDER = "Σ_i ⌈(1 + 2kη)/(2ηn_i)⌉ ≤ 4⌈(1 + 2kη)√k/(kη(√k − 4))⌉"
STEPS, REACHED = "T ≤ Σ_i a_i(T)", "loss 0 is reached"


def few():
    return drawn(50, 0.1, 20)


test_verdict_on_the_default_setting = as_expected(CLAIMS)


def test_the_printed_numbers():
    assert as_printed(few().start)[0] == pytest.approx(22.31, abs=0.01)
    rows = theorem_3_3_iterations([drawn(50, 0.01, 50)]).details["iterations"]
    assert rows[0]["printed"][0] == pytest.approx(16.33, abs=0.01)
    assert needed(drawn(50, 0.01, 50).start)[0] == pytest.approx(99.82, abs=0.01)


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
    (part,) = theorem_3_3_iterations([in_time], printed=lambda start: np.full(start.n_runs, 22.0)).parts
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
    sums = {"own_sums": 1e-9 * run.start.goal, "opposing_sums": 0.0}
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
    assert small.start.in_event.mean() < 0.9
    evidence = theorem_3_3([small])
    assert not lacking_in(evidence)
    assert (evidence.parts[0].cases, evidence.parts[0].broken) == (200, 0)
    assert lacking_in(theorem_3_3([drawn(50, 0.4, 200, spread=2.0)])) == ["deviation"]
    assert lacking_in(theorem_3_3([drawn(16, 0.4, 200)])) == ["width"]


def test_control_one_failure_inside_the_events_refutes_however_few_the_runs():
    evidence = theorem_3_3([altered(few(), status=(3, RunStatus.STALLED))])
    assert evidence.verdict is Verdict.VIOLATED
    assert broken_in(evidence) == [EVENTS]
    # The same run outside the events is one of twenty that fails, which decides nothing.
    fits = few().start.fits.copy()
    fits[3, 0, 0, 0] = 0.36
    outside = dataclasses.replace(few(), start=dataclasses.replace(few().start, fits=fits, deviation=None))
    assert theorem_3_3([altered(outside, status=(3, RunStatus.STALLED))]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_a_loss_of_a_trillionth_is_not_0():
    last = few().opposing_sums[-1, 3, 0] + few().start.goal * (1 - 1e-12)
    assert broken_in(theorem_3_3([altered(few(), own_sums=((-1, 3, 0), last))])) == [EVENTS]


def outside(run, n_runs):
    """The first runs start outside the event of Lemma B.2, so that only the rate speaks about them."""
    fits = run.start.fits.copy()
    fits[:n_runs, 0, 0, 0] = 0.36
    return with_start(run, fits=fits, deviation=None)


def failing(n_runs):
    """1200 runs of which so many stall at a loss of 1e-9, outside the events."""
    run = outside(drawn(50, 0.4, 1200), n_runs)
    last = run.opposing_sums[-1, :n_runs, 0] + run.start.goal * (1 - 1e-9)
    return altered(run, own_sums=((-1, slice(n_runs), 0), last), status=(slice(n_runs), RunStatus.STALLED))


@breaks_part(theorem_3_3, LOSS)
def test_control_as_many_failures_as_refute_the_rate():
    """8e⁻⁸ = 0.00268: of 1200 runs seven failures refute it, six do not decide, none confirms it."""
    assert theorem_3_3([failing(6)]).parts[0].kept is None
    shown = theorem_3_3([failing(7)]).parts[0]
    assert (shown.measured, shown.promised) == (pytest.approx(1e-9, rel=1e-3), 0)
    return theorem_3_3([failing(0)]), theorem_3_3([failing(7)])


@pytest.mark.parametrize(("n_runs", "verdict"), [(1115, Verdict.HOLDS), (1114, Verdict.INSUFFICIENT_EVIDENCE)])
def test_how_many_runs_confirm_theorem_3_3(n_runs, verdict):
    """The fewest n with (1 − 8e⁻⁸)ⁿ ≤ 0.05; the same for the printed number of iterations."""
    run = chosen(drawn(50, 0.4, 1200), np.arange(n_runs))
    assert theorem_3_3([run]).verdict is verdict
    assert theorem_3_3_iterations_as_printed([run]).verdict is verdict


@breaks_part(theorem_3_3, SIGNS, also=(LOSS,))
def test_control_signs_that_are_wrong():
    """At loss 0 all signs are right, so a wrong one is a failure of the first part too. N = 0 is wrong."""
    run = outside(drawn(50, 0.4, 1200), 8)
    wrong = altered(run, own_sums=((-1, slice(8), 2), 0.0), opposing_sums=((-1, slice(8), 2), 0.0))
    return theorem_3_3([wrong])


@breaks_part(theorem_3_3, EVENTS)
def test_control_one_failure_inside_both_events():
    """Among 12 000 runs one failure does not refute the rate, which two events exclude."""
    run = chosen(drawn(50, 0.4, 1200), np.arange(12_000) % 1200)
    assert (run.start.in_event & run.start.explored)[3]
    return theorem_3_3([run]), theorem_3_3([altered(run, status=(3, RunStatus.STALLED))])


def test_a_failure_outside_one_of_the_two_events_is_none_inside_both():
    run = chosen(drawn(50, 0.4, 1200), np.arange(12_000) % 1200)
    stalled = altered(run, status=(3, RunStatus.STALLED))
    assert broken_in(theorem_3_3([outside(stalled, 4)])) == []
    fits = stalled.start.fits.copy()
    fits[3] = np.abs(fits[3])
    assert broken_in(theorem_3_3([with_start(stalled, fits=fits, deviation=None)])) == []


@breaks_hypothesis(theorem_3_3, "deviation")
def test_control_the_deviation_against_the_constant_and_not_the_step():
    """With η = c_η/(10k) the limit on 16√k·σ_g/η is ten times as large."""
    run = drawn(17, 0.4, 30, step_share=0.1)
    most = 10 * (1 + 6 / np.sqrt(2 * run.start.fits.size))
    return theorem_3_3([with_deviation(run, most - 1e-6)]), theorem_3_3([with_deviation(run, most + 1e-6)])


def test_the_edges_of_the_regime_are_among_the_defaults():
    (experiment,) = theorem_3_3.reads
    rows = {(s.half_width, s.step_constant, s.step_share) for s in experiment.settings(Scale.QUICK, 0)}
    assert {(17, 0.49, 1.0), (17, 0.49, 0.05), (50, 0.4, 0.1)} <= rows
    assert toy("J12").steps[0] == 16
    (lower,) = theorem_3_3_lower_bound.reads
    nearest = lower.run(lower.settings(Scale.QUICK, 0)[-1], silent)
    assert np.array_equal(nearest.start.fits, toy("J12").start.fits)
    assert nearest.start.goal == toy("J12").start.goal


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
    starts = [drawn(50, 0.4, 20).start, drawn(50, 0.4, 20, spread=40.0).start]
    evidence = theorem_3_3_lower_bound([trace_xor(dataclasses.replace(start, deviation=None)) for start in starts])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert lacking_in(evidence) == ["in_event"]


def test_control_each_number_of_iterations():
    """The last run of a setting later by one than it may be, and in time at the number itself."""
    updates, points, width = few().updates.sum(axis=1), by_points(few().start), by_width(few().start)
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


def ending(steps_of):
    """The run of few() with most room ends as late as this says, from its updates and its two limits."""
    updates, points, width = few().updates.sum(axis=1), by_points(few().start), by_width(few().start)
    run = int(np.argmax(points - updates))
    return theorem_3_3_iterations([altered(few(), steps=(run, steps_of(updates[run], points[run], width[run])))])


@breaks_part(theorem_3_3_iterations, STEPS)
def test_control_more_steps_than_active_times():
    return ending(lambda updates, *_: updates), ending(lambda updates, *_: updates + 1)


@breaks_part(theorem_3_3_iterations, POINTS, also=(STEPS,))
def test_control_more_steps_than_the_points_allow():
    """T ≤ Σa_i ≤ that number, so the first breaks with it."""
    assert broken_in(ending(lambda _, points, __: points)) == [STEPS]
    return ending(lambda _, points, __: points + 1)


@breaks_part(theorem_3_3_iterations, WIDTH, also=(STEPS, POINTS))
def test_control_more_steps_than_the_width_allows():
    assert broken_in(ending(lambda _, __, width: width)) == [POINTS, STEPS]
    return ending(lambda _, __, width: width + 1)


@breaks_part(theorem_3_3_iterations, ORDER)
def test_control_limits_in_the_wrong_order():
    """By k/2 − 2√k ≤ n_i alone: the limit of the points is raised by what lies between the two, and by one more."""
    gap = (by_width(few().start) - by_points(few().start)).min()

    def raised(by):
        return theorem_3_3_iterations([few()], points=lambda start: by_points(start) + by)

    return raised(gap), raised(gap + 1)


@breaks_part(theorem_3_3_iterations, REACHED)
def test_control_a_run_that_stalls():
    return theorem_3_3_iterations([few()]), theorem_3_3_iterations([altered(few(), status=(3, RunStatus.STALLED))])


@spares(theorem_3_3_iterations_as_printed)
def test_the_printed_number_of_iterations_with_large_steps():
    return theorem_3_3_iterations_as_printed([drawn(50, 0.4, 1200)])


@breaks_part(theorem_3_3_lower_bound, "T ≥ 1/(kη) − √2/8")
def test_control_a_run_that_is_faster_than_possible():
    """J12 needs 15.854 iterations."""
    return theorem_3_3_lower_bound([toy("J12")]), theorem_3_3_lower_bound([altered(toy("J12"), steps=(0, 15))])


def test_the_numbers_of_iterations_that_are_promised():
    """1/η = 500 and k = 50: Σ_i ⌈600/(2n_i)⌉, and 4⌈600/(√50(√50 − 4))⌉."""
    assert np.array_equal(by_points(few().start), np.ceil(300 / few().start.own_counts).sum(axis=1))
    assert set(by_width(few().start)) == {4 * 28}
    promised = {part.name: part.promised for part in theorem_3_3_iterations([few()]).parts}
    assert promised[POINTS] in by_points(few().start)
    assert promised[WIDTH] == 112


def test_control_the_order_of_the_two_numbers():
    evidence = theorem_3_3_iterations([few()], points=lambda start: 2 * by_points(start) + by_width(start))
    assert broken_in(evidence) == [ORDER]


def test_control_a_run_that_stalls_has_no_number_of_iterations():
    evidence = theorem_3_3_iterations([altered(few(), status=(3, RunStatus.STALLED))])
    assert broken_in(evidence) == [REACHED]


def test_control_half_the_iterations():
    evidence = theorem_3_3_iterations([drawn(50, 0.01, 50)], points=lambda start: by_points(start) / 8)
    assert evidence.verdict is Verdict.VIOLATED


def test_control_twice_the_lower_bound():
    evidence = theorem_3_3_lower_bound([drawn(50, 0.01, 50)], limit=lambda start: 2 * needed(start))
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.parts[0].broken == 50


def test_control_the_lower_bound_where_it_is_nearly_attained():
    def more(extra):
        return theorem_3_3_lower_bound([toy("J12")], limit=lambda start: needed(start) + extra)

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


test_control_each_hypothesis_of_theorem_3_3 = shared_edges(theorem_3_3, wide=True, event=False)
test_control_each_hypothesis_of_the_iterations = shared_edges(theorem_3_3_iterations, wide=True, explored=True)
test_control_each_hypothesis_of_the_lower_bound = shared_edges(theorem_3_3_lower_bound, at_zero_loss=True)
test_every_part_has_a_control = every_part_of(xor_convergence)
