"""What `train_patterns` asks of its program, and what it makes of the answer; nothing is trained here."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.data.xord import SET_LABELS
from widenet.networks import ConvMaxPool
from widenet.training import on_grid, train_patterns
from widenet.training.xord import patterns
from widenet.training.xord.patterns import GRID
from widenet.training.xord.program import NEVER, Outcome

PLUS, MINUS = np.flatnonzero(SET_LABELS > 0), np.flatnonzero(SET_LABELS < 0)
RUNS, CHANNELS = 5, 4


def networks(off_grid=()):
    filters = np.full((RUNS, CHANNELS, 2), 3 * GRID)
    for run in off_grid:
        filters[run, 1, 0] = 2.5 * GRID
    return ConvMaxPool(jnp.asarray(filters), jnp.asarray(np.tile(np.repeat([1.0, -1.0], CHANNELS // 2), (RUNS, 1))))


def counts(n_sets=1):
    """Two points of so many positive sets, and one of a negative set."""
    found = np.zeros((RUNS, 15), int)
    found[:, PLUS[:n_sets]] = 2
    found[:, MINUS[0]] = 1
    return found


@pytest.fixture
def asked(monkeypatch):
    """What the program is asked for, in the order of the first runs."""
    requests: list[Any] = []

    def answer(queue, max_steps, limit, done, leap):
        n = len(queue.units)
        requests.append((queue, max_steps, limit, leap))
        done(n)
        whole, never = np.arange(n), np.full(n, -1)
        outputs = np.tile(SET_LABELS, (n, 1)).astype(float)
        outputs[:, PLUS[0]] = np.nan  # wrong
        outputs[0, MINUS[0]] = 0.0  # wrong as well
        return Outcome(queue.filters, whole, whole, never, never, np.full(n, 6.0), outputs), 0

    monkeypatch.setattr(patterns, "train_queue", answer)
    return requests


@pytest.mark.parametrize(("patience", "limit"), [(None, NEVER), (5, 5), (1, 1), (40, 31), (31, 31), (30, 30)])
def test_patience_ends_with_the_budget(asked, patience, limit):
    train_patterns(networks(), counts(), GRID * 2, max_steps=30, patience=patience, workers=1)
    assert [(each[1], each[2]) for each in asked] == [(30, limit)]


@pytest.mark.parametrize(("workers", "shares"), [(1, [5]), (2, [2, 3]), (5, [1] * 5), (9, [1] * 5)])
def test_no_more_workers_than_runs(asked, workers, shares):
    found = train_patterns(networks(), counts(), GRID * 2, max_steps=30, workers=workers)
    assert sorted(len(each[0].units) for each in asked) == shares
    assert found.status.shape == (RUNS,)


def test_weights_steps_and_margins_by_run(asked):
    gammas = np.array([1.0, 2, 3, 4, 5])
    train_patterns(networks(), counts(), GRID * 2 * gammas, margin=gammas, max_steps=30, workers=1)
    queue = asked[0][0]
    np.testing.assert_array_equal(queue.units, GRID * gammas)  # η over the least common multiple of 2 and 1
    np.testing.assert_array_equal(queue.margins[:, PLUS], np.tile(gammas[:, None], (1, len(PLUS))))
    np.testing.assert_array_equal(queue.margins[:, MINUS], np.ones((RUNS, len(MINUS))))
    np.testing.assert_array_equal(queue.weights[:, [PLUS[0], MINUS[0]]], [[2, 2]] * RUNS)


def test_a_run_is_exact_where_all_its_numbers_are_on_the_grid(asked):
    steps, margins = np.full(RUNS, 2 * GRID), np.ones(RUNS)
    steps[1], margins[3] = 3 * GRID, 1 + GRID / 2
    train_patterns(networks(off_grid=[2]), counts(), steps, margin=margins, max_steps=30, workers=1)
    assert asked[0][0].exact.tolist() == [True, False, False, False, True]


def leaps(asked, step: Any = 1 / 16, **changed):
    """With step 1/16, two channels of each sign and γ = 1 a run is expected to take (1 + 1)/(1/16 · 2) = 16 steps."""
    asked.clear()
    request = {"networks": networks(), "counts": counts(), "step_size": step, "max_steps": 16, "workers": 1} | changed
    train_patterns(request.pop("networks"), request.pop("counts"), request.pop("step_size"), **request)
    return asked[0][3]


def test_leaps_are_chosen_where_they_pay(asked, monkeypatch):
    monkeypatch.setattr(patterns, "MANY_STEPS", 16)
    monkeypatch.setattr(patterns, "MANY_IN_ALL", 16 * RUNS)
    assert leaps(asked) is True
    assert leaps(asked, max_steps=15) is False
    assert leaps(asked, step=1 / 8) is False
    assert leaps(asked, step=np.array([1 / 32] * 4 + [1 / 8])) is False  # every run must be long
    assert leaps(asked, networks=networks(off_grid=[4])) is False
    assert leaps(asked, counts=counts(2)) is False
    both = counts()
    both[4, MINUS[1]] = 1
    assert leaps(asked, counts=both) is False
    monkeypatch.setattr(patterns, "MANY_IN_ALL", 16 * RUNS + 1)
    assert leaps(asked) is False
    assert leaps(asked, leap=True) is True
    monkeypatch.setattr(patterns, "MANY_IN_ALL", 1)
    assert leaps(asked, leap=False) is False


def test_every_run_must_be_long_enough_to_leap(asked, monkeypatch):
    """However many steps all runs take together; the fastest decides how many those are."""
    monkeypatch.setattr(patterns, "MANY_STEPS", 16)
    monkeypatch.setattr(patterns, "MANY_IN_ALL", 1)
    assert leaps(asked, step=np.array([1 / 32] * 4 + [1 / 16])) is True
    assert leaps(asked, step=np.array([1 / 32] * 4 + [5 / 64])) is False
    one = jax.tree.map(lambda leaf: leaf[:1], networks())
    assert leaps(asked, networks=one, counts=counts()[:1]) is True
    assert leaps(asked, step=1 / 8, networks=one, counts=counts()[:1]) is False
    # Five distances of 2 at a pace of at most 1/16 · 2.
    for in_all, chosen in ((80, True), (81, False)):
        monkeypatch.setattr(patterns, "MANY_IN_ALL", in_all)
        assert leaps(asked, step=np.array([1 / 32] * 4 + [1 / 16])) is chosen


def test_the_answer_in_shares_of_points_and_of_the_loss(asked):
    found = train_patterns(networks(), counts(), GRID * 2, max_steps=30, workers=1)
    np.testing.assert_allclose(found.loss, np.full(RUNS, 3.0))  # over the least common multiple
    np.testing.assert_allclose(found.train_error, [1, *[2 / 3] * 4])
    assert found.zero_error_step.tolist() == found.zero_loss_step.tolist() == [-1] * RUNS
    np.testing.assert_array_equal(found.steps, np.arange(RUNS))


def test_the_nearest_on_the_grid():
    """Filters, and steps over the least common multiple of the sizes of the classes, which is 2 here."""
    given = networks()
    shifted = ConvMaxPool(given.filters + 0.4 * GRID, given.output_weights)
    near, steps = on_grid(shifted, counts(), np.array([2.0, 2.9, 3.1, 4.0, 5.2]) * GRID)
    np.testing.assert_array_equal(near.filters, given.filters)
    np.testing.assert_array_equal(near.output_weights, given.output_weights)
    np.testing.assert_array_equal(steps / GRID, [2, 2, 4, 4, 6])


def test_shares_come_back_in_their_places():
    whole = np.arange(14).reshape(7, 2)
    parts = tuple(whole[first::3] for first in range(3))
    np.testing.assert_array_equal(patterns._interleave(parts, 7), whole)


@pytest.mark.parametrize(
    ("filters", "votes", "counts", "sentence"),
    [
        ((2, 4, 2), (1.0, 1, -1, -1), [[1] * 15, [-1] + [1] * 14], "must not be negative"),
        ((2, 4, 2), (1.0, 1, -1, -1), [[1] * 15, [0] * 15], "at least one training point"),
        ((0, 4, 2), (1.0, 1, -1, -1), np.zeros((0, 15), int), "needs at least one run"),
        ((1, 3, 2), (1.0, 1, -1), [[1] * 15], "first half of the channels"),
        ((1, 4, 2), (1.0, -1, 1, -1), [[1] * 15], "first half of the channels"),
        ((1, 4, 3), (1.0, 1, -1, -1), [[1] * 15], r"float64 of shape \(run, channel, 2\)"),
        ((1, 4, 2), (1.0, 1, -1, -1), [[1.0] * 15], "1 rows of 15 whole numbers"),
        ((1, 4, 2), (1.0, 1, -1, -1), [[1] * 14], "1 rows of 15 whole numbers"),
    ],
)
def test_what_does_not_fit_together_is_refused(filters, votes, counts, sentence):
    nets = ConvMaxPool(jnp.zeros(filters), jnp.tile(jnp.asarray(votes), (filters[0], 1)))
    with pytest.raises(ValueError, match=sentence):
        patterns._validate(nets, np.asarray(counts))
