"""Full-batch gradient descent."""

from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Bool

from widenet.losses import Loss
from widenet.training.engine.segment import Segment
from widenet.training.engine.state import State
from widenet.training.engine.validation import one_per_run
from widenet.training.kernels.full_batch import gradient_of
from widenet.training.kernels.plain import is_any_nonzero, take_step
from widenet.training.methods.base import Method, Sizes, StallTest, StepSize, check_step_size
from widenet.types import Dataset, Layers


class GradientDescent(Method):
    """W ← W − α ∇L(W), with L the mean loss on the whole set.

    Attributes:
      step_size: α, one number, one per run, or a `StepRule`.
    """

    step_size: StepSize = eqx.field(converter=one_per_run)

    def __check_init__(self) -> None:
        """Mistakes that would otherwise surface deep inside a compiled program."""
        check_step_size(self.step_size)

    @property
    def numbers(self) -> Any:
        """The step size."""
        return self.step_size

    def advance(self, state: State, segment: Segment) -> State:
        """One run after the steps of the segment."""
        inputs, labels = segment.data.inputs, segment.data.labels

        def body(taken: Array, state: State) -> State:
            return take_step(state, segment, inputs, labels, taken, differentiate=gradient_of)

        return jax.lax.fori_loop(segment.start, segment.stop, body, state)

    @staticmethod
    def moves_left(network: Any, data: Dataset, *, loss: Loss, layers: Layers) -> Bool[Array, ""]:
        """Whether the gradient is not zero; those of the samples may cancel."""
        return is_any_nonzero(gradient_of(network, data.inputs, data.labels, loss=loss, layers=layers)[0])

    def trial(self, n_samples: int) -> StallTest:
        """One step: from the same weights the next one is the same."""
        return StallTest(None, n_samples, 1)

    def memory(self, sizes: Sizes) -> tuple[int, int]:
        """The weights before and after, the gradient, and the neurons of all samples forth and back."""
        return 3 * sizes.weights + 5 * sizes.item * sizes.samples * sizes.neurons, 0
