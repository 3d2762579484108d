"""Filters as arrows from the origin, among the four patterns: what Figures 2, 3 and 6 of brutzkus2019 share."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase
from matplotlib.patches import Circle, Wedge

from widenet.data.xord import PATTERNS
from widenet.diagnostics.exploration import cones, negative_sides, plus_and_minus, sizes
from widenet.papers.brutzkus2019.figures.recorded_pair import shares
from widenet.plots.axes import named, number, percent
from widenet.plots.marks import key
from widenet.plots.picture import Panel
from widenet.plots.style import LINE, MEASURED, MINUS, OPEN, PAGE, PLUS, SOFT

OUTCOME_COLOURS = (MEASURED, OPEN, SOFT)
PATTERN_NAMES = tuple(f"({first:+.0f}, {second:+.0f})".replace("-", "−") for first, second in PATTERNS)
PATTERN_SIGNS = ("+", "−", "+", "−")
PATTERN_COLOURS = (PLUS, MINUS, PLUS, MINUS)
RIM = 1.0
DECADES = 4
"""From the centre of a disc to its rim."""
NOTE = (
    "Blue: arrows that vote + and patterns of label +; vermilion: −. At a corner stand a pattern and how many arrows "
    "of its sign look at it. Length is on a log scale, a factor of 10 per ring; the longest "
    "reaches the rim."
)


def is_xor(numbers: xr.Dataset) -> bool:
    """Whether the network is asked nothing but its training points, as in Figure 2."""
    return not bool((numbers.asked & (numbers.n_training_points == 0)).any())


def prepare_disc(axes: Axes, rings: Sequence[float]) -> None:
    """The unit disc with a tinted quarter around each pattern, and rings inside."""
    for direction, colour in zip(PATTERNS, PATTERN_COLOURS, strict=True):
        middle = np.degrees(np.arctan2(direction[1], direction[0]))
        axes.add_patch(Wedge((0, 0), RIM, middle - 45, middle + 45, facecolor=colour, alpha=0.07, linewidth=0))
        end = RIM * direction / np.sqrt(2)
        axes.plot([0, end[0]], [0, end[1]], color=colour, linewidth=0.6, linestyle=(0, (2, 2)), alpha=0.7)
    for radius in rings:
        axes.add_patch(Circle((0, 0), radius, facecolor="none", edgecolor=LINE, linewidth=0.5))
    axes.add_patch(Circle((0, 0), RIM, facecolor="none", edgecolor=SOFT, linewidth=0.8))
    axes.set_aspect("equal")
    axes.axis("off")


def looking_at(filters: Float[np.ndarray, "channel 2"], one_patch: bool) -> list[int]:
    """For each pattern, how many filters of its own sign look at it, so that training can pull them there.

    With one patch (XOR) a filter looks at every pattern it fits. Where a point holds several patterns, w looks at the
    one that fits best, and u at the better of the two negative ones.
    """
    plus, minus = plus_and_minus(filters)
    seen = plus @ PATTERNS.T > 0 if one_patch else cones(plus)
    counts = np.zeros(4, int)
    counts[::2], counts[1::2] = sizes(seen)[::2], sizes(negative_sides(minus))
    return counts.tolist()


def log_lengths(filters: Float[np.ndarray, "*time channel 2"], longest: float) -> Float[np.ndarray, "*time channel 2"]:
    """The same directions; length 1 for the longest, and shorter by 1/DECADES for every factor of ten."""
    norms = np.linalg.norm(filters, axis=-1, keepdims=True)
    known = np.maximum(norms, 1e-300)
    return filters / known * np.clip(1 + np.log10(known / longest) / DECADES, 0.08, 1)


def draw_arrows(axes: Axes, filters: Float[np.ndarray, "channel 2"]) -> tuple:
    """The two bundles of arrows; red first, then blue."""
    plus, minus = plus_and_minus(filters)
    many = len(plus) > 10
    bundles = []
    for half, colour in ((minus, MINUS), (plus, PLUS)):
        origin = np.zeros(len(half))
        bundles.append(
            axes.quiver(
                origin,
                origin,
                half[:, 0],
                half[:, 1],
                color=colour,
                angles="xy",
                scale_units="xy",
                scale=1,
                width=0.007 if many else 0.014,
                headwidth=3.2,
                headlength=3.6,
                headaxislength=3.2,
                alpha=0.65 if many else 0.9,
                zorder=3,
            )
        )
    return tuple(bundles)


def discs(numbers: xr.Dataset) -> list[Panel]:
    """Start and end of the wide and of the narrow network, a panel each, with its own longest arrow."""
    return [
        Panel(
            f"{numbers.sizes[f'{name}_channel']} {_noun(numbers)}: {when}",
            lambda canvas, name=name, place=place: _disc(canvas, numbers, name, place),
            height=232,
        )
        for name in ("wide", "narrow")
        for place, when in ((0, "start"), (-1, "end"))
    ]


def _noun(numbers: xr.Dataset) -> str:
    return "neurons" if is_xor(numbers) else "filters"


def _disc(canvas: FigureBase, numbers: xr.Dataset, name: str, place: int) -> None:
    axes = canvas.subplots()
    filters = numbers[f"{name}_filters"].values[place]
    longest = float(np.linalg.norm(filters, axis=1).max())
    prepare_disc(axes, [ring / DECADES for ring in range(1, DECADES)])
    draw_arrows(axes, log_lengths(filters, longest))
    rows = zip(PATTERNS, PATTERN_NAMES, PATTERN_COLOURS, looking_at(filters, is_xor(numbers)), strict=True)
    for direction, pattern, colour, count in rows:
        across, up = 0.84 * direction
        look = {"color": colour, "ha": "left" if across > 0 else "right", "va": "center_baseline", "in_layout": False}
        axes.text(across, up + 0.07, pattern, **look)
        words = f"{count} {'looks' if count == 1 else 'look'} here"
        axes.text(across, up - 0.07, words, **look, fontweight="normal" if count else "bold")
    step = int(numbers[f"{name}_step"][place])
    axes.text(0, -1.08, f"step {step:,}, longest arrow {number(longest, 2)}", color=SOFT, ha="center", va="top")
    axes.set_xlim(-1.7, 1.7)
    axes.set_ylim(-1.26, 1.04)


def endings(numbers: xr.Dataset) -> Panel:
    """How all runs ended, one bar per network."""
    return Panel(f"How {numbers.sizes['run']} runs of each ended", lambda canvas: _endings(canvas, numbers), True, 110)


def _endings(canvas: FigureBase, numbers: xr.Dataset) -> None:
    axes = canvas.subplots()
    elsewhere = not is_xor(numbers)
    names = {
        "recovers": "right on every pattern set" if elsewhere else "right on all four points",
        "zero training error, wrong elsewhere": "zero training error, wrong elsewhere",
        "training error left": "stuck with a training error",
    }
    entries = []
    for row, name in enumerate(("wide", "narrow")):
        left = 0.0
        for colour, (ending, (count, total)) in zip(OUTCOME_COLOURS, shares(numbers, name).items(), strict=True):
            if ending.startswith("zero") and not elsewhere:
                continue
            share = count / total
            if row == 0:
                entries.append(("s", colour, names[ending]))
            axes.barh(row, share, left=left, color=colour, height=0.62)
            if share >= 0.06:
                at: dict[str, Any] = {"ha": "center", "va": "center_baseline", "color": PAGE}
                axes.text(left + share / 2, row, percent(share), **at)
            left += share
    axes.set_yticks([0, 1], [f"{2 * int(width)} {_noun(numbers)}" for width in numbers.half_width])
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_axis_on()
    named(axes)
    axes.grid(visible=False)
    axes.tick_params(length=0, labelbottom=False)
    axes.spines["bottom"].set_visible(False)
    key(axes, entries, "upper left", bbox_to_anchor=(0, 0.02), ncols=3)
