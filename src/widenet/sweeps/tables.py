"""What is looked at in the points of a pack, kept in one file: cells are read once, and a sweep is read by packs."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from widenet.run.reach import source_digest
from widenet.store import CellKey, Store
from widenet.sweeps.order import Question
from widenet.sweeps.rows import Row

FOLDER = "sweeps"
FINISHED, FAILED, MISSING, NOT_APPLICABLE = "finished", "failed", "missing", "does not apply"
OURS = ("widenet.sweeps.subjects", "widenet.sweeps.tables")
VALUES, COUNTS = "|values", "|counts"
WORD, NUMBER, RUNS = "word", "number", "runs"


@dataclass
class PackTable:
    """The rows of some points.

    Attributes:
      sweep: the digest of its order.
      states, reasons: of each point, and why it has no numbers.
      columns: by name, of each point an array with one entry per run, a number, or a word.
    """

    sweep: str
    key: CellKey
    n_points: int
    states: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    columns: dict[str, list] = field(default_factory=dict)

    @classmethod
    def of(cls, order: Question, modules: Sequence[str], span: range) -> "PackTable":
        """The empty table of these points. It is found again as long as the code that measures is the same."""
        look = {"look": list(order.look), "at": order.at}
        parameters = {"order": order.digest, **look, "points": [span.start, span.stop]}
        return cls(order.digest, CellKey("sweep", parameters, source_digest((*modules, *OURS))), len(span))

    def fill(self, rows: Sequence[tuple[str, str, Row]]) -> None:
        """Put in what was measured."""
        self.states, self.reasons = [state for state, _, _ in rows], [why for _, why, _ in rows]
        names = dict.fromkeys(name for _, _, row in rows for name in row)
        self.columns = {name: [row.get(name) for _, _, row in rows] for name in names}

    def keep(self, store: Store) -> None:
        """Write it; a damaged one that is there is set aside."""
        arrays = {"states": np.array(self.states), "reasons": np.array(self.reasons)}
        kinds = self.kinds
        for name, entries in self.columns.items():
            if kinds[name] == WORD:
                arrays[f"{name}{VALUES}"] = np.array([each or "" for each in entries])
                continue
            flat = [np.atleast_1d(np.nan if each is None else each).astype(np.float64) for each in entries]
            arrays[f"{name}{VALUES}"] = np.concatenate(flat)
            arrays[f"{name}{COUNTS}"] = np.array([len(each) for each in flat])
        _folder(store).put(self.key, arrays, {"kinds": kinds})

    @property
    def kinds(self) -> dict[str, str]:
        """Of each column, whether it has words, numbers or runs."""
        found = {}
        for name, entries in self.columns.items():
            first = next(each for each in entries if each is not None)
            found[name] = WORD if isinstance(first, str) else RUNS if isinstance(first, np.ndarray) else NUMBER
        return found

    def read(self, store: Store) -> bool:
        """Fill it from its file; says whether there is one, and it is whole."""
        cell = _folder(store).get(self.key)
        if cell is None:
            return False
        self.states, self.reasons = cell.arrays["states"].tolist(), cell.arrays["reasons"].tolist()
        for name, kind in cell.content["kinds"].items():
            values = cell.arrays[f"{name}{VALUES}"]
            if kind == WORD:
                self.columns[name] = values.tolist()
                continue
            ends = np.cumsum(cell.arrays[f"{name}{COUNTS}"])[:-1]
            parts = np.split(values, ends)
            self.columns[name] = parts if kind == RUNS else [each[0] for each in parts]
        return True


def _folder(store: Store) -> Store:
    return Store(store.root / FOLDER)
