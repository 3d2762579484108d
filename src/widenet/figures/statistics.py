"""The intervals that a reader sees beside measured numbers: two-sided, of one coverage.

Verdicts about probabilities rest on one-sided limits instead: `widenet.claims.statistics`.
"""

import numpy as np
import scipy
from jaxtyping import Float

from widenet.claims.statistics import clopper_pearson

COVERAGE = 0.95
"""How often such an interval covers what it estimates, at least."""


def mean_interval(values: Float[np.ndarray, " run"]) -> tuple[float, float] | None:
    """The t-interval of a mean; None below two values, and where all are equal.

    A NaN marks a run that does not exist (widths may have different numbers of runs), and is left out.
    """
    values = values[~np.isnan(values)]
    if len(values) < 2 or np.ptp(values) == 0:
        return None
    low, high = scipy.stats.t.interval(COVERAGE, len(values) - 1, values.mean(), scipy.stats.sem(values))
    return (float(low), float(high))


def share_interval(count: int, runs: int) -> tuple[float, float]:
    """The exact interval of a share (Clopper and Pearson)."""
    return clopper_pearson(count, runs, (1 + COVERAGE) / 2)


def t_reach(freedom: float | int) -> float:
    """How many standard errors an estimate reaches to each side, with so many degrees of freedom."""
    return float(scipy.stats.t.ppf((1 + COVERAGE) / 2, freedom))
