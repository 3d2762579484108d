"""Numbers of every update, kept up to a limit."""

import numpy as np
from jaxtyping import Int, Shaped


class Recorder:
    """Columns with one entry per update of any run, in the order in which they happened; asked for, run by run.

    A run that never ends would fill the memory: from `limit` entries on the recorder is full, and whoever records
    should stop (a watch that returns True ends the training).
    """

    def __init__(self, limit: int = 2**21):
        self.limit, self.size = limit, 0
        self.runs: list[np.ndarray] = []
        self.columns: dict[str, list[np.ndarray]] = {}

    def add(self, runs: Int[np.ndarray, " run"], **columns: Shaped[np.ndarray, "run ..."]) -> bool:
        """One update of each of these runs; returns whether the recorder is full."""
        self.runs.append(runs)
        for name, values in columns.items():
            self.columns.setdefault(name, []).append(values)
        self.size += len(runs)
        return self.size >= self.limit

    def by_run(self, name: str, n_runs: int) -> list[Shaped[np.ndarray, " update *rest"]]:
        """One column, cut into the updates of each run; empty where there was none."""
        if not self.runs:
            return [np.zeros(0) for _ in range(n_runs)]
        runs = np.concatenate(self.runs)
        order = np.argsort(runs, kind="stable")
        values = np.concatenate(self.columns[name])[order]
        return np.split(values, np.cumsum(np.bincount(runs, minlength=n_runs))[:-1])
