"""The moment at which something first happens within one step of a solver, and work that is done only if it does."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

LOOKS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Where a step is looked at, as shares of it."""
TO_POWERS = np.linalg.inv(np.vander(LOOKS))
"""From the values of a polynomial of degree four at the `LOOKS` to its coefficients, the highest power first."""
CLOSE = 4e-15
"""How finely moments are located, as a share of a step."""


def first_time(
    holds: Callable[[Float[Array, ""]], Bool[Array, ""]],
    low: Float[Array, ""],
    high: Float[Array, ""],
    needed: Bool[Array, ""],
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Halve (low, high] until it is `CLOSE`, so that something holds at its upper end and not yet at its lower end."""

    def halve(ends: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = ends
        middle = 0.5 * (low + high)
        there = holds(middle)
        return jnp.where(there, low, middle), jnp.where(there, middle, high)

    return jax.lax.while_loop(lambda ends: needed & (ends[1] - ends[0] > CLOSE), halve, (low, high))


def first_below_zero(powers: Float[Array, " power"], low: Float[Array, ""], high: Float[Array, ""]) -> Float[Array, ""]:
    """Where a polynomial that is negative at `high` first becomes so: the last point, up to `CLOSE`, before it does.

    Thirty-two places at a time: a loop of many short turns would take longer than its arithmetic.
    """
    shares = jnp.arange(33) / 32

    def narrow(ends: tuple[Array, Array]) -> tuple[Array, Array]:
        places = ends[0] + (ends[1] - ends[0]) * shares
        which = jnp.argmax((jnp.polyval(powers, places[1:]) < 0) | (shares[1:] == 1))
        return places[which], places[which + 1]

    return jax.lax.while_loop(lambda ends: ends[1] - ends[0] > CLOSE, narrow, (low, high))[0]


def put(array: Array, place: Int[Array, ""], value: Any) -> Array:
    """The array with this value at one place of its first axis; unchanged where there is no such place.

    By a mask: scatters are slow on a CPU, and slow to compile.
    """
    here = jnp.arange(array.shape[0], dtype=place.dtype) == place
    return jnp.where(here.reshape(-1, *[1] * (array.ndim - 1)), jnp.asarray(value, array.dtype), array)


def only_if(condition: Bool[Array, ""], function: Callable[[Any], Any], value: Any) -> Any:
    """`function(value)` where the condition holds, else `value`.

    A batch in which it holds nowhere does not pay for it, as it would pay for both branches of a `cond`.
    """

    def once(pair: tuple[Array, Any]) -> tuple[Array, Any]:
        return jnp.zeros_like(pair[0]), function(pair[1])

    return jax.lax.while_loop(lambda pair: pair[0], once, (condition, value))[1]
