"""A small drawing that moves."""

import xarray as xr

from tests.packages.toy2020.drawings.figure_1 import draw

__all__ = ["animate", "draw"]

GIF = b"GIF89a not a real one"


def animate(numbers: xr.Dataset) -> bytes:
    """No picture at all."""
    return GIF
