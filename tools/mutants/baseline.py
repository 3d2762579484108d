"""What the tests do while nothing is weakened: how long each takes, what it enters, what claims say in it."""

import concurrent.futures
import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tools.mutants.mutation import MODULE, Mutant
from tools.mutants.sessions import in_child
from tools.mutants.targets import INDEX, LIMITS, PACKAGE, ROOT, Target, is_named_after, path_of

Chosen = tuple[int, bool, float, str, dict[str, Any]]
"""(0 of its own file, 1 of another, 2 the index; not seen to enter the function itself, seconds, name, test)."""


class Baseline:
    """The tests of a target by file, and per test: seconds, the functions it enters, and evidence."""

    def __init__(self, target: Target, folder: Path) -> None:
        """Read what is known from earlier."""
        self.target, self._path = target, folder / f"{target.name}-tests.json"
        self._files: dict[str, dict[str, Any]] = json.loads(self._path.read_text()) if self._path.exists() else {}
        self._known: dict[tuple[str, str], list[Chosen]] = {}

    def refresh(self, only: set[str] | None = None, jobs: int = 1) -> None:
        """Run the files of tests that have changed, so many at a time; `only` names those that are needed."""
        changed = {}
        for path in self.target.test_files():
            name, digest = str(path.relative_to(ROOT)), self._digest(path)
            is_asked = not only or path.name in {*only, LIMITS, INDEX.name}
            if is_asked and self._files.get(name, {}).get("digest") != digest:
                changed[name] = digest
        traced = tuple(str(each) for each in self.target.files)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            ran = pool.map(lambda name: in_child([name], traced=traced, limit=3600), changed)
            for (name, digest), found in zip(changed.items(), ran, strict=True):
                print(f"without mutants: {name}", flush=True)
                if found["ended"] not in (0, 1, 5):
                    raise SystemExit(f"{name} does not run: {found['ended']} {found.get('said', '')}")
                self._files[name] = {"digest": digest, "tests": _usable(found["tests"])}
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._path.write_text(json.dumps(self._files))
        self._known.clear()
        present = {str(path.relative_to(ROOT)) for path in self.target.test_files()}
        self._files = {name: found for name, found in self._files.items() if name in present}

    def noticing(self, mutant: Mutant, most_seconds: float) -> dict[str, dict[str, Any]]:
        """The tests that enter the weakened function: those of the module's own file first, then those that were seen
        to enter it themselves, the quickest first."""
        tests, spent = {}, 0.0
        for _, _, seconds, node, test in self._entering(mutant.module, mutant.function):
            if spent and spent + seconds > most_seconds and not is_pinned(node):
                continue
            tests[node], spent = test, spent + seconds
        return tests

    def _entering(self, module: str, function: str) -> list[Chosen]:
        """In the order in which they are tried; found once per function."""
        if (known := self._known.get((module, function))) is not None:
            return known
        path = str(path_of(module).relative_to(ROOT))
        chosen = []
        for name, found in self._files.items():
            tests = found["tests"]
            entering = {node for node, test in tests.items() if _enters(test["enters"], path, function)}
            prepared = {node for node, test in tests.items() if _enters(test.get("shares", ()), path, function)}
            # A test may read a constant of the module and enter none of its functions.
            reads = function == MODULE and self.target.is_own(name, module)
            those = tests if reads or (self.target.by_file and (entering or prepared)) else entering | prepared
            chosen += [
                (self._rank(name, module), node not in entering, test["seconds"], node, test)
                for node, test in tests.items()
                if node in those
            ]
        self._known[module, function] = sorted(chosen, key=lambda each: each[:4])
        return self._known[module, function]

    def _rank(self, name: str, module: str) -> int:
        if Path(name).name == INDEX.name:
            return 2
        # What was written by hand may be noticed in any file: the quickest test comes first.
        return 0 if self.target.is_written or self.target.is_own(name, module) else 1

    def others(self, chosen: Iterable[str]) -> set[str]:
        """All tests that are known, but these."""
        return {node for found in self._files.values() for node in found["tests"]} - set(chosen)

    def digest(self, mutant: Mutant) -> str:
        """Changes when the module or the tests that should notice do."""
        tests, target = self.target.test_files(), self.target
        # What a page must say is stated in whichever file: not only in those named after the module.
        own = (path for path in tests if target.is_written or target.is_own(path.name, mutant.module))
        files = [path_of(mutant.module), *own]
        return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]

    def failing(self) -> list[str]:
        """Tests that fail anyway, which notice nothing."""
        return [node for found in self._files.values() for node, test in found["tests"].items() if not test["passed"]]

    def _digest(self, path: Path) -> str:
        """Of a file of tests, of what it shares with others, and of the module it is named after."""
        helpers = [each for each in sorted(self.target.tests.rglob("*.py")) if not each.name.startswith("test_")]
        stem = path.stem.removeprefix("test_")
        modules = [each for each in self.target.files if is_named_after(stem, each.stem) or not self.target.is_paper]
        shared = [
            ROOT / "tests" / "controls.py",
            *(PACKAGE / "claims" / name for name in ("sides.py", "conclusion.py")),
        ]
        parts = [path, *(shared if self.target.is_paper else []), *helpers, *modules]
        return hashlib.sha256(b"".join(each.read_bytes() for each in parts)).hexdigest()[:12]


def is_pinned(node: str) -> bool:
    """Whether a test compares what is declared, which takes no time: such a test is always tried."""
    return Path(node.partition("::")[0]).name in (LIMITS, INDEX.name)


def _enters(entered: Iterable[Sequence[str]], path: str, function: str) -> bool:
    if function == MODULE:
        return any(where == path for where, _ in entered)
    return any(where == path and (name == function or name.startswith(f"{function}.")) for where, name in entered)


def _usable(tests: dict[str, Any]) -> dict[str, Any]:
    """Without skipped ones. What fixtures enter counts for every test of the file."""
    shared = [each for test in tests.values() for each in test.pop("prepares", [])]
    usable = {node: test for node, test in tests.items() if not test.get("skipped") and "seconds" in test}
    for test in usable.values():
        test["shares"] = sorted({tuple(each) for each in shared})
    return usable
