"""Gradient descent on points of XORD against the oracle, and its record against the path."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.xord_oracle import descend as plain_descend
from widenet.data.xord import PATTERNS
from widenet.networks.conv_maxpool import ConvMaxPool
from widenet.networks.two_layer import plus_minus
from widenet.papers.brutzkus2019.runs.outputs import outputs
from widenet.papers.brutzkus2019.runs.xord_descent import (
    CHUNK,
    descend,
    descents,
    diverse_points,
    follow,
    observe,
    runs_on,
)
from widenet.run.records import decode, encode
from widenet.types import Dataset

RUNS = runs_on(diverse_points(1), half_width=8, margin=2.0, n_runs=2, seed=2)
POSITIVE, NEGATIVE = np.asarray(RUNS.data.inputs)[[0, 6]]


def test_the_pair_is_the_first_point_of_each_class():
    assert RUNS.pair is not None
    assert np.array_equal(RUNS.pair, [POSITIVE, NEGATIVE])
    assert replace(RUNS, data=RUNS.data[np.arange(6)]).pair is None


def test_descent_against_the_oracle_of_the_pattern_sets():
    path = descend(RUNS)
    network = ConvMaxPool(jnp.asarray(RUNS.filters[0]), plus_minus(16, 1.0))
    expected, steps, _, _ = plain_descend(
        network, RUNS.data, RUNS.step_size, RUNS.margin, max_steps=1000, patience=None, literal=True
    )
    assert path[: steps + 1, 0] == pytest.approx(expected, abs=1e-12)
    assert np.array_equal(path[steps, 0], path[-1, 0])
    assert outputs(path[-1], POSITIVE).min() >= 2
    assert outputs(path[-1], NEGATIVE).max() <= -1


def test_without_a_positive_direction_nothing_moves_from_the_first_step_on():
    """W⁺(1) ∪ W⁺(3) = ∅: the two points cancel exactly, and the loss stays γ + 1."""
    filters = RUNS.filters.copy()
    fits = filters @ PATTERNS[:2].T
    filters = np.where((np.abs(fits[..., 0]) > np.abs(fits[..., 1]))[..., None], filters * [1, -1], filters)
    path = descend(replace(RUNS, filters=filters))
    assert np.array_equal(path[1], path[-1])
    assert outputs(path[-1], POSITIVE) == pytest.approx(outputs(path[-1], NEGATIVE), rel=1e-12)


def test_the_record_is_that_of_the_whole_path():
    path, record = descend(RUNS), follow(RUNS)
    assert len(record.moves) == len(path)
    assert np.array_equal(record.positive_output, outputs(path, POSITIVE))
    assert np.array_equal(record.moves[:-1], np.any(path[1:] != path[:-1], axis=(2, 3)))
    assert not record.unfinished.any()
    assert np.array_equal(path[record.last_update], path[-1])
    assert not np.array_equal(path[record.last_update - 1], path[-1])
    assert record.n_distinct <= record.n_points == 12


def test_the_record_by_its_definition():
    """With a point that holds p₁ alone, so that R differs between points; filter by filter and step by step."""
    inputs = np.asarray(RUNS.data.inputs).copy()
    inputs[3] = np.tile(PATTERNS[0], 7)
    runs = replace(RUNS, data=Dataset(jnp.asarray(inputs), RUNS.data.labels))
    path = descend(runs, 20)
    record, eta = observe(path, runs), runs.step_size
    fits = np.moveaxis(path @ PATTERNS[:2].T, 3, 0) / eta
    assert record["smallest_fit"] == pytest.approx(np.abs(fits[:, :-1]).min(axis=(0, 3)), rel=1e-12)
    halves = (fits - fits[:, :1])[:, :-1] / 2
    assert record["off_lattice"] == pytest.approx(np.abs(halves - np.rint(halves)).max(axis=(0, 3)), abs=1e-9)
    votes, rests = np.repeat([1.0, -1.0], 8), []
    for x in inputs:
        answers = np.maximum(path[:-1] @ x.reshape(-1, 2).T, 0).max(axis=3) * votes
        rests.append(np.where(np.abs(fits[0]) > np.abs(fits[1]), 0, np.r_[answers, answers[-1:]])[:-1].sum(axis=2))
    assert np.ptp(rests, axis=0).max() > 0.1 * eta
    assert record["rest_spread"] == pytest.approx(np.ptp(rests, axis=0), abs=1e-12)
    lengths = np.abs(np.diff(path, axis=0)).max(axis=3)
    assert lengths.min() < lengths.max()
    for half, part in enumerate((lengths[..., :8], lengths[..., 8:])):
        assert record["residual"][:, :, 0, 0, half] == pytest.approx(part.max(axis=2), abs=1e-15)


def test_distances_from_the_lattice_are_the_smallest_of_all_at_the_start_and_the_largest_later():
    filters = RUNS.filters.copy()
    filters[1, 9] = RUNS.step_size * (2 * PATTERNS[0] + 0.5 * PATTERNS[1])
    runs = replace(RUNS, filters=filters)
    assert follow(runs).lattice_distance[1] == pytest.approx(0, abs=1e-12)
    path = np.stack([filters, filters, filters])
    path[1, 0, 3] += 0.25 * RUNS.step_size * PATTERNS[0]
    assert observe(path, runs)["off_lattice"] == pytest.approx(np.array([[0, 0], [0.25, 0]]), rel=1e-12)


def test_the_lattice_is_that_of_the_start_in_a_later_piece_of_the_path_too():
    """A filter that is half a step along p₁ from where it started, at every time of the piece, beside one that is not.

    The fit with p₁ is 2·½η off, which is ½ of 2η.
    """
    filters = RUNS.filters.copy()
    filters[0, 3] += 0.5 * RUNS.step_size * PATTERNS[0]
    found = observe(np.stack([filters] * 3), RUNS)["off_lattice"]
    assert found == pytest.approx(np.array([[0.5, 0.0], [0.5, 0.0]]))


def test_the_distance_from_the_run_on_a_pair_is_the_largest_over_all_filters():
    """With a point that holds p₁ alone the two runs part."""
    inputs = np.asarray(RUNS.data.inputs).copy()
    inputs[3] = np.tile(PATTERNS[0], 7)
    runs = replace(RUNS, data=Dataset(jnp.asarray(inputs), RUNS.data.labels))
    pair = Dataset(jnp.asarray(np.stack([POSITIVE, NEGATIVE])), jnp.asarray([1.0, -1.0]))
    apart = np.abs(descend(runs, 20) - descend(replace(RUNS, data=pair), 20)).max(axis=3)
    assert (apart.max(axis=0) > 0.1 * RUNS.step_size).sum() > 8
    assert np.argmax(apart, axis=2).max() > 0
    assert follow(runs).pair_distance[:21] == pytest.approx(apart.max(axis=2), abs=1e-15)


def test_a_number_of_steps_may_be_asked_for():
    assert np.array_equal(descend(RUNS, CHUNK), descend(RUNS)[: CHUNK + 1])
    assert len(descend(RUNS, 3)) == 4


def test_a_record_comes_back_from_its_cell():
    record = follow(RUNS)
    back = decode(descents.result_type, *encode(record))
    assert back.points == record.points
    assert np.array_equal(back.residual, record.residual)
