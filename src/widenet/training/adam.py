"""Mini-batch Adam on networks with one output per class: one run, and many as one compiled program.

The optimizer is optax's. A run is fixed by its network, its step size, its data and its key; the key decides the order
of the batches. Epochs run inside the program, so neither runs nor epochs are compiled again. The order of the batches
is drawn outside it, by a program that all networks share: a generator and a sort take a third of the compilation.
"""

import functools
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from widenet.training.orders import Permutation
from widenet.types import RunKey, RunKeys, RunStatus

Forward = Callable[[Any, Any], Float[Array, " class"]]
"""(network, one input) → one output per class. A plain function, so that a program is compiled once for it."""

FEWEST_EPOCHS = 16
"""Room for the orders of at least this many epochs, and of a power of two: budgets share one compilation."""

BLOCK = 100
"""Inputs that are looked at together where mistakes are counted; training and test sets share the program."""


class AdamRecipe(eqx.Module):
    """How to train. A fresh permutation per epoch; the mean cross-entropy of each batch; optax's default moments.

    Attributes:
      batch_size: images per step; a remainder is left out of the epoch.
      max_epochs: the budget.
      after_fit: epochs to go on once the training error is 0 after an epoch; None trains for the whole budget.
    """

    batch_size: int
    max_epochs: int
    after_fit: int | None = None


class AdamRuns(eqx.Module):
    """What training leaves behind, with a leading run axis.

    Attributes:
      network: the networks after the last epoch.
      status: CONVERGED at training error 0, BUDGET_SPENT above it, DIVERGED where an output is no longer finite.
      epochs: epochs trained.
      train_error: share of the training inputs that are classified wrongly at the end.
    """

    network: Any
    status: Int[np.ndarray, " run"]
    epochs: Int[np.ndarray, " run"]
    train_error: Float[np.ndarray, " run"]

    def count(self, status: RunStatus) -> int:
        """How many runs ended with this status."""
        return int(np.sum(self.status == status))


def train_adam(
    networks: Any,
    inputs: Float[Array, "..."],
    classes: Int[Array, " sample"],
    recipe: AdamRecipe,
    step_sizes: Float[Array, " run"],
    keys: RunKeys,
    *,
    forward: Forward,
    inputs_per_run: bool = False,
) -> AdamRuns:
    """Train one network per key.

    Main arguments:
      networks: networks whose arrays have a leading run axis; every floating-point array moves.
      inputs, classes: the training set, samples first; one for all runs, or inputs of their own with `inputs_per_run`.
      step_sizes: one per run.
      keys: one per run, for the order of its batches.

    Other arguments:
      forward: what a network does with one input.
      inputs_per_run: whether `inputs` has a leading run axis.
    """
    n_samples = classes.shape[0]
    if not 1 <= recipe.batch_size <= n_samples:
        raise ValueError(f"batch_size must lie between 1 and the {n_samples} samples, got {recipe.batch_size}")
    if recipe.max_epochs < 1:
        raise ValueError(f"max_epochs must be at least 1, got {recipe.max_epochs}")
    orders = draw_orders(keys, n_samples, recipe)
    trained, epochs = _train_all(
        networks, inputs, classes, step_sizes, orders, recipe.max_epochs, recipe.after_fit, recipe.batch_size,
        forward, inputs_per_run,
    )  # fmt: skip
    mistakes, finite = _look(trained, inputs, classes, forward, inputs_per_run)
    train_error = mistakes / n_samples
    status = np.where(train_error == 0, RunStatus.CONVERGED, RunStatus.BUDGET_SPENT)
    status = np.where(finite, status, RunStatus.DIVERGED)
    return AdamRuns(trained, status.astype(np.int64), np.asarray(epochs, np.int64), train_error)


def error_rates(
    networks: Any,
    inputs: Float[Array, "..."],
    classes: Int[Array, " sample"],
    *,
    forward: Forward,
    inputs_per_run: bool = False,
    block: int = BLOCK,
    prepare: Callable[[Any], Any] | None = None,
) -> Float[np.ndarray, " run"]:
    """The share of inputs that each network classifies wrongly, `block` inputs at a time.

    `prepare` makes of a block of inputs what the networks see, where that would be too large for all of them together.
    """
    return _look(networks, inputs, classes, forward, inputs_per_run, block, prepare)[0] / classes.shape[0]


def draw_orders(keys: RunKeys, n_samples: int, recipe: AdamRecipe) -> Int[Array, "run epoch step batch"]:
    """Which samples each step of each epoch takes; a permutation belongs to the key of its run and the epoch alone."""
    steps, room = n_samples // recipe.batch_size, max(FEWEST_EPOCHS, 1 << (recipe.max_epochs - 1).bit_length())
    orders = np.zeros((len(keys), room, steps, recipe.batch_size), np.int32)
    for run, epoch in np.ndindex(len(keys), recipe.max_epochs):
        orders[run, epoch] = _order(keys[run], np.int32(epoch), n_samples, recipe.batch_size)
    return jnp.asarray(orders)


@functools.partial(jax.jit, static_argnames=("n_samples", "batch_size"))
def _order(key: RunKey, epoch: Int[Array, ""], n_samples: int, batch_size: int) -> Int[Array, "step batch"]:
    return Permutation().epoch(key, epoch, n_samples, batch_size)


def train_one(
    network: Any,
    inputs: Float[Array, "sample ..."],
    classes: Int[Array, " sample"],
    step_size: Float[Array, ""],
    orders: Int[Array, "epoch step batch"],
    *,
    max_epochs: int | Int[Array, ""],
    after_fit: int | Int[Array, ""] | None,
    batch_size: int,
    forward: Forward,
) -> tuple[Any, Int[Array, ""]]:
    """One run: the network after its last epoch, and how many there were."""
    import optax  # late: a third of a second that no other training needs

    moments = optax.scale_by_adam()

    def step(carry: tuple[Any, Any], rows: Int[Array, " batch"]) -> tuple[tuple[Any, Any], None]:
        network, state = carry

        def loss(network: Any) -> Float[Array, ""]:
            outputs = jax.vmap(forward, (None, 0))(network, inputs[rows])
            return optax.softmax_cross_entropy_with_integer_labels(outputs, classes[rows]).mean()

        direction, state = moments.update(jax.grad(loss)(network), state)
        moved = jax.tree.map(lambda leaf, by: leaf - step_size.astype(leaf.dtype) * by, network, direction)
        return (moved, state), None

    def epoch(carry: tuple[Any, Any, Array, Array]) -> tuple[Any, Any, Array, Array]:
        network, state, number, left = carry
        (network, state), _ = jax.lax.scan(step, (network, state), orders[number])
        left = left - 1
        if after_fit is not None:
            mistakes, _ = count_mistakes(network, inputs, classes, forward=forward, block=batch_size)
            # The first epoch without mistakes shortens what is left; later ones find it short already.
            left = jnp.where(mistakes == 0, jnp.minimum(left, after_fit), left)
        return network, state, number + 1, left

    left = jnp.asarray(max_epochs, jnp.int32)
    start = (network, moments.init(network), jnp.asarray(0, jnp.int32), left)
    network, _, epochs, _ = jax.lax.while_loop(lambda carry: carry[3] > 0, epoch, start)
    return network, epochs


def count_mistakes(
    network: Any,
    inputs: Float[Array, "sample ..."],
    classes: Int[Array, " sample"],
    *,
    forward: Forward,
    block: int,
) -> tuple[Int[Array, ""], Bool[Array, ""]]:
    """How many inputs are classified wrongly, and whether all outputs are finite. Outputs that are not are wrong."""

    def judge(example: tuple[Array, Array]) -> tuple[Bool[Array, ""], Bool[Array, ""]]:
        outputs = forward(network, example[0])
        finite = jnp.all(jnp.isfinite(outputs))
        return (jnp.argmax(outputs) != example[1]) | ~finite, finite

    wrong, finite = jax.lax.map(judge, (inputs, classes), batch_size=block)
    return jnp.sum(wrong), jnp.all(finite)


def _over_runs(function: Callable[..., Any], arguments: tuple[Any, ...], axes: tuple[int | None, ...]) -> Any:
    """The function on every run. On a CPU one run after the other inside the program: a batch of thin matrix products
    is slower there than its parts, and a run that has finished costs nothing more."""
    if jax.default_backend() != "cpu":
        return jax.vmap(function, axes)(*arguments)
    mapped = tuple(each for each, axis in zip(arguments, axes, strict=True) if axis == 0)

    def one(own: tuple[Any, ...]) -> Any:
        supply = iter(own)
        return function(*(next(supply) if axis == 0 else each for each, axis in zip(arguments, axes, strict=True)))

    return jax.lax.map(one, mapped)


@functools.partial(jax.jit, static_argnames=("batch_size", "forward", "inputs_per_run"))
def _train_all(
    networks, inputs, classes, step_sizes, orders, max_epochs, after_fit, batch_size, forward, inputs_per_run
):  # fmt: skip
    train = functools.partial(
        train_one, max_epochs=max_epochs, after_fit=after_fit, batch_size=batch_size, forward=forward
    )
    axes = (0, 0 if inputs_per_run else None, None, 0, 0)
    return _over_runs(train, (networks, inputs, classes, step_sizes, orders), axes)


def _look(
    networks: Any,
    inputs: Any,
    classes: Array,
    forward: Forward,
    inputs_per_run: bool,
    block: int = BLOCK,
    prepare: Callable[[Any], Any] | None = None,
) -> tuple[Int[np.ndarray, " run"], Bool[np.ndarray, " run"]]:
    """How many inputs each network classifies wrongly, and whether all its outputs are finite."""
    all_inputs, all_classes = np.asarray(inputs), np.asarray(classes)
    mistakes, finite = np.array(0), np.array(True)
    for first in range(0, len(all_classes), block):
        rows = slice(first, first + block)
        own = all_inputs[:, rows] if inputs_per_run else all_inputs[rows]
        own = own if prepare is None else prepare(own)
        wrong, known = _count_all(networks, own, all_classes[rows], forward, inputs_per_run)
        mistakes, finite = mistakes + np.asarray(wrong), finite & np.asarray(known)
    return mistakes, finite


@functools.partial(jax.jit, static_argnames=("forward", "inputs_per_run"))
def _count_all(networks, inputs, classes, forward, inputs_per_run):
    count = functools.partial(count_mistakes, forward=forward, block=classes.shape[0])
    axes = (0, 0 if inputs_per_run else None, None)
    return _over_runs(count, (networks, inputs, classes), axes)
