"""Theorem 9: many random starts of one shape, of which only K_0 is kept, and a few that are trained."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from widenet.claims.experiments import Experiment
from widenet.papers.brutzkus2018.formulas import narrow_width, wide_width
from widenet.papers.brutzkus2018.runs.online import OnlineStart, train_online
from widenet.progress import Progress, over
from widenet.records import ClosedModel, Scale

PIECE = 2_000
"""Starts held in memory at once."""
STEP_SIZE = 0.6

Entries = Callable[[np.random.Generator, tuple[int, int, int]], np.ndarray]
"""Draws the entries of W_0, (run, neuron, dim)."""


class InitializationSetting(ClosedModel):
    """Starts of one shape: d, δ and k, how many are drawn, and how many of them are trained."""

    dim: int
    delta: float
    half_width: int
    n_starts: int
    n_trained: int
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Initializations:
    """What the starts are like, and how the first of them end.

    Attributes:
      dim, delta, half_width: d, δ and k.
      solvable: whether K_0 is empty, for every start.
      imbalance: the largest |mean sign| of an entry of W_0.
      correlation: the largest |mean product of signs| of neighbouring entries, along rows and columns.
      reached: whether the loss is 0 at the end, for those that are trained: the first of all.
      ended: whether no point would make another update.
    """

    dim: int
    delta: float
    half_width: int
    solvable: Bool[np.ndarray, " start"]
    imbalance: float
    correlation: float
    reached: Bool[np.ndarray, " trained"]
    ended: Bool[np.ndarray, " trained"]


def uniform_entries(draw: np.random.Generator, shape: tuple[int, int, int]) -> np.ndarray:
    """Independent entries, uniform on [−1, 1]."""
    return draw.uniform(-1, 1, shape)


def run_initializations(
    setting: InitializationSetting, progress: Progress, entries: Entries = uniform_entries
) -> Initializations:
    """Draw in pieces that fit in memory. K_0 depends on the +1 neurons alone."""
    dim, half = setting.dim, setting.half_width
    draw = np.random.default_rng([setting.seed, dim, half])
    first = entries(draw, (setting.n_trained, 2 * half, dim))
    start = OnlineStart(np.eye(dim), np.ones((setting.n_trained, dim)), first, STEP_SIZE, seed=setting.seed)
    solvable = [~start.stuck(first).any(axis=1)]
    signs, rows, columns = np.zeros((half, dim)), np.zeros((half - 1, dim)), np.zeros((half, dim - 1))
    drawn = setting.n_starts - setting.n_trained
    for done in over(range(0, drawn, PIECE), progress, f"starts with d = {dim}, k = {half}"):
        on = entries(draw, (min(PIECE, drawn - done), half, dim)) > 0
        solvable.append(np.all(np.any(on, axis=1), axis=1))
        sign = np.where(on, np.float32(1), np.float32(-1))
        signs += sign.sum(axis=0)
        columns += (sign[:, :, 1:] * sign[:, :, :-1]).sum(axis=0)
        rows += (sign[:, 1:] * sign[:, :-1]).sum(axis=0)
    largest = [float(np.abs(total).max(initial=0)) / drawn for total in (signs, columns, rows)]
    runs = train_online(start)
    reached = start.loss(runs.weights) == 0
    return Initializations(
        dim, setting.delta, half, np.concatenate(solvable), largest[0], max(largest[1:]), reached, runs.ended
    )


SPEC = ((100, 0.05), (64, 0.1), (20, 0.05))
"""Dimension and δ, for both halves of the theorem."""


def narrow_settings(scale: Scale, seed: int) -> list[InitializationSetting]:
    """The widest networks that the first half speaks about."""
    n_starts, n_trained = (20_000, 50) if scale is Scale.QUICK else (100_000, 200)
    return [
        InitializationSetting(
            dim=dim,
            delta=delta,
            half_width=math.floor(narrow_width(dim, delta)),
            n_starts=n_starts,
            n_trained=n_trained,
            seed=seed,
        )
        for dim, delta in SPEC
    ]


def wide_settings(scale: Scale, seed: int) -> list[InitializationSetting]:
    """The narrowest networks that the second half speaks about."""
    n_starts, n_trained = (8_000, 30) if scale is Scale.QUICK else (100_000, 200)
    return [
        InitializationSetting(
            dim=dim,
            delta=delta,
            half_width=math.ceil(wide_width(dim, delta)),
            n_starts=n_starts,
            n_trained=n_trained,
            seed=seed,
        )
        for dim, delta in SPEC
    ]


initializations = Experiment("brutzkus2018.initializations", narrow_settings, run_initializations, seconds=0.15)
