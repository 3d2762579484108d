"""Counts as a user gives them: whole numbers of any kind, checked in one sentence."""

from typing import Any


def whole(name: str, value: Any, least: int | None = None, most: int | None = None) -> int:
    """A count as an int; 1e3 is one, too, and so is NumPy's.

    Raises:
      ValueError: it is not a whole number, or outside of the limits.
    """
    try:
        number = int(value)
        fits = number == value and not isinstance(value, bool | str)
    except (TypeError, ValueError, OverflowError):  # int() of words, of arrays, of NaN and of infinity
        number, fits = 0, False
    if not fits or (least is not None and number < least) or (most is not None and number > most):
        limits = "" if least is None else f" from {least} on" if most is None else f" from {least} to {most}"
        raise ValueError(f"{name} must be a whole number{limits}, got {value!r}")
    return number
