"""What stands in the plane where a statement of sarussi2021 fails: points, and rows of the network."""

import numpy as np

from widenet.claims.instance import Instance, in_plane, instance
from widenet.papers.sarussi2021.runs.after_clean_epoch import AfterCleanEpoch
from widenet.papers.sarussi2021.runs.clouds import PairInBall
from widenet.papers.sarussi2021.runs.falling_margins import FallingMargins
from widenet.papers.sarussi2021.runs.regimes import Vanishing


@in_plane.register
def of_clean_epoch(found: AfterCleanEpoch, run: int) -> Instance | None:
    """The points, and the rows before the epoch."""
    return instance(
        "The points, and the rows $w$ and $u$ before the epoch",
        points=found.points,
        classes=np.zeros(len(found.points)),
        weights=found.neurons,
        signs=(1, -1),
    )


@in_plane.register
def of_falling(found: FallingMargins, run: int) -> Instance | None:
    """The points of one t, and the rows at the start."""
    return instance(
        "The points, and the rows $w$ and $u$",
        points=found.points[run],
        classes=np.zeros(found.points.shape[1]),
        weights=found.neurons[run],
        signs=(1, -1),
    )


@in_plane.register
def of_vanishing(found: Vanishing, run: int) -> Instance | None:
    """The rows that converge, and the point on which they lie."""
    return instance(
        f"The point $x$ and the first rows $x/m$, which tend to 0; {len(found.terms)} were tried",
        points=[found.point],
        classes=[0],
        weights=found.terms,
        signs=np.ones(len(found.terms)),
    )


@in_plane.register
def of_ball(found: PairInBall, run: int) -> Instance | None:
    """The rows of one sign, the ball around their mean, and the point."""
    return instance(
        "The point $x$, and the rows $w$ in the ball of radius $r$ around their mean",
        points=[found.point],
        classes=[0],
        weights=found.network.plus,
        signs=np.ones(found.network.half_width),
        radius=float(np.max(found.printed_radius)),
    )
