"""Exact binomial statistics for statements of the form "with probability at least 1 − δ"."""

import math

import scipy.special

CONFIDENCE = 0.95
"""The one-sided confidence of every verdict about a probability. What a figure shows is two-sided:
`widenet.figures.statistics`."""


def clopper_pearson(failures: int, runs: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The two one-sided exact limits for a failure rate, each at this confidence."""
    _check_counts(failures, runs)
    if runs == 0:
        return (0.0, 1.0)
    lower = 0.0 if failures == 0 else float(scipy.special.betaincinv(failures, runs - failures + 1, 1 - confidence))
    upper = 1.0 if failures == runs else float(scipy.special.betaincinv(failures + 1, runs - failures, confidence))
    return (lower, upper)


def runs_needed(allowed_rate: float) -> int:
    """The fewest runs that can confirm "fails at most this often": n with (1 − δ)^n ≤ 1 − `CONFIDENCE`."""
    if not 0 < allowed_rate <= 1:
        raise ValueError(f"an allowed failure rate lies in (0, 1], got {allowed_rate}")
    if allowed_rate == 1:
        return 0
    return math.ceil(math.log(1 - CONFIDENCE) / math.log1p(-allowed_rate))


def fails_at_most(failures: int, runs: int, allowed_rate: float, confidence: float = CONFIDENCE) -> bool | None:
    """Whether the failure rate is at most δ: True, False, or None when the interval contains δ.

    True needs the upper limit at or below δ, False the lower limit above it. Everything between is refused.
    """
    if not 0 < allowed_rate <= 1:
        raise ValueError(f"an allowed failure rate lies in (0, 1], got {allowed_rate}")
    lower, upper = clopper_pearson(failures, runs, confidence)
    if runs == 0:
        return None
    if upper <= allowed_rate:
        return True
    return False if lower > allowed_rate else None


def matches_rate(successes: int, runs: int, rate: float) -> float:
    """The p-value of the exact two-sided binomial test against a known rate."""
    _check_counts(successes, runs)
    import scipy.stats  # slow to load, and few claims need it

    return float(scipy.stats.binomtest(successes, runs, rate).pvalue)


def _check_counts(failures: int, runs: int) -> None:
    if not 0 <= failures <= runs:
        raise ValueError(f"counts must satisfy 0 ≤ failures ≤ runs, got {failures} of {runs}")
