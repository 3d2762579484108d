"""Tables that are not plain numbers: words, dates, missing values, decimal commas and Latin-1, with the usual choices.

Text, data frames and Parquet come here as the same columns.

What was chosen is said. A table that needs other choices is refused, as is one that no choice makes usable.
"""

import csv
import io
import itertools
import math
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from pathlib import Path

import numpy as np
from jaxtyping import Float

from widenet.console.wording import counted
from widenet.data import text
from widenet.data.archives import Columns, GivenColumn, name_of, shown
from widenet.errors import DataError

MOST_BYTES = 64 << 20
FEWEST_ROWS = 10
"""With fewer rows it cannot be told what a column holds; columns are dropped from any table."""
MOST_WORDS = 20
"""A column of more different words is no kind of a point, but a name or a text."""
FULL, KEPT = 0.5, 0.5
"""A column is left out if a smaller share of it is there; a table is refused if a smaller share of its rows is left."""
DATES = ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%d.%m.%Y", "%m/%d/%Y", "%Y/%m/%d")

MOST_NAMED = 4
"""So many classes, and columns that miss values, are named."""
START = np.datetime64("2000-01-01")


class UnusableColumns(DataError):
    """Columns that no usual choice makes usable."""


Added = list[tuple[str, Float[np.ndarray, " row"]]]


def read_loosely(
    path: Path, separator: str, label: str | None, drop: Sequence[str | int]
) -> tuple[Columns, tuple[str, ...]]:
    """A table of text, and what was chosen to make it one of numbers.

    Raises:
      DataError: no usual choice makes it one; one sentence.
    """
    name, notes = name_of(path), []
    raw = path.read_bytes()
    if len(raw) > MOST_BYTES:
        raise DataError(f"{name} holds more than {MOST_BYTES >> 20} MiB; leave columns out beforehand.")
    try:
        content = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        content = raw.decode("latin-1")
        notes.append("The file is not UTF-8 and was read as Latin-1.")
    first = content.partition("\n")[0]
    if separator == "," and first.count(";") > first.count(","):
        separator = ";"
    lines = [[cell.strip() for cell in line] for line in csv.reader(io.StringIO(content), delimiter=separator) if line]
    if len(lines) < 3 or any(len(line) != len(lines[0]) for line in lines):
        raise DataError(
            f"{name} is no table: its lines have different numbers of cells, or there are fewer than three."
        )
    if not drop:
        refuse_few(len(lines) - 1, name)
    names = lines[0]
    if any(text.is_number(cell) for cell in names) or len(set(names)) < len(names):
        raise DataError(f"{name} needs a first line with a name for each column.")
    place = text.label_among(names, label, name)
    columns = list(map(list, zip(*lines[1:], strict=True)))
    labels, title = columns[place], names[place]
    left_out = dropped(names, drop, place, name)
    kept = [column for column in range(len(names)) if column != place and column not in left_out]
    given = [GivenColumn(names[column], columns[column], "text") for column in kept]
    return as_numbers(given, labels, title, name, separator != ",", notes)


def refuse_few(rows: int, source: str) -> None:
    """Refuses a table in which too little is seen of what its columns hold."""
    if rows < FEWEST_ROWS:
        raise DataError(f"{source} has fewer than {FEWEST_ROWS} rows, too few to tell what its columns hold.")


def is_plain(columns: Sequence[GivenColumn], labels: Sequence[str]) -> bool:
    """Whether there is nothing to choose: all columns are numbers, and nothing is missing."""
    return not any(map(has_no_label, labels)) and all(
        each.is_numeric and not np.isnan(np.asarray(each.values)).any() for each in columns
    )


def dropped(names: Sequence[str], drop: Sequence[str | int], label: int, source: str) -> set[int]:
    """Which columns you want left out.

    Raises:
      DataError: there is no such column, or it has the labels.
    """
    found = set()
    for each in map(str, drop):
        number = int(each) - 1 if text.is_count(each) and each not in names else -1
        place = names.index(each) if each in names else number
        if place < 0 and "," in each and all(part.strip() in names for part in each.split(",")):
            repeated = " ".join(f"--drop {shlex.quote(shown(part.strip()))}" for part in each.split(","))
            raise DataError(f"{source} has no column {shown(each)!r} to drop; repeat --drop: {repeated}.")
        if not 0 <= place < len(names):
            raise DataError(f"{source} has no column {shown(each)!r} to drop; it has {shown(', '.join(names))}.")
        if place == label:
            raise DataError(f"the column {shown(names[place])!r} has the labels; drop another one.")
        found.add(place)
    return found


def as_numbers(
    columns: Sequence[GivenColumn],
    labels: Sequence[str],
    title: str,
    source: str,
    may_have_commas: bool = False,
    earlier: Sequence[str] = (),
) -> tuple[Columns, tuple[str, ...]]:
    """A table of numbers, and what was chosen to make it one, after what was chosen `earlier`.

    Raises:
      DataError: no usual choice makes it one; one sentence.
    """
    added, sparse, notes = list[tuple[str, np.ndarray]](), [], list(earlier)
    unusable, missed = dict[str, str](), dict[str, int]()
    for column in columns:
        if (share := _share_there(column)) < FULL:
            sparse.append(column.name)
            continue
        missed[column.name] = round((1 - share) * len(labels))
        if isinstance(column.values, list):
            added += _from_words(column, column.values, may_have_commas, notes, unusable)
        elif column.values.dtype.kind == "M":
            notes.append(f"The dates of {shown(column.name)} were read as days.")
            added.append((column.name, (column.values - START) / np.timedelta64(1, "D")))
        else:
            added.append((column.name, column.values))
    if unusable:
        raise UnusableColumns(f"{source}: {_unusable(unusable)}")
    if sparse:
        verb = "is" if len(sparse) == 1 else "are"
        notes.append(
            f"{counted(len(sparse), 'column')} ({', '.join(map(shown, sparse))}) {verb} mostly missing and left out."
        )
    if not added:
        raise DataError(f"{source} has no column of numbers, words or dates that could be used.")
    inputs = np.column_stack([numbers for _, numbers in added])
    whole = ~np.isnan(inputs).any(axis=1) & np.array([not has_no_label(each) for each in labels])
    if whole.sum() < KEPT * len(whole):
        raise DataError(
            f"{source} has missing values in {np.sum(~whole):,} of {len(whole):,} rows; fill them in, or drop the "
            "columns that miss most."
        )
    if not whole.all():
        notes.append(_left_out(~whole, labels, missed))
    own = [each for each, is_kept in zip(labels, whole, strict=True) if is_kept]
    kept = np.flatnonzero(whole)
    return Columns(inputs[kept], own, tuple(name for name, _ in added), title, kept), tuple(notes)


def _unusable(found: Mapping[str, str]) -> str:
    """Which columns cannot be used, why, and what leaves them out."""
    told = ", ".join(f"{shown(name)} ({why})" for name, why in found.items())
    options = " ".join(f"--drop {shlex.quote(shown(name))}" for name in found)
    this = "it" if len(found) == 1 else "them"
    return (
        f"{counted(len(found), 'column')} cannot be used: {told}. Leave {this} out with {options} (in Python "
        f"drop={list(map(shown, found))})."
    )


def _left_out(flags: np.ndarray, labels: Sequence[str], missed: Mapping[str, int]) -> str:
    """How many rows were left out, how many of each class, and which columns miss most."""
    every, own = Counter(labels), Counter(itertools.compress(labels, flags))
    kinds = sorted(each for each in every if not has_no_label(each))
    parts = [f"{own[each]:,} of {every[each]:,} {shown(each)}" for each in kinds] if len(kinds) <= MOST_NAMED else []
    if nameless := sum(map(has_no_label, labels)):
        parts.append(f"{nameless:,} without a label")
    most = [(name, count) for name, count in Counter(missed).most_common(MOST_NAMED) if count]
    columns = ", ".join(f"{shown(name)} ({count:,})" for name, count in most)
    said = f"{counted(int(flags.sum()), 'row')} with missing values {_were(flags)} left out"
    said += f": {', '.join(parts)}." if parts else "."
    return f"{said} Most are missing in {columns}." if columns else said


def _were(flags: np.ndarray) -> str:
    return "was" if flags.sum() == 1 else "were"


def is_missing(cell: str) -> bool:
    """Whether a cell says that there is no value."""
    return cell.lower() in (*text.NO_VALUE, "?", "-")


def has_no_label(cell: str) -> bool:
    """Whether a label says that there is none; + and − are the names of classes."""
    return cell.lower() in (*text.NO_VALUE, "?")


def _share_there(column: GivenColumn) -> float:
    """The share of a column that is not missing."""
    if isinstance(column.values, list):
        missing = np.array([is_missing(cell) for cell in column.values])
    else:
        missing = np.isnat(column.values) if column.values.dtype.kind == "M" else np.isnan(column.values)
    return 1 - float(np.mean(missing))


def _from_words(
    column: GivenColumn, cells: Sequence[str], may_have_commas: bool, notes: list[str], unusable: dict[str, str]
) -> Added:
    """A column as one of numbers, or as several."""
    name, given = column.name, [cell for cell in cells if not is_missing(cell)]
    if column.is_category:
        return _kinds(name, cells, given, notes, unusable)
    if all(map(text.is_number, given)):
        return [(name, np.array([math.nan if is_missing(cell) else float(cell) for cell in cells]))]
    if may_have_commas and all(text.is_number(cell.replace(",", ".")) for cell in given):
        notes.append(f"The decimal commas of {shown(name)} were read as points.")
        changed = [cell.replace(",", ".") for cell in cells]
        return [(name, np.array([math.nan if is_missing(cell) else float(cell) for cell in changed]))]
    days = [_day(cell) for cell in given]
    if all(day is not None for day in days):
        notes.append(f"The dates of {shown(name)} were read as days.")
        known = iter(days)
        return [(name, np.array([math.nan if is_missing(cell) else float(next(known) or 0.0) for cell in cells]))]
    if 2 * sum(map(text.is_number, given)) > len(given):
        row = next(row for row, cell in enumerate(cells, 1) if not is_missing(cell) and not text.is_number(cell))
        unusable[name] = f"numbers, but {shown(cells[row - 1])!r} in row {row:,}, which you could mend"
        return []
    return _kinds(name, cells, given, notes, unusable)


def _kinds(name: str, cells: Sequence[str], given: Sequence[str], notes: list[str], unusable: dict[str, str]) -> Added:
    """A column of 0 and 1 for each word."""
    kinds = sorted(set(given))
    if len(kinds) > min(MOST_WORDS, len(given) // 2):
        unusable[name] = f"{len(kinds):,} different words"
        return []
    if len(kinds) == 2:
        notes.append(f"The 2 words of {shown(name)} became one column of 0 and 1 (1: {shown(kinds[1])}).")
    else:
        notes.append(f"Each of the {len(kinds)} words of {shown(name)} became a column of 0 and 1.")
    missing = np.array([is_missing(cell) for cell in cells])
    found = np.array([[cell == kind for kind in kinds] for cell in cells], float)
    found[missing] = math.nan
    chosen = kinds[1:] if len(kinds) == 2 else kinds
    return [(f"{name}={kind}", found[:, kinds.index(kind)]) for kind in chosen]


def _day(cell: str) -> float | None:
    """Days since 2000; None of what is no date."""
    for form in DATES:
        try:
            moment = datetime.strptime(cell, form)
        except ValueError:
            continue
        return (moment - datetime.combine(date(2000, 1, 1), datetime.min.time())).total_seconds() / 86_400
    return None
