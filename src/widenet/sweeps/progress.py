"""How far a sweep is: points, rate, time left and failures, on a terminal or in a pipe."""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from widenet.progress import Progress
from widenet.sweeps.driver import Counts
from widenet.sweeps.packs import COMPUTED, FOUND
from widenet.sweeps.tables import FAILED, NOT_APPLICABLE

SECONDS_BETWEEN_LINES = {True: 0.2, False: 10.0}
"""How often a terminal and a pipe are told."""
SECONDS_TO_LEARN = 2.0
CLEAR = "\r\x1b[2K"


class SweepTally:
    """A line about the whole, now and then."""

    def __init__(
        self,
        total: int,
        write: Callable[[str], None],
        every: float,
        clock: Callable[[], float] = time.monotonic,
    ):
        """`total` points are left to do."""
        self.total, self.write, self.every, self.clock = total, write, every, clock
        self.start = self.said = clock()
        self.counts: Counts = Counter()
        self.ended = 0
        self.under_way: dict[str, tuple[int, float]] = {}
        self.found = 0.0
        """Points of packs that ended which were finished before: they took no time."""
        self.found_under_way: dict[str, float] = {}

    def begin(self, name: str, n_points: int) -> Progress:
        """A pack is under way; what it reports first is what was finished before."""
        self.under_way[name] = (n_points, 0.0)
        self.found_under_way.pop(name, None)

        def report(fraction: float, words: str) -> None:
            self.found_under_way.setdefault(name, fraction * n_points)
            self.under_way[name] = (n_points, fraction)
            self._now_and_then()

        return report

    def end(self, name: str, counts: Counts) -> None:
        """Its points are done."""
        self.ended += self.under_way.pop(name, (sum(counts.values()), 1.0))[0]
        self.counts += counts
        self.found_under_way.pop(name, None)
        self.found += counts[FOUND]
        self._now_and_then()

    def line(self) -> str:
        """How far it is."""
        done = self.ended + sum(int(size * fraction) for size, fraction in self.under_way.values())
        seconds = self.clock() - self.start
        words = [f"{done:,} of {self.total:,} points"]
        computed = done - self.found - sum(self.found_under_way.values())
        if seconds > SECONDS_TO_LEARN and computed > 0:
            words += [f"{_rate(computed / seconds)}", f"{_clock(seconds * (self.total - done) / computed)} left"]
        if self.counts[FAILED]:
            words.append(f"{self.counts[FAILED]:,} failed")
        return ", ".join(words)

    def _now_and_then(self) -> None:
        if self.clock() - self.said >= self.every:
            self.said = self.clock()
            self.write(self.line())


@contextmanager
def tallied(total: int) -> Iterator[SweepTally]:
    """A tally on stderr; on a terminal its line is gone at the end."""
    is_terminal = sys.stderr.isatty()

    def write(line: str) -> None:
        print(f"{CLEAR}{line}" if is_terminal else line, end="" if is_terminal else "\n", file=sys.stderr, flush=True)

    try:
        yield SweepTally(total, write, SECONDS_BETWEEN_LINES[is_terminal])
    finally:
        if is_terminal:
            print(CLEAR, end="", file=sys.stderr, flush=True)


def in_words(counts: Mapping[str, int]) -> str:
    """What was done, in one line."""
    words = {COMPUTED: "computed", FOUND: "found", FAILED: "failed", NOT_APPLICABLE: "do not apply"}
    told = [f"{counts[state]:,} {word}" for state, word in words.items() if counts[state] or state in (COMPUTED, FOUND)]
    return ", ".join(told)


def _rate(per_second: float) -> str:
    return f"{per_second:,.0f} a second" if per_second >= 10 else f"{60 * per_second:,.1f} a minute"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
