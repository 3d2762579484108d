"""Networks that already fit their data, with the loss that Theorem 1 asks for at the start."""

import math

import numpy as np
from jaxtyping import Float

from widenet.claims.user_data import UserData
from widenet.diagnostics.huberized import HuberNetwork, Labels, Points, Rows, log_mean_loss
from widenet.papers.chatterji2021.formulas import root, row_length
from widenet.papers.chatterji2021.sources import reduced_points

CLOSEST = 1e-6
"""1 − ⟨x, x'⟩ of points with different labels: nearer ones need weights that float64 cannot carry."""
LEFT = 0.1
"""The share of the smallest margin that noise must leave."""


def dual_start(
    points: Points, labels: Labels, half_width: int, loss: float, *, spread: float, background: float, seed: int
) -> HuberNetwork:
    """One unit per point that sees this point alone: rows of the pseudoinverse, stretched until the loss is this.

    It needs linearly independent inputs and at most `half_width` of each label. `spread` makes the margins differ (by
    lognormal factors), and `background` adds noise to all rows, as much as leaves the data fitted; then everything is
    stretched together.
    """
    draw, h = np.random.default_rng([seed, 31]), 1 / half_width
    alone = np.linalg.pinv(points).T * np.exp(spread * draw.normal(size=len(points)))[:, None]
    weights = _placed(alone, labels, half_width)
    noise = background * np.linalg.norm(alone, axis=1).mean() * draw.normal(size=weights.shape)
    if not spread and not background:
        return HuberNetwork(row_length(loss, h) * weights, h)
    quiet = fitting_noise(weights, noise / math.sqrt(weights.shape[1]), points, labels)
    return stretched(weights + quiet, h, points, labels, loss)


def fitting_noise(weights: Rows, noise: Rows, points: Points, labels: Labels) -> Rows:
    """The noise, halved until it leaves every point a tenth of the smallest margin without noise (of plain ReLUs).

    Theorem 1 starts from a small loss, and rows whose noise buries their fit have no multiple with one. Rows that fit
    without noise fit with little noise, so this ends.
    """

    def smallest(rows: Rows) -> float:
        network = HuberNetwork(rows, 1.0)
        return float((labels * (np.maximum(network.preactivations(points), 0) @ network.signs)).min())

    while smallest(weights + noise) < LEFT * smallest(weights):
        noise = noise / 2
    return noise


def isolating_start(points: Points, labels: Labels, half_width: int, loss: float) -> HuberNetwork | None:
    """One unit per distinct point whose cap of the sphere holds no point of the other label, stretched to this loss.

    In coordinates with biases the rows are (x_s, −ρ_s)/(1 − ρ_s), ρ_s the largest ⟨x_s, x_q⟩ over the other label.
    None where two points of different labels are equal, or too close for float64, or `half_width` is too small.
    """
    nearest = nearest_opposite(points, labels)
    if (nearest > 1 - CLOSEST).any():
        return None
    own = _distinct(points, labels)
    if max(np.count_nonzero(labels[own] > 0), np.count_nonzero(labels[own] < 0)) > half_width:
        return None
    # Reduced, (v, b) is √2(v, b), and the last entry of every input is 1/√2.
    rows = 2 * points[own]
    rows[:, -1] = -math.sqrt(2) * nearest[own]
    rows /= (1 - nearest[own])[:, None]
    return stretched(_placed(rows, labels[own], half_width), 1 / half_width, points, labels, loss)


def nearest_opposite(points: Points, labels: Labels) -> Float[np.ndarray, " point"]:
    """ρ_s: the largest ⟨x_s, x_q⟩ over the points of the other label, of inputs with biases; −1 where there is none."""
    inner = np.clip(2 * (points @ points.T) - 1, -1.0, 1.0)
    return np.where(labels[:, None] != labels, inner, -1.0).max(axis=1)


def stretched(weights: Rows, bandwidth: float, points: Points, labels: Labels, loss: float) -> HuberNetwork:
    """The multiple of these rows with exactly this loss; it exists where the plain ReLU fits every point.

    Raises:
      ValueError: no multiple up to a million times the expected one has so small a loss.
    """

    def above(log_factor: float) -> float:
        network = HuberNetwork(math.exp(log_factor) * weights, bandwidth)
        return float(log_mean_loss(network.margins(points, labels))) - math.log(loss)

    low = high = math.log(row_length(loss, bandwidth))
    while above(high) > 0:
        high += 0.5
        if high > low + 14:
            raise ValueError("these rows do not fit their data, so no multiple of them has a small loss")
    while above(low) < 0:
        low -= 0.5
    factor = math.exp(root(above, low, high)) if low < high else math.exp(high)
    return HuberNetwork(factor * weights, bandwidth)


def fewest_neurons(points: Points, labels: Labels) -> int:
    """How many neurons of each sign `isolating_start` needs."""
    own = _distinct(points, labels)
    return int(max(np.count_nonzero(labels[own] > 0), np.count_nonzero(labels[own] < 0)))


MOST_FITTED = 200
"""The start of Theorem 1 has a neuron for every point."""
PER_POINT = "the start needs one for each distinct point of a label, and as many of the other sign"


def built_half_width(user_data: UserData) -> int:
    """p of the chosen width, or as many as the built start needs."""
    return max(user_data.choices.n_neurons // 2, fewest_neurons(reduced_points(user_data.inputs), user_data.labels))


def clash(user_data: UserData) -> str:
    """Why no network of this paper has a small loss on the data, in one sentence; "" where one can be built."""
    points, labels = reduced_points(user_data.inputs), user_data.labels
    inner = np.where(labels[:, None] != labels, 2 * (points @ points.T) - 1, -1.0)
    first, second = np.unravel_index(int(inner.argmax()), inner.shape)
    if inner[first, second] <= 1 - CLOSEST:
        return ""
    pair = f"points {min(first, second) + 1} and {max(first, second) + 1}"
    if (user_data.inputs[first] == user_data.inputs[second]).all():
        least = 2 * math.log(2) / len(labels)
        return f"{pair} are equal and have different labels, so L ≥ 2 log 2/n = {least:.3g} for every network"
    return f"{pair} have different labels and are too close for a network in float64 to tell them apart"


def _distinct(points: Points, labels: Labels) -> np.ndarray:
    """The first of each group of equal inputs, in order."""
    return np.sort(np.unique(points, axis=0, return_index=True)[1])


def _placed(rows: Float[np.ndarray, "point dim"], labels: Labels, half_width: int) -> Rows:
    """Rows of positive points among the first half of the units, those of negative ones among the second."""
    weights = np.zeros((2 * half_width, rows.shape[1]))
    for first, sign in ((0, 1), (half_width, -1)):
        chosen = rows[labels * sign > 0]
        weights[first : first + len(chosen)] = chosen
    return weights
