"""Recovery of f* over the margin: it rises and falls."""

from tests.papers.brutzkus2019.toy_runs import recovered
from widenet.papers.brutzkus2019.runs.recovery import MARGINS, PAPER_SINGLES, SINGLES, recovery_settings
from widenet.records import Scale


def test_recovery_rises_and_falls_with_the_margin():
    low, middle, high = recovered(PAPER_SINGLES).shares
    assert low == 0
    assert middle > 0.6
    assert high < 0.3


def test_without_single_patterns_a_large_margin_does_not_hurt():
    assert recovered(0).shares[-1] > 0.9


def test_margins_do_not_know_each_other():
    assert recovered(PAPER_SINGLES, (8.0,)).shares[0] == recovered(PAPER_SINGLES).shares[-1]


def test_every_width_and_every_share_is_there_once():
    for scale in Scale:
        cases = [(setting.half_width, setting.n_single) for setting in recovery_settings(scale, 0)]
        assert len(set(cases)) == len(cases)
        assert [n_single for width, n_single in cases if width == 100] == list(SINGLES)
        assert {n_single for width, n_single in cases if width < 100} == {PAPER_SINGLES}
        assert recovery_settings(scale, 0)[0].margins == MARGINS
