"""How the filters u move (Lemmas E.6, E.7, E.8, E.20, E.21, Eq. 11): after one step all of them look at p₂ or p₄.

That is sharper than what the paper proves, and it is short. At t = 0 both points are active (Lemma E.4), so a unit of
U13 moves by −ηp_i + ηp_l and lands in U24; a unit of U24 stays. From then on every unit moves along its own ±p₂, all by
the same amount: forward where only x⁻ is active, back where only x⁺ is. It is never driven back to the start, because
only x⁺ is active where Σ|R| ≥ −N(x⁻) ≥ 1, which takes at least 1/(2c_η) − 0.18 steps forward.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int

from widenet.claims.base import Evidence, Kind, claim
from widenet.claims.sides import Sense
from widenet.claims.tolerances import STEP
from widenet.papers.brutzkus2019.claims.trace_evidence import ScoredRuns, filled, furthest, times
from widenet.papers.brutzkus2019.runs.lattice import in_13
from widenet.papers.brutzkus2019.runs.traces import Trace, traces, wide_traces


@claim("brutzkus2019.lemma_e_6", Kind.STEP, "Lemma E.6", reads=traces)
def lemma_e_6(seen: Sequence[Trace], *, groups: Sequence[str] = ("u24",), regime: bool = False) -> Evidence:
    """For j in U24(0) (the print does not say which j) u_t = u_0 + mηp₂ with m whole, and U24(0) ⊆ U24(t), for all t.

    As printed the first is asked of all filters u. That m is whole is how a trace is made.
    """
    runs = ScoredRuns(seen)
    return runs.evidence(
        {
            "steps along p₂ alone": runs.sides(
                (
                    (trace, furthest(trace.a_range[group], 0), 0, trace.seen & filled(trace, group))
                    for group in groups
                    for trace in seen
                ),
                Sense.EQUAL,
                quantity="coefficient of ηp₁",
            ),
            "U24(0) ⊆ U24(t)": runs.fact(
                (trace, trace.u_left == 0, trace.seen & filled(trace, "u24")) for trace in seen
            ),
        },
        regime=regime,
    )


lemma_e_6_as_printed = lemma_e_6.variant(
    "lemma_e_6_as_printed",
    where="Lemma E.6, item 1",
    statement="For all t ≥ 0 (and, as no j is named, for all j) u_t = u_0 + mηp₂ with m whole. False at t = 1 for "
    "every start with a filter u in U13: both points are active at t = 0, and it moves to u_0 − ηp_i + ηp_l.",
    reads=wide_traces,
    groups=("u13", "u24"),
    regime=True,
)


@claim("brutzkus2019.lemma_e_7", Kind.STEP, "Lemma E.7", reads=traces)
def lemma_e_7(seen: Sequence[Trace], *, lowest: int = -1, along_l: int = 1) -> Evidence:
    """For j in U_0⁺(i) ∩ U_0⁻(l), i odd and l even, u_t = u_0 + aηp_i + bηp_l with a in {0, −1} and b in {0, 1, 2, …}.

    Controls say a = 0, or −l for l. That a and b are whole is how a trace is made.
    """
    runs = ScoredRuns(seen)
    on_13 = [(trace, trace.seen & filled(trace, "u13")) for trace in seen]
    return runs.evidence(
        {
            "a in {0, −1}": runs.fact(
                (trace, (trace.a_range["u13"][0] >= lowest) & (trace.a_range["u13"][1] <= 0), where)
                for trace, where in on_13
            ),
            "b ≥ 0": runs.sides(
                ((trace, (along_l * trace.b_range["u13"]).min(axis=0), 0, where) for trace, where in on_13),
                Sense.AT_LEAST,
            ),
        }
    )


@claim(
    "brutzkus2019.minus_filters_settle",
    Kind.STEP,
    "not in the paper: a sharper form of Lemmas E.6 to E.8, from the same steps",
    reads=traces,
)
def minus_filters_settle(seen: Sequence[Trace], *, first: int = 1) -> Evidence:
    """For c_η ≤ 1/8 and all t ≥ 1: U13(t) is empty, in Lemma E.7 a = −1 and b ≥ 1 is the same for all units, in Lemma
    E.6 m (along the sign of ⟨u_0, p₂⟩) is b − 1 for all units. So P⁺ = P⁻ = 0, N(x⁺) − N(x⁻) = S⁺ − S⁻, and ⟨u_t,
    p₂⟩ keeps its sign.

    A control starts at t = 0.
    """
    runs = ScoredRuns(seen)
    later = [(trace, trace.seen & (trace.times >= first)) for trace in seen]
    on_13 = [(trace, where & filled(trace, "u13")) for trace, where in later]
    on_24 = [(trace, where & filled(trace, "u24")) for trace, where in later]
    return runs.evidence(
        {
            "U13(t) is empty": runs.fact((trace, trace.u13 == 0, where) for trace, where in later),
            "a = −1": runs.sides(
                ((trace, furthest(trace.a_range["u13"], -1), -1, where) for trace, where in on_13), Sense.EQUAL
            ),
            "b ≥ 1": runs.sides(((trace, trace.b_range["u13"][0], 1, where) for trace, where in on_13), Sense.AT_LEAST),
            "b is the same for all units": runs.sides(
                ((trace, *trace.b_range["u13"], where) for trace, where in on_13), Sense.EQUAL
            ),
            "m is the same for all units, m ≥ 0, and nothing along p₁": runs.fact(
                (trace, _forward_alike(trace), where) for trace, where in on_24
            ),
            "m = b − 1": runs.sides(
                (
                    (trace, trace.b_range["u24"][0], trace.b_range["u13"][0] - 1, where & filled(trace, "u13"))
                    for trace, where in on_24
                ),
                Sense.EQUAL,
            ),
            "P⁺ = 0": runs.sides(((trace, trace.p_plus, 0, where) for trace, where in later), Sense.EQUAL),
            "P⁻ = 0": runs.sides(((trace, trace.p_minus, 0, where) for trace, where in later), Sense.EQUAL),
            "N(x⁺) − N(x⁻) = S⁺ − S⁻ (by P⁺ = P⁻ = 0)": runs.sides(
                ((trace, trace.n_plus - trace.n_minus, trace.s_plus - trace.s_minus, where) for trace, where in later),
                Sense.EQUAL,
            ),
            "⟨u_t, p₂⟩ keeps its sign": runs.fact((trace, trace.u_flipped == 0, where) for trace, where in later),
        }
    )


def _forward_alike(trace: Trace) -> np.ndarray:
    low, high = trace.b_range["u24"]
    return (low == high) & (low >= 0) & (trace.a_range["u24"] == 0).all(axis=0)


@claim("brutzkus2019.lemma_e_8", Kind.STEP, "Lemma E.8, with ⟨p, p⟩ = 2 in item 1", reads=traces)
def lemma_e_8(seen: Sequence[Trace], *, factor: float = 2.0, strict: bool = True, regime: bool = False) -> Evidence:
    """For all t ≥ 1: S⁻ < 2η|W13|, P⁺ ≤ η|U13| and P⁻ ≤ η|U13|.

    As printed the factor is 1, and equality is allowed.
    """
    runs = ScoredRuns(seen)
    later = [(trace, trace.seen & (trace.times >= 1)) for trace in seen]
    return runs.evidence(
        {
            f"S⁻ {'<' if strict else '≤'} {times(factor)}η|W13|": runs.sides(
                (
                    (trace, trace.s_minus / np.maximum(trace.w13, 1), factor, where & (trace.w13 > 0))
                    for trace, where in later
                ),
                strict=strict,
                quantity="largest S⁻/(η|W13|)",
            ),
            "P⁺ ≤ η|U13|": runs.sides((trace, trace.p_plus, trace.u13, where) for trace, where in later),
            "P⁻ ≤ η|U13|": runs.sides((trace, trace.p_minus, trace.u13, where) for trace, where in later),
        },
        regime=regime,
        note="Items 2 and 3 say 0 ≤ 0: U13(t) is empty for t ≥ 1 (claim minus_filters_settle).",
    )


lemma_e_8_as_printed = lemma_e_8.variant(
    "lemma_e_8_as_printed",
    where="Lemma E.8, item 1",
    statement="S⁻ ≤ η|W13| for all t ≥ 1. False at t = 1 for every start with a filter in W13: each has ⟨w_1, p_l⟩ = "
    "⟨w_0, p_l⟩ − 2η, so S⁻ ≥ (2 − √2/4)η|W13| ≥ 1.64η|W13|.",
    reads=wide_traces,
    factor=1.0,
    strict=False,
    regime=True,
)


@claim("brutzkus2019.equation_11", Kind.STEP, "Eq. 11, proof of Lemma E.11, with ⟨p, p⟩ = 2", reads=traces)
def equation_11(seen: Sequence[Trace], *, factor: float = 2.0, regime: bool = False) -> Evidence:
    """In a step where only x⁻ is active, U24(t) ⊆ U24(t+1), and the responses of these units to x⁺ grow by
    2η|U24(t)| in all.
    """
    runs = ScoredRuns(seen)
    steps = [(trace, trace.half_width - trace.u13) for trace in seen]
    return runs.evidence(
        {
            f"the responses grow by {times(factor)}η|U24(t)|": runs.sides(
                (
                    (trace, (trace.y_kept - trace.y) / np.maximum(n_24, 1), factor, trace.only_minus & (n_24 > 0))
                    for trace, n_24 in steps
                ),
                Sense.EQUAL,
                quantity="growth of Σ over U24 where only x⁻ is active, divided by η|U24|",
            ),
            "U24(t) ⊆ U24(t+1)": runs.fact(
                (trace, trace.u_lost == 0, trace.only_minus & (n_24 > 0)) for trace, n_24 in steps
            ),
        },
        regime=regime,
    )


equation_11_as_printed = equation_11.variant(
    "equation_11_as_printed",
    where="Eq. 11, proof of Lemma E.11",
    statement="In a step where only x⁻ is active, the responses of U24(t) grow by η|U24(t)| in all. False in every "
    "such step: each unit gains ⟨ηp_l, p_l⟩ = 2η.",
    reads=wide_traces,
    factor=1.0,
    regime=True,
)


@claim("brutzkus2019.lemma_e_20", Kind.STEP, "Lemma E.20", reads=traces)
def lemma_e_20(seen: Sequence[Trace], *, limit: float = 1.0, pair: tuple[str, str] = ("y_2", "y_4")) -> Evidence:
    """For all t there are 0 ≤ X ≤ η|U_0⁺(2)| and 0 ≤ Y ≤ η|U_0⁺(4)| with (Y_t(2) − X)/|U_0⁺(2)| = (Y_t(4) −
    Y)/|U_0⁺(4)|, where Y_t(l) sums the responses to x⁻ over U_0⁺(l). Such X and Y exist exactly when the two
    means differ by at most η.

    A control compares another pair.
    """
    runs = ScoredRuns(seen)
    means = [(trace, *_means(trace, pair, from_start=False)) for trace in seen]
    part = runs.sides(
        ((trace, np.abs(first - second), limit, where) for trace, first, second, where in means),
        quantity="largest difference of the two means, in units of η",
    )
    return runs.evidence({"the two means differ by at most η": part})


@claim("brutzkus2019.lemma_e_21", Kind.IDENTITY, "Lemma E.21", reads=traces)
def lemma_e_21(seen: Sequence[Trace], *, from_start: bool = True) -> Evidence:
    """(Z_t(2) − Z_0(2))/n_2 = (Z_t(4) − Z_0(4))/n_4 for all t, where Z_t(l) sums the responses to x⁻ over the n_l
    units of U13(0) ∩ U_0⁻(l).

    A control leaves Z_0 out.
    """
    runs = ScoredRuns(seen)
    part = runs.sides(
        ((trace, *_means(trace, ("z_2", "z_4"), from_start=from_start)) for trace in seen),
        Sense.EQUAL,
        room=STEP,
        quantity="the two mean gains in units of η",
    )
    return runs.evidence({"both parts gain alike": part})


def _means(trace: Trace, pair: tuple[str, str], *, from_start: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The mean of |R| over two of y_2, y_4, z_2, z_4, or its gain, and where both have units."""
    sizes, series = _sizes(trace), [getattr(trace, name) for name in pair]
    first, second = (
        (values - from_start * values[:, :1]) / np.maximum(sizes[name], 1)
        for name, values in zip(pair, series, strict=True)
    )
    return first, second, trace.seen & (sizes[pair[0]] > 0) & (sizes[pair[1]] > 0)


def _sizes(trace: Trace) -> dict[str, Int[np.ndarray, "run 1"]]:
    """How many u's belong to each of y_2, y_4, z_2, z_4."""
    start = trace.start[:, trace.half_width :]
    positive, up = in_13(start[..., 0], start[..., 1]), start[..., 1] > 0
    parts = {"y_2": ~positive & up, "y_4": ~positive & ~up, "z_2": positive & up, "z_4": positive & ~up}
    return {name: mask.sum(axis=1, keepdims=True) for name, mask in parts.items()}
