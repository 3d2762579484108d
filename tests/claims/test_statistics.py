import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from widenet.claims.statistics import clopper_pearson, fails_at_most, matches_rate, runs_needed


@given(runs=st.integers(1, 300), data=st.data(), confidence=st.sampled_from([0.9, 0.95, 0.99]))
def test_limits_invert_the_binomial_tails(runs, data, confidence):
    failures = data.draw(st.integers(0, runs))
    lower, upper = clopper_pearson(failures, runs, confidence)
    assert 0 <= lower <= failures / runs <= upper <= 1
    if failures:
        assert math.isclose(stats.binom.sf(failures - 1, runs, lower), 1 - confidence, rel_tol=1e-6)
    if failures < runs:
        assert math.isclose(stats.binom.cdf(failures, runs, upper), 1 - confidence, rel_tol=1e-6)


def test_three_runs_prove_nothing_about_one_percent():
    assert fails_at_most(0, 3, 0.01) is None
    assert fails_at_most(0, runs_needed(0.01), 0.01) is True
    assert fails_at_most(0, runs_needed(0.01) - 1, 0.01) is None


def test_many_failures_refute():
    assert fails_at_most(30, 100, 0.1) is False
    assert fails_at_most(10, 100, 0.1) is None


def test_control_a_wrong_tail_would_be_seen():
    """The rate at which a true rate of δ is refuted stays below 5 %, and is not zero."""
    rejected = sum(stats.binom.pmf(k, 200, 0.1) for k in range(201) if fails_at_most(k, 200, 0.1) is False)
    assert 0.01 < rejected <= 0.05


@pytest.mark.parametrize("arguments", [(-1, 10), (11, 10)])
def test_impossible_counts_are_refused(arguments):
    with pytest.raises(ValueError, match="0 ≤ failures ≤ runs"):
        clopper_pearson(*arguments)


def test_no_runs_no_knowledge():
    assert clopper_pearson(0, 0) == (0.0, 1.0)
    assert fails_at_most(0, 0, 0.5) is None


def test_matches_rate():
    assert matches_rate(50, 100, 0.5) == 1.0
    assert matches_rate(80, 100, 0.5) < 1e-6
    with pytest.raises(ValueError, match=r"in \(0, 1\]"):
        runs_needed(0.0)
