"""Networks that are built to fit their data, or the reason why none can be. Nothing is trained here."""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from widenet.diagnostics.huberized import Labels, Points, log_mean_loss
from widenet.papers.chatterji2021.formulas import equation_5_threshold
from widenet.papers.chatterji2021.runs.starts import CLOSEST, fewest_neurons, isolating_start, nearest_opposite
from widenet.papers.chatterji2021.settings import Sphere, reduced_points
from widenet.records import Scale


@dataclass(frozen=True, eq=False)
class Fit:
    """Data, and a network that was built to fit it, or the reason why none can be.

    Attributes:
      unit_error: the largest |‖x‖ − 1|.
      loss: L of the network; NaN where there is none.
      target: the loss that Theorem 1 asks for.
      why_not: two equal points with different labels, in words; "" where there are none.
      too_close: whether points of different labels are so close that float64 decides.
      unmet: which of a user's choices the network does not honour, in words.
    """

    unit_error: float
    loss: float
    target: float
    why_not: str = ""
    too_close: bool = False
    unmet: str = ""


def fit(points: Points, labels: Labels, half_width: int, why_not: str = "", *, too_close: bool = False) -> Fit:
    """Build the network for this data."""
    target = equation_5_threshold(len(labels))
    network = None if why_not else isolating_start(points, labels, half_width, 0.9 * target)
    loss = math.nan if network is None else float(np.exp(log_mean_loss(network.margins(points, labels))))
    error = float(np.abs(np.linalg.norm(points, axis=1) - 1).max())
    return Fit(error, loss, target, why_not, too_close)


def draw_fits(scale: Scale, seed: int) -> list[Fit]:
    """Random points of spheres, more than the network could separate linearly."""
    made = []
    for n, dim in ((2, 1), (4, 2), (12, 2), (30, 5)):
        points, labels = apart(Sphere(n_samples=n, dim=dim), seed) if dim > 1 else _opposite()
        made.append(fit(points, labels, fewest_neurons(points, labels)))
    return made


def apart(sphere: Sphere, seed: int) -> tuple[Points, Labels]:
    """The first draw, from this seed on, whose points of different labels float64 can tell apart.

    Of twelve points on a circle two of different labels are too close in some two seeds of a hundred.
    """
    draws = map(sphere.draw, itertools.count(seed))
    return next(drawn for drawn in draws if nearest_opposite(*drawn).max() <= 1 - CLOSEST)


def _opposite() -> tuple[Points, Labels]:
    return reduced_points(np.array([[1.0], [-1.0]])), np.array([1.0, -1.0])
