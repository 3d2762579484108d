"""The convex program of an agreement regime, and when no vector gets one class and a point of the other right.

Inside a regime the network is linear in its weights, and its largest margin is min ‖w‖² + ‖u‖² with
y_i(s_i⟨w, x_i⟩ − t_i⟨u, x_i⟩) ≥ 1, where s_i, t_i are 1 or α by the side of the point: a hard SVM without bias. It is
solved as one (`widenet.diagnostics.find_separator`), with its certificate.
"""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from widenet.diagnostics.separability import Separation, find_separator
from widenet.types import Dataset

Points = Float[np.ndarray, "point dim"]
Signs = Float[np.ndarray, " point"]


@dataclass(frozen=True, eq=False)
class RegimeProgram:
    """The solution of the program of a regime.

    Attributes:
      plus, minus: w and u; NaN without a solution.
      value: ‖w‖² + ‖u‖²; infinite without a solution.
      multipliers: λ ≥ 0 with (w, u) = Σ λ_i a_i, up to `stationarity`.
      stationarity: ‖(w, u) − Σ λ_i a_i‖/‖(w, u)‖, and `slack` Σ λ_i (⟨a_i, (w, u)⟩ − 1)/value: the KKT residuals.
      gap: how far the certified upper and lower bounds on the norm lie apart, relative to it.
    """

    plus: Float[np.ndarray, " dim"]
    minus: Float[np.ndarray, " dim"]
    value: float
    multipliers: Float[np.ndarray, " point"]
    stationarity: float
    slack: float
    gap: float

    @property
    def solution(self) -> Float[np.ndarray, " both"]:
        """(w, u)."""
        return np.concatenate([self.plus, self.minus])


def regime_rows(
    points: Points, labels: Signs, plus_signs: Signs, minus_signs: Signs, slope: float
) -> Float[np.ndarray, "point both"]:
    """a_i = y_i(s_i x_i, −t_i x_i), with s = 1 where c = +1 and α where c = −1."""
    towards_plus = np.where(plus_signs > 0, 1.0, slope) * labels
    towards_minus = np.where(minus_signs > 0, 1.0, slope) * labels
    return np.concatenate([towards_plus[:, None] * points, -towards_minus[:, None] * points], axis=1)


def solve_regime(points: Points, labels: Signs, plus_signs: Signs, minus_signs: Signs, slope: float) -> RegimeProgram:
    """The program of the regime with these signs; with (y, −y) it is Eq. 7 of sarussi2021."""
    rows = regime_rows(points, labels, plus_signs, minus_signs, slope)
    found, dim = _shortest(rows), points.shape[1]
    if found.separator is None:
        nothing = np.full(dim, np.nan)
        return RegimeProgram(nothing, nothing, np.inf, np.full(len(rows), np.nan), np.nan, np.nan, np.nan)
    both, multipliers = found.separator, _multipliers(found, rows)
    value = float(both @ both)
    plus, minus = both[:dim], both[dim:]
    return RegimeProgram(
        plus=plus,
        minus=minus,
        value=value,
        multipliers=multipliers,
        stationarity=float(np.linalg.norm(both - multipliers @ rows) / value**0.5),
        slack=float(multipliers @ (rows @ both - 1) / value),
        gap=float((found.norm_upper - found.norm_lower) / found.norm_upper),
    )


def solve_perfect_agreement(points: Points, labels: Signs, slope: float) -> RegimeProgram:
    """Eq. 7: the program of the regime in which every plus neuron is right on every point, and every minus one too."""
    return solve_regime(points, labels, labels, -labels, slope)


def agreement_kernel(points: Points, labels: Signs, slope: float) -> Float[np.ndarray, "point point"]:
    """The kernel of Eq. 7: (1 + α²)⟨x, x'⟩ for equal labels, 2α⟨x, x'⟩ for unlike ones."""
    own, other = np.where(labels > 0, 1.0, slope), np.where(labels < 0, 1.0, slope)
    return (np.outer(own, own) + np.outer(other, other)) * (points @ points.T)


def critical_margins(points: Points, labels: Signs) -> tuple[Float[np.ndarray, " minus"], Float[np.ndarray, " plus"]]:
    """The largest β for which a unit vector v has ⟨v, x⟩ ≥ β on one class and on one given point of the other; 0: none.

    The first array has one entry per negative point added to the positive ones, the second the roles exchanged.
    Assumption 4 of Theorem 6.2 says that all of them are below β.
    """
    positive, negative = points[labels > 0], points[labels < 0]
    return _with_each(positive, negative), _with_each(negative, positive)


def _with_each(
    side: Float[np.ndarray, "side dim"], others: Float[np.ndarray, "other dim"]
) -> Float[np.ndarray, " other"]:
    """The distance of the origin from the convex hull of one side and one point of the other, in turn."""
    base = _shortest(side) if len(side) else None
    if base is not None and base.separator is None:
        return np.zeros(len(others))
    return np.array([_shortest(np.concatenate([side, other[None]])).margin for other in others])


def separate(points: Points, labels: Signs) -> Separation:
    """The shortest separator of NumPy arrays, or the proof that there is none."""
    return find_separator(Dataset(jnp.asarray(points), jnp.asarray(labels)))


def _shortest(rows: Float[np.ndarray, "row both"]) -> Separation:
    """The shortest z with ⟨z, row⟩ ≥ 1 on every row."""
    return separate(rows, np.ones(len(rows)))


def _multipliers(found: Separation, rows: Float[np.ndarray, "point both"]) -> Float[np.ndarray, " point"]:
    """The weights of the shortest convex combination, scaled so that they combine to the solution."""
    combination = found.weights @ rows
    return found.weights / (combination @ combination)
