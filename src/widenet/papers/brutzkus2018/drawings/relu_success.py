"""The drawing of the phase diagram of Theorem 9."""

import numpy as np
import xarray as xr
from matplotlib.figure import Figure as Drawing
from matplotlib.patheffects import Normal, Stroke

from widenet.papers.brutzkus2018.drawings.error_panels import note_below
from widenet.plots.style import COLOURS, DASHES, styled

LEVELS = (0.1, 0.5, 0.9)


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """Share of runs at loss 0 as a heat map, the exact probability as contours, the two thresholds as lines."""
    drawing = Drawing(figsize=(6.2, 3.9), layout="constrained")
    axes = drawing.subplots()
    half, dim = numbers["half_width"].values, numbers["dim"].values
    share = numbers["reached"].transpose("half_width", "dim").values / numbers.attrs["n_runs"]
    logs = np.log2(dim)
    image = axes.pcolormesh(logs, half, share, cmap="cividis", vmin=0, vmax=1, shading="nearest", rasterized=True)
    drawing.colorbar(image, ax=axes, label="share of runs at loss 0")
    # The law is a formula, so its contours need not follow the cells: (1 − 2^−k)^d = p at k = −log2(1 − p^(1/d)).
    low, high = logs[0] - 0.5, logs[-1] + 0.5
    fine = np.linspace(low, high, 200)
    outlined = [Stroke(linewidth=2.2, foreground="#222222"), Normal()]
    for level in LEVELS:
        curve = -np.log2(-np.expm1(np.log(level) / 2**fine))
        label = "(1 − 2^−k)^d = 0.1, 0.5, 0.9, exactly" if level == LEVELS[0] else "_"
        axes.plot(fine, curve, color="white", linewidth=1.1, path_effects=outlined, label=label)
        place = int(len(fine) * 0.8)
        words = axes.annotate(f"{level:g}", (fine[place], curve[place]), color="white", ha="right", va="bottom")
        words.set_path_effects(outlined)
    delta = numbers.attrs["delta"]
    lines = {
        f"k = log2(2d/δ): succeeds with probability ≥ {1 - delta:g}": np.log2(2 * 2**fine / delta),
        f"k = log2(d/ln(1/δ)): stuck with probability ≥ {1 - delta:g}": np.log2(2**fine / np.log(1 / delta)),
    }
    for dashes, (label, values) in zip(DASHES[1:], lines.items(), strict=False):
        axes.plot(fine, values, color=COLOURS[1], linestyle=dashes, linewidth=1.8, label=label)
    axes.set_xlim(low, high)
    axes.set_ylim(half[0] - 0.5, half[-1] + 0.5)
    axes.set_xticks(logs, [str(each) for each in dim])
    axes.set_yticks(half)
    axes.grid(visible=False)
    axes.set_xlabel("dimension d (number of orthonormal points)")
    axes.set_ylabel("half-width k")
    drawing.legend(loc="outside upper center", ncols=1, handlelength=2.4)
    note_below(drawing, f"{numbers.attrs['n_runs']} runs per cell, δ = {delta:g}.")
    return drawing
