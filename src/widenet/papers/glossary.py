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
    rf"(?P<letter>{LETTER})(?P<number>[0-9]*)(?P<accents>[\u0300-\u036f]*)(?P<marks>['′*⁺⁻]*)"
    r"(?P<below>_(?:\{[^{}]*\}|[^\W_]|[₊₋±+−])|[₀-₉₊₋ₐ-ₜ]+)?(?P<above>\^(?:\{[^{}]*\}|\([^()]*\)|\w)|[⁺⁻]|\([^\W\d_]\))?"
)


SEVERAL = re.compile(rf"(?P<letter>{LETTER})_\{{(?P<indices>[^{{}}]*,[^{{}}]*)\}}")
ANY = "\N{WHITE SQUARE}"
"""Stands for an index in a symbol with several."""


class Symbol(ClosedModel):
    """A symbol, the word that the code uses for it, and what it means.

    Attributes:
      symbol: one, or several with a comma between them; a remark in brackets may follow ("X, Y (E.17)").
      word: the name in the code between backquotes, or the word of the field in italics.
      claims: the names of the claims in which this is the meaning. There it takes the place of every entry without
        claims that shares a symbol with it. Empty where it is the meaning in the whole paper.
    """

    symbol: str
    word: str
    meaning: str
    claims: tuple[str, ...] = ()

    @functools.cached_property
    def forms(self) -> tuple[str, ...]:
        """The symbols one by one."""
        return tuple(re.split(r", (?![^(\[{⟨]*[)\]}⟩])", re.sub(r" \([^()]*\)$", "", self.symbol)))

    @functools.cached_property
    def form_of(self) -> dict[str, str]:
        """The symbol of each name in the code: one stands for all names, several pair off with as many words.

        Empty where words and symbols do not pair off.
        """
        words = self.word.split(", ")
        forms = self.forms * len(words) if len(self.forms) == 1 else self.forms
        pairs = zip(words, forms, strict=True) if len(words) == len(forms) else ()
        return {word.strip("`"): form for word, form in pairs if re.fullmatch(r"`\w+`", word)}


def glossary_of(paper: str = "") -> tuple[Symbol, ...]:
    """The entries of a paper, by its key; without one, those that all papers share."""
    return tuple(Symbol(**row) for row in _file(paper).get("symbol", ()))


def entries_in(paper: str, claim: str = "") -> tuple[Symbol, ...]:
    """The entries for one claim of a paper, by its name: its own first, then those of the paper, then shared ones.

    Without a claim, those that hold in the whole paper, and the shared ones.
    """
    own = tuple(each for each in _entries(paper) if claim and claim in each.claims)
    hidden = {form for each in own for form in each.forms}
    general = (each for each in (*_entries(paper), *_entries("")) if not each.claims)
    return (*own, *(each for each in general if hidden.isdisjoint(each.forms)))


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


def symbols_of(paper: str, *texts: str, claim: str = "") -> list[Symbol]:
    """The entries that these texts use, as `entries_in` orders them; what a paper explains hides what all share."""
    place_of, signs = _places(paper, claim)
    entries = entries_in(paper, claim)
    used = set()
    for formula in dict.fromkeys(formula for text in texts for formula in MATHEMATICS.findall(text)):
        # The most that is attached to a letter comes first: V_β⁺ is no V.
        found = (next((name for name in names if name in place_of), None) for names in _names(formula))
        used |= {place_of[name] for name in found if name is not None}
        used |= {place for form, sign, place in signs if form in formula and sign.search(formula)}
    return [entries[place] for place in sorted(used)]


def unknown_in(paper: str, *texts: str, claim: str = "") -> list[str]:
    """The letters in the mathematics of these texts that no entry explains."""
    known = _places(paper, claim)[0].keys()
    found = (names for text in texts for formula in MATHEMATICS.findall(text) for names in _names(formula))
    return sorted({names[0] for names in found if not known & set(names) and names[-1] not in WORDS})


@functools.cache
def _names(formula: str) -> tuple[tuple[str, ...], ...]:
    """Every letter of a formula with what is attached to it; then with less, down to the letter alone.

    An index that is a number stands for any index, and several stand for any that are as many: p_1 is a p_i and
    x_{1,b} an x_{a,b}, where the glossary has these alone.
    """
    without_words = re.sub(r"[A-Za-z]{2,}", lambda run: " " if run[0] in WORDS else run[0], formula)
    found: list[tuple[str, ...]] = []
    for atom in ATOM.finditer(without_words):
        letter = atom["letter"] + atom["accents"]
        below, above = atom["below"] or "", atom["above"] or ""
        names = (
            atom[0],
            letter + (atom["number"] or atom["marks"] + below),
            letter + below + above,
            letter + below,
            *(letter + each for each in _alike(below)),
            letter + (above or atom["marks"]),
            letter + atom["marks"],
        )
        found.append(tuple(dict.fromkeys((*names, letter))))
    inner = [each for atom in ATOM.finditer(without_words) for each in _inside(atom["below"], atom["above"])]
    return (*found, *(names for text in inner for names in _names(text)))


def _alike(below: str) -> tuple[str, ...]:
    """How the glossary may have an index."""
    places = below.removeprefix("_").strip("{}").split(",")
    if len(places) > 1:
        return (ANY * len(places),)
    return ("_i",) if places[0].isdigit() else ()


def _inside(*attached: str | None) -> list[str]:
    """What stands in a subscript or a superscript: an index, or a formula."""
    return [each.strip("_^{}()") for each in attached if each and re.search(LETTER, each)]


@functools.cache
def _places(paper: str, claim: str) -> tuple[dict[str, int], list[tuple[str, re.Pattern[str], int]]]:
    """Where the entry of each symbol is; and symbols that are no single letter, each with how it stands in formulas."""
    entries = entries_in(paper, claim)
    place_of = {form: place for place, entry in reversed([*enumerate(entries)]) for form in entry.forms}
    signs = [
        (form, re.compile(rf"(?<!{LETTER}){re.escape(form)}(?!{LETTER})"), place)
        for form, place in place_of.items()
        if re.search(r"[^\w]", form)
    ]
    for form, place in [*place_of.items()]:
        if several := SEVERAL.fullmatch(form):
            place_of.setdefault(several["letter"] + ANY * len(several["indices"].split(",")), place)
    return place_of, signs


@functools.cache
def _entries(paper: str) -> tuple[Symbol, ...]:
    return glossary_of(paper)


@functools.cache
def _file(paper: str) -> dict:
    return read_toml(Path(__file__).parent / paper / "glossary.toml")
