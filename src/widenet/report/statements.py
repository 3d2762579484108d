"""A statement on the pages: a checked claim with its words, its paper, its finding and its relatives."""

import functools
import inspect
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from widenet.claims import Claim, Hypothesis, Part, Verdict
from widenet.claims.base import KEPT_BY_FAR, plain
from widenet.claims.tolerances import ROUNDING
from widenet.console import wording
from widenet.console.wording import Badge, Tone
from widenet.figures import Figure
from widenet.papers.base import Paper
from widenet.papers.controls import Control, controls_of
from widenet.papers.findings import Finding, finding_of, findings_of
from widenet.papers.glossary import Symbol, symbols_of, without_emphasis
from widenet.papers.index import Row, figure_rows, row_of
from widenet.report import mathematics, numerals
from widenet.report.addresses import page_of
from widenet.report.instances import InstancePicture, drawn
from widenet.report.mathematics import FormulaError
from widenet.report.runs import SMALL, RunPicture, picture_of
from widenet.report.typesetting import marked, set_in_type, with_code, with_displays, with_powers
from widenet.report.what_was_run import Ran, what_was_run
from widenet.run import CheckOutcome

MARKS = {Tone.GOOD: "", Tone.FINDING: "false", Tone.OPEN: "open", Tone.ALARM: "alarm"}
ROOT = Path(__file__).parents[2]


MOST_RELATIVES = 8
"""How many claims of the same runs a page names."""


@dataclass(frozen=True)
class Explained:
    """A symbol of the statement and what it means."""

    symbol: Markup
    word: Markup
    meaning: Markup


@dataclass(frozen=True)
class Gauge:
    """A part of the conclusion, with how much of its promise is used up.

    Attributes:
      filled, median: shares of the way to the wall, as shares of the whole gauge; the wall stands at `WALL`.
    """

    part: Part
    name: Markup
    left: Markup
    right: Markup
    filled: float
    median: float | None

    @property
    def drawn_as(self) -> Markup:
        """What its picture compares, where that is the promise turned round (L_t ≤ … as 1/L_t ≥ …); or ""."""
        sign = re.search("[≤<≥>]", self.part.name)
        turned = sign is not None and self.part.sense in ("≥>" if sign[0] in "≤<" else "≤<")
        if not (turned and self.part.sense and self.part.quantity):
            return Markup("")
        return Markup("drawn: {} ({} promised)").format(set_in_type(self.part.quantity), self.part.sense)

    @property
    def is_counted(self) -> bool:
        """Whether what was measured is a share of its cases."""
        return self.part.interval is not None and not self.part.interval_of and self.part.quantity.startswith("share")

    @property
    def counted(self) -> Markup:
        """The share that was counted, beside the one that is promised."""
        measured, promised = map(numerals.number, (self.part.measured, self.part.promised))
        return Markup("{} {}, promised {} {}").format(self.part.quantity, measured, self.part.sense, promised)

    @functools.cached_property
    def picture(self) -> RunPicture | None:
        """Its cases, large."""
        return picture_of(self.part)

    @property
    def has_share(self) -> bool:
        """Whether a share of the promise can be used, or the promise is broken."""
        return self.part.tightness is not None and (self.part.kept is False or self.part.comes_apart)

    @property
    def share(self) -> Markup:
        """How much of the promise the closest case uses, or why there is no such number."""
        if self.has_share:
            return numerals.share(self.part.tightness)
        return Markup.escape("" if self.part.tightness is None else NO_SHARES[self.part.sense == "="])

    @property
    def sameness(self) -> Markup:
        """What is said instead of a drawing where all cases are alike."""
        words = Markup("the same in all {} cases").format(numerals.count(self.part.n_cases))
        return words if self.part.alike else Markup("")

    @property
    def limits(self) -> Markup:
        """The one-sided limits of what was measured or of what the part names; "" where there are none."""
        if self.part.interval is None:
            return Markup("")
        of = Markup(" of {}:").format(set_in_type(self.part.interval_of)) if self.part.interval_of else ""
        return Markup("{}{} {} to {}").format(wording.LIMITS, of, *map(numerals.number, self.part.interval))

    @property
    def badge(self) -> Badge:
        """Kept, broken or undecided."""
        return wording.kept(self.part)

    @property
    def kept(self) -> Markup:
        """The same in words, with the cases behind it."""
        part = self.part
        decided = part.undecided if part.kept is None else part.broken
        word = "undecided" if part.kept is None else "broken" if not part.kept else self.badge.word
        if decided and part.n_cases > 1 and not part.kept:
            word = Markup("{} in {} of {}").format(word, numerals.count(decided), numerals.count(part.n_cases))
        return Markup.escape(word)

    @property
    def far(self) -> Markup:
        """A warning where even the closest case keeps the promise by far; "" where none is due."""
        if not self.part.warning:
            return Markup("")
        used = numerals.share(self.part.tightness) if self.part.tightness else "nothing"
        return Markup(KEPT_BY_FAR).format(used)


NO_SHARES = {True: "equality", False: "0 allowed"}
"""What is said of a part that is kept and of which no share of the promise can be used: see `Part.comes_apart`."""
WALL = 0.82
"""Where the promise stands in a gauge."""


@dataclass(frozen=True)
class ControlRow:
    """The change that must break a clause.

    Attributes:
      clause: its words, and `asked` what it asks for.
      kept, broken: what was measured just inside and just outside; "" where the clause is a fact.
    """

    clause: Markup
    asked: Markup
    changed: str
    kept: Markup
    broken: Markup
    decides: bool
    is_edge: bool = False


@dataclass(frozen=True)
class ControlGroup:
    """Controls of one sort, and what they show."""

    heading: str
    says: str
    rows: list[ControlRow]


EDGE = 1e-9
"""Where kept and broken lie closer together than this, the row shows that the check notices its limit, and no more."""


BREAKS = (
    "A check that cannot fail shows nothing. So the tests change a small example until one clause fails and no other: "
    "just inside its limit all is kept, and just outside that clause is broken."
)
NOTICES = (
    "Here both sides differ by less than a billionth. So these rows show that the check notices its limit, and say "
    "nothing about how far from it the clause may fail."
)


@dataclass(frozen=True)
class Statement:
    """A checked claim on its page; `row` is what the index has about it."""

    outcome: CheckOutcome
    paper: Paper
    finding: Finding | None
    row: Row

    @property
    def claim(self) -> Claim:
        """The claim."""
        return self.outcome.claim

    @property
    def evidence(self):
        """What was found."""
        return self.outcome.evidence

    @property
    def id(self) -> str:
        """Of the claim."""
        return self.claim.id

    @functools.cached_property
    def page(self) -> str:
        """The address of its page."""
        return page_of(self.id)

    @functools.cached_property
    def title(self) -> Markup:
        """In words."""
        return set_in_type(self.claim.title or self.claim.name.replace("_", " "))

    @functools.cached_property
    def plain_title(self) -> str:
        """In words, without typeset mathematics."""
        return plain(with_powers(self.claim.title or self.claim.name.replace("_", " ")))

    @property
    def place(self) -> str:
        """`Theorem 2`, without what follows it; `generalization, Section 6`, up to the first number."""
        pieces = [
            re.split(r" \((?![AB]\d)", each)[0].strip() for each in re.split(r"[;,](?![^(]*\))", self.claim.where)
        ]
        if pieces[0] == "not in the paper" or pieces[0].startswith("Appendix"):
            return pieces[0]
        last = next((at for at, each in enumerate(pieces) if re.search(r"\d", each)), 0)
        return ", ".join(pieces[: last + 1])

    @functools.cached_property
    def badge(self) -> Badge:
        """The verdict."""
        return wording.badge(self.claim, self.evidence)

    @property
    def verdict(self) -> str:
        """In lower case, for sentences."""
        return self.badge.word.lower()

    @property
    def mark(self) -> str:
        """How its dot looks: the classes of the style sheet."""
        main = "main" if self.claim.kind.value == "main result" else ""
        return f"{MARKS[self.badge.tone]} {main}".strip()

    @property
    def is_broken(self) -> bool:
        """Whether its conclusion failed where its hypotheses are met."""
        return self.evidence.verdict is Verdict.VIOLATED

    @property
    def only_attains(self) -> bool:
        """Whether it is broken because a strict inequality is attained."""
        tightness = self.evidence.tightness
        return self.is_broken and tightness is not None and tightness <= 1 + ROUNDING

    @functools.cached_property
    def used(self) -> str:
        """How much of the promise is used up, in words."""
        tightness = self.evidence.tightness
        if tightness is None:
            return "yes or no"
        if not self.is_broken and not self.evidence.headline.comes_apart:
            return "an equality" if self.evidence.headline.sense == "=" else "none is allowed and none occurs"
        if self.is_broken:
            if math.isinf(tightness):
                return "breaks a promise of 0"
            if self.headline.is_counted:
                return self.headline.counted.striptags()
            return (
                "a strict inequality that is attained"
                if self.only_attains
                else f"{numerals.times(tightness)} what is promised"
            )
        return f"{numerals.percent(tightness)} of its promise used"

    @property
    def share(self) -> Markup:
        """The same in a word, for a column."""
        return self.headline.share or Markup("yes / no")

    @functools.cached_property
    def headline(self) -> Gauge:
        """The part whose numbers are shown first."""
        return next(each for each in self.gauges if each.part is self.evidence.headline)

    @functools.cached_property
    def statement(self) -> Markup:
        """Its words, with typeset mathematics."""
        return set_in_type(self.claim.statement)

    @functools.cached_property
    def assertion(self) -> Markup:
        """The same without the counterexample, for a list that has it beside."""
        return set_in_type(re.split(r"\s*Counterexample\b", self.claim.statement)[0])

    @functools.cached_property
    def displayed(self) -> Markup:
        """The same, with long formulas on lines of their own."""
        return with_displays(self.claim.statement)

    @functools.cached_property
    def latex(self) -> str:
        """The same, as LaTeX."""
        try:
            return mathematics.as_latex(self.claim.statement)
        except FormulaError:
            return plain(self.claim.statement)

    @functools.cached_property
    def gauges(self) -> list[Gauge]:
        """The parts of its conclusion."""
        return [_gauge(part, self._text_of("promised", part.key)) for part in self.evidence.parts]

    def named(self, hypothesis: Hypothesis) -> Markup:
        """The name of an assumption."""
        return set_in_type(marked(hypothesis.name, self._text_of("given", hypothesis.key)))

    def _text_of(self, role: str, key: str) -> str:
        """The words of a clause, with dollars around its mathematics."""
        clauses = self.row["clauses"]
        return next((each["text"] for each in clauses if (each["role"], each["key"]) == (role, key)), "")

    @functools.cached_property
    def picture(self) -> tuple[Gauge, RunPicture] | None:
        """The drawing of the headline, or of the first part that has one; of a broken one before all."""
        first = self.evidence.headline

        def later(each: Gauge) -> tuple[bool, bool, bool]:
            return each.part.kept is not False, bool(each.sameness), each.part is not first

        ordered = sorted(self.gauges, key=later)
        return next(((each, each.picture) for each in ordered if each.picture is not None), None)

    @functools.cached_property
    def more_pictures(self) -> list[tuple[Gauge, RunPicture]]:
        """The drawings of the other parts that more than one case stands behind."""
        shown = self.picture[0] if self.picture else None
        small = (
            (each, picture_of(each.part, SMALL)) for each in self.gauges if each is not shown and not each.sameness
        )
        return [(each, picture) for each, picture in small if picture is not None and picture.n_shown > 1]

    @functools.cached_property
    def instance(self) -> InstancePicture | None:
        """The case that breaks it, where it can be drawn."""
        return drawn(self.evidence.instance)

    @functools.cached_property
    def controls(self) -> list[ControlRow]:
        """Of each clause, the change that must break it."""
        told = controls_of(self.id)
        rows = [control_row(each, told[each["key"]]) for each in self.row["clauses"] if each["key"] in told]
        return [each for each in rows if each.kept or each.broken]

    @property
    def control_groups(self) -> list[ControlGroup]:
        """Changes that break a clause, and those that only step over its limit."""
        kinds = ((False, "What must break it", BREAKS), (True, "What the check notices", NOTICES))
        found = [
            ControlGroup(words, says, [each for each in self.controls if each.is_edge is edge])
            for edge, words, says in kinds
        ]
        return [each for each in found if each.rows]

    @property
    def assumptions(self) -> list[Hypothesis]:
        """Those nearest to failing first; last those that every run meets by its construction."""
        return sorted(self.evidence.hypotheses, key=_nearness)

    @functools.cached_property
    def symbols(self) -> list[Symbol]:
        """The entries of the glossary that its texts use."""
        texts = (self.claim.title, self.claim.statement, *(each["text"] for each in self.row["clauses"]))
        return symbols_of(self.paper.key, *texts, claim=self.claim.name)

    @functools.cached_property
    def closest(self) -> list[tuple[Markup, Markup]]:
        """The setting of the closest case: symbols that the page explains, and their values."""
        found = self.evidence.headline.closest
        pairs = [pair for each in self.symbols for pair in each.form_of.items()]
        times, forms = Counter(name for name, _ in pairs), dict(pairs)
        named = [(forms[name], value) for name, value in found.items() if times[name] == 1]
        return [(set_in_type(f"${symbol}$"), numerals.number(value)) for symbol, value in named]

    @functools.cached_property
    def source(self) -> str:
        """File and line of the program."""
        judge = self.claim.judge
        while isinstance(judge, functools.partial):
            judge = judge.func
        judge = inspect.unwrap(judge)
        code = getattr(judge, "__code__", None)
        if code is None:
            return ""
        path = Path(code.co_filename)
        shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else Path(*path.parts[-3:])
        return f"{shown.as_posix()}, line {code.co_firstlineno}"

    @functools.cached_property
    def ran(self) -> list[Ran]:
        """The experiments it reads, with what each field of their settings was."""
        return what_was_run(self.outcome.circumstances.settings)

    @property
    def how_many_met(self) -> Markup:
        """`2 of 4 met, 1 undecided`: its assumptions."""
        answers = [each.met for each in self.evidence.hypotheses]
        words = Markup("{} of {} met").format(numerals.count(answers.count(True)), numerals.count(len(answers)))
        undecided = answers.count(None)
        return Markup("{}, {} undecided").format(words, numerals.count(undecided)) if undecided else words

    @property
    def runs(self) -> Markup:
        """How many runs, and what became of those that did not end well."""
        found = self.evidence.runs
        ends = {
            "diverged": found.diverged,
            "unfinished": found.unfinished,
            "outside the event and not scored": found.outside,
        }
        lost = [Markup("{} {}").format(numerals.count(number), words) for words, number in ends.items() if number]
        return Markup(", ").join([numerals.count(found.tried), *lost])

    @property
    def command(self) -> str:
        """What repeats it."""
        found = self.outcome.circumstances
        return f"widenet check {self.id} --scale {found.scale.value} --seed {found.seed}"


@dataclass(frozen=True)
class Relatives:
    """What belongs to a statement: its other forms, its neighbours, and what reads the same runs.

    Attributes:
      figures: the ids of those that read the same runs or show it; `illustrated_by`, of those that show it.
    """

    repaired_by: Statement | None
    false_as_printed: list[Statement]
    before: Statement | None
    after: Statement | None
    same_runs: list[Statement]
    figures: list[str]
    illustrated_by: set[str]


class Library:
    """The statements of a report, by id and by paper, with what belongs to each."""

    def __init__(self, checks: Iterable[CheckOutcome], papers: Iterable[Paper]) -> None:
        self.papers = list(papers)
        by_key = {paper.key: paper for paper in self.papers}
        self.by_id = {
            each.claim.id: Statement(each, by_key[each.claim.paper], finding_of(each.claim.id), row_of(each.claim))
            for each in checks
            if each.claim.paper in by_key
        }

    def __len__(self) -> int:
        return len(self.by_id)

    @functools.cached_property
    def statements(self) -> list[Statement]:
        """All, paper by paper, in the order of the paper; what no paper lists comes last."""
        places = {id: place for place, id in enumerate(id for paper in self.papers for id in paper.claim_ids)}
        return sorted(self.by_id.values(), key=lambda each: places.get(each.id, len(places)))

    def of(self, paper: Paper) -> list[Statement]:
        """Those of a paper."""
        return [each for each in self.statements if each.paper is paper]

    def with_tone(self, tone: Tone) -> list[Statement]:
        """Those whose verdict has this tone."""
        return [each for each in self.statements if each.badge.tone is tone]

    def symbols(self, statement: Statement) -> list[Explained]:
        """The entries of the glossary that a statement uses."""
        return [explained(each.forms, each.word, each.meaning) for each in statement.symbols]

    def relatives(self, statement: Statement) -> Relatives:
        """What belongs to a statement."""
        mine = self.of(statement.paper)
        place = mine.index(statement)
        reads = {*statement.row["reads"]}
        printed = [each.claim for each in findings_of(statement.paper.key) if each.repair == statement.id]
        same = [each for each in mine if each is not statement and reads & {*each.row["reads"]}]
        return Relatives(
            repaired_by=self.by_id.get(statement.finding.repair) if statement.finding else None,
            false_as_printed=[self.by_id[id] for id in printed if id in self.by_id],
            before=mine[place - 1] if place else None,
            after=mine[place + 1] if place + 1 < len(mine) else None,
            same_runs=same[:MOST_RELATIVES],
            figures=[
                row["id"]
                for row in figure_rows([statement.paper])
                if statement.id in row["claims"] or reads & {*row["reads"]}
            ],
            illustrated_by={row["id"] for row in figure_rows([statement.paper]) if statement.id in row["claims"]},
        )

    def shown_in(self, figure: Figure) -> list[Statement]:
        """The statements that a figure illustrates."""
        named = [f"{figure.paper}.{name}" for name in figure.claims]
        return [self.by_id[id] for id in named if id in self.by_id]

    def about_figure(self, figure: Figure, paper: Paper) -> list[Statement]:
        """The other statements that read the runs of a figure."""
        reads, shown = {each.id for each in figure.reads}, self.shown_in(figure)
        return [each for each in self.of(paper) if reads & {*each.row["reads"]} and each not in shown]


def _nearness(hypothesis: Hypothesis) -> tuple[int, float]:
    """Unmet, undecided, then by the distance from failing beside the size of what was measured."""
    if not hypothesis.met:
        return (0 if hypothesis.met is False else 1), 0.0
    if hypothesis.slack is None or wording.is_met_exactly(hypothesis):
        return 3, 0.0
    size = abs(hypothesis.actual) if isinstance(hypothesis.actual, float) else 0.0
    return 2, hypothesis.slack / max(size, hypothesis.slack, 1e-300)


def _gauge(part: Part, text: str) -> Gauge:
    left, right = numerals.sides_of(part)
    share = part.tightness or 0.0
    filled = min(1.0, WALL * share) if math.isfinite(share) else 1.0
    median = None if part.median_tightness is None else min(1.0, WALL * part.median_tightness)
    return Gauge(part, set_in_type(marked(part.name, text)), left, right, filled, median)


def control_row(clause: Mapping[str, Any], control: Control) -> ControlRow:
    """What the page says of a control. Both sides are told apart, and from the limit too."""
    kept, broken, asked = Markup(""), Markup(""), set_in_type(wording.clause(clause))
    if control.kept and control.broken and control.kept[1] == control.broken[1]:
        limit = control.kept[1]
        kept, broken, limit_shown = numerals.several_apart(control.kept[0], control.broken[0], limit)
        if clause.get("limit") != "per case" and clause.get("limit") != limit:
            asked = _asked_of_example(clause, control, limit_shown)
    elif control.kept or control.broken:  # both sides move
        kept, broken = (_against(each) if each else Markup("") for each in (control.kept, control.broken))
    changed = ", ".join(each.replace("_", " ") for each in control.changed)
    return ControlRow(
        set_in_type(clause["text"]),
        asked,
        changed or "the whole example",
        kept,
        broken,
        control.decides,
        is_edge=_is_edge(control),
    )


def _asked_of_example(clause: Mapping[str, Any], control: Control, limit: Markup) -> Markup:
    """What a clause asks of an example whose limit is not its own: of a case of a rate, or with other constants."""
    if not clause["sense"].startswith("rate"):
        return Markup("{} {}").format(clause["sense"], limit)
    sense = "≤" if control.kept and control.broken and control.kept[0] <= control.broken[0] else "≥"
    return Markup("{} {}, but for a share of {:g} of the cases").format(sense, limit, clause["limit"])


def _is_edge(control: Control) -> bool:
    if control.kept is None or control.broken is None:
        return False
    return all(
        math.isclose(*each, rel_tol=EDGE, abs_tol=EDGE) for each in zip(control.kept, control.broken, strict=True)
    )


def _against(pair: tuple[float, float]) -> Markup:
    return Markup("{} against {}").format(*numerals.two_sides(*pair))


@functools.lru_cache(maxsize=2048)
def explained(forms: tuple[str, ...], word: str, meaning: str) -> Explained:
    """An entry of the glossary; forms that are set alike (Q_1, Q₁) stand there once."""
    names = []
    for form in forms:
        try:
            names.append(Markup(mathematics.mathml(form)))
        except FormulaError:
            names.append(Markup.escape(form))
    return Explained(Markup(", ").join(dict.fromkeys(names)), with_code(without_emphasis(word)), with_code(meaning))
