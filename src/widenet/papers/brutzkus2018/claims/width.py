"""Corollary 3: with R = v = 1/√(2k) (Eq. 6) the bound has no k in it, and neither has training with tied rows."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.cases import by_value, derived
from widenet.claims.implication import Promise, Promised, at_least, at_most, equal, hypothesis, less_than, more_than
from widenet.claims.meaning import Meaning, Topic
from widenet.claims.sides import Fact, Sides
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.brutzkus2018.claims.convergence import lost, promised_updates, zero_loss
from widenet.papers.brutzkus2018.formulas import (
    Values,
    corollary_3_constant,
    equation_14_terms,
    max_nonzero_updates,
    simple_bound,
    sum_of,
    width_free_bound,
)
from widenet.papers.brutzkus2018.hypotheses import EQUAL_SCALE, SGD
from widenet.papers.brutzkus2018.runs.parameters import Formulas, draw_formulas, equation_14_formulas
from widenet.papers.brutzkus2018.runs.recorded_runs import (
    RecordedRuns,
    corollary_3_settings,
    recorded_runs,
)
from widenet.papers.brutzkus2018.runs.tied_rows import TiedRuns, tied_runs
from widenet.papers.brutzkus2018.sources import equal_scale
from widenet.records import Form
from widenet.types import RunStatus

SizeOfWidth = Callable[[int], float]
"""k → the common value of R and v."""


def general_bound(draws: Formulas, normalization: SizeOfWidth) -> np.ndarray:
    """M_k of Theorem 2 for every width and draw."""
    size = by_value(normalization, draws.half_width)
    return max_nonzero_updates(*draws.arguments, size, size, draws.half_width)


@hypothesis("$‖w*‖$")
def separator_norm(formulas: Formulas) -> Sides:
    """‖w*‖ ≥ 1."""
    return at_least(formulas.per("draw").separator_norm, 1)


@hypothesis("Leaky slope $α$ of a formula")
def formula_slope_positive(formulas: Formulas) -> Sides:
    """α > 0."""
    return more_than(formulas.per("draw").slope, 0)


@hypothesis("Leaky slope $α$ of a formula")
def formula_slope_below_one(formulas: Formulas) -> Sides:
    """α < 1."""
    return less_than(formulas.per("draw").slope, 1)


@hypothesis("step size $η$ of a formula")
def formula_step_size(formulas: Formulas) -> Sides:
    """η > 0."""
    return more_than(formulas.per("draw").step_size, 0)


FORMULA = (separator_norm, formula_slope_positive, formula_slope_below_one, formula_step_size)


FORMULAS = draw_formulas(0, 1000)


class EqualScaleRuns(RecordedRuns):
    """The recorded runs, and the parameters at which the formulas are compared, the same for all runs."""

    formulas: Formulas = derived(lambda runs: FORMULAS)

    @property
    def all_formulas(self) -> Formulas:
        """Those of every cell, each once."""
        each: Any = self.per("cell").formulas
        return Formulas.join(dict.fromkeys(each))


AT_FORMULAS = tuple(
    dataclasses.replace(each, measure=lambda runs, each=each: each(runs.all_formulas)) for each in FORMULA
)


@claim(
    "brutzkus2018.corollary_3",
    Kind.MAIN,
    "Corollary 3, Section 5.1; proof in Section 9.1.3",
    reads=recorded_runs.at(corollary_3_settings),
    given=[*AT_FORMULAS, *SGD, *EQUAL_SCALE],
    title="The bound on updates is the same for every width",
    means=Meaning(
        topic=Topic.UPDATES,
        promise="A wider network need not take longer: the limit of {promised} changes of the weights is the same for "
        "every width.",
        seen="the longest run made {measured}",
    ),
)
def corollary_3(
    runs: EqualScaleRuns,
    *,
    normalization: SizeOfWidth = equal_scale,
    constant: Callable[[Values], np.ndarray] = corollary_3_constant,
    bound: Callable[..., np.ndarray] = width_free_bound,
) -> Promise:
    """With $R = v = 1/√(2k)$, SGD makes at most $M = ‖w*‖²/α² + 2‖w*‖²/(ηα²) + √2‖w*‖^{1.5}·√(1/η + 2/η²)/α^{1.5} +
    2‖w*‖/(ηα)$ non-zero updates, for every width $2k$. Moreover $M ≤ ‖w*‖²/α² + K(α)‖w*‖²/min{η, √η}$ with $K(α) = 2/α²
    + (2 + √2)/α^{1.5} + 2/α$ in place of the $O(·)$.
    """
    draws, formulas = runs.all_formulas.per("draw"), runs.all_formulas.per("cell")
    closed = bound(*formulas.arguments)
    simple = simple_bound(*formulas.arguments, constant(formulas.slope))
    limits = promised_updates(runs, bound(*runs.parameters[:3]))
    gone = lost(runs)
    cut_off = runs.status == RunStatus.BUDGET_SPENT
    return Promise(
        {
            "updates": at_most(
                runs.updates,
                limits,
                within=ROUNDING,
                undecided=gone,
                cut_off=cut_off,
                text="at most $M$ non-zero updates",
                quantity="non-zero updates in the tightest run",
            ),
            "zero_loss": zero_loss(runs, gone | cut_off),
            "every_width": equal(
                general_bound(draws, normalization),
                bound(*draws.arguments),
                within=ROUNDING,
                text="$M_k$ is $M$ at every width",
            ),
            "simple": at_most(closed, simple, within=ROUNDING, text="$M ≤ ‖w*‖²/α² + K(α)‖w*‖²/min{η, √η}$"),
        },
        details={
            "formula_draws": formulas.slope.size,
            "half_widths": runs.all_formulas.half_width,
            "half_widths_of_the_runs": np.unique(runs.half_width).astype(int),
        },
    )


@claim(
    "brutzkus2018.equation_14",
    Kind.STEP,
    "Eq. 14, Section 9.1.3",
    draws=equation_14_formulas,
    given=FORMULA,
    title="$M_k$ is at most five terms without the width",
)
def equation_14(formulas: Formulas, *, factors: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0, 1.0)) -> Promised:
    """With $R = v = 1/√(2k)$, $M_k ≤ ‖w*‖²/α² + (2/α²)‖w*‖²/η + (√2/α^{1.5})‖w*‖^{1.5}/√η + (2/α^{1.5})‖w*‖^{1.5}/η +
    (2/α)‖w*‖/η$: the $O(·)$ of Eq. 14 with their constants.
    """
    draws = formulas.per("draw")
    terms = zip(factors, equation_14_terms(*draws.arguments), strict=True)
    promised = sum_of(tuple(np.asarray(factor * term) for factor, term in terms))
    closest = "M_k against the five terms, where it is closest to them"
    text = "$M_k$ is at most the five terms"
    return {
        "five_terms": at_most(general_bound(draws, equal_scale), promised, within=ROUNDING, text=text, quantity=closest)
    }


@hypothesis("$W_0/v$: distance of two plus or two minus rows")
def tied(runs: TiedRuns) -> Sides:
    """All plus rows are equal, and all minus rows."""
    return at_most(runs.untied, 0, within=STEP)


@claim(
    "brutzkus2018.tied_rows",
    Kind.IDENTITY,
    "implied by Eq. 6 and Eq. 10, Section 5.1 (not stated there)",
    reads=tied_runs,
    given=[*EQUAL_SCALE, tied],
    form=Form.OURS,
    title="With tied rows, training is the same at every width",
)
def tied_rows(runs: TiedRuns) -> Promise:
    """With $R = v = 1/√(2k)$, if all plus rows of $W_0$ are $v·a$ and all minus rows $v·b$ for fixed vectors $a$ and
    $b$, then the trajectory of $W/v$ and the number of updates are the same for every $k$.
    """
    setting = runs.per("cell")
    words = "largest relative difference of F/(kv), G/(√k·v) or a row of W/v between two widths"
    return Promise(
        {
            "samples": Fact(
                setting.same_samples,
                undecided=not runs.updates.any(),
                text="the same samples make the updates",
            ),
            "weights": equal(
                setting.difference,
                0.0,
                within=STEP,
                where=setting.same_samples,
                event="pairs of widths that the same samples update",
                text="$W/v$ is the same after every update",
                quantity=words,
            ),
        },
        details={"half_widths": np.unique(runs.half_width).astype(int), "updates": runs.updates.sum()},
    )
