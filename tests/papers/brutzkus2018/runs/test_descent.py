"""Gradient descent on many small problems at once."""

import numpy as np

from widenet.papers.brutzkus2018.relu_sources import separable_set
from widenet.papers.brutzkus2018.runs import bad_minima, descent
from widenet.papers.brutzkus2018.runs.bad_minima import bad_minimum, mostly_behind, sets_of
from widenet.papers.brutzkus2018.runs.descent import descend, problems_of
from widenet.progress import silent
from widenet.records import Scale


def test_padding_does_not_change_a_run():
    """A small problem alone, and beside a larger one."""
    draw = np.random.default_rng(5)
    small = (separable_set(draw, 3, 2), draw.normal(size=(2, 2)))
    large = (separable_set(draw, 8, 3), draw.normal(size=(4, 3)))
    alone, beside = descend([small], silent), descend([small, large], silent)
    np.testing.assert_allclose(alone.margins[0], beside.margins[0, :3], rtol=1e-12)
    assert alone.losses[0] == beside.losses[0] == 0
    alone, beside = descend([small], silent, max_steps=1), descend([small, large], silent, max_steps=1)
    np.testing.assert_allclose(alone.margins[0], beside.margins[0, :3], rtol=1e-12)
    np.testing.assert_allclose(alone.losses[0], beside.losses[0], rtol=1e-12)
    assert alone.losses[0] > 0.1, "it is not solved yet"
    cut_off = descend([large], silent, max_steps=1)
    assert not cut_off.ended.any()
    assert cut_off.gradient[0] > 0


def test_it_stays_at_the_constructed_minimum():
    points = separable_set(np.random.default_rng(6), 9, 3)
    weights = bad_minimum(points, 2, mostly_behind(points, np.random.default_rng(0)))
    run = descend([(points, weights)], silent)
    assert run.ended.all()
    assert run.gradient[0] == 0
    assert run.steps == 0
    assert run.losses[0] > 0.5


def test_the_loss_falls():
    draw = np.random.default_rng(7)
    problems = [(separable_set(draw, 6, 3), draw.normal(size=(4, 3))) for _ in range(20)]
    before, after = descend(problems, silent, max_steps=0), descend(problems, silent, max_steps=30)
    assert (after.losses <= before.losses + 1e-12).all()
    assert after.losses.mean() < before.losses.mean()


def test_descent_and_placement_have_the_same_antipodal_sets():
    (descending,), (placing,) = (
        descent.antipodal_settings(Scale.QUICK, 3),
        bad_minima.antipodal_settings(Scale.QUICK, 3),
    )
    for (points, _), other in zip(problems_of(descending), sets_of(placing), strict=True):
        np.testing.assert_array_equal(points.inputs, other.inputs)
