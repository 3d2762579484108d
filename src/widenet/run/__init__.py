"""Who computes what is missing, and what follows from it: cells in, outcomes out.

Names are loaded on first use: a worker process that draws needs no JAX.
"""

import importlib
from typing import TYPE_CHECKING, Any

from widenet.old_names import sentence_of

if TYPE_CHECKING:
    from widenet.run.answers import Answers
    from widenet.run.cells import Cells, Task, tasks_of
    from widenet.run.executors import Executor, InProcess, Processes
    from widenet.run.failures import CellFailed, Failure
    from widenet.run.kept import Kept
    from widenet.run.outcomes import (
        CheckOutcome,
        Circumstances,
        FigureOutcome,
        NotComputed,
        check,
        figure,
        judge,
        show,
        version,
    )
    from widenet.run.own_data import Mishap, ask, check_on
    from widenet.run.plan import Plan, Results
    from widenet.run.watch import InTurn, Unwatched, WorkWatch
    from widenet.run.workers import Workers, default_jobs

_HOME = {
    "answers": ("Answers",),
    "cells": ("Cells", "Task", "tasks_of"),
    "executors": ("Executor", "InProcess", "Processes"),
    "failures": ("CellFailed", "Failure"),
    "kept": ("Kept",),
    "outcomes": (
        "CheckOutcome",
        "Circumstances",
        "FigureOutcome",
        "NotComputed",
        "check",
        "figure",
        "judge",
        "show",
        "version",
    ),
    "own_data": ("Mishap", "ask", "check_on"),
    "plan": ("Plan", "Results"),
    "watch": ("InTurn", "Unwatched", "WorkWatch"),
    "workers": ("Workers", "default_jobs"),
}
_MODULE_OF = {name: f"widenet.run.{module}" for module, names in _HOME.items() for name in names}

__all__ = [
    "Answers",
    "CellFailed",
    "Cells",
    "CheckOutcome",
    "Circumstances",
    "Executor",
    "Failure",
    "FigureOutcome",
    "InProcess",
    "InTurn",
    "Kept",
    "Mishap",
    "NotComputed",
    "Plan",
    "Processes",
    "Results",
    "Task",
    "Unwatched",
    "WorkWatch",
    "Workers",
    "ask",
    "check",
    "check_on",
    "default_jobs",
    "figure",
    "judge",
    "show",
    "tasks_of",
    "version",
]


def __getattr__(name: str) -> Any:
    if (words := sentence_of(f"widenet.run.{name}")) is not None:
        raise AttributeError(words)
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'widenet.run' has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return __all__
