"""Files that cannot be used. Small ones lie here, each with its sentence in sentences.toml; others are made by code."""

import io
import os
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from widenet.data import archives

FOLDER = Path(__file__).parent
SENTENCES = FOLDER / "sentences.toml"
FLOWERS = "length,width,kind\n1.4,0.2,rose\n1.5,0.1,rose\n4.7,1.4,lily\n4.9,1.8,lily\n"


def npy(array: np.ndarray) -> bytes:
    """The bytes of a NPY file."""
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def promised(shape: str, content: bytes = b"", kind: str = "'<f8'") -> bytes:
    """A NPY file with this header, whatever is true."""
    header = f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return np.lib.format.magic(1, 0) + len(header).to_bytes(2, "little") + header + content


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def bomb(path: Path) -> None:
    """A small archive that unpacks to more than may be read."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("X.npy", "w") as member:
            for _ in range(archives.MAX_BYTES // 2**20 + 1):
                member.write(bytes(2**20))
        archive.writestr("y.npy", b"")


def bomb_that_lies(path: Path) -> None:
    """An archive whose list says that its members are small."""
    array = npy(np.zeros((50_000, 80)))  # 32 MB, of which the list admits 4000 bytes
    content = zipped({"X.npy": array, "y.npy": npy(np.arange(50_000) % 2)})
    path.write_bytes(content.replace(struct.pack("<L", len(array)), struct.pack("<L", 4000)))


def bomb_of_another_kind(path: Path) -> None:
    """LZMA unpacks all at once, whatever the list says."""
    array = npy(np.zeros((50_000, 80)))
    path.write_bytes(zipped({"X.npy": array, "y.npy": array}, zipfile.ZIP_LZMA))


def crowded(path: Path) -> None:
    """An archive that lists a hundred thousand members, all of them the same few bytes."""
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 0, 0, 33, 0, 0, 0, 1, 0) + b"a"
    entry = struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, 0, 0, 33, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"a"
    count = 100_000
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count % 2**16, count % 2**16, len(entry) * count, len(local), 0)
    path.write_bytes(local + entry * count + end)


def damaged(path: Path) -> None:
    """An archive in whose middle some bytes are wrong."""
    array = npy(np.random.default_rng(0).normal(size=(50, 3)))
    content = bytearray(zipped({"X.npy": array, "y.npy": npy(np.arange(50) % 2)}))
    content[200:220] = bytes(20)
    path.write_bytes(content)


def sparse(path: Path) -> None:
    """3 GiB of nothing."""
    with path.open("wb") as file:
        file.truncate(3 * 2**30)


def sparse_text(path: Path) -> None:
    """As much nothing as may be read."""
    with path.open("wb") as file:
        file.truncate(archives.MAX_BYTES)


def many_rows(path: Path) -> None:
    """More rows than are read, as short as they can be."""
    path.write_bytes(b"1,a\n2,b\n" * (archives.MOST_ROWS // 2 + 1))


def many_labels(path: Path) -> None:
    """A label of its own for every row."""
    path.write_text("".join(f"{row % 7},name {row}\n" for row in range(20_000)))


def loop(path: Path) -> None:
    """A link to itself."""
    path.symlink_to(path.name)


def forbidden(path: Path) -> None:
    """A file that may not be read; root may."""
    path.write_text(FLOWERS)
    path.chmod(0)


def linked(path: Path) -> None:
    """A link to an endless device."""
    path.symlink_to("/dev/zero")


GOOD = npy(np.array([[1.0, 2.0], [3.0, 4.0]]))
NESTED = b"\x93NUMPY\x01\x00" + (8000).to_bytes(2, "little") + b"-" * 7999 + b"\n"
LONG_HEADER = b"\x93NUMPY\x02\x00" + (2**20).to_bytes(4, "little") + b" " * 2**20

MADE: dict[str, tuple[bytes | Callable[[Path], object], str]] = {
    "million_columns.csv": (b",".join([b"1"] * 1_000_000) + b",a\n", "longer than a million characters"),
    "many_columns.csv": (b",".join([b"1"] * 20_000) + b",a\n", "20,001 columns, more than the 10,000"),
    "many_rows.csv": (many_rows, "more than 1,000(,000)? rows"),
    "many_labels.csv": (many_labels, "more than 10,000 different values"),
    "huge_field.csv": (b"1," + b"a" * 200_000 + b"\n2,b\n", r"field larger than field limit .* line 1\b"),
    "huge_number.csv": (b"1" * 150_000 + b",a\n2,b\n", "line 1"),
    "nul.csv": (b"1,a\n2\x00,b\n", "line 2 holds a NUL byte"),
    "utf_16.csv": (FLOWERS.encode("utf-16"), "is text in UTF-16"),
    "utf_16_without_mark.csv": (FLOWERS.encode("utf-16-le"), "line 1 holds a NUL byte"),
    "latin_1.csv": ("x,größe\n1,a\n2,é\n".encode("latin-1"), "line 1 is not text in UTF-8"),
    "latin_1_below.csv": ("x,size\n1,a\n2,é\n".encode("latin-1"), "line 3 is not text in UTF-8"),
    "gzip.csv": (
        b"\x1f\x8b\x08\x00" + zlib.compress(FLOWERS.encode()),
        "is compressed by gzip, not text in UTF-8; unpack it first",
    ),
    "table.csv.gz": (b"\x1f\x8b\x08\x00", "suffix '.gz'; unpack it first"),
    "sheet.xlsx": (zipped({"a": b""}), "suffix '.xlsx'; save the sheet as CSV"),
    "array.csv": (GOOD, "is an array of NumPy, not text in UTF-8; call it .npy"),
    "archive.csv": (zipped({"a": b""}), "is an archive, as .npz"),
    "terminal\x1b[31m.csv": (b"1,2\n3\n", "^terminal\N{REPLACEMENT CHARACTER}.31m.csv, line 2 has 1"),
    "new\nline.csv": (b"1,2\n3\n", "^new\N{REPLACEMENT CHARACTER}line.csv, line 2 has 1"),
    "folder.csv": (Path.mkdir, "is a folder; name a file in it"),
    "pipe.csv": (os.mkfifo, "is a pipe or a device"),
    "zero.csv": (linked, "is a pipe or a device"),
    "loop.csv": (loop, "too many levels of symbolic links"),
    "sparse.csv": (sparse, "has 3,072 MiB, more than the 256 MiB"),
    "sparse_text.csv": (sparse_text, "line 1 holds a NUL byte"),
    "absurd.npy": (promised("(1000000000000, 9)"), r"is cut off: its header promises shape \(1000000000000, 9\)"),
    "absurd_product.npy": (promised(str((2**62,) * 4)), "is cut off"),
    "negative.npy": (promised("(-1, 2)", bytes(32)), "cannot be read as an array .shape"),
    "no_points.npy": (promised(f"({10**30}, 0)"), "is empty"),
    "of_nothing.npy": (promised("(4, 2)", kind="'<U0'"), "cannot be read as an array .shape"),
    "lying.npy": (promised("(2, 2)", bytes(320)), "holds more than the shape"),
    "cut_off.npy": (GOOD[:-4], "is cut off"),
    "cut_off_header.npy": (GOOD[:40], "cannot be read as an array"),
    "nested_header.npy": (NESTED, "cannot be read as an array"),
    "long_header.npy": (LONG_HEADER, "cannot be read as an array .Header info length"),
    "no_kind.npy": (promised("(2, 2)", bytes(32), "'nonsense'"), "cannot be read as an array"),
    "pickle.npy": (npy(np.array([{}, {}])), "holds pickled Python objects, which are not read"),
    "fields.npy": (npy(np.zeros((2, 2), [("a", "f8")])), "not numbers; encode them"),
    "dates.npy": (npy(np.zeros((2, 2), "M8[D]")), "datetime64.D., not numbers"),
    "complex.npy": (npy(np.zeros((2, 2), complex)), "complex numbers"),
    "nan.npy": (npy(np.array([[1.0], [np.nan]])), "row 2, coordinate 1 is nan"),
    "long_double.npy": (npy(np.array([[1.0], [2.0]], np.longdouble) * np.longdouble(10) ** 400), "is inf"),
    "other_names.npz": (zipped({"a.npy": GOOD}), "no arrays named inputs and labels .it holds a"),
    "pickle.npz": (zipped({"X.npy": npy(np.array([{}, {}])), "y.npy": GOOD}), "X holds pickled Python objects"),
    "no_points.npz": (zipped({"X.npy": npy(np.zeros((0, 2, 3))), "y.npy": GOOD}), "X is empty"),
    "cut_off.npz": (zipped({"X.npy": GOOD, "y.npy": GOOD})[:-30], "cannot be read as an archive"),
    "bomb.npz": (bomb, "unpacked, has 257 MiB"),
    "bomb_that_lies.npz": (bomb_that_lies, "is cut off|cannot be read"),
    "bomb_of_another_kind.npz": (bomb_of_another_kind, "in a way that NumPy does not use"),
    "crowded.npz": (crowded, "too many members"),
    "damaged.npz": (damaged, "cannot be read as an ar"),
    "text.parquet": (b"1,2\n", "pyarrow|cannot be read as Parquet"),
}
if os.geteuid():  # nothing is forbidden to root
    MADE["forbidden.csv"] = (forbidden, "permission denied; check its name and its permissions")


def make(name: str, folder: Path) -> Path:
    """The file of this name, in this folder."""
    path, (content, _) = folder / name, MADE[name]
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        content(path)
    return path
