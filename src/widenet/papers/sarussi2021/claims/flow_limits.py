"""Theorems 6.1 and 6.2: gradient flow that stays in an agreement regime ends clustered, where a convex program says.

The hypotheses are about all later times; here they are measured up to the end of the record, s = 400.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.implication import Given, Promise, Promised, at_most, less_than, more_than
from widenet.claims.meaning import Meaning, Topic
from widenet.claims.sides import Fact, Sides
from widenet.claims.tolerances import STEP
from widenet.papers.sarussi2021.claims.paths import MONOTONE, Paths
from widenet.papers.sarussi2021.formulas import approach_bound, cluster_bound, sharp_factor
from widenet.papers.sarussi2021.hypotheses import ALL, REGIME, SETTLED, THREE, met
from widenet.papers.sarussi2021.runs.flows import agreeing_settings, flows
from widenet.papers.sarussi2021.sources import unit
from widenet.records import Form

SINCE = "looks after the run has settled"


def tends(measured: np.ndarray, goal: np.ndarray | float, failed: np.ndarray | float, text: str) -> Sides:
    """What a limit promises of a finite record: kept below the goal, broken above `failed`, undecided in between."""
    return at_most(measured, goal, undecided=(measured > goal) & (measured <= failed), text=text)


def falls(last: np.ndarray, early: np.ndarray, text: str) -> Sides:
    """To a third at least."""
    return tends(last, early / 3, early, text)


@claim("sarussi2021.theorem_6_1", Kind.MAIN, "Theorem 6.1, Section 6.1", reads=flows, given=REGIME,
       form=Form.SHARPER,
       title="Neurons of one sign end in one direction",
       means=Meaning(
           topic=Topic.LIMIT,
           promise="In the long run all neurons that vote for one class point in the same direction.",
       ))  # fmt: skip
def theorem_6_1(
    runs: Paths,
    *,
    bound: Callable[..., np.ndarray] = cluster_bound,
    approach: Callable[..., np.ndarray] = approach_bound,
) -> Promise:
    """If gradient flow enters a neural agreement regime and never leaves it, then its direction converges, and the
    limit network is perfectly clustered. Not in the paper: the direction is that of the program of the regime, with $1
    − cos ≤ ‖W_T‖(1 − γ̃_T/γ*)/‖W_t‖$ at every time $t$ after $T$, where $γ* = v√(k/p*)$ is the largest margin in the
    regime, and $r/‖w̄ − ū‖ ≤ r‖w*‖/((w̄_T − ū_T)·w* + 2α‖W_t − W_T‖/(√(2k)R_x))$.

    T is when the run has settled in its regime. From s = 20 to s = 400 the ratio r/‖w̄ − ū‖ must also fall to a third
    (it falls like 1/s); what is on its way there decides nothing.
    """
    t = runs.per("time")
    limit = bound(
        t.first_radius, t.separator_norm, t.first_difference, t.slope, t.moved_since, t.half_width, t.largest_norm
    )
    # Infinite where its denominator is not positive, and nothing is promised; or where that is not a number.
    lost = np.isnan(t.first_radius + t.separator_norm + t.first_difference + t.moved_since)
    return Promise(
        {
            "direction": at_most(
                t.program_error,
                approach(t.program_excess, t.program_margin, t.norms),
                room=MONOTONE,
                where=t.since_first,
                event=SINCE,
                text="the direction is near that of the program at every time",
                quantity="1 − cos to the predicted direction",
            ),
            "clusters": falls(runs.last_ratio, runs.early_ratio, "$r/‖w̄ − ū‖$ falls to a third"),
            "ratio": at_most(
                t.ratio,
                limit,
                within=STEP,
                where=t.since_first & ((limit != np.inf) | lost),
                event=SINCE,
                text="$r/‖w̄ − ū‖$ is below its bound at every time",
            ),
        },
        details={"direction_errors": runs.program_error[:, -1], "cluster_ratios": runs.last_ratio},
    )


@claim("sarussi2021.corollary_6_2", Kind.MAIN, "Corollary 6.2, Section 6.1", reads=flows, given=REGIME,
       title="The decision boundary becomes linear",
       means=Meaning(topic=Topic.BOUNDARY, promise="In the long run the boundary of the network becomes flat."),
       )  # fmt: skip
def corollary_6_2(runs: Paths, *, radius_share: float = 1.0) -> Promise:
    """Under the hypotheses of Theorem 6.1 the decision boundary becomes linear: from $s = 20$ to $s = 400$ the set of
    directions that Theorem 5.1 (with $κ$) leaves open shrinks to a third or less, and in all other directions the
    network has the sign of the linear classifier $w̄ − ū$.

    The details say which classifier that is, and how far it lies from what is predicted: by the program of the regime,
    by Eq. 7, and by the SVM through the origin.
    """
    d = runs.per("direction")
    inside = radius_share * sharp_factor(d.slope) * d.last_ratio * (1 + STEP)
    return Promise(
        {
            "uncovered": falls(runs.last_uncovered, runs.early_uncovered, "the uncovered directions shrink to a third"),
            "linear": Fact(
                d.is_linear,
                where=d.cosine > inside,
                event="directions that Theorem 5.1 covers",
                text="elsewhere the network is the linear classifier",
            ),
        },
        details=lambda: classifier_details(runs),
        note=lambda: classifier_note(runs),
    )


LINES = ("from_regime", "from_equation_7", "from_svm")
SHOWN = 4
"""So many coordinates of a classifier are told in words."""


def classifier_details(runs: Paths) -> dict[str, Any]:
    """The linear classifiers that were learned and those of Eq. 7, of length 1; how far each that was learned is from
    the predicted ones, in degrees; and on which share of the points of its run the network has its sign.
    """
    lines = {name: [None if np.isnan(each) else each for each in getattr(runs, name).tolist()] for name in LINES}
    vectors = {"classifiers": runs.classifier, "predicted": runs.predicted}
    return {name: [unit(each).tolist() for each in rows] for name, rows in vectors.items()} | {
        "share": runs.linear_share.tolist(),
        **lines,
    }


def classifier_note(runs: Paths) -> str:
    """Is it linear, which line is it, and how far from the predicted ones."""
    found = classifier_details(runs)
    seventh, machine = (np.array(found[name], float).max() for name in LINES[1:])
    if len(runs) > 1:
        open_runs = int((~met(runs, REGIME)).sum())
        unpredicted = (
            f" In {open_runs} of {len(runs)} runs nothing predicts it, because neurons of one sign do not settle in "
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
        f"{found['share'][0]:.0%} of its points. {_prediction(runs, found)} The SVM through the origin is "
        f"{machine:.2g}° away."
    )


def _prediction(runs: Paths, found: dict[str, Any]) -> str:
    """What was predicted, as far as the neurons let it apply."""
    seventh = f"Eq. 7 gives {_in_words(found['predicted'][0])}·x, {found['from_equation_7'][0]:.2g}° away"
    if not met(runs, REGIME).all():
        return f"Nothing predicts it, because neurons of one sign do not settle in agreement on every point; {seventh}."
    if np.array_equal(runs.plus_signs, runs.labels) and np.array_equal(runs.minus_signs, -runs.labels):
        return f"It was predicted: {seventh}."
    own = found["from_regime"][0]
    return f"The program of its regime is {own:.2g}° away; neurons agree, but are not all right, so {seventh}."


def _in_words(line: Sequence[float]) -> str:
    told = ", ".join(f"{value:.3g}".replace("-", "−") for value in line[:SHOWN])
    return f"({told}{', …' if len(line) > SHOWN else ''})"


def how_many_meet(*hypotheses: Given) -> Callable[[Paths], dict[str, int]]:
    """How many runs are judged; none, where the one that is shown is only the nearest."""
    return lambda runs: {"runs_that_meet_the_hypotheses": int(met(runs, hypotheses).sum())}


def own_class(runs: Paths) -> Promised:
    """Neurons are right on the points of their class."""
    p = runs.per("point")
    return {
        "plus_on_positive": more_than(
            p.plus_signs,
            0,
            where=p.labels > 0,
            event="positive points",
            text="plus neurons are right on positive points",
        ),
        "minus_on_negative": more_than(
            p.minus_signs,
            0,
            where=~(p.labels > 0),
            event="negative points",
            text="minus neurons are right on negative points",
        ),
    }


@claim("sarussi2021.theorem_6_2_region", Kind.MAIN, "Theorem 6.2, Section 6.2; Section 14.1",
       reads=flows.at(agreeing_settings), given=ALL, among_given=True, details=how_many_meet(*ALL),
       title="Every neuron ends on the right side of every point",
       means=Meaning(
           topic=Topic.STABILITY,
           promise="In the end every neuron is on the right side of every point, and stays there.",
       ))  # fmt: skip
def theorem_6_2_region(runs: Paths) -> Promised:
    """If gradient flow separates the data ($nL < log 2$), stays in a regime with margin $β$ and reaches a smoothed
    margin above $√k·αvR_x$, and if $V_β⁺$ and $V_β⁻$ are empty, then the regime is of perfect agreement: every plus
    neuron and every minus neuron is right on every point.

    The paper leaves β of its fourth assumption open; it must be that of the regime.
    """
    p = runs.per("point")
    return {
        **own_class(runs),
        "plus_on_negative": less_than(
            p.plus_signs,
            0,
            where=~(p.labels > 0),
            event="negative points",
            text="plus neurons are right on negative points",
        ),
        "minus_on_positive": less_than(
            p.minus_signs,
            0,
            where=p.labels > 0,
            event="positive points",
            text="minus neurons are right on positive points",
        ),
    }


@claim("sarussi2021.theorem_6_2_first_step", Kind.STEP, "Section 14.1, first step", reads=flows, given=THREE,
       among_given=True, details=how_many_meet(*THREE),
       title="Neurons end on the right side of the points of their class")  # fmt: skip
def theorem_6_2_first_step(runs: Paths) -> Promised:
    """Under the assumptions of Theorem 6.2, but without the one on $V_β⁺$ and $V_β⁻$, every plus neuron is right on the
    positive points and every minus neuron on the negative ones.
    """
    return own_class(runs)


@claim("sarussi2021.theorem_6_2_direction", Kind.MAIN, "Theorem 6.2 and Eq. 7, Section 6.2",
       reads=flows.at(agreeing_settings), given=ALL, among_given=True, details=how_many_meet(*ALL),
       title="Neurons end in the directions of a convex program",
       means=Meaning(
           topic=Topic.LIMIT,
           promise="Training leads to one particular network, which a small convex program finds without any training.",
       ))  # fmt: skip
def theorem_6_2_direction(runs: Paths, *, share: float = 1.0) -> Promised:
    """Under the assumptions of Theorem 6.2 the neurons point in the directions of the solution of Eq. 7, $min ‖w‖² +
    ‖u‖²$ subject to $w·x − αu·x ≥ 1$ on positive points and $αw·x − u·x ≤ −1$ on negative ones, and $‖w‖/‖u‖$ is that
    of the solution. The normalized margin tends to $v√(k/p*)$, where $p*$ is the value of Eq. 7, and never exceeds it.

    How near they must be is ours, and so is the value of the limit: with γ* = v√(k/val) and
    ε_t = ‖W_T‖(1 − γ̃_T/γ*)/‖W_t‖, 1 − cos ≤ ε_t and 1 − γ̄/γ* ≤ ε_t at every time t after T, when the run has settled in
    its regime, and arctan ‖w̄‖/‖ū‖ is off by at most arccos(1 − ε_t).
    """
    t = runs.per("time")
    limit = share * t.perfect_margin
    near = approach_bound(t.perfect_excess, t.perfect_margin, t.norms)
    since = {"room": MONOTONE, "where": t.since_first, "event": SINCE}
    return {
        "direction": at_most(
            t.perfect_error,
            near,
            text="the direction is that of Eq. 7",
            quantity="1 − cos to the solution of Eq. 7",
            **since,
        ),
        "lengths": at_most(
            t.angle_error,
            np.arccos(np.clip(1 - near, -1, 1)),
            text="$‖w‖/‖u‖$ is that of Eq. 7",
            quantity="error of arctan ‖w‖/‖u‖, in radians",
            **since,
        ),
        "margin_limit": at_most(
            1 - t.normalized / limit,
            near,
            text="the margin tends to $v√(k/p*)$",
            quantity="what the margin is short of its limit, relative",
            **since,
        ),
        "largest_margin": at_most(
            t.normalized,
            limit,
            within=STEP,
            where=t.readings >= SETTLED,
            event="looks from s = 20 on",
            text="it never exceeds it",
        ),
    }
