"""Gradient descent on the four points of XOR, step by step and without rounding: what Section 3 speaks about.

A step adds −2η, 0 or 2η to each fit of a filter. So in units of η a fit is its start plus twice a whole number, and
with starts on a grid (`xor_starts`) every sum here is exact in float64. All values of a `XorTrace` are in units of η.

The w's and the u's play the same game with the roles of the axes exchanged. The fits of the own filters with a point
only grow. y_i N(x_i) = (sum over own filters of σ(⟨·, x_i⟩)) − (the same sum over opposing filters).
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from widenet.claims.cases import column
from widenet.claims.experiments import Experiment
from widenet.diagnostics.exploration import XOR_LABELS
from widenet.papers.brutzkus2019.xor_sources import (
    XorSetting,
    XorStart,
    start_of,
)
from widenet.progress import Progress, over, silent
from widenet.records import Scale
from widenet.types import RunStatus

CHUNK, BLOCK, WIDTHS = 32, 256, (4, 64, 256)
"""Steps between two looks of the interpreter; runs side by side; filters of each sign, filled up with zeros."""
MAX_STEPS = 64_000

Series = Float[np.ndarray, " time run 4"]
Counts = Int[np.ndarray, " time run 4"]


@dataclass(frozen=True, eq=False, kw_only=True)
class XorTrace(XorStart):
    """Runs from a start: what the lemmas read, at every t from 0 to the longest T; after its T a run repeats itself.

    Extremes over the own filters that start in the half-plane of x_i are 0 where there are none. Coefficients of
    w_t − w_0 are in units of η; those across are counted against the sign of ⟨w_0, x_2⟩ (of ⟨u_0, x_1⟩ for u).
    """

    own_sums: Series  #: for each point, Σσ(⟨·, x_i⟩) over its own filters
    opposing_sums: Series  #: over the others
    own_low: Counts  #: the smallest coefficient of x_i in w_t − w_0
    own_high: Counts  #: the largest
    fit_low: Series  #: the smallest ⟨w_t, x_i⟩
    across_low: Counts  #: the smallest coefficient of the other axis
    across_high: Counts  #: the largest
    across_fit: Series  #: the largest |⟨w_t, x_2⟩| (|⟨u_t, x_1⟩| for u)
    end: Float[np.ndarray, "run 2 filter 2"]  #: the fits at the end
    steps: Int[np.ndarray, " run"]  #: T, the first t from which nothing moves
    status: Int[np.ndarray, " run"]  #: CONVERGED (loss 0), STALLED (no update at positive loss) or BUDGET_SPENT

    @column
    def margins(self) -> Series:
        """y_i N(x_i)."""
        return self.own_sums - self.opposing_sums

    @column
    def end_margins(self) -> Float[np.ndarray, "run 4"]:
        """y_i N(x_i) at the end."""
        return self.margins[-1]

    @column
    def active(self) -> Bool[np.ndarray, " time run 4"]:
        """y_i N(x_i) < 1: the point moves the weights."""
        return self.margins < self.goal

    @column
    def seen(self) -> Bool[np.ndarray, " time run 1"]:
        """t ≤ T."""
        return (np.arange(len(self.margins))[:, None] <= self.steps)[..., None]

    @column
    def final_loss(self) -> Float[np.ndarray, " run"]:
        """ℓ at the end, in its own units: the sum of max(1 − y N, 0)."""
        return np.maximum(1 - self.end_margins / self.goal, 0).sum(axis=1)

    @column
    def updates(self) -> Int[np.ndarray, "run 4"]:
        """a_i(T): at how many iterations of the whole run each point was active."""
        return (self.active & self.seen).sum(axis=0)

    @column
    def largest_opposing(self) -> Float[np.ndarray, "run 4"]:
        """The largest opposing sum of each point in the whole run."""
        return np.where(self.seen, self.opposing_sums, 0.0).max(axis=0)

    @column
    def reached(self) -> Bool[np.ndarray, " run"]:
        """Whether the loss is 0 at the end."""
        return (self.status == RunStatus.CONVERGED) & (self.final_loss == 0)

    @column
    def unfinished(self) -> Bool[np.ndarray, " run"]:
        """Whether the run still moves when its steps are spent."""
        return self.status == RunStatus.BUDGET_SPENT


def trace_xor(start: XorStart, progress: Progress = silent) -> XorTrace:
    """All runs of a start, a block of them side by side in one compiled program."""
    # The own axis first: x_1 for the w's and x_2 for the u's. Runs are the last axis.
    turned = np.stack([start.fits[:, 0], start.fits[:, 1, :, ::-1]]).transpose(3, 0, 2, 1)
    # Filters with fits 0 never move and answer 0 everywhere: with them a few shapes, compiled once, do for all.
    width = next((size for size in WIDTHS if size >= start.half_width), start.half_width)
    spare = -start.n_runs % BLOCK
    padded = np.pad(turned, ((0, 0), (0, 0), (0, width - start.half_width), (0, spare)))
    blocks = range(0, padded.shape[-1], BLOCK)
    parts = [_advance(padded[..., first : first + BLOCK], start.goal) for first in over(blocks, progress, "runs")]
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
    given = (start.fits, start.step_size, start.step_constant, start.deviation)
    return XorTrace(*given, **joined, end=end, steps=steps, status=status)


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


def run_xor(setting: XorSetting, progress: Progress) -> XorTrace:
    """The runs of a setting."""
    return trace_xor(start_of(setting), progress)


def _widths_and_steps(scale: Scale, seed: int) -> list[XorSetting]:
    n_runs = 50 if scale is Scale.QUICK else 1000
    return [
        XorSetting(half_width=k, step_constant=c, n_runs=n_runs, seed=seed) for k in (2, 17, 50) for c in (0.1, 0.4)
    ]


xor_traces = Experiment("brutzkus2019.xor_traces", _widths_and_steps, run_xor, seconds=0.1)


def lowest_change(runs: XorTrace, draw: np.random.Generator, changes: int, share: float) -> Float[np.ndarray, " run"]:
    """The least that the loss of each run changes by under random small changes of its last weights.

    Each moves every weight so that no fit changes by more than `share` of the smallest one.
    """
    fits, before = runs.end, runs.final_loss
    room = share * np.abs(fits).min(axis=(1, 2, 3), keepdims=True, initial=np.inf)
    lowest = np.full(len(fits), np.inf)
    for _ in range(changes):
        moved = fits + room * draw.uniform(-1, 1, fits.shape)
        sums = np.concatenate([np.maximum(moved, 0).sum(axis=2), np.maximum(-moved, 0).sum(axis=2)], axis=2)
        margins = XOR_LABELS * (sums[:, 0] - sums[:, 1]) / runs.goal
        # Failed points have loss 1 on both sides, so what is left of the difference is not rounding.
        lowest = np.minimum(lowest, np.maximum(1 - margins, 0).sum(axis=1) - before)
    return lowest
