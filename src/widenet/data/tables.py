"""A reader's own file: a CSV table, or an .npz archive with the arrays `inputs` and `labels`.

Nothing in a file is ever executed: no pickle is read.
"""

import csv
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


def load_csv(path: str | Path) -> Dataset:
    """A data set from a table of numbers separated by commas, one point per line.

    The label is the column named `label`, `labels` or `y` if there is a header with such a name, and the last column
    otherwise. A first line that is not all numbers is a header.
    """
    path = _existing(path)
    # utf-8-sig: spreadsheets put a byte-order mark before the first name.
    with path.open(newline="", encoding="utf-8-sig") as file:
        try:
            lines = _lines(file, path.name)
            number, first = next(lines, (0, []))
            if not first:
                raise DataError(f"{path.name} is empty; give one point per line.")
            header = None if all(_is_number(cell) for cell in first) else [cell.strip() for cell in first]
            if len(first) < 2:
                raise DataError(
                    f"{path.name} has one column; give the coordinates and then the label, separated by commas."
                )
            label_column = _label_column(header)
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
    return from_arrays(np.delete(table, label_column, axis=1), table[:, label_column])


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


def _label_column(header: list[str] | None) -> int:
    if header:
        names = [cell.lower() for cell in header]
        for name in LABEL_NAMES:
            if name in names:
                return names.index(name)
    return -1


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _parse(cells: list[str], header: list[str] | None, number: int, name: str) -> np.ndarray:
    try:
        return np.array([float(cell) for cell in cells])
    except ValueError:
        column = next(i for i, cell in enumerate(cells) if not _is_number(cell))
        title = f" ({header[column]})" if header else ""
        value = cells[column].strip()
        what = "empty" if not value else f"{value[:40]!r}, not a number"
        raise DataError(
            f"{name}, line {number}, column {column + 1}{title} is {what}; every cell must be a number."
        ) from None
