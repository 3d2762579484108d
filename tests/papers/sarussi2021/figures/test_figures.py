"""The comparisons of the figures on numbers whose answer is known, and their drawings."""

import importlib

import numpy as np
import pytest
import xarray as xr

from widenet.papers import find_figure
from widenet.papers.sarussi2021 import PAPER
from widenet.papers.sarussi2021.figures.figure_1 import reduce_figure_1
from widenet.papers.sarussi2021.figures.figure_3 import boundary_angles, compare_figure_3
from widenet.papers.sarussi2021.figures.figure_5 import affine_fit
from widenet.papers.sarussi2021.formulas import fit_of_the_value
from widenet.papers.sarussi2021.runs.curves import CurveSetting, run_curves
from widenet.papers.sarussi2021.runs.landscapes import LandscapeSetting, run_landscapes
from widenet.papers.sarussi2021.settings import Gaussians, OutlierCloud
from widenet.progress import silent

LANDSCAPE = run_landscapes(LandscapeSetting(nodes=100), silent)
EPOCHS = (0, 5, 20, 100)


def planar(*, deviation, spread, k=6, seed=0):
    """Runs in the plane as `run_curves` leaves them: rows around ±(1, 1), or all over the circle."""
    draw = np.random.default_rng(seed)
    points, labels = Gaussians(n_samples=20).draw(seed)
    rows = np.repeat([[1.0, 1.0], [-1.0, -1.0]], k, axis=0) + spread * draw.normal(size=(2, 2 * k, 2))
    shares = np.tile([0.0, 0.6, 1.0, 1.0], (2, 1))
    scalars = {name: (("run", "epoch"), shares) for name in ("plus_right", "minus_right")}
    scalars |= {name: (("run", "epoch"), 0 * shares) for name in ("train_error", "plus_differ", "minus_differ")}
    scalars |= {
        "ratio": (("run", "epoch"), shares * 0 + spread),
        "angle": (("run", "epoch"), shares * 0 + (1.0 if spread < 0.1 else 179.0)),
    }
    return xr.Dataset(
        {
            **scalars,
            "weights": (("run", "neuron", "dim"), rows),
            "inputs": (("run", "point", "dim"), np.stack([points, points])),
            "labels": (("run", "point"), np.stack([labels, labels])),
            "predicted": (("run", "pair"), np.tile([1.0, 1.0, -1.0, -1.0], (2, 1))),
        },
        coords={"epoch": list(EPOCHS)},
        attrs={"deviation": deviation, "slope": 0.1},
    )


SMALL, LARGE = planar(deviation=1e-3, spread=1e-3), planar(deviation=30.0, spread=5.0)
NUMBERS = {
    "figure_1": reduce_figure_1([SMALL], [LARGE]),
    "figure_3": SMALL,
    "figure_4": LANDSCAPE,
    "figure_5": LANDSCAPE,
    "figure_8": SMALL,
    "figure_9": SMALL.assign(plus_right=0 * SMALL.plus_right),
}


@pytest.mark.parametrize("name", PAPER.figures)
def test_it_compares_and_draws(name):
    figure = find_figure(f"sarussi2021.{name}")
    rows = figure.compare(NUMBERS[name])
    assert [row.name for row in rows if not row.agrees] == []
    drawing = importlib.import_module(PAPER.drawing(name)).draw(NUMBERS[name])
    assert len(drawing.axes) >= 1


def test_control_the_two_starts_exchanged():
    exchanged = reduce_figure_1([LARGE.assign_attrs(deviation=1e-3)], [SMALL.assign_attrs(deviation=30.0)])
    rows = find_figure("sarussi2021.figure_1").compare(exchanged)
    assert not any(row.agrees for row in rows)


def test_control_another_prediction():
    turned = SMALL.assign(predicted=(("run", "pair"), np.tile([1.0, -1.0, -1.0, 1.0], (2, 1))))
    np.testing.assert_allclose(boundary_angles(turned), 90, atol=1)
    assert not compare_figure_3(turned)[1].agrees


def test_control_a_relu_and_a_linear_network():
    assert affine_fit(LANDSCAPE) == pytest.approx(float(fit_of_the_value(0.1)), abs=5e-3)
    assert affine_fit(LANDSCAPE, 0.0) < affine_fit(LANDSCAPE)
    relu = LANDSCAPE.assign(output=LANDSCAPE.output.sel(slope=[0.0, 0.0]).assign_coords(slope=[0.1, 0.0]))
    assert not find_figure("sarussi2021.figure_4").compare(relu)[0].agrees


def test_control_neurons_that_never_agree():
    rows = find_figure("sarussi2021.figure_8").compare(SMALL.assign(plus_right=0 * SMALL.plus_right))
    assert not rows[-1].agrees
    rows = find_figure("sarussi2021.figure_9").compare(SMALL)
    assert not rows[-1].agrees


def test_curves_on_a_toy():
    setting = CurveSetting(points=OutlierCloud(), deviation=1e-4, n_runs=2, looks=(0, 1), half_width=3, slope=0.3)
    numbers = run_curves(setting, silent)
    assert numbers.sizes == {"run": 2, "epoch": 2, "neuron": 6, "dim": 2, "point": 99, "pair": 4}
    assert (numbers.ratio.isel(epoch=1) < numbers.ratio.isel(epoch=0)).all()
    assert np.isfinite(numbers.separator_norm).all()


def test_the_outlier_is_behind_the_negative_points():
    points, labels = OutlierCloud().draw(0)
    assert np.linalg.norm(points[-1]) == pytest.approx(30)
    assert labels[-1] == 1
    assert len(OutlierCloud(with_outlier=False).draw(0)[1]) == len(labels) - 1
