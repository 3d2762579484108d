"""Corollary 3: with R = v = 1/√(2k) (Eq. 6) the bound has no k in it, and neither has training with tied rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Evidence, Hypothesis, Kind, Runs, at_least, at_most, claim, less_than, more_than
from widenet.claims.meaning import Topic
from widenet.claims.sides import Fact, Sense, Sides, evidence
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.brutzkus2018.claims.conditions import conditions, ended, lost, promised_updates, zero_loss
from widenet.papers.brutzkus2018.claims.convergence import ledgers_on
from widenet.papers.brutzkus2018.formulas import (
    Values,
    corollary_3_constant,
    equation_14_terms,
    max_nonzero_updates,
    simple_bound,
    sum_of,
    width_free_bound,
)
from widenet.papers.brutzkus2018.runs.ledgers import ATTAINED, NEARLY_ATTAINED, Ledgers, LedgerSetting, joined, ledgers
from widenet.papers.brutzkus2018.runs.tied_rows import TiedRuns, tied_runs
from widenet.papers.brutzkus2018.runs.trials import TiedWidths, equal_scale
from widenet.records import Scale
from widenet.types import RunStatus

Normalization = Callable[[int], float]
"""k → the common value of R and v."""


@dataclass(frozen=True, eq=False)
class Formulas:
    """Random ‖w*‖, α, η at which the formulas are compared, for every width of a list."""

    separator_norms: Float[np.ndarray, " draw"]
    slopes: Float[np.ndarray, " draw"]
    step_sizes: Float[np.ndarray, " draw"]
    half_widths: tuple[int, ...]

    @property
    def arguments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(‖w*‖, α, η)."""
        return self.separator_norms, self.slopes, self.step_sizes

    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What the formulas need."""
        return (
            at_least("separator_norm", "smallest ‖w*‖", self.separator_norms.min(), 1),
            more_than("formula_slope_positive", "smallest Leaky slope α of a formula", self.slopes.min(), 0),
            less_than("formula_slope_below_one", "largest Leaky slope α of a formula", self.slopes.max(), 1),
            more_than("formula_step_size", "smallest step size η of a formula", self.step_sizes.min(), 0),
        )

    def general(self, normalization: Normalization) -> Float[np.ndarray, "width draw"]:
        """M_k of Theorem 2 for every width and draw."""
        ws, slopes, etas = self.arguments
        return np.stack(
            [
                max_nonzero_updates(ws, slopes, etas, normalization(half), normalization(half), half)
                for half in self.half_widths
            ]
        )


def draw_formulas(seed: int, count: int) -> Formulas:
    """Parameters over all sizes that matter, and where the constants of Eq. 14 and K(α) are nearly attained."""
    draw = np.random.default_rng(seed)
    return Formulas(
        np.r_[1.0, 1.0, 3.0, 1.0, draw.uniform(1, 50, count)],
        np.r_[0.99, 0.99, 0.99, 0.5, draw.uniform(0.01, 0.99, count)],
        np.r_[1e-6, 1e6, 1e9, 1e-6, np.exp(draw.uniform(np.log(1e-3), np.log(1e3), count))],
        (1, 2, 10, 100, 1000),
    )


FORMULAS = draw_formulas(0, 1000)


def corollary_3_settings(scale: Scale, seed: int) -> list[LedgerSetting]:
    """The same data trained at four widths, and sequences that nearly attain M_k."""
    widths = TiedWidths(seed=seed, n_data_sets=3 if scale is Scale.QUICK else 50)
    return [NEARLY_ATTAINED, ATTAINED, LedgerSetting(trials=widths)]


@claim(
    "brutzkus2018.corollary_3",
    Kind.MAIN,
    "Corollary 3, Section 5.1; proof in Section 9.1.3",
    reads=ledgers.at(corollary_3_settings),
)
def corollary_3(
    cells: Sequence[Ledgers],
    *,
    formulas: Formulas = FORMULAS,
    normalization: Normalization = equal_scale,
    constant: Callable[[Values], np.ndarray] = corollary_3_constant,
    bound: Callable[..., np.ndarray] = width_free_bound,
) -> Evidence:
    """With R = v = 1/√(2k), SGD makes at most M = ‖w*‖²/α² + 2‖w*‖²/(ηα²) + √2‖w*‖^1.5·√(1/η + 2/η²)/α^1.5 +
    2‖w*‖/(ηα) non-zero updates, for every width 2k; and M ≤ ‖w*‖²/α² + K(α)‖w*‖²/min{η, √η} with
    K(α) = 2/α² + (2 + √2)/α^1.5 + 2/α in place of the O(·).
    """
    runs = joined(cells)
    ws, slopes, etas = formulas.arguments
    closed = bound(ws, slopes, etas)
    general = formulas.general(normalization)
    simple = simple_bound(ws, slopes, etas, constant(slopes))
    limits = promised_updates(runs, bound(*runs.parameters[:3]))
    gone = lost(runs)
    cut_off = gone | (runs.status == RunStatus.BUDGET_SPENT)
    return evidence(
        {
            "at most M non-zero updates": Sides(
                runs.updates,
                limits,
                Sense.AT_MOST,
                room=ROUNDING * limits,
                undecided=gone | (cut_off & (runs.updates <= limits)),
                quantity="non-zero updates in the tightest run",
            ),
            "training loss 0 at the end": zero_loss(runs, cut_off),
            "M_k is M at every width": Sides(general, closed, Sense.EQUAL, room=ROUNDING * closed),
            "M ≤ ‖w*‖²/α² + K(α)‖w*‖²/min{η, √η}": Sides(closed, simple, Sense.AT_MOST, room=ROUNDING * simple),
        },
        (*formulas.hypotheses(), *conditions(runs), *normalized(runs)),
        runs=ended(runs),
        details={
            "formula_draws": len(ws),
            "half_widths": list(formulas.half_widths),
            "half_widths_of_the_runs": sorted({int(half) for half in runs.half_width}),
        },
    )


corollary_3.speaks(ledgers_on)


def normalized(runs: Ledgers | TiedRuns) -> tuple[Hypothesis, ...]:
    """R and v measured against 1/√(2k)."""
    scale = (2 * runs.half_width) ** -0.5
    weights, radii = (np.abs(values / scale - 1).max() for values in (runs.output_weight, runs.row_bound))
    return (
        at_most("normalized_output", "v against 1/√(2k): relative difference", weights, 0, tolerance=ROUNDING),
        at_most("normalized_rows", "R against 1/√(2k): relative difference", radii, 0, tolerance=ROUNDING),
    )


def equation_14_formulas(scale: Scale, seed: int) -> Formulas:
    """Random parameters."""
    return draw_formulas(seed, 1000 if scale is Scale.QUICK else 100_000)


@claim("brutzkus2018.equation_14", Kind.STEP, "Eq. 14, Section 9.1.3", draws=equation_14_formulas)
def equation_14(formulas: Formulas, *, factors: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0, 1.0)) -> Evidence:
    """With R = v = 1/√(2k), M_k ≤ ‖w*‖²/α² + (2/α²)‖w*‖²/η + (√2/α^1.5)‖w*‖^1.5/√η + (2/α^1.5)‖w*‖^1.5/η +
    (2/α)‖w*‖/η: the O(·) of Eq. 14 with their constants.
    """
    terms = zip(factors, equation_14_terms(*formulas.arguments), strict=True)
    promised = sum_of(tuple(np.asarray(factor * term) for factor, term in terms))
    sides = Sides(
        formulas.general(equal_scale),
        promised,
        Sense.AT_MOST,
        room=ROUNDING * promised,
        quantity="M_k against the five terms, where it is closest to them",
    )
    return evidence({"M_k is at most the five terms": sides}, formulas.hypotheses())


@claim(
    "brutzkus2018.tied_rows",
    Kind.IDENTITY,
    "implied by Eq. 6 and Eq. 10, Section 5.1 (not stated there)",
    reads=tied_runs,
)
def tied_rows(cells: Sequence[TiedRuns]) -> Evidence:
    """With R = v = 1/√(2k), if all plus rows of W_0 are v·a and all minus rows v·b for fixed vectors a, b, then the
    trajectory of W/v and the number of updates are the same for every k.
    """
    (runs,) = cells
    updated = runs.updates.any()
    return evidence(
        {
            "the same samples make the updates": Fact(runs.same_samples, undecided=not updated),
            "W/v is the same after every update": Sides(
                runs.difference,
                0.0,
                Sense.EQUAL,
                room=STEP,
                scored=runs.same_samples,
                quantity="largest relative difference of F/(kv), G/(√k·v) or a row of W/v between two widths",
            ),
        },
        (
            *normalized(runs),
            at_most(
                "tied", "W_0/v: largest distance of two plus or two minus rows", runs.untied.max(), 0, tolerance=STEP
            ),
        ),
        runs=Runs(tried=len(runs.updates), unfinished=int((runs.status != RunStatus.CONVERGED).sum())),
        details={"half_widths": sorted({int(half) for half in runs.half_width}), "updates": int(runs.updates.sum())},
    )


corollary_3.means(
    Topic.UPDATES,
    "A wider network need not take longer: the limit of {promised} changes of the weights is the same for every width.",
    "the longest run made {measured}",
)
