"""A network that solves XOR with k = 2, and random ones with k = 1, none of which does."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.cases import Cases, Count, Number, column
from widenet.diagnostics.exploration import XOR_LABELS, XOR_POINTS
from widenet.records import Scale

Filters = Float[np.ndarray, "*network filter 2"]


def outputs(plus: Filters, minus: Filters) -> Float[np.ndarray, "*network 4"]:
    """N(x_1), …, N(x_4) of the network of Eq. 1."""
    return np.maximum(plus @ XOR_POINTS.T, 0).sum(axis=-2) - np.maximum(minus @ XOR_POINTS.T, 0).sum(axis=-2)


def strictly_right(values: Float[np.ndarray, "*run 4"]) -> Bool[np.ndarray, "*run 4"]:
    """y N > 0: an output of 0 has no sign and is wrong."""
    return XOR_LABELS * values > 0


@dataclass(frozen=True, eq=False)
class XorNetworks(Cases):
    """A network with several filters of each sign, and many with one of each."""

    rows: ClassVar = "network"

    plus: Float[np.ndarray, "filter 2"]
    minus: Float[np.ndarray, "filter 2"]
    single_plus: Float[np.ndarray, "network single 2"]
    single_minus: Float[np.ndarray, "network single 2"]

    def counts(self) -> dict[str, int]:
        """The first and the others."""
        return {"tried": len(self.cells) + len(self), "diverged": 0, "unfinished": 0}

    @column
    def half_width(self) -> Count:
        """k of the first."""
        return len(self.plus)

    @column
    def right(self) -> Bool[np.ndarray, " 4"]:
        """Which points it has right."""
        return strictly_right(outputs(self.plus, self.minus))

    @column
    def loss(self) -> Number:
        """Its loss."""
        return float(np.maximum(1 - XOR_LABELS * outputs(self.plus, self.minus), 0).sum())

    @column
    def solved(self) -> Bool[np.ndarray, " network"]:
        """Which of the others have all four signs right."""
        return np.all(strictly_right(outputs(self.single_plus, self.single_minus)), axis=-1)


SOLUTION = (XOR_POINTS[::2] / 2, XOR_POINTS[1::2] / 2)
"""w = x_1/2, x_3/2 and u = x_2/2, x_4/2."""


def xor_networks(scale: Scale, seed: int) -> XorNetworks:
    """The solution, and Gaussian weights with k = 1."""
    draw = np.random.default_rng([seed, 31])
    singles = draw.normal(size=(2, 20_000 if scale is Scale.QUICK else 10**6, 1, 2))
    return XorNetworks(*SOLUTION, *singles)
