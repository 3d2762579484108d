"""What a reader gives becomes one table, or one sentence."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

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
    assert table.reading.index_column == ""


def test_archives_pairs_and_images(tmp_path):
    images, digits = np.arange(24.0).reshape(4, 2, 3), np.array([3, 5, 3, 5])
    np.savez(tmp_path / "a.npz", X=images, y=digits)
    np.save(tmp_path / "i.npy", np.asfortranarray(images.reshape(4, 6)))
    np.save(tmp_path / "l.npy", np.array(["u", "v", "u", "v"]))
    archive, pair = read(tmp_path / "a.npz"), read(tmp_path / "i.npy", tmp_path / "l.npy")
    assert archive.inputs.tolist() == pair.inputs.tolist() == images.reshape(4, 6).tolist()
    assert archive.class_names == ("3", "5")
    assert pair.class_names == ("u", "v")
    assert archive.reading.shape == (2, 3)


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


def test_what_belongs_to_other_files_is_refused(tmp_path):
    table = write(tmp_path, "a.csv", FLOWERS)
    np.save(tmp_path / "a.npy", np.zeros(3))
    for given, message in (
        ((table, table), "a second file is for a pair"),
        ((tmp_path / "a.npy", None), "name the .npy file of the labels"),
        ((tmp_path / "a.npy", table), "should be the .npy file"),
    ):
        with pytest.raises(DataError, match=message):
            read(*given)
    with pytest.raises(DataError, match="no column 'kin'; it has length, width, kind"):
        read(table, label="kin")
    np.savez(tmp_path / "a.npz", X=np.eye(2), y=[0, 1])
    for given in ((tmp_path / "a.npz",), (np.eye(2), [0, 1])):
        with pytest.raises(DataError, match="the label 'kind' names a column"):
            read(*given, label="kind")
