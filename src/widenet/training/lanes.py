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


class _Seats(eqx.Module):
    """Which run sits in each lane (the number of runs: none), and what stays as long as it sits there."""

    run: Int[Array, " lane"]
    weights: Float[Array, "15 lane"]
    margins: Float[Array, "15 lane"]
    units: Float[Array, " lane"]


class _Lanes(eqx.Module):
    """The runs in training, one per lane. Lanes are the last axis, the one that the processor works on side by side."""

    first: Float[Array, "channel lane"]
    second: Float[Array, "channel lane"]
    steps: Int[Array, " lane"]
    best: Float[Array, " lane"]
    best_step: Int[Array, " lane"]
    zero_error_step: Int[Array, " lane"]
    status: Int[Array, " lane"]
    loss: Float[Array, " lane"]
    outputs: Float[Array, "15 lane"]


def outputs_on_sets(
    first: Float[Array, "channel lane"], second: Float[Array, "channel lane"]
) -> Float[Array, "15 lane"]:
    """N on the 15 sets, from the two coordinates of the filters."""
    half = first.shape[0] // 2
    s, r = first + second, first - second
    across, along = jnp.abs(s), jnp.abs(r)
    alone = (s - along, r - across, -s - along, -r - across)
    shared = (jnp.minimum(s, r), jnp.minimum(-s, r), jnp.minimum(-s, -r), jnp.minimum(s, -r))
    positive = [jnp.maximum(part, 0.0) for part in (*alone, *shared)]
    return jnp.matmul(FEATURES, jnp.stack([jnp.sum(part[:half] - part[half:], axis=0) for part in positive]))


def moves(
    first: Float[Array, "channel lane"], second: Float[Array, "channel lane"], pull: Float[Array, "8 lane"]
) -> tuple[Float[Array, "channel lane"], Float[Array, "channel lane"]]:
    """The derivative of Σ_A (pull on A)·(response on A) with respect to s/2 and r/2, for every filter."""
    s, r = first + second, first - second
    right, up, along = s > 0, r > 0, jnp.abs(r)
    # At |s| = |r| the pattern with the larger first coordinate wins, as in the network.
    is_across = jnp.where(right, s >= along, -s > along)
    best = jnp.where(is_across, jnp.where(right, pull[0], pull[2]), jnp.where(up, pull[1], pull[3]))
    pair = jnp.where(right, jnp.where(up, pull[4], pull[7]), jnp.where(up, pull[5], pull[6]))
    other = pair - best
    in_s, in_r = jnp.where(is_across, best, other), jnp.where(is_across, other, best)
    # 0 at s = 0 or r = 0: the derivative of ReLU there.
    return _with_sign(in_s, right, s), _with_sign(in_r, up, r)


def _with_sign(value: Array, positive: Array, fit: Array) -> Array:
    return jnp.where(positive, value, jnp.where(fit < 0, -value, 0.0))


def _step(seats: _Seats, lanes: _Lanes, max_steps: Int[Array, ""], patience: Int[Array, ""]) -> _Lanes:
    """Look at every lane, then move those that do not stop here."""
    labels = SET_LABELS[:, None]
    outputs = outputs_on_sets(lanes.first, lanes.second)
    losses = jnp.maximum(seats.margins - labels * outputs, 0.0)
    loss = jnp.sum(seats.weights * losses, axis=0)
    best_step = jnp.where(loss < lanes.best, lanes.steps, lanes.best_step)
    right = jnp.all((seats.weights == 0) | (labels * outputs > 0), axis=0)
    finite = jnp.all(jnp.isfinite(outputs), axis=0)
    pull = jnp.matmul(FEATURES.T, jnp.where(losses > 0, labels * seats.weights, 0.0))
    # Without the barrier the compiler computes these few numbers again for every channel.
    pull = jax.lax.optimization_barrier(pull)

    # Whether every single weight stands still takes a pass over them: look only where it can matter. Weights that stood
    # still leave the outputs as they were; with a patience, one look later is soon enough.
    tired = (patience != NEVER) & (lanes.steps - best_step >= patience)
    spent = lanes.steps >= max_steps
    suspect = tired | spent | (patience == NEVER) | jnp.all(outputs == lanes.outputs, axis=0)
    still = jax.lax.cond(
        jnp.any(suspect & (lanes.status == RunStatus.RUNNING)),
        _stands_still,
        _may_move,
        lanes.first,
        lanes.second,
        pull,
    )
    status = jnp.select(
        [~finite, loss == 0, still, tired, spent],
        [
            jnp.int32(RunStatus.DIVERGED),
            jnp.int32(RunStatus.CONVERGED),
            jnp.int32(RunStatus.STALLED),
            jnp.int32(RunStatus.CONVERGED),
            jnp.int32(RunStatus.BUDGET_SPENT),
        ],
        jnp.int32(RunStatus.RUNNING),
    )
    # Weights that stand still always will: the steps that the rule still asks for are counted, not taken.
    idle = jnp.where(patience == NEVER, lanes.steps, jnp.minimum(best_step + patience, max_steps))
    runs = status == RunStatus.RUNNING
    step = jnp.where(runs, seats.units, 0.0)
    votes = jnp.where(jnp.arange(lanes.first.shape[0])[:, None] < lanes.first.shape[0] // 2, step, -step)
    in_s, in_r = moves(lanes.first, lanes.second, pull)
    return _Lanes(
        lanes.first + votes * (in_s + in_r),
        lanes.second + votes * (in_s - in_r),
        jnp.where(runs, lanes.steps + 1, jnp.where(finite & (still | (loss == 0)), idle, lanes.steps)),
        jnp.minimum(loss, lanes.best),
        best_step,
        jnp.where(right & (lanes.zero_error_step < 0), lanes.steps, lanes.zero_error_step),
        status,
        loss,
        outputs,
    )


def _stands_still(first: Array, second: Array, pull: Array) -> Bool[Array, " lane"]:
    in_s, in_r = moves(first, second, pull)
    return jnp.all((in_s == 0) & (in_r == 0), axis=0)


def _may_move(first: Array, second: Array, pull: Array) -> Bool[Array, " lane"]:
    return jnp.zeros(first.shape[1], bool)


def n_lanes(n_channels: int) -> int:
    """How many runs go side by side: a number of the shape alone, so that batch-mates change nothing."""
    if jax.default_backend() != "cpu":
        return 1024
    return 16 if n_channels >= 64 else 32


def _load(
    seats: _Seats, lanes: _Lanes, queue: Queue, waiting: Int[Array, ""], n_runs: Int[Array, ""]
) -> tuple[_Seats, _Lanes, Int[Array, ""]]:
    """Give every free lane the next run of the queue; past its end, a copy of the last one that nobody reads."""
    free = lanes.status != RunStatus.RUNNING
    ticket = waiting + jnp.cumsum(free, dtype=jnp.int32) - 1
    run = jnp.where(free, jnp.minimum(ticket, n_runs), seats.run)
    place = jnp.minimum(run, n_runs - 1)
    filters = jnp.moveaxis(queue.filters[place], 0, -1)
    nothing = jnp.zeros_like(lanes.steps)
    fresh = _Lanes(
        filters[:, 0],
        filters[:, 1],
        nothing,
        jnp.full_like(lanes.best, jnp.inf),
        nothing,
        nothing - 1,
        nothing + jnp.int32(RunStatus.RUNNING),
        lanes.loss,
        jnp.full_like(lanes.outputs, jnp.nan),
    )
    lanes = jax.tree.map(lambda new, old: jnp.where(free, new, old), fresh, lanes)
    seats = _Seats(run, queue.weights[place].T, queue.margins[place].T, queue.units[place])
    return seats, lanes, waiting + jnp.sum(free, dtype=jnp.int32)


def _collect(outcome: Outcome, seats: _Seats, lanes: _Lanes, n_runs: Int[Array, ""]) -> Outcome:
    """Write down the runs that have stopped."""
    # Past the end of all rows, so that the others are dropped: a GPU would take turns writing to one spare row.
    where = jnp.where(_has_stopped(seats, lanes, n_runs), seats.run, outcome.status.shape[0])
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


def _has_stopped(seats: _Seats, lanes: _Lanes, n_runs: Int[Array, ""]) -> Bool[Array, " lane"]:
    return (lanes.status != RunStatus.RUNNING) & (seats.run < n_runs)


@functools.partial(jax.jit, donate_argnums=(0, 1, 2))
def _advance(seats: _Seats, lanes: _Lanes, outcome: Outcome, queue: Queue, waiting, n_runs, max_steps, patience):
    """At most `SLICE` iterations of all lanes, handing out the runs of the queue; also, how many runs are left."""

    def left(waiting, seats, lanes):
        in_lanes = jnp.sum((lanes.status == RunStatus.RUNNING) & (seats.run < n_runs))
        return jnp.maximum(n_runs - waiting, 0) + in_lanes

    def goes_on(carry):
        ticks, waiting, seats, lanes, _ = carry
        return (ticks < SLICE) & (left(waiting, seats, lanes) > 0)

    def until_one_stops(carry):
        ticks, waiting, seats, lanes, outcome = carry
        seats, lanes, waiting = _load(seats, lanes, queue, waiting, n_runs)
        ticks, lanes = jax.lax.while_loop(
            lambda carry: (carry[0] < SLICE) & ~jnp.any(_has_stopped(seats, carry[1], n_runs)),
            lambda carry: (carry[0] + 1, _step(seats, carry[1], max_steps, patience)),
            (ticks, lanes),
        )
        return ticks, waiting, seats, lanes, _collect(outcome, seats, lanes, n_runs)

    carry = (jnp.int32(0), waiting, seats, lanes, outcome)
    _, waiting, seats, lanes, outcome = jax.lax.while_loop(goes_on, until_one_stops, carry)
    return seats, lanes, outcome, waiting, left(waiting, seats, lanes)


def train_queue(queue: Queue, max_steps: int, patience: int, done: Callable[[int], None]) -> Outcome:
    """Train the runs of one queue, on one core."""
    n_runs, n_channels, _ = queue.filters.shape
    # Queues of similar lengths share one compilation: the rest is filled up and never handed out.
    capacity = max(64, 1 << (n_runs - 1).bit_length())
    padded = jax.tree.map(lambda leaf: jnp.asarray(np.resize(leaf, (capacity, *leaf.shape[1:]))), queue)
    count = n_lanes(n_channels)
    whole, real = lambda: jnp.zeros(count, jnp.int32), lambda: jnp.zeros(count)
    table, grid = lambda: jnp.zeros((15, count)), lambda: jnp.zeros((n_channels, count))
    free = jnp.full(count, RunStatus.CONVERGED, jnp.int32)
    seats = _Seats(whole(), table(), table(), real())
    lanes = _Lanes(grid(), grid(), whole(), real(), whole(), whole(), free, real(), table())
    none = lambda dtype: jnp.zeros(capacity, dtype)  # noqa: E731
    status, steps, zero_error, zero_loss = (none(jnp.int32) for _ in range(4))
    outputs = jnp.zeros((capacity, 15))
    outcome = Outcome(jnp.zeros_like(padded.filters), status, steps, zero_error, zero_loss, none(float), outputs)
    waiting, left = jnp.int32(0), n_runs
    while left:
        seats, lanes, outcome, waiting, remaining = _advance(
            seats, lanes, outcome, padded, waiting, n_runs, max_steps, patience
        )
        left, before = int(remaining), left
        done(before - left)
    return jax.tree.map(lambda leaf: np.asarray(leaf)[:n_runs], outcome)
