"""Who computes what is missing, and what follows from it: cells in, outcomes out."""

from widenet.run.cells import Cells, Task, tasks_of
from widenet.run.executors import Executor, InProcess, Processes
from widenet.run.outcomes import CheckOutcome, FigureOutcome, check, show, version

__all__ = [
    "Cells",
    "CheckOutcome",
    "Executor",
    "FigureOutcome",
    "InProcess",
    "Processes",
    "Task",
    "check",
    "show",
    "tasks_of",
    "version",
]
