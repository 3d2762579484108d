"""How runs are scored, which hypotheses are measured, and that every claim about trajectories comes out as expected."""

import dataclasses

import numpy as np
import pytest

from tests.controls import broken_in
from tests.papers.brutzkus2019.claims.settings import FAST, SMALL, WIDE, altered, now, part_of, plus, toy, traced
from tests.papers.brutzkus2019.claims.trace_edges import with_setting
from tests.thresholds import hypothesis_of
from widenet.claims.base import Claim, Evidence, Verdict
from widenet.claims.implication import at_least, at_most, more_than
from widenet.papers.brutzkus2019.claims import at_zero_loss, first_crossing, minus_filters, overshoot, plus_filters
from widenet.papers.brutzkus2019.claims.first_crossing import lemma_e_16, lemma_e_16_as_printed
from widenet.papers.brutzkus2019.claims.overshoot import lemma_e_13
from widenet.papers.brutzkus2019.claims.plus_filters import lemma_6_2, lemma_6_2_as_printed
from widenet.papers.brutzkus2019.claims.trajectories import Scored, Trajectories
from widenet.papers.brutzkus2019.runs.trace_settings import crossing_counterexample
from widenet.papers.brutzkus2019.runs.traces import (
    GRID,
    Trace,
    TraceSetting,
    attained_runs,
    draw_fits,
    follow,
    run_trace,
)
from widenet.progress import silent
from widenet.records import Scale
from widenet.types import RunStatus

CLAIMS = [
    claim
    for module in (plus_filters, minus_filters, overshoot, first_crossing, at_zero_loss)
    for claim in vars(module).values()
    if isinstance(claim, Claim)
]
NARROW = TraceSetting(half_width=2, step_constant=1 / 8, margin=1.0, n_runs=60, seed=4)
REFUTES_E_16 = crossing_counterexample(Scale.QUICK, 0)[0].model_copy(update={"n_runs": 1})


def hypothesis_met(evidence: Evidence, key: str) -> bool:
    return hypothesis_of(evidence, key).met is True


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_every_claim_comes_out_as_expected(claim):
    """The repaired statements on runs of several widths, the printed ones inside the regime of Theorem 6.3."""
    if claim.expected is Verdict.HOLDS:
        settings = (FAST,) if claim.name == "equation_14_stuck" else (FAST, SMALL, NARROW)
        evidence = claim([traced(setting) for setting in settings])
        assert all(part.kept for part in evidence.parts)
    else:
        evidence = claim([traced(REFUTES_E_16 if claim is lemma_e_16_as_printed else WIDE)])
        assert hypothesis_met(evidence, "width"), "a refutation lies inside the regime of Theorem 6.3"
    assert evidence.verdict is claim.expected
    assert evidence.runs.unfinished == 0


def test_there_are_as_many_claims_as_before():
    assert len(CLAIMS) == 33


def test_a_run_outside_the_event_is_counted_and_not_scored():
    fits = draw_fits(SMALL)
    fits[0, 0] = np.round(np.array([0.1, 2.05]) / GRID) * GRID
    fits[0, 1] = np.round(np.array([2.3, 2.25]) / GRID) * GRID
    evidence = lemma_6_2([follow(SMALL, fits)])
    assert evidence.verdict is Verdict.HOLDS
    assert (evidence.runs.tried, evidence.runs.outside) == (6, 1)
    assert part_of(evidence, "(3) W_t⁺(i) = W_0⁺(i)").n_cases == 5
    assert "1 runs outside" in evidence.note


@pytest.mark.parametrize(("largest", "inside"), [(22, True), (23, False)])
def test_edge_of_the_event(largest, inside):
    """√2/4 lies between 22/64 and 23/64."""
    trace = toy("D4")
    start = trace.start.copy()
    start[0, 0, 0] = largest / 64
    evidence = lemma_6_2([follow(trace.setting, start)])
    assert evidence.runs.outside == (not inside)
    assert hypothesis_met(evidence, "in_event") == inside


def test_without_a_run_in_the_event_the_conclusion_is_measured_all_the_same():
    trace = toy("D4")
    start = trace.start.copy()
    start[0, 0, 0] = 23 / 64
    evidence = lemma_6_2([altered(follow(trace.setting, start), "w_moved", 5, now(1))])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert broken_in(evidence) == ["(3) W_t⁺(i) = W_0⁺(i)"]


def test_a_run_cut_off_by_its_budget_decides_nothing():
    trace = traced(SMALL)
    status = trace.status.copy()
    status[1] = RunStatus.BUDGET_SPENT
    cut = dataclasses.replace(trace, status=status)
    evidence = lemma_6_2([cut])
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert evidence.runs.unfinished == 1
    assert {part.undecided for part in evidence.parts} == {1}
    # What it broke before stays broken.
    evidence = lemma_6_2([altered(cut, "w_moved", 5, now(1))])
    assert evidence.verdict is Verdict.VIOLATED


def test_a_nan_passes_no_check_and_breaks_none():
    cut = altered(traced(SMALL), "s_plus", 3, now(np.nan))
    assert lemma_e_13([cut]).verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert lemma_e_13([altered(cut, "s_plus", 5, plus(1e6))]).verdict is Verdict.VIOLATED


def compared(word, values, limit, where):
    """The sides of the six runs of SMALL, of which so many steps are known."""
    runs = Trajectories.join([traced(SMALL)])
    n_times = len(runs.per("time")) // 6
    values, where = (np.pad(each, ((0, 0), (0, n_times - each.shape[1])), mode="edge") for each in (values, where))
    where[:, 4:] = False
    return Scored(runs).sides(runs.per("time"), word(values.ravel(), limit, where=where.ravel()))


def test_the_closest_step_of_each_run_is_compared():
    """The largest value where it is asked, and nothing where it is not."""
    values = np.tile([1.0, 5.0, 3.0, 2.0], (6, 1)) + np.arange(6)[:, None]
    where = np.tile([True, False, True, True], (6, 1))
    where[5] = False
    sides = compared(at_most, values, 7.0, where)
    assert sides.measured.tolist()[:5] == [3.0, 4.0, 5.0, 6.0, 7.0]
    assert sides.scored.tolist() == [True] * 5 + [False]
    assert compared(at_least, values, 1.0, where).kept
    assert compared(more_than, values, 1.0, where).kept is False
    blank = Trajectories.join([])
    assert Scored(blank).sides(blank.per("time"), at_most(np.zeros(0), 1.0)).kept is None


def test_without_room_nothing_beyond_the_promise_is_kept():
    values = np.full((6, 1), 7 + 1e-9)
    values[:3] = 7.0
    broken_runs = compared(at_most, values, 7.0, np.ones((6, 1), bool)).broken
    assert broken_runs.tolist() == [False] * 3 + [True] * 3


def test_a_number_that_is_missing_where_nothing_is_asked_is_not_lost():
    values = np.tile([1.0, np.nan, 3.0, 3.0], (6, 1))
    for asked, lost in (([True, False, True, True], False), ([True, True, True, True], True)):
        sides = compared(at_most, values, 7.0, np.tile(asked, (6, 1)))
        assert sides.undecided.tolist() == [lost] * 6


def outside_with(status: RunStatus) -> Evidence:
    """The first run starts outside the event, and ends like this."""
    trace = traced(SMALL)
    start, ends = trace.start.copy(), np.full(6, RunStatus.CONVERGED)
    start[0, 0, 0], ends[0] = 2.0, status
    return lemma_6_2([dataclasses.replace(trace, start=start, status=ends)])


def test_runs_that_are_not_scored_are_not_called_unfinished():
    assert outside_with(RunStatus.BUDGET_SPENT).runs.unfinished == 0
    assert outside_with(RunStatus.STALLED).details["runs_stalled"] == 1


def test_where_no_run_is_scored_all_that_were_cut_off_are_unfinished():
    trace = traced(SMALL)
    start, cut_off = trace.start.copy(), np.arange(6) < 4
    start[:, 0, 0] = 2.0
    status = np.where(cut_off, RunStatus.BUDGET_SPENT, RunStatus.CONVERGED)
    runs = lemma_6_2([dataclasses.replace(trace, start=start, status=status)]).runs
    assert (runs.outside, runs.unfinished) == (6, 4)


def test_from_a_hundred_fits_on_the_deviation_is_measured():
    hundred = TraceSetting(half_width=5, step_constant=1 / 8, margin=2.0, n_runs=5, seed=3)
    for setting, n_fits in ((SMALL, 96), (hundred, 100)):
        trace = traced(setting)
        assert trace.start.size == n_fits
        assert ("deviation" in {each.key for each in lemma_6_2([trace]).hypotheses}) == (n_fits == 100)


def are_met(claim: Claim, key: str, *traces: Trace) -> list[bool]:
    """Whether the hypothesis is met on these, in this order and in the other."""
    return [hypothesis_met(claim(list(order)), key) for order in (traces, traces[::-1])]


@pytest.mark.parametrize(
    ("claim", "setting", "key", "changes"),
    [
        (lemma_6_2, SMALL, "step_constant", {"step_constant": 1 / 8 + 1e-9}),
        (lemma_6_2, SMALL, "margin", {"margin": 1 - 1e-9}),
        (lemma_6_2_as_printed, WIDE, "width", {"half_width": 119}),
    ],
)
def test_one_setting_outside_beside_another(claim, setting, key, changes):
    trace = traced(setting)
    assert are_met(claim, key, trace, trace) == [True, True]
    assert are_met(claim, key, trace, with_setting(trace, **changes)) == [False, False]


@pytest.mark.parametrize(("n_inside", "met"), [(0, False), (1, True)])
def test_one_setting_without_a_run_in_the_event_beside_another(n_inside, met):
    """All but the first of six runs, or all six, have one fit of 2η, and √2/4 is allowed."""
    trace = traced(SMALL)
    start = trace.start.copy()
    start[n_inside:, 0, 0] = 2.0
    scattered = dataclasses.replace(trace, start=start)
    assert are_met(lemma_6_2, "in_event", trace, scattered) == [met, met]
    runs = hypothesis_of(lemma_6_2([trace, scattered]), "in_event")
    assert runs.actual == n_inside


def test_one_deviation_that_is_too_large_beside_another():
    sixteen = TraceSetting(half_width=16, step_constant=1 / 8, margin=1.0, n_runs=30, seed=2)
    large = sixteen.model_copy(update={"spread": 1.2})
    assert are_met(lemma_6_2, "deviation", traced(sixteen), traced(large)) == [False, False]


@pytest.mark.parametrize(
    ("key", "inside", "outside"),
    [
        ("step_constant", {"step_constant": 1 / 8}, {"step_constant": 0.1251}),
        ("margin", {"margin": 1.0}, {"margin": 0.999}),
    ],
)
def test_edges_of_the_lemmas(key, inside, outside):
    assert hypothesis_met(lemma_6_2([with_setting(toy("D4"), **inside)]), key)
    evidence = lemma_6_2([with_setting(toy("D4"), **outside)])
    assert not hypothesis_met(evidence, key)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET


@pytest.mark.parametrize(
    ("key", "changes"),
    [("step_constant", {"step_constant": 1 / 409}), ("margin", {"margin": 7.999}), ("width", {"half_width": 119})],
)
def test_edges_of_the_regime_of_theorem_6_3(key, changes):
    trace = traced(WIDE)
    assert hypothesis_met(lemma_6_2_as_printed([trace]), key)
    evidence = lemma_6_2_as_printed([with_setting(trace, **changes)])
    assert not hypothesis_met(evidence, key)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET


@pytest.mark.parametrize(
    "claim", [claim for claim in CLAIMS if claim.expected is Verdict.VIOLATED], ids=lambda claim: claim.name
)
@pytest.mark.parametrize(
    ("key", "changes"),
    [
        ("step_constant", {"step_constant": 1 / 410 + 1e-9}),
        ("margin", {"margin": 8 - 1e-9}),
        ("width", {"half_width": 119}),
    ],
)
def test_a_refutation_lies_inside_the_regime_of_theorem_6_3(claim, key, changes):
    """k = 120, c_η = 1/410 and γ = 8 are inside; a little less or more is not."""
    trace = traced(WIDE)
    assert hypothesis_met(claim([trace]), key)
    assert not hypothesis_met(claim([with_setting(trace, **changes)]), key)


def test_default_runs_come_nearest_to_the_bounds():
    """The starts that were followed by hand are among the defaults, and the bounds are as close there as by hand."""
    seen = [run_trace(setting, silent) for setting in attained_runs()]
    closest = {
        (lemma_e_13, "N(x⁺) < γ + 4c_η"): 511 / 512,
        (lemma_e_13, "−N(x⁻) < 1 + 4c_η"): 951 / 1024,
        (lemma_e_13, "S⁺ ≤ γ + 1 + 8c_η"): 91 / 128,
        (plus_filters.lemma_e_4, "N(x⁺) ≤ (2t + √2/4)c_η"): 0.9851866085454196,
        (lemma_6_2, "(1) |⟨v_t, p₂⟩| < 2η"): 127 / 128,
        (minus_filters.lemma_e_8, "S⁻ < 2η|W13|"): 127 / 128,
        (minus_filters.lemma_e_20, "the two means differ by at most η"): 20 / 64,
        (lemma_e_16, "S⁺ ≥ γ + 1 − 2c_η(1 + |W24|/k) at T2"): 127 / 128,
        (first_crossing.lemma_e_16_steps, "N(x⁺) ≥ γ: at least γ − 2c_η(1 + |W24|/k) after"): 1.0,
        (overshoot.sharp_bounds, "(v) at most 1 + 4/ω steps with only x⁺ active"): 7 / 17,
        (overshoot.sharp_bounds, "(vi) S⁻_T + X_T"): 63 / 64,
        (at_zero_loss.equation_15, "S⁺_T ≥ γ + 1"): (1 + 659 / 512) / (1 + 659 / 512 + 1 / 512),
        (at_zero_loss.equation_21, "Y(2) + Y(4) + Z(2) + Z(4) ≥ 1"): 1 / (1 + 1 / 512),
    }
    for (claim, name), tightness in closest.items():
        assert part_of(claim(seen), name).tightness == pytest.approx(tightness, rel=1e-12), name
        assert set(attained_runs()) <= set(claim.reads[0].settings(Scale.QUICK, 0))


def test_a_step_constant_above_one_eighth_is_outside_the_hypotheses():
    setting = SMALL.model_copy(update={"step_constant": 1 / 7})
    assert lemma_6_2([traced(setting)]).verdict is Verdict.HYPOTHESES_NOT_MET


@pytest.mark.parametrize(("spread", "met"), [(1.0, True), (1.2, False), (6.0, False)])
def test_the_initial_deviation_is_measured_on_all_starts(spread, met):
    """1920 fits; at six times the largest σ_g most runs are outside the event, and they count here."""
    setting = TraceSetting(half_width=16, step_constant=1 / 8, margin=1.0, n_runs=30, seed=2, spread=spread)
    evidence = lemma_6_2([traced(setting)])
    assert hypothesis_met(evidence, "deviation") == met
    assert (evidence.verdict is Verdict.HYPOTHESES_NOT_MET) == (not met)


def test_the_worst_of_several_settings_is_shown():
    evidence = lemma_6_2([traced(SMALL), traced(NARROW)])
    margin = hypothesis_of(evidence, "margin")
    assert margin.actual == 1.0
    runs = hypothesis_of(lemma_e_16([traced(SMALL), traced(NARROW)]), "in_event")
    assert float(runs.actual) < 66, "a run that stalls is not at zero loss"
