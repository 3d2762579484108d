"""Your file: what may be read, and arrays in NPZ, NPY and Parquet. Nothing in a file is executed, and nothing
large is read.

What is refused is refused in one sentence, before more memory is taken than `MOST_CELLS` numbers need.
"""

import math
import stat
import warnings
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Shaped

from widenet.errors import DataError

MAX_BYTES = 256 * 2**20
"""The largest file that is read, and the largest that an archive may unpack to."""
MOST_CELLS = 25_000_000
"""The most numbers that are kept."""
MOST_ROWS, MOST_COLUMNS = 1_000_000, 10_000
LONGEST_LIST = 2**20
"""The most bytes that the list of an archive's members may have."""
SHOWN = 40
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
UNPACK, IN_UTF_8 = "unpack it first", "save the table as CSV in UTF-8"
OTHERS = {
    **dict.fromkeys((".gz", ".bz2", ".xz", ".zst", ".zip"), UNPACK),
    **dict.fromkeys((".xls", ".xlsx", ".ods"), "save the sheet as CSV"),
}
"""What to do with files that are often tried."""
BEGINNINGS = {
    b"\x1f\x8b": ("compressed by gzip", UNPACK), b"BZh": ("compressed by bzip2", UNPACK),
    b"\xfd7zXZ": ("compressed by xz", UNPACK), b"\xff\xfe": ("text in UTF-16", IN_UTF_8),
    b"\xfe\xff": ("text in UTF-16", IN_UTF_8), b"\x89HDF": ("a file of HDF5", "save the table as CSV"),
    b"PK\x03\x04": ("an archive, as .npz, .zip and .xlsx are", "give it its own suffix, or save the table as CSV"),
    b"\x93NUMPY": ("an array of NumPy", "call it .npy"), b"PAR1": ("a table of Parquet", "call it .parquet"),
}  # fmt: skip
"""What a file is that begins so, whatever its name, and what to do."""


@dataclass(frozen=True, eq=False)
class Columns:
    """A table that was read.

    Attributes:
      inputs: one row per point.
      labels: as they are written, without blanks around them.
      columns: the names of the inputs; empty without a header.
      label: the name of the column of labels, or which it is.
      rows: which row of the table each point is (from 0); None where none was left out.
    """

    inputs: np.ndarray
    labels: Any
    columns: tuple[str, ...]
    label: str
    rows: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class GivenColumn:
    """A column of a table before anything is chosen.

    Attributes:
      name: as it is written.
      values: numbers in float64, with NaN where one is missing; dates and times, with NaT; or words, "" where one is
        missing.
      kind: what the table calls them.
      is_category: whether the table itself says that the words are kinds, also where they look like numbers.
    """

    name: str
    values: Float[np.ndarray, " row"] | Shaped[np.ndarray, " row"] | list[str]
    kind: str
    is_category: bool = False

    @property
    def is_numeric(self) -> bool:
        """Whether these are numbers."""
        return not isinstance(self.values, list) and self.values.dtype.kind == "f"


def shown(given: object, most: int = SHOWN) -> str:
    """A name or a value for a sentence: short, on one line, and without signs that a terminal would obey."""
    words = "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in str(given)[: most + 1])
    return words if len(words) <= most else f"{words[: most - 1]}…"


def first_line(error: BaseException) -> str:
    """What an error says, for the middle of a sentence."""
    lines = str(error).strip().splitlines()
    return shown(lines[0] if lines else type(error).__name__, 160).rstrip(".")


def name_of(path: Path) -> str:
    """What a file is called in a sentence."""
    return shown(path.name, 2 * SHOWN)


def kind_of(path: Path) -> str:
    """What a file holds.

    Raises:
      DataError: its suffix does not say.
    """
    suffix = path.suffix.lower()
    if suffix not in ENDINGS:
        what = OTHERS.get(suffix, f"use one of {', '.join(ENDINGS)}")
        raise DataError(f"cannot tell what {name_of(path)!r} holds from its suffix {shown(suffix)!r}; {what}.")
    return ENDINGS[suffix]


def require_readable(path: Path) -> Path:
    """The path, if it is a plain file of a size that can be read.

    Raises:
      DataError: it is not there, is a folder or a pipe, is too large, or may not be read.
    """
    called = shown(path, 200)
    try:
        found = path.stat()  # does not open it: a pipe would block
        if stat.S_ISDIR(found.st_mode):
            raise DataError(f"{called!r} is a folder; name a file in it.")
        if not stat.S_ISREG(found.st_mode):
            raise DataError(f"{called!r} is a pipe or a device; save its content to a file first.")
        if found.st_size == 0:
            raise DataError(f"{name_of(path)} is empty; give one point per line.")
        refuse_large(found.st_size, name_of(path))
        with path.open("rb"):
            pass
    except FileNotFoundError:
        raise DataError(f"there is no file {called!r}; check the name and the folder.") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise DataError(f"{called!r} cannot be read: {why.lower()}; check its name and its permissions.") from None
    return path


def refuse_other_content(path: Path, wanted: str) -> None:
    """Refuses a file whose first bytes are those of something else."""
    with path.open("rb") as file:
        begin = file.read(8)
    for known, (what, todo) in BEGINNINGS.items():
        if begin.startswith(known):
            raise DataError(f"{name_of(path)} is {what}, not {wanted}; {todo}.")


def refuse_large(n_bytes: int, what: str) -> None:
    """Refuses more bytes than `MAX_BYTES`."""
    if n_bytes > MAX_BYTES:
        raise DataError(
            f"{what} has {n_bytes / 2**20:,.0f} MiB, more than the {MAX_BYTES / 2**20:.0f} MiB read from a file; "
            "take a part of it."
        )


def refuse_many(rows: int, columns: int, what: str) -> None:
    """Refuses more rows, columns or cells than can be worked with in a minute."""
    if columns > MOST_COLUMNS:
        raise DataError(f"{what} has {columns:,} columns, more than the {MOST_COLUMNS:,} read; choose some of them.")
    if rows > MOST_ROWS:
        raise DataError(f"{what} has more than {MOST_ROWS:,} rows; take a part of it, drawn at random.")
    if rows * columns > MOST_CELLS:
        raise DataError(
            f"{what} has {rows:,} rows of {columns:,} columns, more than {MOST_CELLS:,} numbers; take a part of it."
        )


def read_npz(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and labels of an archive made by `numpy.savez`."""
    name = name_of(path)
    try:
        _refuse_crowded(path)
        with zipfile.ZipFile(path) as archive:
            members = {each.filename.removesuffix(".npy"): each for each in archive.infolist()}
            refuse_large(sum(each.file_size for each in members.values()), f"{name}, unpacked,")
            pair = next((pair for pair in PAIRS if set(pair) <= set(members)), None)
            if pair is None:
                found = ", ".join(map(shown, list(members)[:8])) or "nothing"
                raise DataError(
                    f"{name} has no arrays named inputs and labels (it holds {found}); "
                    "save it with numpy.savez(path, inputs=..., labels=...)."
                )
            return _member(archive, members[pair[0]], name), _member(archive, members[pair[1]], name)
    except DataError:
        raise
    except Exception as error:  # damaged archives make zipfile raise errors of a dozen kinds
        raise DataError(
            f"{name} cannot be read as an archive of arrays ({first_line(error)}); save it with numpy.savez."
        ) from None


def _refuse_crowded(path: Path) -> None:
    """An archive ends with the list of its members: one of millions would fill the memory before it is counted."""
    with path.open("rb") as file:
        file.seek(-min(path.stat().st_size, 22 + 2**16), 2)
        tail = file.read()
    end = tail.rfind(b"PK\x05\x06")
    if end < 0:
        return  # zipfile will not find it either
    has_long_form = tail[max(end - 20, 0) : end].startswith(b"PK\x06\x07")  # for more than fits in the short one
    if has_long_form or int.from_bytes(tail[end + 12 : end + 16], "little") > LONGEST_LIST:
        raise DataError(f"{name_of(path)} has too many members; save inputs and labels alone with numpy.savez.")


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> np.ndarray:
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # others unpack without any bound
        raise DataError(f"{name} is compressed in a way that NumPy does not use; save it with numpy.savez.")
    with archive.open(info) as file:
        return _array(file, info.file_size, f"{name}: {shown(info.filename.removesuffix('.npy'))}")


def read_npy(path: Path) -> np.ndarray:
    """One array."""
    try:
        with path.open("rb") as file:
            return _array(file, path.stat().st_size, name_of(path))
    except OSError as error:
        raise DataError(f"{name_of(path)} cannot be read: {(error.strerror or str(error)).lower()}.") from None


def _array(file: Any, n_bytes: int, what: str) -> np.ndarray:
    """An array without pickled objects, whose header promises what the file has: no more, and no less."""
    shape, by_column, dtype = _header(file, what)
    if dtype.hasobject:
        raise DataError(f"{what} holds pickled Python objects, which are not read; save it as numbers or text.")
    if min(shape, default=1) < 0 or not dtype.itemsize:
        raise DataError(f"{what} cannot be read as an array (shape {shown(shape)} of {shown(dtype)}); save it again.")
    if not math.prod(shape):
        raise DataError(f"{what} is empty (its shape is {shown(shape)}); give at least one point of each class.")
    wanted = math.prod(shape) * dtype.itemsize
    if wanted <= n_bytes and shape:
        refuse_many(shape[0], math.prod(shape[1:]), what)
    raw = file.read(wanted) if wanted <= n_bytes else b""
    if len(raw) < wanted:
        raise DataError(f"{what} is cut off: its header promises shape {shown(shape)}, more than the file holds.")
    if file.read(1):
        raise DataError(f"{what} holds more than the shape {shown(shape)} that its header promises; save it again.")
    return np.frombuffer(raw, dtype).reshape(shape, order="F" if by_column else "C")


def _header(file: Any, what: str) -> tuple[tuple[int, ...], bool, np.dtype]:
    form = np.lib.format
    try:
        with warnings.catch_warnings(action="ignore"):  # about headers of Python 2
            version = form.read_magic(file)
            read = form.read_array_header_1_0 if version == (1, 0) else form.read_array_header_2_0
            return read(file)
    except Exception as error:  # what a wrong header makes its parsers raise has no end
        raise DataError(f"{what} cannot be read as an array ({first_line(error)}); save it with numpy.save.") from None


def read_parquet(path: Path, choose: Callable[[list[str]], int]) -> Columns:
    """A table of numbers in Parquet; needs pyarrow. `choose` says which column has the labels."""
    columns, labels, title = read_typed_parquet(path, lambda names: (choose(names), set()))
    numbers = require_numbers(columns, name_of(path))
    return Columns(numbers, labels, tuple(column.name for column in columns), title)


def require_numbers(columns: Sequence[GivenColumn], source: str) -> np.ndarray:
    """The columns side by side.

    Raises:
      DataError: one of them does not hold numbers.
    """
    for column in columns:
        if not column.is_numeric:
            raise refused_column(source, column.name, column.kind)
    return np.column_stack([column.values for column in columns])


def refused_column(source: str, column: str, what: object) -> DataError:
    """A column that holds something else than numbers."""
    return DataError(
        f"{source}, column {shown(column)!r} holds {shown(what)}, not numbers; encode it as numbers or leave it out."
    )


def read_typed_parquet(
    path: Path, choose: Callable[[list[str]], tuple[int, set[int]]]
) -> tuple[list[GivenColumn], list[Any], str]:
    """The columns of a table of Parquet, the labels, and what these are called.

    `choose` says which column has the labels, and which are left out.
    """
    name = name_of(path)
    try:
        import pyarrow as arrow  # pyright: ignore[reportMissingImports]
        from pyarrow import parquet  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise DataError(
            f"{name} needs pyarrow to be read; install it with 'pip install pyarrow', or save it as CSV."
        ) from None
    try:
        schema = parquet.read_schema(path)
        names = [str(each) for each in schema.names]
        place, left_out = choose(names)
        kept = [column for column in range(len(names)) if column not in (place, *left_out)]
        words = [field.name for field in schema if _is_text(arrow, field.type)]
        with parquet.ParquetFile(path, read_dictionary=[*words, schema.names[place]]) as file:
            refuse_many(file.metadata.num_rows, len(names), name)
            _refuse_other_types(arrow, [schema.field(column) for column in kept], name)
            table = file.read()
        found = [
            GivenColumn(
                names[column],
                _values(arrow, schema.field(column).type, table.column(column)),
                str(schema.field(column).type),
                _is_category(arrow, schema.field(column).type),
            )
            for column in kept
        ]
        return found, _words(arrow, table.column(place)), names[place]
    except DataError:
        raise
    except Exception as error:  # pyarrow's errors have no common kind
        raise DataError(f"{name} cannot be read as Parquet ({first_line(error)}); save it again.") from None


def _values(arrow: Any, kind: Any, column: Any) -> np.ndarray | list[str]:
    """A column of Parquet as `GivenColumn` has it."""
    if arrow.types.is_date(kind) or arrow.types.is_timestamp(kind):
        return column.cast(arrow.timestamp("us", getattr(kind, "tz", None))).to_numpy().astype("datetime64[us]")
    if _is_text(arrow, kind) or _is_category(arrow, kind):
        return ["" if word is None else str(word).strip() for word in _words(arrow, column)]
    return column.cast(arrow.float64()).to_numpy()


def _words(arrow: Any, column: Any) -> list[Any]:
    """Read as a dictionary, a long word that occurs a million times takes the room of one."""
    found: list[Any] = []
    for part in column.chunks:
        if arrow.types.is_dictionary(part.type):
            words = part.dictionary.to_pylist()
            found += [None if place is None else words[place] for place in part.indices.to_pylist()]
        else:
            found += part.to_pylist()
    return found


def _is_text(arrow: Any, kind: Any) -> bool:
    return arrow.types.is_string(kind) or arrow.types.is_large_string(kind)


def _is_category(arrow: Any, kind: Any) -> bool:
    return arrow.types.is_dictionary(kind)


def _refuse_other_types(arrow: Any, fields: Sequence[Any], name: str) -> None:
    kinds = arrow.types
    usable = (kinds.is_integer, kinds.is_floating, kinds.is_boolean, kinds.is_decimal, kinds.is_date,
              kinds.is_timestamp, kinds.is_string, kinds.is_large_string, kinds.is_dictionary)  # fmt: skip
    for field in fields:
        if not any(is_kind(field.type) for is_kind in usable):
            raise refused_column(name, field.name, field.type)
