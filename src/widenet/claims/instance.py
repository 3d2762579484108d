"""An instance of a statement in the plane: points, and weights before and after. Pages draw it."""

import functools
from typing import Any

from widenet.records import ClosedModel

Pair = tuple[float, float]
MOST_WEIGHTS = 240
"""More are not told apart in a drawing: an instance keeps every n-th."""


class Instance(ClosedModel):
    """What stands in the plane.

    Attributes:
      words: what it is, in a sentence.
      points: with their `classes`, counted from 0.
      weights: rows or filters, with the `signs` of their output weights (0 where they have none).
      starts: where they were before training; empty where nothing was trained.
      radius: of a ball around the mean of the weights, where the statement is about one.
    """

    words: str
    points: tuple[Pair, ...] = ()
    classes: tuple[int, ...] = ()
    weights: tuple[Pair, ...] = ()
    signs: tuple[int, ...] = ()
    starts: tuple[Pair, ...] = ()
    radius: float | None = None


@functools.singledispatch
def in_plane(found: Any, run: int) -> Instance | None:
    """A run of a cell, or of the setting of one, as it stands in the plane; None where it has other dimensions.

    A paper registers its types in its module `instances`.
    """
    return None


def instance(
    words: str,
    points: Any = (),
    classes: Any = (),
    weights: Any = (),
    signs: Any = (),
    starts: Any = (),
    radius: float | None = None,
) -> Instance | None:
    """The instance of these arrays; None where they are not two-dimensional."""
    import numpy as np

    if any(len(each) and np.shape(each)[1:] != (2,) for each in (points, weights, starts)):
        return None
    every = slice(None, None, -(-len(weights) // MOST_WEIGHTS) or 1)
    return Instance(
        words=words,
        points=_pairs(points),
        classes=tuple(int(each) for each in classes),
        weights=_pairs(weights[every]),
        signs=tuple(int(np.sign(each)) for each in signs[every]),
        starts=_pairs(starts[every]),
        radius=radius,
    )


def _pairs(rows: Any) -> tuple[Pair, ...]:
    return tuple((float(x), float(y)) for x, y in rows)
