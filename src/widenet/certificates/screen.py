"""A certificate on one screen of plain text: what matters most, so that it fits; the page has everything."""

import itertools
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from widenet.certificates import words
from widenet.certificates.certificate import Findings
from widenet.certificates.preparation_words import about_preparation
from widenet.certificates.promises import ListedPromise, Standing
from widenet.certificates.summary import best_kept, in_short
from widenet.certificates.training_words import about_error, about_training

WIDTH, MOST_LINES = 100, 40
LISTED = (Standing.BROKEN, Standing.GUARANTEED, Standing.GOOD_TO_KNOW)
"""Promises of these kinds are told; the others are counted."""


@dataclass(frozen=True)
class ScreenItem:
    """Something to say, in lines that fit; of the highest rank is what can be spared first."""

    part: str
    lines: list[str]
    rank: int


def as_text(findings: Findings, width: int = WIDTH, height: int = MOST_LINES) -> str:
    """The parts of a certificate, one below the other, without what can be spared if there is no room for it."""
    items, more = list(_items(findings, width)), []
    while len(lines := [*_lines(findings, items), *more]) > height and max(item.rank for item in items) > 0:
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
    portrait = findings.portrait
    for sentence in in_short(findings):
        yield ScreenItem("In short", _wrapped(sentence, width, "•"), 0)
    first, *others = words.about_data(portrait)
    yield ScreenItem("The data", _wrapped(first, width), 1)
    for place, sentence in enumerate([*others, " ".join(about_preparation(portrait.preparation))]):
        yield ScreenItem("The data", _wrapped(sentence, width), 3 + place)
    yield from _promises(findings, width)
    told = "" if findings.training is None else about_error(findings.training)
    for place, sentence in enumerate(each for each in about_training(findings) if not told or told not in each):
        yield ScreenItem("What really happens", _wrapped(sentence, width), 1 + place)
    *certain, versions = [words.about_rows(findings), *words.about_certainty(findings)]
    for place, sentence in enumerate([*certain, versions]):
        yield ScreenItem("How sure", _wrapped(sentence, width), 9 if sentence is versions else 1 + 2 * place)


def _promises(findings: Findings, width: int) -> Iterator[ScreenItem]:
    part = "What theory promises"
    yield ScreenItem(part, _wrapped(words.about_choices(findings), width), 4)
    others = [each for each in findings.promises if each is not best_kept(findings)]  # which is told in short
    for standing, group in itertools.groupby(others, key=lambda each: each.standing):
        if standing not in LISTED:
            continue
        own = list(group)
        about = {each.about for each in own}
        shared = about.pop() if len(about) == 1 else ""
        head = _wrapped(f"{standing.value.capitalize()}{f' ({shared})' if shared else ''}:", width)
        for place, each in enumerate(own):
            lines = _wrapped(words.promise(each, about=not shared), width, "-")
            yield ScreenItem(part, lines if place else [*head, *lines], 2 + place)
    said = " ".join(in_short(findings))
    for place, (reason, sentence) in enumerate(words.about_lacks(findings)):
        if reason in said:
            continue
        yield ScreenItem(part, _wrapped(f"Nothing is promised about {sentence}", width), 3 + place)
    for sentence in words.about_changes([each for each in findings.changes if not each.is_for_a_warning]):
        yield ScreenItem(part, _wrapped(sentence, width), 3)
    if counted := _counted(findings.promises):
        yield ScreenItem(part, _wrapped(f"On the page: {counted}.", width), 5)


def _counted(promises: Sequence[ListedPromise]) -> str:
    """How many promises there are of the kinds that are not told."""
    left = (*LISTED, Standing.NOT_HERE)
    counts = Counter(each.standing for each in promises if each.standing not in left)
    return "; ".join(f"{standing.value} ({count})" for standing, count in counts.items())


def _wrapped(sentence: str, width: int, sign: str = "") -> list[str]:
    """A sentence in lines that fit; a sign makes it an item of a list."""
    first, later = (f"  {sign} ", "    ") if sign else ("  ", "  ")
    return textwrap.wrap(sentence, width, initial_indent=first, subsequent_indent=later, break_on_hyphens=False)
