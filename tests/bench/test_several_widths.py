"""Widths that share a launch end with the weights that each has by itself."""

from benchmarks import several_widths
from widenet.training import widths

GRID = (6, 8, 4)


def test_weights_are_those_of_a_launch_per_width_to_rounding():
    assert several_widths.difference(GRID, runs=2, steps=300) < 1e-12


def test_control_neurons_that_are_added_and_not_zero_would_be_seen(monkeypatch):
    pad = widths.pad

    def pad_with_others(network, n_neurons):
        more = pad(network, n_neurons)
        return type(more)(more.hidden_weights, more.output_weights + 0.01, more.bias, more.activation)

    monkeypatch.setattr(widths, "pad", pad_with_others)
    assert several_widths.difference(GRID, runs=2, steps=300) > 1e-6


def test_seconds_are_told_of_both_ways():
    assert set(several_widths.seconds(GRID, runs=2, steps=50, times=1)) == {
        "together, first call", "together, later", "one by one, first call", "one by one, later"
    }  # fmt: skip
