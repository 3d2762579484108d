"""A time limit that you may set (`--time`): work that would exceed it is stopped, and said to be."""

import time
from collections.abc import Callable

from widenet.progress import Progress

PATIENCE = 3.0


class OutOfTime(BaseException):
    """The time is spent. Not an `Exception`: work that survives its own errors must not survive this one."""


class TimeLimit:
    """Counts down from the first moment, in seconds of computing; on a free machine a watch shows no more of them.

    A busy machine may take longer, but no more than `PATIENCE` times as long: after that, fewer things are found.
    """

    def __init__(
        self,
        seconds: float | int,
        work: Callable[[], float] = time.process_time,
        watch: Callable[[], float] = time.monotonic,
    ):
        """`seconds` from now on."""
        self.seconds, self.work, self.watch = seconds, work, watch
        self.start, self.began = work(), watch()

    @property
    def spent(self) -> float:
        """Seconds that count: those of work, and a part of those on a watch."""
        return max(self.worked, self.waited / PATIENCE)

    @property
    def worked(self) -> float:
        """Seconds of work since the beginning, of all processors together."""
        return self.work() - self.start

    @property
    def waited(self) -> float:
        """Seconds on a watch since the beginning."""
        return self.watch() - self.began

    @property
    def left(self) -> float:
        """Seconds that are left; negative afterwards."""
        return self.seconds - self.spent

    def share(self, part: float) -> "TimeLimit":
        """A clock for what may use this part of the time that is left."""
        return TimeLimit(max(self.left, 0.0) * part, self.work, self.watch)

    def watched(self, progress: Progress) -> Progress:
        """The same progress, which ends the work when the time is spent."""

        def report(fraction: float, words: str) -> None:
            if self.left <= 0:
                raise OutOfTime
            progress(fraction, words)

        return report
