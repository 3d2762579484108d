"""Piecewise linear functions of one number with a kink or a bend, and smooth functions of sums."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from widenet.claims.cases import Cases, column
from widenet.records import Scale

MARKS = np.array([-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5])
"""Knots that every pair of curves has, in units of τ."""

Pairs = Float[np.ndarray, " pair"]


@dataclass(frozen=True, eq=False)
class FunctionPairs(Cases):
    """Pairs of piecewise linear functions φ and l on common knots, which reach beyond [−τ, τ] and include `MARKS`·τ."""

    rows = "pair"

    knots: Float[np.ndarray, "pair knot"]
    curve: Float[np.ndarray, "pair knot"]
    line: Float[np.ndarray, "pair knot"]
    reach: Pairs

    @property
    def difference(self) -> Float[np.ndarray, "pair knot"]:
        """φ − l."""
        return self.curve - self.line

    def slopes(self, values: Float[np.ndarray, "pair knot"]) -> Float[np.ndarray, "pair piece"]:
        """Of the pieces between knots; a piece of no length takes the slope before it."""
        lengths = np.diff(self.knots, axis=1)
        return np.diff(values, axis=1) / np.where(lengths > 0, lengths, np.inf)

    def right_of(self, values: np.ndarray, mark: float) -> Float[np.ndarray, " pair"]:
        """The slope just right of mark·τ."""
        return self._slope(values, mark, 0)

    def left_of(self, values: np.ndarray, mark: float) -> Float[np.ndarray, " pair"]:
        """The slope just left of it."""
        return self._slope(values, mark, -1)

    def _slope(self, values: np.ndarray, mark: float, side: int) -> np.ndarray:
        place = np.abs(self.knots - mark * self.reach[:, None]).argmin(axis=1) + side
        return self.slopes(values)[np.arange(len(self.knots)), place]

    @property
    def inside(self) -> np.ndarray:
        """Which pieces lie in [−τ, τ]."""
        middles = (self.knots[:, 1:] + self.knots[:, :-1]) / 2
        return np.abs(middles) < self.reach[:, None]

    @column
    def area(self) -> Pairs:
        """∫|φ − l| over [−τ, τ], exactly."""
        left, right = self.difference[:, :-1], self.difference[:, 1:]
        ends = np.abs(left) + np.abs(right)
        # A piece that changes its sign is two triangles.
        lost = np.divide(left * right, ends, out=np.zeros_like(ends), where=left * right < 0)
        pieces = ends / 2 + lost
        return (pieces * np.diff(self.knots, axis=1) * self.inside).sum(axis=1)

    @column
    def size(self) -> Pairs:
        """What an area is made of."""
        return np.abs(self.difference).max(axis=1) * self.reach

    def share_beyond(self, level: Pairs) -> Pairs:
        """Pr[|φ − l| ≥ level] for α uniform on [−τ, τ], exactly."""
        left, right = self.difference[:, :-1], self.difference[:, 1:]
        level = level[:, None]
        low, high = np.minimum(left, right), np.maximum(left, right)
        within = np.maximum(np.minimum(high, level) - np.maximum(low, -level), 0)
        # A flat piece lies beyond or not as a whole.
        small = np.divide(within, high - low, out=(np.abs(left) < level) * 1.0, where=high > low)
        lengths = np.diff(self.knots, axis=1) * self.inside
        return ((1 - small) * lengths).sum(axis=1) / (2 * self.reach)

    @column
    def jump(self) -> Pairs:
        """ρ of Lemma A.5."""
        return self.right_of(self.curve, 0.0) - self.left_of(self.curve, 0.0)

    @column
    def gap(self) -> Pairs:
        """γ of Lemma B.5."""
        own = self.right_of(self.curve, 0.5) - self.left_of(self.curve, -0.5)
        return own - (self.right_of(self.line, 1.0) - self.left_of(self.line, -1.0))

    @column
    def least_bend(self) -> Pairs:
        """The smallest increase of the slope of φ over 1 + its size, 0 or more where it is convex."""
        return self._bends(self.curve)

    @column
    def least_line_bend(self) -> Pairs:
        """The same of l."""
        return self._bends(self.line)

    @column
    def line_bend(self) -> Pairs:
        """The largest change of the slope of l, over 1 + its size."""
        return np.array([np.ptp(row) / (1 + np.abs(row[0])) for row in self.real_slopes(self.line)])

    def _bends(self, values: np.ndarray) -> Pairs:
        return np.array([np.diff(row).min() / (1 + np.abs(row).max()) for row in self.real_slopes(values)])

    def real_slopes(self, values: np.ndarray) -> list[np.ndarray]:
        """Of the pieces that have a length, pair by pair."""
        real = np.diff(self.knots, axis=1) > 0
        return [slopes[kept] for slopes, kept in zip(self.slopes(values), real, strict=True)]


def make_curves(knots: np.ndarray, curve: np.ndarray, line: np.ndarray, reach: np.ndarray) -> FunctionPairs:
    """Rows of one pair or more."""
    rows = (np.atleast_2d(np.asarray(each, np.float64)) for each in (knots, curve, line))
    return FunctionPairs(*rows, reach=np.atleast_1d(reach))


def kinked(low: float, high: float, offset: float, reach: float = 1.0) -> FunctionPairs:
    """φ has the slopes −low left of 0 and high right of it; l is the constant `offset`."""
    knots = MARKS * reach
    curve = high * np.maximum(knots, 0) + low * np.maximum(-knots, 0)
    return make_curves(knots, curve, np.full(len(knots), offset), np.array([reach]))


def joined(*curves: FunctionPairs) -> FunctionPairs:
    """One after the other; shorter rows end in knots that repeat the last one."""
    longest = max(each.knots.shape[1] for each in curves)

    def padded(values: np.ndarray) -> np.ndarray:
        return np.pad(values, ((0, 0), (0, longest - values.shape[1])), mode="edge")

    names = ("knots", "curve", "line")
    return FunctionPairs(
        *(np.concatenate([padded(getattr(each, name)) for each in curves]) for name in names),
        reach=np.concatenate([each.reach for each in curves]),
    )


def _knots(draw: np.random.Generator, count: int, reach: np.ndarray) -> np.ndarray:
    places = np.concatenate([draw.uniform(-1.5, 1.5, (count, 6)), np.tile(MARKS, (count, 1))], axis=1)
    return np.sort(places, axis=1) * reach[:, None]


def _convex(draw: np.random.Generator, knots: np.ndarray, size: float) -> np.ndarray:
    lengths = np.diff(knots, axis=1)
    bends = size * draw.exponential(size=lengths.shape) * (draw.uniform(size=lengths.shape) < 0.4)
    slopes = draw.normal(size=(len(knots), 1)) + np.cumsum(bends, axis=1)
    return np.concatenate([np.zeros((len(knots), 1)), np.cumsum(slopes * lengths, axis=1)], axis=1)


FLATTEST = (1 / 64, 63 / 64, 1 / 128)
"""Slopes (left, right) and offset, for ρ = τ = 1, at which Pr[|φ − l| ≥ 1/128] is least: 31/63."""


def draw_kinks(scale: Scale, seed: int) -> FunctionPairs:
    """Random convex φ with a kink at 0; l through it at ±τ/2 (the best linear fit), and others; both extreme pairs."""
    draw, count = np.random.default_rng([seed, 5]), 400
    reach = np.exp(draw.normal(size=count))
    knots = _knots(draw, count, reach)
    curve = _convex(draw, knots, 1.0) + np.where(knots > 0, draw.exponential(size=(count, 1)), 0.0) * knots
    half = reach / 2
    at = [np.array([np.interp(sign * h, k, c) for h, k, c in zip(half, knots, curve, strict=True)]) for sign in (-1, 1)]
    slope = (at[1] - at[0]) / reach
    line = ((at[0] + at[1]) / 2)[:, None] + slope[:, None] * knots
    other = draw.normal(size=(2, count)) * (np.arange(count) % 2)
    line += other[0][:, None] + other[1][:, None] * knots
    return joined(FunctionPairs(knots, curve, line, reach), kinked(0.5, 0.5, 0.25), kinked(*FLATTEST))


def area_family(width: float, reach: float = 1.0, jump: float = 1.0) -> FunctionPairs:
    """The pairs at which the constant 1/16 of Lemma B.5 is approached: ∫ = γτ²(1/16 + h/(8τ)), for γ = `jump`."""
    tall, h = jump * reach / 8, width
    knots = np.array([-1.5 * reach, -reach, -reach / 2, -reach / 2 + h, reach / 2 - h, reach / 2, reach, 1.5 * reach])
    steep = tall / h
    line = steep * (np.maximum(knots - (reach / 2 - h), 0) + np.maximum(-knots - (reach / 2 - h), 0))
    bend = steep + jump / 2
    curve = bend * (np.maximum(knots - reach / 2, 0) + np.maximum(-knots - reach / 2, 0))
    return make_curves(knots, curve, line, np.array([reach]))


def share_family(width: float) -> FunctionPairs:
    """The pairs (γ = τ = 1) at which the probability 63/254 is approached: it is 63/254 + h/2."""
    small, h = (1 - 1e-9) / 512, width
    knots = np.array([-1.5, -1.0, -0.5, 0.5 - h, 0.5, 1.0, 1.5])
    deep, right = 127 / 512, 127 / 128
    left = 4 * small
    fall = (deep - small) / h
    line = fall * np.maximum(knots - (0.5 - h), 0)
    curve = -small + left * np.maximum(-knots - 0.5, 0) + (fall + right) * np.maximum(knots - 0.5, 0)
    return make_curves(knots, curve, line, np.array([1.0]))


def draw_curves(scale: Scale, seed: int) -> FunctionPairs:
    """Random convex pairs with γ > 0, some with much common curvature; and both extreme families."""
    draw, count = np.random.default_rng([seed, 55]), 600
    reach = np.exp(draw.normal(size=count))
    knots = _knots(draw, count, reach)
    common = _convex(draw, knots, 5.0) * (np.arange(count) % 2)[:, None]
    line = _convex(draw, knots, 0.2) + common
    drawn = FunctionPairs(knots, _convex(draw, knots, 2.0) + common, line, reach)
    kept = drawn.gap > 0.01
    some = FunctionPairs(knots[kept], drawn.curve[kept], line[kept], reach[kept])
    return joined(
        some, area_family(0.01), area_family(0.1, reach=2.0, jump=3.0), share_family(0.01), share_family(0.001)
    )


Draws = Float[np.ndarray, " draw"]


@dataclass(frozen=True, eq=False)
class Increases(Cases):
    """f(w + δ) − f(w) of f = g(Σ g_i(w_i)), its linear part, and the constants."""

    rows = "draw"

    increase: Draws  #: f(w + δ) − f(w)
    linear: Draws  #: Σ⟨∂_i f, δ_i⟩ over the smooth terms
    lipschitz: Draws  #: L
    n_terms: Draws  #: m
    n_rough: Draws  #: r
    radius: Draws  #: p
    largest: Draws  #: max ‖δ_i‖

    @column
    def excess(self) -> Draws:
        """What the increase is beyond its linear part."""
        return self.increase - self.linear


def smooth_instance(radius: float) -> tuple[float, ...]:
    """L = m = 1, r = 0: both slopes grow at rate 1 up to 1, and the excess over the linear term tends to L³m²p²."""
    gained = radius - radius**2 / 2
    return gained - gained**2 / 2, (1 - gained) * (1 - radius) * radius, 1.0, 1.0, 0.0, radius, radius


def rough_instance(radius: float, lipschitz: float = 1.0) -> tuple[float, ...]:
    """g(s) = Ls, g₁(w) = L|w| at w = 0, r = m = 1: the increase is L²rp."""
    return lipschitz**2 * radius, 0.0, lipschitz, 1.0, 1.0, radius, radius


def flat_instance(lipschitz: float = 0.1) -> tuple[float, ...]:
    """m = 1, r = 0, g(s) = Ls, g₁(w) = Lw²/2 near 0, w = 0, δ = p = 1: the increase is L²/2, the bound L³."""
    return lipschitz**2 / 2, 0.0, lipschitz, 1.0, 0.0, 1.0, 1.0


def listed_increases(*rows: Sequence[Any]) -> Increases:
    """From instances one by one."""
    return Increases(*np.array(rows, np.float64).T)


def draw_increases(scale: Scale, seed: int) -> Increases:
    """g = L·sin, smooth terms ±L·√(1 + ‖w‖²), rough ones ±L·|⟨u, w⟩|; and two instances that nearly attain a term."""
    draw, rows = np.random.default_rng([seed, 6]), []
    for _ in range(500):
        n = int(draw.integers(1, 9))
        rough = int(draw.integers(0, n + 1))
        lipschitz = float(np.exp(draw.uniform(-np.log(n), np.log(10))))
        radius = float(10 ** draw.uniform(-3, 1))
        w, move, u = draw.normal(size=(3, n, 2))
        u /= np.linalg.norm(u, axis=1, keepdims=True)
        move *= radius * draw.uniform(size=(n, 1)) / np.linalg.norm(move, axis=1, keepdims=True)
        signs, is_rough = draw.choice([-1.0, 1.0], n), np.arange(n) >= n - rough

        def inner(at: np.ndarray, u=u, signs=signs, is_rough=is_rough, lipschitz=lipschitz) -> float:
            smooth, kinked = np.sqrt(1 + (at**2).sum(axis=1)), np.abs((u * at).sum(axis=1))
            return float((signs * lipschitz * np.where(is_rough, kinked, smooth)).sum())

        before, after, phase = inner(w), inner(w + move), draw.uniform(0, 6)
        slopes = signs[:, None] * lipschitz * w / np.sqrt(1 + (w**2).sum(axis=1, keepdims=True))
        linear = lipschitz * np.cos(before + phase) * (slopes * move).sum(axis=1)[~is_rough].sum()
        increase = lipschitz * (np.sin(after + phase) - np.sin(before + phase))
        largest = np.linalg.norm(move, axis=1).max()
        rows.append((increase, linear, lipschitz, n, rough, radius, largest))
    return listed_increases(*rows, smooth_instance(0.01), rough_instance(0.001))


def draw_flat_increase(scale: Scale, seed: int) -> Increases:
    """L·m = 1/10."""
    return listed_increases(flat_instance())
