"""How the numbers of a figure become files: its paper package draws them, this package gives them their form."""

from widenet.plots.drawn import PANELS, animation_files, beside_pages, drawing_of, moves, picture_files
from widenet.plots.files import plain_files

__all__ = ["PANELS", "animation_files", "beside_pages", "drawing_of", "moves", "picture_files", "plain_files"]
