"""A request to train, checked before anything is compiled: every mistake gets one sentence."""

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from widenet.losses import OF_SIGNS, Loss
from widenet.networks import Elementwise
from widenet.training.stopping import StoppingRule
from widenet.types import Dataset

AMBIGUOUS = "truth value of an array"
"""JAX's words for a condition on an array of several numbers, which has no class of its own."""
CONDITION = "a condition in plain Python (if, and, max) on an array; write jnp.where or jnp.maximum"
APART = (0.5, -1.25, 2.0)
"""Pre-activations in no order, none of which may matter to another."""


def whole(name: str, value: Any, least: int | None = None, most: int | None = None) -> int:
    """A count as an int; 1e3 is one, too, and so is NumPy's.

    Raises:
      ValueError: it is not a whole number, or outside of the limits.
    """
    try:
        number = int(value)
        fits = number == value and not isinstance(value, bool)
    except (TypeError, ValueError, OverflowError):  # int() of words, of arrays, of NaN and of infinity
        number, fits = 0, False
    if not fits or (least is not None and number < least) or (most is not None and number > most):
        limits = "" if least is None else f" from {least} on" if most is None else f" from {least} to {most}"
        raise ValueError(f"{name} must be a whole number{limits}, got {value!r}")
    return number


def whole_or_none(name: str) -> Callable[[Any], int | None]:
    """`whole` for a field that may be None."""
    return lambda value: None if value is None else whole(name, value)


def takes(function: Callable[..., Any], count: int) -> bool:
    """Whether it can be called with so many arguments; what does not say how it is called is believed."""
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def one_per_run(value: Any) -> Any:
    """A list of numbers as an array, which the programs take; anything else as it is."""
    if not isinstance(value, list | tuple):
        return value
    try:
        numbers = np.asarray(value)
    except ValueError:  # lists of several lengths
        return value
    return jnp.asarray(numbers, jnp.float64) if numbers.dtype.kind in "iuf" else value


def are_keys(value: Any, ndim: int) -> bool:
    """Whether this is an array of JAX keys with so many axes; 0 is a single key."""
    return isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key) and value.ndim == ndim


def per_run(leaf: Any, n_runs: int) -> Array:
    """Scalars (an activation's slope) are shared: give every run its copy."""
    leaf = jnp.asarray(leaf)
    return jnp.broadcast_to(leaf, (n_runs,)) if leaf.ndim == 0 else leaf


def check(networks: Any, data: Any, loss: Loss, goal: StoppingRule, n_runs: int) -> None:
    """Whether networks, data, loss and goal fit together, for this many runs.

    Raises:
      ValueError: they do not; the sentence says what, and what would.
    """
    if not isinstance(data, Dataset):
        raise ValueError(f"data must be a widenet.Dataset, as from_arrays makes one, got {type(data).__name__}")
    _check_data(data)
    if n_runs == 0:
        raise ValueError("an ensemble needs at least one key")
    if data.n_samples == 0:
        raise ValueError("a data set needs at least one sample")
    sizes = {leaf.shape[0] for leaf in jax.tree.leaves(networks) if eqx.is_array(leaf) and leaf.ndim}
    if data.is_per_run:
        sizes.add(data.inputs.shape[0])
    if sizes != {n_runs}:
        raise ValueError(
            f"networks, data and keys must agree on the number of runs, got {sorted(sizes)} and {n_runs} keys"
        )
    dtypes = {leaf.dtype for leaf in jax.tree.leaves(networks) if eqx.is_array(leaf) and leaf.ndim > 1}
    if dtypes != {data.inputs.dtype}:
        names = ", ".join(sorted(str(dtype) for dtype in dtypes))
        raise ValueError(
            f"data and networks must have one dtype, got {data.inputs.dtype} and {names}; from_arrays and"
            " make_two_layer take a dtype"
        )
    _check_outputs(networks, data, loss, goal, n_runs)
    _check_activation(getattr(networks, "activation", None), n_runs)
    n_outputs = getattr(networks, "n_outputs", None)
    if n_outputs is not None and not np.isin(np.asarray(data.labels), np.arange(n_outputs)).all():
        raise ValueError(f"labels of a network with {n_outputs} outputs must be classes 0 to {n_outputs - 1}")
    if loss in OF_SIGNS:
        _check_signs(np.asarray(data.labels), loss.__name__)


def _check_activation(activation: Any, n_runs: int) -> None:
    """Gradients that are written out, and neurons of zeros beside others, need σ of each pre-activation alone."""
    if not isinstance(activation, Elementwise):
        return
    of_first = jax.tree.map(lambda leaf: per_run(leaf, n_runs)[0], activation)
    together = of_first(jnp.asarray(APART))
    alone = [of_first(jnp.asarray([each]))[0] for each in APART]
    if not np.allclose(together, alone, equal_nan=True):
        raise ValueError(
            "activation must act on each entry alone, got one that mixes them, as softmax does; use a function such as"
            " jnp.tanh, or a network of your own, an equinox.Module with trainable(layers)"
        )


def _check_signs(labels: np.ndarray, loss: str) -> None:
    """Labels 0 would give every such sample the same loss whatever the network says, and no gradient."""
    others = labels[np.abs(labels) != 1]
    if others.size:
        raise ValueError(f"labels must be -1 or +1 for {loss}, got {others[0]:g}; for classes 0 and 1, 2 * labels - 1")


def _check_data(data: Dataset) -> None:
    if not all(hasattr(part, "shape") for part in (data.inputs, data.labels)):
        raise ValueError("inputs and labels of a Dataset must be arrays; from_arrays makes them of lists")
    inputs, labels = data.inputs.shape, data.labels.shape
    if len(inputs) not in (2, 3) or inputs[:-1] != labels:
        raise ValueError(f"a data set needs one row of inputs for each label, got shapes {inputs} and {labels}")


def check_is_watch(watch: Any) -> None:
    """Whether this is a watch, and not its class or a function.

    Raises:
      ValueError: it is not.
    """
    has_both = hasattr(watch, "start") and hasattr(watch, "update")
    if watch is not None and not (isinstance(watch, eqx.Module) and has_both):
        raise ValueError(
            f"watch must be an instance of an equinox.Module with start(network) and update(value, step), got {watch!r}"
        )


def check_watch(watch: Any, n_runs: int) -> None:
    """Whether every run has its copy of the watch."""
    for leaf in jax.tree.leaves(watch):
        if jnp.ndim(leaf) == 0 or jnp.shape(leaf)[0] != n_runs:
            raise ValueError(
                f"every array of a watch needs a leading axis of {n_runs} runs, got shape {jnp.shape(leaf)};"
                " jnp.tile gives each run its own copy"
            )


def _check_outputs(networks: Any, data: Dataset, loss: Loss, goal: StoppingRule, n_runs: int) -> None:
    shapes = jax.tree.map(lambda leaf: _struct(per_run(leaf, n_runs)), networks)
    leaves, kind = jax.tree.flatten(shapes)
    _check_shapes(kind, tuple(leaves), _struct(data.inputs), _struct(data.labels), loss, goal)


@functools.lru_cache(maxsize=128)
def _check_shapes(kind: Any, leaves: tuple, inputs: Any, labels: Any, loss: Loss, goal: StoppingRule) -> None:
    """The network must take one sample and answer with one number, or with one per class; the loss must take these,
    and the stopping rule must say yes or no.

    By shapes alone and once for each: tracing all three takes milliseconds, a small training hardly more.
    """
    networks = jax.tree.unflatten(kind, leaves)
    labels = jax.ShapeDtypeStruct(labels.shape[inputs.ndim - 2 :], labels.dtype)
    *_, n_samples, dim = inputs.shape
    sample = jax.ShapeDtypeStruct((dim,), inputs.dtype)
    which = "train takes one network, ensemble one per key"
    words = f"the network cannot take a sample of shape {sample.shape} ({{}}); {which}"
    answers = _shape("the network", jax.vmap(lambda network, x: network(x), (0, None)), (networks, sample), words)
    if answers.ndim > 2:
        raise ValueError(
            f"a network must give one number per sample, or one per class, not shape {answers.shape[1:]}; {which}"
        )
    outputs = jax.ShapeDtypeStruct((n_samples, *answers.shape[1:]), inputs.dtype)
    words = (
        f"the loss cannot take outputs of shape {outputs.shape} and labels of shape {labels.shape} ({{}}); hinge and"
        " logistic are for one output, cross_entropy and multiclass_hinge for one per class"
    )
    losses = _shape("the loss", loss, (outputs, labels), words)
    if getattr(losses, "shape", None) != outputs.shape[:1]:
        raise ValueError(f"the loss must give one number per sample, shape {outputs.shape[:1]}, not {_said(losses)}")
    if not jnp.issubdtype(losses.dtype, jnp.floating):
        raise ValueError(f"the loss must give floating-point numbers, which have gradients, not {losses.dtype}")
    check_rule("stop", goal, outputs, labels)


def check_rule(name: str, rule: StoppingRule, outputs: Any, labels: Any) -> None:
    """Whether a stopping rule takes outputs and labels of these shapes, and says yes or no.

    Raises:
      ValueError: it does not.
    """
    words = (
        f"{name} must take (outputs, labels, losses) and say whether the goal is reached ({{}}); see zero_error and"
        " loss_below(0.1)"
    )
    losses = jax.ShapeDtypeStruct(outputs.shape[:1], outputs.dtype)
    reached = _shape(name, rule, (outputs, labels, losses), words)
    if getattr(reached, "shape", None) != () or reached.dtype != bool:
        raise ValueError(f"{name} must give a single true or false for the whole training set, not {_said(reached)}")


def _said(found: Any) -> str:
    """An answer in words: its shape and dtype, or what else it is."""
    if isinstance(found, jax.ShapeDtypeStruct):
        return f"{found.dtype} of shape {found.shape}"
    return f"a {type(found).__name__}"


@contextlib.contextmanager
def in_jax(name: str) -> Iterator[None]:
    """Traces a function of yours: what JAX answers where it is written in NumPy or in plain Python is one sentence.

    Raises:
      ValueError: it is.
    """
    try:
        yield
    except jax.errors.TracerArrayConversionError:
        found = "functions of NumPy, which JAX cannot compile; write jnp for np"
    except jax.errors.TracerBoolConversionError:
        found = CONDITION
    except ValueError as error:
        if AMBIGUOUS not in str(error):
            raise
        found = CONDITION
    except jax.errors.ConcretizationTypeError:
        found = "float() or int() of an array; leave it an array"
    else:
        return
    raise ValueError(f"{name} must be written in jax.numpy, got {found}")


def _struct(leaf: Array) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype)


def _shape(name: str, function: Callable[..., Any], arguments: tuple[Any, ...], otherwise: str) -> Any:
    """What the function gives, without computing it; `otherwise` says that it fails, with {} for the reason."""
    with in_jax(name):
        try:
            return jax.eval_shape(function, *arguments)
        except jax.errors.JAXTypeError:
            raise
        except (TypeError, ValueError) as error:
            if AMBIGUOUS in str(error):
                raise
            raise ValueError(otherwise.format(str(error).splitlines()[0].rstrip("."))) from None
