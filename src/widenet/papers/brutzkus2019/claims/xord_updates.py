"""Gradient descent on diverse points: one pair is enough, the update in closed form, and what the two outputs share.

Section 6 trains on one pair (x⁺, x⁻) without loss of generality (`observation_one_pair`), Eqs. 7 and 8 are
`equation_7_8`, footnote 10 `footnote_10`, the split of the outputs before Section E.0.1 `observation_decomposition`,
and footnote 3 (XOR is XORD with one patch) `footnote_3`. All are compared with automatic differentiation.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from widenet.claims.base import Claim, Evidence, Hypothesis, Kind, Runs, at_most, less_than, more_than
from widenet.claims.legacy import Evidence_, decide
from widenet.data.xord import PATTERNS
from widenet.diagnostics.exploration import (
    XOR_LABELS,
    XOR_POINTS,
    cones,
    negative_sides,
    on_positive_axis,
    plus_and_minus,
)
from widenet.papers.brutzkus2019.runs.training_set import from_data
from widenet.papers.brutzkus2019.runs.xor import XorStart, draw_start, trace
from widenet.papers.brutzkus2019.runs.xord_descent import XordRuns, descend, diverse_points, outputs, responses, runs_on
from widenet.types import Dataset, Progress, Scale, silent

SAME = 1e-12
"""Two weights that differ by no more are the same; steps are of size 1e-3."""
SAME_SUM = 1e-10
AFTER = 20
"""How many steps after the last update the closed form is followed."""
Indicator = Callable[[np.ndarray], np.ndarray]
"""Whether the negative point is active, from N(x⁻)."""
Filters = Float[np.ndarray, "*batch channel 2"]


def check_observation_one_pair(
    settings: Sequence[XordRuns], progress: Progress = silent, *, steps: int = 500
) -> Evidence:
    """The weights at every t on all points, against those on the first positive and the first negative point.

    Where no training set has a third point, a run is compared with itself: that is refused.
    """
    if one_class(settings):
        return _undefined(settings)
    differences, most = [], max(len(np.unique(runs.data.inputs, axis=0)) for runs in settings)
    for number, runs in enumerate(settings):
        pair = np.stack([runs.one_of(1.0), runs.one_of(-1.0)])
        single = replace(runs, data=Dataset(jnp.asarray(pair), jnp.asarray([1.0, -1.0])))
        differences.append(float(np.abs(descend(runs, steps) - descend(single, steps)).max()))
        progress((number + 1) / len(settings), f"{runs.data.n_samples} points")
    return _evidence(settings, differences, SAME, "largest difference of a weight, at any step", is_trivial=most <= 2)


def closed_form(filters: Filters, runs: XordRuns, is_active: Indicator) -> Filters:
    """The update of Eqs. 7 and 8, from the cones and sides of the filters and from N on one pair of points."""
    plus_active = outputs(filters, runs.one_of(1.0)) < runs.margin
    minus_active = is_active(outputs(filters, runs.one_of(-1.0)))
    first, second = cones(filters) @ PATTERNS, negative_sides(filters) @ PATTERNS[1::2]
    moves = first * plus_active[..., None, None] - second * minus_active[..., None, None]
    plus, minus = plus_and_minus(moves)
    return runs.step_size * np.concatenate([plus, -minus], axis=-2)


def below_margin(negative_outputs: np.ndarray) -> np.ndarray:
    """−N(x⁻) < 1. (Eqs. 7 and 8 print N(x⁻) < 1, which would be true for good.)"""
    return -negative_outputs < 1


def check_equation_7_8(
    settings: Sequence[XordRuns], progress: Progress = silent, *, is_active: Indicator = below_margin
) -> Evidence:
    """Every step from t = 0 to 20 after the last update, against the step of automatic differentiation."""
    if one_class(settings):
        return _undefined(settings)
    differences, unfinished, steps = [], 0, []
    for number, runs in enumerate(settings):
        path = descend(runs)
        moving = np.any(path[1:] != path[:-1], axis=(2, 3))
        unfinished += int(moving[-1].sum())
        last = int(np.flatnonzero(moving.any(axis=1)).max(initial=0)) + 1
        steps.append(last)
        path = path[: last + AFTER + 1]
        # The step that is taken, before it is rounded into a weight, differs from the difference by less than 1e-15.
        found = path[1:] - path[:-1]
        differences.append(float(np.abs(found - closed_form(path[:-1], runs, is_active)).max()))
        progress((number + 1) / len(settings), f"{last} steps")
    return _evidence(
        settings,
        differences,
        SAME,
        "largest difference of an update, at any step",
        unfinished=unfinished,
        config={"last_update": steps},
    )


def check_footnote_10(settings: Sequence[XordRuns], progress: Progress = silent) -> Evidence:
    """No fit ⟨w_t, p_l⟩ is ever 0; it could be only if a fit at the start is a multiple of 2η."""
    smallest, distances = [], []
    for number, runs in enumerate(settings):
        start = runs.filters @ PATTERNS[:2].T / (2 * runs.step_size)
        distances.append(float(np.abs(start - np.round(start)).min()) * 2)
        smallest.append(float(np.abs(descend(runs) @ PATTERNS[:2].T).min()) / runs.step_size)
        progress((number + 1) / len(settings), "runs")
    conditions = [
        more_than(
            "smallest_distance_of_an_initial_fit",
            "smallest distance of an initial fit from a multiple of 2η, in units of η",
            min(distances),
            0,
        ),
        *_nearest(settings),
    ]
    conclusion = min(smallest) > 0
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=Runs(tried=sum(len(runs.filters) for runs in settings)),
        conclusion=conclusion,
        quantity="smallest |⟨w_t, p_l⟩| over filters and times, in units of η",
        promised=0.0,
        measured=min(smallest),
        config=_config(settings),
        note="Steps change a fit by 2η, so multiples of 2η matter; the paper says multiples of η.",
    )


def check_observation_decomposition(settings: Sequence[XordRuns], progress: Progress = silent) -> Evidence:
    """At every t: R is the same on all points, and N(x⁺) − N(x⁻) = S⁺ − P⁺ + P⁻ − S⁻."""
    if one_class(settings):
        return _undefined(settings)
    differences = []
    for number, runs in enumerate(settings):
        path = descend(runs)
        half = runs.half_width
        is_13 = on_positive_axis(path)
        points = np.asarray(runs.data.inputs)
        parts, values = [], []
        for x in points:
            answers = responses(path, x) * np.repeat([1.0, -1.0], half)
            parts.append([np.where(mask, answers, 0).sum(axis=2) for mask in (is_13, ~is_13)])
            values.append(outputs(path, x))
        shared = np.array([part[1] for part in parts])
        own, whole = np.array([part[0] for part in parts]), np.array(values)
        # S⁺ − P⁺ is the first part on a positive point, S⁻ − P⁻ on a negative one.
        positive = np.asarray(runs.data.labels) > 0
        gaps = (whole[positive][:, None] - whole[~positive]) - (own[positive][:, None] - own[~positive])
        differences.append(float(np.max([np.ptp(shared, axis=0).max(), np.abs(gaps).max()])))
        progress((number + 1) / len(settings), f"{len(points)} points")
    return _evidence(settings, differences, SAME_SUM, "largest deviation from R⁺ = R⁻ and from the identity, at any t")


def check_footnote_3(starts: Sequence[XorStart], progress: Progress = silent, *, step_ratio: float = 2.0) -> Evidence:
    """XORD with one patch, all four points and γ = 1 takes XOR's trajectory with twice the step.

    Its loss is half of XOR's, two means over two points for a sum over four. A control takes the same step.
    """
    data = Dataset(jnp.asarray(XOR_POINTS), jnp.asarray(XOR_LABELS))
    known = from_data(data)
    differences, unfinished = [], 0
    for number, start in enumerate(starts):
        run = trace(start)
        unfinished += int((~run.ended).sum())
        xord = XordRuns(data, start.filters, step_ratio * start.step_size, 1.0)
        path = descend(xord, len(run.margins) - 1)
        margins = np.stack([y * outputs(path, x) for x, y in zip(XOR_POINTS, XOR_LABELS, strict=True)], axis=-1)
        end = (run.end @ XOR_POINTS[:2]).reshape(path[-1].shape) * (start.step_size / 2)
        outs = np.abs(margins - run.margins * start.step_size).max()
        differences.append(float(np.max([np.abs(path[-1] - end).max(), outs / (2 * start.half_width)])))
        progress((number + 1) / len(starts), f"k = {start.half_width}")
    conditions = (
        at_most(
            "points_whose_xor_label_is_not",
            "points whose XOR label is not f*(x) for d = 1",
            known.mislabelled + known.not_signs,
            0,
        ),
        less_than("largest_c_step_size", "largest c_η", max(start.step_constant for start in starts), 0.5),
    )
    conclusion = False if not np.max(differences) <= SAME else None if unfinished else True
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=sum(start.n_runs for start in starts), unfinished=unfinished),
        conclusion=conclusion,
        quantity=f"largest difference of a weight at the end and of an output per filter; up to {SAME:g} counts as 0",
        promised=0.0,
        measured=float(np.max(differences)),
        config={"half_widths": [start.half_width for start in starts], "step_ratio": step_ratio},
    )


def one_class(settings: Sequence[XordRuns]) -> bool:
    """Whether some training set lacks a label, +1 or −1, so that there is no pair of points to speak about."""
    return any(not np.isin((1.0, -1.0), runs.data.labels).all() for runs in settings)


def _undefined(settings: Sequence[XordRuns]) -> Evidence:
    conditions = _nearest(settings)
    return Evidence_(
        verdict=decide(conditions, None), hypotheses=tuple(conditions), runs=Runs(tried=0), conclusion=None
    )


def _nearest(settings: Sequence[XordRuns]) -> list[Hypothesis]:
    """The assumptions on the training set, each at the setting nearest to breaking it."""
    measured = [runs.hypotheses() for runs in settings]
    return [min(each, key=lambda h: h.slack or 0.0) for each in zip(*measured, strict=True)]


def _config(settings: Sequence[XordRuns]) -> dict:
    return {
        "points": [runs.data.n_samples for runs in settings],
        "patches": [runs.data.dim // 2 for runs in settings],
        "half_width": [runs.half_width for runs in settings],
        "step_size": [runs.step_size for runs in settings],
        "margin": [runs.margin for runs in settings],
    }


def _evidence(
    settings: Sequence[XordRuns],
    differences: Sequence[float],
    tolerance: float,
    quantity: str,
    *,
    unfinished: int = 0,
    is_trivial: bool = False,
    config: dict | None = None,
) -> Evidence:
    conditions = _nearest(settings)
    worst = float(np.max(differences))
    # Written so that NaN is not small.
    conclusion = False if not worst <= tolerance else None if unfinished or is_trivial else True
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=Runs(tried=sum(len(runs.filters) for runs in settings), unfinished=unfinished),
        conclusion=conclusion,
        quantity=f"{quantity}; up to {tolerance:g} counts as 0",
        promised=0.0,
        measured=worst,
        vacuous=is_trivial,
        config=_config(settings) | (config or {}),
    )


def _settings(scale: Scale, seed: int) -> list[XordRuns]:
    n_sets = 1 if scale is Scale.QUICK else 10
    return [runs_on(diverse_points(seed + number), seed=seed + number) for number in range(n_sets)]


def _xor_starts(scale: Scale, seed: int) -> list[XorStart]:
    n_runs = 20 if scale is Scale.QUICK else 200
    return [draw_start(k, 0.1, n_runs, seed) for k in (2, 17)]


observation_one_pair = Claim(
    id="brutzkus2019.observation_one_pair",
    kind=Kind.IDENTITY,
    statement=(
        "XORD: on any training set of diverse points, gradient descent takes the same trajectory as on one diverse "
        "positive and one diverse negative point."
    ),
    where="Section 6, before Section 6.1; Appendix E",
    judge=check_observation_one_pair,
    draws=_settings,
)

equation_7_8 = Claim(
    id="brutzkus2019.equation_7_8",
    kind=Kind.IDENTITY,
    statement=(
        "XORD, diverse points: a filter in W_t⁺(i) ∩ W_t⁻(l) moves by η·p_i·1[N(x⁺) < γ] − η·p_l·1[−N(x⁻) < 1], and a "
        "filter in U_t⁺(i) ∩ U_t⁻(l) by minus that."
    ),
    where="Eqs. 7 and 8, Appendix E (1[N(x⁻) < 1] is printed where 1[−N(x⁻) < 1] is meant)",
    judge=check_equation_7_8,
    draws=_settings,
)

footnote_10 = Claim(
    id="brutzkus2019.footnote_10",
    kind=Kind.STEP,
    statement=(
        "XORD, diverse points: with probability 1 no filter ever sits at the kink of σ; ⟨w_t, p⟩ = 0 needs a ⟨w_0, p⟩ "
        "that is a multiple of 2η."
    ),
    where="Footnote 10, Appendix E",
    judge=check_footnote_10,
    draws=_settings,
)

observation_decomposition = Claim(
    id="brutzkus2019.observation_decomposition",
    kind=Kind.IDENTITY,
    statement="XORD, diverse points: R_t⁺ = R_t⁻, so N(x⁺) − N(x⁻) = S_t⁺ − P_t⁺ + P_t⁻ − S_t⁻ for all t.",
    where="Appendix E, before Section E.0.1",
    judge=check_observation_decomposition,
    draws=_settings,
)

footnote_3 = Claim(
    id="brutzkus2019.footnote_3",
    kind=Kind.IDENTITY,
    statement=(
        "XOR is XORD with d = 1: the same network and f*, and on all four points with γ = 1 half the loss, so twice "
        "the step size gives the same trajectory."
    ),
    where="Footnote 3, Section 3 (the factor is added)",
    judge=check_footnote_3,
    draws=_xor_starts,
)

CLAIMS = (observation_one_pair, equation_7_8, footnote_10, observation_decomposition, footnote_3)
