"""What evidence tells about each setting: one row per setting, from columns of a table with one row per cell."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from widenet.claims.cases import Cases


def rows(**columns: Any) -> list[dict[str, Any]]:
    """One row per entry of these columns, by their names."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def beside(known: Iterable[Mapping[str, Any]], **columns: Any) -> list[dict[str, Any]]:
    """The rows that are known, each with these columns beside it."""
    return [{**first, **more} for first, more in zip(known, rows(**columns), strict=True)]


def largest(runs: Cases, values: np.ndarray, where: np.ndarray, initial: float = -np.inf) -> np.ndarray:
    """The largest value of each setting, among these runs."""
    found = np.full(len(runs.cells), initial)
    np.maximum.at(found, runs.cell[where], values[where])
    return found
