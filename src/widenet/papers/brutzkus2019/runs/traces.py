"""Gradient descent on diverse XORD data, step by step and without rounding: what the lemmas of Appendix E speak about.

Diverse points reduce to one pair (x⁺, x⁻), and a filter to its two fits s = ⟨w, p₁⟩ and r = ⟨w, p₂⟩ (S and R for u).
A step adds −2η, 0 or 2η to each. So in units of η a fit is its start plus twice a whole number (the coefficients of
w_t = w_0 + η(A_t p₁ + B_t p₂)), and with starts on a grid of 2⁻³² every sum here is exact in float64: comparisons need
no tolerance. All values of a `Trace` are in units of η; in these units c_η is k.

W13 stands for W⁺(1) ∪ W⁺(3), the filters w whose best pattern is p₁ or p₃, and W24 for the others; U13, U24 likewise.
"""

import functools
import math
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from widenet.data.xord import PATTERN_SETS, PATTERNS
from widenet.networks.conv_maxpool import make_conv_maxpool
from widenet.papers.brutzkus2019.runs.lattice import CHUNK, advance_chunk, in_13
from widenet.types import RunKeys, RunStatus

GRID = 2.0**-32
"""Starting fits and margins, in units of η, are multiples of this: sums below 2²¹ do not round."""
EVENT_RADIUS = math.sqrt(2) / 4
"""The event of Lemma E.3 in units of η: no initial fit is larger."""
BLOCK = 100
"""Runs side by side in one program."""
GROUPS = ("w13", "w24", "u13", "u24")
"""The filters by where they are at t = 0."""


@dataclass(frozen=True)
class Setting:
    """What fixes a set of runs.

    Attributes:
      half_width: k.
      step_constant: c_η; the step is η = c_η/k.
      margin: γ.
      n_runs, seed: each run draws from a key of its own.
      spread: σ_g divided by its largest allowed value c_η/(16 k^1.5).
      n_positive, n_minus_positive: |W13(0)| and |U13(0)|, by exchanging the two fits of filters; None: left to chance.
    """

    half_width: int
    step_constant: float
    margin: float
    n_runs: int
    seed: int = 0
    spread: float = 1.0
    n_positive: int | None = None
    n_minus_positive: int | None = None

    @property
    def step_size(self) -> float:
        """η = c_η/k."""
        return self.step_constant / self.half_width

    @property
    def max_steps(self) -> int:
        """The number of steps Theorem 6.3 asks for, 28(γ + 1 + 8c_η)/c_η; far more than a run needs."""
        return math.ceil(28 * (self.margin + 1 + 8 * self.step_constant) / self.step_constant)

    @property
    def goals(self) -> tuple[float, float]:
        """γ/η and 1/η: what N(x⁺) and −N(x⁻) have to reach, on the grid."""
        return on_grid(self.margin / self.step_size), on_grid(1 / self.step_size)


def on_grid(value: float) -> float:
    """The nearest multiple of `GRID`."""
    return round(value / GRID) * GRID


@dataclass(frozen=True, eq=False)
class Ending:
    """How the runs of a setting end.

    Attributes:
      start, end: the fits (s, r) of all filters at t = 0 and at T, in units of η; the k w's come before the k u's.
      steps: T, the first t from which nothing moves any more.
      status: CONVERGED (zero loss), STALLED (an update of exactly zero at positive loss), or BUDGET_SPENT.
    """

    setting: Setting
    start: Float[np.ndarray, "run filter 2"]
    end: Float[np.ndarray, "run filter 2"]
    steps: Int[np.ndarray, " run"]
    status: Int[np.ndarray, " run"]

    @property
    def converged(self) -> Bool[np.ndarray, " run"]:
        """Whether the loss is 0 at the end."""
        return self.status == RunStatus.CONVERGED

    @functools.cached_property
    def in_event(self) -> Bool[np.ndarray, " run"]:
        """The event of Lemma E.3, and no start on a kink or a tie (which has probability 0 for continuous weights)."""
        sizes = np.abs(self.start)
        clear = (sizes > 0).all(axis=(1, 2)) & (sizes[..., 0] != sizes[..., 1]).all(axis=1)
        return clear & (sizes <= EVENT_RADIUS).all(axis=(1, 2))

    @property
    def largest_start(self) -> Float[np.ndarray, " run"]:
        """The largest initial |⟨w_0, p_i⟩| or |⟨u_0, p_i⟩| of each run, in units of η."""
        return np.abs(self.start).max(axis=(1, 2))

    @property
    def n_positive(self) -> Int[np.ndarray, " run"]:
        """|W13(0)|."""
        half = self.setting.half_width
        return np.sum(in_positive_cone(self.start[:, :half]), axis=1)

    def filters(self, at_end: bool = True) -> Float[np.ndarray, "run filter 2"]:
        """The filters themselves, w = (s p₁ + r p₂)/2, in units of η (angles need no more)."""
        return (self.end if at_end else self.start) @ PATTERNS[:2] / 2

    def outputs(self) -> Float[np.ndarray, "run 15"]:
        """N on the 15 pattern sets at the end, in units of η, in the order of `widenet.data.xord.PATTERN_SETS`."""
        half = self.setting.half_width
        sums = [responses(self.end, held) for held in PATTERN_SETS]
        return np.stack([value[:, :half].sum(axis=1) - value[:, half:].sum(axis=1) for value in sums], axis=1)


Series = Float[np.ndarray, "run time"]
Counts = Int[np.ndarray, "run time"]


@dataclass(frozen=True, eq=False)
class Trace:
    """The sums of the proof at every t from 0 to the longest T; after its T a run repeats its last values.

    Sums, in units of η (|s| of a filter in W13 is its response to x⁺, |r| its response to x⁻; in W24 both are |r|):
      s_plus, s_minus: S⁺ = Σ|s| and S⁻ = Σ|r| over W13(t).
      p_plus, p_minus: P⁺ = Σ|S| and P⁻ = Σ|R| over U13(t).
      x, y: X = Σ|r| over W24(t) and Y = Σ|R| over U24(t), so that R⁺ = R⁻ = X − Y.
      s_plus_1: the part of S⁺ over W⁺(1); the rest is over W⁺(3).
      y_2, y_4, z_2, z_4: Σ|R_t| over U_0⁺(l), and over U13(0) ∩ U_0⁻(l).
      y_kept: Σ|R_{t+1}| over U24(t) ∩ U24(t+1).
      largest_r: the largest |r_t| over W13(0).

    Counts of filters:
      w13, u13: |W13(t)| and |U13(t)|.
      w_moved: those w that are in W⁺(1) or W⁺(3) at t and not at 0, or the other way round.
      u_left: those of U24(0) outside U24(t).
      u_lost: those of U24(t) outside U24(t+1).
      u_flipped: those u with sign(R_t) ≠ sign(R_0).

    Whole numbers, as (smallest, largest) over a group of t = 0; an empty group has (0, 0):
      a_range, b_range: A_t·sign(s_0) and B_t·sign(r_0), per name of `GROUPS`.
      a_step, b_step: (A_{t+1} − A_t)·sign(s_0) and (B_{t+1} − B_t)·sign(r_t), for "w13" and "w24".
    """

    ending: Ending
    s_plus: Series
    s_minus: Series
    p_plus: Series
    p_minus: Series
    x: Series
    y: Series
    s_plus_1: Series
    y_2: Series
    y_4: Series
    z_2: Series
    z_4: Series
    y_kept: Series
    largest_r: Series
    w13: Counts
    u13: Counts
    w_moved: Counts
    u_left: Counts
    u_lost: Counts
    u_flipped: Counts
    a_range: dict[str, tuple[Counts, Counts]] = field(repr=False)
    b_range: dict[str, tuple[Counts, Counts]] = field(repr=False)
    a_step: dict[str, tuple[Counts, Counts]] = field(repr=False)
    b_step: dict[str, tuple[Counts, Counts]] = field(repr=False)

    @property
    def setting(self) -> Setting:
        """What was run."""
        return self.ending.setting

    @functools.cached_property
    def n_plus(self) -> Series:
        """N(x⁺) = S⁺ + X − P⁺ − Y."""
        return self.s_plus + self.x - self.p_plus - self.y

    @functools.cached_property
    def n_minus(self) -> Series:
        """N(x⁻) = S⁻ + X − P⁻ − Y."""
        return self.s_minus + self.x - self.p_minus - self.y

    @functools.cached_property
    def plus_active(self) -> Bool[np.ndarray, "run time"]:
        """N(x⁺) < γ: the positive point moves the weights."""
        return self.n_plus < self.setting.goals[0]

    @functools.cached_property
    def minus_active(self) -> Bool[np.ndarray, "run time"]:
        """−N(x⁻) < 1: the negative point moves the weights."""
        return -self.n_minus < self.setting.goals[1]

    @functools.cached_property
    def seen(self) -> Bool[np.ndarray, "run time"]:
        """t ≤ T; the rest of a row repeats."""
        return np.arange(self.s_plus.shape[1]) <= self.ending.steps[:, None]

    @functools.cached_property
    def stepping(self) -> Bool[np.ndarray, "run time"]:
        """t < T: a step is taken from t to t + 1."""
        return np.arange(self.s_plus.shape[1]) < self.ending.steps[:, None]

    @functools.cached_property
    def updates(self) -> Counts:
        """n(t) = a⁺(t − 1): how many steps before t had N(x⁺) < γ. The paper's a⁺(t) counts t itself too."""
        counts = np.cumsum(self.plus_active, axis=1, dtype=np.int32)
        return counts - self.plus_active


def in_positive_cone(fits: Float[np.ndarray, "*any 2"]) -> Bool[np.ndarray, "*any"]:
    """Whether the best of the four patterns is p₁ or p₃; ties go as in `ConvMaxPool`."""
    return np.asarray(in_13(jnp.asarray(fits[..., 0]), jnp.asarray(fits[..., 1])))


def responses(fits: Float[np.ndarray, "*any 2"], held: Bool[np.ndarray, " 4"]) -> Float[np.ndarray, "*any"]:
    """max_i σ(⟨w, x_i⟩) of filters on a point that holds these patterns, in the units of the fits."""
    with_patterns = np.concatenate([fits, -fits], axis=-1)
    return np.maximum(with_patterns[..., held].max(axis=-1), 0.0)


def draw_fits(setting: Setting) -> Float[np.ndarray, "run filter 2"]:
    """Initial fits in units of η, from Gaussian weights with σ_g = spread·c_η/(16 k^1.5)."""
    keys = jax.random.split(jax.random.key(setting.seed), setting.n_runs)
    half, scale = setting.half_width, setting.spread * setting.step_constant / (16 * setting.half_width**1.5)
    blocks = [_draw(keys[first : first + BLOCK], 2 * half, scale) for first in range(0, setting.n_runs, BLOCK)]
    fits = np.concatenate(blocks) @ PATTERNS[:2].T / setting.step_size
    fits = np.round(fits / GRID) * GRID
    for first, number in ((0, setting.n_positive), (half, setting.n_minus_positive)):
        if number is not None:
            part = fits[:, first : first + half]
            wrong = in_positive_cone(part) != (np.arange(half) < number)
            fits[:, first : first + half] = np.where(wrong[..., None], part[..., ::-1], part)
    return fits


@functools.partial(jax.jit, static_argnums=1)
def _draw(keys: RunKeys, n_filters: int, scale: float | Float[Array, ""]) -> Float[Array, "run filter 2"]:
    return jax.vmap(lambda key: make_conv_maxpool(key, n_filters, scale).filters)(keys)


@functools.lru_cache(maxsize=8)
def trace(setting: Setting) -> Trace:
    """The runs of a setting with everything that the lemmas read."""
    return follow(setting, draw_fits(setting))


@functools.lru_cache(maxsize=16)
def finish(setting: Setting) -> Ending:
    """The same runs without the record: only how they end."""
    fits = draw_fits(setting)
    return _ending(setting, fits, [_advance(setting, block, record=False)[:2] for block in _blocks(setting, fits)])


def follow(setting: Setting, fits: Float[np.ndarray, "run filter 2"]) -> Trace:
    """The trace from given initial fits, in units of η (`setting.n_runs`, `seed` and `spread` are not used)."""
    parts = [_advance(setting, block, record=True) for block in _blocks(setting, fits)]
    ending = _ending(setting, fits, [part[:2] for part in parts])
    length = int(ending.steps.max()) + 1
    names = parts[0][2][0]
    joined: dict[str, Any] = {
        name: _join([[chunk[name] for chunk in part[2]] for part in parts], length)[: len(fits)] for name in names
    }
    ranges: dict[str, Any] = {
        kind: {group: (joined.pop(f"{kind}_{group}_0"), joined.pop(f"{kind}_{group}_1")) for group in groups}
        for kind, groups in (("a_range", GROUPS), ("b_range", GROUPS), ("a_step", GROUPS[:2]), ("b_step", GROUPS[:2]))
    }
    return Trace(ending, **joined, **ranges)


def _blocks(setting: Setting, fits: np.ndarray) -> list[np.ndarray]:
    k, goals = setting.half_width, setting.goals
    if fits.ndim != 3 or fits.shape[1:] != (2 * k, 2) or not len(fits):
        raise ValueError(f"fits must have the shape (run, {2 * k}, 2), got {fits.shape}")
    largest = sum(goals) + 8 * k + np.abs(fits).sum(axis=1).max()
    if not largest < 2.0**20:
        raise ValueError(f"sums reach {largest:g} in units of η; from 2^20 on they are not exact")
    if (np.round(fits / GRID) * GRID != fits).any():
        raise ValueError("initial fits, in units of η, must be multiples of GRID")
    # Full blocks only, once there is more than one: each shape is a program to compile.
    padded = np.concatenate([fits, np.repeat(fits[-1:], -len(fits) % BLOCK, axis=0)]) if len(fits) > BLOCK else fits
    return [padded[first : first + BLOCK] for first in range(0, len(fits), BLOCK)]


def _advance(setting: Setting, fits: np.ndarray, *, record: bool):
    """(fits at the end, (T, whether a point is still active), records of each chunk) of one block of runs."""
    start = (jnp.asarray(fits[..., 0].T), jnp.asarray(fits[..., 1].T))
    state = (*start, jnp.zeros(len(fits), jnp.int32), jnp.ones(len(fits), bool))
    records, done, active = [], 0, jnp.ones(len(fits), bool)
    while done < setting.max_steps:
        state, active, seen = advance_chunk(state, start, jnp.asarray(setting.goals), record)
        records.append({name: np.asarray(value) for name, value in seen.items()})
        done += CHUNK
        if not np.asarray(state[3]).any():
            break
    s, r, steps, moving = (np.asarray(leaf) for leaf in state)
    status = np.where(moving, RunStatus.BUDGET_SPENT, np.where(active, RunStatus.STALLED, RunStatus.CONVERGED))
    return np.stack([s.T, r.T], axis=-1), (steps, status), records


def _ending(setting: Setting, fits: np.ndarray, parts: list) -> Ending:
    end = np.concatenate([part[0] for part in parts])[: len(fits)]
    steps, status = (np.concatenate([part[1][i] for part in parts])[: len(fits)] for i in range(2))
    return Ending(setting, fits, end, steps, status)


def _join(parts: list[list[np.ndarray]], length: int) -> np.ndarray:
    """(time, run) chunks of each block to one (run, time) array of this length; short ones repeat their last value."""
    joined = np.empty((sum(part[0].shape[1] for part in parts), length), parts[0][0].dtype)
    first = 0
    for chunks in parts:
        block = np.concatenate(chunks)[:length].T
        rows = joined[first : first + len(block)]
        rows[:, : block.shape[1]], rows[:, block.shape[1] :] = block, block[:, -1:]
        first += len(block)
    return joined
