"""How the filters u move (Lemmas E.6, E.7, E.8, E.20, E.21, Eq. 11): after one step all of them look at p₂ or p₄.

That is sharper than what the paper proves, and it is short. At t = 0 both points are active (Lemma E.4), so a unit of
U13 moves by −ηp_i + ηp_l and lands in U24; a unit of U24 stays. From then on every unit moves along its own ±p₂, all by
the same amount: forward where only x⁻ is active, back where only x⁺ is. It is never driven back to the start, because
only x⁺ is active where Σ|R| ≥ −N(x⁻) ≥ 1, which takes at least 1/(2c_η) − 0.18 steps forward.
"""

import functools

import numpy as np

from widenet.claims.base import Claim, Evidence, Kind, Verdict
from widenet.papers.brutzkus2019.claims.trace_evidence import Items, Sides, all_runs, compare, judge, never, wide_runs
from widenet.papers.brutzkus2019.runs.traces import Trace, in_positive_cone
from widenet.types import Progress, silent

TOLERANCE = 1e-9
"""What a division of exact sums may round, in units of η."""


def check_lemma_e_6(items: Items, progress: Progress = silent, *, group: str = "u24") -> Evidence:
    """u_t = u_0 + mηp₂ on U24(0), and none of it leaves U24. A control asks the same of another group."""

    def sides(seen: Trace) -> Sides:
        n_13, k = seen.u13[:, :1], seen.setting.half_width
        where = seen.seen & ((n_13 < k) if group == "u24" else (n_13 > 0))
        low, high = seen.a_range[group]
        return never((low != 0) | (high != 0), where) & never(seen.u_left != 0, seen.seen & (n_13 < k))

    return judge(items, sides, "iterations at which a unit has moved along p₁ or left U24", progress)


def check_lemma_e_7(items: Items, progress: Progress = silent, *, lowest: int = -1, along_l: int = 1) -> Evidence:
    """u_t = u_0 + aηp_i + bηp_l on U_0⁺(i) ∩ U_0⁻(l) with lowest ≤ a ≤ 0, b ≥ 0. Controls: a = 0; −l for l."""

    def sides(seen: Trace) -> Sides:
        low, high = seen.a_range["u13"]
        b = seen.b_range["u13"][0 if along_l > 0 else 1] * along_l
        return never((low < lowest) | (high > 0) | (b < 0), seen.seen & (seen.u13[:, :1] > 0))

    return judge(items, sides, "iterations at which a or b is out of its set", progress)


def check_minus_filters_settle(items: Items, progress: Progress = silent, *, first: int = 1) -> Evidence:
    """For t ≥ 1: U13(t) = ∅, a = −1, b ≥ 1 common, m = b − 1 common, no sign changes. A control starts at t = 0."""

    def sides(seen: Trace) -> Sides:
        where = seen.seen & (np.arange(seen.s_plus.shape[1]) >= first)
        n_13, k = seen.u13[:, :1], seen.setting.half_width
        (a_low, a_high), (b_low, b_high), (m_low, m_high) = (
            seen.a_range["u13"],
            seen.b_range["u13"],
            seen.b_range["u24"],
        )
        moved_13 = (a_low != -1) | (a_high != -1) | (b_low < 1) | (b_low != b_high)
        moved_24 = (m_low != m_high) | (m_low < 0) | (seen.a_range["u24"][0] != 0) | (seen.a_range["u24"][1] != 0)
        wrong = (seen.u13 != 0) | (seen.u_flipped != 0) | (seen.p_plus != 0) | (seen.p_minus != 0)
        wrong |= seen.n_plus - seen.n_minus != seen.s_plus - seen.s_minus
        return (
            never(wrong, where)
            & never(moved_13, where & (n_13 > 0))
            & never(moved_24, where & (n_13 < k))
            & never(m_low != b_low - 1, where & (n_13 > 0) & (n_13 < k))
        )

    return judge(items, sides, "iterations at which a unit is elsewhere", progress)


def check_lemma_e_8(
    items: Items, progress: Progress = silent, *, factor: float = 2.0, regime: bool = False
) -> Evidence:
    """For t ≥ 1: S⁻ < factor·η|W13|, P⁺ ≤ η|U13| and P⁻ ≤ η|U13| (as printed, factor 1)."""

    def sides(seen: Trace) -> Sides:
        where = seen.seen & (np.arange(seen.s_plus.shape[1]) >= 1)
        has_13 = where & (seen.w13 > 0)
        first = compare(seen.s_minus / np.maximum(seen.w13, 1), factor, has_13, strict=factor == 2)
        return first & never((seen.p_plus > seen.u13) | (seen.p_minus > seen.u13), where)

    return judge(items, sides, "largest S⁻/(η|W13|)", progress, regime=regime)


def check_equation_11(
    items: Items, progress: Progress = silent, *, factor: float = 2.0, regime: bool = False
) -> Evidence:
    """Where only x⁻ is active, U24(t) ⊆ U24(t+1), and their responses grow by factor·η|U24(t)| together."""

    def sides(seen: Trace) -> Sides:
        where = seen.stepping & seen.minus_active & ~seen.plus_active
        n_24 = seen.setting.half_width - seen.u13
        where &= n_24 > 0
        gain = (seen.y_kept - seen.y) / np.maximum(n_24, 1)
        return compare(gain, factor, where) & never((seen.y_kept - seen.y != factor * n_24) | (seen.u_lost != 0), where)

    words = "growth of Σ over U24 where only x⁻ is active, divided by η|U24|"
    return judge(items, sides, words, progress, regime=regime)


def _sizes(seen: Trace) -> dict[str, np.ndarray]:
    """How many u's belong to each of y_2, y_4, z_2, z_4."""
    start = seen.ending.start[:, seen.setting.half_width :]
    positive, up = in_positive_cone(start), start[..., 1] > 0
    parts = {"y_2": ~positive & up, "y_4": ~positive & ~up, "z_2": positive & up, "z_4": positive & ~up}
    return {name: mask.sum(axis=1) for name, mask in parts.items()}


def check_lemma_e_20(items: Items, progress: Progress = silent, *, pair: tuple[str, str] = ("y_2", "y_4")) -> Evidence:
    """|mean of |R| over U_0⁺(2) − mean over U_0⁺(4)| ≤ η: the X and Y of the lemma exist iff this holds."""

    def sides(seen: Trace) -> Sides:
        sizes = _sizes(seen)
        means = [getattr(seen, name) / np.maximum(sizes[name], 1)[:, None] for name in pair]
        both = (sizes[pair[0]] > 0) & (sizes[pair[1]] > 0)
        return compare(np.abs(means[0] - means[1]), 1.0, seen.seen & both[:, None])

    return judge(items, sides, "largest difference of the two means, in units of η", progress)


def check_lemma_e_21(items: Items, progress: Progress = silent, *, from_start: bool = True) -> Evidence:
    """(Z_t(2) − Z_0(2))/n_2 = (Z_t(4) − Z_0(4))/n_4. A control leaves Z_0 out."""

    def sides(seen: Trace) -> Sides:
        sizes = _sizes(seen)
        gains = [
            (series - from_start * series[:, :1]) / np.maximum(sizes[name], 1)[:, None]
            for name, series in (("z_2", seen.z_2), ("z_4", seen.z_4))
        ]
        both = (sizes["z_2"] > 0) & (sizes["z_4"] > 0)
        return compare(np.abs(gains[0] - gains[1]), TOLERANCE, seen.seen & both[:, None])

    return judge(
        items, sides, "difference of the two mean gains, in units of η (at most what division rounds)", progress
    )


lemma_e_6 = Claim(
    "brutzkus2019.lemma_e_6",
    Kind.STEP,
    "For j in U24(0) (the print does not say which j) u_t = u_0 + mηp₂ with m whole, and U24(0) ⊆ U24(t), for all t.",
    "Lemma E.6",
    check_lemma_e_6,
    all_runs,
)
lemma_e_7 = Claim(
    "brutzkus2019.lemma_e_7",
    Kind.STEP,
    "For j in U_0⁺(i) ∩ U_0⁻(l), i odd and l even, u_t = u_0 + aηp_i + bηp_l with a in {0, −1} and b in {0, 1, 2, …}.",
    "Lemma E.7",
    check_lemma_e_7,
    all_runs,
)
minus_filters_settle = Claim(
    "brutzkus2019.minus_filters_settle",
    Kind.STEP,
    "For c_η ≤ 1/8 and all t ≥ 1: U13(t) is empty, in Lemma E.7 a = −1 and b ≥ 1 is the same for all units, in Lemma "
    "E.6 m (along the sign of ⟨u_0, p₂⟩) is b − 1 for all units. So P⁺ = P⁻ = 0, N(x⁺) − N(x⁻) = S⁺ − S⁻, and ⟨u_t, "
    "p₂⟩ keeps its sign.",
    "not in the paper: a sharper form of Lemmas E.6 to E.8, from the same steps",
    check_minus_filters_settle,
    all_runs,
)
lemma_e_8 = Claim(
    "brutzkus2019.lemma_e_8",
    Kind.STEP,
    "For all t ≥ 1: S⁻ < 2η|W13|, P⁺ ≤ η|U13| and P⁻ ≤ η|U13|.",
    "Lemma E.8, with ⟨p, p⟩ = 2 in item 1",
    check_lemma_e_8,
    all_runs,
)
lemma_e_8_as_printed = Claim(
    "brutzkus2019.lemma_e_8_as_printed",
    Kind.STEP,
    "S⁻ ≤ η|W13| for all t ≥ 1. False at t = 1 for every start with a filter in W13: each has ⟨w_1, p_l⟩ = ⟨w_0, "
    "p_l⟩ − 2η, so S⁻ ≥ (2 − √2/4)η|W13| ≥ 1.64η|W13|.",
    "Lemma E.8, item 1",
    functools.partial(check_lemma_e_8, factor=1.0, regime=True),
    wide_runs,
    Verdict.VIOLATED,
)
equation_11 = Claim(
    "brutzkus2019.equation_11",
    Kind.STEP,
    "In a step where only x⁻ is active, U24(t) ⊆ U24(t+1), and the responses of these units to x⁺ grow by "
    "2η|U24(t)| in all.",
    "Eq. 11, proof of Lemma E.11, with ⟨p, p⟩ = 2",
    check_equation_11,
    all_runs,
)
equation_11_as_printed = Claim(
    "brutzkus2019.equation_11_as_printed",
    Kind.STEP,
    "In a step where only x⁻ is active, the responses of U24(t) grow by η|U24(t)| in all. False in every such step: "
    "each unit gains ⟨ηp_l, p_l⟩ = 2η.",
    "Eq. 11, proof of Lemma E.11",
    functools.partial(check_equation_11, factor=1.0, regime=True),
    wide_runs,
    Verdict.VIOLATED,
)
lemma_e_20 = Claim(
    "brutzkus2019.lemma_e_20",
    Kind.STEP,
    "For all t there are 0 ≤ X ≤ η|U_0⁺(2)| and 0 ≤ Y ≤ η|U_0⁺(4)| with (Y_t(2) − X)/|U_0⁺(2)| = (Y_t(4) − "
    "Y)/|U_0⁺(4)|, where Y_t(l) sums the responses to x⁻ over U_0⁺(l). Such X and Y exist exactly when the two "
    "means differ by at most η.",
    "Lemma E.20",
    check_lemma_e_20,
    all_runs,
)
lemma_e_21 = Claim(
    "brutzkus2019.lemma_e_21",
    Kind.IDENTITY,
    "(Z_t(2) − Z_0(2))/n_2 = (Z_t(4) − Z_0(4))/n_4 for all t, where Z_t(l) sums the responses to x⁻ over the n_l "
    "units of U13(0) ∩ U_0⁻(l).",
    "Lemma E.21",
    check_lemma_e_21,
    all_runs,
)

CLAIMS = (
    lemma_e_6,
    lemma_e_7,
    minus_filters_settle,
    lemma_e_8,
    lemma_e_8_as_printed,
    equation_11,
    equation_11_as_printed,
    lemma_e_20,
    lemma_e_21,
)
