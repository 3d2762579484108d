"""What all drawings share: colours, type, and how a drawing becomes bytes.

Drawings use matplotlib's objects directly. `pyplot` keeps figures alive in a global list and may open windows.
"""

import io
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import matplotlib as mpl
import xarray as xr
from matplotlib.figure import Figure as Drawing

# Okabe and Ito's colours stay apart for every kind of colour vision. In this order neighbours also differ in
# lightness, so a print in grey still separates them.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# Dashes tell lines apart where they lie on top of each other, and for readers who see no colours.
DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (6, 1.5, 1.5, 1.5)))
FORMATS = ("svg", "pdf", "png")

Draw = Callable[[xr.Dataset], Drawing]
"""The numbers of a figure → its drawing."""
Animate = Callable[[xr.Dataset], bytes]
"""The numbers of a figure → a GIF."""

STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib, so every machine draws the same picture
    "font.size": 8.5,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.edgecolor": "#444444",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "lines.linewidth": 1.5,
    "legend.frameon": False,
    "figure.facecolor": "white",
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
