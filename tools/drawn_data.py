"""python -m tools.drawn_data --count 10000: every claim is asked about drawn data sets of all kinds.

No claim may raise, refute a theorem, or take longer than its time, whatever the data: scales from 1e-150 to 1e150,
margins from 1e-14 to 1, antipodal points and nearly so, duplicates, one point again and again, clusters on the sphere,
several classes, float32 and float64, and every choice at its edges. `tools.drawn_kinds` draws them. Results are kept in
build/drawn_data.jsonl, one line each, so an interrupted look goes on where it stopped. See docs/mutants.md.
"""

import argparse
import collections
import contextlib
import json
import logging
import multiprocessing
import os
import signal
import time
import traceback
import warnings
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tools.arguments import some
from tools.drawn_kinds import drawn
from widenet.store import Cell, CellKey, Store
from widenet.store.keys import plain_json
from widenet.store.leases import Lease, Owner

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "build" / "drawn_data.jsonl"
PROGRAMS = ROOT / "build" / "drawn_data_programs"
SECONDS = 60
"""Of processor time that all claims together may take on one of these small data sets."""
VERDICTS = {
    "HOLDS": "hold",
    "HYPOTHESES_NOT_MET": "hypotheses not met",
    "INSUFFICIENT_EVIDENCE": "insufficient evidence",
    "CONSTANT_UNSPECIFIED": "constant left open",
    "VIOLATED": "violated",
}


class InMemory(Store):
    """Cells that are gone with their data set. What no file could hold is refused here too.

    Those that do not depend on the data stay for the next one.
    """

    SHARED: ClassVar[dict[str, Cell]] = {}

    def __init__(self) -> None:
        """Nothing about this data yet."""
        super().__init__("nowhere")
        self.cells = dict(self.SHARED)

    @property
    def compiled(self) -> Path:
        """Programs are worth keeping."""
        return PROGRAMS

    def get(self, key: CellKey) -> Cell | None:
        """The cell."""
        return self.cells.get(key.digest)

    def holds(self, key: CellKey) -> bool:
        """Whether it was put here."""
        return key.digest in self.cells

    def put(
        self, key: CellKey, arrays: Mapping[str, Any], content: Any = None, *, replace: bool = False, sync: bool = True
    ) -> bool:
        """Keep a cell."""
        plain = {name: np.asarray(array) for name, array in arrays.items()}
        cell = self.cells[key.digest] = Cell(key, plain, plain_json(content, "content"))
        if '"own_data": "' not in json.dumps(key.parameters):
            self.SHARED[key.digest] = cell
        return True

    @contextlib.contextmanager
    def claiming(self, key: CellKey) -> Iterator[Lease | None]:
        """Nobody else is here."""
        yield Lease(self.path(key), -1, Owner("", "", -1, -1, ""))

    def require_writable(self, size: int = 0) -> None:
        """It is."""


class TooLongError(BaseException):
    """All the time was spent; no `except Exception` holds it."""


def ask(number: int) -> dict[str, Any]:
    """What the claims say about the data set with this number: counts, and everything that must not be."""
    import jax.numpy as jnp

    from widenet.claims import Evidence, Verdict
    from widenet.errors import InputError
    from widenet.run import Mishap, check_on
    from widenet.types import Dataset

    inputs, labels, choices, words = drawn(number)
    row: dict[str, Any] = {"number": number, "words": words}
    signal.signal(signal.SIGPROF, _stop)
    began = time.process_time()
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            answers = check_on(Dataset(jnp.asarray(inputs), jnp.asarray(labels)), store=InMemory(), **choices)
            signal.setitimer(signal.ITIMER_PROF, 0)
    except TooLongError:
        place = "".join(traceback.format_exc().splitlines(keepends=True)[-9:])
        return row | {"seconds": SECONDS, "trouble": {"too long": place}}
    except InputError as refusal:
        return row | {"seconds": time.process_time() - began, "refused": str(refusal)}
    except Exception:
        return row | {"seconds": time.process_time() - began, "trouble": {"raised": traceback.format_exc()[-900:]}}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        logging.disable(logging.NOTSET)
    said = {id: answer for id, answer in answers.items() if isinstance(answer, Evidence)}
    violated = [id for id, each in said.items() if each.verdict is Verdict.VIOLATED and not id.endswith("_as_printed")]
    trouble = {id: str(each) for id, each in answers.items() if isinstance(each, Mishap)}
    trouble |= {id: f"VIOLATED {said[id].headline}" for id in violated}
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for id, each in said.items():
        counts[id.split(".")[0]][each.verdict.value] += 1
    return row | {"seconds": time.process_time() - began, "verdicts": counts, "trouble": trouble}


def _stop(*_: Any) -> None:
    raise TooLongError


def known() -> dict[int, dict[str, Any]]:
    """What was found earlier."""
    lines = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    return {row["number"]: row for row in map(json.loads, lines)}


def look(numbers: Iterator[int], jobs: int) -> Iterator[dict[str, Any]]:
    """Rows as they come."""
    # Most of the time is compilation; see tests/conftest.py.
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(PROGRAMS))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.1")
    if version("jaxlib").startswith("0.10."):
        os.environ.setdefault("XLA_FLAGS", "--xla_cpu_use_fusion_emitters=false --xla_backend_optimization_level=0")
    # An executor of concurrent.futures may start no new process for one that has done its share.
    with multiprocessing.get_context("spawn").Pool(jobs, maxtasksperchild=2500) as pool:
        yield from pool.imap_unordered(ask, numbers)


def summary(rows: list[dict[str, Any]]) -> str:
    """The counts in words."""
    verdicts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for row in rows:
        for paper, counts in row.get("verdicts", {}).items():
            verdicts[paper].update(counts)
    troubled = [row for row in rows if row.get("trouble")]
    seconds = np.array([row["seconds"] for row in rows] or [0.0])
    return "\n".join(
        [
            f"{len(rows)} data sets: {len(troubled)} with a refutation, an error or too long a run",
            f"{sum('refused' in row for row in rows)} refused",
            f"| paper | sets | {' | '.join(VERDICTS.values())} |",
            f"| --- |{' ---: |' * (1 + len(VERDICTS))}",
            *(f"| {paper} | {_about(paper, rows)} | {_cells(counts)} |" for paper, counts in sorted(verdicts.items())),
            f"seconds per data set: median {np.median(seconds):.2f}, mean {seconds.mean():.2f}, "
            f"largest {seconds.max():.1f}",
            *(f"{row['number']}: {row['words']}\n    {row['trouble']}" for row in troubled[:40]),
        ]
    )


def _about(paper: str, rows: list[dict[str, Any]]) -> int:
    """About how many sets a paper said anything."""
    return sum(bool(row.get("verdicts", {}).get(paper)) for row in rows)


def _cells(counts: collections.Counter[str]) -> str:
    return " | ".join(str(counts[name]) for name in VERDICTS)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tools.drawn_data", description=__doc__)
    parser.add_argument("--count", type=some, default=10_000, help="data sets number 0 to COUNT − 1")
    parser.add_argument("--jobs", type=some, default=os.cpu_count() or 1)
    parser.add_argument("--again", action="store_true", help="ask once more about those that gave trouble")
    asked = parser.parse_args()
    found = known()
    if asked.again:
        found = {number: row for number, row in found.items() if not row.get("trouble")}
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    with RESULTS.open("a") as lines:
        for row in look((number for number in range(asked.count) if number not in found), asked.jobs):
            found[row["number"]] = row
            lines.write(json.dumps(row) + "\n")
            lines.flush()
            if row.get("trouble"):
                print(f"{row['number']}: {row['words']}\n    {row['trouble']}", flush=True)
    print(summary([row for number, row in sorted(found.items()) if number < asked.count]))


if __name__ == "__main__":
    main()
