"""Whether linear boundaries separate any labels of these points: labels drawn at random, and counted."""

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np

from widenet.certificates.preparation import Prepared, search
from widenet.data.arrays import with_bias
from widenet.diagnostics.work import Work
from widenet.records import ClosedModel
from widenet.types import Dataset

DRAWS, STREAM = 20, 31
FEW_POINTS = 4
"""With more than so many points per column and one more, labels at random are almost never separable: up to twice as
many are by Cover's theorem."""


class Relabelled(ClosedModel):
    """Labels drawn at random, with as many points of each class as there are.

    Attributes:
      tried: how many times.
      separable: how many of them a linear boundary separates, and of how many it is not known whether one does.
    """

    tried: int
    separable: int
    unknown: int

    @property
    def is_any(self) -> bool:
        """Whether most labels at random are separable, so that it says nothing that the given ones are."""
        return 2 * self.separable > self.tried


def relabel(prepared: Prepared, signs: Sequence[np.ndarray], seed: int, work: Work) -> Relabelled | None:
    """Draw labels at random and see whether they are separable; None where there are so many points that none would be.

    `signs` are −1 and +1 for each boundary that separates the given labels; the first one is drawn anew.
    """
    count, dim = prepared.points.shape
    if not signs or count > FEW_POINTS * (dim + 1):
        return None
    lifted = with_bias(Dataset(jnp.asarray(prepared.points), jnp.asarray(signs[0])))
    draw, found = np.random.default_rng([seed, STREAM]), []
    for _ in range(DRAWS):
        drawn = search(Dataset(lifted.inputs, jnp.asarray(draw.permutation(signs[0]))), work)
        found.append(None if drawn is None else drawn.separable)
    return Relabelled(tried=DRAWS, separable=found.count(True), unknown=found.count(None))
