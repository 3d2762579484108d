"""A small experiment that writes down every moment in the life of its cells, for `tools.kills`.

Where the environment names a log, the processes that import this file say when a cell of theirs is leased, computing,
computed, renamed and released, and stay a while in each of these moments, so that a kill may fall into any of them.
"""

import contextlib
import os
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from widenet.claims.cases import Cases, Number
from widenet.claims.experiments import Experiment
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale
from widenet.store import CellKey, Store
from widenet.store.leases import Lease, started_at

LOG, PACE = "WIDENET_KILLS_LOG", "WIDENET_KILLS_PACE"
"""The file that is written, and the file that says how many seconds a moment takes."""
LEASED, COMPUTING, COMPUTED, RENAMED, RELEASED = "leased", "computing", "computed", "renamed", "released"
ID = "kills.draws"
STARTED = started_at(os.getpid())
"""When this process was started: its number may be used again."""


class DrawsSetting(ClosedModel):
    """Which cell it is."""

    number: int = 0
    n_runs: int = 4


@dataclass(frozen=True, eq=False)
class Draws(Cases):
    """What came out."""

    value: Float[np.ndarray, " run"]
    number: Number


def run(setting: DrawsSetting, progress: Progress) -> Draws:
    """A few normal draws."""
    _moment(COMPUTING, str(setting.number))
    values = np.random.default_rng(setting.number).normal(size=setting.n_runs)
    _say(COMPUTED, str(setting.number))
    return Draws(values, setting.number)


def settings(scale: Scale, seed: int) -> Sequence[DrawsSetting]:
    """One cell."""
    return [DrawsSetting()]


draws = Experiment(ID, settings, run, seconds=0.01)


def _say(moment: str, cell: str) -> None:
    if LOG in os.environ:
        handle = os.open(os.environ[LOG], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(handle, f"{os.getpid()} {STARTED} {moment} {cell}\n".encode())
        os.close(handle)


def _moment(moment: str, cell: str) -> None:
    _say(moment, cell)
    if PACE in os.environ:
        pace = float(Path(os.environ[PACE]).read_text() or 0)
        time.sleep(random.uniform(0, 2 * pace))


def _watch() -> None:
    """Say it too where the store takes and returns leases, and where it renames."""
    claiming, replace = Store.claiming, Path.replace
    held: dict[str, str] = {}

    @contextlib.contextmanager
    def watched(self: Store, key: CellKey) -> Iterator[Lease | None]:
        ours = key.name == ID
        with claiming(self, key) as lease:
            if ours and lease is not None:
                held[key.digest] = str(key.parameters["number"])
                _moment(LEASED, held[key.digest])
            yield lease
        if ours and lease is not None:
            _say(RELEASED, held.pop(key.digest))

    def renamed(self: Path, target: str | os.PathLike[str]) -> Path:
        cell = held.get(Path(target).stem) if Path(target).suffix == ".npz" else None
        if cell is None:
            return replace(self, target)
        _moment(COMPUTED, cell)
        found = replace(self, target)
        _moment(RENAMED, cell)
        return found

    Store.claiming = watched
    Path.replace = renamed


if LOG in os.environ:
    _watch()
