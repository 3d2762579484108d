"""The steps of the proof of Theorem 2 hold at every update, and their judges reject what they must."""

import dataclasses

import numpy as np
import pytest

from tests.controls import breaks_part, every_part_of, hypothesis_edges, part_edges
from tests.papers.brutzkus2018.toys import all_off, as_perceptron, nearly_solved, three_points, with_last
from widenet.claims.base import Verdict
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
from widenet.papers.brutzkus2018.runs.ledgers import keep_ledgers, proof_settings, run_ledgers
from widenet.papers.brutzkus2018.runs.trials import BasisTrial, Trial, plus_minus_weights
from widenet.progress import silent
from widenet.records import Scale
from widenet.types import RunStatus

STEPS = (equation_9, equation_11_step, equation_11, equation_12_step, equation_12, theorem_2_chain)


def basis(*arguments, **others):
    names = ("dim", "half_width", "slope", "step_size", "output_weight", "row_bound")
    return BasisTrial(**dict(zip(names, arguments, strict=False)), **others).draw()


@pytest.fixture(scope="module")
def cells():
    return [run_ledgers(setting, silent) for setting in proof_settings(Scale.QUICK, 0)]


@pytest.mark.parametrize("claim", STEPS, ids=lambda claim: claim.id)
def test_it_holds_and_was_tested(claim, cells):
    evidence = claim(cells)
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.runs.tried > 100
    assert evidence.runs.unfinished == 0


def test_how_tight_every_step_is(cells):
    """Each has an instance in which it is attained, or nearly; a looser constant would show here."""
    tightness = {claim.name: [part.tightness for part in claim(cells).parts] for claim in STEPS}
    assert tightness["equation_9"] == [1, 1]
    assert tightness["equation_11_step"][0] == pytest.approx(0.999909091, rel=1e-8)
    assert tightness["equation_11"][0] == pytest.approx((2.999**2 + 4 + 219.98) / (2.999**2 + 4 + 220), rel=1e-8)
    assert tightness["equation_12_step"][0] == 1
    assert tightness["equation_12"][0] == 1
    assert tightness["theorem_2_chain"][0] == pytest.approx(0.999**2, rel=1e-6)
    assert tightness["theorem_2_chain"][1:3] == pytest.approx([1, 1], rel=1e-12)


def test_all_steps_read_the_same_cells():
    assert {(claim.reads[0].id, tuple(claim.reads[0].settings(Scale.QUICK, 0))) for claim in STEPS} == {
        ("brutzkus2018.ledgers", tuple(proof_settings(Scale.QUICK, 0)))
    }


def test_the_constants_of_the_proof():
    """k = 2, η = 10, v = 1/2, α = 1/2, ‖w*‖ = √3: by hand."""
    runs = keep_ledgers(basis(3, 2, 0.5, 10.0))
    assert potentials.stacked_norm(runs)[0] == pytest.approx(12**0.5)
    assert potentials.growth_of_square(runs)[0] == pytest.approx(2 * 10 + 2 * 2 * 100 / 4)
    assert potentials.growth_of_alignment(runs)[0] == pytest.approx(2 * 2 * 10 * 0.5 * 0.5)


@pytest.mark.parametrize("claim", [equation_9, equation_12], ids=lambda claim: claim.id)
def test_without_a_separator_nothing_holds(claim):
    (trial,) = basis(4, 1, 0.5, 1.0)
    lost = dataclasses.replace(trial, separator=np.zeros(4))
    assert claim([keep_ledgers([lost], most_updates=50)]).verdict is not Verdict.HOLDS


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
    evidence = claim([keep_ledgers([dataclasses.replace(trial, **change)], most_updates=50)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert key in {h.key for h in evidence.hypotheses if not h.met}


def test_without_a_single_update_nothing_is_decided():
    """A start that already fits the data: no update, no evidence."""
    (trial,) = basis(4, 1, 0.5, 1.0)
    fitting = dataclasses.replace(trial, hidden=-100 * trial.hidden, row_bound=100.0)
    assert equation_12_step([keep_ledgers([fitting])]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_equation_9_with_one_copy_of_the_separator():
    runs = keep_ledgers(basis(25, 4, 0.5, 5.3))
    assert equation_9([runs]).verdict is Verdict.HOLDS
    evidence = equation_9([runs], constant=lambda runs: runs.separator_norm)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.tightness is not None
    assert evidence.tightness > 2


def test_control_equation_11_step_with_inputs_of_norm_3():
    """From zero weights the first step adds η²·9·2kv², here above 2η + η²."""
    (trial,) = basis(3, 2, 0.5, 10.0, row_bound=0.0)
    scaled = dataclasses.replace(trial, inputs=3 * trial.inputs)
    assert equation_11_step([keep_ledgers([trial])]).verdict is Verdict.HOLDS
    evidence = equation_11_step([keep_ledgers([scaled])])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [h.key for h in evidence.hypotheses if not h.met] == ["input_norm"]
    assert evidence.conclusion is False


def test_control_equation_11_without_the_term_2_eta():
    """C2 with d = 1, R = 0, α = .5, η = .1: G² ends at 1.64, and 2kη²v² alone would allow .16."""

    def without(runs):
        return 2 * runs.half_width * (runs.step_size * runs.output_weight) ** 2

    runs = keep_ledgers(basis(1, 1, 0.5, 0.1, row_bound=0.0))
    assert equation_11([runs]).verdict is Verdict.HOLDS
    assert equation_11([runs], constant=without).verdict is Verdict.VIOLATED
    assert equation_11_step([runs], constant=without).verdict is Verdict.VIOLATED
    assert runs.norms[-1] ** 2 == pytest.approx(1.64, abs=0.01)
    assert runs.updates[0] * without(runs)[0] == pytest.approx(0.16, abs=0.01)


@pytest.mark.parametrize("claim", [equation_12_step, equation_12], ids=lambda claim: claim.id)
def test_control_equation_12_without_the_slope(claim):
    runs = keep_ledgers(basis(4, 2, 0.1, 0.7))
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
    runs = keep_ledgers([trial])
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
    runs = keep_ledgers(basis(4, 2, 0.1, 0.7))
    factor = 0.99 if gains == "norm_gains" else 1.01  # towards what the inequality allows
    evidence = claim([dataclasses.replace(runs, **{gains: factor * getattr(runs, gains)})])
    assert evidence.verdict is Verdict.VIOLATED
    assert [part.name for part in evidence.parts if part.kept is False] == [evidence.parts[-1].name]


def test_control_the_chain_without_the_initial_weights():
    """C2 with R = 50: 156 updates, and the root with R = 0 would allow 14.8."""
    runs = keep_ledgers(basis(4, 1, 0.9, 1.0001, 0.5**0.5, 50.0))
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
        evidence = claim([keep_ledgers([nearly_solved(step_size)])])
        assert evidence.measured == pytest.approx(start + gain, rel=1e-12)
        assert evidence.promised == pytest.approx(start + bound, rel=1e-12)


def test_equation_12_is_attained():
    for claim in (equation_12_step, equation_12):
        evidence = claim([keep_ledgers([all_off()], most_updates=1)])
        assert (evidence.measured, evidence.promised) == (pytest.approx(0.25), 0.25)


TOY = keep_ledgers([three_points(0.5, 0.25), three_points(0.2, 1.0), nearly_solved(10.0), all_off()])


def test_steps_that_round_away_refute_nothing():
    """x = 1e-22: no update moves a row of size ½. F_0 is exactly 0, and F is known to 1e-9·G‖W*‖ only."""
    point, separator, output = np.full((1, 1), 1e-22), np.full(1, 1e22), plus_minus_weights(2, 0.5)
    trial = Trial(point, np.ones(1), separator, np.full((4, 1), 0.5), output, 0.5, 1.0, 0.5)
    runs = keep_ledgers([trial], most_updates=5)
    assert runs.alignments.tolist() == [0] * 6
    assert equation_12([runs]).verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert equation_12_step([runs]).verdict is not Verdict.VIOLATED


def test_a_margin_that_rounding_made_refutes_nothing():
    """An update at y N(x) = 1e281 breaks the statement, unless the outputs of that run are not known to within 1."""
    runs = keep_ledgers(basis(4, 1, 0.9, 10.0))
    beyond = dataclasses.replace(runs, margins=np.full_like(runs.margins, 1e281))
    assert equation_11_step([beyond]).verdict is Verdict.VIOLATED
    blurred = dataclasses.replace(beyond, blurred=np.ones(len(runs), bool))
    assert equation_11_step([blurred]).verdict is Verdict.INSUFFICIENT_EVIDENCE


replaced = with_last


def moved(runs, place, **amounts):
    """Toy runs in which one entry of these arrays is moved by so much."""
    fields = {name: getattr(runs, name).copy() for name in amounts}
    for name, amount in amounts.items():
        fields[name][place] += amount
    return dataclasses.replace(runs, **fields)


def scaled(constant, factor):
    return lambda runs: factor * constant(runs)


def placed_on(sign):
    """W = ±W* of two networks, where F = ±G‖W*‖ exactly."""
    stacked = np.outer(np.sign(plus_minus_weights(2, 0.5)), [0.0, 1.25])
    return keep_ledgers([three_points(0.5, 1.0, hidden=sign * stacked, row_bound=1.25)], most_updates=0)


BOTH_ENDS = [placed_on(1), placed_on(-1)]


@breaks_part(equation_9, "F_t ≤ ‖W*‖·G_t")
def test_control_a_little_less_than_cauchy_and_schwarz_above():
    inside, outside = (moved(placed_on(1), 0, alignments=away) for away in (1e-12, 3e-11))
    return equation_9([inside, BOTH_ENDS[1]]), equation_9([outside, BOTH_ENDS[1]])


@breaks_part(equation_9, "−F_t ≤ ‖W*‖·G_t")
def test_control_a_little_less_than_cauchy_and_schwarz_below():
    inside, outside = (moved(placed_on(-1), 0, alignments=away) for away in (-1e-12, -3e-11))
    return equation_9([inside, BOTH_ENDS[0]]), equation_9([outside, BOTH_ENDS[0]])


@pytest.mark.parametrize(
    ("field", "value", "cases"),
    [("norms", 0.0, 0), ("norms", 1e-3, 1), ("separator_norm", 0.0, 0), ("separator_norm", 1e-3, 1)],
)
def test_where_both_sides_are_zero_equation_9_shows_nothing(field, value, cases):
    runs = dataclasses.replace(placed_on(1), **{field: np.array([value])})
    assert [part.cases for part in equation_9([runs]).parts] == [cases] * 2


def judge(claim, constant):
    """A judge of toy runs: `runs` and a factor on the constant, or fields that are replaced."""

    def judged(factor=1.0, runs=TOY, **fields):
        return claim([replaced(runs, **fields)], constant=scaled(constant, factor))

    return judged


GAIN, IDENTITY_11, ACTIVE = (
    "G² grows by less than 2η + 2kη²v²",
    "every update adds to G² what the identity says",
    "y N(x) < 1 before every update",
)
test_control_each_part_of_the_step_of_equation_11 = part_edges(
    equation_11_step,
    judge(equation_11_step, potentials.growth_of_square),
    {
        GAIN: ({"factor": 10999 / 11000}, {"factor": 10999 / 11000 * (1 - 5e-9)}),
        IDENTITY_11: (
            {"runs": moved(TOY, 3, norms=1e-10)},
            {"runs": moved(TOY, 3, norms=1e-8)},
        ),
        ACTIVE: ({"margins": 1 - 5e-12}, {"margins": 1 + 1e-8}),
    },
)


@breaks_part(equation_11, "G_t² ≤ G_0² + t(2kη²v² + 2η)")
def test_control_equation_11_after_two_updates():
    """Two points at the same distance from margin 1: the second update is bounded from the same start."""
    point = nearly_solved(0.1)
    rows = np.column_stack([point.hidden, point.hidden])
    twice = dataclasses.replace(
        point, inputs=np.eye(2), labels=np.ones(2), separator=np.ones(2), hidden=rows, row_bound=5.0
    )
    runs = keep_ledgers([twice])
    assert runs.updates.tolist() == [2]
    assert runs.norms[-1] ** 2 == pytest.approx(2 * (2.999**2 + 4) + 0.4396)
    start, end = runs.norms[0] ** 2, runs.norms[-1] ** 2
    inside, outside = (
        equation_11([runs], constant=lambda _, share=share: np.array([(end * (1 - share) - start) / 2]))
        for share in (1e-10, 5e-9)
    )
    return inside, outside


GROWS, IDENTITY_12 = "F grows by at least 2kηvα", "every update adds to F what the identity says"
test_control_each_part_of_the_step_of_equation_12 = part_edges(
    equation_12_step,
    judge(equation_12_step, potentials.growth_of_alignment),
    {
        GROWS: ({"factor": 1.0}, {"factor": 1 + 5e-9}),
        IDENTITY_12: ({"runs": moved(TOY, 3, alignments=1e-12)}, {"runs": moved(TOY, 3, alignments=1e-7)}),
    },
)
test_control_equation_12 = part_edges(
    equation_12,
    judge(equation_12, potentials.growth_of_alignment),
    {"F_t ≥ F_0 + 2kηvα·t": ({"runs": keep_ledgers([all_off()], most_updates=1)}, {"factor": 1.001})},
)
ONE_UPDATE = keep_ledgers([all_off()], most_updates=1)


@pytest.mark.parametrize(("share", "kept"), [(1e-10, True), (5e-9, False)])
def test_equation_12_is_known_to_a_share_of_the_two_norms(share, kept):
    (gain,) = np.diff(ONE_UPDATE.alignments)
    size = (ONE_UPDATE.norms * potentials.stacked_norm(ONE_UPDATE)).max()
    evidence = equation_12([ONE_UPDATE], constant=lambda _: np.array([gain + share * size]))
    assert evidence.parts[0].kept is kept


@pytest.mark.parametrize("claim", [equation_12_step, equation_12], ids=["one step", "all steps"])
def test_a_promise_of_no_growth_is_vacuous(claim):
    found = [claim([ONE_UPDATE], constant=lambda _, least=least: np.array([least])) for least in (0.0, 0.05)]
    assert [evidence.parts[0].vacuous for evidence in found] == [True, False]


@pytest.mark.parametrize(
    ("error", "size", "kept"),
    [
        (1e-20, 0.0, True),
        (0.95e-9, 0.0, True),
        (1.05e-9, 0.0, False),
        (4e-11, 0.05, True),
        (1e-10, 0.05, False),
        (1e-10, 5.0, True),
        (np.nan, 1.0, None),
    ],
)
def test_an_identity_is_known_to_a_billionth_of_what_it_adds_up(error, size, kept):
    values, sizes = np.array([0.0, 2.0 + error]), np.array([0.0, size])
    assert potentials._identity(ONE_UPDATE, values, np.array([2.0]), sizes).part("").kept is kept


def chained(runs=TOY, **bounds):
    return theorem_2_chain([runs], **{name: lambda runs, value=value: value for name, value in bounds.items()})


INNER, MIDDLE, OUTER = (
    bound(TOY) for bound in (potentials.bound_of_start, potentials.bound_of_rows, potentials.bound_of_theorem_2)
)
test_control_each_link_of_the_chain = part_edges(
    theorem_2_chain,
    chained,
    {
        "T ≤ M_init": ({"innermost": TOY.updates * 1.0}, {"innermost": TOY.updates * (1 - 5e-11)}),
        "M_init ≤ M_root": ({"innermost": MIDDLE}, {"innermost": (1 + 5e-11) * MIDDLE}),
        "M_root ≤ M_k": ({"middle": OUTER}, {"middle": (1 + 5e-11) * OUTER}),
        "training loss 0 at the end": ({}, {"runs": replaced(TOY, last_margin=1 - 5e-12)}),
    },
)


@pytest.mark.parametrize(
    ("fields", "times", "kept"),
    [
        ({"blurred": True}, 0.5, None),
        ({"status": RunStatus.DIVERGED}, 0.5, None),
        ({"status": RunStatus.BUDGET_SPENT}, 1.05, None),
        ({"status": RunStatus.BUDGET_SPENT}, 0.95, False),
    ],
)
def test_a_run_without_an_end_breaks_nothing_but_the_bound_it_has_passed(fields, times, kept):
    lost = replaced(TOY, last_margin=0.5, **fields)
    evidence = chained(runs=lost, innermost=TOY.updates * np.array([1, 1, 1, times]))
    assert [part.kept for part in evidence.parts] == [kept, True, True, None]


def test_control_a_perceptron_stops_too_early(monkeypatch):
    as_perceptron(monkeypatch)
    evidence = theorem_2_chain([keep_ledgers([three_points(0.2, 1.0)])])
    assert [part.kept for part in evidence.parts] == [True, True, True, False]


def free(claim, **constants):
    """A judge of the hypotheses alone: what is promised cannot be broken."""
    return lambda **fields: claim([replaced(TOY, **fields)], **constants)


def nothing(runs):
    return np.zeros(len(runs))


def everything(runs):
    return np.full(len(runs), 1e9)


OF_BOTH = {
    "labels": ({"label_error": 0.0}, {"label_error": 1e-15}),
    "output_weight": ({"smallest_output": 1e-9}, {"smallest_output": 0.0}),
    "equal_outputs": ({"output_spread": 0.0}, {"output_spread": 1e-15}),
    "slope_positive": ({"slope": 1e-6}, {"slope": 0.0}),
    "slope_below_one": ({"slope": 1 - 5e-12, "at_zero": 1.0}, {"slope": 1.0, "at_zero": 1.0}),
    "step_size": ({"step_size": 1e-9}, {"step_size": 0.0}),
}
OF_SQUARE = {
    "input_norm": ({"largest_input": 1.0}, {"largest_input": 1 + 5e-12}),
    "derivative_at_zero": ({"at_zero": 1.0}, {"at_zero": 1 + 1e-15}),
}
OF_ALIGNMENT = {
    "separable": ({"smallest_margin": 1.0}, {"smallest_margin": 1 - 5e-12}),
    "derivative_above_slope": ({"slope": 0.5, "at_zero": 0.5}, {"slope": 0.5, "at_zero": 0.5 - 1e-15}),
}
OF_START = {"row_norm": ({"relative_row": 1.0}, {"relative_row": 1 + 5e-12})}

test_control_hypotheses_of_the_step_of_equation_11 = hypothesis_edges(
    equation_11_step, free(equation_11_step, constant=everything), **OF_BOTH, **OF_SQUARE
)
test_control_hypotheses_of_equation_11 = hypothesis_edges(
    equation_11, free(equation_11, constant=everything), **OF_BOTH, **OF_SQUARE
)
test_control_hypotheses_of_the_step_of_equation_12 = hypothesis_edges(
    equation_12_step, free(equation_12_step, constant=nothing), **OF_BOTH, **OF_ALIGNMENT
)
test_control_hypotheses_of_equation_12 = hypothesis_edges(
    equation_12, free(equation_12, constant=nothing), **OF_BOTH, **OF_ALIGNMENT
)
test_control_hypotheses_of_the_chain = hypothesis_edges(
    theorem_2_chain,
    free(theorem_2_chain, innermost=everything, middle=everything, outermost=everything),
    **OF_BOTH,
    **OF_SQUARE,
    **OF_ALIGNMENT,
    **OF_START,
)
test_every_part_has_a_control = every_part_of(potentials)
