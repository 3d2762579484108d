"""Theorems 6.1 and 6.2: gradient flow that stays in an agreement regime ends clustered, where a convex program says.

The hypotheses speak about all later times; here they are measured up to the end of the record, s = 400.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from widenet.claims.base import Evidence, Hypothesis, Kind, Runs, at_most, claim, less_than, more_than
from widenet.claims.meaning import Topic
from widenet.claims.sides import Conjunct, Fact, Sides, evidence
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.diagnostics.agreement import agree, agreement_margin
from widenet.diagnostics.homogeneous_margins import normalized_margin, smoothed_margin
from widenet.diagnostics.sign_clusters import (
    cluster_radius,
    cluster_ratio,
    mean_difference,
    uncovered_directions,
    widest_angle,
)
from widenet.papers.sarussi2021.claims.approach import towards_program
from widenet.papers.sarussi2021.claims.flow_margins import (
    MONOTONE,
    SETTLED,
    courses_of,
    falls,
    flows_on,
    followed,
    separates,
)
from widenet.papers.sarussi2021.formulas import approach_bound, cluster_bound, margin_threshold, sharp_factor
from widenet.papers.sarussi2021.runs.flows import Course, FlowRuns, agreeing_settings, flows
from widenet.papers.sarussi2021.settings import split, unit


def in_regime_hypotheses(courses: Sequence[Course]) -> tuple[Hypothesis, ...]:
    """Assumption 6.1, and that the runs enter a regime and do not leave it, as far as the record goes."""
    late = max(course.last_crossing for course in courses)
    agreeing = [_agrees(course) for course in courses]
    smallest = min(_margin(course) / course.largest_norm for course in courses)
    return (
        separates(courses),
        at_most("stays", "reading s at which a neuron last changed sides", late, SETTLED),
        at_most("agreement", "runs in which neurons of one sign do not agree", sum(not each for each in agreeing), 0),
        more_than("margin", "smallest β of the regime / R_x, beyond rounding", smallest, ROUNDING),
    )


def _agrees(course: Course) -> bool:
    looks = course.later(SETTLED)
    return bool(agree(course.plus[looks], course.inputs).all() and agree(course.minus[looks], course.inputs).all())


def _margin(course: Course) -> float:
    """β: the smallest agreement margin after the run has settled."""
    rows = course.weights[course.later(max(SETTLED, course.last_crossing))]
    return float(agreement_margin(rows, course.inputs).min()) if len(rows) else 0.0


@claim("sarussi2021.theorem_6_1", Kind.MAIN, "Theorem 6.1, Section 6.1", reads=flows)
def theorem_6_1(
    cells: Sequence[FlowRuns],
    *,
    bound: Callable[..., np.ndarray] = cluster_bound,
    approach: Callable[..., np.ndarray] = approach_bound,
) -> Evidence:
    """If gradient flow enters a neural agreement regime and never leaves it, then its direction converges, and the
    network it converges to is perfectly clustered. Not in the paper: the direction is that of the program of the
    regime, with 1 − cos ≤ ‖W_T‖(1 − γ̃_T/γ*)/‖W_t‖ at every time t after T, where γ* = v√(k/val) is the largest margin
    in the regime, and r/‖w̄ − ū‖ ≤ r‖w*‖/((w̄_T − ū_T)·w* + 2α‖W_t − W_T‖/(√(2k)R_x)).

    T is when the run has settled in its regime. From s = 20 to s = 400 the ratio r/‖w̄ − ū‖ must also fall to a third
    (it falls like 1/s); what is on its way there decides nothing.
    """
    courses = courses_of(cells)
    ratios, errors, nears, bounded = [], [], [], []
    for course in courses:
        ratio = cluster_ratio(course.plus, course.minus)
        ratios.append((ratio[course.at(SETTLED)], ratio[-1]))
        bounded.append(_finite_time(course, ratio, bound))
        found = towards_program(course, course.solution, course.value)
        errors.append(found.errors)
        nears.append(approach(found.excess, found.margin, found.norms))
    ratio = np.array(ratios)
    measured, limits = (np.concatenate(each) for each in zip(*bounded, strict=True))
    return evidence(
        {
            "the direction is near that of the program at every time": Sides(
                np.concatenate(errors),
                np.concatenate(nears),
                room=MONOTONE,
                quantity="1 − cos to the predicted direction",
            ),
            "r/‖w̄ − ū‖ falls to a third": falls(ratio[:, 1], ratio[:, 0]),
            "r/‖w̄ − ū‖ is below its bound at every time": Sides(measured, limits, room=STEP * limits),
        },
        in_regime_hypotheses(courses),
        runs=followed(courses),
        details={"direction_errors": [each[-1] for each in errors], "cluster_ratios": ratio[:, 1]},
    )


def _finite_time(course: Course, ratio: np.ndarray, bound: Callable[..., np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    looks = course.later(min(course.settled, course.readings[-1].item()))
    first = looks[0]
    radius = max(float(cluster_radius(course.plus[first])), float(cluster_radius(course.minus[first])))
    limits = bound(
        radius,
        np.linalg.norm(course.separator),
        mean_difference(course.plus[first], course.minus[first]) @ course.separator,
        course.slope,
        np.linalg.norm(course.weights[looks] - course.weights[first], axis=(1, 2)),
        course.half_width,
        course.largest_norm,
    )
    usable = np.isfinite(limits)
    return ratio[looks][usable], limits[usable]


@claim("sarussi2021.corollary_6_2", Kind.MAIN, "Corollary 6.2, Section 6.1", reads=flows)
def corollary_6_2(cells: Sequence[FlowRuns], *, radius_share: float = 1.0) -> Evidence:
    """Under the hypotheses of Theorem 6.1 the decision boundary becomes linear: the directions about which Theorem 5.1
    (with κ) says nothing shrink from s = 20 to s = 400 to a third at least, and in all others the network has the sign
    of the linear classifier w̄ − ū.

    The details say which classifier that is, and how far it lies from what is predicted: by the program of the regime,
    by Eq. 7, and by the SVM through the origin.
    """
    courses = courses_of(cells)
    shares, agreeing = [], []
    draw = np.random.default_rng(62)
    for course in courses:
        ratio, factor = cluster_ratio(course.plus, course.minus), float(sharp_factor(course.slope))
        uncovered = uncovered_directions(ratio, factor)
        shares.append((uncovered[course.at(SETTLED)], uncovered[-1]))
        points = draw.normal(size=(500, course.inputs.shape[1]))
        difference = mean_difference(course.plus[-1], course.minus[-1])
        cosines = np.abs(points @ difference) / (np.linalg.norm(points, axis=1) * np.linalg.norm(difference))
        outside = cosines > radius_share * factor * ratio[-1] * (1 + STEP)
        outputs = split(course.weights[-1], course.output_weight, course.slope).outputs(points)
        agreeing.append((np.sign(outputs) == np.sign(points @ difference))[outside])
    share = np.array(shares)
    return evidence(
        {
            "the uncovered directions shrink to a third": falls(share[:, 1], share[:, 0]),
            "elsewhere the network is the linear classifier": Fact(np.concatenate(agreeing)),
        },
        in_regime_hypotheses(courses),
        runs=followed(courses),
        details=classifier_details(courses),
        note=classifier_note(courses),
    )


LINES = ("from_regime", "from_equation_7", "from_svm")
SHOWN = 4
"""So many coordinates of a classifier are told in words."""


def classifier_details(courses: Sequence[Course]) -> dict[str, Any]:
    """The linear classifiers that were learned and those of Eq. 7, of length 1; how far each that was learned is from
    the predicted ones, in degrees; and on which share of the points of its run the network has its sign.
    """
    found: dict[str, Any] = {name: [] for name in ("classifiers", "predicted", "share", *LINES)}
    for course in courses:
        dim, learned = course.inputs.shape[1], mean_difference(course.plus[-1], course.minus[-1])
        outputs = split(course.weights[-1], course.output_weight, course.slope).outputs(course.inputs)
        found["classifiers"].append(unit(learned).tolist())
        found["share"].append(float((np.sign(outputs) == np.sign(course.inputs @ learned)).mean()))
        own, seventh = (pair[:dim] - pair[dim:] for pair in (course.solution, course.perfect_solution))
        found["predicted"].append(unit(seventh).tolist())
        for name, line in zip(LINES, (own, seventh, course.separator), strict=True):
            known = np.isfinite(line).all()
            found[name].append(float(widest_angle(np.stack([learned, line]))) if known else None)
    return found


def classifier_note(courses: Sequence[Course]) -> str:
    """What a reader wants to know: is it linear, which line is it, and how far from the predicted ones."""
    found = classifier_details(courses)
    seventh, machine = (np.array(found[name], float).max() for name in LINES[1:])
    if len(courses) > 1:
        open_runs = sum(not all(each.met for each in in_regime_hypotheses([course])) for course in courses)
        unpredicted = (
            f" In {open_runs} of {len(courses)} runs nothing predicts it, because neurons of one sign do not settle in "
            "agreement on every point."
            if open_runs
            else ""
        )
        return (
            f"At the end the network has the sign of one linear classifier on at least {min(found['share']):.0%} of "
            f"its points; that classifier lies at most {seventh:.2g}° from the one of Eq. 7, and at most "
            f"{machine:.2g}° from the SVM through the origin.{unpredicted}"
        )
    return (
        f"At the end the network has the sign of the linear classifier {_in_words(found['classifiers'][0])}·x on "
        f"{found['share'][0]:.0%} of its points. {_prediction(courses[0], found)} The SVM through the origin is "
        f"{machine:.2g}° away."
    )


def _prediction(course: Course, found: dict[str, Any]) -> str:
    """What was predicted, as far as the neurons let it apply."""
    seventh = f"Eq. 7 gives {_in_words(found['predicted'][0])}·x, {found['from_equation_7'][0]:.2g}° away"
    if not all(each.met for each in in_regime_hypotheses([course])):
        return f"Nothing predicts it, because neurons of one sign do not settle in agreement on every point; {seventh}."
    if np.array_equal(course.plus_signs, course.labels) and np.array_equal(course.minus_signs, -course.labels):
        return f"It was predicted: {seventh}."
    own = found["from_regime"][0]
    return f"The program of its regime is {own:.2g}° away; neurons agree, but are not all right, so {seventh}."


def _in_words(line: Sequence[float]) -> str:
    told = ", ".join(f"{value:.3g}".replace("-", "−") for value in line[:SHOWN])
    return f"({told}{', …' if len(line) > SHOWN else ''})"


@dataclass(frozen=True, eq=False)
class Predicates:
    """The hypotheses of Theorem 6.2 on one run, and the smaller slack of its two numbers, γ̃ and β."""

    hypotheses: tuple[Hypothesis, ...]
    slack: float

    def met(self, *keys: str) -> bool:
        """Whether these hold."""
        return all(each.met for each in self.hypotheses if each.key in keys)


def predicates(course: Course) -> Predicates:
    """(1) nL < log 2; (2) in a regime; (3) γ̃ > √k·αvR_x; (4) V_β⁺ and V_β⁻ are empty, with β of the regime."""
    looks = course.later(SETTLED)
    threshold = float(margin_threshold(course.slope, course.output_weight, course.half_width, course.largest_norm))
    best, beta = float(smoothed_margin(course.margins[looks], course.norms[looks]).max()), _margin(course)
    return Predicates(
        (
            *in_regime_hypotheses([course]),
            more_than("smoothed_margin", "largest smoothed margin γ̃ against √k·αvR_x", best, threshold),
            less_than("critical_margin", "largest β with V_β⁺ or V_β⁻ not empty", course.critical, beta),
        ),
        min(best - threshold, beta - course.critical),
    )


REGIME = ("separating", "stays", "agreement", "margin")
THREE = (*REGIME, "smoothed_margin")
ALL = (*THREE, "critical_margin")


def judged(
    cells: Sequence[FlowRuns], keys: Sequence[str], judge: Callable[[Sequence[Course]], dict[str, Conjunct]]
) -> Evidence:
    """The runs that meet these hypotheses are judged, the others counted as outside; if there are none, the run that
    comes closest shows what is missing.
    """
    courses = courses_of(cells)
    known = [predicates(course) for course in courses]
    inside = [number for number, each in enumerate(known) if each.met(*keys)]
    chosen = inside or [int(np.argmax([each.slack for each in known]))]
    shown = min((known[number] for number in chosen), key=lambda each: each.slack)
    return evidence(
        judge([courses[number] for number in chosen]),
        tuple(each for each in shown.hypotheses if each.key in keys),
        runs=Runs(tried=len(courses), unfinished=followed(courses).unfinished, outside=len(courses) - len(inside)),
        details={"runs_that_meet_the_hypotheses": len(inside)},
    )


def _sides_of_points(courses: Sequence[Course]) -> dict[str, Conjunct]:
    parts: dict[str, list[np.ndarray]] = {}
    for course in courses:
        positive = course.labels > 0
        for name, answers in (
            ("plus neurons are right on positive points", course.plus_signs[positive] > 0),
            ("minus neurons are right on negative points", course.minus_signs[~positive] > 0),
            ("plus neurons are right on negative points", course.plus_signs[~positive] < 0),
            ("minus neurons are right on positive points", course.minus_signs[positive] < 0),
        ):
            parts.setdefault(name, []).append(answers)
    return {name: Fact(np.concatenate(answers)) for name, answers in parts.items()}


@claim(
    "sarussi2021.theorem_6_2_region",
    Kind.MAIN,
    "Theorem 6.2, Section 6.2; Section 14.1",
    reads=flows.at(agreeing_settings),
)
def theorem_6_2_region(cells: Sequence[FlowRuns]) -> Evidence:
    """If gradient flow separates (nL < log 2), stays in a regime with margin β, reaches a smoothed margin above
    √k·αvR_x, and V_β⁺ and V_β⁻ are empty, then the regime is of perfect agreement: every plus neuron is right on every
    point, and every minus neuron too.

    The paper leaves β of its fourth assumption open; it must be that of the regime.
    """
    return judged(cells, ALL, _sides_of_points)


@claim("sarussi2021.theorem_6_2_first_step", Kind.STEP, "Section 14.1, first step", reads=flows)
def theorem_6_2_first_step(cells: Sequence[FlowRuns]) -> Evidence:
    """Without the assumption on V_β⁺ and V_β⁻: every plus neuron is right on the positive points, every minus neuron
    on the negative ones.
    """
    return judged(cells, THREE, _first_step)


def _first_step(courses: Sequence[Course]) -> dict[str, Conjunct]:
    parts = _sides_of_points(courses)
    return {name: parts[name] for name in list(parts)[:2]}


@claim(
    "sarussi2021.theorem_6_2_direction",
    Kind.MAIN,
    "Theorem 6.2 and Eq. 7, Section 6.2",
    reads=flows.at(agreeing_settings),
)
def theorem_6_2_direction(cells: Sequence[FlowRuns], *, share: float = 1.0) -> Evidence:
    """Then the directions of the neurons are those of Eq. 7: min ‖w‖² + ‖u‖² with w·x − αu·x ≥ 1 on positive points and
    αw·x − u·x ≤ −1 on negative ones, and so is ‖w‖/‖u‖; the normalized margin tends to v√(k/val) and never exceeds it.

    How near they must be is ours, and so is the value of the limit: with γ* = v√(k/val) and
    ε_t = ‖W_T‖(1 − γ̃_T/γ*)/‖W_t‖, 1 − cos ≤ ε_t and 1 − γ̄/γ* ≤ ε_t at every time t after T, when the run has settled in
    its regime, and arctan ‖w̄‖/‖ū‖ is off by at most arccos(1 − ε_t).
    """
    return judged(cells, ALL, lambda courses: _directions(courses, share))


def _directions(courses: Sequence[Course], share: float) -> dict[str, Conjunct]:
    errors, angles, shorts, nears, every, limits = [], [], [], [], [], []
    for course in courses:
        solution, dim = course.perfect_solution, course.inputs.shape[1]
        found = towards_program(course, solution, course.perfect_value)
        means, goal = course.means[found.looks], np.linalg.norm(solution.reshape(2, dim), axis=1)
        margins = normalized_margin(course.margins, course.norms)
        lengths = np.linalg.norm(means.reshape(-1, 2, dim), axis=2)
        errors.append(1 - means @ solution / (np.linalg.norm(means, axis=1) * np.linalg.norm(solution)))
        angles.append(np.abs(np.arctan2(lengths[:, 0], lengths[:, 1]) - np.arctan2(*goal)))
        shorts.append(1 - margins[found.looks] / (share * found.margin))
        nears.append(approach_bound(found.excess, found.margin, found.norms))
        looks = course.later(SETTLED)
        every.append(margins[looks])
        limits.append(np.full(len(looks), share * found.margin))
    near, limit = np.concatenate(nears), np.concatenate(limits)
    return {
        "the direction is that of Eq. 7": Sides(
            np.concatenate(errors), near, room=MONOTONE, quantity="1 − cos to the solution of Eq. 7"
        ),
        "‖w‖/‖u‖ is that of Eq. 7": Sides(
            np.concatenate(angles),
            np.arccos(np.clip(1 - near, -1, 1)),
            room=MONOTONE,
            quantity="error of arctan ‖w‖/‖u‖, in radians",
        ),
        "the margin tends to v√(k/val)": Sides(
            np.concatenate(shorts), near, room=MONOTONE, quantity="what the margin is short of its limit, relative"
        ),
        "it never exceeds it": Sides(np.concatenate(every), limit, room=STEP * limit),
    }


for _claim in (theorem_6_1, corollary_6_2, theorem_6_2_region, theorem_6_2_first_step, theorem_6_2_direction):
    _claim.speaks(flows_on)

theorem_6_1.means(
    Topic.LIMIT,
    "In the long run all neurons that vote for one class point in the same direction.",
)
corollary_6_2.means(
    Topic.BOUNDARY,
    "In the long run the boundary of the network becomes flat.",
)
theorem_6_2_region.means(
    Topic.STABILITY,
    "In the end every neuron is on the right side of every point, and stays there.",
)
theorem_6_2_direction.means(
    Topic.LIMIT,
    "Training leads to one particular network, which a small convex program finds without any training.",
)
