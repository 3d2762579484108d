"""Step sizes that change along a run."""

import abc

import equinox as eqx
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
