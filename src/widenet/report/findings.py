"""What the page of findings shows: statements that are false as printed, by gravity; misprints; numbers that differ."""

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from widenet.claims import Part
from widenet.papers.base import Paper
from widenet.papers.findings import Finding, Gravity, Misprint, misprints_of
from widenet.report.axes import Axis
from widenet.report.comparisons import ComparisonRow
from widenet.report.numerals import sides_of
from widenet.report.shares import short_name
from widenet.report.statements import Library, Statement
from widenet.run import FigureOutcome

HEADINGS = {
    Gravity.THEOREM: "Theorems and main conclusions",
    Gravity.LEMMA: "Lemmas and sentences of the text",
    Gravity.DISPLAY: "Displays in proofs",
    Gravity.MISPRINT: "Misprints",
}


@dataclass(frozen=True)
class BrokenPromise:
    """Promised beside measured. `at` are places on a line of 330; None where the two are too close to be drawn."""

    part: Part
    name: Markup
    measured: Markup
    promised: Markup
    at_measured: float | None
    at_promised: float | None


@dataclass(frozen=True)
class Found:
    """A statement that is false as printed, with its repair."""

    statement: Statement
    finding: Finding | None
    repair: Statement | None
    promise: BrokenPromise | None


@dataclass(frozen=True)
class FindingGroup:
    """The findings of one gravity."""

    heading: str
    sentence: str
    found: list[Found]
    is_grave: bool


@dataclass(frozen=True)
class Slip:
    """A misprint without a claim of its own."""

    paper: Paper
    misprint: Misprint
    checked_by: list[Statement]


@dataclass(frozen=True)
class Differing:
    """A number under a figure that does not come out."""

    figure: FigureOutcome
    row: ComparisonRow
    paper: Paper

    @property
    def place(self) -> str:
        """`Figure 1 · Li & Liang 2018`."""
        return f"{self.figure.figure.name.replace('_', ' ').capitalize()} · {short_name(self.paper)}"


def groups_of(library: Library) -> list[FindingGroup]:
    """The findings, the gravest first; statements that were not expected to fail come before all."""
    broken = [_found(each, library) for each in library.statements if each.is_broken]
    groups = [
        FindingGroup(
            "Not expected to fail",
            "no finding is recorded for them",
            [each for each in broken if each.finding is None],
            True,
        )
    ]
    for gravity in Gravity:
        mine = [each for each in broken if each.finding is not None and each.finding.gravity is gravity]
        mine.sort(key=lambda each: each.finding.place if each.finding else 0)
        groups.append(FindingGroup(HEADINGS[gravity], gravity.sentence, mine, gravity is Gravity.THEOREM))
    return [group for group in groups if group.found]


def slips_of(library: Library) -> list[Slip]:
    """The misprints, paper by paper."""
    return [
        Slip(paper, each, [library.by_id[id] for id in each.checked_by if id in library.by_id])
        for paper in library.papers
        for each in misprints_of(paper.key)
    ]


def differing_of(figures: Iterable[tuple[FigureOutcome, Paper]]) -> list[Differing]:
    """The numbers and trends of the papers that do not come out."""
    return [
        Differing(figure, ComparisonRow(each), paper)
        for figure, paper in figures
        for each in figure.comparisons
        if each.verdict == "DIFFERS"
    ]


def _found(statement: Statement, library: Library) -> Found:
    finding = statement.finding
    repair = library.by_id.get(finding.repair) if finding else None
    broken = [part for part in statement.evidence.parts if part.kept is False]
    return Found(statement, finding, repair, _promise(broken[0], statement) if broken else None)


def _promise(part: Part, statement: Statement) -> BrokenPromise | None:
    if part.measured is None or part.promised is None or not part.sense:
        return None
    measured, promised = sides_of(part)
    name = next(each.name for each in statement.gauges if each.part is part)
    low, high = min(part.measured, part.promised, 0.0), max(part.measured, part.promised, 0.0)
    near = not high > low or not high - low < float("inf") or abs(part.measured - part.promised) < 0.02 * (high - low)
    if near:
        return BrokenPromise(part, name, measured, promised, None, None)
    axis = Axis(low, high, 12.0, 318.0)
    return BrokenPromise(
        part, name, measured, promised, round(axis.at(part.measured), 1), round(axis.at(part.promised), 1)
    )
