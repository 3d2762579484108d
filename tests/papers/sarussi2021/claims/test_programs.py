import functools
from fractions import Fraction

import numpy as np
import pytest

from tests.control_table import at, controls
from tests.papers.records import altered
from tests.papers.sarussi2021.inputs import handed, promised
from widenet.claims.base import NotApplicable, Verdict
from widenet.claims.user_data import Choices, UserData
from widenet.data import from_arrays
from widenet.diagnostics.agreement_program import regime_rows, separate, solve_perfect_agreement
from widenet.papers.sarussi2021.claims import programs
from widenet.papers.sarussi2021.claims.programs import (
    assumption_3_feasible,
    both_signs_remain,
    draw_feasibility,
    draw_regimes,
    equation_7_antipodal,
    equation_7_kernel,
    footnote_8,
)
from widenet.papers.sarussi2021.runs.programs import Feasibility, Mirrored, feasibility, mirrored, program
from widenet.papers.sarussi2021.sources import CROSS, TWO_POINTS, WEDGE
from widenet.records import Scale

E1 = program(*TWO_POINTS.draw(0), 1 / 3)
WEDGED = program(*WEDGE.draw(0), 1 / 20)

CONTRADICTION = program(np.array([(1.0, 0.0), (1.0, 0.0)]), np.array([1.0, -1.0]), 0.5)


@pytest.mark.filterwarnings("ignore:overflow", "ignore:divide", "ignore:invalid")
@pytest.mark.parametrize(
    ("scale", "kept", "wrong"), [(2.9e-156, True, False), (2.7e-156, None, False), (1.9e-156, None, None)]
)
def test_points_whose_products_have_lost_their_digits(scale, kept, wrong):
    """‖x‖² is 5 and 10; a product of 4d · 5e-324/1e-12 = 4e-311 has just the digits that are compared."""
    small, name = program(scale * E1.points, E1.labels, 1 / 3), "(1 + α²)⟨x, x'⟩ for equal labels"
    assert {part.name: part.kept for part in equation_7_kernel([small]).parts}[name] is kept
    assert {part.name: part.kept for part in equation_7_kernel([small], alike=1.01).parts}[name] is wrong


def test_a_product_that_has_just_the_digits_that_are_compared():
    """4d · 5e-324/1e-12 in the plane, and the next number below."""
    (cell,) = programs.Solved.join([E1]).cells
    edge = 8 * (5e-324 / 1e-12)
    for length, lost in ((edge, False), (np.nextafter(edge, 0), True)):
        short = cell.replace(pair_length=np.full(len(cell.pair_length), length))
        assert [promised(equation_7_kernel, key, [short]).undecided.any() for key in ("alike", "unlike")] == [lost] * 2


@pytest.mark.filterwarnings("ignore:overflow", "ignore:divide", "ignore:invalid")
def test_a_separator_whose_square_overflows_has_midpoints():
    small = program(1e-160 * WEDGED.points, WEDGED.labels, 1 / 20)
    parts = {part.name: part.kept for part in footnote_8([small]).parts}
    assert parts["midpoints of a regime stay inside"] is True


@functools.cache
def mirrored_cross():
    return mirrored([(*CROSS.draw(0), 0.2)])[0]


def turned(minus):
    """By a tenth of a degree."""
    angle = np.radians(0.1)
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ minus


def test_the_closed_form_on_four_points():
    assert mirrored_cross().value == pytest.approx(25 / 81)
    assert equation_7_antipodal(mirrored_cross()).verdict is Verdict.HOLDS


@pytest.mark.filterwarnings("ignore:overflow", "ignore:divide", "ignore:invalid")
@pytest.mark.parametrize(("scale", "kept"), [(1e-153, True), (1e-156, None)])
def test_points_so_short_that_the_value_overflows(scale, kept):
    """val is 25/81 at scale 1."""
    points, labels = CROSS.draw(0)
    assert [part.kept for part in equation_7_antipodal(mirrored([(scale * points, labels, 0.2)])).parts][2] is kept


EQUAL_ROWS = program(*TWO_POINTS.draw(0), 1 / 3, (-1, -1), (-1, 1))
"""All plus neurons have slope α on both points: then w·w* = α(‖w‖² + ‖u‖²) where w* is 1 on both."""


def test_it_is_attained_where_every_slope_is_the_small_one():
    """w = (3/5, 3/10), u = (−3/5, −3/10), val 9/10, and w* = (6/13, 1/13)… is not needed: w·w* is α·val."""
    found = both_signs_remain([EQUAL_ROWS])
    assert found.parts[0].promised == pytest.approx(0.3)
    assert found.parts[0].measured == pytest.approx(0.3, rel=1e-6)
    assert both_signs_remain([EQUAL_ROWS], share=1.001).parts[0].kept is False
    swapped = program(*TWO_POINTS.draw(0), 1 / 3, (-1, 1), (-1, -1))
    assert both_signs_remain([swapped], share=1.001).parts[1].kept is False


def test_a_regime_that_is_not_of_perfect_agreement():
    assert footnote_8(draw_regimes(Scale.QUICK, 0)).verdict is Verdict.HOLDS


TALL = np.array([(1.0, 5.0), (1.0, -5.0), (-1.0, -5.0), (-1.0, 5.0)]), np.array([1.0, 1.0, -1.0, -1.0])


INSIDE = "where the solution is inside, its margin is above the threshold exactly if p* < 1/(αR_x)²"


@functools.cache
def feasible_tall():
    return feasibility([TALL], (0.05, 0.6))


def test_both_sides_of_the_edge_occur():
    drawn = draw_feasibility(Scale.QUICK, 0)
    below = drawn.values < drawn.limits
    assert below.any()
    assert not below.all()
    assert (feasible_tall().shares > feasible_tall().needed).tolist() == [True, False]


def test_the_edges_of_feasibility_are_strict():
    """Exactly at the edge neither side of either equivalence holds."""
    edge = feasible_tall()
    level = altered(edge, shares=edge.needed, mirrored_values=edge.mirrored_limits, margins=edge.thresholds,
                    values=edge.limits)  # fmt: skip
    assert [part.kept for part in assumption_3_feasible(level).parts[:3]] == [True, True, True]


def test_the_bound_on_margins_is_attained_at_the_solution():
    """Two points, α = 1/3, k = 3, v = 0.4: the solution lies inside, and its margin is 1.5587…"""
    found = feasibility([TWO_POINTS.draw(0)], (1 / 3,))
    assert found.inside.all()
    np.testing.assert_allclose(found.margins, 1.55872692593, rtol=1e-9)
    part = assumption_3_feasible(found).parts[0]
    assert part.tightness == pytest.approx(1, rel=1e-9)
    assert part.n_cases == 11
    assert found.member_margins[1:].max() < 0.999 * found.margins[0]


def test_a_solution_outside_the_regime_decides_nothing():
    """Three points with α = 1/20: Eq. 7 has its solution outside, so that its margin says nothing about the regime."""
    found = feasibility([WEDGE.draw(0)], (1 / 20,))
    assert not found.inside.any()
    judged = {part.name: part.kept for part in assumption_3_feasible(found).parts}
    assert judged[INSIDE] is None
    assert judged["no network of the regime has a margin above v√(k/p*)"] is True


def test_a_program_that_is_not_solved_decides_nothing(monkeypatch):
    """With the bounds asked to meet exactly, none of these programs is solved well enough."""
    monkeypatch.setattr(programs, "SOLVED", -1.0)
    for found in (equation_7_kernel([E1]).parts[2], *both_signs_remain([E1]).parts, *footnote_8([E1]).parts[1:3],
                  *equation_7_antipodal(mirrored_cross()).parts):  # fmt: skip
        assert found.kept is None, found.name
    monkeypatch.undo()
    assert equation_7_antipodal(altered(mirrored_cross(), gap=1.01e-12)).verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert equation_7_antipodal(altered(mirrored_cross(), gap=0.99e-12)).verdict is Verdict.HOLDS


def test_a_gap_of_exactly_what_is_allowed_is_solved(monkeypatch):
    """With the gap of the program itself as the edge, and just below it."""
    own = solve_perfect_agreement(WEDGED.points, WEDGED.labels, 1 / 20).gap
    for share, kept in ((1.0, True), (0.99, None)):
        monkeypatch.setattr(programs, "SOLVED", share * own)
        found = (equation_7_kernel([WEDGED]).parts[2], *both_signs_remain([WEDGED]).parts)
        assert [each.kept for each in found] == [kept] * 3
    monkeypatch.setattr(programs, "SOLVED", mirrored_cross().gap)
    assert equation_7_antipodal(mirrored_cross()).verdict is Verdict.HOLDS


def test_footnote_8_needs_both_programs_solved(monkeypatch):
    """The small one, and the one in all 2kd coordinates; the wider gap counts, and one that is just allowed is."""
    rows = 0.4 * regime_rows(WEDGED.points, WEDGED.labels, WEDGED.labels, -WEDGED.labels, 1 / 20)
    full = separate(np.concatenate([np.tile(rows[:, :2], 3), np.tile(rows[:, 2:], 3)], axis=1), np.ones(3))
    own = solve_perfect_agreement(WEDGED.points, WEDGED.labels, 1 / 20).gap
    low, high = sorted([own, (full.norm_upper - full.norm_lower) / full.norm_upper])
    assert low < high
    for allowed, kept in ((high, True), (0.99 * high + 0.01 * low, None), (low, None)):
        monkeypatch.setattr(programs, "SOLVED", allowed)
        assert [part.kept for part in footnote_8([WEDGED]).parts[1:3]] == [kept, kept]


def test_footnote_8_in_fractions():
    """Two points, α = 1/3, k = 3, v = 2/5: val = 81/410, and w*/α has 1/α on the positive point at least."""
    parts, _ = handed(footnote_8, [E1])
    value = Fraction(81, 410) / (Fraction(4, 25) * 3)
    np.testing.assert_allclose(parts["the value is that of the small program over v²k"].promised, float(value))
    np.testing.assert_allclose(parts["the value is that of the small program over v²k"].measured, float(value))
    machine = separate(E1.points, E1.labels).separator
    along = E1.labels * (E1.points @ machine)  # pyright: ignore[reportOptionalOperand]
    np.testing.assert_allclose(parts["w = w*/α, u = 0 is feasible"].measured, along * np.array([3.0, 1.0]))
    rows = np.array([Fraction(66, 205), Fraction(81, 410)] * 3 + [Fraction(-6, 41), Fraction(-15, 82)] * 3, float)
    np.testing.assert_allclose(parts["the rows are w/(vk) and u/(vk)"].promised, rows / 1.2, atol=1e-9)


def test_they_speak_about_a_readers_data():
    points, labels = CROSS.draw(0)
    user_data = UserData(from_arrays(points, labels), Choices(slope=0.2))
    for claim in (equation_7_kernel, footnote_8, equation_7_antipodal, both_signs_remain):
        assert claim(claim.on(user_data)).verdict is Verdict.HOLDS, claim.id
    assert isinstance(equation_7_antipodal.on(UserData(from_arrays(*WEDGE.draw(0)))), NotApplicable)


def test_a_point_between_members_is_inside_and_one_beyond_is_not():
    (run,) = programs.Solved.join([E1]).cells
    assert programs.midpoints_stay(run).all()
    assert not programs.midpoints_stay(run, along=np.subtract).all()


def test_the_separator_of_contradictory_labels_is_not_feasible():
    assert np.isnan(promised(footnote_8, "feasible", [CONTRADICTION]).measured).all()


def shifted(rows):
    """The first coordinate of the solution, moved by a hundredth of itself."""
    return np.where(np.arange(len(rows)) == 0, 1.01 * rows, rows)


def moved_cross():
    """One point moved by a thousandth."""
    points, labels = CROSS.draw(0)
    return mirrored([(points + np.array([[0, 0], [1e-3, 0], [0, 0], [0, 0]]), labels, 0.2)])


def along(sign):
    """w·w* and −u·w* of the program where the first is attained."""
    return {sign: lambda value: -value}


TOYS = {programs.Solved: [WEDGED, E1], Mirrored: mirrored_cross, Feasibility: feasible_tall}
SMALLER, LARGER = {"dual": 2 - 5e-6}, {"dual": 2 + 5e-6}
CONTRADICTORY = at([E1, CONTRADICTION])
test_control = controls(
    programs,
    TOYS,
    (equation_7_antipodal, "value"),
    (assumption_3_feasible, "members"),
    (assumption_3_feasible, "one_class"),
    (footnote_8, "feasible"),
    (footnote_8, "value"),
    (footnote_8, "convex"),
    (equation_7_kernel, "alike", {}, {"alike": 1.01}),
    (equation_7_kernel, "unlike", {}, {"unlike": 1.01}),
    (equation_7_kernel, "dual", {"dual": 2 - 5e-7}, SMALLER),
    (equation_7_kernel, "dual", {}, LARGER),
    (equation_7_kernel, "separable", {}, CONTRADICTORY),
    (equation_7_antipodal, "opposite", {}, {"minus": turned}),
    (equation_7_antipodal, "machine", {}, {"machine": lambda w: w * 1.2 / 1.202}),
    (equation_7_antipodal, "antipodal", {}, at(moved_cross)),
    (footnote_8, "rows", {}, {"repeated_rows": shifted}),
    (footnote_8, "separable", {}, CONTRADICTORY),
    (both_signs_remain, "plus", at([E1, EQUAL_ROWS]), at([E1, EQUAL_ROWS], **along("plus_along"))),
    (both_signs_remain, "minus", at([E1, EQUAL_ROWS]), at([E1, EQUAL_ROWS], **along("minus_along"))),
    (both_signs_remain, "separable", {}, CONTRADICTORY),
    (assumption_3_feasible, "threshold", {}, {"values": feasible_tall().limits * 1.001}),
    (assumption_3_feasible, "antipodal", {}, {"shares": feasible_tall().needed * 0.999}),
)
