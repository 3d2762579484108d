"""A recording is the run itself; XOR and the decoy sets are those of the paper."""

import jax
import numpy as np
import pytest

from tests.papers.brutzkus2019.toy_runs import N_RECORDED, NARROW, WIDE, recorded
from tests.training import xord_oracle
from widenet.data.xord import SET_LABELS, set_index, set_points
from widenet.networks import ConvMaxPool
from widenet.papers.brutzkus2019.runs.recorded_runs import (
    ShownRunSetting,
    decoy_counts,
    decoy_settings,
    first_failure,
    loss_of,
    record_run,
    steps_on_log_scale,
    xor_counts,
    xor_settings,
)
from widenet.papers.brutzkus2019.runs.sampled_runs import INITIAL_SCALE, draw_networks
from widenet.records import Scale
from widenet.training import on_grid, train_patterns
from widenet.types import Dataset


def one_network(counts) -> tuple[ConvMaxPool, float]:
    networks, step_sizes = on_grid(draw_networks(0, 4, 1, INITIAL_SCALE), counts[None], 0.01)
    return ConvMaxPool(networks.filters[0], networks.output_weights[0]), float(step_sizes[0])


@pytest.mark.parametrize("n_single", [0, 1])
def test_a_recording_is_the_run_itself_bit_for_bit(n_single):
    counts = decoy_counts(n_single)
    network, step_size = one_network(counts)
    batch = jax.tree.map(lambda leaf: leaf[None], network)
    whole = train_patterns(batch, counts[None], step_size, margin=2.0, workers=1)
    last = int(whole.steps[0])
    recording = record_run(np.asarray(network.filters), counts, step_size, [1, 2, 7, last // 2, last], margin=2.0)
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
    recording = record_run(np.asarray(network.filters), counts, step_size, [3, 4, 12], margin=2.0)
    np.testing.assert_allclose(recording.filters, path[[0, 3, 4, 12]], rtol=0, atol=1e-15)


def test_xor_is_the_sum_loss_with_its_own_step():
    """Against gradient descent on XOR written down from Section 3."""
    points = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1.0]])
    labels, votes, step = np.array([1, -1, 1, -1.0]), np.array([1, 1, -1, -1.0]), 0.05
    filters = np.asarray(draw_networks(0, 4, 1, 1e-3).filters[0])
    path = [filters]
    for _ in range(8):
        fits = points @ path[-1].T
        pushes = labels * (labels * (np.maximum(fits, 0) @ votes) < 1)
        path.append(path[-1] + step * votes[:, None] * ((fits > 0).T * pushes) @ points)
    recording = record_run(filters, xor_counts(), 2 * step, range(9))
    np.testing.assert_allclose(recording.filters, np.stack(path), rtol=0, atol=1e-15)


def test_the_shown_run_is_one_of_the_runs():
    runs = recorded(NARROW, margin=5.0)
    shown, recording = runs.shown, runs.recording
    assert recording.steps[-1] == runs.last_step[shown]
    assert recording.loss[-1] == runs.final_loss[shown]
    assert runs.train_error[shown] == 0
    assert (SET_LABELS * recording.outputs[-1] <= 0).sum() == runs.n_wrong_sets[shown] > 0
    failed = (runs.n_wrong_sets > 0) & (runs.train_error == 0)
    assert shown == failed.argmax()
    assert recorded(WIDE, margin=5.0).shown == 0
    assert len(runs.status) == N_RECORDED


def test_losses_of_outputs():
    counts = decoy_counts(3)
    assert loss_of(np.zeros(15), counts, 2.0) == 3.0
    assert loss_of(SET_LABELS.copy(), counts, 2.0) == 1.0
    wrong_on_p2 = np.where(np.arange(15) == set_index(2), 1.0, 2 * SET_LABELS)
    assert loss_of(wrong_on_p2, counts, 2.0) == 1.0  # half of the negatives lose 2


def test_the_first_failure():
    train_error, wrong = np.array([0.5, 0.0, 0.0]), np.zeros((3, 15), bool)
    with pytest.raises(ValueError, match="none of the 3 runs"):
        first_failure(train_error, wrong, only_elsewhere=False)
    wrong[[0, 2], 4] = True
    assert first_failure(train_error, wrong, only_elsewhere=False) == 0
    assert first_failure(train_error, wrong, only_elsewhere=True) == 2


def test_steps_start_at_zero_and_end_at_the_last():
    steps = steps_on_log_scale(400, 50)
    assert steps[0] == 0
    assert steps[-1] == 400
    assert (np.diff(steps) > 0).all()


def test_settings_are_those_of_the_figures():
    assert [setting.half_width for setting in xor_settings(Scale.QUICK, 0)] == [50, 2]
    assert [setting.half_width for setting in decoy_settings(Scale.QUICK, 0)] == [100, 2]
    wide = ShownRunSetting(seed=0, half_width=50, xor=True)
    assert wide.initial_scale == pytest.approx(0.1 / (16 * 50**1.5))
    assert wide.asked.sum() == wide.counts.sum() == 4
    decoy = ShownRunSetting(seed=0, half_width=50, n_single=1)
    assert (decoy.initial_scale, decoy.step_constant) == (1e-5, 0.02)
    assert decoy.asked.all()
    assert decoy.counts[[set_index(1, 2, 3, 4), set_index(2, 4), set_index(2)]].tolist() == [6, 5, 1]
