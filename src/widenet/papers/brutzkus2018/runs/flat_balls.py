"""Balls around a weight matrix in which the ReLU loss is constant, so that it is a local minimum.

A neuron off at an active point stays off while its row moves by less than |z|/‖x‖. A solved point stays solved while
the whole of W moves by less than (yN − 1)/(v√(2k)‖x‖). The radius is the smallest of these.
"""

import dataclasses
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.papers.brutzkus2018.runs.online import OnlineStart

Hidden = Float[np.ndarray, "neuron dim"]

INSIDE = 0.999
"""How far out, in units of the radius, the ball is tried."""
ENTRIES = 2**22
"""How many pre-activations are held at once."""


@dataclass(frozen=True)
class FlatBall:
    """A ball as it was tried."""

    radius: float  #: as computed from the pre-activations
    changed: int  #: directions in which the loss there is not the loss at the centre
    tried: int  #: how many directions


def flat_radius(start: OnlineStart, weights: Hidden) -> tuple[float, Float[np.ndarray, "2 neuron dim"]]:
    """The radius, and the two directions that come closest to breaking it. The labels are those of the first run."""
    z = weights @ start.inputs.T
    margins = start.labels[0] * start.outputs(weights[None])[0]
    norms = np.linalg.norm(start.inputs, axis=1)
    active = margins < 1
    off = np.where(active, np.abs(z) / norms, np.inf)
    room = np.where(active, np.inf, (margins - 1) / (np.linalg.norm(start.votes) * norms))
    neuron, point = np.unravel_index(np.argmin(off), off.shape)
    switch = np.zeros_like(weights)
    switch[neuron] = (-1 if z[neuron, point] > 0 else 1) * start.inputs[point]
    solved = int(np.argmin(room))
    lower = -start.labels[0, solved] * np.outer(start.votes, start.inputs[solved])
    return float(min(off.min(), room.min())), np.stack([switch, lower])


def try_ball(
    start: OnlineStart,
    weights: Hidden,
    draw: np.random.Generator,
    *,
    perturbations: int,
    radius_factor: float = INSIDE,
) -> FlatBall:
    """The loss just inside the ball, in random directions and in the two that its radius comes from.

    A control goes beyond the radius.
    """
    radius, extreme = flat_radius(start, weights)
    directions = np.concatenate([extreme, draw.normal(size=(perturbations, *weights.shape))])
    directions /= np.linalg.norm(directions, axis=(1, 2), keepdims=True)
    here = _losses(start, weights[None])[0]
    moved = _losses(start, weights + radius_factor * radius * directions)
    return FlatBall(radius, int((moved != here).sum()), len(directions))


def _losses(start: OnlineStart, weights: Float[np.ndarray, "case neuron dim"]) -> Float[np.ndarray, " case"]:
    """The loss of the first run's problem at many W, in pieces that fit in memory."""
    each = max(1, ENTRIES // (weights.shape[1] * len(start.inputs)))
    found = []
    for first in range(0, len(weights), each):
        piece = weights[first : first + each]
        labels = np.repeat(start.labels[:1], len(piece), axis=0)
        found.append(dataclasses.replace(start, labels=labels, weights=piece).loss(piece))
    return np.concatenate(found)
