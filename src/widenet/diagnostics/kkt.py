"""How far a two-layer network is from a KKT point of min ½‖W‖² with y_i N(x_i) ≥ 1, with the multipliers of the flow.

Multipliers are |ℓ'(q_i)| up to scale. A free non-negative fit would not do: the gradients are linearly dependent in low
dimension, and a fit finds small residuals with a large slack.
"""

import numpy as np
from jaxtyping import Float


def kkt_residuals(
    rows: Float[np.ndarray, "neuron dim"],
    output_weights: Float[np.ndarray, " neuron"],
    slope: float,
    points: Float[np.ndarray, "point dim"],
    labels: Float[np.ndarray, " point"],
    pushes: Float[np.ndarray, " point"] | None = None,
) -> tuple[float, float]:
    """(stationarity, slack): ‖W̃ − Σλ_i h_i‖/‖W̃‖ and Σλ_i(q_i/min q − 1)/‖W̃‖², W̃ = W/min q, h_i = ∇(y_i N(x_i)).

    `pushes` replaces |ℓ'(q_i)|. NaN where some margin is not positive.
    """
    products = points @ rows.T
    slopes = np.where(products > 0, 1.0, slope)
    margins = labels * ((slopes * products) @ output_weights)
    smallest = margins.min()
    if not smallest > 0:
        return np.nan, np.nan
    gradients = labels[:, None, None] * (slopes * output_weights)[:, :, None] * points[:, None, :]
    logs = -np.logaddexp(0, margins)
    weights = np.exp(logs - logs.max()) if pushes is None else pushes
    combined = np.einsum("i,ijd->jd", weights, gradients)
    scaled = rows / smallest
    length = np.linalg.norm(scaled)
    multipliers = weights * length / np.linalg.norm(combined)
    stationarity = np.linalg.norm(scaled - np.einsum("i,ijd->jd", multipliers, gradients)) / length
    slack = multipliers @ (margins / smallest - 1) / length**2
    return float(stationarity), float(slack)
