"""Has the packs of a sweep computed: in this process, in worker processes, or by anything that takes functions."""

import concurrent.futures
import json
import math
import random
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from widenet.errors import StoreError, WidenetError
from widenet.progress import Progress, silent
from widenet.run.executors import keep_compiled_programs
from widenet.run.workers import DONE, FAILED, PROGRESS, START, Call, Workers
from widenet.store import Store
from widenet.sweeps import failures
from widenet.sweeps.order import Question, packs_of, publish, subject_of
from widenet.sweeps.packs import ELSEWHERE, Pack, compute_pack, require_look, tasks_at
from widenet.sweeps.tables import PackTable

SECONDS_PER_PACK = 60.0
"""About how long one pack takes: long enough to be worth a message and a compilation, short enough to be lost."""
MOST_PER_PACK = 2_000
PACKS_AT_LEAST = 64
"""A sweep has so many packs if it has the points, so that many processes can share it."""
WORTH_A_PROCESS = 10.0
"""Seconds of expected work below which starting worker processes costs more than it saves."""
SECONDS_BETWEEN_TRIES = 0.2
SECONDS_BETWEEN_LOOKS = 5.0
IN_FLIGHT = 16

Counts = Counter[str]


@runtime_checkable
class SweepWatch(Protocol):
    """Told what becomes of packs."""

    def begin(self, name: str, n_points: int) -> Progress:
        """A pack begins."""
        ...

    def end(self, name: str, counts: Counts) -> None:
        """What became of its points."""
        ...


class Quiet:
    """Nobody looks."""

    def begin(self, name: str, n_points: int) -> Progress:
        """Nobody is told."""
        return silent

    def end(self, name: str, counts: Counts) -> None:
        """Nobody is told."""


class Survey:
    """An order, the store that it is computed in, and its packs."""

    def __init__(self, order: Question, store: Store):
        """Nothing is computed yet; the size of the packs is measured when it is first asked for."""
        self.order, self.store = order, store

    @property
    def plan(self) -> Path:
        """The file that says how many points a pack has: whoever writes it first decides for all."""
        return self.store.root / "sweeps" / f"{self.order.digest}.json"

    def pack_size(self) -> int:
        """Points per pack: those of about a minute, as the first two points were measured to take.

        Raises:
          StoreError: the store cannot be written.
        """
        known = self.known_size
        if known is None:
            seconds = self.pilot()["seconds"]
            size = min(MOST_PER_PACK, max(1, int(SECONDS_PER_PACK / max(seconds, 1e-4))))
            size = max(1, min(size, math.ceil(self.order.n_points / PACKS_AT_LEAST)))
            row = {"pack": size, "seconds_per_point": seconds}
            self.store.write_once(self.plan, json.dumps(row).encode())
            known = self.known_size or size
        return known

    @property
    def known_size(self) -> int | None:
        """The size that was decided; None before."""
        decided = self._decided()
        return None if decided is None else int(decided["pack"])

    def seconds(self, spans: Sequence[range]) -> float:
        """About how long these points take on one core."""
        decided = self._decided()
        return 0.0 if decided is None else decided["seconds_per_point"] * sum(map(len, spans))

    def _decided(self) -> dict[str, Any] | None:
        try:
            return json.loads(self.plan.read_bytes())
        except (OSError, ValueError):
            return None

    def pilot(self) -> dict[str, float]:
        """Compute two points here: the seconds of the second, which found its programs compiled, and of the first.

        They are points like all others, and are kept.
        """
        keep_compiled_programs(self.store.compiled)
        publish(self.order, self.store)
        seconds = []
        for number in range(min(2, self.order.n_points)):
            start = time.perf_counter()
            while compute_pack(self._pack(range(number, number + 1)).text).get(ELSEWHERE):
                time.sleep(SECONDS_BETWEEN_TRIES)  # of many that start together, one computes it
            seconds.append(time.perf_counter() - start)
            self.require_look([number])
        kept = [self._recorded(number) for number in range(len(seconds))]
        return {"seconds": max(seconds[-1], kept[-1]), "first": max(seconds[0], kept[0])}

    def require_look(self, numbers: Iterable[int] = (0, 1)) -> None:
        """Refuse what cannot be looked at, as far as the first finished one of these points tells.

        What an experiment measures is often known only when it has measured something.

        Raises:
          InputError: there is no such quantity, or not there.
        """
        if self.order.look or self.order.at:
            subject = subject_of(self.order, self.store)
            any(require_look(self.order, subject, self.store, each) for each in numbers if each < self.order.n_points)

    def _recorded(self, number: int) -> float:
        tasks = tasks_at(self.order, subject_of(self.order, self.store), number)
        cells = [self.store.get(each.key) for each in tasks] if isinstance(tasks, list) else []
        return sum((each.content["seconds"] for each in cells if each is not None), 0.0)

    def spans(self) -> list[range]:
        """The points of each pack."""
        return list(packs_of(self.order.n_points, self.pack_size()))

    def missing(self) -> list[range]:
        """The packs without a table.

        Raises:
          StoreError: the store cannot be written.
        """
        publish(self.order, self.store)
        spans = self.spans()
        self.require_look()
        modules = subject_of(self.order, self.store).modules
        return [span for span in spans if not PackTable.of(self.order, modules, span).is_kept(self.store)]

    def _pack(self, span: range) -> Pack:
        return Pack(self.order, span.start, span.stop, self.store.root.absolute())

    def texts(self, spans: Iterable[range]) -> Iterator[tuple[str, str, int]]:
        """Of each pack a name, the text that travels, and how many points it has."""
        for span in spans:
            name = f"points {span.start + 1:,} to {span.stop:,}" if len(span) > 1 else f"point {span.start + 1:,}"
            yield name, self._pack(span).text, len(span)


def here(sweep: Survey, watch: SweepWatch, share: tuple[int, int] = (1, 1)) -> Counts:
    """In this process, which helps with the packs of others when its own share is done.

    Arguments:
      share: (i, n): this is process i of n that do the same, counted from 1. Each begins with packs of its own and
        goes on with the others in an order of its own.
    """
    total: Counts = Counter()
    waiting = deque(sweep.texts(in_order_of(sweep.missing(), *share)))
    in_vain = 0
    while waiting:
        name, text, n_points = waiting.popleft()
        counts = Counter(compute_pack(text, watch.begin(name, n_points)))
        if counts[ELSEWHERE]:
            waiting.append((name, text, n_points))
            in_vain += 1
            if in_vain >= len(waiting):
                time.sleep(SECONDS_BETWEEN_TRIES)
                in_vain = 0
            continue
        in_vain = 0
        total += counts
        watch.end(name, counts)
    return total


def in_order_of(spans: Sequence[range], i: int, n: int) -> list[range]:
    """The packs of share i of n, then the others in an order that each share has for itself."""
    own = [span for span in spans if hash_of(span) % n == i - 1]
    others = [span for span in spans if hash_of(span) % n != i - 1]
    random.Random(i).shuffle(others)
    return [*own, *others]


def hash_of(span: range) -> int:
    """A number that scatters packs over shares, the same for everybody."""
    return span.start * 2654435761 % 2**32 >> 8


def in_processes(sweep: Survey, watch: SweepWatch, jobs: int, share: tuple[int, int] = (1, 1)) -> Counts:
    """In worker processes. One that is lost costs the cell it was at, and its pack is handed out again."""
    spans = in_order_of(sweep.missing(), *share)
    total: Counts = Counter()
    in_a_row = 0
    sizes = {}
    furthest: dict[str, float] = {}
    queue: deque[Call] = deque()
    for name, text, n_points in sweep.texts(spans):
        sizes[name] = n_points
        queue.append(Call(name, compute_pack, (text,)))
    begun: dict[str, Progress] = {}
    with Workers(jobs) as workers:
        for news in workers.follow(queue):
            name = news.call.name
            if news.kind == START:
                begun[name] = watch.begin(name, sizes[name])
            elif news.kind == PROGRESS:
                begun[name](*news.content)
                if news.content[0] > furthest.get(name, 0.0):
                    furthest[name], in_a_row = news.content[0], 0
            elif news.kind == FAILED:
                in_a_row += 1  # a point that ends every process that tries it fails before that
                if in_a_row > 2 * failures.MOST_LOST:
                    raise StoreError(news.content.sentence)
                news.call.not_before = time.monotonic() + SECONDS_BETWEEN_TRIES
                queue.append(news.call)
            elif news.kind == DONE:
                counts, in_a_row = Counter(news.content), 0
                if counts[ELSEWHERE]:
                    news.call.not_before = time.monotonic() + SECONDS_BETWEEN_TRIES
                    queue.append(news.call)
                else:
                    total += counts
                    watch.end(name, counts)
    return total


def by_executor(
    sweep: Survey,
    executor: Any,
    watch: SweepWatch,
    in_flight: int = IN_FLIGHT,
    function: Callable[[str], dict[str, int]] = compute_pack,
    look: Callable[[], None] = lambda: None,
) -> Counts:
    """By anything with the `submit` of `concurrent.futures.Executor`: submitit, executorlib, mpi4py, loky, Dask's own.

    Text goes out, and counts come back. At most `in_flight` packs are handed out at once. What `submit` gives needs
    `done` and `result`.

    Arguments:
      look: is called now and then while nothing happens, and raises when nothing will.

    Raises:
      StoreError: a worker could not write the store, or packs were lost again and again.
    """
    waiting = deque(sweep.texts(sweep.missing()))
    running: dict[Any, tuple[str, str, int]] = {}
    held: deque[_Held] = deque()
    lost: Counter[str] = Counter()
    total: Counts = Counter()
    while waiting or running or held:
        waiting.extend(_given_back(held))
        while waiting and len(running) < in_flight:
            pack = waiting.popleft()
            running[executor.submit(function, pack[1])] = pack
            watch.begin(pack[0], pack[2])
        for future in _finished(running, look, min((each.not_before for each in held), default=math.inf)):
            name, text, n_points = running.pop(future)
            try:
                counts = Counter(future.result())
            except WidenetError:
                raise
            except Exception as error:
                lost[name] += 1
                if lost[name] >= failures.MOST_LOST or isinstance(error, concurrent.futures.BrokenExecutor):
                    raise StoreError(f"{name} failed: {type(error).__name__}: {error}") from error
                waiting.append((name, text, n_points))
                continue
            if counts[ELSEWHERE]:
                held.append(_Held((name, text, n_points), time.monotonic() + SECONDS_BETWEEN_TRIES))
            else:
                total += counts
                watch.end(name, counts)
    return total


@dataclass(frozen=True)
class _Held:
    """A pack in which others are at every point that is missing, and when it is looked at next."""

    pack: tuple[str, str, int]
    not_before: float


def _given_back(held: deque[_Held]) -> Iterator[tuple[str, str, int]]:
    """The packs in which there is something to do again.

    This process looks at the leases, because a job that is a new process could not have watched them.
    """
    for _ in range(len(held)):
        each = held.popleft()
        start = time.monotonic()
        name, text, n_points = each.pack
        if start < each.not_before:
            held.append(each)
        elif (pack := Pack.of(text).left()) is not None:
            yield name, pack.text, n_points
        else:
            now = time.monotonic()
            held.append(_Held(each.pack, now + max(SECONDS_BETWEEN_TRIES, 10 * (now - start))))


def _finished(running: Collection[Any], look: Callable[[], None], until: float) -> list[Any]:
    """Those that are done, when there is one; none where there is none until then, on the clock of `monotonic`."""
    while True:
        left = max(0.0, min(SECONDS_BETWEEN_LOOKS, until - time.monotonic()))
        if not running:
            time.sleep(left)
            done = []
        elif all(isinstance(each, concurrent.futures.Future) for each in running):
            done = list(concurrent.futures.wait(running, left, concurrent.futures.FIRST_COMPLETED).done)
        elif not (done := [each for each in running if each.done()]):
            time.sleep(min(left, SECONDS_BETWEEN_TRIES))  # the jobs of submitit can be asked only
        if done or time.monotonic() >= until:
            return done
        look()
