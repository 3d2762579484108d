"""Figure 4 of brutzkus2019: filters of 3 × 3 pixels on MNIST, clustered (a) and handed to a small network (b)."""

from widenet.papers.base import Figure
from widenet.papers.brutzkus2019.figures.mnist_filter_bands import compare_mnist_filters
from widenet.papers.brutzkus2019.figures.mnist_filters import PAIRS, compute_mnist_filters
from widenet.types import Scale

CAPTION = (
    "The paper does not state the number of epochs, the padding, the initial biases, the training-set sizes of "
    "part (b) or whether centres come from unit filters. Here: the large network until its training error is 0 "
    "and two epochs more, small ones for 40 epochs (quick scale: 20), no padding, biases 0, unit filters, pixels "
    "from 0 to 1. The paper trains one large network per size; paper scale here trains five, and the runs on "
    "centres are divided among them. The small network's learning rate and initial scale are those with the "
    "smallest test error, as in the paper."
)
QUICK_SIZES, PAPER_SIZES = (500, 1000), (1000, 2000, 6000)
QUICK = {
    "sizes": QUICK_SIZES,
    "pairs": ((0.01, 0.01), (0.01, 0.05)),
    "n_runs": 3,
    "n_wide": 1,
    "wide_epochs": 8,
    "narrow_epochs": 20,
    "n_test": 1000,
    "dtype": "float32",
}
PAPER = {
    "sizes": PAPER_SIZES,
    "pairs": PAIRS,
    "n_runs": 20,
    "n_wide": 5,
    "wide_epochs": 40,
    "narrow_epochs": 40,
    "n_test": 10_000,
    "dtype": "float32",
}


def filter_figure(number: int, filter_side: int, clustered_size: int) -> Figure:
    """The figure of this number, for filters of this side; part (a) of its paper scale has `clustered_size` images."""
    return Figure(
        id=f"brutzkus2019.figure_{number}",
        title=f"MNIST, filters of {filter_side} × {filter_side}: clusters of a wide network, centres in a narrow one",
        caption=CAPTION,
        compute=compute_mnist_filters,
        compare=compare_mnist_filters,
        sizes={
            Scale.QUICK: {"filter_side": filter_side, "clustered_size": QUICK_SIZES[-1]} | QUICK,
            Scale.PAPER: {"filter_side": filter_side, "clustered_size": clustered_size} | PAPER,
        },
    )


figure_4 = filter_figure(4, filter_side=3, clustered_size=6000)
