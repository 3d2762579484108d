"""Units placed in U13 and the steps they take."""

import numpy as np

from widenet.papers.brutzkus2019.runs.placed_units import PlacedUnitsSetting, place, run_placed_units
from widenet.papers.brutzkus2019.runs.traces import EVENT_RADIUS, GRID
from widenet.progress import silent


def test_a_unit_and_where_it_goes():
    """u_0 = (1/4, 1/8): only x⁻ moves it along p₂; only x⁺ takes ηp₁ from it, that is 2 of its fit."""
    units = place([(0.25, 0.125)])
    assert units.fits.tolist() == [[0.25, 0.125], [-1.75, 0.125]]
    assert units.after_minus.tolist() == [[0.25, 2.125], [-1.75, 2.125]]
    assert units.after_plus.tolist() == [[-1.75, 0.125], [0.25, 0.125]]


def test_units_lie_in_u13_inside_the_event_and_on_the_grid():
    units = run_placed_units(PlacedUnitsSetting(n_drawn=50), silent)
    assert len(units.starts) == 58
    sizes = np.abs(units.starts)
    assert (sizes[:, 0] > sizes[:, 1]).all()
    assert (sizes > 0).all()
    assert sizes.max() <= EVENT_RADIUS
    assert sizes.max() > EVENT_RADIUS - 2 * GRID
    assert np.array_equal(units.starts / GRID, np.round(units.starts / GRID))
