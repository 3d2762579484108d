"""Statistics that figures of several papers share."""

import numpy as np
import scipy
from jaxtyping import Float

CONFIDENCE = 0.95


def mean_interval(values: Float[np.ndarray, " run"]) -> tuple[float, float] | None:
    """The 95 % t-interval of a mean; None below two values, and where all are equal.

    A NaN marks a run that does not exist (widths may have different numbers of runs), and is left out.
    """
    values = values[~np.isnan(values)]
    if len(values) < 2 or np.ptp(values) == 0:
        return None
    low, high = scipy.stats.t.interval(CONFIDENCE, len(values) - 1, values.mean(), scipy.stats.sem(values))
    return (float(low), float(high))
