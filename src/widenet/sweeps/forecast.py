"""What a sweep will cost, measured on a few points: at the beginning, in the middle and at the end of its walk."""

import resource
import statistics
import sys
import time
from collections.abc import Sequence

import numpy as np

from widenet.run.workers import default_jobs
from widenet.sweeps.driver import Survey
from widenet.sweeps.order import subject_of
from widenet.sweeps.packs import measure, tasks_at


def forecast(sweep: Survey, jobs: int | None) -> str:
    """Points, runs, packs, time and memory, in a few lines."""
    jobs = jobs or default_jobs()
    start = time.perf_counter()
    measured = sweep.pilot()
    took = time.perf_counter() - start
    spans, missing = sweep.spans(), sweep.missing()
    packs = [sweep.seconds([span]) for span in spans]
    seconds = [each.seconds for each in measured]
    compiling = [max(0.0, each.first - each.seconds) for each in measured]
    left = sweep.seconds(missing)
    shapes = sweep.order.n_shapes
    total = left + statistics.mean(compiling) * shapes
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    n = sweep.order.n_points
    numbers = {each.number - before for each in measured for before in (0, 1) if each.number >= before}
    return "\n".join(
        [
            f"{n:,} points{_runs(sweep, [each.number for each in measured])}.",
            f"{len(spans):,} packs of {_ends([len(span) for span in spans], ',')} points, "
            f"which take {_ends(packs, '.3g')} s each.",
            f"{sum(map(len, missing)) - sum(number in span for number in numbers for span in missing):,} "
            "points are missing.",
            f"A point takes {_ends(seconds, '.3g')} s. "
            f"{'One shape is' if shapes == 1 else f'{shapes:,} shapes are each'} compiled once, "
            f"for {_ends(compiling, '.3g')} s.",
            f"{len(numbers)} points along the sweep were computed now, in {took:.1f} s.",
            f"About {_duration(total / jobs)} in {jobs} {'process' if jobs == 1 else 'processes'} "
            f"({_duration(total)} on one core), with about {megabytes:,.0f} MB of memory each.",
        ]
    )


def _runs(sweep: Survey, numbers: Sequence[int]) -> str:
    """How many runs a point has, and how many there are in all; "" where nothing has runs."""
    given = sweep.order.fixed.get("n_runs")
    each = [given] if given is not None else [_runs_of(sweep, number) for number in numbers]
    if not any(each):
        return ""
    total = round(statistics.mean(each) * sweep.order.n_points)
    return f", {_ends(each, ',')} runs each, {'' if min(each) == max(each) else 'about '}{total:,} in all"


def _runs_of(sweep: Survey, number: int) -> int:
    """Of one point: those of its settings, or else of what is measured."""
    subject = subject_of(sweep.order, sweep.store)
    tasks = tasks_at(sweep.order, subject, number)
    known = [int(getattr(task.setting, "n_runs", 0)) for task in tasks] if isinstance(tasks, list) else []
    if known and all(known):
        return max(known)
    _, _, row = measure(sweep.order, subject, sweep.store, number)
    return max((each.size for each in row.values() if isinstance(each, np.ndarray)), default=0)


def _ends(values: Sequence[int] | Sequence[float], form: str) -> str:
    """The smallest and the largest, or the only one."""
    ends = [f"{min(values):{form}}", f"{max(values):{form}}"]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
