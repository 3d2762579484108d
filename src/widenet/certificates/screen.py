"""A certificate on one screen of plain text: what matters most, so that it fits; the page has everything."""

import itertools
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from widenet.certificates import words
from widenet.certificates.certificate import Findings
from widenet.certificates.plain_numbers import plain
from widenet.certificates.promises import ListedPromise, Standing, bars_of
from widenet.certificates.summary import in_short
from widenet.certificates.width_words import (
    about_allowances,
    about_material,
    about_ranking,
    answers,
    bars_of_widths,
    verdict_of,
)

WIDTH, MOST_LINES, MOST_BARS = 100, 48, 3
LISTED = (Standing.BROKEN, Standing.GUARANTEED, Standing.GOOD_TO_KNOW)
"""Promises of these kinds are told; the others are counted."""


@dataclass(frozen=True)
class ScreenItem:
    """Something to say, in lines that fit; of the highest rank is what can be spared first."""

    part: str
    lines: list[str]
    rank: int


def as_text(findings: Findings, width: int = WIDTH) -> str:
    """The parts of a certificate, one below the other, without what can be spared if there is no room for it."""
    items, more = list(_items(findings, width)), []
    while len(lines := [*_lines(findings, items), *more]) > MOST_LINES and max(item.rank for item in items) > 0:
        items.remove(max(reversed(items), key=lambda item: item.rank))
        more = ["", "The page has more."]
    return "\n".join(lines)


def _lines(findings: Findings, items: Iterable[ScreenItem]) -> list[str]:
    lines = [f"widenet certificate of {findings.portrait.source}"]
    for title, group in itertools.groupby(items, key=lambda item: item.part):
        lines += ["", title] if title else []
        lines += [line for item in group for line in item.lines]
    return lines


def _items(findings: Findings, width: int) -> Iterator[ScreenItem]:
    """What was found, then the pictures, then what can be spared."""
    for sentence in about_material(findings):
        yield ScreenItem("", _wrapped(sentence, width), 0)
    yield ScreenItem("Found", _wrapped(verdict_of(findings), width), 0)
    if ranking := about_ranking(findings.study, findings.portrait.classes):
        yield ScreenItem("Found", _wrapped(ranking, width), 0)
    for question, answer in answers(findings):
        yield ScreenItem(question, _wrapped(answer, width), 0)
    study = findings.study
    if study is not None:
        yield ScreenItem("Errors", bars_of_widths(study, width), 0)
        for place, sentence in enumerate(about_allowances(findings.allowances)):
            yield ScreenItem("What theorems allow at these widths", _wrapped(sentence, width), 3 + place)
    if bars := list(bars_of_promises(findings.promises, width)):
        yield ScreenItem("Promised against made", bars, 1)
    for sentence in words.about_equal_points(findings.portrait):
        yield ScreenItem("The data and the theorems", _wrapped(sentence, width), 1)
    for place, sentence in enumerate(in_short(findings)):
        yield ScreenItem("The data and the theorems", _wrapped(sentence, width), 1 + place)
    for sentence in words.about_changes([each for each in findings.changes if not each.is_for_a_warning]):
        yield ScreenItem("The data and the theorems", _wrapped(sentence, width), 4)
    for place, (_, sentence) in enumerate(words.about_lacks(findings)):
        lines = _wrapped(f"Nothing is promised about {sentence}", width)
        yield ScreenItem("The data and the theorems", lines, 5 + place)
    if counted := _counted(findings.promises):
        yield ScreenItem("The data and the theorems", _wrapped(f"On the page: {counted}.", width), 6)
    *certain, versions = [words.about_rows(findings), *words.about_certainty(findings)]
    for place, sentence in enumerate([*certain, versions]):
        cut = findings.unasked > 0 and place == 1
        yield ScreenItem(
            "How sure", _wrapped(sentence, width), 0 if cut else 9 if sentence is versions else 3 + 2 * place
        )


def bars_of_promises(promises: Sequence[ListedPromise], width: int) -> Iterator[str]:
    """What is promised and what was made of it, as two bars each."""
    room = max(width - 62, 10)
    for each in bars_of(promises)[:MOST_BARS]:
        promised, made = each.promised or 0.0, each.measured or 0.0
        top = max(promised, made)
        for name, value, sign in (("promised", promised, "░"), ("made", made, "█")):
            label = each.topic.value if name == "promised" else ""
            limit = f"{each.sense} " if name == "promised" else ""
            yield f"  {label:34} {name:8} {sign * max(round(value / top * room), 1)} {limit}{plain(value)}"


def _counted(promises: Sequence[ListedPromise]) -> str:
    """How many promises there are of the kinds that are not told."""
    left = (*LISTED, Standing.NOT_HERE)
    counts = Counter(each.standing for each in promises if each.standing not in left)
    return "; ".join(f"{standing.value} ({count})" for standing, count in counts.items())


def _wrapped(sentence: str, width: int, sign: str = "") -> list[str]:
    """A sentence in lines that fit; a sign makes it an item of a list."""
    first, later = (f"  {sign} ", "    ") if sign else ("  ", "  ")
    return textwrap.wrap(sentence, width, initial_indent=first, subsequent_indent=later, break_on_hyphens=False)
