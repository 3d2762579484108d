"""Filters as arrows from the origin, among the four patterns: what Figures 2, 3 and 6 of brutzkus2019 share."""

from collections.abc import Sequence

import numpy as np
import xarray as xr
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.gridspec import GridSpec
from matplotlib.patches import Circle, Wedge

from widenet.data.xord import PATTERNS
from widenet.diagnostics.exploration import cones, negative_sides, plus_and_minus, sizes
from widenet.papers.brutzkus2019.figures.recorded_pair import shares

PLUS, MINUS = "#0072B2", "#C8401F"
"""Blue for w, which votes +, and for positive patterns; red for u, which votes −, and for negative patterns."""
OUTCOME_COLOURS = ("#009E73", "#E69F00", "#8A8A8A")
PATTERN_NAMES = tuple(f"({first:+.0f}, {second:+.0f})".replace("-", "−") for first, second in PATTERNS)
PATTERN_SIGNS = ("+", "−", "+", "−")
PATTERN_COLOURS = (PLUS, MINUS, PLUS, MINUS)
RIM = 1.0
DECADES = 4
"""From the centre of a disc to its rim."""


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
        axes.add_patch(Circle((0, 0), radius, facecolor="none", edgecolor="#cccccc", linewidth=0.5))
    axes.add_patch(Circle((0, 0), RIM, facecolor="none", edgecolor="#999999", linewidth=0.8))
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


def four_panels(numbers: xr.Dataset, drawing: Drawing, grid: GridSpec) -> None:
    """Start and end of the wide and of the narrow network, each panel with its own longest arrow, and all outcomes."""
    letters = iter("abcd")
    for column, (name, place, when) in enumerate(
        (("wide", 0, "start"), ("wide", -1, "end"), ("narrow", 0, "start"), ("narrow", -1, "end"))
    ):
        axes = drawing.add_subplot(grid[0, column])
        filters = numbers[f"{name}_filters"].values[place]
        longest = float(np.linalg.norm(filters, axis=1).max())
        prepare_disc(axes, [ring / DECADES for ring in range(1, DECADES)])
        draw_arrows(axes, log_lengths(filters, longest))
        half_width, step = int(numbers.half_width.sel(network=name)), int(numbers[f"{name}_step"][place])
        axes.set_title(f"({next(letters)}) k = {half_width}, {when}")
        rows = zip(PATTERNS, PATTERN_NAMES, PATTERN_COLOURS, looking_at(filters, is_xor(numbers)), strict=True)
        for direction, pattern, colour, count in rows:
            axes.text(
                0.88 * direction[0],
                0.88 * direction[1],
                f"{pattern}\n{count} {'w' if colour == PLUS else 'u'}",
                color=colour,
                fontsize=6.5,
                ha="center",
                va="bottom" if direction[1] > 0 else "top",
                fontweight="bold" if count == 0 else "normal",
                linespacing=1.15,
            )
        axes.set_xlim(-1.35, 1.35)
        axes.set_ylim(-1.75, 1.35)
        axes.text(0, -1.5, f"step {step}, longest {longest:.1e}", fontsize=6.5, color="#555555", ha="center", va="top")
    outcome_bars(numbers, drawing.add_subplot(grid[1, :]))
    drawing.supxlabel(
        "Blue: w, votes +; red: u, votes −. Length on a log scale, a factor of 10 per ring; the longest reaches the "
        "rim.\nCorners: a pattern, and how many filters of its sign look at it.",
        fontsize=7,
        color="#555555",
    )


def outcome_bars(numbers: xr.Dataset, axes: Axes) -> None:
    """How all runs ended, one bar per network."""
    elsewhere = not is_xor(numbers)
    names = {
        "recovers": "right on every pattern set" if elsewhere else "right on all four points",
        "zero training error, wrong elsewhere": "zero training error, wrong elsewhere",
        "training error left": "stuck with a training error",
    }
    for row, name in enumerate(("wide", "narrow")):
        left = 0.0
        for colour, (ending, (count, total)) in zip(OUTCOME_COLOURS, shares(numbers, name).items(), strict=True):
            if ending.startswith("zero") and not elsewhere:
                continue
            share = 100 * count / total
            label = names[ending] if row == 0 else None
            axes.barh(row, share, left=left, color=colour, height=0.62, label=label)
            if share >= 6:
                axes.text(
                    left + share / 2, row, f"{share:.3g} %", ha="center", va="center", color="white", fontsize=7.5
                )
            left += share
    axes.set_yticks([0, 1], [f"k = {int(width)}" for width in numbers.half_width])
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel(f"share of {numbers.sizes['run']} runs, %")
    axes.grid(axis="y", visible=False)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize=7.5, handlelength=1.2)
