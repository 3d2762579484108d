"""Lemma E.16 and its steps: S⁺ is nearly γ + 1 from the first iteration on at which −N(x⁻) ≥ 1.

Until then N(x⁺) ≥ γ makes x⁻ alone active. Such a step lowers N(x⁺) by 2c_η for the filters u and, which the proof
leaves out, by up to 2η|W24| for the filters w. So N(x⁺) ≥ γ − 2c_η(1 + |W24|/k), and S⁺ = N(x⁺) − N(x⁻) + S⁻ follows.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.base import Evidence, Kind, claim
from widenet.claims.sides import Sense
from widenet.papers.brutzkus2019.claims.trace_evidence import ScoredRuns, times
from widenet.papers.brutzkus2019.runs.traces import Trace, TraceSetting, all_runs, traces, wide_traces
from widenet.records import Scale


def counterexample(scale: Scale, seed: int) -> list[TraceSetting]:
    """c_η = 1/412.95, |W13| = 40 and |U13| = 60: both within 2√k of k/2, so inside the event of Lemma E.2."""
    setting = TraceSetting(
        half_width=120,
        step_constant=20 / 8259,
        margin=8.0,
        n_positive=40,
        n_minus_positive=60,
        n_runs=10 if scale is Scale.QUICK else 200,
        seed=10 * seed,
    )
    return setting.in_cells_of(25)


def with_counterexample(scale: Scale, seed: int) -> list[TraceSetting]:
    """All runs, and those that refute the print."""
    return [*all_runs(scale, seed), *counterexample(scale, seed)]


def allowed_drop(trace: Trace) -> Float[np.ndarray, "run 1"]:
    """2(1 + |W24|/k): how far N(x⁺), in units of c_η, may fall below γ in a step with only x⁻ active."""
    return 2 * (1 + trace.sizes["w24"] / trace.half_width)


def drop_in_words(printed: float | None) -> str:
    """What a part's name says of the drop: `allowed_drop`, or a printed multiple of c_η."""
    return "2c_η(1 + |W24|/k)" if printed is None else f"{times(printed)}c_η"


def first_inactive(active: Bool[np.ndarray, "run time"]) -> Int[np.ndarray, "run 1"]:
    """The first t that is not active, or the length of the trace."""
    return np.where(active.all(axis=1), active.shape[1], np.argmin(active, axis=1))[:, None]


@claim(
    "brutzkus2019.lemma_e_16",
    Kind.STEP,
    "Lemma E.16, with what the filters of W24 add",
    reads=traces.at(with_counterexample),
)
def lemma_e_16(seen: Sequence[Trace], *, deficit: float | None = None, regime: bool = False) -> Evidence:
    """If the loss is 0 from T on, there is T2 < T with S⁺_t ≥ γ + 1 − 2c_η(1 + |W24|/k) for t ≥ T2 and −N_t(x⁻) < 1
    for t < T2.

    T2 is the first t with −N(x⁻) ≥ 1 if that is before T, else T − 1: S⁺ never falls, so no other choice is better.
    As printed the deficit is 3c_η.
    """
    runs = ScoredRuns(seen, at_zero_loss=True)
    crossings = [(trace, np.minimum(first_inactive(trace.minus_active), trace.steps[:, None] - 1)) for trace in seen]
    return runs.evidence(
        {
            f"S⁺ ≥ γ + 1 − {drop_in_words(deficit)} at T2": runs.sides(
                (
                    (trace, _below_goal(trace, at), allowed_drop(trace) if deficit is None else deficit, True)
                    for trace, at in crossings
                ),
                quantity="largest (γ + 1 − S⁺)/c_η at T2",
            ),
            "S⁺ does not fall after T2": runs.fact(
                (trace, np.diff(trace.s_plus, axis=1, append=trace.s_plus[:, -1:]) >= 0, trace.stepping)
                for trace, _ in crossings
            ),
            "T2 < T, and −N(x⁻) < 1 before (by construction)": runs.fact(
                (trace, trace.minus_active | (trace.times >= at), True) for trace, at in crossings
            ),
        },
        regime=regime,
    )


def _below_goal(trace: Trace, at: Int[np.ndarray, "run 1"]) -> Float[np.ndarray, "run 1"]:
    return (sum(trace.goals) - np.take_along_axis(trace.s_plus, at, axis=1)) / trace.half_width


lemma_e_16_as_printed = lemma_e_16.variant(
    "lemma_e_16_as_printed",
    where="Lemma E.16",
    statement="If the loss is 0 from T on, there is T2 < T with S⁺_t ≥ γ + 1 − 3c_η for t ≥ T2 and −N_t(x⁻) < 1 for t "
    "< T2. False for k = 120, c_η = 1/412.95, γ = 8 and every start tried with |W13| = 40 and |U13| = 60 (both within "
    "2√k of k/2): −N(x⁻) reaches 1 at t = 5776, when S⁺ is below γ + 1 − 3.2c_η, and T = 5787.",
    reads=traces.at(counterexample),
    deficit=3.0,
    regime=True,
)


@claim(
    "brutzkus2019.lemma_e_16_steps",
    Kind.STEP,
    "the two steps in the proof of Lemma E.16, the first with what the filters of W24 add",
    reads=traces,
)
def lemma_e_16_steps(seen: Sequence[Trace], *, drop: float | None = None, regime: bool = False) -> Evidence:
    """Between the first t with N(x⁺) ≥ γ and the first with −N(x⁻) ≥ 1: N_t(x⁺) ≥ γ gives N_{t+1}(x⁺) ≥ γ − 2c_η(1 +
    |W24|/k), and N_t(x⁺) < γ gives N_{t+1}(x⁺) = N_t(x⁺) + 2η|W13|.

    As printed the first drop is 2c_η.
    """
    runs = ScoredRuns(seen, at_zero_loss=True)
    steps = []
    for trace in seen:
        first, crossing = first_inactive(trace.plus_active), first_inactive(trace.minus_active)
        between = (trace.times >= first) & (trace.times < crossing)  # at zero loss −N(x⁻) ≥ 1 by T
        after = np.concatenate([trace.n_plus[:, 1:], trace.n_plus[:, -1:]], axis=1)
        steps.append((trace, between, after))
    return runs.evidence(
        {
            f"N(x⁺) ≥ γ: at least γ − {drop_in_words(drop)} after": runs.sides(
                (
                    (
                        trace,
                        (trace.goals[0] - after) / trace.half_width,
                        allowed_drop(trace) if drop is None else drop,
                        between & ~trace.plus_active,
                    )
                    for trace, between, after in steps
                ),
                quantity="largest (γ − N(x⁺))/c_η right after a step with only x⁻ active, before −N(x⁻) ≥ 1",
            ),
            "N(x⁺) < γ: it grows by 2η|W13|": runs.sides(
                (
                    (trace, after - trace.n_plus, 2 * trace.sizes["w13"], between & trace.plus_active)
                    for trace, between, after in steps
                ),
                Sense.EQUAL,
                quantity="growth of N(x⁺) in units of η",
            ),
        },
        regime=regime,
    )


lemma_e_16_steps_as_printed = lemma_e_16_steps.variant(
    "lemma_e_16_steps_as_printed",
    where="the first of the two steps in the proof of Lemma E.16",
    statement="Between the first t with N(x⁺) ≥ γ and the first with −N(x⁻) ≥ 1: N_t(x⁺) ≥ γ gives N_{t+1}(x⁺) ≥ γ − "
    "2c_η. False at k = 120, c_η = 1/410, γ = 8: a step with only x⁻ active takes 2c_η through the filters u alone, "
    "and up to 2η|W24| more through the filters w.",
    reads=wide_traces,
    drop=2.0,
    regime=True,
)
