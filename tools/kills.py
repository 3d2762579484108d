"""Kill the processes of a sweep at random moments, and look whether anything is lost or computed twice.

    .venv/bin/python -m tools.kills --on processes --on dask --on slurm --kills 300 --each 20

Drivers and workers end by SIGKILL; tasks of Slurm also by `scancel` and `scontrol requeue`. In each place it goes on,
with a further sweep where one is finished, until there were so many kills and so many processes ended in each moment
of a cell. At the end of a sweep each cell must be there, have been computed once and once more for each process that
did not live to write it, and have the numbers, bit for bit, of the same sweep in another store that nobody disturbed,
which are those that NumPy draws. Slurm is started here (`tools.one_slurm`); Dask needs the extra `dask`.
"""

import argparse
import functools
import json
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from tools import kills_toy, one_slurm
from tools.kills_toy import COMPUTED, COMPUTING, LEASED, RENAMED
from widenet.store.leases import started_at

STATES = {
    LEASED: "leased",
    COMPUTING: "computing",
    COMPUTED: "before the rename",
    RENAMED: "after the rename",
}
PLACES = ("processes", "dask", "slurm")
DRIVERS = 0.1
"""The share of kills that end the driver, where there is one."""
WORKERS = 2
CELLS_PER_KILL = 8
MOST_POINTS = 1_500
"""Of one sweep: a longer one is several."""
PATIENCE = 300.0
SPEC = """\
of = "{toy}:draws"
[over]
number = {{ from = 0, to = {last}, steps = {count} }}
"""


class Wrong(Exception):
    """The sweep lost something, computed something twice, or did not go on."""


@dataclass
class Life:
    """What one process said last."""

    pid: int
    started: str
    moment: str
    cell: str

    @property
    def is_over(self) -> bool:
        """Whether the process has ended, also where its number is in use again."""
        return started_at(self.pid) != self.started


@dataclass
class Trace:
    """What all processes said.

    Attributes:
      length: bytes that were read so far.
    """

    path: Path
    lives: dict[str, Life] = field(default_factory=dict)
    begun: Counter[str] = field(default_factory=Counter)
    finished: set[str] = field(default_factory=set)
    again: list[str] = field(default_factory=list)
    length: int = 0

    def look(self) -> None:
        """Read what is new."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(self.length)
            data = file.read()
        whole = data.rpartition(b"\n")[0] + b"\n" if b"\n" in data else b""
        self.length += len(whole)
        for line in whole.decode().splitlines():
            pid, started, moment, cell = line.split()
            self.lives[f"{pid} {started}"] = Life(int(pid), started, moment, cell)
            if moment == COMPUTING:
                self.begun[cell] += 1
                if cell in self.finished:
                    self.again.append(cell)
            elif moment == RENAMED:
                self.finished.add(cell)

    def at_work(self, moment: str) -> list[Life]:
        """Processes that are in this moment of a cell."""
        self.look()
        return [life for life in self.lives.values() if life.moment == moment and not life.is_over]

    def deaths(self) -> Counter[str]:
        """In which moment processes ended that ended in the middle of a cell."""
        self.look()
        middle = (life for life in self.lives.values() if life.moment in STATES)
        return Counter(STATES[life.moment] for life in middle if life.is_over)

    def require_once(self) -> None:
        """Each cell was computed once, and once more for each process that ended before it was written.

        Raises:
          Wrong: one was computed more often.
        """
        self.look()
        lost = Counter(life.cell for life in self.lives.values() if life.moment in (COMPUTING, COMPUTED))
        twice = [cell for cell, times in self.begun.items() if times > 1 + lost[cell]]
        if self.again or twice:
            raise Wrong(f"computed after they were finished: {self.again}; computed too often: {twice}")


@dataclass
class Goal:
    """What is asked for in one place, and what there was in the sweeps before.

    Attributes:
      kills: how many in all.
      each: how many processes that end in each moment of a cell.
      last: when the last kill may be, on the clock of `time.monotonic`.
    """

    kills: int
    each: int = 0
    last: float = math.inf
    done: Counter[str] = field(default_factory=Counter)
    deaths: Counter[str] = field(default_factory=Counter)


@dataclass
class Disturbed:
    """A sweep in a folder, whose processes are killed.

    Attributes:
      pace: seconds that a cell stays in each moment, on average.
      kills: how many there were, by how they were done.
    """

    folder: Path
    points: int
    pace: float
    goal: Goal
    kills: Counter[str] = field(default_factory=Counter)
    drivers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Write what is asked."""
        self.folder.mkdir(parents=True)
        self.trace = Trace(self.folder / "log")
        self.spec = self.folder / "spec.toml"
        toy = Path(kills_toy.__file__)
        self.spec.write_text(SPEC.format(toy=toy, last=self.points - 1, count=self.points))
        self.set_pace(self.pace)
        self.environment = {
            "WIDENET_STORE": str(self.folder / "store"),
            kills_toy.LOG: str(self.trace.path),
            kills_toy.PACE: str(self.folder / "pace"),
            "PYTHONPATH": os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH", ""), str(Path.cwd())])),
        }

    def is_enough(self) -> bool:
        """Whether there were as many kills, and ends in each moment, as are asked for, or there is no more time."""
        return self.is_met() or time.monotonic() > self.goal.last

    def is_met(self) -> bool:
        """Whether there were as many."""
        return self.kills.total() + self.goal.done.total() >= self.goal.kills and not self.wanted()

    def wanted(self) -> list[str]:
        """The moments in which more processes have to end."""
        deaths = self.trace.deaths() + self.goal.deaths
        return [moment for moment, word in STATES.items() if deaths[word] < self.goal.each]

    def set_pace(self, seconds: float) -> None:
        """How long a moment takes from now on."""
        path = self.folder / "pace"
        path.with_suffix(".new").write_text(str(seconds))
        path.with_suffix(".new").replace(path)

    def sweep(self, *options: str) -> subprocess.Popen[bytes]:
        """A driver."""
        command = [sys.executable, "-m", "widenet.cli", "sweep", str(self.spec), *options]
        with (self.folder / "said").open("ab") as said:
            environment = os.environ | self.environment
            driver = subprocess.Popen(command, env=environment, stdout=said, stderr=said, start_new_session=True)
        self.drivers.append(driver)
        return driver

    def victim(self, is_over: Callable[[], bool]) -> Life | None:
        """A process in a moment that is drawn, after a random part of it; None when it is over before.

        Moments in which too few have ended are drawn first.
        """
        moment = random.choice(self.wanted() or list(STATES))
        found: list[Life] = []

        def is_there() -> bool:
            found[:] = self.trace.at_work(moment)
            return bool(found) or is_over()

        self.wait(is_there, "a process that computes")
        if not found:
            return None
        time.sleep(random.uniform(0, self.pace))
        return random.choice(found)

    def kill(self, life: Life) -> bool:
        """End a process; says whether it was there."""
        try:
            handle = os.pidfd_open(life.pid)  # of this process, whoever gets its number next
        except ProcessLookupError:
            return False
        try:
            if life.is_over:
                return False
            signal.pidfd_send_signal(handle, signal.SIGKILL)
        except ProcessLookupError:
            return False
        finally:
            os.close(handle)
        return True

    def finish(self, driver: subprocess.Popen[bytes]) -> None:
        """Nobody is disturbed any more: the sweep ends.

        Raises:
          Wrong: it does not.
        """
        self.wait(functools.partial(_has_ended, driver), "the end of the sweep")
        if driver.returncode != 0:
            raise Wrong(f"the sweep ended with {driver.returncode}: {(self.folder / 'said').read_text()[-500:]}")

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for something as long as the sweep goes on, however slowly.

        Raises:
          Wrong: nobody has said anything for a long while.
        """
        said, last = -1, 0.0
        while not condition():
            self.trace.look()
            now = time.monotonic()
            if self.trace.length != said:
                said, last = self.trace.length, now + PATIENCE
            if now > last:
                raise Wrong(f"waited in vain for {what}: {(self.folder / 'said').read_text()[-500:]}")
            time.sleep(0.01)

    def values(self, store: Path) -> np.ndarray:
        """The numbers of the sweep in a store.

        Raises:
          Wrong: a point is not finished.
        """
        code = "import sys, numpy, widenet as wn; found = wn.load(sys.argv[1]); numpy.save(sys.argv[2], found.value)"
        code += "; sys.exit(str(found.state.values.tolist()) if (found.state != 'finished').any() else 0)"
        out = self.folder / "values.npy"
        done = subprocess.run(
            [sys.executable, "-c", code, str(self.spec), str(out)],
            env=os.environ | {**self.environment, "WIDENET_STORE": str(store)},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise Wrong(f"points are missing: {done.stderr[-500:]}")
        return np.load(out)

    def require_undisturbed(self) -> None:
        """The numbers are, bit for bit, those of the same sweep in another store, and those that NumPy draws.

        Raises:
          Wrong: they are others.
        """
        alone = self.folder / "alone"
        quiet = {"WIDENET_STORE": str(alone), "PYTHONPATH": self.environment["PYTHONPATH"]}
        command = [sys.executable, "-m", "widenet.cli", "sweep", str(self.spec), "--jobs", str(WORKERS)]
        done = subprocess.run(command, env=os.environ | quiet, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Wrong(f"the sweep that nobody disturbed failed: {done.stderr[-500:]}")
        found = self.values(self.folder / "store")
        drawn = np.stack([np.random.default_rng(number).normal(size=4) for number in range(self.points)])
        for other, words in ((self.values(alone), "of a sweep that nobody disturbed"), (drawn, "that NumPy draws")):
            if found.dtype != other.dtype or found.shape != other.shape or found.tobytes() != other.tobytes():
                raise Wrong(f"the numbers in {self.folder.name} are not those {words}")


def in_processes(sweep: Disturbed) -> None:
    """Kill a driver with two worker processes, and the workers."""
    _until_finished(sweep, "--jobs", str(WORKERS))


def on_dask(sweep: Disturbed) -> None:
    """Kill the workers of a `LocalCluster`, and the drivers that use it."""
    import dask.config  # pyright: ignore[reportMissingImports]
    from distributed import LocalCluster  # pyright: ignore[reportMissingImports]

    # A worker that is started again takes longer than the 15 s after which a LocalCluster gives up its place.
    settings = {"distributed.scheduler.worker-ttl": None, "distributed.deploy.lost-worker-timeout": "1 hour"}
    options = {"threads_per_worker": 1, "memory_limit": 0, "dashboard_address": ":0", "silence_logs": 60}
    # Its workers have the environment of this process. What is started after the sweep must not.
    with dask.config.set(settings), mock.patch.dict(os.environ, sweep.environment):
        here: Any = LocalCluster(n_workers=WORKERS, **options)
        with here:
            _until_finished(sweep, "--on", here.scheduler_address)


def _until_finished(sweep: Disturbed, *options: str) -> None:
    """Kill a driver and its workers, and start the driver again until it ends well by itself."""
    started = 0
    while started < sweep.kills.total() + 2:
        started += 1
        driver = sweep.sweep(*options)
        while not sweep.is_enough() and driver.poll() is None:
            life = sweep.victim(functools.partial(_has_ended, driver))
            if life is not None and random.random() < DRIVERS:
                driver.kill()
                driver.wait()
                sweep.kills["SIGKILL to the driver"] += 1
            elif life is not None and sweep.kill(life):
                sweep.kills["SIGKILL to a worker"] += 1
        if sweep.is_enough():
            sweep.set_pace(0)
        sweep.wait(functools.partial(_has_ended, driver), "the end of a driver")
        if driver.returncode == 0:
            return
    raise Wrong(f"the sweep did not end: {(sweep.folder / 'said').read_text()[-500:]}")


def _has_ended(driver: subprocess.Popen[bytes]) -> bool:
    return driver.poll() is not None


def on_slurm(sweep: Disturbed) -> None:
    """Kill, cancel and requeue the tasks of a job array."""
    with tempfile.TemporaryDirectory() as folder, one_slurm.running(Path(folder), cpus=WORKERS + 1) as environment:
        sweep.environment["SLURM_CONF"] = environment["SLURM_CONF"]
        sweep.environment["PATH"] = environment["PATH"]
        sweep.finish(sweep.sweep("--on", "slurm", "--tasks", str(WORKERS)))
        (script,) = (sweep.folder / "store").rglob("job.sh")
        asked = {**os.environ, **sweep.environment}

        def tasks() -> list[str]:
            command = ["squeue", "--noheader", "--array", "--format=%T"]
            return subprocess.run(command, env=asked, capture_output=True, text=True, check=True).stdout.split()

        def again() -> None:
            subprocess.run(["sbatch", str(script)], env=asked, check=True, capture_output=True)

        while not sweep.is_enough():
            life = sweep.victim(lambda: not tasks())
            if life is None:
                if len(sweep.trace.finished) >= sweep.points:
                    break
                again()  # all tasks were killed or cancelled
                continue
            how = random.choice(["SIGKILL to a task", "scancel", "requeue"])
            if how == "SIGKILL to a task":
                sweep.kills[how] += sweep.kill(life)
            elif task := _task(life):
                command = ["scancel", task] if how == "scancel" else ["scontrol", "requeue", task]
                done = subprocess.run(command, env=asked, check=False, capture_output=True)
                sweep.kills[how] += done.returncode == 0
                sweep.wait(functools.partial(_is_over, life), f"the end of a task after {how}")
            if len(tasks()) < WORKERS:
                again()
        sweep.set_pace(0)
        if not tasks():
            again()
        sweep.wait(lambda: not tasks(), "the end of the array")


def _task(life: Life) -> str | None:
    """JOB_TASK of a process of Slurm."""
    try:
        rows = Path(f"/proc/{life.pid}/environ").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return None
    found = {name: value for name, _, value in (row.partition("=") for row in rows)}
    names = ("SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID")  # of one that ends just now there are none
    return "_".join(found[name] for name in names) if all(name in found for name in names) else None


def _is_over(life: Life) -> bool:
    return life.is_over


WAYS: dict[str, Callable[[Disturbed], None]] = {
    "processes": in_processes,
    "dask": on_dask,
    "slurm": on_slurm,
}


def disturb(place: str, goal: Goal, folder: Path, pace: float = 0.1) -> list[Disturbed]:
    """Sweeps that ended well, with so many kills in all.

    Raises:
      Wrong: one did not.
    """
    sweeps: list[Disturbed] = []
    while not sweeps or not sweeps[-1].is_enough():
        for before in sweeps[-1:]:
            goal.done += before.kills
            goal.deaths += before.trace.deaths()
        left = max(goal.kills - goal.done.total(), goal.each)
        points = min(CELLS_PER_KILL * left + 40, MOST_POINTS)
        sweeps.append(Disturbed(folder / f"{place}-{len(sweeps) + 1}", points, pace, goal))
        _disturb_once(place, sweeps[-1])
    return sweeps


def _disturb_once(place: str, sweep: Disturbed) -> None:
    try:
        WAYS[place](sweep)
    finally:
        for driver in sweep.drivers:
            driver.kill()
            driver.wait()
    sweep.trace.require_once()
    sweep.require_undisturbed()


def row_of(place: str, sweeps: Sequence[Disturbed], seconds: float) -> dict[str, Any]:
    """What happened, for a table."""
    kills = sum((sweep.kills for sweep in sweeps), Counter[str]())
    deaths = sum((sweep.trace.deaths() for sweep in sweeps), Counter[str]())
    return {
        "place": place,
        "sweeps": len(sweeps),
        "kills": kills.total(),
        "by": dict(sorted(kills.items())),
        "in the middle of a cell": {word: deaths[word] for word in STATES.values()},
        "points": sum(sweep.points for sweep in sweeps),
        "computed": sum(sweep.trace.begun.total() for sweep in sweeps),
        "seconds": round(seconds),
    }


def main() -> None:
    """Disturb, and print a line of JSON per place."""
    parser = argparse.ArgumentParser(description="Kill the processes of a sweep at random moments.")
    parser.add_argument("--on", action="append", choices=PLACES, help="where it runs; may be given again")
    parser.add_argument("--kills", type=int, default=100, help="how many in each place")
    parser.add_argument("--each", type=int, default=20, help="how many processes that end in each moment of a cell")
    parser.add_argument("--pace", type=float, default=0.1, help="seconds in each moment of a cell, on average")
    parser.add_argument("--minutes", type=float, default=math.inf, help="after which no more are killed, in each place")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    random.seed(arguments.seed)
    for place in arguments.on or PLACES:
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            goal = Goal(arguments.kills, arguments.each, start + 60 * arguments.minutes)
            try:
                sweeps = disturb(place, goal, Path(folder), arguments.pace)
            except Wrong as error:
                sys.exit(f"kills: on {place}: {error}")
            print(json.dumps(row_of(place, sweeps, time.monotonic() - start)), flush=True)
            if not sweeps[-1].is_met():
                sys.exit(f"kills: on {place}: there was no time for all of them")


if __name__ == "__main__":
    main()
