"""What a reader gives, as one table: a file, two files, arrays, data frames or a `Dataset`; checked once."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from widenet.certificates import files, text
from widenet.errors import DataError

LARGEST, SMALLEST = 1e100, 1e-100
"""Beyond these a square overflows or vanishes, and no verdict would be safe."""
MOST_CLASSES = 100
INDEX_NAMES = ("", "unnamed: 0", "index", "id")


@dataclass(frozen=True, eq=False)
class Table:
    """Points and their classes.

    Attributes:
      inputs: one row per point, as given.
      classes: the number of each point's class.
      class_names: what a reader calls them, by number.
      columns: what a reader calls the inputs; empty where they have no names.
      label: what a reader calls the label.
      source: the name of the file, or "arrays".
      notes: what was done while reading, in sentences.
    """

    inputs: Float[np.ndarray, "sample dim"]
    classes: Int[np.ndarray, " sample"]
    class_names: tuple[str, ...]
    columns: tuple[str, ...]
    label: str
    source: str
    notes: tuple[str, ...] = ()

    @property
    def signs(self) -> Float[np.ndarray, " sample"]:
        """Labels −1 and +1 of two classes; of more, their numbers."""
        return 2.0 * self.classes - 1 if len(self.class_names) == 2 else self.classes.astype(np.float64)


def read(inputs: Any, labels: Any = None, *, label: str | None = None) -> Table:
    """One table.

    Arguments:
      inputs: the name of a file (.csv, .tsv, .npz, .npy, .parquet), an array, a data frame, or a `Dataset`.
      labels: the labels, or the name of a second .npy file; left out where `inputs` has them.
      label: the name or, from 1, the number of the column of labels.

    Raises:
      DataError: one sentence about what is wrong, where, and what to do.
    """
    if isinstance(inputs, str | os.PathLike):
        return _from_files(Path(os.fspath(inputs)), labels, label)
    if hasattr(inputs, "columns") and hasattr(inputs, "to_numpy"):
        return _from_frame(inputs, labels, label, "data frame")
    if labels is None and hasattr(inputs, "inputs") and hasattr(inputs, "labels"):
        return _made(inputs.inputs, inputs.labels, source="data set")
    if labels is None and isinstance(inputs, tuple) and len(inputs) == 2:
        inputs, labels = inputs
    if labels is None:
        raise DataError("there are no labels; give them as the second argument, one per row of inputs.")
    return _made(inputs, labels, source="arrays")


def _from_files(path: Path, second: Any, label: str | None) -> Table:
    files.require_readable(path)
    kind = files.kind_of(path)
    if second is not None and kind != "npy":
        raise DataError(f"{path.name} holds inputs and labels; a second file is for a pair of .npy files.")
    match kind:
        case "csv" | "tsv":
            found = text.read_text(path, "," if kind == "csv" else "\t", label)
            return _made(found.inputs, found.labels, columns=found.columns, label=found.label, source=path.name)
        case "npz":
            return _made(*files.read_npz(path), source=path.name)
        case "parquet":
            return _from_frame(files.read_parquet(path), None, label, path.name)
    if not isinstance(second, str | os.PathLike):
        raise DataError(f"{path.name} holds one array; name the .npy file of the labels after it.")
    other = files.require_readable(Path(os.fspath(second)))
    if files.kind_of(other) != "npy":
        raise DataError(f"{other.name} should be the .npy file of the labels.")
    return _made(files.read_npy(path), files.read_npy(other), source=path.name)


def _from_frame(frame: Any, labels: Any, label: str | None, source: str) -> Table:
    """A data frame of pandas, with its labels in a column or apart."""
    names = [str(name) for name in frame.columns]
    if labels is None:
        places = [place for place, name in enumerate(names) if name == label]
        places = places or [
            place for place, name in enumerate(names) if label is None and name.lower() in text.LABEL_NAMES
        ]
        if label is not None and not places:
            raise DataError(f"{source} has no column {label!r}; it has {', '.join(names[:12])}.")
        if len(names) < 2:
            raise DataError(f"{source} has fewer than two columns; give the coordinates and the label.")
        place = places[0] if places else len(names) - 1
        labels = frame.iloc[:, place]
        title = names.pop(place)
        frame = frame.drop(columns=frame.columns[place])
    else:
        title = str(getattr(labels, "name", None) or "label")
    for name, column in zip(names, frame.dtypes, strict=True):
        if getattr(column, "kind", "O") not in "biuf":
            raise DataError(
                f"{source}, column {name!r} holds {column}, not numbers; encode it as numbers or leave the column out."
            )
    return _made(frame.to_numpy(np.float64), labels, columns=tuple(names), label=title, source=source)


def _made(
    inputs: Any, labels: Any, *, columns: tuple[str, ...] = (), label: str = "label", source: str = "arrays"
) -> Table:
    rows, notes = _points(inputs)
    numbers, names = _classes(labels, label)
    if len(rows) != len(numbers):
        raise DataError(f"there are {len(rows):,} inputs and {len(numbers):,} labels; each point needs one label.")
    if len(names) == 1:
        raise DataError(f"every label ({label}) is {names[0]!r}; give points of at least two classes.")
    if len(names) > min(MOST_CLASSES, max(2, len(rows) // 2)):
        raise DataError(
            f"the label ({label}) has {len(names):,} different values in {len(rows):,} rows, so it does not name "
            "classes; --label chooses another column."
        )
    rows, columns, dropped = _without_index(rows, columns)
    return Table(rows, numbers, names, columns, label, source, (*notes, *dropped))


def _points(inputs: Any) -> tuple[np.ndarray, tuple[str, ...]]:
    """The inputs in float64 with two axes, and what was done."""
    notes: tuple[str, ...] = ()
    try:
        array = np.asarray(inputs)
        if array.dtype.kind in "cmMV":
            raise DataError(f"inputs are {array.dtype}, not real numbers; encode them as numbers first.")
        if array.dtype.kind not in "biuf":
            array = array.astype(np.float64)
    except (ValueError, TypeError):
        raise DataError("inputs are not a rectangular array of numbers; encode them as numbers first.") from None
    if array.ndim > 2:
        shape = " × ".join(map(str, array.shape[1:]))
        notes = (f"Each point ({shape}) was read as one row.",)
        array = array.reshape(len(array), -1)
    if array.ndim != 2 or not array.size:
        raise DataError(f"inputs must have two axes (points, then coordinates) and a point, got shape {array.shape}.")
    files.refuse_many(array.shape[0], array.shape[1], "the data")
    rows = array.astype(np.float64)
    sizes = np.abs(rows)
    for wrong, what in (
        (~np.isfinite(rows), "not finite; remove or repair that point"),
        (sizes > LARGEST, f"above {LARGEST:g}, where squares overflow; use other units"),
        ((sizes < SMALLEST) & (sizes > 0), f"below {SMALLEST:g}, where squares vanish; write 0 or use other units"),
    ):
        if wrong.any():
            row, column = (int(each[0]) for each in np.nonzero(wrong))
            raise DataError(f"row {row + 1}, coordinate {column + 1} is {rows[row, column]:g}, {what}.")
    return rows, notes


def _classes(labels: Any, title: str) -> tuple[np.ndarray, tuple[str, ...]]:
    """The number of each point's class, and the names of the classes in order."""
    found = np.asarray(labels)
    if found.ndim == 2 and 1 in found.shape:
        found = found.ravel()
    if found.ndim != 1:
        raise DataError(f"labels must have one axis, got shape {found.shape}; give one label per point.")
    if not len(found):
        raise DataError("the data set is empty; give at least one point of each class.")
    values = _as_numbers(found)
    if values is None:
        words = [str(each).strip() for each in found.tolist()]
        missing = next((place for place, word in enumerate(words) if not word or word.lower() in ("nan", "none")), None)
        if missing is not None:
            raise DataError(f"the label ({title}) of row {missing + 1} is missing; fill it in or leave the row out.")
        names, numbers = np.unique(words, return_inverse=True)
        return numbers, tuple(name[: text.SHOWN] for name in names.tolist())
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise DataError(f"the label ({title}) of row {row + 1} is {values[row]}; fill it in or leave the row out.")
    kinds, numbers = np.unique(values, return_inverse=True)
    return numbers, tuple(f"{value:.10g}" for value in kinds)


def _as_numbers(labels: np.ndarray) -> np.ndarray | None:
    """Labels that are all numbers, in whatever way they are written; None where one is a word."""
    if labels.dtype.kind in "bcmMV":
        return None
    try:
        return labels.astype(np.float64)
    except (ValueError, TypeError):
        return None


def _without_index(rows: np.ndarray, columns: Sequence[str]) -> tuple[np.ndarray, tuple[str, ...], tuple[str, ...]]:
    """Without a first column that only counts the rows: sorted data would be separable by it."""
    if not columns or columns[0].strip().lower() not in INDEX_NAMES or rows.shape[1] < 2:
        return rows, tuple(columns), ()
    if not np.array_equal(rows[:, 0] - rows[0, 0], np.arange(len(rows))):
        return rows, tuple(columns), ()
    name = columns[0].strip() or "without a name"
    return rows[:, 1:], tuple(columns[1:]), (f"The first column ({name}) only counts the rows and was left out.",)
