"""What the engine asks of a method.

A method says how a run gets from one step to a later one. Looks, records, stopping, statuses, chunks, memory and
progress belong to the engine and are the same for all.
"""

import abc
import math
from collections.abc import Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, Int, PyTree

from widenet.losses import Loss
from widenet.training.engine.segment import Segment
from widenet.training.engine.state import State
from widenet.training.engine.validation import takes
from widenet.training.orders import Continued, Listed, Order
from widenet.training.schedules import StepRule
from widenet.types import Dataset, Layers

StepSize = float | Float[Array, "*run"] | StepRule
"""One number, one per run, or a rule."""
GivenStep = StepSize | Sequence[float]
"""The same as it may be said: a list is one number per run."""


@dataclass(frozen=True)
class Sizes:
    """What the memory of a step depends on.

    Attributes:
      item: bytes of one number.
      samples, dim: of the data set.
      batch: samples of a step.
      weights: bytes of one network.
      neurons: hidden neurons of one network.
    """

    item: int
    samples: int
    dim: int
    batch: int
    weights: int
    neurons: int


class Sampling(NamedTuple):
    """How the samples of a step are chosen, and how many there are; None is the whole set."""

    order: Order
    batch_size: int | None


class Trial(eqx.Module):
    """The steps by which a run that seems frozen is tried: if none of them changes a weight, none ever will.

    Attributes:
      order: None keeps that of the run.
      batch_size, steps: how many.
    """

    order: Order | None
    batch_size: int = eqx.field(static=True)
    steps: int = eqx.field(static=True)


class Method(eqx.Module):
    """A way to train. A new one writes what is abstract here; the engine does the rest.

    Numbers that may differ between runs are in `step_size` and in the order, which a method finds in the `Segment` of
    its run. Every other field is static.

    Attributes:
      step_size: a number, one per run, or a `StepRule`; what a step is to the method is its own matter.
    """

    step_size: eqx.AbstractVar[StepSize]

    @property
    @abc.abstractmethod
    def sampling(self) -> Sampling:
        """How a step gets its samples; `Sampling(Cyclic(), None)` where it sees them all."""

    @abc.abstractmethod
    def advance(self, state: State, segment: Segment) -> State:
        """One run after the steps of the segment."""

    @abc.abstractmethod
    def fitted(self, networks: Any, data: Dataset, layers: Layers, watch: Any) -> "Method":
        """The method as it will run on these networks; refuses what it cannot do."""

    @staticmethod
    @abc.abstractmethod
    def moves_left(network: Any, data: Dataset, *, loss: Loss, layers: Layers) -> Bool[Array, ""]:
        """Whether a step could still be an update, from weights that have rested."""

    @abc.abstractmethod
    def trial(self, n_samples: int) -> Trial:
        """The steps that decide whether a run whose updates have changed nothing is frozen."""

    @abc.abstractmethod
    def memory(self, sizes: Sizes) -> tuple[int, int]:
        """(bytes that a step of one run works with, bytes made of the data set before the steps)."""

    @property
    def in_turn(self) -> bool:
        """Whether runs of any size are trained one after the other on a CPU."""
        return False

    def init(self, network: Any) -> PyTree:
        """What the method keeps from step to step beside the weights of one run, before the first; None for nothing.

        `network` holds the weights that move, and None at those that stay.
        """
        return None

    def ended(self, own: PyTree) -> Int[Array, " run"] | None:
        """How the method itself has failed, as a `RunStatus` for each run of `own`, RUNNING while it has not; None for
        a method that cannot fail."""
        return None

    def report(self, own: PyTree) -> PyTree:
        """What a reader is told of the runs of `own` beside their weights and counters; None for nothing."""
        return None

    def batch(self, n_samples: int) -> int:
        """Samples per step on a set of this size."""
        return self.sampling.batch_size or n_samples

    def steps_per_epoch(self, n_samples: int) -> int:
        """How many steps an epoch has: 1 of the whole set."""
        return self.sampling.order.steps_per_epoch(n_samples, self.batch(n_samples))

    def look_interval(self, n_samples: int) -> int:
        """Steps between two looks unless told otherwise: whole epochs, at least 1000 steps; 100 of the whole set."""
        epoch = self.steps_per_epoch(n_samples)
        return 100 if self.sampling.batch_size is None else epoch * -(-1000 // epoch)

    def order_bytes(self, n_samples: int) -> int:
        """What drawing the order of an epoch needs: a permutation is sorted by random bits."""
        is_continued = isinstance(self.sampling.order, Continued)  # from one permutation to the next
        return 12 * (2 * n_samples if is_continued else self.steps_per_epoch(n_samples) * self.batch(n_samples))

    def check(self, data: Dataset, n_runs: int) -> None:
        """Whether step sizes, batches and listed samples fit this data and this many runs.

        Raises:
          ValueError: they do not; the sentence says what, and what would.
        """
        step_size: Any = self.step_size
        is_rule = isinstance(step_size, StepRule)
        for leaf in jax.tree.leaves(step_size):
            if np.shape(leaf) not in ((), (n_runs,)):
                what = "an array of a step rule" if is_rule else "step_size"
                table = "; a table of steps is a list or a tuple" if is_rule else ""
                raise ValueError(
                    f"{what} must be one number or one per run, got shape {np.shape(leaf)} for {n_runs} runs{table}"
                )
        if is_rule:
            check_step_rule(step_size, data.inputs.dtype)
        order, batch_size = self.sampling
        if isinstance(order, Listed):
            order.check(data.n_samples, self.batch(data.n_samples), n_runs)
        if batch_size is not None and not 0 < batch_size <= data.n_samples:
            raise ValueError(f"batch_size must lie between 1 and {data.n_samples} samples, got {batch_size}")


def keeps(method: Method) -> bool:
    """Whether the method keeps anything from step to step."""
    return type(method).init is not Method.init


def init(method: Method, networks: Any, layers: Layers) -> PyTree:
    """What the method keeps for each of these networks, which have a leading run axis."""
    if not keeps(method):
        return None

    def one(network: Any) -> PyTree:
        return method.init(eqx.partition(network, network.trainable(layers))[0])

    return jax.vmap(one)(networks)


def step_sizes(method: Method, n_runs: int) -> PyTree:
    """The step of every run, or its rule, with a leading run axis on every number."""
    return jax.tree.map(lambda leaf: jnp.broadcast_to(jnp.asarray(leaf, jnp.float64), (n_runs,)), method.step_size)


def without_runs(method: Method) -> Method:
    """The method without its numbers, which a `Segment` holds for each run: what a program is compiled for."""
    return eqx.filter(method, lambda _: False)


def check_step_size(step_size: Any, name: str = "step_size") -> None:
    """Whether this can be a step size at all.

    Raises:
      ValueError: it cannot.
    """
    # A single number was typed, and a wrong one is a mistake. One per run may hold anything: claims measure theirs.
    if isinstance(step_size, Tracer | StepRule):
        return
    if isinstance(step_size, Method):
        raise ValueError(f"a method is given by its name, Recipe(loss, method={step_size!r}, max_steps=…)")
    numbers = np.asarray(None if isinstance(step_size, list | tuple) else step_size)  # a list of numbers is none by now
    if numbers.dtype.kind not in "iuf":
        raise ValueError(f"{name} must be a number, one number per run, or a StepRule, got {step_size!r}")
    if numbers.ndim == 0 and not 0 < numbers < math.inf:
        raise ValueError(f"{name} must be positive and finite, got {step_size!r}")


def check_step_rule(rule: StepRule, dtype: Any) -> None:
    """Whether a rule gives one number, for a loss of this dtype; by shapes alone.

    Raises:
      ValueError: it does not.
    """
    for leaf in jax.tree.leaves(rule):
        if np.asarray(leaf).dtype.kind not in "biuf":
            raise ValueError(f"fields of a step rule must be numbers, or static, got {leaf!r} in {rule!r}")
    if not takes(rule, 2):
        raise ValueError(f"a step rule must take (log_loss, taken), but {type(rule).__name__} takes {signature(rule)}")
    number = jax.ShapeDtypeStruct((), jnp.float64)
    given = jax.tree.map(lambda _: number, rule), jax.ShapeDtypeStruct((), dtype), jax.ShapeDtypeStruct((), jnp.int32)
    size = jax.eval_shape(lambda rule, log_loss, taken: rule(log_loss, taken), *given)
    if getattr(size, "shape", None) != ():
        got = "None" if size is None else f"shape {size.shape}" if hasattr(size, "shape") else type(size).__name__
        raise ValueError(f"a step rule must give one number, the size of the next step, got {got}")


def check_order(order: Any) -> None:
    """Whether this is an order, and not its class or its name.

    Raises:
      ValueError: it is not.
    """
    if not hasattr(order, "steps_per_epoch") or isinstance(order, type):
        raise ValueError(f"order must be an order such as Permutation() or Cyclic(), got {order!r}")
