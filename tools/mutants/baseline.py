"""What the tests do while nothing is weakened: how long each takes, what it enters, what claims say in it."""

import hashlib
import json
from pathlib import Path
from typing import Any

from tools.mutants.mutation import MODULE, Mutant
from tools.mutants.sessions import in_child
from tools.mutants.targets import PACKAGE, ROOT, Target, path_of


class Baseline:
    """The tests of a target by file, and per test: seconds, the functions it enters, and evidence."""

    def __init__(self, target: Target, folder: Path) -> None:
        """Read what is known from earlier."""
        self.target, self._path = target, folder / f"{target.name}-tests.json"
        self._files: dict[str, dict[str, Any]] = json.loads(self._path.read_text()) if self._path.exists() else {}

    def refresh(self, only: set[str] | None = None) -> None:
        """Run the files of tests that have changed; `only` names those that are needed."""
        for path in self.target.test_files():
            name, digest = str(path.relative_to(ROOT)), self._digest(path)
            if (only and path.name not in only) or self._files.get(name, {}).get("digest") == digest:
                continue
            print(f"without mutants: {name}", flush=True)
            found = in_child([name], traced=tuple(str(each) for each in self.target.files), limit=3600)
            if found["ended"] not in (0, 1, 5):
                raise SystemExit(f"{name} does not run: {found['ended']} {found.get('said', '')}")
            self._files[name] = {"digest": digest, "tests": _usable(found["tests"])}
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(json.dumps(self._files))
        present = {str(path.relative_to(ROOT)) for path in self.target.test_files()}
        self._files = {name: found for name, found in self._files.items() if name in present}

    def noticing(self, mutant: Mutant, most_seconds: float) -> dict[str, dict[str, Any]]:
        """The tests that enter the weakened function: those of the module's own file first, the quickest first."""
        path, own = str(path_of(mutant.module).relative_to(ROOT)), self.target.own_test(mutant.module)
        chosen = []
        for name, found in self._files.items():
            shared = {tuple(each) for test in found["tests"].values() for each in test["enters"]}
            for node, test in found["tests"].items():
                enters = shared if self.target.by_file else {tuple(each) for each in test["enters"]}
                if _enters(enters, path, mutant.function):
                    chosen.append((Path(name).name != own, test["seconds"], node, test))
        tests, spent = {}, 0.0
        for _, seconds, node, test in sorted(chosen, key=lambda each: each[:3]):
            if spent and spent + seconds > most_seconds:
                continue
            tests[node], spent = test, spent + seconds
        return tests

    def digest(self, mutant: Mutant) -> str:
        """Changes when the module or the tests that should notice do."""
        own = self.target.own_test(mutant.module)
        files = [path_of(mutant.module), *(path for path in self.target.test_files() if path.name == own)]
        return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]

    def failing(self) -> list[str]:
        """Tests that fail anyway, which notice nothing."""
        return [node for found in self._files.values() for node, test in found["tests"].items() if not test["passed"]]

    def _digest(self, path: Path) -> str:
        """Of a file of tests, of what it shares with others, and of the module it is named after."""
        helpers = [each for each in sorted(self.target.tests.rglob("*.py")) if not each.name.startswith("test_")]
        stem = path.stem.removeprefix("test_")
        modules = [each for each in self.target.files if each.stem == stem or not self.target.is_room]
        parts = [path, ROOT / "tests" / "controls.py", *helpers, *modules, PACKAGE / "claims" / "sides.py"]
        return hashlib.sha256(b"".join(each.read_bytes() for each in parts)).hexdigest()[:12]


def _enters(entered: set[Any], path: str, function: str) -> bool:
    if function == MODULE:
        return any(where == path for where, _ in entered)
    return any(where == path and (name == function or name.startswith(f"{function}.")) for where, name in entered)


def _usable(tests: dict[str, Any]) -> dict[str, Any]:
    """Without skipped ones. What fixtures enter counts for every test of the file."""
    shared = [each for test in tests.values() for each in test.pop("prepares", [])]
    usable = {node: test for node, test in tests.items() if not test.get("skipped") and "seconds" in test}
    for test in usable.values():
        test["enters"] = sorted({tuple(each) for each in (*test["enters"], *shared)})
    return usable
