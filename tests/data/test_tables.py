"""A reader's own file as a data set, read as certificates read it."""

import re

import numpy as np
import pytest

from widenet.certificates.reading import read
from widenet.data import archives, load_csv, load_file, load_npz
from widenet.errors import DataError


@pytest.mark.parametrize(
    "text",
    [
        "1,2,1\n3,4,-1\n",
        "a,b,c\n1,2,1\n3,4,-1\n",
        "a,label,b\n1,1,2\n3,-1,4\n",
        "Y,a,b\r\n1,1,2\r\n\r\n-1,3,4\r\n",
        "\ufeffy, a, b\n 1, 1, 2\n-1, 3, 4",
    ],
)
def test_tables_in_all_their_shapes(tmp_path, text):
    path = tmp_path / "points.csv"
    path.write_text(text, encoding="utf-8")
    data = load_file(path)
    np.testing.assert_array_equal(data.inputs, [[1, 2], [3, 4]])
    np.testing.assert_array_equal(data.labels, [1, -1])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "points.csv is empty"),
        ("\n \n", "points.csv is empty"),
        ("a,b\n", "points.csv has a header and no points"),
        ("1\n-1\n", "points.csv has one column"),
        ("1,2,1\n3,-1\n", "points.csv, line 2 has 2 columns and the first line 3"),
        (
            "a,b,y\n1,2,1\n3,cat,-1\n",
            "points.csv, line 3, column 2 (b) is 'cat'; every cell but the label",
        ),
        ("1,2,1\n3,,-1\n", "points.csv, line 2, column 2 is empty; every cell but the label must be"),
        (
            "1,2,1\n3,nan,-1\n",
            "points.csv, line 2, column 2 is 'nan'; every cell but the label must be",
        ),
        (
            "1,NA,1\n-1,-1,-1\n",
            "points.csv, line 1, column 2 is 'NA'; every cell but the label must be",
        ),
        ("y,a,label\n1,2,1\n", "points.csv has columns 'y' and 'label'; say which is the label"),
        (
            "colour,a,b\n1,2,3\n-1,0,4\n",
            "points.csv, with the labels in b (label= chooses another column): ",
        ),
        (
            "1,2,a\n3,4,b\n",
            "with the labels in column 3 (label= chooses another column): the label of row 1 is 'a', not a",
        ),
        ("1,2,1\n3,4,\n", "the label of row 2 is empty, not a number; write -1 and +1, or ask widenet.certify"),
        ("1 2 1\n", "points.csv has one column (its first line has ' ' in it)"),
        ("1,2,0\n3,4,1\n", "map 0 to -1 with 2*labels - 1"),
        ("1,2,1\n3,4,1\n", "every label is +1"),
    ],
)
def test_bad_tables_get_one_sentence(tmp_path, text, sentence):
    path = tmp_path / "points.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=re.escape(sentence)) as error:
        load_csv(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"\xff\xfe1\x00", "points.csv is text in UTF-16, not text in UTF-8; save the table as CSV in UTF-8."),
        (b"1,2,1\n3,\xe9,-1\n", "points.csv, line 2 is not text in UTF-8"),
        (b"1,2,1\n3,\0,-1\n", "points.csv, line 2 holds a NUL byte"),
        (b"1" * 2**20 + b",1\n", "points.csv, line 1 is longer than a million characters"),
        (b'1,"2,1\n3,4,-1\n', "points.csv is not a table of text: unexpected end of data"),
        (b"1,5;2;1\n3;4;-1\n", "points.csv has decimal commas, such as '1,5' in its first line"),
        (b"\x1f\x8b\x08", "points.csv is compressed by gzip, not text in UTF-8; unpack it first."),
        (b"1_000,2,1\n3,4,-1\n", "points.csv, line 1, column 1 is '1_000'"),
    ],
)
def test_what_is_no_table_is_refused_as_certificates_refuse_it(tmp_path, content, sentence):
    path = tmp_path / "points.csv"
    path.write_bytes(content)
    for reader in (load_csv, load_file, read):
        with pytest.raises(DataError, match=re.escape(sentence)):
            reader(path)


@pytest.mark.parametrize(("suffix", "separator"), [("csv", ","), ("csv", ";"), ("tsv", "\t"), ("txt", ",")])
def test_certificates_read_the_same_points(tmp_path, suffix, separator):
    path = tmp_path / f"points.{suffix}"
    path.write_text(
        "\n".join(separator.join(row) for row in (("a", "class", "b"), ("1", "-1", "2"), ("3", "1.0", "4")))
    )
    data, table = load_file(path), read(path)
    np.testing.assert_array_equal(data.inputs, table.inputs)
    np.testing.assert_array_equal(data.labels, table.signs)
    assert data.inputs.tolist() == [[1, 2], [3, 4]]


def test_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    import pandas as pd

    path = tmp_path / "points.parquet"
    pd.DataFrame({"label": [1, -1], "a": [0.5, 2.0]}).to_parquet(path)
    assert load_file(path).inputs.tolist() == [[0.5], [2.0]]
    assert load_file(path).labels.tolist() == [1, -1]


def test_archives(tmp_path):
    path = tmp_path / "points.npz"
    np.savez(path, inputs=np.arange(6.0).reshape(3, 2), labels=np.array([1, -1, 1]))
    np.testing.assert_array_equal(load_file(path).inputs, [[0, 1], [2, 3], [4, 5]])


def test_an_archive_without_the_names_says_what_it_holds(tmp_path):
    path = tmp_path / "points.npz"
    np.savez(path, X=np.zeros((2, 2)), labels=np.array([1, -1]))
    with pytest.raises(DataError, match=r"no arrays named inputs and labels \(it holds X, labels\)"):
        load_npz(path)


def test_pickled_objects_are_never_loaded(tmp_path):
    path = tmp_path / "points.npz"
    np.savez(path, inputs=np.array([[1, "a"], [None, {}]], dtype=object), labels=np.array([1, -1]))
    with pytest.raises(DataError, match="holds pickled Python objects, which are not read"):
        load_npz(path)


def test_a_damaged_archive_is_refused(tmp_path):
    path = tmp_path / "points.npz"
    path.write_bytes(b"PK\x03\x04 and then nothing")
    with pytest.raises(DataError, match="cannot be read as an archive of arrays"):
        load_npz(path)


def test_large_files_are_refused_before_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MAX_BYTES", 2**20)
    path = tmp_path / "points.csv"
    path.write_text("1,1\n" * 2**19)
    with pytest.raises(DataError, match="has 2 MiB, more than the 1 MiB"):
        load_csv(path)
    packed = tmp_path / "points.npz"
    np.savez_compressed(packed, inputs=np.zeros((2**18, 1)), labels=np.ones(4))
    assert packed.stat().st_size < 2**20
    with pytest.raises(DataError, match=r"points.npz, unpacked, has 2 MiB"):
        load_npz(packed)


def test_a_missing_file_is_named():
    with pytest.raises(DataError, match=r"there is no file 'nowhere.csv'"):
        load_file("nowhere.csv")


def test_an_unknown_suffix_is_named(tmp_path):
    with pytest.raises(DataError, match=r"suffix '.xlsx'; save the sheet as CSV"):
        load_file(tmp_path / "points.xlsx")


def test_the_label_column_may_be_named(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("colour,a,b\n1,2,3\n-1,0,4\n")
    for data in (load_csv(path, label="colour"), load_csv(path, label=1), load_file(path, label="1")):
        np.testing.assert_array_equal(data.labels, [1, -1])
        np.testing.assert_array_equal(data.inputs, [[2, 3], [0, 4]])
    with pytest.raises(DataError, match="no column 'target'; it has colour, a, b"):
        load_csv(path, label="target")


def test_numbers_may_name_columns_beside_the_label(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("0,1,label\n2,3,1\n0,4,-1\n")
    assert load_csv(path).inputs.shape == (2, 2)


def test_a_folder_is_called_one(tmp_path):
    with pytest.raises(DataError, match="is a folder; name a file in it"):
        load_csv(tmp_path)


def test_one_array_alone_is_no_data_set(tmp_path):
    path = tmp_path / "points.npy"
    np.save(path, np.zeros((2, 2)))
    with pytest.raises(DataError, match=r"points.npy holds one array; read it with numpy.load"):
        load_file(path)


def test_arrays_have_no_column_of_labels(tmp_path):
    path = tmp_path / "points.npz"
    np.savez(path, inputs=np.eye(2), labels=np.array([1, -1]))
    with pytest.raises(DataError, match=r"the label 'y' names a column, and points.npz has none"):
        load_file(path, label="y")
