"""How to train: everything but the network, the data and the randomness."""

from typing import Any

import equinox as eqx
import numpy as np

from widenet.losses import SATURATING, Loss
from widenet.training.engine import validation
from widenet.training.engine.validation import whole, whole_or_none
from widenet.training.methods import SGD, GradientDescent, Method
from widenet.training.methods.base import GivenStep
from widenet.training.orders import Order, Permutation
from widenet.training.stopping import StoppingRule, never, zero_loss
from widenet.types import Layers


def _budgets(value: Any) -> int | tuple[int, ...]:
    if np.ndim(value) == 0:  # a number, or a word, which `whole` refuses
        return whole("max_steps", value)
    return tuple(whole("max_steps", each) for each in value)


def _layers(value: Any) -> Layers:
    # "both" equals Layers.BOTH and would pass for it in a cache of programs, but it is another object.
    if not isinstance(value, str) or value not in list(Layers):
        raise ValueError(f"layers must be 'hidden' or 'both', got {value!r}")
    return Layers(value)


class Recipe(eqx.Module):
    """A training recipe: `Recipe(loss, method=GradientDescent(0.1), max_steps=1000)`.

    `Recipe(loss, step_size, max_steps, order, batch_size, kernel=…)` is the same with `SGD` as the method.

    Attributes:
      loss: a function of `widenet.losses`.
      method: what moves the weights: `SGD`, `GradientDescent`, `Adam`, `Flow`.
      max_steps: the budget, one number or one per run.
      layers: which layers move, "hidden" or "both".
      stop: the goal; by default `zero_loss` for the hinge losses of widenet, else none.
      check_every: steps between two looks at the goal. A run may go on for that long after it could have stopped, and
        where the goal is zero loss twice as long; with a hinge loss of widenet the counters of `Trajectory` are exact
        all the same, with another loss `zero_loss_step` is the step count of a look. By default one
        epoch, or the fewest epochs that make 1000 steps; 100 steps with the whole set as batch.
      after_goal: steps to go on after the look that first finds the goal reached, within the budget. The run has
        converged if the goal holds at the end of them.
    """

    loss: Loss = eqx.field(static=True)
    method: Method
    max_steps: int | tuple[int, ...] = eqx.field(static=True)
    layers: Layers = eqx.field(static=True)
    stop: StoppingRule | None = eqx.field(static=True)
    check_every: int | None = eqx.field(static=True)
    after_goal: int = eqx.field(static=True)

    def __init__(
        self,
        loss: Loss,
        step_size: GivenStep | None = None,
        max_steps: Any = None,
        order: Order | None = None,
        batch_size: Any = 1,
        layers: Any = Layers.HIDDEN,
        stop: StoppingRule | None = None,
        check_every: Any = None,
        kernel: str = "auto",
        *,
        method: Method | None = None,
        after_goal: Any = 0,
    ):
        """With `method`, or with the arguments of `SGD`; see the class."""
        if method is None:
            if step_size is None:
                raise ValueError(
                    "a recipe needs a step_size (which means SGD) or a method such as GradientDescent(0.1)"
                )
            method = SGD(step_size, Permutation() if order is None else order, batch_size, kernel)
        elif step_size is not None or order is not None or batch_size != 1 or kernel != "auto":
            raise ValueError("with a method, step_size, order, batch_size and kernel are said to the method")
        self.loss, self.method, self.max_steps = loss, method, _budgets(max_steps)
        self.layers, self.stop = _layers(layers), stop
        self.check_every = whole_or_none("check_every")(check_every)
        self.after_goal = whole("after_goal", after_goal, 0)

    def __check_init__(self) -> None:
        """Mistakes that would otherwise surface deep inside a compiled program."""
        if not callable(self.loss):
            raise ValueError(f"loss must be a function such as widenet.hinge, got {self.loss!r}")
        if not isinstance(self.method, Method):
            raise ValueError(f"method must be a method such as GradientDescent(0.1), called, got {self.method!r}")
        if self.stop is not None and not callable(self.stop):
            raise ValueError(f"stop must be a stopping rule such as zero_error or loss_below(0.1), got {self.stop!r}")

    @property
    def goal(self) -> StoppingRule:
        """The stopping rule in force."""
        if self.stop is not None:
            return self.stop
        return zero_loss if self.loss in SATURATING else never

    def check(self, networks: Any, data: Any, n_runs: int) -> None:
        """Whether networks, data and recipe fit together, for this many runs.

        Raises:
          ValueError: they do not; the sentence says what, and what would.
        """
        budgets = self.max_steps if isinstance(self.max_steps, tuple) else (self.max_steps,)
        if not all(0 < steps < 2**31 for steps in budgets):
            raise ValueError(f"max_steps must lie between 1 and 2^31 - 1, got {self.max_steps}")
        if isinstance(self.max_steps, tuple) and len(budgets) != n_runs:
            raise ValueError(f"max_steps must be one number or one per run, got {len(budgets)} for {n_runs} runs")
        if self.check_every is not None and self.check_every < 1:
            raise ValueError(f"check_every must be at least 1, got {self.check_every}")
        validation.check(networks, data, self.loss, self.goal, n_runs)
        self.method.check(data, n_runs)


def gradient_descent(loss: Loss, step_size: GivenStep, max_steps: int | tuple[int, ...], **others: Any) -> Recipe:
    """Full-batch gradient descent on the mean loss."""
    return Recipe(loss, method=GradientDescent(step_size), max_steps=max_steps, **others)
