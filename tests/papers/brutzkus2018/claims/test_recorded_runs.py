"""The potentials of Theorem 2 in runs that were trained: what holds, how tightly, and what other constants break."""

import dataclasses

import numpy as np
import pytest

from tests.papers.brutzkus2018.toys import all_off, nearly_solved
from widenet.claims.base import Verdict
from widenet.networks.arrays import plus_minus_weights
from widenet.papers.brutzkus2018.claims import potentials
from widenet.papers.brutzkus2018.claims.potentials import (
    equation_9,
    equation_11,
    equation_11_step,
    equation_12,
    equation_12_step,
    theorem_2_chain,
)
from widenet.papers.brutzkus2018.formulas import root_bound
from widenet.papers.brutzkus2018.runs.recorded_runs import proof_settings, record_runs, run_recorded
from widenet.papers.brutzkus2018.sources import BasisTrial, Trial
from widenet.progress import silent
from widenet.records import Scale

STEPS = (equation_9, equation_11_step, equation_11, equation_12_step, equation_12, theorem_2_chain)


def basis(*arguments, **others):
    names = ("dim", "half_width", "slope", "step_size", "output_weight", "row_bound")
    return BasisTrial(**dict(zip(names, arguments, strict=False)), **others).draw()


@pytest.fixture(scope="module")
def cells():
    return [run_recorded(setting, silent) for setting in proof_settings(Scale.QUICK, 0)]


@pytest.mark.parametrize("claim", STEPS, ids=lambda claim: claim.id)
def test_it_holds_and_was_tested(claim, cells):
    evidence = claim(cells)
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.runs.tried > 100
    assert evidence.runs.unfinished == 0


def test_how_tight_every_step_is(cells):
    """Each has an instance in which it is attained, or nearly; a looser constant would show here."""
    tightness = {claim.name: [part.tightness for part in claim(cells).parts] for claim in STEPS}
    assert tightness["equation_9"] == pytest.approx([1, 1], rel=1e-9)
    assert tightness["equation_11_step"][0] == pytest.approx(0.999909091, rel=1e-8)
    assert tightness["equation_11"][0] == pytest.approx((2.999**2 + 4 + 219.98) / (2.999**2 + 4 + 220), rel=1e-8)
    assert tightness["equation_12_step"][0] == 1
    assert tightness["equation_12"][0] == 1
    assert tightness["theorem_2_chain"][0] == pytest.approx(0.999**2, rel=1e-6)
    assert tightness["theorem_2_chain"][1:3] == pytest.approx([1, 1], rel=1e-12)


def test_all_steps_read_the_same_cells():
    assert {(claim.reads[0].id, tuple(claim.reads[0].settings(Scale.QUICK, 0))) for claim in STEPS} == {
        ("brutzkus2018.recorded_runs", tuple(proof_settings(Scale.QUICK, 0)))
    }


def test_the_constants_of_the_proof():
    """k = 2, η = 10, v = 1/2, α = 1/2, ‖w*‖ = √3: by hand."""
    runs = record_runs(basis(3, 2, 0.5, 10.0))
    table = potentials.Potentials.join([runs])
    assert table.stacked_norm[0] == pytest.approx(12**0.5)
    assert table.square_growth[0] == pytest.approx(2 * 10 + 2 * 2 * 100 / 4)
    assert table.alignment_growth[0] == pytest.approx(2 * 2 * 10 * 0.5 * 0.5)


@pytest.mark.parametrize("claim", [equation_9, equation_12], ids=lambda claim: claim.id)
def test_without_a_separator_nothing_holds(claim):
    (trial,) = basis(4, 1, 0.5, 1.0)
    lost = dataclasses.replace(trial, separator=np.zeros(4))
    assert claim([record_runs([lost], most_updates=50)]).verdict is not Verdict.HOLDS


@pytest.mark.parametrize(
    ("claim", "key", "change"),
    [
        (equation_11_step, "derivative_at_zero", {"at_zero": 50.0, "hidden": np.zeros((2, 4))}),
        (equation_11_step, "slope_below_one", {"slope": 3.0}),
        (equation_11_step, "labels", {"labels": np.full(4, 10.0)}),
        (equation_11_step, "step_size", {"step_size": -1.0}),
        (equation_12_step, "derivative_above_slope", {"at_zero": 0.0, "hidden": np.zeros((2, 4))}),
        (equation_12_step, "labels", {"labels": np.full(4, 10.0)}),
        (equation_12_step, "step_size", {"step_size": -1.0}),
    ],
)
def test_control_steps_of_the_proof_measure_what_they_need(claim, key, change):
    (trial,) = basis(4, 1, 0.5, 1.0)
    evidence = claim([record_runs([dataclasses.replace(trial, **change)], most_updates=50)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert key in {h.key for h in evidence.hypotheses if not h.met}


def test_without_a_single_update_nothing_is_decided():
    """A start that already fits the data: no update, no evidence."""
    (trial,) = basis(4, 1, 0.5, 1.0)
    fitting = dataclasses.replace(trial, hidden=-100 * trial.hidden, row_bound=100.0)
    assert equation_12_step([record_runs([fitting])]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_equation_9_with_one_copy_of_the_separator():
    runs = record_runs(basis(25, 4, 0.5, 5.3))
    assert equation_9([runs]).verdict is Verdict.HOLDS
    evidence = equation_9([runs], constant=lambda runs: runs.separator_norm)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.tightness is not None
    assert evidence.tightness > 2


def test_control_equation_11_step_with_inputs_of_norm_3():
    """From zero weights the first step adds η²·9·2kv², here above 2η + η²."""
    (trial,) = basis(3, 2, 0.5, 10.0, row_bound=0.0)
    scaled = dataclasses.replace(trial, inputs=3 * trial.inputs)
    assert equation_11_step([record_runs([trial])]).verdict is Verdict.HOLDS
    evidence = equation_11_step([record_runs([scaled])])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [h.key for h in evidence.hypotheses if not h.met] == ["input_norm"]
    assert evidence.conclusion is False


def test_control_equation_11_without_the_term_2_eta():
    """C2 with d = 1, R = 0, α = .5, η = .1: G² ends at 1.64, and 2kη²v² alone would allow .16."""

    def without(runs):
        return 2 * runs.half_width * (runs.step_size * runs.output_weight) ** 2

    runs = record_runs(basis(1, 1, 0.5, 0.1, row_bound=0.0))
    assert equation_11([runs]).verdict is Verdict.HOLDS
    assert equation_11([runs], constant=without).verdict is Verdict.VIOLATED
    assert equation_11_step([runs], constant=without).verdict is Verdict.VIOLATED
    assert runs.norms[-1] ** 2 == pytest.approx(1.64, abs=0.01)
    assert runs.updates[0] * without(runs)[0] == pytest.approx(0.16, abs=0.01)


@pytest.mark.parametrize("claim", [equation_12_step, equation_12], ids=lambda claim: claim.id)
def test_control_equation_12_without_the_slope(claim):
    runs = record_runs(basis(4, 2, 0.1, 0.7))
    assert claim([runs]).verdict is Verdict.HOLDS
    wrong = claim([runs], constant=lambda r: 2 * r.half_width * r.step_size * r.output_weight)
    assert wrong.verdict is Verdict.VIOLATED
    assert wrong.parts[0].broken > 0


def test_control_equation_12_on_contradictory_data():
    """(x, 1) and (x, −1): no w* exists, F does not grow, and the judge promises nothing."""
    trial = Trial(
        np.ones((2, 1)),
        np.array([1.0, -1.0]),
        np.ones(1),
        np.zeros((2, 1)),
        plus_minus_weights(1, 1.0),
        0.5,
        0.1,
        0.0,
    )
    runs = record_runs([trial])
    evidence = equation_12_step([runs])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.runs.unfinished > 0
    chain = theorem_2_chain([runs])
    assert chain.verdict is Verdict.HYPOTHESES_NOT_MET
    assert chain.conclusion is None
    assert chain.promised is None


@pytest.mark.parametrize(("claim", "gains"), [(equation_11_step, "norm_gains"), (equation_12_step, "alignment_gains")])
def test_control_a_wrong_identity_is_noticed(claim, gains):
    """If an update did not do what the identity says, the step inequality proves nothing about the run."""
    runs = record_runs(basis(4, 2, 0.1, 0.7))
    factor = 0.99 if gains == "norm_gains" else 1.01  # towards what the inequality allows
    evidence = claim([dataclasses.replace(runs, **{gains: factor * getattr(runs, gains)})])
    assert evidence.verdict is Verdict.VIOLATED
    assert [part.name for part in evidence.parts if part.kept is False] == [evidence.parts[-1].name]


def test_control_the_chain_without_the_initial_weights():
    """C2 with R = 50: 156 updates, and the root with R = 0 would allow 14.8."""
    runs = record_runs(basis(4, 1, 0.9, 1.0001, 0.5**0.5, 50.0))
    honest = theorem_2_chain([runs])
    assert honest.verdict is Verdict.HOLDS
    assert honest.measured == 156

    def without(runs):
        norm, slope, eta, weight, _, half = runs.parameters
        return root_bound(norm, slope, eta, weight, 0.0, half)

    wrong = theorem_2_chain([runs], innermost=without)
    assert wrong.verdict is Verdict.VIOLATED
    assert wrong.promised == pytest.approx(14.8, abs=0.05)


@pytest.mark.parametrize(("step_size", "gain", "bound"), [(0.1, 1099 / 5000, 11 / 50), (10.0, 10999 / 50, 220.0)])
def test_equation_11_is_nearly_attained(step_size, gain, bound):
    for claim, start in ((equation_11_step, 0.0), (equation_11, 2.999**2 + 4)):
        evidence = claim([record_runs([nearly_solved(step_size)])])
        assert evidence.measured == pytest.approx(start + gain, rel=1e-12)
        assert evidence.promised == pytest.approx(start + bound, rel=1e-12)


def test_equation_12_is_attained():
    for claim in (equation_12_step, equation_12):
        evidence = claim([record_runs([all_off()], most_updates=1)])
        assert (evidence.measured, evidence.promised) == (pytest.approx(0.25), 0.25)
