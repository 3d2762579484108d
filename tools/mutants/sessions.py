"""Tests run in a child of a process that has loaded everything but what is weakened.

Loading JAX and the package takes longer than most tests. So they are loaded once, nothing is computed, and each mutant
is a fork: the child forgets the modules that import the weakened one, loads it from the edited source, and runs pytest.
"""

import contextlib
import functools
import importlib
import importlib.machinery
import io
import json
import math
import os
import pkgutil
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import pytest

from tools.mutants.mutation import Mutant
from tools.mutants.targets import ROOT, path_of

OPTIONS = (
    "-x",
    "-q",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:xdist",
    "--no-header",
    "--tb=no",
    "--import-mode=importlib",
    "-W",
    "ignore::pytest.PytestAssertRewriteWarning",
)
PATIENCE, FACTOR = 15, 8
"""A mutant may take this many seconds of processor time, and this many times what its tests take without it."""


def load(paper: str | None) -> None:
    """Everything that mutants share; no computation, so that forking is safe.

    Shapes and types are not checked: beartype keeps annotations by their words, and would take an object of a module
    that was loaded anew for one of the wrong type. So a mutant that only a type check betrays counts as survived.
    """
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(ROOT / "build" / "mutants" / "jax"))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.2")
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]
    sys.dont_write_bytecode = True
    for name in ("widenet.training", "widenet.diagnostics", "widenet.data", "widenet.run"):
        importlib.import_module(name)
    # Trainings load the first two when they need them: a child would do so again and again.
    for name in ("diffrax", "optax", "hypothesis", "scipy.stats", "scipy.optimize", "sklearn", "xarray"):
        importlib.import_module(name)
    if paper is not None:
        for part in ("runs", "claims"):
            package = importlib.import_module(f"widenet.papers.{paper}.{part}")
            for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
                importlib.import_module(found.name)
    from jax._src import xla_bridge

    if xla_bridge._backends:
        raise SystemExit("JAX has computed something while loading; forks of it would hang.")
    from widenet.claims.base import Claim

    Claim.__call__ = _told(Claim.__call__)  # type: ignore[method-assign]


EVIDENCE: list[Any] = []
"""What the claims said since a test began."""


def _told(call: Any) -> Any:
    def judged(self: Any, *runs: Any, **constants: Any) -> Any:
        found = call(self, *runs, **constants)
        parts = [(part.name, part.kept, part.tightness) for part in found.parts]
        supposed = [(each.key, each.met, each.slack) for each in found.hypotheses]
        EVIDENCE.append([self.id, parts, supposed])
        return found

    return judged


@dataclass(eq=False)
class Watch:
    """A pytest plugin: how each test ended, how long it took, what claims said in it, which functions it entered."""

    traced: tuple[str, ...] = ()
    spared: frozenset[str] = frozenset()
    most_seconds: float = math.inf
    tests: dict[str, dict[str, Any]] = field(default_factory=dict)
    entered: set[tuple[str, str]] = field(default_factory=set)
    unloaded: str = ""
    is_enough: bool = False
    _began: float = field(default_factory=time.process_time)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file of tests that cannot be loaded."""
        if report.failed:
            errors = re.findall(r"\b\w+(?:Error|Exception|Exit|Violation)\b", report.longreprtext)
            self.unloaded = self.unloaded or (errors[-1] if errors else "Error")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Without those that are not asked."""
        items[:] = [each for each in items if each.nodeid not in self.spared]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        """Around one test."""
        EVIDENCE.clear()
        self.entered.clear()
        before = time.process_time()
        if self.traced:
            sys.settrace(self._enter)
        yield
        sys.settrace(None)
        found = self.tests.setdefault(item.nodeid, {"passed": True})
        found |= {"seconds": time.process_time() - before, "evidence": list(EVIDENCE), "enters": sorted(self.entered)}
        if time.process_time() - self._began > self.most_seconds and found["passed"]:
            self.is_enough, item.session.shouldstop = True, "enough"

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Any:
        """Fixtures are made in whichever test comes first, for all that follow."""
        yield
        self.tests.setdefault(item.nodeid, {"passed": True})["prepares"] = sorted(self.entered)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One phase of a test."""
        found = self.tests.setdefault(report.nodeid, {"passed": True})
        found["passed"] &= not report.failed
        found["skipped"] = found.get("skipped", False) or report.skipped

    def _enter(self, frame: FrameType, event: str, _: Any) -> None:
        path = frame.f_code.co_filename
        if path.startswith(self.traced):
            where = str(Path(path).relative_to(ROOT))
            self.entered.add((where, frame.f_code.co_qualname.split(".<locals>")[0]))


def forget(modules: set[str]) -> None:
    """The modules that import one of these, and those themselves, are loaded anew."""
    gone = set(modules)
    while True:
        more = {
            name
            for name, module in sys.modules.items()
            if name.startswith(
                (
                    "widenet.papers.",
                    "widenet.training",
                    "widenet.diagnostics",
                    "widenet.claims",
                    "widenet.run",
                    "tests.",
                )
            )
            and name not in gone
            and _imports(module, gone)
        }
        if not more:
            break
        gone |= more
    for name in gone:
        sys.modules.pop(name, None)
        parent, _, last = name.rpartition(".")
        if parent in sys.modules and hasattr(sys.modules[parent], last):
            with contextlib.suppress(AttributeError):
                delattr(sys.modules[parent], last)


def _imports(module: ModuleType | None, gone: set[str]) -> bool:
    return any(_comes_from(value, gone) for value in (vars(module).values() if module is not None else ()))


def _comes_from(value: Any, gone: set[str]) -> bool:
    if isinstance(value, ModuleType):
        return value.__name__ in gone
    if isinstance(value, list | tuple):  # hypotheses that several claims share
        return any(_comes_from(each, gone) for each in value)
    return bool(gone & {getattr(value, "__module__", None), _made_in(value)})


def _made_in(value: Any) -> str | None:
    """The module of the judge of a claim, of a hypothesis, or of a function with some arguments given."""
    if type(value).__name__ not in ("partial", "Claim", "Given"):
        return None
    function = getattr(value, "judge", getattr(value, "measure", value))
    while isinstance(function, functools.partial):
        function = function.func
    return getattr(function, "__module__", None)


def weaken(mutant: Mutant) -> None:
    """From here on the module is loaded from the edited source."""
    path = path_of(mutant.module)
    edited = mutant.applied(path.read_bytes())
    original = importlib.machinery.SourceFileLoader.get_data

    def get_data(self: Any, asked: str) -> bytes:
        if asked == str(path):
            return edited
        if Path(asked).suffix == ".pyc" and Path(asked).name.split(".")[0] == path.stem and str(path.parent) in asked:
            raise OSError("the compiled file is that of the sound module")
        return original(self, asked)

    importlib.machinery.SourceFileLoader.get_data = get_data  # type: ignore[method-assign]
    forget({mutant.module})


def in_child(
    tests: Sequence[str],
    *,
    mutant: Mutant | None = None,
    traced: tuple[str, ...] = (),
    limit: float = 600.0,
    spared: Collection[str] = (),
    most_seconds: float = math.inf,
) -> dict[str, Any]:
    """Run these tests in a fork, but those that are spared: {"ended": …, "tests": {node: …}}.

    `ended` is pytest's exit code, or the name of the signal that ended the child. After `most_seconds` no other test
    is begun.
    """
    return in_fork(lambda _: _run(tests, mutant, Watch(traced, frozenset(spared), most_seconds), limit))


def in_fork(work: Callable[[Path], dict[str, Any]]) -> dict[str, Any]:
    """What `work` finds in a child that has a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "found.json"
        child = os.fork()
        if child == 0:
            code = 1
            try:
                path.write_text(json.dumps(work(Path(folder))))
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            return {"ended": signal.Signals(os.WTERMSIG(status)).name, "tests": {}}
        return json.loads(path.read_text()) if path.exists() else {"ended": "died", "tests": {}}


def _run(tests: Sequence[str], mutant: Mutant | None, watch: Watch, limit: float) -> dict[str, Any]:
    hard = int(limit) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (hard, hard + 5))
    quiet = io.StringIO()
    with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
        try:
            if mutant is not None:
                weaken(mutant)
            options = [each for each in OPTIONS if mutant is not None or each != "-x"]
            code = int(pytest.main([*options, "-o", "addopts=", *tests], plugins=[watch]))
        except Exception as error:
            return {"ended": f"does not load: {type(error).__name__}", "tests": {}}
    if watch.unloaded and mutant is not None:
        return {"ended": f"does not load: {watch.unloaded}", "tests": watch.tests}
    if watch.is_enough and code == pytest.ExitCode.INTERRUPTED:
        code = 0
    return {"ended": code, "tests": watch.tests, "said": quiet.getvalue()[-600:]}
