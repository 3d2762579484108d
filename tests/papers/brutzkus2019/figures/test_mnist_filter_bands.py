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
    assert set(rows.values()) == {"AGREES", "AS EXPECTED", "MEASURED"}
    assert rows["(b) test error, frozen centres − large network, 2000 images"] == "MEASURED"


@pytest.mark.parametrize("side", [4, 7])
def test_of_figures_7_and_8_the_paper_says_nothing(side):
    """Whatever is measured there cannot disagree with it; the controls of this project stay."""
    for numbers in (made_up(filter_side=side), made_up(centres=0.2, angle=60.0, filter_side=side)):
        rows = compare_mnist_filters(numbers)
        assert all(row.added and row.reported == "not in the paper" for row in rows)
        assert {row.verdict for row in rows if "control" not in row.name} == {"MEASURED"}
        assert {row.verdict for row in rows if "control" in row.name} == {"AS EXPECTED"}


@pytest.mark.parametrize(
    ("centres", "verdict"), [(0.05, "AGREES"), (0.0645, "AGREES"), (0.0655, "DIFFERS"), (0.03, "AGREES")]
)
def test_nearly_matching_is_being_nearer_to_the_large_network(centres, verdict):
    """8 % small, 5 % large: up to 6.5 %. Better than the large one is no disagreement."""
    numbers = made_up(centres=centres)
    exact = {"learned_error": 0.08, "wide_error": 0.05, "frozen_error": centres}
    flat = numbers.assign({name: xr.full_like(numbers[name], value) for name, value in exact.items()})
    assert found(flat)["(b) share of the gap closed by frozen centres, 2000 images"] == verdict


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
    assert found(numbers)["(b) control: share closed by frozen random directions, 2000 images"] == "NOT AS EXPECTED"


def test_control_untrained_networks_that_differ_are_seen():
    numbers = made_up()
    rows = found(numbers.assign(other_untrained_angle=numbers.other_untrained_angle - 15.0))
    assert [name for name, verdict in rows.items() if verdict == "NOT AS EXPECTED"] == [
        "(a) control: the same shift between two untrained networks, degrees",
        "(a) control: smallest p between two untrained networks",
    ]


@pytest.mark.parametrize(("shift", "verdict"), [(8.01, "AGREES"), (7.99, "DIFFERS"), (-8.01, "DIFFERS")])
def test_control_a_shift_of_eight_degrees(shift, verdict):
    numbers = made_up()
    rows = found(numbers.assign(trained_angle=numbers.untrained_angle - shift))
    assert rows["(a) mean angle to the nearest centre, untrained − trained, degrees"] == verdict


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
    numbers = (made_up() * np.nan).assign_attrs(filter_side=3)
    rows = compare_mnist_filters(numbers.assign_coords(made_up().coords))
    assert {row.verdict for row in rows} == {"DIFFERS", "NOT AS EXPECTED", "MEASURED"}
    assert {row.verdict for row in rows if not row.added} == {"DIFFERS"}


def test_the_share_closed():
    assert gap_closed(0.08, 0.065, 0.05) == pytest.approx(0.5)
    assert np.isnan(gap_closed(0.05, 0.04, 0.05))
    assert float(best_pair(made_up().learned_error.isel(size=0)).mean()) < 0.09
