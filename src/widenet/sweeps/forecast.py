"""What a sweep will cost, measured on a few points: at the beginning, in the middle and at the end of its walk."""

import resource
import statistics
import sys
import time

from widenet.run.workers import default_jobs
from widenet.sweeps.driver import Survey
from widenet.sweeps.order import subject_of
from widenet.sweeps.packs import compute_pack, tasks_at

WORTH_MORE = 12
"""Of fewer points the first two say enough."""


def forecast(sweep: Survey, jobs: int | None) -> str:
    """Points, packs, time and memory, in a few lines."""
    jobs = jobs or default_jobs()
    start = time.perf_counter()
    firsts, seconds, computed = _measured(sweep)
    took = time.perf_counter() - start
    points = sum(map(len, sweep.missing()))
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    runs = sweep.order.fixed.get("n_runs")
    networks = f", {runs} runs each" if runs is not None else ""
    mean = statistics.mean(seconds)
    ends = f" ({min(seconds):.3g} to {max(seconds):.3g} s)" if len(seconds) > 1 else ""
    total = points * mean / jobs + statistics.mean(firsts)
    return "\n".join(
        [
            f"{sweep.order.n_points:,} points{networks}, in {len(sweep.spans()):,} packs of {sweep.pack_size():,}.",
            f"{points:,} points are missing.",
            f"A point takes {mean:.3g} s{ends}, the first of a shape {statistics.mean(firsts):.3g} s.",
            f"{computed} points along the sweep were computed now, in {took:.1f} s.",
            f"About {_duration(total)} in {jobs} {'process' if jobs == 1 else 'processes'} "
            f"({_duration(points * mean)} on one core), with about {megabytes:,.0f} MB of memory each.",
        ]
    )


def _measured(sweep: Survey) -> tuple[list[float], list[float], int]:
    """The seconds of points whose programs may be compiled, those of their neighbours, and how many were run."""
    pilot, n = sweep.pilot(), sweep.order.n_points
    firsts, seconds, computed = [pilot["first"]], [pilot["seconds"]], min(n, 2)
    for place in (n // 2, n - 2) if n >= WORTH_MORE else ():
        times = [_seconds(sweep, number) for number in (place, place + 1)]
        firsts.append(times[0])
        seconds.append(times[1])
        computed += 2
    return firsts, seconds, computed


def _seconds(sweep: Survey, number: int) -> float:
    """Of one point, or those that were written down when it was computed."""
    start = time.perf_counter()
    for _, text, _ in sweep.texts([range(number, number + 1)]):
        compute_pack(text)
    took = time.perf_counter() - start
    tasks = tasks_at(sweep.order, subject_of(sweep.order, sweep.store), number)
    cells = [sweep.store.get(each.key) for each in tasks] if isinstance(tasks, list) else []
    return max(took, sum(each.content["seconds"] for each in cells if each is not None))


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
