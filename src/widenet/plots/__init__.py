"""How the numbers of a figure are drawn: one folder per paper, one file per figure."""

from typing import Any

import xarray as xr

from widenet.plots import brutzkus2018, brutzkus2019
from widenet.plots.files import plain_files
from widenet.plots.style import FORMATS, Animate, Draw, render

DRAWINGS: dict[str, Draw] = brutzkus2018.DRAWINGS | brutzkus2019.DRAWINGS
ANIMATIONS: dict[str, Animate] = brutzkus2019.ANIMATIONS


def picture_files(figure_id: str, numbers: xr.Dataset) -> dict[str, bytes]:
    """The drawing in every format, and as a GIF where it moves, by file name."""
    drawing = DRAWINGS[figure_id](numbers)
    pictures = {f"{figure_id}.{form}": render(drawing, form) for form in FORMATS}
    if figure_id in ANIMATIONS:
        pictures[f"{figure_id}.gif"] = ANIMATIONS[figure_id](numbers)
    return pictures


def figure_files(figure_id: str, numbers: xr.Dataset, about: dict[str, Any]) -> dict[str, bytes]:
    """The drawing in every format and the numbers behind it, by file name."""
    return picture_files(figure_id, numbers) | plain_files(figure_id, numbers, about)


__all__ = ["ANIMATIONS", "DRAWINGS", "FORMATS", "figure_files", "picture_files", "plain_files", "render"]
