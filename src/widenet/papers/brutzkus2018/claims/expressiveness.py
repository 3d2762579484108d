"""Section 6.2: a wide enough network fits any labels, so zero training loss alone promises nothing about the test."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from widenet.claims.base import (
    Evidence,
    Hypothesis,
    Kind,
    Runs,
    Silence,
    at_least,
    claim,
    less_than,
    more_than,
    separable,
)
from widenet.claims.meaning import Topic
from widenet.claims.sides import Fact, Sense, Sides, evidence
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import FITTED
from widenet.papers.brutzkus2018.claims.specimens import silence_over_labels, silence_over_zero
from widenet.papers.brutzkus2018.formulas import bump_half_width, printed_half_width, swept_half_width
from widenet.papers.brutzkus2018.runs.bad_global_minimum import SOLUTIONS, BadMinimum, bad_minimum
from widenet.papers.brutzkus2018.runs.memories import (
    Construction,
    Memories,
    MemorySetting,
    Remembered,
    bump_settings,
    memories,
    sweep_settings,
)
from widenet.papers.brutzkus2018.runs.point_sets import SAME_RAY

MOST_POINTS = 400
"""Theorem 7 solves for n weights per labelling; beyond this many points of a reader it says nothing."""
GENERALIZES = 0.5
"""A test error up to this is better than guessing."""

HalfWidth = Callable[[int, int], int | float]
"""The k that a statement asks for, from n and d."""


@claim("brutzkus2018.theorem_7", Kind.MAIN, "Theorem 7, Section 6.2", reads=memories)
def theorem_7(runs: Sequence[Memories], *, needed: HalfWidth = printed_half_width) -> Evidence:
    """Leaky ReLU with output weights ±v: if k ≥ 2⌈n/(2d − 2)⌉, then for all labels y ∈ {−1, +1}^n and almost every
    X there are weights with N(x_i) = y_i for every i.

    Not finding weights is no proof that there are none. Two points on one ray are: N(cx) = cN(x) for c > 0.
    """
    cases = _cases(runs)
    lost = [(case.errors > FITTED) & (not case.is_contradictory) for case in cases]
    return evidence(
        {"N(x) = y for every labelling": _fits(cases, lost), "output weights ±v with one v > 0": _one_weight(cases)},
        [_wide_enough(cases, needed, "2⌈n/(2d − 2)⌉"), *_generic(cases)],
        details=_details(cases, [{"gates": case.gates} for case in cases]),
    )


@theorem_7.speaks
def theorem_7_on(specimen: Specimen) -> list[MemorySetting] | Silence:
    """The reader's own labels, at exactly the printed k."""
    n_samples, dim = specimen.inputs.shape
    if n_samples > MOST_POINTS:
        return Silence(f"It solves a linear system in all points; {n_samples} are more than {MOST_POINTS}.")
    if dim < 2:
        return Silence("It is about two dimensions or more.")
    reason = silence_over_labels(specimen) or silence_over_zero(specimen)
    if reason is not None:
        return reason
    return [MemorySetting(construction=Construction.SEARCH, slope=specimen.choices.slope, own_data=specimen.digest)]


@claim(
    "brutzkus2018.theorem_7_sweep",
    Kind.CONSTRUCTION,
    "Section 6.2 (derived: a proof of Theorem 7 with fewer neurons)",
    reads=memories.at(sweep_settings),
)
def theorem_7_sweep(
    runs: Sequence[Memories], *, needed: HalfWidth = swept_half_width, printed: HalfWidth = printed_half_width
) -> Evidence:
    """k = ⌈n/d⌉ suffices in Theorem 7, for every slope in (0, 1): gates that turn through a plane and stop after
    every d points give a linear system of rank n. As ⌈n/d⌉ ≤ 2⌈n/(2d − 2)⌉, this proves Theorem 7.
    """
    cases = _cases(runs)
    # Where the gates had to be pushed out far, the outputs are differences of large numbers.
    lost = [(case.errors > FITTED) & (case.errors <= case.rounding) for case in cases]
    ranks = np.concatenate([case.ranks for case in cases])
    wanted = np.concatenate([np.full(len(case.ranks), case.n_samples) for case in cases])
    swept = [swept_half_width(case.n_samples, case.dim) for case in cases]
    return evidence(
        {
            "N(x) = y for every labelling": _fits(cases, lost),
            "rank n in every plane": Sides(ranks, wanted, Sense.EQUAL, quantity="rank of the linear system"),
            "⌈n/d⌉ ≤ 2⌈n/(2d − 2)⌉": Sides(swept, [_width(case, printed) for case in cases]),
        },
        [_wide_enough(cases, needed, "⌈n/d⌉"), *_generic(cases)],
        details=_details(cases, [{"smallest_rank": int(c.ranks.min()), "smallest_scale": c.scale} for c in cases]),
    )


@claim(
    "brutzkus2018.theorem_7_bumps",
    Kind.CONSTRUCTION,
    "Proof of Theorem 7, Section 9.2.2 (the cited lemma re-derived)",
    reads=memories.at(bump_settings),
)
def theorem_7_bumps(runs: Sequence[Memories], *, printed: HalfWidth = printed_half_width) -> Evidence:
    """The route of the proof, a network that is 1 on one label and 0 on the other for each label, fits every
    labelling with hyperplane bumps, with k = 2(⌈n₊/(d − 1)⌉ + ⌈n₋/(d − 1)⌉), about twice 2⌈n/(2d − 2)⌉.
    """
    cases = _cases(runs)
    used = np.array([case.half_width for case in cases])
    counted = np.array([_width(case, _bumps(case.labels)) for case in cases])
    least = np.array([_width(case, printed) for case in cases])
    return evidence(
        {
            "N(x) = y": _fits(cases, [np.zeros(1, bool)] * len(cases)),
            "k as counted": Sides(used, counted, Sense.EQUAL, quantity="half the number of neurons"),
            "k ≥ 2⌈n/(2d − 2)⌉": Sides(used, least, Sense.AT_LEAST),
        },
        _generic(cases),
        details=_details(cases, [{"counted": int(c), "printed": int(p)} for c, p in zip(counted, least, strict=True)]),
    )


@claim("brutzkus2018.section_6_2_bad_global", Kind.CONSTRUCTION, "Section 6.2, after Theorem 7", reads=bad_minimum)
def section_6_2_bad_global(runs: Sequence[BadMinimum], *, needed: HalfWidth = printed_half_width) -> Evidence:
    """With k ≥ 2⌈(n + n_test)/(2d − 2)⌉ the training loss has global minima (loss 0) with arbitrarily bad test
    error: here 100 %, on separable data where SGD from a random start also reaches loss 0 and generalizes.

    Weights that were not found, and training that was cut off, decide nothing.
    """
    built, _, trained = range(len(SOLUTIONS))
    found = np.concatenate([(run.fit_error <= FITTED).ravel() for run in runs])
    ended = np.concatenate([run.trained_to_the_end.ravel() for run in runs])
    losses, errors = (
        np.concatenate([getattr(run, name).reshape(len(SOLUTIONS), -1) for run in runs], axis=1)
        for name in ("train_loss", "test_error")
    )
    settings = [run.setting for run in runs]
    spare = min(min(each.half_widths) - needed(each.n_train + each.n_test, each.dim) for each in settings)
    return evidence(
        {
            "the built network is wrong on every test point": Sides(
                np.where(found, errors[built], np.nan),
                1.0,
                Sense.AT_LEAST,
                quantity="test error of a network with training loss 0",
            ),
            "the built network has training loss 0": Sides(np.where(found, losses[built], np.nan), 0.0),
            "SGD reaches training loss 0": Sides(np.where(ended, losses[trained], np.nan), 0.0),
            "SGD generalizes": Sides(
                np.where(ended, errors[trained], np.nan), GENERALIZES, quantity="test error of SGD"
            ),
        },
        [
            separable(margin for run in runs for margin in run.smallest_margin),
            at_least("width", "smallest k − 2⌈(n + n_test)/(2d − 2)⌉", spare, 0),
        ],
        runs=Runs(tried=len(ended), unfinished=int((~ended).sum())),
        details={
            "cases": [
                {
                    "train": each.n_train,
                    "test": each.n_test,
                    "dim": each.dim,
                    "half_widths": each.half_widths,
                    "data_sets": each.n_sets,
                    "slope": each.slope,
                }
                for each in settings
            ]
        },
        note=f"SGD from a random start on the same training points has test error {errors[trained].max():.3g} "
        f"or less, {errors[trained].mean():.3g} on average, at training loss {losses[trained].max():.3g}.",
    )


def _cases(runs: Sequence[Memories]) -> list[Remembered]:
    return [case for run in runs for case in run.cases]


def _fits(cases: Sequence[Remembered], lost: Sequence[np.ndarray]) -> Sides:
    """The largest |N(x) − y| of every labelling; NaN where it is lost."""
    errors = [np.where(undecided, np.nan, case.errors) for case, undecided in zip(cases, lost, strict=True)]
    return Sides(np.concatenate(errors), 0.0, Sense.EQUAL, room=FITTED, quantity="largest |N(x) − y|")


def _one_weight(cases: Sequence[Remembered]) -> Fact:
    """Output weights (+v, …, +v, −v, …, −v) with one v > 0."""
    signs = [np.repeat([1.0, -1.0], case.half_width) * case.output_weights for case in cases]
    return Fact([bool(sizes[0] > 0 and np.ptp(sizes) == 0) for sizes in signs])


def _wide_enough(cases: Sequence[Remembered], needed: HalfWidth, words: str) -> Hypothesis:
    spare = min(case.half_width - _width(case, needed) for case in cases)
    return at_least("width", f"smallest k − {words}", spare, 0)


def _width(case: Remembered, needed: HalfWidth) -> int | float:
    """The k that is needed; nothing is asked for in one dimension, where the hypothesis on d fails."""
    return needed(case.n_samples, case.dim) if case.dim > 1 else 0


def _bumps(labels: np.ndarray) -> HalfWidth:
    """The k that bumps need for these labels."""
    plus = int((labels == 1).sum())
    return lambda n_samples, dim: bump_half_width(plus, n_samples - plus, dim)


def _generic(cases: Sequence[Remembered]) -> list[Hypothesis]:
    """What the memorization results ask of points and slope, each at the case nearest to breaking it."""
    return [
        at_least("dimension", "smallest dimension d", min(case.dim for case in cases), 2),
        more_than(
            "distinct_rays",
            "no two points on one ray: smallest distance of directions",
            min(case.closest_directions for case in cases),
            SAME_RAY,
        ),
        more_than("slope_positive", "smallest Leaky slope α", min(case.slope for case in cases), 0),
        less_than("slope_below_one", "largest Leaky slope α", max(case.slope for case in cases), 1),
    ]


def _details(cases: Sequence[Remembered], others: Sequence[dict[str, Any]]) -> dict[str, Any]:
    rows = [
        {"samples": case.n_samples, "dim": case.dim, "half_width": case.half_width, "slope": case.slope}
        | other
        | {"largest_error": float(case.errors.max())}
        for case, other in zip(cases, others, strict=True)
    ]
    return {
        "labellings_per_case": cases[0].labels.shape[1],
        "largest_error": max(row["largest_error"] for row in rows),
        "cases": rows,
    }


theorem_7.means(
    Topic.POWER,
    "A network with enough neurons can learn any labels of these points by heart, even wrong ones, so a perfect fit "
    "alone proves nothing.",
)
