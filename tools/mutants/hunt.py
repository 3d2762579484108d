"""Each mutant against the tests that should notice it."""

import concurrent.futures
import json
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from tools.mutants.baseline import Baseline
from tools.mutants.exchange import Calls, Collected
from tools.mutants.mutation import Mutant
from tools.mutants.sessions import FACTOR, PATIENCE, in_child, in_fork

Attempt = Callable[[Mutant, Sequence[str], float], dict[str, Any]]
"""(mutant, tests, limit in seconds of processor time) → as `in_child`."""

ENOUGH = 20
"""From so many mutants on it pays to collect all tests first."""

BROKEN = (3, "does not load: ModuleNotFoundError", "does not load: OSError")
"""Ends that no weakened number brings about: an internal error of pytest, a file or a library that is gone."""

RENAMED = 4
"""A test is not there by its name: a weakened number stands in it. Then all cases of it are run that have new names."""
NONE_LEFT = 5
"""No case of it has a new name. That is no notice."""

CAUGHT, SURVIVED, STRICTER, FOLLOWS = "caught", "survived", "stricter", "follows"


class Hunt:
    """Results as they come, one line of JSON each, found again after an interruption."""

    def __init__(self, baseline: Baseline, folder: Path, most_seconds: float) -> None:
        """Read what was found earlier about modules and tests that have not changed since."""
        self.baseline, self.most_seconds = baseline, most_seconds
        self.path = folder / f"{baseline.target.name}.jsonl"
        self.found: dict[str, dict[str, Any]] = {}
        self._read()

    def _read(self) -> None:
        for line in self.path.read_text().splitlines() if self.path.exists() else ():
            row = json.loads(line)
            self.found[row["mutant"]] = row

    def result(self, mutant: Mutant) -> dict[str, Any] | None:
        """What was found about it, if that still stands."""
        row = self.found.get(mutant.description)
        return row if row is not None and row["digest"] == self.baseline.digest(mutant) else None

    def survived(self, mutant: Mutant) -> bool:
        """Whether it did when it was last tried, though tests may have changed since."""
        return self.found.get(mutant.description, {}).get("result") == SURVIVED

    def run(self, mutants: Sequence[Mutant], jobs: int, calls: Calls) -> None:
        """Try those that are not known; a larger step only where the smaller one was not caught.

        `calls` are those of the weakened files while the package was loaded.
        """
        for chosen in ([each for each in mutants if not each.milder], [each for each in mutants if each.milder]):
            waiting = self._waiting(chosen)
            if len(waiting) >= ENOUGH:
                in_fork(lambda _, waiting=waiting: self._quickly(waiting, jobs, calls))
                self._read()
            self._try_all(self._waiting(chosen), jobs, _anew)

    def _waiting(self, mutants: Sequence[Mutant]) -> list[Mutant]:
        return [each for each in mutants if self.result(each) is None and self._is_open(each)]

    def _quickly(self, waiting: Sequence[Mutant], jobs: int, calls: Calls) -> dict[str, Any]:
        """Those that need nothing loaded anew; this process is good for nothing else afterwards."""

        def hunt(collected: Collected) -> None:
            possible = [each for each in waiting if collected.can_try(each, list(self._usable(each)))]
            print(f"{len(possible)} of {len(waiting)} the quick way", flush=True)
            self._try_all(possible, jobs, collected.try_one)

        Collected(calls, hunt, self.most_seconds).collect(self.baseline.target.test_files())
        return {}

    def _try_all(self, waiting: Sequence[Mutant], jobs: int, attempt: Attempt) -> None:
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            tried = pool.map(lambda each: self._try(each, attempt), waiting)
            for number, row in enumerate(tried, 1):
                self._keep(row)
                print(f"{number}/{len(waiting)} {row['result']:9}{row['seconds']:5.1f}s  {row['mutant']}", flush=True)

    def _is_open(self, mutant: Mutant) -> bool:
        if not mutant.milder:
            return True
        before = self.found.get(mutant.milder)
        return before is not None and before["result"] == SURVIVED

    def _usable(self, mutant: Mutant) -> dict[str, dict[str, Any]]:
        tests = self.baseline.noticing(mutant, self.most_seconds)
        return {node: test for node, test in tests.items() if test["passed"]}

    def _try(self, mutant: Mutant, attempt: Attempt) -> dict[str, Any]:
        usable = self._usable(mutant)
        row = {"mutant": mutant.description, "line": mutant.line, "digest": self.baseline.digest(mutant)}
        began = time.monotonic()
        if not usable:
            return row | {"result": SURVIVED, "by": "no test enters it", "seconds": 0.0}
        # No test is begun once `most_seconds` are spent; the last one may take longer than it did.
        limit = PATIENCE + self.most_seconds + FACTOR * max(test["seconds"] for test in usable.values())
        found = attempt(mutant, list(usable), limit)
        if found["ended"] == RENAMED:
            # The cases of the same tests under their new names.
            functions = list(dict.fromkeys(node.partition("[")[0] for node in usable))
            spared = self.baseline.others(usable)
            found = in_child(functions, mutant=mutant, limit=limit, spared=spared, most_seconds=self.most_seconds)
        if found["ended"] in BROKEN:
            # Counted as caught, every mutant after it would be.
            raise SystemExit(f"stopped at {mutant.description}: the tests could not be run ({found['ended']})")
        failed = next((node for node, test in found["tests"].items() if not test["passed"]), "")
        if found["ended"] == 0:
            result = STRICTER if only_stricter(usable, found["tests"]) else SURVIVED
            by = f"{len(found['tests'])} tests"
        elif found["ended"] in (RENAMED, NONE_LEFT):
            result, by = SURVIVED, "tests are not there"
        else:
            result, by = CAUGHT, failed or str(found["ended"])
        return row | {"result": result, "by": by, "seconds": round(time.monotonic() - began, 1)}

    def _keep(self, row: dict[str, Any]) -> None:
        self.found[row["mutant"]] = row
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as lines:
            lines.write(json.dumps(row) + "\n")


def _anew(mutant: Mutant, tests: Sequence[str], limit: float) -> dict[str, Any]:
    """The slow way, with the weakened module and all that imports it loaded anew."""
    return in_child(tests, mutant=mutant, limit=limit)


def only_stricter(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether what the claims say in these tests has changed, and every change asks for more.

    More: a part that is tighter, or no longer kept; a hypothesis with less slack, or no longer met.
    """
    changes = []
    for node, test in after.items():
        if node not in before:
            return False
        said, says = before[node]["evidence"], test.get("evidence", [])
        if [each[0] for each in said] != [each[0] for each in says]:
            return False
        for (_, parts, supposed), (_, parts_now, supposed_now) in zip(said, says, strict=True):
            if len(parts) != len(parts_now) or len(supposed) != len(supposed_now):
                return False
            changes += [_change(old, new, 1) for old, new in zip(parts, parts_now, strict=True)]
            changes += [_change(old, new, -1) for old, new in zip(supposed, supposed_now, strict=True)]
    return any(changes) and all(change >= 0 for change in changes)


RANKS = {True: 0, None: 1, False: 2}


def _change(old: Sequence[Any], new: Sequence[Any], sign: int) -> int:
    """1 stricter, −1 looser, 0 the same; a number that moves by rounding alone is the same."""
    if old[1] != new[1]:
        return 1 if RANKS[new[1]] > RANKS[old[1]] else -1
    if old[2] is None or new[2] is None or old[2] != old[2] or new[2] != new[2]:
        return 0 if (old[2] is None) == (new[2] is None) else -1
    if abs(new[2] - old[2]) <= 1e-9 * max(abs(old[2]), abs(new[2])):
        return 0
    return 1 if sign * (new[2] - old[2]) > 0 else -1


def counted(rows: Iterable[dict[str, Any]]) -> dict[str, int]:
    """How many of each result."""
    sums: dict[str, int] = {}
    for row in rows:
        sums[row["result"]] = sums.get(row["result"], 0) + 1
    return sums
