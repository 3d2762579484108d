"""Figure 1 at toy size, through the same functions."""

import numpy as np
import pytest

from tests.papers.brutzkus2018 import toys
from widenet.papers.brutzkus2018.figures.figure_1 import compare_figure_1, reduce_figure_1
from widenet.papers.brutzkus2018.formulas import max_nonzero_updates
from widenet.types import RunStatus


@pytest.fixture(scope="module")
def toy():
    return reduce_figure_1(toys.first_layer(), [toys.separator()])


def rows_of(numbers):
    return {row.name: row for row in compare_figure_1(numbers)}


def test_axes_and_missing_runs(toy):
    assert dict(toy.sizes) == {"width": 2, "run": 3, "epoch": toy.sizes["epoch"]}
    assert np.isnan(toy.test_error.sel(width=8, run=2)).all()
    assert int(toy.status.sel(width=8, run=2)) == -1
    assert toy.test_error.sel(width=8, run=1).notnull().all()


def test_a_width_that_ends_early_keeps_its_last_values(toy):
    for runs in toys.first_layer():
        own = toy.test_error.sel(width=runs.setting.width).values[: len(runs.status)]
        np.testing.assert_array_equal(own[:, : len(runs.epochs)], runs.test_error)
        np.testing.assert_array_equal(own[:, -1], runs.test_error[:, -1])


def test_the_bound_is_M_k_of_the_separator(toy):
    norm = toys.separator().norm
    assert toy.update_bound.values == pytest.approx(
        [float(max_nonzero_updates(norm, 0.2, 10.0, width**-0.5, width**-0.5, width // 2)) for width in toys.WIDTHS]
    )
    assert toy.attrs["separator_norm"] == norm


def test_every_number_agrees_at_toy_size_where_it_can(toy):
    rows = rows_of(toy)
    assert rows["share of runs at zero training loss"].agrees
    assert rows["largest final training error"].agrees
    assert rows["largest updates / M_k with a certified separator"].agrees


def test_control_a_run_that_did_not_finish_is_seen(toy):
    numbers = toy.copy(deep=True)
    numbers.status.values[0, 0] = RunStatus.BUDGET_SPENT
    numbers.train_error.values[0, 0, -1] = 0.01
    numbers.updates.values[0, 0] = 1e12
    rows = rows_of(numbers)
    for name in (
        "share of runs at zero training loss",
        "largest final training error",
        "largest updates / M_k with a certified separator",
    ):
        assert not rows[name].agrees, name


def test_control_no_separator_and_no_convergence_agree_with_nothing(toy):
    numbers = toy.copy(deep=True)
    numbers.update_bound.values[:] = np.nan
    numbers.status.values[numbers.status.values >= 0] = RunStatus.BUDGET_SPENT
    rows = rows_of(numbers)
    assert not rows["largest updates / M_k with a certified separator"].agrees
    assert not rows["most / fewest mean updates across widths"].agrees


def test_control_errors_that_differ_between_widths_or_rise_again_are_seen(toy):
    apart = toy.assign(test_error=toy.test_error + 0.05 * (toy.width == 8))
    assert not rows_of(apart)["largest difference of mean test error between widths"].agrees
    rising = toy.assign(test_error=toy.test_error + 0.05 * (toy.epoch == toy.epoch[-1]))
    assert not rows_of(rising)["rise of the mean test error after its minimum"].agrees
    assert not rows_of(toy.assign(test_error=toy.test_error + 0.3))["mean final test error, width 4"].agrees


def level(toy, error, at_8=None, last=None):
    """All test errors on one level, another at width 8, and another in the last epoch."""
    curve = 0 * toy.test_error + error
    curve = curve.where(toy.width != 8, error if at_8 is None else at_8)
    return toy.assign(test_error=curve.where(toy.epoch != toy.epoch[-1], curve if last is None else last))


@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        ("mean final test error, width 8", {"error": 0.0299}, {"error": 0.0301}),
        ("mean final test error, width 8", {"error": 0.0}, {"error": 0.5}),
        (
            "largest difference of mean test error between widths",
            {"error": 0.02, "at_8": 0.0319},
            {"error": 0.02, "at_8": 0.0321},
        ),
        (
            "rise of the mean test error after its minimum",
            {"error": 0.02, "last": 0.0249},
            {"error": 0.02, "last": 0.0251},
        ),
    ],
)
def test_control_the_bands_of_the_test_error(toy, name, inside, outside):
    assert rows_of(level(toy, **inside))[name].agrees
    assert not rows_of(level(toy, **outside))[name].agrees


EARLY = "smallest mean test error of a width after three epochs"


@pytest.mark.parametrize(("early", "agrees"), [(0.0301, True), (0.0299, False)])
def test_control_the_band_tells_a_minimum_from_a_network_that_still_learns(toy, early, agrees):
    """After three epochs every width is outside the band of the final errors, or the band says nothing."""
    curve = (0 * toy.test_error + 0.02).where(toy.epoch != 3, early + 0.01 * (toy.width == 8))
    row = rows_of(toy.assign(test_error=curve))[EARLY]
    assert row.measured == pytest.approx(early)
    assert (row.agrees, row.added) == (agrees, True)
    assert "0 to 0.04 at first" in rows_of(toy)["mean final test error, width 4"].moved


def test_how_the_updates_depend_on_the_width(toy):
    """Runs that do not reach zero loss are left out."""
    numbers = toy.assign(updates=(0 * toy.updates + 1000.0) * (1 + 0.98 * (toy.width == 8))).copy(deep=True)
    numbers.updates.values[0, 0] = 5.0
    numbers.status.values[0, 0] = RunStatus.BUDGET_SPENT
    row = rows_of(numbers)["mean updates to zero loss, width 8 / width 4"]
    assert (row.measured, row.verdict) == (pytest.approx(1.98), "MEASURED")


@pytest.mark.parametrize(("ratio", "agrees"), [(1.99, True), (2.01, False), (0.51, True), (0.49, False)])
def test_control_updates_that_depend_on_the_width(toy, ratio, agrees):
    numbers = toy.assign(updates=(0 * toy.updates + 1000.0) * (1 + (ratio - 1) * (toy.width == 8)))
    assert rows_of(numbers)["most / fewest mean updates across widths"].agrees is agrees


@pytest.mark.parametrize(("share", "agrees"), [(1.0, True), (1.001, False)])
def test_control_updates_beyond_the_bound(toy, share, agrees):
    numbers = toy.assign(updates=0 * toy.updates + share * toy.update_bound)
    assert rows_of(numbers)["largest updates / M_k with a certified separator"].agrees is agrees


def test_what_the_paper_says_of_this_figure(toy):
    """That all runs reach a global minimum, and that it generalizes well at every width; the rest is counted apart."""
    said = [row.name for row in compare_figure_1(toy) if not row.added]
    widths = [f"mean final test error, width {width}" for width in toys.WIDTHS]
    assert said == ["share of runs at zero training loss", *widths]
