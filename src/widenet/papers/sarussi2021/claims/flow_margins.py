"""Gradient flow: when it starts to separate, that the smoothed margin grows, and where its direction goes."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Int

from widenet.claims.base import Kind, claim
from widenet.claims.cases import derived
from widenet.claims.implication import (
    Promise,
    Promised,
    at_least,
    at_most,
    equal,
    hypothesis,
    less_than,
    more_than,
)
from widenet.claims.sides import Fact, Sides
from widenet.claims.tolerances import STEP
from widenet.diagnostics.homogeneous_margins import margin_of_loss
from widenet.papers.sarussi2021.claims.convergence import in_time, promised
from widenet.papers.sarussi2021.claims.paths import MONOTONE, Paths
from widenet.papers.sarussi2021.formulas import (
    LOG_2,
    approach_bound,
    flow_time_bound,
    least_norm,
    slack_bound,
    turning_bound,
    update_bound,
)
from widenet.papers.sarussi2021.hypotheses import (
    NETWORK,
    input_norm,
    labels,
    off_the_kinks,
    once_per_epoch,
    row_norm,
    separable,
    separating,
    separating_at_last,
    step_size,
)
from widenet.papers.sarussi2021.runs.epochs import Epochs, epochs
from widenet.papers.sarussi2021.runs.falling_margins import SHORT, FallingMargins, draw_falling
from widenet.papers.sarussi2021.runs.flows import flows
from widenet.papers.sarussi2021.runs.small_steps import SmallStepFlows, small_steps
from widenet.records import Form


class Flown(SmallStepFlows):
    """Runs of gradient flow by small steps."""

    @property
    def unfinished(self) -> np.ndarray:
        """Given up before they arrived."""
        return np.isnan(self.times)


class SgdSeparation(Epochs):
    """Runs of SGD, with when they reach nL < log 2."""

    hit: Int[np.ndarray, " run"] = derived(lambda runs: runs.hits[:, len(runs.levels)])  #: −1 if they do not

    @property
    def unfinished(self) -> np.ndarray:
        """Given up before they arrived."""
        return self.hit < 0


def times_of(flown: Flown, trained: SgdSeparation) -> dict[str, np.ndarray]:
    """When gradient flow arrives."""
    return {"times": flown.times, "printed_times": flown.printed_times}


OF_SGD = tuple(each.of(1) for each in (input_norm, row_norm, labels, once_per_epoch, step_size))


@claim("sarussi2021.assumption_6_1", Kind.STEP, "Assumption 6.1, Section 6, with log 2", reads=(small_steps, epochs),
       form=Form.REPAIR, given=[separable, *OF_SGD, *NETWORK], details=times_of,
       title="Gradient flow and SGD separate the data in bounded time")  # fmt: skip
def assumption_6_1(
    flown: Flown,
    trained: SgdSeparation,
    *,
    time_bound: Callable[..., np.ndarray] = flow_time_bound,
    bound: Callable[..., np.ndarray] = update_bound,
) -> Promised:
    """Gradient flow on separable data reaches $nL < log 2$ by the time $((b + √(b² + 4ac))/2a)²$ with $a = 2kvα(1 −
    e^{−ε})/n$, $b = √(2k)‖w*‖√(2Λ(1/e))$, $c = 2√(2k)‖w*‖‖W_0‖$ and $ε = log(2)/n$: Assumption 6.1 is a theorem. SGD
    reaches it after at most $M(n, log(2)/n)$ updates. The printed level $nL < 1$ is reached no later.
    """
    f, s = flown, trained
    shape = (f.separator_norm, f.slope, f.output_weight, f.half_width, f.n_samples, f.start_norm)
    in_flow, by_sgd = time_bound(*shape, LOG_2 / f.n_samples), promised(s, bound, LOG_2 / s.n_samples)
    return {
        "flow": in_time(f.times, ~f.unfinished, f.ended, in_flow, text="gradient flow: $nL < log 2$ within the time"),
        "sgd": in_time(
            s.hit, ~s.unfinished, s.updates, by_sgd, text="SGD: $nL < log 2$ within $M(n, log(2)/n)$ updates"
        ),
        "printed_level": at_most(f.printed_times, f.times, text="$nL < 1$ comes no later"),
    }


@claim("sarussi2021.smoothed_margin_order", Kind.STEP, "Section 13 (Lyu & Li, Theorem A.7)", reads=flows, given=[],
       title="The smoothed margin is at most the normalized one")  # fmt: skip
def smoothed_margin_order(runs: Paths, *, mean: bool = False, alone: float = 0.0) -> Promised:
    """The smoothed margin $γ̃ = −log(exp(nL) − 1)/‖W‖$ is at most the normalized margin $γ̄ = min y N(x)/‖W‖$, and
    equal to it for $n = 1$.

    The second is seen on the first point of each run alone.

    In code: `mean` takes L for nL, and `alone` e^{alone}·L for L of a single point, for controls.
    """
    t = runs.per("time")
    later = {"where": t.readings > 0, "event": "looks after the start"}
    smooth = margin_of_loss(t.log_loss - mean * np.log(t.n_samples)) / t.norms
    single = margin_of_loss(t.first_log_loss + alone)
    return {
        "order": at_most(smooth, t.normalized, within=STEP, text="$γ̃ ≤ γ̄$", **later),
        "one_point": equal(
            single, t.first_margin, within=STEP, of=1 + np.abs(t.first_margin), text="equal for a single point", **later
        ),
    }


@claim("sarussi2021.smoothed_margin_grows", Kind.STEP, "Section 14.1 (Lyu & Li, Theorem A.7)", reads=flows,
       given=[separating_at_last], title="Along gradient flow the smoothed margin never decreases")  # fmt: skip
def smoothed_margin_grows(runs: Paths) -> Promised:
    """Along gradient flow the smoothed margin never decreases once $nL < log 2$."""
    s = runs.per("stretch")
    return {
        "growth": at_least(
            s.smooth_next,
            s.smooth_then,
            within=MONOTONE,
            of=1 + np.abs(s.smooth_then),
            where=s.reading_then >= s.started,
            event="looks with $nL < log 2$",
            text="$γ̃$ does not decrease",
        )
    }


@hypothesis("$nL$")
def below_one(path: FallingMargins) -> Sides:
    """nL < 1."""
    return less_than(path.per("look").totals, 1)


@hypothesis("$nL$")
def above_log_2(path: FallingMargins) -> Sides:
    """nL > log 2."""
    return more_than(path.per("look").totals, LOG_2)


@claim("sarussi2021.smoothed_margin_level", Kind.STEP, "(B4), Section 12, beside Assumption 6.1", draws=draw_falling,
       given=[below_one, above_log_2], form=Form.REPAIR,
       title="Below $nL = 1$ the smoothed margin can still fall")  # fmt: skip
def smoothed_margin_level(path: FallingMargins) -> Promise:
    """$nL < 1$, the level of Assumption 6.1, does not make the smoothed margin grow: there are networks with $log 2 <
    nL < 1$ at which it falls along gradient flow. The level of (B4) is $ℓ(0) = log 2$.

    Section 12 calls the two one assumption. Gradient flow on separable data meets both in the end (`assumption_6_1`),
    and Section 14.1 needs the growth only from T_Margin on.
    """
    falling = at_least(path.per("stretch").rate, 0.01, text="$γ̃$ falls at a rate of at least 0.01")
    return Promise({"rate": falling}, details={"rates": -path.rate[:, 0]})


@claim("sarussi2021.smoothed_margin_level_as_printed", Kind.STEP, "(B4), Section 12 (This is assumption 6.1)",
       draws=draw_falling, given=[below_one],
       title="Once $nL < 1$ the smoothed margin does not decrease")  # fmt: skip
def smoothed_margin_level_as_printed(path: FallingMargins) -> Promise:
    """(B4), from which on the smoothed margin does not decrease along gradient flow, is Assumption 6.1: $nL < 1$."""
    s = path.per("stretch")
    return Promise(
        {"growth": at_least(s.margin_next, s.margin_then, room=STEP * SHORT, text="$γ̃$ does not decrease")},
        note=lambda: (
            "k = v = 1, α = 1/2, x₁ = (1, 1), x₂ = t(−1, 0.2), both positive, w = −0.02(1, 1), u = 0.04(1, 1): γ̃ falls "
            f"along the flow of nL at a rate of {path.rate[0, 0]:.3g} for the smallest t."
        ),
    )


@claim("sarussi2021.footnote_9", Kind.STEP, "footnote 9, Section 13.1", reads=flows, given=[separating_at_last],
       title="The norm of the weights diverges along gradient flow")  # fmt: skip
def footnote_9(runs: Paths, *, bound: Callable[..., np.ndarray] = least_norm) -> Promised:
    """The norm of the weights diverges: along gradient flow it grows once every point is right, and it is at least $min
    y N(x)/(v√(k(1 + α²))R_x)$ at every $W$.
    """
    s, t = runs.per("stretch"), runs.per("time")
    limit = bound(t.smallest, t.slope, t.output_weight, t.half_width, t.largest_norm)
    right = "looks at which every point is right"
    return {
        "growth": more_than(s.norm_next, s.norm_then, where=s.smallest_then > 0, event=right, text="$‖W‖$ grows"),
        "least_norm": at_least(
            t.norms,
            limit,
            within=1e-9,
            where=t.smallest > 0,
            event=right,
            text="$‖W‖ ≥ min q/(v√(k(1 + α²))R_x)$",
        ),
    }


FOLLOWED = "looks after the last neuron changed sides"


@claim("sarussi2021.directions_converge", Kind.TREND, "Section 13 (Ji & Telgarsky, Theorem 3.1)", reads=flows,
       form=Form.SHARPER, given=[separating],
       title="The direction of the weights converges under gradient flow")  # fmt: skip
def directions_converge(runs: Paths, *, bound: Callable[..., np.ndarray] = approach_bound) -> Promised:
    """The direction $W/‖W‖$ of gradient flow converges. Not in the paper: once no neuron changes sides it tends to the
    direction $Û$ of the largest margin $γ*$ among networks with these signs, and $‖W_t/‖W_t‖ − Û‖² ≤ 2‖W_T‖(1 −
    γ̃_T/γ*)/‖W_t‖$ at every time $t$ after $T$.

    A run in which a neuron ends on a kink decides nothing.
    """
    t = runs.per("time")
    return {
        "direction": at_most(
            np.sqrt(2 * np.maximum(t.pattern_error, 0.0)),
            np.sqrt(2 * bound(t.pattern_excess, t.pattern_margin, t.norms)),
            room=MONOTONE,
            where=t.pattern_followed,
            event=FOLLOWED,
            text="$W/‖W‖$ is near its limit at every time",
            quantity="distance of W/‖W‖ from its limit",
        )
    }


@claim("sarussi2021.limit_is_kkt", Kind.TREND, "Section 13 (Lyu & Li, Theorem A.8)", reads=flows,
       form=Form.SHARPER, given=[separating, off_the_kinks],
       title="Gradient flow tends to a KKT point of the margin problem")  # fmt: skip
def limit_is_kkt(
    runs: Paths, *, bounds: tuple[Callable[..., np.ndarray], ...] = (approach_bound, turning_bound, slack_bound)
) -> Promised:
    """Every limit direction of gradient flow is a KKT point of $min ½‖W‖²$ subject to $y_i N(x_i) ≥ 1$: with
    multipliers $|ℓ'(q_i)|$ the residual of stationarity and the slack tend to $0$. Not in the paper: how fast. Once no
    neuron changes sides the residual is at most $√(2E_T/(γ*‖W_t‖)) + √(2E_T/(γ*‖W_t − W_T‖ + E_T))$, with $E_T =
    ‖W_T‖(γ* − γ̃_T)$, and the slack at most $Λ((n − 1)/e)(1 + e^{−min q})/(γ*‖W_t‖)$, at every time $t$ after $T$.

    γ* is the largest normalized margin of networks with these signs.
    """
    t = runs.per("time")
    there, turned = (t.pattern_excess, t.pattern_margin, t.norms), (t.pattern_excess, t.pattern_margin, t.pattern_moved)
    followed = {"where": t.pattern_followed, "event": FOLLOWED}
    return {
        "stationarity": at_most(
            t.stationarity,
            np.sqrt(2 * bounds[0](*there)) + np.sqrt(2 * bounds[1](*turned)),
            room=t.push_blur,
            text="stationarity is near at every time",
            quantity="what is missing from stationarity",
            **followed,
        ),
        "slackness": at_most(
            t.slack,
            bounds[2](t.n_samples, t.smallest, t.pattern_margin, t.norms),
            within=STEP,
            text="the slack is small at every time",
            quantity="slack of the multipliers",
            **followed,
        ),
        "margins": Fact(runs.right_at_end, text="every margin is positive"),
    }
