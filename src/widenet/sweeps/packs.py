"""One pack of points, computed here: every process of a sweep does this, wherever it runs.

Which points a pack has is fixed by the sweep. Each cell is computed by a call of its own, so its numbers do not depend
on the pack it is in, on who computes it, or on who died before. A process that dies loses the one cell it was at.
"""

import functools
import json
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from widenet.claims import NotApplicable
from widenet.errors import InputError, WidenetError
from widenet.progress import Progress, silent
from widenet.run.cells import Task, compute
from widenet.run.executors import is_there, keep_compiled_programs
from widenet.run.failures import Failure, failure_of, is_interrupt, tried
from widenet.run.records import decode
from widenet.store import Store, leases
from widenet.sweeps import failures, index
from widenet.sweeps.order import Question, published, subject_of
from widenet.sweeps.rows import Row
from widenet.sweeps.subjects import Subject
from widenet.sweeps.tables import FAILED, FINISHED, MISSING, NOT_APPLICABLE, PackTable

COMPUTED, FOUND, ELSEWHERE = "computed", "found", "elsewhere"


@dataclass(frozen=True)
class Pack:
    """The points from `start` up to `stop` of an order, in a store."""

    order: Question
    start: int
    stop: int
    root: Path
    seconds: float | None = None
    """About how long a point takes; what its experiments say, if it was not measured."""
    stale: tuple[str, ...] = ()
    """Leases that whoever hands the pack out has watched until they were stale (`widenet.store.leases`)."""

    @property
    def text(self) -> str:
        """The JSON that travels: the values of the axes may be many, and are in the store."""
        row = {"start": self.start, "stop": self.stop, "root": str(self.root), "order": self.order.digest}
        row |= {"look": self.order.look, "at": self.order.at, "tries": self.order.tries}
        row |= {"seconds": self.seconds}
        return json.dumps(row | ({"stale": self.stale} if self.stale else {}))

    @classmethod
    def of(cls, text: str) -> "Pack":
        """What `text` said.

        Raises:
          StoreError: the sweep is not in this store.
        """
        row = json.loads(text)
        at = tuple(row["at"].items())
        order = published(row["order"], tuple(row["look"]), at, row["tries"], row["root"])
        return cls(order, row["start"], row["stop"], Path(row["root"]), row["seconds"], tuple(row.get("stale", ())))

    def left(self) -> "Pack | None":
        """The same, when there is something to do in it; None while others are at everything that is missing.

        This watches the leases of others, so that a process that is started for one pack need not. It returns the pack
        with those that are stale.
        """
        store = Store(self.root)
        subject = subject_of(self.order, store)
        stale: list[str] = []
        is_waiting = is_free = False
        for number in range(self.start, self.stop):
            tasks = tasks_at(self.order, subject, number)
            for task in tasks if isinstance(tasks, list) else ():
                if not store.holds(task.key):
                    name = leases.watch(store.path(task.key))
                    is_waiting, is_free = is_waiting or name is None, is_free or name == ""
                    stale += [name] if name else []
        return None if is_waiting and not (is_free or stale) else replace(self, stale=tuple(stale))


def compute_pack(text: str, progress: Progress = silent) -> dict[str, int]:
    """Compute what is missing in a pack, and write its table; the answer counts what became of its points.

    Points that another process is at are counted as `elsewhere`: come back for them.

    Raises:
      StoreError: the store cannot be written.
    """
    pack = Pack.of(text)
    leases.believe_stale(pack.stale)
    store = Store(pack.root)
    keep_compiled_programs(store.compiled)
    return _PackWork(pack, store, progress).work()


class _PackWork:
    """Goes through a pack."""

    def __init__(self, pack: Pack, store: Store, progress: Progress):
        self.pack, self.store, self.progress = pack, store, progress
        self.subject: Subject = subject_of(pack.order, store)
        self.became: dict[int, str] = {}

    def work(self) -> dict[str, int]:
        span = range(self.pack.start, self.pack.stop)
        table = PackTable.of(self.pack.order, self.subject.modules, span)
        if table.read(self.store):
            return {FOUND: len(span)}
        left: deque[tuple[int, list[Task] | Failure]] = deque()
        for number in span:
            tasks = tasks_at(self.pack.order, self.subject, number)
            if isinstance(tasks, NotApplicable) or (isinstance(tasks, list) and self._are_there(tasks)):
                self.became[number] = FOUND
            else:
                left.append((number, tasks))
        self.progress(len(self.became) / len(span), "")
        for _ in range(self.pack.order.tries):  # a point that failed for a passing reason is tried after the others
            again: deque[tuple[int, list[Task] | Failure]] = deque()
            for number, tasks in left:
                state = self._settle(tasks)
                if state in (ELSEWHERE, FAILED):
                    again.append((number, tasks))
                else:
                    self.became[number] = state
                self.progress(len(self.became) / len(span), "")
            left = again
        for number, tasks in left:
            is_over = not isinstance(tasks, list) or any(self._given_up(task) for task in tasks)
            self.became[number] = FAILED if is_over else ELSEWHERE
        if ELSEWHERE not in self.became.values():
            self._measure(table, span)
        return dict(Counter(self.became.values()))

    def _are_there(self, tasks: Sequence[Task]) -> bool:
        """Whether there are files of all cells; whether they are whole is seen when they are read."""
        return all(self.store.holds(task.key) for task in tasks)

    def _settle(self, tasks: list[Task] | Failure) -> str:
        """What became of a point."""
        if isinstance(tasks, Failure):
            return FAILED
        return _worst(FOUND if self.store.holds(task.key) else self._compute(task) for task in tasks)

    def _compute(self, task: Task) -> str:
        """Compute a cell that is missing or damaged."""
        if self._given_up(task):
            return FAILED
        with self.store.claiming(task.key) as lease:
            if lease is None:
                return ELSEWHERE
            if is_there(task, self.store, self.pack.seconds):
                return FOUND
            if lease.lost >= failures.MOST_LOST:
                words = f"{task.experiment.id} failed: the process that computed it was lost {lease.lost} times."
                failures.note(self.store, task.key, Failure(words), self.pack.order.tries)
                return FAILED
            found = self._run(task)
            if isinstance(found, Failure):
                before = failures.failed(self.store, task.key)
                failures.note(self.store, task.key, found, 1 + (0 if before is None else before.tries))
                return FAILED
            failures.forget(self.store, task.key)
            return COMPUTED

    def _run(self, task: Task) -> Failure | None:
        """Compute the cell; an error of any kind is this cell's alone, but for a store that cannot be written."""
        try:
            return tried(task.experiment.id, functools.partial(compute, task, self.store))
        except InputError as error:
            return failure_of(task.experiment.id, error)

    def _given_up(self, task: Task) -> bool:
        known = failures.failed(self.store, task.key)
        return known is not None and known.tries >= self.pack.order.tries

    def _measure(self, table: PackTable, span: Sequence[int]) -> None:
        """Write the table of the pack; a damaged cell is computed once more."""
        rows = [measure(self.pack.order, self.subject, self.store, number) for number in span]
        for place, (number, (state, _, _)) in enumerate(zip(span, rows, strict=True)):
            tasks = tasks_at(self.pack.order, self.subject, number) if state == MISSING else []
            if isinstance(tasks, list) and tasks:
                self.became[number] = _worst(self._compute(task) for task in tasks)
                rows[place] = measure(self.pack.order, self.subject, self.store, number)
        table.fill(rows)
        if all(state in (FINISHED, NOT_APPLICABLE) for state, _, _ in rows):
            table.keep(self.store)
            index.append(self.store, table)


def _worst(states: Iterable[str]) -> str:
    """What became of a point, from what became of its cells."""
    known = set(states)
    return next((each for each in (ELSEWHERE, FAILED, COMPUTED) if each in known), FOUND)


def tasks_at(order: Question, subject: Subject, number: int) -> list[Task] | NotApplicable | Failure:
    """The cells of a point, why it has none, or the error of asking for them, which is this point's alone.

    Raises:
      StoreError: the data of the sweep cannot be read or written.
    """
    try:
        return subject.tasks(order.point(number))
    except InputError as refusal:
        return NotApplicable(str(refusal))
    except WidenetError:
        raise
    except Exception as error:
        if is_interrupt(error):
            raise
        return failure_of(order.title, error)


def require_look(order: Question, subject: Subject, store: Store, number: int) -> bool:
    """Refuse quantities, and places to look at them, that a finished point does not have; says whether it is finished.

    Raises:
      InputError: they are not there.
    """
    tasks = tasks_at(order, subject, number)
    if not isinstance(tasks, list) or not tasks:
        return False
    cells = [(task.experiment.result_type, store.get(task.key)) for task in tasks]
    results = [decode(kind, cell.arrays, cell.content["layout"]) for kind, cell in cells if cell is not None]
    if len(results) < len(tasks):
        return False
    try:
        subject.row(order.point(number), results, order.look, order.at)
    except InputError:
        raise
    except Exception:
        return False  # the point says so itself
    return True


def measure(order: Question, subject: Subject, store: Store, number: int) -> tuple[str, str, Row]:
    """What is known about a point: its state, why it has no numbers, and what is looked at. Nothing is computed."""
    point = order.point(number)
    tasks = tasks_at(order, subject, number)
    if isinstance(tasks, NotApplicable):
        return NOT_APPLICABLE, str(tasks), {}
    if isinstance(tasks, Failure):
        return FAILED, tasks.sentence, {}
    cells = []
    for task in tasks:
        cell = store.get(task.key)
        if cell is None:
            known = failures.failed(store, task.key)
            return (MISSING, "", {}) if known is None else (FAILED, known.sentence, {})
        cells.append((task.experiment.result_type, cell))
    try:
        results = [decode(kind, cell.arrays, cell.content["layout"]) for kind, cell in cells]
        return FINISHED, "", subject.row(point, results, order.look, order.at)
    except InputError as refusal:
        return NOT_APPLICABLE, str(refusal), {}
    except Exception as error:
        return FAILED, failure_of(order.title, error).sentence, {}
