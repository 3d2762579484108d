"""The quick way to try a mutant: the tests are collected once, and each mutant is a fork in which one function has
other code.

Loading a weakened module, those that import it and the tests anew takes longer than most tests. None of it is needed
where the edit is inside a function that nobody has called while loading. All other mutants are left to `sessions`.
"""

import contextlib
import gc
import importlib
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest

from tools.mutants.baseline import is_pinned
from tools.mutants.mutation import MODULE, Mutant
from tools.mutants.sessions import OPTIONS, Watch, in_fork
from tools.mutants.targets import ROOT, module_of, path_of


class Calls:
    """Which functions of these files are called while something is loaded."""

    def __init__(self, files: Sequence[Path]) -> None:
        """Nobody yet."""
        self.files = tuple(files)
        self._files = {str(path) for path in files}
        self.entered: set[tuple[str, str]] = set()

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        """Within this."""
        sys.settrace(self._enter)
        try:
            yield
        finally:
            sys.settrace(None)

    def _enter(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if code.co_filename in self._files:
            self.entered.add((code.co_filename, code.co_qualname.split(".<locals>")[0]))


class Collected:
    """A pytest plugin that, in place of running the tests, hands them to whoever tries mutants."""

    def __init__(self, calls: Calls, hunt: Callable[["Collected"], None], most_seconds: float) -> None:
        """`calls` were noted when the package was loaded; after so many seconds no other test is begun."""
        self._calls, self._hunt, self._most_seconds = calls, hunt, most_seconds
        self._functions: dict[tuple[str, str], list[FunctionType]] = {}
        self._items: dict[str, pytest.Item] = {}

    def collect(self, files: Sequence[Path]) -> None:
        """Collect the tests of these files, and hunt."""
        names = [str(path.relative_to(ROOT)) for path in files]
        options = [each for each in OPTIONS if each != "-x"]
        with self._calls.noted():
            pytest.main([*options, "-s", "-o", "addopts=", *names], plugins=[self])

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """All tests are there."""
        from jax._src import xla_bridge

        for path in self._calls.files:  # some are loaded by the first test that needs them
            importlib.import_module(module_of(path))
        sys.settrace(None)
        if xla_bridge._backends:
            print("JAX has computed something while the tests were collected: no quick way", flush=True)
            return True
        self._items = {item.nodeid: item for item in session.items}
        gc.unfreeze()  # the tests' conftest has frozen what was loaded, and the collector does not show that
        for each in gc.get_objects():
            if isinstance(each, FunctionType):
                key = each.__code__.co_filename, each.__code__.co_qualname
                self._functions.setdefault(key, []).append(each)
        gc.collect()
        gc.freeze()  # or every child would copy what the collector touches
        self._hunt(self)
        return True

    def can_try(self, mutant: Mutant, tests: Sequence[str]) -> bool:
        """Whether the edit is in the body of a function that is called by tests alone."""
        path = str(path_of(mutant.module))
        if mutant.function == MODULE or (path, mutant.function) in self._calls.entered:
            return False
        if any(node not in self._items for node in tests):
            return False
        inner = f"{mutant.function}.<locals>"
        is_closed = not any(where == path and name.startswith(inner) for where, name in self._functions)
        return is_closed and self._exchanged(mutant) is not None

    def try_one(self, mutant: Mutant, tests: Sequence[str], limit: float) -> dict[str, Any]:
        """As `in_child`."""
        return in_fork(lambda folder: self._run(mutant, tests, limit, folder))

    def _exchanged(self, mutant: Mutant) -> tuple[list[FunctionType], CodeType] | None:
        path = path_of(mutant.module)
        loader: Any = sys.modules[mutant.module].__loader__
        whole = loader.source_to_code(mutant.applied(path.read_bytes()), str(path))
        codes = [each for each in functions_in(whole) if each.co_qualname == mutant.function]
        functions = self._functions.get((str(path), mutant.function), [])
        if len(codes) != 1 or not functions or any(not does_other(each.__code__, codes[0]) for each in functions):
            return None
        return functions, codes[0]

    def _run(self, mutant: Mutant, tests: Sequence[str], limit: float, folder: Path) -> dict[str, Any]:
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 6))
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        began = time.process_time()
        functions, code = self._exchanged(mutant) or ([], None)
        for each in functions:
            each.__code__ = code  # type: ignore[assignment]
        items, watch = [self._items[node] for node in tests], Watch()
        config = items[0].config
        config.pluginmanager.register(watch)
        config._tmp_path_factory._basetemp = folder  # type: ignore[attr-defined]
        while items:
            item = items.pop(0)
            config.hook.pytest_runtest_protocol(item=item, nextitem=items[0] if items else None)
            if not watch.tests[item.nodeid]["passed"]:
                return {"ended": 1, "tests": watch.tests}
            # A test that found its programs compiled took less time then than it does alone.
            if time.process_time() - began > self._most_seconds:
                items = [each for each in items if is_pinned(each.nodeid)]
                item.session._setupstate.teardown_exact(items[0] if items else None)
        return {"ended": 0, "tests": watch.tests}


def functions_in(code: CodeType) -> Iterator[CodeType]:
    """The code of every function and class inside, at any depth."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from functions_in(each)


def does_other(old: CodeType, new: CodeType) -> bool:
    """Whether a function may have the other code, and would do something else with it."""
    return old.co_freevars == new.co_freevars and _does(old) != _does(new)


def _does(code: CodeType) -> tuple[Any, ...]:
    """The code without its place in the file."""
    consts = [_does(each) if isinstance(each, CodeType) else (type(each), repr(each)) for each in code.co_consts]
    return code.co_code, code.co_names, code.co_varnames, tuple(consts)
