"""Shapes in signatures are checked in the first calls of each function in each test, and not in the other millions.

pyproject.toml names `first_calls` as the type checker of jaxtyping's import hook. A training in NumPy calls the same
few functions at every step, and to check them all took longer than the tests themselves: 78 s instead of 27 s for the
claims of one room.
"""

import sys
from collections.abc import Callable
from typing import Any

from beartype import beartype

MOST = 8
"""How many calls of a function are checked in each test."""

_counts: dict[str, int] = {}
_trusted: list[Any] = []


def first_calls(function: Callable[..., Any]) -> Callable[..., Any]:
    """A type checker: beartype, which is made when it is needed, and a count.

    jaxtyping hands over functions that have the signature and the name of the real one, and looks for
    `__no_type_check__` at each call.
    """
    name = f"{function.__module__}:{function.__qualname__}"
    checks: list[Callable[..., Any]] = []

    def check(*arguments: Any, **named: Any) -> Any:
        if not checks:
            checks.append(beartype(function))
        _counts[name] = count = _counts.get(name, 0) + 1
        if count == 2 * MOST:  # once for the arguments, once with the answer
            _trust(function)
        return checks[0](*arguments, **named)

    return check


def check_again() -> None:
    """A new test begins: every function is checked again."""
    _counts.clear()
    while _trusted:
        del _trusted.pop().__no_type_check__


def _trust(function: Callable[..., Any]) -> None:
    """No more checks of the function of this name, where it can be found: not of one that is inside another one, nor of
    one that may be the run of an experiment, whose annotations are read: `typing.get_type_hints` would see none.
    """
    if function.__name__.startswith(("run", "train")):
        return
    found: Any = sys.modules.get(function.__module__)
    for part in function.__qualname__.split("."):
        found = vars(found).get(part) if hasattr(found, "__dict__") else None
    found = getattr(found, "fget", None) or getattr(found, "__func__", found)
    if hasattr(found, "__wrapped__") and not hasattr(found, "__no_type_check__"):
        found.__no_type_check__ = True
        _trusted.append(found)
