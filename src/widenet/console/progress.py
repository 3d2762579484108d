"""What a reader sees on stderr while work is going on: a bar on a terminal, plain lines in a pipe."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from widenet.types import Progress

SECONDS_BETWEEN_LINES = 2.0


@runtime_checkable
class Watch(Protocol):
    """Told when a piece of work begins and ends."""

    def begin(self, name: str) -> Progress:
        """A piece begins; the answer is called while it goes on."""
        ...

    def end(self, words: str) -> None:
        """The piece that began last has ended, with this result."""
        ...


@contextmanager
def watching(total: int) -> Iterator[Watch]:
    """A watch over `total` pieces of work."""
    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    # rich calls a pipe a terminal when FORCE_COLOR is set; a bar in a log file helps nobody.
    if sys.stderr.isatty() and not console.is_dumb_terminal:
        bars = Bars(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[words]}", style="dim", markup=False),
            console=console,
            transient=True,
        )
        with bars:
            yield BarWatch(bars, total)
    else:
        yield LineWatch(total, lambda line: print(line, file=sys.stderr, flush=True))


class BarWatch:
    """One bar over all pieces; the current one is named beside it."""

    def __init__(self, bars: Bars, total: int):
        """The bar appears with the first piece."""
        self.bars, self.done = bars, 0
        self.task = bars.add_task("", total=total, words="")

    def begin(self, name: str) -> Progress:
        """Names the piece."""
        self.bars.update(self.task, description=name, words="")

        def report(fraction: float, words: str) -> None:
            share = min(max(fraction, 0.0), 1.0)
            self.bars.update(self.task, completed=self.done + share, words=f"{100 * share:.0f} % {words}")

        return report

    def end(self, words: str) -> None:
        """One more is done."""
        self.done += 1
        self.bars.update(self.task, completed=self.done, words=words)


class LineWatch:
    """A line when a piece begins, one when it ends, and now and then one in between."""

    def __init__(self, total: int, write: Callable[[str], None], clock: Callable[[], float] = time.monotonic):
        """`write` gets each line."""
        self.total, self.write, self.clock = total, write, clock
        self.place, self.name = 0, ""

    def begin(self, name: str) -> Progress:
        """Names the piece."""
        self.place, self.name = self.place + 1, name
        self._line("started")
        last, said = self.clock(), ""

        def report(fraction: float, words: str) -> None:
            nonlocal last, said
            line = f"{100 * min(max(fraction, 0.0), 1.0):.0f} % {words}".rstrip()
            if line != said and self.clock() - last >= SECONDS_BETWEEN_LINES:
                last, said = self.clock(), line
                self._line(line)

        return report

    def end(self, words: str) -> None:
        """Says the result."""
        self._line(words)

    def _line(self, words: str) -> None:
        self.write(f"[{self.place}/{self.total}] {self.name}: {words}")
