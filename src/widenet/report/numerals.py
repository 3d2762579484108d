"""How numbers are written on pages, each with its exact value beside it for programs: `<data value="…">`.

A number is written to four digits, or to as many as it takes to tell two sides apart; what is written is the exact
value rounded to the last digit shown.
"""

import math
import sys
from decimal import Context, Decimal

from markupsafe import Markup

from widenet.claims import Part
from widenet.claims.tolerances import ROUNDING
from widenet.console import wording

DIGITS = 4
LARGE, SMALL = 1e7, 1e-3
"""From here on, and below this, a number is written with a power of ten."""
LEAST = sys.float_info.min
"""Below this nothing is measured: it is the next number after 0."""
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def written(value: float | int | str | None, digits: int = DIGITS) -> str:
    """The number in words: `12,346`, `0.05151`, `3.5·10⁻⁵`, `∞`; a dash where there is none."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    size = abs(value)
    if size < LEAST:
        return "just above 0" if value > 0 else "just below 0"
    if size >= LARGE or size < SMALL:
        return _signed(value, _with_power(size, digits))
    if size >= 1000 or size == int(size):
        whole = size == int(size) or digits <= len(str(int(size)))
        return _signed(value, f"{size:,.0f}" if whole else f"{size:,.{digits - len(str(int(size)))}f}")
    return _signed(value, f"{size:.{digits}g}")


def percent(share: float, digits: int = 3) -> str:
    """A share as `99.8 %`; one below 1 never reads `100 %`."""
    size = 100 * abs(share)
    if math.isinf(size):
        return "∞ %"
    exact = 100 * Decimal(repr(float(abs(share))))  # a product of floats may move the last digit
    while share < 1 and digits < 16 and Context(prec=digits).create_decimal(exact) == 100:
        digits += 1
    rounded = Context(prec=digits).create_decimal(exact).normalize()
    text = _with_power(size, digits) if 0 < size < SMALL else f"{rounded:f}" if size < 1000 else f"{size:,.0f}"
    return f"{_signed(share, text)} %"


def times(ratio: float) -> str:
    """How many times: `3.2 ×`; one above 1 never reads `1 ×`."""
    digits = 3
    while ratio > 1 and digits < 16 and float(f"{ratio:.{digits}g}") == 1:
        digits += 1
    return f"{written(ratio, digits)} ×"


def apart(*values: float) -> tuple[str, ...]:
    """Numbers with as many digits as it takes to tell them apart, where they differ."""
    n_different = len({*values})
    for digits in range(DIGITS, 18):
        texts = tuple(written(each, digits) for each in values)
        if len({*texts}) >= n_different:
            return texts
    return tuple(map(repr, values))


def data(value: float | int, text: str) -> Markup:
    """A number on a page: what a reader sees, and the exact value."""
    return Markup('<data value="{}">{}</data>').format(repr(value), text)


def number(value: float | int | str | None, digits: int = DIGITS) -> Markup:
    """A number on a page."""
    text = written(value, digits)
    return data(value, text) if isinstance(value, int | float) else Markup.escape(text)


def count(value: int) -> Markup:
    """A number of things, written in full."""
    return data(value, f"{value:,}")


def counted(value: int, singular: str, plural: str = "") -> Markup:
    """`1 claim`, `2 claims`."""
    return Markup("{} {}").format(count(value), singular if value == 1 else plural or singular + "s")


def seconds(value: float | int) -> Markup:
    """How long it took."""
    return Markup("{} s").format(data(value, f"{value:.1f}"))


def in_drawing(value: float | int, text: str = "") -> Markup:
    """A number inside a drawing, whose `<text>` can hold no `<data>`."""
    return Markup('<tspan data-value="{}">{}</tspan>').format(repr(value), text or written(value))


def share(value: float | None) -> Markup:
    """A share on a page, in percent; one above 1 says how many times."""
    return Markup("–") if value is None else data(value, share_in_words(value))


def share_in_words(value: float) -> str:
    """`95.2 %` of a promise, or `2.4 ×` one that is broken; where 0 was promised there is no such number."""
    if math.isinf(value):
        return "beyond 0"
    return percent(1.0 if abs(value - 1) <= ROUNDING else value) if value <= 1 + ROUNDING else times(value)


def ratio(value: float | None) -> Markup:
    """How many times, on a page."""
    return Markup("–") if value is None else data(value, times(value))


def several_apart(*values: float) -> tuple[Markup, ...]:
    """Numbers on a page, told apart."""
    return tuple(map(data, values, apart(*values)))


def two_sides(left: float, right: float) -> tuple[Markup, Markup]:
    """Two numbers on a page, told apart."""
    first, second = several_apart(left, right)
    return first, second


def sides_of(part: Part) -> tuple[Markup, Markup]:
    """Both sides of a part, told apart; written alike where rounding alone is between them."""
    if part.measured is None or part.promised is None:
        return number(part.measured), number(part.promised)
    if part.is_within_rounding:
        first, second = wording.rounded_alike(part.measured, part.promised, written)
        return data(part.measured, first), data(part.promised, second)
    return two_sides(part.measured, part.promised)


def _with_power(size: float, digits: int) -> str:
    mantissa, _, power = f"{size:.{digits - 1}e}".partition("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    raised = f"10{str(int(power)).translate(RAISED)}"
    return raised if mantissa == "1" else f"{mantissa}·{raised}"


def _signed(value: float, text: str) -> str:
    return f"−{text}" if value < 0 else text
