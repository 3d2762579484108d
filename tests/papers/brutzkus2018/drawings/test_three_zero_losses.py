"""The drawing of three zero-loss networks, from numbers of the right shape."""

import numpy as np
import pytest
import xarray as xr

from widenet.papers.brutzkus2018.drawings.three_zero_losses import draw
from widenet.papers.brutzkus2018.runs.bad_global_minimum import SOLUTIONS
from widenet.plots.style import render


@pytest.mark.parametrize("n_runs", [1, 3])
def test_three_solutions_are_told_apart(n_runs: int) -> None:
    shape = (3, 2, n_runs)
    numbers = xr.Dataset(
        {
            "test_error": (("solution", "multiple", "run"), np.full(shape, 0.25)),
            "train_loss": (("solution", "multiple", "run"), np.zeros(shape)),
            "half_width": ("multiple", [4, 8]),
        },
        coords={"solution": list(SOLUTIONS), "multiple": [1, 2]},
    )
    svg = render(draw(numbers).drawing(), "svg").decode()
    assert all(f"{name}: 25\u202f%" in svg for name in SOLUTIONS)
