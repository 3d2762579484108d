"""Networks by width: what they are trained on, and what is said about them, against a few independent lines."""

import dataclasses
import json
import re
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
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
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
from widenet.certificates.page import GLOSSARY, render
from widenet.certificates.portrait import ClassCount
from widenet.certificates.rows import ask_all
from widenet.certificates.time_limit import TimeLimit
from widenet.certificates.width_study import (
    MoreWork,
    StudySetting,
    area,
    chance_of,
    compared,
    fewest_measured,
    offers,
    planned,
    score_of,
)
from widenet.certificates.width_words import (
    about_allowances,
    about_material,
    about_ranking,
    about_rare,
    about_study,
    allowed_columns,
    by_class,
    does_size_help,
    how_long,
    verdict_of,
    will_it_generalize,
)
from widenet.certificates.widths import (
    Ending,
    StudiedWidth,
    StudiedWidthSetting,
    held_out_parts,
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


def output_of(found: StudiedWidth, points: np.ndarray) -> np.ndarray:
    before = ((points - found.centre) / found.unit) @ found.hidden.T + found.bias
    return np.where(before > 0, before, found.setting.slope * before) @ found.output.T


def said_by(found: StudiedWidth, points: np.ndarray) -> np.ndarray:
    """What the first network says, in a few lines of NumPy."""
    outputs = output_of(found, points)
    return (outputs[:, 0] > 0).astype(int) if outputs.shape[1] == 1 else outputs.argmax(axis=1)


@pytest.mark.parametrize("classes", [2, 3])
def test_what_networks_name_is_what_their_weights_say(classes):
    inputs, labels = clouds(classes=classes)
    found = run_width(of(inputs, labels), silent)
    own, kept = found.parts == 0, found.parts != 0
    np.testing.assert_array_equal(said_by(found, inputs[own]), found.predicted[own])
    assert np.mean(said_by(found, inputs[kept]) != labels[kept]) == found.train_error[0]
    assert found.trained_on.tolist() == [20, 20, 20]


@pytest.mark.parametrize("moved", [0, 1, 2])
def test_held_out_points_have_no_influence_on_weights(moved, monkeypatch):
    """Other inputs in a network's held-out rows leave its weights as they are, bit for bit, and change the others."""
    inputs, labels = clouds()
    setting = of(inputs, labels)
    parts = held_out_parts(inputs, labels, 3, 0)
    other = inputs.copy()
    other[parts == moved] = 1e3 * np.random.default_rng(1).normal(size=((parts == moved).sum(), 3))
    monkeypatch.setattr(widths, "held_out_parts", lambda *_: parts)  # which would be others, of other inputs
    for number in range(3):
        kept = parts != number
        one, two = (train_network(points[kept], labels[kept], setting, number) for points in (inputs, other))
        same = [np.array_equal(np.asarray(a), np.asarray(b)) for a, b in zip(one.weights, two.weights, strict=True)]
        assert all(same) == (number == moved)
    first, second = run_width(setting, silent), run_width(of(other, labels), silent)
    same = [np.array_equal(getattr(first, name), getattr(second, name)) for name in ("hidden", "output", "centre")]
    assert all(same) == (moved == 0)
    assert np.array_equal(first.parts, second.parts)
    assert (first.losses[moved] == second.losses[moved]).all()
    assert not (first.losses[(moved + 1) % 3] == second.losses[(moved + 1) % 3]).all()


def test_labels_of_held_out_points_have_no_influence_either():
    inputs, labels = clouds()
    first = run_width(of(inputs, labels), silent)
    swapped = labels.copy()
    own = np.flatnonzero(first.parts == 0)
    pair = [own[labels[own] == 0][0], own[labels[own] == 1][0]]
    swapped[pair] = swapped[pair[::-1]]
    kept = np.setdiff1d(np.arange(30), own)
    one, two = (train_network(inputs[kept], each[kept], SETTING, 0) for each in (labels, swapped))
    assert all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in zip(one.weights, two.weights, strict=True))
    np.testing.assert_array_equal(np.asarray(one.weights.hidden[0], np.float64), first.hidden)


@pytest.mark.parametrize("sizes", [(10, 10), (13, 7), (23, 5, 11), (4, 30), (1, 20)])
def test_every_point_is_held_out_once_and_classes_in_proportion(sizes):
    """Apart from a class of a single point, which every network has to be trained on."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    inputs = np.random.default_rng(0).normal(size=(len(labels), 2))
    found = held_out_parts(inputs, labels, 5, seed=3)
    for kind, size in enumerate(sizes):
        counts = np.bincount(found[labels == kind] + 1, minlength=6)
        assert counts[0] == (size if size == 1 else 0)
        assert np.ptp(counts[1:]) <= 1
    totals = np.bincount(found[found >= 0], minlength=5)
    assert np.ptp(totals) <= 1
    assert np.array_equal(found, held_out_parts(inputs, labels, 5, seed=3))
    assert not np.array_equal(found, held_out_parts(inputs, labels, 5, seed=4))


def test_equal_points_are_held_out_together():
    """Twins and triplets, some of another class, some with another sign of 0; of each class as many in each part."""
    draw = np.random.default_rng(0)
    different = draw.integers(-1, 2, size=(40, 3)) * 0.5
    rows = draw.integers(0, 40, size=120)
    inputs, labels = different[rows], (different[rows, 0] > 0).astype(int)
    labels[:10] = 1 - labels[:10]
    inputs[inputs == 0] *= draw.choice([1.0, -1.0], size=(inputs == 0).sum())
    assert (np.signbit(inputs) & (inputs == 0)).any()
    found = held_out_parts(inputs, labels, 4, seed=0)
    assert set(found.tolist()) == set(range(4))
    for row, part in zip(inputs, found, strict=True):
        assert (found[(inputs == row).all(axis=1)] == part).all()
    for kind in range(2):
        assert np.bincount(found[labels == kind], minlength=4).min() >= 5
    alone = held_out_parts(np.repeat([[0.0], [-0.0], [1.0], [2.0]], 3, axis=0), np.repeat([0, 0, 1, 1], 3), 3, seed=0)
    assert (alone[:6] == -1).all()  # a class of one different point
    assert len(set(alone[6:9].tolist())) == len(set(alone[9:].tolist())) == 1
    assert alone[6] != alone[9]


def test_no_network_is_trained_on_the_twin_of_a_point_that_it_is_tried_on(monkeypatch):
    """Not in a study either, nor are the models that networks are compared with."""
    inputs, labels = clouds(20)
    inputs, labels = np.repeat(inputs, 2, axis=0), np.repeat(labels, 2)
    seen, real = [], rivals.predictions
    monkeypatch.setattr(
        width_study, "predictions", lambda *given, **how: (seen.append(given[2]), real(*given, **how))[1]
    )
    found = wn.certify(inputs, np.array(NAMES)[labels], effort=1e-3)
    parts = found.runs[4].parts
    assert (parts[::2] == parts[1::2]).all()
    assert np.array_equal(seen[0], parts)
    assert "no network had seen what it was tried on" in found.to_html()


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
    assert (found.repeated, found.n_neurons, found.points) == (3, 6, 30)
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
    scale = scaling_of(inputs, scales=True)
    points = scale(inputs)
    assert (scale.is_by_column, scale.n_constant) == (True, 1)
    assert (points[:, 3] == 0).all()
    assert (points**2).sum(axis=1).mean() == pytest.approx(1)
    np.testing.assert_allclose(points[:, :3].std(axis=0), 3**-0.5)
    scale = scaling_of(inputs, scales=False)
    assert not scale.is_by_column
    assert np.ptp(scale.unit[:3]) == 0
    assert (scale(inputs) ** 2).sum(axis=1).mean() == pytest.approx(1)


def test_a_spiral_is_fitted_and_a_narrow_network_cannot():
    """Two turns: four neurons make a few kinks, 64 are enough for all of it."""
    draw = np.random.default_rng(0)
    radius, arm = np.sqrt(draw.uniform(0.05, 1, 200)), np.arange(200) % 2
    angle = 3 * np.pi * radius + np.pi * arm
    inputs = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    narrow, wide = (run_width(of(inputs, arm, n_neurons=width, passes=800), silent) for width in (4, 64))
    assert narrow.train_error.min() > 0.05
    assert wide.train_error.max() == 0
    assert np.mean(wide.predicted != arm) < 0.06
    assert wide.passes.max() < 800  # whoever fits is done
    assert set(wide.endings.tolist()) == {Ending.FITTED}
    assert set(narrow.endings.tolist()) == {Ending.SPENT}
    assert set(narrow.passes.tolist()) == {800}


@pytest.mark.parametrize("passes", [1, 3, 4, 12, 13, 14, 15, 40])
def test_who_spends_the_work_makes_every_pass_and_the_last_quarter_with_small_steps(passes, monkeypatch):
    taken, real = [], widths.WeightedPasses.train

    def noted(self, start, inputs, labels, weights, orders):
        for each in real(self, start, inputs, labels, weights, orders):
            taken.append(self.step_size)
            yield each

    monkeypatch.setattr(widths.WeightedPasses, "train", noted)
    inputs, labels = clouds()
    network = train_network(inputs, labels, SETTING.model_copy(update={"passes": passes}), 0)
    assert (len(network.losses), network.ending) == (passes, Ending.SPENT)
    assert taken == [0.1] * (passes - passes // 4) + [0.01] * (passes // 4)


def test_who_fits_early_settles_for_a_quarter_of_its_passes_too(monkeypatch):
    monkeypatch.setattr(widths, "FITTED_LOSS", 0.6)
    inputs, labels = clouds()
    network = train_network(inputs, labels, SETTING.model_copy(update={"passes": 400}), 0)
    large = int(np.argmax(network.losses <= 0.6)) + 1
    assert network.ending is Ending.FITTED
    assert len(network.losses) == large + -(-large // 3) < 400


def test_a_network_that_diverges_is_right_nowhere(monkeypatch):
    monkeypatch.setattr(widths, "STEP_SIZE", 1e30)
    inputs, labels = clouds()
    found = run_width(of(inputs, labels), silent)
    assert set(found.endings.tolist()) == {Ending.DIVERGED}
    assert found.diverged.all()
    assert (found.predicted == -1).all()
    assert (found.scores == 0).all()  # which ranks nothing
    assert (found.train_error == 1).all()


# What is said of networks whose answers are known.

NAMES = ("left", "right")
ASKED = StudySetting(np.zeros((500, 2)), np.arange(500) % 2, NAMES, 500, None, 5, 1.0, 0.2, True, 0)
MORE = (MoreWork(effort=4, passes=160, widest=64), MoreWork(effort=16, passes=40, widest=256))


def answering(wrong: int, offset: int = 0) -> np.ndarray:
    """Answers of which so many are wrong, from a place on."""
    found = ASKED.labels.copy()
    places = (np.arange(wrong) + offset) % 500
    found[places] = 1 - found[places]
    return found


def says(predicted: np.ndarray) -> rivals.ModelAnswers:
    """Answers whose ranking is their classes."""
    return rivals.ModelAnswers(predicted, predicted.astype(float))


def runs_of(
    width: int, wrong: int, train: float = 0.0, falling: bool = False, offset: int = 0, ending=Ending.SPENT
) -> StudiedWidth:
    losses = np.tile(np.geomspace(1, 1e-2, 40) if falling else np.full(40, 0.1), (5, 1))
    return StudiedWidth(
        setting=SETTING.model_copy(update={"n_neurons": width, "n_networks": 5, "passes": 40}),
        parts=np.arange(500) // 100, predicted=answering(wrong, offset),
        scores=answering(wrong, offset).astype(float), train_error=np.full(5, train),
        passes=np.full(5, 40 if ending is Ending.SPENT else 4), losses=losses, endings=np.full(5, ending),
        seconds=np.full(5, 0.25), trained_on=np.full(5, 400), by_column=np.zeros(5, bool), n_constant=np.zeros(5, int),
        hidden=np.zeros((width, 2)), bias=np.zeros(width), output=np.zeros((1, width)), centre=np.zeros(2),
        unit=np.ones(2),
    )  # fmt: skip


def study(*given: StudiedWidth, majority=250, linear=200, bending=200, cut=(), left_out=(), more=MORE, asked=ASKED):
    given_by = {rivals.MAJORITY: majority, rivals.LINEAR: linear, rivals.NEIGHBOURS: bending}
    others = {name: says(answering(count)) for name, count in given_by.items()}
    runs = {each.setting.n_neurons: each for each in given}
    return compared(asked, runs, others, tuple(left_out), tuple(cut), more)


def plain(sentences) -> str:
    return " ".join([sentences] if isinstance(sentences, str) else sentences).replace("\N{NO-BREAK SPACE}", " ")


def findings_of(found) -> Any:
    """Findings of which only the study matters."""
    return SimpleNamespace(study=found)


def everything(found) -> str:
    """The headline and the answers."""
    return plain([verdict_of(findings_of(found)), *does_size_help(found), *will_it_generalize(found), *how_long(found)])


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


def test_comparisons_of_all_widths_with_the_most_common_class_share_the_risk():
    """Six points fewer are measured by one comparison (p = 1/32), and by none of two."""
    two = study(runs_of(4, 20), runs_of(16, 20), majority=26, linear=20, bending=20)
    assert [each.risk for each in two.to_majority] == [0.025, 0.025]
    assert not two.beats_majority
    against = two.against(rivals.MAJORITY)
    assert against is not None
    assert against.is_better


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


def test_the_scale_is_measured_in_every_part():
    """Without its first point, one column varies as much as the others, and not more than ten times as much."""
    draw = np.random.default_rng(0)
    inputs = draw.normal(size=(40, 3))
    inputs[0, 0] = 1e3
    found = wn.certify(inputs, np.array(NAMES)[np.arange(40) % 2], effort=1e-3)
    own = found.runs[4].parts[0]
    assert found.runs[4].by_column.tolist() == [number != own for number in range(5)]
    assert "in 4 of 5 parts each column centred" in plain(about_material(found.findings))


# Plans, rivals and whole certificates.


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


def test_rivals_are_what_scikit_learn_makes_of_the_same_points():
    inputs, labels = clouds(60)
    parts = held_out_parts(inputs, labels, 3, 0)
    parts[:2] = -1  # in no part: trained on always, and not answered
    found = dict(rivals.predictions(inputs, labels, parts, scales=True))
    assert all((each.predicted[:2] == -1).all() for each in found.values())
    assert all(np.isnan(each.scores[:2]).all() for each in found.values())
    for part in range(3):
        rows, kept = parts == part, parts != part
        scaled = StandardScaler().fit(inputs[kept])
        points, others = scaled.transform(inputs[kept]), scaled.transform(inputs[rows])
        linear = make_pipeline(StandardScaler(), LogisticRegression()).fit(inputs[kept], labels[kept])
        assert (found[rivals.LINEAR].predicted[rows] == linear.predict(inputs[rows])).all()
        np.testing.assert_allclose(found[rivals.LINEAR].scores[rows], linear.decision_function(inputs[rows]), rtol=1e-3)
        # These two see equal columns up to one scale, which changes neither.
        near, radial = KNeighborsClassifier(5).fit(points, labels[kept]), SVC(C=10.0).fit(points, labels[kept])
        assert (found[rivals.NEIGHBOURS].predicted[rows] == near.predict(others)).all()
        np.testing.assert_allclose(found[rivals.NEIGHBOURS].scores[rows], near.predict_proba(others)[:, 1])
        assert (found[rivals.RADIAL].predicted[rows] == radial.predict(others)).all()
        np.testing.assert_allclose(found[rivals.RADIAL].scores[rows], radial.decision_function(others), atol=1e-2)
        assert (found[rivals.MAJORITY].predicted[rows] == scipy.stats.mode(labels[kept]).mode).all()


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
        own = runs.parts == 0
        np.testing.assert_array_equal(said_by(runs, inputs[own]), runs.predicted[own])
        np.testing.assert_allclose(output_of(runs, inputs[own])[:, 0], runs.scores[own], rtol=1e-9, atol=1e-12)
        areas = [roc_auc_score(labels[runs.parts == part], runs.scores[runs.parts == part]) for part in range(5)]
        assert row["score"]["auc"] == pytest.approx(np.mean(areas), abs=1e-12)
        balanced = 1 - balanced_accuracy_score(labels, runs.predicted)
        assert row["score"]["balanced_error"] == pytest.approx(balanced, abs=1e-12)
        assert f'<td class="number">{words.percent(balanced)}</td>' in page
        assert f'<td class="number">{np.mean(areas):.2f}</td>' in page
        wrong = int((runs.predicted != labels).sum())
        assert (row["score"]["wrong"], row["score"]["points"]) == (wrong, 60)
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
        for name in ("monotonic", "perf_counter", "process_time"):
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
    found = wn.certify([[0.0, 1.0], [1.0, 0.0]], ["a", "b"], effort=1e-3)
    assert found.findings.study is not None
    assert found.findings.study.enough is None
    assert plain(does_size_help(found.findings.study)).startswith("Not known: no class has two different points")
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


def test_what_theorems_allow_stands_beside_the_widths():
    """As columns of the table, for those that promise something at some width; the others say what they lack."""
    some = Allowance(
        id="x.y", topic=Topic.UPDATES, about="some of it", widths=(4, 16), promised=(None, 3e4), missing=("a", "")
    )
    none = Allowance(id="x.z", topic=Topic.TEST_ERROR, about="", widths=(4, 16), promised=(None, None),
        missing=("more points", "more points"))  # fmt: skip
    (column,) = allowed_columns([some, none])
    assert (column.id, column.cells) == ("x.y", {4: "–", 16: "30,000"})
    page = render(certificate().findings.model_copy(update={"allowances": (some, none)}), {})
    assert re.search(r"updates allowed \(hinge loss\), some of it: <a href=.#x\.y.>x\.<wbr>y</a></th>", page)
    cells = [re.findall(r'<td class="number">([^<]*)</td>', row) for row in re.findall(r"<tr>(.*?)</tr>", page, re.S)]
    assert [(row[0], row[-3]) for row in cells if row and row[0] in ("4", "16", "64")] == [
        ("4", "–"), ("16", "30,000"), ("64", "–")
    ]  # fmt: skip
    assert "Nothing is promised about the error on new points at any width (x.z): more points." in page


def test_a_column_that_only_rounding_makes_vary_does_not_move_the_linear_classifier():
    draw = np.random.default_rng(5)
    labels = np.arange(40) % 2
    column = 4.0 * labels + draw.normal(size=40)
    nearly = np.where(labels, 0.1, np.nextafter(0.1, 1.0))
    nearly[labels.argmax()] = 0.2
    parts = np.arange(40) // 8
    alone, both = (
        dict(rivals.predictions(inputs, labels, parts, scales=True))[rivals.LINEAR].predicted[:8]
        for inputs in (column[:, None], np.column_stack([column, nearly]))
    )
    assert alone.tolist() == both.tolist()
