"""Clocks of a gradient flow: which time passes while the engine counts one step.

The path of a flow does not depend on how fast it is run through. A clock reads u = k·step after k steps, and
dt/du is its rate: du is what the solver integrates over. Rates and losses are kept as logarithms, because weights that
separate the data grow like log t, and the losses of late times underflow long before anything has converged. The step
of a clock is one number, or one per run.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from widenet.training.engine.validation import one_per_run

Scalar = float | Float[Array, ""]


class LinearClock(eqx.Module):
    """The time itself: t = k·step."""

    step: float | Float[Array, "*run"] = eqx.field(converter=one_per_run)

    def log_rate(self, reading: Scalar, log_loss: Float[Array, ""]) -> Float[Array, ""]:
        """log dt/du."""
        return jnp.zeros_like(log_loss)

    def log_time(self, reading: Scalar, passed: Scalar) -> Float[Array, ""]:
        """log t at this reading; −∞ at the start."""
        return jnp.log(jnp.asarray(reading))


class LossClock(eqx.Module):
    """The clock of dW/du = −∇ log L(W): du = L dt. Once the data are separated, ‖W‖ grows linearly in u.

    How much time has passed is integrated beside the weights, as log(1 + t).
    """

    step: float | Float[Array, "*run"] = eqx.field(converter=one_per_run)

    def log_rate(self, reading: Scalar, log_loss: Float[Array, ""]) -> Float[Array, ""]:
        """log dt/du."""
        return -log_loss

    def log_time(self, reading: Scalar, passed: Scalar) -> Float[Array, ""]:
        """log t, where `passed` is log(1 + t); −∞ at the start."""
        return _log_expm1(passed)


Clock = LinearClock | LossClock


def _log_expm1(value: Scalar) -> Float[Array, ""]:
    value = jnp.asarray(value)
    return value + jnp.log(-jnp.expm1(-value))
