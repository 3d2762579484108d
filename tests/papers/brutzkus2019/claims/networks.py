"""Trained networks that several test files share, each trained once per process, and ways to alter and to read them."""

import dataclasses
import functools
from typing import Any

import jax.numpy as jnp
import numpy as np

from widenet.claims import Claim, Evidence, Experiment, Part
from widenet.claims.applicability import Applied
from widenet.claims.user_data import Choices, UserData
from widenet.data.xord import PATTERNS
from widenet.papers.brutzkus2019.runs.trained import TrainedSetting, TrainedXord, corner, run_trained
from widenet.progress import silent
from widenet.records import ClosedModel
from widenet.types import Dataset

ARRAYS = ("start", "final", "outputs", "steps", "status", "loss")
PAIRS = {"1": (1, 1), "2": (1, -1), "3": (-1, -1), "4": (-1, 1)}


@functools.cache
def networks(
    half_width: int,
    step_constant: float,
    required_margin: float,
    n_runs: int = 60,
    max_steps: int = 12_000,
    **more: Any,
) -> TrainedXord:
    """Networks from random starts."""
    setting = TrainedSetting(
        half_width=half_width,
        step_constant=step_constant,
        required_margin=required_margin,
        n_runs=n_runs,
        max_steps=max_steps,
        **{"seed": 1, **more},
    )
    return run_trained(setting)


@functools.cache
def in_the_corner() -> TrainedXord:
    """k = 120, c_η = 1/410, γ = 8."""
    return run_trained(corner(1, 60))


@functools.cache
def many_in_the_corner(n_runs: int = 557) -> TrainedXord:
    """As many runs as Theorem 6.3 needs, or another number: the same sixty several times."""
    return repeated(in_the_corner(), n_runs)


def fast() -> TrainedXord:
    """The corner with ten times the step."""
    return networks(120, 1 / 41, 8.0)


def small_margin() -> TrainedXord:
    return networks(120, 1 / 41, 1.0)


def twenty() -> TrainedXord:
    return networks(20, 1 / 8, 1.0, 560)


def some(trained: TrainedXord, rows: Any) -> TrainedXord:
    """A part of the runs, or the same runs several times, to see how the verdict depends on their number; copies."""
    return dataclasses.replace(trained, **{name: np.array(getattr(trained, name)[rows]) for name in ARRAYS})


def repeated(trained: TrainedXord, n_runs: int) -> TrainedXord:
    """The same runs again and again, so many."""
    return some(trained, np.arange(n_runs) % trained.n_runs)


def altered(trained: TrainedXord, **arrays: Any) -> TrainedXord:
    """A copy with `name=(where, value)` written into its arrays."""
    changed = some(trained, slice(None))
    for name, (where, value) in arrays.items():
        getattr(changed, name)[where] = value
    return changed


def lost(runs: TrainedXord, n_runs: int) -> TrainedXord:
    """So many runs end with a loss of 1e-12, from starts of the same size in which every w lies along p_1.

    They are outside the events of the counts, so that only the rate speaks about them.
    """
    plus = runs.start[:n_runs, : runs.half_width]
    along = np.linalg.norm(plus, axis=-1, keepdims=True) * PATTERNS[0] / np.sqrt(2)
    where = (slice(n_runs), slice(runs.half_width))
    return altered(runs, start=(where, along), loss=(slice(n_runs), 1e-12))


def part(evidence: Evidence, key: str) -> Part:
    """The part with this key."""
    (found,) = [each for each in evidence.parts if each.key == key]
    return found


def number(value: float | None) -> float:
    assert value is not None
    return value


def points(*words: str) -> Dataset:
    """Points of XORD by the numbers of their patterns, with the labels of f*."""
    inputs = jnp.asarray([[entry for letter in word for entry in PAIRS[letter]] for word in words], float)
    return Dataset(inputs, jnp.asarray([1.0 if set(word) & {"1", "3"} else -1.0 for word in words]))


def user_data(data: Dataset, **choices: Any) -> UserData:
    return UserData(data, Choices(**choices))


_CELLS: dict[Any, Any] = {}
"""Results by run and setting."""


def judged(claim: Claim, about: UserData) -> Evidence:
    """What a claim says about a reader's data; the runs are shared by the claims of a test process."""
    applied = claim.on(about)
    assert isinstance(applied, Applied), applied
    groups = applied.settings if isinstance(applied.settings, tuple) else (applied.settings,)
    runs = [[_result(each, setting) for setting in group] for each, group in zip(claim.reads, groups, strict=True)]
    return claim(*runs)


def _result(experiment: Experiment, setting: ClosedModel) -> Any:
    if (experiment.run, setting) not in _CELLS:
        _CELLS[experiment.run, setting] = experiment.run(setting, silent)
    return _CELLS[experiment.run, setting]
