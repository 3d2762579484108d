"""What is known about a sweep without computing anything."""

from collections import Counter
from dataclasses import dataclass, field

from widenet.claims import NotApplicable
from widenet.run.failures import Failure
from widenet.store.leases import SUFFIX, is_held
from widenet.sweeps import failures, slurm
from widenet.sweeps.driver import Survey
from widenet.sweeps.order import subject_of
from widenet.sweeps.packs import tasks_at
from widenet.sweeps.tables import FAILED, FINISHED, MISSING, NOT_APPLICABLE, PackTable

AT_WORK = "at work"
STATES = (FINISHED, NOT_APPLICABLE, AT_WORK, FAILED, MISSING)


@dataclass(frozen=True)
class Status:
    """How many points are in which state.

    Attributes:
      errors: of those that failed, with how often each occurs.
      tasks: how many tasks of Slurm are in which state, where it knows some of this sweep.
    """

    counts: Counter[str]
    errors: Counter[str]
    tasks: Counter[str] = field(default_factory=Counter)

    @property
    def lines(self) -> list[str]:
        """For a terminal."""
        told = [f"{self.counts[state]:>9,} {state}" for state in STATES if self.counts[state]]
        told += [f"  {number:,} × {sentence}" for sentence, number in self.errors.most_common(5)]
        return [*told, *(f"{number:>9,} tasks of Slurm {state}" for state, number in sorted(self.tasks.items()))]


def status_of(sweep: Survey) -> Status:
    """By the tables of finished packs, and by the cells of the others; by cells alone while packs are not decided."""
    order, store = sweep.order, sweep.store
    counts: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    tasks = slurm.tasks_of(sweep)
    subject = subject_of(order, store)
    for span in sweep.spans() if sweep.is_decided else [range(order.n_points)]:
        table = PackTable.of(order, subject.modules, span)
        if table.read(store):
            counts.update(table.states)
            continue
        for number in span:
            cells = tasks_at(order, subject, number)
            if isinstance(cells, NotApplicable):
                counts[NOT_APPLICABLE] += 1
                continue
            if isinstance(cells, Failure):
                counts[FAILED] += 1
                errors[cells.sentence] += 1
                continue
            left = [task for task in cells if not store.holds(task.key)]
            known = [each for each in (failures.failed(store, task.key) for task in left) if each is not None]
            if any(is_held(store.path(task.key).with_suffix(SUFFIX)) for task in left):
                counts[AT_WORK] += 1
            elif known:
                counts[FAILED] += 1
                errors[known[0].sentence] += 1
            else:
                counts[MISSING if left else FINISHED] += 1
    return Status(counts, errors, tasks)


def retry(sweep: Survey) -> None:
    """Let every point that failed be tried again."""
    subject = subject_of(sweep.order, sweep.store)
    for span in sweep.missing():
        for number in span:
            tasks = tasks_at(sweep.order, subject, number)
            for task in tasks if isinstance(tasks, list) else ():
                failures.forget(sweep.store, task.key)
