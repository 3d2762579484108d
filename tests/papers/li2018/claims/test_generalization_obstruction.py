"""Antipodal points of two classes, on which every network without biases errs."""

import functools

import numpy as np
import pytest

from tests.control_table import controls
from tests.papers.records import altered
from widenet.claims.base import Verdict
from widenet.claims.user_data import UserData
from widenet.data import from_arrays
from widenet.papers.li2018.claims import generalization
from widenet.papers.li2018.claims.generalization import (
    lemma_b_4_loss,
    section_5_pseudo_network,
    section_6_cancellation,
    theorem_4_1,
    theorem_4_1_as_printed,
    theorem_4_1_obstruction,
)
from widenet.papers.li2018.runs.obstructed_networks import (
    all_but_one,
    draw_obstructed,
    measure_obstructed,
    random_networks,
)
from widenet.papers.li2018.sources import HEXAGON, Polygon
from widenet.records import Scale
from widenet.training.small.softmax import SoftmaxNetwork


@functools.cache
def obstructed():
    return draw_obstructed(Scale.QUICK, 0)


def leading(lead):
    """Outputs in the plane that differ by `lead` times the first coordinate, where that is positive."""
    return SoftmaxNetwork(np.array([[1.0, 0.0]]), lead * np.array([[1.0], [0.0]]))


def test_the_obstruction_is_attained_and_goes_with_a_turn():
    assert obstructed().right.max() == 5
    assert obstructed().losses.min() == pytest.approx(np.log(2), rel=1e-15)
    assert not measure_obstructed(Polygon(degrees=2.0).draw(0), [leading(1.0)]).obstructed


def test_an_obstructed_data_set_of_a_reader():
    points = Polygon(n_directions=5).draw(0)
    signs = np.where(points.classes == 0, -1, 1)
    found = theorem_4_1_obstruction(
        theorem_4_1_obstruction.on(UserData(from_arrays(3 * points.points, signs))).settings
    )
    assert found.verdict is Verdict.HOLDS
    assert [part.name for part in found.parts] == [
        "at most all points but one are right",
        "by a linear program, for every network",
    ]
    turned = Polygon(degrees=5.0).draw(0)
    free = UserData(from_arrays(turned.points, np.where(turned.classes == 0, -1, 1)))
    assert "antipodal" in theorem_4_1_obstruction.on(free)


def test_random_networks_are_of_many_kinds():
    assert len(obstructed().right) == 202
    assert obstructed().right[0] == 0
    assert set(obstructed().right[1:]) >= {1, 2, 3, 4, 5}


def test_random_networks_have_up_to_thirty_neurons_of_size_two():
    drawn = random_networks(np.random.default_rng(0), HEXAGON.draw(0), 1000)[1:]
    assert {network.n_neurons for network in drawn} == set(range(1, 30))
    assert np.concatenate([network.hidden for network in drawn]).std() == pytest.approx(2, abs=0.05)


def test_all_but_one_point():
    sample = HEXAGON.draw(0)
    outputs = all_but_one(sample).logits(sample.points)[:, 0]
    np.testing.assert_allclose(outputs, [1, 1, 1, -1, -1, 5])


def test_outputs_that_hardly_differ_decide_nothing():
    """The corner at 0° has the first coordinate 1, those of the other class at 60° and 300° have 1/2."""
    for lead, right in ((2e-9, 1), (0.9e-9, 0), (1e-9, 0), (1.1e-9, 1)):
        found = measure_obstructed(HEXAGON.draw(0), [leading(lead)])
        assert found.right[0] == right
    none = SoftmaxNetwork(np.zeros((1, 2)), np.zeros((2, 1)))
    found = measure_obstructed(HEXAGON.draw(0), [none])
    assert found.right[0] == 0
    assert found.losses[0] == pytest.approx(np.log(2), rel=1e-15)
    assert found.n_points == 6


def test_one_error_in_sixty_points():
    for right, kept in ((59.0, True), (60.0, False)):
        found = theorem_4_1_obstruction(altered(obstructed(), right=np.array([right]), n_points=60))
        assert found.parts[0].kept is kept


def test_what_is_counted_is_said():
    """An axis "measured" from 0 to 5 leaves open whether errors are counted, or their opposite."""
    assert theorem_4_1_obstruction(obstructed()).quantity == "points that a network classifies correctly"


def test_the_loss_of_the_obstruction_at_its_edge():
    for miss, kept in ((5e-13, True), (5e-12, False)):
        found = altered(obstructed(), losses=np.array([np.log(2) - miss]))
        assert theorem_4_1_obstruction(found).parts[2].kept is kept


test_control = controls(
    generalization,
    obstructed,
    (theorem_4_1_obstruction, "error"),
    (theorem_4_1_obstruction, "program"),
    (theorem_4_1_obstruction, "loss"),
    but=(theorem_4_1, theorem_4_1_as_printed, section_5_pseudo_network, section_6_cancellation, lemma_b_4_loss),
)
