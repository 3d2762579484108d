"""python -m tools.machines: are verdicts and numbers the same on other processors?

One computer stands in for several: XLA, OpenBLAS and NumPy are each told to do without the newer instructions of its
processor, and everything runs on one core or on two. For each such machine this command
  - runs the numeric tests,
  - runs them again with a term dropped or in float32, which must fail there too,
  - runs `widenet check --all` and compares verdicts, hypotheses, parts, counts and numbers with those of this computer.
It writes the table of docs/machines.md. Results of `check` are kept in build/machines, so an interrupted command goes
on where it stopped.

    python -m tools.machines                      everything (about an hour and a half on two cores)
    python -m tools.machines --machine sse        one machine alone
    python -m tools.machines --only checks        tests, controls or checks alone
    python -m tools.machines --paper li2018       the claims of one paper
"""

import argparse
import functools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.comparison import Differences, compare
from tools.kept_table import NOT_TRIED, update

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
    "numeric tests",
    "controls",
    "check --all",
)
NUMERIC_TESTS = ("tests/claims", "tests/diagnostics", "tests/networks", "tests/papers", "tests/training")
PLUGIN = "tools.weakened"
EIGEN = "--xla_cpu_experimental_ynn_fusion_type="
"""XLA then multiplies matrices with Eigen. YNNPACK picks its kernels by the processor, whatever XLA is told."""
ON_CORES = """
import os, sys
os.sched_setaffinity(0, [int(core) for core in sys.argv[1].split(",")])
os.execv(sys.argv[2], sys.argv[2:])
"""
"""A program that becomes another one, which runs on some cores alone."""
OLDEST_TO_NEWEST = ("SSE4_2", "AVX", "AVX2", "AVX512")


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

    def run(self, *arguments: str, folder: Path, quiet: bool = False) -> subprocess.CompletedProcess[str]:
        """A Python program on this machine."""
        cores = ",".join(map(str, sorted(os.sched_getaffinity(0))[: self.cores]))
        return subprocess.run(
            [sys.executable, "-c", ON_CORES, cores, sys.executable, *arguments],
            cwd=ROOT,
            env=self.environment(folder),
            text=True,
            stdout=subprocess.PIPE if quiet else None,
            stderr=subprocess.PIPE if quiet else None,
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


def features() -> set[str]:
    """What NumPy calls the instructions of this processor, and what it can be told to do without."""
    from numpy._core._multiarray_umath import (  # pyright: ignore[reportAttributeAccessIssue]
        __cpu_dispatch__,
        __cpu_features__,
    )

    return {name for name in __cpu_dispatch__ if __cpu_features__.get(name)}


def possible() -> list[Machine]:
    """Those that this processor can stand in for: it can leave instructions out, not add them."""
    found = features()
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


def tested(machine: Machine, folder: Path, jobs: int) -> str:
    """Runs the numeric tests."""
    workers = () if machine.cores == 1 else ("-n", str(jobs))
    done = machine.run("-m", "pytest", *NUMERIC_TESTS, "-p", "no:cacheprovider", *workers, folder=folder)
    return "passed" if done.returncode == 0 else "FAILED"


def controlled(machine: Machine, folder: Path) -> str:
    """Runs the tests of weakened programs; each of them must fail."""
    from tools.weakened import WEAKENED

    caught = 0
    for name, (_, tests) in WEAKENED.items():
        options = ("-p", PLUGIN, "-p", "no:cacheprovider", "--weakened", name)
        done = machine.run("-m", "pytest", tests, "-x", *options, folder=folder, quiet=True)
        caught += done.returncode == 1  # of pytest: tests ran, and one failed
    return f"{caught} of {len(WEAKENED)} caught" if caught == len(WEAKENED) else f"{caught} of {len(WEAKENED)}: FAILED"


def checked(machine: Machine, folder: Path, which: Sequence[str], jobs: int) -> list[dict[str, Any]]:
    """The rows of `widenet check` there, kept for the next time."""
    kept = folder / ("-".join(which).strip("-") + ".json")
    program = "import sys; from widenet.cli import main; sys.argv[0] = 'widenet'; main()"
    done = machine.run(
        "-c", program, "check", *which, "--json", "--jobs", str(min(jobs, machine.cores)), folder=folder, quiet=True
    )
    if done.returncode not in (0, 1, 3):
        raise SystemExit(f"{machine.name}: widenet check ended with {done.returncode}\n{done.stderr[-4000:]}")
    kept.write_text(done.stdout, encoding="utf-8")
    return json.loads(done.stdout)


def row(machine: Machine, tests: str, controls: str, differences: Differences | None) -> list[str]:
    """A machine in the table of the page."""
    dot = "Eigen" if machine.eigen else "YNNPACK"
    checks = NOT_TRIED if differences is None else differences.in_words()
    blas, without = machine.blas or "its own", ", ".join(machine.without) or "–"
    return [machine.name, machine.xla, dot, blas, without, str(machine.cores), tests, controls, checks]


def main() -> int:
    """The answer is 1 if anything differs, or a test does not do what it should."""
    parser = argparse.ArgumentParser(prog="python -m tools.machines", description=(__doc__ or "").split("\n")[0])
    known = {each.name: each for each in possible()}
    parser.add_argument("--machine", choices=known, action="append", help="only this one; may be given again")
    parser.add_argument("--only", choices=("tests", "controls", "checks"), help="only this")
    parser.add_argument("--paper", help="only the claims of this paper")
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    which = ("--paper", chosen.paper) if chosen.paper else ("--all",)
    BUILD.mkdir(parents=True, exist_ok=True)
    base = checked(HERE, _folder(HERE), which, chosen.jobs) if chosen.only in (None, "checks") else []
    rows, is_good = [], True
    for name in chosen.machine or known:
        machine, folder = known[name], _folder(known[name])
        tell(f"{name}: XLA_FLAGS={machine.flags}")
        tests = controls = NOT_TRIED
        if chosen.only in (None, "tests"):
            tests = _timed("tests", functools.partial(tested, machine, folder, chosen.jobs))
        if chosen.only in (None, "controls"):
            controls = _timed("controls", functools.partial(controlled, machine, folder))
        differences = None
        if base:
            differences = compare(base, checked(machine, folder, which, chosen.jobs))
            tell("\n  ".join([f"checks: {differences.in_words()}", *differences.lines()]))
        rows.append(row(machine, tests, controls, differences))
        is_good &= "FAILED" not in f"{tests} {controls}" and not (differences and differences.is_bad)
    if not chosen.paper:
        update(PAGE, MARKER, COLUMNS, rows, keys=1)
    print("\n".join(" | ".join(each) for each in rows))
    return 0 if is_good else 1


def _folder(machine: Machine) -> Path:
    folder = BUILD / machine.name.replace(" ", "-")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _timed(what: str, do: Callable[[], str]) -> str:
    start = time.monotonic()
    words = do()
    tell(f"{what}: {words}, {time.monotonic() - start:.0f} s")
    return words


def tell(words: str) -> None:
    """What is going on, on stderr."""
    print(words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
