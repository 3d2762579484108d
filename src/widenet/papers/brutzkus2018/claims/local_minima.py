"""Section 7.1: the ReLU loss has bad local minima, and exactly how bad they can be.

Lemma 11 and Theorem 8 say "more than half". That is false exactly on the direction-antipodal sets (`bad_minima`), the
simplest being {(x, +1), (−x, −1)}, and true on all others. Why no local minimum exceeds ½ there:

Move W along (w*, …, w*, −w*, …, −w*). No yN(x) falls. The yN of an active point (yN < 1) with label +1 strictly grows
unless ⟨w, x⟩ < 0 for all +1 rows and ⟨u, x⟩ ≤ 0 for all −1 rows; with label −1, unless ⟨u, x⟩ < 0 for all −1 rows and
⟨w, x⟩ ≤ 0 for all +1 rows. So at a local minimum every active point has all its neurons off: N = 0, and its loss is
exactly 1. Points on opposite rays of a line have opposite labels, and both active would need ⟨w, x⟩ < 0 and
⟨w, −x⟩ ≤ 0 at once. So at most one ray of each line is active: half of the points, if the rays are equal.
"""

import functools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from widenet.claims.base import Claim, Evidence, Hypothesis, Kind, Runs, Verdict, at_least, at_most
from widenet.claims.legacy import Evidence_, decide, ratio
from widenet.papers.brutzkus2018.runs.bad_minima import (
    PointSet,
    antipodal_set,
    as_start,
    bad_minimum,
    mostly_behind,
    separable_set,
)
from widenet.papers.brutzkus2018.runs.descent import descend
from widenet.papers.brutzkus2018.runs.online import flat_ball
from widenet.papers.brutzkus2018.runs.trials import ROUNDING
from widenet.types import Progress, Scale, silent


def set_hypotheses(sets: Sequence[PointSet]) -> list[Hypothesis]:
    """Separable, in the unit ball; each at the set nearest to breaking it."""
    return [
        at_least(
            "separable",
            "separable: smallest y⟨w*, x⟩",
            min(float((s.labels * (s.inputs @ s.separator)).min()) for s in sets),
            1,
            tolerance=ROUNDING,
        ),
        at_most(
            "largest_input_norm",
            "largest input norm ‖x‖",
            max(float(np.linalg.norm(s.inputs, axis=1).max()) for s in sets),
            1,
            tolerance=ROUNDING,
        ),
    ]


def check_lemma_11(sets: Sequence[PointSet], progress: Progress = silent, *, always_strict: bool = False) -> Evidence:
    """A ŵ off all hyperplanes with more than half of the points behind it; at least half on direction-antipodal sets.

    `always_strict` is the printed form. Where it fails, it fails for every ŵ: no vector has more points behind it
    than the fuller ray of each line.
    """
    conditions = set_hypotheses(sets)
    results, worst = [], (np.inf, 1, 1)
    for index, points in enumerate(sets):
        direction = mostly_behind(points, np.random.default_rng([index, 11]))
        scores = points.inputs @ direction
        n, behind = len(scores), int((scores < 0).sum())
        strict = always_strict or points.imbalance > 0
        fine = bool(np.abs(scores).min() > 0) and (2 * behind > n if strict else 2 * behind >= n)
        impossible = strict and 2 * points.most_behind <= n
        results.append(True if fine else False if impossible or not strict else None)
        worst = min(worst, (2 * behind / n, behind, n))
        progress((index + 1) / len(sets), f"{n} points in dimension {points.inputs.shape[1]}")
    conclusion = _all(results)
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=Runs(tried=len(sets)),
        conclusion=conclusion,
        quantity=f"points behind ŵ, against half of the {worst[2]} points, in the set with the smallest share"
        + " (should exceed it)" * always_strict,
        promised=worst[2] / 2,
        measured=float(worst[1]),
        tightness=ratio(float(worst[1]), worst[2] / 2),
        config=_describe(sets) | {"direction_antipodal_sets": sum(s.imbalance == 0 for s in sets)},
        note=_refutation(results, sets, "vector ŵ has more than half of the points behind it"),
    )


def check_theorem_8(
    settings: Sequence[tuple[PointSet, int]],
    progress: Progress = silent,
    *,
    always_strict: bool = False,
    radius_factor: float = 0.999,
    slope: float = 0.0,
    perturbations: int = 300,
) -> Evidence:
    """The W of the proof has gradient 0, a loss constant in a ball, and a level above ½ (½ if direction-antipodal).

    The ball is tried in random directions and in the two that its radius comes from. `always_strict` is the printed
    form; it is refuted where no local minimum can exceed ½.
    """
    sets = [points for points, _ in settings]
    conditions = [*set_hypotheses(sets), at_most("relu", "ReLU: slope for z < 0", slope, 0)]
    results, levels, radii = [], [], []
    for index, (points, half) in enumerate(settings):
        draw = np.random.default_rng([index, 8])
        weights = bad_minimum(points, half, mostly_behind(points, draw))
        start = as_start(points, half, perturbations + 2, slope)
        radius, directions = flat_ball(start, weights)
        directions = np.concatenate([directions, draw.normal(size=(perturbations, *weights.shape))])
        directions /= np.linalg.norm(directions, axis=(1, 2), keepdims=True)
        here = start.loss(np.repeat(weights[None], len(directions), axis=0))
        flat = bool((start.loss(weights + radius_factor * radius * directions) == here).all())
        level = float(here[0])
        is_minimum = flat and radius > 0 and not start.would_update(weights[None].repeat(len(here), 0)).any()
        strict = always_strict or points.imbalance > 0
        high = level > 0.5 if strict else level >= 0.5
        impossible = strict and 2 * points.most_behind <= len(points.labels)
        results.append(True if is_minimum and high else None if is_minimum and strict and not impossible else False)
        levels.append(level)
        radii.append(radius)
        progress((index + 1) / len(settings), f"{len(points.labels)} points, {2 * half} neurons")
    conclusion = _all(results)
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=Runs(tried=len(settings)),
        conclusion=conclusion,
        quantity="training loss at the constructed local minimum, in the set where it is smallest"
        + " (should exceed ½)" * always_strict,
        promised=0.5,
        measured=min(levels),
        tightness=ratio(min(levels), 0.5),
        config=_describe(sets)
        | {
            "direction_antipodal_sets": sum(s.imbalance == 0 for s in sets),
            "half_widths": sorted({half for _, half in settings}),
            "perturbations_per_set": perturbations + 2,
            "smallest_radius": min(radii),
            "largest_level": max(levels),
        },
        note=_refutation(results, sets, "local minimum exceeds ½") if always_strict else "",
    )


def check_relu_local_minimum_level(
    problems: Sequence[tuple[PointSet, np.ndarray]],
    progress: Progress = silent,
    *,
    max_steps: int = 20_000,
    must_end: bool = True,
) -> Evidence:
    """Where the gradient is exactly 0, every active point has N = 0 and loss 1, so n·L_S counts them."""
    sets = [points for points, _ in problems]
    conditions = set_hypotheses(sets)
    run = descend(problems, max_steps=max_steps)
    counted = run.ended if must_end else np.ones_like(run.ended)
    active = run.outputs < 1
    counts = run.losses * run.n_samples
    wrong = (np.abs(counts - np.round(counts)) > 1e-9) | (active & (run.any_on | (run.outputs != 0))).any(axis=1)
    bad = counted & wrong
    positive = int((counted & (counts > 0)).sum())
    conclusion = False if bad.any() else None if not positive else True
    worst = int(np.argmax(np.where(counted, np.abs(counts - np.round(counts)) * 1e6 + counts, -1)))
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=Runs(tried=len(counts), unfinished=int((~run.ended).sum())),
        conclusion=conclusion,
        quantity="n·L_S at the end of a run, against the number of points with yN < 1",
        promised=float(active[worst].sum()),
        measured=float(counts[worst]),
        tightness=ratio(float(counts[worst]), float(active[worst].sum())),
        config=_describe(sets) | {"ends_at_positive_loss": positive, "wrong": int(bad.sum()), "most_steps": run.steps},
    )


def check_theorem_8_tight(
    problems: Sequence[tuple[PointSet, np.ndarray]], progress: Progress = silent, *, max_steps: int = 6000
) -> Evidence:
    """On direction-antipodal sets no local minimum found or built exceeds ½, and ½ is attained.

    The local minima are the ends of gradient descent (gradient exactly 0) and the W of Theorem 8. For one pair in one
    dimension and k = 1 every cell of the weight space is visited in exact arithmetic as well.
    """
    sets = [points for points, _ in problems]
    unequal = max(points.imbalance for points in sets)
    conditions = [
        *set_hypotheses(sets),
        at_most("direction_antipodal", "direction-antipodal: largest imbalance of a set", unequal, 0),
    ]
    run = descend(problems, max_steps=max_steps)
    levels = list(run.losses[run.ended])
    progress(0.5, f"{len(levels)} runs of gradient descent ended")
    for index, points in enumerate(sets):
        direction = mostly_behind(points, np.random.default_rng([index, 8]))
        built = bad_minimum(points, 1, direction)
        start = as_start(points, 1)
        if not start.would_update(built[None]).any():
            levels.append(float(start.loss(built[None])[0]))
    cells, flat_cells, highest = pair_cells()
    found = np.round(np.array(levels), 9)
    of_pairs = run.losses[run.ended & (run.n_samples == 2)]
    low = found.max() <= 0.5 and highest <= Fraction(1, 2) and bool(np.isin(of_pairs, (0.0, 0.5)).all())
    conclusion = bool(low) if run.ended.any() else None
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=Runs(tried=len(problems), unfinished=int((~run.ended).sum())),
        conclusion=conclusion,
        quantity="largest training loss at a local minimum",
        promised=0.5,
        measured=float(found.max()),
        tightness=ratio(float(found.max()), 0.5),
        config=_describe(sets)
        | {
            "levels": {
                f"{level:.6g}": int(count) for level, count in zip(*np.unique(found, return_counts=True), strict=True)
            },
            "exact_cells": {"visited": cells, "without_descent": flat_cells, "largest_loss_there": str(highest)},
        },
    )


def pair_cells() -> tuple[int, int, Fraction]:
    """S = {(1, +1), (−1, −1)} in one dimension with k = 1: all weights (w, u), in exact arithmetic.

    The loss is linear on the cells cut by w = 0, u = 0, N(1) = 1 and N(−1) = −1; the grid has a point in each. Its
    one-sided derivative along (1, −1) is constant on a cell. Returns the grid points visited, those where the
    derivative is not negative (the only places for local minima), and the largest loss among these.
    """
    values = [Fraction(n, 2) for n in range(-6, 7)]
    flat, highest = 0, Fraction(0)
    for w in values:
        for u in values:
            loss, derivative = Fraction(0), Fraction(0)
            for x in (1, -1):  # the label is x itself
                output = max(w * x, 0) - max(u * x, 0)
                if x * output < 1:
                    loss += 1 - x * output
                    # Along (1, −1) ⟨w, x⟩ moves with x and ⟨u, x⟩ against it; at 0, ReLU follows upward moves only.
                    grows = (w * x > 0 or (w == 0 and x > 0)) + (u * x > 0 or (u == 0 and x < 0))
                    derivative -= grows
            if derivative >= 0:
                flat, highest = flat + 1, max(highest, loss / 2)
    return len(values) ** 2, flat, highest


def _all(results: Sequence[bool | None]) -> bool | None:
    return False if False in results else None if None in results or not results else True


def _refutation(results: Sequence[bool | None], sets: Sequence[PointSet], what: str) -> str:
    refuted = [points for result, points in zip(results, sets, strict=True) if result is False]
    if not refuted:
        return ""
    smallest = min(refuted, key=lambda points: len(points.labels))
    points = ", ".join(f"({x.tolist()}, {y:+g})" for x, y in zip(smallest.inputs, smallest.labels, strict=True))
    return f"No {what} on {len(refuted)} of {len(sets)} sets, the smallest being S = {{{points}}}."


def _describe(sets: Sequence[PointSet]) -> dict:
    return {
        "sets": len(sets),
        "samples": sorted({len(points.labels) for points in sets}),
        "dims": sorted({points.inputs.shape[1] for points in sets}),
    }


def _pair() -> PointSet:
    """S = {(e_1, +1), (−e_1, −1)}: every coordinate is an integer, so nothing is rounded."""
    return PointSet(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, -1.0]), np.array([1.0, 0.0]))


def _nearly_antipodal(gap: float) -> PointSet:
    return PointSet(np.array([[0.5, 0.0], [-0.5, gap]]), np.array([1.0, -1.0]), np.array([2.0, 0.0]))


def _sets_setting(scale: Scale, seed: int) -> list[PointSet]:
    """General sets, sets that are almost direction-antipodal, and sets that are."""
    draw = np.random.default_rng([seed, 71])
    repeats = 2 if scale is Scale.QUICK else 20
    shapes = [(n, dim) for n in (1, 2, 20, 51) for dim in (2, 5, 10)] * repeats
    general = [separable_set(draw, n, dim) for n, dim in shapes]
    antipodal = [antipodal_set(draw, pairs, dim) for pairs in (1, 3, 10) for dim in (1, 2, 5)]
    return [*general, _nearly_antipodal(1e-4), _nearly_antipodal(1e-7), _pair(), *antipodal]


def _minima_setting(scale: Scale, seed: int) -> list[tuple[PointSet, int]]:
    return [(points, 1 + index % 4) for index, points in enumerate(_sets_setting(scale, seed))]


def _pair_setting(scale: Scale, seed: int) -> list[PointSet]:
    return [_pair()]


def _pair_minima_setting(scale: Scale, seed: int) -> list[tuple[PointSet, int]]:
    return [(_pair(), 1), (_pair(), 3)]


def _general_problems(scale: Scale, seed: int) -> list[tuple[PointSet, np.ndarray]]:
    draw = np.random.default_rng([seed, 72])
    return [
        _problem(draw, separable_set(draw, int(draw.integers(1, 9)), int(draw.integers(1, 4))), 2)
        for _ in range(300 if scale is Scale.QUICK else 3000)
    ]


def _antipodal_problems(scale: Scale, seed: int) -> list[tuple[PointSet, np.ndarray]]:
    draw = np.random.default_rng([seed, 73])
    count = 400 if scale is Scale.QUICK else 3000
    sets = [antipodal_set(draw, 1 + index % 3, int(draw.integers(1, 4))) for index in range(count)]
    return [_problem(draw, points, 3) for points in sets]


def _problem(draw: np.random.Generator, points: PointSet, most: int) -> tuple[PointSet, np.ndarray]:
    half = int(draw.integers(1, most + 1))
    return points, draw.normal(size=(2 * half, points.inputs.shape[1]))


lemma_11 = Claim(
    id="brutzkus2018.lemma_11",
    kind=Kind.STEP,
    statement=(
        "For every finite separable S there are ŵ and a > 0 with |⟨ŵ, x⟩| > a on S and #{x : ⟨ŵ, x⟩ < 0} ≥ |S|/2. "
        "The inequality can be made strict iff S is not direction-antipodal, that is iff some line through 0 carries "
        "unequally many points of S on its two rays."
    ),
    where="Lemma 11, Section 9.3.1, with the exception it needs",
    judge=check_lemma_11,
    draws=_sets_setting,
)

lemma_11_as_printed = Claim(
    id="brutzkus2018.lemma_11_as_printed",
    kind=Kind.STEP,
    statement=(
        "For every finite separable S there are ŵ and a > 0 with |⟨ŵ, x⟩| > a on S and #{x : ⟨ŵ, x⟩ < 0} > |S|/2. "
        "Counterexample: S = {(e_1, +1), (−e_1, −1)}. Every ŵ with ⟨ŵ, e_1⟩ ≠ 0 has exactly one of the two points "
        "behind it, and so has −ŵ."
    ),
    where="Lemma 11, Section 9.3.1",
    judge=functools.partial(check_lemma_11, always_strict=True),
    draws=_pair_setting,
    expected=Verdict.VIOLATED,
)

theorem_8 = Claim(
    id="brutzkus2018.theorem_8",
    kind=Kind.MAIN,
    statement=(
        "ReLU with ±1 output weights: for every finite separable S there is a local minimum with L_S(W) ≥ ½, at which "
        "every neuron is off on half of the points or more. L_S(W) > ½ can be had iff S is not direction-antipodal, "
        "that is iff some line through 0 carries unequally many points of S on its two rays."
    ),
    where="Theorem 8, Section 7.1, with the exception it needs",
    judge=check_theorem_8,
    draws=_minima_setting,
)

theorem_8_as_printed = Claim(
    id="brutzkus2018.theorem_8_as_printed",
    kind=Kind.MAIN,
    statement=(
        "ReLU with ±1 output weights: for every finite separable S there is a local minimum with L_S(W) > ½. "
        "Counterexample: S = {(e_1, +1), (−e_1, −1)}. At a local minimum a point with yN < 1 has all neurons off, and "
        "the two points cannot both: every local minimum has loss 0 or exactly ½."
    ),
    where="Theorem 8, Section 7.1",
    judge=functools.partial(check_theorem_8, always_strict=True),
    draws=_pair_minima_setting,
    expected=Verdict.VIOLATED,
)

relu_local_minimum_level = Claim(
    id="brutzkus2018.relu_local_minimum_level",
    kind=Kind.STEP,
    statement=(
        "Every local minimum of the ReLU loss on a separable S has L_S = j/n, where the j points with yN(x) < 1 have "
        "every neuron off (N = 0, loss exactly 1). Measured where gradient descent ends with gradient exactly 0."
    ),
    where="Section 7.1 (derived: the levels of the local minima of Theorem 8)",
    judge=check_relu_local_minimum_level,
    draws=_general_problems,
)

theorem_8_tight = Claim(
    id="brutzkus2018.theorem_8_tight",
    kind=Kind.STEP,
    statement=(
        "On every direction-antipodal separable S (each line through 0 carries as many points on one ray as on the "
        "other) all local minima of the ReLU loss have L_S ≤ ½, and ½ is attained; for S = {(x, +1), (−x, −1)} they "
        "have L_S = 0 or ½. So Theorem 8 needs its exception."
    ),
    where="Section 7.1 (derived: where Theorem 8 is tight)",
    judge=check_theorem_8_tight,
    draws=_antipodal_problems,
)
