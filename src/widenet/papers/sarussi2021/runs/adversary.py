"""The search for a point that a network gets wrong: where its sign is not that of the linear classifier w̄ − ū."""

import numpy as np
from jaxtyping import Float

from widenet.diagnostics.sign_clusters import cluster_radius, mean_difference
from widenet.papers.sarussi2021.sources import SignedNetwork

RESTARTS, ROUNDS, KEPT = 200, 12, 20
DECIMALS = 9
"""Of a score."""


def worst_point(network: SignedNetwork, draw: np.random.Generator) -> Float[np.ndarray, " dim"]:
    """A unit vector with |(w̄ − ū)·x|/(r‖x‖) as large as was found among those with the wrong sign.

    From random directions, those across the classifier, and those of the deviations of rows; the best are moved about
    at random, ever less. Where no sign is wrong it is the direction that came nearest to that.
    """
    dim, difference = network.plus.shape[1], mean_difference(network.plus, network.minus)
    radius = max(float(cluster_radius(network.plus)), float(cluster_radius(network.minus)))
    starts = draw.normal(size=(RESTARTS, dim))
    length = np.linalg.norm(difference)
    if length > 0:
        across = starts - np.outer(starts @ difference, difference) / length**2
        starts = np.concatenate([starts, across + 0.3 * draw.normal(size=across.shape)])
    deviations = [rows - rows.mean(axis=0) for rows in (network.plus, network.minus)]
    points = np.concatenate([starts, *deviations, *(-each for each in deviations)])
    best = _best(network, difference, radius, points)
    for number in range(ROUNDS):
        near = np.repeat(best, RESTARTS // KEPT, axis=0)
        best = _best(
            network, difference, radius, np.concatenate([best, near + 0.5 * 0.6**number * draw.normal(size=near.shape)])
        )
    return best[0]


def _best(
    network: SignedNetwork, difference: np.ndarray, radius: float, points: np.ndarray
) -> Float[np.ndarray, "kept dim"]:
    """The unit vectors among them that come first, the best one at the front.

    x and −x often have the same score, up to its last bit: scores that agree to nine decimals are tied, and the point
    that was given first wins.
    """
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    units = (points / np.where(lengths > 0, lengths, 1.0))[lengths[:, 0] > 0]
    along, outputs = units @ difference, network.outputs(units)
    factors = np.abs(along) / radius if radius > 0 else np.abs(along)
    scales = np.maximum(network.scale(units), np.finfo(np.float64).tiny)
    wrong = np.sign(outputs) * np.sign(along) < 0
    scores = np.round(np.where(wrong, factors, -np.abs(outputs) / scales), DECIMALS)
    return units[np.argsort(-scores, kind="stable")[:KEPT]]
