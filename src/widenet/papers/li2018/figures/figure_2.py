"""Figure 2 of li2018: accuracy, patterns, distance and spectra on MNIST, at several widths."""

from collections.abc import Sequence

import xarray as xr

from widenet.figures.base import Comparison, Figure
from widenet.papers.li2018.figures.figure_1 import largest, smallest
from widenet.papers.li2018.figures.summaries import UNSAID, mean_row, ours, over, row, slopes, widths_of
from widenet.papers.li2018.runs.curves import Curves, curves, mnist_widths, raw_pixels

TARGET = 0.95
SAID_SIMILAR = "The observation in general is similar to those on the synthetic data"
SAID_LESS = "(though less significant)"
SAID_WIDER = "the observed trend become more evident with more overparameterization"
SAID_RANK = "The accumulated updates … have approximately low rank … supported by the results on the synthetic and the MNIST data"  # noqa: E501
LEAST_ACCURACY = {800: 0.94, 20_000: 0.975}
"""After so many steps."""
SMALL = 0.1


def moments_of(cells: Sequence[Curves]) -> tuple[int, int, int]:
    """Three looks, the last one at T."""
    last = cells[0].setting.n_steps
    return (100, last // 2, last)


def reduce_figure_2(cells: Sequence[Curves], pixels: Sequence[Curves]) -> xr.Dataset:
    """All widths with images of norm 1; and pixels as they are at one width."""
    (raw,) = pixels
    numbers = over(cells, "width", widths_of(cells), TARGET, moments_of(cells)).isel(reading=0, drop=True)
    return numbers.assign(
        pixels_flips=("run", raw.flips[:, -1]), pixels_distance=("run", raw.distance[:, -1])
    ).assign_attrs(pixels_width=raw.setting.width)


def compare_figure_2(numbers: xr.Dataset) -> list[Comparison]:
    """Three sentences; that flips and distances are small is printed of Figure 1 alone."""
    last = numbers.isel(moment=-1)
    steps, width = int(numbers.attrs["last"]), int(numbers.attrs["pixels_width"])
    flips, distance = last.flips_at_moments, last.distance_at_moments
    power, end = slopes(distance), distance.isel(width=-1)
    widest = int(numbers.width[-1])
    return [
        row("smallest mean test accuracy at T", SAID_SIMILAR, smallest(last.accuracy_at_moments),
            (LEAST_ACCURACY[steps], 1.0)),
        row("largest mean effective rank of the update, over that of W", SAID_RANK,
            largest(numbers.update_rank / numbers.weight_rank), (0.0, 0.5)),
        row("smallest mean share of changed patterns at T", SAID_LESS, smallest(flips), (SMALL, 0.5),
            basis="above the 0.1 that is printed of Figure 1"),
        row("largest drop σ_j/σ_(j+1) of the update, mean over runs, j = 5 to 40", SAID_LESS, largest(numbers["fall"]),
            (1.0, 3.0), basis="no such fall as in Figure 1, where it is above 20"),
        mean_row("slope of log share of changed patterns at T in log m", SAID_WIDER, slopes(flips), (-1.0, -0.02),
                 basis="falls with the width; the 0.02 is ours"),
        mean_row("slope of log distance at T in log m", SAID_WIDER, power, (-0.65, -0.4),
                 basis="set after pilot runs of this project"),
        mean_row(f"m = {widest}: relative distance at T", UNSAID, end,
                 basis="not small: 0.1 is printed of Figure 1 alone", added=True),
        ours("width at which the distance at T would be 0.1",
             float(widest * (end.mean() / SMALL) ** (-1 / power.mean())), basis="by the slope above"),
        mean_row(f"pixels from 0 to 1, m = {width}: share of changed patterns at T", UNSAID, numbers.pixels_flips,
                 (0.45, 1.0), basis="a control: without norm 1 patterns are lost", added=True),
    ]  # fmt: skip


figure_2 = Figure(
    id="li2018.figure_2",
    title="MNIST: the same picture, less marked",
    caption=(
        "B = 64, η = 400/m, and at paper scale T = 20,000 with all images and mean and standard deviation of 5 "
        "repeats, as printed; quick scale has 30,000 training images, 800 steps and 3 repeats. Not printed: widths, "
        "and how images are scaled (here: norm 1, as (A2) asks; with pixels from 0 to 1 half of the patterns change "
        "and the distances of Figure 5 are far from the printed line). Patterns are compared on the first test images. "
        "Singular values are divided by the largest."
    ),
    reads=(curves.at(mnist_widths), curves.at(raw_pixels)),
    reduce=reduce_figure_2,
    compare=compare_figure_2,
)
