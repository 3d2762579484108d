"""What came out of a sweep, as an `xarray.Dataset` with the axes that you named."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from widenet.sweeps.driver import Survey
from widenet.sweeps.order import subject_of
from widenet.sweeps.packs import measure
from widenet.sweeps.tables import MISSING, PackTable

RUN = "run"
STATE, WHY = "state", "why"


def dataset_of(sweep: Survey) -> xr.Dataset:
    """Everything that is finished; points that are not have NaN. Nothing is computed.

    Variables: what is looked at, along the axes and `run`; `state`, and `why` a point has no numbers.
    """
    order = sweep.order
    states: list[str] = []
    reasons: list[str] = []
    columns: dict[str, list[Any]] = {}
    for table in tables_of(sweep):
        for name, entries in table.columns.items():
            columns.setdefault(name, [None] * len(states)).extend(entries)
        states += table.states
        reasons += table.reasons
        for entries in columns.values():
            entries.extend([None] * (len(states) - len(entries)))
    axes = tuple(order.axes)
    taken = {*axes, RUN, STATE, WHY}  # a cell often repeats a field of its setting
    variables = {name: _variable(sweep, axes, entries) for name, entries in columns.items() if name not in taken}
    variables[STATE] = (axes, order.along_axes(np.array(states)))
    variables[WHY] = (axes, order.along_axes(np.array(reasons)))
    about = {"of": ", ".join(order.of), "data": order.about, "seed": order.seed, "sweep": order.digest}
    fixed = {name: value for name, value in order.fixed.items() if isinstance(value, str | int | float)}
    return xr.Dataset(variables, {name: list(values) for name, values in order.axes.items()}, {**about, **fixed})


def tables_of(sweep: Survey) -> Sequence[PackTable]:
    """The tables of all packs; what is not kept yet is measured from the cells that are there."""
    order, store = sweep.order, sweep.store
    subject = subject_of(order, store)
    size = sweep.known_size
    if size is None:
        return [_unknown(PackTable.of(order, subject.modules, range(order.n_points)))]
    found = []
    for span in sweep.spans():
        table = PackTable.of(order, subject.modules, span)
        if not table.read(store):
            table.fill([measure(order, subject, store, number) for number in span])
        found.append(table)
    return found


def _unknown(table: PackTable) -> PackTable:
    table.fill([(MISSING, "", {})] * table.n_points)
    return table


def _variable(sweep: Survey, axes: tuple[str, ...], entries: Sequence[Any]) -> tuple[tuple[str, ...], np.ndarray]:
    first = next(each for each in entries if each is not None)
    if isinstance(first, str):
        return axes, sweep.order.along_axes(np.array([each or "" for each in entries]))
    if not isinstance(first, np.ndarray):
        flat = np.array([np.nan if each is None else each for each in entries], np.float64)
        return axes, sweep.order.along_axes(flat)
    longest = max(each.size for each in entries if each is not None)
    filled = np.full((len(entries), longest), np.nan)
    for row, each in zip(filled, entries, strict=True):
        if each is not None:
            row[: each.size] = each
    return (*axes, RUN), sweep.order.along_axes(filled)
