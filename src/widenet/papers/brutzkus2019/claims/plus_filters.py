"""How the filters w move (Lemmas E.4, 6.2 = E.5, E.9, E.10, Eq. 9 and 10): each stays in its cone and walks along it.

⟨p, p⟩ = 2, so a step η p adds 2η to a fit; the proofs of the paper write η. That makes Lemma E.10 false by a factor 2.
And a⁺(t) counts t itself, while w_t has moved only in the steps before t: Lemma 6.2 is right with a⁺(t − 1).
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool

from widenet.claims.base import Evidence, Kind, claim
from widenet.claims.sides import Sense
from widenet.claims.tolerances import STEP
from widenet.papers.brutzkus2019.claims.trace_evidence import Answered, Compared, ScoredRuns, filled, furthest, times
from widenet.papers.brutzkus2019.runs.traces import EVENT_RADIUS, Trace, traces, wide_traces


@claim("brutzkus2019.lemma_e_4", Kind.STEP, "Lemma E.4", reads=traces)
def lemma_e_4(seen: Sequence[Trace], *, share: float = 1.0) -> Evidence:
    """At t = 0, 1, 2 both points are active: N(x⁺) ≤ (2t + √2/4)c_η < 1 and −N(x⁻) < 1. Filters of W⁺(i) ∩ W⁻(l), i
    odd, are at w_0 + tηp_i − (t mod 2)ηp_l; those of U⁺(i) ∩ U⁻(l) at u_0 − ηp_i + ηp_l from t = 1 on; all others
    have not moved. (The proof bounds N_0(x⁺) by ηk/4; Lemma E.3 gives √2ηk/4.)

    A control asks for a `share` of the bound.
    """
    runs = ScoredRuns(seen)
    first = [(trace, t) for trace in seen for t in range(min(3, len(trace.times)))]
    outputs = [(trace, t, trace.n_plus[:, t], -trace.n_minus[:, t]) for trace, t in first]
    # (A, B) along the signs of the start, at t = 0, 1, 2.
    expected = {
        "w13": ([0, 1, 2], [0, -1, 0]),
        "w24": ([0, 0, 0], [0, 0, 0]),
        "u13": ([0, -1, -1], [0, 1, 1]),
        "u24": ([0, 0, 0], [0, 0, 0]),
    }
    return runs.evidence(
        {
            "N(x⁺) ≤ (2t + √2/4)c_η": runs.sides(
                (
                    (trace, plus / trace.half_width, share * (2 * t + EVENT_RADIUS), True)
                    for trace, t, plus, _ in outputs
                ),
                quantity="N(x⁺)/c_η where it is closest to 2t + √2/4, t ≤ 2",
            ),
            "N(x⁺) < 1": runs.sides(
                ((trace, plus / trace.goals[1], 1.0, True) for trace, _, plus, _ in outputs), strict=True
            ),
            "−N(x⁻) < 1": runs.sides(
                ((trace, minus / trace.goals[1], 1.0, True) for trace, _, _, minus in outputs), strict=True
            ),
            **{
                f"places of {group.upper()}": runs.fact(_places(trace, group, a, b) for trace in seen)
                for group, (a, b) in expected.items()
            },
        }
    )


def _places(trace: Trace, group: str, a: list[int], b: list[int]) -> Answered:
    """Whether all of a group are at (A, B). A run without a filter in W13 stands still before t = 2."""
    last = min(3, len(trace.times))
    at_a = (trace.a_range[group][..., :last] == a[:last]).all(axis=0)
    at_b = (trace.b_range[group][..., :last] == b[:last]).all(axis=0)
    return trace, at_a & at_b, filled(trace, group) & filled(trace, "w13")


@claim("brutzkus2019.observation_active_steps", Kind.STEP, "after Lemma 6.2", reads=traces)
def observation_active_steps(seen: Sequence[Trace]) -> Evidence:
    """a⁺(t), the number of iterations t' ≤ t with N_{t'}(x⁺) < γ, has a⁺(0) = 1 and never falls."""
    runs = ScoredRuns(seen)
    counts = [(trace, trace.updates + trace.plus_active) for trace in seen]
    falls = [(trace, np.diff(count, axis=1, append=count[:, -1:]) >= 0, trace.seen) for trace, count in counts]
    return runs.evidence(
        {
            "a⁺(0) = 1": runs.sides(((trace, count[:, 0], 1, True) for trace, count in counts), Sense.EQUAL),
            "a⁺ never falls (by construction)": runs.fact(falls),
        }
    )


@claim(
    "brutzkus2019.lemma_6_2",
    Kind.STEP,
    "Lemma 6.2 and Lemma E.5, with the count that its proof needs",
    reads=traces,
)
def lemma_6_2(
    seen: Sequence[Trace], *, through_t: bool = False, with_eta: bool = True, regime: bool = False
) -> Evidence:
    """For all t: (1) for i odd and j in W_0⁺(i), w_t = w_0 + n(t)ηp_i + αp₂ with |α| ≤ η, where n(t) = a⁺(t − 1)
    counts the steps before t and α depends on j through the sign of ⟨w_0, p₂⟩; so v_t = w_t − n(t)ηp_i has ⟨v_t,
    p_i⟩ > 0 and |⟨v_t, p₂⟩| < 2η. (2) For j in W24(0), w_t = w_0 + mηp₂ with m whole (the print leaves η out).
    (3) W_t⁺(i) = W_0⁺(i).

    As printed: the count runs through t (`through_t`), and η is missing before m (`with_eta` false).
    """
    runs = ScoredRuns(seen)
    on_13 = [
        (trace, trace.updates + trace.plus_active * through_t, trace.seen & filled(trace, "w13")) for trace in seen
    ]
    return runs.evidence(
        {
            f"(1) the coefficient of ηp_i is {'a⁺(t)' if through_t else 'n(t)'}": runs.sides(
                ((trace, furthest(trace.a_range["w13"], n), n, where) for trace, n, where in on_13), Sense.EQUAL
            ),
            "(1) |α| ≤ η": runs.sides(
                ((trace, np.abs(trace.b_range["w13"]).max(axis=0), 1, where) for trace, _, where in on_13),
                quantity="largest |α|/η",
            ),
            "(1) α is 0 or against the sign of ⟨w_0, p₂⟩": runs.fact(
                (trace, trace.b_range["w13"][1] <= 0, where) for trace, _, where in on_13
            ),
            "(1) ⟨v_t, p_i⟩ > 0": runs.sides(
                (
                    (trace, _smallest_s(trace) + 2 * (trace.a_range["w13"][0] - n), 0, where)
                    for trace, n, where in on_13
                ),
                Sense.AT_LEAST,
                strict=True,
                quantity="smallest ⟨v_t, p_i⟩ in units of η",
            ),
            "(1) |⟨v_t, p₂⟩| < 2η": runs.sides(
                ((trace, trace.largest_r, 2, where) for trace, _, where in on_13),
                strict=True,
                quantity="largest |⟨v_t, p₂⟩| in units of η",
            ),
            "(2) whole steps along p₂ on W24(0)": runs.fact(
                (trace, _along_p2(trace, with_eta), trace.seen & filled(trace, "w24")) for trace in seen
            ),
            "(3) W_t⁺(i) = W_0⁺(i)": runs.fact((trace, trace.w_moved == 0, trace.seen) for trace in seen),
        },
        regime=regime,
    )


def _smallest_s(trace: Trace) -> np.ndarray:
    """The smallest |s_0| over W13(0), a lower bound where steps are added to it; infinite where there is none."""
    sizes = np.abs(trace.start[:, : trace.half_width])
    return np.where(sizes[..., 0] > sizes[..., 1], sizes[..., 0], np.inf).min(axis=1, keepdims=True)


def _along_p2(trace: Trace, with_eta: bool) -> Bool[np.ndarray, "run time"]:
    """Nothing along p₁, and m whole: m = B as repaired, m = Bη as printed."""
    still = (trace.a_range["w24"] == 0).all(axis=0)
    return still if with_eta else still & ((trace.b_range["w24"] * trace.setting.step_size) % 1 == 0).all(axis=0)


lemma_6_2_as_printed = lemma_6_2.variant(
    "lemma_6_2_as_printed",
    where="Lemma 6.2 and Lemma E.5",
    statement="For i odd and j in W_0⁺(i) there is v_t with ⟨v_t, p_i⟩ > 0 and w_t = a⁺(t)ηp_i + v_t for all t ≥ 0. "
    "False at t = 0 for every start: a⁺(0) = 1, so ⟨v_0, p_i⟩ = ⟨w_0, p_i⟩ − 2η < 0, since |⟨w_0, p_i⟩| ≤ √2η/4.",
    reads=wide_traces,
    through_t=True,
    regime=True,
)


@claim("brutzkus2019.equations_9_10", Kind.STEP, "Eq. 9 and 10, proof of Lemma E.5", reads=traces)
def equations_9_10(
    seen: Sequence[Trace], *, minus_moves: bool = True, one_step_late: bool = False, regime: bool = False
) -> Evidence:
    """In one step a filter of W_0⁺(i), i odd, moves by aηp_i + bηp_{l'} with a = 1 where N(x⁺) < γ, else 0, and b =
    −1 where −N(x⁻) < 1, else 0 (l' is the better of p₂ and p₄ at t); one of W24(0) moves by (a + b)ηp_l.

    As printed Eq. 9 has a = a⁺(t + 1) − a⁺(t) (`one_step_late`), which looks at N_{t+1}(x⁺). Eq. 10 gives no formula
    for a, and is right. A control says that b = 0.
    """
    runs = ScoredRuns(seen)
    steps = []
    for trace in seen:
        a, b = trace.plus_active.astype(int), -trace.minus_active.astype(int) * minus_moves
        on_13, on_24 = (trace.stepping & filled(trace, group) for group in ("w13", "w24"))
        steps.append((trace, a, b, on_13, on_24))
    asked = [(trace, np.roll(a, -one_step_late, axis=1), where) for trace, a, _, where, _ in steps]
    return runs.evidence(
        {
            "a = a⁺(t + 1) − a⁺(t) on W13(0)" if one_step_late else "a on W13(0)": runs.sides(
                ((trace, furthest(trace.a_step["w13"], a), a, where) for trace, a, where in asked), Sense.EQUAL
            ),
            "b on W13(0)": runs.sides(
                ((trace, furthest(trace.b_step["w13"], b), b, where) for trace, _, b, where, _ in steps), Sense.EQUAL
            ),
            "a + b on W24(0)": runs.sides(
                ((trace, furthest(trace.b_step["w24"], a + b), a + b, where) for trace, a, b, _, where in steps),
                Sense.EQUAL,
            ),
            "nothing along p₁ on W24(0)": runs.fact(
                (trace, (trace.a_step["w24"] == 0).all(axis=0), where) for trace, _, _, _, where in steps
            ),
        },
        regime=regime,
    )


equations_9_10_as_printed = equations_9_10.variant(
    "equations_9_10_as_printed",
    where="Eq. 9, proof of Lemma E.5",
    statement="In the step from t to t + 1 a filter of W_0⁺(i), i odd, moves by aηp_i + bηp_{l'} with a = a⁺(t + 1) − "
    "a⁺(t). False at each first step over γ: a⁺(t + 1) − a⁺(t) is 1 where N_{t+1}(x⁺) < γ, and the step is taken with "
    "N_t(x⁺). Every run in the regime of Theorem 6.3 has such a step.",
    reads=wide_traces,
    one_step_late=True,
    regime=True,
)


@claim("brutzkus2019.lemma_e_9", Kind.IDENTITY, "Lemma E.9 (Eq. 16)", reads=traces)
def lemma_e_9(seen: Sequence[Trace]) -> Evidence:
    """(X_t(1) − X_0(1))/|W⁺(1)| = (X_t(3) − X_0(3))/|W⁺(3)| for all t, where X_t(i) sums the responses to x⁺ over
    W_t⁺(i) and both sets have filters.
    """
    runs = ScoredRuns(seen)
    part = runs.sides(
        (_mean_gains(trace) for trace in seen),
        Sense.EQUAL,
        room=STEP,
        quantity="the two mean gains in units of η",
    )
    return runs.evidence({"the two cones gain alike": part})


def _mean_gains(trace: Trace) -> Compared:
    start = trace.start[:, : trace.half_width]
    positive = np.abs(start[..., 0]) > np.abs(start[..., 1])
    n_1 = np.sum(positive & (start[..., 0] > 0), axis=1, keepdims=True)
    n_3 = np.sum(positive & (start[..., 0] < 0), axis=1, keepdims=True)
    gains = [
        (series - series[:, :1]) / np.maximum(count, 1)
        for series, count in ((trace.s_plus_1, n_1), (trace.s_plus - trace.s_plus_1, n_3))
    ]
    return trace, gains[0], gains[1], trace.seen & (n_1 > 0) & (n_3 > 0)


@claim("brutzkus2019.lemma_e_10", Kind.STEP, "Lemma E.10, with ⟨p, p⟩ = 2", reads=traces)
def lemma_e_10(seen: Sequence[Trace], *, factor: float = 2.0, regime: bool = False) -> Evidence:
    """S⁺_{t+1} = S⁺_t + 2η|W13| where N_t(x⁺) < γ, and S⁺_{t+1} = S⁺_t where N_t(x⁺) ≥ γ."""
    runs = ScoredRuns(seen)
    gains = [
        (trace, np.diff(trace.s_plus, axis=1, append=trace.s_plus[:, -1:]), trace.stepping & filled(trace, "w13"))
        for trace in seen
    ]
    return runs.evidence(
        {
            f"S⁺ grows by {times(factor)}η|W13| where N(x⁺) < γ": runs.sides(
                (
                    (trace, gain / np.maximum(trace.w13, 1), factor, where & trace.plus_active)
                    for trace, gain, where in gains
                ),
                Sense.EQUAL,
                quantity="growth of S⁺ in one step, divided by η|W13|",
            ),
            "S⁺ stays where N(x⁺) ≥ γ": runs.sides(
                ((trace, gain, 0.0, where & ~trace.plus_active) for trace, gain, where in gains), Sense.EQUAL
            ),
        },
        regime=regime,
    )


lemma_e_10_as_printed = lemma_e_10.variant(
    "lemma_e_10_as_printed",
    where="Lemma E.10, items 1 and 3",
    statement="S⁺_{t+1} = S⁺_t + η|W13| where N_t(x⁺) < γ. False at t = 0 for every start with a filter in W13: each "
    "of them gains ⟨ηp_i, p_i⟩ = 2η.",
    reads=wide_traces,
    factor=1.0,
    regime=True,
)
