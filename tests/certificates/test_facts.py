"""Facts about the data: of all rows, in fields of their own, and told by sentences that read nothing else."""

import functools
from typing import Any

import numpy as np
import pytest
from sklearn import datasets

import widenet as wn
from tests.packages import EMPTY, TOY
from tools.known_facts import margin_of_machine, scaled_points, widest_in_a_box
from widenet import papers
from widenet.certificates import preparation, words
from widenet.certificates.boundaries import Separability
from widenet.certificates.data_forms import views_of
from widenet.certificates.portrait import Portrait, portray
from widenet.certificates.preparation import Bias, Scaling, prepare
from widenet.certificates.preparation_words import about_preparation, about_reading
from widenet.certificates.promises import ListedPromise, Standing
from widenet.certificates.reading import read
from widenet.certificates.rows import ClaimRow
from widenet.certificates.summary import about_new_points, about_no_promise, headlines, in_short
from widenet.claims import Kind
from widenet.claims.meaning import Meaning, Topic
from widenet.claims.user_data import Choices
from widenet.diagnostics.work import Work
from widenet.errors import DataError


@pytest.fixture(autouse=True)
def toy_papers(monkeypatch):
    monkeypatch.setattr(papers, "PAPERS", (TOY, EMPTY))


def portrait_of(inputs, labels, scaling: Scaling = Scaling.AUTO, seed: int = 0) -> Portrait:
    table = read(inputs, labels)
    return portray(table, prepare(table, scaling, seed))


def with_bias_of(portrait: Portrait) -> Separability:
    (found,) = (each for each in portrait.separability if not each.through_origin)
    return found


@functools.cache
def many(rows: int = 60_000, flipped: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Points on two sides of a plane; one of them, deep on its side, may have the other label."""
    draw = np.random.default_rng(8)
    inputs = draw.normal(size=(rows, 4))
    signs = np.where(inputs[:, 0] > 0, 1.0, -1.0)
    inputs[:, 0] += 0.05 * signs
    if flipped:
        signs[np.argmax(inputs[:, 0])] *= -1
    return inputs, signs


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_one_flipped_label_among_60_000_rows_is_seen(seed):
    inputs, signs = many()
    portrait = portrait_of(inputs, signs, seed=seed)
    found = with_bias_of(portrait)
    assert widest_in_a_box(inputs / np.abs(inputs).max(), signs, through_origin=False) < 1e-9
    assert (found.separable, found.points, found.margin_limit) == (False, 60_000, 0.0)
    assert int(np.argmax(inputs[:, 0])) + 1 in found.witnesses
    combination = (np.array(found.weights) * signs[np.array(found.witnesses) - 1]) @ np.column_stack(
        [inputs, np.ones(len(inputs))]
    )[np.array(found.witnesses) - 1]
    assert np.abs(combination).max() < 1e-12
    assert any("This is proved" in sentence for sentence in words.about_separability(portrait))


def test_a_boundary_is_checked_on_every_one_of_60_000_rows():
    inputs, signs = many(flipped=False)
    portrait = portrait_of(inputs, signs)
    found = with_bias_of(portrait)
    assert found.separable
    places = scaled_points(inputs, portrait.model_dump(mode="json")["preparation"]) @ found.normal + found.offset
    assert (signs * places).min() == pytest.approx(found.margin, rel=1e-9)
    assert found.margin_limit == pytest.approx(found.margin, rel=1e-6)
    (sentence, *_) = words.about_separability(portrait)
    assert "the boundary was checked on all 60,000 points" in sentence


def test_200_000_rows_are_no_obstacle():
    for flipped in (False, True):
        found = with_bias_of(portrait_of(*many(200_000, flipped)))
        assert (found.separable, found.points) == (not flipped, 200_000)


def test_points_on_the_wrong_side_are_counted_among_all_points():
    inputs, signs = many(50_000, flipped=False)
    signs = np.where(np.random.default_rng(1).random(len(signs)) < 0.135, -signs, signs)
    portrait = portrait_of(inputs, signs)
    found = with_bias_of(portrait)
    places = scaled_points(inputs, portrait.model_dump(mode="json")["preparation"]) @ found.normal + found.offset
    assert sorted(found.in_the_way) == (np.flatnonzero(signs * places <= 0) + 1).tolist()
    assert 0.13 < len(found.in_the_way) / found.points < 0.14
    findings = toy_certificate().findings
    (short, *_) = in_short(findings.model_copy(update={"portrait": portrait}))
    assert f"{len(found.in_the_way):,} of 50,000 points (14\N{NO-BREAK SPACE}%)" in short


@functools.cache
def toy_certificate():
    draw = np.random.default_rng(2)
    points = draw.normal(size=(24, 2)) + 3 * np.repeat([[1.0], [-1.0]], 12, axis=0)
    return wn.certify(points, [0] * 12 + [1] * 12, effort=1e-3)


def test_a_search_without_work_proves_nothing():
    table = read(*many(flipped=False))
    prepared = prepare(table, Scaling.AUTO, work=Work(0.0))
    portrait = portray(table, prepared, Work(0.0))
    found = with_bias_of(portrait)
    assert (found.separable, found.is_truncated, found.margin) == (None, True, None)
    findings = toy_certificate().findings.model_copy(update={"portrait": portrait})
    said = [*words.about_data(portrait), *in_short(findings)]
    assert not any("proved" in sentence for sentence in said)
    assert sum("inconclusive: the work allowed for the search was spent" in sentence for sentence in said) == 2


def test_theorems_get_a_part_of_many_points_and_it_is_said():
    table = read(*many())
    prepared = prepare(table, Scaling.AUTO)
    portrait = portray(table, prepared)
    assert not prepared.has_all_points
    assert prepared.data.n_samples == portrait.preparation.used <= 20_000
    views, _ = views_of(table, prepared, portrait, Choices())
    assert all("points drawn at random" in view.name for view in views)
    # What is known of all points is not taken for what is known of the part.
    assert "separation" not in vars(views[0].user_data)
    assert any("of the 60,000 points, drawn at random" in each for each in about_preparation(portrait.preparation))


def test_the_margins_of_wine_are_the_widest():
    """The widest margins with a bias, by scikit-learn, are not those of the coordinates (x, 1)/√2."""
    wine: Any = datasets.load_wine()
    portrait = portrait_of(wine.data, wine.target_names[wine.target])
    found = portrait.separability
    assert [round(each.margin or 0, 4) for each in found] == [0.0759, 0.0356, 0.0730]
    assert [round(each.theorem_margin or 0, 4) for each in found] == [0.0536, 0.0251, 0.0511]
    scaled = scaled_points(wine.data, portrait.model_dump(mode="json")["preparation"])
    for number, each in enumerate(found):
        signs = np.where(wine.target == number, 1.0, -1.0)
        assert margin_of_machine(scaled, signs) == pytest.approx(each.margin, rel=1e-4)
        assert each.margin_limit == pytest.approx(each.margin, rel=1e-6)
        assert (signs * (scaled @ each.normal + each.offset)).min() == pytest.approx(each.margin, rel=1e-9)
    assert any("class_0 (margin 0.07591), class_1 (margin 0.03561)" in each for each in words.about_data(portrait))
    assert any("Theorems get a margin of 0.05356 for class_0" in each for each in words.about_data(portrait))


def test_the_factor_that_is_told_reproduces_the_margin():
    """Two pairs, 3 apart: half of that, divided by what everything was divided by."""
    inputs = np.array([[1.0, 0.0], [1.0, 4.0], [4.0, 0.0], [4.0, 4.0]])
    portrait = portrait_of(inputs, list("aabb"))
    assert portrait.preparation.factor == pytest.approx(np.sqrt(32), rel=1e-12)
    assert with_bias_of(portrait).margin == pytest.approx(1.5 / np.sqrt(32), rel=1e-12)
    assert any("Everything was divided by 5.657" in each for each in about_preparation(portrait.preparation))
    assert any("The closest points are 0.2652 away" in each for each in words.about_data(portrait))


def test_a_bias_never_narrows_the_margin_and_nobody_says_so():
    """Symmetric about the origin: for theorems (x, 1)/√2 has a margin √2 times narrower, the boundary is the same."""
    portrait = portrait_of(np.array([[1.0, 0.2], [0.8, -0.1], [-1.0, -0.2], [-0.8, 0.1]]), list("aabb"))
    origin, biased = portrait.separability
    assert portrait.preparation.bias is Bias.NARROWER
    assert origin.margin == pytest.approx(biased.margin, rel=1e-9)
    assert portrait.preparation.margin_with_bias == pytest.approx((origin.margin or 0) / np.sqrt(2), rel=1e-6)
    told = " ".join(about_preparation(portrait.preparation))
    assert "no constant coordinate (a bias) was added: among boundaries through the origin it would make" in told
    assert "more widely" not in told
    assert "no other has a wider margin" in words.about_separability(portrait)[0]


@pytest.mark.parametrize("scaling", Scaling)
def test_a_boundary_that_needs_a_bias_is_found_in_every_scale(scaling):
    portrait = portrait_of(np.array([[1.0, 0.0], [2.0, 1.0], [5.0, 0.0], [6.0, 1.0]]), list("aabb"), scaling)
    origin, biased = portrait.separability
    assert (origin.separable, biased.separable, portrait.separable) == (False, True, True)
    size = 1.0 if portrait.preparation.factor is None else portrait.preparation.factor
    assert (biased.margin or 0) * size == pytest.approx(np.sqrt(10) / 2, rel=1e-9)
    wanted = {Scaling.NONE: Bias.UNWANTED}.get(scaling, Bias.NEEDED)
    assert portrait.preparation.bias is wanted


def test_many_classes_as_they_are_need_no_boundary_through_the_origin():
    inputs = np.array([[5.0, 5.0], [6.0, 5.0], [5.0, 9.0], [6.0, 9.0], [9.0, 5.0], [9.0, 6.0]])
    portrait = portrait_of(inputs, list("aabbcc"), Scaling.NONE)
    assert [each.separable for each in portrait.separability] == [True, True, True]
    assert not any(each.through_origin for each in portrait.separability)


def test_two_columns_of_different_units_are_standardized():
    draw = np.random.default_rng(0)
    inputs = draw.normal(size=(30, 2)) * [1.0, 10.5]
    inputs /= inputs.std(axis=0) / [1.0, 10.5]
    labels = (inputs[:, 0] > 0).astype(int)
    done = portrait_of(inputs, labels).preparation
    assert done.spread == pytest.approx(10.5, rel=1e-9)
    assert done.is_standardized
    assert not portrait_of(inputs * [1.0, 0.9], labels).preparation.is_standardized
    assert not portrait_of(inputs, labels, Scaling.BALL).preparation.is_standardized


def test_columns_that_were_left_out_are_counted():
    inputs = np.array([[0.1, 1.0, 7.0], [0.1, 2.0, 7.0], [0.1, 4.0, 7.0], [0.1, 5.0, 7.0]])
    done = portrait_of(inputs, list("aabb")).preparation
    assert (done.constant_columns, done.negligible_columns) == ((1, 3), ())
    assert about_preparation(done)[0] == "2 constant columns cannot tell points apart and were left out."
    (one, *_) = about_preparation(portrait_of(inputs[:, :2], list("aabb")).preparation)
    assert one == "1 constant column cannot tell points apart and was left out."


def test_the_caption_counts_the_columns_that_the_picture_shows():
    """Two columns and a constant one are drawn as they are, not as a mix of three."""
    draw = np.random.default_rng(1)
    inputs = np.column_stack([draw.normal(size=(12, 2)), np.full(12, 0.3)])
    found = wn.certify(inputs, (inputs[:, 0] > 0).astype(int), time=1e-6)
    assert found.plane.is_own
    assert "mix of" not in words.about_picture(found.findings)


def test_a_column_that_hardly_varies_is_not_called_constant():
    """It separates the classes, which the others do not: what is proved is said to be about the others."""
    inputs = np.array([[1.0, 0.0], [1.0, 1.0], [1.0 + 2e-13, 0.0], [1.0 + 2e-13, 1.0]])
    portrait = portrait_of(inputs, list("aabb"))
    assert (portrait.preparation.constant_columns, portrait.preparation.negligible_columns) == ((), (1,))
    assert portrait.separable is False
    assert "is about the other columns" in about_preparation(portrait.preparation)[0]
    with pytest.raises(DataError, match="no column varies by more than a trillionth"):
        portrait_of(inputs[:, :1], list("aabb"))


def test_equal_points_of_two_classes_are_the_whole_proof():
    """Of three classes, each is with or against one of the pair."""
    inputs = np.array([[0.0, 0.1], [0.7, 0.3], [0.7, 0.3], [1.0, 0.9], [0.2, 0.8], [0.1, 0.9]])
    portrait = portrait_of(inputs, list("aabbcc"))
    assert [each.separable for each in portrait.separability] == [False, False, True]
    for found in portrait.separability[:2]:
        assert (found.witnesses, found.weights, found.margin_limit) == ((2, 3), (0.5, 0.5), 0.0)


def test_classes_a_hair_apart_are_not_called_inseparable():
    """1e-14 apart: float64 cannot exclude a boundary, and the sentence says how narrow it would have to be."""
    portrait = portrait_of(np.array([[0.5], [1.0], [1.0 + 1e-14], [2.0]]), list("aabb"))
    found = with_bias_of(portrait)
    assert found.separable is not True
    assert 1e-14 / 4 < (found.margin_limit or 0) < 1e-11
    (short, *_) = in_short(toy_certificate().findings.model_copy(update={"portrait": portrait}))
    assert "by a margin above" in short or "beyond the precision" in short
    assert "must err" not in short


@pytest.mark.parametrize("labels", ["aabb", "abcabc"])
def test_numbers_that_no_search_can_handle_are_not_decided(labels):
    """Beside 1e99, 1e-99 vanishes when it is squared."""
    inputs = np.arange(2.0 * len(labels)).reshape(-1, 2) * [1e98, 1e-99] + [1e97, 1e-99]
    portrait = portrait_of(inputs, list(labels), Scaling.BALL)
    answers = [each.separable for each in portrait.separability if not each.through_origin]
    assert answers == [None] * (1 if labels == "aabb" else 3)
    findings = toy_certificate().findings.model_copy(update={"portrait": portrait})
    said = [*words.about_data(portrait), *in_short(findings)]
    assert not any(word in each for each in said for word in ("proved", "too many", "A linear boundary", "No linear"))


@pytest.mark.parametrize(
    ("standing", "said"),
    [(Standing.NOT_HERE, "No theorem limits"), (Standing.UNKNOWN, "No theorem is known to limit")],
)
def test_what_could_not_be_confirmed_is_not_denied(standing, said):
    promise = ListedPromise(id="a.b", about="", topic=Topic.TEST_ERROR, standing=standing, words="Few.", remark="")
    portrait = portrait_of(np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), list("abba"))
    findings = toy_certificate().findings.model_copy(update={"promises": (promise,), "portrait": portrait})
    assert about_new_points(findings).startswith(said)
    assert in_short(findings)[1].startswith("No theorem that was evaluated promises") is (standing is Standing.NOT_HERE)


@pytest.mark.parametrize("name", ["id", "Index", "Unnamed: 0", ""])
def test_a_first_column_that_counts_the_rows_is_left_out_under_these_names(tmp_path, name):
    rows = "".join(f"{row},{row % 3}.5,{'ab'[row > 3]}\n" for row in range(8))
    (tmp_path / "a.csv").write_text(f"{name},size,kind\n{rows}")
    table = read(tmp_path / "a.csv")
    assert (table.columns, table.reading.index_column) == (("size",), name)
    assert about_reading(table.reading) == [
        f"The first column ({name or 'without a name'}) only counts the rows and was left out."
    ]
    (tmp_path / "b.csv").write_text(f"number,size,kind\n{rows}")
    assert read(tmp_path / "b.csv").columns == ("number", "size")


def test_where_nothing_was_evaluated_nothing_is_said_of_theorems():
    spent = wn.certify(np.array([[1.0, 0.0], [-1.0, 0.5], [0.3, 0.1]]), ["a", "b", "a"], runs=3, time=1e-6)
    count = len(papers.claim_ids())
    said = [*in_short(spent.findings), about_no_promise(spent.findings), spent.to_html(), repr(spent)]
    assert not any("No theorem" in sentence for sentence in said)
    assert f"time ran out before any of the {count} statements could be evaluated" in said[1]
    assert headlines(spent.findings)[2] == ("?", "no statement was evaluated")


@pytest.mark.parametrize(
    ("late", "said"),
    [
        (0, "No theorem limits the errors on new points here."),
        (1, "is not known: time ran out before 1 of 2 statements could be evaluated, and the others promise nothing"),
        (2, "is not known: time ran out before any of the 2 statements could be evaluated."),
    ],
)
def test_errors_on_new_points_are_not_known_while_a_statement_about_them_is_open(late, said):
    meaning = Meaning(topic=Topic.TEST_ERROR, promise="At most {promised} errors.")
    rows = tuple(
        ClaimRow(id=f"toy2020.theorem_{place}", kind=Kind.MAIN, where="", statement="", meaning=meaning,
            not_applicable="It does not apply.", is_open=place < late)
        for place in range(2)
    )  # fmt: skip
    other = ClaimRow(id="toy2020.lemma_1", kind=Kind.STEP, where="", statement="", not_applicable="It does not apply.")
    findings = toy_certificate().findings.model_copy(
        update={"rows": (*rows, other), "promises": (), "unasked": late, "study": None}
    )
    assert said in about_new_points(findings)
    if late:
        assert (
            f"{late} of 3 statements {'was' if late == 1 else 'were'} not evaluated, for lack of time."
            in (in_short(findings)[1])
        )
        assert "not evaluated" in about_no_promise(findings)


def test_every_fact_of_the_data_is_in_the_json():
    facts = toy_certificate().to_dict()
    assert {"reading", "preparation", "separability", "norms", "duplicates"} <= facts["portrait"].keys()
    assert facts["portrait"]["preparation"]["factor"] > 0
    assert facts["has_boundary"] is (toy_certificate().plane.boundary is not None)
    assert preparation.MOST_POINTS == 20_000
