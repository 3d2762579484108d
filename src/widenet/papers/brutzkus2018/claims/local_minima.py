"""Section 7.1: the ReLU loss has bad local minima, and exactly how bad they can be.

Lemma 11 and Theorem 8 say "more than half". That is false exactly on the direction-antipodal sets (`point_sets`), the
simplest being {(x, +1), (−x, −1)}, and true on all others. Why no local minimum exceeds ½ there:

Move W along (w*, …, w*, −w*, …, −w*). No yN(x) falls. The yN of an active point (yN < 1) with label +1 strictly grows
unless ⟨w, x⟩ < 0 for all +1 rows and ⟨u, x⟩ ≤ 0 for all −1 rows; with label −1, unless ⟨u, x⟩ < 0 for all −1 rows and
⟨w, x⟩ ≤ 0 for all +1 rows. So at a local minimum every active point has all its neurons off: N = 0, and its loss is
exactly 1. Points on opposite rays of a line have opposite labels, and both active would need ⟨w, x⟩ < 0 and
⟨w, −x⟩ ≤ 0 at once. So at most one ray of each line is active: half of the points, if the rays are equal.
"""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from widenet.claims.base import Evidence, Hypothesis, Kind, Runs, Silence, at_most, claim, separable
from widenet.claims.meaning import Topic
from widenet.claims.sides import Conjunct, Fact, Sense, Sides, evidence
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.brutzkus2018.claims.specimens import separator_of
from widenet.papers.brutzkus2018.runs import bad_minima as minima_runs
from widenet.papers.brutzkus2018.runs import descent as descent_runs
from widenet.papers.brutzkus2018.runs.bad_minima import BadMinima, MinimaSetting, bad_minima
from widenet.papers.brutzkus2018.runs.descent import Descent, descent


def set_hypotheses(runs: Sequence[BadMinima | Descent]) -> list[Hypothesis]:
    """Separable, in the unit ball; each at the set nearest to breaking it."""
    return [
        separable(margin for run in runs for margin in run.smallest_margin),
        at_most(
            "input_norm",
            "largest input norm ‖x‖",
            max(float(run.largest_norm.max()) for run in runs),
            1,
            tolerance=ROUNDING,
        ),
    ]


@claim(
    "brutzkus2018.lemma_11",
    Kind.STEP,
    "Lemma 11, Section 9.3.1, with the exception it needs",
    reads=bad_minima,
)
def lemma_11(runs: Sequence[BadMinima], *, always_strict: bool = False) -> Evidence:
    """For every finite separable S there are ŵ and a > 0 with |⟨ŵ, x⟩| > a on S and #{x : ⟨ŵ, x⟩ < 0} ≥ |S|/2.
    The inequality can be made strict iff S is not direction-antipodal, that is iff some line through 0 carries
    unequally many points of S on its two rays.

    `always_strict` is the printed form. Where it fails, it fails for every ŵ: no vector has more points behind it
    than the fuller ray of each line.
    """
    sets = _joined(runs)
    behind = np.where(sets.resolved, sets.behind, np.nan)
    parts = _half(behind, sets.n_samples, sets, always_strict, "points behind ŵ, against half of the points")
    parts["|⟨ŵ, x⟩| > a > 0"] = Sides(
        np.where(sets.resolved, sets.nearest, np.nan), 0.0, Sense.AT_LEAST, strict=True, quantity="smallest |⟨ŵ, x⟩|"
    )
    return evidence(
        parts,
        set_hypotheses(runs),
        runs=Runs(tried=len(behind)),
        details=_describe(sets),
        note=_refutation(sets, sets.behind, always_strict, "vector ŵ has more than half of the points behind it"),
    )


lemma_11_as_printed = lemma_11.variant(
    "lemma_11_as_printed",
    where="Lemma 11, Section 9.3.1",
    statement=(
        "For every finite separable S there are ŵ and a > 0 with |⟨ŵ, x⟩| > a on S and #{x : ⟨ŵ, x⟩ < 0} > |S|/2. "
        "Counterexample: S = {(e_1, +1), (−e_1, −1)}. Every ŵ with ⟨ŵ, e_1⟩ ≠ 0 has exactly one of the two points "
        "behind it, and so has −ŵ."
    ),
    reads=bad_minima.at(minima_runs.pair_settings),
    always_strict=True,
)


@claim(
    "brutzkus2018.theorem_8",
    Kind.MAIN,
    "Theorem 8, Section 7.1, with the exception it needs",
    reads=bad_minima,
)
def theorem_8(runs: Sequence[BadMinima], *, always_strict: bool = False) -> Evidence:
    """ReLU with ±1 output weights: for every finite separable S there is a local minimum with L_S(W) ≥ ½, at which
    every neuron is off on half of the points or more. L_S(W) > ½ can be had iff S is not direction-antipodal,
    that is iff some line through 0 carries unequally many points of S on its two rays.

    The W of the proof is a local minimum because its loss is constant in a ball. `always_strict` is the printed form;
    it is refuted where no local minimum can exceed ½.
    """
    sets = _joined(runs)
    level = np.where(sets.resolved, sets.level, np.nan)
    lost = ~sets.resolved
    parts = _half(level, 1, sets, always_strict, "training loss at the constructed local minimum")
    parts |= {
        "the loss is the share of points behind ŵ": Sides(
            level, sets.behind / sets.n_samples, Sense.EQUAL, room=ROUNDING
        ),
        "gradient 0": Sides(np.where(lost, np.nan, sets.gradient), 0.0, quantity="largest |entry| of the gradient"),
        "a ball around W": Sides(
            np.where(lost, np.nan, sets.radius), 0.0, Sense.AT_LEAST, strict=True, quantity="its radius"
        ),
        "the loss is constant in the ball": Fact(sets.changed == 0, undecided=lost),
    }
    return evidence(
        parts,
        [*set_hypotheses(runs), at_most("relu", "ReLU: slope for z < 0", sets.slope, 0)],
        runs=Runs(tried=len(level)),
        details=_describe(sets)
        | {
            "half_widths": sorted({int(half) for half in sets.half_width}),
            "perturbations_per_set": sets.tried,
            "smallest_radius": float(sets.radius.min()),
            "largest_level": float(sets.level.max()),
        },
        note=_refutation(sets, sets.level * sets.n_samples, always_strict, "local minimum exceeds ½"),
    )


theorem_8_as_printed = theorem_8.variant(
    "theorem_8_as_printed",
    where="Theorem 8, Section 7.1",
    statement=(
        "ReLU with ±1 output weights: for every finite separable S there is a local minimum with L_S(W) > ½. "
        "Counterexample: S = {(e_1, +1), (−e_1, −1)}. At a local minimum a point with yN < 1 has all neurons off, and "
        "the two points cannot both: every local minimum has loss 0 or exactly ½."
    ),
    reads=bad_minima.at(minima_runs.pair_settings),
    always_strict=True,
)


@lemma_11.speaks
@theorem_8.speaks
def minima_on(specimen: Specimen) -> list[MinimaSetting] | Silence:
    """One network of the chosen width, placed badly on the reader's points."""
    separator = separator_of(specimen)
    if isinstance(separator, Silence):
        return separator
    return [MinimaSetting(half_widths=(specimen.choices.n_neurons // 2,), own_data=specimen.digest)]


def _half(
    measured: Float[np.ndarray, " set"],
    whole: Int[np.ndarray, " set"] | int,
    sets: BadMinima,
    always_strict: bool,
    quantity: str,
) -> dict[str, Conjunct]:
    """At least half, more than half, and no more than half on direction-antipodal sets; the printed form has one part.

    `measured` is a share of the points, times `whole`.
    """
    antipodal, half = sets.imbalance == 0, np.asarray(whole) / 2
    strict = ~antipodal | always_strict
    # A better ŵ may exist where this one has no more than half behind it and no counting forbids more.
    possible = 2 * sets.most_behind > sets.n_samples
    exceeds = np.where(possible & (measured <= half), np.nan, measured)
    more = Sides(exceeds, half, Sense.AT_LEAST, strict=True, scored=strict, quantity=quantity)
    if always_strict:
        return {"more than half": more}
    parts: dict[str, Conjunct] = {"at least half": Sides(measured, half, Sense.AT_LEAST, quantity=quantity)}
    if strict.any():
        parts["more than half unless direction-antipodal"] = more
    if antipodal.any():
        most = sets.most_behind / sets.n_samples * whole
        parts["no more than half if direction-antipodal"] = Sides(
            most, half, scored=antipodal, quantity="the most that any ŵ can have"
        )
    return parts


def _joined(runs: Sequence[BadMinima]) -> BadMinima:
    """All sets in one record."""
    columns = [field.name for field in dataclasses.fields(BadMinima) if field.name not in ("slope", "tried")]
    joined = {name: np.concatenate([getattr(run, name) for run in runs]) for name in columns}
    return BadMinima(**joined, slope=max(run.slope for run in runs), tried=min(run.tried for run in runs))


@claim(
    "brutzkus2018.relu_local_minimum_level",
    Kind.STEP,
    "Section 7.1 (derived: the levels of the local minima of Theorem 8)",
    reads=descent,
)
def relu_local_minimum_level(runs: Sequence[Descent]) -> Evidence:
    """Every local minimum of the ReLU loss on a separable S has L_S = j/n, where the j points with yN(x) < 1 have
    every neuron off (N = 0, loss exactly 1). Measured where gradient descent ends with gradient exactly 0.

    Ends at loss 0 say nothing about levels, and runs that have not ended nothing at all.
    """
    (run,) = runs
    active = run.margins < 1
    counts = run.losses * run.n_samples
    scored = run.ended & (counts > 0)
    return evidence(
        {
            "n·L_S is the number of points with yN < 1": Sides(
                counts, active.sum(axis=1), Sense.EQUAL, room=STEP, scored=scored, quantity="n·L_S at the end of a run"
            ),
            "every neuron is off at these points": Fact(~(active & run.any_on).any(axis=1), scored=scored),
            "N = 0 at these points": Sides(
                np.abs(np.where(active, run.margins, 0.0)).max(axis=1), 0.0, scored=scored, quantity="largest |N(x)|"
            ),
            "gradient exactly 0 at the end": Sides(run.gradient, 0.0, scored=run.ended, quantity="largest |entry|"),
        },
        set_hypotheses(runs),
        runs=Runs(tried=len(counts), unfinished=int((~run.ended).sum())),
        details=_describe(run) | {"ends_at_positive_loss": int(scored.sum()), "most_steps": run.steps},
    )


@claim(
    "brutzkus2018.theorem_8_tight",
    Kind.STEP,
    "Section 7.1 (derived: where Theorem 8 is tight)",
    reads=(descent.at(descent_runs.antipodal_settings), bad_minima.at(minima_runs.antipodal_settings)),
)
def theorem_8_tight(
    descents: Sequence[Descent],
    minima: Sequence[BadMinima],
    *,
    cells_of_a_pair: Callable[[], "PairCells"] | None = None,
) -> Evidence:
    """On every direction-antipodal separable S (each line through 0 carries as many points on one ray as on the
    other) all local minima of the ReLU loss have L_S ≤ ½, and ½ is attained; for S = {(x, +1), (−x, −1)} they
    have L_S = 0 or ½. So Theorem 8 needs its exception.

    The local minima are the ends of gradient descent (gradient exactly 0) and the W of Theorem 8. For one pair in one
    dimension and k = 1 every cell of the weight space is visited in exact arithmetic as well.
    """
    (run,), built = descents, _joined(minima)
    is_minimum = built.resolved & (built.gradient == 0) & (built.changed == 0)
    levels = np.concatenate([run.losses, built.level])
    found = np.concatenate([run.ended, is_minimum])
    of_pairs = run.ended & (run.n_samples == 2)
    cells = (cells_of_a_pair or pair_cells)()
    parts: dict[str, Conjunct] = {
        "L_S ≤ ½ at every local minimum": Sides(
            levels, 0.5, room=STEP, scored=found, quantity="largest training loss at a local minimum"
        ),
        "½ is attained": Sides(
            levels[found].max(initial=0.0) if found.any() else np.nan, 0.5, Sense.AT_LEAST, room=STEP
        ),
        "gradient exactly 0 at the end": Sides(run.gradient, 0.0, scored=run.ended, quantity="largest |entry|"),
        "L_S ≤ ½ in every cell of one pair": Sides(float(cells.largest_loss), 0.5),
    }
    if (run.n_samples == 2).any():
        parts["0 or ½ on one pair"] = Fact(np.minimum(run.losses, np.abs(run.losses - 0.5)) <= STEP, scored=of_pairs)
    unequal = max(int(run.imbalance.max()), int(built.imbalance.max()))
    return evidence(
        parts,
        [
            *set_hypotheses(descents),
            at_most("antipodal", "direction-antipodal: largest imbalance of a set", unequal, 0),
        ],
        runs=Runs(tried=len(run.ended), unfinished=int((~run.ended).sum())),
        details=_describe(run)
        | {
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


@dataclass(frozen=True)
class PairCells:
    """The weight space of one pair: grid points visited, those where the loss may have a local minimum, the largest
    loss among these.
    """

    visited: int
    flat: int
    largest_loss: Fraction


def pair_loss(w: Fraction, u: Fraction) -> Fraction:
    """L_S of S = {(1, +1), (−1, −1)} in one dimension with k = 1, in exact arithmetic."""
    outputs = {x: max(w * x, Fraction(0)) - max(u * x, Fraction(0)) for x in (1, -1)}
    plus, minus = (max(Fraction(1) - x * output, Fraction(0)) for x, output in outputs.items())  # the label is x
    return (plus + minus) / 2


def pair_cells() -> PairCells:
    """S = {(1, +1), (−1, −1)} in one dimension with k = 1: all weights (w, u), in exact arithmetic.

    The loss is linear on the cells cut by w = 0, u = 0, N(1) = 1 and N(−1) = −1; the grid has a point in each. From a
    point of the grid along (1, −1) the next cut is a quarter away or more, so the loss is linear over an eighth; where
    it does not fall there may be a local minimum.
    """
    values, step = [Fraction(n, 2) for n in range(-6, 7)], Fraction(1, 8)
    points = [(w, u) for w in values for u in values]
    flat = [pair_loss(w, u) for w, u in points if pair_loss(w + step, u - step) >= pair_loss(w, u)]
    return PairCells(len(points), len(flat), max(flat))


def _refutation(sets: BadMinima, counts: np.ndarray, always_strict: bool, what: str) -> str:
    """Where the printed form fails for every choice."""
    refuted = np.flatnonzero((2 * counts <= sets.n_samples) & (2 * sets.most_behind <= sets.n_samples))
    if not always_strict or not len(refuted):
        return ""
    smallest = refuted[np.argmin(sets.n_samples[refuted])]
    return f"No {what} on {len(refuted)} of {len(counts)} sets, the smallest being {sets.words[smallest]}."


def _describe(sets: BadMinima | Descent) -> dict[str, Any]:
    return {
        "sets": len(sets.n_samples),
        "samples": sorted({int(n) for n in sets.n_samples}),
        "dims": sorted({int(dim) for dim in sets.dim}),
        "direction_antipodal_sets": int((sets.imbalance == 0).sum()),
    }


theorem_8.means(
    Topic.TRAPS,
    "With plain ReLU neurons training can get stuck: there are networks that no small change improves, with a loss of "
    "at least {promised}.",
    "one was built on these points, with loss {measured}",
)
