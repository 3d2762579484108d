"""Several threads that train parts of one request, and tell one progress.

Threads, not processes: a compiled program runs outside the interpreter lock, one core or GPU per part.
"""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from widenet.progress import Progress

Item = TypeVar("Item")
Piece = TypeVar("Piece")


class SharedProgress:
    """One progress for all parts, whichever thread they run in. A part is known by its number."""

    def __init__(self, progress: Progress, n_runs: int):
        """`n_runs` are all runs of the request."""
        self.progress, self.n_runs, self.cancelled = progress, n_runs, False
        self._done: dict[int, float] = {}
        self._lock = threading.Lock()

    def of(self, part: int, n_runs: int) -> Progress:
        """The progress of a part that has so many of the runs."""

        def report(fraction: float, words: str) -> None:
            if self.cancelled:
                raise RuntimeError("another thread of this ensemble was interrupted")
            with self._lock:
                self._done[part] = fraction * n_runs / self.n_runs
                self.progress(sum(self._done.values()), f"{words} {self.n_runs} networks")

        return report


def in_threads(
    train: Callable[[Item], Piece], items: Iterable[Item], workers: int, shared: SharedProgress
) -> list[Piece]:
    """What becomes of every item, in their order."""
    if workers == 1:
        return [train(item) for item in items]
    with ThreadPoolExecutor(workers) as pool:
        try:
            return list(pool.map(train, items))
        except BaseException:
            shared.cancelled = True  # an interrupt reaches this thread alone; the others see the flag
            pool.shutdown(cancel_futures=True)
            raise
