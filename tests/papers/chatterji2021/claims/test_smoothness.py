"""Section 3.3 on the loss and its curvature: each inequality where it is attained, and just beyond."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.control_table import at, controls, spared
from tests.papers.chatterji2021 import toys
from tests.papers.chatterji2021.toys import BAND, CURVED, dead, looked, times
from tests.papers.records import altered
from widenet.claims.base import Verdict
from widenet.diagnostics.huberized import HuberNetwork
from widenet.losses import logistic
from widenet.networks import TwoLayer, huberized_relu, plus_minus, relu
from widenet.papers.chatterji2021.claims import smoothness
from widenet.papers.chatterji2021.claims.columns import Looked
from widenet.papers.chatterji2021.claims.smoothness import (
    equations_23_24,
    lemma_5,
    lemma_6,
    lemma_6_sums,
    lemma_6_sums_as_printed,
    lemma_7,
    lemma_8,
    lemma_8_segment,
    lemma_8_sharp,
)
from widenet.papers.chatterji2021.formulas import (
    SHARP,
    diagonal_bound,
    largest_double_sum,
    off_diagonal_bound,
    repaired_hessian_sum,
    wide_diagonal_bound,
)
from widenet.papers.chatterji2021.runs.scalars import RowNorms, draw_row_norms
from widenet.papers.chatterji2021.sources import Case, flat_step, steepest_curve
from widenet.records import Scale


@pytest.mark.parametrize("claim", [lemma_5, equations_23_24, lemma_6], ids=lambda claim: claim.name)
def test_it_holds_on_networks(claim):
    assert claim([toys.placed(), toys.drawn()]).verdict is Verdict.HOLDS


def times_more(bound, factor):
    def wrong(*given):
        return factor * bound(*given)

    return wrong


def test_a_little_more_than_five_sixths_is_gained():
    """Harmful units on the parabola: the step 1/(3M) gains 5/6 + 2.5e-8."""
    assert looked(flat_step(3)).local_efficiencies[0] == pytest.approx(5 / 6 + 2.5e-8, abs=1e-9)


def test_the_longer_step_of_the_flat_network_gains_too_little():
    """α = 1.01/(3M): 1 − 1.01/6 = 0.83167."""
    from widenet.papers.chatterji2021.runs.networks import _efficiency, gradient

    case = flat_step(3)
    slope = gradient(case.network, case.points, case.labels)
    step = 1.01 * looked(case).local_steps[0]
    assert _efficiency(case, slope, step) == pytest.approx(1 - 1.01 / 6, abs=1e-7)


def times_loss(constant):
    return lambda p, loss: constant * p * loss


def times_square(constant):
    return lambda p, loss: constant * p**2 * loss**2


def test_control_a_plain_relu_has_no_such_bound():
    """A ReLU is h → 0: one unit on its parabola curves the loss by g/h, beyond every multiple of pL."""
    for h, kept in ((1.0, True), (0.1, False), (1e-6, False)):
        case = Case(np.ones((1, 1)), -np.ones(1), HuberNetwork(np.array([[h / 2], [-1.0]]), h))
        found = lemma_6([looked(case)])
        assert found.conclusion is kept
        assert [each.key for each in found.hypotheses if not each.met] == ([] if kept else ["bandwidth"])


def test_control_the_gradient_of_a_plain_relu_jumps():
    """By automatic differentiation, on both sides of 0: a difference quotient far beyond 5pL; with φ it is not."""

    def slope(activation, weight):
        def loss(value):
            return logistic(TwoLayer(value, plus_minus(2, 1.0), None, activation)(jnp.ones(1)), jnp.asarray(-1.0))

        return np.asarray(jax.grad(loss)(jnp.array([[weight], [-1.0]])))

    for activation, smooth in ((relu(), False), (huberized_relu(1.0), True)):
        apart = np.abs(slope(activation, 1e-4) - slope(activation, -1e-4)).max() / 2e-4
        assert bool(apart <= 5 * np.log(2)) is smooth


def test_the_steepest_curve():
    found = looked(steepest_curve(3))
    assert found.hessian_norms[0] / (3 * found.losses[0]) == pytest.approx(2.61803398875, rel=1e-11)


NORMS = draw_row_norms(Scale.QUICK, 0)


def longer(factor, which=3):
    """One direction is that much longer."""
    return {"norms": lambda rows: rows * np.where(np.arange(len(rows)) == which, factor, 1)[:, None]}


def test_the_printed_bound_on_the_mixed_sums_fails_from_two_on():
    """1, 3 and 9 for equal norms and p = 1, 2, 5, against the printed p."""
    assert lemma_6_sums(NORMS, double_sum=lambda p: p).conclusion is False
    assert lemma_6_sums(NORMS[:1], double_sum=lambda p: p).verdict is Verdict.HOLDS
    assert lemma_6_sums(NORMS[:1]).details["directions_beyond_the_printed_p"] == 0
    assert lemma_6_sums(NORMS).details["directions_beyond_the_printed_p"] > 60
    assert [lemma_6_sums(RowNorms(each.norms[:1])).measured for each in NORMS] == pytest.approx([1, 3, 5, 9, 23])


def test_the_printed_sum_is_right_for_p_1_alone():
    """Four rows of norm 1/2: twelve pairs of 1/4 each, 3 and not 2."""
    halves = RowNorms(np.full((1, 4), 0.5))
    assert lemma_6_sums_as_printed(halves).measured == 3
    assert lemma_6_sums_as_printed(halves).promised == 2
    assert lemma_6_sums_as_printed(NORMS[1:2]).verdict is Verdict.VIOLATED
    spared(lemma_6_sums_as_printed, at(NORMS[:1]))


def test_networks_without_a_gradient_have_no_step():
    assert lemma_5([toys.drawn(), dead()]).verdict is Verdict.HOLDS
    assert lemma_5([dead()]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_broken_arithmetic_is_no_missing_gradient():
    """All numbers of all steps but one are NaN, although the networks move: nothing is decided, and nothing dropped."""

    def lost(values):
        return np.where(np.arange(len(values)) == 0, values, np.nan)

    names = ("local_steps", "local_smoothness", "local_efficiencies")
    found = lemma_5([altered(toys.drawn(), **dict.fromkeys(names, lost))])
    moving = int(np.count_nonzero(toys.drawn().gradient_norms))
    assert moving > 20
    assert found.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert [each.met for each in found.hypotheses[:2]] == [None, None]
    assert (found.parts[0].n_cases, found.parts[0].undecided) == (moving, moving - 1)
    one = lemma_5([altered(toys.drawn(), local_efficiencies=lost)])
    assert (one.verdict, one.parts[0].undecided) == (Verdict.INSUFFICIENT_EVIDENCE, moving - 1)


def test_control_longer_steps_gain_too_little():
    """α = 1.5/(κpL) on the steepest curve: 0.546."""
    from widenet.papers.chatterji2021.runs.networks import _efficiency, gradient

    case = steepest_curve(3)
    slope = gradient(case.network, case.points, case.labels)
    loss = looked(case).losses[0]
    assert _efficiency(case, slope, 1.5 / (SHARP * 3 * loss)) == pytest.approx(0.546, abs=0.002)


def steepest(p=3, **constants):
    return at(looked(steepest_curve(p)), **constants)


UNIT_DIRECTION = ("unit_direction", longer(1 - 2e-13), longer(1 - 2e-12))
FLAT = looked(flat_step(3))
test_control = controls(
    smoothness,
    {lemma_6_sums_as_printed: NORMS[:1], Looked: toys.placed, RowNorms: NORMS},
    (lemma_6_sums_as_printed, "sum"),
    (lemma_5, "decrease", at(FLAT), at(FLAT, share=FLAT.local_efficiencies[0] + 5e-9)),
    (lemma_5, "short_step", {}, {"local_steps": times(3, 1 + 5e-12)}),
    (lemma_5, "step_positive", {"local_steps": times(0, 1e-300)}, {"local_steps": times(0, 0.0)}),
    *((claim, *BAND) for claim in (lemma_5, lemma_6)),
    (equations_23_24, "off_diagonal", steepest(), steepest(off_diagonal=times_more(off_diagonal_bound, 1 - 5e-9))),
    (equations_23_24, "diagonal", steepest(), steepest(diagonal=times_more(diagonal_bound, 1 - 5e-9))),
    (equations_23_24, "wide", steepest(1), steepest(1, wide=times_more(wide_diagonal_bound, 1 - 5e-9))),
    (
        equations_23_24,
        "bandwidth_below_one",
        {"bandwidth": times(0, 1 + 5e-13)},
        {"bandwidth": times(0, 1 + 5e-12)},
    ),
    (lemma_6, "printed", steepest(bound=times_loss(CURVED)), steepest(bound=times_loss(CURVED * (1 - 5e-9)))),
    (
        lemma_6,
        "squared",
        steepest(squared=times_square(CURVED**2)),
        steepest(squared=times_square(CURVED**2 * (1 - 5e-9))),
    ),
    (lemma_6, "sharp", steepest(), steepest(sharp=SHARP * (1 - 5e-9))),
    (lemma_6, "sharp_pull", steepest(), steepest(sharp_pull=SHARP * (1 - 5e-9))),
    (lemma_6_sums, "mixed", {}, {"double_sum": times_more(largest_double_sum, 1 - 5e-12)}),
    (lemma_6_sums, "all_four", {}, {"total": times_more(repaired_hessian_sum, 1 - 5e-12)}),
    (lemma_6_sums, *UNIT_DIRECTION),
    (lemma_6_sums_as_printed, *UNIT_DIRECTION),
    but=(lemma_7, lemma_8, lemma_8_sharp, lemma_8_segment),
)
