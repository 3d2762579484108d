"""What the drawings of networks in the plane share: decision regions with points, and directions of neurons."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patches import Wedge

from widenet.diagnostics.rays import boundary_rays
from widenet.papers.sarussi2021.sources import split
from widenet.plots.style import MINUS, PLUS, SOFT

SIDE = 300
"""Pixels: the height of a panel with a square in it."""
TINT = 0.14
"""Opacity of a region."""


def draw_regions(axes: Axes, weights: np.ndarray, slope: float, points: np.ndarray, labels: np.ndarray) -> float:
    """Where the network is positive and negative, exactly, with the points; returns half the side of the square."""
    reach = 1.08 * float(np.abs(points).max())
    network = split(weights, 1.0, slope)
    rays = boundary_rays(weights, np.repeat([1.0, -1.0], len(weights) // 2), slope)
    edges = rays if len(rays) else np.array([0.0])
    for start, end in zip(edges, np.append(edges[1:], edges[0] + 360), strict=True):
        middle = np.radians((start + end) / 2)
        sign = network.outputs(np.array([[np.cos(middle), np.sin(middle)]])).item()
        colour = PLUS if sign > 0 else MINUS
        axes.add_patch(Wedge((0, 0), 2 * reach, start, end, facecolor=colour, alpha=TINT, linewidth=0))
    for ray in np.radians(rays):
        axes.plot([0, 2 * reach * np.cos(ray)], [0, 2 * reach * np.sin(ray)], color=SOFT, linewidth=1)
    for sign, colour, marker in ((1, PLUS, "o"), (-1, MINUS, "s")):
        own = points[labels == sign]
        axes.plot(own[:, 0], own[:, 1], marker, color=colour, markersize=3, markeredgewidth=0, zorder=3)
    square(axes, reach)
    return reach


def square(axes: Axes, reach: float) -> None:
    """The square around 0, without a grid."""
    axes.set_aspect("equal")
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-reach, reach)
    axes.grid(visible=False)


def draw_neurons(axes: Axes, weights: np.ndarray) -> None:
    """The direction of every neuron as a spoke of the unit circle: dots for plus, squares for minus."""
    half = len(weights) // 2
    units = weights / np.linalg.norm(weights, axis=1, keepdims=True)
    for rows, colour, marker in ((units[:half], PLUS, "o"), (units[half:], MINUS, "s")):
        spokes = np.stack([np.zeros_like(rows), rows], axis=1)
        axes.add_collection(LineCollection(list(spokes), colors=colour, linewidths=0.7, alpha=0.5))
        axes.plot(rows[:, 0], rows[:, 1], marker, color=colour, markersize=3.5, markeredgewidth=0, zorder=3)
    square(axes, 1.3)
    axes.set_xticks((-1, 0, 1))
    axes.set_yticks((-1, 0, 1))
    for line, (words, colour) in enumerate((("● plus neurons", PLUS), ("■ minus neurons", MINUS))):
        axes.annotate(words, (1, 0), (0, 14 - 11 * line), ("axes fraction", "axes fraction"), "offset points",
                      color=colour, ha="right")  # fmt: skip


def draw_line(axes: Axes, normal: np.ndarray, reach: float, colour: str) -> None:
    """The line through 0 orthogonal to `normal`."""
    along = np.array([-normal[1], normal[0]]) / np.linalg.norm(normal)
    ends = np.outer([-1.5 * reach, 1.5 * reach], along)
    axes.plot(ends[:, 0], ends[:, 1], color=colour, linewidth=1.2, zorder=4)
