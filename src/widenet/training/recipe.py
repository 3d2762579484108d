"""How to train: everything but the network, the data and the randomness."""

import math
from typing import Any

import equinox as eqx
from jaxtyping import Array, Float

from widenet.losses import SATURATING, Loss
from widenet.training.orders import Cyclic, Order, Permutation
from widenet.training.stopping import StoppingRule, never, zero_loss
from widenet.types import Layers


class Recipe(eqx.Module):
    """A training recipe.

    Attributes:
      loss: a function of `widenet.losses`.
      step_size: the constant step η, one number or one per run.
      max_steps: the budget, one number or a tuple of one per run.
      order: how samples are chosen.
      batch_size: samples per step; None is the whole set. The step uses the mean gradient of the batch.
      layers: which layers move.
      stop: the goal; by default zero loss where the loss can reach it, else none.
      check_every: steps between two looks at the goal. A run may go on for that long after it could have stopped, and
        where the goal is zero loss twice as long; the counters of `Trajectory` are exact all the same. By default one
        epoch, or the fewest epochs that make 1000 steps; 100 steps with the whole set as batch.
      kernel: "auto" takes the fastest exact kernel that fits, "plain" the step-by-step autodiff oracle.
    """

    loss: Loss = eqx.field(static=True)
    step_size: float | Float[Array, "*run"]
    max_steps: int | tuple[int, ...] = eqx.field(static=True)
    order: Order = Permutation()
    batch_size: int | None = eqx.field(static=True, default=1)
    layers: Layers = eqx.field(static=True, default=Layers.HIDDEN)
    stop: StoppingRule | None = eqx.field(static=True, default=None)
    check_every: int | None = eqx.field(static=True, default=None)
    kernel: str = eqx.field(static=True, default="auto")

    def __check_init__(self) -> None:
        """Mistakes that would otherwise surface deep inside a compiled program."""
        if not callable(self.loss):
            raise ValueError(f"loss must be a function such as widenet.hinge, got {self.loss!r}")
        # A single number was typed, and a wrong one is a mistake. An array may hold anything: claims measure theirs.
        if isinstance(self.step_size, int | float) and not 0 < float(self.step_size) < math.inf:
            raise ValueError(f"step_size must be positive and finite, got {self.step_size!r}")
        if self.stop is not None and not callable(self.stop):
            raise ValueError(f"stop must be a stopping rule such as zero_error or loss_below(0.1), got {self.stop!r}")
        if not hasattr(self.order, "steps_per_epoch") or isinstance(self.order, type):
            raise ValueError(f"order must be an order such as Permutation() or Cyclic(), got {self.order!r}")

    @property
    def goal(self) -> StoppingRule:
        """The stopping rule in force."""
        if self.stop is not None:
            return self.stop
        return zero_loss if self.loss in SATURATING else never


def gradient_descent(
    loss: Loss, step_size: float | Float[Array, "*run"], max_steps: int | tuple[int, ...], **others: Any
) -> Recipe:
    """Full-batch gradient descent on the mean loss."""
    return Recipe(loss, step_size, max_steps, order=Cyclic(), batch_size=None, **others)
