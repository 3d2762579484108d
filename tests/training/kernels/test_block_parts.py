"""The parts of a block on numbers found by hand: inner products, twins, which steps, and one step after another."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.losses import hinge, logistic
from widenet.networks import ConvMaxPool, TwoLayer, leaky_relu
from widenet.training import Cyclic, OutputWatch
from widenet.training.engine.segment import Segment
from widenet.training.engine.state import Tally
from widenet.training.kernels import block
from widenet.training.kernels.block import Block, BlockRows, Taken, Walked
from widenet.types import Dataset, Layers

INPUTS = np.array([[[1.0, 2.0], [3.0, -1.0]], [[-1.0, -2.0], [1.0, 2.0]], [[0.0, 0.0], [0.5, 0.0]]])
"""Three steps of two rows."""


def rows_of(steps, batch, valid=None, first=1):
    chosen = jnp.arange(steps * batch, dtype=jnp.int32).reshape(steps, batch)
    return BlockRows(
        chosen, jnp.asarray([True] * steps if valid is None else valid), first + jnp.arange(steps, dtype=jnp.int32)
    )


def block_of(inputs, labels, bias=False, valid=None, products=None, same=None, first=1):
    inputs = jnp.asarray(inputs)
    moves = jnp.any(inputs != 0, axis=2) | bias
    rows = rows_of(inputs.shape[0], inputs.shape[1], valid, first)
    given = inputs if products is None else None
    return Block(rows, jnp.asarray(labels), moves, given, products, same, bias)


def segment_of(n_samples, batch, loss=hinge, layers=Layers.HIDDEN, step=1.0, span=(0, 1), watch=None):
    data = Dataset(jnp.ones((n_samples, 1)), jnp.ones(n_samples))
    start, stop = (jnp.int32(each) for each in span)
    return Segment(data, Cyclic(), jax.random.key(0), jnp.asarray(step), watch, start, stop, loss, layers, batch)


@pytest.mark.parametrize("bias", [False, True])
def test_inner_products_of_a_block(bias):
    flat = INPUTS.reshape(6, 2)
    wanted = (flat @ flat.T + bias).reshape(3, 2, 3, 2)
    drawn = block_of(INPUTS, np.ones((3, 2)), bias)
    given = block_of(INPUTS, np.ones((3, 2)), bias, products=jnp.asarray(wanted) + 7)
    np.testing.assert_array_equal(jax.jit(Block.gram)(drawn), wanted)
    np.testing.assert_array_equal(given.gram(), wanted + 7)  # not computed again
    for step in range(3):
        np.testing.assert_array_equal(drawn.column(jnp.int32(step)), wanted[:, :, step])
        np.testing.assert_array_equal(given.column(jnp.int32(step)), wanted[:, :, step] + 7)


def test_twins_of_a_step():
    table = jnp.asarray(np.arange(36.0).reshape(6, 6))
    drawn = block_of(INPUTS[:, ::-1], np.ones((3, 2)))
    given = block_of(INPUTS, np.ones((3, 2)), products=jnp.zeros((3, 2, 3, 2)), same=table)
    np.testing.assert_array_equal(drawn.twins_of(jnp.int32(1)), [[1, -1], [-1, 1]])
    np.testing.assert_array_equal(drawn.twins_of(jnp.int32(0)), np.eye(2))
    np.testing.assert_array_equal(given.twins_of(jnp.int32(1)), table[2:4, 2:4])
    assert block_of(INPUTS[:1], np.ones((1, 2))).twins_of(jnp.int32(0)) is not None


@pytest.mark.parametrize("steps", [1, 3])
def test_a_batch_of_one_has_no_twins(steps):
    assert block_of(INPUTS[:steps, :1], np.ones((steps, 1))).twins_of(jnp.int32(0)) is None


def test_what_counts_as_an_update():
    none, some = jnp.zeros((2, 2)), jnp.asarray([[0.0, 1.0], [0.0, 0.0]])
    minus, opposed = jnp.full((2, 2), -1.0), jnp.asarray([[3.0, 1.0], [-3.0, -1.0]])
    outputs, change = jnp.zeros(2), jnp.asarray([0.0, 1.0])
    for moved, is_update in ((none, False), (some, True), (minus, True), (-minus, True)):
        assert bool(Taken(moved, None, outputs).is_update()) is is_update
        assert bool(Taken(moved, jnp.zeros(2), outputs).is_update()) is is_update
        assert Taken(moved, change, outputs).is_update()
    for all_alike in (1.0, -1.0):
        assert Taken(none, jnp.full(2, all_alike), outputs).is_update()
    assert Taken(opposed, None, outputs).is_update(jnp.eye(2))
    assert not Taken(opposed, None, outputs).is_update(jnp.ones((2, 2)))
    assert Taken(opposed, change, outputs).is_update(jnp.ones((2, 2)))


def test_how_many_steps_a_block_has():
    assert (block.ROWS, block.WRITTEN_OUT < block.ROWS) == (64, True)
    sizes = [block.block_size(segment_of(1000, batch)) for batch in (1, 2, 3, 64, 65, 500)]
    assert sizes == [64, 32, 21, 1, 1, 1]
    assert [block.block_size(segment_of(count, 1)) for count in (1, 63, 65)] == [1, 63, 64]
    assert [block.block_size(segment_of(100, 10), steps) for steps in (None, 1, 9, 10, 11)] == [6, 1, 9, 10, 10]


@pytest.mark.parametrize("steps", [None, 3])
def test_a_walk_meets_every_step_once(steps):
    """Ten samples, two at a time: five steps to an epoch. What is past the end is told to be so."""
    spans, size = np.array([(0, 1), (0, 5), (1, 4), (4, 4), (3, 12), (5, 10), (9, 11)]), steps or 5

    def work(carry, rows):
        count, met = carry
        return count + 1, jax.tree.map(lambda kept, new: kept.at[count].set(new), met, rows)

    @jax.jit
    @jax.vmap
    def go(start, stop):
        segment = eqx.tree_at(lambda segment: (segment.start, segment.stop), segment_of(10, 2), (start, stop))
        blank = jax.tree.map(lambda leaf: leaf.reshape(12, size, *leaf.shape[1:]), rows_of(12 * size, 2))
        return block.walk(segment, (0, blank), work, steps)

    counts, met = go(*jnp.asarray(spans, jnp.int32).T)
    for place, span in enumerate(spans):
        parts = [min(span[1], 5 * epoch + 5) - max(span[0], 5 * epoch) for epoch in range(3)]
        count = sum(-(-max(part, 0) // size) for part in parts)  # no block without a step
        assert int(counts[place]) == count
        valid = np.asarray(met.valid[place, :count]).ravel()
        numbers, chosen = met.numbers[place, :count].ravel()[valid], met.chosen[place, :count].reshape(-1, 2)[valid]
        steps_taken = np.arange(*span)
        np.testing.assert_array_equal(numbers, steps_taken + 1)
        np.testing.assert_array_equal(chosen, 2 * (steps_taken % 5)[:, None] + [0, 1])


class Largest(OutputWatch):
    def start(self, network):
        return network.output_weights.max()

    def fold(self, value, output_weights):
        return jnp.maximum(value, output_weights.max())


def test_what_a_block_can_do():
    network = TwoLayer(jnp.ones((2, 2)), jnp.ones(2), None, leaky_relu(0.5))
    other = ConvMaxPool(jnp.zeros((2, 4, 2)), jnp.zeros((2, 4)))
    for watch, serves in (
        (None, True),
        (Largest(), True),
        (object(), False),
    ):
        assert block.fits(network, watch) is serves
        assert not block.fits(other, watch)


def test_the_walk_after_one_more_step():
    """What a watch of output weights is shown; the row of the step is put, the others stay."""
    taken = Taken(jnp.asarray([[2.0, 0.0]]), jnp.asarray([0.5, -1.0]), jnp.asarray([0.25]))
    blank = Taken(jnp.full((3, 1, 2), 9.0), jnp.full((3, 2), 9.0), jnp.full((3, 1), 9.0))

    def after(watch, watched):
        return block._after(Walked(blank, jnp.asarray([1.0, 2.0]), watched), watch, jnp.int32(1), taken)

    plainly = after(None, "kept")
    assert plainly.watched == "kept"
    np.testing.assert_array_equal(plainly.output_weights, [1.5, 1.0])
    np.testing.assert_array_equal(plainly.steps.coefficients, [[[9, 9]], [[2, 0]], [[9, 9]]])
    np.testing.assert_array_equal(plainly.steps.change, [[9, 9], [0.5, -1], [9, 9]])
    np.testing.assert_array_equal(plainly.steps.outputs, [[9], [0.25], [9]])
    assert float(after(Largest(), jnp.asarray(-1.0)).watched) == 1.5


def by_hand(inputs, labels, valid, rows, outer, loss, both, rate):
    """(coefficients, output weights, updates, mistakes, the last update) of one block, row by row."""
    rows, outer, coefficients = rows.copy(), outer.copy(), np.zeros((*labels.shape, len(rows)))
    updates = mistakes = last = 0
    for step, (x, y) in enumerate(zip(inputs, labels, strict=True)):
        if not valid[step]:
            continue
        z = x @ rows.T
        on = np.where(z > 0, 1, 0.5)
        outputs = (z * on) @ outer
        slopes = np.where(y * outputs < 1, -y, 0) if loss is hinge else -y / (1 + np.exp(y * outputs))
        moves = x.any(axis=1)
        coefficients[step] = -rate / len(x) * (slopes * moves)[:, None] * outer * on
        change = -rate / len(x) * slopes @ (z * on) * both
        is_update = bool((np.abs(coefficients[step].T @ x) > 1e-14).any() or change.any())
        mistakes += (y * outputs <= 0).sum()
        rows, outer = rows + coefficients[step].T @ x, outer + change
        updates, last = updates + is_update, 11 + step if is_update else last
    return coefficients, outer, updates, mistakes, last


CASES = [
    (logistic, False, 1, 1),
    (logistic, False, 2, 1),
    (logistic, False, 3, 2),
    (logistic, False, 10, 1),
    (logistic, True, 2, 2),
    (hinge, False, 10, 1),
    (hinge, True, 3, 2),
]


def counts_of(tally):
    return [int(each) for each in (tally.updates, tally.mistakes, tally.last_update)]


@pytest.mark.parametrize(("loss", "both", "steps", "batch"), CASES)
def test_the_steps_of_a_block(loss, both, steps, batch):
    """Ten steps are a loop, fewer are written out. The last sample is 0, and the last step but one past the end."""
    draw = np.random.default_rng(5)
    inputs = np.round(4 * draw.normal(size=(steps, batch, 2))) / 4
    inputs[-1, -1] = 0
    labels = draw.choice([-1.0, 1.0], (steps, batch))
    valid = np.array([True] * (steps - 2) + [False, True])[-steps:]
    rows, outer = np.array([[1.0, 0.5], [-0.5, 1.0], [0.25, -1.0]]), np.array([0.5, -0.75, 1.0])
    network = TwoLayer(jnp.asarray(rows), jnp.asarray(outer), None, leaky_relu(0.5, 0.5))
    these = block_of(inputs, labels, valid=valid, first=11)
    tally = Tally(jnp.int32(3), jnp.asarray(4, jnp.int64), jnp.int32(0))
    segment = segment_of(steps * batch, batch, loss, Layers.BOTH if both else Layers.HIDDEN, 0.5)
    hidden = jnp.asarray(inputs.reshape(-1, 2) @ rows.T)
    found = eqx.filter_jit(block.work_through)(network, hidden, these, segment, tally)
    coefficients, outer, updates, mistakes, last = by_hand(inputs, labels, valid, rows, outer, loss, both, 0.5)
    np.testing.assert_allclose(found.coefficients, coefficients, atol=1e-14)
    np.testing.assert_allclose(found.output_weights, outer, atol=1e-14)
    assert counts_of(found.tally) == [3 + updates, 4 + mistakes, last]


def test_what_is_past_the_end_is_no_update_even_of_weights_that_are_no_numbers():
    """NaN is not 0, so that the step itself counts; rows after it have NaN for coefficients as well."""
    network = TwoLayer(jnp.ones((1, 1)), jnp.asarray([jnp.nan]), None, leaky_relu(0.5))
    these = block_of(np.ones((3, 1, 1)), np.ones((3, 1)), valid=[True, False, False], first=11)
    tally = Tally(jnp.int32(0), jnp.asarray(0, jnp.int64), jnp.int32(0))
    segment = segment_of(3, 1, logistic)
    found = eqx.filter_jit(block.work_through)(network, jnp.ones((3, 1)), these, segment, tally)
    assert counts_of(found.tally) == [1, 1, 11]


def test_from_active_step_to_active_step():
    """One neuron at weight 2. A label of 0 has no slope and is a mistake all the same; a margin above 1 has neither."""
    inputs = np.array([(1, 1), (1, 1), (0.25, 1), (0.25, 0.25), (-0.25, -0.25), (1, 1), (0.25, 0.25)])[..., None]
    labels = np.array([(1.0, 1), (0, 1), (1, 1), (1, 1), (-1, -1), (0, 0), (-1, -1)])
    network = TwoLayer(jnp.asarray([[2.0]]), jnp.asarray([1.0]), None, leaky_relu(0.5))
    these = block_of(inputs, labels, valid=[True] * 6 + [False], first=11)
    tally = Tally(jnp.int32(0), jnp.asarray(0, jnp.int64), jnp.int32(0))
    hidden = jnp.asarray(2 * inputs.reshape(-1, 1))
    found = eqx.filter_jit(block.work_through)(network, hidden, these, segment_of(14, 2, step=2.0**-10), tally)
    assert counts_of(found.tally) == [3, 3, 15]
    once = 2.0**-11
    wanted = np.zeros((7, 2))
    wanted[2, 0], wanted[3], wanted[4] = once, once, -once / 2
    np.testing.assert_array_equal(found.coefficients[..., 0], wanted)
