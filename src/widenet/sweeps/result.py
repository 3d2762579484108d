"""What came out of a sweep, as an `xarray.Dataset` with the axes that you named."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends import BackendArray
from xarray.core import indexing

from widenet.sweeps.driver import Survey
from widenet.sweeps.index import PackLine, lines_of
from widenet.sweeps.order import Question, subject_of
from widenet.sweeps.packs import measure
from widenet.sweeps.spec import OF
from widenet.sweeps.tables import NUMBER, RUNS, WORD, PackTable

RUN = "run"
STATE, WHY = "state", "why"


def dataset_of(sweep: Survey) -> xr.Dataset:
    """Everything that is finished; points that are not have NaN. Nothing is computed.

    Variables: what is looked at, along the axes and `run`; `state`, and `why` a point has no numbers. They are read
    when they are asked for; of finished packs nothing but the index is read now.
    """
    order = sweep.order
    found = _Packs(sweep)
    axes = tuple(order.axes)
    taken = {*axes, RUN, STATE, WHY}  # a cell often repeats a field of its setting
    columns = {name: each for name, each in found.columns().items() if name not in taken}
    variables: dict[str, Any] = {name: _lazy(each, axes) for name, each in columns.items()}
    longest = {STATE: max(len(each) for line in found.lines for each in line.states)}
    longest[WHY] = max(line.reason for line in found.lines)
    variables |= {name: _lazy(_Quantity(found, name, WORD, longest[name]), axes) for name in longest}
    about = {"of": ", ".join(order.of), "data": order.about, "seed": order.seed, "sweep": order.digest}
    fixed = {name: value for name, value in order.fixed.items() if isinstance(value, str | int | float)}
    return xr.Dataset(variables, {name: list(values) for name, values in order.axes.items()}, {**about, **fixed})


class _Packs:
    """The packs of a sweep: their lines in the index, and their tables, each read once, when a column is asked for."""

    def __init__(self, sweep: Survey):
        """Packs that are not finished are measured from the cells that are there."""
        self.order: Question = sweep.order
        self.store, self.subject = sweep.store, subject_of(sweep.order, sweep.store)
        n, is_decided = sweep.order.n_points, sweep.is_decided
        self.spans: Sequence[range] = sweep.spans() if is_decided else [range(n)]
        self.tables: dict[int, PackTable] = {}
        empty = [PackTable.of(self.order, self.subject.modules, span) for span in self.spans]
        lines = lines_of(self.store, empty) if is_decided else [None]
        if None in lines:
            sweep.require_look()
        for place, line in enumerate(lines):
            if line is None:
                self.tables[place] = self._measured(empty[place], place)
        self.lines: list[PackLine] = [
            PackLine.of(self.tables[place]) if line is None else line for place, line in enumerate(lines)
        ]

    def _measured(self, table: PackTable, place: int) -> PackTable:
        table.fill([measure(self.order, self.subject, self.store, number) for number in self.spans[place]])
        return table

    def table(self, place: int) -> PackTable:
        """The table of a pack; one that was damaged since is measured again, and its points may be missing then."""
        if place not in self.tables:
            table = PackTable.of(self.order, self.subject.modules, self.spans[place])
            if not table.read(self.store):
                self._measured(table, place)
                self.lines[place] = PackLine.of(table)
            self.tables[place] = table
        return self.tables[place]

    def columns(self) -> dict[str, "_Quantity"]:
        """Every column that a pack has, and what was asked for."""
        asked = () if OF in self.order.axes else self.order.look  # of several claims the tightness of a clause is kept
        kinds = dict.fromkeys(asked, NUMBER)
        kinds |= {name: kind for line in self.lines for name, kind in line.kinds.items()}
        longest = {name: max(line.longest.get(name, 1) for line in self.lines) for name in kinds}
        return {name: _Quantity(self, name, kind, longest[name]) for name, kind in kinds.items()}


class _Quantity(BackendArray):
    """One quantity of all points."""

    def __init__(self, packs: _Packs, name: str, kind: str, longest: int):
        """Nothing is read."""
        self.packs, self.name, self.kind, self.longest = packs, name, kind, longest
        self.shape = (*packs.order.shape, longest) if kind == RUNS else packs.order.shape
        self.dtype = np.dtype(f"<U{max(longest, 1)}") if kind == WORD else np.dtype(np.float64)

    @functools.cached_property
    def values(self) -> np.ndarray:
        """All of them."""
        return self.packs.order.along_axes(np.concatenate([self._of(place) for place in range(len(self.packs.spans))]))

    def _of(self, place: int) -> np.ndarray:
        if self.name == STATE:
            return np.array(self.packs.lines[place].states, self.dtype)
        table = self.packs.table(place)
        if self.name == WHY:
            return np.array(table.reasons, self.dtype)
        entries = table.columns.get(self.name, [None] * table.n_points)
        if self.kind == WORD:
            return np.array([each or "" for each in entries], self.dtype)
        if self.kind == NUMBER:
            return np.array([np.nan if each is None else each for each in entries], np.float64)
        filled = np.full((len(entries), self.longest), np.nan)
        for row, each in zip(filled, entries, strict=True):
            if each is not None:
                row[: each.size] = each
        return filled

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        """As xarray asks for it."""
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.BASIC, lambda place: self.values[place]
        )


def _lazy(column: _Quantity, axes: tuple[str, ...]) -> xr.Variable:
    lazy: Any = indexing.LazilyIndexedArray(column)
    array = indexing.MemoryCachedArray(indexing.CopyOnWriteArray(lazy))
    return xr.Variable((*axes, RUN) if column.kind == RUNS else axes, array)
