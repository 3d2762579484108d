"""A table of text, one point per line: numbers, and one column of labels in numbers or words."""

import csv
import math
import re
from array import array
from collections.abc import Iterator, Sequence
from io import TextIOBase
from pathlib import Path

import numpy as np

from widenet.data.archives import (
    MOST_CELLS,
    MOST_COLUMNS,
    MOST_ROWS,
    Columns,
    first_line,
    name_of,
    refuse_many,
    refuse_other_content,
    shown,
)
from widenet.errors import DataError

LONGEST_LINE = 2**20
MOST_LABELS = 10_000
"""More different labels than this do not name classes, and would fill the memory."""
LABEL_NAMES = ("label", "labels", "y", "target", "class")
NO_VALUE = ("", "nan", "none", "na", "n/a", "<na>", "nat", "null")
"""How a missing value is written."""
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+([eE][+-]?\d+)?\s*")
VALUE = re.compile(r"[+-]?\d+([.,:/x-]\d+)*( ?%)?")
"""A number in some other way of writing, a date or a time: such a line has no names."""

NumberedLines = Iterator[tuple[int, list[str]]]
"""(Line number, cells)."""


def read_text(path: Path, separator: str, label: str | None) -> Columns:
    """A table of numbers, separated by commas (or semicolons in their place) or tabs, with one column of labels.

    A first line without numbers, or with the name of the label in it, is a header. The label is the column with the
    name or the number (from 1) `label`; else the one called label, labels, y, target or class; else the last.

    Raises:
      DataError: it is not such a table; the sentence says in which line and column.
    """
    name = name_of(path)
    try:
        refuse_other_content(path, "text in UTF-8")
        # utf-8-sig: spreadsheets put a byte-order mark before the first name.
        with path.open(newline="", encoding="utf-8-sig") as file:
            first = next((line for line in _bounded(file, name) if line.strip()), "")
            if separator == ",":
                separator = _separator(first, name)
            file.seek(0)
            return _read(_rows(file, name, separator), name, separator, label)
    except UnicodeDecodeError as error:
        line = _first_wrong_line(path)
        raise DataError(
            f"{name}, line {line} is not text in UTF-8 ({error.reason}); save the table as CSV in UTF-8."
        ) from None
    except OSError as error:
        raise DataError(f"{name} cannot be read: {(error.strerror or str(error)).lower()}.") from None


def label_column(titles: Sequence[str], label: str | None, count: int, name: str) -> int:
    """Which of `count` columns has the labels; `titles` is empty where columns have no names."""
    if label is not None:
        if label in titles:
            if list(titles).count(label) > 1:
                raise DataError(
                    f"{name} has several columns {shown(label)!r}; label= or --label takes the number of a column, too."
                )
            return list(titles).index(label)
        if is_count(label) and 1 <= int(label) <= count:
            return int(label) - 1
        has = ", ".join(map(shown, titles[:12])) + (", …" if len(titles) > 12 else "")
        has = f"it has {has}" if titles else f"its first line is a point, so give a number from 1 to {count:,}"
        raise DataError(f"{name} has no column {shown(label)!r}; {has}.")
    found = [column for column, title in enumerate(titles) if title.lower() in LABEL_NAMES]
    if len(found) > 1:
        both = " and ".join(repr(titles[column]) for column in found)
        raise DataError(
            f"{name} has columns {both}; say which is the label with label= or --label, and drop the other."
        )
    return found[0] if found else count - 1


def label_among(names: list[str], label: str | None, source: str) -> int:
    """Which column of a table with names has the labels."""
    if len(names) < 2:
        raise DataError(f"{source} has fewer than two columns; give the coordinates and the label.")
    return label_column(names, label, len(names), source)


def is_count(label: str) -> bool:
    """Whether a label may be the number of a column."""
    return label.isascii() and label.isdigit() and len(label) < 8


def is_number(cell: str) -> bool:
    """Whether a cell is written as a number, NaN and infinity among them; 1_000 is Python, not a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def _read(rows: NumberedLines, name: str, separator: str, label: str | None) -> Columns:
    line, first = next(rows, (0, []))
    if not first:
        raise DataError(f"{name} is empty; give one point per line.")
    _refuse_one_column(first, separator, name)
    titles = [cell.strip() for cell in first]
    header = titles if _is_header(titles, label) else []
    place = label_column(header, label, len(first), name)
    refuse_many(1, len(first), name)
    # One flat array of float64 and one string per kind of label: lists of rows would take ten times the memory.
    values, labels, known = array("d"), [], {}
    most = min(MOST_ROWS, MOST_CELLS // len(first))
    for number, cells in _with_first(rows, (line, first), not header):
        if len(cells) != len(first):
            raise DataError(
                f"{name}, line {number} has {len(cells):,} columns and the first line {len(first):,}; "
                "give every line the same number."
            )
        written = cells.pop(place).strip()
        labels.append(known.setdefault(written, written))
        if len(known) > MOST_LABELS or "\n" in written or "\r" in written:
            _refuse_label(written, len(known), number, header[place] if header else f"column {place + 1}", name)
        values.extend(_numbers(cells, header, place, number, name))
        if len(labels) > most:
            refuse_many(len(labels), len(first), name)
    if not labels:
        raise DataError(f"{name} has a header and no points; give one point per line.")
    columns = tuple(title for column, title in enumerate(header) if column != place)
    inputs = np.frombuffer(values, np.float64).reshape(len(labels), -1)
    return Columns(inputs, labels, columns, header[place] if header else f"column {place + 1}")


def _separator(first: str, name: str) -> str:
    """A comma, or the semicolon that many spreadsheets write in its place."""
    cells = first.split(";")
    if len(cells) > 1 and any(map(DECIMAL_COMMA.fullmatch, cells)):
        raise DataError(
            f"{name} has decimal commas, such as {shown(next(filter(DECIMAL_COMMA.fullmatch, cells)).strip())!r} in "
            "its first line; write numbers with decimal points."
        )
    return ";" if len(cells) > 1 and "," not in first else ","


def _with_first(rows: NumberedLines, first: tuple[int, list[str]], is_point: bool) -> NumberedLines:
    if is_point:
        yield first[0], list(first[1])
    yield from rows


def _rows(file: TextIOBase, name: str, separator: str) -> NumberedLines:
    """(line number, cells) of every line that is not blank."""
    reader = csv.reader(_bounded(file, name), delimiter=separator, strict=True)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield reader.line_num, cells
    except csv.Error as error:
        raise DataError(
            f"{name} is not a table of text: {first_line(error)} (read up to line {reader.line_num}); look for a quote "
            "that is not closed."
        ) from None


def _bounded(file: TextIOBase, name: str) -> Iterator[str]:
    """Lines of a bounded length: one of a million columns would fill the memory before it could be counted."""
    number = 0
    while line := file.readline(LONGEST_LINE):
        number += 1
        if "\0" in line:
            raise DataError(f"{name}, line {number} holds a NUL byte; save the table as CSV in UTF-8.")
        if len(line) >= LONGEST_LINE:
            raise DataError(
                f"{name}, line {number} is longer than a million characters; at most {MOST_COLUMNS:,} columns are read."
            )
        yield line


def _first_wrong_line(path: Path) -> int:
    """The first line that is not UTF-8; lines that are too long were refused before."""
    with path.open("rb") as file:
        number = 1
        while line := file.readline(4 * LONGEST_LINE):
            try:
                line.decode()
            except UnicodeDecodeError:
                break
            number += 1
    return number


def _refuse_one_column(cells: Sequence[str], separator: str, name: str) -> None:
    if len(cells) > 1:
        return
    other = next((sign for sign in (";", "\t", ",", " ") if sign != separator and sign in cells[0].strip()), "")
    found = f" (its first line has {other!r} in it)" if other else ""
    wanted = "tabs" if separator == "\t" else "commas"
    raise DataError(f"{name} has one column{found}; give the coordinates and the label, separated by {wanted}.")


def _is_header(titles: Sequence[str], label: str | None) -> bool:
    """Whether the first line has names: the label's among them, or not a single number."""
    if label is None:
        named = any(title.lower() in LABEL_NAMES for title in titles)
    else:
        named = label in titles and not is_number(label)  # "3" is the third column, and may be a value, too
    return named or not any(is_number(title) or VALUE.fullmatch(title) or _is_missing(title) for title in titles)


def _is_missing(title: str) -> bool:
    return title != "" and title.lower() in NO_VALUE  # the name of a column that counts the rows is often empty


def _refuse_label(written: str, kinds: int, number: int, title: str, name: str) -> None:
    if kinds > MOST_LABELS:
        raise DataError(
            f"{name}: the label ({shown(title)}) has more than {MOST_LABELS:,} different values, so it does not name "
            "classes; label= or --label chooses another column."
        )
    raise DataError(
        f"{name}, line {number}: the label {shown(written)!r} goes over several lines; look for a quote that is not "
        "closed."
    )


def _numbers(cells: list[str], header: Sequence[str], place: int, number: int, name: str) -> list[float]:
    try:
        values = [float(cell) for cell in cells]
        if all(map(math.isfinite, values)) and not any("_" in cell for cell in cells):
            return values
    except ValueError:
        pass
    column = next(at for at, cell in enumerate(cells) if not is_number(cell) or not math.isfinite(float(cell)))
    place_in_file = column + (column >= place)
    title = f" ({shown(header[place_in_file])})" if header else ""
    value = cells[column].strip()
    what = f"is {shown(value)!r}" if value else "is empty"
    todo = "fill it in, encode it as a number, or leave the column out"
    if DECIMAL_COMMA.fullmatch(value):
        todo = "write numbers with decimal points, not decimal commas"
    raise DataError(
        f"{name}, line {number}, column {place_in_file + 1}{title} {what}; every cell but the label must be a finite "
        f"number: {todo}."
    )
