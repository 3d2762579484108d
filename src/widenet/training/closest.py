"""Inequalities that are checked at every step, inside the loop: how often broken, how close they came, and when."""

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PyTree

from widenet.networks import TwoLayer
from widenet.training.engine.validation import takes
from widenet.training.potentials import Move, Potentials
from widenet.training.record import Step

Pair = tuple[float | Array, float | Array]
"""(measured, promised), two numbers."""


class Found(eqx.Module):
    """What became of one inequality along a run.

    It is the same reckoning as that of `widenet.claims.sides.Sides`, done step by step and without storing the steps.

    Attributes:
      steps: how many steps were looked at.
      broken: at how many of them the inequality failed.
      undecided: at how many of them a side was not finite; these are neither kept nor broken.
      ratio: at the closest step, the smaller side over the larger one: 1 is attained, above 1 is broken, and 0 (or
        infinite, where it is broken) means that the sides lie on different sides of zero. −∞ before the first step.
      measured, promised: the two sides there.
      at: the number of that step, from 1; of several equally close ones the first.
    """

    steps: Int[Array, "*run"]
    broken: Int[Array, "*run"]
    undecided: Int[Array, "*run"]
    ratio: Float[Array, "*run"]
    measured: Float[Array, "*run"]
    promised: Float[Array, "*run"]
    at: Int[Array, "*run"]

    @classmethod
    def nothing(cls) -> "Found":
        """Before the first step."""
        none, nan = jnp.zeros((), jnp.int32), jnp.full((), jnp.nan)
        return cls(none, none, none, jnp.full((), -jnp.inf), nan, nan, none)

    def after(self, pair: Pair, number: Int[Array, ""], at_least: bool, room: float | int) -> "Found":
        """The same after one more step."""
        measured, promised = (jnp.asarray(side, jnp.float64) for side in pair)
        low, high = (promised, measured) if at_least else (measured, promised)  # the statement is low ≤ high
        decided = jnp.isfinite(low) & jnp.isfinite(high)
        broken = decided & (low - high > room * jnp.maximum(jnp.abs(low), jnp.abs(high)))
        ratio = _closeness(low, high, broken)
        closer = decided & (ratio > self.ratio)

        def pick(new: Array, old: Array) -> Array:
            return jnp.where(closer, new, old)

        return Found(
            self.steps + 1,
            self.broken + broken.astype(jnp.int32),
            self.undecided + (~decided).astype(jnp.int32),
            pick(ratio, self.ratio),
            pick(measured, self.measured),
            pick(promised, self.promised),
            pick(number.astype(jnp.int32), self.at),
        )


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        raise ValueError(f"at_least must be a tuple of names, got {value!r}; write ({value!r},)")
    return tuple(value)


class Closest(eqx.Module):
    """A watch that folds named inequalities over every step: `runs.watched[name]` is a `Found`.

    Attributes:
      sides: a `Step` → {name: (measured, promised)}, where every name says measured ≤ promised. With `given` it is
        called with both.
      given: what `sides` needs to know of the run; every array has a leading run axis.
      at_least: the names that say measured ≥ promised.
      room: what rounding may add, as a share of the larger side.
      follows: with these `sides` gets a `Move` at every non-zero update instead of a `Step` at every step; the exact
        kernels of SGD keep what is in it, so they need not be given up.
    """

    sides: Callable[..., Mapping[str, Pair]] = eqx.field(static=True)
    given: PyTree = None
    at_least: tuple[str, ...] = eqx.field(static=True, default=(), converter=_names)
    room: float | int = eqx.field(static=True, default=1e-12)
    follows: Potentials | None = None

    def __check_init__(self) -> None:
        """Mistakes that would otherwise surface deep inside a compiled program."""
        if not callable(self.sides):
            raise ValueError(f"sides must be a function of a Step, got {self.sides!r}")
        if not isinstance(self.room, float | int) or not 0 <= self.room < math.inf:
            raise ValueError(f"room must be a number from 0 on, got {self.room!r}")

    def begin(self, step: Step) -> dict[str, Found]:
        """The value before training; `step` has the shapes that the steps will have."""
        if not takes(self.sides, 1 if self.given is None else 2):
            taken = ("a Step" if self.follows is None else "a Move") + (
                "" if self.given is None else " and what is given"
            )
            raise ValueError(f"sides must take {taken}, but takes {inspect.signature(self.sides)}")
        pairs = jax.eval_shape(lambda step: self._pairs(self._seen(step, step.number)), step)
        if not isinstance(pairs, dict) or not pairs:
            raise ValueError(f"sides must give a dictionary of inequalities by name, got {pairs}")
        for name, pair in pairs.items():
            if not isinstance(pair, tuple) or [side.shape for side in pair] != [(), ()]:
                raise ValueError(f"sides must give (measured, promised), two numbers, for {name!r}, got {pair}")
        if unknown := sorted(set(self.at_least) - set(pairs)):
            raise ValueError(f"at_least must name inequalities of sides, {sorted(pairs)}, got {unknown}")
        return {name: Found.nothing() for name in pairs}

    def update(self, value: dict[str, Found], step: Step) -> dict[str, Found]:
        """The value after one more step."""
        after = self.fold(value, self._seen(step, updates_of(value) + 1))
        return after if self.follows is None else where(step.is_update, after, value)

    def fold(self, value: dict[str, Found], seen: Step | Move) -> dict[str, Found]:
        """The value after this step, or this update."""
        return {
            name: value[name].after(pair, seen.number, name in self.at_least, self.room)
            for name, pair in self._pairs(seen).items()
        }

    def _seen(self, step: Step, updates: Int[Array, ""]) -> Step | Move:
        """The step, or its potentials from the weights on both sides of it: what the kernels are tested against."""
        if self.follows is None:
            return step
        (square, alignment), before = self.follows.of(step.after), self.follows.of(step.before)
        gains = square - before[0], alignment - before[1]
        seen = step.labels, step.outputs, step.after.output_weights
        return Move(square, alignment, *gains, *seen, updates, step.number)

    def _pairs(self, seen: Step | Move) -> Mapping[str, Any]:
        return self.sides(seen) if self.given is None else self.sides(seen, self.given)


class Followed(eqx.Module):
    """Inside a kernel: the value of a watch that follows potentials, and the two scalars that travel with it."""

    value: dict[str, Found]
    square: Float[Array, ""]
    alignment: Float[Array, ""]

    def after(
        self,
        watch: Closest,
        gains: tuple[Array, Array],
        seen: tuple[Array, Array, Array],
        number: Array,
        happens: Bool[Array, ""],
    ) -> "Followed":
        """After one step; `seen` is (labels, outputs, output weights), `happens` whether it is an update."""
        square, alignment = self.square + gains[0], self.alignment + gains[1]
        move = Move(square, alignment, *gains, *seen, updates_of(self.value) + 1, number)
        return where(happens, Followed(watch.fold(self.value, move), square, alignment), self)


def potentials_of(watch: Any) -> Potentials | None:
    """What the watch follows, if it follows potentials."""
    return watch.follows if isinstance(watch, Closest) else None


def followed(watch: Any, network: TwoLayer, value: PyTree) -> PyTree:
    """What a kernel carries for this watch: where it follows potentials, those of these weights beside the value."""
    potentials = potentials_of(watch)
    return value if potentials is None else Followed(value, *potentials.of(network))


def value_of(watched: PyTree) -> PyTree:
    """What is left of `followed` when the kernel is done."""
    return watched.value if isinstance(watched, Followed) else watched


def updates_of(value: dict[str, Found]) -> Int[Array, ""]:
    """How many updates a watch that follows potentials has seen: every inequality has seen all of them."""
    return next(iter(value.values())).steps


def where(condition: Array, yes: PyTree, no: PyTree) -> PyTree:
    """One tree or the other."""
    return jax.tree.map(lambda new, old: jnp.where(condition, new, old), yes, no)


def _closeness(low: Array, high: Array, broken: Array) -> Array:
    """How close low ≤ high comes to failing, as `Found.ratio` has it."""
    ratio = jnp.where(high > 0, low / high, high / low)
    apart = jnp.sign(low) != jnp.sign(high)
    beyond = jnp.where(apart, jnp.inf, jnp.maximum(ratio, jnp.nextafter(1.0, 2.0)))
    within = jnp.where(low >= high, 1.0, jnp.where(apart, 0.0, jnp.clip(ratio, 0.0, 1.0)))
    return jnp.where(broken, beyond, within)
