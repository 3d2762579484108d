"""Gradient descent on the four points of XOR, step by step and without rounding: what Section 3 speaks about.

A filter is known by its two fits ⟨w, x_1⟩ and ⟨w, x_2⟩; the fits with x_3 = −x_1 and x_4 = −x_2 are their negatives. A
step adds −2η, 0 or 2η to each. So in units of η a fit is its start plus twice a whole number, and with starts on a grid
of 2⁻³² every sum here is exact in float64. All values of a `XorTrace` are in units of η.

The w's and the u's play the same game with the roles of the axes exchanged. A point has its *own* filters, the w's for
x_1 and x_3 and the u's for x_2 and x_4: their fits with it only grow. The other filters *oppose* it. So
y_i N(x_i) = (sum over own filters of σ(⟨·, x_i⟩)) − (the same sum over opposing filters).
"""

import functools
import itertools
import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from widenet.diagnostics.exploration import XOR_POINTS, explored
from widenet.types import RunStatus

GRID = 2.0**-32
"""Starting fits and 1/η, in units of η, are multiples of this: sums below 2²⁰ do not round."""
EVENT_RADIUS = math.sqrt(2) / 4
"""The event of Lemma B.2 in units of η: no initial fit is larger."""
CHUNK, BLOCK, WIDTHS = 32, 256, (4, 64, 256)
"""Steps between two looks of the interpreter; runs side by side; filters of each sign, filled up with zeros."""
MAX_STEPS = 64_000


@dataclass(frozen=True, eq=False)
class XorStart:
    """Initial weights of many runs, and their step size.

    Attributes:
      fits: (run, sign, filter, axis): ⟨w_0, x_1⟩ and ⟨w_0, x_2⟩ in units of η, first the w's and then the u's.
      step_size: η.
      step_constant: c_η, which is at least kη.
      deviation: σ_g, if the weights were drawn with it.
    """

    fits: Float[np.ndarray, "run 2 filter 2"]
    step_size: float
    step_constant: float
    deviation: float | None = None

    def __post_init__(self) -> None:
        """The fits are put on the grid, none but 0 itself at 0; NaN and sums beyond float64 are refused."""
        if not np.isfinite(self.fits).all() or not self.step_size > 0:
            raise ValueError("initial fits must be finite and the step size positive")
        largest = 1 / self.step_size + np.abs(self.fits).sum(axis=2).max(initial=0) + 4 * self.half_width
        if not largest < 2.0**20:
            raise ValueError(f"sums reach {largest:g} in units of η; from 2^20 on they are not exact")
        # In millions of draws some lie within half a step of 0; there they would be filters without a side.
        steps = np.where(np.abs(self.fits) < GRID, np.sign(self.fits), np.round(self.fits / GRID))
        object.__setattr__(self, "fits", steps * GRID)

    @property
    def n_runs(self) -> int:
        """How many runs."""
        return len(self.fits)

    @property
    def half_width(self) -> int:
        """k."""
        return self.fits.shape[2]

    @property
    def goal(self) -> float:
        """1/η on the grid: what y N(x) has to reach."""
        return round(1 / self.step_size / GRID) * GRID

    @property
    def spread(self) -> float:
        """16√k·σ_g/η, with σ_g as the weights were drawn around 0."""
        return 16 * math.sqrt(self.half_width / 2) * math.sqrt(float(np.square(self.fits).mean()))

    @functools.cached_property
    def in_event(self) -> Bool[np.ndarray, " run"]:
        """The event of Lemma B.2, and no fit that is exactly 0 (which has probability 0)."""
        sizes = np.abs(self.fits)
        return np.asarray(((sizes <= EVENT_RADIUS) & (sizes > 0)).all(axis=(1, 2, 3)))

    @functools.cached_property
    def own_counts(self) -> Int[np.ndarray, "run 4"]:
        """n_i: |W_0⁺(i)| for i = 1 and 3, |U_0⁺(i)| for i = 2 and 4, with half-planes as in XOR."""
        own = np.stack([self.fits[:, 0, :, 0], self.fits[:, 1, :, 1]], axis=1)
        return np.concatenate([(own > 0).sum(axis=2), (own < 0).sum(axis=2)], axis=1)

    @functools.cached_property
    def opposing_counts(self) -> Int[np.ndarray, "run 4"]:
        """|U_0⁺(i)| for i = 1 and 3, |W_0⁺(i)| for i = 2 and 4."""
        others = np.stack([self.fits[:, 1, :, 0], self.fits[:, 0, :, 1]], axis=1)
        return np.concatenate([(others > 0).sum(axis=2), (others < 0).sum(axis=2)], axis=1)

    @property
    def explored(self) -> Bool[np.ndarray, " run"]:
        """The event of Lemma 3.1: every count of filters lies within k/2 ± 2√k."""
        counts = np.concatenate([self.own_counts, self.opposing_counts], axis=1)
        return np.asarray(explored(counts, self.half_width).all(axis=1))

    @property
    def filters(self) -> Float[np.ndarray, "run channel 2"]:
        """The weights themselves: (⟨w, x_1⟩ x_1 + ⟨w, x_2⟩ x_2)/2, the w's before the u's."""
        return (self.fits @ XOR_POINTS[:2]).reshape(self.n_runs, -1, 2) * (self.step_size / 2)


Series = Float[np.ndarray, " time run 4"]
Counts = Int[np.ndarray, " time run 4"]


@dataclass(frozen=True, eq=False)
class XorTrace:
    """What the lemmas read, at every t from 0 to the longest T; after its T a run repeats its last values.

    Attributes:
      own_sums, opposing_sums: for each point, Σσ(⟨·, x_i⟩) over its own filters and over the others.
      own_low, own_high: the smallest and largest coefficient of x_i in w_t − w_0, in units of η, over the own filters
        that start in the half-plane of x_i.
      fit_low: the smallest ⟨w_t, x_i⟩ over these filters.
      across_low, across_high: over the same filters, the coefficient of the other axis in w_t − w_0, counted against
        the sign of ⟨w_0, x_2⟩ (of ⟨u_0, x_1⟩ for u).
      across_fit: the largest |⟨w_t, x_2⟩| (|⟨u_t, x_1⟩| for u) over them. Where there are none, all these are 0.
      end: the fits at the end, as in `XorStart`.
      steps: T, the first t from which nothing moves.
      status: CONVERGED (loss 0), STALLED (no update at positive loss) or BUDGET_SPENT.
    """

    start: XorStart
    own_sums: Series
    opposing_sums: Series
    own_low: Counts
    own_high: Counts
    fit_low: Series
    across_low: Counts
    across_high: Counts
    across_fit: Series
    end: Float[np.ndarray, "run 2 filter 2"]
    steps: Int[np.ndarray, " run"]
    status: Int[np.ndarray, " run"]

    @functools.cached_property
    def margins(self) -> Series:
        """y_i N(x_i)."""
        return self.own_sums - self.opposing_sums

    @functools.cached_property
    def active(self) -> Bool[np.ndarray, " time run 4"]:
        """y_i N(x_i) < 1: the point moves the weights."""
        return self.margins < self.start.goal

    @functools.cached_property
    def seen(self) -> Bool[np.ndarray, " time run 1"]:
        """t ≤ T."""
        return (np.arange(len(self.margins))[:, None] <= self.steps)[..., None]

    @functools.cached_property
    def final_loss(self) -> Float[np.ndarray, " run"]:
        """ℓ at the end, in its own units: the sum of max(1 − y N, 0)."""
        return np.maximum(1 - self.margins[-1] / self.start.goal, 0).sum(axis=1)

    @property
    def ended(self) -> Bool[np.ndarray, " run"]:
        """Whether nothing moves any more."""
        return self.status != RunStatus.BUDGET_SPENT


@functools.lru_cache(maxsize=32)
def draw_start(
    half_width: int, step_constant: float, n_runs: int, seed: int = 0, *, spread: float = 1.0, step_share: float = 1.0
) -> XorStart:
    """Gaussian weights, the same object for the same arguments.

    Main arguments:
      half_width, step_constant: k and c_η.
      spread: σ_g over its largest allowed value c_η/(16 k^1.5).
      step_share: η over its largest allowed value c_η/k.
    """
    step_size, deviation = step_share * step_constant / half_width, spread * step_constant / (16 * half_width**1.5)
    draw = np.random.default_rng([seed, half_width, n_runs, round(1e6 * step_constant)])
    # The fits of a Gaussian vector with two orthogonal directions of length √2 are independent.
    fits = draw.normal(scale=math.sqrt(2) * deviation / step_size, size=(n_runs, 2, half_width, 2))
    return XorStart(fits, step_size, step_constant, deviation)


@functools.lru_cache(maxsize=8)
def every_octant(step_constant: float) -> XorStart:
    """k = 2: one start in each of the 8⁴ cells (which of a filter's four fits is largest, which second).

    Under the Gaussian start every cell has the same probability, so a share of these runs is a probability, exactly, of
    anything that is the same throughout a cell.
    """
    octants = [(first * a, second * b) for a, b in ((0.2, 0.1), (0.1, 0.2)) for first in (1, -1) for second in (1, -1)]
    fits = np.array(list(itertools.product(octants, repeat=4))).reshape(-1, 2, 2, 2)
    return XorStart(fits, step_constant / 2, step_constant)


def solution_start(scale: float = 1.0) -> XorStart:
    """k = 2 from scale·(x_1/2, x_3/2; x_2/2, x_4/2), which has loss 0 for scale 1 and c_η = 0.1."""
    fits = np.zeros((1, 2, 2, 2))
    fits[0, 0, :, 0] = fits[0, 1, :, 1] = scale * np.array([1.0, -1.0]) / 0.05
    return XorStart(fits, 0.05, 0.1)


@functools.lru_cache(maxsize=32)
def trace(start: XorStart) -> XorTrace:
    """All runs of a start, a block of them side by side in one compiled program."""
    # The own axis first: x_1 for the w's and x_2 for the u's. Runs are the last axis.
    turned = np.stack([start.fits[:, 0], start.fits[:, 1, :, ::-1]]).transpose(3, 0, 2, 1)
    # Filters with fits 0 never move and answer 0 everywhere: with them a few shapes, compiled once, do for all.
    width = next((size for size in WIDTHS if size >= start.half_width), start.half_width)
    spare = -start.n_runs % BLOCK
    padded = np.pad(turned, ((0, 0), (0, 0), (0, width - start.half_width), (0, spare)))
    parts = [_advance(padded[..., first : first + BLOCK], start.goal) for first in range(0, padded.shape[-1], BLOCK)]
    moved, steps, moving = (
        np.concatenate([state[i] for state, _ in parts], axis=-1)[..., : start.n_runs] for i in range(3)
    )
    length = int(steps.max(initial=0)) + 1
    joined = {
        name: np.concatenate([_lengthened(record[name], length) for _, record in parts], axis=2)[..., : start.n_runs]
        for name in parts[0][1]
    }
    joined = {name: values.transpose(0, 2, 1) for name, values in joined.items()}
    end = (turned + 2 * moved[:, :, : start.half_width]).transpose(1, 3, 2, 0)
    end = np.stack([end[0], end[1, ..., ::-1]], axis=1)
    satisfied = (joined["own_sums"][-1] - joined["opposing_sums"][-1] >= start.goal).all(axis=1)
    status = np.where(moving, RunStatus.BUDGET_SPENT, np.where(satisfied, RunStatus.CONVERGED, RunStatus.STALLED))
    return XorTrace(start, **joined, end=end, steps=steps, status=status)


def _advance(fits: np.ndarray, goal: float) -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
    """The last state of one block of runs, and what was recorded at every t."""
    state = (jnp.zeros(fits.shape), jnp.zeros(BLOCK, jnp.int32), jnp.ones(BLOCK, bool))
    records = []
    while len(records) * CHUNK < MAX_STEPS:
        state, seen = _chunk(state, jnp.asarray(fits), jnp.asarray(goal))
        records.append({name: np.asarray(value) for name, value in seen.items()})
        if not np.asarray(state[2]).any():
            break
    joined = {name: np.concatenate([record[name] for record in records]) for name in records[0]}
    return [np.asarray(leaf) for leaf in state], joined


def _lengthened(values: np.ndarray, length: int) -> np.ndarray:
    """The first `length` times, the last one repeated if there are fewer."""
    missing = max(0, length - len(values))
    return np.concatenate([values[:length], np.repeat(values[-1:], missing, axis=0)])


@jax.jit
def _chunk(state, start: Float[Array, "2 2 filter run"], goal: Float[Array, ""]):
    """`CHUNK` steps; axes are (own or across, w or u, filter, run)."""
    signs = jnp.sign(start)
    # A point by the sign of its place on its axis, then by whose own it is: x_1, x_2, x_3, x_4 when flattened.
    members = jnp.stack([start[0] > 0, start[0] < 0])
    some = members.any(axis=2)

    def step(state, _):
        moved, steps, _ = state
        fits = start + 2 * moved
        sums = jnp.stack([jnp.maximum(fits, 0).sum(axis=2), jnp.maximum(-fits, 0).sum(axis=2)])
        # The own points of the w's are those across for the u's, and the other way round.
        own, opposing = sums[:, 0], sums[:, 1, ::-1]
        active = (own - opposing < goal).astype(fits.dtype)
        push = jnp.stack([active, -active[:, ::-1]], axis=1)[:, :, :, None]
        delta = jnp.where(fits > 0, push[0], 0) - jnp.where(fits < 0, push[1], 0)
        moving = jnp.any(delta != 0, axis=(0, 1, 2))
        seen = {"own_sums": own, "opposing_sums": opposing} | _observe(fits, moved, signs, members, some)
        flat = {name: value.reshape(4, -1) for name, value in seen.items()}
        return (moved + delta, steps + moving, moving), flat

    return jax.lax.scan(step, state, length=CHUNK)


def _observe(fits, moved, signs, members, some) -> dict[str, Array]:
    """The extremes over the own filters that start in the half-plane of each point."""

    def low(values):
        return jnp.where(some, jnp.min(jnp.where(members, values, jnp.inf), axis=2), 0.0)

    def high(values):
        return -low(-values)

    along, against = moved[0] * signs[0], -moved[1] * signs[1]
    return {
        "own_low": low(along).astype(jnp.int32),
        "own_high": high(along).astype(jnp.int32),
        "fit_low": low(fits[0] * signs[0]),
        "across_low": low(against).astype(jnp.int32),
        "across_high": high(against).astype(jnp.int32),
        "across_fit": high(jnp.abs(fits[1])),
    }
