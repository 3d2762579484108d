"""The pages of a report, from templates: an address and a text each."""

import functools
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import jinja2
from markupsafe import Markup

from widenet.claims.base import plain
from widenet.console import wording
from widenet.console.wording import Tone
from widenet.figures import Comparison
from widenet.figures.archive import Archived, archived
from widenet.papers.base import Paper
from widenet.papers.findings import finding_of
from widenet.papers.glossary import setting_of
from widenet.plots import AT_PAPER_SCALE, PANELS, beside_pages
from widenet.report import addresses, numerals
from widenet.report.addresses import InFolder, InOneFile, Links, page_of, page_of_paper
from widenet.report.certified import certified_examples
from widenet.report.changes import SinceLast
from widenet.report.citations import bibtex
from widenet.report.comparisons import ComparisonRow
from widenet.report.findings import Differing, differing_of, groups_of, slips_of
from widenet.report.named_pages import pages_by_name, with_links
from widenet.report.panels import Panels, panels_of
from widenet.report.prose import with_formulas
from widenet.report.runs import EVERY
from widenet.report.shares import COLUMNS, FIRST_BROKEN, NO_SHARE, shares_of, short_name
from widenet.report.statements import WALL, Library, Statement
from widenet.report.stories import stories_of
from widenet.report.typesetting import set_in_type, with_code, with_emphasis
from widenet.report.what_was_run import run_totals
from widenet.run import FigureOutcome, Results, version

SMALL_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class Page:
    """A page: where it is, its title, the entry of the bar it belongs to, and its body."""

    address: str
    title: str
    entry: str
    body: Markup


@dataclass(frozen=True)
class FigureRows:
    """The rows of a figure at one scale.

    Attributes:
      stated: what the paper says, beside what was measured.
      other_reading: the same sentences, where the setting that the paper leaves open is read in another way.
      own: what we expect or measure ourselves.
    """

    stated: list[ComparisonRow]
    other_reading: list[ComparisonRow]
    own: list[ComparisonRow]

    @classmethod
    def of(cls, comparisons: Iterable[Comparison]) -> "FigureRows":
        """The rows, sorted. An added row that holds a sentence of the paper to a band is another reading of it."""
        comparisons = list(comparisons)
        said = {each.reported for each in comparisons if not each.added}
        stated, other, own = list[ComparisonRow](), list[ComparisonRow](), list[ComparisonRow]()
        for each in comparisons:
            reads = each.reported in said and each.verdict != "MEASURED"
            (stated if not each.added else other if reads else own).append(ComparisonRow(each))
        return cls(stated, other, own)

    @property
    def every(self) -> list[ComparisonRow]:
        """All of them."""
        return [*self.stated, *self.other_reading, *self.own]


@dataclass(frozen=True)
class FigurePage:
    """A figure on its page.

    Attributes:
      files: what lies in the folder of figures, without animations.
    """

    outcome: FigureOutcome
    paper: Paper
    panels: Panels
    files: list[str]
    animation: str
    archived: Archived | None
    archived_panels: Panels

    @property
    def id(self) -> str:
        """Of the figure."""
        return self.outcome.figure.id

    @property
    def page(self) -> str:
        """The address of its page."""
        return page_of(self.id)

    @property
    def title(self) -> Markup:
        """What it shows. A product and an equation stay on one line."""
        return set_in_type(re.sub(r" ([×=]) ", "\N{NO-BREAK SPACE}\\1\N{NO-BREAK SPACE}", self.outcome.figure.title))

    @property
    def plain_title(self) -> str:
        """The same, without typeset mathematics."""
        return self.outcome.figure.title.replace("$", "")

    @property
    def place(self) -> str:
        """`Figure 1`."""
        return self.outcome.figure.name.replace("_", " ").capitalize()

    @functools.cached_property
    def here(self) -> "FigureRows":
        """Its rows."""
        return FigureRows.of(self.outcome.comparisons)

    @functools.cached_property
    def at_paper_scale(self) -> "FigureRows":
        """Its rows at the paper's own scale, from the result that ships with the package."""
        return FigureRows.of(self.archived.comparisons if self.archived else ())

    @property
    def n_agreeing(self) -> int:
        """How many of the paper's rows come out."""
        return sum(each.comparison.agrees for each in self.here.stated)

    @property
    def in_short(self) -> Markup:
        """How many of the paper's numbers and trends come out, and which do not, in a sentence."""
        if not self.here.stated:
            return Markup("")
        compared = numerals.counted(len(self.here.stated), "number or trend", "numbers and trends")
        agreeing, verb = numerals.count(self.n_agreeing), _verb(self.n_agreeing, "agrees", "agree")
        said = Markup("{} of {} {} with the paper").format(agreeing, compared, verb)
        missed = [each.name for each in self.here.stated if not each.comparison.agrees]
        said = Markup("{}; what does not: {}.").format(said, Markup(", ").join(missed)) if missed else said + "."
        return said + (
            Markup(" At the paper’s own scale {} agree.").format(self.share_at_paper_scale)
            if self.at_paper_scale.stated
            else ""
        )

    @property
    def share_at_paper_scale(self) -> Markup:
        """How many of the paper's rows come out at its own scale: `0 of 2`."""
        return Markup("{} of {}").format(
            numerals.count(self.n_agreeing_at_paper_scale), numerals.count(len(self.at_paper_scale.stated))
        )

    @property
    def n_agreeing_at_paper_scale(self) -> int:
        """How many of the paper's rows come out at its own scale."""
        return sum(each.comparison.agrees for each in self.at_paper_scale.stated)

    @property
    def all_agree(self) -> bool:
        """Whether every row of the paper comes out, at both scales where both were run."""
        return all(each.comparison.agrees for each in (*self.here.stated, *self.at_paper_scale.stated))

    @property
    def has_reported(self) -> bool:
        """Whether a drawing beside the rows has a diamond."""
        rows = (*self.here.every, *self.at_paper_scale.every)
        return any(each.picture is not None and each.picture.reported is not None for each in rows)

    @property
    def command(self) -> str:
        """What repeats it."""
        found = self.outcome.circumstances
        return f"widenet figure {self.id} --scale {found.scale.value} --seed {found.seed}"


@dataclass(frozen=True)
class LinkedCount:
    """A piece of the first sentence: how many statements came out in one way, and the page that lists them."""

    words: Markup
    page: str = ""
    mark: str = ""

    @classmethod
    def of(cls, count: int, verbs: tuple[str, str], rest: str, page: str = "", mark: str = "") -> "LinkedCount":
        """`59 are false as printed`."""
        return cls(Markup("{} {} {}").format(numerals.count(count), _verb(count, *verbs), rest), page, mark)


@dataclass(frozen=True)
class PaperSummary:
    """A paper on the first screen."""

    paper: Paper
    name: str
    statements: list[Statement]
    figures: list[FigurePage]

    @property
    def counts(self) -> Counter[Tone]:
        """Verdicts by tone."""
        return Counter(each.badge.tone for each in self.statements)

    @property
    def n_stated(self) -> int:
        """Numbers and trends that the paper prints under its figures."""
        return sum(len(each.here.stated) for each in self.figures)

    @property
    def n_agreeing(self) -> int:
        """How many of them come out."""
        return sum(each.n_agreeing for each in self.figures)


class Site:
    """All pages of a report, for a folder or for one file."""

    def __init__(
        self, found: Results, papers: Iterable[Paper], one_file: bool = False, changed: SinceLast | None = None
    ) -> None:
        self.found, self.papers, self.one_file, self.changed = found, list(papers), one_file, changed
        self.library = Library(found.checks, self.papers)
        by_key = {paper.key: paper for paper in self.papers}
        self.figures = [
            _figure_page(each, by_key[each.figure.paper], found.files[each.figure.id], one_file)
            for each in found.figures
            if each.figure.paper in by_key
        ]
        self.figure_by_id = {each.id: each for each in self.figures}
        ids = (*self.library.by_id, *self.figure_by_id)
        self.pages_by_name = {key: pages_by_name(ids, key) for key in ("", *by_key)}
        self.environment = _environment()

    def links(self, address: str) -> Links:
        """How this page links to others."""
        return InOneFile(address) if self.one_file else InFolder(address)

    def pages(self) -> Iterator[Page]:
        """Every page."""
        library, figures = self.library, self.figures
        summaries = [self._summary(paper) for paper in self.papers]
        tones = {tone: library.with_tone(tone) for tone in Tone}
        differing = differing_of((each.outcome, each.paper) for each in figures)
        yield self._page(
            addresses.INDEX,
            "Do the theorems hold?",
            "Overview",
            "index",
            summaries=summaries,
            n_papers=sum(bool(each.statements or each.figures) for each in summaries),
            tones=tones,
            others=list(self._others(tones)),
            shares=shares_of(library),
            stories=stories_of(library, {each.id: each.outcome for each in figures}),
            repaired=Counter(
                library.by_id[each.finding.repair].badge.tone
                for each in tones[Tone.FINDING]
                if each.finding is not None and each.finding.repair in library.by_id
            ),
            ran=run_totals(each.outcome for each in library.statements),
            forms=wording.forms([(each.claim.form, each.badge.tone) for each in library.statements]),
            n_stated=sum(each.n_stated for each in summaries),
            n_differing=len(differing),
            n_stated_at_paper_scale=sum(len(each.at_paper_scale.stated) for each in figures),
            n_agreeing_at_paper_scale=sum(each.n_agreeing_at_paper_scale for each in figures),
            causes=wording.by_cause(self.found.not_computed),
            changed=self.changed,
            places={each.id: each for each in (*library.statements, *figures)},
        )
        yield self._page(
            addresses.FINDINGS,
            "Findings",
            "Findings",
            "findings",
            groups=groups_of(library),
            slips=slips_of(library),
            differing=differing,
            differing_at_paper_scale=[
                Differing(each.outcome, row, each.paper)
                for each in figures
                for row in each.at_paper_scale.stated
                if not row.comparison.agrees
            ],
        )
        yield self._page(
            addresses.OPEN,
            "Open constants",
            "Open constants",
            "open",
            open=[each for each in library.statements if each.outcome.leaves_open],
        )
        yield self._page(addresses.ALL_FIGURES, "Figures", "Figures", "figures", summaries=summaries)
        yield self._page(
            addresses.CERTIFICATES, "Certificates", "Certificates", "certificates", examples=certified_examples()
        )
        for summary in summaries:
            address = page_of_paper(summary.paper.key)
            yield self._page(
                address, summary.paper.title, "Papers", "paper", summary=summary, bibtex=bibtex(summary.paper)
            )
        for statement in library.statements:
            yield self._page(
                statement.page,
                f"{statement.plain_title}: {statement.place}, {short_name(statement.paper)}",
                "Papers",
                "claim",
                statement=statement,
                paper_name=short_name(statement.paper),
                symbols=library.symbols(statement),
                relatives=(relatives := library.relatives(statement)),
                figures=[self.figure_by_id[id] for id in relatives.figures if id in self.figure_by_id],
                details=_scalars(statement.evidence.details),
                bibtex=bibtex(statement.paper),
            )
        for figure in figures:
            yield self._page(
                figure.page,
                f"{figure.plain_title}: {figure.place}, {short_name(figure.paper)}",
                "Figures",
                "figure",
                figure=figure,
                paper_name=short_name(figure.paper),
                shows=library.shown_in(figure.outcome.figure),
                about=library.about_figure(figure.outcome.figure, figure.paper),
                bases=wording.band_reasons(
                    [*figure.outcome.comparisons, *(figure.archived.comparisons if figure.archived else ())]
                ),
            )

    def _others(self, tones: Mapping[Tone, list[Statement]]) -> Iterator[LinkedCount]:
        """What the first sentence says after those that hold."""
        n_false, n_alarming, n_failed = len(tones[Tone.FINDING]), len(tones[Tone.ALARM]), len(self.found.not_computed)
        n_open = sum(each.outcome.leaves_open for each in tones[Tone.OPEN])
        n_undecided = len(tones[Tone.OPEN]) - n_open
        if n_false:
            yield LinkedCount.of(n_false, ("is", "are"), "false as printed", addresses.FINDINGS, "broken")
        if n_open:
            yield LinkedCount.of(n_open, ("leaves", "leave"), "a constant open", addresses.OPEN, "open")
        if n_undecided:
            yield LinkedCount.of(n_undecided, ("decides", "decide"), "nothing")
        if n_alarming:
            verbs = ("should hold and does", "should hold and do")
            yield LinkedCount.of(n_alarming, verbs, "not", addresses.FINDINGS, "broken")
        if n_failed:
            yield LinkedCount.of(n_failed, ("could", "could"), "not be computed")

    def shell(self, template: str, **context: Any) -> str:
        """A whole document around one page or all of them."""
        return self.environment.get_template(template).render(
            n_statements=len(self.library),
            circumstances=self._circumstances(),
            version=version(),
            addresses=addresses,
            **context,
        )

    def document(self, page: Page) -> str:
        """One page as a document of its own."""
        return self.shell("page.html.j2", page=page, to=self.links(page.address))

    def _page(self, address: str, title: str, entry: str, template: str, **context: Any) -> Page:
        body = self.environment.get_template(f"{template}.html.j2").render(
            to=self.links(address), library=self.library, addresses=addresses, **context
        )
        names = self.pages_by_name.get(address.partition("/")[0], self.pages_by_name[""])
        return Page(address, title, entry, with_links(body, names, self.links(address), address))

    def _summary(self, paper: Paper) -> PaperSummary:
        return PaperSummary(
            paper, short_name(paper), self.library.of(paper), [each for each in self.figures if each.paper is paper]
        )

    def _circumstances(self) -> str:
        """`quick scale, seed 0`; all of them when the outcomes differ."""
        found = [each.circumstances for each in (*self.found.checks, *self.found.figures)]
        met = dict.fromkeys(f"{each.scale.value} scale, seed {each.seed}" for each in found)
        return "; ".join(met) or "nothing was run"


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("widenet.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        words=wording,
        in_words=_in_words,
        numbers=numerals,
        typeset=set_in_type,
        plain=plain,
        with_code=with_code,
        with_emphasis=with_emphasis,
        is_finding=lambda id: finding_of(id) is not None,
        with_formulas=with_formulas,
        setting_of=setting_of,
        page_of=page_of,
        page_of_paper=page_of_paper,
        short_name=short_name,
        Tone=Tone,
        COLUMNS=COLUMNS,
        FIRST_BROKEN=FIRST_BROKEN,
        NO_SHARE=NO_SHARE,
        WALL=WALL,
        EVERY=EVERY,
        infinite=math.inf,
    )
    return environment


def _figure_page(outcome: FigureOutcome, paper: Paper, files: Mapping[str, bytes], one_file: bool) -> FigurePage:
    moving = f"{outcome.figure.id}.gif" if f"{outcome.figure.id}.gif" in files else ""
    beside = sorted(beside_pages(files))
    panels = panels_of(outcome.figure.id, files, one_file)
    at_paper_scale = outcome.figure.id + AT_PAPER_SCALE
    return FigurePage(
        outcome,
        paper,
        panels,
        [] if one_file else beside,
        "" if one_file else moving,
        archived(outcome.figure.id),
        panels_of(at_paper_scale, files, one_file) if at_paper_scale + PANELS in files and not one_file else Panels(),
    )


def _verb(count: int, one: str, several: str) -> str:
    return one if count == 1 else several


def _in_words(count: int) -> str:
    """`five`; larger numbers in digits."""
    return SMALL_NUMBERS[count] if count < len(SMALL_NUMBERS) else f"{count:,}"


def _scalars(details: Mapping[str, Any]) -> list[tuple[str, Markup]]:
    """The single numbers and words among the details of the evidence; results.json has all of them."""
    rows = []
    for name, value in details.items():
        if isinstance(value, bool):
            rows.append((name, Markup.escape(json.dumps(value))))
        elif isinstance(value, int | float | str):
            rows.append((name, numerals.number(value)))
    return rows
