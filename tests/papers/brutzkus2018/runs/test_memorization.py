"""The linear systems behind Theorem 7."""

import numpy as np

from widenet.papers.brutzkus2018.runs.memorization import (
    bumps,
    fit,
    memorize,
    outputs,
    random_gates,
    swept_gates,
)


def test_outputs_against_the_definition():
    weights = np.array([[1.0, 0.0], [0.0, -2.0]])
    found = outputs(weights, np.array([[3.0, 1.0], [-3.0, -1.0]]), 0.1)
    np.testing.assert_allclose(found, [3 + 0.2, -0.3 - 2])


def test_random_gates_are_singular_in_two_dimensions_and_swept_ones_are_not():
    draw = np.random.default_rng(0)
    inputs, values = draw.normal(size=(60, 2)), draw.choice([-1.0, 1.0], (60, 1))
    assert fit(inputs, values, random_gates(draw, 60, 2), 0.5).rank < 60
    assert fit(inputs, values, swept_gates(draw, 30, inputs), 0.5).rank == 60


def test_a_gate_orthogonal_to_a_point_fits_nothing_and_stays_finite():
    inputs, values = np.eye(2), np.ones((2, 1))
    found = fit(inputs, values, np.array([[1.0, 0.0]]), 0.5)
    assert np.isfinite(found.weights).all()
    assert not np.allclose(outputs(found.weights[0], inputs, 0.5), 1)


def test_the_search_stops_at_the_first_fit():
    draw = np.random.default_rng(1)
    inputs, values = draw.normal(size=(20, 5)), draw.choice([-1.0, 1.0], (20, 2))
    found = memorize(draw, inputs, values, 6, 0.3)
    assert found.gates == "random"
    assert found.error < 1e-6
    assert memorize(draw, inputs, values, 1, 0.3, random_draws=0).error == np.inf


def test_bumps_vanish_off_their_group():
    draw = np.random.default_rng(2)
    inputs, labels = draw.normal(size=(12, 4)), np.repeat([1.0, -1.0], 6)
    np.testing.assert_allclose(outputs(bumps(inputs, labels, 0.3), inputs, 0.3), labels, atol=1e-9)
