"""Networks by width: what they are trained on, and what is said about them, against a few independent lines."""

import dataclasses
import json
import subprocess
import sys
import time
from types import SimpleNamespace
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import widenet as wn
from tests.packages import EMPTY, TOY
from widenet import papers
from widenet.certificates import certainty, rivals, width_study, widths, words
from widenet.certificates.allowances import Allowance, allowances
from widenet.certificates.certainty import repeat
from widenet.certificates.data_forms import DataForm
from widenet.certificates.rows import ask_all
from widenet.certificates.time_limit import TimeLimit
from widenet.certificates.width_study import StudySetting, compared, limits_of_difference, planned, score_of
from widenet.certificates.width_words import (
    about_allowances,
    about_study,
    by_class,
    does_size_help,
    how_long,
    verdict_of,
    will_it_generalize,
)
from widenet.certificates.widths import (
    StudiedWidth,
    StudiedWidthSetting,
    held_out_points,
    run_width,
    scaling_of,
    train_network,
)
from widenet.claims.meaning import Topic
from widenet.data.own import keep
from widenet.progress import silent
from widenet.run.outcomes import cells_of
from widenet.store import Store
from widenet.types import Dataset

SETTING = StudiedWidthSetting(own_data="", n_classes=2, n_neurons=6, n_networks=3, passes=4, slope=0.2, scales=True)


ALL_PAPERS = papers.PAPERS


@pytest.fixture(autouse=True)
def toy_papers(monkeypatch):
    monkeypatch.setattr(papers, "PAPERS", (TOY, EMPTY))


def clouds(points: int = 30, classes: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Clouds that overlap, with columns of different units."""
    draw = np.random.default_rng(seed)
    labels = np.arange(points) % classes
    inputs = draw.normal(size=(points, 3)) * [1.0, 50.0, 0.1]
    inputs[:, 0] += 1.5 * labels
    return inputs, labels


def of(inputs, labels, **changes) -> StudiedWidthSetting:
    own = keep(Dataset(jnp.asarray(inputs, jnp.float64), jnp.asarray(labels, jnp.float64)))
    return SETTING.model_copy(update={"own_data": own, "n_classes": len(np.unique(labels)), **changes})


def said_by(found: StudiedWidth, points: np.ndarray) -> np.ndarray:
    """What the first network says, in three lines of NumPy."""
    before = ((points - found.centre) / found.unit) @ found.hidden.T + found.bias
    outputs = np.where(before > 0, before, found.setting.slope * before) @ found.output.T
    return (outputs[:, 0] > 0).astype(int) if outputs.shape[1] == 1 else outputs.argmax(axis=1)


@pytest.mark.parametrize("classes", [2, 3])
def test_what_networks_name_is_what_their_weights_say(classes):
    inputs, labels = clouds(classes=classes)
    found = run_width(of(inputs, labels), silent)
    kept = np.setdiff1d(np.arange(30), found.held_out[0])
    np.testing.assert_array_equal(said_by(found, inputs[found.held_out[0]]), found.predicted[0])
    assert np.mean(said_by(found, inputs[kept]) != labels[kept]) == found.train_error[0]
    assert found.trained_on == len(kept) == 30 - found.held_out.shape[1]


@pytest.mark.parametrize("moved", [0, 1, 2])
def test_held_out_points_have_no_influence_on_weights(moved):
    """Other inputs in a network's held-out rows leave its weights as they are, bit for bit, and change the others."""
    inputs, labels = clouds()
    setting = of(inputs, labels)
    held_out = held_out_points(labels, 3, 0)
    other = inputs.copy()
    other[held_out[moved]] = 1e3 * np.random.default_rng(1).normal(size=(len(held_out[moved]), 3))
    for number in range(3):
        kept = np.setdiff1d(np.arange(30), held_out[number])
        one, two = (train_network(points[kept], labels[kept], setting, number) for points in (inputs, other))
        same = [np.array_equal(np.asarray(a), np.asarray(b)) for a, b in zip(one.weights, two.weights, strict=True)]
        assert all(same) == (number == moved)
    first, second = run_width(setting, silent), run_width(of(other, labels), silent)
    same = [np.array_equal(getattr(first, name), getattr(second, name)) for name in ("hidden", "output", "centre")]
    assert all(same) == (moved == 0)
    assert np.array_equal(first.held_out, second.held_out)
    assert (first.losses[moved] == second.losses[moved]).all()
    assert not (first.losses[(moved + 1) % 3] == second.losses[(moved + 1) % 3]).all()


def test_labels_of_held_out_points_have_no_influence_either():
    inputs, labels = clouds()
    first = run_width(of(inputs, labels), silent)
    swapped = labels.copy()
    own = first.held_out[0]
    pair = [own[labels[own] == 0][0], own[labels[own] == 1][0]]
    swapped[pair] = swapped[pair[::-1]]
    kept = np.setdiff1d(np.arange(30), own)
    one, two = (train_network(inputs[kept], each[kept], SETTING, 0) for each in (labels, swapped))
    assert all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in zip(one.weights, two.weights, strict=True))
    np.testing.assert_array_equal(np.asarray(one.weights.hidden[0], np.float64), first.hidden)


@pytest.mark.parametrize("sizes", [(10, 10), (13, 7), (23, 5, 11), (4, 30)])
def test_every_point_is_held_out_at_most_once_and_classes_in_proportion(sizes):
    labels = np.repeat(np.arange(len(sizes)), sizes)
    found = held_out_points(labels, 5, seed=3)
    assert len(set(found.ravel().tolist())) == found.size
    for part in found:
        assert np.bincount(labels[part], minlength=len(sizes)).tolist() == [size // 5 for size in sizes]
    assert not np.array_equal(found, held_out_points(labels, 5, seed=4))


def test_networks_start_and_go_through_points_differently(monkeypatch):
    """Each has its own start and its own order of the points, and another seed has others."""
    starts, orders = [], []
    real = widths.WeightedPasses.train

    def noted(self, start, inputs, labels, weights, given):
        given = list(given)
        starts.append(np.asarray(start.hidden))
        orders.append(np.stack(given))
        return real(self, start, inputs, labels, weights, given)

    monkeypatch.setattr(widths.WeightedPasses, "train", noted)
    inputs, labels = clouds()
    run_width(of(inputs, labels), silent)
    run_width(of(inputs, labels, seed=1), silent)
    assert len({start.tobytes() for start in starts if start.shape == (1, 6, 3)}) == len(starts) == 12
    assert len({order.tobytes() for order in orders}) == 12
    assert all(len({row.tobytes() for row in order}) == len(order) for order in orders)
    assert all(sorted(row.tolist()) == list(range(row.size)) for order in orders for row in order[:, 0])
    wide = widths.start_of(SETTING.model_copy(update={"n_neurons": 8}), 3, 0)
    assert not np.array_equal(wide.hidden[0, :6], widths.start_of(SETTING, 3, 0).hidden[0])


def test_a_repeat_in_float64_is_in_float64(monkeypatch):
    inputs, labels = clouds()
    rough = run_width(of(inputs, labels), silent)
    fine = run_width(of(inputs, labels, dtype="float64"), silent)
    for found, is_fine in ((rough, False), (fine, True)):
        for weights in (found.hidden, found.output, found.bias):
            assert (weights != weights.astype(np.float32)).any() == is_fine
    np.testing.assert_allclose(fine.hidden, rough.hidden, atol=1e-3)
    asked = []
    real = certainty.read_all
    monkeypatch.setattr(
        certainty, "read_all", lambda tasks, *rest: (asked.append(tasks[0][0].setting), real(tasks, *rest))[1]
    )
    found = repeat(rough, cells_of(None), TimeLimit(np.inf))
    assert found is not None
    assert asked == [rough.setting.model_copy(update={"dtype": "float64"})]
    assert (found.repeated, found.n_neurons, found.points) == (3, 6, rough.predicted.size)
    assert found.changed == (rough.predicted != fine.predicted).sum()
    other = dataclasses.replace(rough, predicted=1 - fine.predicted, train_error=np.zeros(3))
    found = repeat(other, cells_of(None), TimeLimit(np.inf))
    assert found is not None
    assert (found.changed, found.flipped) == (fine.predicted.size, int((fine.train_error != 0).sum()))
    unknown = dataclasses.replace(rough, setting=rough.setting.model_copy(update={"seed": 99}))
    assert repeat(unknown, cells_of(None), TimeLimit(-1.0)) is None


def test_scaling_is_that_of_the_points_given():
    inputs, _ = clouds()
    inputs = np.column_stack([inputs, np.full(30, 7.0)])
    centre, unit = scaling_of(inputs, scales=True)
    points = (inputs - centre) / unit
    assert (points[:, 3] == 0).all()
    assert (points**2).sum(axis=1).mean() == pytest.approx(1)
    np.testing.assert_allclose(points[:, :3].std(axis=0), 3**-0.5)
    centre, unit = scaling_of(inputs, scales=False)
    assert np.ptp(unit[:3]) == 0
    assert (((inputs - centre) / unit) ** 2).sum(axis=1).mean() == pytest.approx(1)


def test_a_spiral_is_fitted_and_a_narrow_network_cannot():
    """Two turns: four neurons make a few kinks, 64 are enough for all of it."""
    draw = np.random.default_rng(0)
    radius, arm = np.sqrt(draw.uniform(0.05, 1, 200)), np.arange(200) % 2
    angle = 3 * np.pi * radius + np.pi * arm
    inputs = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    narrow, wide = (run_width(of(inputs, arm, n_neurons=width, passes=800), silent) for width in (4, 64))
    assert narrow.train_error.min() > 0.05
    assert wide.train_error.max() == 0
    assert np.mean(wide.predicted != arm[wide.held_out]) < 0.06
    assert wide.passes.max() < 800  # whoever fits is done


def test_a_network_that_diverges_is_right_nowhere(monkeypatch):
    monkeypatch.setattr(widths, "STEP_SIZE", 1e30)
    inputs, labels = clouds()
    found = run_width(of(inputs, labels), silent)
    assert found.diverged.all()
    assert (found.predicted == -1).all()
    assert (found.train_error == 1).all()


# What is said of networks whose answers are known.

NAMES = ("left", "right")
ASKED = StudySetting(np.zeros((500, 2)), np.arange(500) % 2, NAMES, 500, None, 5, 1.0, 0.2, True, 0)
TRUTH = np.tile(np.arange(100) % 2, (5, 1))


def answering(wrong: int, offset: int = 0) -> np.ndarray:
    """Answers of which so many are wrong, from a place on."""
    found = TRUTH.copy().ravel()
    places = (np.arange(wrong) + offset) % 500
    found[places] = 1 - found[places]
    return found.reshape(TRUTH.shape)


def runs_of(width: int, wrong: int, train: float = 0.0, falling: bool = False, offset: int = 0) -> StudiedWidth:
    losses = np.tile(np.geomspace(1, 1e-2, 40) if falling else np.full(40, 0.1), (5, 1))
    return StudiedWidth(
        setting=SETTING.model_copy(update={"n_neurons": width, "n_networks": 5, "passes": 40}),
        held_out=np.arange(500).reshape(5, 100), predicted=answering(wrong, offset), train_error=np.full(5, train),
        passes=np.full(5, 40), losses=losses, diverged=np.zeros(5, bool), seconds=np.full(5, 0.25), trained_on=400,
        hidden=np.zeros((width, 2)), bias=np.zeros(width), output=np.zeros((1, width)), centre=np.zeros(2),
        unit=np.ones(2),
    )  # fmt: skip


def study(*given: StudiedWidth, majority: int = 250, linear: int = 200, bending: int = 0, cut=()):
    others = {
        rivals.MAJORITY: answering(majority), rivals.LINEAR: answering(linear), rivals.NEIGHBOURS: answering(bending)
    }  # fmt: skip
    runs = {each.setting.n_neurons: each for each in given}
    return compared(ASKED, runs, others, TRUTH, 400, 40, (), tuple(cut))


def plain(sentences) -> str:
    return " ".join([sentences] if isinstance(sentences, str) else sentences).replace("\N{NO-BREAK SPACE}", " ")


def findings_of(found) -> Any:
    """Findings of which only the study matters."""
    return SimpleNamespace(study=found)


def test_more_neurons_help_up_to_the_width_that_no_larger_one_beats():
    found = study(runs_of(4, 100, 0.2), runs_of(16, 10), runs_of(64, 9), runs_of(256, 12))
    assert (found.enough, found.fits_from) == (16, 16)
    said = plain(does_size_help(found))
    assert said.startswith(
        "Yes, up to 16 neurons: the error on held-out points falls from 20 % (4 neurons) to 2 %. From"
    )
    assert "From there on nothing changes measurably, up to 256 (2.4 %)." in said
    assert "All 5 networks fit every training point from 16 neurons on." in said
    assert (
        "A linear classifier errs on 40 % of the same points, nearest neighbours on 0 %: a boundary that bends" in said
    )
    said = plain(verdict_of(findings_of(found)))
    assert said == "More neurons help up to 16: 20 % → 2 %; from 16 on nothing changes."


def test_a_gain_that_chance_can_make_is_none():
    found = study(runs_of(4, 14), runs_of(16, 12), runs_of(64, 10), linear=14)
    assert found.enough == 4
    assert plain(does_size_help(found)).startswith("No: 4 neurons already do as well as up to 64. They err on 2.8 %")
    assert "More neurons do not help: 4 do as well as 64" in plain(verdict_of(findings_of(found)))


def test_twelve_points_that_one_alone_gets_right_are_a_gain():
    """With three comparisons: 2 · 0.5^12 is below 0.05/3, and 2 · 0.5^6 is not."""
    assert study(runs_of(4, 22), runs_of(16, 10), runs_of(64, 10)).enough == 16
    assert study(runs_of(4, 16), runs_of(16, 10), runs_of(64, 10)).enough == 4


def test_networks_that_still_learn_allow_no_conclusion():
    for given in ((runs_of(4, 20, 0.2), runs_of(16, 20, 0.2, falling=True)), (runs_of(4, 20, 0.2, falling=True),) * 1):
        found = study(*given, runs_of(64, 20, 0.2, falling=True), linear=20, bending=20)
        assert found.is_cut
        said = plain([*does_size_help(found), verdict_of(findings_of(found))])
        assert "Not known" in said
        assert "--effort 4 allows four times the work" in said
        assert "do as well" not in said
        assert "linear boundary does as well" not in said


def test_who_learns_by_heart_or_is_followed_by_one_that_fits_is_no_obstacle():
    heart = study(runs_of(4, 50, 0.09), runs_of(16, 50, 0.02, falling=True))
    assert heart.results[1].learning == 5
    assert not heart.is_cut
    followed = study(runs_of(4, 10, 0.02), runs_of(16, 10, 0.02, falling=True), runs_of(64, 10))
    assert not followed.is_cut


def test_a_time_limit_that_cut_widths_off_allows_no_conclusion():
    found = study(runs_of(4, 100), runs_of(16, 100), cut=(64,))
    assert found.is_cut
    assert "The time limit left out 64 neurons, so nothing is concluded about them." in plain(does_size_help(found))
    assert plain(verdict_of(findings_of(found))).startswith("Whether a larger network helps is open")


def test_a_linear_boundary_does_as_well_only_if_nothing_that_bends_does_better():
    equal = study(runs_of(4, 20), runs_of(16, 20), linear=20, bending=20)
    assert "a linear boundary does as well" in plain(does_size_help(equal))
    assert verdict_of(findings_of(equal)).endswith("and so does a linear classifier.")
    other = study(runs_of(4, 200), runs_of(16, 200), linear=200, bending=0)
    assert "whether a boundary that bends pays off is open" in plain(does_size_help(other))
    assert "as well" not in verdict_of(findings_of(other)).removeprefix("More neurons do not help: 4 do as well as 16")
    worse = study(runs_of(4, 60), runs_of(16, 60), linear=20, bending=30)
    assert "these networks gain nothing over a linear classifier" in plain(does_size_help(worse))
    assert verdict_of(findings_of(worse)).endswith("A linear classifier does better.")


def test_what_is_no_better_than_the_most_common_class_is_said_to_be():
    found = study(runs_of(4, 20), runs_of(16, 20), majority=22, linear=20, bending=20)
    assert verdict_of(findings_of(found)) == "No network does better here than always answering left."
    assert "nothing measurable was learned beyond which class is the most common" in plain(will_it_generalize(found))
    assert "does as well" not in plain(does_size_help(found)).partition("A linear classifier")[2]


def test_no_width_that_fits_is_said_with_how_far_it_is():
    found = study(runs_of(4, 60, 0.3), runs_of(16, 30, 0.1))
    assert found.fits_from is None
    assert "No width fits every training point in 40 passes: the nearest, 16 neurons, gets 10 % of them" in plain(
        does_size_help(found)
    )
    assert study(runs_of(4, 60, 0.0), runs_of(16, 30, 0.1)).fits_from is None
    assert "5 of 5 fit" in plain(does_size_help(study(runs_of(4, 60, 0.0), runs_of(16, 30, 0.1))))


def test_errors_are_told_with_their_limits_and_rivals():
    found = study(runs_of(4, 35, 0.3), runs_of(16, 35), majority=250, linear=200)
    low, high = scipy.stats.binomtest(35, 500).proportion_ci(0.95, "exact")
    said = plain(will_it_generalize(found))
    assert (
        f"errs on 7 % of 500 held-out points (95 % limits: {words.percent(low)} to {words.percent(high)})"
        in said.replace(" %", "\N{NO-BREAK SPACE}%")
        .replace("errs on 7\N{NO-BREAK SPACE}%", "errs on 7 %")
        .replace("(95\N{NO-BREAK SPACE}%", "(95 %")
    )
    assert "always answering left errs on 50 %, a linear classifier on 40 %." in said


@pytest.mark.parametrize(("wrong", "points"), [(0, 30), (1, 30), (7, 80), (80, 80), (250, 500)])
def test_limits_are_exact_95_percent_limits(wrong, points):
    flags = np.arange(points) < wrong
    found = score_of(flags, np.zeros(points, int), 1)
    assert found.limits == pytest.approx(tuple(scipy.stats.binomtest(wrong, points).proportion_ci(0.95, "exact")))
    assert (found.wrong, found.points, found.error) == (wrong, points, pytest.approx(wrong / points))


@pytest.mark.parametrize(("one", "other"), [(0, 0), (5, 0), (8, 3), (2, 40)])
def test_limits_of_a_difference_are_those_of_the_points_that_only_one_gets_wrong(one, other):
    low, high = limits_of_difference(one, other, 200, 0.95)
    if one + other == 0:
        assert (low, high) == (0, 0)
        return
    ends = scipy.stats.binomtest(one, one + other).proportion_ci(0.95, "exact")
    assert (low, high) == pytest.approx(tuple((2 * end - 1) * (one + other) / 200 for end in ends))


def test_comparisons_between_widths_hold_together():
    """Six widths make fifteen comparisons, each at a fifteenth of the risk; those with rivals are single ones."""
    found = study(*(runs_of(4**power, 20 + 10 * power) for power in range(1, 7)))
    assert len(found.differences) == 15
    pair = found.difference(4, 16)
    assert (pair.only_first, pair.only_second) == (0, 10)
    assert (pair.low, pair.high) == pytest.approx(limits_of_difference(0, 10, 500, 1 - 0.05 / 15))
    against = found.against(rivals.LINEAR)
    assert against is not None
    assert (against.low, against.high) == pytest.approx(limits_of_difference(0, 170, 500, 0.95))


def test_errors_of_each_class_are_counted_apart():
    flags, kinds = np.array([1, 0, 0, 1, 1], bool), np.array([0, 0, 0, 1, 1])
    found = score_of(flags, kinds, 3)
    assert found.class_errors == (pytest.approx(1 / 3), 1.0, None)
    assert plain(by_class(found, ["a", "b", "c"])) == "Error by class: a: 33 %; b: 100 %."


def test_updates_passes_and_seconds_are_told_together():
    said = plain(how_long(study(runs_of(4, 20), runs_of(16, 20))))
    assert "40 passes over 400 points" in said
    assert "4,000 updates, 0.25 s on this machine" in said  # 400 points in batches of four, forty times


# Plans, rivals and whole certificates.


def test_work_decides_how_many_passes_there_are_and_nothing_else():
    few, many = (planned(width_study.GRID, count, 10, 1, 5, width_study.WORK) for count in (300, 16_000))
    assert few[0] >= many[0]
    assert few[1] > many[1] >= width_study.FEWEST_PASSES
    assert planned(width_study.GRID, 300, 10, 1, 5, 4 * width_study.WORK)[1] >= few[1]
    assert planned(width_study.GRID, 300, 10, 1, 10, width_study.WORK)[1] <= few[1]
    assert planned(width_study.GRID, 10, 2, 1, 5, 1e30) == (6, width_study.MOST_PASSES)
    assert planned(width_study.GRID, 10**6, 10**4, 1, 5, 1.0)[0] == width_study.FEWEST_WIDTHS
    cost = width_study.cost_of_pass
    assert cost(64, 400, 10, 1) > cost(16, 400, 10, 1) > cost(16, 200, 10, 1)


def test_rivals_are_what_scikit_learn_makes_of_the_same_points():
    inputs, labels = clouds(60)
    held_out = held_out_points(labels, 3, 0)
    found = dict(rivals.predictions(inputs, labels, held_out, scales=True))
    for part, rows in enumerate(held_out):
        kept = np.setdiff1d(np.arange(60), rows)
        scaled = StandardScaler().fit(inputs[kept])
        points, others = scaled.transform(inputs[kept]), scaled.transform(inputs[rows])
        linear = make_pipeline(StandardScaler(), LogisticRegression()).fit(inputs[kept], labels[kept])
        assert (found[rivals.LINEAR][part] == linear.predict(inputs[rows])).all()
        # These two see equal columns up to one scale, which changes neither.
        near = KNeighborsClassifier(5).fit(points, labels[kept])
        assert (found[rivals.NEIGHBOURS][part] == near.predict(others)).all()
        assert (found[rivals.RADIAL][part] == SVC(C=10.0).fit(points, labels[kept]).predict(others)).all()
        assert (found[rivals.MAJORITY][part] == scipy.stats.mode(labels[kept]).mode).all()


def certificate(tmp_path=None, **choices):
    inputs, labels = clouds(60)
    store = None if tmp_path is None else Store(tmp_path)
    return wn.certify(inputs, np.array(NAMES)[labels], **{"effort": 1e-3, "store": store, **choices})


def test_what_is_printed_is_what_was_computed():
    """Every error on page, screen and in the JSON is a count of wrong answers of networks that never saw the point."""
    found = certificate()
    inputs, labels = clouds(60)
    page, screen = found.to_html(), repr(found)
    kept = json.loads(found.to_json())["study"]
    for row in kept["results"]:
        runs = found.runs[row["n_neurons"]]
        np.testing.assert_array_equal(said_by(runs, inputs[runs.held_out[0]]), runs.predicted[0])
        wrong = int(sum((said != labels[rows]).sum() for said, rows in zip(runs.predicted, runs.held_out, strict=True)))
        assert (row["score"]["wrong"], row["score"]["points"]) == (wrong, runs.held_out.size) == (wrong, 60)
        assert row["score"]["limits"] == pytest.approx(
            tuple(scipy.stats.binomtest(wrong, 60).proportion_ci(0.95, "exact"))
        )
        assert f'<td class="number">{words.percent(wrong / 60)}</td>' in page
        assert row["train_errors"] == pytest.approx(runs.train_error.tolist())
        assert row["fitted"] == (runs.train_error == 0).sum()
        assert any(
            f"{row['n_neurons']:,} neurons" in line and f" {words.percent(wrong / 60)} " in line
            for line in screen.split("\n")
        )
    for each in kept["rivals"]:
        assert words.percent(each["score"]["wrong"] / 60) in page
    for question in ("Does a larger network help?", "Will it generalize?", "How long does training take?"):
        assert question in page
        assert question in screen


def test_choices_are_used():
    base = certificate()
    assert base.findings.study is not None
    chosen = certificate(width=10, slope=0.4, runs=3, seed=7)
    assert chosen.findings.study is not None
    assert 10 in [each.n_neurons for each in chosen.findings.study.results]
    runs = chosen.runs[10]
    assert (runs.setting.slope, runs.setting.n_networks, runs.setting.seed, runs.setting.n_neurons) == (0.4, 3, 7, 10)
    assert runs.hidden.shape == (10, 3)
    assert chosen.findings.choices.n_neurons == 10
    own = certificate(step_size=0.3, init_scale=0.7).findings.choices
    assert (own.step_size, own.init_scale) == (0.3, 0.7)
    more = certificate(effort=4e-3)
    assert more.findings.study is not None
    assert more.findings.study.passes >= base.findings.study.passes
    assert base.runs[4].setting.scales != certificate(scaling="ball").runs[4].setting.scales


def statements(found) -> str:
    """Everything that is said, apart from how long it took."""
    facts = found.to_dict()
    for name in ("seconds", "computed"):
        facts.pop(name)
    for row in (*facts["rows"], *facts["study"]["results"]):
        row.pop("seconds")
    said = [verdict_of(found.findings), *does_size_help(found.findings.study), *about_study(found.findings.study)]
    return json.dumps([facts, said], ensure_ascii=False)


def test_a_busy_machine_says_the_same_as_a_quiet_one(tmp_path, monkeypatch):
    """Another process takes the processor, and clocks jump; only the seconds of training differ."""
    quiet = statements(certificate(tmp_path / "quiet"))
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        ticks = iter(range(0, 10**9, 500))
        for name in ("monotonic", "perf_counter"):
            monkeypatch.setattr(time, name, lambda: float(next(ticks)))
        loud = statements(certificate(tmp_path / "busy"))
    finally:
        busy.kill()
        busy.wait()
    assert loud == quiet


def test_a_time_limit_that_is_spent_is_said_and_concludes_nothing():
    found = certificate(time=1e-6)
    assert found.findings.study is None
    assert plain(does_size_help(found.findings.study)).startswith("Not known: the time limit was reached")
    assert verdict_of(found.findings) == "Whether a larger network helps is not known."
    assert "No network was trained: the time limit was reached." in found.to_html()


def test_too_few_points_to_hold_any_out():
    found = wn.certify([[0.0, 1.0], [1.0, 0.0], [2.0, 0.3]], ["a", "a", "b"], effort=1e-3)
    assert found.findings.study is not None
    assert found.findings.study.enough is None
    assert plain(does_size_help(found.findings.study)).startswith("Not known: no class has enough points")
    assert "not known" in verdict_of(found.findings)
    found.to_html()


def test_labels_at_random_are_separable_where_columns_are_many():
    draw = np.random.default_rng(0)
    many = wn.certify(draw.normal(size=(20, 30)), np.arange(20) % 2, time=1e-6).findings.portrait.relabelled
    assert many is not None
    assert (many.tried, many.separable, many.is_any) == (20, 20, True)
    found = wn.certify(draw.normal(size=(20, 30)), np.arange(20) % 2, time=1e-6)
    assert "With labels drawn at random 20 of 20 times a linear boundary separates them too" in found.to_html()
    assert "says nothing about these labels" in found.to_html()
    assert "reward" not in plain(words.about_data(found.findings.portrait))
    inputs = draw.normal(size=(60, 2)) + 9 * (np.arange(60) % 2)[:, None]
    assert wn.certify(inputs, np.arange(60) % 2, time=1e-6).findings.portrait.relabelled is None
    some = wn.certify(inputs[:12], np.arange(12) % 2, time=1e-6).findings.portrait.relabelled
    assert some is not None
    assert some.separable < 20


@pytest.mark.parametrize("apart", [True, False])
def test_what_a_theorem_allows_is_asked_at_every_width(apart, monkeypatch):
    """A bound where its assumptions hold, that of a check at this width; none, and why, where they are not met."""
    monkeypatch.setattr(papers, "PAPERS", ALL_PAPERS)
    inputs = np.array([[0.9, 0.1], [0.8, -0.2], [-0.7, 0.3], [-0.9, 0.0] if apart else [0.85, -0.05]])
    data = Dataset(jnp.asarray(inputs), jnp.array([1.0, 1.0, -1.0, -1.0]))
    views, main = [DataForm("", wn.UserData(data), np.arange(4))], papers.find_claim("brutzkus2018.theorem_2")
    rows = ask_all([main], views, cells_of(None), TimeLimit(np.inf))
    (found,) = allowances(rows, views, (4, 16), cells_of(None), TimeLimit(np.inf))
    assert (found.id, found.widths) == (main.id, (4, 16))
    if apart:
        for width, promised in zip((4, 16), found.promised, strict=True):
            checked = wn.check_on(data, main.id, n_neurons=width, n_runs=1)[main.id]
            assert isinstance(checked, wn.Evidence)
            assert promised == checked.parts[0].promised
        assert found.missing == ("", "")
    else:
        assert found.promised == (None, None)
        assert all("linear boundary" in words for words in found.missing)


@pytest.mark.parametrize(
    ("promised", "missing", "said"),
    [
        ((100.0, 100.0), ("", ""), "100 times at every width"),
        ((100.0, 300.0), ("", ""), "4: 100; 16: 300. More neurons promise less."),
        ((None, 300.0), ("w must be larger", ""), "4: –; 16: 300."),
        ((None, None), ("more points", "more points"), "Nothing is promised about the number of updates at any width"),
    ],
)
def test_what_theorems_allow_is_told_by_width(promised, missing, said):
    found = Allowance(id="x.y", topic=Topic.UPDATES, about="", widths=(4, 16), promised=promised, missing=missing)
    (sentence,) = about_allowances([found])
    assert said in plain(sentence)
