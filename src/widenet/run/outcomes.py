"""A claim or a figure, a scale and a seed give an outcome: evidence or numbers, judged from cells each time anew.

`row()` is what `--json` prints: strictly valid JSON, in which a number that is not finite is one of the strings "NaN",
"Infinity" and "-Infinity".
"""

import datetime
import functools
import importlib
import importlib.metadata
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from widenet import papers
from widenet.claims import Claim, Evidence, Verdict
from widenet.claims.base import Part, plain
from widenet.claims.instance import Instance, in_plane
from widenet.figures import Comparison, Figure
from widenet.figures.archive import archive, file_name
from widenet.papers import index
from widenet.progress import Progress, require_progress, silent
from widenet.records import ClosedModel, Scale
from widenet.run.cells import Cells, Reading, Task, tasks_of, versions
from widenet.run.executors import InProcess
from widenet.run.failures import Failure
from widenet.run.watch import InTurn, Unwatched, WorkWatch
from widenet.seeds import seed_of
from widenet.store import Store, store_of


@dataclass(frozen=True)
class Circumstances:
    """Under which an outcome was found.

    Attributes:
      settings: of each cell it was found from, in JSON values.
      seconds, machine: of the original computation of these cells. A cell that several outcomes read counts in each.
      reused: whether all of them were in the store already.
      versions: of the libraries that the numbers come from; of each, all that were used.
      cells: the names of the cells in the store.
    """

    scale: Scale
    seed: int
    settings: list[Any]
    seconds: float
    reused: bool
    machine: str
    versions: dict[str, str]
    cells: list[str]

    def row(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "scale": self.scale.value,
            "seed": self.seed,
            "config": self.settings,
            "seconds": self.seconds,
            "reused": self.reused,
            "machine": self.machine,
            "versions": self.versions,
            "cells": self.cells,
            "version": version(),
        }


NOT_COMPUTED = "NOT_COMPUTED"
"""Where a row has its verdict: there is none, because a cell, a check or a picture failed."""


@dataclass(frozen=True)
class NotComputed:
    """A claim or a figure without a result: something that it needs failed."""

    item: Claim | Figure
    failure: Failure
    scale: Scale
    seed: int

    def row(self) -> dict[str, Any]:
        """As one JSON object, among the rows of claims or of figures."""
        return {
            "id": self.item.id,
            "paper": self.item.paper,
            "verdict": NOT_COMPUTED,
            "expected": False,
            "error": self.failure.sentence,
            "traceback": self.failure.traceback,
            "scale": self.scale.value,
            "seed": self.seed,
            "version": version(),
        }


@dataclass(frozen=True)
class CheckOutcome:
    """A checked claim."""

    claim: Claim
    evidence: Evidence
    circumstances: Circumstances

    @property
    def failed(self) -> bool:
        """Whether a statement that should hold was measured to fail."""
        return self.evidence.verdict is Verdict.VIOLATED and self.claim.expected is not Verdict.VIOLATED

    @property
    def is_expected(self) -> bool:
        """Whether the verdict is the expected one; where the paper leaves a constant open, that is.

        One that decides nothing (too few runs, a hypothesis that fails) is not: it must not pass for a confirmation.
        """
        return self.leaves_open or self.evidence.verdict is self.claim.expected

    @property
    def leaves_open(self) -> bool:
        """Whether the paper leaves a constant open, so that no other verdict is expected."""
        return self.evidence.verdict is Verdict.CONSTANT_UNSPECIFIED

    def row(self) -> dict[str, Any]:
        """The outcome as one JSON object."""
        about = index.row_of(self.claim)
        return {
            "id": self.claim.id,
            "paper": self.claim.paper,
            "kind": self.claim.kind.value,
            "title": self.claim.title,
            "statement": plain(self.claim.statement),
            "where": self.claim.where,
            "form": about["form"],
            **index.more_about(about),
            **as_json(self.evidence),
            "expected": self.is_expected,
            "expected_verdict": (self.evidence.verdict if self.leaves_open else self.claim.expected).value,
            **self.circumstances.row(),
        }


@dataclass(frozen=True, repr=False)
class FigureOutcome:
    """The numbers behind a figure, and the reported ones beside them.

    Attributes:
      numbers: with named axes.
      comparisons: each reported number beside the measured one.
    """

    figure: Figure
    numbers: xr.Dataset
    comparisons: list[Comparison]
    circumstances: Circumstances

    @property
    def id(self) -> str:
        """Of the figure."""
        return self.figure.id

    def draw(self) -> Any:
        """The picture, as a matplotlib figure: `.savefig("figure.pdf")` writes it."""
        from widenet.plots.drawn import sheet_of

        return sheet_of(self.figure, self.numbers)

    def archive_file(self) -> dict[str, bytes]:
        """The file by which a result at paper scale travels (`widenet.figures.archive`), dated today."""
        made = archive(self.id, self.numbers, self.comparisons, self.circumstances.row(), datetime.date.today())
        return {file_name(self.id): made.to_bytes()}

    def __repr__(self) -> str:
        agree = sum(each.agrees for each in self.comparisons if not each.added)
        reported = sum(not each.added for each in self.comparisons)
        return f"<Figure {self.id}: {self.figure.title} ({agree} of {reported} reported numbers agree)>"

    def row(self) -> dict[str, Any]:
        """The outcome as one JSON object, without the numbers."""
        return {
            "id": self.figure.id,
            "paper": self.figure.paper,
            "title": self.figure.title,
            "comparisons": [as_json(each) | {"verdict": each.verdict} for each in self.comparisons],
            **self.circumstances.row(),
        }


def judge(claim: Claim, scale: Scale, seed: int, cells: Cells, watch: WorkWatch | None = None) -> CheckOutcome:
    """Judge a claim on its default settings; missing cells are computed.

    Raises:
      CellFailed: one of them could not be.
      StoreError: the store cannot be read or written.
    """
    start = time.perf_counter()
    tasks = tasks_of(claim.reads, scale, seed)
    readings = read_all(tasks, cells, watch)
    runs = [[each.result for each in group] for group in readings]
    found = runs if claim.draws is None else [claim.draws(scale, seed)]
    evidence = claim(*found)
    circumstances = _circumstances(scale, seed, tasks, readings, start)
    learnt: dict[str, Any] = {"settings": tuple(circumstances.settings)}
    if claim.expected is Verdict.VIOLATED:
        settings = [task.setting for group in tasks for task in group]
        learnt["instance"] = _instance_of(claim, evidence, claim.tables(*found), settings)
    evidence = evidence.model_copy(update=learnt)
    return CheckOutcome(claim, evidence, circumstances)


def _instance_of(claim: Claim, evidence: Evidence, tables: Sequence[Any], settings: Sequence[Any]) -> Instance | None:
    """The run that breaks a statement, where its cell or the setting of it has two dimensions."""
    for module in (module for paper in papers.PAPERS if paper.key == claim.paper for module in paper.instances):
        importlib.import_module(module)
    cell, run = _place_of(evidence.headline, tables[0])
    sources = [table.cells[cell] for table in tables if len(table.cells) > cell] + list(settings[cell : cell + 1])
    return next((found for each in sources if (found := in_plane(each, run)) is not None), None)


def _place_of(part: Part, table: Any) -> tuple[int, int]:
    """The cell, and the run in it, of the case farthest beyond a promise, or of the first that breaks a probability."""
    cases = part.cases
    place = part.case if part.case is not None else int(np.argmax(~cases["kept"].fillna(True).astype(bool)))
    if "run" in cases:
        return int(cases["cell"].iloc[place]), int(cases["run"].iloc[place])
    if len(cases) != len(table):
        return 0, 0
    cell = int(table.cell[place])
    return cell, place - int(np.argmax(table.cell == cell))


def show(figure: Figure, scale: Scale, seed: int, cells: Cells, watch: WorkWatch | None = None) -> FigureOutcome:
    """Reduce the cells of a figure to its numbers, and compare them with the reported ones.

    Raises:
      CellFailed: a missing cell could not be computed.
      StoreError: the store cannot be read or written.
    """
    start = time.perf_counter()
    tasks = tasks_of(figure.reads, scale, seed)
    readings = read_all(tasks, cells, watch)
    numbers = figure.reduce(*[[each.result for each in group] for group in readings])
    comparisons = figure.compare(numbers)
    return FigureOutcome(figure, numbers, comparisons, _circumstances(scale, seed, tasks, readings, start))


def check(
    claim: Claim | str,
    *,
    scale: Scale | str = Scale.QUICK,
    seed: int = 0,
    store: Store | None = None,
    progress: Progress = silent,
) -> Evidence:
    """Check a claim, or the one of this id, on its default settings.

    Arguments:
      store: where runs are kept and found; by default where the command line keeps them.

    Raises:
      UnknownName: there is no such claim or scale.
      InputError: the seed is no whole number in its range.
      CellFailed: a training failed; `failure.traceback` has the details.
      StoreError: the store cannot be read or written.
    """
    require_progress(progress)
    found = papers.claim_of(claim)
    size, number, cells = Scale.named(scale), seed_of(seed), cells_of(store)
    missing = cells.missing(task for group in tasks_of(found.reads, size, number) for task in group)
    return judge(found, size, number, cells, InTurn(progress, len(missing))).evidence


def figure(
    id: str,
    *,
    scale: Scale | str = Scale.QUICK,
    seed: int = 0,
    store: Store | None = None,
    progress: Progress = silent,
) -> FigureOutcome:
    """Compute a figure: its numbers, the reported ones beside them, and `draw()` for the picture.

    Arguments:
      id: such as "brutzkus2018.figure_1"; `figure_ids()` lists them.
      store: where runs are kept and found; by default where the command line keeps them.

    Raises:
      UnknownName: there is no such figure or scale.
      InputError: the seed is no whole number in its range.
      CellFailed: a training failed; `failure.traceback` has the details.
      StoreError: the store cannot be read or written.
    """
    require_progress(progress)
    found, size, number, cells = papers.find_figure(id), Scale.named(scale), seed_of(seed), cells_of(store)
    missing = cells.missing(task for group in tasks_of(found.reads, size, number) for task in group)
    return show(found, size, number, cells, InTurn(progress, len(missing)))


def cells_of(store: Store | None) -> Cells:
    """The cells of this store, or of the command line's, computed in this process."""
    store = store_of(store)
    return Cells(store, InProcess(store.compiled))


def read_all(tasks: Sequence[Sequence[Task]], cells: Cells, watch: WorkWatch | None = None) -> list[list[Reading]]:
    """The cells of these tasks; those that are missing are computed first."""
    cells.fill([task for group in tasks for task in group], watch or Unwatched())
    return [[cells.read(task) for task in group] for group in tasks]


@functools.cache
def version() -> str:
    """The version of the package."""
    try:
        return importlib.metadata.version("widenet")
    except importlib.metadata.PackageNotFoundError:
        return "0"  # run from a source tree that was not installed


def as_json(model: ClosedModel) -> dict[str, Any]:
    """A record in JSON's own types."""
    return json.loads(model.model_dump_json())


def _circumstances(
    scale: Scale, seed: int, tasks: Sequence[Sequence[Task]], readings: Sequence[Sequence[Reading]], start: float
) -> Circumstances:
    flat = [each for group in readings for each in group]
    all_tasks = [task for group in tasks for task in group]
    here = f"cpu, numpy {importlib.metadata.version('numpy')}"
    return Circumstances(
        scale=scale,
        seed=seed,
        settings=[task.row for task in all_tasks],
        seconds=sum(each.seconds for each in flat) if flat else time.perf_counter() - start,
        reused=bool(flat) and all(each.reused for each in flat),
        machine="; ".join(dict.fromkeys(each.machine for each in flat)) or here,
        versions=_joined([each.versions for each in flat] or [versions()]),
        cells=[task.key.digest for task in all_tasks],
    )


def _joined(found: Sequence[dict[str, str]]) -> dict[str, str]:
    """All versions of each library, once each."""
    names = dict.fromkeys(name for each in found for name in each)
    return {name: "; ".join(dict.fromkeys(each[name] for each in found if name in each)) for name in names}
