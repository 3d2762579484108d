"""A folder of cells. Each is written once, whole or not at all, and never edited.

A cell lives in `<root>/<first two digits>/<digest>.npz`. It is written beside its place under a name of its
own, synced, and renamed: a reader sees all of it or nothing, a kill leaves at most a temporary file, and two
writers of one cell need no lock. Should both find it missing, each renames a whole cell into place, and the
later one stays.
"""

import contextlib
import errno
import logging
import os
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import platformdirs

from widenet.errors import InputError, StoreError
from widenet.store.cells import Cell, Damaged, decode_cell, encode_cell, fingerprint_of
from widenet.store.keys import CellKey
from widenet.store.leases import MISSING, SUFFIX, TEMPORARY_SUFFIX, Lease, acquire, create_exclusively, was_seen

ROOT_VARIABLE = "WIDENET_STORE"
STRAY_AFTER_SECONDS = 24 * 60 * 60
HIDDEN_SECONDS = 60.0
"""How long a network file system may hide a new file."""
DAMAGED = "damaged"
BENEATH = "beneath"
"""A file in a temporary store that names another, which is read and not written."""

logger = logging.getLogger(__name__)


def default_root() -> Path:
    """The folder named by `WIDENET_STORE`, or one in the user's cache folder."""
    named = os.environ.get(ROOT_VARIABLE)
    return Path(named).expanduser() if named else platformdirs.user_cache_path("widenet") / "store"


class Store:
    """The cells in one folder, which is made when the first one is written.

    Attributes:
      root: the folder.
      beneath: a store in which cells are looked for that are not here; it is never written.
      damaged: why, for each damaged cell this object has met, by digest. Such a cell counts as missing, and
        the next `put` replaces it.
    """

    def __init__(self, root: Path | str):
        """Nothing is read or written yet.

        Raises:
          InputError: `root` names no folder.
        """
        if not isinstance(root, str | os.PathLike):
            raise InputError(f"a store is opened by the name of its folder, got {root!r}.")
        self.root = Path(root)
        self.beneath = _beneath(self.root)
        self.damaged: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"<Store {self.root}>"

    @property
    def compiled(self) -> Path:
        """The folder in which JAX may keep its compiled programs."""
        return self.root / "compiled"

    @property
    def outcomes(self) -> Path:
        """The folder in which reports keep what they found."""
        return self.root / "outcomes"

    def path(self, key: CellKey) -> Path:
        """Where the cell is, or would be."""
        digest = key.digest
        return self.root / digest[:2] / f"{digest}.npz"

    def get(self, key: CellKey) -> Cell | None:
        """The cell, verified; None when it is missing or damaged (`damaged` tells which).

        Raises:
          StoreError: there is a file and it cannot be read.
        """
        path = self.path(key)
        try:
            data = path.read_bytes()
        except OSError as error:
            if error.errno in MISSING:
                return None if self.beneath is None else self.beneath.get(key)
            raise StoreError(
                f"cannot read {path}: {_reason(error)}; remove it or give yourself the right to read it."
            ) from error
        try:
            return decode_cell(data, key.digest)
        except Damaged as damage:
            self._note(path, damage)
            return None

    def fingerprint(self, key: CellKey) -> str | None:
        """What tells the content of the cell from any other; None where it is missing or damaged.

        The arrays are not read, so damage to them alone is not seen here.
        """
        try:
            with self.path(key).open("rb") as file:
                return fingerprint_of(file, key.digest)
        except (OSError, Damaged):
            return None if self.beneath is None else self.beneath.fingerprint(key)

    def look_again(self, key: CellKey, seconds: float) -> Cell | None:
        """The cell if it is there after all, before it is computed for about so many seconds.

        A network file system may hide a file for a minute from a computer that looked for it before it was there. A
        new list of the folder shows it: then it is waited for, but no longer than it would take to compute. Where
        somebody else was at the cell, the list may be late too, and this waits for a tenth of that.
        """
        path = self.path(key)
        start = time.monotonic()
        patience = seconds / 10 if was_seen(path.with_suffix(SUFFIX)) else 0.0
        while True:
            try:
                is_listed = any(each.name == path.name for each in path.parent.iterdir())
            except OSError:
                return None
            if is_listed:
                cell = self.get(key)
                if cell is not None or key.digest in self.damaged:
                    return cell
                patience = seconds
            if (left := start + min(patience, HIDDEN_SECONDS) - time.monotonic()) <= 0:
                return None
            time.sleep(min(left, 1.0))

    def holds(self, key: CellKey) -> bool:
        """Whether there is a file of this cell; its content is not read."""
        return _is_file(self.path(key)) or (self.beneath is not None and self.beneath.holds(key))

    def put(
        self, key: CellKey, arrays: Mapping[str, Any], content: Any = None, *, replace: bool = False, sync: bool = True
    ) -> bool:
        """Write a cell; an intact one that is there already is kept. Says whether it was written.

        Arguments:
          arrays: booleans, numbers or text under printable names.
          content: any JSON value.
          replace: write it also over an intact one.
          sync: wait until it would survive a power cut. Without, a power cut may leave a damaged cell, which counts as
            missing; the death of a process never does.

        Raises:
          StoreError: the folder is not writable or the disk is full; nothing is left behind.
          TypeError, ValueError: the arrays or the content are not plain; nothing is written.
        """
        data = encode_cell(key, arrays, content)
        if not replace and self.get(key) is not None:
            return False
        with self._writing():
            if key.digest in self.damaged:
                self._set_aside(self.path(key))
            self._write(self.path(key), data, sync)
        return True

    @contextlib.contextmanager
    def claiming(self, key: CellKey) -> Iterator[Lease | None]:
        """The lease of a cell (`widenet.store.leases`); None while another process, here or elsewhere, is at it.

        It ends with the block. That of a process that was killed goes stale, and is taken over.
        """
        path = self.path(key)
        with self._writing():
            path.parent.mkdir(parents=True, exist_ok=True)
            lease = acquire(path)
        try:
            yield lease
        finally:
            if lease is not None:
                lease.release()

    def write_beside(self, path: Path, data: bytes) -> None:
        """Write a small file beside the cells, whole or not at all.

        Raises:
          StoreError: the folder is not writable or the disk is full.
        """
        with self._writing():
            self._write(path, data)

    def write_once(self, path: Path, data: bytes) -> None:
        """Write a small file unless there is one: of several that write it at once, one wins and the others lose.

        Raises:
          StoreError: the folder is not writable or the disk is full.
        """
        with self._writing():
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = create_exclusively(path, data)
            if handle is not None:
                os.close(handle)

    def require_writable(self, size: int = 0) -> None:
        """Raise the `StoreError` of a `put` of so many bytes now rather than after a long computation."""
        with self._writing():
            self.root.mkdir(parents=True, exist_ok=True)
            probe = self.root / f".{uuid.uuid4().hex}{TEMPORARY_SUFFIX}"
            try:
                probe.write_bytes(bytes(size))
                _sweep(self.root, now=probe.stat().st_mtime)
            finally:
                probe.unlink(missing_ok=True)

    def _write(self, path: Path, data: bytes, sync: bool = True) -> None:
        folder = path.parent
        is_new_folder = not folder.is_dir()
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / f".{path.stem}.{uuid.uuid4().hex}{TEMPORARY_SUFFIX}"
        try:
            with temporary.open("xb") as file:
                # The time the file system gives our own file, not this computer's clock: they may differ.
                _sweep(folder, now=os.fstat(file.fileno()).st_mtime)
                file.write(data)
                file.flush()
                if sync:
                    os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            # After the rename it is gone already.
            with contextlib.suppress(OSError):
                temporary.unlink()
        if sync:
            _sync_folder(folder)
            if is_new_folder:
                _sync_folder(self.root)

    def _set_aside(self, path: Path) -> None:
        """Keep a damaged file for whoever wants to know what happened to it, in the folder `damaged`."""
        folder = self.root / DAMAGED
        folder.mkdir(parents=True, exist_ok=True)
        copy = folder / path.name
        with contextlib.suppress(FileNotFoundError):  # another process was faster
            copy.unlink(missing_ok=True)
            try:
                os.link(path, copy)
            except PermissionError:  # no links here
                path.replace(copy)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            first = "free some space there or " if error.errno in (errno.ENOSPC, errno.EDQUOT) else ""
            raise StoreError(
                f"cannot write results to {self.root}: {_reason(error)}; "
                f"{first}set {ROOT_VARIABLE} to a folder that you can write to."
            ) from error

    def _note(self, path: Path, damage: Exception) -> None:
        # A get and the put that follows meet the same damage: one line is enough.
        if path.stem not in self.damaged:
            logger.warning("%s is damaged and counts as missing (%s)", path, damage)
        self.damaged[path.stem] = str(damage)


def store_of(given: Store | None) -> Store:
    """The store that was given, or the command line's.

    Raises:
      InputError: something else was given.
    """
    if given is not None and not isinstance(given, Store):
        raise InputError(f"store must be a widenet.Store, got {given!r}; Store('FOLDER') opens one.")
    return given or Store(default_root())


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError as error:
        if error.errno in MISSING:
            return False
        raise


def _beneath(root: Path) -> Store | None:
    try:
        return Store((root / BENEATH).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None


def _sweep(folder: Path, now: float) -> None:
    """Remove what killed writers left behind, once no living writer can still own it."""
    for stray in folder.glob(f".*{TEMPORARY_SUFFIX}"):
        # Another sweeper may be faster, and a file that stays does no harm.
        with contextlib.suppress(OSError):
            if now - stray.stat().st_mtime > STRAY_AFTER_SECONDS:
                stray.unlink()


def _sync_folder(folder: Path) -> None:
    """Make a rename survive a power cut, where a folder can be opened (not on Windows)."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    except OSError as error:
        # Some network file systems cannot sync a folder; the cell is in its place all the same.
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(handle)


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()
