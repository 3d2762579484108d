"""Where gradient descent on XOR starts: Gaussian weights, one start from every octant; how many filters see a point.

A filter is known by its two fits ⟨w, x_1⟩ and ⟨w, x_2⟩; the fits with x_3 = −x_1 and x_4 = −x_2 are their negatives.
All fits are in units of η, on a grid of 2⁻³², so that every sum of a run is exact in float64.

A point has its *own* filters, the w's for x_1 and x_3 and the u's for x_2 and x_4; the others *oppose* it.
"""

import enum
import itertools
import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from pydantic import Field

from widenet.claims.cases import Cases, Count, Number, column
from widenet.diagnostics import exploration
from widenet.diagnostics.exploration import XOR_POINTS
from widenet.records import ClosedModel, Scale

GRID = 2.0**-32
"""Starting fits and 1/η, in units of η, are multiples of this: sums below 2²⁰ do not round."""
EVENT_RADIUS = math.sqrt(2) / 4
"""The event of Lemma B.2 in units of η: no initial fit is larger."""


class XorDraw(enum.StrEnum):
    """How the starts of many runs are chosen."""

    GAUSSIAN = "gaussian"
    OCTANTS = "one from every octant"


class XorSetting(ClosedModel):
    """Runs on XOR that are equal but for their initial weights.

    Attributes:
      half_width: k.
      step_constant: c_η.
      spread: σ_g over its largest allowed value c_η/(16 k^1.5).
      step_share: η over its largest allowed value c_η/k.
      fits: one start in place of drawn ones: (⟨w, x_1⟩, ⟨w, x_2⟩) of the w's, then of the u's, in units of η/64.
    """

    half_width: int = Field(ge=1)
    step_constant: float = Field(gt=0)
    n_runs: int = Field(ge=1)
    seed: int = Field(default=0, ge=0)
    spread: float = Field(default=1.0, gt=0)
    step_share: float = Field(default=1.0, gt=0)
    draw: XorDraw = XorDraw.GAUSSIAN
    fits: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, eq=False)
class XorStart(Cases):
    """Initial weights of many runs, and their step size."""

    fits: Float[np.ndarray, "run 2 filter 2"]  #: ⟨w_0, x_1⟩ and ⟨w_0, x_2⟩ in units of η, the w's before the u's
    step_size: Number  #: η
    step_constant: Number  #: c_η, which is at least kη
    deviation: Number = math.nan  #: σ_g, if the weights were drawn with it

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

    @column
    def n_runs(self) -> Count:
        """How many runs."""
        return len(self.fits)

    @column
    def half_width(self) -> Count:
        """k."""
        return self.fits.shape[2]

    @column
    def goal(self) -> Number:
        """1/η on the grid: what y N(x) has to reach, in units of η."""
        return round(1 / float(self.step_size) / GRID) * GRID

    @column
    def step_share(self) -> Number:
        """kη/c_η."""
        return self.half_width * self.step_size / self.step_constant

    @column
    def is_drawn(self) -> bool:
        """Whether the weights were drawn with some σ_g."""
        return not math.isnan(self.deviation)

    @column
    def spread(self) -> Number:
        """16√k·σ_g/η, with σ_g as the weights were drawn around 0."""
        return 16 * math.sqrt(self.half_width / 2) * math.sqrt(float(np.square(self.fits).mean()))

    @column
    def spread_error(self) -> Number:
        """Six times the share by which an empirical deviation of so many numbers is off: more is not chance."""
        return 6 / math.sqrt(2 * self.fits.size)

    @column
    def in_event(self) -> Bool[np.ndarray, " run"]:
        """The event of Lemma B.2, and no fit that is exactly 0 (which has probability 0)."""
        sizes = np.abs(self.fits)
        return np.asarray(((sizes <= EVENT_RADIUS) & (sizes > 0)).all(axis=(1, 2, 3)))

    @column
    def own_counts(self) -> Int[np.ndarray, "run 4"]:
        """n_i: |W_0⁺(i)| for i = 1 and 3, |U_0⁺(i)| for i = 2 and 4, with half-planes as in XOR."""
        own = np.stack([self.fits[:, 0, :, 0], self.fits[:, 1, :, 1]], axis=1)
        return np.concatenate([(own > 0).sum(axis=2), (own < 0).sum(axis=2)], axis=1)

    @column
    def opposing_counts(self) -> Int[np.ndarray, "run 4"]:
        """|U_0⁺(i)| for i = 1 and 3, |W_0⁺(i)| for i = 2 and 4."""
        others = np.stack([self.fits[:, 1, :, 0], self.fits[:, 0, :, 1]], axis=1)
        return np.concatenate([(others > 0).sum(axis=2), (others < 0).sum(axis=2)], axis=1)

    @column
    def explored(self) -> Bool[np.ndarray, " run"]:
        """The event of Lemma 3.1: every count of filters lies within k/2 ± 2√k."""
        counts = np.concatenate([self.own_counts, self.opposing_counts], axis=1)
        return np.asarray(exploration.explored(counts, self.half_width).all(axis=1))

    @column
    def forgotten(self) -> Bool[np.ndarray, "run 4"]:
        """For each point, whether no own filter starts in its half-plane."""
        return self.own_counts == 0

    @property
    def filters(self) -> Float[np.ndarray, "run channel 2"]:
        """The weights themselves: (⟨w, x_1⟩ x_1 + ⟨w, x_2⟩ x_2)/2, the w's before the u's."""
        return (self.fits @ XOR_POINTS[:2]).reshape(self.n_runs, -1, 2) * (self.step_size / 2)


def draw_xor_start(
    half_width: int, step_constant: float, n_runs: int, seed: int = 0, *, spread: float = 1.0, step_share: float = 1.0
) -> XorStart:
    """Gaussian weights; the arguments are the fields of `XorSetting`."""
    step_size, deviation = step_share * step_constant / half_width, spread * step_constant / (16 * half_width**1.5)
    draw = np.random.default_rng([seed, half_width, n_runs, round(1e6 * step_constant)])
    # The fits of a Gaussian vector with two orthogonal directions of length √2 are independent.
    fits = draw.normal(scale=math.sqrt(2) * deviation / step_size, size=(n_runs, 2, half_width, 2))
    return XorStart(fits, step_size, step_constant, deviation)


def every_octant(step_constant: float) -> XorStart:
    """k = 2: one start in each of the 8⁴ cells (which of a filter's four fits is largest, which second).

    Under the Gaussian start every cell has the same probability, so a share of these runs is a probability, exactly, of
    anything that is the same throughout a cell.
    """
    places = [(first * a, second * b) for a, b in ((0.2, 0.1), (0.1, 0.2)) for first in (1, -1) for second in (1, -1)]
    fits = np.array(list(itertools.product(places, repeat=4))).reshape(-1, 2, 2, 2)
    return XorStart(fits, step_constant / 2, step_constant)


def octant_setting(step_constant: float) -> XorSetting:
    """The setting of `every_octant`."""
    return XorSetting(half_width=2, step_constant=step_constant, n_runs=8**4, draw=XorDraw.OCTANTS)


def placed_start(step_size: float, *fits: tuple[int, int]) -> XorSetting:
    """The setting of one start with these fits, the w's before the u's, in units of η/64, and c_η = kη."""
    half_width = len(fits) // 2
    return XorSetting(half_width=half_width, step_constant=half_width * step_size, n_runs=1, fits=fits)


def start_of(setting: XorSetting) -> XorStart:
    """The initial weights that a setting means."""
    if setting.draw is XorDraw.OCTANTS:
        if setting != octant_setting(setting.step_constant):
            raise ValueError(f"every octant is met by one setting of k = 2 alone, got {setting}")
        return every_octant(setting.step_constant)
    if setting.fits:
        step_size = setting.step_share * setting.step_constant / setting.half_width
        return XorStart(np.reshape(setting.fits, (1, 2, -1, 2)) / 64, step_size, setting.step_constant)
    return draw_xor_start(
        setting.half_width,
        setting.step_constant,
        setting.n_runs,
        setting.seed,
        spread=setting.spread,
        step_share=setting.step_share,
    )


def narrow_starts(scale: Scale, seed: int) -> list[XorStart]:
    """Drawn starts, and one start for each octant of the four filters."""
    return [draw_xor_start(2, 0.1, 4000 if scale is Scale.QUICK else 100_000, seed), every_octant(0.1)]


def small_xor_starts(scale: Scale, seed: int) -> list[XorStart]:
    """The largest η that is allowed, at several widths."""
    return [draw_xor_start(k, c, 200, seed) for k in (1, 2, 17, 50, 100) for c in (0.1, 0.4)]


def small_xor_steps(scale: Scale, seed: int) -> list[XorStart]:
    """A tenth of the largest η, beside the same σ_g."""
    return [draw_xor_start(k, 0.1, 200, seed, step_share=0.1) for k in (17, 50)]
