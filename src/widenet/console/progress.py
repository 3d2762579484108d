"""What a reader sees on stderr while work is going on: one bar on a terminal, plain lines in a pipe."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bars
from rich.table import Column

from widenet.progress import Progress

if TYPE_CHECKING:
    from widenet.run import WorkWatch

SECONDS_BETWEEN_LINES = 2.0
SECONDS_BETWEEN_WORDS = 60.0
"""How often the whole of many pieces has a line in a pipe."""
MANY = 20
SECONDS_TO_LEARN = 3.0
"""How long a bar waits before it says how much time is left."""


@contextmanager
def watching(total: int, seconds: float, by_paper: Mapping[str, int] | None = None) -> "Iterator[WorkWatch]":
    """A watch over `total` pieces of work, which take about so many seconds on one core.

    In a pipe each of a few pieces has its lines; of many, each paper has one, if `by_paper` says how many it has.
    """
    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    # rich calls a pipe a terminal when FORCE_COLOR is set; a bar in a log file helps nobody.
    if sys.stderr.isatty() and not console.is_dumb_terminal:
        bars = Bars(
            TextColumn("{task.fields[count]}", markup=False),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[clock]}", markup=False),
            TextColumn(
                "{task.fields[running]}",
                style="dim",
                markup=False,
                table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1),
            ),
            console=console,
            transient=True,
            expand=True,
        )
        with bars:
            yield BarWatch(bars, total, seconds)
    elif by_paper and total > MANY:
        yield PaperWatch(by_paper, seconds, _print_line)
    else:
        yield LineWatch(total, _print_line)


def _print_line(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


class Meter:
    """How far the whole is: seconds of expected work done, of all of them."""

    def __init__(self, total: float, clock: Callable[[], float] = time.monotonic):
        """`total` seconds of work on one core; several may be at work."""
        self.total, self.clock, self.start, self.done = max(total, 1e-9), clock, clock(), 0.0
        self.running: dict[str, tuple[float, float, str]] = {}

    def note(self, name: str, seconds: float, fraction: float, words: str) -> None:
        """A piece goes on."""
        self.running[name] = (seconds, min(max(fraction, 0.0), 1.0), words)

    def finish(self, name: str, seconds: float) -> None:
        """A piece has ended."""
        self.running.pop(name, None)
        self.done += seconds

    @property
    def share(self) -> float:
        """Which part of the work is done, 0 to 1."""
        under_way = sum(seconds * fraction for seconds, fraction, _ in self.running.values())
        return min((self.done + under_way) / self.total, 1.0)

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return self.clock() - self.start

    @property
    def left(self) -> float | None:
        """Seconds that are left, if the rest goes as fast as what is done; None while that is a guess."""
        if self.elapsed < SECONDS_TO_LEARN or self.share < 0.01:
            return None
        return self.elapsed * (1 - self.share) / self.share

    def clocks(self) -> str:
        """Time gone, and time left."""
        left = "" if self.left is None else f", {_clock(self.left)} left"
        return f"{_clock(self.elapsed)}{left}"

    def names(self) -> str:
        """What is running now, and how far each of it is."""
        return "; ".join(
            f"{name} {100 * fraction:.0f} % {words}".rstrip() for name, (_, fraction, words) in self.running.items()
        )


class BarWatch:
    """One bar over all pieces, with what is running beside it."""

    def __init__(self, bars: Bars, total: int, seconds: float):
        """The bar is full when all expected seconds of work are done."""
        self.bars, self.total, self.ended, self.meter = bars, total, 0, Meter(seconds)
        self.task = bars.add_task("", total=1.0, count=f"0/{total}", clock="", running="")

    def begin(self, name: str, seconds: float = 1.0) -> Progress:
        """Shows the piece."""

        def report(fraction: float, words: str) -> None:
            self.meter.note(name, seconds, fraction, words)
            self._show()

        report(0.0, "")
        return report

    def end(self, name: str, words: str, seconds: float = 1.0) -> None:
        """One more is done."""
        self.ended += 1
        self.meter.finish(name, seconds)
        self._show()

    def _show(self) -> None:
        self.bars.update(
            self.task,
            completed=self.meter.share,
            count=f"{self.ended}/{self.total}",
            clock=self.meter.clocks(),
            running=self.meter.names(),
        )


class LineWatch:
    """A line when a piece begins, one when it ends, and now and then one in between."""

    def __init__(self, total: int, write: Callable[[str], None], clock: Callable[[], float] = time.monotonic):
        """`write` gets each line."""
        self.total, self.write, self.clock = total, write, clock
        self.places: dict[str, int] = {}

    def begin(self, name: str, seconds: float = 1.0) -> Progress:
        """Names the piece."""
        self._line(name, "started")
        last, said = self.clock(), ""

        def report(fraction: float, words: str) -> None:
            nonlocal last, said
            line = f"{100 * min(max(fraction, 0.0), 1.0):.0f} % {words}".rstrip()
            if line != said and self.clock() - last >= SECONDS_BETWEEN_LINES:
                last, said = self.clock(), line
                self._line(name, line)

        return report

    def end(self, name: str, words: str, seconds: float = 1.0) -> None:
        """Says the result."""
        self._line(name, words)

    def _line(self, name: str, words: str) -> None:
        place = self.places.setdefault(name, len(self.places) + 1)
        self.write(f"[{place}/{self.total}] {name}: {words}")


class PaperWatch:
    """A line for each paper when all of its pieces have ended, and one a minute about the whole."""

    def __init__(
        self,
        by_paper: Mapping[str, int],
        seconds: float,
        write: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ):
        """`by_paper` has the number of pieces of each paper, whose key is in their names."""
        self.left, self.counts, self.write = dict(by_paper), dict(by_paper), write
        self.meter, self.said = Meter(seconds, clock), clock()

    def begin(self, name: str, seconds: float = 1.0) -> Progress:
        """Only the clock is watched."""

        def report(fraction: float, words: str) -> None:
            self.meter.note(name, seconds, fraction, words)
            self._now_and_then()

        report(0.0, "")
        return report

    def end(self, name: str, words: str, seconds: float = 1.0) -> None:
        """One piece less of its paper."""
        self.meter.finish(name, seconds)
        paper = name.split()[-1].partition(".")[0] if " of " in name and "(" not in name else name.partition(".")[0]
        if paper in self.left:
            self.left[paper] -= 1
            if self.left[paper] == 0:
                self.write(f"{paper}: {self.counts[paper]} of {self.counts[paper]} done, {self.meter.clocks()}")
        self._now_and_then()

    def _now_and_then(self) -> None:
        if self.meter.clock() - self.said >= SECONDS_BETWEEN_WORDS:
            self.said = self.meter.clock()
            total = sum(self.counts.values())
            self.write(f"{total - sum(self.left.values())} of {total} done, {self.meter.clocks()}")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
