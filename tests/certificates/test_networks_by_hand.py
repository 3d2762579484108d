"""What must be true of the networks of a certificate, beside a few lines of NumPy, SciPy and scikit-learn."""

import functools
import itertools
import json
from types import SimpleNamespace
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import widenet as wn
from tests.packages import EMPTY, TOY
from widenet import papers
from widenet.certificates import rivals, widths
from widenet.certificates.certainty import repeat
from widenet.certificates.relabelled import Relabelled
from widenet.certificates.time_limit import TimeLimit
from widenet.certificates.width_study import Difference, StudySetting, WidthStudy, compared, study_widths
from widenet.certificates.width_words import does_size_help, how_long, verdict_of, will_it_generalize
from widenet.certificates.widths import Ending, StudiedWidth, StudiedWidthSetting, run_width, train_network
from widenet.certificates.words import percent
from widenet.data.own import keep
from widenet.progress import silent
from widenet.run.cells import Task
from widenet.run.outcomes import cells_of
from widenet.types import Dataset

NAMES = ("zebra", "ant", "moth")


@pytest.fixture(autouse=True)
def toy_papers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(papers, "PAPERS", (TOY, EMPTY))


def table() -> tuple[np.ndarray, np.ndarray]:
    """Three overlapping classes of 33, 18 and 12 points in columns of very different units."""
    labels = np.repeat([0, 1, 2], [33, 18, 12])
    points = np.random.default_rng(4).normal(size=(63, 3)) * [1.0, 50.0, 0.1]
    points[:, 0] += 1.2 * labels
    return points, labels


CHOSEN: dict[str, Any] = {"runs": 3, "seed": 7, "slope": 0.3, "width": 14, "effort": 2e-4}


@functools.cache
def certificate() -> wn.Certificate:
    points, labels = table()
    return wn.certify(points, np.array(NAMES)[labels], **CHOSEN)


def study() -> WidthStudy:
    found = certificate().findings.study
    assert found is not None
    return found


def numbers() -> np.ndarray:
    """The numbers of the classes as a certificate counts them: names in alphabetical order."""
    return np.searchsorted(sorted(NAMES), np.array(NAMES)[table()[1]])


def exact(wrong: int, points: int, level: float = 0.95) -> Any:
    return pytest.approx(tuple(scipy.stats.binomtest(wrong, points).proportion_ci(level, "exact")))


def test_every_score_is_counted_from_the_answers_that_were_kept() -> None:
    found, truth = certificate(), numbers()
    told = json.loads(found.to_json())["study"]
    assert [each["n_neurons"] for each in told["results"]] == sorted(found.runs)
    for row in told["results"]:
        run = found.runs[row["n_neurons"]]
        assert sorted(set(run.parts.tolist())) == [0, 1, 2]  # every point is held out, from one network
        wrong = run.predicted != truth
        assert (row["score"]["wrong"], row["score"]["points"]) == (wrong.sum(), 63)
        assert tuple(row["score"]["limits"]) == exact(int(wrong.sum()), wrong.size)
        by_class = [wrong[truth == kind].mean() for kind in range(3)]
        assert row["score"]["class_errors"] == pytest.approx(by_class)
        assert row["train_errors"] == pytest.approx(run.train_error.tolist())
        assert row["fitted"] == sum(error == 0 for error in run.train_error)
        steps = [int(np.ceil((run.parts != number).sum() / 4)) for number in range(3)]
        assert (row["passes"], row["updates"]) == (np.median(run.passes), np.median(run.passes * steps))
        assert row["parameters"] == 14 * (3 + 1 + 3) if row["n_neurons"] == 14 else True


def test_what_a_network_names_is_what_its_kept_weights_say_of_points_it_never_saw() -> None:
    points, truth = table()[0], numbers()
    for run in certificate().runs.values():
        kept, own = run.parts != 0, run.parts == 0
        # Columns of different units: each has variance 1, and a point length 1 in the mean square, from these alone.
        np.testing.assert_allclose(run.centre, points[kept].mean(axis=0))
        np.testing.assert_allclose(run.unit, points[kept].std(axis=0) * np.sqrt(3))
        z = (points - run.centre) / run.unit @ run.hidden.T + run.bias
        named = (np.where(z > 0, z, 0.3 * z) @ run.output.T).argmax(axis=1)
        np.testing.assert_array_equal(named[own], run.predicted[own])
        assert run.train_error[0] == np.mean(named[kept] != truth[kept])


def test_rivals_are_fitted_without_the_points_they_are_tried_on() -> None:
    points, truth, run = table()[0], numbers(), certificate().runs[4]
    wrong: dict[str, int] = dict.fromkeys((rivals.MAJORITY, rivals.LINEAR, rivals.NEIGHBOURS, rivals.RADIAL), 0)
    for part in range(3):
        kept, rows = run.parts != part, run.parts == part
        scaled = StandardScaler().fit(points[kept])
        seen, others = scaled.transform(points[kept]), scaled.transform(points[rows])
        for name, model in (
            (rivals.LINEAR, LogisticRegression(max_iter=1000)),
            (rivals.NEIGHBOURS, KNeighborsClassifier(5)),
            (rivals.RADIAL, SVC(C=10.0)),
        ):
            wrong[name] += int((model.fit(seen, truth[kept]).predict(others) != truth[rows]).sum())
        wrong[rivals.MAJORITY] += int((truth[rows] != np.bincount(truth[kept]).argmax()).sum())
    assert {each.name: each.score.wrong for each in study().rivals} == wrong
    assert study().majority == "zebra"


def sign_test(one: np.ndarray, other: np.ndarray) -> tuple[int, int, float]:
    """How many points only one of two gets wrong, and the chance of that among fair coins."""
    only, theirs = int((one & ~other).sum()), int((other & ~one).sum())
    return only, theirs, coins(only, theirs)


def coins(only: int, theirs: int) -> float:
    return float(scipy.stats.binomtest(only, only + theirs).pvalue) if only + theirs else 1.0


def test_comparisons_are_sign_tests_of_points_that_one_alone_gets_wrong() -> None:
    """At 5 % for all of a kind together, so each of them at its share; the width that is enough, one by one."""
    truth, found, tried = numbers(), study(), list(map(str, sorted(certificate().runs)))
    wrong = {str(width): run.predicted != truth for width, run in certificate().runs.items()}
    points, parts = table()[0], certificate().runs[4].parts
    others = dict(rivals.predictions(points, truth, parts, scales=True))
    wrong |= {name: each.predicted != truth for name, each in others.items()}
    kinds: list[tuple[Any, list[tuple[str, str]], bool]] = [
        (found.differences, list(itertools.combinations(tried, 2)), True),
        (found.to_majority, [(width, rivals.MAJORITY) for width in tried], True),
        (found.to_rivals, [(str(found.enough), name) for name in others], False),
        (found.from_linear, [(rivals.LINEAR, name) for name in rivals.BENDING], True),
    ]
    worse = set()
    for given, pairs, together in kinds:
        assert [(each.first, each.second) for each in given] == pairs
        for each in given:
            only, theirs, chance = sign_test(wrong[each.first], wrong[each.second])
            risk = 0.05 / len(pairs) if together else 0.05
            assert (each.only_first, each.only_second) == (only, theirs)
            assert (each.chance, each.risk) == pytest.approx((chance, risk))
            assert each.is_worse == (only > theirs and chance <= risk)
            assert each.is_better == (only < theirs and chance <= risk)
            worse |= {each.first} if given is found.differences and each.is_worse else set()
    assert found.enough == int(next(width for width in tried if width not in worse))


def test_every_choice_reaches_the_networks() -> None:
    found = certificate()
    assert 14 in found.runs
    for width, run in found.runs.items():
        assert (run.setting.n_networks, run.setting.seed, run.setting.slope) == (3, 7, 0.3)
        assert run.hidden.shape == (width, 3)
        assert len(run.train_error) == 3
    assert (found.findings.choices.n_neurons, found.findings.choices.seed) == (14, 7)
    points, labels = table()
    names = np.array(NAMES)[labels]
    for change, reaches in (
        ({"seed": 8}, lambda run: run.parts.tolist()),
        ({"scaling": "ball"}, lambda run: run.unit.tolist()),
        ({"slope": 0.1}, lambda run: run.losses.tolist()),
    ):
        other = wn.certify(points, names, **{**CHOSEN, **change})
        assert reaches(other.runs[4]) != reaches(found.runs[4])
        if "scaling" in change:  # one number divides all columns, as the screen says
            assert len(set(other.runs[4].unit.tolist())) == 1
            assert "one centre for all columns, and one scale" in " ".join(repr(other).split())


def asked(inputs: np.ndarray, labels: np.ndarray, **changes: Any) -> StudySetting:
    own: dict[str, Any] = {
        "inputs": inputs, "labels": labels, "names": ("left", "right"), "points": len(labels), "width": None,
        "n_networks": 3, "effort": 1e-4, "slope": 0.2, "scales": True, "seed": 0,
    }  # fmt: skip
    return StudySetting(**{**own, **changes})


def test_four_times_the_effort_is_four_times_the_work() -> None:
    points, labels = table()[0], (table()[1] > 0).astype(int)
    found = []
    for effort in (4e-4, 16e-4):
        trained = study_widths(asked(points, labels, effort=effort), cells_of(None), TimeLimit(np.inf))
        assert trained is not None
        found.append(trained[0])
    assert found[1].work == 4 * found[0].work
    assert abs(found[1].passes / found[0].passes - 4) < 0.5
    assert [each.n_neurons for each in found[0].results] == [each.n_neurons for each in found[1].results]


def setting_of(points: np.ndarray, labels: np.ndarray, **changes: Any) -> StudiedWidthSetting:
    own = keep(Dataset(jnp.asarray(points, jnp.float64), jnp.asarray(labels, jnp.float64)))
    base = StudiedWidthSetting(own_data=own, n_classes=3, n_neurons=6, n_networks=3, passes=4, slope=0.2, scales=True)
    return base.model_copy(update=changes)


@pytest.mark.parametrize("part", [0, 1, 2])
def test_nothing_about_held_out_points_reaches_the_network_that_is_tried_on_them(
    part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other inputs and other labels there: its losses are the same bit for bit, and all others differ."""
    points, labels = table()
    before = run_width(setting_of(points, labels), silent)
    rows = np.flatnonzero(before.parts == part)
    moved, swapped = points.copy(), labels.copy()
    moved[rows], swapped[rows] = 1e3 * points[rows[::-1]] + 5.0, (labels[rows] + 1) % 3
    monkeypatch.setattr(widths, "held_out_parts", lambda *_: before.parts)  # which depend on inputs and labels
    after = run_width(setting_of(moved, swapped), silent)
    for number in range(3):
        assert np.array_equal(before.losses[number], after.losses[number]) == (number == part)
        assert (before.train_error[number] == after.train_error[number]) or number != part
    for name in ("hidden", "bias", "output", "centre", "unit"):
        assert np.array_equal(getattr(before, name), getattr(after, name)) or part != 0


def test_rivals_are_not_moved_by_what_is_held_out() -> None:
    """A held-out point goes far away, with another label: what is said of the others of its part stays."""
    points, labels = table()
    parts = np.random.default_rng(0).permutation(np.arange(63) % 3)
    before = dict(rivals.predictions(points, labels, parts, scales=True))
    for part in range(3):
        rows = np.flatnonzero(parts == part)
        moved, other = points.copy(), labels.copy()
        moved[rows[0]] += 1e7
        other[rows[0]] = (labels[rows[0]] + 1) % 3
        after = dict(rivals.predictions(moved, other, parts, scales=True))
        for name in (rivals.MAJORITY, rivals.LINEAR, rivals.NEIGHBOURS, rivals.RADIAL):
            np.testing.assert_array_equal(after[name].predicted[rows[1:]], before[name].predicted[rows[1:]])
            np.testing.assert_array_equal(after[name].scores[rows[1:]], before[name].scores[rows[1:]])


def test_equal_points_are_held_out_together() -> None:
    """Else a network would have seen what it is tried on."""
    draw = np.random.default_rng(1)
    points, labels = draw.integers(0, 5, size=(80, 2)).astype(float), draw.integers(0, 2, size=80)
    found = run_width(setting_of(points, labels, n_classes=2), silent)
    for part in range(3):
        seen = {tuple(row) for row in points[found.parts != part].tolist()}
        assert not any(tuple(row) in seen for row in points[found.parts == part].tolist())


def test_networks_of_a_width_differ_in_start_and_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    points, labels = table()
    setting = setting_of(points, labels)
    starts = [np.asarray(widths.start_of(setting, 3, number).hidden) for number in range(4)]
    for one, other in itertools.combinations(starts, 2):
        assert np.abs(one - other).max() > 0.1
    # From one start, and on the same points, only the orders are left to tell networks apart.
    first = widths.start_of(setting, 3, 0)
    monkeypatch.setattr(widths, "start_of", lambda *_: first)
    ends = [np.asarray(train_network(points, labels, setting, number).weights.hidden) for number in (0, 0, 1, 2)]
    np.testing.assert_array_equal(ends[0], ends[1])
    for one, other in itertools.combinations(ends[1:], 2):
        assert np.abs(one - other).max() > 1e-4
    other_seed = train_network(points, labels, setting.model_copy(update={"seed": 1}), 0)
    assert np.abs(np.asarray(other_seed.weights.hidden) - ends[0]).max() > 1e-4


def test_a_network_that_diverged_is_right_about_no_point(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(widths, "STEP_SIZE", 1e30)
    points, labels = table()
    found = run_width(setting_of(points, labels), silent)
    assert found.diverged.all()
    assert not (found.predicted == labels).any()
    assert (found.train_error == 1).all()


def test_the_repeat_is_in_float64_and_changes_are_counted() -> None:
    """Float32 leaves 24 bits of a weight; a network in float64 has more."""
    points, labels = table()
    rough, fine = (run_width(setting_of(points, labels, dtype=dtype), silent) for dtype in ("float32", "float64"))
    assert (rough.hidden == rough.hidden.astype(np.float32)).all()
    assert (fine.hidden != fine.hidden.astype(np.float32)).any()
    other = StudiedWidth(**{**vars(rough), "predicted": (fine.predicted + 1) % 3})
    found = repeat(other, cells_of(None), TimeLimit(np.inf))
    assert found is not None
    assert (found.changed, found.points) == (fine.predicted.size, fine.predicted.size)
    again = rough.setting.model_copy(update={"dtype": "float64"})
    assert not list(cells_of(None).missing([Task(widths.widths, again)]))  # it was trained


# Studies of answers that are drawn, and everything that is said of them.


def drawn(width: int, wrong: np.ndarray, train: list[float], **changes: Any) -> StudiedWidth:
    own: dict[str, Any] = {"passes": np.full(5, 40), "endings": np.full(5, int(Ending.SPENT))}
    own |= {"losses": np.full((5, 40), 0.1), **changes}
    return StudiedWidth(
        setting=StudiedWidthSetting(
            own_data="", n_classes=2, n_neurons=width, n_networks=5, passes=40, slope=0.2, scales=True
        ),
        parts=PARTS, predicted=np.r_[np.where(wrong, 1 - TRUTH, TRUTH), np.full(100, -1)], train_error=np.array(train),
        scores=np.zeros(500), seconds=np.full(5, 0.25), trained_on=np.full(5, 420),
        by_column=np.zeros(5, bool), n_constant=np.zeros(5, int), hidden=np.zeros((width, 2)), bias=np.zeros(width),
        output=np.zeros((1, width)), centre=np.zeros(2), unit=np.ones(2), **own,
    )  # fmt: skip


TRUTH = np.where(np.arange(400) % 10 < 4, 1, 0)
"""Of the 400 points that are held out most are of class 0; 100 others of class 1 are held out from no network."""
PARTS = np.r_[np.arange(400) % 5, np.full(100, -1)]


def study_of(*runs: StudiedWidth, flat: np.ndarray, bent: np.ndarray | None = None, **given: Any) -> WidthStudy:
    def named(wrong: np.ndarray) -> rivals.ModelAnswers:
        return rivals.ModelAnswers(np.r_[np.where(wrong, 1 - TRUTH, TRUTH), np.full(100, -1)], np.zeros(500))

    answers = {
        rivals.MAJORITY: named(TRUTH == 0), rivals.LINEAR: named(flat),
        rivals.NEIGHBOURS: named(flat if bent is None else bent),
    }  # fmt: skip
    chosen = asked(np.zeros((500, 2)), np.r_[TRUTH, np.ones(100, int)], points=2000, n_networks=5, effort=2.0)
    own: dict[str, Any] = {"left_out": (), "cut_off": (), "more": (None, None), **given}
    return compared(chosen, {run.setting.n_neurons: run for run in runs}, answers, **own)


def errors(count: int, seed: int = 0, of: np.ndarray | None = None) -> np.ndarray:
    """So many wrong answers, at random among some."""
    flags = np.zeros(400, bool)
    places = np.arange(400) if of is None else np.flatnonzero(of)
    flags[np.random.default_rng(seed).permutation(places)[:count]] = True
    return flags


def plain(sentences: Any) -> str:
    return " ".join([sentences] if isinstance(sentences, str) else sentences).replace("\N{NO-BREAK SPACE}", " ")


def test_what_was_drawn_is_not_called_all() -> None:
    found = study_of(drawn(4, errors(40), [0.0] * 5), drawn(16, errors(30), [0.0] * 5), flat=errors(60))
    assert (found.used, found.points, found.trained_on, found.effort) == (500, 2000, (420,) * 5, 2.0)
    assert [each.updates for each in found.results] == [40 * 105] * 2


def test_the_most_common_class_is_that_of_the_points_networks_are_trained_on() -> None:
    found = study_of(drawn(4, errors(40), [0.0] * 5), flat=errors(60))
    assert (TRUTH == 1).sum() < (TRUTH == 0).sum() < (TRUTH == 1).sum() + 100
    assert found.majority == "right"
    rival = found.rival(rivals.MAJORITY)
    assert rival is not None
    assert rival.score.wrong == (TRUTH == 0).sum()
    assert f"always answering right errs on {plain(percent(rival.score.error))}" in plain(will_it_generalize(found))


@pytest.mark.parametrize(
    ("train", "from_"),
    [
        ([[0.1] * 5, [0.0, 0, 0, 0, 0.1], [0.0] * 5], 64),
        ([[0.0] * 5, [0.0] * 5, [0.0] * 5], 4),
        ([[0.0] * 5, [0.0, 0, 0, 0, 0.1], [0.0] * 5], 64),
        ([[0.0] * 5, [0.0] * 5, [0.2, 0, 0, 0, 0]], None),
    ],
)
def test_from_the_named_width_on_every_network_fits(train: list[list[float]], from_: int | None) -> None:
    runs = [drawn(width, errors(30), each) for width, each in zip((4, 16, 64), train, strict=True)]
    found = study_of(*runs, flat=errors(60))
    assert found.fits_from == from_
    said = plain(does_size_help(found))
    assert ("All 5 networks fit" in said) == (from_ is not None)


def test_equal_answers_are_neither_better_nor_worse() -> None:
    same = errors(30)
    found = study_of(drawn(4, same, [0.0] * 5), drawn(16, same, [0.0] * 5), flat=same)
    (between,) = found.differences
    assert (between.chance, between.is_worse, between.is_better) == (1.0, False, False)
    assert found.enough == 4
    for only in range(30):
        for theirs in range(30):
            chance = coins(only, theirs)
            each = Difference(first="a", second="b", only_first=only, only_second=theirs, chance=chance, risk=0.01)
            assert each.is_worse == (only > theirs and chance <= 0.01)
            assert each.is_better == (only < theirs and chance <= 0.01)


def test_rivals_are_compared_with_the_width_that_is_enough() -> None:
    bad, good, last, flat = errors(150), errors(30, 1), errors(45, 2), errors(60, 3)
    found = study_of(drawn(4, bad, [0.0] * 5), drawn(16, good, [0.0] * 5), drawn(64, last, [0.0] * 5), flat=flat)
    assert found.enough == 16
    against = found.against(rivals.LINEAR)
    assert against is not None
    assert (against.only_first, against.only_second, against.chance) == pytest.approx(sign_test(good, flat))


def test_nothing_is_concluded_about_widths_that_were_cut_off() -> None:
    runs = drawn(4, errors(30), [0.0] * 5), drawn(16, errors(30), [0.0] * 5)
    cases: list[tuple[dict[str, Any], bool]] = [({}, False), ({"cut_off": (64,)}, True), ({"left_out": (64,)}, True)]
    for given, is_open in cases:
        found = study_of(*runs, flat=errors(30), **given)
        said = plain([*does_size_help(found), verdict_of(SimpleNamespace(study=found))])  # type: ignore[arg-type]
        assert found.is_open == is_open
        assert ("No gain was measured" in said) == ("No gain from more neurons was measured" in said) == (not is_open)
        assert ("Not found within this work" in said) == ("was not found within this work" in said) == is_open
    learning = drawn(16, errors(30), [0.1] * 5, losses=np.tile(np.geomspace(1, 1e-2, 40), (5, 1)))
    found = study_of(runs[0], learning, flat=errors(30))
    assert found.results[1].learning == 5
    assert found.is_open
    # Nor where another model errs measurably less.
    assert study_of(*runs, flat=errors(30), bent=errors(0)).is_open


def test_the_smallest_difference_that_is_told_is_one_that_is_measured() -> None:
    """One point fewer, all one way, and nothing is."""
    others = [drawn(width, errors(40), [0.0] * 5) for width in (16, 64, 256)]
    measured = []
    for fewer in range(1, 20):
        found = study_of(drawn(4, errors(40 + fewer), [0.0] * 5), *others, flat=errors(60))
        between = found.difference(4, 16)
        assert (between.only_first, between.only_second) == (fewer, 0)
        measured += [fewer] if between.is_worse else []
    same = study_of(drawn(4, errors(40), [0.0] * 5), *others, flat=errors(60))
    said = f"the smallest difference that can be measured between widths is {plain(percent(measured[0] / 400))}"
    assert f"{said} ({measured[0]} points, all one way)" in plain(does_size_help(same))
    assert 2 * 0.5 ** measured[0] <= 0.05 / 6 < 2 * 0.5 ** (measured[0] - 1)


def test_chance_is_no_proof_of_anything_learned() -> None:
    """The same number of errors as the most common class, one fewer, and many fewer."""
    common = TRUTH == 0
    for count, learned in ((240, False), (239, False), (60, True)):
        found = study_of(drawn(4, errors(count, 0, common), [0.1] * 5), flat=errors(60))
        said = plain(will_it_generalize(found))
        assert ("which is not measurably more" in said) == (not learned)
        assert found.beats_majority == learned


def test_every_point_right_is_not_a_loss_of_nearly_zero() -> None:
    """Networks that end since their loss is small say so; one that uses up its work fits with any loss."""
    for ending, words in (
        (Ending.FITTED, "then its loss was nearly 0"),
        (Ending.SPENT, "all that the work allows"),
        (Ending.DIVERGED, "then its weights became infinite"),
    ):
        run = drawn(4, errors(30), [0.0] * 5, endings=np.full(5, int(ending)))
        found = study_of(run, flat=errors(60))
        (result,) = found.results
        counts = [result.stopped, result.spent, result.diverged]
        assert counts == [5 * (ending is each) for each in (Ending.FITTED, Ending.SPENT, Ending.DIVERGED)]
        said = plain(how_long(found))
        assert words in said
        assert ("loss was nearly 0" in said) == (ending is Ending.FITTED)


@pytest.mark.parametrize("separable", range(0, 21, 2))
def test_labels_at_random_count_only_where_it_was_decided(separable: int) -> None:
    for unknown in range(21 - separable):
        found = Relabelled(tried=20, separable=separable, unknown=unknown)
        assert found.is_any == (separable > 10)
