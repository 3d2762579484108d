"""Wide networks on diverse data: convergence (Proposition E.14), Lemma E.17, and Theorem 6.3 with its angle."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from widenet.claims.base import Evidence, Hypothesis, Kind, Silence, at_least, at_most, claim, more_than
from widenet.claims.meaning import Topic
from widenet.claims.sides import Sense, Sides, evidence
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.data.xord import PATTERNS
from widenet.diagnostics.exploration import cones, on_negative_axis, plus_and_minus
from widenet.papers.brutzkus2019.claims.diverse_data import fixed_by_regime, points_of, up_to
from widenet.papers.brutzkus2019.claims.rates import (
    Case,
    count_runs,
    event_failure,
    joined,
    nearest,
    rate_details,
    rate_note,
    rate_parts,
    shared_hypotheses,
)
from widenet.papers.brutzkus2019.formulas import (
    LARGEST_STEP,
    SMALLEST_MARGIN,
    SMALLEST_WIDTH,
    UNEXPLORED,
    c_value,
    cosine_limit,
    fewest_updates,
    recovery_failure,
    sharp_updates,
    steps_of_theorem_6_3,
    steps_to_zero_loss,
)
from widenet.papers.brutzkus2019.runs import octants
from widenet.papers.brutzkus2019.runs.trained import Trained, TrainedSetting, corner, corner_settings, trained
from widenet.records import Scale

OWN_RUNS = 600
"""Networks on a reader's data unless more are chosen. 557 can confirm Theorem 6.3, 1115 Propositions E.18 and E.22,
2232 Proposition E.14."""

LARGEST_OWN_MARGIN = 100.0
"""A larger γ takes more than a million steps to be certain."""


def faster(scale: Scale, seed: int) -> TrainedSetting:
    """k = 120, γ = 8 with ten times the step, c_η = 1/41: same lemmas, a tenth of the time."""
    return corner_settings(scale, seed)[0].model_copy(update={"step_constant": 1 / 41, "max_steps": 12_000})


def convergence_settings(scale: Scale, seed: int) -> list[TrainedSetting]:
    """Where Proposition E.14 is nearest to failing (narrow networks, large steps), and the other settings."""
    narrow = [
        TrainedSetting(
            half_width=20,
            step_constant=1 / 8,
            required_margin=margin,
            n_runs=840 if scale is Scale.QUICK else 2300,
            max_steps=20_000,
            seed=seed,
        )
        for margin in (1.0, 8.0)
    ]
    return [*narrow, faster(scale, seed), *corner_settings(scale, seed)]


def zero_loss_settings(scale: Scale, seed: int) -> list[TrainedSetting]:
    """For Lemma E.17; at paper scale also the smallest width with the largest step."""
    edge = TrainedSetting(
        half_width=64, step_constant=1 / 8, required_margin=8.0, n_runs=1000, max_steps=20_000, seed=seed
    )
    return [*([edge] if scale is Scale.PAPER else []), faster(scale, seed), *corner_settings(scale, seed)]


def regime_settings(scale: Scale, seed: int) -> list[TrainedSetting]:
    """The corner of Theorem 6.3, and networks inside its regime, beyond the corner in one direction each."""
    inside = [(240, 1 / 410, 8.0), (120, 1 / 800, 8.0), (120, 1 / 410, 20.0)]
    if scale is Scale.PAPER:
        inside.append((121, 1 / 410, 8.0))
    return [
        *corner_settings(scale, seed),
        *(
            TrainedSetting(
                half_width=half_width,
                step_constant=step_constant,
                required_margin=margin,
                n_runs=10 if scale is Scale.QUICK else 100,
                max_steps=math.floor(steps_of_theorem_6_3(step_constant, margin)),
                seed=seed,
            )
            for half_width, step_constant, margin in inside
        ),
    ]


Steps = Callable[[int, float, float], float]


@claim(
    "brutzkus2019.proposition_e_14",
    Kind.STEP,
    "Proposition E.14, Section E.0.6",
    reads=trained.at(convergence_settings),
)
def proposition_e_14(networks: Sequence[Trained], *, steps: Steps = steps_to_zero_loss) -> Evidence:
    """For k > 16, γ ≥ 1 and diverse data, with probability at least 1 − √(2k/π)e^{−8k} − 4e⁻⁸ gradient descent is
    at zero loss after T = 7(γ + 1 + 8c_η)/((k/2 − 2√k)η) iterations.

    A control passes a smaller T.
    """
    cases = [
        Case(
            each,
            np.ones(each.n_runs, bool),
            each.axes_explored,
            c_value(each.half_width) + 4 * UNEXPLORED,
            event_failure(each.half_width, octants.both_axes_explored),
            steps(each.half_width, each.step_constant, each.required_margin) if each.half_width > 16 else math.inf,
        )
        for each in networks
    ]
    return evidence(
        rate_parts(cases, "share of runs without zero loss after T steps"),
        [
            more_than("width", "smallest width k", min(each.half_width for each in networks), 16),
            at_least("margin", "smallest margin γ", min(each.required_margin for each in networks), 1),
            largest_step_constant(networks),
            *shared_hypotheses(networks),
        ],
        runs=count_runs(networks),
        details=rate_details(cases),
        note=rate_note(cases),
    )


def largest_step_constant(networks: Sequence[Trained], limit: float = 1 / 8) -> Hypothesis:
    """c_η ≤ 1/8, as everywhere in Appendix E, or another limit."""
    largest = max(each.step_constant for each in networks)
    return at_most("step_constant", "largest step constant c_η = ηk", largest, limit)


@claim("brutzkus2019.lemma_e_17", Kind.STEP, "Lemma E.17, Section E.0.7", reads=trained.at(zero_loss_settings))
def lemma_e_17(networks: Sequence[Trained], *, plus_limit: float = 34, minus_limit: float = 38) -> Evidence:
    """At zero loss, for k ≥ 64: the w filters whose best pattern is p_2 or p_4 have X_T ≤ 34c_η together, and such
    u filters Y_T ≤ 1 + 38c_η.

    A control passes smaller numbers.
    """
    scored = [each.converged & each.axes_explored for each in networks]
    sums = [_sums_on_negative_axis(each) for each in networks]
    plus = [total / each.step_constant for (total, _), each in zip(sums, networks, strict=True)]
    minus = [(total - 1) / each.step_constant for (_, total), each in zip(sums, networks, strict=True)]
    rows = [
        {
            **each.summary(),
            "scored": int(mask.sum()),
            "largest_X_over_c": float(x[mask].max(initial=-math.inf)),
            "largest_Y_minus_1_over_c": float(y[mask].max(initial=-math.inf)),
        }
        for each, mask, x, y in zip(networks, scored, plus, minus, strict=True)
    ]
    inside = joined(scored)
    return evidence(
        {
            "Y_T ≤ 1 + 38c_η": Sides(
                joined(minus),
                minus_limit,
                Sense.AT_MOST,
                room=STEP,
                scored=inside,
                quantity="Y_T − 1 in units of c_η, in the worst run",
            ),
            "X_T ≤ 34c_η": Sides(
                joined(plus),
                plus_limit,
                Sense.AT_MOST,
                room=STEP,
                scored=inside,
                quantity="X_T in units of c_η, in the worst run",
            ),
        },
        [
            at_least("width", "smallest width k", min(each.half_width for each in networks), 64),
            largest_step_constant(networks),
            *shared_hypotheses(networks),
        ],
        runs=count_runs(networks, outside=int((~inside).sum())),
        details={"cases": rows},
    )


def _sums_on_negative_axis(networks: Trained) -> tuple[np.ndarray, np.ndarray]:
    """X_T and Y_T: the largest fit of a filter of W⁺(2) ∪ W⁺(4) is |⟨w, p_2⟩|, and x⁺ holds that pattern."""
    plus, minus = (
        np.where(on_negative_axis(half), np.abs(half @ PATTERNS[1]), 0).sum(axis=1)
        for half in plus_and_minus(networks.final)
    )
    return plus, minus


def regime_of_theorem_6_3(networks: Sequence[Trained]) -> list[Hypothesis]:
    """k ≥ 120, c_η ≤ 1/410, σ_g ≤ c_η/(16k^{3/2}), γ ≥ 8, and a diverse training set."""
    every = [
        (
            at_least("width", "width k", each.half_width, SMALLEST_WIDTH),
            at_most("step_constant", "step constant c_η = ηk", each.step_constant, LARGEST_STEP),
            at_least("margin", "margin γ", each.required_margin, SMALLEST_MARGIN),
        )
        for each in networks
    ]
    return [*nearest(every), *shared_hypotheses(networks)]


@claim(
    "brutzkus2019.theorem_6_3",
    Kind.MAIN,
    "Theorem 6.3, Section 6.1; restated as Theorem E.1",
    reads=trained.at(regime_settings),
)
def theorem_6_3(
    networks: Sequence[Trained],
    *,
    steps: Callable[[float, float], float] = steps_of_theorem_6_3,
    failure: Callable[[int], float] = recovery_failure,
) -> Evidence:
    """Wide networks learn XORD from diverse points: for k ≥ 120, η = c_η/k, c_η ≤ 1/410, σ_g ≤ c_η/(16k^{3/2}) and
    γ ≥ 8, with probability at least 1 − c − 16e⁻⁸ gradient descent is, after 28(γ + 1 + 8c_η)/c_η iterations, at
    a global minimum with sign N(x) = f*(x) for every x.

    Controls: γ = 1, k = 8, and fewer steps.
    """
    cases = [
        Case(
            each,
            each.right_on(),
            each.explored_for_positive & each.explored_for_negative,
            min(failure(each.half_width), 1.0),
            event_failure(each.half_width, octants.explored_for_all),
            steps(each.step_constant, each.required_margin),
        )
        for each in networks
    ]
    return evidence(
        rate_parts(cases, "share of runs that do not recover f* at zero loss", "right on all 15 pattern sets"),
        regime_of_theorem_6_3(networks),
        runs=count_runs(networks),
        details=rate_details(cases),
        note=rate_note(cases),
    )


@claim(
    "brutzkus2019.theorem_6_3_angle",
    Kind.MAIN,
    "Theorem 6.3, second part; Section E.0.9",
    reads=trained.at(corner_settings),
)
def theorem_6_3_angle(
    runs: Sequence[Trained],
    *,
    cosine: Callable[[float, float], float] = cosine_limit,
    updates: Callable[[float, float], float] = fewest_updates,
    sharp: Callable[[float, float], float] = sharp_updates,
) -> Evidence:
    """Clustering at that global minimum: a w filter that started nearest to p_i, i = 1 or 3, ends at an angle of at
    most arccos((γ − 1 − 2c_η)/(γ − 1 + c_η)) to p_i, after a⁺(T) ≥ (γ − 1)/(2c_η) − 1 updates on positive points; by
    Eq. 15 with γ + 1 they are even (γ + 1)/(2c_η) − √2/8 (added).

    In every converged run with a small start; a run without such a filter is about nothing.
    """
    (networks,) = runs
    gamma, step = networks.required_margin, networks.step_constant
    scored = networks.converged & networks.small_start
    first, last = (plus_and_minus(part)[0] for part in (networks.start, networks.final))
    member = cones(first)[..., ::2] & scored[:, None, None]  # W⁺(1), W⁺(3) at the start
    along, across = last @ PATTERNS[:3:2].T, np.abs(last @ PATTERNS[1])
    angles = np.degrees(np.arctan2(across[..., None], along))
    # w_T = w_0 + a⁺ηp_i + αp_2, so the fit to p_i has grown by 2η a⁺.
    taken = (along - first @ PATTERNS[:3:2].T) / (2 * networks.step_size)
    largest = math.degrees(math.acos(max(-1.0, min(1.0, cosine(gamma, step))))) if gamma > 1 else 180.0
    fewest = updates(gamma, step)
    return evidence(
        {
            "the angle to its pattern": Sides(
                angles,
                largest,
                Sense.AT_MOST,
                room=ROUNDING * largest,
                scored=member,
                trivial=180.0,
                quantity="largest angle between w_T and its pattern, in degrees",
            ),
            "a⁺(T) ≥ (γ − 1)/(2c_η) − 1": Sides(
                taken,
                fewest,
                Sense.AT_LEAST,
                room=STEP * abs(fewest),
                scored=member,
                trivial=0.0,
                quantity="fewest updates on positive points",
            ),
            "a⁺(T) ≥ (γ + 1)/(2c_η) − √2/8": Sides(
                taken,
                sharp(gamma, step),
                Sense.AT_LEAST,
                room=STEP * abs(sharp(gamma, step)),
                scored=member,
                trivial=0.0,
                quantity="fewest updates on positive points",
            ),
        },
        [
            *regime_of_theorem_6_3([networks]),
            more_than("angle_below_a_right_one", "γ − 1 − 2c_η", gamma - 1 - 2 * step, 0),
        ],
        runs=count_runs([networks], outside=int((~scored).sum())),
        details={
            **networks.summary(),
            "fewest_updates_a_plus": float(taken[member].min(initial=math.inf)),
            "promised_updates": fewest,
        },
    )


@theorem_6_3.speaks
@theorem_6_3_angle.speaks
@proposition_e_14.speaks
@lemma_e_17.speaks
def wide_on(specimen: Specimen) -> list[TrainedSetting] | Silence:
    """Networks at the corner of Theorem 6.3 on a reader's points, the same for every statement about wide networks.

    A set with points that are not diverse may need the whole budget of steps.
    """
    points, choices = points_of(specimen), specimen.choices
    if isinstance(points, Silence):
        return points
    if choices.required_margin > LARGEST_OWN_MARGIN:
        return Silence(f"γ = {choices.required_margin:g} takes too long; up to {LARGEST_OWN_MARGIN:g} is tried.")
    setting = corner(choices.seed, choices.n_runs or OWN_RUNS, choices.required_margin, points)
    return [setting.model_copy(update={"max_steps": up_to(specimen, setting.max_steps)})]


@theorem_6_3.fixes
@theorem_6_3_angle.fixes
@proposition_e_14.fixes
@lemma_e_17.fixes
def fixed_for_wide(specimen: Specimen) -> dict[str, str]:
    """Width, step and start are those of the corner, whatever was chosen."""
    return fixed_by_regime(specimen, SMALLEST_WIDTH, LARGEST_STEP)


theorem_6_3.means(
    Topic.TEST_ERROR,
    "A wide network learns the rule behind these points, and is then right on every possible point.",
)
theorem_6_3_angle.means(
    Topic.LIMIT,
    "The neurons of a wide network gather around the few patterns that matter.",
)
