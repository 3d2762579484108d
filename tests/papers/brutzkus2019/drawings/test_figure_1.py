"""The drawing of Figure 1 of brutzkus2019."""

import numpy as np
import xarray as xr

from widenet.papers.brutzkus2019.drawings.figure_1 import draw
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
    drawing = draw(numbers)
    curves = drawing.axes[0].lines
    np.testing.assert_allclose(np.asarray(curves[0].get_ydata()), 100 * numbers.test_error.mean("run"))
    assert "Assumed, not stated in the paper: γ = 1" in render(drawing, "svg").decode()
    none_solved = numbers.assign(train_error=numbers.train_error * 0 + 0.1)
    render(draw(none_solved), "png")
