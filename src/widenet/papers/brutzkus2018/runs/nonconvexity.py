"""A certificate that the training loss is not convex, for any separable data.

Two points A and B of weight space with L((A + B)/2) > (L(A) + L(B))/2, and the exact gap. The simple certificate
moves all plus rows (or all minus rows) along ±z from W = 0. Its gap is 0 for every z exactly when the data is
balanced: Σ y‖x‖ = 0 on every line through the origin. Then the other half of the network first pushes some samples
past margin 1, so that those still active are no longer balanced.
"""

import dataclasses
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from widenet.networks.arrays import outputs_of

UNBALANCED = 1e-9
"""Σ y|⟨z, x⟩| beside Σ |⟨z, x⟩|: below this, the simple certificate would drown in rounding."""
SLACK = 1e-6
"""No margin may come closer to 1 than this, or the bend could reach the kink of a hinge."""
RESOLVED = 1e-13
"""A gap of the size of a rounding error in a loss of size 1 proves nothing."""
ON_LINE = 1e-12
"""1 − |cos| of points that count as lying on one line."""
MOST_LINES = 50
"""Each line has certificates of its own; the best of so many lines is taken."""


@dataclass(frozen=True, eq=False)
class Landscape:
    """The training loss as a function of W: data, w*, output weights ±v and α.

    `why` is the sentence of a certificate that comes with w*, where there is one.
    """

    inputs: Float[np.ndarray, "sample dim"]
    labels: Float[np.ndarray, " sample"]
    separator: Float[np.ndarray, " dim"]
    outputs: Float[np.ndarray, " neuron"]
    slope: float
    why: str = ""

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

    def margins(self, hidden: Float[np.ndarray, "neuron dim"]) -> Float[np.ndarray, " sample"]:
        """y N(x) of every point."""
        return self.labels * outputs_of(hidden, self.outputs, self.inputs, self.slope)

    def loss(self, hidden: Float[np.ndarray, "neuron dim"]) -> float:
        """L_S(W)."""
        return float(np.maximum(1 - self.margins(hidden), 0).mean())


@dataclass(frozen=True, eq=False)
class NonconvexSegment:
    """Two ends A and B, and the gap between them."""

    first: Float[np.ndarray, "neuron dim"]  #: A
    second: Float[np.ndarray, "neuron dim"]  #: B
    predicted: float  #: the gap as its closed form says
    balanced: bool  #: whether it is of the second kind, for balanced data
    measured: float = math.nan  #: the gap, once it is measured

    def gap(self, scape: Landscape) -> float:
        """L((A + B)/2) − (L(A) + L(B))/2, measured."""
        middle = scape.loss((self.first + self.second) / 2)
        return middle - (scape.loss(self.first) + scape.loss(self.second)) / 2


def find_nonconvex_segment(scape: Landscape, seed: int = 0) -> NonconvexSegment | None:
    """A certificate whose gap is large enough to be seen, or None."""
    draw = np.random.default_rng(seed)
    directions = draw.normal(size=(20, scape.inputs.shape[1]))
    sums = np.abs(directions @ scape.inputs.T)
    unbalance, total = sums @ scape.labels, sums.sum(axis=1)
    if not total.all():
        return None
    best = int(np.argmax(np.abs(unbalance) / total))
    if abs(unbalance[best]) > UNBALANCED * total[best]:
        ends = from_zero(scape, directions[best], float(unbalance[best]))
    else:
        ends = max(from_balance(scape, draw), key=lambda found: found.predicted, default=None)
    if ends is None or not ends.predicted > RESOLVED:
        return None
    return dataclasses.replace(ends, measured=ends.gap(scape))


def from_zero(scape: Landscape, direction: np.ndarray, unbalance: float) -> NonconvexSegment:
    """Rows ±s·z: |N| ≤ ½, so no hinge switches, and σ(t) + σ(−t) = (1 − α)|t| leaves kv(1 − α)s·|q|/(2n)."""
    k, v = scape.half_width, scape.output_weight
    step = 0.5 / (k * v * np.abs(scape.inputs @ direction).max())
    moved = (scape.outputs > 0) if unbalance > 0 else (scape.outputs < 0)
    end = step * np.outer(moved, direction)
    gap = k * v * (1 - scape.slope) * step * abs(unbalance) / (2 * len(scape.labels))
    return NonconvexSegment(end, -end, gap, balanced=False)


def from_balance(scape: Landscape, draw: np.random.Generator) -> Iterator[NonconvexSegment]:
    """Ends of the second kind: a line, a half of the network to hold at ±τw*, and a threshold θ.

    With the plus rows at τw*, τ = 1/(kvθ), a sample with a = y⟨w*, x⟩ has margin a/θ (y = +1) or αa/θ (y = −1);
    with the minus rows at −τw*, the other way round. The free rows h ± εe then bend the loss only at active samples
    on the line of e, by kv(1 − α)ε·c/(2n), c = Σ y‖x‖ over them, and with the right sign of c this is a gap.
    """
    k, v = scape.half_width, scape.output_weight
    depths = scape.labels * (scape.inputs @ scape.separator)
    sizes = np.linalg.norm(scape.inputs, axis=1)
    for direction, on_line in itertools.islice(_lines(scape.inputs), MOST_LINES):
        for threshold, held, sign in _thresholds(scape, depths[on_line]):
            vote = np.sign(scape.outputs[held][0])
            margins = np.where(scape.labels * vote > 0, 1.0, scape.slope) * depths / threshold
            bend = float((scape.labels * sizes)[on_line & (margins < 1)].sum())
            slack = float(np.abs(margins - 1).min())
            if sign * bend <= UNBALANCED * sizes.max() or slack <= SLACK:
                continue
            # The free rows may move no margin by more than half of its distance from 1, on the longest point too.
            length = slack / (4 * k * v * sizes.max())
            offset, step = _offset(scape.inputs[~on_line] / sizes.max(), direction, length, draw)
            # Points that are only nearly on the line feel h; the closed form knows nothing of it.
            if np.any(np.abs(scape.inputs[on_line] @ offset) > SLACK / 10 * step * sizes[on_line]):
                continue
            base = np.outer(held, vote * scape.separator / (k * v * threshold))
            first, second = (base + np.outer(~held, offset + s * direction) for s in (step, -step))
            gap = k * v * (1 - scape.slope) * step * abs(bend) / (2 * len(scape.labels))
            yield NonconvexSegment(first, second, gap, balanced=True)


def _thresholds(
    scape: Landscape, depths: Float[np.ndarray, " on_line"]
) -> Iterator[tuple[float, Bool[np.ndarray, " neuron"], int]]:
    """θ between two margins of the line, the half of the network to hold, and the sign that c must have."""
    values = np.unique(np.concatenate([depths, scape.slope * depths]))
    for low, high in itertools.pairwise(values):
        for share in (0.5, 0.37):  # another place in the gap, in case a sample off the line sits at margin 1
            for held, sign in ((scape.outputs > 0, -1), (scape.outputs < 0, 1)):
                yield float(low + share * (high - low)), held, sign


def _offset(
    others: np.ndarray, direction: np.ndarray, length: float, draw: np.random.Generator
) -> tuple[np.ndarray, float]:
    """h ⟂ e of this length and an ε so small that no sample off the line changes the sign of a free row.

    `others` are those samples, over the length of the longest.
    """
    offset = draw.normal(size=len(direction))
    offset -= (offset @ direction) * direction
    if len(direction) == 1:
        return np.zeros(1), length / 2
    offset *= length / np.linalg.norm(offset)
    nearest = float(np.abs(others @ offset).min()) if len(others) else np.inf
    return offset, min(length, nearest) / 2


def _lines(inputs: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Each line through 0 that carries samples: its unit vector, and which samples are on it."""
    norms = np.linalg.norm(inputs, axis=1, keepdims=True)
    units = inputs / np.where(norms > 0, norms, 1.0)
    waiting = norms[:, 0] > 0
    while waiting.any():
        first = int(np.argmax(waiting))
        together = np.abs(units @ units[first]) > 1 - ON_LINE
        waiting &= ~together
        waiting[first] = False
        yield units[first], together
