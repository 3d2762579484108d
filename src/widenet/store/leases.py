"""Leases: one process at a time is at a piece of work, on one machine or on many that share a folder.

A lease is a file that is created exclusively. Its owner changes a number in it at every beat. Others take the lease for
stale once they have watched it through three beats without a change, by their own clock: clocks of two machines are
never compared, and a clock that jumps does not matter. An owner that ran on this machine and is gone is known at once.

`flock` is not used. On many shared file systems it fails, or gives everybody the lock.

A stale lease is not removed, because two observers could remove each other's. Whoever takes it over creates the next
one of its name, again exclusively: `.lease`, `.lease1`, `.lease2`. The last one counts. So its number says how many
owners were lost.
"""

import contextlib
import errno
import functools
import hashlib
import itertools
import json
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

BEAT_SECONDS = 30.0
"""How often an owner shows that it is alive."""
BEATS = 3
"""How many beats may be missed."""
SUFFIX = ".lease"
TEMPORARY_SUFFIX = ".tmp"
MISSING = (errno.ENOENT, errno.ENOTDIR, errno.ESTALE)
"""What reading a file says that is not there, or (over NFS) that was replaced or removed meanwhile."""
SEEN_AT_MOST = 10_000
"""Of how many leases of others this process remembers when it saw their last beat."""

_seen: dict[Path, tuple[bytes, float]] = {}
"""Leases of others: what was in the file, and when that was first seen, on this process's clock."""
_known_stale: set[str] = set()
"""Leases that another process has watched through three beats, by their `name_of`."""


@dataclass(frozen=True)
class Owner:
    """Who holds a lease, as it says itself."""

    token: str
    machine: str
    user: int
    pid: int
    started: str

    def text(self, beat: int) -> bytes:
        """The content of the file: a line of JSON whose length does not change."""
        row = {**vars(self), "host": os.uname().nodename if hasattr(os, "uname") else "", "beat": f"{beat:012}"}
        return json.dumps(row).encode() + b"\n"


@dataclass(eq=False)
class Lease:
    """A lease that this process holds.

    Attributes:
      lost: how many owners before this one ended without finishing.
    """

    path: Path
    handle: int
    owner: Owner
    lost: int = 0
    beat: int = 0

    def show_life(self) -> None:
        """The next beat. A file that cannot be written goes stale, which costs a second computation at most."""
        self.beat += 1
        with contextlib.suppress(OSError):
            os.pwrite(self.handle, self.owner.text(self.beat), 0)
            os.fsync(self.handle)

    def release(self) -> None:
        """Remove it, and those of lost owners before it; one that was taken over is the next owner's to remove."""
        _heart.forget(self)
        is_named = _has_name(self.handle)
        os.close(self.handle)
        if is_named and _read(_generation(self.path, self.lost + 1)) is None:
            for number in range(self.lost, -1, -1):
                with contextlib.suppress(OSError):
                    _generation(self.path, number).unlink()


class _Heart:
    """A thread that keeps the leases of this process alive."""

    def __init__(self) -> None:
        self.held: set[Lease] = set()
        self.lock = threading.Lock()
        self.thread: threading.Thread | None = None

    def keep(self, lease: Lease) -> None:
        with self.lock:
            self.held.add(lease)
            if self.thread is None or not self.thread.is_alive():  # also in a child that was forked
                self.thread = threading.Thread(target=self._beat, name="leases", daemon=True)
                self.thread.start()

    def forget(self, lease: Lease) -> None:
        with self.lock:  # its file is closed next, and another may get its number
            self.held.discard(lease)

    def _beat(self) -> None:
        while True:
            time.sleep(BEAT_SECONDS)
            with self.lock:
                for lease in self.held:
                    lease.show_life()


_heart = _Heart()


def acquire(path: Path) -> Lease | None:
    """The lease of this path, whose folder exists; None while somebody else holds it.

    Raises:
      OSError: the folder cannot be written.
    """
    number = 0
    while (found := _read(_generation(path, number))) is not None:
        if _read(_generation(path, number + 1)) is None and not _is_stale(_generation(path, number), found):
            return None
        number += 1
    owner = Owner(uuid.uuid4().hex, _machine(), _user(), os.getpid(), started_at(os.getpid()) or "")
    handle = create_exclusively(_generation(path, number), owner.text(0))
    if handle is None:
        return None
    lease = Lease(path, handle, owner, lost=number)
    _heart.keep(lease)
    return lease


def let_go() -> None:
    """Give back every lease that this process holds: it is about to end, and others need not wait for three beats."""
    for lease in list(_heart.held):
        with contextlib.suppress(OSError):  # its own thread may be giving it back
            lease.release()


def is_held(path: Path) -> bool:
    """Whether somebody holds the lease of this path, as far as one look can tell."""
    for number in itertools.count():
        content = _read(_generation(path, number))
        if content is None:
            return False
        if not _is_stale(_generation(path, number), content):
            return True
    return False


def believe_stale(names: Iterable[str]) -> None:
    """Take these leases for stale: the process that started this one has watched them, and this one may be too young.

    The name of a lease has its last beat, so one that beats again is another.
    """
    if len(_known_stale) >= SEEN_AT_MOST:
        _known_stale.clear()
    _known_stale.update(names)


def watch(path: Path) -> str | None:
    """Look at the lease of this path, as one looks who waits for it.

    Its name where it is stale, "" where there is none, and None where somebody holds it.
    """
    last = ""
    for number in itertools.count():
        content = _read(_generation(path, number))
        if content is None:
            return last
        last = name_of(content) if _is_stale(_generation(path, number), content) else ""
        if not last and _read(_generation(path, number + 1)) is None:
            return None
    raise AssertionError("there is no last number")


def name_of(content: bytes) -> str:
    """What a lease and its last beat are known by."""
    return hashlib.sha256(content).hexdigest()[:32]


def was_seen(path: Path) -> bool:
    """Whether this process has found this lease in the hands of others."""
    return _generation(path, 0) in _seen


def _generation(path: Path, number: int) -> Path:
    return path.with_suffix(f"{SUFFIX}{number or ''}")


def _has_name(handle: int) -> bool:
    try:
        return os.fstat(handle).st_nlink > 0
    except OSError as error:
        if error.errno in MISSING:
            return False
        raise


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError as error:
        if error.errno in MISSING:
            return None
        raise


def _is_stale(path: Path, content: bytes) -> bool:
    if _is_gone(content) or name_of(content) in _known_stale:
        return True
    now = time.monotonic()
    before, since = _seen.get(path, (None, now))
    if before != content:
        while len(_seen) >= SEEN_AT_MOST:
            del _seen[next(iter(_seen))]
        _seen[path] = (content, now)
        return False
    return now - since > BEATS * BEAT_SECONDS


def _is_gone(content: bytes) -> bool:
    """Whether the owner was a process of this user on this machine that has ended."""
    try:
        row = json.loads(content)
        if row["machine"] != _machine() or row["user"] != _user():
            return False  # processes of others may be hidden
        return (started_at(row["pid"]) or "") != row["started"]
    except (ValueError, KeyError, TypeError):
        return False  # half a line: it is watched like any other


def create_exclusively(path: Path, content: bytes) -> int | None:
    """An open new file with this content; None if there is one already. It appears whole, also if this process dies."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}{TEMPORARY_SUFFIX}")
    handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        if os.write(handle, content) < len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        _give_name(temporary, path, handle)
    except FileExistsError:
        os.close(handle)
        return None
    except BaseException:
        os.close(handle)
        raise
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
    return handle


def _give_name(temporary: Path, path: Path, handle: int) -> None:
    """A second name for the file.

    Raises:
      FileExistsError: another file has it.
    """
    try:
        os.link(temporary, path)
    except OSError as error:
        if os.fstat(handle).st_nlink == 2:
            return  # a network file system lost its own answer, and tried again
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK):
            raise
        # A file system without links. Between the two lines a death leaves an empty lease, which goes stale.
        other = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        os.dup2(other, handle)
        os.close(other)
        os.write(handle, temporary.read_bytes())


@functools.cache
def _machine() -> str:
    """This start of this machine, and which of its processes this one can see; "" where that is not known."""
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    return f"unknown {uuid.uuid4().hex}"


def _user() -> int:
    get: Callable[[], int] | None = getattr(os, "getuid", None)
    return -1 if get is None else get()


def started_at(pid: int) -> str | None:
    """When a process of this machine was started, in ticks since the machine was; None if it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]
