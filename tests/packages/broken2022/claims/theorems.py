"""A claim that holds, and one that does not."""

from tests.packages.toy2020.claims.theorems import CONDITIONS, Toys, nothing, two
from widenet.claims.base import Kind, claim
from widenet.claims.implication import Promised, at_most


@claim("broken2022.theorem_1", Kind.MAIN, "Theorem 1", draws=nothing, given=CONDITIONS)
def theorem_1(toys: Toys) -> Promised:
    """It holds."""
    return {"bound": at_most(toys.size, 2.0)}


@claim("broken2022.theorem_8", Kind.MAIN, "Theorem 8", draws=two, given=CONDITIONS)
def theorem_8(toys: Toys) -> Promised:
    """It does not hold."""
    return {"bound": at_most(toys.size, 2.0)}
