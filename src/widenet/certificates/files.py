"""A reader's file of arrays: NPZ, NPY, Parquet. Nothing in a file is executed, and nothing large is read.

What is refused is refused in one sentence, before more memory is taken than `MOST_CELLS` numbers need.
"""

import stat
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from widenet.errors import DataError

MAX_BYTES = 256 * 2**20
"""The largest file that is read, and the largest that an archive may unpack to."""
MOST_CELLS = 25_000_000
"""The most numbers that are kept."""
MOST_COLUMNS = 10_000
PAIRS = (
    ("inputs", "labels"),
    ("X", "y"),
    ("x", "y"),
    ("data", "target"),
    ("x_train", "y_train"),
    ("X_train", "y_train"),
)
"""What inputs and labels are called in an archive."""
ENDINGS = {
    ".csv": "csv", ".txt": "csv", ".tsv": "tsv", ".tab": "tsv",
    ".npz": "npz", ".npy": "npy", ".parquet": "parquet", ".pq": "parquet",
}  # fmt: skip
"""What a file holds, by its suffix."""


def kind_of(path: Path) -> str:
    """What a file holds.

    Raises:
      DataError: its suffix does not say.
    """
    suffix = path.suffix.lower()
    if suffix not in ENDINGS:
        known = ", ".join(ENDINGS)
        raise DataError(f"cannot tell what {path.name!r} holds from its suffix {suffix!r}; use one of {known}.")
    return ENDINGS[suffix]


def require_readable(path: Path) -> Path:
    """The path, if it is a plain file of a size that can be read.

    Raises:
      DataError: it is not there, is a folder or a pipe, is too large, or may not be read.
    """
    try:
        found = path.stat()  # does not open it: a pipe would block
        if stat.S_ISDIR(found.st_mode):
            raise DataError(f"{str(path)!r} is a folder; name a file in it.")
        if not stat.S_ISREG(found.st_mode):
            raise DataError(f"{str(path)!r} is a pipe or a device; save its content to a file first.")
        if found.st_size == 0:
            raise DataError(f"{path.name} is empty; give one point per line.")
        refuse_large(found.st_size, path.name)
        with path.open("rb"):
            pass
    except FileNotFoundError:
        raise DataError(f"there is no file {str(path)!r}; check the name and the folder.") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise DataError(f"{str(path)!r} cannot be read: {why.lower()}.") from None
    return path


def refuse_large(n_bytes: int, what: str) -> None:
    """Refuses more bytes than `MAX_BYTES`."""
    if n_bytes > MAX_BYTES:
        raise DataError(
            f"{what} has {n_bytes / 2**20:,.0f} MiB, more than the {MAX_BYTES / 2**20:.0f} MiB read from a file; "
            "take a part of it."
        )


def refuse_many(rows: int, columns: int, what: str) -> None:
    """Refuses more columns or cells than can be worked with in a minute."""
    if columns > MOST_COLUMNS:
        raise DataError(f"{what} has {columns:,} columns, more than the {MOST_COLUMNS:,} read; choose some of them.")
    if rows * columns > MOST_CELLS:
        raise DataError(
            f"{what} has {rows:,} rows of {columns:,} columns, more than {MOST_CELLS:,} numbers; take a part of it."
        )


def read_npz(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and labels of an archive made by `numpy.savez`."""
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = {each.filename.removesuffix(".npy"): each.file_size for each in archive.infolist()}
            refuse_large(sum(sizes.values()), f"{path.name}, unpacked,")
            pair = next((pair for pair in PAIRS if set(pair) <= set(sizes)), None)
            if pair is None:
                found = ", ".join(list(sizes)[:8]) or "nothing"
                raise DataError(
                    f"{path.name} has no arrays named inputs and labels (it holds {found}); "
                    "save it with numpy.savez(path, inputs=..., labels=...)."
                )
            arrays = []
            for name in pair:
                with archive.open(f"{name}.npy") as member:
                    arrays.append(_array(member, sizes[name], f"{path.name}: {name}"))
    except (zipfile.BadZipFile, EOFError, KeyError, RuntimeError, NotImplementedError, OSError) as error:
        raise DataError(f"{path.name} cannot be read as an archive of arrays ({error}).") from None
    return arrays[0], arrays[1]


def read_npy(path: Path) -> np.ndarray:
    """One array."""
    try:
        with path.open("rb") as file:
            return _array(file, path.stat().st_size, path.name)
    except OSError as error:
        raise DataError(f"{path.name} cannot be read: {(error.strerror or str(error)).lower()}.") from None


def _array(file: Any, n_bytes: int, what: str) -> np.ndarray:
    """An array without pickled objects, whose header does not promise more than the file has."""
    form = np.lib.format
    try:
        version = form.read_magic(file)
        read = form.read_array_header_1_0 if version == (1, 0) else form.read_array_header_2_0
        shape, by_column, dtype = read(file)
        if dtype.hasobject:
            raise DataError(f"{what} holds pickled Python objects, which are not read; save it as numbers or text.")
        count = int(np.prod(shape, dtype=object)) if shape else 1
        if count * dtype.itemsize > n_bytes:
            raise DataError(f"{what} is cut off: its header promises {count:,} entries, more than the file holds.")
        raw = file.read(count * dtype.itemsize)
        if len(raw) < count * dtype.itemsize:
            raise DataError(f"{what} is cut off: its header promises {count:,} entries, more than the file holds.")
        return np.frombuffer(raw, dtype).reshape(shape, order="F" if by_column else "C")
    except (ValueError, TypeError, SyntaxError, zipfile.BadZipFile, EOFError) as error:
        raise DataError(f"{what} cannot be read as an array ({error}).") from None


def read_parquet(path: Path) -> Any:
    """A table of Parquet as a data frame; needs pyarrow."""
    try:
        import pyarrow.parquet as parquet  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise DataError(
            f"{path.name} needs pyarrow to be read; install it with 'pip install pyarrow', or save it as CSV."
        ) from None
    try:
        file = parquet.ParquetFile(path)
        refuse_many(file.metadata.num_rows, file.metadata.num_columns, path.name)
        return file.read().to_pandas()
    except (OSError, ValueError) as error:  # errors of pyarrow are of these kinds
        raise DataError(f"{path.name} cannot be read as Parquet ({str(error).splitlines()[0]}).") from None
