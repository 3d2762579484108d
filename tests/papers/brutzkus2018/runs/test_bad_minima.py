"""Vectors with most points behind them, and networks placed by them."""

import numpy as np
import pytest

from widenet.papers.brutzkus2018.relu_sources import PointSet, antipodal_pair, nearly_antipodal_pair, separable_set
from widenet.papers.brutzkus2018.runs import bad_minima
from widenet.papers.brutzkus2018.runs.bad_minima import (
    MinimaSetting,
    SetRecipe,
    as_start,
    bad_minimum,
    mostly_behind,
    place,
    run_minima,
)
from widenet.progress import silent
from widenet.run.records import decode, encode


@pytest.mark.parametrize("gap", [1e-2, 1e-5, 1e-7])
def test_a_nearly_antipodal_pair_is_found(gap):
    points = nearly_antipodal_pair(gap)
    assert (points.inputs @ mostly_behind(points, np.random.default_rng(0)) < 0).all()


def test_points_outside_the_unit_ball_are_no_exception():
    points = separable_set(np.random.default_rng(0), 20, 4)
    large = PointSet(50 * points.inputs, points.labels, points.separator / 50)
    assert place([large], [2], silent).level[0] > 0.5


def test_the_scale_of_the_pinned_network():
    points = PointSet(
        np.array([[0.8, 0.0], [0.0, 0.6], [-0.5, -0.5]]), np.array([1.0, 1.0, -1.0]), np.array([5 / 4, 5 / 3])
    )
    weights = bad_minimum(points, 1, np.array([-1.0, -1.0]))
    np.testing.assert_allclose(weights.mean(axis=0), -7.01388888889, rtol=1e-11)


def test_the_pair_in_many_dimensions_and_widths():
    """At random W with loss above ½ a small step along the separator lowers the loss of the pair."""
    pair, draw = antipodal_pair(), np.random.default_rng(0)
    for half in (1, 2, 3):
        start = as_start(pair, half, 500)
        weights = draw.normal(size=(500, 2 * half, 2))
        step = 1e-7 * np.repeat([pair.separator, -pair.separator], half, axis=0)
        high = start.loss(weights) > 0.5
        assert high.sum() > 50
        assert (start.loss(weights + step)[high] < start.loss(weights)[high]).all()


def test_data_of_extreme_size_is_not_resolved():
    points = separable_set(np.random.default_rng(0), 5, 3)
    tiny = PointSet(1e-200 * points.inputs, points.labels, 1e200 * points.separator)
    assert not place([tiny], [1], silent).resolved.any()
    assert place([points], [1], silent).resolved.all()


def test_what_is_measured_of_a_set(monkeypatch):
    """ŵ = (1, −2): the points have ⟨ŵ, x⟩ = ½, −1 and ¾, so one is behind and ½ is nearest."""
    points = PointSet(np.array([[0.5, 0.0], [0.0, 0.5], [0.75, 0.0]]), np.ones(3), np.array([2.0, 2.0]))
    monkeypatch.setattr(bad_minima, "mostly_behind", lambda points, draw: np.array([1.0, -2.0]))
    found = place([points], [2], silent, perturbations=3)
    assert (found.nearest[0], found.behind[0], found.most_behind[0], found.imbalance[0]) == (0.5, 1, 3, 3)
    assert (found.smallest_margin[0], found.largest_input[0], found.level[0]) == pytest.approx((1, 0.75, 1 / 3))
    assert (found.n_samples[0], found.dim[0], found.half_width[0], found.tried) == (3, 2, 2, 5)


@pytest.mark.parametrize(("plus", "minus"), [(3.0, -0.5), (0.5, -3.0)])
def test_the_gradient_is_looked_at_in_every_row(plus, minus, monkeypatch):
    """S = {(e_1, +1), (−e_1, −1)}, rows plus·e_1 and minus·e_1, so yN = plus at e_1 and −minus at −e_1.

    The point with ½ is the only one below 1. One neuron is on there: its derivative is ½, and that of the other is 0.
    """
    rows = np.array([[plus, 0.0], [minus, 0.0]])
    monkeypatch.setattr(bad_minima, "bad_minimum", lambda points, half, direction: rows)
    found = place([antipodal_pair()], [1], silent, perturbations=3)
    assert (found.level[0], found.gradient[0]) == (0.25, 0.5)


def test_a_cell_is_read_as_it_was_written():
    minima = run_minima(MinimaSetting(recipe=SetRecipe.PAIR, half_widths=(1, 3), perturbations=5), silent)
    again = decode(type(minima), *encode(minima))
    assert again.words.tolist() == [antipodal_pair().words] * 2
    assert again.half_width.tolist() == [1, 3]
    assert again.tried == 7
