"""Your own file as a data set: a table of text, an .npz archive, or a table of Parquet.

Files are read as certificates read them, but labels must be numbers here.
"""

import functools
import os
from pathlib import Path
from typing import Any

from widenet.data.archives import Columns, kind_of, name_of, read_npz, read_parquet, require_readable, shown
from widenet.data.arrays import from_arrays
from widenet.data.text import is_number, label_among, read_text
from widenet.errors import DataError
from widenet.types import Dataset


def load_file(path: str | Path, *, label: str | int | None = None) -> Dataset:
    """A data set from a file, by its suffix: .csv, .txt, .tsv, .tab, .npz, .parquet or .pq.

    Arguments:
      path: the name of the file.
      label: the name or, from 1, the number of the column of labels; see `load_csv`.

    Raises:
      DataError: one sentence about what is wrong, where, and what to do.
    """
    path = Path(path)
    kind, name = kind_of(path), name_of(path)
    require_readable(path)
    if (found := read_columns(path, None if label is None else str(label))) is not None:
        return _from_columns(found, name)
    if label is not None:
        raise DataError(f"the label {shown(label)!r} names a column, and {name} has none.")
    if kind == "npz":
        return load_npz(path)
    raise DataError(f"{name} holds one array; read it with numpy.load, and give it and the labels to from_arrays.")


def read_columns(path: Path, label: str | None) -> Columns | None:
    """The columns of a table of text or of Parquet; None for a file of arrays."""
    match kind_of(path):
        case "csv":
            return read_text(path, ",", label)
        case "tsv":
            return read_text(path, "\t", label)
        case "parquet":
            return read_parquet(path, functools.partial(label_among, label=label, source=name_of(path)))
    return None


def load_csv(path: str | Path, *, label: str | int | None = None) -> Dataset:
    """A data set from a table of numbers, one point per line, separated by commas or semicolons.

    A first line without numbers, or with the name of the label in it, is a header. The label is the column with the
    name or, from 1, the number `label`; else the one called label, labels, y, target or class; else the last.

    Raises:
      DataError: one sentence about what is wrong, in which line and column, and what to do.
    """
    if not isinstance(path, str | os.PathLike):
        raise DataError(f"load_csv reads a file by its name, got {path!r}; from_arrays takes arrays.")
    path = require_readable(Path(path))
    return _from_columns(read_text(path, ",", None if label is None else str(label)), name_of(path))


def load_npz(path: str | Path) -> Dataset:
    """A data set from an archive made by `numpy.savez(path, inputs=…, labels=…)`.

    Raises:
      DataError: one sentence about what is wrong and what to do.
    """
    return from_arrays(*read_npz(require_readable(Path(path))))


def _from_columns(found: Columns, name: str) -> Dataset:
    where = f"{name}, with the labels in {shown(found.label)} (label= chooses another column)"
    labels = [_number(written, row, where) for row, written in enumerate(found.labels, 1)]
    try:
        return from_arrays(found.inputs, labels)
    except DataError as error:
        raise DataError(f"{where}: {error}") from None


def _number(written: Any, row: int, where: str) -> float:
    word = str(written).strip()
    if not is_number(word):
        what = repr(shown(word)) if word else "empty"
        raise DataError(
            f"{where}: the label of row {row:,} is {what}, not a number; write -1 and +1, or ask widenet.certify, "
            "which reads words, too."
        )
    return float(word)
