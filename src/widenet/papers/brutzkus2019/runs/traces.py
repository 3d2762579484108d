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
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32
from pydantic import Field

from widenet.claims.cases import Cases, Count, Number, column
from widenet.claims.experiments import Experiment
from widenet.data.xord import PATTERN_SETS, PATTERNS
from widenet.networks.conv_maxpool import make_conv_maxpool
from widenet.papers.brutzkus2019.formulas import largest_deviation, start_limit, steps_of_theorem_6_3
from widenet.papers.brutzkus2019.runs.lattice import COUNTS, GROUPS, SUMS, in_13, walk
from widenet.progress import Progress, silent
from widenet.records import ClosedModel, Scale
from widenet.types import RunStatus

GRID = 2.0**-32
"""Starting fits and margins, in units of η, are multiples of this: sums below 2²¹ do not round."""
EVENT_RADIUS = start_limit(1.0)
"""The event of Lemma E.3 in units of η: no initial fit is larger."""
KEYS = 1000
"""Keys of runs are made so many at a time, so that one compiled program serves all settings."""


class TraceSetting(ClosedModel):
    """What fixes a set of runs.

    Attributes:
      half_width: k.
      step_constant: c_η; the step is η = c_η/k.
      margin: γ.
      n_runs, seed: each run draws from a key of its own.
      first_run: the place of the first of these runs among all of this seed; sets too large for one cell are cut.
      spread: σ_g divided by its largest allowed value c_η/(16 k^1.5).
      n_positive, n_minus_positive: |W13(0)| and |U13(0)|, by exchanging the two fits of filters; None: left to chance.
      fits: one start in place of drawn ones: (s, r) of the w's, then of the u's, in units of η/64.
    """

    half_width: int = Field(ge=1)
    step_constant: float = Field(gt=0)
    margin: float = Field(gt=0)
    n_runs: int = Field(ge=1)
    seed: int = 0
    first_run: int = Field(default=0, ge=0)
    spread: float = 1.0
    n_positive: int | None = None
    n_minus_positive: int | None = None
    fits: tuple[tuple[int, int], ...] = ()

    @property
    def step_size(self) -> float:
        """η = c_η/k."""
        return self.step_constant / self.half_width

    @property
    def max_steps(self) -> int:
        """The number of steps Theorem 6.3 asks for; far more than a run needs."""
        return math.ceil(steps_of_theorem_6_3(self.step_constant, self.margin))

    @property
    def goals(self) -> tuple[float, float]:
        """γ/η and 1/η: what N(x⁺) and −N(x⁻) have to reach, on the grid."""
        return on_grid(self.margin / self.step_size), on_grid(1 / self.step_size)

    def in_cells_of(self, n_runs: int) -> list["TraceSetting"]:
        """The same runs in pieces of at most so many."""
        firsts = range(self.first_run, self.first_run + self.n_runs, n_runs)
        end = self.first_run + self.n_runs
        return [self.model_copy(update={"first_run": at, "n_runs": min(n_runs, end - at)}) for at in firsts]


def on_grid(value: float) -> float:
    """The nearest multiple of `GRID`."""
    return round(value / GRID) * GRID


Series = Float[np.ndarray, "run time"]
Counts = Int[np.ndarray, "run time"]
Flags = Bool[np.ndarray, "run time"]
Extremes = Int[np.ndarray, "2 run time"]


@dataclass(frozen=True, eq=False)
class Trace(Cases):
    """The sums of the proof at every t from 0 to the longest T; after its T a run repeats its last values.

    Sums are in units of η: |s| of a filter in W13 is its response to x⁺, |r| its response to x⁻; in W24 both are |r|.
    Whole numbers are given as (smallest, largest) over a group of t = 0; an empty group has (0, 0).
    """

    setting: TraceSetting
    start: Float[np.ndarray, "run filter 2"]  #: the fits (s, r) of all filters at t = 0; the k w's before the k u's
    end: Float[np.ndarray, "run filter 2"]  #: at T
    steps: Int[np.ndarray, " run"]  #: T, the first t from which nothing moves any more
    status: Int[np.ndarray, " run"]  #: CONVERGED (zero loss), STALLED (no update at positive loss) or BUDGET_SPENT
    s_plus: Series  #: S⁺ = Σ|s| over W13(t)
    s_minus: Series  #: S⁻ = Σ|r| over W13(t)
    p_plus: Series  #: P⁺ = Σ|S| over U13(t)
    p_minus: Series  #: P⁻ = Σ|R| over U13(t)
    x: Series  #: X = Σ|r| over W24(t); R⁺ = R⁻ = X − Y
    y: Series  #: Y = Σ|R| over U24(t)
    s_plus_1: Series  #: the part of S⁺ over W⁺(1); the rest is over W⁺(3)
    y_2: Series  #: Σ|R_t| over U_0⁺(2)
    y_4: Series  #: over U_0⁺(4)
    z_2: Series  #: over U13(0) ∩ U_0⁻(2)
    z_4: Series  #: over U13(0) ∩ U_0⁻(4)
    y_kept: Series  #: Σ|R_{t+1}| over U24(t) ∩ U24(t+1)
    largest_r: Series  #: the largest |r_t| over W13(0)
    w13: Counts  #: |W13(t)|
    u13: Counts  #: |U13(t)|
    w_moved: Counts  #: those w that are in W⁺(1) or W⁺(3) at t and not at 0, or the other way round
    u_left: Counts  #: those of U24(0) outside U24(t)
    u_lost: Counts  #: those of U24(t) outside U24(t+1)
    u_flipped: Counts  #: those u with sign(R_t) ≠ sign(R_0)
    a_range: dict[str, Extremes] = field(repr=False)  #: A_t·sign(s_0), per name of `GROUPS`
    b_range: dict[str, Extremes] = field(repr=False)  #: B_t·sign(r_0)
    a_step: dict[str, Extremes] = field(repr=False)  #: (A_{t+1} − A_t)·sign(s_0), for "w13" and "w24"
    b_step: dict[str, Extremes] = field(repr=False)  #: (B_{t+1} − B_t)·sign(r_t)

    @column
    def converged(self) -> Bool[np.ndarray, " run"]:
        """Whether the loss is 0 at the end."""
        return self.status == RunStatus.CONVERGED

    @column
    def in_event(self) -> Bool[np.ndarray, " run"]:
        """The event of Lemma E.3, and no start on a kink or a tie (which has probability 0 for continuous weights)."""
        sizes = np.abs(self.start)
        clear = (sizes > 0).all(axis=(1, 2)) & (sizes[..., 0] != sizes[..., 1]).all(axis=1)
        return clear & (sizes <= EVENT_RADIUS).all(axis=(1, 2))

    @column
    def half_width(self) -> Count:
        """k, which is c_η in units of η."""
        return self.setting.half_width

    @column
    def step_constant(self) -> Number:
        """c_η."""
        return self.setting.step_constant

    @column
    def step_size(self) -> Number:
        """η."""
        return self.setting.step_size

    @column
    def required_margin(self) -> Number:
        """γ."""
        return self.setting.margin

    @column
    def plus_goal(self) -> Number:
        """γ, in units of η."""
        return self.setting.goals[0]

    @column
    def minus_goal(self) -> Number:
        """1, in units of η."""
        return self.setting.goals[1]

    @property
    def goals(self) -> tuple[Number, Number]:
        """γ and 1, in units of η."""
        return self.plus_goal, self.minus_goal

    @column
    def w13_at_start(self) -> Float[np.ndarray, " run"]:
        """|W13(0)|."""
        return self.w13[:, 0].astype(float)

    @column
    def w24_at_start(self) -> Float[np.ndarray, " run"]:
        """|W24(0)|."""
        return self.half_width - self.w13_at_start

    @column
    def u13_at_start(self) -> Float[np.ndarray, " run"]:
        """|U13(0)|."""
        return self.u13[:, 0].astype(float)

    @column
    def u24_at_start(self) -> Float[np.ndarray, " run"]:
        """|U24(0)|."""
        return self.half_width - self.u13_at_start

    @column
    def n_plus(self) -> Series:
        """N(x⁺) = S⁺ + X − P⁺ − Y."""
        return self.s_plus + self.x - self.p_plus - self.y

    @column
    def n_minus(self) -> Series:
        """N(x⁻) = S⁻ + X − P⁻ − Y."""
        return self.s_minus + self.x - self.p_minus - self.y

    @column
    def plus_active(self) -> Flags:
        """N(x⁺) < γ: the positive point moves the weights."""
        return self.n_plus < self.plus_goal

    @column
    def minus_active(self) -> Flags:
        """−N(x⁻) < 1: the negative point moves the weights."""
        return -self.n_minus < self.minus_goal

    @column
    def seen(self) -> Flags:
        """t ≤ T; the rest of a row repeats."""
        return self.times <= self.steps[:, None]

    @column
    def stepping(self) -> Flags:
        """t < T: a step is taken from t to t + 1."""
        return self.times < self.steps[:, None]

    @column
    def only_minus(self) -> Flags:
        """Steps in which only x⁻ is active."""
        return self.stepping & self.minus_active & ~self.plus_active

    @column
    def only_plus(self) -> Flags:
        """Steps in which only x⁺ is active."""
        return self.stepping & self.plus_active & ~self.minus_active

    @column
    def updates(self) -> Counts:
        """n(t) = a⁺(t − 1): how many steps before t had N(x⁺) < γ. The paper's a⁺(t) counts t itself too."""
        counts = np.cumsum(self.plus_active, axis=1, dtype=np.int32)
        return counts - self.plus_active

    @column
    def times(self) -> Int[np.ndarray, " time"]:
        """t."""
        return np.arange(self.s_plus.shape[1])

    def at_end(self, series: Series) -> Float[np.ndarray, " run"]:
        """The value at T of each run."""
        return np.take_along_axis(series, self.steps[:, None], axis=1)[:, 0]

    def outputs(self) -> Float[np.ndarray, "run 15"]:
        """N on the 15 pattern sets at the end, in units of η, in the order of `widenet.data.xord.PATTERN_SETS`."""
        sums = [responses(self.end, held) for held in PATTERN_SETS]
        half = self.half_width
        return np.stack([value[:, :half].sum(axis=1) - value[:, half:].sum(axis=1) for value in sums], axis=1)


def responses(fits: Float[np.ndarray, "*any 2"], held: Bool[np.ndarray, " 4"]) -> Float[np.ndarray, "*any"]:
    """max_i σ(⟨w, x_i⟩) of filters on a point that holds these patterns, in the units of the fits."""
    with_patterns = np.concatenate([fits, -fits], axis=-1)
    return np.maximum(with_patterns[..., held].max(axis=-1), 0.0)


def draw_fits(setting: TraceSetting) -> Float[np.ndarray, "run filter 2"]:
    """Initial fits in units of η, from Gaussian weights with σ_g = spread·c_η/(16 k^1.5), or as the setting gives."""
    if setting.fits:
        return np.array([setting.fits]) / 64
    half, end = setting.half_width, setting.first_run + setting.n_runs
    keys = jax.random.split(jax.random.key(setting.seed), math.ceil(end / KEYS) * KEYS)
    words = np.asarray(jax.random.key_data(keys))[setting.first_run : end]
    scale = setting.spread * largest_deviation(setting.step_constant, half)
    weights = np.stack([_draw(word, 2 * half, scale) for word in words])
    fits = weights @ PATTERNS[:2].T / setting.step_size
    fits = np.round(fits / GRID) * GRID
    for first, number in ((0, setting.n_positive), (half, setting.n_minus_positive)):
        if number is not None:
            part = fits[:, first : first + half]
            wrong = in_13(part[..., 0], part[..., 1]) != (np.arange(half) < number)
            fits[:, first : first + half] = np.where(wrong[..., None], part[..., ::-1], part)
    return fits


@functools.partial(jax.jit, static_argnums=1)
def _draw(words: UInt32[Array, " word"], n_filters: int, scale: float | Float[Array, ""]) -> Float[Array, "filter 2"]:
    """The filters of one run, from the words of its key: one program for each width, however many runs there are."""
    return make_conv_maxpool(jax.random.wrap_key_data(words), n_filters, scale).filters


def follow(setting: TraceSetting, fits: Float[np.ndarray, "run filter 2"], progress: Progress = silent) -> Trace:
    """The trace from given initial fits, in units of η (`n_runs`, `first_run`, `seed` and `spread` are not used).

    Raises:
      ValueError: fits of another shape, or sums that would not be exact.
    """
    _check_exact(setting, fits)
    path = walk(fits, setting.goals, setting.max_steps, progress)
    sums: dict[str, Any] = dict(zip(SUMS, path.sums, strict=True))
    counts: dict[str, Any] = dict(zip(COUNTS, path.counts, strict=True))
    return Trace(
        setting,
        fits,
        path.end,
        path.steps,
        path.status,
        **sums,
        **counts,
        a_range=_by_group(path.ranges[:, 0]),
        b_range=_by_group(path.ranges[:, 1]),
        a_step=_by_group(path.steps_of_w[:, 0]),
        b_step=_by_group(path.steps_of_w[:, 1]),
    )


def _by_group(extremes: Int[np.ndarray, "2 group run time"]) -> dict[str, Extremes]:
    """By the names of `GROUPS`, and in two bytes each where they fit."""
    small = np.abs(extremes).max(initial=0) < 2**15
    narrow = extremes.astype(np.int16) if small else extremes
    return dict(zip(GROUPS, narrow.swapaxes(0, 1), strict=False))


def _check_exact(setting: TraceSetting, fits: np.ndarray) -> None:
    half = setting.half_width
    if fits.ndim != 3 or fits.shape[1:] != (2 * half, 2) or not len(fits):
        raise ValueError(f"fits must have the shape (run, {2 * half}, 2), got {fits.shape}")
    largest = sum(setting.goals) + 8 * half + np.abs(fits).sum(axis=1).max()
    if not largest < 2.0**20:
        raise ValueError(f"sums reach {largest:g} in units of η; from 2^20 on they are not exact")
    if (np.round(fits / GRID) * GRID != fits).any():
        raise ValueError("initial fits, in units of η, must be multiples of GRID")


def run_trace(setting: TraceSetting, progress: Progress) -> Trace:
    """The runs of a setting with everything that the lemmas read."""
    return follow(setting, draw_fits(setting), progress)


def wide_runs(scale: Scale, seed: int) -> list[TraceSetting]:
    """The regime of Theorem 6.3 at its edge: k = 120, c_η = 1/410, γ = 8. A run has some 4000 steps."""
    n_runs = 100 if scale is Scale.QUICK else 300
    setting = TraceSetting(half_width=120, step_constant=1 / 410, margin=8.0, n_runs=n_runs, seed=10 * seed)
    return setting.in_cells_of(25)


def faster_runs(scale: Scale, seed: int) -> list[TraceSetting]:
    """The same width with a larger step."""
    n_runs = 300 if scale is Scale.QUICK else 1000
    setting = TraceSetting(half_width=120, step_constant=1 / 41, margin=8.0, n_runs=n_runs, seed=10 * seed + 1)
    return setting.in_cells_of(100)


def narrow_runs(scale: Scale, seed: int) -> list[TraceSetting]:
    """Larger steps at smaller widths."""
    n_runs = 60 if scale is Scale.QUICK else 1000
    rows = ((16, 1 / 41, 8.0), (2, 1 / 41, 8.0), (2, 1 / 8, 1.0))
    return [
        piece
        for place, (half_width, step_constant, margin) in enumerate(rows, start=2)
        for piece in TraceSetting(
            half_width=half_width, step_constant=step_constant, margin=margin, n_runs=n_runs, seed=10 * seed + place
        ).in_cells_of(200)
    ]


ATTAINED: tuple[tuple[float, tuple[tuple[int, int], ...]], ...] = (
    (1035 / 1024, ((-15, -1), (1, -22), (-15, -19), (-15, -8))),  # N(x⁺) in Lemma E.13
    (531 / 512, ((20, 1), (-20, -1), (2, 1), (-2, 1))),  # S⁺ at T2 in Lemma E.16
    (659 / 512, ((20, 1), (-20, -1), (2, 1), (-2, 1))),  # Eq. 15 and 21
    (91 / 64, ((22, 5), (11, 2), (14, -2), (22, 1), (-19, -18), (-14, -8), (-6, -21), (-22, 18))),  # −N(x⁻) in E.13
    (2695 / 2048, ((12, 11), (-13, -10), (13, -8), (17, -12), (20, 15), (21, 19), (-12, -6), (6, -21))),  # S⁺ in E.13
    (43 / 32, ((3, 1), (4, 18), (7, -18), (-16, 22))),  # Lemmas E.8 and 6.2
    (3541 / 1536, ((1, 2), (2, 5), (-15, -9), (-12, -20), (1, 10), (-18, 21))),  # the step of Lemma E.16
    (2509 / 1024, ((1, 18), (3, -11), (-9, 10), (-18, 9), (-7, -17), (-13, -9), (-2, -1), (-7, 12))),  # only x⁺
    (2.0, ((11, 3), (-9, 4), (1, 22), (1, -2))),  # Lemma E.20
    (2919 / 1024, ((12, -1), (8, 3), (11, 1), (22, -1))),  # S⁻ + X at zero loss
)
"""(γ, fits) of starts that come nearest to a bound, all with c_η = 1/8; found by search, followed in fractions."""


def attained_runs() -> list[TraceSetting]:
    """The starts of `ATTAINED`, and one with c_η = 1/41 that comes nearest to Lemma E.4."""
    rows = [(1 / 8, margin, fits) for margin, fits in ATTAINED]
    rows.append((1 / 41, 14531 / 5248, ((-20, 17), (22, -3), (-1, -2), (2, -3))))
    return [
        TraceSetting(half_width=len(fits) // 2, step_constant=constant, margin=margin, n_runs=1, fits=fits)
        for constant, margin, fits in rows
    ]


def all_runs(scale: Scale, seed: int) -> list[TraceSetting]:
    """The regime of Theorem 6.3, and larger steps: Appendix E up to Lemma E.16 needs c_η ≤ 1/8 only."""
    return [*wide_runs(scale, seed), *faster_runs(scale, seed), *narrow_runs(scale, seed), *attained_runs()]


traces = Experiment("brutzkus2019.traces", all_runs, run_trace, seconds=1.5)
wide_traces = traces.at(wide_runs)
