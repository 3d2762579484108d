"""The picture of all statements: a row per paper, a column per share of the promise that is used up."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from widenet.console.wording import Tone
from widenet.papers.base import Paper
from widenet.report.statements import Library, Statement


@dataclass(frozen=True)
class ShareBin:
    """A share of the promise, in words for wide and for narrow windows; `is_beyond` where the promise is broken."""

    words: str
    short: str
    is_beyond: bool = False


COLUMNS = (
    ShareBin("under 1 %", "<1%"),
    ShareBin("1–10 %", "1"),
    ShareBin("10–50 %", "10"),
    ShareBin("50–90 %", "50"),
    ShareBin("90–100 %", "90"),
    ShareBin("100 %", "100%"),
    ShareBin("to 2 ×", "≤2×", True),
    ShareBin("2–10 ×", "2×", True),
    ShareBin("over 10 ×", ">10×", True),
    ShareBin("no share", "none"),
)
ATTAINED, FIRST_BROKEN, NO_SHARE = 5, 6, 9
FROM = (0.0, 0.01, 0.1, 0.5, 0.9)
"""Where the first columns begin."""


def column_of(statement: Statement) -> int:
    """The place of a statement in `COLUMNS`."""
    share = statement.evidence.tightness
    if share is None or math.isnan(share):
        return NO_SHARE
    if statement.is_broken:
        return FIRST_BROKEN + (0 if share <= 2 else 1 if share <= 10 else 2)
    if not statement.evidence.headline.comes_apart:
        return NO_SHARE
    if share >= 1 - 1e-9:
        return ATTAINED if share <= 1 + 1e-9 else NO_SHARE
    return sum(share >= low for low in FROM) - 1


@dataclass(frozen=True)
class PaperRow:
    """The statements of a paper, by column."""

    paper: Paper
    name: str
    cells: list[list[Statement]]

    @property
    def n_statements(self) -> int:
        """How many there are."""
        return sum(map(len, self.cells))

    @property
    def n_broken(self) -> int:
        """How many are false."""
        return sum(each.is_broken for cell in self.cells for each in cell)


@dataclass(frozen=True)
class ShareTable:
    """The whole picture."""

    rows: list[PaperRow]

    @property
    def totals(self) -> list[int]:
        """How many statements each column has."""
        return [sum(len(row.cells[place]) for row in self.rows) for place in range(len(COLUMNS))]

    @property
    def n_close(self) -> int:
        """How many of those that hold come within a tenth of their bound."""
        return self._n_holding(ATTAINED - 1, ATTAINED)

    @property
    def n_comparable(self) -> int:
        """How many hold and have two sides that can come apart."""
        return self._n_holding(*range(FIRST_BROKEN))

    def _n_holding(self, *columns: int) -> int:
        """How many of these columns hold: those that leave a constant open are kept and do not."""
        cells = (row.cells[place] for row in self.rows for place in columns)
        return sum(each.badge.tone is Tone.GOOD for cell in cells for each in cell)


def shares_of(library: Library) -> ShareTable:
    """The picture of these statements; papers without any have no row."""
    rows = []
    for paper in library.papers:
        cells: list[list[Statement]] = [[] for _ in COLUMNS]
        for each in library.of(paper):
            cells[column_of(each)].append(each)
        for cell in cells:
            cell.sort(key=lambda each: ("main" not in each.mark, each.mark))
        if any(cells):
            rows.append(PaperRow(paper, short_name(paper), cells))
    return ShareTable(rows)


def short_name(paper: Paper) -> str:
    """`Brutzkus et al. 2018`, `Li & Liang 2018`."""
    last = [each.split()[-1] for each in paper.authors.split(", ") if each.split()] or [paper.key]
    year = paper.venue[-4:] if paper.venue[-4:].isdigit() else ""
    names: Sequence[str] = last if len(last) < 3 else [f"{last[0]} et al."]
    return f"{' & '.join(names)} {year}".strip()
