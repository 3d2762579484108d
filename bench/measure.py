"""How a peer is timed."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Measured:
    """One row of the table.

    Attributes:
      peer: its name.
      us_per_step_per_run: microseconds per step and run, after compilation; NaN if the peer could not run.
      compile_seconds: what the first call took beyond a later one.
      weights: hidden weights of the runs that were trained, after `steps` steps; None where there are none.
      steps: how many steps led to `weights`.
      note: why a peer is missing, or how it was configured.
    """

    peer: str
    us_per_step_per_run: float
    compile_seconds: float = 0.0
    weights: np.ndarray | None = None
    steps: int = 0
    note: str = ""


def missing(peer: str, why: str) -> Measured:
    """A row that says why there is no number."""
    return Measured(peer, float("nan"), note=why)


def timed(call: Callable[[], Any], repeats: int = 3) -> tuple[float, float, Any]:
    """(best seconds, compile seconds, result) of a call that waits for its own work."""
    start = time.perf_counter()
    result = call()
    first = time.perf_counter() - start
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        result = call()
        best = min(best, time.perf_counter() - start)
    return best, max(0.0, first - best), result


def disagreement(one: Measured, other: Measured, tolerance: float = 1e-5) -> tuple[float, float]:
    """(median neuron's difference, fraction of neurons beyond the tolerance), relative to the largest weight.

    In float32 a pre-activation within rounding of a kink may take the other branch; that neuron then leaves the rest.
    """
    if one.weights is None or other.weights is None or one.steps != other.steps:
        return float("nan"), float("nan")
    runs = min(len(one.weights), len(other.weights))
    left, right = (np.asarray(weights[:runs], np.float64) for weights in (one.weights, other.weights))
    apart = np.abs(left - right).max(axis=-1) / np.abs(right).max()
    return float(np.median(apart)), float((apart > tolerance).mean())
