"""Numbers in words and digits, without powers of ten."""

import math

from widenet.console.wording import number

NAMES = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))
BEYOND = 1e18


def plain(value: float | int | None) -> str:
    """`1,132,534` up to ten million, then `65 billion`; beyond a million trillions its power of ten."""
    if value is not None and 1e3 <= abs(value) < 1e7:
        return f"{value:,.0f}"
    if value is None or not math.isfinite(value) or abs(value) < 1e7:
        return number(value)
    if abs(value) >= BEYOND:
        return f"10^{math.floor(math.log10(value))}" if value > 0 else number(value)
    size, name = next((size, name) for size, name in NAMES if abs(value) >= size)
    return f"{float(f'{value / size:.3g}'):,g} {name}"


def fraction(value: float | None) -> str:
    """`0.0518`, and `1/20,800` where there would be many zeros."""
    if value is None or not 0 < value < 1e-3:
        return number(value)
    return f"1/{float(f'{1 / value:.3g}'):,.0f}" if value > 1e-9 else number(value)
