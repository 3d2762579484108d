"""Runs so small that every number of a batch can be told beforehand."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from tests.training.problems import run_keys
from widenet.losses import hinge
from widenet.training import Cyclic, Recipe
from widenet.training.engine.batch import Batch
from widenet.training.engine.state import State, Tally
from widenet.training.methods.base import Method, Sampling, StallTest
from widenet.types import Dataset


class Line(eqx.Module):
    """x ↦ height · x: its margin on the only sample is its height.

    Attributes:
      height: where it is.
      counts: 0 if its steps are no updates, 1 if those that move it are, 2 if all are.
      rests: the first and the last step in which it does not move.
    """

    height: Any
    counts: Any
    rests: Any

    def __call__(self, x):
        return self.height * x[0]

    def trainable(self, layers):
        return Line(True, False, False)


class Climb(Method):
    """One step adds η, until the height is 1."""

    step_size: Any

    @property
    def sampling(self):
        return Sampling(Cyclic(), None)

    def advance(self, state, segment):
        line, start, stop, step = state.network, segment.start, segment.stop, segment.constant_step
        first, last = line.rests[0], line.rests[1]
        rested = jnp.maximum(0, jnp.minimum(stop, last) - jnp.maximum(start, first))
        taken = (stop - start - rested).astype(jnp.float64)
        left = jnp.ceil(jnp.maximum(1 - line.height, 0) / jnp.where(step > 0, step, jnp.inf))
        taken = jnp.where(line.height > 1e3, 0.0, jnp.minimum(taken, left))
        height = line.height + jnp.where(taken > 0, taken * step, 0.0)
        counted = jnp.where(line.counts > 1, stop - start, jnp.where(line.counts > 0, taken.astype(jnp.int32), 0))
        updates = state.tally.updates + counted
        last_update = jnp.where(counted > 0, start + counted, state.tally.last_update).astype(jnp.int32)
        tally = Tally(updates, state.tally.mistakes, last_update)
        return State(Line(height, line.counts, line.rests), tally, None, state.own)

    def fitted(self, networks, data, loss, layers, watch, dense=False):
        return self

    @staticmethod
    def moves_left(network, data, *, loss, layers):
        return network.counts > 0

    def trial(self, n_samples):
        return StallTest(None, 1, 7)

    def memory(self, sizes):
        return 0, 0


class Bursting(Climb):
    """Its height is no number once more than 15 steps are taken."""

    def advance(self, state, segment):
        after = super().advance(state, segment)
        height = jnp.where(segment.stop > 15, jnp.nan, after.network.height)
        return eqx.tree_at(lambda state: state.network.height, after, height)


def batch(
    heights,
    steps,
    budgets,
    *,
    loss=hinge,
    counts: Any = 1,
    rests: Any = (0, 0),
    method=Climb,
    one_by_one=False,
    watch=None,
    **rule,
):
    """One line per height on the sample x = 1 with the label +1, looked at every ten steps unless told otherwise."""
    n_runs = len(heights)
    lines = Line(
        jnp.asarray(heights, jnp.float64),
        jnp.broadcast_to(jnp.asarray(counts, jnp.int32), (n_runs,)),
        jnp.broadcast_to(jnp.asarray(rests, jnp.int32), (n_runs, 2)),
    )
    sizes = jnp.asarray(steps, jnp.float64)
    recipe = Recipe(loss, method=method(sizes), max_steps=max(budgets), **{"check_every": 10, **rule})
    data = Dataset(jnp.ones((1, 1)), jnp.ones(1))
    return Batch(
        recipe,
        recipe.method,
        one_by_one,
        lines,
        data,
        run_keys(n_runs),
        sizes,
        np.array(budgets, np.int32),
        watch,
        Cyclic(),
    )
