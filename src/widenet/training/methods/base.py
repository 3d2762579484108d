"""Methods: how a run gets from one step to the next.

Looks, records, stopping, statuses, chunks, memory and progress belong to the engine and are the same for all methods.
"""

import dataclasses
import math
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
from widenet.training.engine.evaluation import any_sample_moves
from widenet.training.engine.segment import Segment
from widenet.training.engine.state import State
from widenet.training.engine.validation import in_jax, takes
from widenet.training.kernels import plain
from widenet.training.orders import Cyclic, IndexOrder, Listed
from widenet.training.record import Record
from widenet.training.schedules import StepRule
from widenet.types import Dataset, Layers

StepSize = float | Float[Array, "*run"] | StepRule
"""One number, one per run, or a rule."""


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

    order: IndexOrder
    batch_size: int | None


class StallTest(eqx.Module):
    """The steps by which a run that seems frozen is tried: if none of them changes a weight, none ever will.

    Attributes:
      order: None keeps that of the run.
      batch_size, steps: how many.
    """

    order: IndexOrder | None
    batch_size: int = eqx.field(static=True)
    steps: int = eqx.field(static=True)


class Method(eqx.Module):
    """A way to train. A method of your own writes `step`, and `init` if it keeps anything from step to step:

        class Momentum(Method):
            step_size: float
            decay: float = 0.9

            def init(self, weights):
                return jax.tree.map(jnp.zeros_like, weights)

            def step(self, gradient, kept, now):
                kept = jax.tree.map(lambda v, g: self.decay * v - self.step_size * g, kept, gradient)
                return kept, kept

    A field that is a number may be an array with one number per run, and a run sees its own. Any other field is static
    (`equinox.field(static=True)`). Fields named `order` and `batch_size` say how a step gets its samples; without them
    it gets them all.
    """

    def __check_init__(self) -> None:
        """A method without a step would fail deep inside a compiled program."""
        if type(self).step is Method.step and type(self).advance is Method.advance:
            name = type(self).__name__
            raise ValueError(f"{name} has no step; write step(self, gradient, kept, now) → (change, kept)")

    def init(self, weights: PyTree) -> PyTree:
        """What the method keeps from step to step beside the weights of one run, before the first; None for nothing.

        `weights` is the network with the weights that move, and None at those that stay.
        """
        return None

    def step(self, gradient: PyTree, kept: PyTree, now: plain.Now) -> tuple[PyTree, PyTree]:
        """(what is added to the weights, what is kept for the next step).

        `gradient` is that of the mean loss of the batch, `now` has the `weights`, the `log_loss` of the batch and the
        number of steps `taken`.
        """
        raise NotImplementedError

    # Everything below has an answer that is right for any step; built-in methods override it to be faster.

    @property
    def sampling(self) -> Sampling:
        """How a step gets its samples: by the fields `order` and `batch_size`, or all of them."""
        whole = not hasattr(self, "batch_size") and not hasattr(self, "order")
        return Sampling(getattr(self, "order", Cyclic()), getattr(self, "batch_size", None if whole else 1))

    @property
    def numbers(self) -> PyTree:
        """What may differ between runs. A `Segment` has it as `step_size`; here it is the method, without its order."""
        return jax.tree.map(
            lambda leaf: None if isinstance(leaf, IndexOrder) else leaf,
            self,
            is_leaf=lambda leaf: isinstance(leaf, IndexOrder),
        )

    def advance(self, state: State, segment: Segment) -> State:
        """One run after the steps of the segment."""
        dtype = segment.data.inputs.dtype
        own: Method = jax.tree.map(lambda number: number.astype(dtype), segment.step_size)

        def change(gradient: PyTree, kept: PyTree, now: plain.Now) -> tuple[PyTree, PyTree]:
            with jax.numpy_dtype_promotion("standard"):
                return own.step(gradient, kept, now)

        return plain.advance(state, dataclasses.replace(segment, step_size=own), change)

    def fitted(
        self, networks: Any, data: Dataset, loss: Loss, layers: Layers, watch: Any, dense: bool = False
    ) -> "Method":
        """The method as it will run on these networks; refuses what it cannot do. `dense` says that almost every step
        is recorded."""
        if type(self).step is not Method.step:
            check_step(self, networks, data, layers)
        return self

    @property
    def records_inside(self) -> bool:
        """Whether steps are taken by `plain.take_step`, which can record them without leaving the program."""
        return True

    @staticmethod
    def moves_left(network: Any, data: Dataset, *, loss: Loss, layers: Layers) -> Bool[Array, ""]:
        """Whether a step could still be an update, from weights that have rested: whether a sample has a gradient."""
        return any_sample_moves(network, data, loss=loss, layers=layers)

    def trial(self, n_samples: int) -> StallTest:
        """The steps that decide whether a run whose updates have changed nothing is frozen: one more epoch."""
        return StallTest(None, self.batch(n_samples), self.steps_per_epoch(n_samples))

    def memory(self, sizes: Sizes) -> tuple[int, int]:
        """(bytes that a step of one run works with, bytes made of the data set before the steps)."""
        return 5 * sizes.weights + sizes.item * sizes.batch * (sizes.dim + 4 * sizes.neurons), 0

    @property
    def in_turn(self) -> bool:
        """Whether runs of any size are trained one after the other on a CPU."""
        return False

    def ended(self, own: PyTree) -> Int[Array, " run"] | None:
        """How the method itself has failed, as a `RunStatus` for each run of `own`, RUNNING while it has not; None for
        a method that cannot fail."""
        return None

    def report(self, own: PyTree) -> PyTree:
        """What `Trajectory.report` holds of the runs of `own`; None for nothing."""
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
        return 12 * self.steps_per_epoch(n_samples) * self.batch(n_samples)

    def check(self, data: Dataset, n_runs: int) -> None:
        """Whether step sizes, batches and listed samples fit this data and this many runs.

        Raises:
          ValueError: they do not; the sentence says what, and what would.
        """
        numbers: Any = self.numbers
        is_rule, is_own = isinstance(numbers, StepRule), isinstance(numbers, Method)
        what = "an array of a step rule" if is_rule else f"a number of {type(self).__name__}" if is_own else "step_size"
        for leaf in jax.tree.leaves(numbers):
            if not is_rule and np.asarray(leaf).dtype.kind not in "biuf":
                raise ValueError(
                    f"fields of {type(self).__name__} must be numbers, one or one per run, or static"
                    f" (equinox.field(static=True)), got {leaf!r}"
                )
            if np.shape(leaf) not in ((), (n_runs,)):
                table = "; a table of steps is a list or a tuple" if is_rule else ""
                raise ValueError(
                    f"{what} must be one number or one per run, got shape {np.shape(leaf)} for {n_runs} runs{table}"
                )
        rule = getattr(self, "step_size", None)
        if isinstance(rule, StepRule):
            check_step_rule(rule, data.inputs.dtype)
        order, batch_size = self.sampling
        check_order(order)
        if isinstance(order, Listed):
            order.check(data.n_samples, self.batch(data.n_samples), n_runs)
        if batch_size is not None and not 0 < batch_size <= data.n_samples:
            raise ValueError(f"batch_size must lie between 1 and {data.n_samples} samples, got {batch_size}")


def records_inside(method: Method, record: Record) -> bool:
    """Whether this record is taken inside the loop."""
    return record.is_dense and method.records_inside


def keeps(method: Method) -> bool:
    """Whether the method keeps anything from step to step."""
    return type(method).init is not Method.init


def init(method: Method, numbers: PyTree, networks: Any, layers: Layers) -> PyTree:
    """What the method keeps for each of these networks, which have a leading run axis as their `numbers` have."""
    if not keeps(method):
        return None

    def one(own: Any, network: Any) -> PyTree:
        own = own if isinstance(own, Method) else method
        return own.init(eqx.partition(network, network.trainable(layers))[0])

    return jax.vmap(one)(numbers, networks)


def numbers_of_runs(method: Method, n_runs: int) -> PyTree:
    """The numbers of every run, or its rule, with a leading run axis."""
    return jax.tree.map(lambda leaf: jnp.broadcast_to(jnp.asarray(leaf, jnp.float64), (n_runs,)), method.numbers)


def without_runs(method: Method) -> Method:
    """The method without its numbers, which a `Segment` holds for each run: what a program is compiled for."""
    return eqx.filter(method, lambda _: False)


def check_step(method: Method, networks: Any, data: Dataset, layers: Layers) -> None:
    """Whether `init` and `step` of a method fit together and fit these networks; by shapes alone.

    Raises:
      ValueError: they do not.
    """
    name, n_runs = type(method).__name__, jax.tree.leaves(networks)[0].shape[0]

    def one(own: Any, network: Any, outputs: Array, labels: Array) -> Any:
        own = own if isinstance(own, Method) else method
        weights = eqx.partition(network, network.trainable(layers))[0]
        kept = own.init(weights)
        now = plain.Now(weights, outputs, labels, jnp.zeros((), jnp.int32), lambda outputs, labels: labels)
        with jax.numpy_dtype_promotion("standard"):
            found = own.step(weights, kept, now)
        if not isinstance(found, tuple) or len(found) != 2:
            raise ValueError(f"step of {name} must return a pair (change, kept), got {type(found).__name__}")
        for what, tree, like in (("change", found[0], weights), ("kept", found[1], kept)):
            if _form(tree) != _form(like):
                of = "the weights" if what == "change" else "what init returns"
                raise ValueError(f"{what} of {name}.step must have the form of {of}, {_form(like)}, got {_form(tree)}")
        return jnp.zeros(())

    n, answers = method.batch(data.n_samples), getattr(networks, "n_outputs", None)
    outputs = jax.ShapeDtypeStruct((n,) if answers is None else (n, answers), data.inputs.dtype)
    labels = jax.ShapeDtypeStruct((n,), data.inputs.dtype)
    numbers = jax.eval_shape(lambda: numbers_of_runs(method, n_runs))
    own, network = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype), (numbers, networks))
    with in_jax(f"step of {name}"):
        jax.eval_shape(one, own, network, outputs, labels)


def _form(tree: Any) -> tuple[Any, ...]:
    """Its leaves: shapes, or what else they are. (Trees of one form may differ in what they are called.)"""
    return tuple(
        tuple(leaf.shape) if hasattr(leaf, "shape") else () if isinstance(leaf, int | float) else repr(leaf)
        for leaf in jax.tree.leaves(tree)
    )


def check_step_size(step_size: Any, name: str = "step_size") -> None:
    """Whether this can be a step size at all.

    Raises:
      ValueError: it cannot.
    """
    # A single number was typed, and a wrong one is a mistake. One per run may hold anything: claims measure theirs.
    if isinstance(step_size, Tracer | StepRule):
        return
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
    with in_jax("a step rule"):
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
        fix = ""
        if isinstance(order, type):
            fix = f"; call it: {order.__name__}()"
        elif isinstance(order, str):
            fix = "; orders by name, such as 'hardest', are choices of check_on and sweep"
        raise ValueError(f"order must be Permutation(), Cyclic() or Listed(indices), got {order!r}{fix}")
