"""What a command does without a store: results go to a temporary folder, which is removed at the end."""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from widenet.errors import StoreError
from widenet.store.directory import BENEATH, Store, store_of

T = TypeVar("T")


def with_store(work: Callable[[Store], T], *, keep: bool = True, usual: Store | None = None) -> T:
    """What `work` returns, with the usual store, or with the one that is named, if that can be written.

    A store that is full or read-only is still read, also if that turns out on the way; what is computed is then lost at
    the end, and stderr says so. With `keep=False` it is not even read.

    Raises:
      StoreError: the store cannot be read, or there is no room for temporary files either.
    """
    beneath: Path | None = None
    if keep:
        store = store_of(usual)
        try:
            store.require_writable()
            return work(store)
        except StoreError:
            reason = _why_unwritable(store)
            if reason is None:
                raise
            print(f"widenet: {reason} Until then nothing that is computed is kept.", file=sys.stderr)
            beneath = store.root.absolute()
    with tempfile.TemporaryDirectory(prefix="widenet-", ignore_cleanup_errors=True) as folder:
        if beneath is not None:
            (Path(folder) / BENEATH).write_text(str(beneath), encoding="utf-8")
        return work(Store(folder))


def _why_unwritable(store: Store) -> str | None:
    """The sentence about a store that takes no file of a usual size; None if it does."""
    try:
        store.require_writable(2**20)
    except StoreError as error:
        return str(error)
    return None
