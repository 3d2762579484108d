"""Networks of Huberized ReLUs in NumPy: outputs, the logistic loss with its gradient and its weak Hessian.

f(x) = Σ u_i φ(⟨v_i, x⟩) with u_i = +1 for the first half of the rows and −1 for the second, no biases (they are a
column of the weights where the inputs end in a constant). The loss is the mean of log(1 + exp(−y f(x))). Second
derivatives are weak: φ'' counts as 1/h on the closed interval [0, h].
"""

from dataclasses import dataclass

import numpy as np
import scipy.special
from jaxtyping import Float

from widenet.diagnostics.homogeneous_margins import log_losses, log_total_loss, loss_weights
from widenet.networks.arrays import plus_minus_weights

Points = Float[np.ndarray, "point dim"]
Labels = Float[np.ndarray, " point"]
Rows = Float[np.ndarray, "both dim"]
"""One row per neuron, those that vote plus first."""
Numbers = Float[np.ndarray, "*shape"]


def huberized(z: Numbers, bandwidth: float) -> Numbers:
    """φ(z): 0 below 0, z²/(2h) on [0, h], z − h/2 beyond."""
    curved = np.clip(z, 0.0, bandwidth)
    return np.where(z > bandwidth, z - bandwidth / 2, curved * curved / (2 * bandwidth))


def huberized_slope(z: Numbers, bandwidth: float) -> Numbers:
    """φ'(z) = z/h, cut at 0 and at 1."""
    return np.clip(z / bandwidth, 0.0, 1.0)


def huberized_curvature(z: Numbers, bandwidth: float) -> Numbers:
    """γ(z): 1/h on the closed interval [0, h], else 0."""
    return np.where((z >= 0) & (z <= bandwidth), 1 / bandwidth, 0.0)


def huberized_change(z: Numbers, moved: Numbers, bandwidth: float) -> Numbers:
    """φ(z + moved) − φ(z), accurate relative to itself where both lie on one piece, however small `moved` is."""
    after = z + moved
    across = huberized(after, bandwidth) - huberized(z, bandwidth)
    linear, off = (z >= bandwidth) & (after >= bandwidth), (z <= 0) & (after <= 0)
    curved = (z >= 0) & (z <= bandwidth) & (after >= 0) & (after <= bandwidth)
    on_curve = moved * ((z + moved / 2) / bandwidth)
    return np.where(off, 0.0, np.where(linear, moved, np.where(curved, on_curve, across)))


@dataclass(frozen=True, eq=False)
class HuberNetwork:
    """The rows v_i, plus first, and the bandwidth h."""

    weights: Rows
    bandwidth: float

    @property
    def half_width(self) -> int:
        """p, the neurons of one sign."""
        return len(self.weights) // 2

    @property
    def signs(self) -> Float[np.ndarray, " both"]:
        """u: +1 for the first half of the rows, −1 for the second."""
        return plus_minus_weights(self.half_width)

    @property
    def norm(self) -> float:
        """‖V‖ (Frobenius)."""
        return float(np.linalg.norm(self.weights))

    def preactivations(self, points: Points) -> Float[np.ndarray, "point both"]:
        """⟨v_i, x_s⟩."""
        return points @ self.weights.T

    def outputs(self, points: Points) -> Labels:
        """f(x_s)."""
        return huberized(self.preactivations(points), self.bandwidth) @ self.signs

    def margins(self, points: Points, labels: Labels) -> Labels:
        """y_s f(x_s)."""
        return labels * self.outputs(points)


def pulls(margins: Numbers) -> Numbers:
    """g = 1/(1 + exp(y f(x))): how much a point contributes to the gradient."""
    return np.asarray(scipy.special.expit(-margins))


def log_mean_loss(margins: Float[np.ndarray, "*batch point"]) -> Float[np.ndarray, "*batch"]:
    """log L, finite where L underflows."""
    return np.asarray(scipy.special.logsumexp(log_losses(margins), axis=-1) - np.log(margins.shape[-1]))


def relative_loss_change(
    margins: Float[np.ndarray, "*batch point"], moved: Float[np.ndarray, "*batch point"]
) -> Float[np.ndarray, "*batch"]:
    """(L' − L)/L, L' the loss after margins moved by δ; accurate relative to itself, however small it or L is.

    A loss changes by log(1 + g(e^{−δ} − 1)). Near L = 1e-160 g and δ are about L, and their product underflows, so g/L
    is taken first. Large changes are differences: there g may be 1 and e^{−δ} be 0.
    """
    factors = np.expm1(-np.maximum(moved, -700.0))
    inside = pulls(margins) * factors
    large = (np.abs(inside) > 0.5) | (moved < -700)
    tame = np.where(large | (inside == 0), 1.0, inside)
    bent = np.where(inside == 0, 1.0, np.log1p(tame) / tame)  # log(1 + z)/z, which is 1 where z underflows
    total = log_total_loss(margins)[..., None]
    differences = np.exp(log_losses(margins + moved) - total) - np.exp(log_losses(margins) - total)
    return np.asarray(np.where(large, differences, loss_weights(margins) * factors * bent).sum(axis=-1))


def length(rows: Rows) -> float:
    """‖rows‖ (Frobenius), also where the squares of the entries underflow: powers of two are taken out first."""
    largest = float(np.abs(rows).max(initial=0.0))
    if not 0 < largest < np.inf:
        return largest
    power = int(np.frexp(largest)[1])
    return float(np.ldexp(np.linalg.norm(np.ldexp(rows, -power)), power))


def gradient(network: HuberNetwork, points: Points, labels: Labels) -> Rows:
    """∇L, one row per neuron: −(u_i/n) Σ_s g_s y_s φ'(⟨v_i, x_s⟩) x_s."""
    products = network.preactivations(points)
    margins = labels * (huberized(products, network.bandwidth) @ network.signs)
    pushes = (pulls(margins) * labels)[:, None] * huberized_slope(products, network.bandwidth) * network.signs
    return -pushes.T @ points / len(labels)


def hessian(network: HuberNetwork, points: Points, labels: Labels) -> Float[np.ndarray, "weight weight"]:
    """∇²L as one matrix, the entries of a row of V side by side."""
    rows, dim = network.weights.shape
    (slopes, weights), alone = _coefficients(network, points, labels)
    spread = (slopes[:, :, None] * points[:, None, :]).reshape(len(labels), rows * dim)
    matrix = (spread.T * (weights / len(labels))) @ spread
    own = np.einsum("si,sab->iab", alone / len(labels), points[:, :, None] * points[:, None, :])
    for row in range(rows):
        place = slice(row * dim, (row + 1) * dim)
        matrix[place, place] += own[row]
    return matrix


def hessian_blocks(network: HuberNetwork, points: Points, labels: Labels) -> Float[np.ndarray, "both both dim dim"]:
    """∇_{v_i}∇_{v_j} L: (19) off the diagonal, (20) on it."""
    rows, dim = network.weights.shape
    return hessian(network, points, labels).reshape(rows, dim, rows, dim).transpose(0, 2, 1, 3)


def hessian_product(network: HuberNetwork, points: Points, labels: Labels, direction: Rows) -> Rows:
    """∇²L times a direction, without the matrix."""
    (slopes, weights), alone = _coefficients(network, points, labels)
    along = points @ direction.T
    together = weights * (slopes * along).sum(axis=1)
    return (together[:, None] * slopes + alone * along).T @ points / len(labels)


def _coefficients(
    network: HuberNetwork, points: Points, labels: Labels
) -> tuple[tuple[Float[np.ndarray, "point both"], Labels], Float[np.ndarray, "point both"]]:
    """((u_i φ'_is, g_s(1 − g_s)), −u_i y_s γ_is g_s): the weights of x xᵀ in pairs of rows, and in single rows."""
    products, h, signs = network.preactivations(points), network.bandwidth, network.signs
    margins = labels * (huberized(products, h) @ signs)
    pull = pulls(margins)
    alone = -(pull * labels)[:, None] * huberized_curvature(products, h) * signs
    return (huberized_slope(products, h) * signs, pull * pulls(-margins)), alone
