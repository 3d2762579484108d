"""What must be true of the networks of a certificate, beside a few lines of NumPy, SciPy and scikit-learn."""

import functools
import itertools
import json
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
from widenet.certificates.width_words import does_size_help, how_long, will_it_generalize
from widenet.certificates.widths import StudiedWidth, StudiedWidthSetting, run_width, train_network
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
        assert len(set(run.held_out.ravel().tolist())) == run.held_out.size  # nobody is tried twice
        own = truth[run.held_out]
        wrong = run.predicted != own
        assert (row["score"]["wrong"], row["score"]["points"]) == (wrong.sum(), wrong.size)
        assert tuple(row["score"]["limits"]) == exact(int(wrong.sum()), wrong.size)
        by_class = [wrong[own == kind].mean() for kind in range(3)]
        assert row["score"]["class_errors"] == pytest.approx(by_class)
        assert row["train_errors"] == pytest.approx(run.train_error.tolist())
        assert row["fitted"] == sum(error == 0 for error in run.train_error)
        steps = int(np.ceil((63 - run.held_out.shape[1]) / 4))
        assert (row["passes"], row["updates"]) == (np.median(run.passes), np.median(run.passes) * steps)
        assert row["parameters"] == 14 * (3 + 1 + 3) if row["n_neurons"] == 14 else True


def test_what_a_network_names_is_what_its_kept_weights_say_of_points_it_never_saw() -> None:
    points, truth = table()[0], numbers()
    for run in certificate().runs.values():
        kept = np.setdiff1d(np.arange(63), run.held_out[0])
        # Columns of different units: each has variance 1, and a point length 1 in the mean square, from these alone.
        np.testing.assert_allclose(run.centre, points[kept].mean(axis=0))
        np.testing.assert_allclose(run.unit, points[kept].std(axis=0) * np.sqrt(3))
        z = (points - run.centre) / run.unit @ run.hidden.T + run.bias
        named = (np.where(z > 0, z, 0.3 * z) @ run.output.T).argmax(axis=1)
        np.testing.assert_array_equal(named[run.held_out[0]], run.predicted[0])
        assert run.train_error[0] == np.mean(named[kept] != truth[kept])


def test_rivals_are_fitted_without_the_points_they_are_tried_on() -> None:
    points, truth, run = table()[0], numbers(), certificate().runs[4]
    wrong: dict[str, int] = dict.fromkeys((rivals.MAJORITY, rivals.LINEAR, rivals.NEIGHBOURS, rivals.RADIAL), 0)
    for rows in run.held_out:
        kept = np.setdiff1d(np.arange(63), rows)
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


def test_comparisons_are_those_of_points_that_one_alone_gets_wrong() -> None:
    """Widths together at 95 %, so each pair at its share; rivals one by one."""
    truth, found = numbers(), study()
    wrong = {str(width): (run.predicted != truth[run.held_out]).ravel() for width, run in certificate().runs.items()}
    pairs = list(itertools.combinations(map(str, sorted(certificate().runs)), 2))
    assert [(each.first, each.second) for each in found.differences] == pairs
    worse = set()
    for each in found.differences:
        one, other = wrong[each.first], wrong[each.second]
        only, neither = int((one & ~other).sum()), int((other & ~one).sum())
        limits = difference(only, neither, len(one), 1 - 0.05 / len(pairs))
        assert (each.only_first, each.only_second) == (only, neither)
        assert (each.low, each.high) == limits
        worse |= {each.first} if limits.expected[0] > 0 else set()
    assert found.enough == next(width for width in sorted(certificate().runs) if str(width) not in worse)


def difference(only: int, other: int, points: int, level: float) -> Any:
    if not only + other:
        return pytest.approx((0.0, 0.0))
    ends = scipy.stats.binomtest(only, only + other).proportion_ci(level, "exact")
    return pytest.approx(tuple((2 * end - 1) * (only + other) / points for end in ends))


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
        ({"seed": 8}, lambda run: run.held_out.tolist()),
        ({"scaling": "ball"}, lambda run: run.unit.tolist()),
        ({"slope": 0.1}, lambda run: run.losses.tolist()),
    ):
        other = wn.certify(points, names, **{**CHOSEN, **change})
        assert reaches(other.runs[4]) != reaches(found.runs[4])
        if "scaling" in change:  # one number divides all columns, as the screen says
            assert len(set(other.runs[4].unit.tolist())) == 1
            assert "nothing but one centre and one scale" in repr(other).replace("\n", " ")


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
def test_nothing_about_held_out_points_reaches_the_network_that_is_tried_on_them(part: int) -> None:
    """Other inputs and other labels there: its losses are the same bit for bit, and all others differ."""
    points, labels = table()
    before = run_width(setting_of(points, labels), silent)
    moved, swapped, rows = points.copy(), labels.copy(), before.held_out[part]
    moved[rows] = 1e3 * points[rows[::-1]] + 5.0
    after = run_width(setting_of(moved, swapped), silent)
    np.testing.assert_array_equal(before.held_out, after.held_out)
    for number in range(3):
        assert np.array_equal(before.losses[number], after.losses[number]) == (number == part)
        assert (before.train_error[number] == after.train_error[number]) or number != part
    if part == 0:
        for name in ("hidden", "bias", "output", "centre", "unit"):
            np.testing.assert_array_equal(getattr(before, name), getattr(after, name))


def test_rivals_are_not_moved_by_what_is_held_out() -> None:
    """A held-out point goes far away: what is said of the others of its part stays."""
    points, labels = table()
    parts = np.random.default_rng(0).permutation(63).reshape(3, 21)
    before = dict(rivals.predictions(points, labels, parts, scales=True))
    moved = points.copy()
    moved[parts[:, 0]] += 1e7
    for part, rows in enumerate(parts):
        own = points.copy()
        own[rows[0]] += 1e7
        after = dict(rivals.predictions(own, labels, parts, scales=True))
        for name in (rivals.MAJORITY, rivals.LINEAR, rivals.NEIGHBOURS, rivals.RADIAL):
            np.testing.assert_array_equal(after[name][part][1:], before[name][part][1:])


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
    assert not (found.predicted == labels[found.held_out]).any()
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


def drawn(width: int, wrong: np.ndarray, train: list[float], truth: np.ndarray, **changes: Any) -> StudiedWidth:
    count, own = len(train), {"passes": np.full(len(train), 40), **changes}
    return StudiedWidth(
        setting=StudiedWidthSetting(
            own_data="", n_classes=2, n_neurons=width, n_networks=count, passes=40, slope=0.2, scales=True
        ),
        held_out=np.arange(truth.size).reshape(truth.shape), predicted=np.where(wrong, 1 - truth, truth),
        train_error=np.array(train), losses=np.full((count, 40), 0.1), diverged=np.zeros(count, bool),
        seconds=np.full(count, 0.25), trained_on=320, hidden=np.zeros((width, 2)), bias=np.zeros(width),
        output=np.zeros((1, width)), centre=np.zeros(2), unit=np.ones(2), **own,
    )  # fmt: skip


TRUTH = np.where(np.arange(400) % 10 < 4, 1, 0).reshape(5, 80)
"""Of held-out points most are of class 0; of all points, in `study_of`, most are of class 1."""


def study_of(*runs: StudiedWidth, flat: np.ndarray, cut_off: tuple[int, ...] = ()) -> WidthStudy:
    labels = np.r_[TRUTH.ravel(), np.ones(100, int)]
    answers = {
        rivals.MAJORITY: np.ones_like(TRUTH), rivals.LINEAR: np.where(flat, 1 - TRUTH, TRUTH),
        rivals.NEIGHBOURS: np.where(flat, 1 - TRUTH, TRUTH),
    }  # fmt: skip
    chosen = asked(np.zeros((500, 2)), labels, points=2000, n_networks=5, effort=2.0)
    return compared(chosen, {run.setting.n_neurons: run for run in runs}, answers, TRUTH, 320, 40, (), cut_off)


def errors(count: int, seed: int = 0, of: np.ndarray | None = None) -> np.ndarray:
    """So many wrong answers, at random among some."""
    flags = np.zeros(400, bool)
    places = np.arange(400) if of is None else np.flatnonzero(of)
    flags[np.random.default_rng(seed).permutation(places)[:count]] = True
    return flags.reshape(5, 80)


def plain(sentences: Any) -> str:
    return " ".join([sentences] if isinstance(sentences, str) else sentences).replace("\N{NO-BREAK SPACE}", " ")


def test_what_was_drawn_is_not_called_all() -> None:
    found = study_of(drawn(4, errors(40), [0.0] * 5, TRUTH), drawn(16, errors(30), [0.0] * 5, TRUTH), flat=errors(60))
    assert (found.used, found.points, found.trained_on, found.effort) == (500, 2000, 320, 2.0)
    assert [each.updates for each in found.results] == [40 * 80] * 2


def test_the_most_common_class_is_that_of_the_points_networks_are_trained_on() -> None:
    found = study_of(drawn(4, errors(40), [0.0] * 5, TRUTH), flat=errors(60))
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
    runs = [drawn(width, errors(30), each, TRUTH) for width, each in zip((4, 16, 64), train, strict=True)]
    found = study_of(*runs, flat=errors(60))
    assert found.fits_from == from_
    said = plain(does_size_help(found))
    assert ("All 5 networks fit" in said) == (from_ is not None)


def test_equal_answers_are_neither_better_nor_worse() -> None:
    same = errors(30)
    found = study_of(drawn(4, same, [0.0] * 5, TRUTH), drawn(16, same, [0.0] * 5, TRUTH), flat=same)
    (between,) = found.differences
    assert (between.low, between.high, between.is_worse, between.is_better) == (0, 0, False, False)
    assert found.enough == 4
    for low, high in ((-0.1, 0.1), (0.0, 0.2), (-0.2, 0.0)):
        each = Difference(first="a", second="b", only_first=1, only_second=1, low=low, high=high)
        assert not each.is_worse
        assert not each.is_better


def test_rivals_are_compared_with_the_width_that_is_enough() -> None:
    bad, good, last = errors(150), errors(30, 1), errors(45, 2)
    found = study_of(
        drawn(4, bad, [0.0] * 5, TRUTH), drawn(16, good, [0.0] * 5, TRUTH), drawn(64, last, [0.0] * 5, TRUTH),
        flat=errors(60, 3),
    )  # fmt: skip
    assert found.enough == 16
    against = found.against(rivals.LINEAR)
    assert against is not None
    flat = errors(60, 3)
    only, other = int((good & ~flat).sum()), int((flat & ~good).sum())
    assert (against.only_first, against.only_second) == (only, other)
    assert (against.low, against.high) == difference(only, other, 400, 0.95)


def test_nothing_is_concluded_about_widths_that_were_cut_off() -> None:
    runs = drawn(4, errors(30), [0.0] * 5, TRUTH), drawn(16, errors(30), [0.0] * 5, TRUTH)
    whole, cut = (study_of(*runs, flat=errors(30), cut_off=widths) for widths in ((), (64,)))
    assert (whole.is_cut, cut.is_cut) == (False, True)
    assert plain(does_size_help(whole)).startswith("No: 4 neurons already do as well")
    assert plain(does_size_help(cut)).startswith("Not known")
    assert "a linear boundary does as well" in plain(does_size_help(whole))
    assert "a linear boundary does as well" not in plain(does_size_help(cut))


def test_a_gain_that_would_have_been_seen_is_one_that_no_width_can_have() -> None:
    one = errors(40)
    runs = [drawn(4, one, [0.0] * 5, TRUTH), drawn(16, errors(38, 5), [0.0] * 5, TRUTH),
            drawn(64, one, [0.0] * 5, TRUTH), drawn(256, errors(36, 6, one), [0.0] * 5, TRUTH)]  # fmt: skip
    found = study_of(*runs, flat=errors(60))
    assert found.enough == 4
    highest = 0.0
    for run in runs[1:]:
        other = (run.predicted != TRUTH).ravel()
        only, theirs = int((one.ravel() & ~other).sum()), int((other & ~one.ravel()).sum())
        highest = max(highest, difference(only, theirs, 400, 1 - 0.05 / 6).expected[1])
    assert f"A gain of more than {plain(percent(highest))} would have been seen." in plain(does_size_help(found))


def test_chance_is_no_proof_of_anything_learned() -> None:
    """The same number of errors as the most common class, one fewer, and many fewer."""
    common = TRUTH == 0
    for count, learned in ((240, False), (239, False), (60, True)):
        found = study_of(drawn(4, errors(count, 0, common), [0.1] * 5, TRUTH), flat=errors(60))
        assert ("nothing measurable was learned" in plain(will_it_generalize(found))) == (not learned)


def test_every_point_right_is_not_a_loss_of_nearly_zero() -> None:
    """A network ends early only where its loss is small; one that uses up its passes fits with any loss."""
    for passes, early in ((40, False), (39, False), (20, True)):
        run = drawn(4, errors(30), [0.0] * 5, TRUTH, passes=np.full(5, passes))
        said = plain(how_long(study_of(run, flat=errors(60))))
        assert ("loss is nearly 0" in said) == early
        assert ("the work allowed" in said) == (not early)


@pytest.mark.parametrize("separable", range(0, 21, 2))
def test_labels_at_random_count_only_where_it_was_decided(separable: int) -> None:
    for unknown in range(21 - separable):
        found = Relabelled(tried=20, separable=separable, unknown=unknown)
        assert found.is_any == (separable > 10)
