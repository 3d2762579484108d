"""Proposition 1: places in random landscapes, certificates that a landscape is not convex, and pairs of neurons."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.base import NotApplicable
from widenet.claims.cases import Cases, Number, column, derived
from widenet.claims.user_data import UserData
from widenet.data.points import separable_points
from widenet.networks.arrays import plus_minus_weights
from widenet.papers.brutzkus2018.runs.nonconvexity import Landscape, NonconvexSegment, find_nonconvex_segment
from widenet.papers.brutzkus2018.user_data import separation_of
from widenet.records import Scale


class OnLandscape(Cases):
    """What the hypotheses measure of `landscape`."""

    smallest_margin: Number = derived(lambda each: each.landscape.smallest_margin)  #: min y⟨w*, x⟩
    output_weight: Number = derived(lambda each: each.landscape.output_weight)  #: v
    slope: Number = derived(lambda each: each.landscape.slope)  #: α
    why: str = derived(lambda each: each.landscape.why)  #: the sentence of the certificate of w*


@dataclass(frozen=True, eq=False)
class Point(OnLandscape):
    """A place W in the landscape of a training set."""

    landscape: Landscape
    hidden: Float[np.ndarray, "neuron dim"]  #: W
    at_zero: Number  #: σ'(0), anything from α to 1

    @column
    def loss(self) -> Number:
        """L_S(W)."""
        return self.landscape.loss(self.hidden)


def random_points(scale: Scale, seed: int) -> list[Point]:
    """Random landscapes at many scales, W = 0, rows exactly orthogonal to a sample, and the one where it is equal."""
    draw = np.random.default_rng(seed)
    points = [_equality()]
    for number in range(170 if scale is Scale.QUICK else 2000):
        scape = random_landscape(draw)
        hidden = draw.normal(size=(2 * scape.half_width, scape.inputs.shape[1])) * 10 ** draw.uniform(-2, 1)
        if number % 10 == 0:
            hidden[:] = 0
        elif number % 3 == 0:
            # Integer entries and a sample on an axis: ⟨w, x⟩ is exactly 0, without rounding.
            scape = _with_axis_sample(scape)
            hidden[:, int(np.argmax(np.abs(scape.inputs[0])))] = 0
        points += [Point(scape, hidden, kink) for kink in (scape.slope, (1 + scape.slope) / 2, 1.0)]
    return points


def random_landscape(draw: np.random.Generator) -> Landscape:
    """Separable data and a ±v Leaky ReLU network, all parameters drawn."""
    dim, half = int(draw.integers(1, 8)), int(draw.integers(1, 7))
    inputs, labels, separator = separable_points(draw, dim, int(draw.integers(1, 30)), float(draw.uniform(1.01, 10)))
    outputs = plus_minus_weights(half, float(np.exp(draw.normal())))
    return Landscape(inputs, labels, separator, outputs, float(draw.uniform(0.01, 0.99)))


def _with_axis_sample(scape: Landscape) -> Landscape:
    """The same data with its first sample replaced by an axis vector on the right side of w*."""
    axis = int(np.argmax(np.abs(scape.separator)))
    first = np.zeros(len(scape.separator))
    first[axis] = np.sign(scape.separator[axis]) * scape.labels[0]
    separator = scape.separator / min(1.0, abs(scape.separator[axis]))
    inputs = np.concatenate([first[None], scape.inputs[1:]])
    return Landscape(inputs, scape.labels, separator, scape.outputs, scape.slope)


def _equality() -> Point:
    """S = {(1, +1)}, every neuron off: the gradient is exactly as small as the proposition allows."""
    scape = Landscape(np.ones((1, 1)), np.ones(1), np.ones(1), plus_minus_weights(2, 0.5), 0.25)
    return Point(scape, np.full((4, 1), -0.1), 1.0)


@dataclass(frozen=True, eq=False)
class Certified(OnLandscape):
    """A landscape and its certificate, if one was found."""

    landscape: Landscape
    certificate: NonconvexSegment | None

    @column
    def has_certificate(self) -> bool:
        """Whether one was found."""
        return self.certificate is not None

    @column
    def measured(self) -> Number:
        """The gap as measured; NaN without a certificate."""
        return np.nan if self.certificate is None else self.certificate.measured

    @column
    def predicted(self) -> Number:
        """The gap as its closed form says."""
        return np.nan if self.certificate is None else self.certificate.predicted

    @column
    def balanced(self) -> bool:
        """Whether the certificate is of the second kind, for balanced data."""
        return self.certificate is not None and self.certificate.balanced


def certified_landscapes(scale: Scale, seed: int) -> list[Certified]:
    """Random data, and data balanced on every line, where the simple certificate has gap 0."""
    draw = np.random.default_rng(seed)
    count = 60 if scale is Scale.QUICK else 400
    scapes = [balanced_landscape(draw) if number % 3 == 0 else random_landscape(draw) for number in range(count)]
    return [Certified(scape, find_nonconvex_segment(scape, seed=number)) for number, scape in enumerate(scapes)]


def balanced_landscape(draw: np.random.Generator) -> Landscape:
    """Σ y‖x‖ = 0 on every line through 0: pairs (x, 1), (−x, −1), and a line where two points balance a third."""
    dim, half = int(draw.integers(1, 6)), int(draw.integers(1, 5))
    inputs, _, separator = separable_points(draw, dim, int(draw.integers(1, 5)), float(draw.uniform(3, 8)))
    # y⟨w*, x⟩ ≥ 1 for y = sign⟨w*, x⟩; halving the points needs twice the separator.
    positive = inputs * np.sign(inputs @ separator)[:, None]
    first = positive[:1]
    points = np.concatenate([positive[1:], -positive[1:], first, -first / 2, -first / 2])
    labels = np.concatenate([np.ones(len(positive) - 1), -np.ones(len(positive) - 1), [1.0, -1.0, -1.0]])
    outputs = plus_minus_weights(half, float(np.exp(draw.normal())))
    return Landscape(points, labels, 2 * separator, outputs, float(draw.uniform(0.05, 0.95)))


def proposition_1_2_on(user_data: UserData) -> list[Certified] | NotApplicable:
    """The reader's points under a network of the chosen width, with v = 1/√(2k)."""
    separation = separation_of(user_data)
    if isinstance(separation, NotApplicable):
        return separation
    n_neurons = user_data.choices.n_neurons
    scape = Landscape(
        user_data.inputs,
        user_data.labels,
        separation.vector(user_data.inputs.shape[1]),
        plus_minus_weights(n_neurons // 2, user_data.choices.output_weight or n_neurons**-0.5),
        user_data.choices.slope,
        separation.sentence,
    )
    return [Certified(scape, find_nonconvex_segment(scape, user_data.choices.seed))]


@dataclass(frozen=True, eq=False)
class OnePair(Cases):
    """A point x ≠ 0 and a slope α, for f_x(w, u) = σ(⟨w, x⟩) − σ(⟨u, x⟩)."""

    point: Float[np.ndarray, " dim"]  #: x
    slope: Number  #: α

    def value(self, u: Float[np.ndarray, " dim"]) -> float:
        """f_x(x, u)."""
        z = np.array([self.point @ self.point, u @ self.point])
        plus, minus = np.maximum(z, self.slope * z)
        return float(plus - minus)

    @column
    def square(self) -> Number:
        """‖x‖²."""
        return float(self.point @ self.point)

    @column
    def norm(self) -> Number:
        """‖x‖."""
        return float(np.sqrt(self.square))

    @column
    def same(self) -> Number:
        """f at (x, x)."""
        return self.value(1.0 * self.point)

    @column
    def opposite(self) -> Number:
        """f at (x, −x)."""
        return self.value(-1.0 * self.point)

    @column
    def halfway(self) -> Number:
        """f at (x, 0)."""
        return self.value(0.0 * self.point)


def random_pairs(scale: Scale, seed: int) -> list[OnePair]:
    """Points of every size up to eight dimensions, and slopes."""
    draw = np.random.default_rng(seed)
    return [
        OnePair(draw.normal(size=int(draw.integers(1, 9))) / 3, float(draw.uniform(0.01, 0.99)))
        for _ in range(200 if scale is Scale.QUICK else 2000)
    ]
