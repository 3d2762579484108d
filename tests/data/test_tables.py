import re

import numpy as np
import pytest

from widenet.data import load_csv, load_file, load_npz, tables
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
        ("a,b,y\n1,2,1\n3,cat,-1\n", "points.csv, line 3, column 2 (b) is 'cat'; every cell must be a finite number."),
        ("1,2,1\n3,,-1\n", "points.csv, line 2, column 2 is empty; every cell must be a finite number."),
        ("1,2,1\n3,nan,-1\n", "points.csv, line 2, column 2 is 'nan'; every cell must be a finite number."),
        ("1,NA,1\n-1,-1,-1\n", "points.csv, line 1, column 2 is 'NA'; every cell must be a finite number."),
        ("y,a,label\n1,2,1\n", "points.csv has columns 'y' and 'label'; say which is the label"),
        ("class,a,b\n1,2,3\n-1,0,4\n", "points.csv, with the label in column 3 (b) (label='NAME' chooses another)"),
        ("1;2;1\n", "points.csv has one column (found ';' in its first line)"),
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


def test_a_binary_file_is_no_table(tmp_path):
    path = tmp_path / "points.csv"
    path.write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(DataError, match="not a text file"):
        load_csv(path)


def test_an_endless_cell_is_no_table(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("1" * 200_000 + ",1\n")
    with pytest.raises(DataError, match="not a CSV table"):
        load_csv(path)


def test_archives(tmp_path):
    path = tmp_path / "points.npz"
    np.savez(path, inputs=np.arange(6.0).reshape(3, 2), labels=np.array([1, -1, 1]))
    np.testing.assert_array_equal(load_file(path).inputs, [[0, 1], [2, 3], [4, 5]])


def test_an_archive_without_the_names_says_what_it_holds(tmp_path):
    path = tmp_path / "points.npz"
    np.savez(path, X=np.zeros((2, 2)), labels=np.array([1, -1]))
    with pytest.raises(DataError, match=r"no array named inputs \(it holds X, labels\)"):
        load_npz(path)


def test_pickled_objects_are_never_loaded(tmp_path):
    path = tmp_path / "points.npz"
    np.savez(path, inputs=np.array([[1, "a"], [None, {}]], dtype=object), labels=np.array([1, -1]))
    with pytest.raises(DataError, match="cannot be read as arrays of numbers"):
        load_npz(path)


def test_a_damaged_archive_is_refused(tmp_path):
    path = tmp_path / "points.npz"
    path.write_bytes(b"PK\x03\x04 and then nothing")
    with pytest.raises(DataError, match="cannot be read as arrays of numbers"):
        load_npz(path)


def test_large_files_are_refused_before_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "MAX_BYTES", 2**20)
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
    with pytest.raises(DataError, match=r"suffix '.xlsx'; use .csv or .npz"):
        load_file(tmp_path / "points.xlsx")


def test_the_label_column_may_be_named(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("class,a,b\n1,2,3\n-1,0,4\n")
    data = load_csv(path, label="class")
    np.testing.assert_array_equal(data.labels, [1, -1])
    np.testing.assert_array_equal(data.inputs, [[2, 3], [0, 4]])
    with pytest.raises(DataError, match="no column 'target'; its first line is class, a, b"):
        load_csv(path, label="target")


def test_numbers_may_name_columns_beside_the_label(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("0,1,label\n2,3,1\n0,4,-1\n")
    assert load_csv(path).inputs.shape == (2, 2)


def test_a_folder_is_called_one(tmp_path):
    with pytest.raises(DataError, match="is a folder; name a file in it"):
        load_csv(tmp_path)
