"""Figure 6 of sarussi2021: more pairs of digits."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from widenet.figures.base import ANY, Comparison, Figure
from widenet.papers.sarussi2021.figures.comparisons import OURS, added, beside
from widenet.papers.sarussi2021.figures.figure_2 import margins_row
from widenet.papers.sarussi2021.runs.curves import PAIRS, curves, pairs

SAID = "Convergence to a classifier that is linear on the data, for MNIST pairs"
NAMES = tuple(f"{first} against {second}" for first, second in PAIRS)
HARD = ("3 against 5", "4 against 9")


def reduce_figure_6(cells: Sequence[xr.Dataset]) -> xr.Dataset:
    """One curve per pair and initialization."""
    names = ["nonlinear", "nonlinear_sharp", "train_error", "separator_norm"]
    return xr.concat([each[names] for each in cells], "pair", combine_attrs="drop").assign_coords(pair=list(NAMES))


def compare_figure_6(numbers: xr.Dataset) -> list[Comparison]:
    """Every pair ends nearly linear on the data, and far below where it was after one epoch."""
    curve = numbers.nonlinear.mean("run")
    last, first = curve.isel(epoch=-1), curve.sel(epoch=1)
    falls = xr.where(last <= 0.005, 0.0, last / first)
    easy = [name for name in NAMES if name not in HARD]
    rows = [
        beside(
            f"largest mean share after the last epoch ({NAMES[int(np.argmax(last.values))]})",
            SAID,
            float(last.max()),
            (0.0, 0.1),
            OURS,
        ),
        beside(
            "largest part that is left of the share after one epoch",
            SAID,
            float(falls.max()),
            (0.0, 0.4),
            f"{OURS}; a share of at most 0.005 counts as nothing",
        ),
        margins_row(numbers),
        added(
            "smallest hard pair minus largest easy pair, at the end",
            float(last.sel(pair=list(HARD)).min() - last.sel(pair=easy).max()),
            ANY,
            "positive if 3 against 5 and 4 against 9 end above the others; the paper orders no pairs",
        ),
    ]
    return rows


figure_6 = Figure(
    id="sarussi2021.figure_6",
    title="More pairs of digits: the share of points in the non-linear region",
    caption=(
        "Each line is an average over 5 initializations, as printed; training and test images together. Ours: which "
        "pairs, and the setting of Figure 2 from small weights."
    ),
    setting="MNIST pairs, which ones is not printed. “Each line corresponds to an average over 5 initializations.”",
    claims=("theorem_5_1", "theorem_5_1_sharp", "corollary_6_2"),
    reads=(curves.at(pairs),),
    reduce=reduce_figure_6,
    compare=compare_figure_6,
)
