"""Mini-batch Adam, by optax."""

from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Bool, PyTree

from widenet.losses import Loss
from widenet.training.engine.evaluation import any_sample_moves
from widenet.training.engine.segment import Segment
from widenet.training.engine.state import State
from widenet.training.engine.validation import one_per_run, whole_or_none
from widenet.training.kernels import plain
from widenet.training.methods.base import Method, Sampling, Sizes, StepSize, Trial, check_order, check_step_size
from widenet.training.orders import Order, Permutation
from widenet.types import Dataset, Layers


class Adam(Method):
    """Adam with optax's default moments (0.9, 0.999, ε = 1e-8), on the gradient of the mean loss of a batch.

    Attributes:
      step_size: η, one number, one per run, or a `StepRule`.
      order: how samples are chosen.
      batch_size: samples per step; None is the whole set.
    """

    step_size: StepSize = eqx.field(converter=one_per_run)
    order: Order = Permutation()
    batch_size: int | None = eqx.field(static=True, default=1, converter=whole_or_none("batch_size"))

    def __check_init__(self) -> None:
        """Mistakes that would otherwise surface deep inside a compiled program."""
        check_step_size(self.step_size)
        check_order(self.order)

    @property
    def sampling(self) -> Sampling:
        """As it was said."""
        return Sampling(self.order, self.batch_size)

    def init(self, network: Any) -> PyTree:
        """The two moments of every weight that moves, and how many steps they have seen."""
        return _moments().init(network)

    def advance(self, state: State, segment: Segment) -> State:
        """One run after the steps of the segment."""
        moments = _moments()

        def change(gradient: PyTree, step_size: Array, own: PyTree) -> tuple[PyTree, PyTree]:
            with jax.numpy_dtype_promotion("standard"):  # optax multiplies floats and counts
                direction, own = moments.update(gradient, own)
            return plain.descend(direction, step_size, own)

        return plain.advance(state, segment, change)

    def fitted(self, networks: Any, data: Dataset, layers: Layers, watch: Any) -> "Adam":
        """There is nothing to choose."""
        return self

    @staticmethod
    def moves_left(network: Any, data: Dataset, *, loss: Loss, layers: Layers) -> Bool[Array, ""]:
        """Whether any single sample still has a gradient. (A run has rested only once its moments have died out.)"""
        return any_sample_moves(network, data, loss=loss, layers=layers)

    def trial(self, n_samples: int) -> Trial:
        """One more epoch."""
        return Trial(None, self.batch(n_samples), self.steps_per_epoch(n_samples))

    def memory(self, sizes: Sizes) -> tuple[int, int]:
        """As plain SGD; the moments are counted with the state."""
        return 5 * sizes.weights + sizes.item * sizes.batch * (sizes.dim + 4 * sizes.neurons), 0


def _moments() -> Any:
    import optax  # late: a third of a second that no other training needs

    return optax.scale_by_adam()
