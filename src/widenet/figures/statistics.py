"""What comparisons say about means."""

import numpy as np
import scipy


def mean_interval(values: np.ndarray) -> tuple[float, float] | None:
    """The 95 % t-interval of a mean; None below two runs."""
    values = values[~np.isnan(values)]
    if len(values) < 2 or np.ptp(values) == 0:
        return None
    low, high = scipy.stats.t.interval(0.95, len(values) - 1, values.mean(), scipy.stats.sem(values))
    return (float(low), float(high))
