"""Every column of every record that claims read, and every plain property: on two unequal cells, and on none.

Records and columns are found, and not named: by the claims of a paper, and the toys of their controls. Of a toy with
one cell, the other has fewer of its runs or, where it has one, fewer of everything else.
"""

import dataclasses
import importlib
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jaxtyping import Float

from widenet import papers
from widenet.claims import cases
from widenet.claims.base import Claim
from widenet.claims.cases import CELL, Cases, Number, columns_of, derived
from widenet.errors import ClaimError
from widenet.records import Scale

HERE = Path(__file__).parent
PAPERS = sorted(path.parent.name for path in HERE.glob("*/claims"))

PLACES_IN_A_CELL = {"starts"}
"""Properties that say where something stands in a cell: in a table of several it stands elsewhere."""
NOT_PER_THIS = (ArithmeticError, AttributeError, ClaimError, IndexError, TypeError, ValueError)
"""What a property raises where the columns that it needs are not told per this axis."""


@pytest.mark.filterwarnings("ignore:Degrees of freedom", "ignore:invalid value")  # a toy of one run has no spread
@pytest.mark.parametrize("paper", PAPERS)
def test_a_column_of_a_table_is_that_of_its_cells(paper: str) -> None:
    toys = toys_of(paper)
    read = {kind: claim for claim in papers.claims_of(paper) for kind in claim.kinds}
    for kind in read.keys() - toys.keys():
        toys[kind] = cells_in(kind, other_toy(kind, read[kind], toys))
    assert [fault for kind in read for fault in faults(kind, toys[kind])] == []
    owners = {(owner_of(kind, name), name): kind for kind in read for name in properties_of(kind)}
    found = [wrong_property(kind, two_of(toys[kind]), name) for (_, name), kind in owners.items()]
    assert [each for each in found if each] == []


def toys_of(paper: str) -> dict[type[Cases], list[Any]]:
    """By record, the cells of a toy."""
    found: dict[type[Cases], list[Any]] = {}
    for path in sorted((HERE / paper / "claims").glob("test_*.py")):
        module = importlib.import_module(f"tests.papers.{paper}.claims.{path.stem}")
        for test in vars(module).values():
            for claim in getattr(test, "claims", ()):
                if any(kind not in found for kind in claim.kinds):
                    for kind, cells in zip(claim.kinds, test.toy.runs(claim), strict=True):
                        if cells:
                            found.setdefault(kind, cells_in(kind, cells))
    return found


def other_toy(kind: type[Cases], claim: Claim, toys: dict[type[Cases], list[Any]]) -> Any:
    """That of another record of the same runs; or what the claim draws, where its controls stand beside the tables."""
    for other, own in toys.items():
        if stored(other) is stored(kind):
            names = [field.name for field in dataclasses.fields(stored(kind))]
            return [stored(kind)(**{name: getattr(cell, name) for name in names}) for cell in own]
    assert claim.draws is not None, f"{kind.__name__} has no toy"
    return claim.draws(Scale.QUICK, 0)


def stored(kind: type[Cases]) -> Any:
    """What an experiment returns, of a record that computes more columns."""
    return next(each for each in kind.__mro__ if "__dataclass_fields__" in vars(each))


def cells_in(kind: type[Cases], cells: Any) -> list[Any]:
    """The cells of a toy, as claims see them."""
    return list(kind.join(cells if isinstance(cells, list) else [cells]).cells)


def two_of(cells: list[Any]) -> list[Any]:
    """Two cells, unequal where they have an axis, and small: what runs share is repeated for each of them."""
    first, second = cells[0], cells[min(1, len(cells) - 1)]
    if second is first and len(first) == 1:
        return [first, shortened(first)]
    return [few(first, 5), few(second, min(4, len(second) - (second is first)))]


def few(cell: Any, count: int) -> Any:
    """The cell with its first runs; its columns stay as they were computed of all."""
    return type(cell).join([cell]).take(np.arange(len(cell)) < count).cells[0]


def shortened(cell: Any) -> Any:
    """A cell of one run without the first entry of every other axis."""
    made = object.__new__(type(cell))
    for name, about in columns_of(type(cell)).items():
        value = getattr(cell, name)
        cut = [axis not in (cell.rows, *cell.lengths) and not axis.isdigit() for axis in about.axes]
        starts = [int(each and size > 1) for each, size in zip(cut, np.shape(value), strict=False)]
        made.__dict__[name] = value[tuple(slice(start, None) for start in starts)] if about.axes else value
    return made


def faults(kind: type[Cases], cells: list[Any]) -> list[str]:
    """What is wrong with the columns of this record."""
    shapes = {name: told for name in columns_of(kind) for cell in cells[:2] if (told := wrong_shape(cell, name))}
    tables = {} if shapes else {name: wrong_table(kind, two_of(cells), name) for name in columns_of(kind)}
    return [f"{kind.__name__}.{name}: {told}" for name, told in (shapes | tables).items() if told]


def wrong_shape(cell: Any, name: str) -> str:
    """That a column has other axes than its annotation says."""
    about, shape = columns_of(type(cell))[name], np.shape(getattr(cell, name))
    expected = tuple(length_of(cell, axis) for axis in about.axes)
    is_anything = about.dtype is object and not about.axes
    return "" if shape == expected or is_anything else f"shape {shape}, and not {expected} of {about.axes}"


def length_of(cell: Any, axis: str) -> int:
    """How long an axis of a cell is, by the first column that has it."""
    if axis == cell.rows:
        return len(cell)
    if axis in cell.lengths:
        return int(np.sum(cell.lengths[axis](cell)))
    if axis.isdigit():
        return int(axis)
    name, place = next(
        (name, about.axes.index(axis)) for name, about in columns_of(type(cell)).items() if axis in about.axes
    )
    return np.shape(getattr(cell, name))[place]


def wrong_table(kind: type[Cases], cells: list[Any], name: str) -> str:
    """That the column of a table is not what its cells have, one after the other."""
    table, blank = kind.join(cells), kind.join([])
    about = columns_of(kind)[name]
    for axis in asked_per(kind, about.axes):
        empty = getattr(blank.per(axis), name)
        parts = [entries_of(cell, name, axis) for cell in cells]
        if len(empty):
            return f"per {axis}: {len(empty)} rows on the blank table"
        if len({part.shape[1:] for part in parts}) > 1:  # a table says that it cannot be asked for
            with pytest.raises(ValueError, match=f"cells differ in the other axes of {name} "):
                getattr(table.per(axis), name)
            continue
        found = getattr(table.per(axis), name)
        if empty.dtype != object and found.dtype.kind not in {"f": "fi"}.get(empty.dtype.kind, empty.dtype.kind):
            return f"per {axis}: {found.dtype}, and {empty.dtype} on the blank table"
        np.testing.assert_array_equal(found, np.concatenate(parts))
    return ""


def properties_of(kind: type[Cases]) -> list[str]:
    """The plain properties of a record, which a table computes of its own columns."""
    own = [name for name in dir(kind) if not name.startswith("_") and name not in vars(Cases)]
    return [name for name in own if isinstance(inspect.getattr_static(kind, name), property)]


def owner_of(kind: type[Cases], name: str) -> type:
    """The class that defines it."""
    return next(each for each in kind.__mro__ if name in vars(each))


def wrong_property(kind: type[Cases], cells: list[Any], name: str) -> str:
    """That a property of a table is not that of its cells, one after the other, per any axis it can be asked per."""
    if name in PLACES_IN_A_CELL:
        return ""
    axes = [kind.rows, *(each for about in columns_of(kind).values() for each in about.axes if not each.isdigit())]
    for axis in dict.fromkeys(axes):
        parts = [computed(kind.join([cell]), name, axis) for cell in cells]
        if not all(isinstance(each, np.ndarray) and each.ndim and each.dtype != object for each in parts):
            continue
        if len({each.shape[1:] for each in parts}) > 1:
            continue
        empty = getattr(kind.join([]).per(axis), name)
        try:
            found = getattr(kind.join(cells).per(axis), name)
        except ValueError as error:
            if "cells differ in the other axes of" not in str(error):
                raise
            continue
        told = f"{kind.__name__}.{name} per {axis}: "
        if len(empty):
            return f"{told}{len(empty)} rows on the blank table"
        if found.dtype.kind != empty.dtype.kind:
            return f"{told}{found.dtype}, and {empty.dtype} on the blank table"
        if not np.array_equal(found, np.concatenate(parts), equal_nan=found.dtype.kind == "f"):
            return f"{told}{found}, and its cells have {parts}"
        alone = [computed(cell, name) for cell in cells] if axis == kind.rows else []
        for each, part in zip(alone, parts, strict=False):
            is_told = np.shape(each) == part.shape
            if is_told and not np.array_equal(each, part, equal_nan=part.dtype.kind == "f"):
                return f"{told}{part} in a table of one cell, which has {each}"
    return ""


def computed(owner: Cases, name: str, axis: str = "") -> Any:
    """A property of a cell, or of a table per this axis; None where it cannot be asked of that."""
    try:
        return getattr(owner.per(axis) if axis else owner, name)
    except NOT_PER_THIS:
        return None


def asked_per(kind: type[Cases], axes: tuple[str, ...]) -> list[str]:
    """What a column can be asked per: its own axes. Both of two axes of one name are never asked for."""
    if axes and axes[0] in kind.lengths:
        return [axes[0]]
    own = [axis for axis in axes if not axis.isdigit() and axes.count(axis) == 1]
    return own or [kind.rows, *([] if axes else [CELL])]


def entries_of(cell: Any, name: str, axis: str) -> np.ndarray:
    """A column of a cell, an entry after the other, in every run."""
    axes, value = columns_of(type(cell))[name].axes, getattr(cell, name)
    if not axes:
        n_rows = 1 if axis == CELL else len(cell)
        return np.fromiter([value] * n_rows, columns_of(type(cell))[name].dtype)
    if axes[0] in cell.lengths:
        return np.asarray(value)
    front = [axes.index(each) for each in dict.fromkeys((cell.rows, axis)) if each in axes]
    moved = np.moveaxis(np.asarray(value), front, range(len(front)))
    own = moved.reshape(math.prod(moved.shape[: len(front)]), *moved.shape[len(front) :])
    return own if cell.rows in axes else np.tile(own, (len(cell), *[1] * (own.ndim - 1)))


@dataclass(frozen=True, eq=False)
class Toy(Cases):
    norm: Float[np.ndarray, " run"]
    gains: Float[np.ndarray, "run update"]
    levels: Float[np.ndarray, " level"]
    slope: Number = 0.5


def broken(axes: Any, function: Callable[[Any], Any]) -> type[Toy]:
    """The record with one more column."""
    return type("Broken", (Toy,), {"__annotations__": {"new": axes}, "new": derived(function)})


def toys(kind: type[Toy], *shapes: tuple[int, int]) -> list[Any]:
    made = [Toy(np.arange(1.0, n + 1), np.arange(1.0 * n * m).reshape(n, m), np.arange(3.0)) for n, m in shapes]
    return cells_in(kind, made)


RUNS, UPDATES = Float[np.ndarray, " run"], Float[np.ndarray, "run update"]


@pytest.mark.parametrize("shapes", [[(7, 3)], [(1, 3)], [(3, 2), (2, 5)], [(1, 1), (1, 4)]])
@pytest.mark.parametrize(
    ("axes", "function", "told"),
    [
        (RUNS, lambda runs: 2 * runs.norm, ""),
        (UPDATES, lambda runs: runs.gains + runs.levels.sum(), ""),
        (float, lambda runs: runs.norm.max(), ""),
        (dict, lambda runs: {"n": len(runs)}, ""),
        (Float[np.ndarray, "run level update"], lambda runs: runs.levels[:, None] * runs.gains[:, None], ""),
        (RUNS, lambda runs: runs.norm > 0, "bool, and float64 on the blank table"),
        (RUNS, lambda runs: np.append(runs.norm, 0.0), "shape "),
        (RUNS, lambda runs: runs.gains, "shape "),
        (float, lambda runs: runs.norm, "shape "),
        (Float[np.ndarray, "update run"], lambda runs: np.append(runs.gains, runs.gains, axis=1), "shape "),
    ],
)
def test_control(shapes: list[tuple[int, int]], axes: Any, function: Callable[[Any], Any], told: str) -> None:
    kind = broken(axes, function)
    found = faults(kind, toys(kind, *shapes))
    assert len(found) == bool(told)
    assert all("Broken.new: " in each and told in each for each in found)


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda runs: 2 * runs.norm, ""),
        (lambda runs: runs.gains * runs.norm[:, None], ""),
        (lambda runs: float(np.size(runs.norm)), ""),
        (lambda runs: runs.norm - runs.norm.mean() if len(runs) else runs.norm, "per run: "),
        (lambda runs: np.cumsum(runs.norm), "per run: "),
        (lambda runs: runs.norm > 0 if len(runs) else runs.norm, "per run: bool, and float64 on the blank table"),
        (lambda runs: np.append(runs.norm, 1.0), "per run: 1 rows on the blank table"),
        (
            lambda runs: runs.norm * (1 + hasattr(runs, "_axis")),
            "in a table of one cell, which has",
        ),
    ],
)
def test_control_of_properties(function: Callable[[Any], Any], told: str) -> None:
    kind = type("Plain", (Toy,), {"new": property(function)})
    assert properties_of(kind) == ["new"]
    found = wrong_property(kind, two_of(toys(kind, (3, 2), (2, 5))), "new")
    assert bool(found) == bool(told)
    assert told in found


@pytest.mark.parametrize("shapes", [[(7, 3)], [(3, 2), (2, 5)]])
def test_control_of_tables(shapes: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch) -> None:
    join = cases._rows_of
    monkeypatch.setattr(cases, "_rows_of", lambda *about: join(*about)[::-1])
    with pytest.raises(AssertionError, match="Arrays are not equal"):
        faults(Toy, toys(Toy, *shapes))
