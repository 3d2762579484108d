"""Identities of the softmax network, against a network that is worked out by hand."""

import functools

import jax.numpy as jnp
import numpy as np
import pytest

from tests.control_table import at, controls
from tests.papers.records import altered
from widenet.claims.base import NotApplicable, Verdict
from widenet.claims.user_data import UserData
from widenet.data import from_arrays
from widenet.papers.li2018.claims import network
from widenet.papers.li2018.claims.network import (
    equation_1,
    lemma_a_3_sum,
    pseudo_gradient,
    pseudo_gradient_as_printed,
    section_5_residuals,
)
from widenet.papers.li2018.runs.random_networks import (
    GradientSlopes,
    Pseudo,
    Residuals,
    draw_pseudo,
    draw_residuals,
    draw_slopes,
    measure_pseudo,
    measure_residuals,
    measure_slopes,
    random_starts,
    written_out,
)
from widenet.papers.li2018.sources import TOY, Sample, listed_network
from widenet.records import Scale
from widenet.training.small.softmax import SoftmaxNetwork, gradient
from widenet.types import Dataset

START, NETWORK, POINTS = listed_network()


@functools.cache
def slopes():
    return draw_slopes(Scale.QUICK, 0)


@functools.cache
def toy_residuals():
    return draw_residuals(Scale.QUICK, 0)


@functools.cache
def pseudo():
    return draw_pseudo(Scale.QUICK, 0)


@pytest.mark.parametrize("seed", [1, 2])
def test_they_hold_for_other_seeds(seed):
    pairs = (
        (equation_1, draw_slopes),
        (section_5_residuals, draw_residuals),
        (pseudo_gradient, draw_pseudo),
        (lemma_a_3_sum, draw_pseudo),
    )
    for claim, draw in pairs:
        assert claim(draw(Scale.QUICK, seed)).verdict is Verdict.HOLDS, claim.id


def test_a_network_too_near_to_a_kink_takes_no_part():
    found = measure_slopes(iter([listed_network()]), 0)
    assert len(found.along) == 0
    assert equation_1(found).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_equal_shares():
    other = Sample(POINTS.points, POINTS.classes, POINTS.components, np.full(3, 1 / 3))
    wrong = measure_pseudo(iter([(START, NETWORK, other)]))
    right = measure_pseudo(iter([(START, NETWORK, POINTS)]))
    assert pseudo_gradient(altered(right, combined=wrong.combined)).verdict is Verdict.VIOLATED


def test_the_printed_sign_is_wrong():
    assert pseudo_gradient_as_printed(pseudo()).verdict is Verdict.VIOLATED


def test_the_small_network():
    found = measure_residuals(iter([(START, NETWORK, POINTS)]))
    np.testing.assert_allclose(found.own, [0.8869766427519, 0.7042344281144, 0.7061852252885], rtol=1e-10)
    assert POINTS.residual_max(found.own) == pytest.approx(0.4434883213759, rel=1e-10)


@functools.cache
def own():
    return from_arrays(TOY.draw(3).points * 7, TOY.draw(3).classes)


def test_they_speak_about_three_classes():
    for claim in (equation_1, section_5_residuals, pseudo_gradient):
        found = claim(claim.on(UserData(own())).settings)
        assert found.verdict is Verdict.HOLDS, claim.id


def test_they_are_silent_about_one_class_and_about_zeros():
    for inputs, labels in ((np.eye(2), [1, 1]), ([[0.0, 0.0], [1.0, 0.0]], [1, -1])):
        data = Dataset(jnp.asarray(inputs, float), jnp.asarray(labels, float))
        for claim in (equation_1, section_5_residuals, pseudo_gradient):
            assert isinstance(claim.on(UserData(data)), NotApplicable)


def test_random_starts_have_weights_of_several_sizes():
    moves = [np.abs(net.hidden - start.hidden).max() for start, net, _ in random_starts(TOY.draw(0), 0, 10)]
    assert max(moves) > 10 * min(moves)
    assert isinstance(next(random_starts(TOY.draw(0), 0, 1))[0], SoftmaxNetwork)
    # A move is between a hundredth and ten times as large as the start.
    sizes = [np.std(net.hidden - start.hidden) * 40**0.5 for start, net, _ in random_starts(TOY.draw(0), 0, 600)]
    assert (min(sizes), max(sizes)) == pytest.approx((0.01, 10.0), rel=0.06)


def test_rounding_is_no_excuse():
    size = slopes().entry_sizes[0]
    for excess, kept in ((0.5e-12, True), (5e-12, False)):
        assert equation_1(altered(slopes(), entries=slopes().written + excess * size)).parts[1].kept is kept
        assert (
            pseudo_gradient(altered(pseudo(), defined=-pseudo().combined + excess * pseudo().entry_sizes)).conclusion
            is kept
        )
        assert lemma_a_3_sum(altered(pseudo(), sums=excess * pseudo().largest)).conclusion is kept
        assert lemma_a_3_sum(altered(pseudo(), sums=-excess * pseudo().largest)).conclusion is kept
        low = altered(pseudo(), defined=-pseudo().combined - excess * pseudo().entry_sizes)
        assert pseudo_gradient(low).conclusion is kept
        assert equation_1(altered(slopes(), entries=slopes().written - excess * size)).parts[1].kept is kept
        less = altered(toy_residuals(), own=lambda v, e=excess: v - e)
        assert section_5_residuals(less).parts[0].kept is kept
        shifted = altered(toy_residuals(), own=lambda v, e=excess: v + e)
        assert section_5_residuals(shifted).parts[0].kept is kept
    for excess, kept in ((0.5e-6, True), (5e-6, False)):
        for sign in (1, -1):
            moved = slopes().along + sign * excess * (slopes().slope_sizes + 1)
            assert equation_1(altered(slopes(), measured=moved)).parts[0].kept is kept


@pytest.mark.parametrize(("steps", "used"), [(10.5, True), (9.5, False)])
def test_networks_ten_steps_away_from_a_kink_take_part(steps, used):
    votes = np.array([[1.0, 0.5], [-1.0, 2.0]])
    near = SoftmaxNetwork(np.array([[steps * 1e-6, 0.0], [1.0, 0.0]]), votes)
    one = Sample(np.array([[1.0, 0.0]]), np.array([1]), np.array([0]), np.ones(1))
    found = measure_slopes(iter([(near, near, one)]), 0)
    assert (len(found.along) == 5) is used
    if used:
        assert found.clearance == pytest.approx(steps)
        assert equation_1(found).verdict is Verdict.HOLDS


def test_the_room_of_a_difference_is_a_millionth_of_one_and_the_slope():
    for excess, kept in ((2.95e-6, True), (3.05e-6, False)):
        one = altered(slopes(), along=np.zeros(1), measured=np.full(1, excess), slope_sizes=np.full(1, 2.0))
        assert equation_1(one).parts[0].kept is kept


def test_sizes_of_other_residuals_at_their_edges():
    for share, kept in ((1.0, True), (1.05, False)):
        two = altered(toy_residuals(), own=np.full(1, 0.5), others=np.array([[-0.5 * share, 0.5 * share - 0.5]]))
        assert section_5_residuals(two).parts[3].kept is kept
    for excess, kept in ((5e-13, True), (5e-12, False)):
        two = altered(toy_residuals(), own=np.full(1, 0.5), others=np.array([[-0.5 - excess, 0.0]]))
        assert section_5_residuals(two).parts[3].kept is kept


def test_equation_1_is_written_out_term_by_term():
    """The sum over the other classes alone; the class of the point is in neither sum."""
    total, size = written_out(NETWORK, POINTS)
    np.testing.assert_allclose(total[0], [-0.2118351404202, -0.08212650477373], rtol=1e-10)
    expected = np.zeros_like(total)
    for x, y, p in zip(POINTS.points, POINTS.classes, POINTS.shares, strict=True):
        f = NETWORK.votes @ np.maximum(NETWORK.hidden @ x, 0)
        o = np.exp(f) / np.exp(f).sum()
        others = [i for i in range(3) if i != y]
        parts = [abs(sum(NETWORK.votes[i] * o[i] for i in others)), abs(NETWORK.votes[y] * sum(o[i] for i in others))]
        expected += p * (parts[0] + parts[1])[:, None] * np.abs(x)
    np.testing.assert_allclose(size, expected)


def test_the_size_of_a_pseudo_gradient():
    found = measure_pseudo(iter([(START, NETWORK, POINTS)]))
    v = np.array([0.8869766427519, 0.7042344281144, 0.7061852252885])
    # Σ_s |v_s| = 2v_y for each point, and the largest vote is 2.
    assert found.entry_sizes[0] == pytest.approx(2 * 2 * (v @ POINTS.shares), rel=1e-10)
    pieces_of_the_first = [0.4434883213759, 0.4530285116537, 0.4547901462022, 0.03131517565984]
    assert (found.largest[::2] >= np.array(pieces_of_the_first) - 1e-12).all()


def test_a_network_exactly_ten_steps_from_a_kink_takes_no_part():
    votes = np.array([[1.0, 0.5], [-1.0, 2.0]])
    one = Sample(np.array([[1.0, 0.0]]), np.array([1]), np.array([0]), np.ones(1))
    near = SoftmaxNetwork(np.array([[10 * 2.0**-20, 0.0], [1.0, 0.0]]), votes)
    assert len(measure_slopes(iter([(near, near, one)]), 0, fd_step=2.0**-20).along) == 0


def kink_off():
    """With 1[z > 0] the first row of the small network is (−.2118, −.2824) instead of (−.2118, −.0821)."""
    z = NETWORK.preactivations(POINTS.points)
    off = gradient(NETWORK, POINTS.points, POINTS.classes, POINTS.shares, gates=z > 0)
    np.testing.assert_allclose(off[0], [-0.2118351404, -0.2824468539], rtol=1e-8)
    return np.concatenate([slopes().entries[: -off.size], off.ravel()])


def residuals_with(own, *others):
    """The last point has these residuals."""
    return {"own": own, "others": lambda v: np.concatenate([v[:-1], [others]])}


# Two points that pull in opposite directions with equal strength, at one neuron.
VANISHING = altered(pseudo(), defined=lambda d: 0 * d, combined=lambda c: 0 * c)
test_control = controls(
    network,
    {GradientSlopes: slopes, Residuals: toy_residuals, Pseudo: pseudo, pseudo_gradient_as_printed: VANISHING},
    (equation_1, "differences"),
    (pseudo_gradient, "sum"),
    (lemma_a_3_sum, "sum"),
    (equation_1, "entries", {}, {"entries": kink_off()}),
    (section_5_residuals, "sum", residuals_with(0.5, -0.25, -0.25 + 5e-13), residuals_with(0.5, -0.25, -0.25 + 5e-12)),
    (section_5_residuals, "sum", residuals_with(0.5, -0.25, -0.25), residuals_with(0.5, -0.25, -0.25 - 5e-12)),
    (section_5_residuals, "lower", residuals_with(0.0, 0.0, 0.0), residuals_with(-1e-13, 0.0, 0.0)),
    (section_5_residuals, "upper", residuals_with(1.0, -0.5, -0.5), residuals_with(1 + 1e-9, -0.5, -0.5 - 1e-9)),
    (section_5_residuals, "largest", residuals_with(0.3, -0.3 - 5e-13, 0), residuals_with(0.3, -0.3 - 2e-12, 1.5e-12)),
    (pseudo_gradient_as_printed, "sum", {}, at(pseudo)),
)
