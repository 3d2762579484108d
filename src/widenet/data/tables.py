"""A reader's own file: a CSV table, or an .npz archive with the arrays `inputs` and `labels`.

Nothing in a file is ever executed: no pickle is read.
"""

import csv
import math
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from widenet.data.arrays import from_arrays
from widenet.errors import DataError
from widenet.types import Dataset

MAX_BYTES = 256 * 2**20
LABEL_NAMES = ("label", "labels", "y")


def load_file(path: str | Path) -> Dataset:
    """A data set from a .csv or .npz file, by its suffix."""
    suffix = Path(path).suffix.lower()
    if suffix == ".npz":
        return load_npz(path)
    if suffix in (".csv", ".txt"):
        return load_csv(path)
    raise DataError(f"cannot tell what {str(path)!r} holds from its suffix {suffix!r}; use .csv or .npz.")


def load_csv(path: str | Path, *, label: str | None = None) -> Dataset:
    """A data set from a table of numbers separated by commas, one point per line.

    A first line without numbers, or with the name of the label in it, is a header. The label is the column with the
    name `label` if given, else the one called `label`, `labels` or `y`, else the last.
    """
    path = _existing(path)
    # utf-8-sig: spreadsheets put a byte-order mark before the first name.
    with path.open(newline="", encoding="utf-8-sig") as file:
        try:
            lines = _lines(file, path.name)
            number, first = next(lines, (0, []))
            if not first:
                raise DataError(f"{path.name} is empty; give one point per line.")
            if len(first) < 2:
                found = next((f" (found {sign!r} in its first line)" for sign in (";", "\t") if sign in first[0]), "")
                raise DataError(
                    f"{path.name} has one column{found}; give the coordinates and then the label, separated by commas."
                )
            header = _header(first, label)
            label_column = _label_column(header, label, path.name) % len(first)
            rows = [] if header else [_parse(first, header, number, path.name)]
            for number, cells in lines:
                if len(cells) != len(first):
                    raise DataError(
                        f"{path.name}, line {number} has {len(cells)} columns and the first line {len(first)}; "
                        "give every line the same number."
                    )
                rows.append(_parse(cells, header, number, path.name))
        except UnicodeDecodeError as error:
            raise DataError(f"{path.name} is not a text file ({error.reason}); save it as CSV in UTF-8.") from error
        except csv.Error as error:
            raise DataError(f"{path.name} is not a CSV table ({error}).") from error
    if not rows:
        raise DataError(f"{path.name} has a header and no points; give one point per line.")
    table = np.stack(rows)
    try:
        return from_arrays(np.delete(table, label_column, axis=1), table[:, label_column])
    except DataError as error:
        title = f" ({header[label_column]})" if header else ""
        raise DataError(
            f"{path.name}, with the label in column {label_column + 1}{title} (label='NAME' chooses another): {error}"
        ) from error


def load_npz(path: str | Path) -> Dataset:
    """A data set from an archive made by `numpy.savez(path, inputs=…, labels=…)`."""
    path = _existing(path)
    try:
        with zipfile.ZipFile(path) as archive:
            # A small file may unpack to a huge one.
            _refuse_large(sum(member.file_size for member in archive.infolist()), f"{path.name}, unpacked,")
        with np.load(path, allow_pickle=False) as arrays:
            missing = {"inputs", "labels"} - set(arrays.files)
            if missing:
                found = ", ".join(arrays.files[:8]) or "nothing"
                raise DataError(
                    f"{path.name} has no array named {' or '.join(sorted(missing))} (it holds {found}); "
                    "save it with numpy.savez(path, inputs=..., labels=...)."
                )
            inputs, labels = arrays["inputs"], arrays["labels"]
    except (zipfile.BadZipFile, ValueError, OSError, EOFError) as error:
        raise DataError(f"{path.name} cannot be read as arrays of numbers ({error}).") from error
    return from_arrays(inputs, labels)


def _existing(path: str | Path) -> Path:
    path = Path(path)
    if path.is_dir():
        raise DataError(f"{str(path)!r} is a folder; name a file in it.")
    if not path.is_file():
        raise DataError(f"there is no file {str(path)!r}; check the name and the folder.")
    _refuse_large(path.stat().st_size, path.name)
    return path


def _refuse_large(n_bytes: int, what: str) -> None:
    if n_bytes > MAX_BYTES:
        raise DataError(
            f"{what} has {n_bytes / 2**20:.0f} MiB, more than the {MAX_BYTES / 2**20:.0f} MiB read from a file; "
            "take a part of it."
        )


def _lines(file, name: str) -> Iterator[tuple[int, list[str]]]:
    """(line number, cells) of every line that is not blank."""
    reader = csv.reader(file)
    for cells in reader:
        if any(cell.strip() for cell in cells):
            yield reader.line_num, cells


def _header(first: list[str], label: str | None) -> list[str] | None:
    """The names in the first line, or None when it is a point (perhaps one with a mistake in it)."""
    names = [cell.strip() for cell in first]
    known = {label} if label else {name for name in names if name.lower() in LABEL_NAMES}
    if known & set(names) or not any(_is_number(cell) for cell in first):
        return names
    return None


def _label_column(header: list[str] | None, label: str | None, name: str) -> int:
    names = header or []
    if label is not None:
        if label not in names:
            raise DataError(f"{name} has no column {label!r}; its first line is {', '.join(names) or 'a point'}.")
        return names.index(label)
    found = [column for column, title in enumerate(names) if title.lower() in LABEL_NAMES]
    if len(found) > 1:
        both = " and ".join(repr(names[column]) for column in found)
        raise DataError(f"{name} has columns {both}; say which is the label with label='NAME' and drop the other.")
    return found[0] if found else -1


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _parse(cells: list[str], header: list[str] | None, number: int, name: str) -> np.ndarray:
    for column, cell in enumerate(cells):
        if not _is_number(cell) or not math.isfinite(float(cell)):
            title = f" ({header[column]})" if header else ""
            value = cell.strip()
            what = repr(value[:40]) if value else "empty"
            raise DataError(
                f"{name}, line {number}, column {column + 1}{title} is {what}; every cell must be a finite number."
            )
    return np.array([float(cell) for cell in cells])
