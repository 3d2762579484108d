"""Statements that are false as printed, as data: `findings.toml` of each paper.

A claim whose id ends in `_as_printed` has one finding: how grave it is, the instance in which it fails, the claim that
repairs it, and what survives. Misprints need no claim of their own. Pages and docs/findings.md are made from these
records. Reading them needs neither NumPy nor JAX.
"""

import enum
import functools
import tomllib
from pathlib import Path
from typing import Any

from pydantic import Field

from widenet.records import ClosedModel


class Gravity(enum.StrEnum):
    """How grave it is that a statement is false."""

    THEOREM = "theorem"
    LEMMA = "lemma"
    DISPLAY = "display"
    MISPRINT = "misprint"

    @property
    def sentence(self) -> str:
        """What the word means."""
        return {
            Gravity.THEOREM: "a theorem, corollary or main conclusion fails as printed",
            Gravity.LEMMA: "a lemma, proposition, remark, footnote or sentence of the text fails",
            Gravity.DISPLAY: "an equation or display of a proof fails, and needs other constants or another argument",
            Gravity.MISPRINT: "a slip of a symbol, sign, index or factor that the paper's own use corrects",
        }[self]


class Survives(enum.StrEnum):
    """Whether the conclusion survives that the paper draws from the statement."""

    YES = "yes"
    IN_PART = "in part"
    NO = "no"


class Finding(ClosedModel):
    """A statement that is false as printed.

    Attributes:
      claim: the id of the statement as printed.
      repair: the id of the claim that holds in its place.
      conclusion: what survives of it, or why nothing does.
      printed: the statement, in the paper's own constants.
      fails: the instance, read after "Fails".
      holds: how the repair differs.
      place: where it is told among those of its gravity, the greatest damage first; most have none of their own.
    """

    claim: str
    repair: str
    gravity: Gravity
    survives: Survives
    conclusion: str
    printed: str
    fails: str
    holds: str
    place: int = Field(default=9, exclude=True)


class Misprint(ClosedModel):
    """A slip of the pen: where it is, an instance in which the printed form fails, and claims of the right form."""

    place: str
    printed: str
    fails: str
    meant: str
    checked_by: tuple[str, ...]


def findings_of(paper: str) -> tuple[Finding, ...]:
    """The findings of a paper, by its key, in the order of the paper."""
    return tuple(Finding(**row) for row in _rows(paper).get("finding", ()))


def misprints_of(paper: str) -> tuple[Misprint, ...]:
    """The misprints of a paper, by its key."""
    return tuple(Misprint(**row) for row in _rows(paper).get("misprint", ()))


def finding_of(id: str) -> Finding | None:
    """The finding about this claim; None for a claim that holds."""
    return _by_claim(id.split(".")[0]).get(id)


@functools.cache
def _by_claim(paper: str) -> dict[str, Finding]:
    return {each.claim: each for each in findings_of(paper)}


@functools.cache
def _rows(paper: str) -> dict[str, Any]:
    return read_toml(Path(__file__).parent / paper / "findings.toml")


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a file, each text on one line; nothing where there is no such file."""
    return _on_one_line(tomllib.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def _on_one_line(value: Any) -> Any:
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, dict):
        return {name: _on_one_line(each) for name, each in value.items()}
    return [_on_one_line(each) for each in value] if isinstance(value, list) else value
