"""Progress reporting. A `Progress` is any function of a fraction and a few words."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

Item = TypeVar("Item")

Progress = Callable[[float, str], None]
"""Called with the fraction done (0 to 1) and a few words; never with arrays."""


def silent(fraction: float, words: str) -> None:
    """The `Progress` of a caller who does not watch."""


def require_progress(given: Any) -> None:
    """Whether this can be told how far work is.

    Raises:
      ValueError: it cannot be called.
    """
    if not callable(given):
        raise ValueError(f"progress must be a function of (fraction, words), got {given!r}")


def over(items: Sequence[Item], progress: Progress, words: str) -> Iterator[Item]:
    """The items in turn; progress is reported after each: `for data in over(sets, progress, "data sets")`."""
    for number, item in enumerate(items, start=1):
        yield item
        progress(number / len(items), words)


def stretch(progress: Progress, low: float, high: float) -> Progress:
    """The progress of a piece of work that leads from `low` to `high` of the whole."""

    def report(fraction: float, words: str) -> None:
        progress(low + (high - low) * fraction, words)

    return report


def parts(items: Sequence[Item], progress: Progress) -> Iterator[tuple[Item, Progress]]:
    """The items in turn, each with a progress of its own: an equal part of the whole."""
    for number, item in enumerate(items):
        yield item, stretch(progress, number / len(items), (number + 1) / len(items))
