"""Section 7.1: the ReLU loss has bad local minima, and exactly how bad they can be.

Lemma 11 and Theorem 8 say "more than half". That is false exactly on the direction-antipodal sets (`point_sets`), the
simplest being {(x, +1), (−x, −1)}, and true on all others. Why no local minimum exceeds ½ there:

Move W along (w*, …, w*, −w*, …, −w*). No yN(x) falls. The yN of an active point (yN < 1) with label +1 strictly grows
unless ⟨w, x⟩ < 0 for all +1 rows and ⟨u, x⟩ ≤ 0 for all −1 rows; with label −1, unless ⟨u, x⟩ < 0 for all −1 rows and
⟨w, x⟩ ≤ 0 for all +1 rows. So at a local minimum every active point has all its neurons off: N = 0, and its loss is
exactly 1. Points on opposite rays of a line have opposite labels, and both active would need ⟨w, x⟩ < 0 and
⟨w, −x⟩ ≤ 0 at once. So at most one ray of each line is active: half of the points, if the rays are equal.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.base import Kind, claim
from widenet.claims.cases import derived
from widenet.claims.given import separable
from widenet.claims.implication import Promise, at_least, at_most, equal, hypothesis, more_than
from widenet.claims.meaning import Meaning, Topic
from widenet.claims.rates import Conjunct
from widenet.claims.sides import Fact, Sides
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.brutzkus2018.hypotheses import input_norm, relu
from widenet.papers.brutzkus2018.runs import bad_minima as minima_runs
from widenet.papers.brutzkus2018.runs import descent as descent_runs
from widenet.papers.brutzkus2018.runs.bad_minima import BadMinima, PairCells, PerSet, bad_minima, pair_cells
from widenet.papers.brutzkus2018.runs.descent import Descent, descent
from widenet.records import Form


class Placed(BadMinima):
    """What is known where float64 resolves it, and NaN elsewhere."""

    known_behind: PerSet = derived(lambda sets: np.where(sets.resolved, sets.behind, np.nan))
    known_nearest: PerSet = derived(lambda sets: np.where(sets.resolved, sets.nearest, np.nan))
    known_level: PerSet = derived(lambda sets: np.where(sets.resolved, sets.level, np.nan))
    known_gradient: PerSet = derived(lambda sets: np.where(sets.resolved, sets.gradient, np.nan))
    known_radius: PerSet = derived(lambda sets: np.where(sets.resolved, sets.radius, np.nan))


class Built(Placed):
    """The same, beside runs: only those are counted."""

    def counts(self) -> dict[str, int]:
        """Nothing is trained."""
        return {"tried": 0, "diverged": 0, "unfinished": 0}


class Ends(Descent):
    """What the points that are active at the end, yN < 1, look like."""

    n_active: Int[np.ndarray, " run"] = derived(lambda runs: (runs.margins < 1).sum(axis=1))
    #: whether every neuron is off at them
    all_off: Bool[np.ndarray, " run"] = derived(lambda runs: ~((runs.margins < 1) & runs.any_on).any(axis=1))
    #: the largest |N| there
    largest_output: Float[np.ndarray, " run"] = derived(
        lambda runs: np.abs(np.where(runs.margins < 1, runs.margins, 0.0)).max(axis=1)
    )
    unfinished: Bool[np.ndarray, " run"] = derived(lambda runs: ~runs.ended)


@hypothesis("direction-antipodal: imbalance of a set")
def antipodal(sets: Any) -> Sides:
    """Each line through 0 carries as many points on one ray as on the other."""
    return at_most(sets.imbalance, 0)


@claim(
    "brutzkus2018.lemma_11",
    Kind.STEP,
    "Lemma 11, Section 9.3.1, with the exception it needs",
    reads=bad_minima,
    given=[separable, input_norm],
    form=Form.REPAIR,
    title="A hyperplane with half of the points behind it",
)
def lemma_11(sets: Placed, *, always_strict: bool = False) -> Promise:
    """For every finite separable $S$ there are $ŵ$ and $a > 0$ with $|⟨ŵ, x⟩| > a$ on $S$ and $⟨ŵ, x⟩ < 0$ for at least
    $|S|/2$ of its points. For more than $|S|/2$ of them this is possible if and only if $S$ is not direction-antipodal,
    that is, if and only if some line through $0$ carries unequal numbers of points of $S$ on its two rays.

    The printed form, where it fails, fails for every ŵ: no vector has more points behind it than the fuller ray of each
    line.

    In code: `always_strict` is the printed form.
    """
    words = "points behind ŵ, against half of the points"
    nearest = more_than(sets.known_nearest, 0.0, text="$|⟨ŵ, x⟩| > a > 0$", quantity="smallest |⟨ŵ, x⟩|")
    return Promise(
        {**_half(sets.known_behind, sets.n_samples, sets, always_strict, words), "nearest": nearest},
        details=lambda: _describe(sets),
        note=_refutation(sets, sets.behind, always_strict, "vector ŵ has more than half of the points behind it"),
    )


lemma_11_as_printed = lemma_11.variant(
    "lemma_11_as_printed",
    where="Lemma 11, Section 9.3.1",
    title="A hyperplane with more than half of the points behind it",
    statement=(
        "For every finite separable $S$ there are $ŵ$ and $a > 0$ with $|⟨ŵ, x⟩| > a$ on $S$ and $⟨ŵ, x⟩ < 0$ for "
        "more than $|S|/2$ of its points. Counterexample: $S = {(e_1, +1), (−e_1, −1)}$. Every $ŵ$ with $⟨ŵ, e_1⟩ ≠ "
        "0$ has exactly one of the two points behind it, and so has $−ŵ$."
    ),
    reads=bad_minima.at(minima_runs.pair_settings),
    always_strict=True,
)


@claim(
    "brutzkus2018.theorem_8",
    Kind.MAIN,
    "Theorem 8, Section 7.1, with the exception it needs",
    reads=bad_minima,
    given=[separable, input_norm, relu],
    form=Form.REPAIR,
    title="ReLU has local minima with loss $½$ or more",
    means=Meaning(
        topic=Topic.TRAPS,
        promise="With plain ReLU neurons training can get stuck: there are networks that no small change improves, "
        "with a loss of at least {promised}.",
        seen="one was built on these points, with loss {measured}",
    ),
)
def theorem_8(sets: Placed, *, always_strict: bool = False) -> Promise:
    """ReLU with output weights $±1$: for every finite separable $S$ there is a local minimum with $L_S(W) ≥ ½$, at
    which every neuron is off on half of the points or more. $L_S(W) > ½$ is possible if and only if $S$ is not
    direction-antipodal, that is, if and only if some line through $0$ carries unequal numbers of points of $S$ on its
    two rays.

    The W of the proof is a local minimum because its loss is constant in a ball. The printed form is refuted where no
    local minimum can exceed ½.

    In code: `always_strict` is the printed form.
    """
    words = "training loss at the constructed local minimum"
    return Promise(
        {
            **_half(sets.known_level, np.ones(len(sets), int), sets, always_strict, words),
            "level": equal(
                sets.known_level,
                sets.behind / sets.n_samples,
                room=ROUNDING,
                text="the loss is the share of points behind $ŵ$",
            ),
            "gradient": at_most(
                sets.known_gradient, 0.0, text="gradient 0", quantity="largest |entry| of the gradient"
            ),
            "ball": more_than(sets.known_radius, 0.0, text="a ball around $W$", quantity="its radius"),
            "constant": at_most(sets.changed, 0, undecided=~sets.resolved, text="the loss is constant in the ball"),
        },
        details=lambda: {
            **_describe(sets),
            "half_widths": np.unique(sets.half_width),
            "perturbations_per_set": np.min(sets.tried),
            "smallest_radius": sets.radius.min(),
            "largest_level": sets.level.max(),
        },
        note=_refutation(sets, sets.level * sets.n_samples, always_strict, "local minimum exceeds ½"),
    )


theorem_8_as_printed = theorem_8.variant(
    "theorem_8_as_printed",
    where="Theorem 8, Section 7.1",
    title="ReLU has local minima with loss above $½$, always",
    statement=(
        "ReLU with output weights $±1$: for every finite separable $S$ there is a local minimum with $L_S(W) > ½$. "
        "Counterexample: $S = {(e_1, +1), (−e_1, −1)}$. At a local minimum a point with $yN < 1$ has all neurons off, "
        "which the two points cannot both have: every local minimum has loss $0$ or exactly $½$."
    ),
    reads=bad_minima.at(minima_runs.pair_settings),
    always_strict=True,
)


def _half(
    measured: np.ndarray, whole: np.ndarray, sets: Placed, always_strict: bool, quantity: str
) -> dict[str, Conjunct]:
    """At least half, more than half, and no more than half on direction-antipodal sets; the printed form has one part.

    `measured` is a share of the points, times `whole`.
    """
    balanced, half = sets.imbalance == 0, whole / 2
    # A better ŵ may exist where this one has no more than half behind it and no counting forbids more.
    possible = 2 * sets.most_behind > sets.n_samples
    exceeds = np.where(possible & (measured <= half), np.nan, measured)
    if always_strict:
        return {"more": more_than(exceeds, half, text="more than half", quantity=quantity)}
    return {
        "half": at_least(measured, half, text="at least half", quantity=quantity),
        "more": more_than(
            exceeds,
            half,
            where=~balanced,
            event="sets that are not direction-antipodal",
            text="more than half unless direction-antipodal",
            quantity=quantity,
            optional=True,
        ),
        "no_more": at_most(
            sets.most_behind / sets.n_samples * whole,
            half,
            where=balanced,
            event="direction-antipodal sets",
            text="no more than half if direction-antipodal",
            quantity="the most that any ŵ can have",
            optional=True,
        ),
    }


@claim(
    "brutzkus2018.relu_local_minimum_level",
    Kind.STEP,
    "Section 7.1 (derived: the levels of the local minima of Theorem 8)",
    reads=descent,
    given=[separable, input_norm],
    form=Form.OURS,
    title="At a local minimum, active points have all neurons off",
)
def relu_local_minimum_level(runs: Ends) -> Promise:
    """Every local minimum of the ReLU loss on a separable $S$ has $L_S = j/n$, where the $j$ points with $yN(x) < 1$
    have every neuron off ($N = 0$, loss exactly $1$). Measured where gradient descent ends with gradient exactly $0$.

    Ends at loss 0 say nothing about levels, and runs that have not ended nothing at all.
    """
    counts = runs.losses * runs.n_samples
    scored = {"where": runs.ended & (counts > 0), "event": "runs that ended at a positive loss"}
    return Promise(
        {
            "level": equal(
                counts,
                runs.n_active,
                room=STEP,
                text="$n·L_S$ is the number of points with $yN < 1$",
                quantity="n·L_S at the end of a run",
                **scored,
            ),
            "all_off": Fact(runs.all_off, text="every neuron is off at these points", **scored),
            "silent": at_most(
                runs.largest_output, 0.0, text="$N = 0$ at these points", quantity="largest |N(x)|", **scored
            ),
            "gradient": _no_gradient(runs),
        },
        details=lambda: {
            **_describe(runs),
            "ends_at_positive_loss": scored["where"].sum(),
            "most_steps": np.max(runs.steps),
        },
    )


def _no_gradient(runs: Ends) -> Sides:
    return at_most(
        runs.gradient,
        0.0,
        where=runs.ended,
        event="runs that ended",
        text="gradient exactly 0 at the end",
        quantity="largest |entry|",
    )


@claim(
    "brutzkus2018.theorem_8_tight",
    Kind.STEP,
    "Section 7.1 (derived: where Theorem 8 is tight)",
    reads=(descent.at(descent_runs.antipodal_settings), bad_minima.at(minima_runs.antipodal_settings)),
    given=[separable.of(0), input_norm.of(0), antipodal],
    form=Form.OURS,
    title="On antipodal sets, no local minimum exceeds $½$",
)
def theorem_8_tight(runs: Ends, built: Built, *, cells_of_a_pair: Callable[[], PairCells] = pair_cells) -> Promise:
    """On every direction-antipodal separable $S$ (each line through $0$ carries as many points on one ray as on the
    other) all local minima of the ReLU loss have $L_S ≤ ½$, and $½$ is attained. For $S = {(x, +1), (−x, −1)}$ they
    have $L_S = 0$ or $½$. So Theorem 8 needs its exception.

    The local minima are the ends of gradient descent (gradient exactly 0) and the W of Theorem 8. For one pair in one
    dimension and k = 1 every cell of the weight space is visited in exact arithmetic as well.
    """
    is_minimum = built.resolved & (built.gradient == 0) & (built.changed == 0)
    levels = np.concatenate([runs.losses, built.level])
    found = np.concatenate([runs.ended, is_minimum])
    highest = levels[found].max(initial=0.0) if found.any() else np.nan
    cells = cells_of_a_pair()
    words = "largest training loss at a local minimum"
    return Promise(
        {
            "at_most_half": at_most(
                levels,
                0.5,
                room=STEP,
                where=found,
                event="local minima",
                text="$L_S ≤ ½$ at every local minimum",
                quantity=words,
            ),
            "attained": at_least(highest, 0.5, room=STEP, text="$½$ is attained"),
            "gradient": _no_gradient(runs),
            "cells": at_most(float(cells.largest_loss), 0.5, text="$L_S ≤ ½$ in every cell of one pair"),
            "pair": Fact(
                np.minimum(runs.losses, np.abs(runs.losses - 0.5)) <= STEP,
                where=runs.ended & (runs.n_samples == 2),
                event="runs on one pair that ended",
                text="0 or $½$ on one pair",
                optional=True,
            ),
        },
        details=lambda: {
            **_describe(runs),
            "levels": {
                f"{level:.6g}": int(count)
                for level, count in zip(*np.unique(np.round(levels[found], 9), return_counts=True), strict=True)
            },
            "exact_cells": {
                "visited": cells.visited,
                "without_descent": cells.flat,
                "largest_loss_there": str(cells.largest_loss),
            },
        },
    )


def _refutation(sets: Placed, counts: np.ndarray, always_strict: bool, what: str) -> str:
    """Where the printed form fails for every choice."""
    refuted = np.flatnonzero((2 * counts <= sets.n_samples) & (2 * sets.most_behind <= sets.n_samples))
    if not always_strict or not len(refuted):
        return ""
    smallest = refuted[np.argmin(sets.n_samples[refuted])]
    return f"No {what} on {len(refuted)} of {len(counts)} sets, the smallest being {sets.words[smallest]}."


def _describe(sets: Placed | Ends) -> dict[str, Any]:
    return {
        "sets": len(sets),
        "samples": np.unique(sets.n_samples),
        "dims": np.unique(sets.dim),
        "direction_antipodal_sets": (sets.imbalance == 0).sum(),
    }
