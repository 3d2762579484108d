"""Gradient descent by pattern sets against gradient descent on the points, step by step."""

import dataclasses
import functools
import inspect
import math
import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.training import xord_oracle
from widenet.data import count_sets, make_xord
from widenet.data.xord import PATTERNS, set_points
from widenet.networks import ConvMaxPool, make_conv_maxpool, make_two_layer, plus_minus, relu
from widenet.training import on_grid, train_patterns
from widenet.training.xord import patterns
from widenet.training.xord.cycles import LARGEST
from widenet.training.xord.patterns import GRID, class_weights
from widenet.training.xord.program import n_lanes
from widenet.types import Dataset, RunStatus


@functools.cache
def law():
    return make_xord(n_patches=5)


def stacked(networks):
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *networks)


def drawn(seed, n_channels, n_per_class=6, scale=1e-5):
    init_key, data_key = jax.random.split(jax.random.key(seed))
    return make_conv_maxpool(init_key, n_channels, scale), law().sample_balanced(data_key, n_per_class)


def from_words(words):
    """Points of five patches from strings of pattern numbers ("1124"), filled up by repetition."""
    numbers = np.array([[int(word[i % len(word)]) - 1 for i in range(5)] for word in words])
    labels = np.where(np.isin(numbers, (0, 2)).any(axis=1), 1.0, -1.0)
    return Dataset(jnp.asarray(PATTERNS[numbers].reshape(len(words), -1)), jnp.asarray(labels))


def path_by_sets(network, data, step_size, margin, n_steps):
    """The weights after 0, 1, …, n steps: one run per length, all in one ensemble."""
    nets, counts = stacked([network]), np.asarray(count_sets(data))[None]
    ends = [
        train_patterns(nets, counts, step_size, margin=margin, max_steps=n, patience=None) for n in range(1, n_steps)
    ]
    return np.stack([network.filters, *(end.network.filters[0] for end in ends)])


def assert_same_path(by_points, by_sets):
    scale = np.abs(by_points).max(axis=(1, 2), keepdims=True) + 1e-300
    worst = (np.abs(by_points - by_sets[: len(by_points)]) / scale).max()
    assert worst <= 1e-12, f"weights differ by {worst:.3g} of the largest"


def both_ways(network, data, step_size, margin=1.0, n_steps=40):
    by_points = xord_oracle.descend(network, data, step_size, margin, n_steps - 1, None)[0]
    by_sets = path_by_sets(network, data, step_size, margin, n_steps)
    assert (by_sets[len(by_points) :] == by_sets[len(by_points) - 1]).all()  # stopped means still
    return by_points, by_sets


def counters_agree(network, data, step_size, **rule):
    path, steps, status, zero_error = xord_oracle.descend(network, data, step_size, **rule)
    run = train_patterns(stacked([network]), np.asarray(count_sets(data))[None], step_size, **rule)
    assert (run.steps[0], run.status[0], run.zero_error_step[0]) == (steps, status, zero_error)
    assert_same_path(path[-1:], np.asarray(run.network.filters))
    return run


@pytest.mark.parametrize(("n_channels", "margin"), [(4, 1.0), (6, 5.0), (20, 1.0), (200, 2.0)])
def test_weights_agree_with_the_points_at_every_step(n_channels, margin):
    network, data = drawn(n_channels, n_channels)
    assert_same_path(*both_ways(network, data, 0.04 / n_channels, margin))


def test_weights_agree_with_the_loss_as_the_paper_prints_it():
    """Class means with their fractions, five against seven points: no whole numbers anywhere."""
    network, data = drawn(3, 8)
    data = Dataset(data.inputs[1:], data.labels[1:])
    by_points = xord_oracle.descend(network, data, 0.005, 1.0, 60, None, literal=True)[0]
    assert_same_path(by_points[:60], path_by_sets(network, data, 0.005, 1.0, 60))


grid_weights = st.lists(st.sampled_from([-0.5, -0.25, 0.0, 0.25, 0.5]), min_size=8, max_size=8)
words = st.text(alphabet="1234", min_size=1, max_size=5)


@settings(max_examples=40)
@given(
    weights=grid_weights,
    points=st.sampled_from([2, 6]).flatmap(lambda size: st.lists(words, min_size=size, max_size=size)),
    step_size=st.sampled_from([0.25, 0.0625]),
    margin=st.sampled_from([1.0, 2.0]),
)
@example([0.0] * 8, ["1234", "24"], 0.25, 1.0)  # every unit on its kink: nothing moves, ever
@example(
    [0.5, 0.0, 0.0, 0.5, -0.5, 0.0, 0.0, -0.5], ["1234", "2424", "12", "34", "14", "23"], 0.25, 1.0
)  # ties |s| = |r|
@example(
    [0.25, 0.25, -0.25, -0.25, 0.25, -0.25, -0.25, 0.25], ["13", "24", "13", "24", "13", "24"], 0.25, 1.0
)  # margins met exactly
def test_weights_agree_on_kinks_ties_and_duplicates(weights, points, step_size, margin):
    """All arithmetic here is exact in binary, so s = 0, |s| = |r| and margins met exactly do occur, step after step."""
    network = ConvMaxPool(jnp.asarray(weights).reshape(4, 2), plus_minus(4, 1.0))
    data = from_words(points)
    sizes = [int((data.labels > 0).sum()) or 1, int((data.labels < 0).sum()) or 1]
    step_size = step_size * math.lcm(*sizes)
    by_points, by_sets = both_ways(network, data, step_size, margin, n_steps=12)
    np.testing.assert_array_equal(by_points, by_sets[: len(by_points)])
    for patience in (3, None):
        counters_agree(network, data, step_size, margin=margin, max_steps=15, patience=patience)


def test_control_the_comparison_can_fail():
    network, data = drawn(1, 6)
    by_points, by_sets = both_ways(network, data, 0.04 / 6)
    nudged = by_sets.copy()
    nudged[20, 3, 0] *= 1 + 1e-9
    with pytest.raises(AssertionError, match="weights differ"):
        assert_same_path(by_points, nudged)
    one_point_less = Dataset(data.inputs[:-1], data.labels[:-1])
    with pytest.raises(AssertionError, match="weights differ"):
        assert_same_path(by_points, path_by_sets(network, one_point_less, 0.04 / 6, 1.0, 40))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n_channels", [4, 20])
def test_iteration_counts_are_those_of_the_points(seed, n_channels):
    network, data = drawn(seed, n_channels)
    nets, steps = on_grid(stacked([network]), np.asarray(count_sets(data))[None], 0.04 / n_channels)
    network = jax.tree.map(lambda leaf: leaf[0], nets)
    run = counters_agree(network, data, float(steps[0]), max_steps=900)
    if run.status[0] == RunStatus.CONVERGED and run.loss[0] == 0:
        assert run.steps[0] == run.zero_loss_step[0] + 20
        assert 0 < run.zero_error_step[0] <= run.zero_loss_step[0]


def test_on_the_grid_no_rounding_happens():
    """Any order of the channels, any machine: the same bits."""
    nets = stacked([drawn(seed, 20)[0] for seed in range(8)])
    counts = np.stack([count_sets(drawn(seed, 20)[1]) for seed in range(8)])
    nets, steps = on_grid(nets, counts, 0.04 / 20)
    assert np.abs(steps / (0.04 / 20) - 1).max() < 1e-9
    order = np.r_[np.random.default_rng(0).permutation(10), 10 + np.random.default_rng(1).permutation(10)]
    shuffled = dataclasses.replace(nets, filters=nets.filters[:, order])
    here, there = (train_patterns(some, counts, steps) for some in (nets, shuffled))
    np.testing.assert_array_equal(here.network.filters[:, order], there.network.filters)
    np.testing.assert_array_equal(here.steps, there.steps)
    np.testing.assert_array_equal(here.outputs, there.outputs)


@pytest.mark.parametrize("n_channels", [4, 200])
def test_a_run_does_not_depend_on_its_batch_mates(n_channels):
    """Alone, among 7, among 100 (more than there are lanes): the same bits, start to end."""

    @functools.cache
    def setting(n_runs):
        keys = jax.vmap(jax.random.fold_in, (None, 0))(jax.random.key(5), jnp.arange(n_runs))

        def one(key):
            init_key, data_key = jax.random.split(key)
            return make_conv_maxpool(init_key, n_channels, 1e-5), law().sample_balanced(data_key, 6)

        nets, data = jax.jit(jax.vmap(one))(keys)
        return nets, count_sets(data)

    first = setting(1)[0].filters[0]

    assert n_lanes(n_channels) < 100
    trained = []
    for n_runs, workers in ((1, None), (7, 1), (7, 3), (100, 2)):
        nets, counts = setting(n_runs)
        np.testing.assert_array_equal(nets.filters[0], first)
        run = train_patterns(nets, counts, 0.04 / n_channels, max_steps=600, workers=workers)
        assert (run.status != RunStatus.RUNNING).all()
        trained.append(run)
    for run in trained[:-1]:
        n_runs = len(run.steps)
        for name in ("steps", "status", "zero_error_step", "zero_loss_step", "loss", "outputs"):
            np.testing.assert_array_equal(getattr(run, name), getattr(trained[-1], name)[:n_runs], err_msg=name)
        np.testing.assert_array_equal(run.network.filters, trained[-1].network.filters[:n_runs])


def test_the_outputs_are_those_of_the_network():
    nets = stacked([drawn(seed, 6)[0] for seed in range(5)])
    counts = np.stack([count_sets(drawn(seed, 6)[1]) for seed in range(5)])
    run = train_patterns(nets, counts, 0.04 / 6)
    expected = jax.vmap(lambda net: jax.vmap(net)(set_points().inputs))(run.network)
    np.testing.assert_allclose(run.outputs, expected, atol=1e-13)
    wrong = (expected * set_points().labels <= 0) * counts
    np.testing.assert_array_equal(run.train_error, np.asarray(wrong.sum(axis=1) / 12))


def test_xor_is_one_patch():
    """XOR's loss sums over four points, twice the sum of the class means: η doubles. k = 2 fails 3 times in 4."""
    keys = jax.random.split(jax.random.key(0), 400)
    nets = jax.vmap(lambda key: make_conv_maxpool(key, 4, 0.1 / (16 * 2**1.5)))(keys)
    counts = np.broadcast_to((np.asarray(make_xord(1, 0.0, 0.0).probabilities) > 0).astype(int), (400, 15))
    run = train_patterns(nets, counts, 2 * 0.1 / 2, patience=None)
    assert run.count(RunStatus.CONVERGED) + run.count(RunStatus.STALLED) == 400
    stuck = run.status == RunStatus.STALLED
    assert abs(stuck.mean() - 0.75) < 4 * np.sqrt(0.75 * 0.25 / 400)
    # Where it is stuck the output is exactly 0, which counts as wrong; the loss of the paper is their number.
    np.testing.assert_allclose(2 * run.loss, (run.outputs[:, [0, 1, 3, 7]] == 0).sum(axis=1), atol=1e-12)


def test_the_spurious_stationary_point_is_found_exactly():
    """No filter prefers a positive pattern: from the first step on the update is 0 and the loss γ + 1 (spec C9)."""
    filters = jnp.asarray([[3.0, -2.5], [-3.0, 2.5], [2.0, -1.9], [-2.0, 1.9]]) * 2.0**-20
    run = train_patterns(
        ConvMaxPool(filters[None], plus_minus(4, 1.0)[None]),
        np.asarray(count_sets(from_words(["1234", "24", "1324"])))[None],
        0.02,
        margin=8.0,
        patience=None,
    )
    assert run.status[0] == RunStatus.STALLED
    assert run.steps[0] <= 1
    assert run.loss[0] == pytest.approx(9, abs=1e-4)


def test_steps_and_margins_may_differ_between_runs():
    network, data = drawn(2, 6)
    counts = np.asarray(count_sets(data))
    etas, margins = np.array([0.01, 0.002, 0.01]), np.array([1.0, 1.0, 4.0])
    together = train_patterns(stacked([network] * 3), np.stack([counts] * 3), etas, margin=margins)
    for i in range(3):
        alone = train_patterns(stacked([network]), counts[None], etas[i], margin=margins[i])
        assert (alone.steps[0], alone.loss[0]) == (together.steps[i], together.loss[i])
    assert len(set(together.steps.tolist())) > 1


def test_infinite_weights_are_reported_not_trained():
    network, data = drawn(0, 4)
    nets = stacked([network, dataclasses.replace(network, filters=network.filters * jnp.inf)])
    run = train_patterns(nets, np.stack([count_sets(data)] * 2), 0.01, max_steps=30)
    assert run.status[1] == RunStatus.DIVERGED
    assert run.status[0] != RunStatus.DIVERGED


def test_a_diverged_run_has_no_finite_loss_and_did_not_reach_zero():
    """Outputs on sets without points may overflow while the loss of the points is still 0."""
    draw, n_runs = np.random.default_rng(0), 1024
    counts = np.stack([np.bincount(draw.integers(0, 15, draw.integers(1, 5)), minlength=15) for _ in range(n_runs)])
    votes = jnp.tile(plus_minus(4, 1.0), (n_runs, 1))
    nets = ConvMaxPool(jnp.asarray(draw.normal(size=(n_runs, 4, 2))), votes)
    run = train_patterns(nets, counts, 10 ** draw.uniform(306, 308, n_runs), max_steps=50, patience=None)
    diverged = run.status == RunStatus.DIVERGED
    assert diverged.sum() > 20
    assert not np.isfinite(run.loss[diverged]).any()
    assert (run.zero_loss_step[diverged] == -1).all()


def test_a_diverged_run_is_wrong_and_silent():
    """A NaN is neither above nor below 0; a step near the largest float overflows on its way to the choice of leaps."""
    network, data = drawn(0, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = train_patterns(stacked([network] * 2), np.stack([count_sets(data)] * 2), np.array([1e308, 0.01]))
    assert run.status[0] == RunStatus.DIVERGED
    assert np.isnan(run.outputs[0]).all()
    assert run.train_error[0] == 1
    assert law().error(jnp.asarray(run.outputs[0])) == pytest.approx(1)
    assert run.status[1] == RunStatus.CONVERGED


def test_progress_reaches_the_end():
    nets = stacked([drawn(seed, 4)[0] for seed in range(5)])
    counts = np.stack([count_sets(drawn(seed, 4)[1]) for seed in range(5)])
    seen = []
    train_patterns(nets, counts, 0.01, max_steps=50, progress=lambda fraction, _: seen.append(fraction))
    assert seen[-1] == 1


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda: {"networks": make_conv_maxpool(jax.random.key(0), 4, 1.0)}, "shape .run, channel, 2."),
        (lambda: {"networks": ConvMaxPool(jnp.ones((1, 2, 2)), jnp.ones((1, 2)))}, r"\+1 for the first half"),
        ({"counts": np.zeros((1, 15), int)}, "at least one training point"),
        ({"counts": np.ones((2, 15), int)}, "1 rows of 15 whole numbers"),
        (
            lambda: {"networks": make_two_layer(jax.random.key(0), 4, 2, relu())},
            "must be a ConvMaxPool .*, got TwoLayer",
        ),
        ({"max_steps": 0}, "max_steps must be a whole number from 1 to 1073741823, got 0"),
        ({"max_steps": 2**30}, "max_steps must be a whole number"),
        ({"max_steps": 1.5}, "max_steps must be a whole number .* got 1.5"),
        ({"max_steps": (1, 2, 3, 4, 5)}, r"max_steps must be a whole number .* got \(1, 2, 3, 4, 5\)"),
        ({"patience": 0}, r"patience \(or None\) must be a whole number from 1 on, got 0"),
        ({"patience": 1.5}, r"patience \(or None\) must be a whole number .* got 1.5"),
        ({"patience": math.inf}, r"patience \(or None\) must be a whole number .* got inf"),
        ({"workers": -1}, "workers must be a whole number from 1 on, got -1"),
        ({"workers": 0}, "workers must be a whole number"),
        ({"step_size": -0.1}, "step_size must be positive and finite, got -0.1"),
        ({"step_size": 0.0}, "step_size must be positive and finite, got 0"),
        ({"step_size": np.array([math.inf])}, "step_size must be positive and finite, got inf"),
        ({"step_size": math.nan}, "step_size must be positive and finite, got nan"),
        ({"step_size": [0.1, 0.2]}, r"step_size must be one number or one per run, got shape \(2,\) for 1 runs"),
        ({"step_size": "large"}, "step_size must be one number or one per run, got 'large'"),
        ({"margin": math.nan}, "margin must be positive and finite, got nan"),
        ({"margin": -1}, "margin must be positive and finite, got -1"),
        ({"margin": [1, 2]}, r"margin must be one number or one per run, got shape \(2,\)"),
    ],
)
def test_impossible_requests_are_refused(change: Any, sentence):
    network, data = drawn(0, 4)
    request: dict[str, Any] = {
        "networks": stacked([network]),
        "counts": np.asarray(count_sets(data))[None],
        "step_size": 0.1,
        "max_steps": 5,
        "patience": 2,
    }
    request |= change if isinstance(change, dict) else change()
    # Unwrapped, here and below: the type checker of the tests would be first to complain, and users have none.
    with pytest.raises(ValueError, match=sentence):
        inspect.unwrap(train_patterns)(**request)


def test_whole_floats_are_counts():
    network, data = drawn(0, 4)
    request = (stacked([network]), np.asarray(count_sets(data))[None], 0.01)
    floats = inspect.unwrap(train_patterns)(*request, max_steps=1e1, patience=2e0, workers=1.0)
    assert floats.steps == train_patterns(*request, max_steps=10, patience=2, workers=1).steps


@pytest.mark.parametrize("step_size", [-0.1, 0.0, math.nan, math.inf])
def test_no_grid_for_steps_that_are_none(step_size):
    network, data = drawn(0, 4)
    with pytest.raises(ValueError, match="step_size must be positive and finite"):
        on_grid(stacked([network]), np.asarray(count_sets(data))[None], step_size)


def test_the_smallest_and_largest_steps_of_the_grid():
    """Six points of one class, four of the other: the step is lost from 12/2 units of the grid downwards."""
    network, data = drawn(0, 4)
    nets, counts = stacked([network]), np.asarray(count_sets(data[:10]))[None]
    np.testing.assert_array_equal(on_grid(nets, counts, 6.01 * GRID)[1], [12 * GRID])
    with pytest.raises(ValueError, match=r"must be above 3.41061e-13, .* times lcm\(m₊, m₋\) = 12, .* got 3.4"):
        on_grid(nets, counts, 5.99 * GRID)
    np.testing.assert_allclose(on_grid(nets, counts, 1e308)[1], 1e308)
    with pytest.raises(ValueError, match="must be a ConvMaxPool"):
        inspect.unwrap(on_grid)(nets.filters, counts, 0.1)


def test_points_without_labels_are_not_counted():
    with pytest.raises(ValueError, match="takes a Dataset of points and their labels, got"):
        inspect.unwrap(count_sets)(drawn(0, 4)[1].inputs)


def test_class_weights_are_whole_numbers():
    """Six positive points and four negative ones: 12 is the least common multiple."""
    counts = np.zeros((3, 15), int)
    counts[0, [0, 4]], counts[0, [1, 9]] = [1, 5], [3, 1]
    counts[1, 2], counts[2, 7] = 7, 5  # one class alone
    weights, total = class_weights(counts)
    np.testing.assert_array_equal(total, [12, 7, 5])
    np.testing.assert_array_equal(weights[0][[0, 4, 1, 9]], [2, 10, 9, 3])
    assert (weights.sum(axis=1) == [24, 7, 5]).all()


def test_what_is_on_the_grid():
    """Multiples of the grid below LARGEST are whole numbers below 2^53 of it, which float64 adds exactly."""
    assert GRID == 2.0**-44
    values = np.array([0.0, GRID, -3 * GRID, 1.5 * GRID, LARGEST - GRID, LARGEST, -LARGEST, 1e300, np.inf, np.nan])
    assert patterns._on_grid(values).tolist() == [True, True, True, False, True, *[False] * 5]
