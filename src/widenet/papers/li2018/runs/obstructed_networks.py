"""Random networks on antipodal points, which no network without biases classifies."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.applicability import NotApplicable
from widenet.claims.cases import Cases, Count
from widenet.diagnostics.components import is_obstructed
from widenet.papers.li2018.sources import HEXAGON, Sample
from widenet.papers.li2018.user_data import drawn_on_points
from widenet.records import Scale
from widenet.training.small.softmax import SoftmaxNetwork, cross_entropies, decided_rightly, start_softmax

TIE = 1e-9
"""Outputs that differ by less decide nothing on the hexagon, where exact ties are the rule."""


@dataclass(frozen=True, eq=False)
class Obstructed(Cases):
    """Random networks on antipodal data."""

    right: Float[np.ndarray, " network"]  #: how many points each decides rightly
    losses: Float[np.ndarray, " loss"]  #: the mean loss of each, where something is known of it
    n_points: Count
    obstructed: bool | np.ndarray

    def counts(self) -> dict[str, int]:
        """A network is what was tried."""
        return {"tried": len(self.per("network"))}


def random_networks(draw: np.random.Generator, sample: Sample, count: int) -> list[SoftmaxNetwork]:
    """Of several widths, and the one whose outputs are all 0."""
    dim, kinds = sample.points.shape[1], sample.n_classes
    drawn = [start_softmax(draw, int(width), dim, kinds, deviation=2.0) for width in draw.integers(1, 30, count)]
    return [SoftmaxNetwork(np.zeros((1, dim)), np.zeros((kinds, 1))), *drawn]


def measure_obstructed(sample: Sample, networks: Sequence[SoftmaxNetwork]) -> Obstructed:
    """How many points each network decides rightly, and its mean loss."""
    rows = []
    for network in networks:
        logits = network.logits(sample.points)
        own = logits[np.arange(len(logits)), sample.classes]
        clear = np.sort(np.abs(logits - own[:, None]), axis=1)[:, 1] > TIE
        right = decided_rightly(logits, sample.classes) & clear
        rows.append((float(right.sum()), float(cross_entropies(logits, sample.classes) @ sample.shares)))
    columns = np.array(rows).T
    return Obstructed(columns[0], columns[1], len(sample.points), is_obstructed(sample.points, sample.classes))


def all_but_one(sample: Sample) -> SoftmaxNetwork:
    """A network that decides every point of the polygon rightly except the last."""
    signs = np.where(sample.classes == 0, 1.0, -1.0)
    # Outputs have to balance: what the others are right by, the last is wrong by.
    signs[-1] = len(signs[:-1])
    weights = np.linalg.lstsq(np.maximum(sample.points @ sample.points.T, 0), signs)[0]
    return SoftmaxNetwork(sample.points, np.stack([weights, np.zeros_like(weights)]))


def measure_own_obstructed(sample: Sample, seed: int) -> Obstructed | NotApplicable:
    """A hundred random networks, where the points are antipodal."""
    if sample.n_classes != 2 or not is_obstructed(sample.points, sample.classes):
        return NotApplicable("No antipodal points of two classes stand in the way of a network without biases here.")
    found = measure_obstructed(sample, random_networks(np.random.default_rng([seed, 83]), sample, 100))
    # That the loss is at least ln 2 needs antipodal points of equal weight and no others.
    return dataclasses.replace(found, losses=np.zeros(0))


@drawn_on_points(measure_own_obstructed, most=300)
def draw_obstructed(scale: Scale, seed: int) -> Obstructed:
    """The hexagon."""
    sample = HEXAGON.draw(seed)
    drawn = random_networks(np.random.default_rng([seed, 83]), sample, 200)
    return measure_obstructed(sample, [*drawn, all_but_one(sample)])
