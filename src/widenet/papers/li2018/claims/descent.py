"""What gradient descent on single points does: Lemma A.4, and statements of Sections 4 to 6 about widths and starts."""

from typing import Any

import numpy as np
import scipy.stats
from jaxtyping import Bool, Float

from widenet.claims.applicability import NotApplicable
from widenet.claims.base import Kind, claim
from widenet.claims.cases import Number, derived
from widenet.claims.implication import Promise, Promised, at_least, at_most, less_than
from widenet.claims.sides import Sense, Sides
from widenet.claims.tolerances import IDENTITY, STEP
from widenet.papers.li2018.claims.mixing import fitted_slope
from widenet.papers.li2018.formulas import drop_share
from widenet.papers.li2018.hypotheses import (
    SEPARATED,
    SEPARATED_AS_PRINTED,
    SHARES,
    runs_of_a_width,
    scales,
    step_size,
    widths,
)
from widenet.papers.li2018.runs.descents import (
    PointDescent,
    averaged_steps,
    coupled_descents,
    descents,
    descents_at_widths,
    dimension_settings,
    hexagon_widths,
    scale_settings,
)
from widenet.records import Form

LATE = 200
"""The step at which patterns and distances are looked at."""
Changes = Float[np.ndarray, " change"]


class Changing(PointDescent):
    """Descents, from each step to the next."""

    drops: Changes = derived(lambda run: run.losses[:-1] - run.losses[1:])
    scaled_squares: Changes = derived(lambda run: run.step_size * run.squares[:-1])  #: ηΣ‖∂L/∂w_r‖²
    losses_before: Changes = derived(lambda run: run.losses[:-1])
    is_still: Bool[np.ndarray, " change"] = derived(lambda run: run.still[:-1] == 1)  #: whether no pattern changes
    scaled_step: Number = derived(lambda run: run.step_size * run.vote_norm**2)  #: η‖A‖²


def steps_to(run: PointDescent, share: float = 0.05) -> float:
    """The first step at which v_max ≤ share/(kl); NaN if there is none."""
    reached = np.flatnonzero(run.residuals <= share / run.n_components)
    return float(reached[0]) if len(reached) else np.nan


def mean_square(run: PointDescent) -> float:
    """The mean of (v^t)² over T ∝ σ/η steps."""
    return (run.residuals[1 : averaged_steps(int(run.width)) + 1] ** 2).mean()


def later_drop(run: PointDescent) -> float:
    """The mean of (L_t − L_{t+1})/(ηm·(v^t)²) over the second half of T ∝ σ/η steps."""
    last = averaged_steps(int(run.width))
    part = slice(last // 2, last)
    return (-np.diff(run.losses)[part] / (run.step_size * run.width * run.residuals[part] ** 2)).mean()


class WidthTrend(PointDescent):
    """Descents, with what is compared from width to width."""

    steps_needed: Number = derived(steps_to)
    mean_square: Number = derived(mean_square)
    later_drop: Number = derived(later_drop)
    late_flips: Number = derived(lambda run: run.flips[LATE])
    late_distance: Number = derived(lambda run: run.distances[LATE])


Groups = Float[np.ndarray, " group"]


def means_by(groups: Number, values: Number) -> tuple[np.ndarray, Groups]:
    """(what occurs, in order; the mean value of each)."""
    different, places = np.unique(groups, return_inverse=True)
    return different, np.bincount(places, values) / np.bincount(places)


def rate(value: float, limit: float, sense: Sense, runs: PointDescent, text: str) -> Sides:
    """A trend in the width. On your data it may set in later, so that what misses it here decides nothing."""
    misses = value > limit if sense is Sense.AT_MOST else value < limit
    return Sides(value, limit, sense, undecided=misses and np.any(runs.own), text=text)


@claim("li2018.lemma_a_4_step", Kind.STEP, "proof of Lemma A.4", reads=coupled_descents,
       given=[*SHARES, step_size],
       title="A step without a change of pattern lowers the loss",
       form=Form.SHARPER)  # fmt: skip
def lemma_a_4_step(runs: Changing, *, share: float = 1.0) -> Promise:
    """A step of gradient descent in which no pattern changes lowers the loss by at least $(1 − η‖A‖²/4)·ηΣ‖∂L/∂w_r‖²$;
    so by at least half of $ηΣ‖∂L/∂w_r‖²$ for $η ≤ 2/‖A‖²$.

    Printed is only that the drop is Ω̃(η(vδ/(kl))²δm/(kl)) for a sufficiently small η.
    """
    c = runs.per("change")
    falls = at_least(
        c.drops,
        share * drop_share(c.scaled_step) * c.scaled_squares,
        room=STEP * c.scaled_squares + 1e-14 * c.losses_before,
        where=c.is_still,
        event="steps without a change of pattern",
        text="drop at least $(1 − η‖A‖²/4)·ηΣ‖∂L/∂w_r‖²$",
    )
    counts = {"steps without a change": c.is_still.sum(), "steps with one": (~c.is_still).sum()}
    return Promise({"drop": falls}, details=counts)


def slope_of(runs: WidthTrend, values: Number, name: str) -> tuple[float, dict[str, np.ndarray]]:
    """(the slope of the logarithm of the means in log m, both as details)."""
    different, means = means_by(runs.width, values)
    return fitted_slope(different, means), {"widths": different, name: means}


SLOPE_OF_SQUARES = "slope of log mean $v²$"


@claim("li2018.lemma_a_4", Kind.TREND, "Lemma A.4, Appendix A.3", reads=descents_at_widths,
       given=[*SHARES, *SEPARATED, widths],
       form=Form.REPAIR, title="The mean squared residual falls like $m^{−1/2}$")  # fmt: skip
def lemma_a_4(runs: WidthTrend, *, slope: float = -0.35) -> Promise:
    """On data whose classes are at least $δ$ apart, also from mirror images, in tight components, with $η ∝ 1/m$ and
    over $T ∝ σ/η$ steps, the mean of $(v^t)²$ falls like $m^{−1/2}$: Lemma A.4 bounds it by $Õ(k⁵l⁵/(δ⁴σm))$. Checked
    with a slope of at most −0.35 in $log m$, which is ours.
    """
    fall, details = slope_of(runs, runs.mean_square, "mean v²")
    return Promise({"slope": rate(fall, slope, Sense.AT_MOST, runs, SLOPE_OF_SQUARES)}, details=details)


@claim("li2018.lemma_a_4_as_printed", Kind.TREND, "Lemma A.4, Appendix A.3", reads=descents.at(hexagon_widths),
       given=[*SHARES, *SEPARATED_AS_PRINTED],
       title="The mean squared residual falls even beside mirror images")  # fmt: skip
def lemma_a_4_as_printed(runs: WidthTrend, *, slope: float = -0.35) -> Promise:
    """Under (A1) to (A3), for a sufficiently small $η$ and $T = Θ̃(σδ/(klη))$, the mean of $(v^t)²$ is
    $Õ(k⁵l⁵/(δ⁴σm))$, so $Õ(m^{−1/2})$ for fixed $k$, $l$ and $δ$.

    Judged by a slope of at most −0.35 in log m. On the hexagon the loss is at least ln 2 at every m and t
    (`theorem_4_1_obstruction`), so some o_y ≤ 1/2 and v ≥ 1/12: no constant and no power of log m would do.
    """
    fall, details = slope_of(runs, runs.mean_square, "mean v²")
    return Promise({"slope": at_most(fall, slope, text=SLOPE_OF_SQUARES)}, details=details)


@claim("li2018.lemma_b_4_as_printed", Kind.STEP, "Lemma B.4, Appendix B.3", reads=descents.at(hexagon_widths),
       given=[*SHARES, *SEPARATED_AS_PRINTED],
       title="The population loss keeps falling beside mirror images")  # fmt: skip
def lemma_b_4_as_printed(runs: WidthTrend, *, slope: float = -0.35) -> Promise:
    """Under (A1) to (A3), for $η$, $B$ and $t = Õ((vδ/(kl))²σγ/η)$ as printed, $L(w^t) − L(w^{t+1}) =
    ηγm·Ω̃((vδ/(kl))²)$, so at least $ηm·v²$ over a power of $log m$ for fixed $k$, $l$ and $δ$.

    Judged over T ∝ σ/η steps on the whole law by a slope of at least −0.35 in log m. On the hexagon v ≥ 1/12 at every
    t while the loss falls to ln 2 and stops, so the drops vanish long before T.
    """
    fall, details = slope_of(runs, runs.later_drop, "drop over ηm·v²")
    return Promise({"slope": at_least(fall, slope, text="slope of log drop over $ηm·v²$")}, details=details)


def needs_all_steps(user_data: Any) -> NotApplicable:
    """How many steps your data needs is not known."""
    return NotApplicable(
        "It counts the steps until every residual is small, and how many that takes here is not known."
    )


@claim("li2018.section_4_width_free", Kind.TREND, "after Theorem 4.1, Section 4", reads=descents,
       given=[*SHARES, widths, runs_of_a_width], on=needs_all_steps,
       title="The number of steps does not grow with the width")  # fmt: skip
def section_4_width_free(runs: WidthTrend, *, ratio: float = 1.5) -> Promise:
    """With $η ∝ 1/m$ the number of steps does not grow with the width: "only increase the total iterations by factors
    of log m". Checked on the mean number of steps to $v = 0.05/(kl)$, which may differ by a factor of 1.5 between
    widths; the factor is ours.
    """
    different, means = means_by(runs.width, runs.steps_needed)
    means = np.maximum(means, 1)
    spread = means.max(initial=1) / means.min(initial=np.inf)
    return Promise(
        {"ratio": rate(spread, ratio, Sense.AT_MOST, runs, "largest over smallest mean")},
        details={"widths": different, "mean steps": means},
    )


@claim("li2018.section_5_observation", Kind.TREND, "the observation of Section 5", reads=descents_at_widths,
       given=[*SHARES, widths],
       title="Wider networks change fewer patterns")  # fmt: skip
def section_5_observation(runs: WidthTrend, *, band: tuple[float, float] = (-0.65, -0.35)) -> Promise:
    """The wider the network, "the less likely the activation pattern for one neuron and one data point will change in a
    fixed number of iterations". With $η ∝ 1/m$ the share of changed patterns after 200 steps, and the relative distance
    from the start, fall like $m^{−1/2}$; the rate, ± 0.15, is ours.
    """
    flips, _ = slope_of(runs, runs.late_flips, "flips")
    away, _ = slope_of(runs, runs.late_distance, "distances")
    return Promise(
        {
            "patterns_fall": rate(flips, band[1], Sense.AT_MOST, runs, "patterns: slope at most"),
            "patterns_stay": rate(flips, band[0], Sense.AT_LEAST, runs, "patterns: slope at least"),
            "distance_falls": rate(away, band[1], Sense.AT_MOST, runs, "distance: slope at most"),
            "distance_stays": rate(away, band[0], Sense.AT_LEAST, runs, "distance: slope at least"),
        },
        details={"slope of patterns": flips, "slope of distance": away},
    )


@claim("li2018.section_6_rank", Kind.STEP, "low rank of the weights, Section 6", reads=coupled_descents,
       given=SHARES,
       title="The rank of the update is at most the number of points")  # fmt: skip
def section_6_rank(runs: PointDescent) -> Promised:
    """On single points the accumulated update $W^t − W⁰$ has rank at most $kl$: its rows lie in the span of the points.
    And no singular value of $W$ moves by more than $‖W^t − W⁰‖₂$.
    """
    norms = runs.update_norm
    return {
        "rank": at_most(runs.rank, np.minimum(runs.n_components, runs.data_rank), text="rank of the update"),
        "spectrum": at_most(
            runs.spectrum_shift,
            norms,
            within=IDENTITY,
            of=1 + norms,
            text="$|σ_j(W^t) − σ_j(W⁰)| ≤ ‖W^t − W⁰‖₂$",
        ),
    }


@claim("li2018.section_6_start_scale", Kind.TREND, "effect of random initialization, Section 6",
       reads=descents.at(scale_settings), given=[*SHARES, scales],
       title="Larger initial weights change fewer patterns")  # fmt: skip
def section_6_start_scale(runs: WidthTrend) -> Promise:
    """The scale of the initialization is essential: from $W⁰$ with standard deviation $c·m^{−1/2}$, larger $c$ gives
    fewer changed patterns and a smaller relative distance after the same number of steps. That both fall from $c = 0.1$
    to 1 to 10 is ours.
    """
    sizes, flips = means_by(runs.start_scale, runs.late_flips)
    _, away = means_by(runs.start_scale, runs.late_distance)
    return Promise(
        {
            "patterns": less_than(flips[1:], flips[:-1], text="changed patterns fall"),
            "distance": less_than(away[1:], away[:-1], text="relative distance falls"),
        },
        details={"scales": sizes, "patterns": flips, "distances": away},
    )


def same_law(one: np.ndarray, other: np.ndarray) -> float:
    """The p-value of Kruskal and Wallis; NaN without draws."""
    return float(scipy.stats.kruskal(one, other).pvalue) if len(one) and len(other) else np.nan


@claim("li2018.section_4_dimension_free", Kind.TREND, "after Theorem 4.1, Section 4",
       reads=descents.at(dimension_settings), given=SHARES,
       title="Training does not depend on unused dimensions")  # fmt: skip
def section_4_dimension_free(runs: WidthTrend, *, level: float = 0.001) -> Promise:
    """The result is dimension free: the law of the training depends on the inner products of the points alone. With
    added coordinates that are 0 on the data, and the same weights on the others, all residuals stay the same; with
    other weights their law does (a Kruskal–Wallis test on the steps to $v = 0.05/(kl)$).

    The relative distance is not dimension free: ‖W⁰‖ grows like √d.
    """
    third = len(runs) // 3  # first the plain starts, then the same with more coordinates, then others
    gaps = np.abs(runs.residuals[:third] - runs.residuals[third : 2 * third]).max(axis=1)
    steps = np.split(np.asarray(runs.steps_needed), [third, 2 * third])[::2]
    p_value = same_law(*steps)
    return Promise(
        {
            "residuals": at_most(gaps, 0, within=IDENTITY, text="the same residuals"),
            "law": at_least(p_value, level, text="the same law of steps"),
        },
        details=lambda: {"p-value": p_value, "mean steps": [np.nanmean(each) for each in steps]},
    )
