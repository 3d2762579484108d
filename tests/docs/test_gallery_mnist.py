"""Figures 4, 7 and 8 of brutzkus2019 in the gallery are those of the files beside the pictures."""

import json
from typing import Any

import numpy as np
import pytest
import xarray as xr

from widenet.records import Scale
from widenet.run import find_figure

from .pages import DOCS
from .refresh import IMAGES, between, table_of

GALLERY = (DOCS / "gallery.md").read_text(encoding="utf-8")
SHOWN = [(f"brutzkus2019.figure_{number}", scale) for number in (4, 7, 8) for scale in Scale]
DIFFERENT = {"brutzkus2019.figure_4": 0, "brutzkus2019.figure_7": 2, "brutzkus2019.figure_8": 5}
"""Rows at paper scale that do not come out; the page says which."""


def stored(figure: str, scale: Scale) -> dict[str, Any]:
    name = figure if scale is Scale.QUICK else f"{figure}.paper"
    return json.loads((IMAGES / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("figure", "scale"), SHOWN)
def test_the_table_is_the_one_of_the_file(figure: str, scale: Scale) -> None:
    marker = "table of" if scale is Scale.QUICK else "paper scale of"
    shown = between(GALLERY, f"<!-- {marker}: {figure} -->\n", "<!-- end of table -->")
    assert shown == table_of(stored(figure, scale))


@pytest.mark.parametrize(("figure", "scale"), SHOWN)
def test_the_program_still_compares_these_numbers_like_that(figure: str, scale: Scale) -> None:
    row = stored(figure, scale)
    assert row["config"] == json.loads(json.dumps(dict(find_figure(figure).sizes[scale])))
    numbers = xr.Dataset(
        {name: (each["axes"], np.asarray(each["values"], float)) for name, each in row["quantities"].items()},
        coords=row["coordinates"],
    )
    again = find_figure(figure).compare(numbers)
    assert [each.name for each in again] == [each["name"] for each in row["comparisons"]]
    for each, kept in zip(again, row["comparisons"], strict=True):
        assert each.measured == pytest.approx(kept["measured"], rel=1e-6, abs=1e-12), each.name
        assert each.verdict == kept["verdict"], each.name
    different = sum(each["verdict"] == "DIFFERS" for each in row["comparisons"])
    assert different == (0 if scale is Scale.QUICK else DIFFERENT[figure])
