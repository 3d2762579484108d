"""Tables that are not plain numbers, and what is chosen for them."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import widenet as wn
from tests.packages import EMPTY
from widenet import papers
from widenet.certificates.data_forms import views_of
from widenet.certificates.portrait import portray
from widenet.certificates.preparation import Scaling, prepare
from widenet.certificates.preparation_words import about_preparation, about_reading
from widenet.certificates.reading import read
from widenet.claims.user_data import Choices
from widenet.cli import app
from widenet.errors import DataError

ROWS = 12


def table(tmp_path, columns: dict[str, list], separator: str = ",", encoding: str = "utf-8"):
    path = tmp_path / "a.csv"
    columns = {**columns, "y": ["a", "b"] * (ROWS // 2)}
    lines = [separator.join(columns), *(separator.join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_bytes("\n".join(lines).encode(encoding))
    return path


NUMBERS = [f"{place}.5" for place in range(ROWS)]
DAYS = [f"2021-03-{1 + place:02}" for place in range(ROWS)]
COLOURS = ["red", "green", "blue"] * 4


def test_words_become_columns_of_zero_and_one(tmp_path):
    found = read(table(tmp_path, {"x": NUMBERS, "colour": COLOURS}))
    assert found.columns == ("x", "colour=blue", "colour=green", "colour=red")
    assert found.inputs[:3, 1:].tolist() == [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    assert "Each of the 3 words of colour became a column of 0 and 1." in about_reading(found.reading)


def test_dates_become_days(tmp_path):
    found = read(table(tmp_path, {"when": DAYS, "x": NUMBERS}))
    assert np.diff(found.inputs[:, 0]).tolist() == [1.0] * (ROWS - 1)
    assert found.reading.chosen == ("The dates of when were read as days.",)


def test_rows_with_missing_values_are_left_out_and_columns_that_mostly_miss(tmp_path):
    sparse = ["1", "2"] + [""] * (ROWS - 2)
    found = read(table(tmp_path, {"x": ["", *NUMBERS[1:-1], "NA"], "z": NUMBERS, "rare": sparse}))
    assert found.columns == ("x", "z")
    np.testing.assert_array_equal(found.inputs[:, 1], np.arange(1, ROWS - 1) + 0.5)
    assert found.reading.chosen == (
        "1 column (rare) is mostly missing and left out.", "2 rows with missing values were left out: "
        "1 of 6 a, 1 of 6 b. Most are missing in x (2).",
    )  # fmt: skip


def test_decimal_commas_and_latin_1(tmp_path):
    commas = [number.replace(".", ",") for number in NUMBERS]
    found = read(table(tmp_path, {"größe": commas}, ";", "latin-1"))
    assert found.columns == ("größe",)
    assert found.inputs[:, 0].tolist() == [float(number) for number in NUMBERS]
    assert found.reading.chosen[0] == "The file is not UTF-8 and was read as Latin-1."
    assert "The decimal commas of größe were read as points." in found.reading.chosen


def test_columns_are_dropped_by_name_and_number(tmp_path):
    path = table(tmp_path, {"name": [f"n{place}" for place in range(ROWS)], "x": NUMBERS, "z": NUMBERS})
    for drop in (["name", "z"], ["1", 3], "name"):
        found = read(path, drop=drop)
        assert found.columns == (("x", "z") if drop == "name" else ("x",))
    assert about_reading(read(path, drop=["name"]).reading) == ["Dropped as you asked: name."]
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["u", "v", "w"], "y": [0, 1, 0]})
    assert read(frame, drop=["b"]).columns == ("a",)


def frame(**columns):
    return pd.DataFrame({**columns, "y": ["a", "b"] * (ROWS // 2)})


MISSING_X = [np.nan, *map(float, NUMBERS[1:])]


def mixed():
    """A column of every kind; something is missing in rows 0, 2, 3 and 5."""
    days = pd.Series(pd.to_datetime(DAYS))
    return frame(
        x=MISSING_X,
        whole=pd.array([1, 2, 3, None, *range(ROWS - 4)], "Int64"),
        fresh=[True, False, True] * 4,
        colour=pd.Series(["red", "green", None, *["red", "green", "red"] * 3], dtype="string"),
        kind=pd.Categorical(["1", "2", "3"] * 4),
        when=days.where(days.index != 5),
        zoned=days.dt.tz_localize("Europe/Berlin"),
        rare=[1.0, *[None] * (ROWS - 1)],
    )


def read_as(kind, given, tmp_path, **choices):
    """The frame as it is, or by way of a file."""
    if kind == "frame":
        return read(given, **choices)
    pytest.importorskip("pyarrow", reason="an optional dependency")
    given.to_parquet(tmp_path / "a.parquet")
    return read(tmp_path / "a.parquet", **choices)


@pytest.mark.parametrize("kind", ["frame", "parquet"])
def test_frames_and_parquet_get_the_usual_choices(tmp_path, kind):
    found = read_as(kind, mixed(), tmp_path)
    rows = [row for row in range(ROWS) if row not in (0, 2, 3, 5)]
    assert found.columns == (
        "x", "whole", "fresh", "colour=red", "kind=1", "kind=2", "kind=3", "when", "zoned"
    )  # fmt: skip
    named = dict(zip(found.columns, found.inputs.T, strict=True))
    assert named["x"].tolist() == [row + 0.5 for row in rows]
    assert named["whole"].tolist() == [2.0, *(row - 4.0 for row in rows[1:])]
    assert named["fresh"].tolist() == [row % 3 != 1 for row in rows]
    assert named["colour=red"].tolist() == [row % 3 != 1 for row in rows]
    for each in (1, 2, 3):
        assert named[f"kind={each}"].tolist() == [row % 3 == each - 1 for row in rows]
    start = (pd.Timestamp(DAYS[0]) - pd.Timestamp("2000-01-01")).days
    assert named["when"].tolist() == [start + row for row in rows]
    assert named["zoned"] == pytest.approx([start + row - 1 / 24 for row in rows], abs=1e-9)  # midnight in Berlin
    assert [found.class_names[number] for number in found.classes] == ["ab"[row % 2] for row in rows]
    assert about_reading(found.reading) == [
        "The 2 words of colour became one column of 0 and 1 (1: red).",
        "Each of the 3 words of kind became a column of 0 and 1.",
        "The dates of when were read as days.",
        "The dates of zoned were read as days.",
        "1 column (rare) is mostly missing and left out.",
        "4 rows with missing values were left out: 2 of 6 a, 2 of 6 b. Most are missing in x (1), whole (1), "
        "colour (1), when (1).",
    ]


@pytest.mark.parametrize("kind", ["frame", "parquet"])
def test_a_frame_reads_as_the_same_table_of_text(tmp_path, kind):
    given = frame(x=MISSING_X, colour=COLOURS, when=DAYS)
    given.to_csv(tmp_path / "a.csv", index=False)
    as_text, found = read(tmp_path / "a.csv"), read_as(kind, given, tmp_path)
    np.testing.assert_array_equal(found.inputs, as_text.inputs)
    np.testing.assert_array_equal(found.classes, as_text.classes)
    assert (found.columns, found.reading) == (as_text.columns, as_text.reading)
    assert len(found.reading.chosen) == 3


@pytest.mark.parametrize("kind", ["frame", "parquet"])
def test_rows_without_a_label_are_left_out(tmp_path, kind):
    given = frame(x=[float(each) for each in NUMBERS]).assign(y=[None, *(["+", "-"] * ROWS)[: ROWS - 1]])
    found = read_as(kind, given, tmp_path)
    assert (found.class_names, len(found.inputs)) == (("+", "-"), ROWS - 1)
    assert found.reading.chosen == ("1 row with missing values was left out: 0 of 6 +, 0 of 5 -, 1 without a label.",)


def test_labels_beside_a_frame_that_miss_values_and_labels_of_signs_in_text(tmp_path):
    labels = pd.Series(["+", "-", pd.NA] * 4)
    assert read(pd.DataFrame({"x": MISSING_X}), labels).inputs[:, 0].tolist() == [1.5, 3.5, 4.5, 6.5, 7.5, 9.5, 10.5]
    path = tmp_path / "signs.csv"
    path.write_text("colour,y\n" + "\n".join(f"{each},{sign}" for each, sign in zip(COLOURS, "+-" * 6, strict=True)))
    assert (len(read(path).inputs), read(path).class_names) == (ROWS, ("+", "-"))


@pytest.mark.parametrize("kind", ["frame", "parquet"])
def test_columns_of_frames_are_dropped_before_they_are_refused(tmp_path, kind):
    given = frame(lists=[[1]] * ROWS, x=MISSING_X)
    with pytest.raises(DataError, match=r"column 'lists' holds .*list.*, not numbers"):
        read_as(kind, given, tmp_path)
    for drop in (["lists"], [1]):
        found = read_as(kind, given, tmp_path, drop=drop)
        assert (found.columns, found.reading.dropped, len(found.inputs)) == (("x",), ("lists",), ROWS - 1)
    with pytest.raises(DataError, match="has the labels"):
        read_as(kind, given, tmp_path, drop=["y"])


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"name": [f"n{place}" for place in range(ROWS)]}, r"1 column cannot be used: name \(12 different words\)"),
        ({"x": [1, "2", "oops", *range(ROWS - 3)]}, r"x \(numbers, but 'oops' in row 3, which you could mend\)"),
        ({"x": [np.nan] * 5 + [1.0] * 7, "z": [1.0] * 5 + [np.nan] * 6 + [1.0]}, "missing values in 11 of 12 rows"),
        ({"gone": pd.to_timedelta(range(ROWS), unit="D")}, r"'gone' holds timedelta64.*, not numbers"),
    ],
)
def test_frames_that_no_choice_mends(columns, said):
    with pytest.raises(DataError, match=said):
        read(frame(**columns))


def test_the_choices_for_a_frame_are_said_on_the_screen(monkeypatch):
    monkeypatch.setattr(papers, "PAPERS", (EMPTY,))
    given = frame(x=MISSING_X, colour=COLOURS)
    text = repr(wn.certify(given, runs=2, effort=1e-3, time=1e-6))
    assert "Each of the 3 words of colour became a column of 0 and 1." in " ".join(text.split())


@pytest.mark.parametrize(
    ("columns", "drop", "said"),
    [
        ({"name": [f"n{place}" for place in range(ROWS)] }, [], "name .12 different words.. Leave it out with --drop"),
        ({"x": [*NUMBERS[:-1], "oops"]}, [], "x .numbers, but 'oops' in row 12, which"),
        ({"x": NUMBERS}, ["colour"], "has no column 'colour' to drop; it has x, y"),
        ({"x": NUMBERS}, ["y"], "'y' has the labels; drop another one"),
        ({"x": [""] * ROWS}, ["x"], "no column of numbers"),
    ],
)  # fmt: skip
def test_what_no_choice_mends_is_refused(tmp_path, columns, drop, said):
    with pytest.raises(DataError, match=said):
        read(table(tmp_path, columns), drop=drop)


def test_all_columns_that_cannot_be_used_are_told_together_and_no_other_is_blamed(tmp_path):
    """Dates can be read, and are not what is wrong."""
    odd = [*NUMBERS[:-1], "oops"]
    columns = {"when": DAYS, "the code": [f"n{place}" for place in range(ROWS)], "x": odd, "z": NUMBERS}
    with pytest.raises(DataError) as refusal:
        read(table(tmp_path, columns))
    assert str(refusal.value) == (
        "a.csv: 2 columns cannot be used: the code (12 different words), x (numbers, but 'oops' in row 12, which you "
        "could mend). Leave them out with --drop 'the code' --drop x (in Python drop=['the code', 'x'])."
    )
    with pytest.raises(DataError, match="to drop; repeat --drop: --drop 'the code' --drop x\\."):
        read(table(tmp_path, columns), drop=["the code,x"])
    assert read(table(tmp_path, columns), drop=["the code", "x"]).columns == ("when", "z")


def test_columns_like_ids_are_told_and_kept(tmp_path):
    draw = np.random.default_rng(0)
    numbers, rows = draw.normal(size=30), np.arange(30)
    given = pd.DataFrame({
        "x": numbers, "admission_id": draw.permutation(30) + 1001, "turn": 7 * rows + 3, "n": draw.permutation(30),
        "half_id": numbers + 1, "group_id": rows // 2, "y": ["a", "b"] * 15,
    })  # fmt: skip
    given.loc[4, "x"] = np.nan
    given.to_csv(tmp_path / "a.csv", index=False)
    for found in (read(given), read(tmp_path / "a.csv")):
        assert (found.reading.counting, found.reading.naming) == (("turn",), ("admission_id",))
        assert found.columns == tuple(given.columns[:-1])
        said = about_reading(found.reading)
        assert (
            "admission_id has another whole number in every row, as an id has; leave it out with --drop admission_id."
            in said
        )
        assert any(each.startswith("turn grows by the same step in every row") for each in said)
    assert not read(given, drop=["turn", "admission_id"]).reading.naming
    assert not read(given.iloc[:15]).reading.naming


def test_arrays_have_no_columns_to_drop():
    with pytest.raises(DataError, match="arrays have none"):
        read([[1.0], [2.0]], [0, 1], drop=["x"])


def test_the_command_drops_columns(tmp_path):
    path = table(tmp_path, {"name": [f"n{place}" for place in range(ROWS)], "x": NUMBERS})
    arguments = ["certify", path, "--drop", "name", "--time", 1e-6, "--out", tmp_path / "out"]
    done = CliRunner().invoke(app, list(map(str, arguments)), prog_name="widenet")
    assert done.exit_code == 0, done.output
    assert "Dropped as you asked: name." in done.stdout


def test_a_column_that_counts_rows_is_left_out_where_rows_were_left_out(tmp_path):
    draw = np.random.default_rng(0).normal(size=ROWS)
    values = ["" if place == 4 else f"{value:.3f}" for place, value in enumerate(draw)]
    found = read(table(tmp_path, {"id": list(range(1, ROWS + 1)), "a": values}))
    assert found.columns == ("a",)
    assert found.reading.index_column == "id"


def test_rows_are_numbered_as_they_were_given():
    """Row 1 has a missing value; rows 3 and 8 are equal with other labels, row 10 repeats row 6."""
    draw = np.random.default_rng(1)
    points = draw.normal(size=(40, 2)) + np.repeat([[4.0], [-4.0]], 20, axis=0)
    classes = np.repeat(["a", "b"], 20)
    points[0, 0], points[7], points[9] = np.nan, points[2], points[5]
    classes[7] = "b"
    found = read(pd.DataFrame(points, columns=["x", "z"]), classes)
    assert found.rows.tolist() == list(range(1, 40))
    prepared = prepare(found, Scaling.AUTO)
    portrait = portray(found, prepared)
    assert (portrait.contradictions, portrait.repeats) == (((3, 8),), ((10, 6),))
    (boundary,) = [each for each in portrait.separability if not each.through_origin]
    assert set(boundary.witnesses) == {3, 8}
    assert set(boundary.in_the_way) <= {3, 8}
    assert len(boundary.in_the_way) >= 1
    (view, *_), _ = views_of(found, prepared, portrait, Choices())
    assert view.rows.tolist() == list(range(1, 40))


def test_theorems_get_as_many_points_as_is_said():
    draw = np.random.default_rng(2)
    points = draw.normal(size=(900, 799))
    found = read(points, np.arange(900) % 2)
    prepared = prepare(found, Scaling.AUTO)
    (view, *_), _ = views_of(found, prepared, portray(found, prepared), Choices())
    assert prepared.record.used == view.user_data.data.n_samples == 540_000 // 800
    assert "Theorems get 675 of the 900 points, drawn at random." in " ".join(about_preparation(prepared.record))
