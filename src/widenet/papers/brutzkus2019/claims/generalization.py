"""What zero loss of a wide network says about unseen points: Eq. 18, Propositions E.18 (positive) and E.22 (negative).

A point is its pattern set, so "all positive points" are 12 numbers and "all negative points" three.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.base import Claim, Evidence, Hypothesis, Kind, Runs, at_least, at_most, more_than
from widenet.claims.legacy import Evidence_, decide, ratio
from widenet.data.xord import PATTERN_SETS, PATTERNS, SET_LABELS
from widenet.diagnostics.exploration import cones, plus_and_minus
from widenet.papers.brutzkus2019.claims.wide import Judged, event_failure, judge_rate, run_count, shared_hypotheses
from widenet.papers.brutzkus2019.claims.wide import theorem_6_3_runs as corner_runs
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
from widenet.papers.brutzkus2019.runs.trained import Trained, train_networks
from widenet.types import Progress, Scale, silent

TOLERANCE = 1e-9
"""Inequalities between outputs hold up to this, in units of η."""


def check_equation_18(
    networks: Sequence[Trained],
    progress: Progress = silent,
    *,
    limit: Callable[[int, float, float], float] = positive_output_limit,
) -> Evidence:
    """Both lines of Eq. 18, at zero loss inside the events. A control passes a larger limit."""
    conditions = [*_widths(networks), *shared_hypotheses(networks)]
    rows, scored_runs = [], 0
    for number, trained in enumerate(networks):
        scored = trained.converged & trained.explored_for_positive
        room = TOLERANCE * trained.step_size
        first = _beyond_its_cone(trained.final[scored], trained.outputs[scored])
        smallest = trained.outputs[scored][:, SET_LABELS > 0].min(axis=1)
        k = trained.half_width
        promised = limit(k, trained.step_constant, trained.required_margin) if k > 64 else math.nan
        rows.append(
            {
                **trained.summary(),
                "scored": int(scored.sum()),
                "promised": promised,
                "smallest_output": float(smallest.min(initial=math.inf)),
                "broken_first_line": int((~(first >= -room)).sum()),
                "broken": int((~(smallest >= promised - room)).sum()),
            }
        )
        scored_runs += int(scored.sum())
        progress((number + 1) / len(networks), f"k = {trained.half_width}")
    worst = min(rows, key=lambda row: row["smallest_output"] - row["promised"])
    conclusion = all(row["broken"] == row["broken_first_line"] == 0 for row in rows) if scored_runs else None
    tried = sum(trained.n_runs for trained in networks)
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=Runs(
            tried=tried,
            unfinished=sum(int(trained.unfinished.sum()) for trained in networks),
            outside=tried - scored_runs,
        ),
        conclusion=conclusion,
        quantity="smallest output on a positive point, in the setting where it is nearest to its limit",
        promised=worst["promised"],
        measured=worst["smallest_output"],
        tightness=ratio(worst["promised"], worst["smallest_output"]),
        vacuous=all(row["promised"] <= 0 for row in rows),
        config={"cases": rows},
        note="Tightness is promised over measured: the promise is a lower bound.",
    )


def _beyond_its_cone(
    filters: Float[np.ndarray, "run filter 2"], outputs: Float[np.ndarray, "run 15"]
) -> Float[np.ndarray, "run case"]:
    """First line of Eq. 18: N(z) − (X(i) − Σ_j max σ(⟨u_j, x⁺⟩)) for each positive set and each i = 1, 3 in it."""
    plus, minus = plus_and_minus(filters)
    largest = lambda half: np.abs(half @ PATTERNS[:2].T).max(axis=-1)  # noqa: E731
    against = largest(minus).sum(axis=-1)  # P⁺ + Y(2) + Y(4)
    cone = np.where(cones(plus)[..., ::2], largest(plus)[..., None], 0).sum(axis=-2)  # X(1), X(3)
    cases = [(place, pattern) for place in range(15) for pattern in (0, 2) if PATTERN_SETS[place, pattern]]
    rows = [outputs[:, place] - cone[:, pattern // 2] + against for place, pattern in cases]
    return np.stack(rows, axis=1)


def _widths(networks: Sequence[Trained]) -> list[Hypothesis]:
    return [
        more_than("smallest_width_k", "smallest width k", min(trained.half_width for trained in networks), 64),
        at_most(
            "largest_step_constant_c_step_size",
            "largest step constant c_η = ηk",
            max(trained.step_constant for trained in networks),
            1 / 8,
        ),
    ]


def check_proposition_e_18(networks: Sequence[Trained], progress: Progress = silent) -> Evidence:
    """No positive point is wrong. A control has γ = 1."""
    room = min(t.half_width - width_limit(beta_positive(t.required_margin, t.step_constant)) for t in networks)
    conditions = [
        at_least("smallest_margin_margin", "smallest margin γ", min(t.required_margin for t in networks), 2),
        more_than(
            "smallest_margin",
            "smallest β(γ)",
            min(beta_positive(t.required_margin, t.step_constant) for t in networks),
            1,
        ),
        more_than("smallest_k_64_1_1", "smallest k − 64((β + 1)/(β − 1))²", room, 0),
        *_widths(networks)[1:],
        *shared_hypotheses(networks),
    ]
    cases = [_case(t, SET_LABELS > 0, t.explored_for_positive, octants.explored_for_positive) for t in networks]
    return judge_rate(cases, conditions, "share of runs without zero loss, or wrong on a positive point", progress)


def check_proposition_e_22(networks: Sequence[Trained], progress: Progress = silent) -> Evidence:
    """No negative point is wrong, and inside the events every output is below the bound of the proof."""
    room = min(t.half_width - width_limit(beta_negative(t.step_constant)) for t in networks)
    conditions = [
        more_than("smallest", "smallest β", min(beta_negative(t.step_constant) for t in networks), 1),
        more_than("smallest_k_64_1_1", "smallest k − 64((β + 1)/(β − 1))²", room, 0),
        at_least("smallest_margin_margin", "smallest margin γ", min(t.required_margin for t in networks), 1),
        *shared_hypotheses(networks),
    ]
    cases = [_case(t, SET_LABELS < 0, t.explored_for_negative, octants.explored_for_negative) for t in networks]
    found = judge_rate(cases, conditions, "share of runs without zero loss, or wrong on a negative point", progress)
    over, largest = 0, []
    for trained in networks:
        scored = trained.converged & trained.explored_for_negative
        worst = trained.outputs[scored][:, SET_LABELS < 0].max(axis=1)
        k = trained.half_width
        limit = negative_output_limit(k, trained.step_constant) if k > 64 else math.nan
        over += int((~(worst <= limit + TOLERANCE * trained.step_size)).sum())
        largest.append({"limit": limit, "largest_output": float(worst.max(initial=-math.inf))})
    conclusion = False if over else found.conclusion
    return found.model_copy(
        update={
            "verdict": decide(conditions, conclusion),
            "conclusion": conclusion,
            "config": {**found.config, "outputs": largest, "runs_over_the_bound_of_the_proof": over},
            "note": f"{found.note} (The proof adds up to 12e⁻⁸; the counts themselves are far from using 8e⁻⁸.)",
        }
    )


def _case(trained: Trained, places: Bool[np.ndarray, " 15"], event: np.ndarray, explored: Callable) -> Judged:
    k = trained.half_width
    return Judged(
        trained,
        trained.converged & ~trained.wrong[:, places].any(axis=1),
        event,
        c_value(k) + 8 * UNEXPLORED,
        event_failure(k, explored),
        steps_to_zero_loss(k, trained.step_constant, trained.required_margin) if k > 16 else math.inf,
    )


EDGE = 201
"""A width on the edge of both propositions: 200.5 is asked for at γ = 8, c_η = 1/41, and at c_η = 1/161.9."""


def _edge_count(scale: Scale) -> int:
    return 600 if scale is Scale.QUICK else 1200


def _positive(scale: Scale, seed: int) -> list[Trained]:
    edge = [train_networks(seed, _edge_count(scale), EDGE, 1 / 41, 8.0, max_steps=12_000)]
    if scale is Scale.PAPER:  # at c_η = 1/410 and γ = 8 the edge is k = 112
        edge.append(train_networks(seed, 600, 112, 1 / 410, 8.0, max_steps=103_000))
    return [*edge, corner_runs(seed, run_count(scale))]


def _negative(scale: Scale, seed: int) -> list[Trained]:
    edge = train_networks(seed, _edge_count(scale), EDGE, 1 / 162, 1.0, max_steps=12_000)
    return [edge, corner_runs(seed, run_count(scale))]


equation_18 = Claim(
    id="brutzkus2019.equation_18",
    kind=Kind.STEP,
    statement=(
        "At zero loss, for a positive point z with pattern p_i, i = 1 or 3: N(z) ≥ X(i) − P⁺ − Y(2) − Y(4) ≥ "
        "(γ + 1 − 1¼c_η)/(1 + α(k)) − 39c_η − 1, inside the events of Lemmas E.2, E.3 and E.15."
    ),
    where="Eq. 18, proof of Proposition E.18",
    judge=check_equation_18,
    draws=_positive,
)

proposition_e_18 = Claim(
    id="brutzkus2019.proposition_e_18",
    kind=Kind.STEP,
    statement=(
        "With β(γ) = (γ − 40¼c_η)/(39c_η + 1), γ ≥ 2 and k > 64((β + 1)/(β − 1))², with probability at least "
        "1 − √(2k/π)e^{−8k} − 8e⁻⁸ gradient descent reaches a global minimum that is right on all positive points."
    ),
    where="Proposition E.18, Section E.0.7 (printed with k ≥; at equality the bound of its proof is 0)",
    judge=check_proposition_e_18,
    draws=_positive,
)

proposition_e_22 = Claim(
    id="brutzkus2019.proposition_e_22",
    kind=Kind.STEP,
    statement=(
        "With β = (1 − 36¼c_η)/(35c_η) and k > 64((β + 1)/(β − 1))², with probability at least 1 − √(2k/π)e^{−8k} − "
        "8e⁻⁸ gradient descent reaches a global minimum that is right on all negative points; N ≤ 35c_η − "
        "(1 − 1¼c_η)/(1 + α(k)) < 0 there."
    ),
    where="Proposition E.22, Section E.0.8",
    judge=check_proposition_e_22,
    draws=_negative,
)

CLAIMS = (equation_18, proposition_e_18, proposition_e_22)
