"""The compiled program behind `widenet.training.patterns`: runs side by side in lanes, each step on all lanes at once.

When a run stops, the next one of the queue takes its lane: no time goes to runs that have stopped. The number of lanes
depends on the width alone, so the program for one run is the program for a thousand.
"""

import functools
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from widenet.data.xord import PATTERN_SETS, SET_LABELS
from widenet.types import RunStatus

FEATURES = np.concatenate([PATTERN_SETS, PATTERN_SETS | np.roll(PATTERN_SETS, -1, axis=1)], axis=1).astype(float)
"""(set, feature): holds p_i (four columns), holds p_i or the next pattern of the circle p₁ p₂ p₃ p₄ (four columns)."""

NEVER = -1
"""The patience of someone who waits for an update that is exactly zero."""

SLICE = 20_000
"""Iterations of all lanes between two looks of the interpreter: often enough to see an interrupt."""


class Queue(eqx.Module):
    """The runs that wait, in order."""

    filters: Float[Array | np.ndarray, "run channel 2"]
    weights: Float[Array | np.ndarray, "run 15"]
    margins: Float[Array | np.ndarray, "run 15"]
    units: Float[Array | np.ndarray, " run"]


class Outcome(eqx.Module):
    """What is kept of each run; the loss still has the scale of `class_weights`."""

    filters: Array | np.ndarray
    status: Array | np.ndarray
    steps: Array | np.ndarray
    zero_error_step: Array | np.ndarray
    zero_loss_step: Array | np.ndarray
    loss: Array | np.ndarray
    outputs: Array | np.ndarray


class _Lanes(eqx.Module):
    """The runs in training, one per lane. Lanes are the last axis, the one that the processor works on side by side."""

    seat: Int[Array, " lane"]
    first: Float[Array, "channel lane"]
    second: Float[Array, "channel lane"]
    weights: Float[Array, "15 lane"]
    margins: Float[Array, "15 lane"]
    units: Float[Array, " lane"]
    steps: Int[Array, " lane"]
    best: Float[Array, " lane"]
    best_step: Int[Array, " lane"]
    zero_error_step: Int[Array, " lane"]
    status: Int[Array, " lane"]
    loss: Float[Array, " lane"]
    outputs: Float[Array, "15 lane"]


def descend(
    first: Float[Array, "channel lane"],
    second: Float[Array, "channel lane"],
    weights: Float[Array, "15 lane"],
    margins: Float[Array, "15 lane"],
    units: Float[Array, " lane"],
) -> tuple[
    Float[Array, "channel lane"],
    Float[Array, "channel lane"],
    Float[Array, "15 lane"],
    Float[Array, "15 lane"],
    Bool[Array, " lane"],
]:
    """One step: both coordinates of the new filters, the outputs and losses before it, and whether anything moved."""
    half = first.shape[0] // 2
    s, r = first + second, first - second
    across, along = jnp.abs(s), jnp.abs(r)
    alone = (s - along, r - across, -s - along, -r - across)
    shared = (jnp.minimum(s, r), jnp.minimum(-s, r), jnp.minimum(-s, -r), jnp.minimum(s, -r))
    sums = jnp.stack([_vote(jnp.maximum(part, 0.0), half) for part in (*alone, *shared)])
    outputs = jnp.matmul(FEATURES, sums)
    losses = jnp.maximum(margins - SET_LABELS[:, None] * outputs, 0.0)
    pull = jnp.where(losses > 0, SET_LABELS[:, None] * weights, 0.0)
    # Without the barrier the compiler computes these few numbers again for every channel.
    pull = jax.lax.optimization_barrier(jnp.matmul(FEATURES.T, pull))

    right, up = s > 0, r > 0
    # At |s| = |r| the pattern with the larger first coordinate wins, as in the network.
    is_across = jnp.where(right, s >= along, -s > along)
    best = jnp.where(is_across, jnp.where(right, pull[0], pull[2]), jnp.where(up, pull[1], pull[3]))
    pair = jnp.where(right, jnp.where(up, pull[4], pull[7]), jnp.where(up, pull[5], pull[6]))
    # jnp.sign(0) = 0 is the derivative of ReLU at 0.
    move_s = jnp.sign(s) * jnp.where(is_across, best, pair - best)
    move_r = jnp.sign(r) * jnp.where(is_across, pair - best, best)
    votes = jnp.where(jnp.arange(2 * half)[:, None] < half, units, -units)
    moved = jnp.any((move_s != 0) | (move_r != 0), axis=0)
    return first + votes * (move_s + move_r), second + votes * (move_s - move_r), outputs, losses, moved


def _vote(values: Float[Array, "channel lane"], half: int) -> Float[Array, " lane"]:
    return jnp.sum(values[:half] - values[half:], axis=0)


def _step(lanes: _Lanes, max_steps: Int[Array, ""], patience: Int[Array, ""]) -> _Lanes:
    """Look at every lane, then move those that do not stop here."""
    first, second, outputs, losses, moved = descend(
        lanes.first, lanes.second, lanes.weights, lanes.margins, lanes.units
    )
    loss = jnp.sum(lanes.weights * losses, axis=0)
    best_step = jnp.where(loss < lanes.best, lanes.steps, lanes.best_step)
    right = jnp.all((lanes.weights == 0) | (SET_LABELS[:, None] * outputs > 0), axis=0)
    finite = jnp.all(jnp.isfinite(outputs), axis=0)
    # Weights that do not move never will: the steps that the rule still asks for are counted, not taken.
    idle = jnp.where(patience == NEVER, lanes.steps, jnp.minimum(best_step + patience, max_steps))
    tired = (patience != NEVER) & (lanes.steps - best_step >= patience)
    status = jnp.select(
        [~finite, loss == 0, ~moved, tired, lanes.steps >= max_steps],
        [
            jnp.int32(RunStatus.DIVERGED),
            jnp.int32(RunStatus.CONVERGED),
            jnp.int32(RunStatus.STALLED),
            jnp.int32(RunStatus.CONVERGED),
            jnp.int32(RunStatus.BUDGET_SPENT),
        ],
        jnp.int32(RunStatus.RUNNING),
    )
    runs = status == RunStatus.RUNNING
    return _Lanes(
        lanes.seat,
        jnp.where(runs, first, lanes.first),
        jnp.where(runs, second, lanes.second),
        lanes.weights,
        lanes.margins,
        lanes.units,
        jnp.where(runs, lanes.steps + 1, jnp.where(finite & ~moved, idle, lanes.steps)),
        jnp.minimum(loss, lanes.best),
        best_step,
        jnp.where(right & (lanes.zero_error_step < 0), lanes.steps, lanes.zero_error_step),
        status,
        loss,
        outputs,
    )


def n_lanes(n_channels: int) -> int:
    """How many runs go side by side: a number of the shape alone, so that batch-mates change nothing."""
    if jax.default_backend() != "cpu":
        return 1024
    return 8 if n_channels >= 64 else 16 if n_channels >= 16 else 32


def _load(lanes: _Lanes, queue: Queue, waiting: Int[Array, ""], n_runs: Int[Array, ""]) -> tuple[_Lanes, Array]:
    """Give every free lane the next run of the queue; past its end, a copy of the last one that nobody reads."""
    free = lanes.status != RunStatus.RUNNING
    ticket = waiting + jnp.cumsum(free, dtype=jnp.int32) - 1
    seat = jnp.where(free, jnp.minimum(ticket, n_runs), lanes.seat)
    place = jnp.minimum(seat, n_runs - 1)
    filters = jnp.moveaxis(queue.filters[place], 0, -1)
    nothing = jnp.zeros_like(lanes.steps)
    fresh = _Lanes(
        seat,
        filters[:, 0],
        filters[:, 1],
        queue.weights[place].T,
        queue.margins[place].T,
        queue.units[place],
        nothing,
        jnp.full_like(lanes.best, jnp.inf),
        nothing,
        nothing - 1,
        nothing + jnp.int32(RunStatus.RUNNING),
        lanes.loss,
        lanes.outputs,
    )
    return jax.tree.map(lambda new, old: jnp.where(free, new, old), fresh, lanes), waiting + jnp.sum(
        free, dtype=jnp.int32
    )


def _collect(outcome: Outcome, lanes: _Lanes, n_runs: Int[Array, ""]) -> Outcome:
    """Write down the runs that have stopped."""
    where = jnp.where(_has_stopped(lanes, n_runs), lanes.seat, n_runs)
    seen = Outcome(
        jnp.stack([lanes.first, lanes.second], axis=-1).swapaxes(0, 1),
        lanes.status,
        lanes.steps,
        lanes.zero_error_step,
        jnp.where(lanes.loss == 0, lanes.best_step, -1),
        lanes.loss,
        lanes.outputs.T,
    )
    return jax.tree.map(lambda kept, new: kept.at[where].set(new, mode="drop"), outcome, seen)


def _has_stopped(lanes: _Lanes, n_runs: Int[Array, ""]) -> Bool[Array, " lane"]:
    return (lanes.status != RunStatus.RUNNING) & (lanes.seat < n_runs)


@functools.partial(jax.jit, donate_argnums=(0, 1))
def _advance(lanes: _Lanes, outcome: Outcome, queue: Queue, waiting, n_runs, max_steps, patience):
    """At most `SLICE` iterations of all lanes, handing out the runs of the queue; also, how many runs are left."""

    def one_step(carry):
        ticks, lanes = carry
        return ticks + 1, _step(lanes, max_steps, patience)

    def nobody_stops(carry):
        ticks, lanes = carry
        return (ticks < SLICE) & ~jnp.any(_has_stopped(lanes, n_runs))

    def until_one_stops(carry):
        ticks, waiting, lanes, outcome = carry
        lanes, waiting = _load(lanes, queue, waiting, n_runs)
        ticks, lanes = jax.lax.while_loop(nobody_stops, one_step, (ticks, lanes))
        return ticks, waiting, lanes, _collect(outcome, lanes, n_runs)

    def left(waiting, lanes):
        in_lanes = jnp.sum((lanes.status == RunStatus.RUNNING) & (lanes.seat < n_runs))
        return jnp.maximum(n_runs - waiting, 0) + in_lanes

    def goes_on(carry):
        ticks, waiting, lanes, _ = carry
        return (ticks < SLICE) & (left(waiting, lanes) > 0)

    carry = (jnp.int32(0), waiting, lanes, outcome)
    _, waiting, lanes, outcome = jax.lax.while_loop(goes_on, until_one_stops, carry)
    return lanes, outcome, waiting, left(waiting, lanes)


def train_queue(queue: Queue, max_steps: int, patience: int, done: Callable[[int], None]) -> Outcome:
    """Train the runs of one queue, on one core."""
    n_runs, n_channels, _ = queue.filters.shape
    # Queues of similar lengths share one compilation: the rest is filled up and never handed out.
    capacity = max(64, 1 << (n_runs - 1).bit_length())
    padded = jax.tree.map(lambda leaf: jnp.asarray(np.resize(leaf, (capacity, *leaf.shape[1:]))), queue)
    count = n_lanes(n_channels)
    ints, floats = jnp.zeros(count, jnp.int32), jnp.zeros(count)
    table, grid = jnp.zeros((15, count)), jnp.zeros((n_channels, count))
    empty = jnp.full(count, RunStatus.CONVERGED, jnp.int32)
    lanes = _Lanes(ints, grid, grid, table, table, floats, ints, floats, ints, ints, empty, floats, table)
    lanes = jax.tree.map(jnp.copy, lanes)  # one buffer each: they are handed over to the program
    none = lambda dtype: jnp.zeros(capacity, dtype)  # noqa: E731
    status, steps, zero_error, zero_loss = (none(jnp.int32) for _ in range(4))
    outputs = jnp.zeros((capacity, 15))
    outcome = Outcome(jnp.zeros_like(padded.filters), status, steps, zero_error, zero_loss, none(float), outputs)
    waiting, left = jnp.int32(0), n_runs
    while left:
        lanes, outcome, waiting, remaining = _advance(lanes, outcome, padded, waiting, n_runs, max_steps, patience)
        left, before = int(remaining), left
        done(before - left)
    return jax.tree.map(lambda leaf: np.asarray(leaf)[:n_runs], outcome)
