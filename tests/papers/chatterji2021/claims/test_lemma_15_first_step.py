"""Parts 6 and 7 of Lemma 15, Eq. 27 and the tails, at the edges of their bounds."""

import functools
import math

import numpy as np
import pytest
import scipy.stats

from tests.control_table import at, controls, spared
from tests.papers.chatterji2021.cluster_toys import ONE_IN_SIXTY, clusters, columns, expects, with_entry
from tests.papers.records import altered
from widenet.claims.base import Verdict
from widenet.papers.chatterji2021 import cluster_formulas as f
from widenet.papers.chatterji2021.claims import lemma_15_first_step
from widenet.papers.chatterji2021.claims.lemma_15_first_step import (
    StartTails,
    appendix_d_tails,
    appendix_d_tails_as_printed,
    equation_27,
    lemma_15_6,
    lemma_15_7,
)
from widenet.papers.chatterji2021.claims.starts import RandomStarts
from widenet.papers.chatterji2021.runs.start_draws import run_start_draws, tail_settings
from widenet.papers.chatterji2021.runs.start_laws import (
    ReducedNorms,
    Windows,
    draw_reduced_norms,
    draw_windows,
    reduced_norms,
)
from widenet.progress import silent
from widenet.records import Scale

P, BETA = 2000, 0.45


def bound(share):
    cell = clusters()
    return share * P * f.window_share(P, cell.step, cell.deviation, cell.overlap, cell.radius)


def in_window(share, beyond):
    """One run with a count at the last whole number inside this share of the bound, or beyond it."""
    counts = with_entry((4, 1), math.floor(bound(share)) + beyond)
    return {"window": counts, "window_failure": ONE_IN_SIXTY}


def test_the_printed_bound_is_kept_at_its_edge():
    found = [lemma_15_6([columns(clusters()).replace(**in_window(1.0, beyond))]) for beyond in (0, 1)]
    assert [each.parts[0].kept for each in found] == [True, False]


def test_a_bound_above_p_says_nothing():
    evidence = lemma_15_6([altered(clusters(), deviation=1e-4)])
    assert [part.vacuous for part in evidence.parts] == [True, True]


def one_norm(share, name):
    """One run with a norm of so many √(d/p^β)."""
    return {"norm": with_entry(0, share * f.norm_unit(2, P, BETA)), name: ONE_IN_SIXTY}


def test_how_wide_is_wide_enough():
    """p^(β/2) against what the proof needs."""
    needed = f.least_width_power(2, "exact")
    for p, met in ((math.floor(needed ** (2 / BETA)), False), (math.ceil(needed ** (2 / BETA)), True)):
        cell = altered(
            clusters("exact"), half_width=p, bandwidth=1 / p,
            deviation=f.initial_deviation(p, BETA, "exact"), step=f.first_step_size(p, BETA, "exact"),
        )  # fmt: skip
        assert lemma_15_7([cell]).hypotheses[-1].met is met


def test_control_norms_far_from_their_bounds():
    """√3 in sec4, √6 in exact: constants 2 below and 2.3 above would fail in every run."""
    ratios = [clusters(scaling).norm / f.norm_unit(2, P, BETA) for scaling in ("sec4", "exact")]
    assert (ratios[0] < 2).all()
    assert (ratios[1] > 2.3).all()
    assert ratios[0].mean() == pytest.approx(math.sqrt(3), rel=0.02)
    assert ratios[1].mean() == pytest.approx(math.sqrt(6), rel=0.02)


def test_the_bounds_and_how_often_they_may_fail():
    cell, norm = columns(clusters()), f.norm_unit(2, P, BETA)
    failure = f.window_failure(P, cell.step, cell.deviation, 8)
    expects(lemma_15_first_step.in_window(cell, 1.0, ""), bound(1.0), P, failure)
    expects(lemma_15_first_step.in_window(cell, 0.5, ""), bound(0.5), P, failure)
    expects(lemma_15_first_step.norm_above(cell), 0.6 * norm, np.nan, math.exp(-3 * P / 2048))
    expects(lemma_15_first_step.norm_below(cell), 3 * norm, np.nan, math.exp(-3 * P / 1024))


WINDOWS = draw_windows(Scale.QUICK, 0)


@functools.cache
def starts():
    (setting,) = tail_settings(Scale.QUICK, 0)
    return run_start_draws(setting, silent)


def judge_tails(**fields):
    return appendix_d_tails([altered(starts(), **fields)])


def test_the_exact_tails():
    """χ²_120 at 1 − η and (1 + η)²."""
    assert judge_tails().verdict is Verdict.HOLDS
    squares = starts().norms ** 2
    for eta, low, high in ((0.1, 0.224, 0.0585), (0.2, 0.0523282618966, 0.00114884484245)):
        assert (squares <= 1 - eta).mean() == pytest.approx(low, abs=0.012)
        assert (squares >= (1 + eta) ** 2).mean() == pytest.approx(high, abs=0.007)


def first(share, value):
    """A norm or an output like this in a share of the starts."""
    return lambda a: with_entry(slice(0, int(share * len(a))), value)(a)


def test_every_eta_is_looked_at():
    """At η = 0.1 and 0.2 the bounds are larger; a start just inside 0.3 is seen there."""
    assert judge_tails(norms=first(0.36, math.sqrt(0.79))).parts[0].kept is False
    assert judge_tails(norms=first(0.7, math.sqrt(0.8999))).parts[0].kept is False
    assert judge_tails(norms=first(0.11, 1.21)).parts[1].kept is False
    for multiple, share in ((1, 0.77), (2, 0.3)):
        eta = math.sqrt(4 * 20 * (multiple + 0.001)) * starts().deviation
        assert judge_tails(outputs=first(share, eta)).parts[2].kept is False


def test_a_start_exactly_at_eta_is_in_the_tail():
    assert judge_tails(norms=first(0.01, 1.3)).parts[1].kept is False
    eta = math.sqrt(4 * 20 * 3.0) * starts().deviation
    assert judge_tails(outputs=first(0.12, eta)).parts[2].kept is False
    assert judge_tails(outputs=first(0.12, eta * (1 - 1e-9))).parts[2].kept is True


def test_the_printed_tail_is_that_of_half_the_variance():
    """With σ in place of √2σ, χ² is at least 9/8 of its degrees of freedom."""
    found = draw_reduced_norms(Scale.QUICK, 0)
    freedom = 2 * (found.dim + 1) * found.half_width
    smaller = ReducedNorms(found.half_width, found.dim, scipy.stats.chi2.sf(9 / 8 * freedom, freedom))
    assert appendix_d_tails_as_printed(found).verdict is Verdict.VIOLATED
    spared(appendix_d_tails_as_printed, at(smaller))


@pytest.mark.parametrize("p", [1, 2, 1000, 10**6])
@pytest.mark.parametrize("dim", [1, 2, 50])
def test_the_norm_exceeds_the_printed_bound_more_often_than_not(p, dim):
    (share,) = reduced_norms(np.array([float(p)]), np.array([float(dim)])).shares
    assert share > 0.5
    assert share == pytest.approx(scipy.stats.chi2.sf(9 / 8 * (dim + 1) * p, 2 * (dim + 1) * p), rel=1e-9)


def test_the_norm_of_weights_and_biases_as_theorem_2_draws_them():
    """p = 1000, β = 1/4, d = 2: ‖V^(0)‖ is near 2√3·p^(−1/8), and 3√3/2·p^(−1/8) is printed as its bound."""
    weights = np.random.default_rng(0).normal(size=(2000, 3)) * math.sqrt(1000 ** -(1 + 0.25))
    size = np.linalg.norm(math.sqrt(2) * weights) / (math.sqrt(3) * 1000**-0.125)
    assert size == pytest.approx(2, abs=0.15)  # the deviation of ‖V‖ is 2/√12000 of √3·p^(−1/8): eight of them


def far(share, sign=1):
    return {"outputs": first(share, sign * math.sqrt(12.1 * 20) * starts().deviation)}


LOW, HIGH = math.sqrt(0.69), 1.31
test_control = controls(
    lemma_15_first_step,
    {
        RandomStarts: clusters,
        Windows: WINDOWS,
        StartTails: starts,
        ReducedNorms: ReducedNorms(np.array([100.0]), np.array([2.0]), np.zeros(1)),
    },
    (appendix_d_tails_as_printed, "high"),
    (lemma_15_6, "half", in_window(0.5, 0), in_window(0.5, 1)),
    (lemma_15_6, "printed", in_window(0.5, 0), in_window(1.0, 1), "half"),
    (
        lemma_15_7,
        "low",
        one_norm(0.6 * (1 + 1e-9), "low_norm_failure"),
        one_norm(0.6 * (1 - 1e-9), "low_norm_failure"),
    ),
    (
        lemma_15_7,
        "high",
        one_norm(3 * (1 - 1e-9), "high_norm_failure"),
        one_norm(3 * (1 + 1e-9), "high_norm_failure"),
    ),
    (lemma_15_7, "wide_enough", {}, {"dim": 1, "scaling": "exact"}, "start", "first_step"),
    (equation_27, "density", {}, {"middle": lambda middle: 0.99 * middle}),
    # 4.4 in place of 5 at Δ = r = 0 loses to 4.5.
    (equation_27, "width", {}, {"right": lambda right: 0.88 * right}),
    (appendix_d_tails, "low", {"norms": first(0.055, LOW)}, {"norms": first(0.08, LOW)}),
    (appendix_d_tails, "high", {"norms": first(0.002, HIGH)}, {"norms": first(0.0065, HIGH)}),
    (appendix_d_tails, "output", far(0.09), far(0.12, -1)),
)
