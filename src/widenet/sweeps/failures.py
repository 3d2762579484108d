"""Cells that failed: the error is kept beside the place of the cell, with how often it was tried."""

import contextlib
import json
from pathlib import Path

from widenet.records import ClosedModel
from widenet.run.failures import Failure
from widenet.store import CellKey, Store

SUFFIX = ".failed"
MOST_LOST = 20
"""How many owners of a cell may be lost (killed, out of memory) before it counts as failed."""


class FailedCell(ClosedModel):
    """What is kept of a cell that failed."""

    tries: int
    sentence: str
    traceback: str = ""


def failed(store: Store, key: CellKey) -> FailedCell | None:
    """What is known about a cell that failed; None where it has not been tried, or is there."""
    try:
        return FailedCell.model_validate_json(_path(store, key).read_bytes())
    except (OSError, ValueError):
        return None


def note(store: Store, key: CellKey, failure: Failure, tries: int) -> FailedCell:
    """Keep the error; whoever calls has the lease of the cell."""
    row = FailedCell(tries=tries, sentence=failure.sentence, traceback=failure.traceback)
    store.write_beside(_path(store, key), json.dumps(row.model_dump()).encode())
    return row


def forget(store: Store, key: CellKey) -> None:
    """Let the cell be tried again from the start."""
    with contextlib.suppress(OSError):
        _path(store, key).unlink()


def _path(store: Store, key: CellKey) -> Path:
    return store.path(key).with_suffix(SUFFIX)
