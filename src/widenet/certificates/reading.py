"""Your data as one table: a file, two files, arrays, data frames or a `Dataset`; checked once."""

import collections
import csv
import dataclasses
import datetime
import numbers
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from widenet.certificates import usual_choices
from widenet.data import archives, text
from widenet.data.archives import GivenColumn, shown
from widenet.data.arrays import as_numbers
from widenet.data.tables import read_columns
from widenet.errors import DataError
from widenet.records import ClosedModel

LARGEST, SMALLEST = 1e100, 1e-100
"""Beyond these a square overflows or vanishes, and no verdict would be safe."""
MOST_CLASSES = 100
SEPARATORS = {"csv": ",", "tsv": "\t"}
INDEX_NAMES = ("", "unnamed: 0", "index", "id")
CELLS = (str, bytes, numbers.Number, np.bool_, datetime.date)
"""What a cell of a data frame without types may hold."""
FEWEST_NAMED = 20
"""In fewer rows whole numbers that are all different say little."""
ID_NAME = re.compile(
    r"(^|[_ .-])(id|ids|uuid|key|patient|subject|case|record)$|^(id|patient|subject|case|record)[_ .-]"
)
MOST_EXACT = 2**53
"""Whole numbers from here on are names: float64 does not tell them apart."""


class ReadingNotes(ClosedModel):
    """What was done while reading.

    Attributes:
      shape: that of each point, where it was an array of several axes and was read as one row; else empty.
      index_column: the name of a first column that only counts the rows and was left out; None without one.
      dropped: the columns that you wanted left out.
      chosen: what was chosen where a table was not plain numbers, in sentences.
      counting, naming: columns that grow by the same step in every row, and columns that are named like an id and have
        another whole number in every row. They are used.
    """

    shape: tuple[int, ...] = ()
    index_column: str | None = None
    dropped: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()
    counting: tuple[str, ...] = ()
    naming: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Table:
    """Points and their classes.

    Attributes:
      inputs: one row per point, as given.
      classes: the number of each point's class.
      class_names: their names, by number.
      columns: names of the inputs; empty where they have no names.
      label: the name of the label.
      source: the name of the file, or "arrays".
      rows: which row of what you gave each point is (from 0): some may have been left out.
      reading: what was done while reading.
    """

    inputs: Float[np.ndarray, "sample dim"]
    classes: Int[np.ndarray, " sample"]
    class_names: tuple[str, ...]
    columns: tuple[str, ...]
    label: str
    source: str
    rows: Int[np.ndarray, " sample"]
    reading: ReadingNotes = field(default_factory=ReadingNotes)

    @property
    def signs(self) -> Float[np.ndarray, " sample"]:
        """Labels −1 and +1 of two classes; of more, their numbers."""
        return 2.0 * self.classes - 1 if len(self.class_names) == 2 else self.classes.astype(np.float64)


def read(inputs: Any, labels: Any = None, *, label: str | int | None = None, drop: Sequence[str | int] = ()) -> Table:
    """One table.

    Arguments:
      inputs: the name of a file (.csv, .tsv, .npz, .npy, .parquet), an array, a data frame, or a `Dataset`.
      labels: the labels, or the name of a second .npy file; left out where `inputs` has them.
      label: the name or, from 1, the number of the column of labels.
      drop: columns to leave out, by name or, from 1, by number.

    Raises:
      DataError: one sentence about what is wrong, where, and what to do.
    """
    drop = [drop] if isinstance(drop, str | int) else drop
    label = None if label is None else str(label)
    try:
        if isinstance(inputs, str | os.PathLike):
            return _from_files(Path(os.fspath(inputs)), labels, label, drop)
        if all(hasattr(inputs, name) for name in ("columns", "iloc", "dtypes")):
            return _from_frame(inputs, labels, label, drop)
        if drop:
            raise DataError("drop names columns, and arrays have none; leave them out of the array.")
        _refuse_label_of_arrays(label, "arrays have")
        if labels is None and hasattr(inputs, "inputs") and hasattr(inputs, "labels"):
            return _made(inputs.inputs, inputs.labels, source="data set")
        if labels is None and isinstance(inputs, tuple) and len(inputs) == 2:
            inputs, labels = inputs
        if labels is None:
            raise DataError("there are no labels; give them as the second argument, one per row of inputs.")
        return _made(inputs, labels, source="arrays")
    except MemoryError:
        raise DataError("not enough memory for this data set; use a subset.") from None


def _refuse_label_of_arrays(label: str | None, who: str) -> None:
    if label is not None:
        raise DataError(f"the label {shown(label)!r} names a column, and {who} none; give the labels as an array.")


def _from_files(path: Path, second: Any, label: str | None, drop: Sequence[str | int]) -> Table:
    archives.require_readable(path)
    kind, name = archives.kind_of(path), archives.name_of(path)
    if second is not None and kind != "npy":
        raise DataError(f"{name} holds inputs and labels; a second file is for a pair of .npy files.")
    if kind in SEPARATORS and (drop or not _is_plain(path, label)):
        return _from_words(path, label, drop)
    if kind == "parquet":
        return _from_parquet(path, label, drop)
    if drop:
        raise DataError(f"drop names columns, which are dropped from tables and data frames, not {name}.")
    if (found := read_columns(path, label)) is not None:
        return _of_columns(found, name)
    _refuse_label_of_arrays(label, f"{name} has")
    if kind == "npz":
        return _made(*archives.read_npz(path), source=name)
    if not isinstance(second, str | os.PathLike):
        raise DataError(f"{name} holds one array; name the .npy file of the labels after it.")
    other = archives.require_readable(Path(os.fspath(second)))
    if archives.kind_of(other) != "npy":
        raise DataError(f"{archives.name_of(other)} should be the .npy file of the labels.")
    return _made(archives.read_npy(path), archives.read_npy(other), source=name)


def _is_plain(path: Path, label: str | None) -> bool:
    """Whether a table of text is one of numbers, or is nothing that usual choices could mend."""
    try:
        read_columns(path, label)
    except DataError:
        try:
            return not usual_choices.read_loosely(path, SEPARATORS[archives.kind_of(path)], label, ())[1]
        except usual_choices.UnusableColumns:
            return False  # which columns these are, all of them, is said by those who choose
        except (DataError, csv.Error):
            return True  # what is wrong is said by those who read numbers
    return True


def _from_words(path: Path, label: str | None, drop: Sequence[str | int]) -> Table:
    """A table of text with usual choices, without the columns that were dropped."""
    found, chosen = usual_choices.read_loosely(path, SEPARATORS[archives.kind_of(path)], label, drop)
    table = _of_columns(found, archives.name_of(path))
    notes = table.reading.model_copy(update={"dropped": tuple(shown(str(each)) for each in drop), "chosen": chosen})
    return dataclasses.replace(table, reading=notes)


def _from_parquet(path: Path, label: str | None, drop: Sequence[str | int]) -> Table:
    """A table of Parquet."""
    name, asked = archives.name_of(path), list[str]()

    def choose(names: list[str]) -> tuple[int, set[int]]:
        place = text.label_among(names, label, name)
        left_out = usual_choices.dropped(names, drop, place, name)
        asked.extend(names[column] for column in sorted(left_out))
        return place, left_out

    columns, labels, title = archives.read_typed_parquet(path, choose)
    return _from_columns(columns, labels, title, asked, name)


def _from_frame(frame: Any, labels: Any, label: str | None, drop: Sequence[str | int]) -> Table:
    """A data frame of pandas, with its labels in a column or apart."""
    source, titles = "data frame", [str(name) for name in frame.columns]
    place = -1
    if labels is None:
        place = text.label_among(titles, label, source)
        labels, title = frame.iloc[:, place], titles[place]
    else:
        _refuse_label_of_arrays(label, "the labels given beside it have")
        title = str(getattr(labels, "name", None) or "label")
    left_out = usual_choices.dropped(titles, drop, place, source)
    kept = [column for column in range(len(titles)) if column not in (place, *left_out)]
    archives.refuse_many(len(frame), len(kept), source)
    columns = [_column(titles[column], frame.iloc[:, column], source) for column in kept]
    return _from_columns(columns, labels, title, [titles[column] for column in sorted(left_out)], source)


def _column(name: str, series: Any, source: str) -> GivenColumn:
    """A column of a data frame."""
    dtype = series.dtype
    kind, is_category = getattr(dtype, "kind", "O"), hasattr(dtype, "categories")
    if kind in "biuf":
        return GivenColumn(name, series.to_numpy(np.float64, na_value=np.nan), str(dtype))
    if kind == "M":
        return GivenColumn(name, series.to_numpy("datetime64[us]"), str(dtype))
    if kind != "O":
        raise archives.refused_column(source, name, dtype)
    found = list(zip(series, series.isna(), strict=True))
    odd = next((cell for cell, is_missing in found if not is_missing and not isinstance(cell, CELLS)), None)
    if odd is not None and not is_category:
        raise archives.refused_column(source, name, f"{dtype} ({type(odd).__name__})")
    words = ["" if is_missing else _word(cell) for cell, is_missing in found]
    return GivenColumn(name, words, str(dtype), is_category)


def _from_columns(columns: Sequence[GivenColumn], labels: Any, title: str, asked: Sequence[str], source: str) -> Table:
    """A table whose columns have types, with usual choices unless they are all numbers; you `asked` others out."""
    given = _listed(labels)
    words, chosen = [_word(each) for each in given], ()
    rows = len(columns[0].values) if columns else len(words)
    few = len(words) < usual_choices.FEWEST_ROWS or len(words) != rows
    if columns and (few or usual_choices.is_plain(columns, words)):
        inputs = archives.require_numbers(columns, source)
        table = _made(inputs, labels, columns=tuple(each.name for each in columns), label=title, source=source)
    else:
        found, chosen = usual_choices.as_numbers(columns, words, title, source)
        table = _of_columns(found, source)
    notes = table.reading.model_copy(update={"dropped": tuple(map(shown, asked)), "chosen": tuple(chosen)})
    return dataclasses.replace(table, reading=notes)


def _of_columns(found: archives.Columns, source: str) -> Table:
    return _made(found.inputs, found.labels, columns=found.columns, label=found.label, source=source, places=found.rows)


def _made(
    inputs: Any,
    labels: Any,
    *,
    columns: tuple[str, ...] = (),
    label: str = "label",
    source: str = "arrays",
    places: Int[np.ndarray, " sample"] | None = None,
) -> Table:
    columns, label = tuple(map(shown, columns)), shown(label)
    rows, shape = _points(inputs, columns, source)
    numbers, names = _classes(labels, label, len(rows))
    if len(names) == 1:
        raise DataError(f"every label ({label}) is {names[0]!r}; give points of at least two classes.")
    if len(names) > min(MOST_CLASSES, max(2, len(rows) // 2)):
        raise DataError(
            f"the label ({label}) has {len(names):,} different values in {len(rows):,} rows, so it does not name "
            "classes; label= or --label chooses another column."
        )
    places = np.arange(len(rows)) if places is None else places
    rows, columns, index = _without_index(rows, columns, places)
    counting, naming = _like_ids(rows, columns, places)
    notes = ReadingNotes(shape=shape, index_column=index, counting=counting, naming=naming)
    return Table(rows, numbers, names, columns, label, source, places, notes)


def _points(inputs: Any, columns: Sequence[str], source: str) -> tuple[np.ndarray, tuple[int, ...]]:
    """The inputs in float64 with two axes, and the shape of a point that had several."""
    shape: tuple[int, ...] = ()
    array = as_numbers(inputs, "inputs")
    if array.ndim < 2 or not array.size:
        raise DataError(f"inputs must have two axes (points, then coordinates) and a point, got shape {array.shape}.")
    if array.ndim > 2:
        shape = array.shape[1:]
        array = array.reshape(len(array), -1)
    archives.refuse_many(array.shape[0], array.shape[1], "the data")
    with np.errstate(over="ignore"):  # a long double may become infinite
        rows = array.astype(np.float64)
    sizes = np.abs(rows)
    for wrong, what in (
        (~np.isfinite(rows), "not finite; remove or repair that point"),
        (sizes > LARGEST, f"above {LARGEST:g}, where squares overflow; use other units"),
        ((sizes < SMALLEST) & (sizes > 0), f"below {SMALLEST:g}, where squares vanish; write 0 or use other units"),
    ):
        if wrong.any():
            row, column = (int(each[0]) for each in np.nonzero(wrong))
            title = f" ({columns[column]})" if columns else ""
            raise DataError(
                f"{source}: row {row + 1}, coordinate {column + 1}{title} is {rows[row, column]:g}, {what}."
            )
    return rows, shape


def _classes(labels: Any, title: str, n_rows: int) -> tuple[np.ndarray, tuple[str, ...]]:
    """The number of each point's class, and the names of the classes in order."""
    found = _listed(labels)
    if len(found) != n_rows:
        raise DataError(f"there are {n_rows:,} inputs and {len(found):,} labels; each point needs one label.")
    words = [_word(each) for each in found]
    missing = next((row for row, word in enumerate(words) if word.lower() in text.NO_VALUE), None)
    if missing is not None:
        what = "nan" if words[missing].lower() == "nan" else "missing"
        raise DataError(f"the label ({title}) of row {missing + 1} is {what}; fill it in or leave the row out.")
    kinds = dict.fromkeys(words)
    values = _as_numbers(list(kinds))
    if values is None:
        names = sorted(kinds)
        place = {name: number for number, name in enumerate(names)}
        return np.array([place[word] for word in words]), _distinct([shown(name) for name in names])
    endless = next((word for word, value in values.items() if not np.isfinite(value)), None)
    if endless is not None:
        row = words.index(endless)
        raise DataError(f"the label ({title}) of row {row + 1} is {values[endless]}; fill it in or leave the row out.")
    ordered = sorted(set(values.values()))
    place = {value: number for number, value in enumerate(ordered)}
    short = tuple(f"{value:.10g}" for value in ordered)
    names = short if len(set(short)) == len(short) else tuple(f"{value:.17g}" for value in ordered)
    return np.array([place[values[word]] for word in words]), names


def _listed(labels: Any) -> Sequence[Any]:
    """The labels one by one. A list of words is left as it is: an array would give each the room of the longest."""
    if isinstance(labels, list | tuple) and all(isinstance(each, str) for each in labels):
        found: Any = labels
    else:
        try:
            array = np.array(labels.tolist(), object) if np.ma.isMaskedArray(labels) else np.asarray(labels)
        except ValueError:
            raise DataError(
                "labels must have one axis, and these are a ragged list; give one label per point."
            ) from None
        if array.ndim == 2 and 1 in array.shape:
            array = array.ravel()
        if array.ndim != 1:
            raise DataError(f"labels must have one axis, got shape {array.shape}; give one label per point.")
        archives.refuse_many(len(array), 1, "the list of labels")
        found = array.tolist()
    if not len(found):
        raise DataError("the data set is empty; give at least one point of each class.")
    return found


def _word(label: Any) -> str:
    """A label as it is written."""
    return (label.decode(errors="replace") if isinstance(label, bytes) else str(label)).strip()


def _as_numbers(words: Sequence[str]) -> dict[str, float] | None:
    """Labels that are all numbers, in whatever way they are written; None where one is a word."""
    if not all(map(text.is_number, words)):
        return None
    values = {word: float(word) for word in words}
    whole = all(word.lstrip("+-").isdigit() for word in words)
    return None if whole and max(map(abs, values.values())) >= MOST_EXACT else values


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """The names, numbered where two are shown alike."""
    often = collections.Counter(names)
    return tuple(f"{name} ({place + 1})" if often[name] > 1 else name for place, name in enumerate(names))


def _like_ids(
    rows: np.ndarray, columns: Sequence[str], places: Int[np.ndarray, " sample"]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Columns that may only count or name the rows: those of a constant step, and those whose names say so."""
    counting, naming = list[str](), list[str]()
    if len(rows) < FEWEST_NAMED:
        return (), ()
    for name, values in zip(columns, rows.T, strict=False):
        if (values != np.floor(values)).any() or len(np.unique(values)) < len(values):
            continue
        step = (values[1] - values[0]) / (places[1] - places[0])
        if np.array_equal(values - values[0], step * (places - places[0])):
            counting.append(name)
        elif ID_NAME.search(name.strip().lower()):
            naming.append(name)
    return tuple(counting), tuple(naming)


def _without_index(
    rows: np.ndarray, columns: Sequence[str], places: Int[np.ndarray, " sample"]
) -> tuple[np.ndarray, tuple[str, ...], str | None]:
    """Without a first column that only counts the rows, and its name: sorted data would be separable by it."""
    if not columns or columns[0].strip().lower() not in INDEX_NAMES or rows.shape[1] < 2:
        return rows, tuple(columns), None
    if not np.array_equal(rows[:, 0] - rows[0, 0], places - places[0]):
        return rows, tuple(columns), None
    return rows[:, 1:], tuple(columns[1:]), columns[0].strip()
