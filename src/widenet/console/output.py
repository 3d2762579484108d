"""Results for the reader's own folders: whole or not at all, and never at the cost of the reader's files."""

import contextlib
import shutil
import uuid
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from widenet.errors import InputError, StoreError


def _why(error: OSError) -> str:
    return (error.strerror or str(error) or type(error).__name__).lower()


def require_writable(folder: Path) -> None:
    """Find out before the work whether the folder can be written, or made. Leaves nothing behind.

    Raises:
      InputError: it is a file, lies below one, or cannot be written.
    """
    try:
        nearest = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        if not nearest.is_dir():
            raise InputError(f"--out {str(folder)!r}: {nearest.name!r} is a file; name a folder.")
        probe = nearest / f".widenet-{uuid.uuid4().hex}"
        probe.mkdir()
        probe.rmdir()
    except OSError as error:
        raise InputError(f"cannot write to --out {str(folder)!r}: {_why(error)}.") from error


def write_files(folder: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Write all files, or none: each goes to a temporary name first, and the renames come last.

    Raises:
      StoreError: the disk refuses.
    """
    temporary = {name: folder / f".{name}.{uuid.uuid4().hex}.tmp" for name in files}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            temporary[name].write_bytes(content)
        for name in files:
            temporary[name].replace(folder / name)
    except OSError as error:
        raise StoreError(f"cannot write to {str(folder)!r}: {_why(error)}.") from error
    finally:
        for path in temporary.values():
            with contextlib.suppress(NotADirectoryError):
                path.unlink(missing_ok=True)
    return [folder / name for name in files]


def remove_files(folder: Path, names: Iterable[str]) -> list[Path]:
    """Remove those of our own files that no longer belong to what is beside them; returns those that were there.

    Raises:
      StoreError: the disk refuses.
    """
    try:
        former = [folder / name for name in names if (folder / name).is_file()]
        for path in former:
            path.unlink()
    except OSError as error:
        raise StoreError(f"cannot remove an earlier file from {str(folder)!r}: {_why(error)}.") from error
    return former


def check_replaceable(folder: Path, own: Iterable[str]) -> Path:
    """The folder, resolved, if it may be replaced as a whole: it is absent, empty, or holds only our `own` names.

    Raises:
      InputError: it is a file, the current folder or one above it, or it holds something we did not write.
    """
    try:
        folder = folder.resolve()
        if not folder.exists():
            return folder
        if not folder.is_dir():
            raise InputError(f"--out {str(folder)!r} is a file; name a folder.")
        if Path.cwd().is_relative_to(folder):
            raise InputError("--out would replace the folder you are in; name a folder inside it, such as 'report'.")
        others = sorted({path.name for path in folder.iterdir()} - set(own))
    except OSError as error:
        raise InputError(f"cannot read --out {str(folder)!r}: {_why(error)}.") from error
    if others:
        raise InputError(
            f"--out {str(folder)!r} holds {others[0]!r}, which is not part of a report; name an empty or a new folder."
        )
    return folder


def write_folder(folder: Path, own: Iterable[str], fill: Callable[[Path], None]) -> Path:
    """Let `fill` write into a temporary sibling, then swap it in whole.

    Whatever happens before the swap, an earlier folder stays as it was.

    Raises:
      InputError: the folder holds something we did not write.
      StoreError: the disk refuses.
    """
    folder = check_replaceable(folder, own)
    mark = uuid.uuid4().hex
    fresh, former = (folder.with_name(f".{folder.name}.{mark}.{word}") for word in ("new", "former"))
    try:
        fresh.mkdir(parents=True)
        fill(fresh)
        if folder.exists():
            folder.replace(former)
        try:
            fresh.replace(folder)
        except OSError:
            if former.exists():
                former.replace(folder)
            raise
    except OSError as error:
        raise StoreError(f"cannot write to {str(folder)!r}: {_why(error)}.") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(former, ignore_errors=True)
    return folder
