"""Step sizes that change along a run."""

import abc

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int


class StepRule(eqx.Module):
    """(log of the mean loss, steps taken so far) → the size of the next step. Write `__call__`.

    The loss comes as its logarithm, from the outputs and in the log domain: it is finite where the loss itself has
    underflowed. With mini-batches it is the loss of the batch. Fields that are numbers are shared by all runs; arrays
    hold one number per run, and the rule of one run sees its own.
    """

    @abc.abstractmethod
    def __call__(self, log_loss: Float[Array, ""], taken: Int[Array, ""]) -> Float[Array, ""]:
        """The size of the next step; `taken` is 0 before the first one."""


class LogSquared(StepRule):
    """α_t = Q log²(1/L_t), the step of chatterji2021; with `first`, the first step has that size.

    From the logarithm of the loss it is right where the loss itself underflows. At L = 1 it is 0, and a run that comes
    there stays: its theorems exclude L ≥ 1.

    Attributes:
      scale: Q.
      first: α_0, or None.
    """

    scale: float | Float[Array, "*run"]
    first: float | Float[Array, "*run"] | None = None

    def __call__(self, log_loss: Float[Array, ""], taken: Int[Array, ""]) -> Float[Array, ""]:
        """The size of the next step."""
        step = jnp.asarray(self.scale, log_loss.dtype) * log_loss**2
        return step if self.first is None else jnp.where(taken == 0, jnp.asarray(self.first, step.dtype), step)
