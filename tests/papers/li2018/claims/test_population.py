"""Single steps of SGD: the explicit form of Eq. 3 with both attaining instances, and drops of the population loss."""

import functools

import numpy as np
import pytest

from tests.control_table import at, controls
from tests.papers.li2018.toys import separated_rows
from tests.papers.records import altered
from widenet.claims.base import Verdict
from widenet.claims.user_data import UserData
from widenet.data import from_arrays
from widenet.papers.li2018.claims import population
from widenet.papers.li2018.claims.population import equation_3, lemma_b_4, lemma_b_4_coupled
from widenet.papers.li2018.runs.drops import Drops, DropSetting, run_drops
from widenet.papers.li2018.runs.weight_moves import (
    POINT,
    WeightMoves,
    curved_case,
    draw_moves,
    kinked_case,
    listed_moves,
    move_terms,
    random_moves,
)
from widenet.papers.li2018.sources import TOY, Caps, listed_network
from widenet.progress import silent
from widenet.records import Scale
from widenet.training.small.softmax import SoftmaxNetwork


@functools.cache
def attained():
    return listed_moves(curved_case(0.1), kinked_case(4.0, 0.001))


@functools.cache
def dropped():
    setting = DropSetting(data=Caps(dim=10), width=60, batch_size=64, n_steps=60, n_reference=200)
    return run_drops(setting, silent)


@functools.cache
def coupled():
    setting = DropSetting(data=Caps(dim=10), width=1000, scaled_step=1e-4, batch_size=8, n_steps=4, n_reference=20)
    return run_drops(setting, silent)


@pytest.mark.parametrize("seed", [0, 1])
def test_it_holds_for_random_moves(seed):
    assert equation_3(draw_moves(Scale.QUICK, seed)).verdict is Verdict.HOLDS


def test_control_the_linear_term_alone():
    drawn = draw_moves(Scale.QUICK, 0)
    assert (drawn.increase > drawn.linear + 1e-12).mean() > 0.5


def test_the_instances_have_their_closed_forms():
    increase, linear, quadratic, rough = move_terms(*curved_case(0.1))[:, 0]
    assert rough == 0
    assert (increase - linear) / (quadratic / 4) == pytest.approx(0.9983377643293, rel=1e-8)
    increase, linear, quadratic, rough = move_terms(*kinked_case(3.0, 0.01))[:, 0]
    assert increase / (2**0.5 * rough + quadratic / 4) == pytest.approx(0.9950642185759, rel=1e-8)


def test_the_small_network():
    start, network, points = listed_network()
    found = move_terms(network, (start.hidden - network.hidden)[None], points.points[0], 0)[:, 0]
    assert found[0] == pytest.approx(-0.6817919264563, rel=1e-10)
    assert found[1] == pytest.approx(-0.4525312967768, rel=1e-10)
    assert found[2] / 4 == pytest.approx(2.484573637565, rel=1e-10)
    assert 2**0.5 * found[3] == pytest.approx(0.901387818866, rel=1e-10)


def test_control_a_gradient_one_percent_too_small():
    assert equation_3(altered(attained(), linear=lambda term: 1.01 * term)).conclusion is False


def test_real_steps_drop():
    found = lemma_b_4([dropped()])
    assert (found.verdict, found.conclusion) == (Verdict.CONSTANT_UNSPECIFIED, True)
    assert found.details["smallest ratio"] > 0.5
    assert f"{found.details['smallest ratio']:.3g}·ηΣ" in found.open_constant
    assert lemma_b_4([altered(dropped(), drops=-dropped().drops)]).conclusion is False


def test_steps_with_small_residuals_are_not_judged():
    assert lemma_b_4([altered(dropped(), residuals=np.full(60, 0.04))]).verdict is Verdict.HYPOTHESES_NOT_MET


def test_control_a_hundredth_of_the_share():
    """1 − γ/1000."""
    assert lemma_b_4_coupled([coupled()], tenth=0.001).conclusion is False


def test_steps_after_the_promised_ones_are_not_judged():
    late = altered(coupled(), promised=np.array([1.0, 1, 1, 0]), coupled=np.array([1.0, 1, 1, 0]))
    assert lemma_b_4_coupled([late]).verdict is Verdict.HOLDS


def test_halves_and_levels_at_their_edges():
    cell = altered(dropped(), residuals=np.full(60, 0.0501))
    for ratio, kept in ((0.51, True), (0.49, False)):
        found = lemma_b_4([altered(cell, drops=ratio * cell.step_size * cell.squares)])
        assert found.conclusion is kept
    small = altered(cell, residuals=np.full(60, 0.0499))
    assert lemma_b_4([small]).verdict is Verdict.HYPOTHESES_NOT_MET


def test_one_step_in_twenty_may_drop_less():
    """59 steps without one can show it, 58 cannot."""
    good = altered(dropped(), drops=dropped().step_size * dropped().squares, residuals=np.full(60, 0.1))
    for count, kept in ((59, True), (57, None)):
        residuals = np.where(np.arange(60) < count, 0.1, 0.01)
        assert lemma_b_4([altered(good, residuals=residuals)]).conclusion is kept


def test_the_share_of_coupled_neurons_at_its_edge():
    for share, kept in ((0.9901, True), (0.9899, False)):
        assert lemma_b_4_coupled([altered(coupled(), coupled=np.full(4, share))]).conclusion is kept


def test_the_room_of_equation_3_is_a_rounding_of_its_terms():
    """1e-12·(1 + |linear| + quadratic), with a linear term of −2 and a quadratic one of 3."""
    for excess, kept in ((5.95e-12, True), (6.05e-12, False)):
        for rough in (0.0, 0.5):
            bound = -2 + 3 / 4 + 2**0.5 * rough
            one = altered(
                attained(),
                increase=np.full(2, bound + excess),
                linear=np.full(2, -2.0),
                quadratic=np.full(2, 3.0),
                rough=np.full(2, rough),
            )
            assert equation_3(one).parts[int(rough > 0)].kept is kept


def test_a_neuron_on_its_kink_is_on():
    """From ⟨w, x⟩ = 0 to 1, and from 1 to 0, nothing changes; below 0 it does."""
    for before, after, kept in ((0.0, 1.0, True), (1.0, 0.0, True), (0.05, -0.05, False), (-0.05, 0.05, False)):
        network = SoftmaxNetwork(before * POINT[None], np.array([[1.0], [-1.0]]))
        found = move_terms(network, (after - before) * POINT[None, None], POINT, 0)[:, 0]
        assert bool(found[3] == 0) is kept
        assert bool(found[1] == 0) is not kept


def test_instances_of_equation_3():
    network, changes, point, kind = curved_case(0.1)
    np.testing.assert_array_equal(network.hidden, [[4, 0], [4, 0]])
    np.testing.assert_array_equal(network.votes, [[1, -1], [-1, 1]])
    np.testing.assert_array_equal(changes, [[[0.1, 0], [0, 0]]])
    np.testing.assert_array_equal(point, [1, 0])
    assert kind == 0
    network, changes, point, kind = kinked_case(4.0, 0.001)
    np.testing.assert_array_equal(network.hidden, [[4, 0], [-1e-12, 0]])
    np.testing.assert_array_equal(network.votes, [[1, 1], [-1, -1]])
    np.testing.assert_array_equal(changes, [[[0, 0], [0.001, 0]]])
    assert kind == 1


def test_random_moves_are_of_several_sizes():
    """From a thousandth to all of the size of the weights."""
    draw = np.random.default_rng(0)
    drawn = [random_moves(draw, POINT, 200, 3, 1) for _ in range(60)]
    sizes = [float(np.std(each)) for _, changes, _, _ in drawn for each in changes]
    assert (min(sizes), max(sizes)) == pytest.approx((0.001, 1.0), rel=0.06)
    assert drawn[0][0].hidden.shape == (200, 2)
    assert drawn[0][0].votes.shape == (3, 200)


def test_levels_of_the_drop_are_inside():
    """v = 0.05 is large enough, and half of the promise is enough."""
    cell = altered(dropped(), residuals=np.full(60, 0.05), drops=0.5 * dropped().step_size * dropped().squares)
    exact = altered(cell, step_size=1.0, squares=np.ones(60), drops=np.full(60, 0.5))
    assert lemma_b_4([exact]).conclusion is True
    less = lemma_b_4([altered(exact, drops=np.full(60, 0.5 - 1e-12))])
    assert (less.verdict, less.conclusion) == (Verdict.CONSTANT_UNSPECIFIED, False)
    one = altered(exact, residuals=np.where(np.arange(60) == 3, 0.1, 0.0))
    assert lemma_b_4([one]).hypotheses[-1].met is True


def test_two_steps_have_to_be_promised():
    for promised, met in (([1.0, 1, 0, 0], True), ([1.0, 0, 0, 0], False)):
        assert lemma_b_4_coupled([altered(coupled(), promised=np.array(promised))]).hypotheses[1].met is met


def test_it_speaks_about_three_classes():
    toy = TOY.draw(5)
    own = UserData(from_arrays(3 * toy.points, toy.classes))
    found = equation_3(equation_3.on(own).settings)
    assert found.verdict is Verdict.HOLDS
    assert sum(part.n_cases for part in found.parts) == 200
    for claim in (lemma_b_4, lemma_b_4_coupled):
        assert "fresh batches" in claim.on(own)


def test_the_room_of_equation_3():
    for excess, kept in ((5e-13, True), (5e-12, False)):
        found = altered(
            attained(), increase=attained().linear + attained().quadratic / 4 + 2**0.5 * attained().rough + excess
        )
        assert equation_3(found).conclusion is kept


def drops_of(share, rest=1.0):
    """Every seventh step drops by this share of ηΣ‖∇_r‖²."""
    return lambda _: np.where(np.arange(60) % 7 == 0, share, rest) * dropped().step_size * dropped().squares


def large_in(count):
    """So many steps have large residuals."""
    return {"residuals": np.where(np.arange(60) < count, 0.05, 0.04)}


ALL_LARGE = {"residuals": np.full(60, 0.1)}
test_control = controls(
    population,
    {WeightMoves: attained, Drops: dropped, lemma_b_4_coupled: coupled},
    (lemma_b_4_coupled, "coupled"),
    (equation_3, "smooth", at(listed_moves(kinked_case(4.0, 0.001), curved_case(0.1))), {"quarter": 0.249}),
    (equation_3, "rough", {}, {"root": 1.4}),
    (lemma_b_4, "drop", {**ALL_LARGE, "drops": drops_of(0.51)}, {**ALL_LARGE, "drops": drops_of(0.49)}),
    (lemma_b_4, "steps", large_in(1), large_in(0)),
    *separated_rows(lemma_b_4),
)
