"""The search finds the point where a network is known to be wrong, and none where it cannot be."""

import numpy as np
import pytest

from widenet.papers.sarussi2021.formulas import sharp_factor
from widenet.papers.sarussi2021.runs.adversary import worst_point
from widenet.papers.sarussi2021.runs.clouds import ask
from widenet.papers.sarussi2021.sources import SignedNetwork, kappa_network, lengths


@pytest.mark.parametrize("slope", [0.01, 0.3, 0.95])
def test_it_comes_near_the_sharp_factor(slope):
    kappa = float(sharp_factor(slope))
    network = kappa_network(slope, 0.9 * kappa)
    seen = ask(network, worst_point(network, np.random.default_rng(0))[None])
    assert np.sign(seen.outputs[0]) != np.sign(seen.difference[0])
    assert 0.9 * kappa < np.abs(seen.difference[0]) / seen.radius[0] <= kappa * (1 + 1e-9)


def test_the_last_bit_does_not_choose_between_a_point_and_its_opposite():
    """On a line every point is ±1, and where all rows of one sign lie on one side |N| is all of v Σ|σ| at both. A short
    row on the other side takes 1e-11 from one of the two, or from the other: more than rounding, and still a tie.
    """
    found = []
    for plus, minus in ((-1e-11, -1.0), (1.0, 1e-11)):
        network = SignedNetwork(np.array([[1.0], [plus]]), np.array([[-1.0], [minus]]), 1.0, 0.5)
        found.append(float(worst_point(network, np.random.default_rng(0))[0]))
    assert found[0] == found[1]


def test_perfect_clusters_leave_nothing_to_find():
    rows = np.tile([1.0, 2.0, -1.0], (3, 1))
    network = SignedNetwork(rows, -2 * rows, 1.0, 0.2)
    seen = ask(network, worst_point(network, np.random.default_rng(0))[None])
    assert seen.outputs[0] * seen.difference[0] >= 0


def test_weights_that_overflowed_do_no_harm():
    rows = np.array([[np.inf, 1.0], [np.nan, 2.0]])
    with np.errstate(invalid="ignore"):
        assert np.isfinite(worst_point(SignedNetwork(rows, -rows, 1.0, 0.2), np.random.default_rng(0))).all()


def test_lengths_of_points_whose_squares_underflow():
    points = np.array([[3e-170, 4e-170], [0.0, 0.0], [3e160, -4e160]])
    np.testing.assert_allclose(lengths(points), [5e-170, 0.0, 5e160])
    assert ask(kappa_network(0.2, 0.1), points).norms[0] > 0
