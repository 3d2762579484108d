"""Figure 3 of brutzkus2019 at toy size: the wide network recovers the rule, unless the margin is small."""

import pytest

from tests.papers.brutzkus2019.figures.rows import verdicts
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
    """The wide network has errors and is wrong, the narrow one recovers f*, and no filter is near its pattern."""
    opposite = decoy.assign(
        train_error=decoy.train_error.where(decoy.network == "narrow", 0.1),
        n_wrong_sets=decoy.n_wrong_sets.where(decoy.network == "wide", 0).where(decoy.network == "narrow", 3),
        wide_filters=decoy.wide_filters[..., ::-1] * [1, -1],
    )
    rows = [row for row in compare_figure_3(opposite) if not row.added]
    unchanged = "training error of the network shown, k = 2"
    assert {row.name: row.verdict for row in rows} == {
        row.name: "AGREES" if row.name == unchanged else "DIFFERS" for row in rows
    }
    lost = decoy.assign(train_error=decoy.train_error.where(decoy.network == "wide", 0.1))
    rows = verdicts(compare_figure_3(lost))
    assert rows[unchanged] == "DIFFERS"
    assert rows["share of runs: zero training error and wrong elsewhere, k = 2"] == "DIFFERS"
