"""The numbers of figures as docs/images and the archives keep them, to draw without training."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import xarray as xr

from widenet.figures.archive import archived

IMAGES = Path(__file__).parents[2] / "docs" / "images"


@cache
def kept_numbers(name: str) -> xr.Dataset:
    """Of `paper.figure` at quick scale, of `paper.figure.paper` at the paper's."""
    if name.endswith(".paper"):
        found = archived(name.removesuffix(".paper"))
        assert found is not None
        return found.numbers
    row = json.loads((IMAGES / f"{name}.json").read_text(encoding="utf-8"))
    return xr.Dataset(
        {name: (each["axes"], np.asarray(each["values"], float)) for name, each in row["quantities"].items()},
        coords=row["coordinates"],
        attrs=row["attributes"],
    )
