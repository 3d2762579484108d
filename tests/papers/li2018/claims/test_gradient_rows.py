"""Rows of the gradient: their bounds, and the networks that attain them."""

import functools

import numpy as np
import pytest

from tests.control_table import at, controls
from tests.papers.records import altered
from widenet.claims.base import NotApplicable, Verdict
from widenet.claims.user_data import UserData
from widenet.data import from_arrays
from widenet.papers.li2018.claims import gradient_rows
from widenet.papers.li2018.claims.gradient_rows import (
    lemma_a_1_gradient,
    lemma_a_1_gradient_as_printed,
    lemma_a_3_net,
    lemma_a_3_net_as_printed,
)
from widenet.papers.li2018.runs.gradient_rows import (
    GradientRows,
    Nets,
    aligned_case,
    draw_aligned_nets,
    draw_nets,
    draw_rows,
    measure_nets,
    measure_rows,
)
from widenet.papers.li2018.sources import TOY, listed_network, steep_network
from widenet.records import Scale

_, NETWORK, POINTS = listed_network()


@pytest.mark.parametrize("seed", [0, 1])
def test_they_hold(seed):
    assert lemma_a_1_gradient(draw_rows(Scale.QUICK, seed)).verdict is Verdict.HOLDS
    assert lemma_a_3_net(draw_nets(Scale.QUICK, seed)).verdict is Verdict.HOLDS


def test_the_small_network():
    found = measure_rows([(NETWORK, POINTS)])
    norms = [0.227197908228, 1.016592715389, 0.1541368671304, 0.09392349475039]
    np.testing.assert_allclose(found.norms, norms, rtol=1e-10)
    bounds = [1.989826670739, 1.989826670739, 1.392878669517, 2.387792004886]
    np.testing.assert_allclose(found.spreads * found.masses, bounds, rtol=1e-10)


@functools.cache
def steep():
    return measure_rows([steep_network()])


def test_the_bound_on_a_row_is_strict():
    assert lemma_a_1_gradient(altered(steep(), norms=np.array([2.0]), masses=np.ones(1))).conclusion is False


@pytest.mark.parametrize(("height", "ratio"), [(2.0, 1.964027580076), (1.0, 1.761594155956)])
def test_rows_of_the_steep_network(height, ratio):
    assert measure_rows([steep_network(height)]).norms[0] == pytest.approx(ratio, rel=1e-10)


def test_the_printed_bound_fails_by_a_factor_of_almost_two():
    found = lemma_a_1_gradient_as_printed(steep())
    assert found.verdict is Verdict.VIOLATED
    assert found.tightness == pytest.approx(1.9950547536867)


@pytest.mark.parametrize(
    ("arguments", "pinned"), [((4, 2, 3.0, 0.001), (0.096, 0.096)), ((5, 3, 2.5, 0.002), (0.3, 0.375))]
)
def test_the_aligned_moves_attain_the_bound(arguments, pinned):
    found = measure_nets([aligned_case(*arguments)])
    assert found.moves[0] == pytest.approx(pinned[0])
    assert found.loose[0] == pytest.approx(pinned[1])
    assert lemma_a_3_net(found).verdict is Verdict.HOLDS


@functools.cache
def even():
    return measure_nets([aligned_case(4, 2, 1.5, 0.01)])


def test_it_speaks_about_three_classes():
    own = from_arrays(TOY.draw(3).points * 7, TOY.draw(3).classes)
    assert lemma_a_1_gradient(lemma_a_1_gradient.on(UserData(own)).settings).verdict is Verdict.HOLDS
    assert isinstance(lemma_a_3_net.on(UserData(own)), NotApplicable)


def test_rounding_is_no_excuse():
    for factor, kept in ((1 + 5e-12, True), (1 + 5e-11, False)):
        assert lemma_a_1_gradient(altered(steep(), norms=lambda n, f=factor: f * n)).parts[0].kept is kept
    for factor, kept in ((1 + 5e-13, True), (1 + 5e-12, False)):
        assert lemma_a_3_net(altered(even(), moves=even().bounds * factor)).conclusion is kept
    for total, met in ((5e-11, True), (5e-10, False)):
        assert lemma_a_3_net(altered(even(), totals=np.full(1, total))).hypotheses[1].met is met


def test_one_component_whose_moves_do_not_add_up():
    votes, changes, points, per_class = aligned_case(4, 2, 1.5, 0.01)
    changes[3, 0] = -changes[3, 0]
    assert lemma_a_3_net(measure_nets([(votes, changes, points, per_class)])).hypotheses[1].met is False


def test_the_loose_bound_may_be_off_by_rounding():
    for factor, kept in ((1 + 5e-13, True), (1 + 5e-12, False)):
        found = altered(even(), moves=even().loose * factor, bounds=2 * even().bounds)
        assert lemma_a_3_net(found).parts[1].kept is kept


def test_cases_of_several_points_and_classes():
    """Five classes: the fifth stays; and k = 11 has five pairs."""
    votes, changes, points, per_class = aligned_case(5, 2, 1.5, 0.01)
    np.testing.assert_array_equal(votes, [1.5, -1.5, 1.5, -1.5, 0.0])
    np.testing.assert_allclose(changes, np.tile([0.01, -0.01, 0.01, -0.01, 0.0], (10, 1)))
    np.testing.assert_array_equal(points, np.tile([1.0, 0.0], (10, 1)))
    assert per_class == 2
    many = measure_nets([aligned_case(11, 1, 1.0, 1.0)])
    assert (many.moves[0], many.bounds[0], many.loose[0]) == pytest.approx((110, 110, 121))


def test_the_worst_norm_of_any_case():
    votes, changes, points, per_class = aligned_case(4, 2, 1.5, 0.01)
    longer = points.copy()
    longer[3] *= 1.5
    for cases in (
        [(votes, changes, longer, per_class), aligned_case(4, 2, 1.5, 0.01)],
        [aligned_case(4, 2, 1.5, 0.01), (votes, changes, longer, per_class)],
    ):
        assert measure_nets(cases).norm_error == pytest.approx(0.5)


def test_the_room_of_the_sharp_bound():
    for factor, kept in ((1 + 9e-13, True), (1 + 2e-12, False)):
        found = altered(even(), moves=even().bounds * factor, loose=2 * even().loose)
        assert lemma_a_3_net(found).parts[0].kept is kept


def test_the_printed_net_fails_for_moves_with_the_signs_of_the_votes():
    """k = 4, l = 2: 2⌊k/2⌋·kl = 32 times max|a|·ε₀, but for the small angles between the points."""
    found = lemma_a_3_net_as_printed(draw_aligned_nets(Scale.QUICK, 0))
    assert found.verdict is Verdict.VIOLATED
    assert (found.measured, found.promised) == (pytest.approx(0.48, rel=1e-3), pytest.approx(0.015))


ONE_MOVES = measure_nets([(np.array([1.0, 0.0]), np.array([[0.01, -0.01], [0.0, 0.0]]), np.eye(2), 1)])
"""Two classes, one of their two points moves by (ε₀, −ε₀) with votes (1, 0)."""
test_control = controls(
    gradient_rows,
    {GradientRows: steep, Nets: even},
    (lemma_a_1_gradient, "spread", {"tight": 1 - 5e-12}, {"tight": 1 - 5e-11}),
    (lemma_a_1_gradient, "twice", {}, {"twice": 1.99}),
    (lemma_a_1_gradient, "twice", at(steep, spreads=3.0), at(steep, spreads=3.0, norms=2.0)),
    (lemma_a_1_gradient_as_printed, "once", at(measure_rows([steep_network(-1.0)])), {}),
    (lemma_a_3_net, "sharp", {"loose": 9.0, "sharp": 1 - 5e-13}, {"loose": 9.0, "sharp": 1 - 5e-12}),
    (lemma_a_3_net, "loose", at(even, sharp=2.0), at(even, sharp=2.0, loose=lambda bound: (1 - 5e-12) * bound)),
    (lemma_a_3_net_as_printed, "printed", at(ONE_MOVES), {}),
)
