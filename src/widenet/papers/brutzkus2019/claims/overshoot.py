"""How far outputs overshoot their margins (Lemmas E.11 to E.13, Eq. 14), with the constants that ⟨p, p⟩ = 2 gives.

In units of η, with n = |W13|, and after the first step (see `minus_filters`: U13 is empty, so N(x⁺) = S⁺ + X − Y and
N(x⁻) = S⁻ + X − Y):
  both points active:  S⁺ grows by 2n, X and Y stay, S⁻ changes by at most 2n;
  only x⁻ active:      S⁺ stays, Y grows by 2k, X changes by at most 2(k − n);
  only x⁺ active:      S⁺ grows by 2n, X grows by 2(k − n), Y falls by 2k, S⁻ stays.
So a step adds at most 4k = 4c_η/η to the output of an active point, and lowers that of an inactive one. Hence the
bounds with 4c_η. The printed 3c_η is too small; the bound on S⁺ that later proofs use is right.
"""

import functools
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.base import Kind, claim
from widenet.claims.cases import derived
from widenet.claims.implication import Promise, at_most, equal, less_than
from widenet.claims.tolerances import STEP
from widenet.papers.brutzkus2019.claims.trajectories import Scored, Trajectories, times
from widenet.papers.brutzkus2019.hypotheses import IN_REGIME, TRAJECTORIES, width_above_16
from widenet.papers.brutzkus2019.runs.trace_settings import overshoot_settings, wide_and_faster
from widenet.papers.brutzkus2019.runs.traces import Series, traces
from widenet.records import Form

Share = Float[np.ndarray, "*case"]
"""ω = |W13|/k, or |W24|/k."""
StepCounts = Int[np.ndarray, "*case"] | int


def stretches(active: Bool[np.ndarray, "run time"]) -> Int[np.ndarray, "run time"]:
    """How many consecutive iterations, this one included, have been active at each t."""
    t = np.arange(active.shape[1])
    return t - np.maximum.accumulate(np.where(active, -1, t), axis=1)


def longest(active: Bool[np.ndarray, "run time"]) -> Int[np.ndarray, " run"]:
    """The longest stretch of each run."""
    return stretches(active).max(axis=1)


def changes(
    series: Series, active: Bool[np.ndarray, "run time"]
) -> tuple[Int[np.ndarray, " change"], Int[np.ndarray, " change"], Float[np.ndarray, " change"]]:
    """(run, b, series_{t+b} − series_t) for every t and b ≥ 1 with t, …, t + b − 1 all active, in this order."""
    length, found = stretches(active), []
    for b in range(1, int(length.max(initial=0)) + 1):
        run, last = np.nonzero(length[:, :-1] >= b)
        found.append(np.stack([run, np.full(len(run), b), series[run, last + 1] - series[run, last + 1 - b]], axis=1))
    joined = np.concatenate([np.zeros((0, 3)), *found])
    run, b, change = joined[np.lexsort((joined[:, 1], joined[:, 0]))].T
    return run.astype(int), b.astype(int), change


class Overshoots(Trajectories):
    """Trajectories, with what the outputs change by while one point alone is active, and how long that takes.

    Flat axes have every stretch of b iterations in which only x⁻ is active (`down`), or only x⁺ (`back`).
    """

    lengths: ClassVar = {
        "down": lambda runs: np.bincount(runs.down[0], minlength=len(runs)),
        "back": lambda runs: np.bincount(runs.back[0], minlength=len(runs)),
    }

    down_steps: Int[np.ndarray, " down"] = derived(lambda runs: runs.down[1])  #: b
    down_change: Float[np.ndarray, " down"] = derived(lambda runs: runs.down[2])  #: of N(x⁺), in units of η
    back_steps: Int[np.ndarray, " back"] = derived(lambda runs: runs.back[1])  #: b
    back_change: Float[np.ndarray, " back"] = derived(lambda runs: runs.back[2])  #: of −N(x⁻), in units of η
    longest_down: Int[np.ndarray, " run"] = derived(lambda runs: longest(runs.only_minus))
    n_only_plus: Int[np.ndarray, " run"] = derived(lambda runs: runs.only_plus.sum(axis=1))

    @functools.cached_property
    def down(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Run, b and change of N(x⁺), of one cell."""
        return changes(self.n_plus, self.only_minus)

    @functools.cached_property
    def back(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Run, b and change of −N(x⁻), of one cell."""
        return changes(-self.n_minus, self.only_plus)

    @property
    def share_13(self) -> np.ndarray:
        """ω = |W13|/k, of at least one filter."""
        return np.maximum(self.w13_at_start, 1) / self.half_width

    @property
    def share_24(self) -> np.ndarray:
        """|W24|/k."""
        return self.w24_at_start / self.half_width


Stretch = Callable[[StepCounts, Share], Share]
"""A change over b steps, in units of c_η, from b and |W24|/k."""


def fall_limit(b: StepCounts, others: Share) -> Share:
    """Lemma E.11, repaired: N(x⁺) changes by at most −2b + 2|W24|/k."""
    return 2 * others - 2 * b


def fall_limit_as_printed(b: StepCounts, others: Share) -> Share:
    """Lemma E.11: −(b − 1) + |W24|/k."""
    return others - (b - 1)


def fall_of_minus(b: StepCounts, others: Share) -> Share:
    """Lemma E.12, repaired: −N(x⁻) changes by −2b(|W24|/k + 1)."""
    return -2 * b * (others + 1)


def fall_of_minus_as_printed(b: StepCounts, others: Share) -> Share:
    """Lemma E.12: at most −b|W24|/k + 1."""
    return 1 - b * others


@claim("brutzkus2019.lemma_e_11", Kind.STEP, "Lemma E.11, with the constants that ⟨p, p⟩ = 2 gives", reads=traces,
       given=TRAJECTORIES, form=Form.SHARPER,
       title="$N(x⁺)$ falls while only $x⁻$ is active")  # fmt: skip
def lemma_e_11(runs: Overshoots, *, sharp: Stretch = fall_limit, printed: Stretch = fall_limit_as_printed) -> Promise:
    """If only $x⁻$ is active for $T ≤ t < T + b$, then $N_{T+b}(x⁺) ≤ N_T(x⁺) − 2bc_η + 2η|W24|$ for $b ≥ 1$. This
    implies the printed bound, $N_T(x⁺) − (b − 1)c_η + η|W24|$ for $b ≥ 2$, which is checked too.
    """
    d, of = runs.per("down"), Scored(runs)
    change, b = d.down_change / d.half_width, d.down_steps
    words = "change of N(x⁺) over the stretch, in units of c_η"
    by_sharp = at_most(change, sharp(b, d.share_24), room=STEP, text="sharp, $b ≥ 1$", quantity=words)
    by_printed = at_most(change, printed(b, d.share_24), where=b >= 2, text="printed, $b ≥ 2$")
    return of.promise({"sharp": of.sides(d, by_sharp, by=b), "printed": of.sides(d, by_printed, by=b)})


@claim("brutzkus2019.lemma_e_12", Kind.STEP, "Lemma E.12, with the constants that ⟨p, p⟩ = 2 gives", reads=traces,
       given=TRAJECTORIES, form=Form.SHARPER,
       title="$−N(x⁻)$ falls by a fixed amount while only $x⁺$ is active")  # fmt: skip
def lemma_e_12(
    runs: Overshoots, *, exact: Stretch = fall_of_minus, printed: Stretch = fall_of_minus_as_printed
) -> Promise:
    """If only $x⁺$ is active for $T ≤ t < T + b$, then $−N(x⁻)$ falls by exactly $2b(η|W24| + c_η)$. This implies the
    printed bound, $−N_{T+b}(x⁻) ≤ −N_T(x⁻) − bη|W24| + c_η$, which is checked too.
    """
    d, of = runs.per("back"), Scored(runs)
    change, b = d.back_change / d.half_width, d.back_steps
    words = "change of −N(x⁻) over the stretch, in units of c_η"
    by_exact = equal(change, exact(b, d.share_24), room=STEP, text="the exact change", quantity=words)
    by_printed = at_most(change, printed(b, d.share_24), text="the printed bound")
    return of.promise({"exact": of.sides(d, by_exact, by=b), "printed": of.sides(d, by_printed, by=b)})


@claim("brutzkus2019.lemma_e_13", Kind.STEP, "Lemma E.13, its first two bounds with 4c_η", reads=traces,
       given=TRAJECTORIES, form=Form.REPAIR, title="Outputs overshoot their margins by less than $4c_η$")  # fmt: skip
def lemma_e_13(runs: Overshoots, *, overshoot: float = 4.0, sum_overshoot: float = 8.0, strict: bool = True) -> Promise:
    """For all $t$: $N(x⁺) < γ + 4c_η$, $−N(x⁻) < 1 + 4c_η$ and $S⁺ ≤ γ + 1 + 8c_η$.

    As printed: ≤ with 3, 3 and 8.
    """
    t, of = runs.per("time"), Scored(runs)
    below, sign = (less_than, "<") if strict else (at_most, "≤")
    plus = below(
        t.above_margin,
        overshoot,
        where=t.seen,
        text=f"$N(x⁺) {sign} γ + {times(overshoot)}c_η$",
        quantity="largest (N(x⁺) − γ)/c_η",
    )
    minus = below(
        t.above_one,
        overshoot,
        where=t.seen,
        text=f"$−N(x⁻) {sign} 1 + {times(overshoot)}c_η$",
        quantity="largest (−N(x⁻) − 1)/c_η",
    )
    both = at_most(
        t.sum_above,
        sum_overshoot,
        where=t.seen,
        text=f"$S⁺ ≤ γ + 1 + {times(sum_overshoot)}c_η$",
        quantity="largest (S⁺ − γ − 1)/c_η",
    )
    return of.promise({"plus": of.sides(t, plus), "minus": of.sides(t, minus), "sum": of.sides(t, both)})


lemma_e_13_as_printed = lemma_e_13.variant(
    "lemma_e_13_as_printed",
    title="Outputs overshoot by at most $3c_η$: fails",
    where="Lemma E.13",
    statement=(
        "For all $t$: $N(x⁺) ≤ γ + 3c_η$, $−N(x⁻) ≤ 1 + 3c_η$ and $S⁺ ≤ γ + 1 + 8c_η$. The first is false for "
        "$k = 120$, $c_η = 1/410$, $γ = 8$ and every start tried with $|W13| = 62$ and $|U13| = 60$, where $N(x⁺)$ "
        "reaches $γ + 3.99c_η$: a step with only $x⁺$ active adds $4c_η$, not $2c_η$. The second is false in about a "
        "quarter of random starts."
    ),
    reads=traces.at(overshoot_settings),
    overshoot=3.0,
    strict=False,
    given=IN_REGIME,
)


def sum_limit(share: Share) -> Share:
    """(iii): (S⁺ − γ − 1)/c_η is less than 4 + 4ω."""
    return 4 + 4 * share


def only_plus_limit(share: Share) -> Share:
    """(v): at most 1 + 4/ω steps have only x⁺ active."""
    return 1 + 4 / share


def x_limit(share: Share) -> Share:
    """(vi): X_T/c_η is at most 2(1 − ω)(2 + 4/ω)."""
    return 2 * (1 - share) * (2 + 4 / share)


def y_limit(share: Share) -> Share:
    """(vi): (Y_T − 1)/c_η is at most 2ω + 4 more than X may be."""
    return 2 * share + 4 + x_limit(share)


def rest_limit(share: Share) -> Share:
    """(vi): (S⁻_T + X_T)/c_η is at most 2ω more than X may be."""
    return 2 * share + x_limit(share)


Limit = Callable[[Share], Share]


@claim("brutzkus2019.sharp_bounds", Kind.STEP,
       "not in the paper: what replaces Lemmas E.8, E.13 and E.16 in the proofs of E.14, E.17, E.18 and E.22",
       reads=traces, given=TRAJECTORIES, form=Form.SHARPER,
       title="Sharp bounds on overshoot, waiting and the last sums")  # fmt: skip
def sharp_bounds(
    runs: Overshoots,
    *,
    overshoot: float = 4.0,
    steps: int = 3,
    sum_limit: Limit = sum_limit,
    only_plus_limit: Limit = only_plus_limit,
    x_limit: Limit = x_limit,
    y_limit: Limit = y_limit,
    rest_limit: Limit = rest_limit,
) -> Promise:
    """With $ω = |W13|/k > 0$ and $c_η ≤ 1/8$: (i) $N(x⁺) < γ + 4c_η$; (ii) $−N(x⁻) < 1 + 4c_η$; (iii)
    $S⁺ < γ + 1 + 4c_η + 4η|W13|$; (iv) at most 3 consecutive steps with only $x⁻$ active; at zero loss (v) at most
    $1 + 4/ω$ steps with only $x⁺$ active; (vi) $X_T ≤ ξ = 2(1 − ω)(2 + 4/ω)c_η$, $Y_T ≤ 1 + (2ω + 4)c_η + ξ$,
    $S⁻_T + X_T ≤ 2ωc_η + ξ$. For $ω ≥ 1/4$ the bounds of (vi) are at most $27c_η$, $1 + 31.5c_η$ and $27.5c_η$, below
    the $34c_η$, $1 + 38c_η$ and $35c_η$ that the paper goes on with.
    """
    t, of = runs.per("time"), Scored(runs)
    has_13, share = runs.w13_at_start > 0, runs.share_13
    seen, ended = t.seen & (t.w13_at_start > 0), has_13 & runs.converged
    at_all_times = {
        "plus": less_than(
            t.above_margin,
            overshoot,
            where=seen,
            text="(i) $N(x⁺) < γ + 4c_η$",
            quantity="largest (N(x⁺) − γ)/c_η",
        ),
        "minus": less_than(
            t.above_one,
            overshoot,
            where=seen,
            text="(ii) $−N(x⁻) < 1 + 4c_η$",
            quantity="largest (−N(x⁻) − 1)/c_η",
        ),
        "sum": less_than(
            t.sum_above,
            sum_limit(t.share_13),
            where=seen,
            text="(iii) $S⁺ < γ + 1 + 4c_η + 4η|W13|$",
            quantity="largest (S⁺ − γ − 1)/c_η",
        ),
    }
    # No count of steps is larger than T.
    of_runs = {
        "waits": at_most(
            runs.longest_down,
            steps,
            where=has_13,
            trivial=runs.steps,
            text="(iv) at most 3 consecutive steps with only $x⁻$ active",
        ),
        "only_plus": at_most(
            runs.n_only_plus,
            only_plus_limit(share),
            where=ended,
            trivial=runs.steps,
            text="(v) at most $1 + 4/ω$ steps with only $x⁺$ active",
        ),
        "x": at_most(
            runs.x_end / runs.half_width,
            x_limit(share),
            where=ended,
            text="(vi) $X_T$",
            quantity="largest X_T/c_η",
        ),
        "y": at_most(
            (runs.y_end - runs.minus_goal) / runs.half_width,
            y_limit(share),
            where=ended,
            text="(vi) $Y_T$",
            quantity="largest (Y_T − 1)/c_η",
        ),
        "rest": at_most(
            runs.rest_end / runs.half_width,
            rest_limit(share),
            where=ended,
            text="(vi) $S⁻_T + X_T$",
            quantity="largest (S⁻_T + X_T)/c_η",
        ),
    }
    return of.promise(
        {
            **{key: of.sides(t, each) for key, each in at_all_times.items()},
            **{key: of.sides(runs, each) for key, each in of_runs.items()},
        }
    )


@claim("brutzkus2019.equation_14_stuck", Kind.STEP, "after Eq. 14, proof of Proposition E.14",
       reads=traces.at(wide_and_faster), given=(*TRAJECTORIES, width_above_16),
       title="At most 6 iterations in a row with only $x⁻$ active")  # fmt: skip
def equation_14_stuck(runs: Overshoots, *, most: int = 6) -> Promise:
    """For $k > 16$ there are at most 6 consecutive iterations with $N(x⁺) ≥ γ$ and $−N(x⁻) < 1$."""
    of = Scored(runs)
    stuck = at_most(
        runs.longest_down,
        most,
        where=runs.longest_down > 0,
        trivial=runs.steps,
        text="at most 6 consecutive iterations",
        quantity="most consecutive iterations with only x⁻ active",
    )
    return of.promise({"iterations": of.sides(runs, stuck)}, note="At most 3 are possible (claim sharp_bounds).")
