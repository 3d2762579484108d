"""Section 6.2: networks that are made to fit given labels of given points, by three constructions."""

import enum
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial.distance import pdist

from widenet.claims.applicability import NotApplicable
from widenet.claims.cases import Cases, Count, Number, column
from widenet.claims.experiments import Experiment
from widenet.claims.tolerances import FITTED
from widenet.claims.user_data import UserData
from widenet.data.own import recall_points
from widenet.networks.arrays import plus_minus_weights
from widenet.papers.brutzkus2018.formulas import printed_half_width, swept_half_width
from widenet.papers.brutzkus2018.relu_sources import directions_of, lines_of
from widenet.papers.brutzkus2018.runs.memorization import all_outputs, bumps, fit, memorize, swept_gates
from widenet.papers.brutzkus2018.user_data import reason_in_labels, reason_in_zero
from widenet.progress import Progress, over
from widenet.records import ClosedModel, Scale

EPSILON = float(np.finfo(np.float64).eps)


class Construction(enum.StrEnum):
    """How weights are found."""

    SEARCH = "search"
    """Random gates, then swept ones, until a linear system is solved closely enough; k = 2⌈n/(2d − 2)⌉."""
    SWEEP = "sweep"
    """Swept gates in several planes; k = ⌈n/d⌉."""
    BUMPS = "bumps"
    """Hyperplane bumps, for the first labelling."""


class MemoryShape(ClosedModel):
    """n Gaussian points, which are generic, in dimension d; α; and how many sweep planes are tried."""

    n_samples: int
    dim: int
    slope: float
    planes: int = 20


class MemorySetting(ClosedModel):
    """Points and random labellings, drawn one shape after the other; or your own data with its own labels."""

    construction: Construction
    shapes: tuple[MemoryShape, ...] = ()
    labellings: int = 10
    slope: float = 0.2
    seed: int = 0
    own_data: str | None = None


@dataclass(frozen=True, eq=False)
class Memory:
    """Points, several labellings of them, and the network that has to take them."""

    inputs: Float[np.ndarray, "sample dim"]  #: the points; none is 0
    labels: Float[np.ndarray, "sample labelling"]  #: ±1, one labelling per column
    half_width: int  #: k, half the number of neurons
    slope: float  #: α
    planes: int = 20  #: how many sweep planes are tried

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        return len(self.inputs), self.inputs.shape[1]

    @property
    def closest_directions(self) -> float:
        """The smallest distance between the directions of two points."""
        return float(pdist(directions_of(self.inputs)).min(initial=2.0))

    @property
    def is_contradictory(self) -> bool:
        """Whether two points on one ray, x and cx with c > 0, are asked for values other than N and cN."""
        lines = lines_of(self.inputs)
        _, first, ray = np.unique(2 * lines.line + (lines.side < 0), return_index=True, return_inverse=True)
        norms, leader = np.linalg.norm(self.inputs / np.abs(self.inputs).max(), axis=1), first[ray]
        asked, implied = norms[leader, None] * self.labels, norms[:, None] * self.labels[leader]
        return bool((np.abs(asked - implied) > 4 * FITTED * norms[leader, None]).any())


@dataclass(frozen=True, eq=False)
class Remembered(Cases):
    """A network that was made to fit, one per labelling."""

    rows: ClassVar = "labelling"

    labels: Float[np.ndarray, "sample labelling"]  #: what was asked for
    outputs: Float[np.ndarray, "sample labelling"]  #: N(x)
    output_weights: Float[np.ndarray, " neuron"]
    dim: Count  #: d
    slope: Number  #: α
    gates: str  #: which ones were used
    ranks: Int[np.ndarray, " plane"]  #: of the linear system in each plane (a sweep)
    #: λ, how far the gates had to be pushed out (a sweep): the outputs are differences of numbers this large
    scale: Number
    closest_directions: Number  #: see `Memory`
    is_contradictory: bool | np.ndarray  #: see `Memory`

    @column
    def n_samples(self) -> Count:
        """n."""
        return len(self.labels)

    @column
    def half_width(self) -> Count:
        """k."""
        return len(self.output_weights) // 2

    @column
    def errors(self) -> Float[np.ndarray, " labelling"]:
        """The largest |N(x) − y| of each labelling."""
        return np.abs(self.outputs - self.labels).max(axis=0)

    @property
    def rounding(self) -> Number:
        """What cancellation may leave in an output."""
        return 100 * EPSILON * self.scale


@dataclass(frozen=True, eq=False)
class Memories:
    """What a setting leaves: one case per shape."""

    cases: tuple[Remembered, ...]


def search(memory: Memory, draw: np.random.Generator, *, gate_draws: int = 50) -> Remembered:
    """Weights for every labelling: random gates, or swept ones where these are singular."""
    # What no network can do needs no search.
    tries = (1, 0) if memory.is_contradictory else (gate_draws, memory.planes)
    found = memorize(
        draw,
        memory.inputs,
        memory.labels,
        memory.half_width,
        memory.slope,
        random_draws=tries[0],
        planes=tries[1],
    )
    return _remembered(memory, found.weights, found.gates)


def sweep(memory: Memory, draw: np.random.Generator) -> Remembered:
    """Swept gates in every plane; the network is the one of the plane with the smallest λ."""
    fits = [
        fit(memory.inputs, memory.labels, swept_gates(draw, memory.half_width, memory.inputs), memory.slope)
        for _ in range(memory.planes)
    ]
    best = min(fits, key=lambda each: each.scale)
    return _remembered(memory, best.weights, "swept", [each.rank for each in fits], best.scale)


def bump(memory: Memory, *, spread: float = 0.5) -> Remembered:
    """Hyperplane bumps for the first labelling. `spread` below 1 keeps a bump off the other points."""
    first = Memory(memory.inputs, memory.labels[:, :1], memory.half_width, memory.slope)
    return _remembered(first, bumps(memory.inputs, first.labels[:, 0], memory.slope, spread=spread)[None], "bumps")


def _remembered(
    memory: Memory,
    weights: Float[np.ndarray, "labelling neuron dim"],
    gates: str,
    ranks: list[int] | None = None,
    scale: float = 1.0,
) -> Remembered:
    return Remembered(
        labels=memory.labels,
        outputs=all_outputs(weights, memory.inputs, memory.slope),
        output_weights=plus_minus_weights(weights.shape[1] // 2),
        dim=memory.shape[1],
        slope=memory.slope,
        gates=gates,
        ranks=np.array(ranks or [], int),
        scale=scale,
        closest_directions=memory.closest_directions,
        is_contradictory=memory.is_contradictory,
    )


def draw_memory(draw: np.random.Generator, shape: MemoryShape, half_width: int, labellings: int) -> Memory:
    """Gaussian points and random labellings."""
    labels = draw.choice([-1.0, 1.0], (shape.n_samples, labellings))
    return Memory(draw.normal(size=(shape.n_samples, shape.dim)), labels, half_width, shape.slope, shape.planes)


def memories_of(setting: MemorySetting) -> list[Memory]:
    """The points, labellings and widths of a setting."""
    width = swept_half_width if setting.construction is Construction.SWEEP else printed_half_width
    if setting.own_data is not None:
        inputs, labels = recall_points(setting.own_data)
        return [Memory(inputs, labels[:, None], width(*inputs.shape), setting.slope)]
    draw = np.random.default_rng([setting.seed, 77 if setting.construction is Construction.SWEEP else 7])
    return [draw_memory(draw, shape, width(shape.n_samples, shape.dim), setting.labellings) for shape in setting.shapes]


def run_memories(setting: MemorySetting, progress: Progress) -> Memories:
    """Fit every case of a setting."""
    cases = []
    for index, memory in enumerate(over(memories_of(setting), progress, "sets of points")):
        match setting.construction:
            case Construction.SEARCH:
                cases.append(search(memory, np.random.default_rng([index, 7])))
            case Construction.SWEEP:
                cases.append(sweep(memory, np.random.default_rng([index, 77])))
            case Construction.BUMPS:
                cases.append(bump(memory))
    return Memories(tuple(cases))


SHAPES = ((60, 5), (200, 20), (300, 10), (50, 3), (60, 2))
SMALL = ((60, 5), (50, 3), (60, 2), (61, 2))
SLOPES = (0.1, 0.5, 0.9)


def search_settings(scale: Scale, seed: int) -> list[MemorySetting]:
    """Exactly the printed k; three slopes in turn."""
    shapes = tuple(
        MemoryShape(n_samples=n, dim=dim, slope=SLOPES[index % 3])
        for index, (n, dim) in enumerate(SHAPES * (1 if scale is Scale.QUICK else 5))
    )
    return [MemorySetting(construction=Construction.SEARCH, shapes=shapes, seed=seed)]


def bump_settings(scale: Scale, seed: int) -> list[MemorySetting]:
    """The same points."""
    return [setting.model_copy(update={"construction": Construction.BUMPS}) for setting in search_settings(scale, seed)]


def sweep_settings(scale: Scale, seed: int) -> list[MemorySetting]:
    """k = ⌈n/d⌉. Large systems take a second each: a few planes at quick scale."""
    few, large, planes = (6, ((120, 12),), 4) if scale is Scale.QUICK else (20, ((200, 20), (300, 10)), 20)
    shapes = [
        MemoryShape(n_samples=n, dim=dim, slope=slope, planes=each)
        for sizes, each in ((SMALL, few), (large, planes))
        for n, dim in sizes
        for slope in SLOPES
    ]
    return [MemorySetting(construction=Construction.SWEEP, shapes=tuple(shapes), seed=seed)]


MOST_POINTS = 400
"""Theorem 7 solves for n weights per labelling; beyond this many points of yours it says nothing."""


def own_labels_on(user_data: UserData) -> list[MemorySetting] | NotApplicable:
    """Your own labels, at exactly the printed k."""
    n_samples, dim = user_data.inputs.shape
    if n_samples > MOST_POINTS:
        return NotApplicable(f"It solves a linear system in all points; {n_samples} are more than {MOST_POINTS}.")
    if dim < 2:
        return NotApplicable("It is about two dimensions or more.")
    reason = reason_in_labels(user_data) or reason_in_zero(user_data)
    if reason is not None:
        return reason
    return [MemorySetting(construction=Construction.SEARCH, slope=user_data.choices.slope, own_data=user_data.digest)]


memories = Experiment("brutzkus2018.memories", search_settings, run_memories, seconds=0.3, on=own_labels_on)
constructions = Experiment("brutzkus2018.memories", bump_settings, run_memories, seconds=0.3)
"""Constructions for generic points, which yours need not be."""
