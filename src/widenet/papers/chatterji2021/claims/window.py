"""Lemma 15, parts 6 and 7: units that a first step may wake, the norm after it, and the tails behind both."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.special
from jaxtyping import Float

from widenet.claims.base import Evidence, Hypothesis, Kind, Part, Silence, at_least, claim, pick
from widenet.claims.sides import Rate, Sense, Sides, evidence
from widenet.claims.specimen import Specimen
from widenet.papers.chatterji2021.claims.choices import noted
from widenet.papers.chatterji2021.claims.starts import (
    SURENESS,
    Seldom,
    conditions,
    over_cells,
    rows_of,
    runs_of,
    starts_on,
    worst,
)
from widenet.papers.chatterji2021.cluster_formulas import (
    capture_level,
    first_step_size,
    initial_deviation,
    least_width_power,
    lower_norm_tail,
    norm_unit,
    output_tail,
    upper_norm_tail,
    window_failure,
    window_middle,
    window_probability,
    window_right,
    window_share,
)
from widenet.papers.chatterji2021.runs.first_steps import FirstSteps, FirstStepSetting, first_steps
from widenet.papers.chatterji2021.runs.start_draws import StartDraws, start_draws, tail_settings
from widenet.records import Scale

TAIL = 1 / 32
"""η of both tails of ‖V^(0)‖ in Appendix D.7."""


@claim("chatterji2021.lemma_15_6", Kind.STEP, "Lemma 15, part 6; Appendix D.6", reads=first_steps)
def lemma_15_6(cells: Sequence[FirstSteps]) -> Evidence:
    """With probability 1 − n exp(−2η²p), η = 5α_0/(σ√(2π)), for every s at most (√2/(σ√π))(h + 5α_0(2 + Δ + r))p units
    with u_i ≠ y_s have v_i·x_s from −α_0(1/2 + 2(Δ + r)) to h + 4α_0; the proof gives half as many.
    """
    return evidence(
        {
            "as printed": over_cells(cells, lambda cell: in_window(cell, 1.0)),
            "half of it, as proved": over_cells(cells, lambda cell: in_window(cell, 0.5)),
        },
        pick(conditions(cells), "unit_inputs", "bandwidth"),
        runs=runs_of(cells),
        details=rows_of(cells, share=_window_share),
        note=noted(cells, SURENESS),
    )


def _window_share(cell: FirstSteps) -> float:
    return window_share(cell.half_width, cell.step, cell.deviation, cell.overlap, cell.radius)


def in_window(cell: FirstSteps, share: float) -> Seldom:
    """The largest count of units in the window, against this share of the printed bound."""
    bound = share * _window_share(cell) * cell.half_width
    sides = Sides(cell.window.max(axis=1), bound, trivial=cell.half_width, quantity="units in the window")
    return Seldom(sides, window_failure(cell.half_width, cell.step, cell.deviation, cell.n_points))


@claim("chatterji2021.lemma_15_7", Kind.STEP, "Lemma 15, part 7; Appendix D.7", reads=first_steps)
def lemma_15_7(cells: Sequence[FirstSteps]) -> Evidence:
    """With probability 1 − exp(−(d+1)p/2048) − exp(−(d+1)p/1024), the weights after the first step have norm
    3/5·√(d/p^β) ≤ ‖V^(1)‖ ≤ 3√(d/p^β), once p is large enough.

    Large enough is worked out from the proof: p^(β/2) ≥ 2 suffices for every d with the numbers of Section 4.
    """
    return evidence(
        {
            "‖V^(1)‖ is at least 3/5·√(d/p^β)": over_cells(cells, lambda cell: norm_within(cell, 0.6, Sense.AT_LEAST)),
            "‖V^(1)‖ is at most 3√(d/p^β)": over_cells(cells, lambda cell: norm_within(cell, 3.0, Sense.AT_MOST)),
        },
        (*pick(conditions(cells), "unit_inputs", "bandwidth", "start", "first_step"), wide_enough(cells)),
        runs=runs_of(cells),
        details=rows_of(cells, ratio=lambda cell: float(cell.norm.mean()) / _norm_unit(cell)),
        note=noted(cells, SURENESS),
    )


def _norm_unit(cell: FirstSteps) -> float:
    return norm_unit(cell.dim, cell.half_width, cell.beta)


def norm_within(cell: FirstSteps, share: float, sense: Sense) -> Seldom:
    """‖V^(1)‖ against this multiple of √(d/p^β)."""
    bound = share * _norm_unit(cell)
    tail = lower_norm_tail if sense is Sense.AT_LEAST else upper_norm_tail
    return Seldom(Sides(cell.norm, bound, sense), tail(cell.dim, cell.half_width, TAIL))


def wide_enough(cells: Sequence[FirstSteps]) -> Hypothesis:
    """p^(β/2) over what the proof needs; see `least_width_power`."""
    ratio = min(cell.half_width ** (cell.beta / 2) / least_width_power(cell.dim, cell.scaling) for cell in cells)
    return at_least("wide_enough", "smallest p^(β/2), over what the proof needs", ratio, 1)


@lemma_15_6.speaks
@lemma_15_7.speaks
def window_on(specimen: Specimen) -> list[FirstStepSetting] | Silence:
    """Random starts on the reader's data."""
    return starts_on(specimen)


@dataclass(frozen=True, eq=False)
class Windows:
    """Both sides of Eq. 27 and what lies between them, case by case."""

    exact: Float[np.ndarray, " case"]
    middle: Float[np.ndarray, " case"]
    right: Float[np.ndarray, " case"]


def draw_windows(scale: Scale, seed: int) -> Windows:
    """Widths from 100 to 10⁸, both scalings, several β, Δ and r, none among them."""
    rows = []
    grid = itertools.product((1e2, 1e4, 1e6, 1e8), (0.1, 0.25, 0.45), ("sec4", "exact"), (0.0, 0.13), (0.0, 0.07))
    for p, beta, scaling, overlap, radius in grid:
        deviation, step = initial_deviation(p, beta, scaling), first_step_size(p, beta, scaling)
        rows.append(
            (
                window_probability(capture_level(p, beta, scaling), step, deviation, overlap, radius),
                window_middle(p, step, deviation, overlap, radius),
                window_right(p, step, deviation, overlap, radius),
            )
        )
    return Windows(*np.array(rows).T)


@claim("chatterji2021.equation_27", Kind.STEP, "Eq. 27, Appendix D.6", draws=draw_windows)
def equation_27(found: Windows) -> Evidence:
    """For Z ~ N(0, σ²), P[−α_0(1/2 + 2(Δ + r)) ≤ Z ≤ h + 4α_0] ≤ (h + 4.5α_0 + 2α_0(Δ + r))/(σ√(2π))
    ≤ (h + 5α_0(1 + Δ + r))/(σ√(2π)).
    """
    return evidence(
        {
            "the probability is at most width times density": Sides(found.exact, found.middle),
            "the width is at most h + 5α_0(1 + Δ + r)": Sides(found.middle, found.right),
        }
    )


ETAS = (0.1, 0.2, 0.3)
MULTIPLES = (1.0, 2.0, 3.0)
"""η²/(4pσ²) for the tail of f_0: smaller ones bound nothing."""


@claim("chatterji2021.appendix_d_tails", Kind.STEP, "Appendices D.3 and D.7", reads=start_draws.at(tail_settings))
def appendix_d_tails(cells: Sequence[StartDraws]) -> Evidence:
    """At the start, P[‖V‖² ≤ (1 − η)·2(d+1)pσ²] ≤ exp(−(d+1)pη²/2), P[‖V‖ ≥ (1 + η)σ√(2(d+1)p)] ≤ exp(−(d+1)pη²), and
    P[|f_0(x)| ≥ η] ≤ 2 exp(−η²/(4pσ²)).
    """
    low = [Rate(c.norms**2 <= 1 - eta, lower_norm_tail(c.dim, c.half_width, eta)) for c in cells for eta in ETAS]
    high = [Rate(c.norms >= 1 + eta, upper_norm_tail(c.dim, c.half_width, eta)) for c in cells for eta in ETAS]
    return evidence(
        {
            "lower tail of ‖V‖²": worst([each.part("") for each in low]),
            "upper tail of ‖V‖": worst([each.part("") for each in high]),
            "tail of f_0": worst([_output_rate(cell, multiple) for cell in cells for multiple in MULTIPLES]),
        }
    )


@dataclass(frozen=True, eq=False)
class ReducedNorms:
    """How often ‖V^(0)‖ is at least 3√(d+1)/(2p^(β/2)) from the start of Theorem 2, for pairs of p and d."""

    half_width: Float[np.ndarray, " case"]
    dim: Float[np.ndarray, " case"]
    shares: Float[np.ndarray, " case"]


def reduced_norms(half_width: Float[np.ndarray, " case"], dim: Float[np.ndarray, " case"]) -> ReducedNorms:
    """‖V^(0)‖² = 2σ²χ² with 2(d+1)p degrees of freedom and σ² = p^−(1+β), so β cancels: χ² is at least 9/16 of them."""
    freedom = 2 * (dim + 1) * half_width
    return ReducedNorms(half_width, dim, np.asarray(scipy.special.gammaincc(freedom / 2, 9 / 16 * freedom / 2)))


def draw_reduced_norms(scale: Scale, seed: int) -> ReducedNorms:
    """From p = 1000 on."""
    p, dim = np.meshgrid(10.0 ** np.arange(3, 7), [2.0, 10.0])
    return reduced_norms(p.ravel(), dim.ravel())


@claim(
    "chatterji2021.appendix_d_tails_as_printed",
    Kind.STEP,
    "Appendix D, v_i·x_s ~ N(0, σ²), and D.7, upper tail",
    draws=draw_reduced_norms,
)
def appendix_d_tails_as_printed(found: ReducedNorms) -> Evidence:
    """From the start of Theorem 2, in the reduced coordinates of Section 4,
    P[‖V^(0)‖ ≥ 3√(d+1)/(2p^(β/2))] ≤ exp(−(d+1)p/1024).
    """
    cases = zip(found.dim.tolist(), found.half_width.tolist(), strict=True)
    return evidence(
        {"upper tail of ‖V^(0)‖": Sides(found.shares, [upper_norm_tail(*case, TAIL) for case in cases])},
        note="Reduced weights have deviation √2σ by Appendix C, and Appendix D keeps σ. The share is above 1/2 for "
        "every p, so no constant in the exponent makes the bound true.",
    )


def _output_rate(cell: StartDraws, multiple: float) -> Part:
    eta = math.sqrt(4 * cell.half_width * multiple) * cell.deviation
    return Rate(np.abs(cell.outputs) >= eta, output_tail(cell.half_width, cell.deviation, eta)).part("")
