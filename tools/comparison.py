"""Two outputs of `widenet check --json`, side by side: what must be equal, and what may differ by rounding.

Equal must be: the claims, verdicts, conclusions, which hypotheses are met, which parts are kept or vacuous, and the
counts of runs. Numbers may differ by `RELATIVE` of themselves (trainings in float32 and long ones in float64), or by
`ABSOLUTE` where a number is itself a rounding error. They are compared where both outputs show the same case; where
the closest case is another one, how close it comes is.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

RELATIVE = 1e-5
ABSOLUTE = 1e-9
SHOWN = 20
"""How many differences are listed."""


@dataclass
class Differences:
    """What differs between two outputs.

    Attributes:
      unequal: what had to be equal and is not, or a number beyond its tolerance; one line each.
      numbers: how many were compared; `moved` of them differ.
      largest: the largest relative difference; 0 if none is above `ABSOLUTE`, of a number or of 1 if that is more.
      other_cases: parts whose closest case is another one.
    """

    unequal: list[str] = field(default_factory=list)
    numbers: int = 0
    moved: int = 0
    largest: float = 0.0
    other_cases: int = 0

    @property
    def is_bad(self) -> bool:
        """Whether something differs that must not."""
        return bool(self.unequal)

    def in_words(self) -> str:
        """One line for a table."""
        if self.unequal:
            return f"{len(self.unequal)} DIFFER"
        moved = f"{self.moved} of {self.numbers} numbers differ"
        most = f"{self.largest:.0e} of themselves" if self.largest else f"{ABSOLUTE:.0e}"
        largest = f", by at most {most}" if self.moved else ""
        parts = "1 part shows" if self.other_cases == 1 else f"{self.other_cases} parts show"
        others = f"; {parts} another case" if self.other_cases else ""
        return f"equal; {moved}{largest}{others}"

    def lines(self) -> list[str]:
        """The differences that must not be, as many as a reader looks at."""
        rest = len(self.unequal) - SHOWN
        return [*self.unequal[:SHOWN], *([f"… and {rest} more"] if rest > 0 else [])]

    def require(self, where: str, name: str, one: Any, two: Any) -> None:
        """Two values that must be equal."""
        if one != two:
            self.unequal.append(f"{where}: {name}: {one} here, {two} there")

    def number(self, where: str, name: str, one: Any, two: Any, size: float = 0.0) -> None:
        """Two numbers that may differ by rounding; `size` is that of the numbers they were computed from."""
        if not (_is_number(one) and _is_number(two)):
            self.require(where, name, one, two)
            return
        self.numbers += 1
        apart, largest = abs(one - two), max(abs(one), abs(two), size)
        if apart == 0:
            return
        self.moved += 1
        if apart > RELATIVE * largest + ABSOLUTE:
            self.unequal.append(f"{where}: {name}: {one!r} here, {two!r} there")
        elif apart > ABSOLUTE * max(1.0, largest):
            self.largest = max(self.largest, apart / largest)


def compare(here: Sequence[Mapping[str, Any]], there: Sequence[Mapping[str, Any]]) -> Differences:
    """What differs."""
    found = Differences()
    found.require("all claims", "ids", [row["id"] for row in here], [row["id"] for row in there])
    others = {row["id"]: row for row in there}
    for row in here:
        if (other := others.get(row["id"])) is not None:
            _claim(found, row, other)
    return found


def _claim(found: Differences, here: Mapping[str, Any], there: Mapping[str, Any]) -> None:
    where = here["id"]
    for name in ("verdict", "conclusion", "vacuous", "runs", "open_constant"):
        found.require(where, name, here.get(name), there.get(name))
    for one, two in _pairs(found, where, "hypotheses", "key", here, there):
        found.require(where, f"{one['key']} met", one["met"], two["met"])
        found.number(where, f"{one['key']} actual", one["actual"], two["actual"])
        size = abs(one["actual"]) if _is_number(one["actual"]) else 0.0
        found.number(where, f"{one['key']} slack", one["slack"], two["slack"], size)
    for one, two in _pairs(found, where, "parts", "name", here, there):
        for name in ("kept", "sense", "vacuous", "broken"):
            found.require(where, f"part {one['name']!r} {name}", one[name], two[name])
        _sides(found, f"{where}: part {one['name']!r}", one, two)


def _sides(found: Differences, where: str, one: Mapping[str, Any], two: Mapping[str, Any]) -> None:
    if one["case"] != two["case"]:
        found.other_cases += 1
        found.number(where, "tightness", one["tightness"], two["tightness"], 1.0)
        return
    sides = [one["measured"], one["promised"]]
    size = max((abs(each) for each in sides if _is_number(each)), default=0.0)
    found.number(where, "promised", one["promised"], two["promised"])
    if one["sense"] != "=":  # what keeps an equality is its tolerance, which the verdict knows
        found.number(where, "measured", one["measured"], two["measured"], size)
    found.number(where, "tightness", one["tightness"], two["tightness"], 1.0)


def _pairs(
    found: Differences, where: str, field: str, key: str, here: Mapping[str, Any], there: Mapping[str, Any]
) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    one, two = (row.get(field, []) for row in (here, there))
    found.require(where, field, Counter(each[key] for each in one), Counter(each[key] for each in two))
    return zip(one, two, strict=False)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
