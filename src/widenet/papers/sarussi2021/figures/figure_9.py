"""Figure 9 of sarussi2021: an outlier, and a regime of agreement that is not of perfect agreement."""

import xarray as xr

from widenet.figures.base import Comparison, Figure
from widenet.papers.sarussi2021.runs.curves import curves, outlier


def compare_figure_9(numbers: xr.Dataset) -> list[Comparison]:
    """At the last epoch: no error, no disagreement, and no plus neuron that is right on all points."""
    last = numbers.isel(epoch=-1)
    differ = last[["plus_differ", "minus_differ"]].to_array()
    found = "chosen among 14 settings that were tried: it shows that this happens, not that it is usual"
    rows = (
        ("largest training error", "100% prediction accuracy", float(last.train_error.max()), (0.0, 0.0), ""),
        ("most points on which two neurons of one sign differ", "goes to zero", float(differ.max()), (0.0, 0.0), found),
        ("largest share of plus neurons that are right everywhere", "does not increase to 1",
         float(last.plus_right.max()), (0.0, 0.99), found),
    )  # fmt: skip
    return [
        Comparison(name=name, reported=said, measured=value, interval=None, band=band, basis=basis)
        for name, said, value, band, basis in rows
    ]


figure_9 = Figure(
    id="sarussi2021.figure_9",
    title="Two Gaussians and an outlier: neurons agree, but not perfectly",
    caption=(
        "100 neurons, initial deviation 0.0001, step 0.01, five initializations, as printed. Ours, chosen among 14 "
        "settings after seeing them: means ±(3, 0), the outlier at 110° and distance 30, slope 0.3, v = 0.1, 60 "
        "epochs. The state is transient: in longer runs the plus neurons may split."
    ),
    reads=(curves.at(outlier),),
    compare=compare_figure_9,
)
