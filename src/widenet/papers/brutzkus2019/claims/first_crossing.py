"""Lemma E.16 and its steps: S⁺ is nearly γ + 1 from the first iteration on at which −N(x⁻) ≥ 1.

Until then N(x⁺) ≥ γ makes x⁻ alone active. Such a step lowers N(x⁺) by 2c_η for the filters u and, which the proof
leaves out, by up to 2η|W24| for the filters w. So N(x⁺) ≥ γ − 2c_η(1 + |W24|/k), and S⁺ = N(x⁺) − N(x⁻) + S⁻ follows.
"""

import functools

import numpy as np

from widenet.claims.base import Claim, Evidence, Kind, Verdict
from widenet.papers.brutzkus2019.claims.trace_evidence import (
    Items,
    Sides,
    all_runs,
    at_the_end,
    compare,
    judge,
    never,
    wide_runs,
)
from widenet.papers.brutzkus2019.runs.traces import Setting, Trace
from widenet.types import Progress, Scale, silent

COUNTEREXAMPLE = {
    "half_width": 120,
    "step_constant": 20 / 8259,
    "margin": 8.0,
    "n_positive": 40,
    "n_minus_positive": 60,
}
"""c_η = 1/412.95, |W13| = 40 and |U13| = 60: both within 2√k of k/2, so inside the event of Lemma E.2."""


def _first(active: np.ndarray) -> np.ndarray:
    """The first t that is not active, or the length of the trace."""
    return np.where(active.all(axis=1), active.shape[1], np.argmin(active, axis=1))


def check_lemma_e_16(
    items: Items, progress: Progress = silent, *, deficit: float | None = None, regime: bool = False
) -> Evidence:
    """S⁺ ≥ γ + 1 − 2c_η(1 + |W24|/k) from T2 on; as printed γ + 1 − 3c_η.

    T2 is the first t with −N(x⁻) ≥ 1 if that is before T, else T − 1: S⁺ never falls, so no other choice is better.
    """

    def sides(seen: Trace) -> Sides:
        k, goal = seen.setting.half_width, sum(seen.setting.goals)
        crossing = np.minimum(_first(seen.minus_active), np.maximum(seen.ending.steps - 1, 0))
        value = np.take_along_axis(seen.s_plus, crossing[:, None], axis=1)[:, 0]
        allowed = 2 * (1 + (k - seen.w13[:, 0]) / k) if deficit is None else deficit
        falls = np.diff(seen.s_plus, axis=1, append=seen.s_plus[:, -1:]) < 0
        return at_the_end((goal - value) / k, allowed) & never(falls, seen.stepping)

    words = "largest (γ + 1 − S⁺)/c_η at T2"
    return judge(items, sides, words, progress, converged=True, regime=regime)


def check_lemma_e_16_steps(
    items: Items, progress: Progress = silent, *, drop: float | None = None, regime: bool = False
) -> Evidence:
    """For T1 ≤ t < T2: from N(x⁺) ≥ γ to at least γ − 2c_η(1 + |W24|/k) (printed: 2c_η); below γ it does not fall."""

    def sides(seen: Trace) -> Sides:
        k, gamma = seen.setting.half_width, seen.setting.goals[0]
        t = np.arange(seen.s_plus.shape[1])
        first, crossing = _first(seen.plus_active)[:, None], _first(seen.minus_active)[:, None]
        where = seen.stepping & (t >= first) & (t < crossing)
        after = np.concatenate([seen.n_plus[:, 1:], seen.n_plus[:, -1:]], axis=1)
        allowed = 2 * (1 + (k - seen.w13[:, :1]) / k) if drop is None else np.full((len(after), 1), drop)
        lowest = compare((gamma - after) / k, allowed, where & ~seen.plus_active)
        grows = after == seen.n_plus + 2 * seen.w13[:, :1]
        return lowest & never(~grows | (after < seen.n_plus), where & seen.plus_active)

    words = "largest (γ − N(x⁺))/c_η right after a step with only x⁻ active, before −N(x⁻) ≥ 1"
    return judge(items, sides, words, progress, converged=True, regime=regime)


def _counterexample(scale: Scale, seed: int) -> tuple[Setting, ...]:
    return (Setting(**COUNTEREXAMPLE, n_runs=10 if scale is Scale.QUICK else 200, seed=10 * seed),)


lemma_e_16 = Claim(
    "brutzkus2019.lemma_e_16",
    Kind.STEP,
    "If the loss is 0 from T on, there is T2 < T with S⁺_t ≥ γ + 1 − 2c_η(1 + |W24|/k) for t ≥ T2 and −N_t(x⁻) < 1 "
    "for t < T2.",
    "Lemma E.16, with what the filters of W24 add",
    check_lemma_e_16,
    lambda scale, seed: (*all_runs(scale, seed), *_counterexample(scale, seed)),
)
lemma_e_16_as_printed = Claim(
    "brutzkus2019.lemma_e_16_as_printed",
    Kind.STEP,
    "If the loss is 0 from T on, there is T2 < T with S⁺_t ≥ γ + 1 − 3c_η for t ≥ T2 and −N_t(x⁻) < 1 for t < T2. "
    "False for k = 120, c_η = 1/412.95, γ = 8 and every start tried with |W13| = 40 and |U13| = 60 (both "
    "within 2√k of k/2): −N(x⁻) reaches 1 at t = 5776, when S⁺ is below γ + 1 − 3.2c_η, and T = 5787.",
    "Lemma E.16",
    functools.partial(check_lemma_e_16, deficit=3.0, regime=True),
    _counterexample,
    Verdict.VIOLATED,
)
lemma_e_16_steps = Claim(
    "brutzkus2019.lemma_e_16_steps",
    Kind.STEP,
    "Between the first t with N(x⁺) ≥ γ and the first with −N(x⁻) ≥ 1: N_t(x⁺) ≥ γ gives N_{t+1}(x⁺) ≥ γ − 2c_η(1 + "
    "|W24|/k), and N_t(x⁺) < γ gives N_{t+1}(x⁺) = N_t(x⁺) + 2η|W13|.",
    "the two steps in the proof of Lemma E.16, the first with what the filters of W24 add",
    check_lemma_e_16_steps,
    all_runs,
)
lemma_e_16_steps_as_printed = Claim(
    "brutzkus2019.lemma_e_16_steps_as_printed",
    Kind.STEP,
    "Between the first t with N(x⁺) ≥ γ and the first with −N(x⁻) ≥ 1: N_t(x⁺) ≥ γ gives N_{t+1}(x⁺) ≥ γ − 2c_η. "
    "False at k = 120, c_η = 1/410, γ = 8: a step with only x⁻ active takes 2c_η through the filters u alone, and up "
    "to 2η|W24| more through the filters w.",
    "the first of the two steps in the proof of Lemma E.16",
    functools.partial(check_lemma_e_16_steps, drop=2.0, regime=True),
    wide_runs,
    Verdict.VIOLATED,
)

CLAIMS = (lemma_e_16, lemma_e_16_as_printed, lemma_e_16_steps, lemma_e_16_steps_as_printed)
