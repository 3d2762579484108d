"""The drawing of Figure 3 of li2018."""

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.patches import Circle

from widenet.data.components import BALL_CENTRES
from widenet.plots.style import COLOURS, styled

MARKS = (("+", "plus"), ("_", "minus"))


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """The points, with a ring around every component: two per class, and one."""
    drawing = Drawing(figsize=(7.0, 3.7), layout="constrained")
    separation = float(numbers["separation"])
    for axes, letter, count in zip(drawing.subplots(1, 2), "ab", (2, 1), strict=True):
        draw_points(axes, numbers)
        diameter = float(numbers["diameter"].sel(components=count))
        draw_rings(axes, count)
        axes.set_title(f"({letter}) l = {count}: λ = {diameter / separation:.3g}, allowed {1 / (8 * count):.3g}")
        axes.set_xlabel(f"δ = {separation:.3g}, diameter of a component {diameter:.3g}")
    return drawing


def draw_points(axes: Axes, numbers: xr.Dataset) -> None:
    """Plus and minus signs."""
    points, classes = numbers["points"].values, numbers["classes"].values
    for number, (mark, label) in enumerate(MARKS):
        own = points[classes == number]
        axes.plot(own[:, 0], own[:, 1], mark, color=COLOURS[number], markersize=2.5, markeredgewidth=0.5, label=label)
    axes.set_xlim(-0.9, 2.9)
    axes.set_ylim(-0.9, 2.9)
    axes.set_aspect("equal")
    axes.legend(loc="lower center", markerscale=3, ncols=2)


def draw_rings(axes: Axes, count: int) -> None:
    """A ring around every ball, or an ellipse of rings around both balls of a class."""
    for number, centres in enumerate(BALL_CENTRES):
        if count == 2:
            for x, y in centres:
                axes.add_patch(Circle((x, y), 0.2, fill=False, edgecolor=COLOURS[number], linewidth=1.0))
        else:
            (x, y), (u, v) = centres
            axes.plot([x, u], [y, v], color=COLOURS[number], linewidth=22, alpha=0.12, solid_capstyle="round")
