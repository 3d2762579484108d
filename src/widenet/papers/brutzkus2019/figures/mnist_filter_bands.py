"""What Figure 4 of brutzkus2019 says, as bands; and the same measured for Figures 7 and 8.

Section 7 describes Figure 4: trained filters are near their centres, and the centres improve the small network until it
nearly matches the large one. It prints no number, so every band comes from this project. Of Figures 7 and 8, which are
the same with larger filters, the paper names the curves and says nothing: their rows are measurements of this project.
"""

import math
from typing import Any

import numpy as np
import scipy
import xarray as xr

from widenet.figures import Comparison
from widenet.figures.base import ANY
from widenet.figures.statistics import mean_interval, t_reach

SMALLEST_SHIFT = 8.0
"""Degrees by which trained filters must be closer to their centres, in the mean."""
LARGEST_CONTROL_SHIFT = 2.0
"""Degrees by which two untrained networks may differ in the mean."""
LARGEST_P = 1e-3
SMALLEST_SHARE = 0.5
"""Of the gap between narrow and wide that centres which "nearly match" must close: they are nearer to the wide one."""
DESCRIBED_SIDE = 3
"""The side of the filters in Figure 4."""
DECIDED_FROM = 2000
"""Images from which on the gap is judged; with fewer, wide and narrow networks are too close."""
FEWEST_RUNS, FEWEST_WIDE = 10, 2
"""Below this many runs and large networks nothing is said about centres: from one large network to the next, the error
on its centres varies by about as much as the gap that they should close."""

PILOT = "the paper shows a plot and prints no number; the band was set by this project from pilot runs"
CONTROL = "a control of this project: here the criterion must fail"


def compare_mnist_filters(numbers: xr.Dataset) -> list[Comparison]:
    """Part (a): trained filters are closer to their centres. Part (b): the centres close the gap."""
    rows = _clustering_rows(numbers)
    for size in numbers["size"].values:
        rows += _exploration_rows(numbers.sel(size=size), int(size))
    described = numbers.attrs["filter_side"] == DESCRIBED_SIDE
    return rows if described else [row if row.added else as_measured(row) for row in rows]


def as_measured(row: Comparison) -> Comparison:
    """The row of a figure about which the paper says nothing."""
    return row.model_copy(
        update={"reported": "not in the paper", "band": ANY, "basis": "measured by this project", "added": True}
    )


def gap_closed(random: float, centres: float, wide: float) -> float:
    """(random − centres) / (random − wide): 0 where the centres do not help, 1 where they match the wide network."""
    return (random - centres) / (random - wide) if random > wide else math.nan


def best_pair(learned_error: xr.DataArray) -> xr.DataArray:
    """The errors of the pair with the smallest mean test error: the paper's rule, and kind to the baseline."""
    means = learned_error.mean("run", skipna=False).values
    return learned_error.isel(pair=int(np.argmin(means)))  # a NaN comes first, and agrees with nothing


def _clustering_rows(numbers: xr.Dataset) -> list[Comparison]:
    trained, untrained, other = (
        numbers[name].values for name in ("trained_angle", "untrained_angle", "other_untrained_angle")
    )
    shifts = untrained.mean(axis=1) - trained.mean(axis=1)
    control = untrained.mean(axis=1) - other.mean(axis=1)
    return [
        Comparison(
            name="(a) mean angle to the nearest centre, untrained − trained, degrees",
            reported="most trained filters have a small angle; significantly different from random",
            measured=float(shifts.mean()),
            interval=mean_interval(shifts),
            band=(SMALLEST_SHIFT, 90.0),
            basis=PILOT,
        ),
        Comparison(
            name="(a) one-sided Kolmogorov–Smirnov p, largest over networks",
            reported="the distributions are significantly different",
            measured=_largest_p(trained, untrained),
            interval=None,
            band=(0.0, LARGEST_P),
            basis=PILOT,
        ),
        Comparison(
            name="(a) control: the same shift between two untrained networks, degrees",
            reported="not in the paper",
            measured=float(control.mean()),
            interval=mean_interval(control),
            band=(-LARGEST_CONTROL_SHIFT, LARGEST_CONTROL_SHIFT),
            basis=CONTROL,
            added=True,
        ),
        Comparison(
            name="(a) control: smallest p between two untrained networks",
            reported="not in the paper",
            measured=float(min(_p_smaller(*pair) for pair in zip(other, untrained, strict=True))),
            interval=None,
            band=(LARGEST_P, 1.0),
            basis=CONTROL,
            added=True,
        ),
    ]


def _exploration_rows(at_size: xr.Dataset, size: int) -> list[Comparison]:
    random = best_pair(at_size["learned_error"]).values
    wide = at_size["wide_error"].values
    rows = [
        Comparison(
            name=f"(b) test error, small network − large network, {size} images",
            reported="the small network with standard training lies above the large one",
            measured=float(random.mean() - wide.mean()),
            interval=_difference_interval(random, wide),
            band=(0.0, 1.0),
            basis=PILOT,
        )
    ]
    if len(random) < FEWEST_RUNS or len(wide) < FEWEST_WIDE:
        return rows
    frozen = at_size["frozen_error"]
    centres = _by_network(frozen.sel(filters="centres").values, len(wide))
    directions = frozen.sel(filters="random directions").values
    rows += [
        Comparison(
            name=f"(b) test error, small network − frozen centres, {size} images",
            reported="the performance of the small network improves with the new initialization",
            measured=float(random.mean() - centres.mean()),
            interval=_difference_interval(random, centres),
            band=(0.0, 1.0),
            basis=PILOT,
        ),
        Comparison(
            name=f"(b) test error, frozen centres − large network, {size} images",
            reported="not in the paper",
            measured=float(centres.mean() - wide.mean()),
            interval=_difference_interval(centres, wide),
            band=ANY,
            basis="how nearly they match is judged by the share of the gap, where it is wide enough",
            added=True,
        ),
    ]
    if size < DECIDED_FROM:
        return rows
    return [
        *rows,
        Comparison(
            name=f"(b) share of the gap closed by frozen centres, {size} images",
            reported="nearly matches the performance of the over-parameterized network",
            measured=gap_closed(random.mean(), centres.mean(), wide.mean()),
            interval=_gap_interval(random, centres, wide),
            band=(SMALLEST_SHARE, math.inf),
            basis="the paper shows a plot and prints no number; nearer to the large network than to the small one",
        ),
        Comparison(
            name=f"(b) control: share closed by frozen random directions, {size} images",
            reported="not in the paper",
            measured=gap_closed(random.mean(), directions.mean(), wide.mean()),
            interval=_gap_interval(random, directions, wide),
            band=(-math.inf, SMALLEST_SHARE),
            basis=CONTROL,
            added=True,
        ),
    ]


def _largest_p(trained: np.ndarray, untrained: np.ndarray) -> float:
    return float(max(_p_smaller(*pair) for pair in zip(trained, untrained, strict=True)))


def _p_smaller(first: np.ndarray, second: np.ndarray) -> float:
    """The p-value of "the first angles are smaller"; a NaN is no evidence."""
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        return math.nan
    test: Any = scipy.stats.ks_2samp(first, second, alternative="greater")
    return float(test.pvalue)


def _by_network(errors: np.ndarray, n_wide: int) -> np.ndarray:
    """One mean per wide network whose centres the runs share: on the same centres they are no separate witnesses."""
    return np.array([errors[first::n_wide].mean() for first in range(n_wide)])


def _difference_interval(first: np.ndarray, second: np.ndarray) -> tuple[float, float] | None:
    """Welch's 95 % interval for a difference of means; a single value counts as known exactly."""
    variances = [_variance_of_mean(each) for each in (first, second)]
    return _interval(float(first.mean() - second.mean()), variances, (len(first), len(second)))


def _gap_interval(random: np.ndarray, centres: np.ndarray, wide: np.ndarray) -> tuple[float, float] | None:
    """The share closed, by linearizing it in the three means."""
    width = random.mean() - wide.mean()
    share = gap_closed(random.mean(), centres.mean(), wide.mean())
    if not math.isfinite(share):
        return None
    slopes = ((1 - share) / width, -1 / width, share / width)
    groups = (random, centres, wide)
    variances = [slope**2 * _variance_of_mean(each) for slope, each in zip(slopes, groups, strict=True)]
    return _interval(share, variances, tuple(len(each) for each in groups))


def _variance_of_mean(values: np.ndarray) -> float:
    return float(values.var(ddof=1) / len(values)) if len(values) > 1 else 0.0


def _interval(centre: float, variances: list[float], counts: tuple[int, ...]) -> tuple[float, float] | None:
    total = sum(variances)
    if not total > 0:
        return None
    freedom = total**2 / sum(
        variance**2 / (count - 1) for variance, count in zip(variances, counts, strict=True) if count > 1
    )
    half = t_reach(freedom) * math.sqrt(total)
    return (centre - half, centre + half)
