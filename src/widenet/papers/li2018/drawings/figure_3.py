"""The drawing of Figure 3 of li2018."""

from functools import partial

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase
from matplotlib.patches import Circle

from widenet.data.components import BALL_CENTRES
from widenet.papers.li2018.formulas import widest_component
from widenet.plots.axes import log_axis, number
from widenet.plots.marks import measured
from widenet.plots.picture import Panel, Picture
from widenet.plots.style import INK, MEASURED, MINUS, PLUS, PROMISE, SOFT

COLOURS = (PLUS, MINUS)
NAMES = ("plus", "minus")
RADIUS, AROUND = 0.05, 0.12
"""Of a ball, and of what is drawn around it."""


def draw(numbers: xr.Dataset) -> Picture:
    """The points with two components per class and with one, and how wide those are beside what (A1) allows."""
    panels = (
        Panel("Two components per class", partial(draw_plane, numbers, 2), height=300),
        Panel("One component per class", partial(draw_plane, numbers, 1), height=300),
        Panel("Width of a component over the distance of classes, λ", partial(draw_widths, numbers), True, 105),
    )
    note = (
        f"{numbers.sizes['point'] // 4} points per ball. Rings and bands: the components. δ is the smallest distance "
        "between points of different classes. (A1) asks that no component is wider than δ/(8l), with l "
        "components per class."
    )
    return Picture(panels, note)


def draw_plane(numbers: xr.Dataset, count: int, canvas: FigureBase) -> None:
    """The points, their components, and the two lengths that (A1) compares."""
    axes = canvas.subplots()
    points, classes = numbers["points"].values, numbers["classes"].values
    for number_, (colour, name) in enumerate(zip(COLOURS, NAMES, strict=True)):
        own = points[classes == number_]
        axes.plot(own[:, 0], own[:, 1], "os"[number_], color=colour, markersize=1.2, markeredgewidth=0, zorder=4)
        draw_components(axes, BALL_CENTRES[number_], count, colour)
        x, y = BALL_CENTRES[number_][1]
        axes.annotate(name, (x, y), (0, 13), textcoords="offset points", ha="center", color=colour)
    separation, diameter = float(numbers["separation"]), float(numbers["diameter"].sel(components=count))
    axes.annotate("", (RADIUS, 0), (2 - RADIUS, 0), arrowprops={"arrowstyle": "<->", "color": INK, "shrinkA": 0,
                  "shrinkB": 0})  # fmt: skip
    axes.annotate(f"δ = {number(separation)}", (1, 0), (0, -4), textcoords="offset points", ha="center", va="top")
    at, aside, turn = ((2, 0), (0, -16), 0) if count == 2 else ((1.5, 1.5), (0, 0), 45)
    axes.annotate(f"width {number(diameter)}", at, aside, textcoords="offset points", ha="center", va="center",
                  color=SOFT, rotation=turn)  # fmt: skip
    axes.set_xlim(-0.4, 2.4)
    axes.set_ylim(-0.4, 2.4)
    axes.set_aspect("equal")
    axes.set_xticks((0, 1, 2))
    axes.set_yticks((0, 1, 2))
    axes.grid(visible=False)


def draw_components(axes: Axes, centres: np.ndarray, count: int, colour: str) -> None:
    """A ring around every ball, or a band that holds both balls of a class."""
    if count == 2:
        for x, y in centres:
            axes.add_patch(Circle((x, y), AROUND, fill=False, edgecolor=colour, linewidth=1.0))
        return
    (x, y), (u, v) = centres
    along = np.array([u - x, v - y]) / np.hypot(u - x, v - y)
    across = np.array([-along[1], along[0]])
    turn = np.linspace(-np.pi / 2, np.pi / 2, 33)[:, None]
    ends = [np.array(end) + AROUND * (np.cos(turn) * way * along + np.sin(turn) * way * across)
            for end, way in (((u, v), 1), ((x, y), -1))]  # fmt: skip
    axes.fill(*np.concatenate(ends).T, color=colour, alpha=0.16, linewidth=0)


def draw_widths(numbers: xr.Dataset, canvas: FigureBase) -> None:
    """λ as a dot for two components and for one, and the most that (A1) allows as a wall."""
    axes, separation = canvas.subplots(), float(numbers["separation"])
    for row, count in enumerate((2, 1)):
        width, allowed = float(numbers["diameter"].sel(components=count)) / separation, float(widest_component(count))
        axes.plot([width, allowed], [-row, -row], color=MEASURED, linewidth=3.5, alpha=0.36, solid_capstyle="butt")
        axes.plot([allowed, allowed], [-row - 0.3, -row + 0.3], color=PROMISE, linewidth=2.2, zorder=4)
        measured(axes, [width], [-row])
        _beside(axes, (width, -row), f"λ = {number(width)}", width > allowed, MEASURED)
        _beside(axes, (allowed, -row), f"allowed: {number(allowed)}", width < allowed, INK)
    axes.set_yticks((0, -1), ("l = 2", "l = 1"))
    axes.set_ylim(-1.5, 0.5)
    log_axis(axes, "x")
    axes.set_xlim(0.02, 4)
    axes.grid(visible=False)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _beside(axes: Axes, at: tuple[float, int], words: str, right: bool, colour: str) -> None:
    axes.annotate(words, at, (7 if right else -7, 0), textcoords="offset points", va="center_baseline", color=colour,
                  ha="left" if right else "right")  # fmt: skip
