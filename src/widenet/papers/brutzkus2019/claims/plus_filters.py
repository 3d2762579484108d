"""How the filters w move (Lemmas E.4, 6.2 = E.5, E.9, E.10, Eq. 9 and 10): each stays in its cone and walks along it.

⟨p, p⟩ = 2, so a step η p adds 2η to a fit; the proofs of the paper write η. That makes Lemma E.10 false by a factor 2.
And a⁺(t) counts t itself, while w_t has moved only in the steps before t: Lemma 6.2 is right with a⁺(t − 1).
"""

import functools
import math

import numpy as np

from widenet.claims.base import Claim, Evidence, Kind, Verdict
from widenet.papers.brutzkus2019.claims.trace_evidence import Items, Sides, all_runs, compare, judge, never, wide_runs
from widenet.papers.brutzkus2019.runs.traces import Trace
from widenet.types import Progress, silent

TOLERANCE = 1e-9
"""What a division of exact sums may round, in units of η."""


def check_lemma_e_4(items: Items, progress: Progress = silent) -> Evidence:
    """N(x⁺) ≤ (2t + √2/4)c_η < 1, −N(x⁻) < 1, and the printed w_t and u_t, for t = 0, 1, 2."""

    def sides(seen: Trace) -> Sides:
        k, last = seen.setting.half_width, min(3, seen.s_plus.shape[1])
        t = np.arange(last)
        first = np.ones((len(seen.s_plus), last), bool)
        bound = compare(seen.n_plus[:, :last] / k, 2 * t + math.sqrt(2) / 4, first)
        one = seen.setting.goals[1]
        small = (seen.n_plus[:, :last] < one) & (-seen.n_minus[:, :last] < one)
        # (A, B) along the signs of the start: w of W13, w of W24, u of U13, u of U24.
        expected = {
            "w13": (t, -(t % 2)),
            "w24": (0 * t, 0 * t),
            "u13": (-np.sign(t), np.sign(t)),
            "u24": (0 * t, 0 * t),
        }
        sizes = {"w13": seen.w13[:, 0], "u13": seen.u13[:, 0]}
        sizes |= {"w24": k - sizes["w13"], "u24": k - sizes["u13"]}
        wrong = ~small
        for group, along in expected.items():
            for values, right in zip((seen.a_range[group], seen.b_range[group]), along, strict=True):
                differs = (values[0][:, :last] != right) | (values[1][:, :last] != right)
                wrong |= differs & (sizes[group] > 0)[:, None]
        # A run that stands still before t = 2 (no filter in W13) has no such steps.
        return bound & never(wrong, first & (sizes["w13"] > 0)[:, None])

    return judge(items, sides, "N(x⁺)/c_η where it is closest to 2t + √2/4, t ≤ 2", progress)


def check_a_plus(items: Items, progress: Progress = silent) -> Evidence:
    """a⁺(0) = 1, and a⁺ never falls."""

    def sides(seen: Trace) -> Sides:
        counts = seen.updates + seen.plus_active
        falls = np.diff(counts, axis=1, append=counts[:, -1:]) < 0
        first = compare(counts[:, :1].astype(float), 1.0, np.ones((len(counts), 1), bool))
        return first & never(falls, seen.seen) & never(counts[:, :1] != 1, seen.seen[:, :1])

    return judge(items, sides, "a⁺(0)", progress)


def check_lemma_6_2(
    items: Items, progress: Progress = silent, *, through_t: bool = False, with_eta: bool = True, regime: bool = False
) -> Evidence:
    """w_t = w_0 + n(t)ηp_i + αp₂ with |α| ≤ η on W_0⁺(i), i odd; w_t = w_0 + mηp₂ on the others; cones stay.

    As printed: the count runs through t (`through_t`), and η is missing before m (`with_eta` false).
    """

    def sides(seen: Trace) -> Sides:
        has_13 = seen.seen & (seen.w13[:, :1] > 0)
        has_24 = seen.seen & (seen.w13[:, :1] < seen.setting.half_width)
        count = seen.updates + (seen.plus_active if through_t else 0)
        low, high = seen.a_range["w13"]
        # v_t = w_t − nηp_i: ⟨v_t, p_i⟩ = |s_0| + 2(A − n) > 0 and |⟨v_t, p₂⟩| = |r_t| < 2.
        wrong = (low != count) | (high != count) | ~(seen.largest_r < 2)
        wrong |= (seen.b_range["w13"][0] < -1) | (seen.b_range["w13"][1] > 0)
        others = (seen.a_range["w24"][0] != 0) | (seen.a_range["w24"][1] != 0)
        if not with_eta:
            others |= np.any([(value * seen.setting.step_size) % 1 != 0 for value in seen.b_range["w24"]], axis=0)
        return never(wrong, has_13) & never(others, has_24) & never(seen.w_moved != 0, seen.seen)

    return judge(items, sides, "iterations at which the form of w_t is another one", progress, regime=regime)


def check_equations_9_10(items: Items, progress: Progress = silent, *, minus_moves: bool = True) -> Evidence:
    """w_{t+1} − w_t = aηp_i + bηp_{l'} on W_0⁺(i), i odd, and (a + b)ηp_l on the others; a control says b = 0."""

    def sides(seen: Trace) -> Sides:
        a = seen.plus_active.astype(int)
        b = -seen.minus_active.astype(int) * minus_moves
        has_13 = seen.stepping & (seen.w13[:, :1] > 0)
        has_24 = seen.stepping & (seen.w13[:, :1] < seen.setting.half_width)
        wrong_13 = _differ(seen.a_step["w13"], a) | _differ(seen.b_step["w13"], b)
        wrong_24 = _differ(seen.a_step["w24"], 0 * a) | _differ(seen.b_step["w24"], a + b)
        return never(wrong_13, has_13) & never(wrong_24, has_24)

    return judge(items, sides, "steps that are not of the form of Eq. 9 or 10", progress)


def _differ(extremes: tuple[np.ndarray, np.ndarray], value: np.ndarray) -> np.ndarray:
    return (extremes[0] != value) | (extremes[1] != value)


def check_lemma_e_9(items: Items, progress: Progress = silent) -> Evidence:
    """(X_t(1) − X_0(1))/|W⁺(1)| = (X_t(3) − X_0(3))/|W⁺(3)| where both sets have filters."""

    def sides(seen: Trace) -> Sides:
        half = seen.setting.half_width
        start = seen.ending.start[:, :half]
        positive = np.abs(start[..., 0]) > np.abs(start[..., 1])
        n_1 = np.sum(positive & (start[..., 0] > 0), axis=1)
        n_3 = np.sum(positive & (start[..., 0] < 0), axis=1)
        both = (n_1 > 0) & (n_3 > 0)
        second = seen.s_plus - seen.s_plus_1
        first_gain = (seen.s_plus_1 - seen.s_plus_1[:, :1]) / np.maximum(n_1, 1)[:, None]
        second_gain = (second - second[:, :1]) / np.maximum(n_3, 1)[:, None]
        return compare(np.abs(first_gain - second_gain), TOLERANCE, seen.seen & both[:, None])

    return judge(
        items, sides, "difference of the two mean gains, in units of η (at most what division rounds)", progress
    )


def check_lemma_e_10(
    items: Items, progress: Progress = silent, *, factor: float = 2.0, regime: bool = False
) -> Evidence:
    """S⁺ grows by factor·η|W13| where N(x⁺) < γ, and not at all elsewhere."""

    def sides(seen: Trace) -> Sides:
        gain = np.diff(seen.s_plus, axis=1, append=seen.s_plus[:, -1:])
        expected = factor * seen.w13 * seen.plus_active
        has_13 = seen.stepping & (seen.w13[:, :1] > 0)
        largest = compare(gain / np.maximum(seen.w13, 1), factor, has_13)
        return largest & never(gain != expected, has_13)

    return judge(items, sides, "growth of S⁺ in one step, divided by η|W13|", progress, regime=regime)


lemma_e_4 = Claim(
    "brutzkus2019.lemma_e_4",
    Kind.STEP,
    "At t = 0, 1, 2 both points are active: N(x⁺) ≤ (2t + √2/4)c_η < 1 and −N(x⁻) < 1. Filters of W⁺(i) ∩ W⁻(l), i "
    "odd, are at w_0 + tηp_i − (t mod 2)ηp_l; those of U⁺(i) ∩ U⁻(l) at u_0 − ηp_i + ηp_l from t = 1 on; all others "
    "have not moved. (The proof bounds N_0(x⁺) by ηk/4; Lemma E.3 gives √2ηk/4.)",
    "Lemma E.4",
    check_lemma_e_4,
    all_runs,
)
observation_active_steps = Claim(
    "brutzkus2019.observation_active_steps",
    Kind.STEP,
    "a⁺(t), the number of iterations t' ≤ t with N_{t'}(x⁺) < γ, has a⁺(0) = 1 and never falls.",
    "after Lemma 6.2",
    check_a_plus,
    all_runs,
)
lemma_6_2 = Claim(
    "brutzkus2019.lemma_6_2",
    Kind.STEP,
    "For all t: (1) for i odd and j in W_0⁺(i), w_t = w_0 + n(t)ηp_i + αp₂ with |α| ≤ η, where n(t) = a⁺(t − 1) "
    "counts the steps before t and α depends on j through the sign of ⟨w_0, p₂⟩; so v_t = w_t − n(t)ηp_i has ⟨v_t, "
    "p_i⟩ > 0 and |⟨v_t, p₂⟩| < 2η. (2) For j in W24(0), w_t = w_0 + mηp₂ with m whole (the print leaves η out). "
    "(3) W_t⁺(i) = W_0⁺(i).",
    "Lemma 6.2 and Lemma E.5, with the count that its proof needs",
    check_lemma_6_2,
    all_runs,
)
lemma_6_2_as_printed = Claim(
    "brutzkus2019.lemma_6_2_as_printed",
    Kind.STEP,
    "For i odd and j in W_0⁺(i) there is v_t with ⟨v_t, p_i⟩ > 0 and w_t = a⁺(t)ηp_i + v_t for all t ≥ 0. False at t "
    "= 0 for every start: a⁺(0) = 1, so ⟨v_0, p_i⟩ = ⟨w_0, p_i⟩ − 2η < 0, since |⟨w_0, p_i⟩| ≤ √2η/4.",
    "Lemma 6.2 and Lemma E.5",
    functools.partial(check_lemma_6_2, through_t=True, regime=True),
    wide_runs,
    Verdict.VIOLATED,
)
equations_9_10 = Claim(
    "brutzkus2019.equations_9_10",
    Kind.STEP,
    "In one step a filter of W_0⁺(i), i odd, moves by aηp_i + bηp_{l'} with a = 1 where N(x⁺) < γ, else 0, and b = "
    "−1 where −N(x⁻) < 1, else 0 (l' is the better of p₂ and p₄ at t); one of W24(0) moves by (a + b)ηp_l.",
    "Eq. 9 and 10, proof of Lemma E.5",
    check_equations_9_10,
    all_runs,
)
lemma_e_9 = Claim(
    "brutzkus2019.lemma_e_9",
    Kind.IDENTITY,
    "(X_t(1) − X_0(1))/|W⁺(1)| = (X_t(3) − X_0(3))/|W⁺(3)| for all t, where X_t(i) sums the responses to x⁺ over "
    "W_t⁺(i) and both sets have filters.",
    "Lemma E.9 (Eq. 16)",
    check_lemma_e_9,
    all_runs,
)
lemma_e_10 = Claim(
    "brutzkus2019.lemma_e_10",
    Kind.STEP,
    "S⁺_{t+1} = S⁺_t + 2η|W13| where N_t(x⁺) < γ, and S⁺_{t+1} = S⁺_t where N_t(x⁺) ≥ γ.",
    "Lemma E.10, with ⟨p, p⟩ = 2",
    check_lemma_e_10,
    all_runs,
)
lemma_e_10_as_printed = Claim(
    "brutzkus2019.lemma_e_10_as_printed",
    Kind.STEP,
    "S⁺_{t+1} = S⁺_t + η|W13| where N_t(x⁺) < γ. False at t = 0 for every start with a filter in W13: each of them "
    "gains ⟨ηp_i, p_i⟩ = 2η.",
    "Lemma E.10, items 1 and 3",
    functools.partial(check_lemma_e_10, factor=1.0, regime=True),
    wide_runs,
    Verdict.VIOLATED,
)

CLAIMS = (
    lemma_e_4,
    lemma_6_2,
    lemma_6_2_as_printed,
    observation_active_steps,
    equations_9_10,
    lemma_e_9,
    lemma_e_10,
    lemma_e_10_as_printed,
)
