"""Edges of what `train_patterns` and `on_grid` accept, and what they say; nothing is trained here."""

import inspect
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.xord.test_patterns_requests import CHANNELS, MINUS, PLUS, RUNS, counts, networks
from widenet.data.xord import SET_LABELS
from widenet.networks import ConvMaxPool
from widenet.training import on_grid, train_patterns
from widenet.training.xord import patterns
from widenet.training.xord.patterns import GRID, PatternTrajectory
from widenet.training.xord.program import Outcome
from widenet.types import RunStatus


def answers(monkeypatch, outputs=None, pieces=(RUNS,)):
    """The sizes of the queues that are asked for; runs are said to be done in so many pieces."""
    sizes: list[int] = []

    def answer(queue, max_steps, limit, done, leap):
        n = len(queue.units)
        sizes.append(n)
        for piece in pieces:
            done(piece)
        whole = np.zeros(n, np.int32)
        told = np.tile(SET_LABELS, (n, 1)) if outputs is None else outputs
        return Outcome(queue.filters, whole, whole, whole, whole, np.zeros(n), told), 0

    monkeypatch.setattr(patterns, "train_queue", answer)
    return sizes


@pytest.mark.parametrize(("backend", "shares"), [("cpu", [1, 2, 2]), ("gpu", [RUNS])])
def test_by_default_a_thread_per_core_and_one_for_a_gpu(monkeypatch, backend, shares):
    monkeypatch.setattr(jax, "default_backend", lambda: backend)
    monkeypatch.setattr(patterns, "cores", lambda: 3)
    sizes = answers(monkeypatch)
    train_patterns(networks(), counts(), GRID * 2, max_steps=1)
    assert sorted(sizes) == shares


def test_progress_is_the_share_of_runs_that_are_done(monkeypatch):
    answers(monkeypatch, pieces=(1, 0, 3, 1))
    told: list[float] = []
    train_patterns(networks(), counts(), GRID * 2, workers=1, progress=lambda fraction, _: told.append(fraction))
    np.testing.assert_allclose(told, [0.2, 0.2, 0.8, 1.0])


def test_points_with_the_wrong_sign(monkeypatch):
    """0 is wrong on either side, and so is no number; however small or large, the right sign is right."""
    outputs = np.tile(SET_LABELS, (RUNS, 1))
    outputs[:, PLUS[0]] = [0.0, -0.0, 1e-300, np.inf, np.nan]
    outputs[:, MINUS[0]] = [-1e-300, 1e-300, -0.0, -np.inf, 0.0]
    answers(monkeypatch, outputs)
    found = train_patterns(networks(), counts(), GRID * 2, workers=1)
    np.testing.assert_allclose(found.train_error, [2 / 3, 1, 1 / 3, 0, 1])  # two positive points, one negative


def test_runs_are_counted_by_their_end():
    status = np.array([RunStatus.CONVERGED, RunStatus.STALLED, RunStatus.CONVERGED], np.int32)
    blank = np.zeros(3)
    run = PatternTrajectory(networks(), status, status, status, status, blank, blank, np.zeros((3, 15)))
    ends = (RunStatus.CONVERGED, RunStatus.STALLED, RunStatus.DIVERGED)
    assert [run.count(end) for end in ends] == [2, 1, 0]


def different_sizes():
    """Least common multiples of the class sizes: 6, 10, 1, 4, 2."""
    found = np.zeros((RUNS, 15), int)
    found[:, PLUS[0]], found[:, MINUS[0]] = [3, 5, 1, 4, 2], [2, 2, 1, 4, 1]
    return found


@pytest.mark.parametrize(
    ("units", "sentence"),
    [
        ([0.4, 1, 1, 0.3, 1], f"above {3 * GRID:g}, .* = 6, .* got {2.4 * GRID:g}"),
        ([1, 0.5, 0.4, 1, 1], f"above {5 * GRID:g}, .* = 10, .* got {5 * GRID:g}"),
        ([1, 1, 1, 1, 0.4], f"above {GRID:g}, .* = 2, .* got {0.8 * GRID:g}"),
    ],
)
def test_the_first_step_that_the_grid_loses_is_named(units, sentence):
    multiples = np.array([6, 10, 1, 4, 2])
    with pytest.raises(ValueError, match=f"step_size must be {sentence}"):
        on_grid(networks(), different_sizes(), np.array(units) * multiples * GRID)


def test_steps_beside_the_end_of_the_grid():
    """Half a unit is rounded to an even multiple; from 512 on floats are multiples already."""
    multiples = np.array([6, 10, 1, 4, 2])
    units = np.array([0.501 * GRID, 1.5 * GRID, 512.0 - GRID, 512.0, 1e300])
    _, steps = on_grid(networks(), different_sizes(), units * multiples)
    np.testing.assert_array_equal(steps / multiples, [GRID, 2 * GRID, 512.0 - GRID, 512.0, 1e300])


@pytest.mark.parametrize("change", ["float32", "two axes", "four axes", "three coordinates"])
def test_filters_of_another_kind_are_refused(change):
    shape = {"two axes": (4, 2), "four axes": (1, 4, 2, 2), "three coordinates": (1, 4, 3)}.get(change, (1, 4, 2))
    kind = jnp.float32 if change == "float32" else jnp.float64
    votes = jnp.ones(shape[:-1]).at[..., shape[-2] // 2 :].set(-1.0)
    nets = ConvMaxPool(jnp.zeros(shape, kind), votes)
    sentence = rf"float64 of shape \(run, channel, 2\), got {kind.__name__} "
    with pytest.raises(ValueError, match=sentence):
        patterns._validate(nets, np.ones((1, 15), int))


@pytest.mark.parametrize("vote", [0.5, 0.9, 1.1, 2.0, -1.0])
@pytest.mark.parametrize("channel", range(CHANNELS))
def test_every_vote_is_looked_at(vote, channel):
    votes = np.repeat([1.0, -1.0], CHANNELS // 2)
    counts_of_one = np.ones((1, 15), int)
    assert patterns._validate(ConvMaxPool(jnp.zeros((1, CHANNELS, 2)), jnp.asarray(votes[None])), counts_of_one) == 1
    votes[channel] *= vote
    with pytest.raises(ValueError, match="first half of the channels"):
        patterns._validate(ConvMaxPool(jnp.zeros((1, CHANNELS, 2)), jnp.asarray(votes[None])), counts_of_one)


@pytest.mark.parametrize(
    ("wrong", "named"), [([1.0, -2.0, 0.0], "-2"), ([0.5, np.inf, 1.0], "inf"), ([1.0, 1.0, 0.0], "0"), (-0.5, "-0.5")]
)
def test_one_wrong_number_is_enough(wrong: Any, named):
    with pytest.raises(ValueError, match=f"margin must be positive and finite, got {named}"):
        inspect.unwrap(patterns._per_run)("margin", wrong, 3)
    np.testing.assert_array_equal(patterns._per_run("margin", 5e-324, 3), [5e-324] * 3)
    np.testing.assert_array_equal(patterns._per_run("margin", [0.5, 1, 2], 3), [0.5, 1, 2])
