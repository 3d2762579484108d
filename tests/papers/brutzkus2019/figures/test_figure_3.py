"""Figure 3 of brutzkus2019 at toy size: the wide network recovers the rule, unless the margin is small."""

import pytest

from tests.papers.brutzkus2019.figures.rows import tells_the_opposite, verdicts
from tests.papers.brutzkus2019.toy_runs import N_RECORDED, both
from widenet.papers.brutzkus2019.figures.figure_3 import compare_figure_3, figure_3_numbers
from widenet.papers.brutzkus2019.figures.recorded_pair import shares


@pytest.fixture(scope="module")
def decoy():
    return figure_3_numbers(both(margin=5.0))


def test_figure_3_agrees(decoy):
    rows = verdicts(compare_figure_3(decoy))
    assert {verdict for name, verdict in rows.items() if not name.startswith("share")} == {"AGREES"}
    # The bands of the shares are for 200 runs and k = 100; 60 runs with k = 32 get wider ones.
    assert shares(decoy, "wide")["recovers"][0] >= 0.9 * N_RECORDED
    assert 0.5 * N_RECORDED <= shares(decoy, "narrow")["zero training error, wrong elsewhere"][0] <= 0.85 * N_RECORDED


def test_control_figure_3_with_margin_one_does_not_recover():
    rows = verdicts(compare_figure_3(figure_3_numbers(both(margin=1.0))))
    assert rows["share of runs: f* recovered, k = 32"] == "DIFFERS"


def test_control_the_opposite_of_what_is_shown_is_seen(decoy):
    tells_the_opposite(decoy, compare_figure_3)
