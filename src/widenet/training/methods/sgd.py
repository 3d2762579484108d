"""Stochastic gradient descent, which chooses among exact kernels."""

from typing import Any

import equinox as eqx

from widenet.losses import Loss
from widenet.training.engine.segment import Segment
from widenet.training.engine.state import State
from widenet.training.engine.validation import one_per_run, whole_or_none
from widenet.training.kernels import KERNELS, block, fused, gram, minibatch, single
from widenet.training.methods.base import Method, Sizes, StallTest, StepSize, check_order, check_step_size
from widenet.training.orders import Cyclic, IndexOrder, Permutation
from widenet.training.schedules import StepRule
from widenet.types import Dataset, Layers


class SGD(Method):
    """W ← W − η ∇ of the mean loss of a batch.

    Attributes:
      step_size: η, one number, one per run, or a `StepRule`, which the kernels that work in blocks do not take.
      order: how samples are chosen.
      batch_size: samples per step; None is the whole set.
      kernel: "auto" takes the fastest exact kernel that fits, "plain" the step-by-step autodiff oracle.
    """

    step_size: StepSize = eqx.field(converter=one_per_run)
    order: IndexOrder = Permutation()
    batch_size: int | None = eqx.field(static=True, default=1, converter=whole_or_none("batch_size"))
    kernel: str = eqx.field(static=True, default="auto")

    def __check_init__(self) -> None:
        """Mistakes that would otherwise surface deep inside a compiled program."""
        check_step_size(self.step_size)
        check_order(self.order)

    @property
    def numbers(self) -> Any:
        """The step size."""
        return self.step_size

    @property
    def records_inside(self) -> bool:
        """Two kernels take one step at a time."""
        return self.kernel in ("plain", "single")

    def advance(self, state: State, segment: Segment) -> State:
        """One run after the steps of the segment, by the kernel that was chosen."""
        return KERNELS[self.kernel](state, segment)

    def fitted(
        self, networks: Any, data: Dataset, loss: Loss, layers: Layers, watch: Any, dense: bool = False
    ) -> "SGD":
        """The same with a kernel for this request."""
        kernel = self._chosen(networks, data, loss, layers, watch, dense)
        return SGD(self.step_size, self.order, self.batch_size, kernel)

    def _chosen(self, networks: Any, data: Dataset, loss: Loss, layers: Layers, watch: Any, dense: bool) -> str:
        ruled = isinstance(self.step_size, StepRule)
        in_blocks = block.fits(networks, watch) and not ruled
        in_one = fused.fits(networks, data, self.batch_size, layers, watch) and not ruled
        in_sweeps = minibatch.fits(networks, data, self.batch(data.n_samples), layers, watch) and not ruled
        singly = single.fits(networks, self.batch(data.n_samples))
        if self.kernel != "auto":
            if not isinstance(self.kernel, str) or self.kernel not in KERNELS:
                raise ValueError(f"kernel must be 'auto' or one of {sorted(KERNELS)}, got {self.kernel!r}")
            if self.kernel in ("blocked", "gram") and not in_blocks:
                raise ValueError(
                    f"the {self.kernel} kernel trains a TwoLayer network with a step size that is a number, without a"
                    " watch, or with an OutputWatch"
                )
            if self.kernel == "fused" and not in_one:
                raise ValueError(
                    "the fused kernel trains the hidden layer of a TwoLayer network with one output and at most"
                    f" {fused.MOST_NEURONS} neurons, one sample per step, without a watch, on a GPU in float32"
                )
            if self.kernel == "minibatch" and not in_sweeps:
                raise ValueError(
                    "the minibatch kernel trains the hidden layer of a TwoLayer network with at most"
                    f" {minibatch.MOST_OUTPUTS} outputs, at most {minibatch.MOST_ROWS} samples per step, without a"
                    " watch, on a GPU in float32"
                )
            if self.kernel == "single" and not singly:
                raise ValueError("the single kernel trains a TwoLayer network with one sample per step")
            return self.kernel
        if dense:  # it would cut blocks of steps to pieces
            return "single" if singly else "plain"
        if in_sweeps and minibatch.pays(networks, data, self.batch(data.n_samples)):
            return "minibatch"
        if in_one and fused.pays(networks, data):
            return "fused"
        if singly and (not in_blocks or single.pays(networks, loss)):
            return "single"
        if in_blocks and self.batch(data.n_samples) <= block.ROWS // 2:
            return "gram" if gram.pays(data) else "blocked"
        return "plain"

    def trial(self, n_samples: int) -> StallTest:
        """Every sample once, alone. A batch changes no entry by more than the most that one of its samples would."""
        return StallTest(Cyclic(), 1, n_samples)

    def memory(self, sizes: Sizes) -> tuple[int, int]:
        """By kernel."""
        item, n, neurons, weights = sizes.item, sizes.samples, sizes.neurons, sizes.weights
        rows = max(block.ROWS, sizes.batch)
        match self.kernel:
            case "plain" | "single":
                return 3 * weights + item * sizes.batch * (sizes.dim + 4 * neurons), 0
            case "gram":
                inner = item * n * n * (1 + (sizes.batch > 1))
                return weights + item * (3 * n * neurons + rows * (rows + 4 * neurons)), inner
            case "minibatch":  # and the inputs once more, in pieces
                return 2 * weights + item * block.ROWS * 5 * neurons, item * n * sizes.dim
            case _:
                return 2 * weights + item * rows * (2 * sizes.dim + 5 * neurons + 2 * rows), 0
