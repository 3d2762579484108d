"""What came out differently than in the last report: two `results.json`, parsed, give one record."""

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from widenet.records import ClosedModel

TOLERANCE = 1e-6
"""Numbers that agree to this, relatively, are the same: machines differ in last bits."""

Row = Mapping[str, Any]
Value = float | str | bool | None


class ChangedEntry(ClosedModel):
    """One thing that differs.

    Attributes:
      id: of the claim or figure.
      what: the part of the claim (its key), or the comparison of the figure; "" where the verdict itself differs.
    """

    id: str
    what: str = ""
    before: Value = None
    after: Value = None


class SinceLast(ClosedModel):
    """What differs from the last report.

    Attributes:
      verdicts: of claims, and of comparisons of figures.
      parts: newly kept or broken; True, False, or None for undecided.
      numbers: measured values that moved by more than the tolerance.
      new, gone: ids of claims and figures that only one of the reports has.
    """

    verdicts: tuple[ChangedEntry, ...] = ()
    parts: tuple[ChangedEntry, ...] = ()
    numbers: tuple[ChangedEntry, ...] = ()
    new: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether everything is as it was."""
        return not (self.verdicts or self.parts or self.numbers or self.new or self.gone)


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> SinceLast:
    """What differs between two reports. Rows of another scale or seed are not compared."""
    verdicts, parts, numbers = [], [], []
    old, new = _by_id(before), _by_id(after)
    for id in old.keys() & new.keys():
        one, other = old[id], new[id]
        if any(one.get(name) != other.get(name) for name in ("scale", "seed")):
            continue
        if one.get("verdict") != other.get("verdict"):
            verdicts.append(ChangedEntry(id=id, before=one.get("verdict"), after=other.get("verdict")))
        for (what, first), (_, second) in _pairs(one, other, "parts", "key"):
            if first.get("kept") != second.get("kept"):
                parts.append(ChangedEntry(id=id, what=what, before=first.get("kept"), after=second.get("kept")))
            numbers.extend(_moved(id, what, first, second))
        for (what, first), (_, second) in _pairs(one, other, "comparisons", "name"):
            if first.get("verdict") != second.get("verdict"):
                verdicts.append(
                    ChangedEntry(id=id, what=what, before=first.get("verdict"), after=second.get("verdict"))
                )
            numbers.extend(_moved(id, what, first, second))
    order = {id: place for place, id in enumerate(new)}

    def sort(found: list[ChangedEntry]) -> tuple[ChangedEntry, ...]:
        return tuple(sorted(found, key=lambda each: order[each.id]))

    return SinceLast(
        verdicts=sort(verdicts),
        parts=sort(parts),
        numbers=sort(numbers),
        new=tuple(id for id in new if id not in old),
        gone=tuple(id for id in old if id not in new),
    )


def results_in(path: Path) -> dict[str, Any] | None:
    """The results of an earlier report; None where there are none that can be read."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    is_ours = isinstance(found, dict) and all(isinstance(found.get(noun), list) for noun in ("checks", "figures"))
    return found if is_ours else None


def _by_id(results: Mapping[str, Any]) -> dict[str, Row]:
    rows = (row for noun in ("checks", "figures") for row in results.get(noun, ()))
    return {row["id"]: row for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)}


def _pairs(one: Row, other: Row, field: str, name: str) -> Iterator[tuple[tuple[str, Row], tuple[str, Row]]]:
    """What both rows have in a list, by name. What only one of them has came with another version."""
    first = {each.get(name): each for each in one.get(field) or ()}
    for each in other.get(field) or ():
        if each.get(name) in first:
            yield (each[name], first[each[name]]), (each[name], each)


def _moved(id: str, what: str, before: Row, after: Row) -> Iterator[ChangedEntry]:
    one, other = (_number(row.get("measured")) for row in (before, after))
    if one is None or other is None:
        return
    are_same = one == other or (math.isnan(one) and math.isnan(other)) or math.isclose(one, other, rel_tol=TOLERANCE)
    if not are_same:
        yield ChangedEntry(id=id, what=what, before=before["measured"], after=after["measured"])


def _number(value: Any) -> float | None:
    """A number of results.json, in which one that is not finite is a word."""
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        return None
