"""Section 7.1: where to place a ReLU network so that at least half of the points switch every neuron off.

A vector ŵ that is orthogonal to no point has, on each line through 0, all of one ray behind it. So on a
direction-antipodal set exactly half of the points are behind ŵ, whatever ŵ is; on every other set some ŵ has more than
half behind it (Lemma 11, repaired).
"""

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from widenet.claims.applicability import NotApplicable
from widenet.claims.cases import Cases, Count, Number
from widenet.claims.experiments import Experiment
from widenet.claims.user_data import UserData
from widenet.data.own import recall
from widenet.papers.brutzkus2018.relu_sources import (
    PointSet,
    antipodal_pair,
    antipodal_set,
    nearly_antipodal_pair,
    points_on,
    separable_set,
)
from widenet.papers.brutzkus2018.runs.flat_balls import INSIDE, try_ball
from widenet.papers.brutzkus2018.runs.online import OnlineStart
from widenet.papers.brutzkus2018.user_data import separator_of
from widenet.progress import Progress, over
from widenet.records import ClosedModel, Scale

EPSILON = float(np.finfo(np.float64).eps)


class SetRecipe(enum.StrEnum):
    """Which sets are drawn."""

    MIXED = "mixed"
    """General ones, some that are almost direction-antipodal, and some that are."""
    ANTIPODAL = "antipodal"
    """One to three pairs each."""
    PAIR = "pair"
    """S = {(e_1, +1), (−e_1, −1)}."""


class MinimaSetting(ClosedModel):
    """Sets, and the networks that are placed badly on them."""

    recipe: SetRecipe = SetRecipe.MIXED  #: which sets; `own_data` names your own instead
    repeats: int = 1  #: how many of each shape (mixed), or how many in all (antipodal)
    #: k of the networks, in turn over the sets; each set with each of them for the pair
    half_widths: tuple[int, ...] = (1, 2, 3, 4)
    perturbations: int = 300  #: random directions in which each ball is tried
    seed: int = 0
    own_data: str | None = None


PerSet = Float[np.ndarray, " set"]
Counts = Int[np.ndarray, " set"]


@dataclass(frozen=True, eq=False)
class BadMinima(Cases):
    """One badly placed network per set."""

    rows: ClassVar = "set"

    words: Shaped[np.ndarray, " set"]  #: the set, written out where it is small
    n_samples: Counts  #: n
    dim: Counts  #: d
    half_width: Counts  #: k
    smallest_margin: PerSet  #: min y⟨w*, x⟩
    largest_input: PerSet  #: max ‖x‖
    imbalance: Counts  #: 0 exactly for a direction-antipodal set
    most_behind: Counts  #: no vector has more points behind it
    behind: Counts  #: how many ŵ has
    nearest: PerSet  #: min |⟨ŵ, x⟩|
    level: PerSet  #: the training loss at W
    gradient: PerSet  #: the largest |entry| of its gradient
    radius: PerSet  #: of the ball around W
    changed: Counts  #: in how many directions the loss is another one there
    resolved: Bool[np.ndarray, " set"]  #: whether float64 can tell the signs and the margins that all this rests on
    slope: Number  #: for z < 0; 0 for ReLU
    tried: Count  #: how many directions there were


def mostly_behind(points: PointSet, draw: np.random.Generator) -> Float[np.ndarray, " dim"]:
    """ŵ with ⟨ŵ, x⟩ ≠ 0 everywhere and at least half of the points behind it; more than half where that is possible.

    Random search fails on sets that are nearly direction-antipodal. Instead: take a line with unequal rays, a generic
    h orthogonal to it, and tilt h towards either ray by less than any other point notices. The two tilts differ in
    Σ sign⟨ŵ, x⟩ by twice the imbalance of the line, so one of the sums is not 0; its sign chooses ŵ or −ŵ.
    """
    rays = points.lines.rays
    on_it = points.lines.line == int(np.argmax(np.abs(rays[:, 0] - rays[:, 1])))
    axis = points.inputs[np.argmax(on_it)] / np.linalg.norm(points.inputs[np.argmax(on_it)])
    across = draw.normal(size=len(axis))
    across -= (across @ axis) * axis
    tilt = 0.5 * np.abs(points.inputs[~on_it] @ across).min(initial=2.0) / max(1.0, points.largest_norm)
    candidates = [across + tilt * axis, across - tilt * axis]
    signs = [np.sign(points.inputs @ candidate).sum() for candidate in candidates]
    best = int(np.argmax(np.abs(signs)))
    return -candidates[best] if signs[best] > 0 else candidates[best]


def bad_minimum(
    points: PointSet, half_width: int, direction: Float[np.ndarray, " dim"]
) -> Float[np.ndarray, "neuron dim"]:
    """The W of Theorem 8: rows cŵ + w* and cŵ − w*, with c so large that ŵ alone decides every sign.

    In front of ŵ all neurons are on and yN = 2k·y⟨w*, x⟩ ≥ 2k; behind it all are off, N = 0 and the loss is 1.
    """
    smallest = 0.5 * np.abs(points.inputs @ direction).min()
    c = 1.01 * np.linalg.norm(points.separator) * max(1.0, points.largest_norm) / smallest
    rows = np.stack([c * direction + points.separator, c * direction - points.separator])
    return np.repeat(rows, half_width, axis=0)


def as_start(points: PointSet, half_width: int, copies: int = 1, slope: float = 0.0) -> OnlineStart:
    """The loss on these points for many weight matrices at once (v = 1)."""
    labels = np.repeat(points.labels[None], copies, axis=0)
    weights = np.zeros((copies, 2 * half_width, points.inputs.shape[1]))
    return OnlineStart(points.inputs, labels, weights, 1.0, slope=slope)


def place(
    sets: Sequence[PointSet],
    half_widths: Sequence[int],
    progress: Progress,
    *,
    perturbations: int = 300,
    radius_factor: float = INSIDE,
    slope: float = 0.0,
) -> BadMinima:
    """The W of Theorem 8 on every set, and what the loss does around it. Controls change the last two."""
    rows = []
    pairs = list(zip(sets, half_widths, strict=True))
    for index, (points, half) in enumerate(over(pairs, progress, "sets of points")):
        draw = np.random.default_rng([index, 8])
        start = as_start(points, half, slope=slope)
        # Data of extreme size overflows here; `resolved` says so.
        with np.errstate(all="ignore"):
            direction = mostly_behind(points, draw)
            weights = bad_minimum(points, half, direction)
            ball = try_ball(start, weights, draw, perturbations=perturbations, radius_factor=radius_factor)
            rows.append(
                {
                    "words": points.words,
                    "n_samples": len(points.labels),
                    "dim": points.inputs.shape[1],
                    "half_width": half,
                    "smallest_margin": points.smallest_margin,
                    "largest_input": points.largest_norm,
                    "imbalance": points.imbalance,
                    "most_behind": points.most_behind,
                    "behind": int((points.inputs @ direction < 0).sum()),
                    "nearest": float(np.abs(points.inputs @ direction).min()),
                    "level": float(start.loss(weights[None])[0]),
                    "gradient": float(np.abs(start.gradient(weights[None])).max()),
                    "radius": ball.radius,
                    "changed": ball.changed,
                    "resolved": _is_resolved(points, weights),
                }
            )
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return BadMinima(**columns, slope=slope, tried=perturbations + 2)


def _is_resolved(points: PointSet, weights: Float[np.ndarray, "neuron dim"]) -> bool:
    """Whether the room that the ball leaves, a thousandth of each sign and margin, is above rounding.

    Margins are differences of pre-activations that are larger by the factor c.
    """
    room = 1 - INSIDE
    z = np.abs(weights @ points.inputs.T)
    rounding = 4 * len(points.separator) * EPSILON * (np.abs(weights) @ np.abs(points.inputs.T))
    return bool((rounding < room * z).all() and (2 * len(weights) * rounding < room * (len(weights) - 1)).all())


def sets_of(setting: MinimaSetting) -> list[PointSet]:
    """The sets of a setting."""
    if setting.own_data is not None:
        return [points_on(recall(setting.own_data))]
    match setting.recipe:
        case SetRecipe.PAIR:
            return [antipodal_pair()] * len(setting.half_widths)
        case SetRecipe.ANTIPODAL:
            return antipodal_sets(np.random.default_rng([setting.seed, 73]), setting.repeats)
        case SetRecipe.MIXED:
            draw = np.random.default_rng([setting.seed, 71])
            shapes = [(n, dim) for n in (1, 2, 20, 51) for dim in (2, 5, 10)] * setting.repeats
            general = [separable_set(draw, n, dim) for n, dim in shapes]
            antipodal = [antipodal_set(draw, pairs, dim) for pairs in (1, 3, 10) for dim in (1, 2, 5)]
            nearly = [nearly_antipodal_pair(1e-4), nearly_antipodal_pair(1e-7)]
            return [*general, *nearly, antipodal_pair(), *antipodal]


def antipodal_sets(draw: np.random.Generator, count: int) -> list[PointSet]:
    """Sets of one, two and three pairs in turn, in up to three dimensions."""
    return [antipodal_set(draw, 1 + index % 3, int(draw.integers(1, 4))) for index in range(count)]


def run_minima(setting: MinimaSetting, progress: Progress) -> BadMinima:
    """Place a network on every set of a setting."""
    sets = sets_of(setting)
    half_widths = [setting.half_widths[index % len(setting.half_widths)] for index in range(len(sets))]
    return place(sets, half_widths, progress, perturbations=setting.perturbations)


def minima_settings(scale: Scale, seed: int) -> list[MinimaSetting]:
    """Sets of many shapes."""
    return [MinimaSetting(repeats=2 if scale is Scale.QUICK else 20, seed=seed)]


def pair_settings(scale: Scale, seed: int) -> list[MinimaSetting]:
    """The pair, at two widths."""
    return [MinimaSetting(recipe=SetRecipe.PAIR, half_widths=(1, 3))]


def antipodal_settings(scale: Scale, seed: int) -> list[MinimaSetting]:
    """Many direction-antipodal sets, with two neurons."""
    count = 400 if scale is Scale.QUICK else 3000
    return [MinimaSetting(recipe=SetRecipe.ANTIPODAL, repeats=count, half_widths=(1,), perturbations=20, seed=seed)]


def minima_on(user_data: UserData) -> list[MinimaSetting] | NotApplicable:
    """One network of the chosen width, placed badly on your points."""
    separator = separator_of(user_data)
    if isinstance(separator, NotApplicable):
        return separator
    return [MinimaSetting(half_widths=(user_data.choices.n_neurons // 2,), own_data=user_data.digest)]


bad_minima = Experiment("brutzkus2018.bad_minima", minima_settings, run_minima, seconds=0.4, on=minima_on)


@dataclass(frozen=True)
class PairCells:
    """The weight space of one pair: grid points visited, those where the loss may have a local minimum, the largest
    loss among these.
    """

    visited: int
    flat: int
    largest_loss: Fraction


def pair_loss(w: Fraction, u: Fraction) -> Fraction:
    """L_S of S = {(1, +1), (−1, −1)} in one dimension with k = 1, in exact arithmetic."""
    outputs = {x: max(w * x, Fraction(0)) - max(u * x, Fraction(0)) for x in (1, -1)}
    plus, minus = (max(Fraction(1) - x * output, Fraction(0)) for x, output in outputs.items())  # the label is x
    return (plus + minus) / 2


def pair_cells() -> PairCells:
    """S = {(1, +1), (−1, −1)} in one dimension with k = 1: all weights (w, u), in exact arithmetic.

    The loss is linear on the cells cut by w = 0, u = 0, N(1) = 1 and N(−1) = −1; the grid has a point in each. From a
    point of the grid along (1, −1) the next cut is a quarter away or more, so the loss is linear over an eighth; where
    it does not fall there may be a local minimum.
    """
    values, step = [Fraction(n, 2) for n in range(-6, 7)], Fraction(1, 8)
    points = [(w, u) for w in values for u in values]
    flat = [pair_loss(w, u) for w, u in points if pair_loss(w + step, u - step) >= pair_loss(w, u)]
    return PairCells(len(points), len(flat), max(flat))
