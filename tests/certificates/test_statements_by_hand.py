"""What must be true of what a certificate says about data and theorems, beside a few independent lines."""

import dataclasses
import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.svm import SVC

from tests.packages.toy2020.claims.theorems import Toys, nothing
from widenet import papers
from widenet.certificates import preparation, words
from widenet.certificates.allowances import allowances
from widenet.certificates.boundaries import Separability
from widenet.certificates.data_forms import DataForm, views_of
from widenet.certificates.fixes import small_changes
from widenet.certificates.misplaced_points import clashing
from widenet.certificates.plain_numbers import fraction
from widenet.certificates.plane import plane_of
from widenet.certificates.portrait import Portrait, portray
from widenet.certificates.preparation import Scaling, prepare
from widenet.certificates.promises import Standing, promises_of
from widenet.certificates.reading import read
from widenet.certificates.rows import ClaimRow, ask_again, ask_all
from widenet.certificates.samples import drawn_points
from widenet.certificates.summary import about_new_points, in_short
from widenet.certificates.time_limit import OutOfTime, TimeLimit
from widenet.claims import Claim, Kind, NotApplicable, Promised, Verdict, at_least, at_most
from widenet.claims.base import claim
from widenet.claims.conclusion import evidence
from widenet.claims.implication import Given
from widenet.claims.meaning import Meaning, Topic
from widenet.claims.sides import Fact, Sides
from widenet.claims.user_data import Choices, UserData
from widenet.data import from_arrays
from widenet.diagnostics import widest_margin
from widenet.diagnostics.separability import find_separator_within
from widenet.diagnostics.work import Work
from widenet.run.outcomes import cells_of
from widenet.types import Dataset

FOREVER = TimeLimit(np.inf)
MEANING = Meaning(topic=Topic.UPDATES, promise="At most {promised} updates.", seen="it took {measured}")
ABOUT_ERRORS = Meaning(topic=Topic.TEST_ERROR, promise="Errs on at most {promised}.", seen="{measured}")


def portrait_of(inputs: Any, labels: Any, scaling: Scaling = Scaling.AUTO) -> Portrait:
    table = read(inputs, labels)
    return portray(table, prepare(table, scaling))


def with_bias(portrait: Portrait) -> Separability:
    return next(each for each in portrait.separability if not each.through_origin)


def is_separable(points: np.ndarray, signs: np.ndarray) -> bool:
    """Whether a linear program finds w and b with y(⟨w, x⟩ + b) ≥ 1."""
    rows = signs[:, None] * np.column_stack([points, np.ones(len(points))])
    return linprog(np.zeros(rows.shape[1]), A_ub=-rows, b_ub=-np.ones(len(rows)), bounds=(None, None)).status == 0


# What is said about the data.


@pytest.mark.parametrize(
    "labels",
    [["moth", "ant", "moth", "zebra"], ["3", "1.5", "3", "20"], ["b", "a", "b", "b"], [True, False, True, True]],
)
def test_labels_keep_their_names(labels: list) -> None:
    given, points = 3 * labels, np.random.default_rng(0).normal(size=(12, 2))
    table = read(points, given)
    assert [table.class_names[number] for number in table.classes] == list(map(str, given))
    counts = {each.name: each.points for each in portrait_of(points, given).classes}
    assert counts == {str(each): given.count(each) for each in labels}


def test_the_last_of_three_thousand_points_decides() -> None:
    draw = np.random.default_rng(2)
    points = draw.normal(size=(3000, 3))
    labels = (points[:, 0] > 0).astype(int)
    points[:, 0] += 0.2 * (2 * labels - 1)
    points[-1], labels[-1] = [3.0, 0.0, 0.0], 1
    assert is_separable(points, 2 * labels - 1)
    assert portrait_of(points, labels).separable is True
    labels[-1] = 0
    assert not is_separable(points, 2 * labels - 1)
    found = with_bias(portrait_of(points, labels))
    assert found.separable is False
    assert 3000 in found.in_the_way


@pytest.mark.parametrize("scaling", list(Scaling))
def test_the_boundary_that_is_told_separates_with_the_margin_that_is_told(scaling: Scaling) -> None:
    """In the coordinates that the preparation describes; with `none` those are the given ones."""
    draw = np.random.default_rng(3)
    labels = np.arange(60) % 2
    points = draw.normal(size=(60, 2)) * [1.0, 30.0] + [40.0, 500.0]
    points[:, 0] += 9 * labels
    portrait = portrait_of(points, labels, scaling)
    done, found = portrait.preparation, with_bias(portrait)
    scaled = (points - done.centre) / done.unit if done.is_standardized else points
    scaled = scaled / (done.factor or 1.0)
    distances = (2 * labels - 1) * (scaled @ found.normal + found.offset)
    assert found.margin is not None
    np.testing.assert_allclose(np.linalg.norm(found.normal), 1)
    np.testing.assert_allclose(distances.min(), found.margin, rtol=1e-6)
    widest = SVC(kernel="linear", C=1e12, tol=1e-9).fit(scaled * 100, labels)
    np.testing.assert_allclose(found.margin, 1 / np.linalg.norm(widest.coef_) / 100, rtol=1e-4)
    assert found.margin_limit == pytest.approx(found.margin, rel=1e-4)


def test_no_boundary_is_wider_than_the_limit_also_where_the_search_ends_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that ends before its first round has the boundary it began with, which is not the widest."""
    draw, labels = np.random.default_rng(2), np.arange(200) % 2
    points = draw.normal(size=(200, 3)) * [2.0, 1.0, 1.0]
    points[:, 2] = (1 + np.abs(points[:, 2])) * (2 * labels - 1) + 3  # not around the origin
    table = read(points, labels)
    prepared = prepare(table, Scaling.BALL)
    monkeypatch.setattr(widest_margin, "MOST_ROUNDS", 0)
    portrait = portray(table, prepared)
    found = with_bias(portrait)
    widest = SVC(kernel="linear", C=1e12, tol=1e-10).fit(prepared.points * 100, labels)
    true = float(1 / np.linalg.norm(widest.coef_) / 100)
    assert found.margin is not None
    assert found.margin_limit is not None
    assert found.margin < 0.9999 * true < true < found.margin_limit
    said = " ".join(words.about_data(portrait))
    assert f"none has a margin wider than {fraction(found.margin_limit)}" in said
    assert "no other has a wider margin" not in said
    monkeypatch.undo()
    whole = portray(table, prepared)
    assert (with_bias(whole).margin, with_bias(whole).margin_limit) == pytest.approx((true, true), rel=1e-5)
    assert "no other has a wider margin" in " ".join(words.about_data(whole))


def test_what_was_not_decided_is_not_called_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches that end before anything is known."""

    def without_an_answer(data: Dataset, work: Work) -> Any:
        open_ = {"separable": None, "separator": None, "norm_upper": np.inf, "is_truncated": True}
        return dataclasses.replace(find_separator_within(data, work), **open_)

    monkeypatch.setattr(preparation, "find_separator_within", without_an_answer)
    for labels in (np.arange(60) % 2, np.arange(60) % 3):
        portrait = portrait_of(np.random.default_rng(6).normal(size=(60, 2)), labels)
        assert len(portrait.separability) == 2 + (labels.max() == 2)
        for found in portrait.separability:
            assert found.separable is None
        assert portrait.separable is None
        said = " ".join([*words.about_data(portrait), *in_short(findings_of(portrait=portrait))])
        assert "proved" not in said
        assert "inconclusive" in said


def test_one_class_that_is_not_known_leaves_all_open_unless_another_is_refuted() -> None:
    portrait = portrait_of(np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 3)
    assert len(portrait.separability) == 3
    for answers in itertools.product([True, False, None], repeat=3):
        own = tuple(
            each.model_copy(update={"separable": answer})
            for each, answer in zip(portrait.separability, answers, strict=True)
        )
        expected = False if False in answers else None if None in answers else True
        assert portrait.model_copy(update={"separability": own}).separable is expected


def test_rounding_is_named_where_it_may_hide_a_boundary() -> None:
    portrait = portrait_of([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1])
    found = with_bias(portrait)
    assert found.separable is False
    for limit, is_named in ((0.0, False), (1e-11, True)):
        changed = found.model_copy(update={"margin_limit": limit})
        told = portrait.model_copy(update={"separability": (changed,)})
        for said in (" ".join(words.about_data(told)), in_short(findings_of(portrait=told))[0]):
            assert ("by a margin above 1e-11" in said) == is_named


def test_points_in_the_way_are_those_on_the_wrong_side_of_the_boundary_that_is_told() -> None:
    """Also where some were put back, and the boundary with them."""
    put_back = 0
    for seed in range(8):
        draw = np.random.default_rng(seed)
        points = draw.normal(size=(40, 2)) + np.repeat([[0.8, 0.0], [-0.8, 0.0]], 20, axis=0)
        signs = np.repeat([1.0, -1.0], 20)
        found = clashing(from_arrays(points / 5, signs))
        margins = signs * (points / 5 @ found.boundary)
        wrong = np.flatnonzero(margins <= 1e-7 * np.abs(margins).max())
        np.testing.assert_array_equal(found.rows, wrong)
        rows = signs[:, None] * points / 5
        least = linprog(
            np.r_[np.zeros(2), np.ones(40)], A_ub=-np.hstack([rows, np.eye(40)]), b_ub=-np.ones(40),
            bounds=[(None, None)] * 2 + [(0, None)] * 40,
        )  # fmt: skip
        put_back += len(wrong) < (rows @ least.x[:2] <= 1e-9).sum()
    assert put_back


def test_contradictions_and_repeats_are_counted_as_a_dictionary_does() -> None:
    draw = np.random.default_rng(7)
    points, labels = draw.integers(0, 4, size=(60, 2)).astype(float), draw.integers(0, 3, size=60)
    portrait = portrait_of(points, labels)
    kinds: dict[tuple, list[int]] = {}
    for point, label in zip(points.tolist(), labels.tolist(), strict=True):
        kinds.setdefault(tuple(point), []).append(label)
    assert portrait.n_contradicting == sum(len(own) for own in kinds.values() if len(set(own)) > 1)
    assert portrait.duplicates == sum(len(own) - len(set(own)) for own in kinds.values())


def test_a_part_is_drawn_from_everywhere_and_has_every_class() -> None:
    labels = np.repeat([0, 1, 2], [600, 390, 10])  # sorted, as files often are
    parts = [drawn_points(labels, 100, seed) for seed in range(30)]
    for part in parts:
        assert len(set(part.tolist())) == 100
        assert set(labels[part]) == {0, 1, 2}
    assert len({part.tobytes() for part in parts}) == 30
    shares = np.mean([np.bincount(labels[part], minlength=3) for part in parts], axis=0)
    assert np.abs(shares - [60, 39, 1]).max() < 5
    assert abs(np.mean(parts) - 500) < 20
    np.testing.assert_array_equal(drawn_points(labels, 1000, 0), np.arange(1000))


def test_a_boundary_is_drawn_only_if_every_point_is_on_its_side() -> None:
    """Of 2,500 points 2,000 are drawn; a point that is not may be the one that is on the wrong side."""
    draw = np.random.default_rng(8)
    labels = np.arange(2500) % 2
    points = draw.normal(size=(2500, 3))
    points[:, 0] = np.abs(points[:, 0]) * (2 * labels - 1) + 0.3 * (2 * labels - 1)
    hidden = np.setdiff1d(np.arange(2500), drawn_points(2.0 * labels - 1, 2000, 0))
    for moved in (None, hidden[0], hidden[1]):
        own = points.copy()
        if moved is not None:
            own[moved, 0] *= -1
        prepared = prepare(read(own, labels), Scaling.BALL)
        plane = plane_of(prepared)
        if plane.boundary is not None:
            coordinates = np.asarray(prepared.data.inputs)[:, :3] - plane.centre[:3]
            sides = coordinates @ plane.axes[0, :3] > plane.boundary
            assert len({(side, label) for side, label in zip(sides.tolist(), labels.tolist(), strict=True)}) == 2
        assert (plane.boundary is None) == (moved is not None)


def test_a_missing_word_is_a_missing_value(tmp_path: Any) -> None:
    path = tmp_path / "a.csv"
    kinds = ["red", "green", "blue", "red", "?", "green", "blue", "red", "green", "blue", "", "red"]
    lines = [f"{place}.5,{kind},{'ab'[place % 2]}" for place, kind in enumerate(kinds)]
    path.write_text("x,colour,y\n" + "\n".join(lines) + "\n")
    table = read(path)
    assert len(table.inputs) == 10
    assert (table.inputs[:, 1:].sum(axis=1) == 1).all()  # every row has one of the words
    assert any("2 rows with missing values were left out" in each for each in table.reading.chosen)
    without = read(path, drop=["colour"])
    assert without.columns == ("x",)
    np.testing.assert_array_equal(without.inputs[:, 0], np.arange(12) + 0.5)


# What theorems are asked about, and what is made of their answers.


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("count", [40, 200])
def test_every_form_of_the_data_is_called_what_it_is(classes: int, count: int) -> None:
    draw = np.random.default_rng(9)
    table = read(draw.normal(size=(count, 3)), np.arange(count) % classes)
    prepared = prepare(table, Scaling.AUTO)
    whole, few = views_of(table, prepared, portray(table, prepared), Choices())
    forms = [*whole, *([few] if few is not None else [])]
    assert (few is None) == (count <= 50)
    assert len({each.name for each in forms}) == len(forms)
    for form in forms:
        own = np.asarray(form.user_data.inputs)
        assert (len(own) < count) == ("drawn at random" in form.name)
        given = np.asarray(prepared.data.inputs)[form.rows]
        lengths = np.linalg.norm(given, axis=1, keepdims=True)
        is_unit = "points of length 1" in form.name
        np.testing.assert_allclose(own, given / lengths if is_unit else given)
        if classes == 3 and form.user_data.has_signs_as_labels:
            name = form.name.partition(" against the rest")[0]
            singled = np.asarray(form.user_data.labels) > 0
            np.testing.assert_array_equal(singled, [table.class_names[n] == name for n in table.classes[form.rows]])
    part = evidence({"at most": Sides(3.0, 10.0)}, ())
    for form in forms:
        row = ClaimRow(id="a.b", kind=Kind.MAIN, where="", statement="", meaning=MEANING, about=form.name)
        (promise,) = promises_of([row.model_copy(update={"evidence": part})])
        assert promise.counts == (len(form.user_data.inputs) == count)


def made_up(on: Any, given: Any = (), meaning: Meaning | None = None, side: Any = None) -> Claim:
    """A theorem that is asked about data as it is told here."""

    def on_data(own: UserData) -> Any:
        found = on(own)
        return found if isinstance(found, NotApplicable) else Toys(np.array([float(found)]))

    @claim("toy2020.theorem_3", Kind.MAIN, "Theorem 3", draws=nothing, on=on_data, given=given, means=meaning)
    def theorem_3(toys: Toys) -> Promised:
        """It needs something."""
        return {"a": Fact(True) if side is None else side(toys)}

    return theorem_3


def form_of(count: int = 60, name: str = "", choices: Choices | None = None) -> DataForm:
    points = np.random.default_rng(count).normal(size=(count, 2))
    data = from_arrays(points / 10, np.where(np.arange(count) % 2, 1, -1))
    return DataForm(name, UserData(data, choices or Choices()), np.arange(count))


@pytest.mark.parametrize("what", ["evidence", "does not apply", "crash", "cut off", "no time"])
def test_what_became_of_a_statement_about_a_few_points_is_kept(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mistake of the program and a lack of time are no reason why a statement does not apply."""

    def on(own: UserData) -> Any:
        if len(own.labels) == 60:
            return NotApplicable("it needs few points")
        if what == "crash":
            raise ZeroDivisionError("a mistake")
        if what == "cut off":
            raise OutOfTime
        return NotApplicable("it needs fewer points") if what == "does not apply" else 1.0

    theorem = made_up(on)
    monkeypatch.setattr(papers, "claims_of", lambda: [theorem])
    rows = ask_all([theorem], [form_of()], cells_of(None), FOREVER)
    assert (rows[0].not_applicable, rows[0].is_open) == ("it needs few points", False)
    clock = TimeLimit(-1.0) if what == "no time" else FOREVER
    (row,) = ask_again(rows, form_of(10, "10 points drawn at random"), cells_of(None), clock)
    assert (row.evidence is not None) == (what == "evidence")
    assert row.is_open == (what in ("crash", "cut off", "no time"))
    assert row.has_crashed == (what == "crash")
    if what != "evidence":
        reason = {"does not apply": "it needs fewer points", "crash": "a mistake"}.get(what, "it needs few points")
        assert reason in row.not_applicable
    else:
        assert row.about == "10 points drawn at random"


def test_lack_of_time_is_no_statement_about_new_points() -> None:
    row = ClaimRow(id="a.b", kind=Kind.MAIN, where="", statement="", meaning=ABOUT_ERRORS, not_applicable="no")
    for is_open, crashed in ((False, False), (True, False), (True, True)):
        late = row.model_copy(update={"is_open": is_open, "has_crashed": crashed})
        found = findings_of(rows=(row, late), unasked=int(is_open))
        said = about_new_points(found)
        assert ("is not known" in said) == is_open
        assert said.startswith("No theorem limits") == (not is_open)


def findings_of(**given: Any) -> Any:
    own: dict[str, Any] = {"rows": (), "promises": (), "unasked": 0, "not_applicable": (), "study": None}
    return SimpleNamespace(**{**own, **given})


@pytest.mark.parametrize("undecided", [False, True])
def test_a_theorem_allows_a_number_at_a_width_only_where_its_assumptions_hold(
    undecided: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked with your own choices, of which only the width is another."""

    def on(own: UserData) -> float:
        mine = own.choices
        return mine.n_neurons * mine.step_size * mine.slope * (mine.init_scale or 0.0) * mine.seed

    wide = Given("wide", "width", lambda toys: at_least(toys.size, 8.0, undecided=undecided), extreme=False)
    theorem = made_up(on, [wide], MEANING, lambda toys: at_most(0 * toys.size, 7 * toys.size))
    monkeypatch.setattr(papers, "claims_of", lambda: [theorem])
    forms = [form_of(choices=Choices(step_size=0.5, slope=0.4, init_scale=0.3, seed=9))]
    rows = ask_all([theorem], forms, cells_of(None), FOREVER)
    (found,) = allowances(rows, forms, (4, 16, 64), cells_of(None), FOREVER)
    own = [width * 0.5 * 0.4 * 0.3 * 9 for width in (4, 16, 64)]
    holds = [not undecided and each >= 8 for each in own]
    assert holds.count(True) == (0 if undecided else 2)
    for promised, each, fine in zip(found.promised, own, holds, strict=True):
        assert promised == (pytest.approx(7 * each) if fine else None)
    assert [each == "" for each in found.missing] == holds


def test_a_promise_without_its_assumptions_or_its_substance_has_no_number() -> None:
    """The part that carries the number decides whether it says anything; an assumption that fails takes the number."""
    met = at_least(2.0, 1.0).hypothesis("separable", "margin")
    missed = at_least(0.4, 1.0).hypothesis("separable", "margin")
    base = ClaimRow(id="a.b", kind=Kind.MAIN, where="", statement="", meaning=MEANING)
    for hypothesis, trivial, standing in (
        (met, None, Standing.GUARANTEED), (met, 1.0, Standing.EMPTY), (missed, None, Standing.NOT_HERE),
    ):  # fmt: skip
        carrying = Sides(0.5, 77.0, trivial=trivial)
        found = evidence({"carrying": carrying, "other": Sides(1.0, 2.0)}, (hypothesis,))
        (promise,) = promises_of([base.model_copy(update={"evidence": found})])
        assert promise.standing is standing
        assert ("77" in promise.words) == (hypothesis is met)


CHOSEN_BY_USERS = {"n_neurons", "step_size", "init_scale", "slope", "seed"}
"""What `certify` and the command have an argument for."""


def test_a_change_is_one_that_you_can_make_and_was_checked_where_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[UserData] = []

    def on(own: UserData) -> float:
        asked.append(own)
        return own.choices.n_neurons

    wide = Given("width", "width", lambda toys: at_least(toys.size, 36.0), extreme=False)
    theorem = made_up(on, [wide])
    monkeypatch.setattr(papers, "claims_of", lambda: [theorem])
    form = form_of(name="ant against the rest, points of length 1")
    rows = ask_all([theorem], [form], cells_of(None), FOREVER)
    asked.clear()
    (change,) = small_changes(rows, [form], cells_of(None), FOREVER)
    assert change.about == form.name
    assert (change.words, change.after) == ("take 36 neurons (34 are not enough)", Verdict.HOLDS)
    for own in asked:
        changed = {
            name for name in Choices.model_fields if getattr(own.choices, name) != getattr(Choices(), name)
        }  # fmt: skip
        assert changed <= CHOSEN_BY_USERS
    (said,) = words.about_changes([change])
    assert "asked again with it about ant against the rest, points of length 1, it applies" in said
    plain = change.model_copy(update={"about": ""})
    assert "asked again with it, it applies" in words.about_changes([plain])[0]
    assert len(words.about_changes([change, plain])) == 2


def test_more_updates_are_not_suggested(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody who certifies can allow them."""
    theorem = made_up(lambda own: own.choices.max_updates or 0, side=lambda toys: at_least(
        toys.size, 1000.0, undecided=toys.size < 1000))  # fmt: skip
    monkeypatch.setattr(papers, "claims_of", lambda: [theorem])
    rows = ask_all([theorem], [form_of()], cells_of(None), FOREVER)
    assert rows[0].verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert small_changes(rows, [form_of()], cells_of(None), FOREVER) == []


def test_rows_to_leave_out_are_rows_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without them the theorem applies; with them it does not."""
    draw = np.random.default_rng(1)
    points = 0.1 * draw.normal(size=(12, 2)) + np.repeat([[0.6, 0.0], [-0.6, 0.0]], 6, axis=0)
    points[[2, 7]] = [[-0.5, 0.0], [0.5, 0.0]]
    signs, numbers = np.repeat([1, -1], 6), 50 + 3 * np.arange(12)
    apart = Given("separable", "margin", lambda toys: at_least(toys.size, 1.0), extreme=False)
    theorem = made_up(lambda own: is_separable(np.asarray(own.inputs), np.asarray(own.labels)), [apart])
    monkeypatch.setattr(papers, "claims_of", lambda: [theorem])
    form = DataForm("", UserData(from_arrays(points, signs), Choices()), numbers)
    rows = ask_all([theorem], [form], cells_of(None), FOREVER)
    (change,) = small_changes(rows, [form], cells_of(None), FOREVER)
    kept = ~np.isin(numbers + 1, change.left_out)
    assert kept.sum() == 12 - len(change.left_out) == 10
    assert is_separable(points[kept], signs[kept])
    assert not is_separable(points, signs)
