"""Corollary 3: with R = v = 1/√(2k) (Eq. 6) the bound has no k in it, and the measured counts do not grow with k."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Claim, Evidence, Hypothesis, Kind, Runs, at_least, at_most, less_than, more_than
from widenet.claims.legacy import Evidence_, decide, ratio
from widenet.papers.brutzkus2018.claims.potentials import Book, promise
from widenet.papers.brutzkus2018.formulas import (
    Values,
    corollary_3_constant,
    equation_14_terms,
    max_nonzero_updates,
    sum_of,
    width_free_bound,
)
from widenet.papers.brutzkus2018.runs.draws import (
    as_trials,
    basis_sequence,
    plus_minus_weights,
    separable_points,
    unit_rows,
)
from widenet.papers.brutzkus2018.runs.ledger import Ledger, Start, keep_ledger, larger
from widenet.papers.brutzkus2018.runs.trials import ROUNDING, Trials, hypotheses
from widenet.training import Cyclic, WithReplacement
from widenet.types import Progress, RunStatus, Scale, silent

Normalization = Callable[[int], float]
"""k → the common value of R and v."""


def equation_6(half_width: int) -> float:
    """R = v = 1/√(2k)."""
    return (2 * half_width) ** -0.5


@dataclass(frozen=True)
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
            at_least("smallest_w", "smallest ‖w*‖", self.separator_norms.min(), 1),
            more_than("smallest_leaky_slope_slope", "smallest Leaky slope α", self.slopes.min(), 0),
            less_than("largest_leaky_slope_slope", "largest Leaky slope α", self.slopes.max(), 1),
            more_than("smallest_step_size_step_size", "smallest step size η", self.step_sizes.min(), 0),
        )

    def general(self, normalization: Normalization) -> np.ndarray:
        """M_k of Theorem 2 for every width and draw."""
        ws, slopes, etas = self.arguments
        return np.stack(
            [
                max_nonzero_updates(ws, slopes, etas, normalization(half), normalization(half), half)
                for half in self.half_widths
            ]
        )


@dataclass(frozen=True)
class Corollary3:
    """Draws for the formulas, and runs under Eq. 6."""

    formulas: Formulas
    book: Book


def check_corollary_3(
    setting: Corollary3,
    progress: Progress = silent,
    *,
    normalization: Normalization = equation_6,
    constant: Callable[[Values], np.ndarray] = corollary_3_constant,
) -> Evidence:
    """M_k is one closed form for all k; it is at most ‖w*‖²/α² + K(α)‖w*‖²/min(η, √η); and no run exceeds it."""
    formulas, ledgers = setting.formulas, setting.book.ledgers
    ws, slopes, etas = formulas.arguments
    closed = width_free_bound(ws, slopes, etas)
    mismatch = float(np.abs(formulas.general(normalization) / closed - 1).max())
    simple = (ws / slopes) ** 2 + constant(slopes) * ws**2 / np.minimum(etas, np.sqrt(etas))
    counts = np.asarray([float(ledger.updates) for ledger in ledgers])
    limits = promise(ledgers, lambda ledger: float(width_free_bound(*ledger.start.parameters[:3])))
    over = counts > np.floor(limits * (1 + 1e-12))
    unfinished = sum(ledger.end is not RunStatus.CONVERGED for ledger in ledgers)
    conditions = (*formulas.hypotheses(), *hypotheses(setting.book.batches), *normalized(ledgers))
    failed = mismatch > 1e-12 or (closed > simple * (1 + 1e-12)).any() or over.any()
    conclusion = False if failed else None if unfinished or not len(ledgers) else True
    worst = int(np.argmax(counts / limits))
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=len(ledgers), unfinished=unfinished),
        conclusion=conclusion,
        quantity="non-zero updates in the tightest run",
        promised=float(limits[worst]),
        measured=float(counts[worst]),
        tightness=ratio(float(counts[worst]), float(limits[worst])),
        config={
            "formula_draws": len(ws),
            "half_widths": list(formulas.half_widths),
            "largest_relative_difference_between_widths": mismatch,
            "largest_M_over_its_simple_bound": float((closed / simple).max()),
            "half_widths_of_the_runs": sorted({ledger.start.half_width for ledger in ledgers}),
        },
    )


def normalized(ledgers: Sequence[Ledger]) -> tuple[Hypothesis, ...]:
    """R and v measured against 1/√(2k)."""
    starts = [ledger.start for ledger in ledgers]
    weights = max(abs(start.output_weight / equation_6(start.half_width) - 1) for start in starts)
    radii = max(abs(start.row_bound / equation_6(start.half_width) - 1) for start in starts)
    return (
        at_most("v_against_1_2k", "v against 1/√(2k): relative difference", weights, 0, tolerance=ROUNDING),
        at_most("r_against_1_2k", "R against 1/√(2k): relative difference", radii, 0, tolerance=ROUNDING),
    )


def _corollary_3_setting(scale: Scale, seed: int) -> Corollary3:
    """Formulas at random parameters; the same data trained at five widths; the sequence that nearly attains M_k."""
    draw = np.random.default_rng(seed)
    data_sets = 3 if scale is Scale.QUICK else 50
    batches = [basis_sequence(100, 1, 0.99, 100.0)]
    for number in range(data_sets):
        points = separable_points(draw, 10, 40, float(draw.uniform(2, 6)))
        slope, eta = float(draw.uniform(0.2, 0.9)), float(np.exp(draw.uniform(-1, 3)))
        for half in (1, 4, 16, 64):
            batches.append(_one_trial(draw, points, half, slope, eta, seed + number))
    return Corollary3(_formulas(draw, 1000), Book(tuple(batches)))


def _formulas(draw: np.random.Generator, count: int) -> Formulas:
    return Formulas(
        draw.uniform(1, 50, count),
        draw.uniform(0.01, 0.99, count),
        np.exp(draw.uniform(np.log(1e-3), np.log(1e3), count)),
        (1, 2, 10, 100, 1000),
    )


def _one_trial(
    draw: np.random.Generator,
    points: tuple[np.ndarray, np.ndarray, np.ndarray],
    half: int,
    slope: float,
    step_size: float,
    seed: int,
) -> Trials:
    inputs, labels, separator = points
    size = equation_6(half)
    return as_trials(
        inputs[None],
        labels[None],
        separator[None],
        size * unit_rows(draw, 2 * half, inputs.shape[1])[None],
        plus_minus_weights(half, size)[None],
        np.full(1, slope),
        np.full(1, step_size),
        np.full(1, size),
        WithReplacement(),
        seed,
    )


corollary_3 = Claim(
    id="brutzkus2018.corollary_3",
    kind=Kind.MAIN,
    statement=(
        "With R = v = 1/√(2k), SGD makes at most M = ‖w*‖²/α² + 2‖w*‖²/(ηα²) + √2‖w*‖^1.5·√(1/η + 2/η²)/α^1.5 + "
        "2‖w*‖/(ηα) non-zero updates, for every width 2k; and M ≤ ‖w*‖²/α² + K(α)‖w*‖²/min{η, √η} with "
        "K(α) = 2/α² + (2 + √2)/α^1.5 + 2/α in place of the O(·)."
    ),
    where="Corollary 3, Section 5.1; proof in Section 9.1.3",
    judge=check_corollary_3,
    draws=_corollary_3_setting,
)


def check_equation_14(
    formulas: Formulas,
    progress: Progress = silent,
    *,
    factors: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0, 1.0),
) -> Evidence:
    """M_k under Eq. 6 is at most the sum of the five terms with their constants; a control shrinks some of them."""
    measured = formulas.general(equation_6)
    terms = equation_14_terms(*formulas.arguments)
    promised = sum_of(tuple(np.asarray(f * term) for f, term in zip(factors, terms, strict=True)))
    quotients = measured / promised
    width, worst = np.unravel_index(int(np.argmax(quotients)), quotients.shape)
    conditions = formulas.hypotheses()
    conclusion = bool((quotients <= 1 + 1e-12).all())
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=int(quotients.size)),
        conclusion=conclusion,
        quantity="M_k against the five terms, where it is closest to them",
        promised=float(promised[worst]),
        measured=float(measured[width, worst]),
        tightness=float(quotients[width, worst]),
        config={"formula_draws": len(promised), "half_widths": list(formulas.half_widths)},
    )


def _equation_14_setting(scale: Scale, seed: int) -> Formulas:
    return _formulas(np.random.default_rng(seed), 1000 if scale is Scale.QUICK else 100_000)


equation_14 = Claim(
    id="brutzkus2018.equation_14",
    kind=Kind.STEP,
    statement=(
        "With R = v = 1/√(2k), M_k ≤ ‖w*‖²/α² + (2/α²)‖w*‖²/η + (√2/α^1.5)‖w*‖^1.5/√η + (2/α^1.5)‖w*‖^1.5/η + "
        "(2/α)‖w*‖/η: the O(·) of Eq. 14 with their constants."
    ),
    where="Eq. 14, Section 9.1.3",
    judge=check_equation_14,
    draws=_equation_14_setting,
)


@dataclass(frozen=True)
class Tied:
    """Data, and one row for all plus neurons and one for all minus neurons, in units of v."""

    inputs: Float[np.ndarray, "sample dim"]
    labels: Float[np.ndarray, " sample"]
    separator: Float[np.ndarray, " dim"]
    plus_row: Float[np.ndarray, " dim"]
    minus_row: Float[np.ndarray, " dim"]
    half_widths: tuple[int, ...]
    slope: float
    step_size: float

    def start(self, half: int, size: float) -> Start:
        """The network of half-width k with v = `size` and rows v·(the fixed vectors)."""
        rows = np.concatenate([np.tile(self.plus_row, (half, 1)), np.tile(self.minus_row, (half, 1))])
        output = plus_minus_weights(half, size)
        return Start(self.inputs, self.labels, self.separator, size * rows, output, self.slope, self.step_size, size)


def check_tied_rows(
    cases: Sequence[Tied], progress: Progress = silent, *, normalization: Normalization = equation_6
) -> Evidence:
    """The same samples update, and W/v is the same after every update, whatever k."""
    worst, different, ledgers = 0.0, 0, []
    for number, case in enumerate(cases):
        runs = [keep_ledger(case.start(k, normalization(k)), Cyclic(), 20_000) for k in case.half_widths]
        ledgers += runs
        for run in runs[1:]:
            if not np.array_equal(run.samples, runs[0].samples):
                different += 1
                continue
            for ours, reference in zip(_in_units_of_v(run), _in_units_of_v(runs[0]), strict=True):
                worst = larger(worst, float(np.abs(ours - reference).max() / np.abs(reference).max()))
        progress((number + 1) / len(cases), "data sets at every width")
    conditions = normalized(ledgers)
    updates = sum(ledger.updates for ledger in ledgers)
    conclusion = bool(different == 0 and worst <= 1e-9) if updates else None
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=len(ledgers), unfinished=sum(ledger.end is not RunStatus.CONVERGED for ledger in ledgers)),
        conclusion=conclusion,
        quantity="largest relative difference of F/(kv), G/(√k·v) or W/v between two widths, against rounding",
        promised=1e-9,
        measured=worst,
        config={
            "half_widths": list(cases[0].half_widths),
            "updates": updates,
            "runs_with_another_sequence_of_updates": different,
            "update_counts": [ledger.updates for ledger in ledgers],
        },
    )


def _in_units_of_v(ledger: Ledger) -> tuple[np.ndarray, ...]:
    """F/(kv) and G/(√k·v) over time, and the first plus and minus row of W/v at the end."""
    k, v = ledger.start.half_width, ledger.start.output_weight
    return ledger.alignments / (k * v), ledger.norms / (k**0.5 * v), ledger.hidden[[0, k]] / v


def _tied_setting(scale: Scale, seed: int) -> list[Tied]:
    draw = np.random.default_rng(seed)
    cases = []
    for _ in range(4 if scale is Scale.QUICK else 50):
        points = separable_points(draw, 8, 40, float(draw.uniform(2, 8)))
        rows = unit_rows(draw, 2, 8)
        slope, eta = float(draw.uniform(0.1, 0.9)), float(np.exp(draw.uniform(-2, 2)))
        cases.append(Tied(*points, rows[0], rows[1], (1, 4, 16, 256), slope, eta))
    return cases


tied_rows = Claim(
    id="brutzkus2018.tied_rows",
    kind=Kind.IDENTITY,
    statement=(
        "With R = v = 1/√(2k), if all plus rows of W_0 are v·a and all minus rows v·b for fixed vectors a, b, then the "
        "trajectory of W/v and the number of updates are the same for every k."
    ),
    where="implied by Eq. 6 and Eq. 10, Section 5.1 (not stated there)",
    judge=check_tied_rows,
    draws=_tied_setting,
)
