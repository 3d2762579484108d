"""What the drawings of networks in the plane share: decision regions with points, and directions of neurons."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from widenet.papers.sarussi2021.sources import split
from widenet.plots.style import COLOURS

PLUS, MINUS = COLOURS[4], COLOURS[0]
BLACK, YELLOW = "black", "#E6B800"
REGIONS = ListedColormap(["#C9DDEC", "#FBE3B8"])


def draw_regions(
    axes: Axes, weights: np.ndarray, slope: float, points: np.ndarray, labels: np.ndarray, reach: float | None = None
) -> float:
    """Where the network is positive and negative, with the points; returns half the side of the square."""
    reach = reach or 1.08 * float(np.abs(points).max())
    side = np.linspace(-reach, reach, 301)
    grid = np.stack([each.ravel() for each in np.meshgrid(side, side)], axis=1)
    signs = np.sign(split(weights, 1.0, slope).outputs(grid)).reshape(301, 301)
    axes.pcolormesh(side, side, signs, cmap=REGIONS, vmin=-1, vmax=1, rasterized=True)
    for sign, colour, marker in ((1, PLUS, "o"), (-1, MINUS, "s")):
        own = points[labels == sign]
        axes.scatter(own[:, 0], own[:, 1], s=9, color=colour, marker=marker, edgecolor="white", linewidth=0.3, zorder=3)
    axes.set_aspect("equal")
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-reach, reach)
    return reach


def draw_neurons(axes: Axes, weights: np.ndarray) -> None:
    """Every neuron as a unit vector: plus black, minus yellow."""
    half = len(weights) // 2
    units = weights / np.linalg.norm(weights, axis=1, keepdims=True)
    for rows, colour in ((units[:half], BLACK), (units[half:], YELLOW)):
        zero = np.zeros(len(rows))
        axes.quiver(
            zero, zero, rows[:, 0], rows[:, 1], color=colour, angles="xy", scale_units="xy", scale=1, width=0.006
        )
    axes.set_aspect("equal")
    axes.set_xlim(-1.15, 1.15)
    axes.set_ylim(-1.15, 1.15)


def draw_line(axes: Axes, normal: np.ndarray, reach: float, label: str) -> None:
    """The line through 0 orthogonal to `normal`, dashed."""
    along = np.array([-normal[1], normal[0]]) / np.linalg.norm(normal)
    ends = np.outer([-1.5 * reach, 1.5 * reach], along)
    axes.plot(ends[:, 0], ends[:, 1], color="black", linestyle=(0, (4, 2)), linewidth=1.2, label=label)
