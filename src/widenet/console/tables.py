"""What the command line prints on stdout: tables and blocks on a terminal, plain aligned lines in a pipe.

Statements contain square brackets, so everything is a `Text`: rich would read `[0, 1]` in a string as markup.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from widenet.claims.base import Claim, Hypothesis, Part, Verdict, plain
from widenet.console import layout, wording
from widenet.console.first_screen import STYLES, first_screen
from widenet.console.wording import Badge, Tone
from widenet.papers.glossary import without_emphasis

if TYPE_CHECKING:  # what only lists claims needs neither
    from widenet.figures import Comparison
    from widenet.report.changes import SinceLast
    from widenet.run import CheckOutcome, FigureOutcome, NotComputed, Results

EXPECTED_MARKS = {Verdict.VIOLATED.value: "!", Verdict.CONSTANT_UNSPECIFIED.value: "?"}
"""How a list of claims marks those that are not expected to hold."""
FEW = 3
"""Up to so many claims are shown in full; among more, only unexpected violations."""

COLUMNS = {
    "papers": ("key", "claims", "figures", "venue", "title"),
    "claims": ("id", "kind", "title"),
    "figures": ("id", "title"),
    "data": ("name", "made_by", "description"),
}

VERDICT_COLUMNS = ("claim", "verdict", "tightness", "runs", "s", "kind")
TIMES = ("µs/step/run", "ratio", "compile s")
NEEDS = {"kind": 110, "venue": 76, "figures": 64, "made_by": 64}
"""Columns of `widenet list` that only a terminal of this width shows."""
LEAST_STATEMENT = 20
LEAST_NOTE = 24
PIPE_SCREEN = 80
"""How wide the first screen of a report is in a pipe."""
PIPE_WIDTH = 10_000  # a line in a pipe is for grep and awk: it is never folded


def show(*parts: RenderableType) -> None:
    """Print on stdout, with an empty line between the parts."""
    lined = sys.stdout.isatty()
    console = Console(width=None if lined else PIPE_WIDTH, highlight=False, markup=False, emoji=False)
    for place, part in enumerate(parts):
        if place:
            console.print()
        if lined:
            console.print(part)
            continue
        with console.capture() as captured:
            console.print(part)
        # rich fills every cell up to the width of its column.
        print("\n".join(line.rstrip() for line in captured.get().splitlines()))


def _table(title: str, *columns: str, right: Sequence[str] = (), fold: Sequence[str] = ()) -> Table:
    """A table whose columns stay on one line, except those that may `fold`."""
    lined = sys.stdout.isatty()
    table = Table(
        title=Text(title, style="bold") if title else None,
        title_justify="left",
        box=box.SIMPLE_HEAD if lined else None,
        pad_edge=False,
        collapse_padding=True,
        header_style="dim",
    )
    for column in columns:
        table.add_column(
            Text(column),
            justify="right" if column in right else "left",
            no_wrap=column not in fold,
            overflow="fold" if column in fold else "ellipsis",
        )
    return table


def _one_line(table: Table) -> Table:
    """Cuts the last column at the edge of the terminal, so that rows stay rows and ids stay whole."""
    if sys.stdout.isatty():
        cells = ([str(cell) for cell in (column.header, *column.cells)] for column in table.columns[:-1])
        taken = sum(max(map(cell_len, column)) for column in cells) + 3 * len(table.columns)
        room = Console().width - taken
        if room < LEAST_STATEMENT:
            table.columns.pop()
        else:
            table.columns[-1].max_width = room
            table.columns[-1].no_wrap = True
            table.columns[-1].overflow = "ellipsis"
    return table


def _is_wide(width: int) -> bool:
    return not sys.stdout.isatty() or Console().width >= width


def _has_room(table: Table, words: Sequence[str], least: int) -> bool:
    """Whether a table can be read here. A line in a pipe is as long as it needs to be."""
    return not sys.stdout.isatty() or layout.fits(table, words, least, Console().width)


def _badge(badge: Badge) -> Text:
    return Text(f"{badge.sign} {badge.word}", style=STYLES[badge.tone])


def listing_table(noun: str, rows: Iterable[Mapping[str, Any]]) -> RenderableType:
    """The rows of `widenet list`, the columns that matter to a reader."""
    if noun == "claims":
        rows = [{**row, "title": plain(row["title"] or row["statement"])} for row in rows]
        if sys.stdout.isatty():
            return _claims_by_paper([{**row, "title": _expected_mark(row) + row["title"]} for row in rows])
    return _listed(noun.capitalize(), COLUMNS[noun], rows)


def _listed(title: str, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> Table:
    columns = [column for column in columns if _is_wide(NEEDS.get(column, 0))]
    table = _table(title, *columns, right=("claims", "figures"), fold=("title", "description"))
    for row in rows:
        cells = [Text(" ".join(str(row[column]).split())) for column in columns]
        cells[0].stylize("bold")
        table.add_row(*cells)
    return table


def _claims_by_paper(rows: Sequence[Mapping[str, Any]]) -> Group:
    """A table per paper, whose title has what all of its ids begin with: the room is for the titles.

    They are in the order of their kinds, which a narrow terminal does not name.
    """
    tables = []
    for paper in dict.fromkeys(row["id"].partition(".")[0] for row in rows):
        own = [
            {**row, "name": row["id"].removeprefix(f"{paper}.")} for row in rows if row["id"].startswith(f"{paper}.")
        ]
        tables.append(_one_line(_listed(f"Claims {paper}.NAME", ("name", "kind", "title"), own)))
    marks = ", ".join(f"{sign} {wording.EXPECTED[Verdict(value)]}" for value, sign in EXPECTED_MARKS.items())
    return Group(*tables, Text(f"Expected: {marks}; the others hold.", style="dim"))


def _expected_mark(row: Mapping[str, Any]) -> str:
    sign = EXPECTED_MARKS.get(row.get("expected_verdict", ""), "")
    return f"{sign} " if sign else ""


def about(row: Mapping[str, Any]) -> list[RenderableType]:
    """What `widenet show` prints of a claim, a figure or a paper."""
    if "key" in row:
        return [_about_paper(row)]
    if "clauses" not in row:
        command = Text(f"widenet figure {row['id']}", style="dim")
        return [Text(row["id"], style="bold"), Text(plain(row["title"])), Text(plain(row["caption"])), command]
    head = Text.assemble((row["id"], "bold"), f"  {row['kind']}, {row['where']}")
    title = [Text(plain(row["title"]), style="bold")] if row["title"] else []
    words = [Text(plain(row[name])) for name in ("statement", "remark") if row[name]]
    return [Group(head, *title), *words, *_clauses(row["clauses"]), _sources(row)]


def _about_paper(row: Mapping[str, Any]) -> RenderableType:
    head = Text.assemble((row["key"], "bold"), f"  {row['title']}")
    cited = Text(f"{row['authors']}. {row['venue']}. arXiv:{row['arxiv']}", style="dim")
    count = Text(f"{row['claims']} claims and {row['figures']} figures: widenet list {row['key']}", style="dim")
    return Group(head, cited, Text(row["in_one_line"]), count)


def _clauses(rows: Sequence[Mapping[str, Any]]) -> list[RenderableType]:
    """Two tables: what is given, and what is promised."""
    tables = []
    for role in ("given", "promised"):
        table = _table(role.capitalize(), "text", "is", "key", fold=("text", "is"))
        table.show_header = False
        for row in rows:
            if row["role"] == role:
                table.add_row(Text(plain(row["text"])), Text(wording.clause(row)), Text(row["key"], style="dim"))
        tables += [table] if table.row_count else []
    return tables


def _sources(row: Mapping[str, Any]) -> Table:
    """Where its runs come from, its other form, and how to check it."""
    facts = Table.grid(padding=(0, 2))
    facts.add_column(no_wrap=True)
    words = {
        "statement": row["form"],
        **_finding(row.get("finding")),
        "repaired by": row.get("repaired_by"),
        "false as printed": ", ".join(row.get("false_as_printed", ())),
        "symbols": "\n".join(map(_symbol, row.get("symbols", ()))),
        "reads": ", ".join(dict.fromkeys(row["reads"])) or "nothing: it generates its own test cases",
        "same runs": _few(row.get("same_runs", ())),
        "figures": ", ".join(row.get("figures", ())),
        "expected": wording.EXPECTED[row["expected_verdict"]],
        "check it": f"widenet check {row['id']}",
    }
    for word, value in words.items():
        if value:
            facts.add_row(Text(word, style="dim"), Text(value))
    return facts


def _finding(found: Mapping[str, str] | None) -> dict[str, str]:
    """How grave it is, where it fails, what holds instead, and what survives."""
    if found is None:
        return {}
    survives = f"{found['survives']}; {found['conclusion']}"
    words = {"gravity": found["gravity"], "fails": found["fails"], "instead": found["holds"], "survives": survives}
    return {name: text.replace("`", "") for name, text in words.items()}


def _symbol(entry: Mapping[str, str]) -> str:
    """`M_k: the bound of Theorem 2 on T (max_nonzero_updates)`."""
    word, meaning = without_emphasis(entry["word"]).replace("`", ""), plain(entry["meaning"]).replace("`", "")
    return f"{entry['symbol']}: {meaning} ({word})"


def _few(ids: Sequence[str], most: int = 6) -> str:
    """The first of them, and how many more there are."""
    more = f" and {len(ids) - most} more" if len(ids) > most else ""
    return ", ".join(ids[:most]) + more


def check_report(results: "Results") -> list[RenderableType]:
    """A table of verdicts when there are several, what failed, and in full a few claims or those with an alarm."""
    outcomes = results.checks
    if len(outcomes) + len(results.not_computed) <= 1:
        return [*_failures(results.not_computed), *map(check_block, outcomes)]
    blocks = [check_block(each) for each in outcomes if len(outcomes) <= FEW or each.failed]
    hint = [] if len(outcomes) <= FEW else [Text("widenet check ID shows one in full.", style="dim")]
    return [verdict_table(results), *_failures(results.not_computed), *blocks, *hint]


def _failures(not_computed: "Sequence[NotComputed]") -> list[RenderableType]:
    """Each cause in one sentence, with what it left without a result."""
    blocks: list[RenderableType] = []
    for sentence, ids in wording.by_cause(not_computed).items():
        head = Text.assemble(_badge(wording.NOT_COMPUTED), "  ", (", ".join(ids), "bold"))
        words = Text(f"{sentence}\n--json prints the traceback.", style=STYLES[Tone.ALARM])
        blocks.append(Group(head, Padding(words, (0, 0, 0, 2), expand=False)))
    return blocks


def verdict_table(results: "Results") -> Group:
    """One line per claim, and the sums below."""
    rows = [(outcome.claim, _verdict_row(outcome)) for outcome in results.checks]
    rows += [(each.item, _failed_row(each.item)) for each in results.not_computed if isinstance(each.item, Claim)]
    rows = [row for _, row in sorted(rows, key=lambda pair: wording.kind_order(pair[0]))]
    columns = _fitting(rows) if sys.stdout.isatty() else VERDICT_COLUMNS
    table = _table("", *columns, right=("tightness", "runs", "s"))
    for row in rows:
        table.add_row(*(row[column] for column in columns))
    return Group(table, Text(sums(results), style="bold"))


def _verdict_row(outcome: "CheckOutcome") -> dict[str, Text]:
    evidence = outcome.evidence
    failed = evidence.runs.diverged + evidence.runs.unfinished
    return {
        "claim": Text(outcome.claim.id, style="bold"),
        "verdict": _badge(wording.badge(outcome.claim, evidence)),
        "tightness": Text(wording.number(evidence.tightness)),
        "runs": Text(f"{evidence.runs.tried:,}" + (f" ({failed:,} ✗)" if failed else "")),
        "s": Text(f"{outcome.circumstances.seconds:.1f}"),
        "kind": Text(outcome.claim.kind.value),
    }


def _failed_row(claim: Claim) -> dict[str, Text]:
    empty = dict.fromkeys(("tightness", "runs", "s"), Text(wording.NOTHING))
    verdict = {"claim": Text(claim.id, style="bold"), "verdict": _badge(wording.NOT_COMPUTED)}
    return {**verdict, **empty, "kind": Text(claim.kind.value)}


def _fitting(rows: Sequence[dict[str, Text]]) -> list[str]:
    """The columns that fit the terminal whole. Ids, verdicts and tightness always stay; a long id is folded."""
    columns: list[str] = list(VERDICT_COLUMNS)
    widths = {column: max([cell_len(column), *(row[column].cell_len for row in rows)]) for column in columns}
    for column in ("kind", "s", "runs"):
        if sum(widths[each] + 2 for each in columns) > Console().width:
            columns.remove(column)
    room = Console().width - sum(widths[each] + 2 for each in columns[1:]) - 2
    for row in rows:
        row["claim"] = Text(layout.folded_id(row["claim"].plain, room), style="bold")
    return columns


def sums(results: "Results") -> str:
    """`3 claims: 2 hold, 1 false as printed (1 found in the store)`."""
    outcomes, failed = results.checks, [each for each in results.not_computed if isinstance(each.item, Claim)]
    badges = [wording.badge(outcome.claim, outcome.evidence) for outcome in outcomes]
    counts = wording.tally([*badges, *(wording.NOT_COMPUTED for _ in failed)])
    words = [f"{count} {word if count == 1 else word.replace('holds', 'hold')}" for word, count in counts.items()]
    verdicts = ", ".join(words) or "nothing to check"
    stored = sum(outcome.circumstances.reused for outcome in outcomes)
    found = f" ({stored} found in the store)" if stored else ""
    return f"{wording.counted(len(badges) + len(failed), 'claim')}: {verdicts}{found}"


def check_block(outcome: "CheckOutcome") -> RenderableType:
    """Everything about one checked claim, to be read from top to bottom."""
    claim, evidence = outcome.claim, outcome.evidence
    badge = wording.badge(claim, evidence)
    head = Text.assemble((claim.id, "bold"), "  ", _badge(badge), "  ", (f"{claim.kind.value}, {claim.where}", "dim"))
    body: list[RenderableType] = [Text(plain(claim.statement))]
    if badge.tone is Tone.FINDING:
        words = "A finding, not an alarm: the statement is false as printed; the repaired one has the plain id."
        body.append(Text(words, style=STYLES[badge.tone]))
    elif badge.tone is not Tone.GOOD and not evidence.vacuous:
        body.append(Text(evidence.verdict.sentence, style=STYLES[badge.tone]))
    if evidence.hypotheses:
        body.append(hypothesis_table(evidence.hypotheses))
    body += [Text(words) for words in wording.reasons(evidence.hypotheses)]
    if len(evidence.parts) > 1:
        body.append(part_table(evidence.parts))
    body.append(_facts(outcome))
    if evidence.headline.warning:
        body.append(Text(evidence.headline.warning, style=STYLES[Tone.OPEN]))
    if evidence.note:
        body.append(Text(f"Note: {evidence.note}"))
    return Group(head, Padding(Group(*body), (0, 0, 0, 2), expand=False))


def hypothesis_table(hypotheses: Sequence[Hypothesis]) -> RenderableType:
    """Each hypothesis with how far it is from failing."""
    words = ("hypothesis", "required", "actual")
    table = _table("", "hypothesis", "required", "actual", "slack", "met", right=("actual", "slack"), fold=words)
    for each in hypotheses:
        table.add_row(
            Text(each.name),
            Text(each.required),
            Text(wording.number(each.actual)),
            wording.number(each.slack),
            _badge(wording.met(each)),
        )
    if _has_room(table, words, least=14):
        return table
    return layout.stacked((_badge(wording.met(each)), Text(each.name), _distance(each)) for each in hypotheses)


def part_table(parts: Sequence[Part]) -> RenderableType:
    """Each part of a conclusion, with its two sides in the closest case."""
    numbers = ("tightness", "median", "cases")
    table = _table("", "part", "measured, promised", *numbers, "kept", right=numbers, fold=("part",))
    for each in parts:
        median = wording.NOTHING if each.median_tightness is None else wording.two_digits(each.median_tightness)
        shown = (wording.sides(each), wording.number(each.tightness), median, f"{each.n_cases:,}")
        table.add_row(Text(each.name), *shown, _badge(wording.kept(each)))
    if _has_room(table, ("part",), least=14):
        return table
    return layout.stacked((_badge(wording.kept(each)), Text(each.name), _closest(each)) for each in parts)


def _closest(part: Part) -> list[tuple[str, str]]:
    facts = [("measured, promised", wording.sides(part)), ("tightness", wording.number(part.tightness))]
    facts.append(("tested on", wording.tested(part)))
    return [fact for fact in facts if fact[1] != wording.NOTHING]


def _distance(hypothesis: Hypothesis) -> list[tuple[str, str]]:
    slack = "" if hypothesis.slack is None else f", slack {wording.number(hypothesis.slack)}"
    return [("required", hypothesis.required), ("actual", f"{wording.number(hypothesis.actual)}{slack}")]


def _facts(outcome: "CheckOutcome") -> Table:
    evidence, found = outcome.evidence, outcome.circumstances
    facts = {
        "quantity": evidence.quantity or wording.NOTHING,
        "promised": wording.number(evidence.promised),
        "measured": wording.number(evidence.measured),
        "tightness": wording.number(evidence.tightness),
        "tested on": wording.tested(evidence.headline),
        "vacuous": "yes: the promise says no more than what is trivially true" if evidence.vacuous else "no",
        "conclusion": {True: "measured to hold", False: "measured to fail", None: "undecided"}[evidence.conclusion],
        "runs": wording.runs(evidence.runs),
        "limits": wording.limits(evidence.headline) or wording.NOTHING,
        "scale, seed": f"{found.scale.value}, {found.seed}",
        "time": wording.seconds(outcome),
    }
    table = Table.grid(padding=(0, 2))
    for name, words in facts.items():
        if words != wording.NOTHING:
            table.add_row(Text(name, style="dim"), Text(words))
    return table


def figure_block(outcome: "FigureOutcome", files: Sequence[Path]) -> RenderableType:
    """How much comes out, the reported numbers beside the measured ones, and the files: in the order of its page."""
    found, badge = outcome.circumstances, wording.coming_out(outcome.comparisons)
    where = f"{found.scale.value} scale, seed {found.seed}, {wording.seconds(outcome)}"
    head = Text.assemble((outcome.figure.id, "bold"), "  ", _badge(badge), "  ", (where, "dim"))
    body = Group(Text(plain(outcome.figure.title)), comparison_table(outcome.comparisons), *_written(files))
    return Group(head, Padding(body, (0, 0, 0, 2), expand=False))


def _written(files: Sequence[Path]) -> list[Text]:
    """A line per file in a pipe. On a terminal one file in full, and how the others end."""
    if not sys.stdout.isatty() or not files:
        return [Text(f"wrote {path}") for path in files]
    stem = str(files[0].with_suffix(""))
    return [Text(f"wrote {files[0]}{''.join(f', {str(path).removeprefix(stem)}' for path in files[1:])}")]


def figure_report(results: "Results", written: Iterable[Sequence[Path]]) -> list[RenderableType]:
    """A block for each figure, and what failed."""
    return [*map(figure_block, results.figures, written), *_failures(results.not_computed)]


def comparison_table(comparisons: "Sequence[Comparison]") -> RenderableType:
    """What the paper says beside what was measured, then our own rows, and below them why these bands."""
    groups = {
        "What the paper says": [each for each in comparisons if not each.added],
        "Our own rows": [each for each in comparisons if each.added],
    }
    reasons = wording.band_reasons(each for rows in groups.values() for each in rows)
    tables = {words: _compared(rows, reasons) for words, rows in groups.items() if rows}
    fit = all(_has_room(table, ("quantity", "the paper"), least=24) for table in tables.values())
    blocks: list[RenderableType] = []
    for words, table in tables.items():
        stacked = ((_badge(wording.agreement(each)), _named(each, reasons), _sides(each)) for each in groups[words])
        blocks += [Text(), Text(words, style="bold"), table if fit else layout.stacked(stacked)]
    below = [Text(f"[{wording.mark(place)}] {reason}", style="dim") for place, reason in enumerate(reasons)]
    return Group(*blocks, *below)


def _compared(comparisons: "Sequence[Comparison]", reasons: Sequence[str]) -> Table:
    columns = ["quantity", "the paper", "measured", "95 % interval", "would agree", "verdict"]
    if not any(each.interval for each in comparisons):
        columns.remove("95 % interval")
    table = _table("", *columns, right=("measured",), fold=columns[:2])
    for each in comparisons:
        row = {
            "quantity": _named(each, reasons),
            "the paper": Text(plain(each.reported)),
            "measured": wording.number(each.measured),
            "95 % interval": wording.interval(each.interval),
            "would agree": wording.band(each),
            "verdict": _badge(wording.agreement(each)),
        }
        table.add_row(*(row[column] for column in columns))
        if caution := wording.caution(each):
            table.add_row(Text(f"  {caution}", style="dim"), *("" for _ in columns[1:]))
    return table


def _named(comparison: "Comparison", reasons: Sequence[str]) -> Text:
    """The quantity, with the mark of the reason for its band."""
    reason = wording.reason(comparison)
    return Text(plain(comparison.name) + (f" [{wording.mark(reasons.index(reason))}]" if reason else ""))


def _sides(comparison: "Comparison") -> list[tuple[str, str]]:
    interval = "" if comparison.interval is None else f", 95 % interval {wording.interval(comparison.interval)}"
    return [
        ("the paper", plain(comparison.reported)),
        ("measured", f"{wording.number(comparison.measured)}{interval}"),
        ("would agree", wording.band(comparison)),
        *([("but", caution)] if (caution := wording.caution(comparison)) else []),
    ]


def report_summary(
    results: "Results", page: Path, changes: "SinceLast | None" = None, seconds: float = 0.0
) -> list[RenderableType]:
    """The first screen of a report, and why something was not computed."""
    width = Console().width if sys.stdout.isatty() else PIPE_SCREEN
    return [*_failures(results.not_computed), Group(*first_screen(results, page, changes, seconds, width))]


def bench_block(rows: Sequence[Mapping[str, Any]], remarks: Iterable[str]) -> RenderableType:
    """The rows of one workload of `widenet bench`: what was run, the times, and the remarks below."""
    first = rows[0]
    shared = {name for name in first["sizes"] if len({row["sizes"].get(name) for row in rows}) == 1}
    sizes = ", ".join(f"{first['sizes'][name]:,} {name.replace('_', ' ')}" for name in first["sizes"] if name in shared)
    varying = [name for name in first["sizes"] if name not in shared]
    head = Text.assemble((first["workload"], "bold"), f"  {first['device']}, {first['dtype']}, {sizes}")
    body = Group(*_bench_rows([_bench_row(row, varying) for row in rows], varying), *map(Text, remarks))
    return Group(head, Padding(body, (0, 0, 0, 2), expand=False))


def _bench_row(row: Mapping[str, Any], varying: Sequence[str]) -> dict[str, str]:
    own = {name: f"{row['sizes'][name]:,}" if name in row["sizes"] else wording.NOTHING for name in varying}
    compiling = wording.NOTHING if row["compile_seconds"] is None else f"{row['compile_seconds']:.1f}"
    times = (wording.number(row["us_per_step_per_run"]), wording.number(row["ratio_to_ours"]), compiling)
    return {"peer": row["peer"], **own, **dict(zip(TIMES, times, strict=True)), "note": row["note"]}


def _bench_rows(rows: Sequence[dict[str, str]], varying: Sequence[str]) -> list[RenderableType]:
    """A table with the notes in it; with less room, a table and the notes below it; with little room, a list."""
    numbers = (*varying, *TIMES)
    for columns, words in ((("peer", *numbers, "note"), ("note",)), (("peer", *numbers), ())):
        table = _table("", *columns, right=numbers, fold=words)
        for row in rows:
            table.add_row(*(Text(row[column]) for column in columns))
        if _has_room(table, words, least=LEAST_NOTE):
            return [table] if words else [table, _notes(rows, varying), Text()]
    details = ([(name, row[name]) for name in (*numbers, "note") if row[name]] for row in rows)
    return [layout.stacked((Text("•"), Text(row["peer"]), each) for row, each in zip(rows, details, strict=True))]


def _notes(rows: Iterable[dict[str, str]], varying: Sequence[str]) -> Table:
    notes = Table.grid(padding=(0, 1))
    for row in rows:
        if row["note"]:
            sizes = "".join(f", {row[name]} {name.replace('_', ' ')}" for name in varying)
            notes.add_row(Text("•"), Text.assemble((f"{row['peer']}{sizes}: ", "dim"), row["note"]))
    return notes
