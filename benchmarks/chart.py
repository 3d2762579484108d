"""The chart of a benchmark: one panel per workload, a bar per peer, and how the cost grows with runs and steps."""

import textwrap
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, NullFormatter

from benchmarks.rows import Row, number
from widenet.plots.style import COLOURS, FORMATS, render, styled

TITLES = {
    "logistic_sgd": "Logistic SGD",
    "late_hinge": "Hinge SGD, late",
    "xord": "XORD, full batch",
    "softmax_64": "Softmax, batch 64",
    "softmax_16": "Softmax, batch 16",
    "descent": "Steps by the loss",
    "flow": "Gradient flow",
    "linear_runs": "More runs",
    "linear_steps": "More steps",
    "parts": "Parts of a block",
}
"""Panels, in their order. Figure 1 is a number of seconds and has none."""
BARS = ("logistic_sgd", "late_hinge", "xord", "softmax_64", "softmax_16", "descent", "flow")
BY_WIDTH = ("softmax_64", "softmax_16")
"""These have a panel for every number of neurons."""
APART, FEW = 3, 3
"""Ticks of a logarithmic axis are at least this factor apart, unless there are only so few."""
LINES = {"linear_runs": "runs", "linear_steps": "steps"}


@styled
def draw(rows: Sequence[Row]) -> Drawing | None:
    """The rows as bars and lines, one colour per device; None if there is nothing to draw."""
    shown = [row for row in rows if row.workload in TITLES and row.us_per_step_per_run is not None]
    panels = _panels(shown)
    if not panels:
        return None
    devices = list(dict.fromkeys(row.device for row in shown))
    colours: dict[str, str] = dict(zip(devices, COLOURS, strict=False))
    columns = min(len(panels), 3)
    lines = -(-len(panels) // columns)
    most = max(5 if own[0].workload in LINES else len(_peers(own)) for _, own in panels)
    size = (1.2 + 3.1 * columns, 0.7 + lines * (1.1 + 0.1 * most * (1 + len(devices))))
    drawing = Drawing(figsize=size, layout="constrained")
    grid = drawing.subplots(lines, columns, squeeze=False)
    for (title, own), axes in zip(panels, grid.flat, strict=False):
        name = own[0].workload
        panel = _bars if name in BARS else _shares if name == "parts" else _lines
        panel(axes, own, colours)
        axes.set_title(title)
    for axes in list(grid.flat)[len(panels) :]:
        axes.remove()
    handles = [Patch(color=colours[device]) for device in devices]
    drawing.legend(handles, devices, loc="outside upper center", ncols=len(devices))
    if any(own[0].workload in BARS for _, own in panels):
        words = "Bars: median over rounds, and how many times as long as widenet. Dashed: the products of a step alone."
        drawing.supxlabel(textwrap.fill(words, 60 * columns), fontsize=7, color="#555555")
    return drawing


def chart_files(rows: Sequence[Row]) -> dict[str, bytes]:
    """The chart in every format, by file name."""
    drawing = draw(rows)
    return {} if drawing is None else {f"bench.{form}": render(drawing, form) for form in FORMATS}


def _panels(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """Title and rows of every panel."""
    panels = []
    for name, title in TITLES.items():
        own = [row for row in rows if row.workload == name]
        if name in BY_WIDTH:
            for width in sorted({row.sizes["neurons"] for row in own}):
                panels.append((f"{title}, {width:,} neurons", [row for row in own if row.sizes["neurons"] == width]))
        elif own:
            panels.append((title, own))
    return panels


def _peers(rows: Sequence[Row]) -> list[str]:
    """The peers of a panel, ours first and then from fast to slow; limits are left out: they are lines."""
    times: dict[str, float] = {}
    for row in rows:
        if not row.peer.startswith("limit"):
            times[row.peer] = max(times.get(row.peer, 0.0), row.us_per_step_per_run or 0.0)
    return sorted(times, key=lambda peer: (not peer.startswith("widenet"), times[peer]))


def _bars(axes: Axes, rows: Sequence[Row], colours: dict[str, str]) -> None:
    peers, devices = _peers(rows), list(dict.fromkeys(row.device for row in rows))
    height = 0.8 / len(devices)
    for row in rows:
        if row.peer in peers:
            place = peers.index(row.peer) - height * (devices.index(row.device) - (len(devices) - 1) / 2)
            us = row.us_per_step_per_run or 0.0
            axes.barh(place, us, height=0.9 * height, color=colours[row.device])
            words = f"×{number(row.ratio_to_ours or 1)}" if row.ratio_to_ours != 1 else f"{number(us)} µs"
            backing = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}  # a limit may pass behind the words
            axes.text(1.15 * us, place, words, va="center", fontsize=7, bbox=backing)
    for device in devices:
        limit = next((row.limit_us for row in rows if row.device == device), None)
        if limit is not None:
            axes.axvline(limit, color=colours[device], linestyle="--", linewidth=1, zorder=0)
    axes.set_xscale("log")
    times = [row.us_per_step_per_run for row in rows if row.us_per_step_per_run]
    axes.set_xlim(min(times) / 3, max(times) * 12)
    axes.set_yticks(range(len(peers)), peers)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("µs per step and run")
    axes.set_ylabel("peer")
    _plain_ticks(axes)


def _lines(axes: Axes, rows: Sequence[Row], colours: dict[str, str]) -> None:
    what = LINES[rows[0].workload]
    for device in dict.fromkeys(row.device for row in rows):
        own = sorted((row for row in rows if row.device == device), key=lambda row: row.sizes[what])
        sizes = [row.sizes[what] for row in own]
        axes.plot(sizes, [row.ratio_to_ours or 0.0 for row in own], marker="o", color=colours[device])
    axes.set_xscale("log")
    axes.set_ylim(0, max(2.0, *(1.1 * (row.ratio_to_ours or 0) for row in rows)))
    axes.set_xlabel(what)
    axes.set_ylabel("cost per step and run\n(smallest size = 1)")
    axes.set_xticks(_apart(sorted({row.sizes[what] for row in rows})))
    _plain_ticks(axes)


def _shares(axes: Axes, rows: Sequence[Row], colours: dict[str, str]) -> None:
    """What each part adds, as a share of the whole step; the parts come one on top of the other."""
    devices = list(dict.fromkeys(row.device for row in rows))
    height = 0.8 / len(devices)
    for number_of_device, device in enumerate(devices):
        own = [row for row in rows if row.device == device]
        parts = [row.peer.removeprefix("+ ") for row in own]
        shares = np.diff([0.0, *(row.ratio_to_ours or 0.0 for row in own)])
        places = np.arange(len(own)) + height * (number_of_device - (len(devices) - 1) / 2)
        axes.barh(places, shares, height=0.9 * height, color=colours[device])
        axes.set_yticks(range(len(parts)), parts)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{100 * tick:g} %"))
    axes.set_xlabel("share of a step, kernel blocked")
    axes.set_ylabel("part")


def _apart(sizes: Sequence[int]) -> list[int]:
    """Those that are far enough from the one before for their labels not to touch."""
    kept: list[int] = []
    for size in sizes:
        if not kept or size >= APART * kept[-1] or len(sizes) <= FEW:
            kept.append(size)
    return kept


def _plain_ticks(axes: Axes) -> None:
    axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}" if tick < 1e5 else f"{tick:.0e}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
