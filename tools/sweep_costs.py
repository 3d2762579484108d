"""What a sweep costs beside its cells: time per cell, and memory of the process that hands them out.

    .venv/bin/python -m tools.sweep_costs --cells 1000 --cells 10000

sweeps over cells that take no time, in each place and for each number of cells, and prints a table (docs/sweeps.md).
"""

import argparse
import contextlib
import dataclasses
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tools import kills_toy, one_slurm
from tools.kills import SPEC

WORKERS = 2
PLACES = ("one process", "two processes", "Dask, two workers", "Slurm, two tasks")


@dataclasses.dataclass(frozen=True)
class Cost:
    """Of one sweep.

    Attributes:
      seconds: from the start of the command to the last cell.
      processor: seconds of processor time of the command and its workers; 0 where those are not its own.
      megabytes: the most that the process which hands out work had; 0 where there is none.
      load: how many processes of the machine wanted a processor, on average over the last minute.
    """

    place: str
    cells: int
    seconds: float
    processor: float
    megabytes: float
    load: float


def cost(place: str, cells: int, folder: Path, options: Sequence[str], environment: dict[str, str]) -> Cost:
    """Sweep once, in a store of its own.

    Raises:
      RuntimeError: the sweep failed.
    """
    spec = folder / "spec.toml"
    spec.write_text(SPEC.format(toy=Path(kills_toy.__file__), last=cells - 1, count=cells))
    ours = os.environ | environment | {"WIDENET_STORE": str(folder / "store")}
    command = [sys.executable, "-m", "widenet.cli", "sweep", str(spec), *options]
    start, before = time.monotonic(), _processor()
    with (folder / "said").open("wb") as said:
        driver = subprocess.Popen(command, env=ours, stdout=said, stderr=said)
    most = 0.0
    try:
        while driver.poll() is None:
            most = max(most, _megabytes(driver.pid))
            time.sleep(0.1)
    finally:
        driver.kill()
    if driver.returncode:
        raise RuntimeError((folder / "said").read_text())
    processor = 0.0 if "--on" in options else _processor() - before
    if "slurm" in options:
        most = 0.0
        while subprocess.run(["squeue", "--noheader"], env=ours, capture_output=True, check=True).stdout:
            time.sleep(0.1)
    return Cost(place, cells, time.monotonic() - start, processor, most, os.getloadavg()[0])


def _processor() -> float:
    """Seconds of processor time of all that this process has started and seen end."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _megabytes(pid: int) -> float:
    """The most that a process has had so far."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return 0.0


@contextlib.contextmanager
def place_of(name: str) -> Iterator[tuple[list[str], dict[str, str]]]:
    """The options and the environment of a sweep there, where it is started if need be."""
    if name == PLACES[2]:
        import dask.config  # pyright: ignore[reportMissingImports]
        from distributed import LocalCluster  # pyright: ignore[reportMissingImports]

        options: dict[str, Any] = {"n_workers": WORKERS, "threads_per_worker": 1, "memory_limit": 0}
        settings = {"distributed.scheduler.worker-ttl": None}
        with dask.config.set(settings):
            here: Any = LocalCluster(**options, dashboard_address=":0")
            with here:
                yield ["--on", here.scheduler_address], {}
    elif name == PLACES[3]:
        with tempfile.TemporaryDirectory() as folder, one_slurm.running(Path(folder), WORKERS) as environment:
            yield (
                ["--on", "slurm", "--tasks", str(WORKERS)],
                {each: environment[each] for each in ("SLURM_CONF", "PATH")},
            )
    else:
        yield ["--jobs", "1" if name == PLACES[0] else str(WORKERS)], {}


def table(costs: Sequence[Cost]) -> str:
    """A row per sweep. What a cell costs is taken between the smallest and this number of cells, without the start."""
    lines = [
        "| where | cells | seconds | ms per cell | processor ms per cell | MB of the driver | load |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for each in costs:
        first = min((other for other in costs if other.place == each.place), key=lambda other: other.cells)
        more = each.cells - first.cells
        slope = f"{1000 * (each.seconds - first.seconds) / more:.1f}" if more else ""
        work = f"{1000 * (each.processor - first.processor) / more:.1f}" if more and each.processor else ""
        memory = f"{each.megabytes:.0f}" if each.megabytes else ""
        numbers = [f"{each.cells:,}", f"{each.seconds:.1f}", slope, work, memory, f"{each.load:.0f}"]
        lines.append(f"| {' | '.join([each.place, *numbers])} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description="What a sweep costs beside its cells.")
    parser.add_argument("--cells", type=int, action="append", help="how many; may be given again")
    parser.add_argument("--on", action="append", choices=PLACES, help="where; may be given again")
    arguments = parser.parse_args()
    costs = []
    for name in arguments.on or PLACES:
        with place_of(name) as (options, environment):
            for cells in arguments.cells or (1_000, 10_000):
                with tempfile.TemporaryDirectory() as folder:
                    costs.append(cost(name, cells, Path(folder), options, environment))
                print(costs[-1], file=sys.stderr, flush=True)
    print(table(costs))


if __name__ == "__main__":
    main()
