"""Lemmas and propositions of Section 10: rows on the other side, balls that are too small, sums beyond their bound."""

import numpy as np
import pytest

from tests.control_table import at, controls, spared
from tests.papers.records import altered
from tests.papers.sarussi2021.pairs import POINT, network, toy_pairs, turned, zero_pair
from widenet.claims.base import Verdict
from widenet.papers.sarussi2021.claims import linear_region
from widenet.papers.sarussi2021.claims.linear_region import (
    corollary_10_1,
    draw_closed_ball,
    equation_6,
    lemma_10_1,
    lemma_10_1_as_printed,
    lemma_10_2,
    proposition_10_1,
    proposition_10_2,
    theorem_5_1,
    theorem_5_1_sharp,
)
from widenet.papers.sarussi2021.runs.clouds import Clouds, ask, one_pair
from widenet.records import Scale


@pytest.mark.parametrize(
    "claim", [lemma_10_1, proposition_10_1, proposition_10_2, lemma_10_2], ids=lambda claim: claim.name
)
def test_section_10_holds_on_toy_networks(claim):
    assert claim([toy_pairs()]).verdict is Verdict.HOLDS


def opposite(sign, share):
    """One row of this sign gets the other side, in a pair just at `share` of the balls."""
    mean = getattr(toy_pairs(), f"{sign}_mean")
    first = np.flatnonzero(np.abs(mean) >= share * toy_pairs().radius * toy_pairs().norms)[0]
    low, high = getattr(toy_pairs(), f"{sign}_low").copy(), getattr(toy_pairs(), f"{sign}_high").copy()
    low[first], high[first] = -1.0, 1.0
    return altered(toy_pairs(), **{f"{sign}_low": low, f"{sign}_high": high})


def between(sign):
    """Opposite signs exactly at the closed ball: r < |w̄·x|/‖x‖ < 1.0001 r."""
    rows = [(1.00005 + 1, 0), (1.00005 - 1, 0)]
    other = [(3, 0), (3, 0)]
    pair = ask(network(rows, other) if sign == "plus" else network(other, rows), POINT)
    pair = altered(pair, **{f"{sign}_low": np.array([-0.5])})
    return Clouds.joined([toy_pairs(), pair])


def quadrant(plus, minus):
    edge = 1.1 * toy_pairs().radius * toy_pairs().norms
    return (plus * toy_pairs().plus_mean > edge) & (minus * toy_pairs().minus_mean > edge)


def test_control_relu_in_the_negative_quadrant():
    """With α = 0 and all products negative N is 0, which is no sign."""
    off = ask(network([(-2, 0)], [(-1, 0)], slope=0.0), POINT)
    assert off.outputs == 0
    found = proposition_10_1([Clouds.joined([toy_pairs(), altered(off, scales=np.zeros(1))])])
    assert "slope_positive" in {h.key for h in found.hypotheses if not h.met}


def alone(near, far, turn):
    edge = toy_pairs().radius * toy_pairs().norms
    wide = np.abs(toy_pairs().difference) >= 2.01 * edge
    return wide & (np.abs(getattr(toy_pairs(), near)) < 0.99 * edge) & (turn * getattr(toy_pairs(), far) > 1.01 * edge)


def nearly(*, swapped=False):
    """w = (−0.999, 0) twice, u = (−1, ±1): −Σσ(w·x) is 0.999 of αkr‖x‖, and N = 0.002α."""
    rows, spread = [(-0.999, 0)] * 2, [(-1, 1), (-1, -1)]
    pair = ask(network(spread, rows) if swapped else network(rows, spread), POINT)
    return Clouds.joined([toy_pairs(), pair])


def test_the_bound_on_the_sum_is_nearly_attained():
    assert lemma_10_2([nearly()], share=0.998).parts[0].kept is False
    assert lemma_10_2([nearly(swapped=True)], share=0.998).parts[2].kept is False


def test_a_tie_belongs_to_no_side():
    assert [part.n_cases for part in proposition_10_1([zero_pair()]).parts] == [0, 0, 0, 0]
    for sign in (1.0, -1.0):
        for name in ("plus_mean", "minus_mean"):
            beside = zero_pair(**{name: sign}, outputs=1.0, scales=1.0)
            assert [part.n_cases for part in proposition_10_1([beside]).parts] == [0, 0, 0, 0]


def test_an_output_that_rounding_could_make_zero_is_not_scored():
    inside = {"minus_mean": -2.0, "plus_mean": 0.5, "plus_radius": 1.0, "minus_radius": 1.0, "scales": 1.0}
    assert lemma_10_2([zero_pair(**inside, outputs=-1e-12)]).parts[1].n_cases == 0
    assert lemma_10_2([zero_pair(**inside, outputs=-1e-9)]).parts[1].kept is False


@pytest.mark.parametrize(("field", "sign", "part"), [("minus_mean", 1, 0), ("minus_mean", -1, 1), ("plus_mean", 1, 2),
                                                     ("plus_mean", -1, 3)])  # fmt: skip
def test_the_edge_of_each_case_of_proposition_10_2_belongs_to_it(field, sign, part):
    """r = ‖x‖ = 1, one mean exactly at the edge, the other inside."""
    pair = zero_pair(plus_radius=1.0, minus_radius=1.0, outputs=1.0, scales=1.0)
    edge = float(linear_region.reach(pair)[0])
    other = {"minus_mean": "plus_mean", "plus_mean": "minus_mean"}[field]
    at_the_edge = altered(pair, **{field: np.array([sign * edge]), other: np.array([-sign * 0.5 * edge])})
    assert proposition_10_2([at_the_edge], factor=1.5).parts[part].n_cases == 1
    beyond = altered(pair, **{field: np.array([sign * edge]), other: np.array([-sign * edge])})
    assert proposition_10_2([beyond], factor=1.5).parts[part].n_cases == 0


@pytest.mark.parametrize(("sign", "part"), [("plus", 0), ("minus", 2)])
def test_control_a_row_that_is_a_little_on_the_other_side(sign, part):
    """|w̄·x| ≥ r‖x‖, and one w·x of the other sign, however small."""
    for low, high in ((-1e-3, 1.0), (-1.0, 1e-3)):
        pair = zero_pair(**{f"{sign}_mean": 2.0, f"{sign}_low": low, f"{sign}_high": high, f"{sign}_radius": 1.0})
        found = lemma_10_1([pair])
        assert [found.parts[part].kept, found.parts[part + 1].kept] == [False, False]


@pytest.mark.parametrize(("radius", "met"), [(1.0, True), (0.999, False)])
def test_the_balls_of_the_printed_lemma_are_measured(radius, met):
    given = draw_closed_ball(Scale.QUICK, 0)
    found = lemma_10_1_as_printed(altered(given, printed_radius=radius))
    assert [each.met for each in found.hypotheses] == [met]


def test_a_row_that_does_not_see_the_point_has_no_strict_sign():
    behind = one_pair(network([(0, 0), (-2, 0)], [(1, 0), (1, 0)]), POINT[0], 1.0)
    assert lemma_10_1_as_printed(behind).conclusion is False


def printed(plus, minus, radius=1.0, slope=0.5):
    """Rows along x = e₁."""
    return one_pair(network([(p, 0) for p in plus], [(m, 0) for m in minus], slope), POINT[0], radius)


def test_lemma_10_1_as_printed_asks_for_both_balls_and_far_means():
    assert lemma_10_1_as_printed(printed((3, -1), (1, 1), 2.0)).parts[0].kept is None
    assert lemma_10_1_as_printed(printed((-0.05, -1.95), (1, 1))).parts[0].kept is True
    for pair in (printed((1, 1), (3, -1)), printed((3, -1), (1, 1))):
        assert lemma_10_1_as_printed(pair).hypotheses[0].met is False


def test_the_printed_lemma_fails():
    assert lemma_10_1_as_printed(draw_closed_ball(Scale.QUICK, 0)).verdict is Verdict.VIOLATED


def test_rows_inside_the_ball_spare_lemma_10_1():
    spared(lemma_10_1_as_printed, at(printed((0.1, 1.9), (1, 1))))


def edge():
    return toy_pairs().radius * toy_pairs().norms


def case_of(near, far):
    """One mean far on the negative side, the other near 0."""
    return (getattr(toy_pairs(), far) <= -1.01 * edge()) & (np.abs(getattr(toy_pairs(), near)) < 0.9 * edge())


def at_its_bound(sums, case):
    """One sum is exactly −αkr‖x‖."""
    values = getattr(toy_pairs(), sums).copy()
    first = np.flatnonzero(case)[0]
    values[first] = -(toy_pairs().slope * toy_pairs().half_width * edge())[first]
    return {sums: values}


def turning(where):
    return at(lambda: turned(toy_pairs(), where))


PLUS, MINUS = ("plus_mean", "minus_mean"), ("minus_mean", "plus_mean")
test_control = controls(
    linear_region,
    toy_pairs,
    (lemma_10_1, "open_plus", {}, at(lambda: opposite("plus", 1.1)), "closed_plus"),
    (lemma_10_1, "open_minus", {}, at(lambda: opposite("minus", 1.1)), "closed_minus"),
    (lemma_10_1, "closed_plus", {}, at(lambda: between("plus"))),
    (lemma_10_1, "closed_minus", {}, at(lambda: between("minus"))),
    (proposition_10_1, "plus_plus", {}, turning(quadrant(1, 1))),
    (proposition_10_1, "plus_minus", {}, turning(quadrant(1, -1))),
    (proposition_10_1, "minus_plus", {}, turning(quadrant(-1, 1))),
    (proposition_10_1, "minus_minus", {}, turning(quadrant(-1, -1) & (toy_pairs().difference > 0))),
    (proposition_10_1, "minus_minus", {}, turning(quadrant(-1, -1) & (toy_pairs().difference < 0))),
    (proposition_10_2, "minus_above", {}, turning(alone(*PLUS, 1))),
    (proposition_10_2, "minus_below", {}, turning(alone(*PLUS, -1))),
    (proposition_10_2, "plus_above", {}, turning(alone(*MINUS, 1))),
    (proposition_10_2, "plus_below", {}, turning(alone(*MINUS, -1))),
    (lemma_10_2, "plus_sum", at(nearly), at_its_bound("plus_sum", case_of(*PLUS))),
    (lemma_10_2, "minus_sum", at(lambda: nearly(swapped=True)), at_its_bound("minus_sum", case_of(*MINUS))),
    (lemma_10_2, "positive", {}, turning(case_of(*PLUS))),
    (lemma_10_2, "negative", {}, turning(case_of(*MINUS))),
    but=(theorem_5_1, theorem_5_1_sharp, equation_6, corollary_10_1, lemma_10_1_as_printed),
)
