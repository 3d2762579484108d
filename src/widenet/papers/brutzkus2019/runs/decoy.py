"""A network that has zero loss on diverse points of XORD and is wrong elsewhere (Section 5)."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.cases import Cases, Number
from widenet.data.xord import PATTERNS
from widenet.papers.brutzkus2019.runs.outputs import on_sets
from widenet.papers.brutzkus2019.runs.training_set import PAIR, TrainingSet

DECOY = np.stack([3 * PATTERNS[0], 3 * PATTERNS[0], PATTERNS[1], PATTERNS[1]])
"""w = 3p_1, 3p_1 and u = p_2, p_2."""


@dataclass(frozen=True, eq=False)
class Decoy(Cases):
    """A network on the 15 pattern sets, beside a training set."""

    rows = "set"

    points: TrainingSet  #: the training set
    margin: Number  #: γ
    outputs: Float[np.ndarray, " set"]  #: N


def decoy_on(points: TrainingSet = PAIR, margin: float = 8.0, filters: Float[np.ndarray, "channel 2"] = DECOY) -> Decoy:
    """The decoy, or another network, beside this training set and γ."""
    return Decoy(points, margin, on_sets(filters))
