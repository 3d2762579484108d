"""The steps of the proof of Theorem 2 hold at every update, and their judges reject what they must."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from tests.control_table import at, controls
from tests.papers.brutzkus2018.toys import all_off, as_perceptron, nearly_solved, three_points, with_last
from widenet.claims.base import Verdict
from widenet.networks.arrays import plus_minus_weights
from widenet.papers.brutzkus2018.claims import potentials
from widenet.papers.brutzkus2018.claims.potentials import (
    Potentials,
    equation_9,
    equation_11,
    equation_11_step,
    equation_12,
    equation_12_step,
    theorem_2_chain,
)
from widenet.papers.brutzkus2018.runs.recorded_runs import record_runs
from widenet.papers.brutzkus2018.sources import BasisTrial, Trial
from widenet.types import RunStatus


def basis(*arguments, **others):
    names = ("dim", "half_width", "slope", "step_size", "output_weight", "row_bound")
    return BasisTrial(**dict(zip(names, arguments, strict=False)), **others).draw()


TOY = record_runs([three_points(0.5, 0.25), three_points(0.2, 1.0), nearly_solved(10.0), all_off()])


def test_steps_that_round_away_refute_nothing():
    """x = 1e-22: no update moves a row of size ½. F_0 is exactly 0, and F is known to 1e-9·G‖W*‖ only."""
    point, separator, output = np.full((1, 1), 1e-22), np.full(1, 1e22), plus_minus_weights(2, 0.5)
    trial = Trial(point, np.ones(1), separator, np.full((4, 1), 0.5), output, 0.5, 1.0, 0.5)
    runs = record_runs([trial], most_updates=5)
    assert runs.alignments.tolist() == [0] * 6
    assert equation_12([runs]).verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert equation_12_step([runs]).verdict is not Verdict.VIOLATED


def test_a_margin_that_rounding_made_refutes_nothing():
    """An update at y N(x) = 1e281 breaks the statement, unless the outputs of that run are not known to within 1."""
    runs = record_runs(basis(4, 1, 0.9, 10.0))
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


def placed_on(sign):
    """W = ±W* of two networks, where F = ±G‖W*‖ exactly."""
    stacked = np.outer(np.sign(plus_minus_weights(2, 0.5)), [0.0, 1.25])
    return record_runs([three_points(0.5, 1.0, hidden=sign * stacked, row_bound=1.25)], most_updates=0)


@pytest.mark.parametrize(
    ("field", "value", "cases"),
    [("norms", 0.0, 0), ("norms", 1e-3, 1), ("separator_norm", 0.0, 0), ("separator_norm", 1e-3, 1)],
)
def test_where_both_sides_are_zero_equation_9_shows_nothing(field, value, cases):
    runs = dataclasses.replace(placed_on(1), **{field: np.array([value])})
    assert [part.n_cases for part in equation_9([runs]).parts] == [cases] * 2


ONE_UPDATE = record_runs([all_off()], most_updates=1)


def promising_more(share):
    """A growth that is this share of the two norms more than what F gained in one update."""
    size = (ONE_UPDATE.norms * Potentials.join([ONE_UPDATE]).stacked_norm).max()
    return {"constant": promising(np.diff(ONE_UPDATE.alignments) + share * size)}


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
    assert potentials.same("F", np.array([2.0 + error]), np.array([2.0]), np.array([size])).part("").kept is kept


def twice():
    """Two points at the same distance from margin 1: the second update is bounded from the same start."""
    point = nearly_solved(0.1)
    rows = np.column_stack([point.hidden, point.hidden])
    both = {"inputs": np.eye(2), "labels": np.ones(2), "separator": np.ones(2), "hidden": rows, "row_bound": 5.0}
    return record_runs([dataclasses.replace(point, **both)])


def test_the_growth_of_a_long_row_is_known_to_a_share_of_its_square():
    """G² = 1e8, known to 0.1."""
    identity = equation_11_step.clauses["identity"]
    (norms,) = (np.full_like(TOY.norms, 1e4),)
    for miss, kept in ((0.09, True), (0.3, False)):
        gains = np.full_like(TOY.norm_gains, miss)
        found: Any = identity([dataclasses.replace(TOY, norms=norms, norm_gains=gains)])
        assert np.asarray(found.holds).all() == kept


def test_equation_11_after_two_updates():
    assert twice().updates.tolist() == [2]
    assert twice().norms[-1] ** 2 == pytest.approx(2 * (2.999**2 + 4) + 0.4396)


def share_of_growth(share):
    """The growth per update with which the bound of (11) is this share below G² after two updates."""
    start, end = twice().norms[[0, -1]] ** 2
    return lambda _: np.array([(end * (1 - share) - start) / 2])


def times(factor, name):
    return lambda cases: factor * getattr(cases, name)


def promising(values):
    return lambda _: values


def ends(sign, away):
    """W = W* in one network and −W* in another, and F of one of them moved."""
    return [placed_on(-sign), moved(placed_on(sign), 0, alignments=sign * away)]


SQUARE, GROWTH = "square_growth", "alignment_growth"
NEARLY = 10999 / 11000
test_control = controls(
    potentials,
    TOY,
    (equation_9, "above", at(ends(1, 1e-12)), at(ends(1, 3e-11))),
    (equation_9, "below", at(ends(-1, 1e-12)), at(ends(-1, 3e-11))),
    (
        equation_11_step,
        "growth",
        {"constant": times(NEARLY, SQUARE)},
        {"constant": times(NEARLY * (1 - 5e-9), SQUARE)},
    ),
    (
        equation_11_step,
        "identity",
        at(moved(TOY, 3, norms=1e-10)),
        at(moved(TOY, 3, norms=1e-8)),
    ),
    (equation_11_step, "active", {"margins": 1 - 5e-12}, {"margins": 1 + 1e-8}),
    (
        equation_11,
        "square",
        at(twice, constant=share_of_growth(1e-10)),
        at(twice, constant=share_of_growth(5e-9)),
    ),
    (equation_12_step, "growth", {}, {"constant": times(1 + 5e-9, GROWTH)}),
    (
        equation_12_step,
        "identity",
        at(moved(TOY, 3, alignments=1e-12)),
        at(moved(TOY, 3, alignments=1e-7)),
    ),
    (
        equation_12,
        "alignment",
        at(record_runs([all_off()], most_updates=1)),
        {"constant": times(1.001, GROWTH)},
    ),
    (equation_12, "alignment", at(ONE_UPDATE, **promising_more(1e-10)), at(ONE_UPDATE, **promising_more(5e-9))),
    (
        theorem_2_chain,
        "updates",
        {"innermost": promising(TOY.updates * 1.0)},
        {"innermost": promising(TOY.updates * (1 - 5e-11))},
    ),
    (
        theorem_2_chain,
        "start",
        {"innermost": times(1, "bound_of_rows")},
        {"innermost": times(1 + 5e-11, "bound_of_rows")},
    ),
    (
        theorem_2_chain,
        "rows",
        {"middle": times(1, "bound_of_theorem_2")},
        {"middle": times(1 + 5e-11, "bound_of_theorem_2")},
    ),
    (theorem_2_chain, "zero_loss", {}, {"last_margin": 1 - 5e-12}),
    *(  # σ'(0) − α is no column
        (claim, "derivative_above_slope", {"slope": 0.5, "at_zero": 0.5}, {"slope": 0.5, "at_zero": 0.5 - 1e-15})
        for claim in (equation_12_step, equation_12, theorem_2_chain)
    ),
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
    evidence = theorem_2_chain(lost, innermost=promising(TOY.updates * np.array([1, 1, 1, times])))
    assert [part.kept for part in evidence.parts] == [kept, True, True, None]


def test_control_a_perceptron_stops_too_early(monkeypatch):
    as_perceptron(monkeypatch)
    evidence = theorem_2_chain([record_runs([three_points(0.2, 1.0)])])
    assert [part.kept for part in evidence.parts] == [True, True, True, False]
