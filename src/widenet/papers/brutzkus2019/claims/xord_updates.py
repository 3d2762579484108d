"""Gradient descent on diverse points: one pair is enough, the update in closed form, and what the two outputs share.

Section 6 trains on one pair (x⁺, x⁻) without loss of generality (`observation_one_pair`), Eqs. 7 and 8 are
`equation_7_8`, footnote 10 `footnote_10`, the split of the outputs before Section E.0.1 `observation_decomposition`,
and footnote 3 (XOR is XORD with one patch) `footnote_3`. All are compared with automatic differentiation.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from widenet.claims.base import Evidence, Hypothesis, Kind, Runs, Silence, claim, less_than, more_than
from widenet.claims.sides import Fact, Sense, Sides, evidence
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import IDENTITY, ROUNDING, STEP
from widenet.papers.brutzkus2019.claims.diverse_data import data_hypotheses, fixed_by_regime, points_of
from widenet.papers.brutzkus2019.runs.one_patch import OnePatch, one_patch
from widenet.papers.brutzkus2019.runs.xord_descent import MAX_STEPS, DescentSetting, XordDescent, descents

Indicator = Callable[[np.ndarray], np.ndarray]
"""Whether the negative point is active, from N(x⁻)."""
MOST_RUNS = 20
"""Networks on a reader's data: these are identities, and more runs show no more."""


@claim(
    "brutzkus2019.observation_one_pair",
    Kind.IDENTITY,
    "Section 6, before Section 6.1; Appendix E",
    reads=descents,
)
def observation_one_pair(runs: Sequence[XordDescent]) -> Evidence:
    """XORD: on any training set of diverse points, gradient descent takes the same trajectory as on one diverse
    positive and one diverse negative point.

    Where no training set has a third point, a run is compared with itself: that decides nothing.
    """
    return evidence(
        {
            "the same weights at every t": Sides(
                _joined([each.pair_distance for each in runs]),
                0.0,
                Sense.EQUAL,
                room=ROUNDING,
                scored=_joined([np.full(each.pair_distance.shape, each.n_distinct > 2) for each in runs]),
                quantity=_counted("largest difference of a weight, at any step"),
            )
        },
        _nearest(runs),
        runs=_tried(runs),
        details=_details(runs),
    )


def below_margin(negative_outputs: np.ndarray) -> np.ndarray:
    """−N(x⁻) < 1. (Eqs. 7 and 8 print N(x⁻) < 1, which would be true for good.)"""
    return -negative_outputs < 1


@claim(
    "brutzkus2019.equation_7_8",
    Kind.IDENTITY,
    "Eqs. 7 and 8, Appendix E (1[N(x⁻) < 1] is printed where 1[−N(x⁻) < 1] is meant)",
    reads=descents,
)
def equation_7_8(runs: Sequence[XordDescent], *, is_active: Indicator = below_margin) -> Evidence:
    """XORD, diverse points: a filter in W_t⁺(i) ∩ W_t⁻(l) moves by η·p_i·1[N(x⁺) < γ] − η·p_l·1[−N(x⁻) < 1], and a
    filter in U_t⁺(i) ∩ U_t⁻(l) by minus that.

    Every step is compared with the step of automatic differentiation, those after the last update among them. (A step
    before it is rounded into a weight differs from the difference of weights by less than 1e-15.)
    """
    residuals, phases, still = [], {"both": 0, "only_negative": 0, "only_positive": 0, "none": 0}, []
    for each in runs:
        first, second = each.positive_output < each.margin, is_active(each.negative_output)
        time, run = np.indices(first.shape)
        residuals.append(each.residual[time, run, first.astype(int), second.astype(int)].reshape(-1, 2))
        phases["both"] += int((first & second).sum())
        phases["only_negative"] += int((~first & second).sum())
        phases["only_positive"] += int((first & ~second).sum())
        phases["none"] += int((~first & ~second).sum())
        still.append(each.unfinished)
    residual = np.concatenate(residuals)
    unfinished = np.concatenate(still)
    quantity = _counted("largest difference of an update, at any step")
    return evidence(
        {
            "the w's": Sides(residual[:, 0], 0.0, Sense.EQUAL, room=ROUNDING, quantity=quantity),
            "the u's": Sides(residual[:, 1], 0.0, Sense.EQUAL, room=ROUNDING, quantity=quantity),
            "seen until after the last update": Fact(~unfinished, undecided=unfinished),
        },
        _nearest(runs),
        runs=_tried(runs, unfinished=int(unfinished.sum())),
        details=_details(runs) | {"last_update": [each.last_update for each in runs], "steps": phases},
    )


@claim("brutzkus2019.footnote_10", Kind.STEP, "Footnote 10, Appendix E", reads=descents)
def footnote_10(runs: Sequence[XordDescent]) -> Evidence:
    """XORD, diverse points: with probability 1 no filter ever sits at the kink of σ; ⟨w_t, p⟩ = 0 needs a ⟨w_0, p⟩ that
    is a multiple of 2η.

    Random starts are off these multiples, and then a fit can be 0 only if a step is no multiple of 2η: both are looked
    at.
    """
    distance = np.concatenate([each.lattice_distance for each in runs])
    return evidence(
        {
            "no fit is ever 0": Sides(
                _joined([each.smallest_fit for each in runs]),
                0.0,
                Sense.AT_LEAST,
                strict=True,
                quantity="smallest |⟨w_t, p_l⟩| over filters and times, in units of η",
            ),
            "fits change by multiples of 2η": Sides(
                _joined([each.off_lattice for each in runs]),
                0.0,
                Sense.EQUAL,
                room=STEP,
                quantity="largest distance of ⟨w_t − w_0, p_l⟩ from a multiple of 2η, in units of 2η",
            ),
        },
        [
            more_than(
                "off_lattice",
                "smallest distance of an initial fit from a multiple of 2η, in units of η",
                float(distance.min()),
                0,
            ),
            *_nearest(runs),
        ],
        runs=_tried(runs),
        details=_details(runs),
        note="Steps change a fit by 2η, so multiples of 2η matter; the paper says multiples of η.",
    )


@claim("brutzkus2019.observation_decomposition", Kind.IDENTITY, "Appendix E, before Section E.0.1", reads=descents)
def observation_decomposition(runs: Sequence[XordDescent]) -> Evidence:
    """XORD, diverse points: R_t⁺ = R_t⁻, so N(x⁺) − N(x⁻) = S_t⁺ − P_t⁺ + P_t⁻ − S_t⁻ for all t.

    R is compared on all points, the identity on x⁺ and x⁻, whose six sums are taken one by one.
    """
    differences = [each.positive_output - each.negative_output for each in runs]
    sums = [each.s_plus - each.p_plus + each.p_minus - each.s_minus for each in runs]
    return evidence(
        {
            "R is the same on all points": Sides(
                _joined([each.rest_spread for each in runs]),
                0.0,
                Sense.EQUAL,
                room=IDENTITY,
                quantity=f"largest difference of R between two points, at any t; up to {IDENTITY:g} counts as 0",
            ),
            "N(x⁺) − N(x⁻) = S⁺ − P⁺ + P⁻ − S⁻": Sides(_joined(differences), _joined(sums), Sense.EQUAL, room=IDENTITY),
        },
        _nearest(runs),
        runs=_tried(runs),
        details=_details(runs),
    )


@observation_one_pair.speaks
@equation_7_8.speaks
@footnote_10.speaks
@observation_decomposition.speaks
def descents_on(specimen: Specimen) -> list[DescentSetting] | Silence:
    """Networks of the reader's width and γ on the reader's points; the step is that of small networks, c_η = 1/41."""
    points, choices = points_of(specimen), specimen.choices
    if isinstance(points, Silence):
        return points
    default = DescentSetting()
    return [
        DescentSetting(
            half_width=choices.n_neurons // 2,
            required_margin=choices.required_margin,
            n_runs=min(choices.n_runs or default.n_runs, MOST_RUNS),
            seed=choices.seed,
            own_data=specimen.digest,
            diverse_only=choices.diverse_only,
        )
    ]


@observation_one_pair.fixes
@equation_7_8.fixes
@footnote_10.fixes
@observation_decomposition.fixes
def fixed_for_descents(specimen: Specimen) -> dict[str, str]:
    """The width is the user's; step, start and budget are those of small networks."""
    choices = specimen.choices
    fixed = fixed_by_regime(specimen, choices.n_neurons // 2, DescentSetting().step_constant)
    fixed["max_updates"] = f"runs have up to {MAX_STEPS} steps"
    if (choices.n_runs or 0) > MOST_RUNS:
        fixed["n_runs"] = f"{MOST_RUNS} networks are trained"
    return fixed


@claim("brutzkus2019.footnote_3", Kind.IDENTITY, "Footnote 3, Section 3 (the factor is added)", reads=one_patch)
def footnote_3(runs: Sequence[OnePatch], *, loss_ratio: float = 2.0) -> Evidence:
    """XOR is XORD with d = 1: the same network and f*, and on all four points with γ = 1 half the loss, so twice the
    step size gives the same trajectory.

    Its loss is half of XOR's: two means over two points for a sum over four.
    """
    unfinished = np.concatenate([each.unfinished for each in runs])
    per_filter = [np.abs(each.xor_outputs - each.xord_outputs) / (2 * each.half_width) for each in runs]
    weights = [np.abs(each.xor_weights - each.xord_weights) for each in runs]
    labels = [each.xor_labels != each.xord_labels for each in runs]
    losses = _joined([each.xor_loss for each in runs])
    return evidence(
        {
            "the same weights at every t": Sides(
                _joined(weights),
                0.0,
                Sense.EQUAL,
                room=ROUNDING,
                quantity=_counted("largest difference of a weight, at any step"),
            ),
            "the same outputs at every t": Sides(
                _joined(per_filter),
                0.0,
                Sense.EQUAL,
                room=ROUNDING,
                quantity=_counted("largest difference of an output per filter, at any step"),
            ),
            "half the loss at every t": Sides(
                loss_ratio * _joined([each.xord_loss for each in runs]), losses, Sense.EQUAL, room=IDENTITY
            ),
            "the same labels": Sides(int(np.sum(labels)), 0, quantity="points whose XOR label is not f*(x) for d = 1"),
            "seen until nothing moves": Fact(~unfinished, undecided=unfinished),
        },
        [less_than("step_constant", "largest c_η", max(each.step_constant for each in runs), 0.5)],
        runs=Runs(tried=sum(each.n_runs for each in runs), unfinished=int(unfinished.sum())),
        details={
            "half_widths": [each.half_width for each in runs],
            "step_ratio": [each.step_ratio for each in runs],
        },
    )


def _joined(arrays: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([array.ravel() for array in arrays])


def _counted(quantity: str) -> str:
    return f"{quantity}; up to {ROUNDING:g} counts as 0"


def _nearest(runs: Sequence[XordDescent]) -> list[Hypothesis]:
    """The assumptions on the training set, each at the setting nearest to breaking it."""
    measured = [data_hypotheses(each.training) for each in runs]
    return [min(same, key=lambda h: h.slack or 0.0) for same in zip(*measured, strict=True)]


def _tried(runs: Sequence[XordDescent], unfinished: int = 0) -> Runs:
    return Runs(tried=sum(each.n_runs for each in runs), unfinished=unfinished)


def _details(runs: Sequence[XordDescent]) -> dict[str, Any]:
    return {
        "points": [each.n_points for each in runs],
        "patches": [each.n_patches for each in runs],
        "half_width": [each.half_width for each in runs],
        "step_size": [each.step_size for each in runs],
        "margin": [each.margin for each in runs],
    }
