"""Networks that are built to fit their data, or the reason why none can be. Nothing is trained here."""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from widenet.claims.applicability import Applied, NotApplicable
from widenet.claims.cases import Cases, Number, column
from widenet.claims.experiments import drawn_on
from widenet.claims.user_data import UserData
from widenet.diagnostics.huberized import Labels, Points, log_mean_loss
from widenet.papers.chatterji2021.formulas import equation_5_threshold
from widenet.papers.chatterji2021.runs.starts import (
    CLOSEST,
    MOST_FITTED,
    PER_POINT,
    built_half_width,
    clash,
    fewest_neurons,
    isolating_start,
    nearest_opposite,
)
from widenet.papers.chatterji2021.sources import Sphere, reduced_points
from widenet.papers.chatterji2021.user_data import other_width, reason_in_inputs
from widenet.records import Scale


@dataclass(frozen=True, eq=False)
class BuiltFit(Cases):
    """Data, and a network that was built to fit it, or the reason why none can be."""

    unit_error: Number  #: the largest |‖x‖ − 1|
    loss: Number  #: L of the network; NaN where there is none
    target: Number  #: the loss that Theorem 1 asks for
    why_not: str | np.ndarray = ""  #: two equal points with different labels, in words; "" where there are none
    too_close: bool | np.ndarray = False  #: whether points of different labels are so close that float64 decides

    @column
    def clashes(self) -> float:
        """1 where two equal points have different labels, 0 where none have; NaN where float64 cannot say."""
        return 1.0 if self.why_not else math.nan if self.too_close else 0.0


def fit(points: Points, labels: Labels, half_width: int, why_not: str = "", *, too_close: bool = False) -> BuiltFit:
    """Build the network for this data."""
    target = equation_5_threshold(len(labels))
    network = None if why_not else isolating_start(points, labels, half_width, 0.9 * target)
    loss = math.nan if network is None else float(np.exp(log_mean_loss(network.margins(points, labels))))
    error = float(np.abs(np.linalg.norm(points, axis=1) - 1).max())
    return BuiltFit(error, loss, target, why_not, too_close)


def _fits_on(user_data: UserData) -> Applied | NotApplicable:
    """Build it on your data, or say why it cannot be built."""
    if (reason := reason_in_inputs(user_data)) is not None:
        return reason
    if len(user_data.labels) > MOST_FITTED:
        return NotApplicable(
            f"The start of Theorem 1 is built with a neuron per point here, for at most {MOST_FITTED}."
        )
    points, found = reduced_points(user_data.inputs), clash(user_data)
    equal = "are equal" in found
    wide = built_half_width(user_data)
    made = fit(points, user_data.labels, wide, found if equal else "", too_close=bool(found) and not equal)
    return Applied([made], other_width(user_data, 2 * wide, why=PER_POINT))


@drawn_on(_fits_on)
def draw_fits(scale: Scale, seed: int) -> list[BuiltFit]:
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
