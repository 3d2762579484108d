"""What is said of networks whose answers are known."""

import dataclasses
import re

import numpy as np
import pytest
import scipy.stats

from tests.certificates.studies import ASKED, MORE, NAMES, everything, findings_of, plain, runs_of, says, study
from widenet.certificates import rivals, widths, words
from widenet.certificates.page import GLOSSARY
from widenet.certificates.portrait import ClassCount
from widenet.certificates.width_study import compared
from widenet.certificates.width_words import (
    about_ranking,
    about_rare,
    about_study,
    does_size_help,
    how_long,
    verdict_of,
    will_it_generalize,
)
from widenet.certificates.widths import Ending

EQUAL = ("as well", "no better", "do not help", "nothing changes", "No:")
"""What nobody may conclude because no difference was measured."""


def test_more_neurons_help_up_to_the_width_that_no_larger_one_beats():
    found = study(runs_of(4, 100, 0.2), runs_of(16, 10), runs_of(64, 9), runs_of(256, 12))
    assert (found.enough, found.fits_from) == (16, 16)
    said = plain(does_size_help(found))
    assert said.startswith(
        "Yes: the error on held-out points falls measurably, from 20 % (4 neurons) to 2 % (16 neurons). None of the "
        "wider ones, up to 256 neurons (2.4 %), errs measurably less than those of 16 (2 %)."
    )
    assert "All 5 networks fit every training point from 16 neurons on." in said
    assert "A boundary that bends pays off: a linear classifier errs on 40 % of the same points" in said
    said = plain(verdict_of(findings_of(found)))
    assert said == (
        "More neurons help: the error on held-out points falls measurably, from 20 % (4 neurons) to 2 % (16 neurons); "
        "no more was measured beyond 16."
    )


def test_the_width_that_is_named_is_one_that_is_measurably_better():
    """Of 16 neurons it is not known whether they are better than 4, of 64 it is; none is better than 16."""
    found = study(runs_of(4, 20), runs_of(16, 14), runs_of(64, 8))
    assert found.enough == 16
    assert not found.difference(4, 16).is_worse
    assert found.difference(4, 64).is_worse
    assert "from 4 % (4 neurons) to 1.6 % (64 neurons). None of the wider ones" in plain(does_size_help(found))


def test_a_gain_that_chance_can_make_is_not_measured_and_no_equality_follows():
    found = study(runs_of(4, 14), runs_of(16, 12), runs_of(64, 10), linear=14, bending=14)
    assert found.enough == 4
    said = everything(found)
    assert "No gain was measured: networks of 4 neurons err on 2.8 % of the held-out points, the best of the" in said
    assert said.startswith(
        "No gain from more neurons was measured: 4 neurons err on 2.8 % of held-out points, 64 on 2 %, a linear "
        "classifier on 2.8 %."
    )
    assert "No gain from a boundary that bends was measured" in said
    assert not any(words in said for words in EQUAL)


def test_wider_networks_that_are_measurably_worse_are_named():
    said = plain(does_size_help(study(runs_of(4, 10), runs_of(16, 10), runs_of(64, 40), runs_of(256, 40))))
    assert "No gain was measured" in said
    assert "Networks of 64 and 256 neurons err measurably more." in said


def test_where_no_difference_can_be_measured_that_is_said():
    asked = dataclasses.replace(ASKED, inputs=ASKED.inputs[:5], labels=ASKED.labels[:5])
    runs = {each: dataclasses.replace(runs_of(each, 0), parts=np.arange(5), predicted=ASKED.labels[:5],
            scores=ASKED.labels[:5].astype(float)) for each in (4, 16)}  # fmt: skip
    others = {rivals.MAJORITY: says(1 - ASKED.labels[:5])} | dict.fromkeys(
        (rivals.LINEAR, rivals.NEIGHBOURS), says(ASKED.labels[:5])
    )
    found = compared(asked, runs, others, (), (), MORE)
    assert "With 5 held-out points no difference between widths can be measured." in everything(found)


def test_twelve_points_that_one_alone_gets_right_are_a_gain():
    """With three comparisons: 2 · 0.5^12 is below 0.05/3, and 2 · 0.5^6 is not."""
    assert study(runs_of(4, 22), runs_of(16, 10), runs_of(64, 10)).enough == 16
    assert study(runs_of(4, 16), runs_of(16, 10), runs_of(64, 10)).enough == 4


def test_networks_that_still_learn_allow_no_conclusion():
    learning = runs_of(64, 20, 0.2, falling=True)
    for given in ((runs_of(4, 20, 0.2), runs_of(16, 20, 0.2, falling=True)), (runs_of(4, 20, 0.2, falling=True),) * 1):
        found = study(*given, learning, linear=20, bending=20)
        assert found.is_open
        said = everything(found)
        assert said.startswith("Whether a larger network helps was not found within this work: networks were still")
        assert "Not found within this work" in said
        assert "neurons were still learning when their 40 passes were spent. --effort 4 allows 160 passes for" in said
        assert not any(words in said for words in EQUAL)


@pytest.mark.parametrize(
    ("learning", "said", "headline"),
    [
        ((5, 5), "Networks of 16 and 64 neurons were still learning", "networks were"),
        ((5, 3), "Most networks of 16 and 64 neurons were still learning", "networks were"),
        ((3, 1), "Most networks of 16 neurons, and 1 of 5 of 64 neurons were still learning", "networks were"),
        ((2, 1), "Of the networks 2 of 5 of 16 neurons and 1 of 5 of 64 neurons were still", "some networks were"),
        ((0, 1), "Of the networks 1 of 5 of 64 neurons was still learning", "some networks were"),
    ],
)
def test_a_width_is_said_to_learn_still_only_where_most_of_its_networks_do(learning, said, headline):
    given = [runs_of(4, 20, 0.2)]
    for width, count in zip((16, 64), learning, strict=True):
        losses = np.where(np.arange(5)[:, None] < count, runs_of(width, 20, falling=True).losses, 0.1)
        given.append(dataclasses.replace(runs_of(width, 20, 0.2), losses=losses))
    found = study(*given, linear=20, bending=20)
    assert [each.learning for each in found.results] == [0, *learning]
    assert f"{said} " in f"{everything(found)} "
    assert f"not found within this work: {headline} still learning" in plain(verdict_of(findings_of(found)))


def test_how_networks_of_the_study_were_trained_is_said():
    said = plain(about_study(study(runs_of(4, 20), runs_of(16, 20))))
    assert f"Each update is of {widths.BATCH} points, with step size {widths.STEP_SIZE}" in said
    assert f"once the mean loss of a pass is at most {widths.FITTED_LOSS}, and training ends after it." in said
    (update,) = [meaning for word, meaning in GLOSSARY if word == "update"]
    assert f"a look at {widths.BATCH} points" in update
    assert "With the hinge loss" in update


def test_who_learns_by_heart_may_learn_more_and_who_is_followed_by_one_that_fits_not():
    heart = study(runs_of(4, 50, 0.09), runs_of(16, 50, 0.02, falling=True))
    assert heart.results[1].learning == 5
    assert heart.is_open
    followed = study(runs_of(4, 10, 0.02), runs_of(16, 10, 0.02, falling=True), runs_of(64, 10))
    assert not followed.is_open
    by_itself = study(runs_of(4, 10, 0.02), runs_of(16, 10, 0.02, falling=True, ending=Ending.FITTED))
    assert not by_itself.is_open


def test_widths_that_were_left_out_allow_no_conclusion():
    late = study(runs_of(4, 100), runs_of(16, 100), cut=(64,))
    assert "The time limit left out 64 neurons." in plain(does_size_help(late))
    heavy = study(runs_of(4, 100), runs_of(16, 100), left_out=(64, 256))
    said = plain(does_size_help(heavy))
    assert "64 and 256 neurons were left out: that is more than this work allows. --effort 16 allows 40 passes for" in (
        said
    )
    for found in (late, heavy):
        assert found.is_open
        assert "Not found within this work" in plain(does_size_help(found))
        assert plain(verdict_of(findings_of(found))).startswith("Whether a larger network helps was not found within")
    helped = everything(study(runs_of(4, 100), runs_of(16, 10), left_out=(64,)))
    assert "How far this goes was not found within this work." in helped
    assert "Wider networks were not trained" not in helped


def test_the_same_work_is_advised_everywhere():
    found = study(runs_of(4, 20, 0.2), runs_of(16, 20, 0.2, falling=True), left_out=(64,))
    for told in (does_size_help(found), about_study(found)):
        assert re.findall("--effort [0-9]+", plain(told)) == ["--effort 4"]
        assert "passes for widths up to 64 and trains up to about 4 times as long." in plain(told)


def test_a_linear_classifier_that_errs_least_comes_first():
    least = verdict_of(findings_of(study(runs_of(4, 20), runs_of(16, 20), linear=18, bending=18)))
    assert plain(least).startswith(
        "A linear classifier errs least of what was tried: on 3.6 % of held-out points; networks of 4 neurons on 4 % "
        "(no measurable difference). No gain from more neurons was measured:"
    )
    far = verdict_of(findings_of(study(runs_of(4, 60), runs_of(16, 60), linear=20, bending=57)))
    assert "networks of 4 neurons on 12 % (measurably more)." in plain(far)
    for linear, bending, majority in ((20, 20, 250), (18, 17, 250), (18, 18, 21)):
        found = study(runs_of(4, 20), runs_of(16, 20), linear=linear, bending=bending, majority=majority)
        assert not verdict_of(findings_of(found)).startswith("A linear classifier")


def test_where_another_model_that_bends_errs_less_nothing_is_concluded():
    """As on MNIST, where an RBF machine errs on a third of what networks err on."""
    found = study(runs_of(4, 60), runs_of(16, 60), linear=60, bending=20)
    assert found.is_open
    said = everything(found)
    assert said.startswith(
        "Whether a larger network helps was not found within this work: another model errs measurably less."
    )
    assert "Measurably fewer errors are made by nearest neighbours (4 %), so better networks may exist." in said
    assert "A boundary that bends pays off, measured by nearest neighbours, but networks of 4 neurons show no" in said
    assert not study(runs_of(4, 60), runs_of(16, 60), linear=60, bending=58).is_open


def test_what_is_said_of_a_linear_classifier():
    equal = everything(study(runs_of(4, 20), runs_of(16, 20), linear=20, bending=20))
    assert "No gain from a boundary that bends was measured: a linear classifier errs on 4 %" in equal
    assert not any(words in equal for words in EQUAL)
    worse = study(runs_of(4, 60), runs_of(16, 60), linear=20, bending=57)
    assert "Networks of 4 neurons err measurably more than the linear classifier: a linear" in plain(
        does_size_help(worse)
    )
    assert plain(verdict_of(findings_of(worse))).endswith("a linear classifier on 4 %, measurably less.")


def test_no_width_better_than_the_most_common_class_is_said_of_all_widths():
    found = study(runs_of(4, 20), runs_of(16, 20), majority=22, linear=20, bending=20)
    assert verdict_of(findings_of(found)) == (
        "At no width do networks err measurably less than by always answering left."
    )
    said = plain(will_it_generalize(found))
    assert "always answering left errs on 4.4 %, which is not measurably more." in said
    # 64 neurons are better, though not measurably better than 4, of which that is not known.
    wide = study(runs_of(4, 20), runs_of(16, 20), runs_of(64, 14), majority=25, linear=20, bending=20)
    assert wide.enough == 4
    assert not wide.to_majority[0].is_better
    assert wide.to_majority[2].is_better
    assert "always answering" not in verdict_of(findings_of(wide))


def test_nothing_is_concluded_about_the_most_common_class_from_work_that_was_cut_off():
    found = study(runs_of(4, 20, 0.2), runs_of(16, 20, 0.2, falling=True), majority=22, linear=20, bending=20)
    assert verdict_of(findings_of(found)) == (
        "Whether a larger network helps was not found within this work: networks were still learning; so far at no "
        "width do networks err measurably less than by always answering left."
    )


def test_no_width_that_fits_is_said_with_how_far_it_is():
    found = study(runs_of(4, 60, 0.3), runs_of(16, 30, 0.1))
    assert found.fits_from is None
    assert (
        "No network fits every training point: the nearest, 16 neurons, gets 10 % of them wrong after 40 passes (all "
        "that the work allows)." in plain(does_size_help(found))
    )
    stopped = study(runs_of(4, 60, 0.3), runs_of(16, 30, 0.1, ending=Ending.FITTED))
    assert "gets 10 % of them wrong after 4 passes (then its loss was nearly 0)." in plain(does_size_help(stopped))
    assert study(runs_of(4, 60, 0.0), runs_of(16, 30, 0.1)).fits_from is None
    assert "Of the networks of 4 neurons 5 of 5 fit every training point, of 16 neurons 0 of 5." in plain(
        does_size_help(study(runs_of(4, 60, 0.0), runs_of(16, 30, 0.1)))
    )


def test_errors_are_told_with_their_limits_and_rivals():
    found = study(runs_of(4, 35, 0.3), runs_of(16, 35), majority=250, linear=200)
    low, high = (words.percent(end) for end in scipy.stats.binomtest(35, 500).proportion_ci(0.95, "exact"))
    said = plain(will_it_generalize(found))
    limits = plain(f"errs on 7 % of 500 held-out points (approximate 95 % limits: {low} to {high})")
    assert limits in said
    assert "always answering left errs on 50 %." in said


def test_limits_are_said_to_be_approximate():
    said = plain(about_study(study(runs_of(4, 35), runs_of(16, 35))))
    assert "Both are computed as if held-out points were independent; networks share training points, and" in said
    assert "so they are approximate" in said
    assert not any(word in said for word in ("certain", "exact 95", "hold together"))
    (limits,) = [meaning for word, meaning in GLOSSARY if word == "95 % limits"]
    assert "approximate" in limits


def test_a_class_that_is_rare_is_told_by_itself_and_by_ranking():
    """As of 3 % rare ones: who always answers the other class errs as little, and ranks nothing."""
    labels = (np.arange(500) % 25 == 0).astype(int)
    asked = dataclasses.replace(ASKED, labels=labels, names=("no", "yes"))
    draw = np.random.default_rng(0)
    never, high = np.zeros(500, int), draw.normal(size=500) + 2 * labels
    runs = {width: dataclasses.replace(runs_of(width, 0), predicted=never, scores=scores)
            for width, scores in ((4, high), (16, draw.normal(size=500)))}  # fmt: skip
    others = {
        rivals.MAJORITY: rivals.ModelAnswers(never, np.zeros(500)), rivals.LINEAR: rivals.ModelAnswers(never, -high),
        rivals.NEIGHBOURS: rivals.ModelAnswers(never, 0.0 + labels),
    }  # fmt: skip
    found = compared(asked, runs, others, (), (), MORE)
    counts = [ClassCount(name="no", points=480), ClassCount(name="yes", points=20)]
    low, high_area = sorted(each.score.auc or 0.0 for each in found.results)
    linear = found.rival(rivals.LINEAR)
    majority = found.rival(rivals.MAJORITY)
    assert linear is not None
    assert majority is not None
    assert linear.score.auc == pytest.approx(1 - high_area)
    assert (majority.score.auc, majority.score.balanced_error) == (0.5, 0.5)
    said = plain(about_ranking(found, counts))
    assert said.startswith(
        f"At 4 % yes the error rate can hardly show a gain. Ranking (AUC): networks {low:.2f} to {high_area:.2f} "
        f"(highest: 4 neurons), a linear classifier {1 - high_area:.2f} and nearest neighbours 1.00."
    )
    assert "no difference of these numbers was tested" in said
    ends = scipy.stats.binomtest(20, 20).proportion_ci(0.95, "exact")
    limits = f"{words.percent(ends.low)} to {words.percent(ends.high)}"
    assert plain(about_rare(found, ["no", "yes"])) == plain(
        f"Networks of 4 neurons miss 20 of 20 yes (approximate 95 % limits: {limits})."
    )
    even = study(runs_of(4, 20), runs_of(16, 20))
    halves = [each.model_copy(update={"points": 250}) for each in counts]
    assert about_rare(even, NAMES) == about_ranking(even, halves) == ""
    blind = study(runs_of(4, 250), runs_of(16, 250))
    assert plain(about_ranking(blind, halves)).startswith("Ranking (")


def test_updates_passes_and_seconds_are_told_together():
    said = plain(how_long(study(runs_of(4, 20), runs_of(16, 20))))
    assert "40 passes over 400 points (all that the work allows)" in said
    assert "4,000 updates, 0.25 s on this machine" in said  # 400 points in batches of four, forty times


def test_why_training_ended_is_said():
    stopped = plain(how_long(study(runs_of(4, 20, ending=Ending.FITTED), runs_of(16, 20))))
    assert "makes 4 passes over 400 points (then its loss was nearly 0): 400 updates" in stopped
    assert "one of 16 makes 40 (all that the work allows)" in stopped
    broken = plain(how_long(study(runs_of(4, 20, ending=Ending.DIVERGED), runs_of(16, 20))))
    assert "(then its weights became infinite)" in broken
    mixed = dataclasses.replace(runs_of(4, 20), endings=np.array([0, 1, 1, 1, 2]))
    assert "(of 5 networks 1 stopped with a loss of nearly 0, 3 spent the work and 1 diverged)" in plain(
        how_long(study(mixed, runs_of(16, 20)))
    )


def test_the_scale_that_is_told_is_that_of_the_parts():
    one, other = runs_of(4, 20), runs_of(16, 20)
    each, all_of_it = "each column centred and divided by its standard deviation", "one centre for all columns"
    assert all_of_it in plain(about_study(study(one, other)))
    one = dataclasses.replace(one, by_column=np.ones(5, bool), n_constant=np.array([0, 1, 0, 0, 2]))
    assert f"alone: {each}; 0 to 2 columns left out, constant there." in plain(about_study(study(one, other)))
    one = dataclasses.replace(one, by_column=np.arange(5) < 2)
    assert f"in 2 of 5 parts {each}, in the others {all_of_it}" in plain(about_study(study(one, other)))
