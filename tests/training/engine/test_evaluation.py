"""What a look sees, and whether any sample moves, against NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.losses import hinge, logistic
from widenet.networks import ConvMaxPool, TwoLayer, relu
from widenet.training.engine import evaluation
from widenet.training.engine.evaluation import any_sample_moves, look, pulse
from widenet.training.engine.state import State, Tally
from widenet.training.stopping import loss_below, zero_loss
from widenet.types import Dataset, Layers

INPUTS = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
LABELS = np.array([1.0, 1.0, -1.0])


def network(rows, votes, bias=None):
    shift = None if bias is None else jnp.asarray(bias)
    return TwoLayer(jnp.asarray(rows), jnp.asarray(votes), shift, relu())


@pytest.mark.parametrize("at_once", [1024, 2])
def test_a_look_is_the_loss_of_all_samples(monkeypatch, at_once):
    """Outputs 0, 2 and 0 with margins 0, 2 and 0: losses 1, 0 and 1 of the hinge."""
    monkeypatch.setattr(evaluation, "SAMPLES", at_once)
    data = Dataset(jnp.asarray(INPUTS), jnp.asarray(LABELS))
    seen = look(network([[2.0, 0.0]], [1.0]), data, loss=hinge, goal=loss_below(0.7))
    assert (float(seen.loss), bool(seen.reached), bool(seen.all_zero), bool(seen.finite)) == (2 / 3, True, False, True)
    done = look(network([[2.0, 0.0]], [1.0]), data[1:2], loss=hinge, goal=zero_loss)
    assert (float(done.loss), bool(done.reached), bool(done.all_zero), bool(done.finite)) == (0, True, True, True)


@pytest.mark.parametrize(
    ("row", "vote", "label", "loss"),
    [(np.nan, 1.0, 1.0, np.nan), (1.0, 1.0, np.nan, np.nan), (1e308, 1e10, -1.0, np.inf), (1e308, 1e10, 1.0, np.nan)],
)
def test_what_is_no_number_is_not_finite(row, vote, label, loss):
    data = Dataset(jnp.asarray([[1.0]]), jnp.asarray([label]))
    seen = look(network([[row]], [vote]), data, loss=hinge, goal=zero_loss)
    assert not seen.finite
    np.testing.assert_equal(float(seen.loss), loss)


@pytest.mark.parametrize(
    ("sample", "rows", "votes", "bias", "layers", "moves"),
    [
        (1, [[0.5, 0.0]], [1.0], None, Layers.HIDDEN, True),
        (1, [[2.0, 0.0]], [1.0], None, Layers.HIDDEN, False),  # its margin is met
        (1, [[-1.0, 0.0]], [1.0], None, Layers.HIDDEN, False),  # the unit is dead
        (0, [[0.5, 0.0]], [1.0], None, Layers.HIDDEN, False),  # zeros move no row
        (0, [[0.5, 0.0]], [1.0], [0.5], Layers.HIDDEN, True),  # but a bias
        (1, [[0.5, 0.0]], [0.0], None, Layers.HIDDEN, False),
        (1, [[0.5, 0.0]], [0.0], None, Layers.BOTH, True),
    ],
)
def test_whether_a_sample_moves_a_weight(sample, rows, votes, bias, layers, moves):
    data = Dataset(jnp.asarray(INPUTS), jnp.asarray(LABELS))[sample : sample + 1]
    assert bool(any_sample_moves(network(rows, votes, bias), data, loss=hinge, layers=layers)) == moves


def test_samples_of_other_networks_move_by_their_gradient():
    """One patch (1, 1) and two filters: the first answers, the second is dead."""
    for label, moves in ((1.0, False), (-1.0, True)):
        filters = jnp.asarray([[1.0, 1.0], [-1.0, -1.0]])
        data = Dataset(jnp.ones((2, 2)), jnp.full(2, label))
        found = any_sample_moves(ConvMaxPool(filters, jnp.asarray([1.0, -1.0])), data, loss=hinge, layers=Layers.HIDDEN)
        assert bool(found) == moves


def test_the_pulse_of_every_run():
    rows = jnp.asarray([[[1.0, 0.0]], [[jnp.inf, 0.0]]])
    nets = TwoLayer(rows, jnp.ones((2, 1)), None, jax.tree.map(lambda leaf: jnp.full(2, leaf), relu()))
    tally = Tally(jnp.asarray([3, 4]), jnp.asarray([5, 6]), jnp.asarray([7, 8]))
    here = pulse(State(nets, tally))
    assert here.finite.tolist() == [True, False]
    assert (here.updates.tolist(), here.last_update.tolist()) == ([3, 4], [7, 8])


@pytest.mark.parametrize("one_by_one", [False, True])
@pytest.mark.parametrize("per_run", [False, True])
def test_looks_at_the_runs_of_a_batch(per_run, one_by_one):
    """Run r has the row (r + 1)·e₁ and sees, if each has its own, the point r + 1."""
    rows = jnp.asarray([[[1.0, 0.0]], [[2.0, 0.0]]])
    nets = TwoLayer(rows, jnp.ones((2, 1)), None, jax.tree.map(lambda leaf: jnp.full(2, leaf), relu()))
    points = np.array([[[1.0, 0.0]], [[0.25, 0.0]]])
    data = Dataset(jnp.asarray(points), jnp.ones((2, 1))) if per_run else Dataset(jnp.asarray(points[0]), jnp.ones(1))
    seen = evaluation.compiled_look(logistic, zero_loss, per_run, one_by_one)(nets, data)
    margins = np.array([1.0, 0.5 if per_run else 2.0])
    np.testing.assert_allclose(seen.loss, np.log1p(np.exp(-margins)), rtol=1e-12)


def test_one_sample_of_several_is_enough():
    data = Dataset(jnp.asarray([[1.0, 0.0], [2.0, 0.0], [0.5, 0.0]]), jnp.ones(3))
    for row, moves in ((1.0, True), (2.5, False)):  # margins 1, 2, 0.5, and 2.5, 5, 1.25
        found = any_sample_moves(network([[row, 0.0]], [1.0]), data, loss=hinge, layers=Layers.HIDDEN)
        assert bool(found) == moves
