"""Gradient flow: when it starts to separate, that the smoothed margin grows, and where its direction goes."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Int

from widenet.claims.base import (
    Evidence,
    Hypothesis,
    Kind,
    Runs,
    Silence,
    at_most,
    claim,
    less_than,
    more_than,
)
from widenet.claims.cases import derived
from widenet.claims.implication import Promised
from widenet.claims.implication import at_most as at_most_of
from widenet.claims.sides import Fact, Sense, Sides, evidence
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import STEP
from widenet.diagnostics.agreement import agreement_margin
from widenet.diagnostics.homogeneous_margins import (
    log_total_loss,
    margin_of_loss,
    normalized_margin,
    smoothed_margin,
)
from widenet.diagnostics.kkt import kkt_residuals, push_condition
from widenet.papers.sarussi2021.claims.approach import ON_A_KINK, towards_pattern
from widenet.papers.sarussi2021.claims.convergence import in_time, promised
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
    once_per_epoch,
    row_norm,
    separable,
    step_size,
)
from widenet.papers.sarussi2021.runs.epochs import Epochs, epochs
from widenet.papers.sarussi2021.runs.flows import READINGS, Course, FlowCase, FlowRuns, FlowSetting, flows
from widenet.papers.sarussi2021.runs.small_steps import SmallSteps, small_steps
from widenet.papers.sarussi2021.runs.too_early import SHORT, TooEarly, too_early
from widenet.papers.sarussi2021.settings import OwnPoints, lengths
from widenet.papers.sarussi2021.specimens import silence_without_both_classes
from widenet.records import Scale
from widenet.types import RunStatus

MONOTONE = 1e-7
"""What the tolerance of the solver may take from a margin, relative, or do to a direction of length 1."""
MOST_POINTS, MOST_DIMENSIONS, THINNEST = 100, 20, 100
"""Flows are followed on data of at most this size, and with R_x/γ at most the last: a thinner margin takes too long."""


def courses_of(cells: Sequence[FlowRuns]) -> list[Course]:
    """All runs."""
    return [course for runs in cells for course in runs.courses()]


def followed(courses: Sequence[Course]) -> Runs:
    """How many runs there were; those that the solver could not follow are unfinished."""
    lost = [course.status not in (RunStatus.BUDGET_SPENT, RunStatus.CONVERGED) for course in courses]
    return Runs(tried=len(courses), unfinished=sum(lost))


SETTLED = 20
"""A run must separate the data, and settle in its regime, by this reading of the clock; the record ends at 400."""


def tends(measured: np.ndarray, goal: np.ndarray | float, failed: np.ndarray | float, quantity: str = "") -> Sides:
    """What a limit promises of a finite record: kept below the goal, broken above `failed`, undecided in between."""
    measured = np.asarray(measured)
    late = (measured > goal) & (measured <= failed)
    return Sides(measured, goal, undecided=late, quantity=quantity)


def falls(last: np.ndarray, early: np.ndarray) -> Sides:
    """To a third at least."""
    return tends(last, early / 3, early)


def separates(courses: Sequence[Course], by: int = SETTLED) -> Hypothesis:
    """Assumption 6.1 with log 2, early enough for what is said about the record. Shown at the latest run."""
    latest = max(course.started for course in courses)
    return at_most("separating", "first reading s of the clock with nL < log 2", latest, by)


class Flown(SmallSteps):
    """Runs of gradient flow by small steps."""

    @property
    def unfinished(self) -> np.ndarray:
        """Given up before they arrived."""
        return np.isnan(self.times)


class Trained(Epochs):
    """Runs of SGD, with when they reach nL < log 2."""

    hit: Int[np.ndarray, " run"] = derived(lambda runs: runs.hits[:, len(runs.levels)])  #: −1 if they do not

    @property
    def unfinished(self) -> np.ndarray:
        """Given up before they arrived."""
        return self.hit < 0


def times_of(flown: Flown, trained: Trained) -> dict[str, np.ndarray]:
    """When gradient flow arrives."""
    return {"times": flown.times, "printed_times": flown.printed_times}


OF_SGD = tuple(each.of(1) for each in (input_norm, row_norm, labels, once_per_epoch, step_size))


@claim("sarussi2021.assumption_6_1", Kind.STEP, "Assumption 6.1, Section 6, with log 2", reads=(small_steps, epochs),
       given=[separable, *OF_SGD, *NETWORK], details=times_of,
       title="Gradient flow and SGD separate the data in bounded time")  # fmt: skip
def assumption_6_1(
    flown: Flown,
    trained: Trained,
    *,
    time_bound: Callable[..., np.ndarray] = flow_time_bound,
    bound: Callable[..., np.ndarray] = update_bound,
) -> Promised:
    """Gradient flow on separable data reaches nL < log 2, after a time of at most ((b + √(b² + 4ac))/2a)² with
    a = 2kvα(1 − e^{−ε})/n, b = √(2k)‖w*‖√(2W₀(1/e)), c = 2√(2k)‖w*‖‖W_0‖, ε = log(2)/n: Assumption 6.1 is a theorem.
    SGD reaches it after at most M(n, log(2)/n) updates. The printed level nL < 1 is reached no later.
    """
    f, s = flown, trained
    shape = (f.separator_norm, f.slope, f.output_weight, f.half_width, f.n_samples, f.start_norm)
    in_flow, by_sgd = time_bound(*shape, LOG_2 / f.n_samples), promised(s, bound, LOG_2 / s.n_samples)
    return {
        "flow": in_time(f.times, ~f.unfinished, f.ended, in_flow, text="gradient flow: $nL < log 2$ within the time"),
        "sgd": in_time(
            s.hit, ~s.unfinished, s.updates, by_sgd, text="SGD: $nL < log 2$ within $M(n, log(2)/n)$ updates"
        ),
        "printed_level": at_most_of(f.printed_times, f.times, text="$nL < 1$ comes no later"),
    }


@claim("sarussi2021.smoothed_margin_order", Kind.STEP, "Section 13 (Lyu & Li, Theorem A.7)", reads=flows)
def smoothed_margin_order(cells: Sequence[FlowRuns], *, mean: bool = False, alone: float = 0.0) -> Evidence:
    """The smoothed margin −log(exp(nL) − 1)/‖W‖ is at most the normalized margin min y N(x)/‖W‖, and equal for n = 1.

    The second is seen on the first point of each run alone. `mean` takes L for nL, and `alone` e^{alone}·L for L of a
    single point, for controls.
    """
    smooth, plain, single, first = [], [], [], []
    for course in courses_of(cells):
        margins, norms = course.margins[1:], course.norms[1:]
        smooth.append(margin_of_loss(log_total_loss(margins) - mean * np.log(margins.shape[1])) / norms)
        plain.append(normalized_margin(margins, norms))
        single.append(margin_of_loss(log_total_loss(margins[:, :1]) + alone))
        first.append(margins[:, 0])
    left, right, one, its = (np.concatenate(each) for each in (smooth, plain, single, first))
    return evidence(
        {
            "γ̃ ≤ γ̄": Sides(left, right, room=STEP * np.abs(right)),
            "equal for a single point": Sides(one, its, Sense.EQUAL, room=STEP * (1 + np.abs(its))),
        },
        runs=followed(courses_of(cells)),
    )


@claim("sarussi2021.smoothed_margin_grows", Kind.STEP, "Section 14.1 (Lyu & Li, Theorem A.7)", reads=flows)
def smoothed_margin_grows(cells: Sequence[FlowRuns]) -> Evidence:
    """Along gradient flow the smoothed margin never decreases once nL < log 2."""
    courses = courses_of(cells)
    before, after = [], []
    for course in courses:
        values = smoothed_margin(course.margins, course.norms)[course.later(course.started)]
        before.append(values[:-1])
        after.append(values[1:])
    left, right = np.concatenate(after), np.concatenate(before)
    return evidence(
        {"γ̃ does not decrease": Sides(left, right, Sense.AT_LEAST, room=MONOTONE * (1 + np.abs(right)))},
        (separates(courses, by=READINGS[-1]),),
        runs=followed(courses),
    )


def draw_too_early(scale: Scale, seed: int) -> TooEarly:
    """t = 200, 300, 400."""
    return too_early((200.0, 300.0, 400.0))


@claim("sarussi2021.smoothed_margin_level", Kind.STEP, "(B4), Section 12, beside Assumption 6.1", draws=draw_too_early)
def smoothed_margin_level(path: TooEarly) -> Evidence:
    """nL < 1, the level of Assumption 6.1, is no level from which the smoothed margin grows: there are networks with
    log 2 < nL < 1 at which it falls along gradient flow. The level of (B4) is ℓ(0) = log 2.

    Section 12 calls the two one assumption. Gradient flow on separable data meets both in the end (`assumption_6_1`),
    and Section 14.1 needs the growth only from T_Margin on.
    """
    falls = -np.diff(path.margins, axis=1) / SHORT
    return evidence(
        {"γ̃ falls at a rate of at least 0.01": Sides(falls, 0.01, Sense.AT_LEAST)},
        (
            less_than("below_one", "largest nL", path.totals.max(), 1),
            more_than("above_log_2", "smallest nL", path.totals.min(), LOG_2),
        ),
        details={"rates": -falls[:, 0]},
    )


@claim("sarussi2021.smoothed_margin_level_as_printed", Kind.STEP, "(B4), Section 12 (This is assumption 6.1)",
       draws=draw_too_early)  # fmt: skip
def smoothed_margin_level_as_printed(path: TooEarly) -> Evidence:
    """(B4), from which on the smoothed margin does not decrease along gradient flow, is Assumption 6.1: nL < 1."""
    return evidence(
        {"γ̃ does not decrease": Sides(path.margins[:, 1:], path.margins[:, :-1], Sense.AT_LEAST, room=STEP * SHORT)},
        (less_than("below_one", "largest nL", path.totals.max(), 1),),
    )


@claim("sarussi2021.footnote_9", Kind.STEP, "footnote 9, Section 13.1", reads=flows)
def footnote_9(cells: Sequence[FlowRuns], *, bound: Callable[..., np.ndarray] = least_norm) -> Evidence:
    """The norm of the weights diverges: it grows along gradient flow once every point is right, and it is at least
    min y N(x)/(v√(k(1 + α²))R_x) at every W.
    """
    courses = courses_of(cells)
    after, before, norms, limits = [], [], [], []
    for course in courses:
        smallest, lengths = course.margins.min(axis=1), course.norms
        right = smallest > 0
        after.append(lengths[1:][right[:-1]])
        before.append(lengths[:-1][right[:-1]])
        norms.append(lengths[right])
        shape = (course.slope, course.output_weight, course.half_width, course.largest_norm)
        limits.append(bound(smallest, *shape)[right])
    grown, start, length, limit = (np.concatenate(each) for each in (after, before, norms, limits))
    return evidence(
        {
            "‖W‖ grows": Sides(grown, start, Sense.AT_LEAST, strict=True),
            "‖W‖ ≥ min q/(v√(k(1 + α²))R_x)": Sides(length, limit, Sense.AT_LEAST, room=1e-9 * limit),
        },
        (separates(courses, by=READINGS[-1]),),
        runs=followed(courses),
    )


@claim("sarussi2021.directions_converge", Kind.TREND, "Section 13 (Ji & Telgarsky, Theorem 3.1)", reads=flows)
def directions_converge(cells: Sequence[FlowRuns], *, bound: Callable[..., np.ndarray] = approach_bound) -> Evidence:
    """The direction W/‖W‖ of gradient flow converges. Not in the paper: once no neuron changes sides it tends to the
    direction Û of the largest margin γ* among networks with these signs, with
    ‖W_t/‖W_t‖ − Û‖² ≤ 2‖W_T‖(1 − γ̃_T/γ*)/‖W_t‖ at every time t after T.

    A run in which a neuron ends on a kink decides nothing.
    """
    courses = courses_of(cells)
    distances, limits = [], []
    for course in courses:
        found = towards_pattern(course)
        known = len(found.looks) > 0
        distances.append(np.sqrt(2 * np.maximum(found.errors, 0.0)) if known else [np.nan])
        limits.append(np.sqrt(2 * bound(found.excess, found.margin, found.norms)) if known else [np.nan])
    return evidence(
        {
            "W/‖W‖ is near its limit at every time": Sides(
                np.concatenate(distances),
                np.concatenate(limits),
                room=MONOTONE,
                quantity="distance of W/‖W‖ from its limit",
            )
        },
        (separates(courses),),
        runs=followed(courses),
    )


def _network_at(course: Course, look: int) -> tuple[np.ndarray, np.ndarray, float, np.ndarray, np.ndarray]:
    signs = course.output_weight * np.repeat([1.0, -1.0], course.half_width)
    return course.weights[look], signs, course.slope, course.inputs, course.labels


@claim("sarussi2021.limit_is_kkt", Kind.TREND, "Section 13 (Lyu & Li, Theorem A.8)", reads=flows)
def limit_is_kkt(
    cells: Sequence[FlowRuns],
    *,
    uniform: bool = False,
    bounds: tuple[Callable[..., np.ndarray], ...] = (approach_bound, turning_bound, slack_bound),
) -> Evidence:
    """Every limit direction of gradient flow is a KKT point of min ½‖W‖² with y_i N(x_i) ≥ 1: with multipliers
    |ℓ'(q_i)|, what is missing from stationarity and the slack tend to 0. Not in the paper: how fast. Once no neuron
    changes sides the first is at most √(2E_T/(γ*‖W_t‖)) + √(2E_T/(γ*‖W_t − W_T‖ + E_T)), with
    E_T = ‖W_T‖(γ* − γ̃_T), and the slack at most W₀((n − 1)/e)(1 + e^{−min q})/(γ*‖W_t‖), at every time t after T.

    γ* is the largest normalized margin of networks with these signs. `uniform` takes equal multipliers, for a control.
    """
    courses = courses_of(cells)
    found: list[np.ndarray] = []
    for course in courses:
        there = towards_pattern(course)
        shape = (there.excess, there.margin)
        smallest = course.margins[there.looks].min(axis=1)
        limits = np.sqrt(2 * bounds[0](*shape, there.norms)) + np.sqrt(2 * bounds[1](*shape, there.distances))
        slacks = bounds[2](len(course.labels), smallest, there.margin, there.norms)
        pushes = np.ones(len(course.labels)) if uniform else None
        networks = [_network_at(course, look) for look in there.looks.tolist()]
        residuals = np.array([kkt_residuals(*each, pushes) for each in networks]).reshape(-1, 2)
        # A margin that the solver has to 1e-7 of itself turns the flow by so much.
        blurs = MONOTONE * (1 + np.array([push_condition(*each) for each in networks]))
        found.append(np.stack([residuals[:, 0], limits, residuals[:, 1], slacks, blurs]))
        if not networks:
            found.append(np.full((5, 1), np.nan))
    missing, limit, slack, slack_limit, blur = np.concatenate(found, axis=1)
    return evidence(
        {
            "stationarity is near at every time": Sides(
                missing, limit, room=blur, quantity="what is missing from stationarity"
            ),
            "the slack is small at every time": Sides(
                slack, slack_limit, room=STEP * slack_limit, quantity="slack of the multipliers"
            ),
            "every margin is positive": Fact([course.margins[-1].min() > 0 for course in courses]),
        },
        (separates(courses), _smooth(courses)),
        runs=followed(courses),
    )


def _smooth(courses: Sequence[Course]) -> Hypothesis:
    """At a kink a neuron has no gradient, and it may slide along one: then multipliers alone do not decide."""
    margins = [float(agreement_margin(course.weights[-1], course.inputs)) / course.largest_norm for course in courses]
    return more_than("off_the_kinks", "smallest |⟨w, x⟩|/(‖w‖·R_x) at the end", min(margins), ON_A_KINK)


@smoothed_margin_order.speaks
def flows_on(specimen: Specimen) -> list[FlowSetting] | Silence:
    """Gradient flow of networks of the chosen width, from small weights or the chosen length of rows, on the reader's
    data with margin 1. There are no steps, so a step size and a number of updates have no meaning here.

    The network is homogeneous, so the scale of the data changes the clock and that of the start, and nothing else.
    """
    if (reason := silence_without_both_classes(specimen)) is not None:
        return reason
    n, dim = specimen.inputs.shape
    if n > MOST_POINTS or dim > MOST_DIMENSIONS:
        return Silence(f"Gradient flow is followed on at most {MOST_POINTS} points of {MOST_DIMENSIONS} dimensions.")
    chosen, norm = specimen.choices, specimen.separation.norm_upper
    if (thin := float(lengths(norm * specimen.inputs).max())) > THINNEST:
        return Silence(
            f"The longest point is {thin:.3g} times as long as the margin, and gradient flow is followed up to "
            f"{THINNEST} times; often a constant coordinate (`with_bias`) makes the margin wider."
        )
    cases = tuple(
        FlowCase(
            points=OwnPoints(own_data=specimen.digest),
            slope=chosen.slope,
            deviation=1e-3 / thin,
            row_length=None if chosen.init_scale is None else chosen.init_scale / norm,
            factor=norm,
            seed=chosen.seed + run,
        )
        for run in range(chosen.n_runs or 1)
    )
    return [FlowSetting(cases=cases, half_width=chosen.n_neurons // 2)]


for _claim in (smoothed_margin_grows, footnote_9, directions_converge, limit_is_kkt):
    _claim.speaks(flows_on)
