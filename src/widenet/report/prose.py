"""Texts whose formulas are typed without marks, `so that M_k = ½·(100/81) < 1, and …`: what is mathematics is typeset.

A formula is a run of words that hold no word of English, with at least one sign or index. What the grammar cannot read
stays as it is typed.
"""

import re
from collections.abc import Iterator

from markupsafe import Markup

from widenet.report import mathematics
from widenet.report.mathematics import FormulaError
from widenet.report.typesetting import set_in_type, with_powers

_FUNCTIONS = "arccos cos dim erf erfc exp ln log log2 max min rank ReLU sign sin Pr Var"
FUNCTIONS = frozenset(_FUNCTIONS.split())
WRITTEN = re.compile(r"[A-Za-z]-[A-Za-z]|[\"“”?%$…]|^-|[a-z]'[a-z]|^\d+(st|nd|rd|th)$")
"""What no formula has: hyphens, quotes, `3rd`."""
PRODUCT = re.compile(r"[a-z][A-Z]")
"""`kC`, which is no word."""
SIGNS = re.compile(r"[=≤≥<>≠∈⊆∪∩+−·×/^_√‖⟨∇Σ²³¹⁰⁴⁵⁶⁷⁸⁹⁻₀-₉]")
BINARY = "=≤≥<>+·×/∈"
SHORT = 3
"""Letters side by side are a product where they are no more than this and a sign stands in the same word."""


def with_formulas(text: str) -> Markup:
    """The text with names of programs between backquotes as code and its formulas typeset."""
    pieces = re.split(r"`([^`]*)`", with_powers(text))
    return Markup("").join(
        Markup("<code>{}</code>").format(piece) if place % 2 else _typeset(piece) for place, piece in enumerate(pieces)
    )


def _typeset(text: str) -> Markup:
    return Markup("").join(_formula(run) if is_formula else set_in_type(run) for is_formula, run in _runs(text))


def _runs(text: str) -> Iterator[tuple[bool, str]]:
    """The text cut into prose and what may be formulas; nothing is lost."""
    held: list[str] = []
    depth = 0
    for word in re.findall(r"\s+|\S+", text):
        last = next((each for each in reversed(held) if not each.isspace()), "")
        begins = word.startswith("(") and depth <= 0 and not SIGNS.search(last)
        if held and (word.isspace() or depth > 0 or (_is_mathematical(word) and not begins)):
            pass
        elif held:
            yield True, "".join(held)
            held = []
            depth = 0
        if not held and (word.isspace() or not _is_mathematical(word)):
            yield False, word
            continue
        held.append(word)
        depth += sum(map(word.count, "([{⟨")) - sum(map(word.count, ")]}⟩"))
        if depth <= 0 and word.endswith((",", ".", ";", ":")):
            yield True, "".join(held)
            held, depth = [], 0
    if held:
        yield True, "".join(held)


def _formula(run: str) -> Markup:
    """A run as mathematics; as it is typed where it is none."""
    core = run.strip().rstrip(",.;:")
    in_words = any(not _is_mathematical(word) for word in core.split())
    if in_words or not SIGNS.search(core) or core[0] in BINARY or core[-1] in BINARY + "−":
        return set_in_type(run)
    try:
        mathematics.parse(core)
    except FormulaError:
        return set_in_type(run)
    return set_in_type(run.replace(core, f"${core}$", 1))


def _is_mathematical(word: str) -> bool:
    core = word.strip("()[]{},.;:")
    if not core or core in ("a", "A", "I") or WRITTEN.search(core):
        return not core
    letters = [each for each in re.findall(r"[A-Za-z]{2,}", core) if each not in FUNCTIONS]
    return all((len(each) <= SHORT and SIGNS.search(core)) or PRODUCT.fullmatch(each) for each in letters)
