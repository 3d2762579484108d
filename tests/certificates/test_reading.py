"""What a reader gives becomes one table, or one sentence."""

import os
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from widenet.certificates import files
from widenet.certificates.reading import read
from widenet.errors import DataError

FLOWERS = "length,width,kind\n1.4,0.2,rose\n1.5,0.1,rose\n4.7,1.4,lily\n4.9,1.8,lily\n"


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_table_with_labels_in_words(tmp_path):
    table = read(write(tmp_path, "flowers.csv", FLOWERS))
    assert table.inputs.tolist() == [[1.4, 0.2], [1.5, 0.1], [4.7, 1.4], [4.9, 1.8]]
    assert table.class_names == ("lily", "rose")
    assert table.signs.tolist() == [1, 1, -1, -1]
    assert (table.columns, table.label, table.source) == (("length", "width"), "kind", "flowers.csv")


def test_tabs_and_a_byte_order_mark(tmp_path):
    table = read(write(tmp_path, "flowers.tsv", "\ufeff" + FLOWERS.replace(",", "\t")))
    assert table.columns == ("length", "width")
    assert table.class_names == ("lily", "rose")


def test_semicolons_and_a_byte_order_mark(tmp_path):
    table = read(write(tmp_path, "flowers.csv", "\ufeff" + FLOWERS.replace(",", ";")))
    assert table.columns == ("length", "width")
    assert table.inputs.tolist() == [[1.4, 0.2], [1.5, 0.1], [4.7, 1.4], [4.9, 1.8]]


@pytest.mark.parametrize("label", ["kind", "3", None])
def test_the_label_is_chosen_by_name_or_number_or_is_the_last(tmp_path, label):
    assert read(write(tmp_path, "flowers.csv", FLOWERS), label=label).label == "kind"


def test_a_known_name_comes_before_the_last_column(tmp_path):
    table = read(write(tmp_path, "a.csv", "y,size\n0,1.5\n1,2.5\n0,3.5\n"))
    assert table.inputs.ravel().tolist() == [1.5, 2.5, 3.5]
    assert table.class_names == ("0", "1")


def test_numbers_written_in_several_ways_are_one_class(tmp_path):
    table = read(write(tmp_path, "a.csv", "1,+1\n2,1.0\n3,-1\n4, -1.0\n"))
    assert table.class_names == ("-1", "1")
    assert table.signs.tolist() == [1, 1, -1, -1]


def test_a_column_that_counts_the_rows_is_left_out(tmp_path):
    rows = "".join(f"{row},{row % 3}.5,{'ab'[row > 3]}\n" for row in range(8))
    table = read(write(tmp_path, "a.csv", ",size,kind\n" + rows))
    assert table.columns == ("size",)
    assert "counts the rows" in table.notes[0]


def test_archives_pairs_and_images(tmp_path):
    images, digits = np.arange(24.0).reshape(4, 2, 3), np.array([3, 5, 3, 5])
    np.savez(tmp_path / "a.npz", X=images, y=digits)
    np.save(tmp_path / "i.npy", np.asfortranarray(images.reshape(4, 6)))
    np.save(tmp_path / "l.npy", np.array(["u", "v", "u", "v"]))
    archive, pair = read(tmp_path / "a.npz"), read(tmp_path / "i.npy", tmp_path / "l.npy")
    assert archive.inputs.tolist() == pair.inputs.tolist() == images.reshape(4, 6).tolist()
    assert archive.class_names == ("3", "5")
    assert pair.class_names == ("u", "v")
    assert "2 × 3" in archive.notes[0]


def test_arrays_frames_and_data_sets():
    from widenet.data import from_arrays

    inputs = [[1.0, 2.0], [3.0, 4.0]]
    frame = pd.DataFrame(inputs, columns=["a", "b"])
    for table in (
        read(inputs, [1, -1]),
        read((np.array(inputs), np.array([1, -1]))),
        read(frame, pd.Series([1, -1], name="sign")),
        read(frame.assign(sign=[1, -1]), label="sign"),
        read(from_arrays(inputs, [1, -1])),
    ):
        assert table.inputs.tolist() == inputs
        assert table.signs.tolist() == [1, -1]


ZERO = np.zeros(3)
HOSTILE = {
    "ragged.csv": ("1,2,a\n3,b\n", "line 2 has 2 columns and the first line 3"),
    "nan.csv": ("1,nan,a\n3,4,b\n", "line 1, column 2 is 'nan'"),
    "inf.csv": ("x,y\ninf,a\n4,b\n", r"line 2, column 1 \(x\) is 'inf'"),
    "empty_cell.csv": ("x,z,y\n1,,a\n4,2,b\n", r"column 2 \(z\) is empty"),
    "date.csv": ("when,y\n2021-03-04,a\n2021-03-05,b\n", r"\(when\) is '2021-03-04'"),
    "words.csv": ("x,colour,y\n1,red,a\n2,blue,b\n", r"\(colour\) is 'red'"),
    "underscores.csv": ("x,y\n1_0,a\n2,b\n", "'1_0'"),
    "large.csv": ("1e308,a\n2,b\n", "above 1e\\+100"),
    "overflow.csv": ("1e999,a\n2,b\n", "'1e999'"),
    "subnormal.csv": ("5e-324,a\n2,b\n", "below 1e-100"),
    "one_row.csv": ("1,2,a\n", "at least two classes"),
    "one_class.csv": ("1,a\n2,a\n", "every label .* is 'a'"),
    "regression.csv": ("".join(f"{n},{n * 1.37}\n" for n in range(40)), "does not name classes"),
    "missing_label.csv": ("1,a\n2,\n3,b\n", "row 2 is missing"),
    "one_column.csv": ("1\ta\n2\tb\n", "one column .its first line has"),
    "header_only.csv": ("a,b,c\n", "a header and no points"),
    "blank.csv": ("\n\n  \n", "is empty"),
    "nothing.csv": ("", "is empty"),
    "two_labels.csv": ("y,label,x\n1,2,3\n4,5,6\n", "say which is the label"),
    "million_columns.csv": (",".join(["1"] * 1_000_000) + ",a\n", "longer than a million characters"),
    "many_columns.csv": (",".join(["1"] * 20_000) + ",a\n", "20,001 columns"),
    "binary.csv": (b"\xff\xfe\x00\x01,1\n", "not a text file"),
    "nul.csv": (b"1,a\n2\x00,b\n", "NUL byte"),
    "quote.csv": ('1,"a\n' + "2,b\n" * 60_000, "not a table of text"),
    "what.xyz": ("1,2\n", "suffix '.xyz'"),
    "no_archive.npz": ("1,2\n", "cannot be read as an archive"),
    "no_array.npy": ("1,2\n", "cannot be read as an array"),
    "table.parquet": ("1,2\n", "pyarrow|cannot be read as Parquet"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_one_sentence(tmp_path, name):
    content, message = HOSTILE[name]
    path = write(tmp_path, name, content)
    with pytest.raises(DataError, match=message) as refusal:
        read(path, path if name.endswith(".npy") else None)
    assert "\n" not in str(refusal.value)


def test_archives_that_lie(tmp_path):
    np.savez(tmp_path / "other.npz", a=ZERO)
    np.savez(tmp_path / "objects.npz", X=np.array([{}, {}]), y=ZERO)
    np.save(tmp_path / "objects.npy", np.array([{}, {}]))
    header = np.lib.format.magic(1, 0) + (118).to_bytes(2, "little")
    promise = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 9), }".ljust(117) + b"\n"
    write(tmp_path, "promise.npy", header + promise)
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("X.npy", "w") as member:
            for _ in range(files.MAX_BYTES // 2**20 + 1):
                member.write(bytes(2**20))
        archive.writestr("y.npy", b"")
    for name, message in (
        ("other.npz", "no arrays named inputs and labels .it holds a"),
        ("objects.npz", "pickled Python objects"),
        ("objects.npy", "pickled Python objects"),
        ("promise.npy", "cut off"),
        ("bomb.npz", "unpacked, has 257 MiB"),
    ):
        with pytest.raises(DataError, match=message):
            read(tmp_path / name, tmp_path / name if name.endswith("npy") else None)


def test_what_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "folder.csv").mkdir()
    with (tmp_path / "large.csv").open("wb") as file:
        file.truncate(3 * 2**30)
    for name, message in (
        ("pipe.csv", "a pipe or a device"),
        ("folder.csv", "is a folder"),
        (".", "is a folder"),
        ("none.csv", "there is no file"),
        ("large.csv", "3,072 MiB"),
        ("nul\0.csv", "cannot be read"),
        ("x" * 5000 + ".csv", "cannot be read"),
    ):
        with pytest.raises(DataError, match=message):
            read(tmp_path / name)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_file_that_may_not_be_read(tmp_path):
    path = write(tmp_path, "a.csv", FLOWERS)
    path.chmod(0)
    with pytest.raises(DataError, match="permission denied"):
        read(path)


@pytest.mark.parametrize(
    ("inputs", "labels", "message"),
    [
        ([[1.0]], None, "no labels"),
        ([[1.0], [2.0, 3.0]], [1, 2], "rectangular"),
        ([[1j], [2.0]], [1, 2], "complex"),
        (np.array(["2021-01-01", "2021-01-02"], "datetime64[D]")[:, None], [1, 2], "datetime64"),
        ([["a"], ["b"]], [1, 2], "rectangular array of numbers"),
        ([1.0, 2.0], [1, 2], "two axes"),
        (np.zeros((0, 3)), [], "two axes"),
        ([[1.0], [2.0]], [1, 2, 3], "2 inputs and 3 labels"),
        ([[1.0], [2.0]], [[1, 2], [3, 4]], "one axis"),
        ([[1.0], [2.0]], [1, np.nan], "row 2 is nan"),
        ([[1.0], [np.inf]], [1, 2], "row 2, coordinate 1 is inf"),
        (pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}), None, "'a' holds"),
        (pd.DataFrame({"b": [1, 2]}), None, "fewer than two columns"),
    ],
)
def test_arrays_that_cannot_be_used(inputs, labels, message):
    with pytest.raises(DataError, match=message):
        read(inputs, labels)


def test_what_belongs_to_other_files_is_refused(tmp_path):
    table = write(tmp_path, "a.csv", FLOWERS)
    np.save(tmp_path / "a.npy", ZERO)
    for given, message in (
        ((table, table), "a second file is for a pair"),
        ((tmp_path / "a.npy", None), "name the .npy file of the labels"),
        ((tmp_path / "a.npy", table), "should be the .npy file"),
    ):
        with pytest.raises(DataError, match=message):
            read(*given)
    with pytest.raises(DataError, match="no column 'kin'; it has length, width, kind"):
        read(table, label="kin")
