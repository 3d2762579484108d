"""A certificate on one screen of plain text."""

import itertools
import textwrap
from collections.abc import Iterable

from widenet.certificates import words
from widenet.certificates.certificate import Findings
from widenet.certificates.promises import Standing

WIDTH = 100
MOST_ROWS, MOST_PROMISES = 12, 4


def as_text(findings: Findings, width: int = WIDTH) -> str:
    """The five parts of a certificate, one below the other."""
    portrait = findings.portrait
    lines = [f"widenet certificate of {portrait.source}", *_indented(words.about_choices(findings), width), ""]
    lines += _part("1  What the data is", [*words.about_data(portrait), *portrait.preparation], width)
    lines += _part("2  What theory promises here", _promises(findings, width), width, wrapped=True)
    trained = [f"There was no time to train networks. {words.more_time(findings)}"]
    if findings.training is not None:
        trained = words.about_training(findings.training, portrait.points)
    lines += _part("3  What really happens", trained, width)
    lines += _part("4  Which theorems speak, and what they lack", _theorems(findings, width), width, wrapped=True)
    lines += _part("5  How sure", words.about_certainty(findings), width)
    return "\n".join(lines).rstrip()


def _part(title: str, sentences: Iterable[str], width: int, *, wrapped: bool = False) -> list[str]:
    lines = [title]
    for sentence in sentences:
        lines += (
            [sentence] if wrapped else textwrap.wrap(sentence, width, initial_indent="   ", subsequent_indent="   ")
        )
    return [*lines, ""]


def _indented(sentence: str, width: int) -> list[str]:
    return textwrap.wrap(sentence, width, initial_indent="   ", subsequent_indent="   ")


def _promises(findings: Findings, width: int) -> list[str]:
    if not findings.promises:
        return _indented("No theorem that speaks about this data promises anything.", width)
    lines = _indented(words.in_short(findings), width)
    for standing, group in itertools.groupby(findings.promises, key=lambda each: each.standing):
        lines.append(f"   {standing.value.capitalize()}:")
        sentences = [words.promise(each) for each in group]
        if standing is Standing.NOT_HERE:  # many statements lack the same
            sentences = words.about_lacks(findings)
        more = [f"and {len(sentences) - MOST_PROMISES} more, on the page."] if len(sentences) > MOST_PROMISES else []
        for sentence in [*sentences[:MOST_PROMISES], *more]:
            lines += textwrap.wrap(sentence, width, initial_indent="   - ", subsequent_indent="     ")
    for sentence in words.about_changes(findings.changes):
        lines += _indented(sentence, width)
    return lines


def _theorems(findings: Findings, width: int) -> list[str]:
    lines = _indented(f"{words.about_rows(findings)} The main results:", width)
    rows = findings.main[:MOST_ROWS]
    names = max((len(row.id) for row in rows), default=0)
    for row in rows:
        sign, word = words.verdict(row)
        head = f"   {sign} {word:<19} {row.id:<{names}}  "
        about = f" [{row.about}]" if row.about else ""
        lines.append(_cut(f"{head}{words.why(row)}{about}".rstrip(), width))
    if len(findings.main) > MOST_ROWS:
        lines.append(f"   … and {len(findings.main) - MOST_ROWS} more on the page")
    return lines


def _cut(line: str, width: int) -> str:
    return line if len(line) <= width else f"{line[: width - 2].rstrip()} …"
