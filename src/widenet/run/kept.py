"""What earlier reports found: evidence, numbers and drawings, kept beside the cells so that the next report is quick.

The folder `outcomes` of the store has one file per outcome and drawing, written and verified as cells are. Each says
what it was found from: the content of its cells, the source of every module that judges, compares or draws, and the
versions of the libraries. Where that is no longer so (an edited judge, a recomputed cell, another library), or where a
file is damaged, the work is done again and the file replaced. Cells are not read for it, but for their manifests.
"""

import dataclasses
import functools
import hashlib
import importlib.metadata
import json
import platform
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from widenet.claims import Claim, Evidence
from widenet.errors import UnknownName
from widenet.figures import Comparison, Figure
from widenet.figures.archive import digest_of_archive
from widenet.papers import find_paper
from widenet.records import Scale
from widenet.run.cells import LIBRARIES, Cells, tasks_of
from widenet.run.outcomes import CheckOutcome, Circumstances, FigureOutcome, version
from widenet.run.reach import NOTES, source_digest
from widenet.store import Cell, CellKey, Store
from widenet.store.datasets import decode_dataset, encode_dataset

FORMAT = "1"
JUDGING = ("widenet.run.outcomes", "widenet.run.kept")
DRAWING = ("widenet.plots.drawn",)
SOURCES = "sources.json"
"""Modules besides the paper's own that an outcome and a drawing come from."""
MORE_LIBRARIES = ("matplotlib", "pandas", "pillow", "pydantic", "xarray")

Files = dict[str, bytes]


@dataclass(frozen=True)
class Place:
    """Where the outcome of a claim or a figure is kept, and what it is found from.

    Attributes:
      basis: a digest of everything the outcome depends on.
      settings, cells: of its cells, as its circumstances have them.
      reused: whether all of its cells were in the store already.
    """

    key: CellKey
    basis: str
    settings: list[Any]
    cells: list[str]
    reused: bool


class Kept:
    """Finds outcomes and drawings of earlier reports, and keeps new ones."""

    def __init__(self, cells: Cells):
        """Those beside these cells."""
        self.cells, self.store = cells, Store(cells.store.outcomes)
        NOTES.read(self.store.root / SOURCES)

    def note_sources(self) -> None:
        """Keep what was read from the sources, for the next report."""
        NOTES.write(self.store.root / SOURCES)

    def place_of(self, item: Claim | Figure, scale: Scale, seed: int) -> Place | None:
        """The place of an outcome; None where a cell is missing, or where no paper has the claim or figure."""
        try:
            paper = find_paper(item.paper)
            module = paper.module_of(item.id)
        except (UnknownName, ValueError):
            return None
        tasks = [task for group in tasks_of(item.reads, scale, seed) for task in group]
        contents = [self.cells.fingerprint(task) for task in tasks]
        if None in contents:
            return None
        parameters = {"id": item.id, "scale": scale.value, "seed": seed}
        return Place(
            key=CellKey("outcome", parameters, FORMAT),
            basis=_digest(parameters, contents, _versions(), source_digest((module, *paper.instances, *JUDGING))),
            settings=[task.row for task in tasks],
            cells=[task.key.digest for task in tasks],
            reused=bool(tasks) and not any(map(self.cells.was_computed, tasks)),
        )

    def at_paper_scale(self, figure: Figure, place: Place) -> Place | None:
        """The same place for the drawing of the result that ships with the package, which depends on that file alone.

        None where there is no such file.
        """
        file = digest_of_archive(figure.id)
        return None if file is None else dataclasses.replace(place, basis=_digest(file, _versions()))

    def find(self, item: Claim | Figure, place: Place, scale: Scale, seed: int) -> CheckOutcome | FigureOutcome | None:
        """The outcome, as it would be found again from its cells."""

        def build(content: Mapping[str, Any], cell: Cell) -> CheckOutcome | FigureOutcome:
            circumstances = Circumstances(
                scale, seed, settings=place.settings, cells=place.cells, reused=place.reused, **content["circumstances"]
            )
            if isinstance(item, Claim):
                evidence = Evidence.model_validate(content["evidence"] | {"settings": place.settings})
                return CheckOutcome(item, evidence, circumstances)
            numbers = decode_dataset(cell.arrays, content["layout"] | {"attrs": content["attributes"]})
            comparisons = [Comparison.model_validate(each) for each in content["comparisons"]]
            return FigureOutcome(item, numbers, comparisons, circumstances)

        return self._read(place.key, place.basis, build)

    def keep(self, outcome: CheckOutcome | FigureOutcome, place: Place) -> None:
        """Keep an outcome.

        One that holds what is not plain, or that would not come back as it is, is found anew by each report.
        """
        found = outcome.circumstances
        content: dict[str, Any] = {
            "basis": place.basis,
            "circumstances": {"seconds": found.seconds, "machine": found.machine, "versions": found.versions},
        }
        try:
            if isinstance(outcome, CheckOutcome):
                arrays, item = {}, outcome.claim
                content["evidence"] = outcome.evidence.model_dump(round_trip=True, exclude={"settings"})
            else:
                item = outcome.figure
                arrays, content["layout"] = encode_dataset(outcome.numbers.drop_attrs(deep=False))
                content["attributes"] = {str(name): _plain(value) for name, value in outcome.numbers.attrs.items()}
                content["comparisons"] = [each.model_dump(round_trip=True) for each in outcome.comparisons]
            self.store.put(place.key, arrays, json.dumps(content), replace=True)
        except (TypeError, ValueError):
            return
        again = self.find(item, place, found.scale, found.seed)
        if again is None or not _is_same(again, outcome):
            self.store.put(place.key, {}, json.dumps({"basis": ""}), replace=True)

    def files(self, drawing: str, name: str, place: Place) -> Files | None:
        """The files of the picture or animation of this name, drawn by the module `drawing` from an outcome."""

        def build(content: Mapping[str, Any], cell: Cell) -> Files:
            files = {each: cell.arrays[str(index)].tobytes() for index, each in enumerate(content["names"])}
            numbers = next(
                (each for each in files if each.endswith(".json") and not each.endswith(".panels.json")), None
            )
            if numbers is not None:
                files[numbers] = _with_reused(files[numbers], place.reused)
            return files

        return self._read(_drawing_key(name, place), _drawing_basis(drawing, place), build)

    def keep_files(self, drawing: str, name: str, place: Place, files: Files) -> None:
        """Keep the files of a picture or an animation."""
        arrays = {str(index): np.frombuffer(file, np.uint8) for index, file in enumerate(files.values())}
        content = json.dumps({"basis": _drawing_basis(drawing, place), "names": list(files)})
        self.store.put(_drawing_key(name, place), arrays, content, replace=True)

    def _read(self, key: CellKey, basis: str, build: Callable[[Mapping[str, Any], Cell], Any]) -> Any:
        """What a file holds; None where there is none, or it is damaged or was found from something else."""
        cell = self.store.get(key)
        if cell is None:
            return None
        content = json.loads(cell.content)
        try:
            return build(content, cell) if content["basis"] == basis else None
        except (KeyError, TypeError, ValueError):
            return None  # the form of an earlier version


def _drawing_key(name: str, place: Place) -> CellKey:
    return CellKey(name, place.key.parameters, FORMAT)


def _drawing_basis(drawing: str, place: Place) -> str:
    return _digest(place.basis, source_digest((drawing, *DRAWING)))


def _digest(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@functools.cache
def _versions() -> tuple[str, ...]:
    libraries = sorted({*LIBRARIES, *MORE_LIBRARIES})
    return (version(), platform.python_version(), *(f"{each} {importlib.metadata.version(each)}" for each in libraries))


def _with_reused(file: bytes, reused: bool) -> bytes:
    """The numbers of a figure as its JSON file has them, which says whether its cells were in the store already.

    A line that begins with one space is a field of the file itself; megabytes of numbers need not be read for it.
    """
    return re.sub(rb'^ "reused": (true|false)', f' "reused": {json.dumps(reused)}'.encode(), file, flags=re.MULTILINE)


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays in JSON's own types."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


def _is_same(one: CheckOutcome | FigureOutcome, other: CheckOutcome | FigureOutcome) -> bool:
    """Whether a reader of either finds the same, but for whether cells were there already."""
    rows = [json.dumps(each.row() | {"reused": None}) for each in (one, other)]
    numbers = [each.numbers for each in (one, other) if isinstance(each, FigureOutcome)]
    return rows[0] == rows[1] and (not numbers or _are_equal(*numbers))


def _are_equal(one: xr.Dataset, other: xr.Dataset) -> bool:
    attributes = [json.dumps({str(name): _plain(value) for name, value in each.attrs.items()}) for each in (one, other)]
    return one.equals(other) and attributes[0] == attributes[1]
