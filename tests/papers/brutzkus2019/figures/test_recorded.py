"""Figures 2, 3 and 6 of brutzkus2019 at toy size, and the recording behind them."""

from typing import Any

import jax
import numpy as np
import pytest

from tests.training import xord_oracle
from widenet.data.xord import SET_LABELS, set_index, set_points
from widenet.networks import ConvMaxPool
from widenet.papers.brutzkus2019.figures.figure_2 import compare_figure_2, compute_figure_2
from widenet.papers.brutzkus2019.figures.figure_3 import compare_figure_3, compute_figure_3
from widenet.papers.brutzkus2019.figures.figure_6 import compare_figure_6, compute_figure_6, recovery
from widenet.papers.brutzkus2019.runs.recorded_runs import (
    SET_NAMES,
    decoy_counts,
    record_run,
    shares,
    steps_on_log_scale,
    xor_counts,
)
from widenet.papers.brutzkus2019.runs.sampled_runs import INITIAL_SCALE, draw_networks, run_keys
from widenet.training import on_grid, train_patterns
from widenet.types import Dataset, silent

N_RUNS = 60
TOY: dict[str, Any] = {"half_widths": (32, 2), "n_runs": N_RUNS, "n_times": 30}


@pytest.fixture(scope="module")
def xor():
    return compute_figure_2(0, **TOY)


@pytest.fixture(scope="module")
def decoy():
    return compute_figure_3(0, **TOY)


@pytest.fixture(scope="module")
def mixed():
    maps: dict[str, Any] = {
        "map_runs": N_RUNS,
        "map_margins": (1.0, 2.5, 8.0),
        "map_half_widths": (32,),
        "map_singles": (0, 4),
    }
    return compute_figure_6(0, **TOY, **maps)


def verdicts(rows):
    return {row.name: row.verdict for row in rows}


def one_network(counts):
    networks = draw_networks(run_keys(0, 4, N_RUNS), 4, INITIAL_SCALE)
    networks, step_sizes = on_grid(networks, np.tile(counts, (N_RUNS, 1)), 0.01)
    return ConvMaxPool(networks.filters[0], networks.output_weights[0]), float(step_sizes[0])


@pytest.mark.parametrize("n_single", [0, 1])
def test_a_recording_is_the_run_itself_bit_for_bit(n_single):
    counts = decoy_counts(n_single)
    network, step_size = one_network(counts)
    batch = jax.tree.map(lambda leaf: leaf[None], network)
    whole = train_patterns(batch, counts[None], step_size, margin=2.0, workers=1)
    last = int(whole.steps[0])
    recording = record_run(network, counts, step_size, [1, 2, 7, last // 2, last], margin=2.0)
    assert recording.steps.tolist() == sorted({0, 1, 2, 7, last // 2, last})
    np.testing.assert_array_equal(recording.filters[0], network.filters)
    np.testing.assert_array_equal(recording.filters[-1], whole.network.filters[0])
    np.testing.assert_array_equal(recording.outputs[-1], whole.outputs[0])
    assert recording.loss[-1] == whole.loss[0]
    assert recording.loss[0] == pytest.approx(3.0, abs=1e-3)  # γ + 1 for a network that is nearly 0


def test_a_recording_agrees_with_autodiff_on_the_points():
    counts = decoy_counts(1)
    network, step_size = one_network(counts)
    chosen = np.repeat(np.arange(15), counts)
    points = set_points()
    path, *_ = xord_oracle.descend(
        network, Dataset(points.inputs[chosen], points.labels[chosen]), step_size, 2.0, 12, None, literal=True
    )
    recording = record_run(network, counts, step_size, [3, 4, 12], margin=2.0)
    np.testing.assert_allclose(recording.filters, path[[0, 3, 4, 12]], rtol=0, atol=1e-15)


def test_xor_is_the_sum_loss_with_its_own_step():
    """Against gradient descent on XOR written down from Section 3."""
    points = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1.0]])
    labels, votes, step = np.array([1, -1, 1, -1.0]), np.array([1, 1, -1, -1.0]), 0.05
    network = draw_networks(run_keys(0, 4, N_RUNS), 4, 1e-3)
    filters = np.asarray(network.filters[0])
    path = [filters]
    for _ in range(8):
        fits = points @ path[-1].T
        pushes = labels * (labels * (np.maximum(fits, 0) @ votes) < 1)
        path.append(path[-1] + step * votes[:, None] * ((fits > 0).T * pushes) @ points)
    one = ConvMaxPool(network.filters[0], network.output_weights[0])
    recording = record_run(one, xor_counts(), 2 * step, range(9))
    np.testing.assert_allclose(recording.filters, np.stack(path), rtol=0, atol=1e-15)


def test_steps_start_at_zero_and_end_at_the_last():
    steps = steps_on_log_scale(400, 50)
    assert steps[0] == 0
    assert steps[-1] == 400
    assert (np.diff(steps) > 0).all()


def test_set_names():
    assert SET_NAMES[set_index(2, 4)] == "24"
    assert SET_NAMES[set_index(1, 2, 3, 4)] == "1234"


def test_figure_2_agrees(xor):
    rows = verdicts(compare_figure_2(xor))
    assert rows["share of runs that fail, k = 32"] == "AGREES"
    assert rows["final loss of the network shown, k = 2"] == "AGREES"
    assert set(rows.values()) == {"AGREES"}


def test_figure_2_fails_where_and_only_where_nobody_looks(xor):
    start, outputs = xor.narrow_filters.values[0], xor.narrow_outputs.values[-1]
    points = np.array([[1, 1], [1, -1], [-1, -1], [-1, 1.0]])
    looked = np.array([(start[:2] @ point > 0).any() if i % 2 == 0 else (start[2:] @ point > 0).any()
                       for i, point in enumerate(points)])  # fmt: skip
    singles = [set_index(i) for i in (1, 2, 3, 4)]
    right = SET_LABELS[singles] * outputs[singles] > 0
    assert (right == looked).all()
    assert not right.all()
    assert xor.narrow_loss.values[-1] == (~right).sum()


def test_control_plus_neurons_in_one_half_plane_lose_a_point():
    numbers = compute_figure_2(0, **TOY, explored=False)
    rows = verdicts(compare_figure_2(numbers))
    assert rows["share of runs that fail, k = 32"] == "DIFFERS"
    assert rows["final loss of the network shown, k = 32"] == "DIFFERS"
    assert float(numbers.wide_outputs.values[-1, set_index(3)]) == 0.0


def test_figure_3_agrees(decoy):
    rows = verdicts(compare_figure_3(decoy))
    assert {verdict for name, verdict in rows.items() if not name.startswith("share")} == {"AGREES"}
    # The bands of the shares are for 200 runs and k = 100; 60 runs with k = 32 get wider ones.
    assert shares(decoy, "wide")["recovers"][0] >= 0.9 * N_RUNS
    assert 0.5 * N_RUNS <= shares(decoy, "narrow")["zero training error, wrong elsewhere"][0] <= 0.85 * N_RUNS


def test_every_run_of_figure_3_ends_in_one_way(decoy):
    for name in ("wide", "narrow"):
        assert sum(count for count, _ in shares(decoy, name).values()) == N_RUNS


def test_control_figure_3_with_margin_one_does_not_recover():
    rows = verdicts(compare_figure_3(compute_figure_3(0, **TOY, margin=1.0)))
    assert rows["share of runs: f* recovered, k = 32"] == "DIFFERS"


def test_figure_6_map_rises_and_falls_with_the_margin(mixed):
    wide = mixed.recovery_by_width.sel(map_half_width=32)
    assert float(wide.sel(map_margin=2.5)) > 0.6
    assert float(wide.sel(map_margin=1.0)) == 0
    assert float(wide.sel(map_margin=8.0)) < 0.3
    np.testing.assert_array_equal(mixed.recovery_by_share.isel(single_share=1), wide)
    assert float(mixed.recovery_by_share.isel(single_share=0).sel(map_margin=8.0)) > 0.9


def test_figure_6_rows_see_both_ends_of_the_map(mixed):
    rows = verdicts(compare_figure_6(mixed))
    ends = [verdict for name, verdict in rows.items() if name.startswith("best recovery")]
    assert ends == ["AGREES", "AGREES"]
    flat = mixed.assign(recovery_by_width=mixed.recovery_by_width * 0 + 1)
    ends = [verdict for name, verdict in verdicts(compare_figure_6(flat)).items() if name.startswith("best recovery")]
    assert ends == ["DIFFERS", "DIFFERS"]


def test_control_figure_6_with_margin_eight_does_not_recover(mixed):
    assert recovery(0, 32, N_RUNS, (8.0,), (4,), silent).item() == float(
        mixed.recovery_by_width.sel(map_half_width=32, map_margin=8.0)
    )
    failed = mixed.assign(n_wrong_sets=mixed.n_wrong_sets.where(mixed.network == "narrow", 1))
    rows = verdicts(compare_figure_6(failed))
    assert rows["share of runs: f* recovered, k = 32"] == "DIFFERS"
    assert rows["pattern sets of 15 on which the network shown is wrong, k = 32"] == "DIFFERS"
