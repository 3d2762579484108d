"""Wide networks on diverse data: convergence (Proposition E.14), Lemma E.17, and Theorem 6.3 with its angle."""

import math
from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.base import Kind, claim
from widenet.claims.cases import by_value, column
from widenet.claims.implication import Promise, at_least, at_most
from widenet.claims.meaning import Meaning, Topic
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.data.xord import PATTERNS
from widenet.diagnostics.exploration import cones, on_negative_axis, plus_and_minus
from widenet.papers.brutzkus2019.claims.failure_rates import event_failure, often
from widenet.papers.brutzkus2019.claims.setting_rows import beside, largest
from widenet.papers.brutzkus2019.formulas import (
    UNEXPLORED,
    c_value,
    cosine_limit,
    fewest_updates,
    per_setting,
    recovery_failure,
    sharp_updates,
    steps_of_theorem_6_3,
    steps_to_zero_loss,
)
from widenet.papers.brutzkus2019.hypotheses import (
    THEOREM_6_3,
    TRAINING_SET,
    XordNetworks,
    angle_below_a_right_one,
    margin_of_one,
    step_of_lemmas,
    width_above_16,
    width_of_64,
)
from widenet.papers.brutzkus2019.runs import octants
from widenet.papers.brutzkus2019.runs.trained import corner_settings, trained
from widenet.papers.brutzkus2019.runs.trained_settings import convergence_settings, regime_settings, zero_loss_settings

StepBound = Callable[[int, float, float], float]


@claim("brutzkus2019.proposition_e_14", Kind.STEP, "Proposition E.14, Section E.0.6",
       reads=trained.at(convergence_settings), given=[width_above_16, margin_of_one, step_of_lemmas, *TRAINING_SET],
       title="Gradient descent on diverse XORD points reaches zero loss")  # fmt: skip
def proposition_e_14(runs: XordNetworks, *, steps: StepBound = steps_to_zero_loss) -> Promise:
    """For $k > 16$, $γ ≥ 1$ and diverse data, with probability at least $1 − √(2k/π)e^{−8k} − 4e⁻⁸$ gradient descent is
    at zero loss after $T = 7(γ + 1 + 8c_η)/((k/2 − 2√k)η)$ iterations.
    """
    setting = runs.per("cell")
    return often(
        runs,
        event=runs.axes_explored,
        missed=by_value(lambda k: event_failure(k, octants.both_axes_explored), setting.half_width),
        allowed=by_value(c_value, setting.half_width) + 4 * UNEXPLORED,
        steps=time_to_zero_loss(setting, steps),
        quantity="share of runs without zero loss after T steps",
    )


def time_to_zero_loss(setting: XordNetworks, steps: StepBound = steps_to_zero_loss) -> np.ndarray:
    """T in every setting; up to k = 16 nothing is promised."""
    return per_setting(
        lambda k, c, gamma: steps(k, c, gamma) if k > 16 else math.inf,
        setting.half_width,
        setting.step_constant,
        setting.required_margin,
    )


class LastSums(XordNetworks):
    """Networks, with the sums over the filters whose best pattern is p_2 or p_4 at the end."""

    @column
    def plus_sum(self) -> Float[np.ndarray, " run"]:
        """X_T, in units of c_η."""
        return _sum_on_negative_axis(plus_and_minus(self.final)[0]) / self.step_constant

    @column
    def minus_sum(self) -> Float[np.ndarray, " run"]:
        """Y_T − 1, in units of c_η."""
        return (_sum_on_negative_axis(plus_and_minus(self.final)[1]) - 1) / self.step_constant

    @property
    def in_event(self) -> np.ndarray:
        """Zero loss, inside the events of Lemmas E.2 and E.3."""
        return self.converged & self.axes_explored


def _sum_on_negative_axis(half: Float[np.ndarray, "run filter 2"]) -> Float[np.ndarray, " run"]:
    """The largest fit of a filter of W⁺(2) ∪ W⁺(4) is |⟨w, p_2⟩|, and x⁺ holds that pattern."""
    return np.where(on_negative_axis(half), np.abs(half @ PATTERNS[1]), 0).sum(axis=1)


def largest_sums(runs: LastSums) -> dict[str, list]:
    """In every setting."""
    cases = beside(
        runs.per("cell").summary,
        scored=runs.count(runs.in_event),
        largest_X_over_c=largest(runs, runs.plus_sum, runs.in_event),
        largest_Y_minus_1_over_c=largest(runs, runs.minus_sum, runs.in_event),
    )
    return {"cases": cases}


@claim("brutzkus2019.lemma_e_17", Kind.STEP, "Lemma E.17, Section E.0.7", reads=trained.at(zero_loss_settings),
       given=[width_of_64, step_of_lemmas, *TRAINING_SET], details=largest_sums,
       title="At zero loss, filters on negative patterns stay small")  # fmt: skip
def lemma_e_17(runs: LastSums, *, plus_limit: float = 34, minus_limit: float = 38) -> Promise:
    """At zero loss, for $k ≥ 64$: the filters $w$ whose best pattern is $p_2$ or $p_4$ have $X_T ≤ 34c_η$ together, and
    such filters $u$ have $Y_T ≤ 1 + 38c_η$.
    """
    how = {"within": STEP, "where": runs.in_event, "event": "runs at zero loss inside the events of E.2 and E.3"}
    return Promise(
        {
            "minus": at_most(
                runs.minus_sum,
                minus_limit,
                text="$Y_T ≤ 1 + 38c_η$",
                quantity="Y_T − 1 in units of c_η, in the worst run",
                **how,
            ),
            "plus": at_most(
                runs.plus_sum,
                plus_limit,
                text="$X_T ≤ 34c_η$",
                quantity="X_T in units of c_η, in the worst run",
                **how,
            ),
        },
        event=runs.in_event,
    )


@claim("brutzkus2019.theorem_6_3", Kind.MAIN, "Theorem 6.3, Section 6.1; restated as Theorem E.1",
       reads=trained.at(regime_settings), given=THEOREM_6_3,
       means=Meaning(
           topic=Topic.TEST_ERROR,
           promise="A wide network learns the rule behind these points, and is then right on every possible point.",
       ),
       title="Wide networks learn XORD from diverse points")  # fmt: skip
def theorem_6_3(
    runs: XordNetworks,
    *,
    steps: Callable[[float, float], float] = steps_of_theorem_6_3,
    failure: Callable[[int], float] = recovery_failure,
) -> Promise:
    """Wide networks learn XORD from diverse points: for $k ≥ 120$, $η = c_η/k$, $c_η ≤ 1/410$, $σ_g ≤ c_η/(16k^{3/2})$
    and $γ ≥ 8$, with probability at least $1 − c − 16e⁻⁸$ gradient descent is, after $28(γ + 1 + 8c_η)/c_η$ iterations,
    at a global minimum with $sign N(x) = f*(x)$ for every $x$. Here $c = √(2k/π)e^{−8k}$.
    """
    setting = runs.per("cell")
    return often(
        runs,
        event=runs.explored_for_positive & runs.explored_for_negative,
        missed=by_value(lambda k: event_failure(k, octants.explored_for_all), setting.half_width),
        allowed=np.minimum(by_value(failure, setting.half_width), 1.0),
        steps=per_setting(steps, setting.step_constant, setting.required_margin),
        quantity="share of runs that do not recover f* at zero loss",
        right=runs.right_on(),
        words="right on all 15 pattern sets",
    )


class FilterAngles(XordNetworks):
    """Networks, with every w filter against p_1 and p_3, on one axis of filters and patterns."""

    @column
    def angle(self) -> Float[np.ndarray, "run pairing"]:
        """Between w_T and the pattern, in degrees."""
        last = plus_and_minus(self.final)[0]
        along, across = last @ PATTERNS[:3:2].T, np.abs(last @ PATTERNS[1])
        return np.degrees(np.arctan2(across[..., None], along)).reshape(len(self), -1)

    @column
    def taken(self) -> Float[np.ndarray, "run pairing"]:
        """a⁺(T): w_T = w_0 + a⁺ηp_i + αp_2, so the fit to p_i has grown by 2η a⁺."""
        first, last = (plus_and_minus(part)[0] @ PATTERNS[:3:2].T for part in (self.start, self.final))
        return ((last - first) / (2 * self.step_size)).reshape(len(self), -1)

    @column
    def nearest_at_start(self) -> Bool[np.ndarray, "run pairing"]:
        """Whether the filter is in W⁺(1), or in W⁺(3), at the start."""
        return cones(plus_and_minus(self.start)[0])[..., ::2].reshape(len(self), -1)

    @column
    def spare_margin(self) -> float:
        """γ − 1 − 2c_η."""
        return self.required_margin - 1 - 2 * self.step_constant


def largest_angle(required_margin: float, step_constant: float, cosine: Callable[[float, float], float]) -> float:
    """In degrees; up to γ = 1 nothing is promised."""
    if required_margin <= 1:
        return 180.0
    return math.degrees(math.acos(max(-1.0, min(1.0, cosine(required_margin, step_constant)))))


@claim("brutzkus2019.theorem_6_3_angle", Kind.MAIN, "Theorem 6.3, second part; Section E.0.9",
       reads=trained.at(corner_settings), given=[*THEOREM_6_3, angle_below_a_right_one],
       means=Meaning(
           topic=Topic.LIMIT, promise="The neurons of a wide network gather around the few patterns that matter."
       ),
       title="Filters of wide networks cluster around their patterns")  # fmt: skip
def theorem_6_3_angle(
    runs: FilterAngles,
    *,
    cosine: Callable[[float, float], float] = cosine_limit,
    updates: Callable[[float, float], float] = fewest_updates,
    sharp: Callable[[float, float], float] = sharp_updates,
) -> Promise:
    """Clustering at the global minimum of Theorem 6.3: a filter $w$ that started nearest to $p_i$, $i = 1$ or $3$, ends
    at an angle of at most $arccos((γ − 1 − 2c_η)/(γ − 1 + c_η))$ to $p_i$, after $a⁺(T) ≥ (γ − 1)/(2c_η) − 1$ updates
    on positive points. By Eq. 15 with $γ + 1$ there are even $(γ + 1)/(2c_η) − √2/8$ of them (added).

    In every converged run with a small start; a run without such a filter is about nothing.
    """
    setting, w = runs.per("cell"), runs.per("pairing")
    margins, constants = setting.required_margin, setting.step_constant
    largest = per_setting(lambda gamma, c: largest_angle(gamma, c, cosine), margins, constants)[w.cell]
    fewest, fewest_sharp = (per_setting(each, margins, constants) for each in (updates, sharp))
    member = w.nearest_at_start & w.converged & w.small_start
    event = "filters nearest to their pattern at the start, in runs at zero loss inside the event of E.3"
    counted = {"trivial": 0.0, "quantity": "fewest updates on positive points", "event": event}
    return Promise(
        {
            "angle": at_most(
                w.angle,
                largest,
                within=ROUNDING,
                where=member,
                trivial=180.0,
                text="at an angle of at most $arccos((γ − 1 − 2c_η)/(γ − 1 + c_η))$",
                quantity="largest angle between w_T and its pattern, in degrees",
                event=event,
            ),
            "updates": at_least(
                w.taken,
                fewest[w.cell],
                within=STEP,
                where=member,
                text="$a⁺(T) ≥ (γ − 1)/(2c_η) − 1$",
                **counted,
            ),
            "sharp_updates": at_least(
                w.taken,
                fewest_sharp[w.cell],
                within=STEP,
                where=member,
                text="$a⁺(T) ≥ (γ + 1)/(2c_η) − √2/8$",
                **counted,
            ),
        },
        event=runs.converged & runs.small_start,
        details=lambda: {
            **setting.summary[0],
            "fewest_updates_a_plus": float(w.taken[member].min(initial=math.inf)),
            "promised_updates": fewest[0],
        },
    )
