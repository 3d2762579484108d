"""The last lines of `widenet report`: its first screen, about ten lines, none wider than the window."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from widenet.console import wording
from widenet.console.wording import Tone

if TYPE_CHECKING:
    from widenet.report.changes import SinceLast
    from widenet.run import FigureOutcome, Results

STYLES = {Tone.GOOD: "green", Tone.FINDING: "magenta", Tone.OPEN: "yellow", Tone.ALARM: "bold red"}
SIGNS = {Tone.GOOD: "▇", Tone.FINDING: "◆", Tone.OPEN: "○", Tone.ALARM: "✗"}
WORDS = {Tone.GOOD: "hold", Tone.FINDING: "false as printed", Tone.OPEN: "open", Tone.ALARM: "unexpected"}
BAR = 20
GAP = "   "
FEW = 3
"""So many unexpected results are named."""


def first_screen(results: "Results", page: Path, changes: "SinceLast | None", seconds: float, width: int) -> list[Text]:
    """Counts, a row per paper, what changed, and where the page is. Lines are cut at the width but for the path."""
    tones = _tones(results)
    lines = _counts(list(tones.values()), seconds, width)
    whose = wording.forms([(each.claim.form, tones[each.claim.id]) for each in results.checks])
    lines += [Text(whose)] if whose else []
    papers = list(dict.fromkeys(id.partition(".")[0] for id in results.asked))
    longest = max((len(each) for each in papers), default=0)
    lines += [_paper(each, longest, tones, results, width) for each in papers]
    alarms = [id for id, tone in tones.items() if tone is Tone.ALARM]
    if alarms:
        more = f" and {len(alarms) - FEW} more" if len(alarms) > FEW else ""
        lines.append(Text(f"✗ unexpected: {', '.join(alarms[:FEW])}{more}", style=STYLES[Tone.ALARM]))
    if changes is not None:
        lines.append(Text(_changed(changes)))
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return [*lines, Text(str(page))]


def _tones(results: "Results") -> dict[str, Tone]:
    """Of each claim, what its result means; one that was not computed is an alarm."""
    from widenet.claims import Claim

    found = {each.claim.id: wording.badge(each.claim, each.evidence).tone for each in results.checks}
    return found | {each.item.id: Tone.ALARM for each in results.not_computed if isinstance(each.item, Claim)}


def _counts(tones: Sequence[Tone], seconds: float, width: int) -> list[Text]:
    """How many there are of each tone, with its sign in the bars; on as many lines as the width needs."""
    pieces = [Text(wording.counted(len(tones), "statement"), style="bold")]
    pieces += [Text(f"{SIGNS[each]} {tones.count(each)} {WORDS[each]}", STYLES[each]) for each in Tone if each in tones]
    lines = [Text()]
    for piece in [*pieces, Text(f"{seconds:.0f} s", style="dim")]:
        if lines[-1] and len(lines[-1]) + len(GAP) + len(piece) > width:
            lines.append(Text())
        lines[-1].append(GAP if lines[-1] else "").append_text(piece)
    return lines


def _paper(key: str, longest: int, tones: dict[str, Tone], results: "Results", width: int) -> Text:
    own = [tone for id, tone in tones.items() if id.startswith(f"{key}.")]
    line = Text(f"{key:<{longest}}  ", style="bold")
    for tone, length in zip(Tone, _lengths([own.count(tone) for tone in Tone]), strict=True):
        line.append(SIGNS[tone] * length, style=STYLES[tone])
    for tone in (Tone.GOOD, Tone.FINDING, Tone.OPEN):
        line.append(f"{own.count(tone) or wording.NOTHING:>4}", style=STYLES[tone])
    figures = [each for each in results.figures if each.figure.paper == key]
    compared = [each for outcome in figures for each in outcome.comparisons if not each.added]
    if compared:
        line.append(f"{GAP}figures {sum(each.agrees for each in compared)} of {len(compared)}")
    differing = [each.figure.name for each in figures if _differs(each)]
    failed = [each.item for each in results.not_computed if each.item.paper == key]
    differing += [each.id.partition(".")[2] for each in failed if each.id not in tones]
    return line.append(_as_many(differing, width - len(line)), style=STYLES[Tone.OPEN])


def _as_many(names: Sequence[str], room: int) -> str:
    """As many of the names as there is room for, each whole, and how many more there are."""
    for count in range(len(names), 0, -1):
        more = f"  +{len(names) - count}" if count < len(names) else ""
        text = "".join(f"  {name}" for name in names[:count]) + more
        if len(text) <= room:
            return text
    return ""


def _differs(outcome: "FigureOutcome") -> bool:
    """Whether a number of the paper does not come out; our own rows do not count."""
    return any(each.verdict == "DIFFERS" for each in outcome.comparisons)


def _lengths(counts: Sequence[int]) -> list[int]:
    """How the bar is shared out: in proportion, and whatever there is has at least one place."""
    total = sum(counts)
    if not total:
        return [0] * len(counts)
    lengths = [max(1, round(BAR * count / total)) if count else 0 for count in counts]
    lengths[lengths.index(max(lengths))] += BAR - sum(lengths)
    return lengths


def _changed(changes: "SinceLast") -> str:
    """What differs from the last report, in a line."""
    if changes.is_empty:
        return "as in the last report"
    counts = (
        (len(changes.verdicts), "verdict", ""),
        (len(changes.parts), "part", ""),
        (len(changes.numbers), "number", ""),
        (len(changes.new), "new", "new"),
        (len(changes.gone), "gone", "gone"),
    )
    words = ", ".join(wording.counted(count, *forms) for count, *forms in counts if count)
    named = list(dict.fromkeys(each.id for each in (*changes.verdicts, *changes.parts)))[:FEW]
    return f"changed since the last report: {words}{': ' if named else ''}{', '.join(named)}"
