"""What is known of the finished packs of a sweep, in one small file beside it: a line per pack, in any order.

Whoever finishes a pack appends its line, with one write. So a sweep of thousands of packs is opened by reading one
file, and numbers are read from the tables of packs when they are used. A lost index is written anew from the tables.
"""

import contextlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from widenet.store import Store
from widenet.sweeps.tables import RUNS, WORD, PackTable


@dataclass(frozen=True)
class PackLine:
    """What the index says of a pack.

    Attributes:
      states: of each point.
      kinds: of each column, one of those of `widenet.sweeps.tables`.
      longest: of each column, the most runs that a point has, or the letters of its longest word.
      reason: letters of the longest reason why a point has no numbers.
    """

    states: list[str]
    kinds: Mapping[str, str]
    longest: Mapping[str, int]
    reason: int

    @classmethod
    def of(cls, table: PackTable) -> "PackLine":
        """The line of a table."""
        kinds, longest = table.kinds, {}
        for name, entries in table.columns.items():
            size = {RUNS: np.size, WORD: lambda each: len(each or "")}.get(kinds[name], lambda _: 1)
            longest[name] = max(map(size, entries))
        return cls(table.states, kinds, longest, max(map(len, table.reasons)))


def append(store: Store, table: PackTable) -> None:
    """Add the line of a table that was written. A folder that cannot be written loses time later, and nothing else."""
    line = PackLine.of(table)
    states = line.states[0] if len(set(line.states)) == 1 else line.states
    row = {"key": table.key.digest, "n": table.n_points, "states": states, "kinds": line.kinds, "longest": line.longest}
    row["reason"] = line.reason
    with contextlib.suppress(OSError):
        handle = os.open(_path(store, table.sweep), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(handle, json.dumps(row).encode() + b"\n")
        finally:
            os.close(handle)


def lines_of(store: Store, tables: Iterable[PackTable]) -> list[PackLine | None]:
    """The lines of these packs; None of those that are not finished.

    A table that the index does not know is read, once, and added to it.
    """
    tables = list(tables)
    known = _known(store, tables[0].sweep) if tables else {}
    found: list[PackLine | None] = []
    for table in tables:
        line = known.get(table.key.digest)
        if line is None and table.read(store):
            line = PackLine.of(table)
            append(store, table)
        found.append(line)
    return found


def _known(store: Store, sweep: str) -> dict[str, PackLine]:
    try:
        text = _path(store, sweep).read_text(encoding="utf-8")
    except OSError:
        return {}
    found = {}
    for line in text.splitlines():
        with contextlib.suppress(ValueError, KeyError, TypeError):  # half a line, of a process that was killed
            row: dict[str, Any] = json.loads(line)
            states = row["states"] if isinstance(row["states"], list) else [row["states"]] * row["n"]
            found[row["key"]] = PackLine(states, row["kinds"], row["longest"], row["reason"])
    return found


def _path(store: Store, sweep: str) -> Path:
    return store.root / "sweeps" / f"{sweep}.index"
