"""Whoever follows the work: told what begins, how far it is, and what has ended. Several pieces go on at once."""

from typing import Protocol, runtime_checkable

from widenet.progress import Progress, silent


@runtime_checkable
class Watch(Protocol):
    """Told about pieces of work, each known by its name."""

    def begin(self, name: str, seconds: float = 1.0) -> Progress:
        """A piece begins that takes about so long; the answer is called while it goes on."""
        ...

    def end(self, name: str, words: str, seconds: float = 1.0) -> None:
        """A piece has ended, with this result. One that takes no time is never begun."""
        ...


class Unwatched:
    """The watch of a caller who does not look, or who follows one piece of work by its `progress`."""

    def __init__(self, progress: Progress = silent):
        """Every piece reports to the same `progress`."""
        self.progress = progress

    def begin(self, name: str, seconds: float = 1.0) -> Progress:
        """The one progress."""
        return self.progress

    def end(self, name: str, words: str, seconds: float = 1.0) -> None:
        """Nobody is told."""
