"""Gradient descent on least squares: what holds at every step, and what holds from most starts.

widenet check examples/descent.py
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims import (
    ROUNDING,
    Cases,
    Experiment,
    Kind,
    Number,
    Promised,
    Rate,
    Scale,
    Setting,
    at_least,
    at_most,
    claim,
    derived,
    hypothesis,
    less_than,
    run_column,
)

Steps = Float[np.ndarray, " step"]
DELTA = 0.05  # δ


class Problem(Setting):
    """Random points, η as a share of 1/L, and runs from standard normal starts until the loss is small."""

    dim: int
    n_points: int
    share: float = 0.5
    n_runs: int = 100
    max_steps: int = 2000
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Descents(Cases):
    """One run per start."""

    lengths: ClassVar = {"step": lambda cell: cell.n_steps}

    n_steps: Int[np.ndarray, " run"]  #: of each run
    unfinished: Bool[np.ndarray, " run"]  #: truncated before the loss was small
    loss_before: Steps  #: f(w_{t−1})
    loss_after: Steps  #: f(w_t)
    gradient_norm: Steps  #: ‖∇f(w_{t−1})‖
    step_size: Number  #: η
    smoothness: Number  #: L, the largest eigenvalue of the Hessian
    convexity: Number  #: μ, the smallest
    dim: Number


class Computed(Descents):
    """What the claims need beside it."""

    decrease: Steps = derived(lambda cell: cell.loss_before - cell.loss_after)
    number: Steps = derived(lambda cell: np.concatenate([np.arange(1.0, n + 1) for n in cell.n_steps]))

    @run_column
    def largest_product(self) -> float:
        """The largest t f(w_t) of one run."""
        return float(np.max(self.number * self.loss_after, initial=0.0))


def descend(hessian: np.ndarray, point: np.ndarray, step_size: float, most: int) -> list[tuple[float, float, float]]:
    """Loss before, loss after and gradient norm of each step on f(w) = ½ wᵀHw, whose minimum is 0 at w = 0."""
    steps, loss = [], point @ hessian @ point / 2
    while loss > 1e-3 and len(steps) < most:
        gradient = hessian @ point
        point = point - step_size * gradient
        before, loss = loss, point @ hessian @ point / 2
        steps.append((before, loss, float(np.linalg.norm(gradient))))
    return steps


def run(setting: Problem, _) -> Descents:
    """All starts on one data set."""
    generator = np.random.default_rng(setting.seed)
    points = generator.normal(size=(setting.n_points, setting.dim))
    starts = generator.normal(size=(setting.n_runs, setting.dim))
    hessian = points.T @ points / setting.n_points
    convexity, smoothness = np.linalg.eigvalsh(hessian)[[0, -1]].tolist()
    paths = [descend(hessian, start, setting.share / smoothness, setting.max_steps) for start in starts]
    before, after, gradients = np.array([step for path in paths for step in path]).reshape(-1, 3).T
    n_steps = np.array([len(path) for path in paths])
    steps = (before, after, gradients)
    numbers = (setting.share / smoothness, smoothness, convexity, setting.dim)
    return Descents(n_steps, n_steps == setting.max_steps, *steps, *numbers)


def settings(scale: Scale, seed: int) -> list[Problem]:
    """One dimension, where the first promise is attained; full rank; and fewer points than dimensions."""
    sizes = [(1, 5), (5, 50), (20, 10)] if scale is Scale.QUICK else [(1, 5), (5, 50), (20, 10), (50, 1000), (200, 100)]
    return [Problem(dim=dim, n_points=n_points, seed=seed) for dim, n_points in sizes]


def longer_steps(scale: Scale, seed: int) -> list[Problem]:
    """The same data, with η between 1/L and 2/L."""
    return [each.model_copy(update={"share": 1.9}) for each in settings(scale, seed)]


descents = Experiment("example.descents", settings, run)


@hypothesis("step size times smoothness $ηL$")
def at_most_one(runs: Descents):
    """η ≤ 1/L."""
    return at_most(runs.step_size * runs.smoothness, 1, within=ROUNDING)


@hypothesis("step size times smoothness $ηL$")
def below_two(runs: Descents):
    """η < 2/L."""
    return less_than(runs.step_size * runs.smoothness, 2)


def likely_radius(dim: np.ndarray) -> np.ndarray:
    """A standard normal start has a larger norm with probability at most δ."""
    return np.sqrt(dim) + np.sqrt(2 * np.log(1 / DELTA))


@claim("example.descent", Kind.MAIN, "lecture notes", reads=descents, given=[at_most_one])
def descent(runs: Computed, *, factor=0.5, radius=likely_radius) -> Promised:
    """With η ≤ 1/L every step lowers f by at least η(1 − ηL/2)‖∇f‖², and multiplies it by at most (1 − ημ)² if μ > 0.
    From a standard normal start, t f(w_t) ≤ (√d + √(2 ln(1/δ)))²/(2η) for all t with probability at least 1 − δ.
    """
    s = runs.per("step")
    gain = s.step_size * (1 - factor * s.step_size * s.smoothness) * s.gradient_norm**2
    limit = (1 - s.step_size * s.convexity) ** 2 * s.loss_before
    full_rank = {"where": s.convexity > 1e-9, "event": "data of full rank"}
    bound = radius(runs.dim) ** 2 / (2 * runs.step_size)
    products = at_most(runs.largest_product, bound, within=ROUNDING, cut_off=runs.unfinished)
    return {
        "decrease": at_least(s.decrease, gain, within=ROUNDING, of=s.loss_before, text="$f$ falls at every step"),
        "factor": at_most(s.loss_after, limit, within=ROUNDING, text="$f$ falls by $(1 − ημ)²$", **full_rank),
        "starts": Rate(products.broken, DELTA, sides=products, setting=runs.cell, text="$t f(w_t)$ stays small"),
    }


descent_as_printed = descent.variant(
    "descent_as_printed",
    reads=descents.at(longer_steps),
    given=(below_two,),
    where="lecture notes, first edition",
    statement="All this holds for every η < 2/L.",
)
