"""What is observed, chosen before training.

A `Record` computes quantities at chosen step counts and stores them. A `Watch` folds every step into one value, so a
quantity can be checked at every step without storing any.
"""

import abc
import functools
import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree

from widenet.training.engine.validation import in_jax, takes, whole
from widenet.types import Dataset


class Snapshot(eqx.Module):
    """A run at one moment, as an observation sees it.

    Attributes:
      network: the network as it is.
      start: the network before the first step.
      data: the training data of the run.
      step: how many steps lie behind it.
    """

    network: PyTree
    start: PyTree
    data: Dataset
    step: Int[Array, ""]


FEW = 32
"""So many times or fewer are recorded between two calls of the compiled program, which then need not be compiled for
what is observed."""
CLOSE = 16
"""Steps between two times, on average, up to which they are recorded from inside the loop."""
MOST_RECORDED = 1024
"""Times that are recorded in one call of the compiled program, which holds them all until it ends."""

Observation = Callable[[Snapshot], Array]
"""What is seen of a run: one array, or one number."""


@dataclass(frozen=True)
class Record:
    """Observations at chosen step counts; 0 is before the first step.

    After a run has stopped, its last values are repeated. Times past the budget are left out, and training refuses a
    record of which no time is left.

    Attributes:
      times: whole numbers in a sequence or an array; kept as a tuple.
      what: the observations by name. Each gives one array, or one number.
    """

    times: Sequence[int] | np.ndarray | Array = ()
    what: Mapping[str, Observation] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Times must grow, so that a record can be taken in one pass."""
        if not isinstance(self.what, Mapping) or not all(callable(each) for each in self.what.values()):
            raise ValueError(f"what must be observations by name, {{'norm': a function}}, got {self.what!r}")
        times = _times(self.times)
        if any(late <= early for early, late in itertools.pairwise(times)) or (times and times[0] < 0):
            raise ValueError(f"record times must increase from 0 on, got {times}")
        if self.what and not times:
            raise ValueError(f"a record of {', '.join(self.what)} needs at least one time, got none; 0 is the start")
        object.__setattr__(self, "times", times)

    def __repr__(self) -> str:
        times = tuple(self.times)
        shown = f"({times[0]}, {times[1]}, …, {times[-1]})" if len(times) > FEW else f"{times}"
        return f"Record(times={shown}, what={self.what!r})"

    @property
    def is_dense(self) -> bool:
        """Whether there are so many times, so close together, that they are better recorded from inside the loop."""
        times = tuple(self.times)
        return bool(self.what) and len(times) > FEW and int(times[-1]) - int(times[0]) <= CLOSE * len(times)

    def until(self, last: int) -> "Record":
        """The same without the times after `last`."""
        times = tuple(time for time in self.times if time <= last)
        if self.what and not times:
            raise ValueError(f"record times must start within the budget of {last} steps, got {self.times[0]} first")
        return Record(times, self.what)


class Recording(eqx.Module):
    """A stretch of a `Record` that is taken inside the loop, without leaving the compiled program.

    Attributes:
      times: step counts, increasing.
      start: the network of the run before its first step.
      what: (name, observation) pairs.
    """

    times: Int[Array, " time"]
    start: PyTree
    what: tuple[tuple[str, Observation], ...] = eqx.field(static=True)

    def after(self, records: dict[str, Array], network: Any, data: Dataset, step: Int[Array, ""]) -> dict[str, Array]:
        """The records after this step, which is recorded if it is one of the times.

        All runs of a batch are at the same step, so the place to write to is the same for all, and writing is in place.
        """
        place = jnp.sum(self.times < step).astype(jnp.int32)
        place = jnp.minimum(place, self.times.shape[0] - 1)
        due = self.times[place] == step
        after = {}
        for name, observation in self.what:
            old = jax.lax.dynamic_index_in_dim(records[name], place, keepdims=False)

            def see(old: Array, observation: Observation = observation) -> Array:
                return jnp.asarray(observation(Snapshot(network, self.start, data, step)), old.dtype)

            row = jax.lax.cond(due, see, lambda old: old, old)
            after[name] = jax.lax.dynamic_update_index_in_dim(records[name], row, place, 0)
        return after


def _observed(name: str, observation: Observation, network: Any, data: Dataset, step: Int[Array, ""]) -> Any:
    seen = observation(Snapshot(network, network, data, step))
    if not isinstance(seen, jax.Array | np.ndarray | np.generic | float | int):
        raise ValueError(
            f"an observation must return one array or number, got {_what(seen)} from {name!r}; give each array a name"
        )
    return jnp.asarray(seen)


def _what(seen: Any) -> str:
    return f"the text {seen!r}" if isinstance(seen, str) else type(seen).__name__


def seen_shapes(record: Record, network: Any, data: Dataset) -> list[jax.ShapeDtypeStruct]:
    """What each observation gives for one run, without computing it; refuses all but one array."""
    step = jax.ShapeDtypeStruct((), np.int32)
    shapes = []
    for name, observation in record.what.items():
        if not takes(observation, 1):
            raise ValueError(
                f"an observation takes one Snapshot, with fields network, start, data and step; {name!r} takes"
                f" {inspect.signature(observation)}"
            )
        with in_jax(f"observation {name!r}"):
            shapes.append(jax.eval_shape(functools.partial(_observed, name, observation), network, data, step))
    return shapes


class Step(eqx.Module):
    """One step as a `Watch` sees it.

    Attributes:
      before, after: the network on both sides of the step.
      inputs, labels, outputs: the batch and what the network said of it before the step.
      gradient: of the mean loss of the batch before the step; None at weights that stay.
      step_size: the step that was used.
      is_update: whether the update was not identically zero.
      number: the step count after this step, from 1.
    """

    before: PyTree
    after: PyTree
    inputs: Float[Array, "batch dim"]
    labels: Float[Array, " batch"]
    outputs: Float[Array, " batch *output"]
    gradient: PyTree
    step_size: Float[Array, ""]
    is_update: Bool[Array, ""]
    number: Int[Array, ""]


class Watch(Protocol):
    """Folds every step into one value. An `equinox.Module`; array fields have a leading run axis."""

    def start(self, network: Any) -> PyTree:
        """The value before training."""
        ...

    def update(self, value: PyTree, step: Step) -> PyTree:
        """The value after one more step."""
        ...


class OutputWatch(eqx.Module):
    """A watch that needs the output weights alone: kernels that keep no hidden weights between steps can serve it.

    The same weights may be shown once or many times in a row, so what `fold` keeps must not depend on how often: a
    minimum or a maximum, not a count. A `Watch` sees every step exactly once.
    """

    @abc.abstractmethod
    def start(self, network: Any) -> PyTree:
        """The value before training."""

    @abc.abstractmethod
    def fold(self, value: PyTree, output_weights: Float[Array, " neuron"]) -> PyTree:
        """The value after a step that left these output weights."""

    def update(self, value: PyTree, step: Step) -> PyTree:
        """The same, from a whole step."""
        return self.fold(value, step.after.output_weights)


def check_fold(watch: Any, value: PyTree, step: Step) -> None:
    """Whether `update` keeps the form of a value that has a leading run axis; `step` holds the shapes of one step.

    Raises:
      ValueError: it does not.
    """
    watch, before = jax.tree.map(_of_one_run, (watch, value))
    after = jax.eval_shape(lambda watch, value, step: watch.update(value, step), watch, before, step)
    if jax.tree.structure(before) == jax.tree.structure(after) and _shapes(before) == _shapes(after):
        return
    raise ValueError(
        f"update of a watch must return a value of the form that start gives, {_form(before)}, got {_form(after)}"
    )


def _of_one_run(leaf: Any) -> jax.ShapeDtypeStruct:
    weak = getattr(leaf, "weak_type", False)  # from a start of 0, to which a float may be added
    return jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype, weak_type=weak)


def _shapes(tree: PyTree) -> list[tuple[int, ...]]:
    return [leaf.shape for leaf in jax.tree.leaves(tree)]


def _form(tree: PyTree) -> Any:
    return jax.tree.map(lambda leaf: f"{leaf.dtype}{list(leaf.shape)}", tree)


def _times(values: Any) -> tuple[int, ...]:
    """Whole numbers, 1e3 among them, from whatever holds them."""
    try:
        numbers = np.asarray(values)
    except ValueError:  # lists of several lengths
        numbers = np.asarray(None)
    if numbers.ndim != 1:
        raise ValueError(f"record times must be a list of whole numbers, got {values!r}; range(0, 101, 10) makes one")
    return tuple(whole("a record time", value) for value in numbers.tolist())
