"""The symbols of the papers, as data: `glossary.toml` of each paper, and the one that all share.

A text has its mathematics between `$…$`. `symbols_of` lists the entries that it uses, and `unknown_in` the letters that
no entry explains. docs/glossary.md is made from these files. Reading them needs neither NumPy nor JAX.
"""

import functools
import re
from pathlib import Path

from widenet.papers.findings import read_toml
from widenet.records import ClosedModel

MATHEMATICS = re.compile(r"\$([^$]*)\$")
_WORDS = """acos and arccos at cos det dim distance erf erfc every exp for if in inf is lim ln log max mean median min
mod not of or over poly rank sign sin span such sup tan that the then tr where with E Pr ReLU Var e π Σ Π"""
WORDS = frozenset(_WORDS.split())
"""Names of functions and constants, and words that stand inside a formula."""
LETTER = r"[A-Za-zÀ-ÖØ-öø-ɏͰ-Ͽℓ]"
ATOM = re.compile(
    rf"(?P<letter>{LETTER})(?P<accents>[\u0300-\u036f]*)(?P<marks>['′*⁺⁻]*)"
    r"(?P<below>_(?:\{[^{}]*\}|[^\W_]|[₊₋±+−])|[₀-₉₊₋ₐ-ₜ]+)?(?P<above>\^(?:\{[^{}]*\}|\([^()]*\)|\w)|[⁺⁻]|\([^\W\d_]\))?"
)


class Symbol(ClosedModel):
    """A symbol, the word that the code uses for it, and what it means.

    Attributes:
      symbol: one, or several with a comma between them; a remark in brackets may follow ("X, Y (E.17)").
      word: the name in the code between backquotes, or the word of the field in italics.
    """

    symbol: str
    word: str
    meaning: str

    @functools.cached_property
    def forms(self) -> tuple[str, ...]:
        """The symbols one by one."""
        return tuple(re.split(r", (?![^(\[{⟨]*[)\]}⟩])", re.sub(r" \([^()]*\)$", "", self.symbol)))


def glossary_of(paper: str = "") -> tuple[Symbol, ...]:
    """The entries of a paper, by its key; without one, those that all papers share."""
    return tuple(Symbol(**row) for row in _file(paper).get("symbol", ()))


def about(paper: str) -> str:
    """A sentence that stands above the table of a paper, or nothing."""
    return _file(paper).get("about", "")


def setting_of(paper: str) -> tuple[str, ...]:
    """The setting of a paper in a few sentences: data, network, training, and its own words. `**…**` marks what each is
    about, `*…*` a word that it explains."""
    return tuple(_file(paper).get("setting", ()))


def without_emphasis(word: str) -> str:
    """The word of an entry without the stars of its italics; every other star belongs to a symbol."""
    return re.sub(r"\*([^*]+)\*", r"\1", word)


def symbols_of(paper: str, *texts: str) -> list[Symbol]:
    """The entries that these texts use, those of the paper first; what a paper explains hides what all share."""
    entries = (*_entries(paper), *_entries(""))
    place_of, signs = _places(paper)
    used = set()
    for formula in dict.fromkeys(formula for text in texts for formula in MATHEMATICS.findall(text)):
        # The most that is attached to a letter comes first: V_β⁺ is no V.
        found = (next((name for name in names if name in place_of), None) for names in _names(formula))
        used |= {place_of[name] for name in found if name is not None}
        used |= {place for form, sign, place in signs if form in formula and sign.search(formula)}
    return [entries[place] for place in sorted(used)]


def unknown_in(paper: str, *texts: str) -> list[str]:
    """The letters in the mathematics of these texts that no entry explains."""
    known = {form for entry in (*_entries(paper), *_entries("")) for form in entry.forms}
    found = (names for text in texts for formula in MATHEMATICS.findall(text) for names in _names(formula))
    return sorted({names[0] for names in found if not known & set(names)})


@functools.cache
def _names(formula: str) -> tuple[tuple[str, ...], ...]:
    """Every letter of a formula with what is attached to it; then with less, down to the letter alone."""
    without_words = re.sub(r"[A-Za-z]{2,}", lambda run: " " if run[0] in WORDS else run[0], formula)
    found: list[tuple[str, ...]] = []
    for atom in ATOM.finditer(without_words):
        letter = atom["letter"] + atom["accents"]
        below, above = atom["below"] or "", atom["above"] or ""
        names = (
            atom[0],
            letter + atom["marks"] + below,
            letter + below + above,
            letter + below,
            letter + atom["marks"],
        )
        if letter not in WORDS:
            found.append(tuple(dict.fromkeys((*names, letter))))
    inner = [each for atom in ATOM.finditer(without_words) for each in _inside(atom["below"], atom["above"])]
    return (*found, *(names for text in inner for names in _names(text)))


def _inside(*attached: str | None) -> list[str]:
    """What stands in a subscript or a superscript: an index, or a formula."""
    return [each.strip("_^{}()") for each in attached if each and re.search(LETTER, each)]


@functools.cache
def _places(paper: str) -> tuple[dict[str, int], list[tuple[str, re.Pattern[str], int]]]:
    """Where the entry of each symbol is; and symbols that are no single letter, each with how it stands in formulas."""
    entries = (*_entries(paper), *_entries(""))
    place_of = {form: place for place, entry in reversed([*enumerate(entries)]) for form in entry.forms}
    signs = [
        (form, re.compile(rf"(?<!{LETTER}){re.escape(form)}(?!{LETTER})"), place)
        for form, place in place_of.items()
        if re.search(r"[^\w]", form)
    ]
    return place_of, signs


@functools.cache
def _entries(paper: str) -> tuple[Symbol, ...]:
    return glossary_of(paper)


@functools.cache
def _file(paper: str) -> dict:
    return read_toml(Path(__file__).parent / paper / "glossary.toml")
