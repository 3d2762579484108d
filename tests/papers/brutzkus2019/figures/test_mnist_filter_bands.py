"""The bands of Figures 4, 7 and 8 of brutzkus2019 on made-up numbers."""

import numpy as np
import pytest
import xarray as xr

from tests.papers.brutzkus2019.figures.made_up_filters import made_up
from tests.papers.brutzkus2019.figures.rows import verdicts
from widenet.papers.brutzkus2019.figures.mnist_filter_bands import best_pair, compare_mnist_filters, gap_closed


def found(numbers: xr.Dataset) -> dict[str, str]:
    return verdicts(compare_mnist_filters(numbers))


def test_all_bands_agree_with_numbers_like_the_papers():
    rows = found(made_up())
    assert len(rows) == 9
    assert set(rows.values()) == {"AGREES"}


def test_control_centres_that_do_not_help_are_seen():
    rows = found(made_up(centres=0.083))
    assert [name for name, verdict in rows.items() if verdict == "DIFFERS"] == [
        "(b) test error, small network − frozen centres, 2000 images",
        "(b) share of the gap closed by frozen centres, 2000 images",
    ]


def test_control_untrained_angles_in_place_of_trained_ones_are_seen():
    rows = found(made_up(angle=60.0))
    assert sum(verdict == "DIFFERS" for name, verdict in rows.items() if name.startswith("(a)")) == 2


def test_control_random_directions_that_close_the_gap_are_seen():
    numbers = made_up()
    numbers["frozen_error"].loc[{"filters": "random directions"}] = 0.06
    assert found(numbers)["(b) control: share closed by frozen random directions, 2000 images"] == "DIFFERS"


def test_control_a_small_network_that_is_better_than_the_large_one_is_seen():
    numbers = made_up()
    rows = found(numbers.assign(wide_error=numbers.wide_error + 0.05))
    assert rows["(b) test error, small network − large network, 2000 images"] == "DIFFERS"


def test_few_runs_say_nothing_about_centres():
    for few in (made_up(n_wide=1), made_up(n_runs=3)):
        assert [name for name in found(few) if name.startswith("(b)")] == [
            "(b) test error, small network − large network, 2000 images"
        ]


def test_a_nan_agrees_with_nothing():
    numbers = made_up() * np.nan
    assert set(found(numbers.assign_coords(made_up().coords)).values()) == {"DIFFERS"}


def test_the_share_closed():
    assert gap_closed(0.08, 0.065, 0.05) == pytest.approx(0.5)
    assert np.isnan(gap_closed(0.05, 0.04, 0.05))
    assert float(best_pair(made_up().learned_error.isel(size=0)).mean()) < 0.09
