"""The optimizers of optax: Adam, and any other."""

from typing import Any

import equinox as eqx
from jaxtyping import PyTree

from widenet.training.engine.validation import one_per_run, whole_or_none
from widenet.training.kernels import plain
from widenet.training.methods.base import Method, StepSize, check_order, check_step_size
from widenet.training.orders import IndexOrder, Permutation


class Adam(Method):
    """Adam with optax's default moments (0.9, 0.999, ε = 1e-8), on the gradient of the mean loss of a batch.

    Attributes:
      step_size: η, one number, one per run, or a `StepRule`.
      order: how samples are chosen.
      batch_size: samples per step; None is the whole set.
    """

    step_size: StepSize = eqx.field(converter=one_per_run)
    order: IndexOrder = Permutation()
    batch_size: int | None = eqx.field(static=True, default=1, converter=whole_or_none("batch_size"))

    def __check_init__(self) -> None:
        """Mistakes that would otherwise surface deep inside a compiled program."""
        check_step_size(self.step_size)
        check_order(self.order)

    def init(self, weights: PyTree) -> PyTree:
        """The two moments of every weight that moves, and how many steps they have seen."""
        return _moments().init(weights)

    def step(self, gradient: PyTree, kept: PyTree, now: plain.Now) -> tuple[PyTree, PyTree]:
        """(change of the weights, moments)."""
        direction, kept = _moments().update(gradient, kept)
        return plain.descend(direction, now.size(self.step_size)), kept


class Optax(Method):
    """Any optimizer of optax: `Optax(optax.sgd(0.1, momentum=0.9))`, on the gradient of the mean loss of a batch.

    A transformation is compiled once; make it outside of loops.

    Attributes:
      transformation: an `optax.GradientTransformation`.
      order: how samples are chosen.
      batch_size: samples per step; None is the whole set.
    """

    transformation: Any = eqx.field(static=True)
    order: IndexOrder = Permutation()
    batch_size: int | None = eqx.field(static=True, default=None, converter=whole_or_none("batch_size"))

    def __check_init__(self) -> None:
        """Mistakes that would otherwise surface deep inside a compiled program."""
        if not all(callable(getattr(self.transformation, name, None)) for name in ("init", "update")):
            raise ValueError(
                f"transformation must be an optax.GradientTransformation such as optax.sgd(0.1), got"
                f" {self.transformation!r}"
            )
        check_order(self.order)

    def init(self, weights: PyTree) -> PyTree:
        """The state of the optimizer."""
        return self.transformation.init(weights)

    def step(self, gradient: PyTree, kept: PyTree, now: plain.Now) -> tuple[PyTree, PyTree]:
        """(change of the weights, state of the optimizer).

        Raises:
          ValueError: the transformation needs the loss itself, as a line search does.
        """
        try:
            return self.transformation.update(gradient, kept, now.weights)
        except TypeError as error:
            if "keyword-only argument" not in str(error):
                raise
            raise ValueError(
                "transformation must work from gradients alone, and this one needs the loss too, as the line search of"
                " optax.lbfgs() does; use optax.lbfgs(0.1, linesearch=None), or another such as optax.adam(0.1)"
            ) from None
        except ValueError as error:
            reason = str(error).splitlines()[0].rstrip(".")
            raise ValueError(
                f"transformation must update the weights of one run ({reason}); numbers in it are shared by all runs,"
                " and SGD, GradientDescent, Adam and a Method of your own take one per run"
            ) from None


def _moments() -> Any:
    import optax  # late: a third of a second that no other training needs

    return optax.scale_by_adam()
