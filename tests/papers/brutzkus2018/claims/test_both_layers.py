"""Eq. 13 holds, and its judge rejects what it must."""

import dataclasses

import numpy as np
import pytest

from tests.control_table import at, controls
from tests.papers.brutzkus2018.toys import as_perceptron, three_points, with_last
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims import both_layers
from widenet.papers.brutzkus2018.claims.both_layers import equation_13
from widenet.papers.brutzkus2018.runs.recorded_runs import both_layers_settings, record_runs, run_recorded
from widenet.papers.brutzkus2018.sources import SmallSteps
from widenet.progress import silent
from widenet.records import Scale
from widenet.types import Layers, RunStatus


@pytest.fixture(scope="module")
def runs():
    (setting,) = both_layers_settings(Scale.QUICK, 0)
    return run_recorded(setting, silent)


def trained(**changes):
    trials = SmallSteps(seed=0, per_width=3, half_widths=(5,), **changes.pop("source", {})).draw()
    return record_runs(
        [dataclasses.replace(trial, **changes) for trial in trials], layers=Layers.BOTH, most_updates=20_000
    )


def test_it_holds(runs):
    evidence = equation_13([runs])
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.runs.tried >= 20
    assert evidence.details["largest_C"] > 1.5  # the output weights did move
    assert evidence.details["smallest_c"] < 1


def test_control_only_the_first_term():
    """α = .9, η = .01, k = 5."""
    slow = trained(slope=0.9, step_size=0.01)
    assert equation_13([slow]).verdict is Verdict.HOLDS

    def first_term(norm, slope, eta, weight, radius, half, low, high):
        return (high * norm / (low * slope)) ** 2

    evidence = equation_13([slow], bound=first_term)
    assert evidence.verdict is Verdict.VIOLATED
    assert [part.kept for part in evidence.parts] == [False, True, True, True]


def test_control_a_run_in_which_signs_change_is_promised_nothing():
    """A large step turns an output weight around: c ≤ 0."""
    evidence = equation_13([trained(source={"step_sizes": (4.0, 5.0)})])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [h.key for h in evidence.hypotheses if not h.met] == ["no_sign_change"]
    assert evidence.details["smallest_c"] <= 0


@pytest.mark.parametrize(("field", "factor", "broken"), [("norms", 1.2, 1), ("alignments", 0.8, 2)])
def test_control_each_inequality_of_the_proof(runs, field, factor, broken):
    """F and G² that grow a fifth faster or slower than they did."""
    evidence = equation_13([dataclasses.replace(runs, **{field: factor * getattr(runs, field)})])
    assert [place for place, part in enumerate(evidence.parts) if part.kept is False] == [broken]


def test_how_tight_the_inequalities_of_the_proof_are(runs):
    """Looser constants would show here."""
    square, alignment = equation_13([runs]).parts[1:3]
    assert square.tightness == pytest.approx(0.9845, abs=1e-3)
    assert alignment.tightness == pytest.approx(0.9595, abs=1e-3)


@pytest.mark.parametrize("status", [RunStatus.BUDGET_SPENT, RunStatus.DIVERGED])
def test_runs_that_did_not_end_decide_nothing(runs, status):
    evidence = equation_13([dataclasses.replace(runs, status=np.full(len(runs), status))])
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE


TOY = record_runs([three_points(0.5, 0.25)], layers=Layers.BOTH, most_updates=100)


def one_update(ratio, gain_of_square, gain_of_alignment):
    """A record of one update with k = v = η = 1, α = ½, before which both output weights were `ratio`·v."""
    one = {name: getattr(TOY, name)[:1] for name in (field.name for field in dataclasses.fields(TOY))}
    per_run = {"half_width": 1.0, "output_weight": 1.0, "step_size": 1.0, "slope": 0.5, "row_bound": 1.5}
    times = {
        "norms": np.sqrt([2.0, 2.0 + gain_of_square]),
        "alignments": np.array([0.0, gain_of_alignment]),
        "smallest_ratios": np.full(2, min(ratio, 1.0)),
        "largest_ratios": np.full(2, max(ratio, 1.0)),
        "updates": np.array([1]),
    }
    return dataclasses.replace(TOY, **one | {name: np.array([value]) for name, value in per_run.items()} | times)


def test_the_growth_of_the_square():
    """C = 2: 2η + 2kη²C²v² = 10. A weight of 2 at w = u = x = 1 really adds 8; without C² only 4 were allowed."""
    assert equation_13([one_update(2.0, 8.0, 4.0)]).parts[1].promised == 10


def test_the_growth_of_the_alignment():
    """c = ½: 2kηcvα = ½, which weights of ½ at w = u = −1 attain; with c = 1 it would be 1."""
    assert equation_13([one_update(0.5, 1.0, 0.5)]).parts[2].tightness == 1


def test_a_promise_of_no_growth_is_vacuous():
    """2kηcvα = c here."""
    found = [equation_13([one_update(ratio, 1.0, 0.5)]).parts[2] for ratio in (0.0, 0.05)]
    assert [(part.promised, part.vacuous) for part in found] == [(0, True), (0.05, False)]


def test_the_bound_is_taken_with_the_ratios_before_each_update():
    """At t = 1 both ratios are still 1; at the end the bound is 548.7 of c = 0.509 and C = 2.83."""
    seen = []

    def bound(*parameters):
        seen.append(parameters[-2:])
        return np.full(TOY.updates[0], 1e9)

    equation_13([TOY], bound=bound)
    ((low, high),) = seen
    assert (low[0], high[0]) == (1, 1)
    assert (low[1], high[1]) == pytest.approx((19 / 25, 111 / 100))
    evidence = equation_13([TOY])
    assert evidence.details["smallest_c"] == pytest.approx(0.509352568594)
    assert evidence.details["largest_C"] == pytest.approx(2.83461599977)


def test_how_close_the_steps_of_three_points_come():
    square, alignment = equation_13([TOY]).parts[1:3]
    assert square.tightness == pytest.approx(0.49944953)
    assert alignment.tightness == pytest.approx(1 / 1.4967105)


def promising(limit):
    return lambda *parameters: np.full(len(parameters[0]), limit)


def stopped(early):
    with pytest.MonkeyPatch.context() as patch:
        if early:
            as_perceptron(patch)
        return record_runs([three_points(0.5, 0.25)], layers=Layers.BOTH, most_updates=100)


def test_ten_updates():
    assert TOY.updates.tolist() == [10]


test_control = controls(
    both_layers,
    TOY,
    (equation_13, "updates", {"bound": promising(10 - 1e-12)}, {"bound": promising(10 - 5e-11)}),
    (equation_13, "square", at(one_update(2.0, 10 + 1e-9, 4.0)), at(one_update(2.0, 10 + 5e-8, 4.0))),
    (equation_13, "alignment", at(one_update(0.5, 1.0, 0.5 - 1e-11)), at(one_update(0.5, 1.0, 0.5 - 2e-9))),
    (equation_13, "zero_loss", at(stopped(False)), at(stopped(True))),
    (equation_13, "zero_loss", {}, {"last_margin": 1 - 5e-12}),
    (equation_13, "derivative_above_slope", {"slope": 0.5, "at_zero": 0.5}, {"slope": 0.5, "at_zero": 0.5 - 1e-15}),
)


def test_a_run_that_blew_up_breaks_no_count():
    lost = with_last(TOY, status=RunStatus.DIVERGED, last_margin=0.0)
    evidence = equation_13([lost], bound=lambda *p: np.full(10, 5.0))
    assert [part.kept for part in evidence.parts] == [None, True, True, None]
