"""What the drawings of Figures 1 to 3 share."""

import numpy as np
import xarray as xr

from tests.papers.brutzkus2018.drawings.plausible import first_layer
from widenet.papers.brutzkus2018.drawings.error_panels import runs_in_words
from widenet.types import RunStatus


def test_many_runs_get_the_band_without_the_outermost_tenths() -> None:
    numbers = first_layer()
    many = xr.concat([numbers.assign_coords(run=np.arange(10) + 10 * part) for part in range(3)], "run",
                     data_vars="minimal", coords="minimal", compat="override")  # fmt: skip
    assert "band: the middle 80 % of runs" in runs_in_words(many)
    assert "band: all runs. 10, 10 and 2 runs of these widths" in runs_in_words(numbers)


def test_runs_that_failed_are_counted() -> None:
    numbers = first_layer()
    status = numbers["status"].copy()
    status[0, 0] = RunStatus.DIVERGED
    assert "22 of 22 reached zero training loss" in runs_in_words(numbers)
    assert "21 of 22 reached zero training loss" in runs_in_words(numbers.assign(status=status))
