"""Networks that were filled up with filters of zero have the bits of the networks as they were."""

import numpy as np
import pytest

from widenet.papers.brutzkus2019.runs.few_widths import train_filled_up
from widenet.papers.brutzkus2019.runs.sampled_runs import INITIAL_SCALE, draw_networks, draw_training_sets, law_of
from widenet.papers.brutzkus2019.sources import as_networks
from widenet.training import on_grid, train_patterns

N_RUNS = 40


def drawn(n_channels: int):
    networks = draw_networks(0, n_channels, N_RUNS, INITIAL_SCALE)
    counts = draw_training_sets(0, n_channels, N_RUNS, law_of("all 11 sets"))
    return (*on_grid(networks, counts, 0.04 / n_channels), counts)


@pytest.mark.parametrize("n_channels", [4, 24])
def test_every_bit_is_that_of_the_network_as_it_was(n_channels):
    networks, step_sizes, counts = drawn(n_channels)
    plain = train_patterns(networks, counts, step_sizes, margin=2.0)
    filled = train_filled_up(networks, counts, step_sizes, margin=2.0)
    assert filled.network.n_channels == n_channels
    np.testing.assert_array_equal(filled.network.filters, plain.network.filters)
    for name in ("status", "steps", "zero_error_step", "zero_loss_step", "loss", "train_error", "outputs"):
        np.testing.assert_array_equal(getattr(filled, name), getattr(plain, name))


def test_control_filters_that_are_not_zero_are_seen():
    networks, step_sizes, counts = drawn(4)
    filters = np.asarray(networks.filters)
    more = as_networks(np.concatenate([filters[:, :2], filters[:, :1], filters[:, 2:], filters[:, 2:3]], axis=1))
    plain = train_filled_up(networks, counts, step_sizes)
    assert (train_filled_up(more, counts, step_sizes).outputs != plain.outputs).any()
