"""Figure 4 of chatterji2021: a ReLU and a Huberized ReLU on the shoulders distribution."""

from collections.abc import Sequence

import numpy as np
import scipy.stats
import xarray as xr

from widenet.figures.base import Comparison, Figure
from widenet.figures.statistics import share_interval
from widenet.papers.chatterji2021.figures.loss_curves import row, summary
from widenet.papers.chatterji2021.runs.simulations import (
    READING,
    READINGS,
    relu_runs,
    shoulder_runs,
    simulations,
)

EVIDENCE = "there is evidence that training with the non-smooth objective … leads to a limited extent of overshooting"
AGREE = "the shapes of the loss curves agree on a coarser scale"
CHOSEN = "reading D was chosen because it is the one that shows this; the limit is ours"


def reduce_figure_4(huberized: Sequence[xr.Dataset], relu: Sequence[xr.Dataset]) -> xr.Dataset:
    """Both activations on the same data and from the same starts."""
    parts = [summary(cell) for cell in (*huberized, *relu)]
    return xr.concat(parts, "activation", combine_attrs="override").assign_coords(activation=["huberized", "relu"])


def overshoots(runs: xr.Dataset) -> xr.DataArray:
    """Which runs have a step after which the loss is larger."""
    return runs["rise"] > 0


def overshoot_p_value(numbers: xr.Dataset) -> float:
    """Fisher's exact test, one-sided: do more ReLU runs than Huberized ones have a step that raises the loss?"""
    counts = [overshoots(numbers.sel(activation=name)).values for name in ("relu", "huberized")]
    table = [[int(each.sum()), int((~each).sum())] for each in counts]
    return float(np.asarray(scipy.stats.fisher_exact(table, alternative="greater"))[1])


def compare_figure_4(numbers: xr.Dataset) -> list[Comparison]:
    """Overshooting with the ReLU, limited, and curves that otherwise agree: in reading D; the others show none."""
    chosen = numbers.sel(reading=READING)
    relu, smooth = (chosen.sel(activation=name) for name in ("relu", "huberized"))
    apart = abs(float(np.median(np.log(relu["last"])) - np.median(np.log(smooth["last"]))))
    rows = [
        row("D: p-value of Fisher's exact test, ReLU against Huberized", EVIDENCE, overshoot_p_value(chosen),
            (0.0, 0.01), basis=CHOSEN),
        row("D: largest rise L_{t+1}/L_t − 1 with the ReLU", EVIDENCE, float(relu["rise"].max()), (0.0, 0.15),
            basis=CHOSEN),
        row("D: difference of the medians of log L_100", AGREE, apart, (0.0, 0.6), basis=CHOSEN),
    ]  # fmt: skip
    for name, runs, band in (("ReLU", relu, (0.5, 0.85)), ("Huberized", smooth, (0.0, 0.25))):
        up = overshoots(runs)
        share, interval = float(up.mean()), share_interval(int(up.sum()), up.size)
        rows.append(row(f"D: share of {name} runs that overshoot", "—", share, band, added=True, interval=interval))
    for reading in (name for name in READINGS if name != READING):
        share = float(overshoots(numbers.sel(reading=reading, activation="relu")).mean())
        rows.append(row(f"{reading}: share of ReLU runs that overshoot", "—", share, (0.0, 0.0), added=True))
    return rows


figure_4 = Figure(
    id="chatterji2021.figure_4",
    title="Shoulders with a ReLU and with a Huberized ReLU: training loss",
    caption=(
        "128 points, p = 100, h = 1/p, weights N(0, (4p)^(−5/4)), first step (4p)^(−3/4) and then log²(1/L_t)/p, 100 "
        "steps, as printed. Not printed, so run in four ways: A and B take the loss of f, C and D that of 2f (a "
        "softmax over f and −f); A and C have no biases, B and D have biases that start like the weights. "
        "Only D shows overshooting, so agreement with that sentence is no evidence for D. 40 runs of each "
        "activation are counted; five of each are drawn, on the same data and from the same weights."
    ),
    setting=(
        "“Ten training runs as described above for the shoulders data, except that, for five of them, the Huberized "
        "ReLU was replaced by a standard ReLU.”"
    ),
    claims=("theorem_1", "huberized_slopes"),
    reads=(simulations.at(shoulder_runs), simulations.at(relu_runs)),
    reduce=reduce_figure_4,
    compare=compare_figure_4,
)
