"""What is observed, chosen before training.

A `Record` looks at the network at chosen times. A `Watch` looks at every step from inside the loop and folds what it
sees into one value, so a quantity can be checked at every step without storing any. Neither grows with the steps.
"""

import abc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import equinox as eqx
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree

from widenet.types import Dataset

Observation = Callable[[Any, Dataset], Array]
"""(network, training data of that run) → array."""


@dataclass(frozen=True)
class Record:
    """Observations at chosen step counts; 0 is before the first step.

    After a run has stopped, its last values are repeated.
    """

    times: tuple[int, ...] = ()
    what: Mapping[str, Observation] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Times must grow, so that a record can be taken in one pass."""
        if any(late <= early for early, late in zip(self.times, self.times[1:], strict=False)) or (
            self.times and self.times[0] < 0
        ):
            raise ValueError(f"record times must increase from 0 on, got {self.times}")

    def until(self, last: int) -> "Record":
        """The same without the times after `last`."""
        return Record(tuple(time for time in self.times if time <= last), self.what)


def every(interval: int, until: int) -> tuple[int, ...]:
    """0, interval, 2·interval, … up to and including `until` where it is a multiple."""
    return tuple(range(0, until + 1, interval))


def log_spaced(until: int, count: int) -> tuple[int, ...]:
    """0 and about `count` further times, evenly spaced in the logarithm, ending at `until`."""
    return (0, *(int(t) for t in np.unique(np.geomspace(1, until, count).round().astype(int))))


class Step(eqx.Module):
    """One step as a `Watch` sees it.

    Attributes:
      before, after: the network on both sides of the step.
      inputs, labels, outputs: the sampled batch and what the network said before the step.
      is_update: whether the update was not identically zero.
      number: the step count after this step, from 1.
    """

    before: PyTree
    after: PyTree
    inputs: Float[Array, "batch dim"]
    labels: Float[Array, " batch"]
    outputs: Float[Array, " batch *output"]
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
