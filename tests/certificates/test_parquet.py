"""Tables of Parquet, where pyarrow is installed; and what is said where it is not."""

import builtins
import re

import numpy as np
import pandas as pd
import pytest

from widenet.certificates.reading import read
from widenet.errors import DataError

FLOWERS = pd.DataFrame(
    {"length": [1.4, 1.5, 4.7, 4.9], "petals": [5, 5, 6, 6], "fresh": [True, False, True, True], "kind": list("rrll")}
)


def test_without_pyarrow_the_sentence_names_it(tmp_path, monkeypatch):
    imported = builtins.__import__

    def without(name, *others, **named):
        if name.partition(".")[0] == "pyarrow":
            raise ImportError(name)
        return imported(name, *others, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    (tmp_path / "flowers.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError) as refusal:
        read(tmp_path / "flowers.parquet")
    assert str(refusal.value) == (
        "flowers.parquet needs pyarrow to be read; install it with 'pip install pyarrow', or save it as CSV."
    )


@pytest.fixture
def arrow():
    return pytest.importorskip("pyarrow", reason="an optional dependency")


@pytest.mark.parametrize("label", [None, "kind", "4"])
def test_a_table(tmp_path, arrow, label):
    FLOWERS.to_parquet(tmp_path / "flowers.parquet")
    table = read(tmp_path / "flowers.parquet", label=label)
    assert table.inputs.tolist() == [[1.4, 5, 1], [1.5, 5, 0], [4.7, 6, 1], [4.9, 6, 1]]
    assert (table.columns, table.label, table.source) == (("length", "petals", "fresh"), "kind", "flowers.parquet")
    assert table.class_names == ("l", "r")
    assert table.signs.tolist() == [1, 1, -1, -1]


def test_numbers_of_every_type(tmp_path, arrow):
    import decimal

    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {
        "half": arrow.array(np.array([1, 2], np.float16)),
        "small": arrow.array([1, 2], arrow.int8()),
        "large": arrow.array([1, 2**40], arrow.uint64()),
        "exact": arrow.array([decimal.Decimal("1.50"), decimal.Decimal("2.25")]),
        "y": arrow.array([0, 1], arrow.int64()),
    }
    parquet.write_table(arrow.table(columns), tmp_path / "a.pq")
    table = read(tmp_path / "a.pq")
    assert table.inputs.tolist() == [[1, 1, 1, 1.5], [2, 2, 2**40, 2.25]]
    assert table.class_names == ("0", "1")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"when": pd.to_datetime(["2021-03-04"] * 4)}, r"column 'when' holds timestamp\[.s\], not numbers"),
        ({"colour": ["red"] * 4}, "column 'colour' holds .*string, not numbers"),
        ({"length": [1.0, None, 2.0, 3.0]}, r"row 2, coordinate 1 \(length\) is nan"),
        ({"petals": [1e300, 1.0, 2.0, 3.0]}, r"row 1, coordinate 2 \(petals\) is 1e\+300, above"),
        ({"kind": ["r", None, "l", "l"]}, r"the label \(kind\) of row 2 is missing"),
        ({"lists": [[1], [2], [3], [4]]}, "column 'lists' holds list.*, not numbers"),
        ({"y": [1, 2, 1, 2], "label": [1, 2, 1, 2]}, "columns 'y' and 'label'"),
    ],
)
def test_tables_that_cannot_be_used(tmp_path, arrow, changes, message):
    label = None if "y" in changes else "kind"
    FLOWERS.assign(**changes).to_parquet(tmp_path / "flowers.parquet")
    with pytest.raises(DataError, match=message) as refusal:
        read(tmp_path / "flowers.parquet", label=label)
    assert "\n" not in str(refusal.value)


def test_files_that_are_damaged(tmp_path, arrow):
    path = tmp_path / "flowers.parquet"
    FLOWERS.to_parquet(path)
    whole = path.read_bytes()
    for content in (b"PAR1", b"PAR1PAR1", whole[:-8], whole[: len(whole) // 2], whole[:40] + bytes(40) + whole[80:]):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"cannot be read as Parquet|row \d") as refusal:
            read(path)
        assert re.fullmatch(r"[^\n]*\.", str(refusal.value))


def test_long_labels_take_the_room_of_one(tmp_path, arrow):
    """Half a million labels of 2000 letters each would be a gigabyte."""
    parquet = pytest.importorskip("pyarrow.parquet")
    names = arrow.DictionaryArray.from_arrays(np.arange(500_000) % 2, ["a" * 2000, "b" * 2000])
    inputs = arrow.array(np.arange(500_000.0) % 7)
    parquet.write_table(arrow.table({"x": inputs, "y": names}), tmp_path / "a.parquet")
    assert (tmp_path / "a.parquet").stat().st_size < 2**20
    table = read(tmp_path / "a.parquet")
    assert len(table.inputs) == 500_000
    assert [len(name) for name in table.class_names] == [40, 40]
