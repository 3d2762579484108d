"""How to train: everything but the network, the data and the randomness."""

import math
from collections.abc import Callable
from typing import Any

import equinox as eqx
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from widenet.losses import SATURATING, Loss
from widenet.training.engine.validation import whole
from widenet.training.orders import Cyclic, Order, Permutation
from widenet.training.stopping import StoppingRule, never, zero_loss
from widenet.types import Layers


def _budgets(value: Any) -> int | tuple[int, ...]:
    if isinstance(value, str) or np.ndim(value) == 0:
        return whole("max_steps", value)
    return tuple(whole("max_steps", each) for each in value)


def _layers(value: Any) -> Layers:
    # "both" equals Layers.BOTH and would pass for it in a cache of programs, but it is another object.
    if value not in list(Layers):
        raise ValueError(f"layers must be 'hidden' or 'both', got {value!r}")
    return Layers(value)


def _whole_or_none(name: str) -> Callable[[Any], int | None]:
    return lambda value: None if value is None else whole(name, value)


class Recipe(eqx.Module):
    """A training recipe.

    Attributes:
      loss: a function of `widenet.losses`.
      step_size: the constant step η, one number or one per run.
      max_steps: the budget, one number or one per run.
      order: how samples are chosen.
      batch_size: samples per step; None is the whole set. The step uses the mean gradient of the batch.
      layers: which layers move, "hidden" or "both".
      stop: the goal; by default `zero_loss` for the hinge losses of widenet, else none.
      check_every: steps between two looks at the goal. A run may go on for that long after it could have stopped, and
        where the goal is zero loss twice as long; with a hinge loss of widenet the counters of `Trajectory` are exact
        all the same, with another loss `zero_loss_step` is the step count of a look. By default one
        epoch, or the fewest epochs that make 1000 steps; 100 steps with the whole set as batch.
      kernel: "auto" takes the fastest exact kernel that fits, "plain" the step-by-step autodiff oracle.
    """

    loss: Loss = eqx.field(static=True)
    step_size: float | Float[Array, "*run"]
    max_steps: int | tuple[int, ...] = eqx.field(static=True, converter=_budgets)
    order: Order = Permutation()
    batch_size: int | None = eqx.field(static=True, default=1, converter=_whole_or_none("batch_size"))
    layers: Layers = eqx.field(static=True, default=Layers.HIDDEN, converter=_layers)
    stop: StoppingRule | None = eqx.field(static=True, default=None)
    check_every: int | None = eqx.field(static=True, default=None, converter=_whole_or_none("check_every"))
    kernel: str = eqx.field(static=True, default="auto")

    def __check_init__(self) -> None:
        """Mistakes that would otherwise surface deep inside a compiled program."""
        if not callable(self.loss):
            raise ValueError(f"loss must be a function such as widenet.hinge, got {self.loss!r}")
        # A single number was typed, and a wrong one is a mistake. One per run may hold anything: claims measure theirs.
        if not isinstance(self.step_size, Tracer):
            step_size = np.asarray(self.step_size)
            if step_size.dtype.kind not in "iuf" or (step_size.ndim == 0 and not 0 < step_size < math.inf):
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
