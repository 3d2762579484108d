"""Texts with mathematics between `$…$`, as pages show them."""

import re

from markupsafe import Markup

from widenet.claims.base import plain
from widenet.papers.glossary import MATHEMATICS
from widenet.report import mathematics, numerals
from widenet.report.mathematics import FormulaError


def set_in_type(text: str) -> Markup:
    """A text with its mathematics between `$…$`; a formula that the grammar does not know stands as it is typed.

    A text without such marks has its indices and exponents set.
    """
    text = with_powers(text)
    if "$" not in text:
        return _with_indices(text)
    try:
        return Markup(mathematics.typeset(text))
    except FormulaError:
        return Markup.escape(plain(text))


POWER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-]?\d+)\b")
POWER_IN_FORMULA = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e(-\d+)\b")


def with_powers(text: str) -> str:
    """The text with `2·10⁻¹⁴` for `2e-14`. In a formula only a hyphen belongs to a number: `4e − 8` is a difference."""
    pieces = re.split(r"(\$[^$]*\$)", text)
    return "".join((POWER_IN_FORMULA if place % 2 else POWER).sub(_power, piece) for place, piece in enumerate(pieces))


def _power(found: re.Match[str]) -> str:
    """`10⁻¹²` for `1e-12`."""
    raised = f"10{str(int(found[2])).translate(numerals.RAISED)}"
    return raised if found[1] == "1" else f"{found[1]}·{raised}"


LETTER = r"[^\W\d_²³¹⁰⁴-⁹₀-₉]"
"""Raised and lowered digits are letters to `re`."""
INDEX = re.compile(
    rf"(?<!{LETTER}{LETTER})(?<=[^\s_^])([_^])"
    rf"(?:\{{((?:[^{{}}]|\{{[^{{}}]*\}})*)\}}|(\([^()]*\)|[−-]?(?:\d+(?:\.\d+)?|\w)(?!{LETTER})))"
)
"""An index or exponent in mathematics that is typed without dollars; names of programs have more than one letter."""


def _with_indices(text: str) -> Markup:
    def moved(found: re.Match[str]) -> str:
        tag, held = "sub" if found[1] == "_" else "sup", "\N{WORD JOINER}" if found[0][1] == "(" else ""
        inner = found[2] or (found[3][1:-1] if found[3].startswith("(") else found[3])
        return f"{held}<{tag}>{INDEX.sub(moved, inner)}</{tag}>"

    return Markup(INDEX.sub(moved, str(Markup.escape(text))))


def with_displays(text: str) -> Markup:
    """A statement, with its long formulas on lines of their own."""
    try:
        return Markup(mathematics.with_displays(with_powers(text)))
    except FormulaError:
        return Markup.escape(plain(text))


def marked(name: str, text: str) -> str:
    """A name as it was measured, with dollars around the formulas that `text`, the words of its clause, has in it."""
    for formula in sorted(set(MATHEMATICS.findall(text)), key=len, reverse=True):
        bounds = r"(?<![\w$])" if formula[0].isalnum() else "", r"(?![\w$])" if formula[-1].isalnum() else ""
        pieces = MATHEMATICS.split(name)
        pieces[::2] = [
            re.sub(f"{bounds[0]}{re.escape(formula)}{bounds[1]}", lambda _, f=formula: f"${f}$", each)
            for each in pieces[::2]
        ]
        name = "".join(f"${each}$" if place % 2 else each for place, each in enumerate(pieces))
    return name


def with_code(text: str) -> Markup:
    """A text whose names of programs stand between backquotes and whose mathematics stands between `$…$`."""
    pieces = re.split(r"`([^`]*)`", text)
    return Markup("").join(
        Markup("<code>{}</code>").format(piece) if place % 2 else set_in_type(piece)
        for place, piece in enumerate(pieces)
    )


EMPHASIS = re.compile(r"\*\*([^*]+)\*\*|(?<![\w*])\*([^*$]+)\*(?!\w)")


def with_emphasis(text: str) -> Markup:
    """A text with `**…**` in bold and `*…*` in italics, outside its mathematics."""
    pieces, found = re.split(r"(\$[^$]*\$)", text), Markup("")
    for place, piece in enumerate(pieces):
        set_ = set_in_type(piece) if place % 2 else Markup.escape(piece)
        bold = EMPHASIS.sub(lambda each: f"<b>{each[1]}</b>" if each[1] else f"<i>{each[2]}</i>", str(set_))
        found += Markup(bold) if place % 2 == 0 else set_
    return found
