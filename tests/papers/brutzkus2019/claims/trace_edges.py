"""Controls of the hypotheses that all claims about trajectories share: each just inside and just outside its edge."""

import dataclasses
import functools
import math
from collections.abc import Callable

import numpy as np

from tests.controls import breaks_hypothesis, each_of
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
    """(hypothesis, words) → evidence just inside and just outside; runs are made when it is asked for."""
    radius = on_grid(math.sqrt(2) / 4)

    def base() -> Trace:
        return border(17 if wide else 2)

    def scaled(error: float) -> Trace:
        many = drawn(17 if wide else 16)
        return with_deviation(many, allowed_deviation(many) + error)

    def stalled() -> Trace:
        return dataclasses.replace(base(), status=np.full_like(base().status, RunStatus.STALLED))

    def fitted(size: float) -> Trace:
        return with_first_fit(base(), size)

    runs: dict[tuple[str, str], Callable[[], tuple[list[Trace], list[Trace]]]] = {
        ("in_event", "size"): lambda: ([fitted(radius - ERROR)], [fitted(radius + ERROR)]),
        ("in_event", "beside another"): lambda: ([base(), base()], [base(), fitted(0.36)]),
        ("in_event", "kink"): lambda: ([fitted(0.3)], [fitted(0.0)]),
        ("in_event", "tie"): lambda: ([base()], [fitted(np.abs(base().start[0, 0, 1]))]),
        ("deviation", ""): lambda: ([scaled(-ERROR)], [scaled(ERROR)]),
        ("step_constant", ""): lambda: ([base()], [with_setting(base(), step_constant=1 / 8 + ERROR)]),
        ("margin", ""): lambda: ([base()], [with_setting(base(), margin=1 - ERROR)]),
    }
    if at_zero_loss:
        runs["in_event", "zero loss"] = lambda: ([base()], [stalled()])
    if wide:
        runs["width", ""] = lambda: ([base()], [border(16)])

    def judged(make: Callable[[], tuple[list[Trace], list[Trace]]]) -> tuple[Evidence, Evidence]:
        inside, outside = make()
        return claim(inside), claim(outside)

    return {what: functools.partial(judged, make) for what, make in runs.items()}


def shared_edges(*claims: Claim, wide: bool = False, at_zero_loss: bool = False) -> Callable:
    """One test case for each of these claims and each edge; with `wide`, the claim asks for k > 16 too."""
    tests = {
        f"{claim.name}-{key}-{words}": breaks_hypothesis(claim, key)(make)
        for claim in claims
        for (key, words), make in edges(claim, wide, at_zero_loss).items()
    }
    return each_of(tests)
