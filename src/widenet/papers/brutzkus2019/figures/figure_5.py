"""Figure 5 of brutzkus2019: a larger margin γ on positive points gives a smaller test error on XORD."""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
import scipy
import xarray as xr

from widenet.data import make_xord
from widenet.papers.base import Comparison, Figure
from widenet.papers.brutzkus2019.figures.figure_1 import CHANNELS
from widenet.papers.brutzkus2019.runs.sampled_runs import part_of, train_sampled
from widenet.types import Progress, Scale, silent

WIDE = 20
"""From this number of channels on, the paired test is asked for at every width."""


def compute_figure_5(
    seed: int,
    progress: Progress = silent,
    *,
    channels: Sequence[int] = CHANNELS,
    n_runs: int = 100,
    margins: Sequence[float] = (1.0, 5.0),
) -> xr.Dataset:
    """Exact test errors; a run has the same training set and the same initial filters for every margin."""
    law = make_xord()
    test_error = np.zeros((len(margins), len(channels), n_runs))
    train_error = np.zeros_like(test_error)
    for column, width in enumerate(channels):
        for row, margin in enumerate(margins):
            part = part_of(progress, column * len(margins) + row, len(channels) * len(margins))
            runs = train_sampled(seed, law, width, n_runs, margin, progress=part)
            test_error[row, column], train_error[row, column] = law.error(jnp.asarray(runs.outputs)), runs.train_error
    axes = ("margin", "channels", "run")
    return xr.Dataset(
        {"test_error": (axes, test_error), "train_error": (axes, train_error)},
        coords={"margin": list(margins), "channels": list(channels), "run": np.arange(n_runs)},
        attrs={"seed": seed},
    )


def compare_figure_5(numbers: xr.Dataset) -> list[Comparison]:
    """γ = 5 errs less than γ = 1: on average, at every width from 20 channels on, and in a paired test."""
    small, large = (numbers.test_error.isel(margin=place) for place in (0, -1))
    gain = small - large
    names = f"with γ = {float(large.margin):g} / with γ = {float(small.margin):g}"
    below_one = (0.0, float(np.nextafter(1, 0)))
    reported = "setting γ = 5 gives better performance than setting γ = 1"
    basis = "the paper shows an image without numbers; any ratio below 1 agrees"
    rows = [
        Comparison(
            name=f"mean test error {names}, all widths together",
            reported=reported,
            measured=float(large.mean() / small.mean()),
            interval=None,
            band=below_one,
            basis=basis,
        )
    ]
    for width in numbers.channels.values[numbers.channels.values >= WIDE]:
        pairs = gain.sel(channels=width).values
        rows += [
            Comparison(
                name=f"mean test error {names}, {width} channels",
                reported=reported,
                measured=float(large.sel(channels=width).mean() / small.sel(channels=width).mean()),
                interval=None,
                band=below_one,
                basis=basis,
            ),
            Comparison(
                name=f"p-value of the paired test that γ = {float(large.margin):g} errs less, {width} channels",
                reported=reported,
                measured=paired_p(pairs),
                interval=None,
                band=(0.0, 0.01),
                basis="Wilcoxon's signed-rank test, one-sided, runs paired by data and initial filters",
            ),
        ]
    return rows


def paired_p(gains: np.ndarray) -> float:
    """One-sided: how likely gains like these are if neither margin is better. 1 where all pairs are equal."""
    if not np.any(gains):
        return 1.0
    found: Any = scipy.stats.wilcoxon(gains, alternative="greater")
    return float(found.pvalue)


figure_5 = Figure(
    id="brutzkus2019.figure_5",
    title="XORD: test error with margins γ = 1 and γ = 5, 4 to 200 channels",
    caption=(
        "The setting of Figure 1, all runs, with two margins γ on positive points; each run has the same training set "
        "and the same initial filters for both. The paper averages 100 runs per point; here 400, so that a paired test "
        "can decide at every width. Law of the non-diverse points as in figure_1, an assumption."
    ),
    compute=compute_figure_5,
    compare=compare_figure_5,
    sizes={
        Scale.QUICK: {"channels": CHANNELS, "n_runs": 400, "margins": (1.0, 5.0)},
        Scale.PAPER: {"channels": CHANNELS, "n_runs": 400, "margins": (1.0, 5.0)},
    },
)
