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
FEW = 3
"""So many unexpected results are named."""


def first_screen(results: "Results", page: Path, changes: "SinceLast | None", seconds: float, width: int) -> list[Text]:
    """Counts, a row per paper, what changed, and where the page is. Lines are cut at the width but for the path."""
    tones = _tones(results)
    lines = [_counts(list(tones.values()), seconds)]
    papers = list(dict.fromkeys(id.partition(".")[0] for id in results.asked))
    longest = max((len(each) for each in papers), default=0)
    lines += [_paper(each, longest, tones, results) for each in papers]
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


def _counts(tones: Sequence[Tone], seconds: float) -> Text:
    line = Text(wording.counted(len(tones), "statement"), style="bold")
    for tone in Tone:
        if count := tones.count(tone):
            line.append(f"   {count} {WORDS[tone]}", style=STYLES[tone])
    return line.append(f"   {seconds:.0f} s", style="dim")


def _paper(key: str, longest: int, tones: dict[str, Tone], results: "Results") -> Text:
    own = [tone for id, tone in tones.items() if id.startswith(f"{key}.")]
    line = Text(f"{key:<{longest}}  ", style="bold")
    for tone, length in zip(Tone, _lengths([own.count(tone) for tone in Tone]), strict=True):
        line.append(SIGNS[tone] * length, style=STYLES[tone])
    for tone in (Tone.GOOD, Tone.FINDING, Tone.OPEN):
        line.append(f"{own.count(tone) or wording.NOTHING:>4}", style=STYLES[tone])
    figures = [each for each in results.figures if each.figure.paper == key]
    compared = [each for outcome in figures for each in outcome.comparisons if not each.added]
    if compared:
        line.append(f"   figures {sum(each.agrees for each in compared)} of {len(compared)}")
    differing = [each.figure.name for each in figures if _differs(each)]
    failed = [each.item for each in results.not_computed if each.item.paper == key]
    differing += [each.id.partition(".")[2] for each in failed if each.id not in tones]
    return line.append("".join(f"  {name}" for name in differing), style=STYLES[Tone.OPEN])


def _differs(outcome: "FigureOutcome") -> bool:
    return any(each.verdict in ("DIFFERS", "NOT AS EXPECTED") for each in outcome.comparisons)


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
