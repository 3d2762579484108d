"""The drawing of Figure 1 of brutzkus2019."""

import numpy as np
import pytest
import xarray as xr

from widenet.papers.brutzkus2019.drawings.figure_1 import draw
from widenet.papers.brutzkus2019.figures.figure_1 import REPORTED
from widenet.papers.brutzkus2019.runs.sampled_runs import CHANNELS
from widenet.plots.style import render


def test_figure_1_states_its_assumption_beside_the_curves() -> None:
    rng = np.random.default_rng(0)
    axes, shape = ("channels", "run"), (len(CHANNELS), 10)
    numbers = xr.Dataset(
        {"train_error": (axes, rng.choice([0.0, 0.1], shape)), "test_error": (axes, rng.uniform(0, 0.1, shape))},
        coords={"channels": list(CHANNELS), "run": np.arange(10)},
        attrs={"margin": 1.0},
    )
    picture = draw(numbers)
    counts, errors = (part.axes[0] for part in picture.drawing().subfigs)
    np.testing.assert_allclose(np.asarray(errors.lines[0].get_ydata()), numbers.test_error.mean("run"))
    assert "Assumed, not stated in the paper: γ = 1" in picture.note
    (diamonds,) = (line for line in counts.lines if line.get_marker() == "D")
    assert dict(zip(*map(np.ndarray.tolist, map(np.asarray, diamonds.get_data())), strict=True)) == pytest.approx(
        {width: count / 100 for width, count in REPORTED.items()}
    )
    none_solved = numbers.assign(train_error=numbers.train_error * 0 + 0.1)
    render(draw(none_solved).drawing(), "png")
