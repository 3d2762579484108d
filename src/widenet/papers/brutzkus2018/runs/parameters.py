"""Parameters at which formulas are compared: nothing is trained on them."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.cases import Cases, Count, column
from widenet.papers.brutzkus2018.formulas import (
    max_nonzero_updates,
)
from widenet.records import Scale


@dataclass(frozen=True, eq=False)
class StepSizes(Cases):
    """Parameters ‖w*‖, α, k at which M_k is followed over growing step sizes η."""

    rows: ClassVar = "case"

    separator_norm: Float[np.ndarray, " case"]  #: ‖w*‖
    slope: Float[np.ndarray, " case"]  #: α
    half_width: Float[np.ndarray, " case"]  #: k
    step_sizes: Float[np.ndarray, " step"]  #: η, growing
    relative_radius: Float[np.ndarray, "case step"]  #: R/v

    @property
    def bound(self) -> np.ndarray:
        """M_k with v = 1/√(2k)."""
        weight = (2.0 * self.half_width) ** -0.5
        radius = self.relative_radius * weight
        return max_nonzero_updates(self.separator_norm, self.slope, self.step_sizes, weight, radius, self.half_width)

    @column
    def before(self) -> Float[np.ndarray, "case step"]:
        """M_k at the step size before this one; NaN at the first."""
        bounds = type(self).join([self]).per("step").bound.reshape(len(self), -1)
        return np.column_stack([np.full(len(self), np.nan), bounds[:, :-1]])

    @column
    def is_later(self) -> Bool[np.ndarray, " step"]:
        """Whether there is one before it."""
        return np.arange(len(self.step_sizes)) > 0

    @column
    def largest_step(self) -> float:
        """max η."""
        return float(self.step_sizes.max())

    def counts(self) -> dict[str, int]:
        """Every case at every step."""
        return {"tried": len(self.per("step"))}


def growing_steps(scale: Scale, seed: int) -> StepSizes:
    """Random parameters, and step sizes from 1e-3 to 1e12."""
    draw = np.random.default_rng(seed)
    count = 200 if scale is Scale.QUICK else 1000
    return StepSizes(
        1 + draw.exponential(10, count),
        draw.uniform(0.01, 0.99, count),
        draw.integers(1, 1000, count) * 1.0,
        np.geomspace(1e-3, 1e12, 100),
        np.ones((count, 100)),
    )


@dataclass(frozen=True, eq=False)
class Exponents(Cases):
    """δ = e^{−ad} in the first half of Theorem 9, for these a, every width and dimensions 1, …, max_dim."""

    rows: ClassVar = "exponent"
    lengths: ClassVar = {"case": lambda each: each.n_widths * each.max_dim}

    exponent: Float[np.ndarray, " exponent"]  #: a
    max_dim: Count

    @column
    def n_widths(self) -> Int[np.ndarray, " exponent"]:
        """How many k ≤ log2(1/a) there are; k = 1 is always tried, as the remark needs a width that is allowed."""
        tried = [max(1, math.floor(math.log2(1 / a))) if a > 0 else 0 for a in self.exponent.tolist()]
        return np.array(tried, int)

    @column
    def half_width(self) -> Int[np.ndarray, " case"]:
        """k."""
        return np.concatenate([np.repeat(np.arange(1, n + 1), self.max_dim) for n in self.n_widths])

    @column
    def dim(self) -> Int[np.ndarray, " case"]:
        """d."""
        return np.tile(np.arange(1, int(self.max_dim) + 1), self.n_widths.sum())

    def counts(self) -> dict[str, int]:
        """Every exponent at every width and dimension."""
        return {"tried": len(self.per("case"))}


def some_exponents(scale: Scale, seed: int) -> Exponents:
    """From the largest that the remark allows."""
    return Exponents(np.array([0.5, 0.25, 0.1, 0.01]), 200)


@dataclass(frozen=True, eq=False)
class Formulas(Cases):
    """Random ‖w*‖, α, η at which the formulas are compared, for every width of a list."""

    rows: ClassVar = "width"

    separator_norm: Float[np.ndarray, " draw"]  #: ‖w*‖
    slope: Float[np.ndarray, " draw"]  #: α
    step_size: Float[np.ndarray, " draw"]  #: η
    half_width: Int[np.ndarray, " width"]  #: k

    @property
    def arguments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(‖w*‖, α, η)."""
        return self.separator_norm, self.slope, self.step_size

    def counts(self) -> dict[str, int]:
        """Every draw at every width."""
        return {"tried": len(self.per("draw"))}


def draw_formulas(seed: int, count: int) -> Formulas:
    """Parameters over all sizes that matter, and where the constants of Eq. 14 and K(α) are nearly attained."""
    draw = np.random.default_rng(seed)
    return Formulas(
        np.r_[1.0, 1.0, 3.0, 1.0, draw.uniform(1, 50, count)],
        np.r_[0.99, 0.99, 0.99, 0.5, draw.uniform(0.01, 0.99, count)],
        np.r_[1e-6, 1e6, 1e9, 1e-6, np.exp(draw.uniform(np.log(1e-3), np.log(1e3), count))],
        np.array([1, 2, 10, 100, 1000]),
    )


def equation_14_formulas(scale: Scale, seed: int) -> Formulas:
    """Random parameters."""
    return draw_formulas(seed, 1000 if scale is Scale.QUICK else 100_000)
