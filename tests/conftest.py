"""Shared by all tests: a private store, compiled programs that are kept, little memory, and no deadlines."""

import ctypes
import gc
import os
import resource
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis.internal.conjecture import providers

from . import shapes

# No deadline and no complaint about slow draws: neither may depend on how busy the machine is.
hypothesis.settings.register_profile(
    "widenet",
    deadline=None,
    derandomize=True,
    max_examples=25,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("widenet")
# Hypothesis also draws constants of the modules that happen to be loaded, which depends on what a worker ran before.
providers.is_local_module_file = lambda path: False  # pyright: ignore[reportPrivateImportUsage]

# Workers share the processors already, and threads that wait for each other took ten times as long as small matrices.
# Set before SciPy loads; workers inherit it, and have it before NumPy loads too.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Most of the time of many tests is compilation. Set before JAX loads, and for the processes that tests start.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(__file__).parents[1] / ".pytest_cache" / "jax"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.2")
# Programs of toy size are compiled in a quarter of the time when nobody optimizes them, in half of it by the older code
# generator, and a little sooner in one piece; an XLA that no longer knows these flags would end the process. What
# depends on the optimizer, the same bits in every batch, is tested with it too: tests/training/test_as_compiled.py.
# The flags of the machine that is tried (tools/machines.py) stand behind them, and alone where the optimizer is wanted.
# Whoever is started by a test has the flags it was given: conftest.py says nothing more in it.
started_by_a_test = "MACHINE_XLA_FLAGS" in os.environ
machine_flags = os.environ.setdefault("MACHINE_XLA_FLAGS", os.environ.get("XLA_FLAGS", ""))
if version("jaxlib").startswith("0.10.") and not started_by_a_test:
    flags = ("use_fusion_emitters=false", "parallel_codegen_split_count=1")
    unoptimized = " ".join([*(f"--xla_cpu_{flag}" for flag in flags), "--xla_backend_optimization_level=0"])
    os.environ["XLA_FLAGS"] = f"{unoptimized} {machine_flags}".strip()

# Workers side by side have a core each: otherwise every one of them divides its toys among all cores, and they wait for
# each other. What is divided among several is tested by name.
if (worker := os.environ.get("PYTEST_XDIST_WORKER")) and hasattr(os, "sched_setaffinity"):
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[int(worker.removeprefix("gw")) % len(cores)]})


def pytest_configure(config: pytest.Config) -> None:
    """JAX writes its cache in place: whoever meets half a program compiles it, and is warned."""
    config.addinivalue_line("filterwarnings", "ignore:Error reading persistent compilation cache entry")


def pytest_collection_finish() -> None:
    """What was loaded stays: without this the garbage collector looks at all of it again and again."""
    gc.collect()
    gc.freeze()


MUCH_MEMORY = 1.9e9
"""Bytes in use from which a worker forgets its compiled programs before the next file."""
PEAKS = pytest.StashKey[list[float]]()


@pytest.fixture(scope="module", autouse=True)
def little_memory() -> Iterator[None]:
    """Programs of other files are compiled once and held for ever: without this a worker grows to six gigabytes."""
    yield
    if "jax" in sys.modules and in_use() > MUCH_MEMORY:
        import jax

        jax.clear_caches()
        gc.collect()
        if sys.platform == "linux":
            ctypes.CDLL(None).malloc_trim(0)  # freed memory goes back to the system


def in_use() -> float:
    """Bytes of memory that this process has now; the most it ever had where the system does not say."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return peak()
    return int(statm.read_text().split()[1]) * resource.getpagesize()


def peak() -> float:
    """The most bytes of memory that this process had at any time."""
    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker tells how much memory it took."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["peak"] = peak()  # pyright: ignore[reportAttributeAccessIssue]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """A worker has ended."""
    node.config.stash.setdefault(PEAKS, []).append(getattr(node, "workeroutput", {}).get("peak", float("nan")))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """What a worker needs, at the end of every run."""
    found = config.stash.get(PEAKS, [peak()])
    terminalreporter.write_line(f"memory: {max(found) / 1e9:.1f} GB in the largest worker")


@pytest.fixture(autouse=True)
def private_store(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's own results."""
    monkeypatch.setenv("WIDENET_STORE", str(tmp_path_factory.mktemp("store")))


@pytest.fixture(autouse=True)
def checked_shapes() -> None:
    """What was trusted in the test before is checked again."""
    shapes.check_again()
