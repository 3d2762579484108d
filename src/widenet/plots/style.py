"""What all drawings share: the roles of colours, type, sizes, and how a drawing becomes bytes.

A colour says what a thing is, not which one in a row: a promise is an ink line, a number that a paper prints an open
ink diamond, what was measured blue, a control grey, a broken promise vermilion. Plus is blue and minus vermilion.
Ordered things (widths, margins) take a ramp from light to dark, unordered ones at most four colours with dashes.

Drawings use matplotlib's objects directly. `pyplot` keeps figures alive in a global list and may open windows.
"""

import io
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import matplotlib as mpl
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure as Drawing

# Okabe and Ito's colours stay apart for every kind of colour vision. In this order neighbours also differ in
# lightness, so a print in grey still separates them.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
FORMATS = ("svg", "pdf", "png")

# Every role has a colour that no other role has: pages replace each by the variable of its name, light or dark.
ROLES = {
    "ink": "#17191c",
    "soft": "#565d66",
    "line": "#d9dcdf",
    "faint": "#eceeef",
    "page": "#ffffff",
    "paper": "#17191d",
    "measured": "#0a63a8",
    "broken": "#b93a00",
    "open": "#8a6200",
    "plus": "#0a63a9",
    "minus": "#c8451b",
    "w1": "#9cc4e4",
    "w2": "#6ba5d3",
    "w3": "#3d85bf",
    "w4": "#17639f",
    "w5": "#0a4270",
}
"""The colours on white paper by the names of their CSS variables."""
INK, SOFT, LINE, FAINT, PAGE = (ROLES[name] for name in ("ink", "soft", "line", "faint", "page"))
PAPER = ROLES["paper"]
"""Of a number that the paper prints."""
MEASURED, BROKEN, OPEN = ROLES["measured"], ROLES["broken"], ROLES["open"]
PLUS, MINUS = ROLES["plus"], ROLES["minus"]
PROMISE, CONTROL = INK, SOFT
RAMP = tuple(ROLES[f"w{step}"] for step in range(1, 6))
"""Light to dark, for ordered things."""
UNORDERED = ((MEASURED, "-"), (OPEN, (0, (5, 1.5))), (BROKEN, (0, (1.5, 1))), (SOFT, (0, (6, 1.5, 1.5, 1.5))))
"""Colours and dashes of at most four things without an order."""
SEQUENTIAL = "cividis"
DIVERGING = LinearSegmentedColormap.from_list("minus to plus", (MINUS, "#f0b7a3", PAGE, "#9fc3e0", PLUS))
"""From minus over white to plus."""

PX = 1 / 96
"""A CSS pixel in inches."""
FONT = 8.25
"""Points of all text in a drawing: 11 CSS pixels."""

STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib, so every machine draws the same picture
    "font.size": FONT,
    "text.color": INK,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": FONT,
    "axes.labelcolor": SOFT,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.75,
    "axes.edgecolor": LINE,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": LINE,
    "grid.linewidth": 0.6,
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": SOFT,
    "ytick.labelcolor": SOFT,
    "xtick.labelsize": FONT,
    "ytick.labelsize": FONT,
    "xtick.major.width": 0.75,
    "ytick.major.width": 0.75,
    "lines.linewidth": 1.5,
    "legend.frameon": False,
    "legend.fontsize": FONT,
    "figure.facecolor": PAGE,
    "savefig.dpi": 200,
    # Text stays text: searchable, editable, and accepted by journals.
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    # The same numbers give the same bytes.
    "svg.hashsalt": "widenet",
}

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def styled(draw: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Runs a drawing function in the house style and leaves the caller's matplotlib settings as they were."""

    @wraps(draw)
    def in_style(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        with mpl.rc_context():
            mpl.rcdefaults()  # a reader's matplotlibrc must not change the picture
            mpl.rcParams.update(STYLE)
            return draw(*args, **kwargs)

    return in_style


@styled
def lay_out(drawing: Drawing) -> Drawing:
    """Place everything once, at the resolution of a PNG: all formats then show the same picture in half of the time."""
    if drawing.get_layout_engine() is not None:
        drawing.set_dpi(STYLE["savefig.dpi"])
        drawing.draw_without_rendering()
        drawing.set_layout_engine(None)
        # The solver of the layout differs in the last bits from call to call, and names inside an SVG are made of them.
        for part in drawing.subfigs:
            part.bbox_relative.p0, part.bbox_relative.p1 = (part.bbox_relative.get_points().round(9)).tolist()
        for axes in drawing.axes:
            axes.set_position([round(side, 9) for side in axes.get_position(original=True).bounds])
    return drawing


@styled
def render(drawing: Drawing, form: str) -> bytes:
    """The drawing as an SVG, PDF or PNG file, without dates or version stamps: equal drawings, equal bytes."""
    unstamped: dict[str, dict[str, Any]] = {
        "svg": {"Date": None, "Creator": None},
        "pdf": {"CreationDate": None, "ModDate": None, "Creator": None, "Producer": None},
        "png": {"Software": None},
    }
    buffer = io.BytesIO()
    drawing.savefig(buffer, format=form, metadata=unstamped[form])
    return buffer.getvalue()
