"""Tables that are not plain numbers, and what is chosen for them."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from widenet.certificates.preparation_words import about_reading
from widenet.certificates.reading import read
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
        "1 column (rare) is mostly missing and left out.", "2 rows with missing values were left out."
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


@pytest.mark.parametrize(
    ("columns", "drop", "said"),
    [
        ({"name": [f"n{place}" for place in range(ROWS)] }, [], "every cell but the label must be a finite number"),
        ({"x": [*NUMBERS[:-1], "oops"]}, [], "is 'oops'"),
        ({"x": NUMBERS}, ["colour"], "has no column 'colour' to drop; it has x, y"),
        ({"x": NUMBERS}, ["y"], "'y' has the labels; drop another one"),
        ({"x": [""] * ROWS}, ["x"], "no column of numbers"),
    ],
)  # fmt: skip
def test_what_no_choice_mends_is_refused(tmp_path, columns, drop, said):
    with pytest.raises(DataError, match=said):
        read(table(tmp_path, columns), drop=drop)


def test_arrays_have_no_columns_to_drop():
    with pytest.raises(DataError, match="arrays have none"):
        read([[1.0], [2.0]], [0, 1], drop=["x"])


def test_the_command_drops_columns(tmp_path):
    path = table(tmp_path, {"name": [f"n{place}" for place in range(ROWS)], "x": NUMBERS})
    arguments = ["certify", path, "--drop", "name", "--time", 1e-6, "--out", tmp_path / "out"]
    done = CliRunner().invoke(app, list(map(str, arguments)), prog_name="widenet")
    assert done.exit_code == 0, done.output
    assert "Dropped as you asked: name." in done.stdout
