"""The time that a reader gives: what would go past it is stopped, and said so."""

import time
from collections.abc import Callable

from widenet.progress import Progress


class OutOfTime(BaseException):
    """The time is spent. Not an `Exception`: work that survives its own errors must not survive this one."""


class Clock:
    """Counts down from the first moment."""

    def __init__(self, seconds: float | int, now: Callable[[], float] = time.monotonic):
        """`seconds` from now on."""
        self.seconds, self.now, self.start = seconds, now, now()

    @property
    def spent(self) -> float:
        """Seconds since the beginning."""
        return self.now() - self.start

    @property
    def left(self) -> float:
        """Seconds that are left; negative afterwards."""
        return self.seconds - self.spent

    def share(self, part: float) -> "Clock":
        """A clock for what may use this part of the time that is left."""
        return Clock(max(self.left, 0.0) * part, self.now)

    def watched(self, progress: Progress) -> Progress:
        """The same progress, which ends the work when the time is spent."""

        def report(fraction: float, words: str) -> None:
            if self.left <= 0:
                raise OutOfTime
            progress(fraction, words)

        return report
