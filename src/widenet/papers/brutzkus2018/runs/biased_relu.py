"""Footnote 4 for Section 7: ReLU networks with first-layer biases, trained on (e_1, 1), …, (e_d, 1) or switched off."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Float, Shaped

from widenet.claims.cases import Cases, Count, Number
from widenet.papers.brutzkus2018.relu_sources import PointSet, antipodal_pair, antipodal_set, separable_set
from widenet.papers.brutzkus2018.runs.bad_minima import as_start
from widenet.papers.brutzkus2018.runs.exact_sgd import ExactEnd, fractions, relu_on_basis
from widenet.papers.brutzkus2018.runs.flat_balls import try_ball
from widenet.papers.brutzkus2018.runs.lifted import lift
from widenet.papers.brutzkus2018.runs.update_counts import exact_starts
from widenet.records import Scale


@dataclass(frozen=True, eq=False)
class BiasedStarts(Cases):
    """ReLU runs on (e_1, 1), …, (e_d, 1), in fractions."""

    #: W_0 of each run; the last column holds the biases
    starts: Shaped[np.ndarray, "run neuron lifted"]
    ends: tuple[ExactEnd, ...]  #: where each run got to
    entry_bound: Fraction  #: C
    step_size: Fraction  #: η
    delta: Number = 0.5  #: δ


def train_biased_relu(
    starts: np.ndarray, entry_bound: Fraction, step_size: Fraction, delta: float = 0.5
) -> BiasedStarts:
    """Train from each of these W_0."""
    problem = relu_on_basis(starts.shape[2] - 1, starts.shape[1] // 2, biased=True)
    ends = tuple(problem.train(start, step_size) for start in starts)
    return BiasedStarts(starts, ends, entry_bound, step_size, delta)


def one_escape(scale: Scale, seed: int) -> list[BiasedStarts]:
    """d = 2, k = 1, η = 1: w = (−1/10, 1/2) and u = (−1, −1), biases 0."""
    start = fractions([[["-1/10", "1/2", 0], [-1, -1, 0]]])
    return [train_biased_relu(start, Fraction(1), Fraction(1))]


def small_starts(scale: Scale, seed: int) -> list[BiasedStarts]:
    """Few points and neurons, steps small and large."""
    count = 10 if scale is Scale.QUICK else 100
    return [
        *one_escape(scale, seed),
        *(
            train_biased_relu(exact_starts(seed + half, (count, 2 * half, dim + 1), Fraction(1)), Fraction(1), step)
            for dim, half, step in ((3, 1, Fraction(1, 4)), (4, 2, Fraction(1, 3)), (3, 2, Fraction(2)))
        ),
    ]


def starts_below_one(scale: Scale, seed: int) -> list[BiasedStarts]:
    """C = 1/5 and η = 1/2: N < 1 at the start, and one update switches a neuron on everywhere."""
    count = 100 if scale is Scale.QUICK else 400
    bound, step = Fraction(1, 5), Fraction(1, 2)
    shapes = ((2, 1), (3, 2), (5, 1))
    return [
        train_biased_relu(exact_starts(3 * seed + index, (count, 2 * half, dim + 1), bound), bound, step)
        for index, (dim, half) in enumerate(shapes)
    ]


def narrow_starts(scale: Scale, seed: int) -> list[BiasedStarts]:
    """d = 20, k = 2, δ = 0.05: k ≤ log2(20/ln 20) = 2.739."""
    count = 20 if scale is Scale.QUICK else 200
    bound, step = Fraction(1, 5), Fraction(1, 2)
    return [train_biased_relu(exact_starts(seed, (count, 4, 21), bound), bound, step, 0.05)]


@dataclass(frozen=True, eq=False)
class AllOff(Cases):
    """The network with all weights 0 and all biases −1, on one set."""

    smallest_margin: Number  #: min y⟨w*, x⟩ of the set
    slope: Number  #: of the activation for z < 0
    level: Number  #: the loss
    gradient: Number  #: the largest entry of its gradient
    radius: Number  #: of the ball
    changed: Count  #: in how many directions the loss is another one just inside


def switch_all_off(points: PointSet, half_width: int, draw: np.random.Generator) -> AllOff:
    """Evaluate the network and the ball around it."""
    lifted = PointSet(lift(points.inputs, 1.0), points.labels, np.append(points.separator, 0.0))
    start = as_start(lifted, half_width)
    weights: Float[np.ndarray, "neuron lifted"] = np.zeros((2 * half_width, lifted.inputs.shape[1]))
    weights[:, -1] = -1.0
    ball = try_ball(start, weights, draw, perturbations=100)
    return AllOff(
        points.smallest_margin,
        start.slope,
        float(start.loss(weights[None])[0]),
        float(np.abs(start.gradient(weights[None])).max()),
        ball.radius,
        ball.changed,
    )


def sets_with_biases(scale: Scale, seed: int) -> list[AllOff]:
    """The pair on which Theorem 8 fails without biases, other direction-antipodal sets, and sets in general."""
    draw = np.random.default_rng([seed, 81])
    count = 5 if scale is Scale.QUICK else 50
    antipodal = [antipodal_set(draw, pairs, dim) for pairs, dim in ((1, 1), (3, 2), (10, 5))]
    general = [separable_set(draw, int(draw.integers(1, 51)), int(draw.integers(2, 11))) for _ in range(count)]
    return [switch_all_off(each, int(draw.integers(1, 6)), draw) for each in (antipodal_pair(), *antipodal, *general)]
