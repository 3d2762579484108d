"""A table of text, one point per line: numbers, and one column of labels in numbers or words."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import TextIOBase
from pathlib import Path

import numpy as np

from widenet.certificates.files import MOST_COLUMNS, refuse_many
from widenet.errors import DataError

LONGEST_LINE = 2**20
LABEL_NAMES = ("label", "labels", "y", "target", "class")
SHOWN = 40


@dataclass(frozen=True, eq=False)
class TextTable:
    """A table that was read.

    Attributes:
      inputs: one row per point.
      labels: as they are written, without blanks around them.
      columns: the names of the inputs; empty without a header.
      label: the name of the column of labels, or which it is.
    """

    inputs: np.ndarray
    labels: list[str]
    columns: tuple[str, ...]
    label: str


def read_text(path: Path, separator: str, label: str | None) -> TextTable:
    """A table of numbers, separated by commas (or semicolons in their place) or tabs, with one column of labels.

    A first line without numbers, or with the name of the label in it, is a header. The label is the column with the
    name or the number (from 1) `label`; else the one called label, labels, y, target or class; else the last.

    Raises:
      DataError: it is not such a table; the sentence says in which line and column.
    """
    try:
        # utf-8-sig: spreadsheets put a byte-order mark before the first name.
        with path.open(newline="", encoding="utf-8-sig") as file:
            first = next((line for line in _bounded(file, path.name) if line.strip()), "")
            if separator == "," and "," not in first and ";" in first:  # what many spreadsheets write
                separator = ";"
            file.seek(0)
            return _read(_rows(file, path.name, separator), path.name, separator, label)
    except UnicodeDecodeError as error:
        raise DataError(f"{path.name} is not a text file ({error.reason}); save it as CSV in UTF-8.") from None
    except csv.Error as error:
        raise DataError(f"{path.name} is not a table of text ({error}).") from None
    except OSError as error:
        raise DataError(f"{path.name} cannot be read: {(error.strerror or str(error)).lower()}.") from None


def _read(rows: Iterator[tuple[int, list[str]]], name: str, separator: str, label: str | None) -> TextTable:
    line, first = next(rows, (0, []))
    if not first:
        raise DataError(f"{name} is empty; give one point per line.")
    _refuse_one_column(first, separator, name)
    titles = [cell.strip() for cell in first]
    header = titles if _is_header(titles, label) else None
    place = _label_column(header, label, len(first), name)
    inputs, labels = [], []
    for number, cells in _with_first(rows, (line, first), header is None):
        if len(cells) != len(first):
            raise DataError(
                f"{name}, line {number} has {len(cells):,} columns and the first line {len(first):,}; "
                "give every line the same number."
            )
        labels.append(cells.pop(place).strip())
        inputs.append(_numbers(cells, header, place, number, name))
        refuse_many(len(inputs), len(first), name)
    if not inputs:
        raise DataError(f"{name} has a header and no points; give one point per line.")
    columns = tuple(title for column, title in enumerate(header or ()) if column != place)
    return TextTable(np.stack(inputs), labels, columns, header[place] if header else f"column {place + 1}")


def _with_first(
    rows: Iterator[tuple[int, list[str]]], first: tuple[int, list[str]], is_point: bool
) -> Iterator[tuple[int, list[str]]]:
    if is_point:
        yield first[0], list(first[1])
    yield from rows


def _rows(file: TextIOBase, name: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """(line number, cells) of every line that is not blank."""
    reader = csv.reader(_bounded(file, name), delimiter=separator)
    for cells in reader:
        if any(cell.strip() for cell in cells):
            yield reader.line_num, cells


def _bounded(file: TextIOBase, name: str) -> Iterator[str]:
    """Lines of a bounded length: one of a million columns would fill the memory before it could be counted."""
    number = 0
    while line := file.readline(LONGEST_LINE):
        number += 1
        if len(line) >= LONGEST_LINE:
            raise DataError(
                f"{name}, line {number} is longer than a million characters; at most {MOST_COLUMNS:,} columns are read."
            )
        if "\0" in line:
            raise DataError(f"{name}, line {number} holds a NUL byte; save the table as CSV in UTF-8.")
        yield line


def _refuse_one_column(cells: Sequence[str], separator: str, name: str) -> None:
    if len(cells) > 1:
        return
    other = next((sign for sign in (";", "\t", ",") if sign != separator and sign in cells[0]), "")
    found = f" (its first line has {other!r} in it)" if other else ""
    wanted = "tabs" if separator == "\t" else "commas"
    raise DataError(f"{name} has one column{found}; give the coordinates and the label, separated by {wanted}.")


def _is_header(titles: Sequence[str], label: str | None) -> bool:
    """Whether the first line has names: the label's among them, or not a single number."""
    named = label in titles if label is not None else any(title.lower() in LABEL_NAMES for title in titles)
    return named or not any(_is_number(title) for title in titles)


def _label_column(header: Sequence[str] | None, label: str | None, count: int, name: str) -> int:
    titles = header or ()
    if label is not None:
        if label in titles:
            if list(titles).count(label) > 1:
                raise DataError(f"{name} has several columns {label!r}; --label takes the number of a column, too.")
            return list(titles).index(label)
        if label.isascii() and label.isdigit() and 1 <= int(label) <= count:
            return int(label) - 1
        shown = ", ".join(titles[:12]) + (", …" if len(titles) > 12 else "")
        raise DataError(
            f"{name} has no column {label!r}; {f'it has {shown}' if titles else 'its first line is a point'}."
        )
    found = [column for column, title in enumerate(titles) if title.lower() in LABEL_NAMES]
    if len(found) > 1:
        both = " and ".join(repr(titles[column]) for column in found)
        raise DataError(f"{name} has columns {both}; say which is the label with --label, and drop the other.")
    return found[0] if found else count - 1


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def _numbers(cells: list[str], header: Sequence[str] | None, place: int, number: int, name: str) -> np.ndarray:
    try:
        values = np.array([float(cell) for cell in cells])
        if np.isfinite(values).all() and not any("_" in cell for cell in cells):
            return values
    except ValueError:
        pass
    column = next(at for at, cell in enumerate(cells) if not _is_number(cell) or not np.isfinite(float(cell)))
    place_in_file = column + (column >= place)
    title = f" ({header[place_in_file][:SHOWN]})" if header else ""
    value = cells[column].strip()
    what = f"is {value[:SHOWN]!r}" if value else "is empty"
    raise DataError(
        f"{name}, line {number}, column {place_in_file + 1}{title} {what}; every cell but the label must be a finite "
        "number: fill it in, encode it as a number, or leave the column out."
    )
