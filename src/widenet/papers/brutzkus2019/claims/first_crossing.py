"""Lemma E.16 and its steps: S⁺ is nearly γ + 1 from the first iteration on at which −N(x⁻) ≥ 1.

Until then N(x⁺) ≥ γ makes x⁻ alone active. Such a step lowers N(x⁺) by 2c_η for the filters u and, which the proof
leaves out, by up to 2η|W24| for the filters w. So N(x⁺) ≥ γ − 2c_η(1 + |W24|/k), and S⁺ = N(x⁺) − N(x⁻) + S⁻ follows.
"""

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.base import Kind, claim
from widenet.claims.cases import derived
from widenet.claims.implication import Promise, at_most, equal
from widenet.papers.brutzkus2019.claims.trajectories import Scored, Trajectories, times
from widenet.papers.brutzkus2019.hypotheses import AT_ZERO_LOSS, AT_ZERO_LOSS_IN_REGIME
from widenet.papers.brutzkus2019.runs.trace_settings import crossing_counterexample, crossing_settings
from widenet.papers.brutzkus2019.runs.traces import traces, wide_traces
from widenet.records import Form

Times = Int[np.ndarray, " run"]


def first_inactive(active: Bool[np.ndarray, "run time"]) -> Times:
    """The first t that is not active, or the length of the trace."""
    return np.where(active.all(axis=1), active.shape[1], np.argmin(active, axis=1))


class FirstCrossings(Trajectories):
    """Trajectories, with the first iterations at which a point is satisfied."""

    plus_crossing: Times = derived(lambda runs: first_inactive(runs.plus_active))  #: the first t with N(x⁺) ≥ γ
    minus_crossing: Times = derived(lambda runs: first_inactive(runs.minus_active))  #: the first t with −N(x⁻) ≥ 1
    crossing: Times = derived(lambda runs: np.minimum(runs.minus_crossing, runs.steps - 1))  #: T2
    s_plus_at_crossing: Float[np.ndarray, " run"] = derived(
        lambda runs: np.take_along_axis(runs.s_plus, runs.crossing[:, None], axis=1)[:, 0]
    )

    @property
    def allowed_drop(self) -> np.ndarray:
        """2(1 + |W24|/k): how far N(x⁺), in units of c_η, may fall below γ in a step with only x⁻ active."""
        return 2 * (1 + self.w24_at_start / self.half_width)


def drop_in_words(printed: float | None) -> str:
    """What a part's name says of the drop: `allowed_drop`, or a printed multiple of c_η."""
    return "2c_η(1 + |W24|/k)" if printed is None else f"{times(printed)}c_η"


@claim("brutzkus2019.lemma_e_16", Kind.STEP, "Lemma E.16, with what the filters of W24 add",
       reads=traces.at(crossing_settings), given=AT_ZERO_LOSS,
       form=Form.REPAIR, title="$S⁺$ is nearly $γ + 1$ once $−N(x⁻)$ has reached 1")  # fmt: skip
def lemma_e_16(runs: FirstCrossings, *, deficit: float | None = None) -> Promise:
    """If the loss is 0 from $T$ on, there is $T2 < T$ with $S⁺_t ≥ γ + 1 − 2c_η(1 + |W24|/k)$ for $t ≥ T2$ and
    $−N_t(x⁻) < 1$ for $t < T2$.

    T2 is the first t with −N(x⁻) ≥ 1 if that is before T, else T − 1: S⁺ never falls, so no other choice is better.
    As printed the deficit is 3c_η.
    """
    t, of = runs.per("time"), Scored(runs, at_zero_loss=True)
    below = at_most(
        (runs.plus_goal + runs.minus_goal - runs.s_plus_at_crossing) / runs.half_width,
        runs.allowed_drop if deficit is None else deficit,
        text=f"$S⁺ ≥ γ + 1 − {drop_in_words(deficit)}$ at T2",
        quantity="largest (γ + 1 − S⁺)/c_η at T2",
    )
    return of.promise(
        {
            "sum": of.sides(runs, below),
            "grows": of.always(t, t.s_plus_after - t.s_plus >= 0, where=t.stepping, text="$S⁺$ does not fall after T2"),
            "before": of.always(
                t,
                t.minus_active | (t.times >= t.crossing),
                text="$T2 < T$, and $−N(x⁻) < 1$ before (by construction)",
            ),
        }
    )


lemma_e_16_as_printed = lemma_e_16.variant(
    "lemma_e_16_as_printed",
    title="$S⁺$ is at least $γ + 1 − 3c_η$: fails where $W24$ is large",
    where="Lemma E.16",
    statement=(
        "If the loss is 0 from $T$ on, there is $T2 < T$ with $S⁺_t ≥ γ + 1 − 3c_η$ for $t ≥ T2$ and $−N_t(x⁻) < 1$ "
        "for $t < T2$. False for $k = 120$, $c_η = 1/412.95$, $γ = 8$ and every start tried with $|W13| = 40$ and "
        "$|U13| = 60$ (both within $2√k$ of $k/2$): $−N(x⁻)$ reaches 1 at $t = 5776$, when $S⁺$ is below "
        "$γ + 1 − 3.2c_η$, and $T = 5787$."
    ),
    reads=traces.at(crossing_counterexample),
    deficit=3.0,
    given=AT_ZERO_LOSS_IN_REGIME,
)


@claim("brutzkus2019.lemma_e_16_steps", Kind.STEP,
       "the two steps in the proof of Lemma E.16, the first with what the filters of W24 add", reads=traces,
       given=AT_ZERO_LOSS, form=Form.REPAIR,
       title="How $N(x⁺)$ moves around $γ$ before $−N(x⁻)$ reaches 1")  # fmt: skip
def lemma_e_16_steps(runs: FirstCrossings, *, drop: float | None = None) -> Promise:
    """Between the first $t$ with $N(x⁺) ≥ γ$ and the first with $−N(x⁻) ≥ 1$: $N_t(x⁺) ≥ γ$ gives
    $N_{t+1}(x⁺) ≥ γ − 2c_η(1 + |W24|/k)$, and $N_t(x⁺) < γ$ gives $N_{t+1}(x⁺) = N_t(x⁺) + 2η|W13|$.

    As printed the first drop is 2c_η.
    """
    t, of = runs.per("time"), Scored(runs, at_zero_loss=True)
    between = (t.times >= t.plus_crossing) & (t.times < t.minus_crossing)  # at zero loss −N(x⁻) ≥ 1 by T
    falls = at_most(
        (t.plus_goal - t.n_plus_after) / t.half_width,
        t.allowed_drop if drop is None else drop,
        where=between & ~t.plus_active,
        text=f"$N(x⁺) ≥ γ$: at least $γ − {drop_in_words(drop)}$ after",
        quantity="largest (γ − N(x⁺))/c_η right after a step with only x⁻ active, before −N(x⁻) ≥ 1",
    )
    grows = equal(
        t.n_plus_after - t.n_plus,
        2 * t.w13_at_start,
        where=between & t.plus_active,
        text="$N(x⁺) < γ$: it grows by $2η|W13|$",
        quantity="growth of N(x⁺) in units of η",
    )
    return of.promise({"falls": of.sides(t, falls), "grows": of.sides(t, grows)})


lemma_e_16_steps_as_printed = lemma_e_16_steps.variant(
    "lemma_e_16_steps_as_printed",
    title="$N(x⁺)$ drops by at most $2c_η$ below $γ$: fails",
    where="the first of the two steps in the proof of Lemma E.16",
    statement=(
        "Between the first $t$ with $N(x⁺) ≥ γ$ and the first with $−N(x⁻) ≥ 1$: $N_t(x⁺) ≥ γ$ gives "
        "$N_{t+1}(x⁺) ≥ γ − 2c_η$. False at $k = 120$, $c_η = 1/410$, $γ = 8$: a step with only $x⁻$ active takes "
        "$2c_η$ through the filters $u$ alone, and up to $2η|W24|$ more through the filters $w$."
    ),
    reads=wide_traces,
    drop=2.0,
    given=AT_ZERO_LOSS_IN_REGIME,
)
