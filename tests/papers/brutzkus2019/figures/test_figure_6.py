"""Figure 6 of brutzkus2019 at toy size: recovery rises and falls with the margin."""

import numpy as np
import pytest

from tests.papers.brutzkus2019.figures.rows import tells_the_opposite, verdicts
from tests.papers.brutzkus2019.toy_runs import both, recovered
from widenet.papers.brutzkus2019.figures.figure_6 import compare_figure_6, figure_6_numbers
from widenet.papers.brutzkus2019.runs.recovery import PAPER_SINGLES


@pytest.fixture(scope="module")
def mixed():
    return figure_6_numbers(both(margin=2.0, n_single=1), [recovered(0), recovered(PAPER_SINGLES)])


def test_the_maps_rise_and_fall_with_the_margin(mixed):
    wide = mixed.recovery_by_width.sel(map_half_width=32)
    assert float(wide.sel(map_margin=2.5)) > 0.6
    assert float(wide.sel(map_margin=1.0)) == 0
    assert float(wide.sel(map_margin=8.0)) < 0.3
    np.testing.assert_array_equal(mixed.recovery_by_share.sel(single_share=PAPER_SINGLES / 24), wide)
    assert float(mixed.recovery_by_share.sel(single_share=0, map_margin=8.0)) > 0.9


def test_rows_see_both_ends_of_the_map(mixed):
    rows = verdicts(compare_figure_6(mixed))
    ends = [verdict for name, verdict in rows.items() if name.startswith("best recovery")]
    assert ends == ["AS EXPECTED", "AS EXPECTED"]
    flat = mixed.assign(recovery_by_width=mixed.recovery_by_width * 0 + 1)
    ends = [verdict for name, verdict in verdicts(compare_figure_6(flat)).items() if name.startswith("best recovery")]
    assert ends == ["NOT AS EXPECTED", "NOT AS EXPECTED"]


def test_control_networks_that_do_not_recover_are_seen(mixed):
    failed = mixed.assign(n_wrong_sets=mixed.n_wrong_sets.where(mixed.network == "narrow", 1))
    rows = verdicts(compare_figure_6(failed))
    assert rows["share of runs: f* recovered, k = 32"] == "DIFFERS"
    assert rows["pattern sets of 15 on which the median run is wrong, k = 32"] == "DIFFERS"


def test_control_with_margin_eight_the_wide_network_does_not_recover():
    numbers = figure_6_numbers(both(margin=8.0, n_single=1), [recovered(0), recovered(PAPER_SINGLES)])
    assert verdicts(compare_figure_6(numbers))["share of runs: f* recovered, k = 32"] == "DIFFERS"


def test_control_the_opposite_of_what_is_shown_is_seen(mixed):
    tells_the_opposite(mixed, compare_figure_6)
