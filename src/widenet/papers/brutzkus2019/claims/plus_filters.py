"""How the filters w move (Lemmas E.4, 6.2 = E.5, E.9, E.10, Eq. 9 and 10): each stays in its cone and walks along it.

⟨p, p⟩ = 2, so a step η p adds 2η to a fit; the proofs of the paper write η. That makes Lemma E.10 false by a factor 2.
And a⁺(t) counts t itself, while w_t has moved only in the steps before t: Lemma 6.2 is right with a⁺(t − 1).
"""

import numpy as np
from jaxtyping import Float, Int

from widenet.claims.base import Kind, claim
from widenet.claims.cases import derived
from widenet.claims.implication import Promise, at_most, equal, less_than, more_than
from widenet.claims.tolerances import STEP
from widenet.papers.brutzkus2019.claims.trajectories import Scored, Trajectories, after, furthest, times
from widenet.papers.brutzkus2019.hypotheses import IN_REGIME, TRAJECTORIES
from widenet.papers.brutzkus2019.runs.traces import EVENT_RADIUS, Counts, Flags, Series, traces, wide_traces
from widenet.records import Form

PLACES = {
    "w13": ([0, 1, 2], [0, -1, 0]),
    "w24": ([0, 0, 0], [0, 0, 0]),
    "u13": ([0, -1, -1], [0, 1, 1]),
    "u24": ([0, 0, 0], [0, 0, 0]),
}
"""(A, B) along the signs of the start, at t = 0, 1, 2."""


class PlusFilters(Trajectories):
    """Trajectories, with how the filters w start and how often x⁺ was active."""

    smallest_s: Float[np.ndarray, " run"] = derived(lambda runs: _smallest_s(runs))  #: smallest |s_0| over W13(0)
    in_1: Int[np.ndarray, " run"] = derived(lambda runs: _in_cone(runs, 1))  #: |W_0⁺(1)|
    in_3: Int[np.ndarray, " run"] = derived(lambda runs: _in_cone(runs, -1))  #: |W_0⁺(3)|
    gain_1: Series = derived(lambda runs: _mean_gain(runs.s_plus_1, runs.in_1))
    gain_3: Series = derived(lambda runs: _mean_gain(runs.s_plus - runs.s_plus_1, runs.in_3))
    active_count: Counts = derived(lambda runs: runs.updates + runs.plus_active)  #: a⁺(t), which counts t itself
    active_count_after: Counts = derived(lambda runs: after(runs.active_count))  #: a⁺(t + 1)
    plus_active_after: Flags = derived(lambda runs: np.roll(runs.plus_active, -1, axis=1))  #: N_{t+1}(x⁺) < γ


def _smallest_s(runs: PlusFilters) -> Float[np.ndarray, " run"]:
    """A lower bound where steps are added to it; infinite where there is no filter in W13."""
    sizes = np.abs(runs.start[:, : runs.half_width])
    return np.where(sizes[..., 0] > sizes[..., 1], sizes[..., 0], np.inf).min(axis=1)


def _in_cone(runs: PlusFilters, sign: int) -> Int[np.ndarray, " run"]:
    s, r = np.moveaxis(runs.start[:, : runs.half_width], -1, 0)
    return np.sum(sign * s > np.abs(r), axis=1)


def _mean_gain(series: Series, count: Int[np.ndarray, " run"]) -> Series:
    return (series - series[:, :1]) / np.maximum(count, 1)[:, None]


@claim("brutzkus2019.lemma_e_4", Kind.STEP, "Lemma E.4", reads=traces, given=TRAJECTORIES,
       title="Both points are active in the first three iterations")  # fmt: skip
def lemma_e_4(runs: PlusFilters, *, share: float = 1.0) -> Promise:
    """At $t = 0, 1, 2$ both points are active: $N(x⁺) ≤ (2t + √2/4)c_η < 1$ and $−N(x⁻) < 1$. Filters of
    $W⁺(i) ∩ W⁻(l)$, $i$ odd, are at $w_0 + tηp_i − (t mod 2)ηp_l$. Those of $U⁺(i) ∩ U⁻(l)$ are at $u_0 − ηp_i + ηp_l$
    from $t = 1$ on. All others have not moved. (The proof bounds $N_0(x⁺)$ by $ηk/4$; Lemma E.3 gives $√2ηk/4$.)

    In code: A control asks for a `share` of the bound.
    """
    t, of = runs.per("time"), Scored(runs)
    early, place = t.times < 3, np.minimum(t.times, 3)
    bound = at_most(
        t.n_plus / t.half_width,
        share * (2 * t.times + EVENT_RADIUS),
        where=early,
        text="$N(x⁺) ≤ (2t + √2/4)c_η$",
        quantity="N(x⁺)/c_η where it is closest to 2t + √2/4, t ≤ 2",
    )
    plus = less_than(t.n_plus / t.minus_goal, 1.0, where=early, text="$N(x⁺) < 1$")
    minus = less_than(-t.n_minus / t.minus_goal, 1.0, where=early, text="$−N(x⁻) < 1$")
    return of.promise(
        {
            "bound": of.sides(t, bound, by=place),
            "plus_active": of.sides(t, plus, by=place),
            "minus_active": of.sides(t, minus, by=place),
            **{
                f"places_{group}": of.always(
                    t,
                    _are_at(t, group, place),
                    # A run without a filter in W13 stands still before t = 2.
                    where=early & (getattr(t, f"{group}_at_start") > 0) & (t.w13_at_start > 0),
                    text=f"places of {group.upper()}",
                )
                for group in PLACES
            },
        }
    )


def _are_at(t: PlusFilters, group: str, place: Int[np.ndarray, " case"]) -> np.ndarray:
    """Whether all of a group are at (A, B)."""
    a, b = (np.array([*values, 0])[place][:, None] for values in PLACES[group])
    return ((getattr(t, f"a_{group}") == a) & (getattr(t, f"b_{group}") == b)).all(axis=1)


@claim("brutzkus2019.observation_active_steps", Kind.STEP, "after Lemma 6.2", reads=traces, given=TRAJECTORIES,
       title="The count of active iterations starts at 1 and never falls")  # fmt: skip
def observation_active_steps(runs: PlusFilters) -> Promise:
    """$a⁺(t)$, the number of iterations $t' ≤ t$ with $N_{t'}(x⁺) < γ$, has $a⁺(0) = 1$ and never falls."""
    t, of = runs.per("time"), Scored(runs)
    return of.promise(
        {
            "first": of.sides(t, equal(t.active_count, 1, where=t.times == 0, text="$a⁺(0) = 1$")),
            "grows": of.always(
                t,
                t.active_count_after >= t.active_count,
                where=t.seen,
                text="$a⁺$ never falls (by construction)",
            ),
        }
    )


@claim("brutzkus2019.lemma_6_2", Kind.STEP, "Lemma 6.2 and Lemma E.5, with the count that its proof needs",
       reads=traces, given=TRAJECTORIES, form=Form.REPAIR,
       title="Each filter $w$ stays in its cone and moves along it")  # fmt: skip
def lemma_6_2(runs: PlusFilters, *, through_t: bool = False, with_eta: bool = True) -> Promise:
    """For all $t$: (1) For odd $i$ and $j ∈ W_0⁺(i)$, $w_t = w_0 + n(t)ηp_i + αp₂$ with $|α| ≤ η$, where
    $n(t) = a⁺(t − 1)$ counts the steps before $t$, and $α$ depends on $j$ through the sign of $⟨w_0, p₂⟩$. So
    $v_t = w_t − n(t)ηp_i$ has $⟨v_t, p_i⟩ > 0$ and $|⟨v_t, p₂⟩| < 2η$. (2) For $j ∈ W24(0)$, $w_t = w_0 + mηp₂$ with a
    whole number $m$ (the print leaves $η$ out). (3) $W_t⁺(i) = W_0⁺(i)$.

    As printed the count runs through t, and η is missing before m.

    In code: `through_t`, and `with_eta` False.
    """
    t, of = runs.per("time"), Scored(runs)
    on_13, on_24 = t.seen & (t.w13_at_start > 0), t.seen & (t.w24_at_start > 0)
    n, symbol = (t.active_count, "a⁺(t)") if through_t else (t.updates, "n(t)")
    lead = t.smallest_s + 2 * (t.a_w13[:, 0] - n)
    # m = B as repaired, m = Bη as printed.
    whole = (t.b_w24 * t.step_size[:, None] % 1 == 0).all(axis=1) | with_eta
    return of.promise(
        {
            "coefficient": of.sides(
                t,
                equal(furthest(t.a_w13, n), n, where=on_13, text=f"(1) the coefficient of $ηp_i$ is ${symbol}$"),
            ),
            "alpha": of.sides(
                t,
                at_most(
                    np.abs(t.b_w13).max(axis=1),
                    1,
                    where=on_13,
                    text="(1) $|α| ≤ η$",
                    quantity="largest |α|/η",
                ),
            ),
            "alpha_sign": of.always(
                t, t.b_w13[:, 1] <= 0, where=on_13, text="(1) $α$ is 0 or against the sign of $⟨w_0, p₂⟩$"
            ),
            "lead": of.sides(
                t,
                more_than(
                    lead,
                    0,
                    where=on_13,
                    text="(1) $⟨v_t, p_i⟩ > 0$",
                    quantity="smallest ⟨v_t, p_i⟩ in units of η",
                ),
            ),
            "across": of.sides(
                t,
                less_than(
                    t.largest_r,
                    2,
                    where=on_13,
                    text="(1) $|⟨v_t, p₂⟩| < 2η$",
                    quantity="largest |⟨v_t, p₂⟩| in units of η",
                ),
            ),
            "whole_steps": of.always(
                t, (t.a_w24 == 0).all(axis=1) & whole, where=on_24, text="(2) whole steps along $p₂$ on $W24(0)$"
            ),
            "cones": of.always(t, t.w_moved == 0, where=t.seen, text="(3) $W_t⁺(i) = W_0⁺(i)$"),
        }
    )


lemma_6_2_as_printed = lemma_6_2.variant(
    "lemma_6_2_as_printed",
    title="Lemma 6.2 with a count that includes $t$: fails at $t = 0$",
    where="Lemma 6.2 and Lemma E.5",
    statement=(
        "For odd $i$ and $j ∈ W_0⁺(i)$ there is $v_t$ with $⟨v_t, p_i⟩ > 0$ and $w_t = a⁺(t)ηp_i + v_t$ for all "
        "$t ≥ 0$. False at $t = 0$ for every start: $a⁺(0) = 1$, so $⟨v_0, p_i⟩ = ⟨w_0, p_i⟩ − 2η < 0$, since "
        "$|⟨w_0, p_i⟩| ≤ √2η/4$."
    ),
    reads=wide_traces,
    given=IN_REGIME,
    through_t=True,
)


@claim("brutzkus2019.equations_9_10", Kind.STEP, "Eq. 9 and 10, proof of Lemma E.5", reads=traces, given=TRAJECTORIES,
       form=Form.REPAIR, title="What one step does to each filter $w$")  # fmt: skip
def equations_9_10(runs: PlusFilters, *, minus_moves: bool = True, one_step_late: bool = False) -> Promise:
    """In one step a filter of $W_0⁺(i)$, $i$ odd, moves by $aηp_i + bηp_{l'}$ with $a = 1$ where $N(x⁺) < γ$, else 0,
    and $b = −1$ where $−N(x⁻) < 1$, else 0 ($l'$ is the better of $p₂$ and $p₄$ at $t$). A filter of $W24(0)$ moves by
    $(a + b)ηp_l$.

    As printed Eq. 9 has a = a⁺(t + 1) − a⁺(t), which looks at N_{t+1}(x⁺). Eq. 10 gives no formula for a, and is right.

    In code: `one_step_late` is Eq. 9 as printed.
    """
    t, of = runs.per("time"), Scored(runs)
    on_13, on_24 = t.stepping & (t.w13_at_start > 0), t.stepping & (t.w24_at_start > 0)
    a, b = t.plus_active.astype(int), -t.minus_active.astype(int) * minus_moves
    asked, words = (t.plus_active_after.astype(int), "$a = a⁺(t + 1) − a⁺(t)$") if one_step_late else (a, "$a$")
    return of.promise(
        {
            "along_own": of.sides(
                t, equal(furthest(t.a_step_w13, asked), asked, where=on_13, text=f"{words} on $W13(0)$")
            ),
            "across": of.sides(t, equal(furthest(t.b_step_w13, b), b, where=on_13, text="$b$ on $W13(0)$")),
            "along_other": of.sides(
                t, equal(furthest(t.b_step_w24, a + b), a + b, where=on_24, text="$a + b$ on $W24(0)$")
            ),
            "nothing_else": of.always(
                t, (t.a_step_w24 == 0).all(axis=1), where=on_24, text="nothing along $p₁$ on $W24(0)$"
            ),
        }
    )


equations_9_10_as_printed = equations_9_10.variant(
    "equations_9_10_as_printed",
    title="Eq. 9 with the activity one step later: fails at $γ$",
    where="Eq. 9, proof of Lemma E.5",
    statement=(
        "In the step from $t$ to $t + 1$ a filter of $W_0⁺(i)$, $i$ odd, moves by $aηp_i + bηp_{l'}$ with "
        "$a = a⁺(t + 1) − a⁺(t)$. False at each first step over $γ$: $a⁺(t + 1) − a⁺(t)$ is 1 where "
        "$N_{t+1}(x⁺) < γ$, and the step is taken with $N_t(x⁺)$. Every run in the regime of Theorem 6.3 has such a "
        "step."
    ),
    reads=wide_traces,
    given=IN_REGIME,
    one_step_late=True,
)


@claim("brutzkus2019.lemma_e_9", Kind.IDENTITY, "Lemma E.9 (Eq. 16)", reads=traces, given=TRAJECTORIES,
       title="The cones of $p₁$ and $p₃$ gain alike per filter")  # fmt: skip
def lemma_e_9(runs: PlusFilters) -> Promise:
    """$(X_t(1) − X_0(1))/|W⁺(1)| = (X_t(3) − X_0(3))/|W⁺(3)|$ for all $t$, where $X_t(i)$ sums the responses to $x⁺$
    over $W_t⁺(i)$ and both sets have filters.
    """
    t, of = runs.per("time"), Scored(runs)
    alike = equal(
        t.gain_1,
        t.gain_3,
        room=STEP,
        where=t.seen & (t.in_1 > 0) & (t.in_3 > 0),
        text="the two cones gain alike",
        quantity="the two mean gains in units of η",
    )
    return of.promise({"alike": of.sides(t, alike)})


@claim("brutzkus2019.lemma_e_10", Kind.STEP, "Lemma E.10, with ⟨p, p⟩ = 2", reads=traces, given=TRAJECTORIES,
       form=Form.REPAIR, title="$S⁺$ grows by exactly $2η|W13|$ while $x⁺$ is active")  # fmt: skip
def lemma_e_10(runs: PlusFilters, *, factor: float = 2.0) -> Promise:
    """$S⁺_{t+1} = S⁺_t + 2η|W13|$ where $N_t(x⁺) < γ$, and $S⁺_{t+1} = S⁺_t$ where $N_t(x⁺) ≥ γ$."""
    t, of = runs.per("time"), Scored(runs)
    gain, moving = t.s_plus_after - t.s_plus, t.stepping & (t.w13_at_start > 0)
    grows = equal(
        gain / np.maximum(t.w13, 1),
        factor,
        where=moving & t.plus_active,
        text=f"$S⁺$ grows by ${times(factor)}η|W13|$ where $N(x⁺) < γ$",
        quantity="growth of S⁺ in one step, divided by η|W13|",
    )
    stays = equal(gain, 0.0, where=moving & ~t.plus_active, text="$S⁺$ stays where $N(x⁺) ≥ γ$")
    return of.promise({"grows": of.sides(t, grows), "stays": of.sides(t, stays)})


lemma_e_10_as_printed = lemma_e_10.variant(
    "lemma_e_10_as_printed",
    title="$S⁺$ grows by $η|W13|$: off by a factor of 2",
    where="Lemma E.10, items 1 and 3",
    statement=(
        "$S⁺_{t+1} = S⁺_t + η|W13|$ where $N_t(x⁺) < γ$. False at $t = 0$ for every start with a filter in $W13$: "
        "each of them gains $⟨ηp_i, p_i⟩ = 2η$."
    ),
    reads=wide_traces,
    given=IN_REGIME,
    factor=1.0,
)
