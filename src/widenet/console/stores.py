"""`widenet store`: what lies in the store, and what a user no longer wants there."""

import functools
import re
import sys
import time
from collections.abc import Sequence
from typing import Any

from widenet import papers
from widenet.errors import InputError
from widenet.run.reach import digest
from widenet.store import Store
from widenet.store.inventory import Line, StoredFile, chosen, files_in, lines_of, remove

UNITS = {"h": 1 / 24, "d": 1.0, "w": 7.0}


def days_of(text: str) -> float:
    """An age such as 12h, 30d or 2w, in days.

    Raises:
      InputError: it is something else.
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([hdw])", text.strip())
    if found is None:
        raise InputError(f"--older takes a number with h, d or w, such as 30d, got {text!r}.")
    return float(found[1]) * UNITS[found[2]]


def carry_out(store: Store, name: str | None, older: str | None, stale: bool, remove_now: bool) -> dict[str, Any]:
    """List what matches, or remove it: after a question on a terminal, or at once with `remove_now`.

    Raises:
      InputError: there is nobody to ask.
    """
    days = None if older is None else days_of(older)
    found = chosen(files_in(store), names=name, days=days, is_old=_is_stale if stale else None)
    is_cleaning = name is not None or days is not None or stale
    removed = 0
    if is_cleaning and found and (remove_now or _agreed(found)):
        removed = remove(found)
    row = {"store": str(store.root), "files": len(found), "bytes": sum(each.size for each in found), "removed": removed}
    return row | {"rows": [vars(line) for line in lines_of(found)]}


def table_of(row: dict[str, Any]) -> str:
    """For a terminal."""
    lines = [Line(**each) for each in row["rows"]]
    if not lines:
        return f"nothing of the kind is in {row['store']}"
    width = max(len(line.name) for line in lines)
    told = [f"{row['store']}: {row['files']:,} files, {size_of(row['bytes'])}"]
    told += [
        f"{line.name:<{width}}  {line.files:>8,}  {size_of(line.size):>9}  {_day(line.oldest)} to {_day(line.newest)}"
        for line in lines
    ]
    return "\n".join([*told, *([f"{row['removed']:,} files are removed"] if row["removed"] else [])])


def size_of(count: int | float) -> str:
    """Bytes as people write them."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError("a size has a unit")


def _agreed(found: Sequence[StoredFile]) -> bool:
    """Whether the user says yes; without a terminal nothing is removed."""
    if not sys.stdin.isatty():
        print("widenet: nothing is removed; add --yes to remove these files.", file=sys.stderr)
        return False
    for line in lines_of(found):
        print(f"{line.name}: {line.files:,} files, {size_of(line.size)}", file=sys.stderr)
    print("Remove them? They can be computed again. [y/N] ", end="", file=sys.stderr, flush=True)
    return input("").strip().lower() in ("y", "yes")


def _is_stale(found: StoredFile) -> bool:
    """Whether a cell was computed by other code than that of the experiment of this name today."""
    return bool(found.version) and found.name in _versions() and found.version not in _versions()[found.name]


@functools.cache
def _versions() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for each in papers.PAPERS:
        for item in (*papers.claims_of(each.key), *papers.figures_of(each.key)):
            for experiment in item.reads:
                found.setdefault(experiment.id, set()).add(digest(experiment.run.__module__))
    return found


def _day(seconds: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(seconds))
