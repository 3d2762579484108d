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
    shapes = sweep.order.n_shapes
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    n = sweep.order.n_points
    numbers = {each.number - before for each in measured for before in (0, 1) if each.number >= before}
    n_in_packs = sum(map(len, missing))
    n_left = n_in_packs - sum(number in span for number in numbers for span in missing)
    total = 0.0
    if n_left:
        total = sweep.seconds(missing) * n_left / n_in_packs + statistics.mean(compiling) * min(shapes, n_left)
    return "\n".join(
        [
            f"{n:,} points{_runs(sweep, [each.number for each in measured])}.",
            f"{len(spans):,} packs of {_ends([len(span) for span in spans], ',')} points, "
            f"which take {_ends(packs, '.3g')} s each.",
            f"{n_left:,} points are missing.",
            f"A point takes {_ends(seconds, '.3g')} s. "
            f"{'One shape is' if shapes == 1 else f'{shapes:,} shapes are each'} compiled once, "
            f"for {_ends(compiling, '.3g')} s.",
            f"{sweep.n_piloted} points along the sweep were computed now, in {took:.1f} s."
            if sweep.n_piloted
            else "Nothing was computed now: the points that it measures were finished before.",
            f"About {_duration(total / jobs)} in {jobs} {'process' if jobs == 1 else 'processes'} "
            f"({_duration(total)} on one core), with about {megabytes:,.0f} MB of memory each.",
        ]
    )


def _runs(sweep: Survey, numbers: Sequence[int]) -> str:
    """How many runs a point has, and how many there are in all; "" where nothing has runs."""
    each = [_runs_of(sweep, number) for number in numbers]
    if not any(each):
        return ""
    total = round(statistics.mean(each) * sweep.order.n_points)
    return f", {_ends(each, ',')} runs each, {'' if min(each) == max(each) else 'about '}{total:,} in all"


def _runs_of(sweep: Survey, number: int) -> int:
    """Of one point: those that are measured, which may start from several lengths, or else those of its settings."""
    subject = subject_of(sweep.order, sweep.store)
    _, _, row = measure(sweep.order, subject, sweep.store, number)
    if found := max((each.size for each in row.values() if isinstance(each, np.ndarray)), default=0):
        return found
    tasks = tasks_at(sweep.order, subject, number)
    known = [int(getattr(task.setting, "n_runs", 0)) for task in tasks] if isinstance(tasks, list) else []
    return max(known, default=0)


def _ends(values: Sequence[int] | Sequence[float], form: str) -> str:
    """The smallest and the largest, or the only one."""
    ends = [f"{min(values):{form}}", f"{max(values):{form}}"]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
