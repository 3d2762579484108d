"""Material for Lemma 9 and for the function F that Lemma 10 applies it to. Nothing is trained here."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from widenet.claims.cases import Cases, Number, column
from widenet.papers.chatterji2021.formulas import INFLECTION, entropy_curvature, entropy_term
from widenet.records import Scale

Function = Callable[[np.ndarray], np.ndarray]


PerSample = Float[np.ndarray, " sample"]
Moves = Float[np.ndarray, " change"]


@dataclass(frozen=True, eq=False)
class ConcaveSplit(Cases):
    """Points z_1, …, z_n > 0 with Σz = M, and a way towards (M, 0, …, 0)."""

    total: Number  #: M
    function: Any  #: ψ
    limit: Number  #: ψ(0⁺)
    samples: Float[np.ndarray, "sample part"]  #: points of the simplex
    corner: Float[np.ndarray, "way part"]  #: (M − (n − 1)η, η, …, η) for ever smaller η
    #: Some of the points on their way there: each move leaves η of one more part and gives the rest to the first.
    moves: Float[np.ndarray, "mover move part"]
    bend: Number  #: the largest second difference of ψ on a grid of (0, M], relative to the size of ψ

    @column
    def limit_size(self) -> float:
        """|ψ(0⁺)|."""
        return abs(float(self.limit))

    @column
    def infimum(self) -> float:
        """ψ(M) + (n − 1)ψ(0⁺)."""
        return float(self.function(np.array([self.total]))[0]) + (self.samples.shape[1] - 1) * self.limit

    @column
    def sums(self) -> PerSample:
        """Σψ(z_i) at every point."""
        return self.function(self.samples).sum(axis=1)

    @column
    def corner_sum(self) -> float:
        """Σψ(z_i) at the end of the way."""
        return float(self.function(self.corner).sum(axis=1)[-1])

    @column
    def sum_after(self) -> Moves:
        """Σψ(z_i) after every move."""
        return self.function(self.moves).sum(axis=2)[:, 1:].ravel()

    @column
    def sum_before(self) -> Moves:
        """The same before it."""
        return self.function(self.moves).sum(axis=2)[:, :-1].ravel()


def draw_split(function: Function, limit: float, total: float, parts: int, seed: int, count: int = 300) -> ConcaveSplit:
    """Random points, and the way."""
    draw = np.random.default_rng([seed, 9, parts])
    samples = np.maximum(total * draw.dirichlet(np.full(parts, 0.7), count), 1e-300)
    small = total * np.logspace(-2, -20, 6)[:, None] / parts
    corner = np.concatenate([total - (parts - 1) * small, np.repeat(small, parts - 1, axis=1)], axis=1)
    values = function(np.linspace(total / 200, total, 200))
    bend = float(np.diff(values, 2).max() / np.abs(values).max())
    return ConcaveSplit(total, function, limit, samples, corner, smoothed(samples[:MOVERS]), bend)


MOVERS = 20
"""Points that are moved to the corner part by part."""


def smoothed(samples: Float[np.ndarray, "sample part"]) -> Float[np.ndarray, "sample move part"]:
    """(z_1, z_k) becomes (z_1 + z_k − η, η) for k = 2, 3, …, with η half of the smallest part."""
    small, steps = samples.min(axis=1) / 2, [samples]
    for part in range(1, samples.shape[1]):
        moved = steps[-1].copy()
        moved[:, 0] += moved[:, part] - small
        moved[:, part] = small
        steps.append(moved)
    return np.stack(steps, axis=1)


def draw_concave() -> dict[str, tuple[Function, float]]:
    """Concave functions, each with its limit at 0."""

    def minus_square(z: np.ndarray) -> np.ndarray:
        return -(z**2)

    def two_minus_square(z: np.ndarray) -> np.ndarray:
        return 2 - z**2

    def one_plus_root(z: np.ndarray) -> np.ndarray:
        return 1 + np.sqrt(z)

    return {
        "√z": (np.sqrt, 0.0),
        "log(1 + z)": (np.log1p, 0.0),
        "−z²": (minus_square, 0.0),
        "2 − z²": (two_minus_square, 2.0),
        "1 + √z": (one_plus_root, 1.0),
        "F": (entropy_term, 0.0),
    }


def draw_splits(scale: Scale, seed: int) -> list[ConcaveSplit]:
    """All functions, for 2, 5 and 20 parts, with M = 1 (and 1.5 for F)."""
    return [
        draw_split(function, limit, 1.5 if name == "F" else 1.0, parts, seed)
        for name, (function, limit) in draw_concave().items()
        for parts in (2, 5, 20)
    ]


Zs = Float[np.ndarray, " z"]


@dataclass(frozen=True, eq=False)
class Bend(Cases):
    """A grid of (0, end]."""

    rows: ClassVar = "z"

    z: Zs
    value: Zs  #: F
    curvature: Zs  #: F''

    @column
    def first_value(self) -> float:
        """F at the smallest z."""
        return float(self.value[self.z.argmin()])


def draw_bend_to(end: float) -> Bend:
    """On a grid that is fine at both ends."""
    z = np.concatenate([np.logspace(-12, math.log10(end), 400), end * np.linspace(0.5, 1, 200)])
    return Bend(z, entropy_term(z), entropy_curvature(z))


def draw_bend(scale: Scale, seed: int) -> Bend:
    """Up to the inflection, 1.524."""
    return draw_bend_to(INFLECTION)
