# pyright: reportArgumentType=false, reportCallIssue=false
"""What a flow is asked for and what it makes of it, called directly; whole runs are in `test_flow`."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.losses import cross_entropy, hinge, logistic
from widenet.networks import TwoLayer, leaky_relu
from widenet.training import Flow, LinearClock, LossClock, loss_below, zero_error
from widenet.training.methods.base import Sizes
from widenet.types import Dataset, Layers, RunStatus

# One program: compiled operation by operation, it would take longer.
moves_left = jax.jit(Flow.moves_left, static_argnames=("loss", "layers"))


def squared(outputs, labels):
    """A loss that is smooth, and whose logarithm nobody has told."""
    return (outputs - labels) ** 2


def network(n_outputs=None, bias=False, neurons=5, dim=3):
    outer = jnp.ones((n_outputs, neurons) if n_outputs else neurons)
    return TwoLayer(jnp.ones((neurons, dim)), outer, jnp.zeros(neurons) if bias else None, leaky_relu(0.5))


def data(n_samples=9, dim=3):
    return Dataset(jnp.ones((n_samples, dim)), jnp.ones(n_samples))


def test_what_a_flow_does_unless_told_otherwise():
    flow = Flow(LinearClock(0.5))
    assert (flow.tolerance, flow.events, flow.slots, flow.most_solver_steps) == (1e-8, (), 16, 100_000)
    assert flow.n_samples == 0
    assert flow.in_turn


def test_what_a_reader_is_shown_of_a_flow():
    """Not how many samples there are: nobody has given them."""
    shown = repr(Flow(LinearClock(0.5), slots=2).fitted(network(), data(), hinge, Layers.HIDDEN, None))
    assert "slots=2" in shown
    assert "n_samples" not in shown


@pytest.mark.parametrize("clock", [LinearClock(0.5), LossClock(0.5)])
def test_only_the_step_of_the_clock_is_a_number_of_the_run(clock):
    """All else is known when a program is compiled."""
    fitted = Flow(clock, 1e-6, {"right": zero_error}, 3, 50).fitted(network(), data(), hinge, Layers.HIDDEN, None)
    leaves = jax.tree.leaves(fitted)
    assert [float(leaf) for leaf in leaves] == [0.5]


def test_rules_are_kept_by_name_in_order_and_may_be_handed_in_again():
    low = loss_below(0.1)
    flow = Flow(LinearClock(0.5), events={"right": zero_error, "low": low})
    assert flow.events == (("low", low), ("right", zero_error))
    assert dataclasses.replace(flow, slots=2).events == flow.events


@pytest.mark.parametrize(
    "events",
    [
        [("low", zero_error)],
        (["low", zero_error],),
        (("right", zero_error), ["low", zero_error]),
        (("low", zero_error, 1),),
        (("low",),),
        ("low",),
        5,
        {3: zero_error},
        (("low", zero_error), (3, zero_error)),
    ],
)
def test_events_that_are_not_rules_by_name(events):
    with pytest.raises(Exception, match=r"events must be rules by name|type-check"):
        Flow(LinearClock(0.5), events=events)


@pytest.mark.parametrize("tolerance", ["1e-8", None, True, False, 0, 1, [1e-8]])
def test_a_tolerance_is_a_float(tolerance):
    with pytest.raises(Exception, match=r"(?i)tolerance must lie between|type-check"):
        Flow(LinearClock(0.5), tolerance)


def test_a_tolerance_may_be_a_float_of_numpy():
    for kind in (np.float32, np.float64):
        assert type(Flow(LinearClock(0.5), kind(2.0**-20)).tolerance) is float
        assert Flow(LinearClock(0.5), kind(2.0**-20)).tolerance == 2.0**-20


def test_one_slot_and_one_step_are_the_least():
    assert Flow(LinearClock(0.5), slots=1).slots == 1
    assert Flow(LinearClock(0.5), most_solver_steps=1).most_solver_steps == 1
    for name in ("slots", "most_solver_steps"):
        with pytest.raises(Exception, match=rf"(?i){name} must be a whole number|type-check"):
            Flow(LinearClock(0.5), **{name: 0})


def test_a_clock_without_a_step_is_a_place_for_one():
    """The engine takes the numbers of runs out, and puts them in again."""
    without = jax.tree.map(lambda leaf: None, Flow(LinearClock(0.5)))
    assert dataclasses.replace(without, slots=2).clock.step is None


@pytest.mark.parametrize(
    ("slots", "dim", "bias", "n_samples", "expected"),
    [(16, 3, False, 9, 3), (16, 3, True, 9, 4), (2, 3, True, 9, 2), (16, 3, True, 3, 3), (16, 20, False, 30, 16)],
)
def test_there_are_no_more_slots_than_kinks_can_meet(slots, dim, bias, n_samples, expected):
    """In so many dimensions, a bias counting as one; and not more than there are samples."""
    flow = Flow(LinearClock(0.5), slots=slots)
    fitted = flow.fitted(network(bias=bias, dim=dim), data(n_samples, dim), hinge, Layers.HIDDEN, None)
    assert (fitted.slots, fitted.n_samples) == (expected, n_samples)


@pytest.mark.parametrize(("n_outputs", "shape"), [(None, (9,)), (4, (9, 4))])
def test_rules_are_asked_about_outputs_of_the_networks_shape(n_outputs, shape):
    seen = []

    def rule(outputs, labels, losses):
        seen.append((outputs.shape, labels.shape))
        return jnp.all(losses < 1)

    Flow(LinearClock(0.5), events={"low": rule}).fitted(network(n_outputs), data(), hinge, Layers.HIDDEN, None)
    assert seen == [(shape, (9,))]


def test_a_run_that_has_not_begun_has_a_row_per_neuron():
    flow = Flow(LinearClock(0.5), events={"right": zero_error}).fitted(network(), data(), hinge, Layers.HIDDEN, None)
    own = flow.init(network())
    assert (own.reach.shape, own.pattern.sides.shape, own.pattern.slots.shape) == ((5,), (5, 9), (5, 3))
    assert set(own.report.events) == {"right"}
    assert flow.report(own) is own.report
    runs = jax.tree.map(lambda leaf: leaf[None], own)
    assert [int(status) for status in flow.ended(runs)] == [RunStatus.RUNNING]


def test_which_losses_go_with_which_clock():
    for loss in (logistic, cross_entropy, squared):
        Flow(LinearClock(0.5))._check_loss(loss)
    with pytest.raises(ValueError, match="without kinks"):
        Flow(LinearClock(0.5))._check_loss(hinge)
    Flow(LossClock(0.5))._check_loss(logistic)
    Flow(LossClock(0.5))._check_loss(cross_entropy)
    with pytest.raises(ValueError, match="logarithm is known, logistic or cross_entropy, got squared"):
        Flow(LossClock(0.5))._check_loss(squared)


def test_gradients_that_cancel_leave_nothing_to_move():
    """The same point with both labels, and outputs that are 0: half of each says up, half says down."""
    rows = jnp.asarray([[1.0, 1.0], [1.0, 1.0]])
    net = TwoLayer(rows, jnp.asarray([1.0, -1.0]), None, leaky_relu(0.5))
    inputs = jnp.asarray([[1.0, 2.0], [1.0, 2.0]])
    for labels, moves in (([1.0, -1.0], False), ([1.0, 1.0], True)):
        found = moves_left(net, Dataset(inputs, jnp.asarray(labels)), loss=logistic, layers=Layers.HIDDEN)
        assert bool(found) is moves


def test_a_frozen_run_is_tried_by_one_step_on_all_samples():
    trial = Flow(LinearClock(0.5)).trial(9)
    assert (trial.order, trial.batch_size, trial.steps) == (None, 9, 1)
    assert Flow(LinearClock(0.5)).sampling.batch_size is None


def test_memory_is_counted_in_arrays():
    """8-byte numbers, 7 samples in 5 dimensions, networks of 1100 bytes with 11 neurons, 3 slots.

    Per run 16 networks and 16 arrays of neurons by samples, and 4 of neurons by slots by (slots + dimensions); shared
    twice the samples with 4 more numbers each.
    """
    flow = Flow(LinearClock(0.5), slots=3)
    of_run, shared = flow.memory(Sizes(item=8, samples=7, dim=5, batch=7, weights=1100, neurons=11))
    assert of_run == 17_600 + 9_856 + 8_448
    assert shared == 1_008
