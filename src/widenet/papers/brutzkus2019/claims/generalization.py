"""What zero loss of a wide network says about unseen points: Eq. 18, Propositions E.18 (positive) and E.22 (negative).

A point is its pattern set, so "all positive points" are 12 numbers and "all negative points" three.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.base import Evidence, Kind, at_least, claim, more_than
from widenet.claims.sides import Sense, Sides, evidence
from widenet.claims.tolerances import STEP
from widenet.data.xord import PATTERN_SETS, PATTERNS, SET_LABELS
from widenet.diagnostics.exploration import cones, plus_and_minus
from widenet.papers.brutzkus2019.claims.rates import (
    Case,
    count_runs,
    event_failure,
    joined,
    rate_details,
    rate_note,
    rate_parts,
    shared_hypotheses,
)
from widenet.papers.brutzkus2019.claims.wide import fixed_for_wide, largest_step_constant, wide_on
from widenet.papers.brutzkus2019.formulas import (
    UNEXPLORED,
    beta_negative,
    beta_positive,
    c_value,
    negative_output_limit,
    positive_output_limit,
    steps_to_zero_loss,
    width_limit,
)
from widenet.papers.brutzkus2019.runs import octants
from widenet.papers.brutzkus2019.runs.trained import Trained, TrainedSetting, corner_settings, trained
from widenet.records import Scale

EDGE = 201
"""A width on the edge of both propositions: 200.5 is asked for at γ = 8, c_η = 1/41, and at c_η = 1/161.9."""

POSITIVE_CASES = [(place, pattern) for place in range(15) for pattern in (0, 2) if PATTERN_SETS[place, pattern]]
"""Each positive set with each i = 1, 3 in it."""


def _edge(scale: Scale, seed: int, step_constant: float, required_margin: float) -> TrainedSetting:
    return TrainedSetting(
        half_width=EDGE,
        step_constant=step_constant,
        required_margin=required_margin,
        n_runs=600 if scale is Scale.QUICK else 1200,
        max_steps=12_000,
        seed=seed,
    )


def positive_settings(scale: Scale, seed: int) -> list[TrainedSetting]:
    """The edge of Proposition E.18, at paper scale a second one (k = 112 at c_η = 1/410), and the corner."""
    second = TrainedSetting(
        half_width=112, step_constant=1 / 410, required_margin=8.0, n_runs=600, max_steps=103_000, seed=seed
    )
    edges = [_edge(scale, seed, 1 / 41, 8.0), *([second] if scale is Scale.PAPER else [])]
    return [*edges, *corner_settings(scale, seed)]


def negative_settings(scale: Scale, seed: int) -> list[TrainedSetting]:
    """The edge of Proposition E.22, and the corner."""
    return [_edge(scale, seed, 1 / 162, 1.0), *corner_settings(scale, seed)]


@claim("brutzkus2019.equation_18", Kind.STEP, "Eq. 18, proof of Proposition E.18", reads=trained.at(positive_settings))
def equation_18(
    networks: Sequence[Trained], *, limit: Callable[[int, float, float], float] = positive_output_limit
) -> Evidence:
    """At zero loss, for a positive point z with pattern p_i, i = 1 or 3: N(z) ≥ X(i) − P⁺ − Y(2) − Y(4) ≥
    (γ + 1 − 1¼c_η)/(1 + α(k)) − 39c_η − 1, inside the events of Lemmas E.2, E.3 and E.15.

    A control passes a larger limit.
    """
    scored = [each.converged & each.explored_for_positive for each in networks]
    places, patterns = np.array(POSITIVE_CASES).T
    outputs = [each.outputs[:, places] for each in networks]
    between = [_cone_against_minus(each.final)[:, patterns // 2] for each in networks]
    promised = [limit(each.half_width, each.step_constant, each.required_margin) for each in networks]
    inside = joined([np.repeat(mask, len(places)) for mask in scored])
    rooms = joined([np.full(array.size, STEP * each.step_size) for array, each in zip(outputs, networks, strict=True)])
    limits = joined([np.full(array.size, value) for array, value in zip(outputs, promised, strict=True)])
    measured, middle = (joined([array.ravel() for array in arrays]) for arrays in (outputs, between))
    rows = [
        {
            **each.summary(),
            "scored": int(mask.sum()),
            "promised": value,
            "smallest_output": float(array[mask].min(initial=math.inf)),
        }
        for each, mask, value, array in zip(networks, scored, promised, outputs, strict=True)
    ]
    return evidence(
        {
            # A limit of 0 or less says nothing about the sign.
            "N(z) is at least the limit": Sides(
                measured,
                limits,
                Sense.AT_LEAST,
                room=rooms,
                scored=inside,
                trivial=0.0,
                quantity="smallest output on a positive point, in the setting where it is nearest to its limit",
            ),
            "N(z) ≥ X(i) − P⁺ − Y(2) − Y(4)": Sides(measured, middle, Sense.AT_LEAST, room=rooms, scored=inside),
            "X(i) − P⁺ − Y(2) − Y(4) is at least the limit": Sides(
                middle, limits, Sense.AT_LEAST, room=rooms, scored=inside, trivial=0.0
            ),
        },
        [
            more_than("width", "smallest width k", min(each.half_width for each in networks), 64),
            largest_step_constant(networks),
            *shared_hypotheses(networks),
        ],
        runs=count_runs(networks, outside=sum(int((~mask).sum()) for mask in scored)),
        details={"cases": rows},
    )


def _cone_against_minus(filters: Float[np.ndarray, "run filter 2"]) -> Float[np.ndarray, "run 2"]:
    """X(i) − P⁺ − Y(2) − Y(4) for i = 1, 3: what the filters of a cone give, less all that the u filters can."""
    plus, minus = plus_and_minus(filters)
    best_plus, best_minus = (np.abs(half @ PATTERNS[:2].T).max(axis=-1) for half in (plus, minus))
    cone = np.where(cones(plus)[..., ::2], best_plus[..., None], 0).sum(axis=-2)
    return cone - best_minus.sum(axis=-1)[:, None]


@claim(
    "brutzkus2019.proposition_e_18",
    Kind.STEP,
    "Proposition E.18, Section E.0.7 (printed with k ≥; at equality the bound of its proof is 0)",
    reads=trained.at(positive_settings),
)
def proposition_e_18(networks: Sequence[Trained]) -> Evidence:
    """With β(γ) = (γ − 40¼c_η)/(39c_η + 1), γ ≥ 2 and k > 64((β + 1)/(β − 1))², with probability at least
    1 − √(2k/π)e^{−8k} − 8e⁻⁸ gradient descent reaches a global minimum that is right on all positive points.

    A control has γ = 1.
    """
    betas = [beta_positive(each.required_margin, each.step_constant) for each in networks]
    cases = [_case(t, SET_LABELS == 1, t.explored_for_positive, octants.explored_for_positive) for t in networks]
    return evidence(
        rate_parts(
            cases, "share of runs without zero loss, or wrong on a positive point", "right on all positive points"
        ),
        [
            at_least("margin", "smallest margin γ", min(each.required_margin for each in networks), 2),
            more_than("beta", "smallest β(γ)", min(betas), 1),
            more_than("width", "smallest k − 64((β + 1)/(β − 1))²", _spare_width(networks, betas), 0),
            largest_step_constant(networks),
            *shared_hypotheses(networks),
        ],
        runs=count_runs(networks),
        details=rate_details(cases),
        note=rate_note(cases),
    )


@claim(
    "brutzkus2019.proposition_e_22", Kind.STEP, "Proposition E.22, Section E.0.8", reads=trained.at(negative_settings)
)
def proposition_e_22(
    networks: Sequence[Trained], *, limit: Callable[[int, float], float] = negative_output_limit
) -> Evidence:
    """With β = (1 − 36¼c_η)/(35c_η) and k > 64((β + 1)/(β − 1))², with probability at least 1 − √(2k/π)e^{−8k} −
    8e⁻⁸ gradient descent reaches a global minimum that is right on all negative points; N ≤ 35c_η −
    (1 − 1¼c_η)/(1 + α(k)) < 0 there.

    The bound on N is that of the proof, inside its events.
    """
    betas = [beta_negative(each.step_constant) for each in networks]
    cases = [_case(t, SET_LABELS == -1, t.explored_for_negative, octants.explored_for_negative) for t in networks]
    limits = [limit(each.half_width, each.step_constant) for each in networks]
    scored = [each.converged & each.explored_for_negative for each in networks]
    outputs = [each.outputs[:, SET_LABELS == -1] for each in networks]
    parts = rate_parts(
        cases, "share of runs without zero loss, or wrong on a negative point", "right on all negative points"
    )
    parts["N ≤ 35c_η − (1 − 1¼c_η)/(1 + α(k)) inside the events"] = Sides(
        joined([array.ravel() for array in outputs]),
        joined([np.full(array.size, value) for array, value in zip(outputs, limits, strict=True)]),
        Sense.AT_MOST,
        room=joined([np.full(a.size, STEP * t.step_size) for a, t in zip(outputs, networks, strict=True)]),
        scored=joined([np.repeat(mask, array.shape[1]) for mask, array in zip(scored, outputs, strict=True)]),
        trivial=0.0,
        quantity="output on a negative point",
    )
    parts["this bound is below 0"] = Sides(limits, 0.0, Sense.AT_MOST, strict=True, quantity="bound on N")
    return evidence(
        parts,
        [
            more_than("beta", "smallest β", min(betas), 1),
            more_than("width", "smallest k − 64((β + 1)/(β − 1))²", _spare_width(networks, betas), 0),
            at_least("margin", "smallest margin γ", min(each.required_margin for each in networks), 1),
            *shared_hypotheses(networks),
        ],
        runs=count_runs(networks),
        details={
            **rate_details(cases),
            "outputs": [
                {"limit": value, "largest_output": float(array[mask].max(initial=-math.inf))}
                for value, array, mask in zip(limits, outputs, scored, strict=True)
            ],
        },
        note=f"{rate_note(cases)} (The proof adds up to 12e⁻⁸; the counts themselves are far from using 8e⁻⁸.)",
    )


def _spare_width(networks: Sequence[Trained], betas: Sequence[float]) -> float:
    return min(each.half_width - width_limit(beta) for each, beta in zip(networks, betas, strict=True))


def _case(
    networks: Trained,
    places: Bool[np.ndarray, " 15"],
    event: Bool[np.ndarray, " run"],
    explored: Callable[[int], Fraction],
) -> Case:
    k = networks.half_width
    return Case(
        networks,
        networks.right_on(places),
        event,
        c_value(k) + 8 * UNEXPLORED,
        event_failure(k, explored),
        steps_to_zero_loss(k, networks.step_constant, networks.required_margin) if k > 16 else math.inf,
        timed=False,
    )


equation_18.speaks(wide_on)
proposition_e_18.speaks(wide_on)
proposition_e_22.speaks(wide_on)
equation_18.fixes(fixed_for_wide)
proposition_e_18.fixes(fixed_for_wide)
proposition_e_22.fixes(fixed_for_wide)
