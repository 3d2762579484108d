import functools

import jax.numpy as jnp
import numpy as np
import pytest

from tests.control_table import at, controls, spared
from tests.papers.records import altered
from widenet.claims.base import NotApplicable, Verdict
from widenet.claims.user_data import UserData
from widenet.data import from_arrays
from widenet.diagnostics.agreement import agreement_margin, in_regime
from widenet.papers.sarussi2021.claims import regimes
from widenet.papers.sarussi2021.claims.regimes import (
    FewRows,
    Vanishing,
    assumption_4_scale,
    definition_6_2,
    definition_6_2_as_printed,
    definition_6_2_wide,
    definition_6_3,
    draw_crossed,
    draw_members,
    draw_vanishing,
    section_15,
)
from widenet.papers.sarussi2021.runs.programs import (
    CriticalMargins,
    ScaledMargins,
    asymmetry,
    critical_of,
    scaled_margins,
)
from widenet.papers.sarussi2021.runs.regimes import wide_rows
from widenet.papers.sarussi2021.sources import BROKEN_CROSS, CROSS, WEDGE
from widenet.records import Scale
from widenet.types import Dataset


@functools.cache
def toy_members():
    return draw_members(Scale.QUICK, 0)


CROSSED = draw_crossed(Scale.QUICK, 0)


@pytest.mark.parametrize("answer", [True, False])
def test_control_a_test_that_always_gives_the_same_answer(answer, monkeypatch):
    monkeypatch.setattr(regimes, "in_regime", lambda *given: np.array(answer))
    assert [part.kept for part in definition_6_2(toy_members()).parts] == [False] * 4


@pytest.mark.parametrize(
    "wrong",
    [
        lambda rows, points, signs, beta: in_regime(rows, points, signs, 0.0),
        lambda rows, points, signs, beta: agreement_margin(rows, points) >= beta,
        lambda rows, points, signs, beta: ((rows @ points.T) * signs >= beta).all(),
    ],
    ids=["without β", "without signs", "without the norm"],
)
def test_control_tests_that_forget_something(wrong, monkeypatch):
    monkeypatch.setattr(regimes, "in_regime", wrong)
    assert definition_6_2(toy_members()).conclusion is False


@pytest.mark.parametrize("little", [1e-9, 1e-5])
def test_a_margin_that_nearly_cancels_is_not_decided_by_rounding(little):
    """One row is nearly orthogonal to one point: β is `little`, and rounding does 1e-16 to it, not 1e-16 of it.

    With room for a share of β alone this was VIOLATED at seed 13, where β is 4e-5.
    """
    members = toy_members()
    flat = members.plus[0, 0] - members.points[0] * (members.plus[0, 0] @ members.points[0]) / (
        members.points[0] @ members.points[0]
    )
    unit = members.points[0] / np.linalg.norm(members.points[0])
    row = flat / np.linalg.norm(flat) + little * members.signs[0] * unit
    thin = altered(
        members,
        plus=np.array([[row, *members.plus[0, 1:]]]),
        minus=members.minus[:1],
        points=members.points[:1],
        signs=members.signs[:1],
        margins=members.margins[:1],
    )
    margin = np.minimum(agreement_margin(thin.plus, thin.points), agreement_margin(thin.minus, thin.points))
    found = definition_6_2(altered(thin, margins=margin))
    assert margin[0] == pytest.approx(little * np.linalg.norm(members.points[0]), rel=1e-3)
    assert found.verdict is Verdict.HOLDS


def test_a_margin_below_rounding_decides_nothing():
    found = definition_6_2(altered(toy_members(), margins=np.full(30, 1e-14)))
    assert found.verdict is Verdict.INSUFFICIENT_EVIDENCE


@pytest.mark.parametrize("seed", [0, 1, 13])
def test_regimes_at_other_seeds(seed):
    assert definition_6_2(draw_members(Scale.QUICK, seed)).verdict is Verdict.HOLDS


def test_control_plus_rows_on_the_side_of_the_minus_rows():
    assert definition_6_2(altered(toy_members(), plus=lambda rows: -rows)).parts[3].kept is False


def test_control_a_way_that_leaves_the_regime():
    """Beyond the other member; one such row is enough."""
    for ways in ((0.5, 9.0), (9.0, 0.5)):
        found = definition_6_2(altered(toy_members(), ways=ways))
        assert [part.kept for part in found.parts] == [True, True, False, True]


def test_rows_that_are_not_inside_refute_nothing():
    """Terms with 0.95 of the margin: they never were in NAR(‖x‖), so their limit says nothing; nor if one is so."""
    point = np.array([3.0, 4.0])
    tilted = 0.95 * point + np.sqrt(1 - 0.95**2) * np.array([-4.0, 3.0])
    for terms in ([tilted], [tilted, point], [point, tilted]):
        assert definition_6_2_as_printed(Vanishing(np.stack(terms), np.zeros(2), point)).parts[0].kept is None


def test_the_limit_zero_is_outside():
    assert definition_6_2_as_printed(draw_vanishing(Scale.QUICK, 0)).verdict is Verdict.VIOLATED


def test_a_limit_that_is_not_zero():
    point = np.array([3.0, 4.0])
    terms = np.stack([point * (1 + 2.0**-m) for m in range(40)])
    spared(definition_6_2_as_printed, at(Vanishing(terms, point, point)))


def test_the_largest_margin_of_crossed_rows():
    """1/√10 = 0.3162."""
    assert CROSSED.is_perfect(0.3162)
    assert not CROSSED.is_perfect(0.3163)


def test_control_one_label_flipped():
    assert definition_6_3(altered(CROSSED, labels=np.ones(2))).parts[0].kept is False
    for name in ("plus", "minus"):
        turned = altered(CROSSED, **{name: -getattr(CROSSED, name)})
        assert definition_6_3(turned).parts[0].kept is False
    assert isinstance(CROSSED, FewRows)


def crossed_sets():
    return critical_of([CROSS.draw(0)])


def broken(sign):
    """The critical margins of a broken cross, with its labels or the opposite ones."""
    points, labels = BROKEN_CROSS.draw(0)
    return critical_of([(points, sign * labels)])[0]


def test_the_critical_margin_of_a_broken_cross():
    assert broken(1).minus.max() == pytest.approx(1.3416407865)
    assert broken(1).plus.max() == 0


def moved_cross():
    """One point moved by a thousandth."""
    points, labels = CROSS.draw(0)
    return critical_of([(points + np.array([[1e-3, 0], [0, 0], [0, 0], [0, 0]]), labels)])


def inseparable():
    points = np.array([(1.0, 0.0), (-1.0, 0.0), (2.0, 0.0), (-2.0, 0.0)])
    return critical_of([(points, np.array([1.0, -1.0, -1.0, 1.0]))])


@functools.cache
def toy_scaled():
    return scaled_margins([WEDGE.draw(0)])


def test_they_speak_about_a_readers_data():
    points, labels = CROSS.draw(0)
    assert section_15(section_15.on(UserData(from_arrays(points, labels)))).verdict is Verdict.HOLDS
    assert assumption_4_scale.on(UserData(from_arrays(points, labels))) is not None
    said = section_15.on(UserData(from_arrays(*WEDGE.draw(0))))
    assert isinstance(said, NotApplicable)
    assert "antipodal" in said
    assert asymmetry(points) == 0
    one_class = Dataset(jnp.asarray(points[:2]), jnp.ones(2))
    assert isinstance(section_15.on(UserData(one_class)), NotApplicable)


def lifted(share):
    """The critical β of the first entry, moved by a share of it and of the largest."""

    def after(_):
        promised = toy_scaled().factors * toy_scaled().before
        return promised + share * np.where(np.arange(len(promised)) == 0, promised + promised.max(), 0.0)

    return {"after": after}


test_control = controls(
    regimes,
    {regimes.Tested: toy_members, FewRows: CROSSED, CriticalMargins: crossed_sets, ScaledMargins: toy_scaled},
    (definition_6_2, "rescaled", {}, {"multiples": (3.0, 1.0, -0.1, 7.0)}),
    (definition_6_2, "nested", {"smaller": 1 - 1e-9}, {"smaller": 1.001}),
    (definition_6_2, "closed", {}, {"limit": 0.0}),
    # Only the minus rows are wrong, so it is not enough that either sign is right.
    (definition_6_2, "perfect", {}, {"minus": lambda rows: -rows}, "rescaled", "nested", "closed"),
    (definition_6_3, "regime", {}, {"labels": np.ones(2)}),
    (definition_6_3, "plus_angle", {}, {"plus": np.array([(1.0, 3.0), (1.0, 2.9)])}),
    (definition_6_3, "opposite_angle", {}, {"minus": np.array([(-1.0, -2.0), (-1.0, 2.0)])}),
    (section_15, "plus", {}, {"plus": lambda _: broken(-1).plus}),
    (section_15, "minus", {}, {"minus": lambda _: broken(1).minus}),
    (section_15, "antipodal", {}, at(moved_cross)),
    (section_15, "separable", {}, at(inseparable)),
    (assumption_4_scale, "critical", {}, at(lambda: scaled_margins([WEDGE.draw(0)], shift=0.5))),
    (assumption_4_scale, "critical", lifted(5e-7), lifted(5e-6)),
    (assumption_4_scale, "regime", {}, {"rows_after": lambda _: toy_scaled().rows_before}),
    but=(definition_6_2_as_printed, definition_6_2_wide),
)


@pytest.mark.parametrize(("beta", "kept"), [(0.01, [True, True]), (0.0099, [False, True]), (0.9, [True, False])])
def test_how_far_apart_rows_that_agree_can_be(beta, kept):
    assert [part.kept for part in definition_6_2_wide(wide_rows(beta)).parts] == kept


@pytest.mark.parametrize(("angle", "kept"), [(170.0, True), (np.nextafter(170.0, 0), False)])
def test_the_edge_of_the_angle(angle, kept):
    (rows,) = FewRows.join([wide_rows(0.01)]).cells
    assert definition_6_2_wide(rows.replace(plus_angle=angle)).parts[1].kept is kept
