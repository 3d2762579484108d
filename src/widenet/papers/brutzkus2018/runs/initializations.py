"""Theorem 9: many random starts of one shape, of which only K_0 is kept, and a few that are trained."""

import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool

from widenet.claims.cases import Cases, Count, Number
from widenet.claims.experiments import Experiment
from widenet.papers.brutzkus2018.formulas import narrow_width, proof_width, wide_width
from widenet.papers.brutzkus2018.runs.online import OnlineStart, train_online
from widenet.progress import Progress, over
from widenet.records import ClosedModel, Scale

PIECE = 2_000
"""Starts held in memory at once."""
STEP_SIZE = 0.6

Shape = tuple[int, int, int]
Entries = Callable[[np.random.Generator, Shape], np.ndarray]
"""Draws the entries of W_0, (run, neuron, dim)."""


class StartLaw(enum.StrEnum):
    """How W_0 is drawn: always continuous, symmetric and bounded."""

    INDEPENDENT = "independent entries, uniform on [−1, 1]"
    EQUAL_ENTRIES = "each row has one random sign: ξ·(1, …, 1) + noise"
    EQUAL_ROWS = "all rows are one random vector + noise"


class InitializationSetting(ClosedModel):
    """Starts of one shape: d, δ and k, how many are drawn, and how many of them are trained."""

    dim: int
    delta: float
    half_width: int
    n_starts: int
    n_trained: int
    law: StartLaw = StartLaw.INDEPENDENT
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Initializations(Cases):
    """What the starts are like, and how the first of them end; those alone are trained."""

    rows: ClassVar = "start"
    lengths: ClassVar = {"trained": lambda cell: (np.arange(len(cell)) < len(cell.reached)).astype(int)}

    dim: Count  #: d
    delta: Number  #: δ
    half_width: Count  #: k
    solvable: Bool[np.ndarray, " start"]  #: whether K_0 is empty
    imbalance: Number  #: the largest |mean sign| of an entry of W_0
    correlation: Number  #: the largest |mean product of signs| of neighbouring entries, along rows and columns
    largest_entry: Number  #: max |entry of W_0|
    reached: Bool[np.ndarray, " trained"]  #: whether the loss is 0 at the end
    ended: Bool[np.ndarray, " trained"]  #: whether no point would make another update


def uniform_entries(draw: np.random.Generator, shape: Shape) -> np.ndarray:
    """Independent entries, uniform on [−1, 1]."""
    return draw.uniform(-1, 1, shape)


def equal_entries(draw: np.random.Generator, shape: Shape) -> np.ndarray:
    """Rows ξ·(1, …, 1) + noise; the noise is too small to change a sign."""
    return _away_from_zero(draw, (*shape[:2], 1)) + draw.uniform(-0.25, 0.25, shape)


def equal_rows(draw: np.random.Generator, shape: Shape) -> np.ndarray:
    """Rows ζ + noise with one ζ for all; the noise is too small to change a sign."""
    return _away_from_zero(draw, (shape[0], 1, shape[2])) + draw.uniform(-0.25, 0.25, shape)


def _away_from_zero(draw: np.random.Generator, shape: Shape) -> np.ndarray:
    """Uniform on [−1, −½] and [½, 1]."""
    return draw.choice([-1.0, 1.0], shape) * draw.uniform(0.5, 1, shape)


ENTRIES: dict[StartLaw, Entries] = {
    StartLaw.INDEPENDENT: uniform_entries,
    StartLaw.EQUAL_ENTRIES: equal_entries,
    StartLaw.EQUAL_ROWS: equal_rows,
}


def run_initializations(setting: InitializationSetting, progress: Progress) -> Initializations:
    """Draw in pieces that fit in memory. K_0 depends on the +1 neurons alone."""
    dim, half, entries = setting.dim, setting.half_width, ENTRIES[setting.law]
    draw = np.random.default_rng([setting.seed, dim, half])
    first = entries(draw, (setting.n_trained, 2 * half, dim))
    start = OnlineStart(np.eye(dim), np.ones((setting.n_trained, dim)), first, STEP_SIZE, seed=setting.seed)
    solvable = [~start.stuck(first).any(axis=1)]
    signs, rows, columns = np.zeros((half, dim)), np.zeros((half - 1, dim)), np.zeros((half, dim - 1))
    drawn, highest = setting.n_starts - setting.n_trained, float(np.abs(first).max(initial=0))
    for done in over(range(0, drawn, PIECE), progress, f"starts with d = {dim}, k = {half}"):
        drawn_entries = entries(draw, (min(PIECE, drawn - done), half, dim))
        highest = max(highest, float(np.abs(drawn_entries).max()))
        on = drawn_entries > 0
        solvable.append(np.all(np.any(on, axis=1), axis=1))
        sign = np.where(on, np.float32(1), np.float32(-1))
        signs += sign.sum(axis=0)
        columns += (sign[:, :, 1:] * sign[:, :, :-1]).sum(axis=0)
        rows += (sign[:, 1:] * sign[:, :-1]).sum(axis=0)
    largest = [float(np.abs(total).max(initial=0)) / drawn for total in (signs, columns, rows)]
    runs = train_online(start)
    reached = start.loss(runs.weights) == 0
    return Initializations(
        dim, setting.delta, half, np.concatenate(solvable), largest[0], max(largest[1:]), highest, reached, runs.ended
    )


SPEC = ((100, 0.05), (64, 0.1), (20, 0.05))
"""Dimension and δ, for both halves of the theorem."""

StartCase = tuple[int, float, int, int]
"""d, δ, k, and how many starts are drawn."""


def narrow_settings(scale: Scale, seed: int) -> list[InitializationSetting]:
    """The widest networks that the first half speaks about, and d = 32, δ = e⁻¹, k = 5, where it is nearly attained."""
    starts, trained = (20_000, 50) if scale is Scale.QUICK else (100_000, 200)
    cases = [(dim, delta, math.floor(narrow_width(dim, delta)), starts) for dim, delta in SPEC]
    return _settings([*cases, (32, math.exp(-1), 5, 200_000)], trained, seed)


def wide_settings(scale: Scale, seed: int) -> list[InitializationSetting]:
    """The narrowest networks that the second half speaks about, by its statement, and by its proof, which halves 2d.

    At d = 3, δ = 3/32, k = 5 the width of the proof is nearly attained.
    """
    starts, trained = (8_000, 30) if scale is Scale.QUICK else (100_000, 200)
    by_statement = [(dim, delta, math.ceil(wide_width(dim, delta)), starts) for dim, delta in SPEC]
    by_proof = [(dim, delta, math.ceil(proof_width(dim, delta)), starts) for dim, delta in SPEC[1:]]
    return _settings([*by_statement, *by_proof, (3, 3 / 32, 5, 400_000)], trained, seed)


def equal_entries_settings(scale: Scale, seed: int) -> list[InitializationSetting]:
    """A start without independence over coordinates: d = 20, k = 2, δ = 0.05."""
    return _settings([(20, 0.05, 2, 1_000)], 50, seed, StartLaw.EQUAL_ENTRIES)


def equal_rows_settings(scale: Scale, seed: int) -> list[InitializationSetting]:
    """A start without independence over neurons: d = 3, k = 5, δ = 0.2."""
    return _settings([(3, 0.2, 5, 1_000)], 50, seed, StartLaw.EQUAL_ROWS)


def _settings(
    cases: Sequence[StartCase], trained: int, seed: int, law: StartLaw = StartLaw.INDEPENDENT
) -> list[InitializationSetting]:
    return [
        InitializationSetting(
            dim=dim, delta=delta, half_width=half, n_starts=starts, n_trained=trained, law=law, seed=seed
        )
        for dim, delta, half, starts in cases
    ]


initializations = Experiment("brutzkus2018.initializations", narrow_settings, run_initializations, seconds=0.15)
