"""A certificate on one screen of plain text."""

import textwrap
from collections import Counter
from collections.abc import Iterable

from widenet.certificates import words
from widenet.certificates.certificate import Findings
from widenet.console.wording import counted

WIDTH = 100
MOST_ROWS = 12


def as_text(findings: Findings, width: int = WIDTH) -> str:
    """The five parts of a certificate, one below the other."""
    portrait = findings.portrait
    lines = [f"widenet certificate of {portrait.source}", ""]
    lines += _part("1  What the data is", [*words.about_data(portrait), *portrait.preparation], width)
    lines += _part("2  Which theorems speak", _theorems(findings, width), width, wrapped=True)
    trained = ["There was no time to train networks."]
    if findings.training is not None:
        trained = words.about_training(findings.training)
    lines += _part("4  What really happens", trained, width)
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


def _theorems(findings: Findings, width: int) -> list[str]:
    total = len(findings.rows)
    counts = Counter(words.verdict(row)[1] for row in findings.speaking)
    said = ", ".join(f"{count} {word}" for word, count in counts.most_common())
    lines = _indented(
        f"Of {total} statements in the papers, {len(findings.speaking)} say something about this data ({said}); "
        f"{len(findings.silent)} are silent. The main results:",
        width,
    )  # fmt: skip
    rows = findings.main[:MOST_ROWS]
    names = max((len(row.id) for row in rows), default=0)
    for row in rows:
        sign, word = words.verdict(row)
        head = f"   {sign} {word:<18} {row.id:<{names}}  "
        about = f"[{row.about}] " if row.about else ""
        body = textwrap.wrap(f"{about}{words.why(row)}", max(width - len(head), 30)) or [""]
        lines += [head + body[0], *(" " * len(head) + each for each in body[1:2])]
        if len(body) > 2:
            lines[-1] += " …"
    if findings.unasked:
        lines += _indented(
            f"{counted(findings.unasked, 'statement')} were not asked, or not to the end: the time of "
            f"{findings.time:g} s was spent.", width, )  # fmt: skip
    return lines
