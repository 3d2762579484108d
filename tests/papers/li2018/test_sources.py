"""Data of the paper: norms, distances, classes, and a reader's own points."""

import numpy as np
import pytest

from widenet.data import from_arrays
from widenet.data.own import keep
from widenet.papers.li2018.sources import (
    TOY,
    Basis,
    Caps,
    Gaussians,
    Images,
    OwnSample,
    Polygon,
    SphereLabels,
    SpreadPoints,
    listed_network,
    steep_network,
)

SOURCES = {
    "spread": SpreadPoints(),
    "padded": SpreadPoints(padding=3),
    "polygon": Polygon(degrees=10.0),
    "basis": Basis(),
    "caps": Caps(n_points=50),
    "gaussians": Gaussians(dim=30, n_points=50),
    "images": Images(n_points=40, part="test"),
    "sphere": SphereLabels(),
}


@pytest.mark.parametrize("name", SOURCES)
def test_norm_one_and_shares_that_add_up(name):
    sample = SOURCES[name].draw(0)
    assert sample.norm_error < 1e-12
    assert sample.shares.sum() == pytest.approx(1)
    assert len(sample.points) == len(sample.classes) == len(sample.components)
    assert sample.classes.min() >= 0
    np.testing.assert_array_equal(sample.points, SOURCES[name].draw(0).points)


def test_caps_meet_the_assumption_and_fresh_points_lie_in_the_same_caps():
    caps = Caps(n_points=300)
    for fresh in (0, 1):
        found = caps.draw(3, fresh=fresh).measured()
        assert (found.n_classes, found.per_class) == (3, 2)
        assert found.relative_diameter <= 1 / 16
    middles, apart = caps.centres(3)
    one, two = caps.draw(3), caps.draw(3, fresh=1)
    assert not np.array_equal(one.points, two.points)
    for sample in (one, two):
        assert np.linalg.norm(sample.points - middles[sample.components], axis=1).max() <= apart / 17 / 2 + 1e-12


def test_the_mixture_of_the_paper_is_wider_than_it_assumes():
    found = Gaussians(n_points=300).draw(0).measured()
    assert found.relative_diameter > 1 / 16
    assert Gaussians(unit_norm=False, n_points=20).draw(0).norm_error > 3


def test_images_have_ten_classes():
    sample = Images(n_points=200, part="test").draw(1)
    assert sample.n_classes == 10
    assert sample.points.shape == (200, 784)
    assert (sample.points >= 0).all()
    assert sample.measured().opposite_separation > 1.4  # pixels are not negative


def test_a_reader_s_points_are_brought_to_norm_one_and_merged():
    inputs = [[3.0, 0.0], [5.0, 0.0], [0.0, 2.0], [0.0, 0.0], [0.6, 0.8]]
    digest = keep(from_arrays(inputs, [4, 4, 7, 7, 9]))
    sample = OwnSample(own_data=digest).draw(0)
    assert len(sample.points) == 3
    assert sorted(sample.shares) == [0.25, 0.25, 0.5]
    assert sorted(sample.classes) == [0, 1, 2]
    assert sample.norm_error < 1e-12


def test_largest_residual_of_a_component():
    sample = TOY.draw(0)
    wrong = np.linspace(0, 1, 6)
    assert sample.residual_max(wrong) == pytest.approx(1 / 6)
    assert (sample.n_classes, sample.n_components, sample.n_lines) == (3, 6, 6)


def test_the_exact_networks():
    start, network, points = listed_network()
    assert network.preactivations(points.points)[2, 0] == 0
    assert start.preactivations(points.points)[2, 0] < 0
    steep, sample = steep_network(3.0, width=4)
    np.testing.assert_allclose(steep.logits(sample.points), [[3.0, -3.0]])
