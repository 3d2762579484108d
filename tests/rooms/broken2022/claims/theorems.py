"""A claim that holds, and one that does not."""

import numpy as np

from tests.rooms.toy2020.claims.theorems import conditions, nothing
from widenet.claims.base import Evidence, Kind, claim
from widenet.claims.sides import Sides, evidence


@claim("broken2022.theorem_1", Kind.MAIN, "Theorem 1", draws=nothing)
def theorem_1(seed: int) -> Evidence:
    """It holds."""
    return evidence({"bound": Sides(1.0, 2.0)}, conditions())


@claim("broken2022.theorem_8", Kind.MAIN, "Theorem 8", draws=nothing)
def theorem_8(seed: int) -> Evidence:
    """It does not hold."""
    return evidence({"bound": Sides(np.array([1.0, 3.0]), 2.0)}, conditions())
