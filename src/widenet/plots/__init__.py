"""How the numbers of a figure become files: its paper package draws them, this package gives them their form."""

from widenet.plots.drawn import (
    AT_PAPER_SCALE,
    PANELS,
    animation_files,
    archived_files,
    beside_pages,
    drawing_of,
    moves,
    picture_files,
)
from widenet.plots.files import plain_files

__all__ = [
    "AT_PAPER_SCALE",
    "PANELS",
    "animation_files",
    "archived_files",
    "beside_pages",
    "drawing_of",
    "moves",
    "picture_files",
    "plain_files",
]
