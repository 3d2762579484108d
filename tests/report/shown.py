"""What a page shows: its text and its numbers, and the numbers that may stand on it."""

import re
from collections.abc import Mapping
from decimal import Decimal
from html.parser import HTMLParser
from itertools import chain
from pathlib import Path
from typing import Any

from widenet.papers.controls import controls_of

VOID = {"meta", "img", "br", "hr", "link", "input", "col", "wbr"}
SVG = {"circle", "line", "rect", "path", "polygon"}
"""Elements that close themselves inside a drawing."""
NOT_SAID = {"math", "code", "pre", "svg", "style", "script", "sub", "sup"}


class Page(HTMLParser):
    """Collects tags, attributes, numbers and text, and checks that tags close in order.

    Attributes:
      numbers: exact values, and how they are written.
      said: the other text of the page, without code, mathematics and the labels of drawings.
    """

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.numbers: list[tuple[str, str]] = []
        self.said: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)
        if self.open and self.open[-1] == "data":
            self.numbers.append((self.tags[-1][1]["value"] or "", data))
        elif self.open and self.open[-1] == "tspan":
            self.numbers.append((self.tags[-1][1]["data-value"] or "", data))
        elif not NOT_SAID & {*self.open}:
            self.said.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def attributes(self, name: str) -> list[str]:
        return [attributes[name] or "" for _, attributes in self.tags if name in attributes]


def pages_of(folder: Path) -> dict[str, Page]:
    return {
        path.relative_to(folder).as_posix(): Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")
    }


def numbers_in(value: Any) -> list[float]:
    if isinstance(value, bool) or value is None:
        return []
    if isinstance(value, int | float):
        return [float(value)]
    if isinstance(value, str):
        return [float(value)] if value in ("Infinity", "-Infinity") else []
    return [each for one in (value.values() if isinstance(value, dict) else value) for each in numbers_in(one)]


LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
NUMBER = re.compile(r"(−?)([\d,.]+|∞)?(?:(?<=\d)·|^|(?<=−))?(?:10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?( %| ×)?")


def read(text: str) -> tuple[Decimal, Decimal]:
    """What a number on a page says, and half a unit of its last digit."""
    if text == "beyond 0":  # the share of a promise of 0 that is broken
        return Decimal("Infinity"), Decimal(0)
    if text in ("just above 0", "just below 0"):
        return Decimal(0), Decimal("1e-300")
    found = NUMBER.fullmatch(text)
    assert found, text
    sign, digits, power, unit = found.groups()
    exact = Decimal((digits or "1").replace(",", "").replace("∞", "Infinity"))
    scale = int((power or "0").translate(LOWERED)) - (2 if unit == " %" else 0)
    exponent = exact.as_tuple().exponent
    half = Decimal(5).scaleb((exponent if isinstance(exponent, int) else 0) - 1 + scale)
    return (-exact if sign else exact).scaleb(scale), half


def agrees(value: str, shown: str) -> bool:
    """Whether what is written is the exact value, rounded to the last digit shown."""
    exact, half = read(shown)
    return float(value) == float(exact) or abs(Decimal(value) - exact) <= half


def counts_in(row: Mapping[str, Any]) -> set[float]:
    """What can be counted in the row of a claim or a figure, and stands in none of its fields."""
    answers = [each["met"] for each in row.get("hypotheses", ())]
    found = {len(answers), answers.count(True), answers.count(None), len(row.get("cells", ()))}
    for part in row.get("parts", ()):
        n_pairs = sum("Infinity" not in str(side) and "NaN" not in str(side) for side in part["sides"])
        found |= {n_pairs, max(part["n_cases"], n_pairs) - n_pairs}
    comparisons = [each for each in row.get("comparisons", ()) if not each["added"]]
    found |= {len(comparisons), sum(each["verdict"] == "AGREES" for each in comparisons)}
    fields: dict[str, list[Any]] = {}
    for setting in row.get("config") or ():
        for name, value in _flat(setting):
            fields.setdefault(f"{setting.get('experiment')} {name}", []).append(value)
    for values in fields.values():
        n_different = len({str(each) for each in values})
        found |= {n_different, n_different - 6}
        lists = (each for each in values if isinstance(each, list))
        found |= {len([one for part in each for one in (part if isinstance(part, list) else [part])]) for each in lists}
    return set(map(float, found))


def numbers_of_controls(id: str) -> set[float]:
    """What the page of a claim says about the changes that must break it."""
    pairs = ((each.kept or (), each.broken or ()) for each in controls_of(id).values())
    return {value for kept, broken in pairs for value in (*kept, *broken)}


def _flat(setting: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    pairs = ((f"{prefix}{name}", value) for name, value in setting.items())
    return list(
        chain(*(_flat(each, f"{name}: ") if isinstance(each, dict) else [(name, each)] for name, each in pairs))
    )
