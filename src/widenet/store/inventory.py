"""What lies in a store: how many cells of each experiment, how large and how old, and which of them are asked for."""

import contextlib
import fnmatch
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from widenet.store.cells import Damaged, key_of
from widenet.store.directory import Store
from widenet.store.leases import SUFFIX

FOLDERS = {
    "sweeps": "tables of sweeps",
    "outcomes": "reports",
    "compiled": "compiled programs",
    "damaged": "damaged cells",
}
"""Other folders of a store, by what is in them."""
UNREADABLE = "unreadable"


@dataclass(frozen=True)
class StoredFile:
    """A file of the store.

    Attributes:
      name: the experiment of a cell, or what its folder is for.
      version: of the code that computed it; "" where that has no meaning.
      used: when it was written, in seconds since 1970.
    """

    path: Path
    name: str
    version: str
    size: int
    used: float


@dataclass(frozen=True)
class Line:
    """All files of one name."""

    name: str
    files: int
    size: int
    oldest: float
    newest: float


def files_in(store: Store) -> Iterator[StoredFile]:
    """Every file; only the manifests of cells are read."""
    for path in sorted(store.root.glob("[0-9a-f][0-9a-f]/*.npz")):
        with contextlib.suppress(OSError):
            status = path.stat()
            try:
                with path.open("rb") as file:
                    key = key_of(file)
                name, version = key.name, key.version
            except Damaged:
                name, version = UNREADABLE, ""
            yield StoredFile(path, name, version, status.st_size, status.st_mtime)
    for folder, name in FOLDERS.items():
        for path in sorted((store.root / folder).rglob("*")):
            with contextlib.suppress(OSError):
                if path.is_file():
                    yield StoredFile(path, name, "", path.stat().st_size, path.stat().st_mtime)


def lines_of(files: Iterable[StoredFile]) -> list[Line]:
    """A line per name, the largest first."""
    groups: dict[str, list[StoredFile]] = {}
    for each in files:
        groups.setdefault(each.name, []).append(each)
    lines = []
    for name, own in groups.items():
        ages = [each.used for each in own]
        lines.append(Line(name, len(own), sum(each.size for each in own), min(ages), max(ages)))
    return sorted(lines, key=lambda line: -line.size)


def chosen(
    files: Iterable[StoredFile],
    *,
    names: str | None = None,
    days: float | None = None,
    is_old: Callable[[StoredFile], bool] | None = None,
) -> list[StoredFile]:
    """Those that match everything that is asked: a pattern of names, an age, and a version that is no longer used."""
    last = None if days is None else time.time() - days * 86_400
    return [
        each
        for each in files
        if (names is None or fnmatch.fnmatchcase(each.name, names))
        and (last is None or each.used <= last)
        and (is_old is None or is_old(each))
    ]


def remove(files: Iterable[StoredFile]) -> int:
    """Delete them, those that somebody else deleted aside; the answer is how many were there."""
    count = 0
    for each in files:
        with contextlib.suppress(FileNotFoundError):
            each.path.unlink()
            count += 1
            for beside in each.path.parent.glob(f"{each.path.stem}{SUFFIX}*"):
                beside.unlink(missing_ok=True)
    return count
