"""Formulas as people type them, `‖w*‖²/α² + 2R‖w*‖/(ηvα)`, as MathML for pages and as LaTeX for the clipboard.

The grammar is the one in which statements are written: factors stand side by side; `/` takes the product before it and
one factor after it; `√`, `^` and `_` take one factor or a group in braces; bars pair by position; primes and stars are
raised. A page stacks the fractions of a displayed formula and keeps the slash inside a line. Browsers break no line
inside `<math>`, so that a formula in a line becomes one `<math>` per term, with a place to break after each sign.
"""

import functools
import html
import re
import unicodedata
from dataclasses import dataclass
from itertools import pairwise

from widenet.papers.glossary import MATHEMATICS, WORDS

RELATIONS = frozenset("=≤≥<>≠∈∉→∝⊆↦≈~")
SUMS = frozenset("+−±∓")
PRODUCTS = frozenset("·×∩∪∘")
SEPARATORS = frozenset(",;:!∣")
CLOSED_BY = {"(": ")]", "[": "])", "{": "}", "⟨": "⟩", "⌈": "⌉", "⌊": "⌋"}
"""What ends each bracket; intervals may be half open."""
CLOSING = frozenset("".join(CLOSED_BY.values()))
BARS = frozenset("|‖")
OPERATORS = frozenset("∇∂Σ∫∠#")
MARKS = frozenset("∞∅°…")
FRACTIONS = {"½": "12", "¼": "14", "⅓": "13", "¾": "34"}
_PROSE = "and at every for if in is mod not of or over such that the then where with"
PROSE = frozenset(_PROSE.split())
ACCENTS = {"\u0304": ("¯", "bar"), "\u0303": ("~", "tilde"), "\u0302": ("^", "hat")}
ENDING = tuple(".,;:!?)’”")
"""Signs that must not begin a line."""
LONG = 26
"""From this many characters on, a formula with a fraction or a root stands on a line of its own."""
TOKEN = re.compile(
    r"(?P<space>\s+)|\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:e[+-]?\d+)?|[A-Z]\d+|[A-Za-z]{2,}|.[\u0300-\u036f]*"
)


class FormulaError(ValueError):
    """The formula is not one that this grammar knows."""


@dataclass(frozen=True)
class Token:
    """A piece of the text, and whether a space stands before it."""

    text: str
    spaced: bool


@dataclass(frozen=True)
class NumberToken:
    """Digits, or one of ½ ¼ ⅓ ¾."""

    text: str


@dataclass(frozen=True)
class Name:
    """A letter, perhaps with an accent over it, a word (`log`), or a mark (`∞`)."""

    text: str
    accent: str = ""

    @property
    def is_word(self) -> bool:
        """`log`, `max`, `for`, which stand upright and keep a distance."""
        return self.text in WORDS and len(self.text) > 1


@dataclass(frozen=True)
class Sign:
    """A relation, a plus, a product or a comma; `prefix` where nothing stands on its left."""

    text: str
    prefix: bool = False


@dataclass(frozen=True)
class Fence:
    """Brackets or bars around a formula."""

    left: str
    inner: "FormulaRow"
    right: str


@dataclass(frozen=True)
class Root:
    """`√` and what stands below it."""

    inner: "Node"


@dataclass(frozen=True)
class Scripts:
    """A factor with an index, an exponent, or both."""

    base: "Node"
    below: "FormulaRow | None"
    above: "FormulaRow | None"


@dataclass(frozen=True)
class Over:
    """A product over a factor."""

    above: "FormulaRow"
    below: "Node"


@dataclass(frozen=True)
class FormulaRow:
    """Pieces side by side."""

    pieces: "tuple[Node, ...]"


Node = NumberToken | Name | Sign | Fence | Root | Scripts | Over | FormulaRow


@functools.lru_cache(maxsize=8192)
def parse(formula: str) -> FormulaRow:
    """The formula as a tree.

    Raises:
      FormulaError: with the formula and what is wrong in it.
    """
    return _Parser(formula).whole()


@functools.lru_cache(maxsize=8192)
def mathml(formula: str) -> str:
    """As MathML in a line of text, in pieces between which the line may break."""
    pieces = _breakable(parse(formula).pieces)
    return "<wbr>".join(f"<math>{_mathml(FormulaRow(piece), stacked=False)}</math>" for piece in pieces)


def displayed(formula: str) -> str:
    """As MathML with stacked fractions, in pieces between which a line may break."""
    pieces = _breakable(parse(formula).pieces)
    written = (_mathml(FormulaRow(piece), stacked=True) for piece in pieces)
    return "<wbr>".join(f'<math displaystyle="true">{each}</math>' for each in written)


def latex(formula: str) -> str:
    """As LaTeX, without dollars."""
    return _latex(parse(formula))


def typeset(text: str) -> str:
    """A text with its mathematics between `$…$`, as HTML."""
    return _set(text, longest=len(text))


def with_displays(text: str) -> str:
    """The same, with every long formula that has a fraction or a root on a line of its own."""
    return _set(text, longest=LONG - 1)


@functools.lru_cache(maxsize=8192)
def _set(text: str, longest: int) -> str:
    """Longer formulas with a fraction or a root are displayed. What ends a phrase stays with the formula before it."""
    written, pieces = "", _pieces(text)
    for place, (is_formula, piece) in enumerate(pieces):
        if not is_formula:
            written += html.escape(piece, quote=False)
            continue
        after = pieces[place + 1][1] if place + 1 < len(pieces) else ""
        end = after[:1] if after[:1] in ENDING else ""
        if end:
            pieces[place + 1] = (False, after[1:])
        if len(piece) > longest and re.search(r"[/√]", piece):
            written += f'<span class="display">{displayed(piece)}{end}</span>'
        else:
            head, cut, last = mathml(piece).rpartition("<wbr>")
            written += f'{head}{cut}<span class="held">{last}{end}</span>' if end else head + cut + last
    return written


def as_latex(text: str) -> str:
    """A text with its mathematics between `$…$`, as LaTeX."""
    return "".join(
        f"${latex(piece)}$" if is_formula else re.sub(r"([%&#_])", r"\\\1", piece)
        for is_formula, piece in _pieces(text)
    )


def _pieces(text: str) -> list[tuple[bool, str]]:
    """The text cut at its dollars; every second piece is a formula."""
    return [(place % 2 == 1, piece) for place, piece in enumerate(MATHEMATICS.split(text)) if piece]


def _tokens(formula: str) -> list[Token]:
    apart = "".join(unicodedata.normalize("NFD", each) if each.isalpha() else each for each in formula)
    found, spaced = [], False
    for match in TOKEN.finditer(apart):
        text = match[0]
        if match["space"]:
            spaced = True
            continue
        is_product = re.fullmatch(r"[A-Za-z]{2,}", text) and text not in WORDS
        for place, piece in enumerate(text if is_product else [text]):
            found.append(Token(piece, spaced and place == 0))
        spaced = False
    return found


def _script(token: str) -> tuple[str, str]:
    """`("super", "2")` of a raised character, `("sub", "i")` of a lowered one; otherwise nothing."""
    kind, _, code = unicodedata.decomposition(token[:1]).partition(" ")
    if kind not in ("<super>", "<sub>"):
        return "", ""
    return kind[1:-1], chr(int(code, 16))


class _Parser:
    """Reads tokens from left to right."""

    def __init__(self, formula: str) -> None:
        self.formula, self.tokens, self.at = formula, _tokens(formula), 0

    def whole(self) -> FormulaRow:
        row = self.row("")
        if self.peek():
            raise self.error(f"{self.peek()!r} closes nothing")
        if not row.pieces:
            raise self.error("it is empty")
        return row

    def error(self, what: str) -> FormulaError:
        return FormulaError(f"the formula ${self.formula}$ cannot be read: {what}")

    def peek(self, ahead: int = 0) -> str:
        place = self.at + ahead
        return self.tokens[place].text if place < len(self.tokens) else ""

    def is_spaced(self, ahead: int = 0) -> bool:
        place = self.at + ahead
        return place >= len(self.tokens) or self.tokens[place].spaced

    def next(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1].text

    def row(self, stop: str) -> FormulaRow:
        """Terms with signs between them, up to one of the characters of `stop`."""
        pieces: list[Node] = []
        while (token := self.peek()) and token not in CLOSING:
            ready = bool(pieces) and not isinstance(pieces[-1], Sign)
            if token in stop and (token not in BARS or ready):
                break
            if token in RELATIONS | SUMS | SEPARATORS:
                pieces.append(Sign(self.next(), prefix=not ready and token in SUMS))
            elif token == "|" and ready and self.is_spaced() and self.is_spaced(1):  # Pr[h ≥ t | E]
                self.next()
                pieces.append(Sign("∣"))
            else:
                pieces += self.term(stop)
        return FormulaRow(tuple(pieces))

    def term(self, stop: str) -> list[Node]:
        """Factors side by side, up to a sign or the end."""
        factors: list[Node] = []
        while (token := self.peek()) and token not in RELATIONS | SUMS | SEPARATORS | CLOSING:
            ready = bool(factors) and not isinstance(factors[-1], Sign)
            if ready and token in BARS and (token in stop or (self.is_spaced() and self.is_spaced(1))):
                break
            if token in PRODUCTS:
                factors.append(Sign(self.next()))
            elif token == "/":
                self.next()
                if not ready:
                    raise self.error("nothing stands above a slash")
                # ln 1/p is the logarithm of 1/p, and 2 log 2/n is a product over n.
                start = len(factors) - 1 if factors[-1] == NumberToken("1") and _is_word(factors[-2:][0]) else 0
                factors[start:] = [Over(FormulaRow(tuple(factors[start:])), self.denominator())]
            else:
                factors.append(self.factor())
        return factors

    def denominator(self) -> Node:
        """One factor, with the argument of a function or of a derivative."""
        factor = self.factor()
        if self.is_spaced() and not _is_word(factor):
            return factor
        takes_argument = _is_word(factor) or factor == Name("∂")
        if takes_argument or (isinstance(factor, Name) and self.peek() == "(" and self.peek(2) == ")"):  # α(k)
            return FormulaRow((factor, self.factor()))
        return factor

    def factor(self) -> Node:
        """An atom with its index and exponent."""
        base, below, above = self.atom(), [], []
        if base == Name("log") and self.peek().isdecimal() and not self.is_spaced():  # log2 is the logarithm to base 2
            below.append(NumberToken(self.next()))
        while (token := self.peek()) and not self.is_spaced():
            kind, character = _script(token)
            if kind:
                self.next()
                (above if kind == "super" else below).append(_leaf(character))
            elif token in "_^":
                self.next()
                (above if token == "^" else below).extend(self.script())
            elif token in "'′*":
                self.next()
                above.append(Sign("*" if token == "*" else "′", prefix=True))
            else:
                break
        if not below and not above:
            return base
        return Scripts(base, FormulaRow(tuple(below)) if below else None, FormulaRow(tuple(above)) if above else None)

    def script(self) -> tuple[Node, ...]:
        """What follows `_` or `^`: a group in braces, a sign, or one atom."""
        if self.peek() == "{":
            self.next()
            inner = self.row("")
            self.expect("}")
            return inner.pieces
        if self.peek() in SUMS:
            sign = Sign(self.next(), prefix=True)
            return (sign,) if self.is_spaced() or not self.peek().isalnum() else (sign, self.atom())
        return (self.atom(),)

    def expect(self, closing: str) -> str:
        if not self.peek() or self.peek() not in closing:
            raise self.error(f"{closing[0]!r} is missing")
        return self.next()

    def atom(self) -> Node:
        token = self.peek()
        if not token:
            raise self.error("it stops too early")
        if token in CLOSED_BY:
            self.next()
            inner = self.row("")
            return Fence(token, inner, self.expect(CLOSED_BY[token]))
        if token in BARS:
            self.next()
            inner = self.row(token)
            return Fence(token, inner, self.expect(token))
        self.next()
        if token == "√":
            inner = self.atom()
            takes_brackets = isinstance(inner, Name) and inner.text in ("E", "Pr", "Var") and self.peek() == "["
            return Root(FormulaRow((inner, self.atom())) if takes_brackets else inner)
        if token in OPERATORS | MARKS or token in WORDS:
            return Name(token)
        if token in FRACTIONS or token[0].isdecimal():
            return NumberToken(token)
        if re.fullmatch(r"[A-Z]\d+", token) or (len(token) == 1 and token.isalpha()):
            return Name(token)
        if len(token) == 2 and token[1] in ACCENTS:
            return Name(token[0], token[1])
        raise self.error(f"{token!r} has no meaning here")


def _leaf(character: str) -> Node:
    if character.isdigit():
        return NumberToken(character)
    return Name(character) if character.isalpha() else Sign(character, prefix=True)


def _is_word(node: Node) -> bool:
    base = node.base if isinstance(node, Scripts) else node
    return isinstance(base, Name) and base.is_word


def _bare(node: Node) -> Node:
    """Without round brackets around the whole, which a fraction bar or a root makes needless."""
    if isinstance(node, FormulaRow) and len(node.pieces) == 1:
        return _bare(node.pieces[0])
    return node.inner if isinstance(node, Fence) and node.left == "(" and node.right == ")" else node


def _breakable(pieces: tuple[Node, ...]) -> list[tuple[Node, ...]]:
    """The pieces of a line, cut after each sign between two terms."""
    parts: list[tuple[Node, ...]] = [()]
    for place, piece in enumerate(pieces):
        parts[-1] += (piece,)
        breaks = isinstance(piece, Sign) and not piece.prefix and piece.text in RELATIONS | SUMS
        if breaks and 0 < place < len(pieces) - 1:
            parts.append(())
    return parts


# As MathML


def _mathml(node: Node, stacked: bool) -> str:
    match node:
        case NumberToken(text):
            return f"<mn>{text}</mn>"
        case Name(text, accent) if accent:
            return f'<mover accent="true"><mi>{text}</mi><mo stretchy="false">{ACCENTS[accent][0]}</mo></mover>'
        case Name(text):
            if text in OPERATORS:
                return f'<mo form="prefix" lspace="0.1em" rspace="0">{text}</mo>'
            return f"<mo>{text}</mo>" if text in "…°" else f"<mi>{text}</mi>"
        case Sign(text, prefix):
            form = ' form="prefix" lspace="0" rspace="0"' if prefix else ' form="infix"'
            return f"<mo{form}>{html.escape('|' if text == '∣' else text)}</mo>"
        case Fence(left, inner, right):
            body = _mathml(inner, stacked)
            tall = str("<mfrac" in body).lower()
            return f"<mrow>{_fence(left, 'prefix', tall)}{body}{_fence(right, 'postfix', tall)}</mrow>"
        case Root(inner):
            return f"<msqrt>{_mathml(_bare(inner), stacked)}</msqrt>"
        case Scripts(base, below, above):
            return _scripts(base, below, above, stacked)
        case Over(above, below) if stacked:
            return f"<mfrac>{_mathml(_bare(above), stacked)}{_mathml(_bare(below), stacked)}</mfrac>"
        case Over(above, below):
            slash = '<mo form="infix" lspace="0" rspace="0">/</mo>'
            return f"<mrow>{_mathml(above, stacked)}{slash}{_mathml(below, stacked)}</mrow>"
        case FormulaRow((piece,)):
            return _mathml(piece, stacked)
        case FormulaRow(pieces):
            return f"<mrow>{''.join(_spaced(pieces, stacked))}</mrow>"


BRACKETS = frozenset("()[]{}⟨⟩⌈⌉⌊⌋")


def _fence(mark: str, form: str, tall: str) -> str:
    if mark in BRACKETS:  # browsers know their form, and put no space around them
        return f"<mo>{mark}</mo>" if tall == "true" else f'<mo stretchy="false">{mark}</mo>'
    return f'<mo form="{form}" fence="true" stretchy="{tall}" lspace="0" rspace="0">{mark}</mo>'


def _scripts(base: Node, below: FormulaRow | None, above: FormulaRow | None, stacked: bool) -> str:
    name = ("msubsup" if above else "msub") if below else "msup"
    attached = "".join(_mathml(each, stacked=False) for each in (below, above) if each)
    return f"<{name}>{_mathml(base, stacked)}{attached}</{name}>"


def _spaced(pieces: tuple[Node, ...], stacked: bool) -> list[str]:
    """The pieces with a thin space beside words: `k ln n`, `max p`."""
    written = [_mathml(piece, stacked) for piece in pieces]
    for place, (left, right) in enumerate(pairwise(pieces)):
        if _keep_a_distance(left, right):
            written[place] += '<mspace width="0.17em"></mspace>'
    return written


def _keep_a_distance(left: Node, right: Node) -> bool:
    if isinstance(left, Sign) or isinstance(right, Sign):
        return False
    if _is_word(left):
        return not isinstance(right, Fence) or (isinstance(left, Name) and left.text in PROSE)
    return _is_word(right)


# As LaTeX

_MACROS = {
    "≤": r"\leq ", "≥": r"\geq ", "≠": r"\neq ", "∈": r"\in ", "∉": r"\notin ", "→": r"\to ", "∝": r"\propto ",
    "⊆": r"\subseteq ", "↦": r"\mapsto ", "≈": r"\approx ", "~": r"\sim ", "−": "-", "±": r"\pm ", "∓": r"\mp ",
    "·": r"\cdot ", "×": r"\times ", "∩": r"\cap ", "∪": r"\cup ", "∘": r"\circ ", "∣": r"\mid ", "′": r"\prime ",
    "⟨": r"\langle ", "⟩": r"\rangle ", "⌈": r"\lceil ", "⌉": r"\rceil ", "⌊": r"\lfloor ", "⌋": r"\rfloor ",
    "{": r"\{", "}": r"\}", "‖": r"\|", "∇": r"\nabla ", "∂": r"\partial ", "Σ": r"\sum ", "∫": r"\int ",
    "∠": r"\angle ", "#": r"\#", "∞": r"\infty ", "∅": r"\emptyset ", "…": r"\ldots ", "°": r"{}^\circ ",
    "ℓ": r"\ell ", "ε": r"\varepsilon ", "φ": r"\varphi ", "ϕ": r"\phi ", ":": "{:}", "ο": "o",
}  # fmt: skip
_FUNCTIONS = frozenset(
    ["arccos", "cos", "det", "dim", "exp", "inf", "lim", "ln", "log", "max", "min", "sin", "sup", "tan", "Pr"]
)


def _latex(node: Node) -> str:
    match node:
        case NumberToken(text):
            return rf"\frac{{{FRACTIONS[text][0]}}}{{{FRACTIONS[text][1]}}}" if text in FRACTIONS else text
        case Name(text, accent) if accent:
            return rf"\{ACCENTS[accent][1]}{{{_latex_name(text)}}}"
        case Name(text):
            return _latex_name(text)
        case Sign(text):
            return _MACROS.get(text, text) if text not in RELATIONS | SUMS else f" {_MACROS.get(text, text).strip()} "
        case Fence(left, inner, right):
            return rf"\left{_MACROS.get(left, left).strip()} {_latex(inner)}\right{_MACROS.get(right, right).strip()} "
        case Root(inner):
            return rf"\sqrt{{{_latex(_bare(inner))}}}"
        case Scripts(base, below, above):
            attached = "".join(
                f"{mark}{{{_latex(each).strip()}}}" for mark, each in (("_", below), ("^", above)) if each
            )
            return (
                f"{{{_latex(base).strip()}}}{attached}"
                if isinstance(base, Fence)
                else f"{_latex(base).strip()}{attached}"
            )
        case Over(above, below):
            return rf"\frac{{{_latex(_bare(above)).strip()}}}{{{_latex(_bare(below)).strip()}}}"
        case FormulaRow(pieces):
            return re.sub(r"  +", " ", "".join(_latex(piece) for piece in pieces)).strip()


def _latex_name(text: str) -> str:
    if text in _MACROS:
        return _MACROS[text]
    if len(text) > 1:
        if text in _FUNCTIONS:
            return rf"\{text} "
        return rf"\ \mathrm{{{text}}}\ " if text in PROSE else rf"\mathrm{{{text}}}"
    greek = re.fullmatch(r"GREEK (SMALL|CAPITAL) LETTER (\w+)", unicodedata.name(text, ""))
    if greek is None:
        return text
    name = greek[2].lower().replace("lamda", "lambda")
    if greek[1] == "SMALL":
        return rf"\{name} "
    has_shape_of_its_own = text in "ΓΔΘΛΞΠΣΥΦΨΩ"
    return rf"\{name.capitalize()} " if has_shape_of_its_own else rf"\mathrm{{{name[0].upper()}}}"
