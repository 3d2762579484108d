"""One thread per core, each with its share of the runs: how a CPU is filled by programs that take one run at a time."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from widenet.training.engine.memory import cores


def shares(n_runs: int) -> list[np.ndarray]:
    """Which runs each thread gets."""
    return np.array_split(np.arange(n_runs), min(cores(), n_runs))


def in_threads(program: Callable[..., Any], arguments: Sequence[Any]) -> list[Any]:
    """The program on each of these tuples of arguments, one per core at a time; it must wait for its own work."""
    with ThreadPoolExecutor(min(cores(), len(arguments))) as pool:
        return list(pool.map(lambda own: program(*own), arguments))
