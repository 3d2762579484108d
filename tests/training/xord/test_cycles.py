"""Leaps over cycles against gradient descent step by step: on the grid the same bits, in far fewer iterations."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.training import xord_oracle
from tests.training.xord.test_patterns import drawn, from_words, grid_weights, stacked, words
from widenet.data import count_sets
from widenet.data.xord import DIVERSE_NEGATIVE, DIVERSE_POSITIVE, SET_LABELS
from widenet.networks import ConvMaxPool, make_conv_maxpool, plus_minus
from widenet.training import on_grid, train_patterns
from widenet.training.xord import cycles, patterns, program
from widenet.training.xord.patterns import class_weights
from widenet.training.xord.program import NEVER, Queue, train_queue
from widenet.types import RunStatus

NAMES = ("steps", "status", "zero_error_step", "zero_loss_step", "loss", "train_error", "outputs")


def diverse(n_runs):
    counts = np.zeros((n_runs, 15), int)
    counts[:, [DIVERSE_POSITIVE, DIVERSE_NEGATIVE]] = 1
    return counts


def narrow(n_runs, n_channels, step_constant, seed=0):
    """Networks in the setting of Section 6: one diverse point of each class, σ = c_η/(16k^{3/2}), η = c_η/k."""
    half = n_channels // 2
    keys = jax.random.split(jax.random.key(seed), n_runs)
    nets = jax.vmap(lambda key: make_conv_maxpool(key, n_channels, step_constant / (16 * half**1.5)))(keys)
    counts = diverse(n_runs)
    return *on_grid(nets, counts, step_constant / half), counts


def assert_same_run(leaping, stepping):
    for name in NAMES:
        np.testing.assert_array_equal(getattr(leaping, name), getattr(stepping, name), err_msg=name)
    np.testing.assert_array_equal(leaping.network.filters, stepping.network.filters, err_msg="filters")


def both(nets, counts, step_size, **rule):
    leaping, stepping = (train_patterns(nets, counts, step_size, leap=leap, **rule) for leap in (True, False))
    assert_same_run(leaping, stepping)
    return stepping


def iterations(nets, counts, step_size, max_steps, leap, patience=NEVER, margin=8.0):
    weights, total = class_weights(counts)
    n_runs = len(counts)
    margins = np.tile(np.where(SET_LABELS > 0, margin, 1.0), (n_runs, 1))
    units = np.broadcast_to(step_size / total, (n_runs,))
    queue = Queue(np.asarray(nets.filters), weights, margins, units, np.ones(n_runs, bool))
    return train_queue(queue, max_steps, patience, lambda _: None, leap)


@settings(max_examples=5)
@given(
    seed=st.integers(0, 10_000),
    n_channels=st.sampled_from([4, 20]),
    n_per_class=st.integers(1, 6),
    divide=st.sampled_from([1, 10, 40]),
    margin=st.sampled_from([1.0, 2.0, 3.7, 8.0]),
    patience=st.sampled_from([3, 20, 200, None]),
    snap=st.booleans(),
)
@example(0, 4, 6, 40, 1.0, 20, True)
@example(1, 4, 1, 40, 8.0, None, True)
def test_equal_to_single_steps(seed, n_channels, n_per_class, divide, margin, patience, snap):
    """Four runs each. Off the grid (weights as drawn, or a margin of 3.7) no leap is taken, and nothing changes."""
    cases = [drawn(seed + i, n_channels, n_per_class) for i in range(4)]
    nets, counts = stacked([net for net, _ in cases]), np.stack([count_sets(data) for _, data in cases])
    step_size = 0.04 / n_channels / divide
    if snap:
        nets, step_size = on_grid(nets, counts, step_size)
    both(nets, counts, step_size, margin=margin, patience=patience, max_steps=4000)


@settings(max_examples=20)
@given(
    weights=grid_weights,
    points=st.sampled_from([2, 6]).flatmap(lambda size: st.lists(words, min_size=size, max_size=size)),
    step_size=st.sampled_from([2.0**-4, 2.0**-8, 2.0**-11]),
    margin=st.sampled_from([1.0, 2.0, 8.0]),
    patience=st.sampled_from([3, 20, None]),
)
@example([0.0] * 8, ["1234", "24"], 2.0**-8, 1.0, None)  # every unit on its kink: nothing moves, ever
@example([0.5, 0.0, 0.0, 0.5, -0.5, 0.0, 0.0, -0.5], ["1234", "24", "12", "34", "14", "23"], 2.0**-8, 1.0, 20)  # ties
@example([0.25, 0.25, -0.25, -0.25, 0.25, -0.25, -0.25, 0.25], ["13", "24"] * 3, 2.0**-8, 1.0, None)  # margins met
@example([0.5, -0.25, 0.25, 0.5, 0.5, 0.25, -0.25, 0.0], ["1234", "2424", "1", "4", "14", "23"], 2.0**-11, 8.0, None)
def test_equal_on_kinks_ties_and_duplicates(weights, points, step_size, margin, patience):
    """Dyadic weights and steps: s = 0, |s| = |r| and margins met exactly do occur, and the cycles are short."""
    nets = stacked([ConvMaxPool(jnp.asarray(weights).reshape(4, 2), plus_minus(4, 1.0))])
    data = from_words(points)
    sizes = [int((data.labels > 0).sum()) or 1, int((data.labels < 0).sum()) or 1]
    step_size = step_size * math.lcm(*sizes)
    both(nets, np.asarray(count_sets(data))[None], step_size, margin=margin, patience=patience, max_steps=8000)


@pytest.mark.parametrize("patience", [20, None])
def test_equal_to_the_points(patience):
    """The plain oracle: the network on the points, by automatic differentiation."""
    nets, steps, counts = narrow(1, 4, 1 / 100, seed=3)
    run = train_patterns(nets, counts, steps, margin=2.0, patience=patience, max_steps=900, leap=True)
    network = jax.tree.map(lambda leaf: leaf[0], nets)
    path, taken, status, zero_error = xord_oracle.descend(
        network, from_words(["1234", "24"]), float(steps[0]), 2.0, 900, patience
    )
    assert (run.steps[0], run.status[0], run.zero_error_step[0]) == (taken, status, zero_error)
    np.testing.assert_array_equal(run.network.filters[0], path[-1])
    assert taken > 200


@pytest.mark.parametrize(("n_channels", "patience", "at_least"), [(4, NEVER, 60), (20, NEVER, 10), (4, 20, 60)])
def test_far_fewer_iterations_with_small_steps(n_channels, patience, at_least):
    nets, steps, counts = narrow(16, n_channels, 1 / 4100)
    leaping, few = iterations(nets, counts, steps, 200_000, True, patience)
    stepping, many = iterations(nets, counts, steps, 200_000, False, patience)
    jax.tree.map(np.testing.assert_array_equal, leaping, stepping)
    assert stepping.steps.max() > 30_000
    assert many >= at_least * few


def test_a_cycle_without_drift_is_leapt_to_the_end_of_the_budget():
    """Loss terms that take turns for ever: 2^29 steps, counted in some thousand iterations."""
    cases = [drawn(i, 4) for i in range(8)]
    nets, counts = stacked([net for net, _ in cases]), np.stack([count_sets(data) for _, data in cases])
    nets, steps = on_grid(nets, counts, 0.01)
    stepping, _ = iterations(nets, counts, steps, 20_000, False, margin=1.0)
    cyclic = stepping.status == RunStatus.BUDGET_SPENT
    assert cyclic.any()
    leaping, taken = iterations(nets, counts, steps, 2**29, True, margin=1.0)
    assert (leaping.steps[cyclic] == 2**29).all()
    np.testing.assert_array_equal(leaping.status, stepping.status)
    assert taken < 20_000


def test_a_run_does_not_depend_on_its_batch_mates():
    nets, steps, counts = narrow(70, 4, 1 / 1000)
    together = train_patterns(nets, counts, steps, margin=8.0, patience=None, leap=True, workers=1)
    for i in (0, 33, 69):
        one = ConvMaxPool(nets.filters[i : i + 1], nets.output_weights[i : i + 1])
        alone = train_patterns(one, counts[i : i + 1], steps[i : i + 1], margin=8.0, patience=None, leap=True)
        for name in NAMES:
            assert np.array_equal(getattr(alone, name)[0], getattr(together, name)[i]), name
        np.testing.assert_array_equal(alone.network.filters[0], together.network.filters[i])


def test_infinite_weights_and_huge_steps_end():
    nets, steps, counts = narrow(3, 4, 1 / 100)
    filters = nets.filters.at[1].mul(jnp.inf)
    steps = np.array([steps[0], steps[1], 1e308])
    run = both(dataclasses.replace(nets, filters=filters), counts, steps, margin=8.0, patience=None, max_steps=500)
    assert run.status[1] == RunStatus.DIVERGED
    assert run.status[0] != RunStatus.DIVERGED


@pytest.mark.parametrize("wrong", ["one copy too many", "D forgotten"])
def test_control_a_wrong_leap_is_found(monkeypatch, wrong):
    """The comparison fails once a single copy more is leapt over than is certain, or the weights are left behind."""
    right = cycles.certain_copies, cycles.leap
    if wrong == "one copy too many":
        monkeypatch.setattr(cycles, "certain_copies", lambda value, change: right[0](value, change) + 1)
    else:
        monkeypatch.setattr(
            cycles, "leap", lambda c, s, first, second, rule: (first, second, *right[1](c, s, first, second, rule)[2:])
        )
    nets, steps, counts = narrow(8, 4, 1 / 500)
    program._advance.clear_cache()  # pyright: ignore[reportAttributeAccessIssue]
    try:
        with pytest.raises(AssertionError):
            both(nets, counts, steps, margin=8.0, patience=None)
    finally:
        program._advance.clear_cache()  # pyright: ignore[reportAttributeAccessIssue]


def test_certain_copies():
    """The last whole n before a value reaches 0; no limit where it moves away or stands still, none certain at 0."""
    value = jnp.asarray([3.0, 3.0, -3.0, 3.0, 0.0, 0.0, 2.5])[None]
    change = jnp.asarray([-1.0, 1.0, 1.0, 0.0, 0.0, 1.0, -1.0])[None]
    np.testing.assert_array_equal(cycles.certain_copies(value, change), [2, jnp.inf, 2, jnp.inf, jnp.inf, 0, 2])


@pytest.mark.parametrize(
    ("change", "chosen"),
    [
        ({}, True),
        ({"step_constant": 1 / 41}, False),
        ({"off_grid": 1e-9}, False),
        ({"max_steps": 900}, False),
        ({"more_sets": True}, False),
        ({"in_all": 10_000}, False),
    ],
)
def test_leaps_are_chosen_for_many_steps_on_few_sets(monkeypatch, change, chosen):
    asked = []

    def spy(queue, max_steps, patience, done, leap):
        asked.append(leap)
        return train_queue(queue, 2, patience, done, False)

    monkeypatch.setattr(patterns, "train_queue", spy)
    monkeypatch.setattr(patterns, "MANY_IN_ALL", change.get("in_all", 7000))  # two runs of about 3690 steps
    nets, steps, counts = narrow(2, 4, change.get("step_constant", 1 / 410))
    counts[1, 0] += change.get("more_sets", False)
    steps = steps * (1 + change.get("off_grid", 0.0))
    rule = {"margin": 8.0, "patience": None, "workers": 1}
    train_patterns(nets, counts, steps, max_steps=change.get("max_steps", 103_000), **rule)
    assert asked == [chosen]
