"""What zero loss of a wide network says about unseen points: Eq. 18, Propositions E.18 (positive) and E.22 (negative).

A point is its pattern set, so "all positive points" are 12 numbers and "all negative points" three.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Kind, claim
from widenet.claims.cases import by_value, column
from widenet.claims.implication import Promise, at_least, at_most, less_than
from widenet.claims.tolerances import STEP
from widenet.data.xord import PATTERN_SETS, PATTERNS, SET_LABELS
from widenet.diagnostics.exploration import cones, plus_and_minus
from widenet.papers.brutzkus2019.claims.failure_rates import event_failure, often
from widenet.papers.brutzkus2019.claims.setting_rows import beside, largest, rows
from widenet.papers.brutzkus2019.claims.wide import time_to_zero_loss
from widenet.papers.brutzkus2019.formulas import (
    UNEXPLORED,
    beta_negative,
    beta_positive,
    c_value,
    negative_output_limit,
    per_setting,
    positive_output_limit,
    width_limit,
)
from widenet.papers.brutzkus2019.hypotheses import (
    TRAINING_SET,
    XordNetworks,
    beta,
    margin_of_one,
    margin_of_two,
    spare_width,
    step_of_lemmas,
    width_above_64,
)
from widenet.papers.brutzkus2019.runs import octants
from widenet.papers.brutzkus2019.runs.trained import trained
from widenet.papers.brutzkus2019.runs.trained_settings import negative_settings, positive_settings
from widenet.records import Form

POSITIVE_CASES = [(place, pattern) for place in range(15) for pattern in (0, 2) if PATTERN_SETS[place, pattern]]
"""Each positive set with each i = 1, 3 in it."""


class OnPositive(XordNetworks):
    """Networks on positive points, each with each of the patterns p_1 and p_3 that it holds."""

    @column
    def positive_output(self) -> Float[np.ndarray, "run positive"]:
        """N(z)."""
        return self.outputs[:, [place for place, _ in POSITIVE_CASES]]

    @column
    def cone_against_minus(self) -> Float[np.ndarray, "run positive"]:
        """X(i) − P⁺ − Y(2) − Y(4)."""
        return cone_against_minus(self.final)[:, [pattern // 2 for _, pattern in POSITIVE_CASES]]

    @property
    def in_event(self) -> np.ndarray:
        """Zero loss, inside the events of Lemmas E.2, E.3 and E.15."""
        return self.converged & self.explored_for_positive

    @column
    def beta(self) -> float:
        """β(γ)."""
        return beta_positive(float(self.required_margin), self.step_constant)

    @column
    def spare_width(self) -> float:
        """k − 64((β + 1)/(β − 1))²."""
        return self.half_width - width_limit(self.beta)


def cone_against_minus(filters: Float[np.ndarray, "run filter 2"]) -> Float[np.ndarray, "run 2"]:
    """X(i) − P⁺ − Y(2) − Y(4) for i = 1, 3: what the filters of a cone give, less all that the u filters can."""
    plus, minus = plus_and_minus(filters)
    best_plus, best_minus = (np.abs(half @ PATTERNS[:2].T).max(axis=-1) for half in (plus, minus))
    cone = np.where(cones(plus)[..., ::2], best_plus[..., None], 0).sum(axis=-2)
    return cone - best_minus.sum(axis=-1)[:, None]


@claim("brutzkus2019.equation_18", Kind.STEP, "Eq. 18, proof of Proposition E.18", reads=trained.at(positive_settings),
       given=[width_above_64, step_of_lemmas, *TRAINING_SET],
       title="At zero loss, outputs on positive points are bounded below")  # fmt: skip
def equation_18(runs: OnPositive, *, limit: Callable[[int, float, float], float] = positive_output_limit) -> Promise:
    """At zero loss, for a positive point $z$ with pattern $p_i$, $i = 1$ or $3$: $N(z) ≥ X(i) − P⁺ − Y(2) − Y(4) ≥ (γ +
    1 − 1¼c_η)/(1 + α(k)) − 39c_η − 1$, inside the events of Lemmas E.2, E.3 and E.15.
    """
    setting, z = runs.per("cell"), runs.per("positive")
    limits = per_setting(limit, setting.half_width, setting.step_constant, setting.required_margin)
    promised = limits[z.cell]
    how = {"within": STEP, "of": z.step_size, "where": z.in_event}
    how["event"] = "runs at zero loss inside the events of E.2, E.3 and E.15"

    def smallest_outputs() -> dict[str, list]:
        smallest = -largest(runs, -runs.positive_output.min(axis=1), runs.in_event)
        scored = runs.count(runs.in_event)
        return {"cases": beside(setting.summary, scored=scored, promised=limits, smallest_output=smallest)}

    return Promise(
        {
            # A limit of 0 or less says nothing about the sign.
            "output": at_least(
                z.positive_output,
                promised,
                trivial=0.0,
                text="$N(z)$ is at least the limit",
                quantity="smallest output on a positive point, in the setting where it is nearest to its limit",
                **how,
            ),
            "cones": at_least(z.positive_output, z.cone_against_minus, text="$N(z) ≥ X(i) − P⁺ − Y(2) − Y(4)$", **how),
            "sums": at_least(
                z.cone_against_minus,
                promised,
                trivial=0.0,
                text="$X(i) − P⁺ − Y(2) − Y(4)$ is at least the limit",
                **how,
            ),
        },
        event=runs.in_event,
        details=smallest_outputs,
    )


@claim("brutzkus2019.proposition_e_18", Kind.STEP,
       "Proposition E.18, Section E.0.7 (printed with k ≥; at equality the bound of its proof is 0)",
       reads=trained.at(positive_settings),
       given=[margin_of_two, beta, spare_width, step_of_lemmas, *TRAINING_SET],
       form=Form.REPAIR,
       title="Wide networks at zero loss are right on all positive points")  # fmt: skip
def proposition_e_18(runs: OnPositive) -> Promise:
    """With $β(γ) = (γ − 40¼c_η)/(39c_η + 1)$, $γ ≥ 2$ and $k > 64((β + 1)/(β − 1))²$, with probability at least
    $1 − √(2k/π)e^{−8k} − 8e⁻⁸$ gradient descent reaches a global minimum that is right on all positive points.
    """
    setting = runs.per("cell")
    return often(
        runs,
        event=runs.explored_for_positive,
        missed=by_value(lambda k: event_failure(k, octants.explored_for_positive), setting.half_width),
        allowed=by_value(c_value, setting.half_width) + 8 * UNEXPLORED,
        steps=time_to_zero_loss(setting),
        quantity="share of runs without zero loss, or wrong on a positive point",
        right=runs.right_on(SET_LABELS == 1),
        words="right on all positive points",
        timed=False,
    )


class OnNegative(XordNetworks):
    """Networks on the three kinds of negative points."""

    @column
    def negative_output(self) -> Float[np.ndarray, "run negative"]:
        """N(z)."""
        return self.outputs[:, SET_LABELS == -1]

    @column
    def beta(self) -> float:
        """β."""
        return beta_negative(self.step_constant)

    @column
    def spare_width(self) -> float:
        """k − 64((β + 1)/(β − 1))²."""
        return self.half_width - width_limit(self.beta)


@claim("brutzkus2019.proposition_e_22", Kind.STEP, "Proposition E.22, Section E.0.8",
       reads=trained.at(negative_settings), given=[beta, spare_width, margin_of_one, *TRAINING_SET],
       title="Wide networks at zero loss are right on all negative points")  # fmt: skip
def proposition_e_22(runs: OnNegative, *, limit: Callable[[int, float], float] = negative_output_limit) -> Promise:
    """With $β = (1 − 36¼c_η)/(35c_η)$ and $k > 64((β + 1)/(β − 1))²$, with probability at least
    $1 − √(2k/π)e^{−8k} − 8e⁻⁸$ gradient descent reaches a global minimum that is right on all negative points;
    $N ≤ 35c_η − (1 − 1¼c_η)/(1 + α(k)) < 0$ there.

    The bound on N is that of the proof, inside its events.
    """
    setting, z = runs.per("cell"), runs.per("negative")
    limits = per_setting(limit, setting.half_width, setting.step_constant)
    rates: Any = often(
        runs,
        event=runs.explored_for_negative,
        missed=by_value(lambda k: event_failure(k, octants.explored_for_negative), setting.half_width),
        allowed=by_value(c_value, setting.half_width) + 8 * UNEXPLORED,
        steps=time_to_zero_loss(setting),
        quantity="share of runs without zero loss, or wrong on a negative point",
        right=runs.right_on(SET_LABELS == -1),
        words="right on all negative points",
        timed=False,
    )
    bound = at_most(
        z.negative_output,
        limits[z.cell],
        within=STEP,
        of=z.step_size,
        where=z.converged & z.explored_for_negative,
        trivial=0.0,
        text="$N ≤ 35c_η − (1 − 1¼c_η)/(1 + α(k))$ inside the events",
        quantity="output on a negative point",
        event="runs at zero loss that start inside the events",
    )

    def outputs() -> list[dict]:
        scored = runs.converged & runs.explored_for_negative
        return rows(limit=limits, largest_output=largest(runs, runs.negative_output.max(axis=1), scored))

    return dataclasses.replace(
        rates,
        parts={
            **rates.parts,
            "bound": bound,
            "bound_sign": less_than(limits, 0.0, text="this bound is below $0$", quantity="bound on N"),
        },
        details=lambda: {**rates.details(), "outputs": outputs()},
        note=lambda: f"{rates.note()} (The proof adds up to 12e⁻⁸; the counts themselves are far from using 8e⁻⁸.)",
    )
