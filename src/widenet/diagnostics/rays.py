"""The decision boundary of a two-layer network without biases in the plane, exactly.

Such a network is positively homogeneous in its input, so the boundary consists of rays from the origin, and on each arc
between two kinks of neurons it is linear: every ray is found by solving one equation, not by a grid.
"""

import numpy as np
from jaxtyping import Float

from widenet.networks.arrays import outputs_of


def kinks(rows: Float[np.ndarray, "neuron 2"]) -> Float[np.ndarray, " kink"]:
    """The angles at which a neuron changes sides, in radians from 0 to 2π, in order."""
    moving = rows[np.any(rows != 0, axis=1)]
    across = np.arctan2(moving[:, 1], moving[:, 0]) + np.pi / 2
    return np.unique(np.mod(np.concatenate([across, across + np.pi]), 2 * np.pi))


def boundary_rays(
    rows: Float[np.ndarray, "neuron 2"], output_weights: Float[np.ndarray, " neuron"], slope: float
) -> Float[np.ndarray, " ray"]:
    """The angles at which N changes its sign, in degrees from 0 to 360, in order."""
    edges = kinks(rows)
    if not len(edges):
        return np.zeros(0)
    ends = np.append(edges[1:], edges[0] + 2 * np.pi)
    middles = (edges + ends) / 2
    products = np.stack([np.cos(middles), np.sin(middles)], axis=1) @ rows.T
    slopes = np.where(products > 0, 1.0, slope)
    gradients = (slopes * output_weights) @ rows
    # On an arc N(φ) = ‖g‖cos(φ − direction), which vanishes a quarter turn away from its direction.
    zeros = np.arctan2(gradients[:, 1], gradients[:, 0]) + np.pi / 2
    turns = np.mod(zeros - edges, np.pi)
    crossing = (turns <= ends - edges) & (np.linalg.norm(gradients, axis=1) > 0)
    found = np.mod(np.degrees(edges + turns)[crossing], 360.0)
    return _where_the_sign_changes(np.sort(found), rows, output_weights, slope)


def _where_the_sign_changes(
    candidates: Float[np.ndarray, " candidate"],
    rows: Float[np.ndarray, "neuron 2"],
    output_weights: Float[np.ndarray, " neuron"],
    slope: float,
) -> Float[np.ndarray, " ray"]:
    """Zeros that two arcs share are found twice, and one at which N only touches 0 is none."""
    if not len(candidates):
        return candidates
    apart = np.diff(candidates, append=candidates[0] + 360.0) > 1e-9
    candidates = candidates[apart]
    between = np.radians((candidates + np.roll(candidates, 1) - 360.0 * (np.arange(len(candidates)) == 0)) / 2)
    points = np.stack([np.cos(between), np.sin(between)], axis=1)
    signs = np.sign(outputs_of(rows, output_weights, points, slope))
    return candidates[signs != np.roll(signs, -1)]


def bend(rays: Float[np.ndarray, " ray"]) -> float:
    """By how many degrees two rays miss being opposite; infinite for any other number of rays."""
    return float(abs(rays[1] - rays[0] - 180.0)) if len(rays) == 2 else np.inf


def disagreement(
    rows: Float[np.ndarray, "neuron 2"],
    output_weights: Float[np.ndarray, " neuron"],
    slope: float,
    classifier: Float[np.ndarray, "2"],
) -> float:
    """The share of the directions of the plane in which the network and a linear classifier differ in sign, exactly."""
    normal = np.degrees(np.arctan2(classifier[1], classifier[0]))
    cuts = np.concatenate([boundary_rays(rows, output_weights, slope), np.mod([normal + 90, normal - 90], 360.0)])
    cuts = np.sort(cuts)
    ends = np.append(cuts[1:], cuts[0] + 360.0)
    middles = np.radians((cuts + ends) / 2)
    points = np.stack([np.cos(middles), np.sin(middles)], axis=1)
    outputs = outputs_of(rows, output_weights, points, slope)
    return float((ends - cuts)[np.sign(outputs) != np.sign(points @ classifier)].sum() / 360.0)
