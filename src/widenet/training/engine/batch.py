"""The runs of one chunk, advanced together from look to look until every one of them has stopped."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from widenet.losses import SATURATING, Loss
from widenet.training.engine.evaluation import Look, compiled_look, compiled_moves, compiled_observation, pulse
from widenet.training.engine.state import State, Tally
from widenet.training.kernels import KERNELS
from widenet.training.orders import Order
from widenet.training.recipe import Recipe
from widenet.training.record import Record
from widenet.training.stopping import never, zero_loss
from widenet.types import Dataset, Progress, RunKeys, RunStatus, Trajectory

SLICE = 1 << 16
"""Steps of one call of the compiled program. While a loop runs, XLA on a CPU may keep some 80 bytes for every iteration
until the whole program ends (it does so when several threads share its pool), so a call must not be endless."""


class Batch:
    """The runs of one chunk: all of them (`everyone`) and the batch that still holds running ones (`state`)."""

    def __init__(
        self,
        recipe: Recipe,
        kernel: str,
        one_by_one: bool,
        networks: Any,
        data: Dataset,
        keys: RunKeys,
        step_sizes: Float[Array, " run"],
        budgets: Int[np.ndarray, " run"],
        watch: Any,
        order: Order,
    ):
        """Every argument after `one_by_one` belongs to the chunk alone."""
        self.recipe, self.kernel, self.one_by_one = recipe, kernel, one_by_one
        self.data, self.order, self.watch = data, order, watch
        self.keys, self.step_sizes, self.budgets = keys, step_sizes, budgets
        self.n_runs = keys.shape[0]
        self.batch_size = recipe.batch_size or data.n_samples
        watched = None if watch is None else jax.vmap(lambda w, net: w.start(net))(watch, networks)
        self.everyone = State(networks, Tally.zero(self.n_runs), watched)
        self.state = self.everyone
        self.seats = np.arange(self.n_runs)  # which run sits at each place of the batch
        self.status = np.zeros(self.n_runs, np.int32)
        self.steps = np.zeros(self.n_runs, np.int32)
        self.zero_loss_step = np.full(self.n_runs, -1, np.int32)
        self.loss = np.full(self.n_runs, np.nan)
        self.updates_before = np.full(self.n_runs, -1, np.int64)

    @property
    def running(self) -> np.ndarray:
        """Which places of the current batch hold a run that has not stopped."""
        return self.status[self.seats] == RunStatus.RUNNING

    def train(self, record: Record, progress: Progress) -> Trajectory:
        """Advance from look to look until every run has stopped."""
        longest = int(self.budgets.max())
        interval = self.recipe.check_every or self._default_interval()
        times = np.asarray(record.times, np.int32)
        values: dict[str, np.ndarray] = {}
        step = 0
        if len(times) and times[0] == 0:
            self._take(record, values, times, 0)
        self._check(step, on_time=True)
        while self.running.any():
            due = times[times > step]
            end = int(self.budgets[self.seats[self.running]].min())
            target = min(end, (step // interval + 1) * interval, *due[:1].tolist())
            self._advance(step, target)
            step = target
            if len(due) and due[0] == step:
                self._take(record, values, times, int(np.searchsorted(times, step)))
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
        )

    def _default_interval(self) -> int:
        epoch = self.order.steps_per_epoch(self.data.n_samples, self.batch_size)
        return 100 if self.recipe.batch_size is None else epoch * -(-1000 // epoch)

    def _advance(self, start: int, stop: int) -> None:
        advance = compiled_advance(
            self.kernel,
            self.recipe.loss,
            self.recipe.layers,
            self.batch_size,
            self.data.is_per_run,
            any(leaf.ndim == 2 for leaf in jax.tree.leaves(self.order)),
            self.one_by_one,
        )
        order = self.order
        if len(self.seats) < self.n_runs:
            order = jax.tree.map(lambda leaf: leaf[self.seats] if leaf.ndim == 2 else leaf, order)
        # Slices end where epochs do, so that they cut no block in two.
        epoch = order.steps_per_epoch(self.data.n_samples, self.batch_size)
        span = epoch * (SLICE // epoch) if epoch <= SLICE else SLICE
        own = self._seated((self.keys, self.step_sizes, self.watch))
        data = self._seated_data
        while start < stop:
            end = min(stop, (start // span + 1) * span)
            self.state = advance(self.state, data, order, *own, self.running, np.int32(start), np.int32(end))
            start = end

    def _seated(self, tree: Any) -> Any:
        """The part of a per-run tree that belongs to the current batch."""
        if len(self.seats) == self.n_runs:
            return tree
        return jax.tree.map(lambda leaf: leaf[self.seats], tree)

    @property
    def _seated_data(self) -> Dataset:
        return self._seated(self.data) if self.data.is_per_run else self.data

    def _check(self, step: int, on_time: bool) -> None:
        """Stop the runs that are done, stuck, broken or out of budget; look at the training set if that can matter.

        At zero loss no sample moves the weights. So where the goal is zero loss, or none, a run that has moved since
        its last check, has finite weights and steps left to take is left alone until it rests. A look is taken for the
        whole batch, but such a run must not notice one that a batch-mate needs, nor a check that is not `on_time`:
        that one is there for runs whose budget ends between two looks.
        """
        here = jax.device_get(pulse(self.state))
        spent = self.budgets[self.seats] == step
        asked = self.running & (spent | on_time)
        moved = here.updates != self.updates_before[self.seats]
        self.updates_before[self.seats[asked]] = here.updates[asked]
        resting = ~moved & (self.zero_loss_step[self.seats] < 0)
        goal = self.recipe.goal
        if goal is never or (goal is zero_loss and self.recipe.loss in SATURATING and step > 0):
            asked &= resting | spent | ~here.finite
        if not asked.any():
            return
        programs = (self.data.is_per_run, self.one_by_one)
        look = compiled_look(self.recipe.loss, goal, *programs)
        seen: Look = jax.device_get(look(self.state.network, self._seated_data))
        self.steps[self.seats[asked]], self.loss[self.seats[asked]] = step, seen.loss[asked]
        exact = here.last_update if self.recipe.loss in SATURATING else np.full_like(here.last_update, step)
        # A loss of NaN compares as 0: what is not finite has not reached anything.
        first = asked & seen.finite & seen.all_zero & (self.zero_loss_step[self.seats] < 0)
        self.zero_loss_step[self.seats[first]] = exact[first]
        still = asked & seen.finite & ~seen.reached & ~seen.all_zero & ~moved
        self.status[self.seats[asked & ~seen.finite]] = RunStatus.DIVERGED
        self.status[self.seats[asked & seen.finite & seen.reached]] = RunStatus.CONVERGED
        if still.any():
            moves = compiled_moves(self.recipe.loss, self.recipe.layers, *programs)
            still &= ~jax.device_get(moves(self.state.network, self._seated_data))
            self.status[self.seats[still]] = RunStatus.STALLED
        self.status[self.seats[self.running & spent]] = RunStatus.BUDGET_SPENT
        if not self.one_by_one and 0 < self.running.sum() <= len(self.seats) // 4:
            self._compact()

    def _compact(self) -> None:
        """Move the running runs to a smaller batch. Quarters only: every new shape is compiled once."""
        size = len(self.seats)
        while size // 4 >= self.running.sum():
            size //= 4
        self._settle()
        stopped_first = np.argsort(self.running, kind="stable")
        places = np.sort(stopped_first[-size:])
        self.state = jax.tree.map(lambda leaf: leaf[places], self.state)
        self.seats = self.seats[places]

    def _settle(self) -> None:
        """Write the current batch back to its runs."""
        if len(self.seats) == self.n_runs:
            self.everyone = self.state
        else:
            self.everyone = jax.tree.map(lambda all_, some: all_.at[self.seats].set(some), self.everyone, self.state)

    def _take(self, record: Record, values: dict[str, np.ndarray], times: np.ndarray, index: int) -> None:
        """Take the record of this moment for the current batch."""
        for name, value in self._observe(record, self.state.network, self._seated_data).items():
            if name not in values:
                values[name] = np.zeros((self.n_runs, len(times), *value.shape[1:]), value.dtype)
            values[name][self.seats, index] = value

    def _fill(self, record: Record, values: dict[str, np.ndarray], times: np.ndarray) -> None:
        """After the end, a run keeps its last values."""
        after = times[None, :] > self.steps[:, None]
        if not after.any():
            return
        run, time = np.nonzero(after)
        for name, value in self._observe(record, self.everyone.network, self.data).items():
            if name not in values:
                values[name] = np.zeros((self.n_runs, len(times), *value.shape[1:]), value.dtype)
            values[name][run, time] = value[run]

    def _observe(self, record: Record, networks: Any, data: Dataset) -> dict[str, np.ndarray]:
        return {
            name: np.asarray(compiled_observation(fn, data.is_per_run, self.one_by_one)(networks, data))
            for name, fn in record.what.items()
        }


@functools.lru_cache(maxsize=128)
def compiled_advance(
    kernel: str, loss: Loss, layers: Any, batch_size: int, per_run: bool, order_per_run: bool, one_by_one: bool
) -> Any:
    """The steps of all runs of a batch as one program: side by side, or in turn where one run is large enough."""
    one = functools.partial(KERNELS[kernel], loss=loss, layers=layers, batch_size=batch_size)
    many = jax.vmap(one, in_axes=(0, 0 if per_run else None, 0 if order_per_run else None, 0, 0, 0, None, None))

    @jax.jit
    def together(state, data, order, keys, step_sizes, watch, running, start, stop):
        after = many(state, data, order, keys, step_sizes, watch, start, stop)
        keep = lambda new, old: jnp.where(running.reshape(-1, *[1] * (new.ndim - 1)), new, old)  # noqa: E731
        return jax.tree.map(keep, after, state)

    @jax.jit
    def in_turn(state, data, order, keys, step_sizes, watch, running, start, stop):
        def turn(arguments):
            state, own_data, own_order, key, step_size, own_watch, active = arguments
            own_data, own_order = own_data if per_run else data, own_order if order_per_run else order
            go = lambda state: one(state, own_data, own_order, key, step_size, own_watch, start, stop)  # noqa: E731
            return jax.lax.cond(active, go, lambda state: state, state)

        own_data, own_order = data if per_run else None, order if order_per_run else None
        return jax.lax.map(turn, (state, own_data, own_order, keys, step_sizes, watch, running))

    return in_turn if one_by_one else together
