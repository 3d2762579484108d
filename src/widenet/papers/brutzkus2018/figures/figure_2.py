"""Figure 2 of brutzkus2018: as Figure 1, with both layers trained."""

from collections.abc import Sequence

import xarray as xr

from widenet.figures.base import Comparison, Figure
from widenet.papers.brutzkus2018.figures.mnist_errors import (
    add_reference,
    describe,
    level_rows,
    over_widths,
    training_rows,
    zero_error_share,
)
from widenet.papers.brutzkus2018.runs.mnist import (
    MnistRuns,
    MnistSeparator,
    mnist,
    mnist_both_layers_settings,
    mnist_reference_settings,
    mnist_separator,
)

SIMILAR = "the training and generalization performance are similar to the performance in [Figure 1]"


def reduce_figure_2(
    cells: Sequence[MnistRuns], references: Sequence[MnistRuns], separators: Sequence[MnistSeparator]
) -> xr.Dataset:
    """Train and test error per epoch with both layers trained, and the final test errors of Figure 1's runs.

    A run and its counterpart with a fixed second layer have the same start and the same order of samples.
    """
    (separator,) = separators
    numbers = over_widths(cells)
    add_reference(numbers, references)
    describe(
        numbers,
        cells[0],
        separator,
        step_size=cells[0].setting.step_size,
        first_layer_step_size=references[0].setting.step_size,
    )
    return numbers


def compare_figure_2(numbers: xr.Dataset) -> list[Comparison]:
    """The paper says that the performance is close to that of Figure 1, and prints no number."""
    steps = f" (step size {numbers.attrs['first_layer_step_size']:g} there, {numbers.attrs['step_size']:g} here)"
    return [
        zero_error_share(numbers, SIMILAR, (0.9, 1.0)),
        *level_rows(numbers, SIMILAR, "Figure 1", steps),
        *training_rows(numbers, "Figure 1", steps),
    ]


figure_2 = Figure(
    id="brutzkus2018.figure_2",
    title="MNIST 3 against 5, both layers trained: train and test error at widths 10, 100 and 1000",
    caption=(
        "Both layers trained by batch-1 SGD with the hinge loss, both gradients at the old weights, the output weights "
        "from ±1/√(2k); otherwise as Figure 1. The paper does not state the step size; here 1, the largest power of "
        "ten at which pilot runs converged. Figure 1's runs, beside which these are set, have step size 1 at paper "
        "scale and 10 at quick scale. The output weights may change sign here."
    ),
    setting=(
        "“The setting of Figure 1 is implemented, but now the second layer is trained as well”, from 1/√(2k) or "
        "−1/√(2k)."
    ),
    claims=("equation_13", "section_5_3_signs"),
    reads=(mnist.at(mnist_both_layers_settings), mnist.at(mnist_reference_settings), mnist_separator),
    reduce=reduce_figure_2,
    compare=compare_figure_2,
)
