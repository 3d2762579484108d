"""How far a two-layer network is from a KKT point of min ½‖W‖² with y_i N(x_i) ≥ 1, with the multipliers of the flow.

Multipliers are |ℓ'(q_i)| up to scale. A free non-negative fit would not do: the gradients are linearly dependent in low
dimension, and a fit finds small residuals with a large slack.
"""

import numpy as np
from jaxtyping import Float

Rows = Float[np.ndarray, "neuron dim"]
PerNeuron = Float[np.ndarray, " neuron"]
Points = Float[np.ndarray, "point dim"]
PerPoint = Float[np.ndarray, " point"]


def kkt_residuals(
    rows: Rows,
    output_weights: PerNeuron,
    slope: float,
    points: Points,
    labels: PerPoint,
    pushes: PerPoint | None = None,
) -> tuple[float, float]:
    """(stationarity, slack): ‖W̃ − Σλ_i h_i‖/‖W̃‖ and Σλ_i(q_i/min q − 1)/‖W̃‖², W̃ = W/min q, h_i = ∇(y_i N(x_i)).

    `pushes` replaces |ℓ'(q_i)|. NaN where some margin is not positive.
    """
    margins, gradients = _margins(rows, output_weights, slope, points, labels)
    smallest = margins.min()
    if not smallest > 0:
        return np.nan, np.nan
    weights = _pushes(margins) if pushes is None else pushes
    combined = np.einsum("i,ijd->jd", weights, gradients)
    scaled = rows / smallest
    length = np.linalg.norm(scaled)
    multipliers = weights * length / np.linalg.norm(combined)
    stationarity = np.linalg.norm(scaled - np.einsum("i,ijd->jd", multipliers, gradients)) / length
    slack = multipliers @ (margins / smallest - 1) / length**2
    return float(stationarity), float(slack)


def margin_gradients(
    rows: Rows, output_weights: PerNeuron, slope: float, points: Points, labels: PerPoint
) -> Float[np.ndarray, "point neuron dim"]:
    """h_i = ∇(y_i N(x_i)); σ'(0) = α."""
    return _margins(rows, output_weights, slope, points, labels)[1]


def push_condition(rows: Rows, output_weights: PerNeuron, slope: float, points: Points, labels: PerPoint) -> float:
    """2Σλ_i|q_i|‖h_i‖/‖Σλ_i h_i‖: −∇L/‖∇L‖ turns by at most this times the relative error of the margins q.

    An error δ of q_i multiplies λ_i = |ℓ'(q_i)| by e^{−δ}. Where gradients nearly cancel, it is large.
    """
    margins, gradients = _margins(rows, output_weights, slope, points, labels)
    pushes = _pushes(margins)
    sizes = pushes * np.abs(margins) * np.linalg.norm(gradients, axis=(1, 2))
    return float(2 * sizes.sum() / np.linalg.norm(np.einsum("i,ijd->jd", pushes, gradients)))


def _margins(
    rows: Rows, output_weights: PerNeuron, slope: float, points: Points, labels: PerPoint
) -> tuple[PerPoint, Float[np.ndarray, "point neuron dim"]]:
    """q_i = y_i N(x_i), and h_i."""
    products = points @ rows.T
    slopes = np.where(products > 0, 1.0, slope)
    margins = labels * ((slopes * products) @ output_weights)
    return margins, labels[:, None, None] * (slopes * output_weights)[:, :, None] * points[:, None, :]


def _pushes(margins: PerPoint) -> PerPoint:
    """|ℓ'(q_i)| over the largest of them."""
    logs = -np.logaddexp(0, margins)
    return np.exp(logs - logs.max())
