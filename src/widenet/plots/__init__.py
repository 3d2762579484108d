"""How the numbers of a figure are drawn: one module per paper, one function per figure."""

from collections.abc import Callable
from typing import Any

import xarray as xr
from matplotlib.figure import Figure as Drawing

from widenet.plots import brutzkus2018
from widenet.plots.files import plain_files
from widenet.plots.style import FORMATS, render

DRAWINGS: dict[str, Callable[[xr.Dataset], Drawing]] = {
    "brutzkus2018.figure_1": brutzkus2018.figure_1,
}


def picture_files(figure_id: str, numbers: xr.Dataset) -> dict[str, bytes]:
    """The drawing in every format, by file name."""
    drawing = DRAWINGS[figure_id](numbers)
    return {f"{figure_id}.{form}": render(drawing, form) for form in FORMATS}


def figure_files(figure_id: str, numbers: xr.Dataset, about: dict[str, Any]) -> dict[str, bytes]:
    """The drawing in every format and the numbers behind it, by file name."""
    return picture_files(figure_id, numbers) | plain_files(figure_id, numbers, about)


__all__ = ["DRAWINGS", "FORMATS", "figure_files", "picture_files", "plain_files", "render"]
