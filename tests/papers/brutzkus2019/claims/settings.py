"""Runs that several test files share, each computed once per process, and ways to alter their records."""

import dataclasses
import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.controls import claims_of
from widenet.claims.base import Claim, Evidence, Part
from widenet.papers.brutzkus2019.runs.trace_settings import overshoot_settings
from widenet.papers.brutzkus2019.runs.traces import Trace, TraceSetting, follow, run_trace
from widenet.progress import silent
from widenet.records import Scale

FAST = TraceSetting(half_width=120, step_constant=1 / 41, margin=8.0, n_runs=100, seed=1)
"""The widths of Theorem 6.3 with a larger step: ten times fewer iterations."""
SMALL = TraceSetting(half_width=4, step_constant=1 / 8, margin=2.0, n_runs=6, seed=3)
SCATTERED = SMALL.model_copy(update={"spread": 200.0})
"""Initial weights far outside the event of Lemma E.3."""
WIDE = overshoot_settings(Scale.QUICK, 0)[-1].model_copy(update={"n_runs": 1})
"""At the corner of Theorem 6.3, a start that refutes what is false as printed, but for Lemma E.16."""

Fits = tuple[tuple[int, int], ...]

TOYS: dict[str, tuple[float, float, Fits, Fits]] = {
    "D2": (1 / 16, 1035 / 1024, ((-15, -1), (1, -22)), ((-15, -19), (-15, -8))),
    "D3": (1 / 24, 355 / 192, ((-2, -22), (12, -22), (2, 1)), ((14, -9), (-5, -6), (-14, -8))),
    "D4": (1 / 16, 2.0, ((11, 3), (-9, 4)), ((5, -13), (-7, 2))),
    "J1": (1 / 16, 531 / 512, ((20, 1), (-20, -1)), ((2, 1), (-2, 1))),
    "J2": (1 / 16, 659 / 512, ((20, 1), (-20, -1)), ((2, 1), (-2, 1))),
    "J3": (1 / 16, 1319 / 1024, ((20, 1), (-20, -1)), ((2, 1), (-2, 1))),
    "J4": (1 / 32, 91 / 64, ((22, 5), (11, 2), (14, -2), (22, 1)), ((-19, -18), (-14, -8), (-6, -21), (-22, 18))),
    "J5": (1 / 32, 2695 / 2048, ((12, 11), (-13, -10), (13, -8), (17, -12)), ((20, 15), (21, 19), (-12, -6), (6, -21))),
    "J6": (1 / 16, 43 / 32, ((3, 1), (4, 18)), ((7, -18), (-16, 22))),
    "J7": (1 / 82, 14531 / 5248, ((-20, 17), (22, -3)), ((-1, -2), (2, -3))),
    "J8": (1 / 24, 3541 / 1536, ((1, 2), (2, 5), (-15, -9)), ((-12, -20), (1, 10), (-18, 21))),
    "J9": (1 / 32, 2509 / 1024, ((1, 18), (3, -11), (-9, 10), (-18, 9)), ((-7, -17), (-13, -9), (-2, -1), (-7, 12))),
    "J10": (1 / 16, 2.0, ((11, 3), (-9, 4)), ((1, 22), (1, -2))),
    "J15": (1 / 16, 2919 / 1024, ((12, -1), (8, 3)), ((11, 1), (22, -1))),
    "two in one cone": (1 / 24, 2.0, ((11, 3), (-9, 4), (7, 5)), ((5, -13), (-7, 2), (3, 8))),
    "three units of U24": (1 / 24, 2.0, ((11, 3), (-9, 4), (7, 5)), ((5, 21), (-7, 19), (3, -20))),
    "two units of U13": (1 / 16, 2.0, ((11, 3), (-9, 4)), ((14, 9), (-14, -8))),
    "no w in W13": (1 / 16, 2.0, ((3, 11), (-4, 9)), ((5, -13), (-7, 2))),
}
"""η, γ, and the fits (s, r) of the w's and of the u's in units of η/64: runs followed by hand, in fractions."""


def traced(setting: TraceSetting) -> Trace:
    """The runs of a setting."""
    return _traced(setting.model_dump_json())


@functools.cache
def _traced(setting: str) -> Trace:
    return run_trace(TraceSetting.model_validate_json(setting), silent)


@functools.cache
def toy(name: str) -> Trace:
    """One run from a start of `TOYS`."""
    step_size, margin, w, u = TOYS[name]
    half = len(w)
    setting = TraceSetting(half_width=half, step_constant=half * step_size, margin=margin, n_runs=1)
    return follow(setting, np.array([[*w, *u]]) / 64)


def altered(trace: Trace, name: str, times: int | slice, change: Callable[[np.ndarray], object]) -> Trace:
    """A copy with another record: `change` of what stands in the array at these times, in every run.

    A group of filters is named with a dot: "a_range.w13".
    """
    field, _, group = name.partition(".")
    old = getattr(trace, field)
    array = (old[group] if group else old).copy()
    array[..., times] = change(array[..., times])
    return dataclasses.replace(trace, **{field: {**old, group: array} if group else array})


def with_outputs(trace: Trace, t: int | slice, *, plus: float | None = None, minus: float | None = None) -> Trace:
    """A record in which N(x⁺) or −N(x⁻) has this value, in units of η, at these times: S⁺ or S⁻ is moved."""
    rest = trace.x - trace.y
    if plus is not None:
        trace = altered(trace, "s_plus", t, lambda _: (plus - rest + trace.p_plus)[..., t])
    if minus is not None:
        trace = altered(trace, "s_minus", t, lambda _: (-minus - rest + trace.p_minus)[..., t])
    return trace


def on_toy(claim: Claim, name: str, **constants: Any) -> Callable[..., Evidence]:
    """The claim judged on a toy run with other records: name=(times, change), a group with a dot."""

    def judged(**changes: Any) -> Evidence:
        trace = toy(name)
        for record, (times, change) in changes.items():
            trace = altered(trace, record, times, change)
        return claim([trace], **constants)

    return judged


def plus(value: float | np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """What stands there, and this much more."""
    return lambda old: old + value


def now(value: float) -> Callable[[np.ndarray], float]:
    """This, whatever stood there."""
    return lambda old: value


def part_of(evidence: Evidence, name: str) -> Part:
    """The part of this name."""
    (found,) = [part for part in evidence.parts if part.name == name]
    return found


WITHOUT = {"w13": "no w in W13", "w24": "D4", "u13": "J10", "u24": "two units of U13"}
"""A toy in which this group is empty at the start."""
OF_A_STEP = ("a_step", "b_step", "y_kept", "u_lost")
"""Records of the step from t to t + 1."""


def with_nonsense_after_the_end(trace: Trace) -> Trace:
    """Another record after the T of each run, where nothing was seen."""
    changes = {}
    for name in (each.name for each in dataclasses.fields(trace)):
        where = ~(trace.stepping if name in OF_A_STEP else trace.seen)
        old = getattr(trace, name)
        if isinstance(old, dict):
            changes[name] = {group: np.where(where, [[[-99]], [[99]]], pair) for group, pair in old.items()}
        elif np.shape(old) == where.shape:
            changes[name] = np.where(where, 999, old)
    return dataclasses.replace(trace, **changes)


def with_nonsense_in(trace: Trace, group: str) -> Trace:
    """Other extremes of a group that is empty at the start."""
    assert not getattr(trace, f"{group}_at_start").any()
    changes = {}
    for name in ("a_range", "b_range", "a_step", "b_step"):
        old = getattr(trace, name)
        if group in old:
            changes[name] = old | {group: np.broadcast_to([[[-99]], [[99]]], old[group].shape)}
    return dataclasses.replace(trace, **changes)


def only_what_was_seen_counts(module: ModuleType) -> Callable:
    """A test that no claim of this module looks at a record after the end of a run, nor at a group without filters."""

    @pytest.mark.parametrize("claim", claims_of(module), ids=lambda claim: claim.name)
    def test(claim: Claim) -> None:
        trace = traced(SMALL)
        assert len(set(trace.steps.tolist())) > 1
        assert claim([with_nonsense_after_the_end(trace)]).parts == claim([trace]).parts
        for group, name in WITHOUT.items():
            assert claim([with_nonsense_in(toy(name), group)]).parts == claim([toy(name)]).parts, group

    return test


TINY = 2.0**-20
"""Far below every slack, far above rounding."""
