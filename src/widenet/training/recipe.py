"""How to train: everything but the network, the data and the randomness."""

from typing import Any

import equinox as eqx
import numpy as np

from widenet.losses import SATURATING, Loss
from widenet.training.engine import validation
from widenet.training.engine.validation import whole, whole_or_none
from widenet.training.methods import Method
from widenet.training.schedules import StepRule
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


def _method(value: Any) -> Method:
    if isinstance(value, Method):
        return value
    if isinstance(value, type) and issubclass(value, Method):
        fix = f"; call it: {value.__name__}(…)"
    elif value is None:
        fix = "; write Recipe(hinge, SGD(0.5), max_steps=1000)"
    elif isinstance(value, StepRule | int | float) or hasattr(value, "dtype"):
        fix = "; a step size belongs to the method: Recipe(hinge, SGD(0.5), max_steps=1000)"
    else:
        fix = "; wrap it: Optax(…)" if hasattr(value, "update") else ""
    raise ValueError(f"method must be a method such as SGD(0.5) or GradientDescent(0.1), got {value!r}{fix}")


def _refuse(arguments: dict[str, Any]) -> None:
    """Arguments of SGD that `Recipe` used to take, and names that nobody takes."""
    name, value = next(iter(arguments.items()))
    if name not in ("step_size", "order", "batch_size", "kernel"):
        raise TypeError(f"Recipe has no argument {name!r}")
    shown = f"SGD({value!r})" if name == "step_size" else f"SGD(0.5, {name}={value!r})"
    raise ValueError(f"pass {name} to the method, not to Recipe: Recipe(hinge, {shown}, max_steps=1000)")


class Recipe(eqx.Module):
    """A training recipe: `Recipe(hinge, SGD(0.5), max_steps=1000)`.

    Attributes:
      loss: a function of `widenet.losses`, or your own: (outputs, labels) → one number per sample.
      method: `SGD`, `GradientDescent`, `Adam`, `Optax`, `Flow`, or your own `Method`.
      max_steps: the budget, one number or one per run.
      layers: which layers move, "hidden" or "both".
      stop: the goal; by default `zero_loss` for the hinge losses of widenet, else none.
      check_every: steps between two checks of the goal. A run may go on for that long after it could have stopped, and
        where the goal is zero loss twice as long; with a hinge loss of widenet the counters of `Trajectory` are exact
        nevertheless, with another loss `zero_loss_step` is the step count of a check. By default one
        epoch, or the fewest epochs that make 1000 steps; 100 steps with the whole set as batch.
      after_goal: steps to go on after the check that first finds the goal reached, within the budget. The run has
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
        method: Any = None,
        max_steps: Any = None,
        *,
        layers: Any = Layers.HIDDEN,
        stop: StoppingRule | None = None,
        check_every: Any = None,
        after_goal: Any = 0,
        **moved: Any,
    ):
        """See the class."""
        if moved:
            _refuse(moved)
        self.loss, self.method, self.max_steps = loss, _method(method), _budgets(max_steps)
        self.layers, self.stop = _layers(layers), stop
        self.check_every = whole_or_none("check_every")(check_every)
        self.after_goal = whole("after_goal", after_goal, 0)

    def __check_init__(self) -> None:
        """Mistakes that would otherwise surface deep inside a compiled program."""
        if not callable(self.loss):
            raise ValueError(f"loss must be a function such as widenet.hinge, got {self.loss!r}")
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
