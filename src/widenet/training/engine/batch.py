"""The runs of one chunk, advanced together from look to look until every one of them has stopped."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, PyTree

from widenet.losses import POSITIVE, SATURATING
from widenet.progress import Progress
from widenet.training.engine.evaluation import Evaluation, compiled_look, compiled_moves, compiled_observation, pulse
from widenet.training.engine.segment import Segment
from widenet.training.engine.state import State, Tally
from widenet.training.kernels.plain import seen_step
from widenet.training.methods.base import Method, init, records_inside, without_runs
from widenet.training.orders import IndexOrder
from widenet.training.recipe import Recipe
from widenet.training.record import MOST_RECORDED, OutputWatch, Record, Recording, check_fold
from widenet.training.stopping import never, zero_loss
from widenet.types import Dataset, RunKeys, RunStatus, Trajectory

SLICE = 1 << 16
"""Steps of one call of the compiled program. While a loop runs, XLA on a CPU may keep some 80 bytes for every iteration
until the whole program ends (it does so when several threads share its pool), so a call must not be endless."""

Paused = tuple[State, Int[Array, "*run"]]
"""A run between two segments, and the end of the last segment that changed a weight."""


class Batch:
    """The runs of one chunk: all of them (`everyone`) and the batch that still holds running ones (`state`)."""

    def __init__(
        self,
        recipe: Recipe,
        method: Method,
        one_by_one: bool,
        networks: Any,
        data: Dataset,
        keys: RunKeys,
        step_sizes: PyTree,
        budgets: Int[np.ndarray, " run"],
        watch: Any,
        order: IndexOrder,
    ):
        """`method` is that of the recipe, fitted. Every argument after `one_by_one` belongs to the chunk alone."""
        self.recipe, self.method, self.one_by_one = recipe, without_runs(method), one_by_one
        self.data, self.order, self.watch = data, order, watch
        self.keys, self.step_sizes, self.budgets = keys, step_sizes, np.array(budgets)
        self.n_runs = keys.shape[0]
        self.start = networks
        self.seats = np.arange(self.n_runs)  # which run sits at each place of the batch
        self.batch_size = method.batch(data.n_samples)
        self.segment = self._segment()
        # Slices end where epochs do, so that they cut no block in two.
        epoch = method.steps_per_epoch(data.n_samples)
        self.slice = epoch * (SLICE // epoch) if epoch <= SLICE else SLICE
        self.can_fail = type(method).ended is not Method.ended
        self.interval = recipe.check_every or method.look_interval(data.n_samples)
        tally, own = Tally.zero(self.n_runs), init(method, step_sizes, networks, recipe.layers)
        self.everyone = State(networks, tally, self._unwatched(State(networks, tally, None, own)), own)
        self.state = self.everyone
        # The end of the last segment that changed a weight. An update may be too small for the weights it is added to.
        self.last_change = jnp.zeros(self.n_runs, jnp.int32)
        self.status = np.zeros(self.n_runs, np.int32)
        self.steps = np.zeros(self.n_runs, np.int32)
        self.zero_loss_step = np.full(self.n_runs, -1, np.int32)
        self.loss = np.full(self.n_runs, np.nan)
        self.updates_before = np.full(self.n_runs, -1, np.int64)
        self.checked = np.zeros(self.n_runs, np.int32)

    @property
    def running(self) -> np.ndarray:
        """Which places of the current batch hold a run that has not stopped."""
        return self.status[self.seats] == RunStatus.RUNNING

    def train(self, record: Record, progress: Progress) -> Trajectory:
        """Advance from look to look until every run has stopped."""
        longest = int(self.budgets.max())
        interval, inside = self.interval, records_inside(self.method, record)
        times = np.asarray(record.times, np.int32)
        values: dict[str, np.ndarray] = {}
        step = 0
        if len(times) and times[0] == 0:
            self._take(record, values, times, 0)
        self._check(step, on_time=True)
        while self.running.any():
            due = times[times > step]
            end = int(self.budgets[self.seats[self.running]].min())
            target = min(end, (step // interval + 1) * interval)
            if inside:
                target = min(target, *due[MOST_RECORDED - 1 : MOST_RECORDED].tolist(), end)
                self._advance_recorded(record, values, times, step, target)
            else:
                target = min(target, *due[:1].tolist(), end)
                self._advance(step, target)
                if len(due) and due[0] == target:
                    self._take(record, values, times, int(np.searchsorted(times, target)))
            step = target
            if step % interval == 0 or step == end:
                self._check(step, on_time=step % interval == 0)
            progress(max(step / longest, 1 - self.running.sum() / self.n_runs), "training")
        self._settle()
        self._fill(record, values, times)
        tally = jax.device_get(self.everyone.tally)
        return Trajectory(
            network=self.everyone.network,
            status=self.status,
            steps=self.steps,
            updates=tally.updates,
            mistakes=tally.mistakes,
            last_update=tally.last_update,
            zero_loss_step=self.zero_loss_step,
            loss=self.loss,
            times=tuple(times.tolist()),
            records=values,
            watched=jax.tree.map(np.asarray, self.everyone.watched),
            report=jax.tree.map(np.asarray, self.method.report(self.everyone.own)),
        )

    def _advance(self, start: int, stop: int) -> None:
        advance, running = in_turn if self.one_by_one else together, self.running
        while start < stop:
            end = min(stop, (start // self.slice + 1) * self.slice)
            span = np.int32(start), np.int32(end)
            self.state, self.last_change = advance(
                self.method, self.state, self.last_change, self.segment, span, running
            )
            start = end

    def _advance_recorded(
        self, record: Record, values: dict[str, np.ndarray], times: np.ndarray, start: int, stop: int
    ) -> None:
        """The same, taking the record of all times on the way inside the program."""
        due = np.flatnonzero((times > start) & (times <= stop))
        if not len(due):
            return self._advance(start, stop)
        # Filled up with times that never come, so that few shapes are compiled.
        never_due = np.full((1 << (len(due) - 1).bit_length()) - len(due), 2**31 - 1, np.int32)
        recording = Recording(
            jnp.asarray(np.append(times[due], never_due)), self._seated(self.start), tuple(record.what.items())
        )
        shapes = self._observed_shapes(recording)
        shape = len(self.seats), len(recording.times)
        blank = {name: jnp.zeros((*shape, *one.shape[1:]), one.dtype) for name, one in shapes.items()}
        segment, self.segment = self.segment, dataclasses.replace(self.segment, recording=recording)
        self.state = dataclasses.replace(self.state, records=blank)
        self._advance(start, stop)
        records, self.segment = self.state.records, segment
        self.state = dataclasses.replace(self.state, records=None)
        for name, buffer in records.items():
            if name not in values:
                values[name] = np.zeros((self.n_runs, len(times), *buffer.shape[2:]), buffer.dtype)
            values[name][np.ix_(self.seats, due)] = np.asarray(buffer)[:, : len(due)]

    def _observed_shapes(self, recording: Recording) -> dict[str, jax.ShapeDtypeStruct]:
        """What each observation gives for the runs of the batch, without computing it."""
        steps = jax.ShapeDtypeStruct((len(self.seats),), jnp.int32)
        own = (self.state.network, recording.start, steps)
        programs = (self.data.is_per_run, self.one_by_one)
        return {
            name: jax.eval_shape(compiled_observation(fn, *programs), own, self.segment.data)
            for name, fn in recording.what
        }

    def _unwatched(self, state: State) -> PyTree:
        """The value of the watch before the first step."""
        if self.watch is None:
            return None
        if isinstance(self.watch, OutputWatch):
            return jax.vmap(lambda watch, network: watch.start(network))(self.watch, self.start)
        seen = jax.eval_shape(functools.partial(_over_runs, seen_step), state, self.segment)
        step = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype), seen)
        value = jax.vmap(lambda watch, network: watch.start(network))(self.watch, self.start)
        check_fold(self.watch, value, step)
        return value

    def _segment(self) -> Segment:
        """What the segments of the current batch have in common; their steps are given to the program."""
        return Segment(
            self._seated(self.data) if self.data.is_per_run else self.data,
            self._seated(self.order) if _is_per_run(self.order) else self.order,
            *self._seated((self.keys, self.step_sizes, self.watch)),
            start=np.zeros((), np.int32),
            stop=np.zeros((), np.int32),
            loss=self.recipe.loss,
            layers=self.recipe.layers,
            batch_size=self.batch_size,
        )

    def _seated(self, tree: Any) -> Any:
        """The part of a per-run tree that belongs to the current batch."""
        if len(self.seats) == self.n_runs:
            return tree
        return jax.tree.map(lambda leaf: leaf[self.seats], tree)

    def _check(self, step: int, on_time: bool) -> None:
        """Stop the runs that are done, stuck, broken or out of budget; look at the training set if that can matter.

        At zero loss no sample moves the weights. So where the goal is zero loss, or none, a run that has moved since
        its last check, has finite weights and steps left to take is left alone until it rests. A look is taken for the
        whole batch, but such a run must not notice one that a batch-mate needs, nor a check that is not `on_time`:
        that one is there for runs whose budget ends between two looks.
        """
        here, last_change = jax.device_get((pulse(self.state), self.last_change))
        spent = self.budgets[self.seats] == step
        asked = self.running & (spent | on_time)
        moved = here.updates != self.updates_before[self.seats]
        unchanged = (last_change <= self.checked[self.seats]) & (step > self.checked[self.seats])
        self.updates_before[self.seats[asked]] = here.updates[asked]
        self.checked[self.seats[asked]] = step
        failed = np.asarray(self.method.ended(self.state.own)) if self.can_fail else np.zeros_like(here.updates)
        resting = (~moved | unchanged) & (self.zero_loss_step[self.seats] < 0)
        goal = self.recipe.goal
        if goal is never or (goal is zero_loss and self.recipe.loss in SATURATING and step > 0):
            asked &= resting | spent | ~here.finite | (failed != RunStatus.RUNNING)
        if not asked.any():
            return
        programs = (self.data.is_per_run, self.one_by_one)
        look = compiled_look(self.recipe.loss, goal, *programs)
        seen: Evaluation = jax.device_get(look(self.state.network, self.segment.data))
        self.steps[self.seats[asked]], self.loss[self.seats[asked]] = step, seen.loss[asked]
        exact = here.last_update if self.recipe.loss in SATURATING else np.full_like(here.last_update, step)
        # A loss of NaN compares as 0: what is not finite has not reached anything.
        first = asked & seen.finite & seen.all_zero & (self.zero_loss_step[self.seats] < 0)
        self.zero_loss_step[self.seats[first]] = exact[first]
        self.status[self.seats[asked & ~seen.finite]] = RunStatus.DIVERGED
        reached = asked & seen.finite & seen.reached
        if self.recipe.after_goal:  # the first look at the goal shortens what is left of the budget, and no later one
            mine = self.seats[reached]
            last = min(step + self.recipe.after_goal, int(self.budgets.max()))
            self.budgets[mine] = np.minimum(self.budgets[mine], last)
            reached &= self.budgets[self.seats] == step
        self.status[self.seats[reached]] = RunStatus.CONVERGED
        left = asked & self.running
        self.status[self.seats[left]] = failed[left]  # RUNNING where the method has not failed
        left &= self.running
        still = left & ~seen.all_zero & ~moved
        if still.any():
            moves = compiled_moves(self.method.moves_left, self.recipe.loss, self.recipe.layers, *programs)
            still &= ~jax.device_get(moves(self.state.network, self.segment.data))
            self.status[self.seats[still]] = RunStatus.STALLED
        self._find_frozen(step, left & unchanged, moved, np.asarray(seen.all_zero))
        self.status[self.seats[self.running & spent]] = RunStatus.BUDGET_SPENT
        if not self.one_by_one and 0 < self.running.sum() <= len(self.seats) // 4:
            self._compact()

    def _find_frozen(self, step: int, suspects: np.ndarray, moved: np.ndarray, all_zero: np.ndarray) -> None:
        """Stop the runs among the suspects, whose weights have not changed since their last check, that never will.

        Either a loss that is never 0 has underflowed, or updates were counted and were too small for their weights.
        That every update so far was may be chance: the trial of the method decides.
        """
        underflowed = suspects & all_zero & ~moved & (self.recipe.loss in POSITIVE)
        self.status[self.seats[underflowed]] = RunStatus.FROZEN
        suspects = suspects & moved
        if not suspects.any():
            return
        trial = self.recipe.method.trial(self.data.n_samples)
        order = self.segment.order if trial.order is None else trial.order
        segment = dataclasses.replace(self.segment, order=order, batch_size=trial.batch_size)
        start = min(step, 2**31 - 1 - trial.steps)
        span = np.int32(start), np.int32(start + trial.steps)
        advance = in_turn if self.one_by_one else together
        _, changed = advance(self.method, self.state, self.last_change, segment, span, suspects)
        frozen = suspects & (np.asarray(changed) == np.asarray(self.last_change))
        self.status[self.seats[frozen]] = RunStatus.FROZEN

    def _compact(self) -> None:
        """Move the running runs to a smaller batch. Quarters only: every new shape is compiled once."""
        size = len(self.seats)
        while size // 4 >= self.running.sum():
            size //= 4
        self._settle()
        stopped_first = np.argsort(self.running, kind="stable")
        places = np.sort(stopped_first[-size:])
        self.state, self.last_change = jax.tree.map(lambda leaf: leaf[places], (self.state, self.last_change))
        self.seats = self.seats[places]
        self.segment = self._segment()

    def _settle(self) -> None:
        """Write the current batch back to its runs."""
        if len(self.seats) == self.n_runs:
            self.everyone = self.state
        else:
            self.everyone = jax.tree.map(lambda all_, some: all_.at[self.seats].set(some), self.everyone, self.state)

    def _take(self, record: Record, values: dict[str, np.ndarray], times: np.ndarray, index: int) -> None:
        """Take the record of this moment for the current batch."""
        networks, steps = (self.state.network, self._seated(self.start)), times[index]
        for name, value in self._observe(record, networks, self.segment.data, steps).items():
            if name not in values:
                values[name] = np.zeros((self.n_runs, len(times), *value.shape[1:]), value.dtype)
            values[name][self.seats, index] = value

    def _fill(self, record: Record, values: dict[str, np.ndarray], times: np.ndarray) -> None:
        """After the end, a run keeps its last values."""
        after = times[None, :] > self.steps[:, None]
        if not after.any():
            return
        run, time = np.nonzero(after)
        for name, value in self._observe(record, (self.everyone.network, self.start), self.data, self.steps).items():
            if name not in values:
                values[name] = np.zeros((self.n_runs, len(times), *value.shape[1:]), value.dtype)
            values[name][run, time] = value[run]

    def _observe(self, record: Record, networks: Any, data: Dataset, steps: Any) -> dict[str, np.ndarray]:
        steps = np.broadcast_to(np.asarray(steps, np.int32), jax.tree.leaves(networks)[0].shape[:1])
        return {
            name: np.asarray(compiled_observation(fn, data.is_per_run, self.one_by_one)((*networks, steps), data))
            for name, fn in record.what.items()
        }


def _is_per_run(order: IndexOrder) -> bool:
    """Whether every run has a list of its own."""
    return any(leaf.ndim == 2 for leaf in jax.tree.leaves(order))


def _parts(segment: Segment) -> tuple[Any, ...]:
    """What each run of a batch has for itself; data and order may be shared."""
    data = segment.data if segment.data.is_per_run else None
    order = segment.order if _is_per_run(segment.order) else None
    start = None if segment.recording is None else segment.recording.start
    return data, order, segment.key, segment.step_size, segment.watch, start


def _of_one(segment: Segment, parts: tuple[Any, ...]) -> Segment:
    """The segment of the run that has these parts."""
    data, order, key, step_size, watch, start = parts
    data, order = segment.data if data is None else data, segment.order if order is None else order
    recording = segment.recording
    recording = None if recording is None else dataclasses.replace(recording, start=start)
    own = {"key": key, "step_size": step_size, "watch": watch, "recording": recording}
    return dataclasses.replace(segment, data=data, order=order, **own)


def _over_runs(one: Callable[[Any, Segment], Any], own: Any, segment: Segment) -> Any:
    """A function of one run and its segment, side by side for all runs of a batch."""
    return jax.vmap(lambda own, parts: one(own, _of_one(segment, parts)))(own, _parts(segment))


def _advance_one(method: Method, place: Paused, segment: Segment) -> Paused:
    state, last_change = place
    after = method.advance(state, segment)
    pairs = zip(jax.tree.leaves(after.network), jax.tree.leaves(state.network), strict=True)
    changed = jnp.any(jnp.stack([jnp.any(new != old) for new, old in pairs]))
    return after, jnp.where(changed, segment.stop, last_change)


@jax.jit
def together(
    method: Method,
    state: State,
    last_change: Int[Array, " run"],
    segment: Segment,
    span: tuple[Int[Array, ""], Int[Array, ""]],
    running: Bool[Array, " run"],
) -> Paused:
    """The steps `span` of all runs of a batch as one program, side by side.

    What it is compiled for, beyond shapes, are the static fields of the method and the segment.
    """
    before, segment = (state, last_change), dataclasses.replace(segment, start=span[0], stop=span[1])
    after = _over_runs(functools.partial(_advance_one, method), before, segment)

    def keep(new: Array, old: Array) -> Array:
        return jnp.where(running.reshape(-1, *[1] * (new.ndim - 1)), new, old)

    return jax.tree.map(keep, after, before)


@jax.jit
def in_turn(
    method: Method,
    state: State,
    last_change: Int[Array, " run"],
    segment: Segment,
    span: tuple[Int[Array, ""], Int[Array, ""]],
    running: Bool[Array, " run"],
) -> Paused:
    """The same one run after the other, where one is large enough."""
    segment = dataclasses.replace(segment, start=span[0], stop=span[1])

    def turn(arguments: tuple[Paused, tuple[Any, ...], Array]) -> Paused:
        place, parts, active = arguments

        def go(place: Paused) -> Paused:
            return _advance_one(method, place, _of_one(segment, parts))

        return jax.lax.cond(active, go, lambda place: place, place)

    return jax.lax.map(turn, ((state, last_change), _parts(segment), running))
