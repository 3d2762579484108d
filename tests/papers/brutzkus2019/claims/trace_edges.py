"""Controls of the hypotheses that all claims about trajectories share: each just inside and just outside its edge."""

import dataclasses
import functools
import math
from collections.abc import Callable

import numpy as np
import pytest

from tests.controls import breaks_hypothesis
from tests.papers.brutzkus2019.claims.settings import toy, traced
from widenet.claims.base import Claim, Evidence
from widenet.papers.brutzkus2019.runs.traces import Trace, TraceSetting, follow, on_grid
from widenet.types import RunStatus

ERROR = 1e-9
"""How far an edge is passed."""


@functools.cache
def border(half_width: int) -> Trace:
    """At the largest c_η and the smallest γ that the lemmas allow."""
    setting = TraceSetting(half_width=half_width, step_constant=1 / 8, margin=1.0, n_runs=1, seed=4)
    return follow(setting, toy("D4").start) if half_width == 2 else traced(setting)


def with_setting(trace: Trace, **changes: float) -> Trace:
    """The same records under another setting."""
    return dataclasses.replace(trace, setting=trace.setting.model_copy(update=changes))


def with_first_fit(trace: Trace, size: float) -> Trace:
    """⟨w_0, p₁⟩ of the first w has this size, in units of η."""
    start = trace.start.copy()
    start[:, 0, 0] = np.sign(start[:, 0, 0]) * size
    return dataclasses.replace(trace, start=start)


@functools.cache
def drawn(half_width: int) -> Trace:
    """Enough starting fits to measure σ_g."""
    return traced(TraceSetting(half_width=half_width, step_constant=1 / 8, margin=1.0, n_runs=30, seed=2))


def with_deviation(trace: Trace, relative: float) -> Trace:
    """Scaled so that σ_g as drawn is this share of c_η/(16k^{3/2}): a fit with p then has 1/(8√(2k)) of it, in η."""
    limit = math.sqrt(2) / (16 * math.sqrt(trace.half_width))
    return dataclasses.replace(trace, start=trace.start * (relative * limit / np.sqrt(np.square(trace.start).mean())))


def allowed_deviation(trace: Trace) -> float:
    """1, and six standard errors of a deviation measured on so many numbers."""
    return 1 + 6 / math.sqrt(2 * trace.start.size)


def edges(
    claim: Claim, wide: bool, at_zero_loss: bool
) -> dict[tuple[str, str], Callable[[], tuple[Evidence, Evidence]]]:
    """(hypothesis, words) → evidence just inside and just outside."""
    half_width = 17 if wide else 2
    base, many = border(half_width), drawn(17 if wide else 16)
    radius = math.sqrt(2) / 4

    def pair(first: Trace, second: Trace) -> Callable[[], tuple[Evidence, Evidence]]:
        return lambda: (claim([first]), claim([second]))

    largest = allowed_deviation(many)
    found = {
        ("in_event", "size"): pair(
            with_first_fit(base, on_grid(radius) - ERROR), with_first_fit(base, on_grid(radius) + ERROR)
        ),
        ("in_event", "beside another"): lambda: (claim([base, base]), claim([base, with_first_fit(base, 0.36)])),
        ("in_event", "kink"): pair(with_first_fit(base, 0.3), with_first_fit(base, 0.0)),
        ("in_event", "tie"): pair(base, with_first_fit(base, np.abs(base.start[0, 0, 1]))),
        ("deviation", ""): pair(with_deviation(many, largest - ERROR), with_deviation(many, largest + ERROR)),
        ("step_constant", ""): pair(base, with_setting(base, step_constant=1 / 8 + ERROR)),
        ("margin", ""): pair(base, with_setting(base, margin=1 - ERROR)),
    }
    if at_zero_loss:
        stalled = dataclasses.replace(base, status=np.full_like(base.status, RunStatus.STALLED))
        found["in_event", "zero loss"] = pair(base, stalled)
    if wide:
        found["width", ""] = pair(base, border(16))
    return found


def shared_edges(*claims: Claim, wide: bool = False, at_zero_loss: bool = False) -> Callable:
    """One test case for each of these claims and each edge; with `wide`, the claim asks for k > 16 too."""
    tests = {
        f"{claim.name}-{key}-{words}": breaks_hypothesis(claim, key)(make)
        for claim in claims
        for (key, words), make in edges(claim, wide, at_zero_loss).items()
    }

    @pytest.mark.parametrize("what", tests)
    def test(what: str) -> None:
        tests[what]()

    return test
