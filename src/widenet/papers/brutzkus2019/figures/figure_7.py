"""Figure 7 of brutzkus2019: Figure 4 with filters of 4 × 4 pixels."""

import functools

from widenet.figures import Figure
from widenet.papers.brutzkus2019.figures.mnist_filter_bands import compare_mnist_filters
from widenet.papers.brutzkus2019.figures.mnist_filters import filter_numbers
from widenet.papers.brutzkus2019.runs.mnist_filters import filter_settings, mnist_filters

figure_7 = Figure(
    id="brutzkus2019.figure_7",
    title="MNIST, filters of 4 × 4: clusters of a wide network, centres in a narrow one",
    caption=(
        "The paper does not state the number of epochs, the padding, the initial biases, the training-set sizes of "
        "part (b) or whether centres come from unit filters. Here: the large network until its training error is 0 "
        "and two epochs more, small ones for 40 epochs (quick scale: 20), no padding, biases 0, unit filters, pixels "
        "from 0 to 1. The paper trains one large network per size; paper scale here trains five, and the runs on "
        "centres are divided among them. The small network's learning rate and initial scale are those with the "
        "smallest test error, as in the paper."
    ),
    reads=(mnist_filters.at(functools.partial(filter_settings, filter_side=4)),),
    compare=compare_mnist_filters,
    reduce=functools.partial(filter_numbers, clustered_size=2000),
    drawing="mnist_filters",
)
