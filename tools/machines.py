"""python -m tools.machines: are verdicts and numbers the same on other processors?

One x86-64 computer stands in for several: XLA, OpenBLAS and NumPy are each told to do without the newer instructions of
its processor. For each such machine this command
  - runs the numeric tests, each process of them on one core, and those of products and training once more in one
    process on two cores, where the machine has two,
  - runs some of them with a term dropped or in float32, on one core; they must fail there too,
  - runs `widenet check --all` on the machine's number of cores and compares verdicts, hypotheses, parts, counts and
    numbers with those of this computer.
It writes the table of docs/machines.md. Machines and their parts run side by side, as many as there are cores for.
Results are kept in build/machines until a source or an installed library changes, so an interrupted command goes on
where it stopped.

    python -m tools.machines                      everything (about an hour on two cores)
    python -m tools.machines --machine sse        one machine alone
    python -m tools.machines --only checks        tests, threads, controls or checks alone
    python -m tools.machines --paper li2018       the claims of one paper
"""

import argparse
import concurrent.futures
import contextlib
import hashlib
import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.comparison import Differences, compare
from tools.kept_table import NOT_TRIED, tree, update

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "machines"
PAGE = ROOT / "docs" / "machines.md"
MARKER = "<!-- made by: make test-machines -->"
COLUMNS = (
    "machine",
    "XLA",
    "products",
    "OpenBLAS",
    "NumPy without",
    "cores",
    "Python",
    "numeric tests",
    "on two threads",
    "controls",
    "check --all",
    "tree",
)
NUMERIC_TESTS = ("tests/claims", "tests/diagnostics", "tests/networks", "tests/papers", "tests/training")
THREADED_TESTS = ("tests/diagnostics", "tests/networks", "tests/training")
"""Those of products and sums that libraries divide among threads."""
PLUGIN = "tools.weakened"
EIGEN = "--xla_cpu_experimental_ynn_fusion_type="
"""XLA then multiplies matrices with Eigen. YNNPACK picks its kernels by the processor, whatever XLA is told."""
ON_CORES = """
import os, sys
os.sched_setaffinity(0, [int(core) for core in sys.argv[1].split(",")])
os.execv(sys.argv[2], sys.argv[2:])
"""
"""A program that becomes another one, which runs on some cores alone."""
PARTS = ("tests", "checks", "threads", "controls")
"""What is tried on a machine, the longest first."""
PAUSE = 30.0
"""Seconds between two words about how far everything is."""
OLDEST_TO_NEWEST = ("SSE4_2", "AVX", "AVX2", "AVX512")
NOTHING = (
    "This computer cannot stand in for other machines: that needs an x86-64 processor and a NumPy that "
    "can be told to do without X86_V3 and X86_V4."
)


@dataclass(frozen=True)
class Machine:
    """An instruction set for each library, and a number of cores.

    Attributes:
      xla: the newest instructions that XLA may use; "" for all of this processor's.
      blas: the processor whose kernels OpenBLAS takes; "" for this one's.
      without: what NumPy must do without.
      eigen: whether XLA multiplies matrices with Eigen instead of YNNPACK.
      cores: how many are used.
    """

    name: str
    xla: str = ""
    blas: str = ""
    without: tuple[str, ...] = ()
    eigen: bool = False
    cores: int = 2

    @property
    def flags(self) -> str:
        """What XLA is told."""
        isa = [f"--xla_cpu_max_isa={self.xla}"] if self.xla else []
        return " ".join([*isa, *([EIGEN] if self.eigen else [])])

    def environment(self, folder: Path) -> dict[str, str]:
        """Of a process on this machine; its results and compiled programs are kept in a folder of their own."""
        own = {
            "XLA_FLAGS": self.flags,
            "WIDENET_STORE": str(folder / "store"),
            "JAX_COMPILATION_CACHE_DIR": str(folder / "compiled"),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.2",
            "OPENBLAS_NUM_THREADS": str(self.cores),
            "OMP_NUM_THREADS": str(self.cores),
        }
        if self.blas:
            own["OPENBLAS_CORETYPE"] = self.blas
        if self.without:
            own["NPY_DISABLE_CPU_FEATURES"] = " ".join(self.without)
        return {name: value for name, value in os.environ.items() if name != "MACHINE_XLA_FLAGS"} | own

    def run(
        self, *arguments: str, folder: Path, cores: Sequence[int] = (), log: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """A Python program on this machine; what it says goes to the log, or into what is returned."""
        own = ",".join(map(str, cores or sorted(os.sched_getaffinity(0))[: self.cores]))
        with contextlib.nullcontext(subprocess.PIPE) if log is None else log.open("w", encoding="utf-8") as output:
            return subprocess.run(
                [sys.executable, "-c", ON_CORES, own, sys.executable, *arguments],
                cwd=ROOT,
                env=self.environment(folder),
                text=True,
                stdout=output,
                stderr=subprocess.PIPE if log is None else subprocess.STDOUT,
                check=False,
            )


HERE = Machine("this computer")
MACHINES = (
    Machine("sse", "SSE4_2", "Nehalem", ("X86_V3", "X86_V4"), eigen=True, cores=1),
    Machine("avx", "AVX", "Sandybridge", ("X86_V3", "X86_V4"), cores=2),
    Machine("avx2", "AVX2", "Haswell", ("X86_V4",), cores=1),
    Machine("avx2-eigen", "AVX2", "Haswell", ("X86_V4",), eigen=True, cores=2),
    Machine("avx512", "AVX512", "SkylakeX", eigen=True, cores=1),
)


def switches() -> dict[str, bool]:
    """The instructions that NumPy can be told to do without, and whether this processor has them."""
    from numpy._core._multiarray_umath import (  # pyright: ignore[reportAttributeAccessIssue]
        __cpu_dispatch__,
        __cpu_features__,
    )

    return {name: bool(__cpu_features__.get(name)) for name in __cpu_dispatch__}


def possible() -> list[Machine]:
    """Those that this processor can stand in for: it can leave instructions out, not add them.

    None where NumPy has no switch for them: off x86-64, and where it calls them otherwise.
    """
    known = switches()
    if platform.machine().lower() not in ("x86_64", "amd64") or not {"X86_V3", "X86_V4"} <= set(known):
        return []
    found = {name for name, is_there in known.items() if is_there}
    newest = 3 if "X86_V4" in found else 2 if "X86_V3" in found else 0
    return [
        Machine(
            each.name,
            each.xla,
            each.blas,
            tuple(name for name in each.without if name in found),
            each.eigen,
            each.cores,
        )
        for each in MACHINES
        if OLDEST_TO_NEWEST.index(each.xla) <= newest
    ]


class Cores:
    """The cores of this computer, lent to one machine at a time, in the order in which they asked."""

    def __init__(self, cores: Sequence[int]):
        """All of them are free."""
        self.total = len(cores)
        self._free, self._queue, self._change = list(cores), [], threading.Condition()

    @contextlib.contextmanager
    def lent(self, count: int) -> Iterator[list[int]]:
        """Waits for this many cores, or for all where there are fewer."""
        ticket, count = object(), min(count, self.total)
        with self._change:
            self._queue.append(ticket)
            self._change.wait_for(lambda: self._queue[0] is ticket and len(self._free) >= count)
            self._queue.pop(0)
            own, self._free = self._free[:count], self._free[count:]
            self._change.notify_all()
        try:
            yield own
        finally:
            with self._change:
                self._free += own
                self._change.notify_all()


@dataclass
class Trial:
    """What is tried on one machine, and what came out.

    Attributes:
      tests, threads, controls: how they ended, in words.
      rows: what `widenet check` said there.
      workers: how many processes run the tests, with a core each.
      doing: what it is doing now.
      is_stopped: whether nothing more is begun.
    """

    machine: Machine
    folder: Path
    cores: Cores
    tests: str = NOT_TRIED
    threads: str = NOT_TRIED
    controls: str = NOT_TRIED
    rows: list[dict[str, Any]] = field(default_factory=list)
    workers: int = 1
    doing: list[str] = field(default_factory=list)
    is_stopped: bool = False

    def run(self, part: str, which: Sequence[str]) -> "Trial":
        """One of tests, threads, checks and controls."""
        if part == "checks":
            self.rows = self._once("check" + "".join(which), self.machine.cores, lambda own: self._checked(which, own))
        elif part == "controls":
            self.controls = self._once("controls", 1, self._controlled)
        elif part == "threads":
            if self.machine.cores > 1:
                self.threads = self._once("threads", self.machine.cores, self._threaded)
        else:
            self.tests = self._once("tests", self.workers, self._tested)
        return self

    def _once(self, what: str, count: int, do: Callable[[Sequence[int]], Any]) -> Any:
        """Does it on its own cores, unless it was done with the same sources and did not fail."""
        kept, stamp = self.folder / f"{what}.json", f"{stamp_of_sources()}, {min(count, self.cores.total)} cores"
        if kept.exists() and (found := json.loads(kept.read_text(encoding="utf-8")))["stamp"] == stamp:
            return found["result"]
        with self.cores.lent(count) as own:
            if self.is_stopped:
                raise InterruptedError(f"{self.machine.name}: {what} was not begun")
            start = time.monotonic()
            self.doing.append(what)
            result = do(own)
            self.doing.remove(what)
            if self.is_stopped:  # Ctrl-C ended the process too: how it ended says nothing
                raise InterruptedError(f"{self.machine.name}: {what} was interrupted")
        words = f": {result}" if isinstance(result, str) else ""
        tell(f"{self.machine.name}: {what}{words}, {time.monotonic() - start:.0f} s")
        if "FAILED" not in str(words):
            kept.write_text(json.dumps({"stamp": stamp, "result": result}), encoding="utf-8")
        return result

    def _tested(self, own: Sequence[int]) -> str:
        """Runs the numeric tests, one process per core: tests/conftest.py gives each its own."""
        return self._ended("tests", NUMERIC_TESTS, own, ("-n", str(len(own))) if len(own) > 1 else ())

    def _threaded(self, own: Sequence[int]) -> str:
        """Runs tests in one process, whose libraries have all these cores."""
        return self._ended("threads", THREADED_TESTS, own, ("-n", "0"))

    def _ended(self, name: str, tests: Sequence[str], own: Sequence[int], options: Sequence[str]) -> str:
        """Runs tests, and says how they ended."""
        log = self.folder / f"{name}.log"
        options = ("-p", "no:cacheprovider", "--tb=short", *options)
        done = self.machine.run("-m", "pytest", *tests, *options, folder=self.folder, cores=own, log=log)
        *_, last = log.read_text(encoding="utf-8").splitlines() or [""]
        return last.partition(" in ")[0] if done.returncode == 0 else f"FAILED: {last}; see {log.relative_to(ROOT)}"

    def _controlled(self, own: Sequence[int]) -> str:
        """Runs the tests of weakened programs; each of them must fail."""
        from tools.weakened import WEAKENED

        caught = 0
        for name, (_, tests) in WEAKENED.items():
            options = ("-p", PLUGIN, "-p", "no:cacheprovider", "--weakened", name)
            done = self.machine.run("-m", "pytest", tests, "-x", *options, folder=self.folder, cores=own)
            caught += done.returncode == 1  # of pytest: tests ran, and one failed
        of_all = f"{caught} of {len(WEAKENED)} caught"
        return of_all if caught == len(WEAKENED) else f"{of_all}: FAILED"

    def _checked(self, which: Sequence[str], own: Sequence[int]) -> list[dict[str, Any]]:
        """The rows of `widenet check` there."""
        program = "import sys; from widenet.cli import main; sys.argv[0] = 'widenet'; main()"
        options = ("check", *which, "--json", "--jobs", str(len(own)))
        done = self.machine.run("-c", program, *options, folder=self.folder, cores=own)
        if done.returncode not in (0, 1, 3) or not done.stdout:  # a crash exits with 3 too, and prints nothing
            raise SystemExit(f"{self.machine.name}: widenet check ended with {done.returncode}\n{done.stderr[-4000:]}")
        return json.loads(done.stdout)

    def progress(self) -> str:
        """What it is doing now, and how far it is."""
        return f"{self.machine.name} {' and '.join(map(self._far, self.doing))}" if self.doing else ""

    def _far(self, part: str) -> str:
        log = self.folder / f"{part}.log"
        shares = re.findall(r"\[ *(\d+)%\]", log.read_text(encoding="utf-8")) if log.exists() else []
        return f"{part} {shares[-1]} %" if shares else part


def stamp_of_sources() -> str:
    """A digest of everything that tests and checks depend on: files, Python and the installed libraries."""
    folders = ("src", "benchmarks", "tests", "tools", "examples", "docs/images")  # tests read kept numbers there
    files = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    kept = sorted(path for path in files if path.is_file() and "__pycache__" not in path.parts)
    digest = hashlib.sha256("\n".join(installed()).encode())
    for path in (*kept, ROOT / "pyproject.toml", ROOT / "constraints.txt"):
        digest.update(str(path.relative_to(ROOT)).encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def installed() -> list[str]:
    """Python and every library, with their versions."""
    found = {f"{each.metadata['Name']} {each.version}" for each in importlib.metadata.distributions()}
    return [f"Python {platform.python_version()}", *sorted(found)]


def row(trial: Trial, differences: Differences | None, only: str | None = None) -> list[str]:
    """A machine in the table of the page."""
    machine, total = trial.machine, trial.cores.total
    cores = f"{total} of {machine.cores}" if total < machine.cores else str(machine.cores)
    noted = f"{tree()} ({only} alone)" if only else tree()
    dot = "Eigen" if machine.eigen else "YNNPACK"
    checks = NOT_TRIED if differences is None else differences.in_words()
    blas, without = machine.blas or "its own", ", ".join(machine.without) or "–"
    kind = [machine.name, machine.xla, dot, blas, without, cores, platform.python_version()]
    threads = "–" if machine.cores == 1 else trial.threads
    return [*kind, trial.tests, threads, trial.controls, checks, noted]


def main() -> int:
    """The answer is 1 if anything differs or a test does not do what it should, 2 if this computer has no switches."""
    parser = argparse.ArgumentParser(prog="python -m tools.machines", description=(__doc__ or "").split("\n")[0])
    known = {each.name: each for each in possible()}
    parser.add_argument("--machine", choices=known or None, action="append", help="only this one; may be given again")
    parser.add_argument("--only", choices=PARTS, help="only this")
    parser.add_argument("--paper", help="only the claims of this paper")
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    if not known:
        tell(NOTHING)
        return 2
    which = ("--paper", chosen.paper) if chosen.paper else ("--all",)
    cores = Cores(sorted(os.sched_getaffinity(0))[: max(chosen.jobs, max(each.cores for each in known.values()))])
    base = [Trial(HERE, _folder(HERE), cores)] if chosen.only in (None, "checks") else []
    names = chosen.machine or list(known)
    workers = max(1, cores.total // len(names))
    trials = [Trial(known[name], _folder(known[name]), cores, workers=workers) for name in names]
    try:
        _run([*base, *trials], chosen.only, which)
    except KeyboardInterrupt:
        tell("interrupted; what was finished is kept, and the same command goes on from there")
        return 130
    rows, is_good = [], True
    for trial in trials:
        differences = compare(base[0].rows, trial.rows) if base else None
        if differences is not None:
            tell("\n  ".join([f"{trial.machine.name}: check: {differences.in_words()}", *differences.lines()]))
        rows.append(row(trial, differences, chosen.only))
        is_good &= not any("FAILED" in words for words in (trial.tests, trial.threads, trial.controls))
        is_good &= not (differences and differences.is_bad)
    if not chosen.paper:
        update(PAGE, MARKER, COLUMNS, rows, keys=1)
    print("\n".join(" | ".join(each) for each in rows))
    return 0 if is_good else 1


def _run(trials: Sequence[Trial], only: str | None, which: Sequence[str]) -> None:
    """All of them, side by side; of this computer only what the others are compared with."""
    start, told = time.monotonic(), ""
    parts = [
        (each, part)
        for part in PARTS
        for each in trials
        if only in (None, part) and (each.machine is not HERE or part == "checks")
    ]
    with concurrent.futures.ThreadPoolExecutor(len(parts)) as pool:
        waiting = {pool.submit(each.run, part, which) for each, part in parts}
        try:
            while waiting:
                done, waiting = concurrent.futures.wait(waiting, PAUSE, concurrent.futures.FIRST_EXCEPTION)
                for each in done:
                    each.result()
                now = ", ".join(filter(None, (each.progress() for each in trials)))
                if now != told:
                    tell(f"{(time.monotonic() - start) / 60:.0f} min: {now}")
                told = now
        except BaseException:  # the pool waits for its threads: they must not begin anything else
            for trial in trials:
                trial.is_stopped = True
            raise


def _folder(machine: Machine) -> Path:
    folder = BUILD / machine.name.replace(" ", "-")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def tell(words: str) -> None:
    """What is going on, on stderr."""
    print(words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
