"""Whoever follows the work: told what begins, how far it is, and what has ended. Several pieces go on at once."""

from typing import Protocol, runtime_checkable

from widenet.progress import Progress, silent, stretch


@runtime_checkable
class WorkWatch(Protocol):
    """Told about pieces of work, each known by its name."""

    def begin(self, name: str, seconds: float = 1.0) -> Progress:
        """A piece begins that takes about so long; the answer is called while it goes on."""
        ...

    def end(self, name: str, words: str, seconds: float = 1.0) -> None:
        """A piece has ended, with this result. One that takes no time is never begun."""
        ...


class Unwatched:
    """The watch of a caller who does not look."""

    def begin(self, name: str, seconds: float = 1.0) -> Progress:
        """Nobody is told."""
        return silent

    def end(self, name: str, words: str, seconds: float = 1.0) -> None:
        """Nobody is told."""


class InTurn:
    """The watch of a caller who follows several pieces, one after the other, by one `Progress`."""

    def __init__(self, progress: Progress, total: int):
        """There are `total` pieces."""
        self.progress, self.total, self.begun = progress, max(total, 1), 0

    def begin(self, name: str, seconds: float = 1.0) -> Progress:
        """The next of the equal parts of the whole."""
        self.begun += 1
        return stretch(self.progress, min(self.begun - 1, self.total) / self.total, min(self.begun / self.total, 1.0))

    def end(self, name: str, words: str, seconds: float = 1.0) -> None:
        """Its part is full."""
        self.progress(min(self.begun / self.total, 1.0), name)
