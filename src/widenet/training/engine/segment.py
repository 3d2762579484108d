"""A stretch of steps: what every method and every kernel is told about it."""

from typing import Any

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float, Int, Key

from widenet.losses import Loss
from widenet.training.orders import IndexOrder
from widenet.training.record import Recording
from widenet.training.schedules import StepRule
from widenet.types import Dataset, Layers


class Segment(eqx.Module):
    """The steps start, …, stop − 1 of one run. With a leading run axis it is that of all runs of a batch.

    Attributes:
      data: what is trained on.
      order: how the batches are chosen.
      key: of the run, for the order.
      step_size: a number, or a rule that gives one; for a method with a `step` of its own, the method of this run.
      watch: called after every step, or None.
      start, stop: step counts since the beginning of the run.
      loss, layers: as in the `Recipe`.
      batch_size: samples per step.
      recording: what is recorded from inside the steps, or None.
    """

    data: Dataset
    order: IndexOrder
    key: Key[Array, "*run"]
    step_size: Any
    watch: Any
    start: Int[Array | np.ndarray, ""]
    stop: Int[Array | np.ndarray, ""]
    loss: Loss = eqx.field(static=True)
    layers: Layers = eqx.field(static=True)
    batch_size: int = eqx.field(static=True)
    recording: Recording | None = None

    @property
    def constant_step(self) -> Float[Array, "*run"]:
        """The step size, for a kernel that takes numbers and no rules."""
        if isinstance(self.step_size, StepRule):
            raise TypeError("a StepRule needs a kernel that takes one step at a time")
        return self.step_size
