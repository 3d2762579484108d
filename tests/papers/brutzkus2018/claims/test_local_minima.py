"""Section 7.1: bad local minima of the ReLU loss, and the sets on which they are no worse than one half."""

from fractions import Fraction

import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.data import from_arrays
from widenet.errors import DataError
from widenet.papers.brutzkus2018.claims.local_minima import (
    check_lemma_11,
    check_relu_local_minimum_level,
    check_theorem_8,
    check_theorem_8_tight,
    lemma_11,
    lemma_11_as_printed,
    pair_cells,
    relu_local_minimum_level,
    theorem_8,
    theorem_8_as_printed,
    theorem_8_tight,
)
from widenet.papers.brutzkus2018.runs.bad_minima import (
    PointSet,
    antipodal_set,
    as_start,
    bad_minimum,
    mostly_behind,
    points_on,
    separable_set,
)
from widenet.papers.brutzkus2018.runs.descent import descend
from widenet.types import Scale

PAIR = PointSet(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, -1.0]), np.array([1.0, 0.0]))


def without_first(points):
    return PointSet(points.inputs[1:], points.labels[1:], points.separator)


@pytest.mark.parametrize("claim", [lemma_11, theorem_8, relu_local_minimum_level, theorem_8_tight])
def test_it_holds_on_its_default_setting(claim):
    evidence = claim.check(claim.setting(Scale.QUICK, 1), lambda *_: None)
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.tightness == 1


@pytest.mark.parametrize("claim", [lemma_11_as_printed, theorem_8_as_printed])
def test_the_printed_statement_is_violated_on_the_pair(claim):
    evidence = claim.check(claim.setting(Scale.QUICK, 0), lambda *_: None)
    assert evidence.verdict is Verdict.VIOLATED
    assert "S = {([1.0, 0.0], +1), ([-1.0, 0.0], -1)}" in evidence.note


def test_the_pair_in_every_cell_of_the_weight_space():
    """Where the loss of the pair does not fall along the separator it is at most ½, in exact arithmetic."""
    visited, flat, highest = pair_cells()
    assert visited == 169
    assert flat > 0
    assert highest == Fraction(1, 2)


def test_the_pair_in_many_dimensions_and_widths():
    """The cells again by numbers: at random W with loss above ½ a small step along the separator lowers the loss."""
    draw = np.random.default_rng(0)
    for half in (1, 2, 3):
        start = as_start(PAIR, half, 500)
        weights = draw.normal(size=(500, 2 * half, 2))
        step = 1e-7 * np.repeat([PAIR.separator, -PAIR.separator], half, axis=0)
        high = start.loss(weights) > 0.5
        assert high.sum() > 50
        assert (start.loss(weights + step)[high] < start.loss(weights)[high]).all()


def test_lines_and_their_rays():
    points = np.array([[0.5, 0.0], [-1.0, 0.0], [0.0, 0.3], [0.25, 0.0]])
    assert PointSet(points, np.ones(4), np.ones(2)).lines.tolist() == [[2, 1], [1, 0]]
    assert antipodal_set(np.random.default_rng(0), 5, 3).imbalance == 0
    assert separable_set(np.random.default_rng(0), 6, 3).imbalance == 6


@pytest.mark.parametrize("gap", [1e-2, 1e-5, 1e-7])
def test_a_nearly_antipodal_pair_is_found(gap):
    points = PointSet(np.array([[0.5, 0.0], [-0.5, gap]]), np.array([1.0, -1.0]), np.array([2.0, 0.0]))
    assert (points.inputs @ mostly_behind(points, np.random.default_rng(0)) < 0).all()


def test_control_lemma_11_strict_on_antipodal_sets():
    sets = [antipodal_set(np.random.default_rng(0), pairs, 3) for pairs in (1, 2, 4)]
    assert check_lemma_11(sets).verdict is Verdict.HOLDS
    evidence = check_lemma_11(sets, always_strict=True)
    assert evidence.verdict is Verdict.VIOLATED
    assert "3 of 3 sets" in evidence.note
    assert check_lemma_11([without_first(s) for s in sets], always_strict=True).verdict is Verdict.HOLDS


def test_control_theorem_8_just_outside_its_ball():
    """Past the radius the nearest neuron switches on, and the loss changes."""
    draw = np.random.default_rng(1)
    settings = [(separable_set(draw, 20, 5), 4) for _ in range(4)]
    assert check_theorem_8(settings).verdict is Verdict.HOLDS
    changed = [check_theorem_8([each], radius_factor=1.01).verdict for each in settings]
    assert Verdict.VIOLATED in changed
    assert check_theorem_8(settings, radius_factor=1.01).verdict is Verdict.VIOLATED


def test_control_theorem_8_leaky_relu_has_no_such_minimum():
    evidence = check_theorem_8([(separable_set(np.random.default_rng(2), 20, 5), 1)], slope=0.1)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


def test_control_theorem_8_without_a_separator():
    points = PAIR
    wrong = PointSet(points.inputs, points.labels, -points.separator)
    evidence = check_theorem_8([(wrong, 1)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


def test_the_users_own_data():
    """Separable: the theorem holds. Contradictory: its hypothesis fails. A zero point is refused."""
    points = separable_set(np.random.default_rng(4), 12, 4)
    own = points_on(from_arrays(points.inputs, points.labels))
    assert check_theorem_8([(own, 2)]).verdict is Verdict.HOLDS
    twice = np.concatenate([points.inputs, points.inputs[:1]]), np.append(points.labels, -points.labels[0])
    evidence = check_theorem_8([(points_on(from_arrays(*twice)), 2)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert not evidence.hypotheses[0].met
    with pytest.raises(DataError, match="point 1 is 0"):
        points_on(from_arrays(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([1.0, -1.0])))


def test_control_level_of_runs_stopped_early():
    problems = relu_local_minimum_level.setting(Scale.QUICK, 2)[:80]
    assert check_relu_local_minimum_level(problems).verdict is Verdict.HOLDS
    evidence = check_relu_local_minimum_level(problems, max_steps=10, must_end=False)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured is not None
    assert evidence.measured != round(evidence.measured)


def test_no_run_at_a_positive_loss_decides_nothing():
    solved = (PAIR, np.array([[5.0, 0.0], [-5.0, 0.0]]))
    assert check_relu_local_minimum_level([solved]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_tight_with_one_point_dropped():
    problems = theorem_8_tight.setting(Scale.QUICK, 2)[:30]
    assert check_theorem_8_tight(problems).verdict is Verdict.HOLDS
    dropped = [(without_first(points), weights) for points, weights in problems]
    evidence = check_theorem_8_tight(dropped)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.measured is not None
    assert evidence.measured > 0.5


def test_descent_pads_without_changing_a_run():
    """A small problem alone, and beside a larger one."""
    draw = np.random.default_rng(5)
    small = (separable_set(draw, 3, 2), draw.normal(size=(2, 2)))
    large = (separable_set(draw, 8, 3), draw.normal(size=(4, 3)))
    alone, beside = descend([small]), descend([small, large])
    np.testing.assert_allclose(alone.outputs[0], beside.outputs[0, :3], rtol=1e-12)
    assert alone.losses[0] == beside.losses[0]
    assert not descend([large], max_steps=1).ended.any()


def test_descent_stays_at_the_constructed_minimum():
    points = separable_set(np.random.default_rng(6), 9, 3)
    weights = bad_minimum(points, 2, mostly_behind(points, np.random.default_rng(0)))
    run = descend([(points, weights)])
    assert run.ended.all()
    assert run.steps == 0
    assert run.losses[0] > 0.5
