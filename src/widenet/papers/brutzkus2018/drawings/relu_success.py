"""The drawing of the phase diagram of Theorem 9."""

import numpy as np
import xarray as xr
from matplotlib.figure import FigureBase
from matplotlib.patheffects import Normal, Stroke

from widenet.plots.axes import named, percent, percent_axis
from widenet.plots.marks import End, label_ends
from widenet.plots.picture import Panel, Picture
from widenet.plots.style import INK, PAGE, SEQUENTIAL, SOFT

HEIGHT = 380
LEVELS = (0.1, 0.5, 0.9)


def draw(numbers: xr.Dataset) -> Picture:
    """Share of runs at loss 0 as a heat map, the exact probability as contours, the two thresholds as lines."""
    delta = numbers.attrs["delta"]
    title = "Share of runs that reach loss 0"
    panel = Panel(title, lambda canvas: _phases(canvas, numbers), True, HEIGHT)
    return Picture(
        [panel],
        f"{numbers.attrs['n_runs']} runs per cell, δ = {delta:g}. Lines: the thresholds of Theorem 9. Dashed: where "
        "the exact probability (1 − 2⁻ᵏ)ᵈ is 10, 50 and 90\u202f%.",
    )


def _phases(canvas: FigureBase, numbers: xr.Dataset) -> None:
    axes = canvas.subplots()
    half, dim = numbers["half_width"].values, numbers["dim"].values
    share = numbers["reached"].transpose("half_width", "dim").values / numbers.attrs["n_runs"]
    logs = np.log2(dim)
    image = axes.pcolormesh(logs, half, share, cmap=SEQUENTIAL, vmin=0, vmax=1, shading="nearest", rasterized=True)
    low, high = logs[0] - 0.5, logs[-1] + 0.5
    axes.set_xlim(low, high)
    axes.set_ylim(half[0] - 0.5, half[-1] + 0.5)
    # The law is a formula, so its contours need not follow the cells: (1 − 2^−k)^d = p at k = −log2(1 − p^(1/d)).
    fine, ends = np.linspace(low, high, 200), []
    outlined = [Stroke(linewidth=3.2, foreground=PAGE), Normal()]
    for level in LEVELS:
        exact = -np.log2(-np.expm1(np.log(level) / 2**fine))
        axes.plot(fine, exact, color=PAGE, linewidth=1.1, linestyle=(0, (4, 2)))
        ends.append(End(exact[-1], f"{percent(level)} exactly", SOFT))
    delta = numbers.attrs["delta"]
    for words, values in (
        (f"k = log₂(2d/δ): at least {percent(1 - delta)} succeed", np.log2(2 * 2**fine / delta)),
        (f"k = log₂(d/ln(1/δ)): at most {percent(delta)}", np.log2(2**fine / np.log(1 / delta))),
    ):
        axes.plot(fine, values, color=INK, linewidth=1.6, path_effects=outlined)
        ends.append(End(values[-1], words, INK))
    axes.set_xticks(logs, [str(each) for each in dim])
    axes.set_yticks(half)
    named(axes, "dimension d (number of orthonormal points)", "half-width k")
    axes.grid(visible=False)
    axes.tick_params(length=0)
    bar = canvas.colorbar(image, ax=axes, location="top", shrink=0.45, aspect=26, anchor=(1.0, 0.0), pad=0.01)
    bar.set_label("share of runs at loss 0")
    bar.outline.set_visible(False)
    percent_axis(bar.ax, "x")
    label_ends(axes, ends, HEIGHT - 40)
