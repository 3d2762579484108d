"""Two outputs of `widenet check --json`, side by side: what must be equal, and what may differ by rounding.

Equal must be: the claims, verdicts, conclusions, which hypotheses are met, which parts are kept or vacuous, and the
counts of runs. Numbers may differ by `RELATIVE` of their size (trainings in float32 and long ones in float64) plus
`ABSOLUTE`, because a number may itself be a rounding error. They are compared where both outputs show the same case;
where the closest case is another one, how close it comes is. The error of an equality is compared in every case, and
may differ by the equality's own tolerance too.
"""

import functools
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

RELATIVE = 1e-5
ABSOLUTE = 1e-9
RULE = """Two numbers agree when they differ by at most 1e-5 of their size plus 1e-9. The size is the larger of the
two, and at least the quantity or the sides that they were computed from: the measured quantity for a slack, the
larger side for a measured side, 1 for a tightness. The error of an equality (measured minus promised) may also
differ by the tolerance that the claim declares for it. Where a declared share has no size in the output, the larger
side or 1 is the size."""
"""What the page says of the tolerances."""
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
      equalities: errors that differ by more than other numbers may, and by less than their own tolerance.
    """

    unequal: list[str] = field(default_factory=list)
    numbers: int = 0
    moved: int = 0
    largest: float = 0.0
    other_cases: int = 0
    equalities: int = 0

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
        errors = "1 error of an equality" if self.equalities == 1 else f"{self.equalities} errors of equalities"
        own = f"; {errors} within its own tolerance" if self.equalities else ""
        return f"equal; {moved}{largest}{others}{own}"

    def lines(self) -> list[str]:
        """The differences that must not be, as many as a reader looks at."""
        rest = len(self.unequal) - SHOWN
        return [*self.unequal[:SHOWN], *([f"… and {rest} more"] if rest > 0 else [])]

    def require(self, where: str, name: str, one: Any, two: Any) -> None:
        """Two values that must be equal."""
        if one != two:
            self.unequal.append(f"{where}: {name}: {one} here, {two} there")

    def number(self, where: str, name: str, one: Any, two: Any, size: float = 0.0, own: float = 0.0) -> None:
        """Two numbers that may differ by rounding, and by a tolerance of their own.

        `size` is that of the numbers they were computed from.
        """
        if not (_is_number(one) and _is_number(two)):
            self.require(where, name, one, two)
            return
        self.numbers += 1
        apart, largest = abs(one - two), max(abs(one), abs(two), size)
        if apart == 0:
            return
        allowed = RELATIVE * largest + ABSOLUTE
        if allowed < apart <= allowed + own:
            self.equalities += 1
            return
        self.moved += 1
        if apart > allowed:
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
        words = tolerances().get((where, one.get("key", "")), "")
        _sides(found, f"{where}: part {one['name']!r}", one, two, words)


@functools.cache
def tolerances() -> dict[tuple[str, str], str]:
    """What rounding may add to the parts of claims, in the words of the index; by claim and key."""
    from widenet.papers import PAPERS
    from widenet.papers.index import claim_rows

    parts = ((row["id"], each) for row in claim_rows(PAPERS) for each in row["clauses"] if each["role"] == "promised")
    return {(id, each["key"]): each.get("tolerance", "") for id, each in parts}


def own_tolerance(words: str, size: float) -> float:
    """The tolerance of "to 1e-12", "to 1e-12 of it" or "to 1e-12 of its size"; 0 where the index tells no number."""
    told = re.fullmatch(r"to ([\d.e+-]+)( of it)?( of its size)?", words)
    if told is None:
        return 0.0
    return float(told[1]) * (size if told[2] else max(size, 1.0) if told[3] else 1.0)


def _error(side: Mapping[str, Any]) -> Any:
    """Measured minus promised; what is missing or infinite stands for itself."""
    sides = side["measured"], side["promised"]
    return sides[0] - sides[1] if all(map(_is_number, sides)) else sides


def _sides(found: Differences, where: str, one: Mapping[str, Any], two: Mapping[str, Any], words: str) -> None:
    sides = [side[name] for side in (one, two) for name in ("measured", "promised") if _is_number(side[name])]
    size = max(map(abs, sides), default=0.0)
    if one["sense"] == "=":
        found.number(where, "error", _error(one), _error(two), size, own_tolerance(words, size))
    if one["case"] != two["case"]:
        found.other_cases += 1
        found.number(where, "tightness", one["tightness"], two["tightness"], 1.0)
        return
    found.number(where, "promised", one["promised"], two["promised"])
    if one["sense"] != "=":  # of an equality, its error was compared
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
