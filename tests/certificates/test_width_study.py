"""What is counted of networks of several widths, and how much work they get."""

import dataclasses

import numpy as np
import pytest
import scipy.stats
from sklearn.metrics import roc_auc_score

import widenet as wn
from tests.certificates.studies import ASKED, MORE, NAMES, answering, everything, plain, runs_of, says, study
from tests.packages import EMPTY, TOY
from widenet import papers
from widenet.certificates import rivals, width_study, words
from widenet.certificates.width_study import area, chance_of, compared, fewest_measured, offers, planned, score_of
from widenet.certificates.width_words import about_material, by_class, does_size_help


@pytest.fixture(autouse=True)
def toy_papers(monkeypatch):
    monkeypatch.setattr(papers, "PAPERS", (TOY, EMPTY))


@pytest.mark.parametrize(("widths_tried", "points", "fewest"), [(6, 150, 10), (3, 500, 7), (2, 500, 6)])
def test_the_smallest_difference_that_can_be_measured_is_the_smallest_one(widths_tried, points, fewest):
    """One point fewer, all one way, is not measured by a sign test of SciPy, and so many are."""
    asked = dataclasses.replace(ASKED, inputs=ASKED.inputs[:points], labels=ASKED.labels[:points])
    answers = [runs_of(4 ** (1 + place), 0) for place in range(widths_tried)]
    given = [
        dataclasses.replace(
            each, parts=each.parts[:points], predicted=each.predicted[:points], scores=each.scores[:points]
        )
        for each in answers
    ]
    others = {name: says(answering(0)[:points]) for name in (rivals.LINEAR, rivals.NEIGHBOURS)}
    others[rivals.MAJORITY] = says(answering(250)[:points])
    found = compared(asked, {each.setting.n_neurons: each for each in given}, others, (), (), MORE)
    risk = 0.05 / (widths_tried * (widths_tried - 1) / 2)
    assert scipy.stats.binomtest(0, fewest).pvalue <= risk < scipy.stats.binomtest(0, fewest - 1).pvalue
    assert (found.fewest_seen, fewest_measured(risk)) == (fewest, fewest)
    share = words.percent(fewest / points).replace("\N{NO-BREAK SPACE}", " ")
    assert f"the smallest difference that can be measured between widths is {share} ({fewest} points, all" in (
        everything(found)
    )
    for count, is_seen in ((fewest - 1, False), (fewest, True)):
        worse = {4: dataclasses.replace(given[0], predicted=answering(count)[:points])}
        again = compared(asked, {each.setting.n_neurons: each for each in given} | worse, others, (), (), MORE)
        assert again.difference(4, 16).is_worse == is_seen


@pytest.mark.parametrize("effort", [1e-3, 0.05, 1.0, 100.0])
@pytest.mark.parametrize(("points", "dim"), [(20, 2), (400, 4), (1800, 784), (20_000, 20)])
def test_more_work_that_is_offered_does_what_is_said(effort, points, dim):
    now = planned(width_study.GRID, points, dim, 1, 5, effort)
    for_passes, for_widths = offers(width_study.GRID, points, dim, 1, 5, effort)
    assert for_passes is not None
    assert (for_widths is None) == (now.n_widths == len(width_study.GRID))
    for offer in filter(None, (for_passes, for_widths)):
        then = planned(width_study.GRID, points, dim, 1, 5, offer.effort)
        assert (then.passes, width_study.GRID[then.n_widths - 1]) == (offer.passes, offer.widest)
    assert for_passes.passes >= 2 * now.passes
    assert for_widths is None or for_widths.widest > width_study.GRID[now.n_widths - 1]


@pytest.mark.parametrize("effort", [0.03, 0.1, 1.0, 2.0, 3.2])
def test_the_work_that_is_offered_is_the_least_of_round_numbers(effort):
    """1, 2 and 5 times a power of ten; of those that are more than now, no smaller one is enough."""
    now, (for_passes, for_widths) = (
        planned(width_study.GRID, 2000, 4, 1, 5, effort),
        offers(width_study.GRID, 2000, 4, 1, 5, effort),
    )
    more = [each for each in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20) if each > effort]
    plans = [planned(width_study.GRID, 2000, 4, 1, 5, each) for each in more]
    assert for_passes is not None
    assert for_passes.effort == next(
        each for each, plan in zip(more, plans, strict=True) if plan.passes >= 2 * now.passes
    )
    wider = [each for each, plan in zip(more, plans, strict=True) if plan.n_widths > now.n_widths]
    assert (None if for_widths is None else for_widths.effort) == (wider[0] if wider else None)


def test_nothing_is_offered_beyond_the_most_effort():
    assert offers(width_study.GRID, 20, 2, 1, 5, width_study.MOST_EFFORT) == (None, None)
    found = study(runs_of(4, 20, 0.2), runs_of(16, 20, 0.2, falling=True), more=(None, None))
    assert "were still learning" in plain(does_size_help(found))
    assert "--effort" not in everything(found)


def test_comparisons_of_all_widths_with_the_most_common_class_share_the_risk():
    """Six points fewer are measured by one comparison (p = 1/32), and by none of two."""
    two = study(runs_of(4, 20), runs_of(16, 20), majority=26, linear=20, bending=20)
    assert [each.risk for each in two.to_majority] == [0.025, 0.025]
    assert not two.beats_majority
    against = two.against(rivals.MAJORITY)
    assert against is not None
    assert against.is_better


@pytest.mark.parametrize(("wrong", "points"), [(0, 30), (1, 30), (7, 80), (80, 80), (250, 500)])
def test_limits_are_binomial_95_percent_limits(wrong, points):
    flags = np.arange(points) < wrong
    found = score_of(flags, np.zeros(points, int), 1, None)
    assert found.limits == pytest.approx(tuple(scipy.stats.binomtest(wrong, points).proportion_ci(0.95, "exact")))
    assert (found.wrong, found.points, found.error) == (wrong, points, pytest.approx(wrong / points))


@pytest.mark.parametrize(("one", "other"), [(0, 0), (5, 0), (8, 3), (2, 40), (7, 7)])
def test_the_chance_of_a_difference_is_that_of_a_sign_test(one, other):
    wanted = scipy.stats.binomtest(one, one + other).pvalue if one + other else 1.0
    assert chance_of(one, other) == pytest.approx(wanted)


def test_comparisons_between_widths_share_the_risk():
    """Six widths make fifteen comparisons, each at a fifteenth of the risk; those with rivals are single ones."""
    found = study(*(runs_of(4**power, 20 + 10 * power) for power in range(1, 7)))
    assert len(found.differences) == 15
    pair = found.difference(4, 16)
    assert (pair.only_first, pair.only_second, pair.risk) == (0, 10, pytest.approx(0.05 / 15))
    assert pair.chance == pytest.approx(scipy.stats.binomtest(0, 10).pvalue)
    against = found.against(rivals.LINEAR)
    assert against is not None
    assert (against.only_second, against.risk) == (170, 0.05)


def test_errors_of_each_class_are_counted_apart():
    flags, kinds = np.array([1, 0, 0, 1, 1], bool), np.array([0, 0, 0, 1, 1])
    found = score_of(flags, kinds, 3, None)
    assert found.class_errors == (pytest.approx(1 / 3), 1.0, None)
    assert (found.class_points, found.class_limits[2]) == ((3, 2, 0), None)
    assert found.class_limits[0] == pytest.approx(tuple(scipy.stats.binomtest(1, 3).proportion_ci(0.95, "exact")))
    assert found.balanced_error == pytest.approx(2 / 3)
    assert plain(by_class(found, ["a", "b", "c"])) == "Error by class: a: 33 %; b: 100 %."


def test_the_area_is_that_of_scikit_learn_in_each_part():
    """With ties, and a part that has one class alone, which counts for nothing."""
    draw = np.random.default_rng(0)
    parts, kinds = np.repeat([0, 1, 2, 3], 25), np.tile([0, 0, 0, 0, 1], 20)
    kinds[parts == 3] = 0
    scores = np.round(draw.normal(size=100) + kinds, 1)
    assert len(np.unique(scores)) < 60
    expected = np.mean([roc_auc_score(kinds[parts == part], scores[parts == part]) for part in range(3)])
    assert area(scores, kinds, parts) == pytest.approx(expected, abs=1e-12)
    assert area(np.zeros(100), kinds, parts) == 0.5
    assert area(scores, np.zeros(100, int), parts) is None


def test_the_scale_is_measured_in_every_part():
    """Without its first point, one column varies as much as the others, and not more than ten times as much."""
    draw = np.random.default_rng(0)
    inputs = draw.normal(size=(40, 3))
    inputs[0, 0] = 1e3
    found = wn.certify(inputs, np.array(NAMES)[np.arange(40) % 2], effort=1e-3)
    own = found.runs[4].parts[0]
    assert found.runs[4].by_column.tolist() == [number != own for number in range(5)]
    assert "in 4 of 5 parts each column centred" in plain(about_material(found.findings))


def test_work_decides_how_many_passes_there_are_and_nothing_else():
    few, many = (planned(width_study.GRID, count, 10, 1, 5, 1.0) for count in (300, 16_000))
    assert few[0] >= many[0]
    assert few[1] > many[1] >= width_study.FEWEST_PASSES
    assert planned(width_study.GRID, 300, 10, 1, 5, 4.0)[1] >= few[1]
    assert planned(width_study.GRID, 300, 10, 1, 10, 1.0)[1] <= few[1]
    assert planned(width_study.GRID, 10, 2, 1, 5, 1.0) == (6, width_study.MOST_PASSES)
    assert planned(width_study.GRID, 10, 2, 1, 5, 4.0) == (6, 4 * width_study.MOST_PASSES)
    assert planned(width_study.GRID, 10**6, 10**4, 1, 5, 1e-9)[0] == width_study.FEWEST_WIDTHS
    cost = width_study.cost_of_pass
    assert cost(64, 400, 10, 1) > cost(16, 400, 10, 1) > cost(16, 200, 10, 1)
