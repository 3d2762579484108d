"""Networks in agreement regimes, and rows that converge, or are far apart, inside one."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from widenet.claims.cases import Cases, Number, column
from widenet.claims.tolerances import ROUNDING
from widenet.diagnostics.agreement import agreement_margin, in_regime
from widenet.diagnostics.sign_clusters import widest_angle
from widenet.records import Scale

Rows = Float[np.ndarray, "network neuron dim"]


@dataclass(frozen=True, eq=False)
class RegimeNetworks(Cases):
    """Networks inside a regime, all plus rows with the same signs on the points, all minus rows with the opposite."""

    rows: ClassVar = "network"

    plus: Rows
    minus: Rows
    points: Float[np.ndarray, "point dim"]  #: x_i
    signs: Float[np.ndarray, " point"]  #: c_i
    margins: Float[np.ndarray, " network"]  #: the largest β of each network
    multiples: tuple[float, ...] = (3.0, 1.0, 0.1, 7.0)  #: by which the plus rows of a network may be multiplied
    ways: tuple[float, ...] = (0.5, 0.9, 0.999)  #: how far towards each other rows are moved
    smaller: Number = 0.5  #: a share of β
    limit: Number = 1.0  #: what the limit of rows on such a way is multiplied by, for a control

    @column
    def rounding(self) -> float:
        """What rounding may do to β = min |⟨w, x⟩|/‖w‖, where the products cancel: a share of max ‖x‖, not of β."""
        return float(ROUNDING * np.linalg.norm(self.points, axis=1).max())


def draw_members(scale: Scale, seed: int) -> RegimeNetworks:
    """Thirty networks of four neurons of each sign, in R³, on five points."""
    draw = np.random.default_rng([seed, 62])
    points, base = draw.normal(size=(5, 3)), draw.normal(size=3)
    signs = np.sign(points @ base)
    found = []
    while len(found) < 240:
        row = draw.exponential() * (base + 0.5 * draw.normal(size=3))
        if (signs * (points @ row) > 0).all():
            found.append(row)
    rows = np.array(found).reshape(2, 30, 4, 3)
    margins = np.minimum(agreement_margin(rows[0], points), agreement_margin(rows[1], points))
    return RegimeNetworks(rows[0], -rows[1], points, signs, margins)


@dataclass(frozen=True, eq=False)
class Vanishing(Cases):
    """Rows that converge, on one point: the terms, and their limit."""

    terms: Float[np.ndarray, "term dim"]
    limit: Float[np.ndarray, " dim"]
    point: Float[np.ndarray, " dim"]

    def contains(self, row: np.ndarray) -> bool:
        """Whether it is in NAR(‖x‖), up to rounding."""
        beta = float(np.linalg.norm(self.point)) * (1 - ROUNDING)
        return bool(in_regime(row[None], self.point[None], np.ones(1), beta))

    @column
    def terms_inside(self) -> bool:
        """Whether all terms are."""
        return all(map(self.contains, self.terms))

    @column
    def limit_inside(self) -> bool:
        """Whether their limit is."""
        return self.contains(self.limit)


def draw_vanishing(scale: Scale, seed: int) -> Vanishing:
    """x/m, m = 1, 2, …: all in NAR(‖x‖), and the limit 0 is not."""
    point = np.array([3.0, 4.0])
    return Vanishing(np.stack([point / 2**m for m in range(40)]), np.zeros(2), point)


@dataclass(frozen=True, eq=False)
class FewRows(Cases):
    """Rows of both signs on a few points."""

    plus: Float[np.ndarray, "row dim"]
    minus: Float[np.ndarray, "row dim"]
    points: Float[np.ndarray, "point dim"]
    labels: Float[np.ndarray, " point"]

    def is_perfect(self, beta: float) -> bool:
        """Whether they are in PAR(β)."""
        sides = ((self.plus, self.labels), (self.minus, -self.labels))
        return all(bool(in_regime(rows, self.points, signs, beta)) for rows, signs in sides)

    @column
    def in_wide_regime(self) -> bool:
        """Whether the plus rows are in NAR(0.01), up to rounding."""
        return bool(in_regime(self.plus, self.points, self.labels, 0.01 * (1 - ROUNDING)))

    @column
    def in_perfect_regime(self) -> bool:
        """Whether all are in PAR(0.316); 1/√10 is 0.3162."""
        return self.is_perfect(0.316)

    @column
    def plus_angle(self) -> float:
        """Between the plus rows, in degrees."""
        return float(widest_angle(self.plus))

    @column
    def opposite_angle(self) -> float:
        """Between the first w and −u."""
        return float(widest_angle(np.stack([self.plus[0], -self.minus[0]])))


def wide_rows(beta: float) -> FewRows:
    """(β, ±√(1 − β²)) on the point e₁."""
    rows = np.array([(beta, (1 - beta**2) ** 0.5), (beta, -((1 - beta**2) ** 0.5))])
    return FewRows(rows, -rows, np.array([[1.0, 0.0]]), np.ones(1))


def draw_wide(scale: Scale, seed: int) -> FewRows:
    """β = 0.01."""
    return wide_rows(0.01)


def draw_crossed(scale: Scale, seed: int) -> FewRows:
    """w = (1, ±3) and u = (−1, ±2) on (1, 0) and (−1, 0)."""
    return FewRows(
        np.array([(1.0, 3.0), (1.0, -3.0)]),
        np.array([(-1.0, 2.0), (-1.0, -2.0)]),
        np.array([(1.0, 0.0), (-1.0, 0.0)]),
        np.array([1.0, -1.0]),
    )
