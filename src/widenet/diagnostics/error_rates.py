"""How many inputs networks with one output per class get wrong."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

Forward = Callable[[Any, Any], Float[Array, " class"]]
"""(network, one input) → one output per class. A plain function, so that a program is compiled once for it."""

BLOCK = 100
"""Inputs that are looked at together; training and test sets share the program."""


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
    """The share of inputs that each network classifies wrongly, `block` inputs at a time. Outputs that are not finite
    are wrong.

    Main arguments:
      networks: networks whose arrays have a leading run axis.
      inputs, classes: samples first; one set for all runs, or inputs of their own with `inputs_per_run`.

    Other arguments:
      forward: what a network does with one input.
      inputs_per_run: whether `inputs` has a leading run axis.
      prepare: makes of a block of inputs what the networks see, where that would be too large for all of them together.
    """
    all_inputs, all_classes = np.asarray(inputs), np.asarray(classes)
    mistakes = np.array(0)
    for first in range(0, len(all_classes), block):
        rows = slice(first, first + block)
        own = all_inputs[:, rows] if inputs_per_run else all_inputs[rows]
        own = own if prepare is None else prepare(own)
        mistakes = mistakes + np.asarray(_count_all(networks, own, all_classes[rows], forward, inputs_per_run))
    return mistakes / len(all_classes)


def count_mistakes(
    network: Any, inputs: Float[Array, "sample ..."], classes: Int[Array, " sample"], *, forward: Forward
) -> Int[Array, ""]:
    """How many inputs are classified wrongly."""

    def is_wrong(x: Array, label: Array) -> Bool[Array, ""]:
        outputs = forward(network, x)
        return (jnp.argmax(outputs) != label) | ~jnp.all(jnp.isfinite(outputs))

    return jnp.sum(jax.vmap(is_wrong)(inputs, classes))


@functools.partial(jax.jit, static_argnames=("forward", "inputs_per_run"))
def _count_all(networks, inputs, classes, forward, inputs_per_run):
    """On a CPU one run after the other: a batch of thin matrix products is slower there than its parts."""

    def count(network, own):
        return count_mistakes(network, own, classes, forward=forward)

    if jax.default_backend() != "cpu":
        return jax.vmap(count, (0, 0 if inputs_per_run else None))(networks, inputs)
    if inputs_per_run:
        return jax.lax.map(lambda pair: count(*pair), (networks, inputs))
    return jax.lax.map(lambda network: count(network, inputs), networks)
