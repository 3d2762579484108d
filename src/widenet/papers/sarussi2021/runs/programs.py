"""Convex programs of data sets: of a regime, of antipodal data, and the critical β of Assumption 4."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from widenet.diagnostics.agreement import agreement_margin
from widenet.diagnostics.agreement_program import critical_margins, separate, solve_perfect_agreement
from widenet.papers.sarussi2021.formulas import (
    antipodal_margin_share,
    largest_feasible_value,
    limit_margin,
    margin_threshold,
)
from widenet.papers.sarussi2021.settings import SignedNetwork

N_MEMBERS = 10
"""Networks drawn in the regime, for every data set and slope."""


def asymmetry(points: np.ndarray) -> float:
    """The largest distance of a −x from the data, relative to the longest point."""
    gaps = np.linalg.norm(points[:, None] + points[None], axis=2).min(axis=1)
    return float(gaps.max() / np.linalg.norm(points, axis=1).max())


@dataclass(frozen=True, eq=False)
class CriticalMargins:
    """Data sets and their critical β, one entry per added point.

    Attributes:
      plus, minus: the critical β of V⁺ and V⁻; asymmetry: how far −x is from the data, at most, relative to ‖x‖.
      margin: the smallest γ_svm.
    """

    plus: np.ndarray
    minus: np.ndarray
    asymmetry: float
    margin: float


def critical_of(sets: Sequence[tuple[np.ndarray, np.ndarray]]) -> CriticalMargins:
    """Solve the programs of these data sets."""
    found = [critical_margins(*each) for each in sets]
    return CriticalMargins(
        plus=np.concatenate([each[0] for each in found]),
        minus=np.concatenate([each[1] for each in found]),
        asymmetry=max(asymmetry(points) for points, _ in sets),
        margin=min(separate(*each).margin for each in sets),
    )


@dataclass(frozen=True, eq=False)
class ScaledMargins:
    """Critical β and agreement margins of data sets before and after all points were multiplied by `factors`."""

    before: np.ndarray
    after: np.ndarray
    factors: np.ndarray
    rows_before: np.ndarray
    rows_after: np.ndarray
    row_factors: np.ndarray


def scaled_margins(
    sets: Sequence[tuple[np.ndarray, np.ndarray]], factors: Sequence[float] = (0.1, 10.0), shift: float = 0.0
) -> ScaledMargins:
    """Both quantities for each factor. `shift` translates the points instead, for a control."""
    rows = np.random.default_rng(15).normal(size=(6, 8))
    columns: list[list[np.ndarray]] = [[] for _ in range(6)]
    for points, labels in sets:
        critical = np.concatenate(critical_margins(points, labels))
        own = np.asarray(agreement_margin(rows[:, : points.shape[1]], points))[None]
        for factor in factors:
            moved = points + shift if shift else factor * points
            after = np.concatenate(critical_margins(moved, labels))
            rows_after = np.asarray(agreement_margin(rows[:, : points.shape[1]], factor * points))[None]
            filled = (critical, after, np.full(len(after), factor), own, rows_after, np.array([factor]))
            for column, values in zip(columns, filled, strict=True):
                column.append(values)
    return ScaledMargins(*(np.concatenate(column) for column in columns))


@dataclass(frozen=True, eq=False)
class Program:
    """A data set, a slope, and the signs of a regime; (y, −y) by default."""

    points: np.ndarray
    labels: np.ndarray
    slope: float
    plus_signs: np.ndarray
    minus_signs: np.ndarray


def program(points: np.ndarray, labels: np.ndarray, slope: float, plus=None, minus=None) -> Program:
    """With the signs of perfect agreement where none are given."""
    signs = labels if plus is None else np.asarray(plus, np.float64)
    return Program(points, labels, slope, signs, -labels if minus is None else np.asarray(minus, np.float64))


@dataclass(frozen=True, eq=False)
class Mirrored:
    """Antipodal data sets: the solution of Eq. 7 beside the SVM, per set stacked over coordinates.

    Attributes:
      plus, minus, machine: w, u, and w_svm/(1 + α), all coordinates in turn; sizes: the norm of w.
      values, promised: val and 2‖w_svm‖²/(1 + α)².
      asymmetry: how far −x is from the data; gap: how far the certified bounds of a program lie apart, at most.
    """

    plus: np.ndarray
    minus: np.ndarray
    machine: np.ndarray
    sizes: np.ndarray
    values: np.ndarray
    promised: np.ndarray
    asymmetry: float
    margin: float
    gap: float


def mirrored(sets: Sequence[tuple[np.ndarray, np.ndarray, float]]) -> Mirrored:
    """Solve both programs."""
    rows, values, promised, gaps, margins, unsolved = [], [], [], [], [], []
    for points, labels, slope in sets:
        solved, machine = solve_perfect_agreement(points, labels, slope), separate(points, labels)
        separator = np.full(points.shape[1], np.nan) if machine.separator is None else machine.separator
        size = np.full(points.shape[1], np.linalg.norm(solved.plus))
        rows.append(np.stack([solved.plus, solved.minus, separator / (1 + slope), size]))
        values.append(solved.value)
        promised.append(2 * (machine.norm_upper / (1 + slope)) * (machine.norm_upper / (1 + slope)))  # may be infinite
        gaps.append(asymmetry(points))
        margins.append(machine.margin)
        unsolved += [solved.gap, (machine.norm_upper - machine.norm_lower) / machine.norm_upper]
    plus, minus, scaled, sizes = np.concatenate(rows, axis=1)
    ends = (max(gaps), min(margins), max(unsolved))
    return Mirrored(plus, minus, scaled, sizes, np.array(values), np.array(promised), *ends)


@dataclass(frozen=True, eq=False)
class Feasibility:
    """Whether Assumption 3 of Theorem 6.2 can hold inside the regime of perfect agreement.

    Attributes:
      values, limits: val of Eq. 7 and 1/(αR_x)²; thresholds: √k·αvR_x; margins: the normalized margin of the network
        at the solution of Eq. 7, and inside, whether it lies in the regime.
      member_margins, member_limits: normalized margins of networks of the regime, that one among them if it is inside,
        and v√(k/val).
      shares, needed: γ_svm/R_x and √2α/(1 + α), of antipodal data only; mirrored_values, mirrored_limits likewise.
      small, decoupled: val at α = 1e-6, and the sum of the two one-class values.
    """

    values: np.ndarray
    limits: np.ndarray
    thresholds: np.ndarray
    margins: np.ndarray
    inside: np.ndarray
    member_margins: np.ndarray
    member_limits: np.ndarray
    shares: np.ndarray
    needed: np.ndarray
    mirrored_values: np.ndarray
    mirrored_limits: np.ndarray
    small: np.ndarray
    decoupled: np.ndarray


def feasibility(
    sets: Sequence[tuple[np.ndarray, np.ndarray]], slopes: Sequence[float], k: int = 3, v: float = 0.4
) -> Feasibility:
    """For every data set and slope, with k neurons of each sign."""
    rows, antipodal, small, members = [], [], [], []
    draw = np.random.default_rng(3)
    for points, labels in sets:
        largest, machine = np.linalg.norm(points, axis=1).max(), separate(points, labels)
        ones = [separate(points[labels == y], labels[labels == y]).norm_upper ** 2 for y in (1.0, -1.0)]
        small.append((solve_perfect_agreement(points, labels, 1e-6).value, sum(ones)))
        around = right_rows(points, labels, draw)
        for slope in slopes:
            solved = solve_perfect_agreement(points, labels, slope)
            value, ceiling = solved.value, float(largest_feasible_value(slope, largest))
            threshold = float(margin_threshold(slope, v, k, largest))
            best = SignedNetwork(np.tile(solved.plus, (k, 1)), np.tile(solved.minus, (k, 1)), v, slope)
            inside = bool((labels * (points @ np.stack([solved.plus, -solved.minus]).T).T > 0).all())
            rows.append((value, ceiling, threshold, _margin(best, points, labels), inside))
            networks = [best] if inside else []
            for _ in range(N_MEMBERS if len(around) else 0):
                chosen = around[draw.integers(len(around), size=(2, k))] * draw.uniform(0.5, 2, size=(2, 1, 1))
                networks.append(SignedNetwork(chosen[0], -chosen[1], v, slope))
            limit = float(limit_margin(value, v, k))
            members += [(_margin(network, points, labels), limit) for network in networks]
            if asymmetry(points) == 0:
                antipodal.append((machine.margin / largest, float(antipodal_margin_share(slope)), value, ceiling))
    values, limits, thresholds, margins, inside = np.array(rows).T
    both, found = np.array(antipodal).reshape(-1, 4), np.array(members).reshape(-1, 2)
    return Feasibility(
        values, limits, thresholds, margins, inside > 0, found[:, 0], found[:, 1], *both.T, *np.array(small).T
    )


def right_rows(points: np.ndarray, labels: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """Vectors around the SVM that are right on every point; none where nothing separates the points."""
    base = separate(points, labels).vector(points.shape[1])
    rows = base + 0.3 * np.linalg.norm(base) * draw.normal(size=(100, len(base)))
    return rows[(labels * (rows @ points.T) > 0).all(axis=1)]


def _margin(network: SignedNetwork, points: np.ndarray, labels: np.ndarray) -> float:
    return float((labels * network.outputs(points)).min() / network.norm)
