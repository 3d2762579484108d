"""Has the packs of a sweep computed: in this process, in worker processes, or by anything that takes functions."""

import concurrent.futures
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
from widenet.records import ClosedModel
from widenet.run.executors import keep_compiled_programs
from widenet.run.workers import DONE, FAILED, PROGRESS, START, Call, Workers
from widenet.store import Store
from widenet.sweeps import failures
from widenet.sweeps.order import Question, publish, subject_of
from widenet.sweeps.packing import packed, price_of, spans_of
from widenet.sweeps.packs import COMPUTED, ELSEWHERE, FOUND, Pack, compute_pack, require_look, tasks_at
from widenet.sweeps.tables import PackTable

WORTH_MORE = 12
"""Of fewer points the first two say what all of them take."""
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


class Packing(ClosedModel):
    """How points are packed.

    Attributes:
      prices: what a point takes at some places of the walk, by its number.
      packs: sizes of packs, and how many of that size follow each other.
    """

    prices: list[tuple[int, float]]
    packs: list[tuple[int, int]]


@dataclass(frozen=True)
class Measured:
    """What a point took, and the one before it, whose programs may have been compiled."""

    number: int
    seconds: float
    first: float


class Survey:
    """An order, the store that it is computed in, and its packs."""

    def __init__(self, order: Question, store: Store):
        """Nothing is computed yet; what points take is measured when packs are first asked for."""
        self.order, self.store = order, store
        self.n_piloted = 0
        """How many points were computed here to measure what points take."""

    @property
    def plan(self) -> Path:
        """The file that says how many points each pack has: whoever writes it first decides for all."""
        return self.store.root / "sweeps" / f"{self.order.digest}.packs"

    @property
    def is_decided(self) -> bool:
        """Whether it is known how points are packed."""
        return self._decided() is not None

    def decide(self) -> "Packing":
        """How points are packed: by what a few of them were measured to take.

        Raises:
          StoreError: the store cannot be written.
        """
        known = self._decided()
        if known is None:
            prices = [(each.number, each.seconds) for each in self.pilot()]
            known = Packing(prices=prices, packs=packed(prices, self.order.n_points))
            self.store.write_once(self.plan, known.model_dump_json().encode())
            known = self._decided() or known
        return known

    def seconds(self, spans: Sequence[range]) -> float:
        """About how long these points take on one core."""
        prices = self.decide().prices
        return math.fsum(price_of(prices, span) for span in spans)

    def _decided(self) -> "Packing | None":
        try:
            return Packing.model_validate_json(self.plan.read_bytes())
        except (OSError, ValueError):
            return None

    def pilot(self) -> list["Measured"]:
        """Compute two points that follow each other here, at the beginning, in the middle and at the end of the walk.

        They are points like all others, and are kept. The second found its programs compiled.
        """
        keep_compiled_programs(self.store.compiled)
        publish(self.order, self.store)
        n = self.order.n_points
        places = (0, n // 2, n - 2) if n >= WORTH_MORE else (0,)
        return [self._measured(place, min(2, n)) for place in places]

    def _measured(self, start: int, several: int) -> "Measured":
        seconds = [self._seconds(number) for number in range(start, start + several)]
        return Measured(start + several - 1, seconds[-1], seconds[0])

    def _seconds(self, number: int) -> float:
        """Of one point, now or when it was computed."""
        start = time.perf_counter()
        text = Pack(self.order, number, number + 1, self.store.root.absolute()).text
        while (counts := compute_pack(text)).get(ELSEWHERE):
            time.sleep(SECONDS_BETWEEN_TRIES)  # of many that start together, one computes it
        self.n_piloted += counts.get(COMPUTED, 0)
        took = time.perf_counter() - start
        self.require_look([number])
        tasks = tasks_at(self.order, subject_of(self.order, self.store), number)
        cells = [self.store.get(each.key) for each in tasks] if isinstance(tasks, list) else []
        return max(took, sum(each.content["seconds"] for each in cells if each is not None))

    def require_look(self, numbers: Iterable[int] = (0, 1)) -> None:
        """Refuse what cannot be looked at, as far as the first finished one of these points tells.

        What an experiment measures is often known only when it has measured something.

        Raises:
          InputError: there is no such quantity, or not there.
        """
        if self.order.look or self.order.at:
            subject = subject_of(self.order, self.store)
            any(require_look(self.order, subject, self.store, each) for each in numbers if each < self.order.n_points)

    def spans(self) -> list[range]:
        """The points of each pack."""
        return list(spans_of(self.decide().packs))

    def missing(self) -> list[range]:
        """The packs without a table, or with a damaged one.

        Raises:
          StoreError: the store cannot be written.
        """
        publish(self.order, self.store)
        spans = self.spans()
        self.require_look()
        modules = subject_of(self.order, self.store).modules
        return [span for span in spans if not PackTable.of(self.order, modules, span).read(self.store)]

    def texts(self, spans: Iterable[range]) -> Iterator[tuple[str, str, int]]:
        """Of each pack a name, the text that travels, and how many points it has."""
        plan, root = self._decided(), self.store.root.absolute()
        for span in spans:
            seconds = None if plan is None else float(f"{price_of(plan.prices, span) / len(span):.3g}")
            pack = Pack(self.order, span.start, span.stop, root, seconds)
            name = f"points {span.start + 1:,} to {span.stop:,}" if len(span) > 1 else f"point {span.start + 1:,}"
            yield name, pack.text, len(span)


def here(sweep: Survey, watch: SweepWatch, share: tuple[int, int] = (1, 1)) -> Counts:
    """In this process, which helps with the packs of others when its own share is done.

    Arguments:
      share: (i, n): this is process i of n that do the same, counted from 1. Each begins with packs of its own and
        goes on with the others in an order of its own.
    """
    visits = _Visits()
    waiting = deque(sweep.texts(in_order_of(sweep.missing(), *share)))
    in_vain = 0
    while waiting:
        name, text, n_points = waiting.popleft()
        counts = Counter(compute_pack(text, watch.begin(name, n_points)))
        if visits.is_unfinished(name, counts):
            waiting.append((name, text, n_points))
            in_vain += 1
            if in_vain >= len(waiting):
                time.sleep(SECONDS_BETWEEN_TRIES)
                in_vain = 0
            continue
        in_vain = 0
        watch.end(name, visits.end(name, counts))
    return visits.total


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
    visits = _Visits()
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
                if visits.is_unfinished(name, counts):
                    news.call.not_before = time.monotonic() + SECONDS_BETWEEN_TRIES
                    queue.append(news.call)
                else:
                    watch.end(name, visits.end(name, counts))
    return visits.total


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
    visits = _Visits()
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
            if visits.is_unfinished(name, counts):
                held.append(_Held((name, text, n_points), time.monotonic() + SECONDS_BETWEEN_TRIES))
            else:
                watch.end(name, visits.end(name, counts))
    return visits.total


class _Visits:
    """What became of the points of packs that are come back to while others are at some of their points."""

    def __init__(self):
        """No pack has ended."""
        self.total: Counts = Counter()
        self.computed: Counts = Counter()

    def is_unfinished(self, name: str, counts: Counts) -> bool:
        """Whether a pack has to be come back to; what was computed in it this time is kept."""
        if counts[ELSEWHERE]:
            self.computed[name] += counts[COMPUTED]
        return counts[ELSEWHERE] > 0

    def end(self, name: str, counts: Counts) -> Counts:
        """What became of all points of the pack: those that were computed here before were found in the end."""
        before = Counter({COMPUTED: self.computed[name], FOUND: -self.computed[name]})
        found = Counter({state: counts[state] + before[state] for state in (*counts, COMPUTED)})
        self.total += found
        return +found


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
