"""The bytes of one cell: an .npz file of plain arrays with its manifest inside. No disk here, only bytes.

    manifest.npy        JSON text as uint8: format, key, arrays (shape, dtype, SHA-256), content, and the
                        SHA-256 of all that
    arrays/<name>.npy   one entry per array

The zip format has a CRC per entry, which finds accidents. The SHA-256 sums also find entries that are whole
but are not the ones that were written.
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO

import numpy as np

from widenet.store.keys import CellKey, digest_of, plain_json

FORMAT = 1
MANIFEST = "manifest"
ARRAYS = "arrays/"

PLAIN_KINDS = "biufcUS"
"""numpy's kinds that are bytes and nothing else: booleans, numbers, fixed-width text."""


class Damaged(Exception):
    """These bytes are not the cell they should be; the message says why."""


@dataclass(frozen=True)
class ArrayEntry:
    """What the manifest says about one array."""

    shape: tuple[int, ...]
    dtype: str
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What a cell says about itself: its key, its arrays, and a free JSON value."""

    key: CellKey
    arrays: dict[str, ArrayEntry]
    content: Any


@dataclass(frozen=True)
class Cell:
    """A finished result."""

    key: CellKey
    arrays: dict[str, np.ndarray]
    content: Any


def encode_cell(key: CellKey, arrays: Mapping[str, Any], content: Any) -> bytes:
    """The file of a cell. Equal arguments give equal bytes.

    Raises:
      TypeError, ValueError: an array that is not plain, a name with slashes, content that is not JSON.
    """
    plain = {name: _plain_array(name, array) for name, array in arrays.items()}
    body = {
        "format": FORMAT,
        "key": key.as_json(),
        "arrays": {name: asdict(_entry(array)) for name, array in plain.items()},
        "content": plain_json(content, "content"),
    }
    # The checksum is of the canonical text; the text itself keeps the order in which the content is meant to be read.
    manifest = json.dumps({**body, "sha256": digest_of(body)}, separators=(",", ":")).encode("ascii")
    buffer = io.BytesIO()
    entries = {MANIFEST: np.frombuffer(manifest, np.uint8)}
    entries |= {ARRAYS + name: array for name, array in plain.items()}
    np.savez(buffer, allow_pickle=False, **entries)
    return buffer.getvalue()


def decode_cell(data: bytes, digest: str) -> Cell:
    """The cell in these bytes, verified.

    Raises:
      Damaged: it is not whole, or not the cell named `digest`.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            manifest = _manifest(archive, digest)
            expected = {MANIFEST, *(ARRAYS + name for name in manifest.arrays)}
            found = sorted(info.filename.removesuffix(".npy") for info in archive.infolist())
            if found != sorted(expected):
                raise Damaged(f"it holds the entries {found}, its manifest names {sorted(expected)}")
            arrays = {name: _array(archive, ARRAYS + name) for name in manifest.arrays}
    except Damaged:
        raise
    except Exception as error:
        # The bytes are in memory already: whatever a parser raises here is the bytes' fault.
        raise Damaged(f"{type(error).__name__}: {error}") from error
    for name, array in arrays.items():
        verify(name, array, manifest.arrays[name])
    return Cell(manifest.key, arrays, manifest.content)


def fingerprint_of(file: BinaryIO, digest: str) -> str:
    """What tells the content of a cell from any other: the checksums of its arrays, and the JSON beside them.

    Raises:
      Damaged: its manifest is not whole, or not that of the cell named `digest`.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            manifest = _manifest(archive, digest)
    except Damaged:
        raise
    except Exception as error:
        raise Damaged(f"{type(error).__name__}: {error}") from error
    return digest_of(
        {"arrays": {name: asdict(each) for name, each in manifest.arrays.items()}, "content": manifest.content}
    )


def key_of(file: BinaryIO) -> CellKey:
    """The key that a cell says it has.

    Raises:
      Damaged: it is no cell.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            return CellKey(**json.loads(_array(archive, MANIFEST).tobytes())["key"])
    except Exception as error:
        raise Damaged(f"{type(error).__name__}: {error}") from error


def verify(name: str, array: np.ndarray, entry: ArrayEntry) -> None:
    """Refuse an array that is not, byte for byte, the one in the manifest."""
    if _entry(array) != entry:
        raise Damaged(f"the array {name!r} is not the one that was written")


def _manifest(archive: zipfile.ZipFile, digest: str) -> Manifest:
    body = json.loads(_array(archive, MANIFEST).tobytes())
    checksum = body.pop("sha256")
    if digest_of(body) != checksum:
        raise Damaged("its manifest was changed")
    if body["format"] != FORMAT:
        raise Damaged(f"its format is {body['format']}, not {FORMAT}")
    key = CellKey(**body["key"])
    if key.digest != digest:
        raise Damaged(f"it is the cell {key.digest}")
    entries = {
        name: ArrayEntry(tuple(entry["shape"]), entry["dtype"], entry["sha256"])
        for name, entry in body["arrays"].items()
    }
    return Manifest(key, entries, body["content"])


def _array(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    # The whole entry is read first, so that its CRC is checked before numpy believes its header.
    return np.lib.format.read_array(io.BytesIO(archive.read(f"{name}.npy")), allow_pickle=False)


def _entry(array: np.ndarray) -> ArrayEntry:
    return ArrayEntry(array.shape, array.dtype.str, hashlib.sha256(array.tobytes()).hexdigest())


def _plain_array(name: str, array: Any) -> np.ndarray:
    if not 0 < len(name) <= 200 or not name.isprintable() or set(name) & set("/\\") or name.endswith(".npy"):
        raise ValueError(f"an array's name is up to 200 printable characters without slashes, got {name!r}")
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"the array {name!r} is masked, and a cell would lose the mask")
    plain = np.asarray(array)
    if plain.dtype.kind not in PLAIN_KINDS:
        raise TypeError(f"the array {name!r} must hold booleans, numbers or text, got dtype {plain.dtype}")
    return plain
