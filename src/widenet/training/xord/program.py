"""The compiled program behind `train_patterns`: runs side by side in lanes, each step on all lanes at once.

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
from widenet.training.xord import cycles
from widenet.types import RunStatus

FEATURES = np.concatenate([PATTERN_SETS, PATTERN_SETS | np.roll(PATTERN_SETS, -1, axis=1)], axis=1).astype(float)
"""(set, feature): holds p_i (four columns), holds p_i or the next pattern of the circle p₁ p₂ p₃ p₄ (four columns)."""

NEVER = -1
"""The patience of someone who waits for an update that is exactly zero."""

SLICE = 20_000
"""Iterations of all lanes between two looks of the interpreter: often enough to see an interrupt."""


SMALLEST_QUEUE = 1024
"""Places in a queue, also where fewer runs wait: empty places cost memory alone, another length a compilation."""


class Queue(eqx.Module):
    """The runs that wait, in order."""

    filters: Float[Array | np.ndarray, "run channel 2"]
    weights: Float[Array | np.ndarray, "run 15"]
    margins: Float[Array | np.ndarray, "run 15"]
    units: Float[Array | np.ndarray, " run"]
    exact: Bool[Array | np.ndarray, " run"]


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
    exact: Bool[Array, " lane"]


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


def _listening_step(
    seats: _Seats, lanes: _Lanes, cycle: cycles.Cycle, seen: cycles.Seen, max_steps: Int[Array, ""], patience
) -> tuple[_Lanes, cycles.Seen]:
    """A step on all lanes, and what it tells about a leap."""
    moved = _step(seats, lanes, max_steps, patience)
    seen = cycles.listen(seen, jnp.sum((moved.outputs - lanes.outputs) * np.arange(1.0, 16.0)[:, None], axis=0))
    counts, labels = seats.weights > 0, SET_LABELS[:, None]
    unsolved = counts & (moved.zero_error_step < 0)

    def kept(outputs: Array) -> tuple[Array, Array]:
        slacks = seats.margins - labels * outputs
        signs = jnp.concatenate([jnp.where(counts, slacks, 1.0), jnp.where(unsolved, labels * outputs, 1.0)])
        return signs, jnp.sum(seats.weights * jnp.maximum(slacks, 0.0), axis=0)

    def see() -> tuple[Array, Array, Array]:
        shifted = outputs_on_sets(lanes.first + cycle.drift_first, lanes.second + cycle.drift_second)
        here, there = kept(moved.outputs), kept(shifted)
        return cycles.see(cycle, seen, lanes.first, lanes.second, (here[0], there[0]), (here[1], there[1]))

    known = (seen.limit, seen.lowest, seen.highest)
    known = jax.lax.cond(jnp.any(cycle.phase == cycles.CHECK), see, lambda: known)
    return moved, eqx.tree_at(lambda x: (x.limit, x.lowest, x.highest), seen, known)


def _rule(seats: _Seats, lanes: _Lanes, max_steps: Int[Array, ""], patience: Int[Array, ""]) -> cycles.LeapRule:
    by_loss = patience != NEVER
    allowed = (lanes.status == RunStatus.RUNNING) & seats.exact & (~by_loss | (lanes.loss < cycles.LARGEST))
    return cycles.LeapRule(allowed, by_loss, lanes.steps - lanes.best_step, max_steps - lanes.steps)


def _leap(
    seats: _Seats, lanes: _Lanes, cycle: cycles.Cycle, seen: cycles.Seen, max_steps: Int[Array, ""], patience
) -> tuple[_Lanes, cycles.Cycle, cycles.Seen]:
    """Where a cycle is over, leap over the copies that are certain."""
    rule, slope, length = _rule(seats, lanes, max_steps, patience), seen.highest, cycle.length
    first, second, copies, cycle, seen = cycles.leap(cycle, seen, lanes.first, lanes.second, rule)
    # Without a patience the best loss decides nothing.
    best = lanes.best + jnp.where(rule.by_loss & (copies > 0), copies * slope, 0.0)
    after = (first, second, lanes.steps + copies * length, best, lanes.best_step + copies * length)
    return eqx.tree_at(lambda x: (x.first, x.second, x.steps, x.best, x.best_step), lanes, after), cycle, seen


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
    seats = _Seats(run, queue.weights[place].T, queue.margins[place].T, queue.units[place], queue.exact[place])
    return seats, lanes, waiting + jnp.sum(free, dtype=jnp.int32)


def _collect(outcome: Outcome, seats: _Seats, lanes: _Lanes, n_runs: Int[Array, ""]) -> Outcome:
    """Write down the runs that have stopped."""
    # Past the end of all rows, so that the others are dropped: a GPU would take turns writing to one spare row.
    where = jnp.where(_has_stopped(seats, lanes, n_runs), seats.run, outcome.status.shape[0])
    # The loss sees the sets of its points alone: it may be finite where the output on another set is not.
    diverged = lanes.status == RunStatus.DIVERGED
    loss = jnp.where(diverged & jnp.isfinite(lanes.loss), jnp.nan, lanes.loss)
    seen = Outcome(
        jnp.stack([lanes.first, lanes.second], axis=-1).swapaxes(0, 1),
        lanes.status,
        lanes.steps,
        lanes.zero_error_step,
        jnp.where(loss == 0, lanes.best_step, -1),
        loss,
        lanes.outputs.T,
    )
    return jax.tree.map(lambda kept, new: kept.at[where].set(new, mode="drop"), outcome, seen)


def _has_stopped(seats: _Seats, lanes: _Lanes, n_runs: Int[Array, ""]) -> Bool[Array, " lane"]:
    return (lanes.status != RunStatus.RUNNING) & (seats.run < n_runs)


@functools.partial(jax.jit, donate_argnums=(0, 1, 3))
def _advance(
    seats: _Seats,
    lanes: _Lanes,
    known: tuple[cycles.Cycle, cycles.Seen] | None,
    outcome: Outcome,
    queue: Queue,
    waiting,
    n_runs,
    max_steps,
    patience,
):
    """At most `SLICE` iterations of all lanes, handing out the runs of the queue; also, how many runs are left.

    With what is `known` about cycles the lanes leap; without it every iteration is a step.
    """

    def left(waiting, seats, lanes):
        in_lanes = jnp.sum((lanes.status == RunStatus.RUNNING) & (seats.run < n_runs))
        return jnp.maximum(n_runs - waiting, 0) + in_lanes

    def goes_on(carry):
        ticks, waiting, seats, lanes, _, _ = carry
        return (ticks < SLICE) & (left(waiting, seats, lanes) > 0)

    def until_one_stops(carry):
        ticks, waiting, seats, lanes, known, outcome = carry
        free = lanes.status != RunStatus.RUNNING
        seats, lanes, waiting = _load(seats, lanes, queue, waiting, n_runs)

        def goes(ticks: Array, lanes: _Lanes) -> Array:
            return (ticks < SLICE) & ~jnp.any(_has_stopped(seats, lanes, n_runs))

        if known is None:
            ticks, lanes = jax.lax.while_loop(
                lambda carry: goes(*carry),
                lambda carry: (carry[0] + 1, _step(seats, carry[1], max_steps, patience)),
                (ticks, lanes),
            )
            return ticks, waiting, seats, lanes, None, _collect(outcome, seats, lanes, n_runs)

        def until_a_cycle_turns(carry):
            ticks, lanes, cycle, seen = carry

            def step(carry):
                ticks, lanes, seen, _ = carry
                lanes, seen = _listening_step(seats, lanes, cycle, seen, max_steps, patience)
                starts, over, _ = cycles.turns(cycle, seen, _rule(seats, lanes, max_steps, patience).allowed)
                return ticks + 1, lanes, seen, jnp.any(starts | over)

            ticks, lanes, seen, _ = jax.lax.while_loop(
                lambda carry: goes(*carry[:2]) & ~carry[3], step, (ticks, lanes, seen, jnp.bool_(False))
            )
            return ticks, *_leap(seats, lanes, cycle, seen, max_steps, patience)

        cycle, seen = cycles.forget(known[0], known[1], free)
        ticks, lanes, cycle, seen = jax.lax.while_loop(
            lambda carry: goes(*carry[:2]), until_a_cycle_turns, (ticks, lanes, cycle, seen)
        )
        return ticks, waiting, seats, lanes, (cycle, seen), _collect(outcome, seats, lanes, n_runs)

    carry = (jnp.int32(0), waiting, seats, lanes, known, outcome)
    ticks, waiting, seats, lanes, known, outcome = jax.lax.while_loop(goes_on, until_one_stops, carry)
    return seats, lanes, known, outcome, waiting, left(waiting, seats, lanes), ticks


def train_queue(
    queue: Queue, max_steps: int, patience: int, done: Callable[[int], None], leap: bool = False
) -> tuple[Outcome, int]:
    """Train the runs of one queue, on one core; also, the iterations of all lanes."""
    n_runs, n_channels, _ = queue.filters.shape
    # Queues of similar lengths share one compilation: the rest is filled up and never handed out.
    capacity = max(SMALLEST_QUEUE, 1 << (n_runs - 1).bit_length())
    padded = jax.tree.map(lambda leaf: jnp.asarray(np.resize(leaf, (capacity, *leaf.shape[1:]))), queue)
    count = n_lanes(n_channels)
    whole, real = lambda: jnp.zeros(count, jnp.int32), lambda: jnp.zeros(count)
    table, grid = lambda: jnp.zeros((15, count)), lambda: jnp.zeros((n_channels, count))
    free = jnp.full(count, RunStatus.CONVERGED, jnp.int32)
    seats = _Seats(whole(), table(), table(), real(), jnp.zeros(count, bool))
    lanes = _Lanes(grid(), grid(), whole(), real(), whole(), whole(), free, real(), table())
    known = cycles.nothing_known(n_channels, count) if leap else None
    status, steps, zero_error, zero_loss = (jnp.zeros(capacity, jnp.int32) for _ in range(4))
    outputs = jnp.zeros((capacity, 15))
    outcome = Outcome(
        jnp.zeros_like(padded.filters), status, steps, zero_error, zero_loss, jnp.zeros(capacity), outputs
    )
    waiting, left, iterations = jnp.int32(0), n_runs, 0
    while left:
        seats, lanes, known, outcome, waiting, remaining, ticks = _advance(
            seats, lanes, known, outcome, padded, waiting, n_runs, max_steps, patience
        )
        left, before, iterations = int(remaining), left, iterations + int(ticks)
        done(before - left)
    return jax.tree.map(lambda leaf: np.asarray(leaf)[:n_runs], outcome), iterations
