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
from widenet.papers.brutzkus2018.runs.ledgers import keep_ledgers
from widenet.papers.brutzkus2018.runs.trials import BasisTrial, Trial, plus_minus_weights
from widenet.types import RunStatus


def basis(*arguments, **others):
    names = ("dim", "half_width", "slope", "step_size", "output_weight", "row_bound")
    return BasisTrial(**dict(zip(names, arguments, strict=False)), **others).draw()


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
