"""A certificate that the training loss is not convex, for any separable data.

Two points A and B of weight space with L((A + B)/2) > (L(A) + L(B))/2, and the exact gap. The simple certificate
moves all plus rows (or all minus rows) along ±z from W = 0. Its gap is 0 for every z exactly when the data is
balanced: Σ y‖x‖ = 0 on every line through the origin. Then the other half of the network first pushes some samples
past margin 1, so that those still active are no longer balanced.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.papers.brutzkus2018.runs.ledger import outputs_of


@dataclass(frozen=True)
class Landscape:
    """The training loss as a function of W: data, w*, output weights ±v and α."""

    inputs: Float[np.ndarray, "sample dim"]
    labels: Float[np.ndarray, " sample"]
    separator: Float[np.ndarray, " dim"]
    outputs: Float[np.ndarray, " neuron"]
    slope: float

    @property
    def half_width(self) -> int:
        """k."""
        return len(self.outputs) // 2

    @property
    def output_weight(self) -> float:
        """v."""
        return float(self.outputs[0])

    @property
    def smallest_margin(self) -> float:
        """min_i y_i⟨w*, x_i⟩."""
        return float((self.labels * (self.inputs @ self.separator)).min())

    def loss(self, hidden: Float[np.ndarray, "neuron dim"]) -> float:
        """L_S(W)."""
        margins = self.labels * outputs_of(hidden, self.outputs, self.inputs, self.slope)
        return float(np.maximum(1 - margins, 0).mean())


@dataclass(frozen=True)
class Certificate:
    """Two ends A and B; the gap L((A + B)/2) − (L(A) + L(B))/2 as measured and as its closed form says."""

    ends: tuple[np.ndarray, np.ndarray]
    measured: float
    predicted: float
    balanced: bool


def largest_gap_error(certificates: Sequence[Certificate]) -> float:
    """The largest relative difference between measured and predicted gap."""
    return float(np.max([0.0, *(abs(c.measured - c.predicted) / c.predicted for c in certificates)]))


def certify(scape: Landscape, seed: int = 0) -> Certificate | None:
    """A certificate with a positive measured gap, or None."""
    draw = np.random.default_rng(seed)
    directions = draw.normal(size=(20, scape.inputs.shape[1]))
    sums = np.abs(directions @ scape.inputs.T)
    unbalance = sums @ scape.labels
    best = int(np.argmax(np.abs(unbalance) / sums.sum(axis=1)))
    if abs(unbalance[best]) > 1e-9 * sums[best].sum():
        certificate = _from_zero(scape, directions[best], float(unbalance[best]))
    else:
        certificate = max(_from_balance(scape, draw), key=lambda found: found.predicted, default=None)
    # A gap of the size of a rounding error in a loss of size 1 proves nothing.
    return certificate if certificate is not None and certificate.measured > 1e-13 else None


def _certificate(
    scape: Landscape, ends: tuple[np.ndarray, np.ndarray], predicted: float, balanced: bool
) -> Certificate:
    middle = scape.loss((ends[0] + ends[1]) / 2)
    return Certificate(ends, middle - (scape.loss(ends[0]) + scape.loss(ends[1])) / 2, predicted, balanced)


def _from_zero(scape: Landscape, direction: np.ndarray, unbalance: float) -> Certificate:
    """Rows ±s·z: |N| ≤ ½, so no hinge switches, and σ(t) + σ(−t) = (1 − α)|t| leaves kv(1 − α)s·|q|/(2n)."""
    k, v = scape.half_width, scape.output_weight
    step = 0.5 / (k * v * np.abs(scape.inputs @ direction).max())
    moved = (scape.outputs > 0) if unbalance > 0 else (scape.outputs < 0)
    end = step * np.outer(moved, direction)
    gap = k * v * (1 - scape.slope) * step * abs(unbalance) / (2 * len(scape.labels))
    return _certificate(scape, (end, -end), gap, balanced=False)


def _from_balance(scape: Landscape, draw: np.random.Generator) -> Iterator[Certificate]:
    """All certificates of the second kind: a line, a half of the network to hold at ±τw*, and a threshold θ.

    With the plus rows at τw*, τ = 1/(kvθ), a sample with a = y⟨w*, x⟩ has margin a/θ (y = +1) or αa/θ (y = −1);
    with the minus rows at −τw*, the other way round. The free rows h ± εe then bend the loss only at active samples
    on the line of e, by kv(1 − α)ε·c/(2n), c = Σ y‖x‖ over them, and with the right sign of c this is a gap.
    """
    k, v = scape.half_width, scape.output_weight
    depths = scape.labels * (scape.inputs @ scape.separator)
    sizes = np.linalg.norm(scape.inputs, axis=1)
    for direction, on_line in _lines(scape.inputs):
        values = np.unique(np.concatenate([depths[on_line], scape.slope * depths[on_line]]))
        for low, high in itertools.pairwise(values):
            for share in (0.5, 0.37):  # another place in the gap, in case a sample off the line sits at margin 1
                threshold = low + share * (high - low)
                for held, sign in ((scape.outputs > 0, -1), (scape.outputs < 0, 1)):
                    steep = scape.labels * np.sign(scape.outputs[held][0]) > 0
                    margins = np.where(steep, 1.0, scape.slope) * depths / threshold
                    active = on_line & (margins < 1)
                    bend = float((scape.labels * sizes)[active].sum())
                    slack = float(np.abs(margins - 1).min())
                    if sign * bend <= 1e-9 or slack <= 1e-6:
                        continue
                    length = slack / (4 * k * v)
                    offset, step = _offset(scape.inputs[~on_line], direction, length, draw)
                    base = np.outer(held, np.sign(scape.outputs[held][0]) * scape.separator / (k * v * threshold))
                    ends = tuple(base + np.outer(~held, offset + s * direction) for s in (step, -step))
                    gap = k * v * (1 - scape.slope) * step * abs(bend) / (2 * len(scape.labels))
                    yield _certificate(scape, (ends[0], ends[1]), gap, balanced=True)


def _offset(
    others: np.ndarray, direction: np.ndarray, length: float, draw: np.random.Generator
) -> tuple[np.ndarray, float]:
    """h ⟂ e of this length and an ε so small that no sample off the line changes the sign of a free row."""
    offset = draw.normal(size=len(direction))
    offset -= (offset @ direction) * direction
    if len(direction) == 1:
        return np.zeros(1), length / 2
    offset *= length / np.linalg.norm(offset)
    nearest = float(np.abs(others @ offset).min()) if len(others) else np.inf
    return offset, min(length, nearest) / 2


def _lines(inputs: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Each line through 0 that carries samples: its unit vector, and which samples are on it."""
    units = inputs / np.linalg.norm(inputs, axis=1, keepdims=True)
    together = np.abs(units @ units.T) > 1 - 1e-12
    for first in np.unique(together.argmax(axis=1)):
        yield units[first], together[first]
