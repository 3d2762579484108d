"""Networks in NumPy where it is close: in pieces, at the edge of rounding, with small signals beside silent neurons."""

import inspect

import numpy as np
import pytest

from widenet.losses import logistic
from widenet.training.small import SmallNetworks, networks
from widenet.types import Layers


def drawn(n_runs=2, n_neurons=4, dim=3, **others):
    draw = np.random.default_rng(5)
    return SmallNetworks(draw.normal(size=(n_runs, n_neurons, dim)), draw.normal(size=(n_runs, n_neurons)), **others)


@pytest.mark.parametrize(
    ("most", "n_samples", "pieces"),
    [
        (12 * 16, 50, [16, 16, 16, 2]),
        (12 * 17 - 1, 50, [16, 16, 16, 2]),
        (12 * 20, 40, [20, 20]),
        (12 * 20, 21, [20, 1]),
        (12 * 20, 20, [20]),
        (12 * 20, 0, [0]),
        (12 * 16 - 1, 50, [50]),  # fifteen at a time are too few
        (1, 50, [50]),
    ],
)
@pytest.mark.parametrize("own", [False, True])
def test_samples_are_looked_at_in_pieces(most, n_samples, pieces, own, monkeypatch):
    """Four neurons on three inputs: twelve multiplications a sample. No sample is left out, and none comes twice."""
    monkeypatch.setattr(networks, "ONE_THREAD", most)
    points = np.arange(6.0 * n_samples).reshape(2, n_samples, 3)
    seen = []

    def see(block):
        seen.append(block.shape[-2])
        return np.broadcast_to(block[..., 0], (2, block.shape[-2]))

    first = drawn()._in_blocks(points if own else points[0], see)
    np.testing.assert_array_equal(first, points[..., 0] if own else np.stack([points[0, :, 0]] * 2))
    assert seen == pieces


def test_pieces_of_the_smallest_network_and_of_none(monkeypatch):
    """One multiplication a sample; where there are no runs, or no neurons, none."""
    monkeypatch.setattr(networks, "ONE_THREAD", 16)
    seen = []

    def see(block):
        seen.append(len(block))
        return np.zeros((1, len(block)))

    drawn(n_runs=1, n_neurons=1, dim=1)._in_blocks(np.zeros((20, 1)), see)
    assert seen == [16, 4]
    assert drawn(n_runs=0).outputs(np.ones((20, 3))).shape == (0, 20)
    assert drawn(n_neurons=0).outputs(np.ones((20, 3))).tolist() == np.zeros((2, 20)).tolist()


def test_outputs_in_pieces_are_those_of_the_whole(monkeypatch):
    bias = np.array([[0.1, 0.2, 0.3, 0.4], [-1.0, 0, 1, 2]])
    ours, points = drawn(slope=0.3, bias=bias), np.eye(3).repeat(20, axis=0)
    z = np.einsum("rnd,sd->rsn", ours.hidden, points) + bias[:, None]
    expected = np.einsum("rsn,rn->rs", np.where(z > 0, z, 0.3 * z), ours.output)
    for most in (networks.ONE_THREAD, 12 * 16):
        monkeypatch.setattr(networks, "ONE_THREAD", most)
        np.testing.assert_allclose(ours.preactivations(points), z, rtol=1e-14)
        np.testing.assert_allclose(ours.outputs(points), expected, rtol=1e-13)


def test_relu_that_is_off_at_zero_unless_told_otherwise():
    ours = SmallNetworks(np.ones((1, 2, 1)), np.ones((1, 2)))
    np.testing.assert_array_equal(ours.activation(np.array([[-2.0, 3.0]])), [[0, 3]])
    np.testing.assert_array_equal(ours.derivative(np.array([[-2.0, 0.0, 3.0]])), [[0, 0, 1]])
    assert ours.bias is None
    assert (ours.slope, ours.at_zero) == (0, 0)
    assert list(inspect.signature(SmallNetworks).parameters) == ["hidden", "output", "slope", "at_zero", "bias"]
    for derived in ("slopes", "at_zeros", "is_convex"):
        assert f"{derived}=" not in repr(ours)


@pytest.mark.parametrize("layers", list(Layers))
def test_one_faint_signal_beside_many_silent_neurons_is_a_move(layers):
    ours = SmallNetworks(np.ones((2, 9, 1)), np.ones((2, 9)))
    z = np.full((2, 2, 9), -1e6)
    z[0, 1, 4] = 1e-300
    z[1, 0, 8] = 1e-3
    np.testing.assert_array_equal(ours.movable(z, layers), [[False, True], [True, False]])


def test_steps_for_labels_of_any_size():
    """The gradient of log(1 + exp(−yN)) by differences in every weight, for labels that are not ±1."""
    ours = drawn(slope=0.3)
    x, labels, rate = np.array([[1.0, -2, 0.5], [0.3, 0.2, -1]]), np.array([0.5, -2.0]), np.array([0.25, 4.0])

    def losses(hidden, output):
        z = np.einsum("rnd,rd->rn", hidden, x)
        return np.log1p(np.exp(-labels * (output * np.where(z > 0, z, 0.3 * z)).sum(axis=1)))

    found = ours.increment(x, labels, rate, logistic, Layers.BOTH)
    for neuron in range(4):
        step = np.zeros((1, 4))
        step[0, neuron] = 1e-6
        slope = (losses(ours.hidden, ours.output + step) - losses(ours.hidden, ours.output - step)) / 2e-6
        np.testing.assert_allclose(np.asarray(found.outputs)[:, neuron], -rate * slope, rtol=1e-6)
        for place in range(3):
            shift = step[:, :, None] * np.eye(3)[place]
            slope = (losses(ours.hidden + shift, ours.output) - losses(ours.hidden - shift, ours.output)) / 2e-6
            np.testing.assert_allclose(found.coefficients[:, neuron] * x[:, place], -rate * slope, rtol=1e-6)


def test_outputs_are_blurred_from_four_and_a_half_million_million_on():
    """A double has 53 digits: rounding moves an output of 2^52/1000 by a thousandth."""
    for factor, expected in ((0.97, False), (1.03, True)):
        hidden = np.full((1, 1, 1), factor * 2.0**52 / 1000)
        assert SmallNetworks(hidden, np.ones((1, 1))).blurred(np.ones((1, 1)))[0] == expected


def test_what_is_blurred_without_biases_is_rows_times_points():
    """Huge answers: rows of no length never blur, and rows of length 0.1 do."""
    output = np.full((2, 2), 1e14)
    hidden = np.array([[[0.0], [0.0]], [[0.1], [0.0]]])
    assert SmallNetworks(hidden, output).blurred(np.ones((1, 1))).tolist() == [False, True]
    assert SmallNetworks(hidden, output, bias=np.full((2, 2), 0.1)).blurred(np.ones((1, 1))).tolist() == [True, True]


def test_each_run_is_blurred_by_its_own_points():
    ours = SmallNetworks(np.ones((3, 2, 1)), np.ones((3, 2)))
    points = np.array([[[1.0], [2.0]], [[1.0], [-1e14]], [[1e14], [3.0]]])
    assert ours.blurred(points).tolist() == [False, True, True]
