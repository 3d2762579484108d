"""What Figures 4, 7 and 8 of brutzkus2019 share: their numbers, from one cell per size of the training set."""

import functools
from collections.abc import Sequence

import xarray as xr

from widenet.figures import Figure
from widenet.papers.brutzkus2019.figures.mnist_filter_bands import compare_mnist_filters
from widenet.papers.brutzkus2019.runs.mnist_filters import FROZEN, filter_settings, mnist_filters

ANGLES = ("trained_angle", "untrained_angle", "other_untrained_angle")
SHOWN = tuple(f"{name}_{what}" for name in ("trained", "untrained") for what in ("filters", "centres", "cluster"))


def filter_numbers(cells: Sequence[xr.Dataset], clustered_size: int) -> xr.Dataset:
    """Test errors for all sizes; angles and filters for one: `clustered_size`, or the largest if it is not there."""
    by_size = {int(cell["size"]): cell for cell in cells}
    clustered_size = clustered_size if clustered_size in by_size else max(by_size)
    clustering = by_size[clustered_size][[*ANGLES, *SHOWN]].drop_vars("size")
    errors = [cell.drop_vars([*ANGLES, *SHOWN, "diverged"]) for cell in by_size.values()]
    numbers = xr.concat(errors, "size", combine_attrs="drop").assign_coords({"filters": list(FROZEN)})
    numbers = numbers.assign(diverged=sum(int(cell["diverged"]) for cell in cells)).merge(clustering)
    return numbers.assign_attrs(cells[0].attrs | {"clustered_size": clustered_size})


def filter_figure(id: str, *, side: int, clustered_size: int) -> Figure:
    """Clusters of the filters of a wide network, and their centres in a narrow one; side × side pixels each."""
    return Figure(
        id=id,
        title=f"MNIST, filters of {side} × {side}: clusters of a wide network, centres in a narrow one",
        caption=(
            "The paper does not state the number of epochs, the padding, the initial biases, the training-set sizes "
            "of part (b) or whether centres come from unit filters. Here: the large network until its training error "
            "is 0 and two epochs more, small ones for 40 epochs (quick scale: 20), no padding, biases 0, unit "
            "filters, pixels from 0 to 1. The paper trains one large network per size; paper scale here trains five, "
            "and the runs on centres are divided among them. The small network's learning rate and initial scale are "
            "those with the smallest test error, as in the paper."
        ),
        setting=(
            f"A convolution with {side} × {side} filters and 120 channels, max pooling over 2 × 2 and “a fully "
            f"connected layer”, trained by Adam on {clustered_size} images for part (a). “Batch size which is "
            "one-tenth of the size of the training set”, learning rate 0.01, truncated normal weights of standard "
            "deviation 0.05; filters of norm 1 in four clusters of k-means. The small network has 4 channels: 20 "
            "runs from the centres, with only “the fully connected layer and the bias of the first layer” "
            "trained, and 20 from random weights for each of 6 pairs of learning rate and standard deviation, of "
            "which the best is drawn."
        ),
        claims=("lemma_6_1", "theorem_6_3_angle"),
        reads=(mnist_filters.at(functools.partial(filter_settings, filter_side=side)),),
        compare=compare_mnist_filters,
        reduce=functools.partial(filter_numbers, clustered_size=clustered_size),
        drawing="mnist_filters",
    )
