"""How the filters u move (Lemmas E.6, E.7, E.8, E.20, E.21, Eq. 11): after one step all of them look at p₂ or p₄.

That is sharper than what the paper proves, and it is short. At t = 0 both points are active (Lemma E.4), so a unit of
U13 moves by −ηp_i + ηp_l and lands in U24; a unit of U24 stays. From then on every unit moves along its own ±p₂, all by
the same amount: forward where only x⁻ is active, back where only x⁺ is. It is never driven back to the start, because
only x⁺ is active where Σ|R| ≥ −N(x⁻) ≥ 1, which takes at least 1/(2c_η) − 0.18 steps forward.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int

from widenet.claims.base import Kind, claim
from widenet.claims.cases import derived
from widenet.claims.implication import Promise, at_least, at_most, equal, less_than
from widenet.claims.sides import Sides
from widenet.claims.tolerances import STEP
from widenet.papers.brutzkus2019.claims.trajectories import Scored, Trajectories, furthest, times
from widenet.papers.brutzkus2019.hypotheses import IN_REGIME, TRAJECTORIES
from widenet.papers.brutzkus2019.runs.lattice import in_13
from widenet.papers.brutzkus2019.runs.traces import Series, traces, wide_traces
from widenet.records import Form

PerRun = Int[np.ndarray, " run"]


class MinusFilters(Trajectories):
    """Trajectories, with how many filters u belong to each of Y(2), Y(4), Z(2) and Z(4), and these sums at t = 0."""

    n_y_2: PerRun = derived(lambda runs: _count(runs, positive=False, up=True))
    n_y_4: PerRun = derived(lambda runs: _count(runs, positive=False, up=False))
    n_z_2: PerRun = derived(lambda runs: _count(runs, positive=True, up=True))
    n_z_4: PerRun = derived(lambda runs: _count(runs, positive=True, up=False))
    z_2_gain: Series = derived(lambda runs: runs.z_2 - runs.z_2[:, :1])  #: Z_t(2) − Z_0(2)
    z_4_gain: Series = derived(lambda runs: runs.z_4 - runs.z_4[:, :1])


COUNTS = {"y_2": "n_y_2", "y_4": "n_y_4", "z_2": "n_z_2", "z_4": "n_z_4"}
"""Of each sum, how many filters it has."""


def _count(runs: MinusFilters, *, positive: bool, up: bool) -> PerRun:
    s, r = np.moveaxis(runs.start[:, runs.half_width :], -1, 0)
    return np.sum((in_13(s, r) == positive) & ((r > 0) == up), axis=1)


@claim("brutzkus2019.lemma_e_6", Kind.STEP, "Lemma E.6", reads=traces, given=TRAJECTORIES,
       form=Form.REPAIR, title="Filters $u$ that start at $p₂$ or $p₄$ stay there")  # fmt: skip
def lemma_e_6(runs: MinusFilters, *, groups: Sequence[str] = ("u24",)) -> Promise:
    """For $j ∈ U24(0)$ (the print does not say which $j$) $u_t = u_0 + mηp₂$ with a whole number $m$, and
    $U24(0) ⊆ U24(t)$, for all $t$.

    As printed the first is asked of all filters u. That m is whole is how a trace is made.
    """
    t, of = runs.per("time"), Scored(runs)

    def along_p2(group: str) -> Sides:
        return equal(
            furthest(getattr(t, f"a_{group}"), 0),
            0,
            where=t.seen & (getattr(t, f"{group}_at_start") > 0),
            text="steps along $p₂$ alone",
            quantity="coefficient of ηp₁",
        )

    return of.promise(
        {
            "along_p2": Sides.chain([of.sides(t, along_p2(group)) for group in groups]),
            "stays": of.always(t, t.u_left == 0, where=t.seen & (t.u24_at_start > 0), text="$U24(0) ⊆ U24(t)$"),
        }
    )


lemma_e_6_as_printed = lemma_e_6.variant(
    "lemma_e_6_as_printed",
    title="All filters $u$ move along $p₂$ alone: fails at $t = 1$",
    where="Lemma E.6, item 1",
    statement=(
        "For all $t ≥ 0$ (and, as no $j$ is named, for all $j$) $u_t = u_0 + mηp₂$ with a whole number $m$. False at "
        "$t = 1$ for every start with a filter $u$ in $U13$: both points are active at $t = 0$, and it moves to "
        "$u_0 − ηp_i + ηp_l$."
    ),
    reads=wide_traces,
    given=IN_REGIME,
    groups=("u13", "u24"),
)


@claim("brutzkus2019.lemma_e_7", Kind.STEP, "Lemma E.7", reads=traces, given=TRAJECTORIES,
       title="Filters $u$ that start at $p₁$ or $p₃$ leave it once")  # fmt: skip
def lemma_e_7(runs: MinusFilters, *, lowest: int = -1, along_l: int = 1) -> Promise:
    """For $j ∈ U_0⁺(i) ∩ U_0⁻(l)$, $i$ odd and $l$ even, $u_t = u_0 + aηp_i + bηp_l$ with $a ∈ {0, −1}$ and
    $b ∈ {0, 1, 2, …}$.

    That a and b are whole is how a trace is made.
    """
    t, of = runs.per("time"), Scored(runs)
    on_13 = t.seen & (t.u13_at_start > 0)
    backwards = (t.a_u13[:, 0] >= lowest) & (t.a_u13[:, 1] <= 0)
    forwards = at_least((along_l * t.b_u13).min(axis=1), 0, where=on_13, text="$b ≥ 0$")
    return of.promise(
        {
            "forwards": of.sides(t, forwards),
            "backwards": of.always(t, backwards, where=on_13, text="$a$ in {0, −1}"),
        }
    )


@claim("brutzkus2019.minus_filters_settle", Kind.STEP,
       "not in the paper: a sharper form of Lemmas E.6 to E.8, from the same steps", reads=traces, given=TRAJECTORIES,
       form=Form.SHARPER,
       title="After one step every filter $u$ looks at $p₂$ or $p₄$")  # fmt: skip
def minus_filters_settle(runs: MinusFilters, *, first: int = 1) -> Promise:
    """For $c_η ≤ 1/8$ and all $t ≥ 1$: $U13(t)$ is empty. In Lemma E.7 $a = −1$, and $b ≥ 1$ is the same for all units.
    In Lemma E.6 $m$ (along the sign of $⟨u_0, p₂⟩$) is $b − 1$ for all units. So $P⁺ = P⁻ = 0$,
    $N(x⁺) − N(x⁻) = S⁺ − S⁻$, and $⟨u_t, p₂⟩$ keeps its sign.
    """
    t, of = runs.per("time"), Scored(runs)
    later = t.seen & (t.times >= first)
    on_13, on_24 = later & (t.u13_at_start > 0), later & (t.u24_at_start > 0)
    (b_low, b_high), (m_low, m_high) = t.b_u13.T, t.b_u24.T
    alike = (m_low == m_high) & (m_low >= 0) & (t.a_u24 == 0).all(axis=1)
    compared = {
        "leaves": equal(furthest(t.a_u13, -1), -1, where=on_13, text="$a = −1$"),
        "forwards": at_least(b_low, 1, where=on_13, text="$b ≥ 1$"),
        "same_b": equal(b_low, b_high, where=on_13, text="$b$ is the same for all units"),
        "m_and_b": equal(m_low, b_low - 1, where=on_24 & (t.u13_at_start > 0), text="$m = b − 1$"),
        "p_plus": equal(t.p_plus, 0, where=later, text="$P⁺ = 0$"),
        "p_minus": equal(t.p_minus, 0, where=later, text="$P⁻ = 0$"),
        "difference": equal(
            t.n_plus - t.n_minus,
            t.s_plus - t.s_minus,
            where=later,
            text="$N(x⁺) − N(x⁻) = S⁺ − S⁻$ (by $P⁺ = P⁻ = 0$)",
        ),
    }
    sides = {key: of.sides(t, each) for key, each in compared.items()}
    return of.promise(
        {
            **{key: sides[key] for key in ("leaves", "forwards", "same_b")},
            "empty": of.always(t, t.u13 == 0, where=later, text="$U13(t)$ is empty"),
            "same_m": of.always(
                t, alike, where=on_24, text="$m$ is the same for all units, $m ≥ 0$, and nothing along $p₁$"
            ),
            **{key: sides[key] for key in ("m_and_b", "p_plus", "p_minus", "difference")},
            "keeps_sign": of.always(t, t.u_flipped == 0, where=later, text="$⟨u_t, p₂⟩$ keeps its sign"),
        }
    )


@claim("brutzkus2019.lemma_e_8", Kind.STEP, "Lemma E.8, with ⟨p, p⟩ = 2 in item 1", reads=traces, given=TRAJECTORIES,
       form=Form.REPAIR, title="$S⁻$ stays below $2η|W13|$")  # fmt: skip
def lemma_e_8(runs: MinusFilters, *, factor: float = 2.0, strict: bool = True) -> Promise:
    """For all $t ≥ 1$: $S⁻ < 2η|W13|$, $P⁺ ≤ η|U13|$ and $P⁻ ≤ η|U13|$.

    As printed the factor is 1, and equality is allowed.
    """
    t, of = runs.per("time"), Scored(runs)
    later = t.seen & (t.times >= 1)
    below, sign = (less_than, "<") if strict else (at_most, "≤")
    s_minus = below(
        t.s_minus / np.maximum(t.w13, 1),
        factor,
        where=later & (t.w13 > 0),
        text=f"$S⁻ {sign} {times(factor)}η|W13|$",
        quantity="largest S⁻/(η|W13|)",
    )
    return of.promise(
        {
            "s_minus": of.sides(t, s_minus),
            "p_plus": of.sides(t, at_most(t.p_plus, t.u13, where=later, text="$P⁺ ≤ η|U13|$")),
            "p_minus": of.sides(t, at_most(t.p_minus, t.u13, where=later, text="$P⁻ ≤ η|U13|$")),
        },
        note="Items 2 and 3 say 0 ≤ 0: U13(t) is empty for t ≥ 1 (claim minus_filters_settle).",
    )


lemma_e_8_as_printed = lemma_e_8.variant(
    "lemma_e_8_as_printed",
    title="$S⁻$ is at most $η|W13|$: fails at $t = 1$",
    where="Lemma E.8, item 1",
    statement=(
        "$S⁻ ≤ η|W13|$ for all $t ≥ 1$. False at $t = 1$ for every start with a filter in $W13$: each has "
        "$⟨w_1, p_l⟩ = ⟨w_0, p_l⟩ − 2η$, so $S⁻ ≥ (2 − √2/4)η|W13| ≥ 1.64η|W13|$."
    ),
    reads=wide_traces,
    given=IN_REGIME,
    factor=1.0,
    strict=False,
)


@claim("brutzkus2019.equation_11", Kind.STEP, "Eq. 11, proof of Lemma E.11, with ⟨p, p⟩ = 2", reads=traces,
       given=TRAJECTORIES, form=Form.REPAIR,
       title="Filters $u$ grow by $2η$ each where only $x⁻$ is active")  # fmt: skip
def equation_11(runs: MinusFilters, *, factor: float = 2.0) -> Promise:
    """In a step where only $x⁻$ is active, $U24(t) ⊆ U24(t+1)$, and the responses of these units to $x⁺$ grow by
    $2η|U24(t)|$ in all.
    """
    t, of = runs.per("time"), Scored(runs)
    n_24 = t.half_width - t.u13
    asked = t.only_minus & (n_24 > 0)
    grows = equal(
        (t.y_kept - t.y) / np.maximum(n_24, 1),
        factor,
        where=asked,
        text=f"the responses grow by ${times(factor)}η|U24(t)|$",
        quantity="growth of Σ over U24 where only x⁻ is active, divided by η|U24|",
    )
    return of.promise(
        {"grows": of.sides(t, grows), "stays": of.always(t, t.u_lost == 0, where=asked, text="$U24(t) ⊆ U24(t+1)$")}
    )


equation_11_as_printed = equation_11.variant(
    "equation_11_as_printed",
    title="Filters $u$ grow by $η$ each: off by a factor of 2",
    where="Eq. 11, proof of Lemma E.11",
    statement=(
        "In a step where only $x⁻$ is active, the responses of $U24(t)$ grow by $η|U24(t)|$ in all. False in every "
        "such step: each unit gains $⟨ηp_l, p_l⟩ = 2η$."
    ),
    reads=wide_traces,
    given=IN_REGIME,
    factor=1.0,
)


@claim("brutzkus2019.lemma_e_20", Kind.STEP, "Lemma E.20", reads=traces, given=TRAJECTORIES,
       title="Mean responses of two groups of $u$ differ by at most $η$")  # fmt: skip
def lemma_e_20(runs: MinusFilters, *, limit: float = 1.0, pair: tuple[str, str] = ("y_2", "y_4")) -> Promise:
    """For all $t$ there are $0 ≤ X ≤ η|U_0⁺(2)|$ and $0 ≤ Y ≤ η|U_0⁺(4)|$ with
    $(Y_t(2) − X)/|U_0⁺(2)| = (Y_t(4) − Y)/|U_0⁺(4)|$, where $Y_t(l)$ sums the responses to $x⁻$ over $U_0⁺(l)$. Such
    $X$ and $Y$ exist exactly when the two means differ by at most $η$.
    """
    t, of = runs.per("time"), Scored(runs)
    (first, n_first), (second, n_second) = ((getattr(t, name), getattr(t, COUNTS[name])) for name in pair)
    differ = at_most(
        np.abs(first / np.maximum(n_first, 1) - second / np.maximum(n_second, 1)),
        limit,
        where=t.seen & (n_first > 0) & (n_second > 0),
        text="the two means differ by at most $η$",
        quantity="largest difference of the two means, in units of η",
    )
    return of.promise({"means": of.sides(t, differ)})


@claim("brutzkus2019.lemma_e_21", Kind.IDENTITY, "Lemma E.21", reads=traces, given=TRAJECTORIES,
       title="Both parts of $U13(0)$ gain alike per filter")  # fmt: skip
def lemma_e_21(runs: MinusFilters, *, from_start: bool = True) -> Promise:
    """$(Z_t(2) − Z_0(2))/n_2 = (Z_t(4) − Z_0(4))/n_4$ for all $t$, where $Z_t(l)$ sums the responses to $x⁻$ over the
    $n_l$ units of $U13(0) ∩ U_0⁻(l)$.
    """
    t, of = runs.per("time"), Scored(runs)
    first, second = (t.z_2_gain, t.z_4_gain) if from_start else (t.z_2, t.z_4)
    alike = equal(
        first / np.maximum(t.n_z_2, 1),
        second / np.maximum(t.n_z_4, 1),
        room=STEP,
        where=t.seen & (t.n_z_2 > 0) & (t.n_z_4 > 0),
        text="both parts gain alike",
        quantity="the two mean gains in units of η",
    )
    return of.promise({"alike": of.sides(t, alike)})
