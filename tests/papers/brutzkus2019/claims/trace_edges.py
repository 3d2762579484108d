"""Columns of toy runs, changed at some times, and the default runs on which hypotheses of trajectories have an edge."""

import dataclasses
import functools
import math
from collections.abc import Callable, Iterator
from types import ModuleType

import numpy as np

from tests.control_table import Setup, at
from tests.controls import claims_of
from tests.papers.brutzkus2019.claims.settings import toy, traced
from widenet.claims.base import Claim, Verdict
from widenet.papers.brutzkus2019.runs.traces import Trace, TraceSetting

Change = Callable[[np.ndarray], np.ndarray]


def put(times: int | slice, value: object) -> Change:
    """A column with this value at these times, in every run."""

    def change(old: np.ndarray) -> np.ndarray:
        new = old.copy()
        new[:, times] = value
        return new

    return change


def add(times: int | slice, amount: object) -> Change:
    """A column with this much more at these times, in every run."""

    def change(old: np.ndarray) -> np.ndarray:
        new = old.copy()
        new[:, times] += amount
        return new

    return change


def on(name: str, **changes: object) -> Setup:
    """A toy run with other columns."""
    return at(toy(name), **changes)


@functools.cache
def many() -> Trace:
    """Enough starting fits to measure σ_g, k > 16."""
    return traced(TraceSetting(half_width=17, step_constant=1 / 8, margin=1.0, n_runs=30, seed=2))


def deviation_rows(module: ModuleType) -> Iterator[tuple]:
    """σ_g, to six standard errors: for every claim of a module that is not refuted."""
    limit = 1 + 6 / math.sqrt(2 * many().start.size)
    for claim in repaired_in(module):
        yield claim, "deviation", {"relative_deviation": limit - 1e-9}, {"relative_deviation": limit + 1e-9}


def repaired_in(module: ModuleType) -> list[Claim]:
    """Its claims without those that are false as printed."""
    return [claim for claim in claims_of(module) if claim.expected is Verdict.HOLDS]


def printed_in(module: ModuleType) -> tuple[Claim, ...]:
    """Its claims that are false as printed."""
    return tuple(claim for claim in claims_of(module) if claim.expected is Verdict.VIOLATED)


def with_setting(trace: Trace, **changes: float) -> Trace:
    """The same records under another setting."""
    return dataclasses.replace(trace, setting=trace.setting.model_copy(update=changes))
