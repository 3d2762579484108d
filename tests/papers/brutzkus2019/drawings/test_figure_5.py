"""The drawing of Figure 5 of brutzkus2019."""

import numpy as np
import xarray as xr

from widenet.papers.brutzkus2019.drawings.figure_5 import draw
from widenet.plots.style import render


def test_a_curve_per_margin() -> None:
    error = np.random.default_rng(0).uniform(0, 0.1, (2, 2, 5))
    margins = xr.Dataset(
        {"test_error": (("margin", "channels", "run"), error)},
        coords={"margin": [1.0, 5.0], "channels": [4, 20]},
    )
    drawing = draw(margins).drawing()
    for line, curve in zip(drawing.subfigs[0].axes[0].lines, error, strict=True):
        np.testing.assert_allclose(np.asarray(line.get_ydata()), curve.mean(axis=1))
    assert "γ = 5" in render(drawing, "svg").decode()
