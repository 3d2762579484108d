"""The start of XOR: counts of filters, and sizes."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from tests.control_table import at, controls, spared
from tests.controls import broken_in, lacking_in
from tests.papers.brutzkus2019.claims.xor_edges import deviation_rows
from tests.papers.brutzkus2019.claims.xor_toys import at_quick_scale, drawn, undecided
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims import xor_exploration
from widenet.papers.brutzkus2019.claims.xor_exploration import (
    lemma_3_1,
    lemma_b_2,
    lemma_b_2_as_printed,
    observation_active_at_start,
    observation_half_planes_cover,
    unexplored,
)
from widenet.papers.brutzkus2019.formulas import c_value, large_start_probability
from widenet.papers.brutzkus2019.runs.xor_counts import XorCounts, count_filters
from widenet.papers.brutzkus2019.xor_sources import XorStart, draw_xor_start

CLAIMS = [
    lemma_3_1,
    lemma_b_2,
    lemma_b_2_as_printed,
    observation_active_at_start,
    observation_half_planes_cover,
]
EXACT, DRAWN = "exact probability", "drawn starts"
REFUTED = "drawn starts do not refute it"


def halves(half_width, n_runs=1200):
    """Counts of k/2 everywhere."""
    return XorCounts(half_width, np.full((n_runs, 2, 4), half_width // 2), 0.5)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_verdict_on_the_default_setting(claim):
    evidence = at_quick_scale(claim)
    assert evidence.verdict is claim.expected
    assert not lacking_in(evidence)
    assert evidence.runs.tried > 0


def test_the_exact_tail():
    one = 2 * stats.binom.cdf(np.ceil(25 - 2 * np.sqrt(50)) - 1, 50, 0.5)
    assert one == pytest.approx(2.4e-5, rel=0.05)
    assert unexplored(50) == pytest.approx(1 - (1 - one) ** 4, rel=1e-9)
    assert unexplored(17) == pytest.approx(1 - (1 - 2.0**-16) ** 4, rel=1e-9)


@pytest.mark.parametrize(
    ("half_width", "share", "tail"),
    [
        (17, 1, 6.10337592803e-5),
        (64, 1, 9.74547269153e-5),
        (142, 1, 0.000276497188149),
        (64, Fraction(99, 100), 0.000309287),
        (142, Fraction(101, 100), 0.000131749),
        (105, 1, 0.00031230037),
    ],
)
def test_the_exact_tail_against_values_computed_apart(half_width, share, tail):
    assert unexplored(half_width, 2 * Fraction(share)) == pytest.approx(tail, rel=1e-5)


def test_lemma_3_1_promises_8_over_e_to_the_8():
    evidence = lemma_3_1([halves(105)])
    assert evidence.promised == pytest.approx(0.00268370102322, rel=1e-11)
    assert evidence.tightness == pytest.approx(0.11637, rel=1e-4)
    assert evidence.verdict is Verdict.HOLDS


def test_control_lemma_3_1_with_a_quarter_of_the_radius():
    evidence = lemma_3_1([count_filters(draw_xor_start(50, 0.1, 1200))], radius=Fraction(1, 2))
    assert evidence.verdict is Verdict.VIOLATED
    assert broken_in(evidence) == [EXACT, DRAWN]
    assert evidence.measured == pytest.approx(0.79, abs=0.01)


def test_control_lemma_3_1_with_a_smaller_probability():
    """The worst width is k = 105, at 3.123e-4."""
    many = halves(105, 12_000)
    assert broken_in(lemma_3_1([many], allowed=3.0e-4)) == [EXACT]
    assert lemma_3_1([many], allowed=3.2e-4).verdict is Verdict.HOLDS


@pytest.mark.parametrize("count", range(8))
def test_control_one_count_of_the_eight(count):
    """k = 64: 16 to 48 filters."""
    for value, failures in ((15, 12), (16, 0), (48, 0), (49, 12)):
        counts = halves(64).half_planes
        counts[:12, count // 4, count % 4] = value
        evidence = lemma_3_1([dataclasses.replace(halves(64), half_planes=counts)])
        assert evidence.details["widths"][0]["failures"] == failures
        assert broken_in(evidence) == ([DRAWN] if failures else [])


def counted(half_width=64, failures=0, n_runs=1200, **changes):
    """k/2 everywhere, and 15 of 64 in so many starts."""
    counts = halves(half_width, n_runs).half_planes
    counts[:failures, 1, 2] = 15
    return dataclasses.replace(halves(half_width, n_runs), half_planes=counts, **changes)


def test_how_many_starts_decide_the_rate():
    """8e⁻⁸: seven of 1200 refute it, six do not decide."""
    assert undecided(lemma_3_1([counted(failures=6)])) == [DRAWN]
    assert undecided(lemma_3_1([counted(n_runs=1114)])) == [DRAWN]
    assert undecided(lemma_3_1([counted(n_runs=1115)])) == []


def test_the_worst_of_several_widths_is_judged():
    """Failures at one width are not carried by another."""
    counts = halves(64).half_planes
    counts[:9, 0, 0] = 15
    evidence = lemma_3_1([halves(105, 12_000), dataclasses.replace(halves(64), half_planes=counts)])
    assert broken_in(evidence) == [DRAWN]
    assert lacking_in(lemma_3_1([halves(64), halves(16)])) == ["width"]
    assert lacking_in(lemma_3_1([halves(64), dataclasses.replace(halves(64), uniform=0.0)])) == ["uniform_directions"]


def test_control_lemma_3_1_needs_enough_draws_and_width():
    assert undecided(lemma_3_1([halves(50, 500)])) == [DRAWN]
    assert lacking_in(lemma_3_1([halves(16)])) == ["width"]
    assert lemma_3_1([halves(17)]).verdict is Verdict.HOLDS


def test_control_lemma_3_1_with_filters_that_prefer_one_side():
    start = draw_xor_start(50, 0.1, 1200)
    leaning = XorStart(np.abs(start.fits), start.step_size, start.step_constant)
    evidence = lemma_3_1([count_filters(leaning)])
    assert lacking_in(evidence) == ["uniform_directions"]
    assert evidence.conclusion is False


def test_control_lemma_b_2_with_eight_times_the_deviation():
    start = draw_xor_start(17, 0.1, 200, spread=8.0)
    evidence = lemma_b_2([start])
    assert lacking_in(evidence) == ["deviation"]
    assert evidence.conclusion is False
    assert (~start.in_event).mean() > 0.9


def test_control_lemma_b_2_with_a_step_far_below_its_limit():
    """η ≤ c_η/k alone is not enough: σ_g must be small beside η."""
    evidence = lemma_b_2([draw_xor_start(17, 0.1, 200, step_share=1e-3)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert [h.name for h in evidence.hypotheses if not h.met] == ["largest 16√k·σ_g/η, σ_g as drawn"]


@pytest.mark.parametrize(
    ("half_width", "ratio"),
    [(1, 0.946609531654), (2, 0.971300864958), (17, 0.996363351901), (120, 0.999479978357)],
)
def test_control_lemma_b_2_is_nearly_attained(half_width, ratio):
    start = draw_xor_start(half_width, 0.1, 200)
    evidence = lemma_b_2([start])
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.promised == 1
    assert evidence.measured == pytest.approx(ratio, rel=1e-11)
    assert broken_in(lemma_b_2([start], constant=0.99 * ratio)) == [EXACT]
    assert lemma_b_2([start], constant=1.01 * ratio).verdict is Verdict.HOLDS


@pytest.mark.parametrize(("half_width", "ratio"), [(1, 4.75), (2, 22.4)])
def test_control_lemma_b_2_with_nine_tenths_of_the_radius(half_width, ratio):
    evidence = lemma_b_2([draw_xor_start(half_width, 0.1, 200)], radius=0.9)
    assert broken_in(evidence) == [EXACT]
    assert evidence.measured == pytest.approx(ratio, rel=0.01)


def at_share(share):
    """Lemma B.2 at k = 17 and k = 120 with a share of its rate."""
    return lemma_b_2([draw_xor_start(k, 0.1, 200) for k in (17, 120)], constant=share)


def test_rates_of_one_say_nothing():
    counts = [halves(17)]
    assert [lemma_3_1(counts, allowed=rate).parts[0].vacuous for rate in (1 - 1e-9, 1.0)] == [False, True]
    starts = [draw_xor_start(17, 0.1, 200)]
    found = [lemma_b_2(starts, constant=rate / c_value(17)).parts[0].vacuous for rate in (1 - 1e-9, 1.0)]
    assert found == [False, True]


def test_the_room_of_lemma_b_2():
    ratio = at_share(1.0).measured
    assert ratio is not None
    assert broken_in(at_share(ratio * (1 - 0.5e-12))) == []
    assert broken_in(at_share(ratio * (1 - 3e-12))) == [EXACT]


def test_a_start_that_is_larger_than_allowed_is_computed_as_it_is():
    found = xor_exploration.outside_over_c(2, 1.05)
    assert found == pytest.approx(large_start_probability(2, 1.05) / c_value(2), rel=1e-12)


def test_how_many_large_starts_are_chance():
    """Of 200 starts at k = 1, where c = 2.68e-4, four above √2η/4 are refused, three are not."""
    counts = [n for n in range(1, 20) if stats.binom.sf(n - 1, 200, 0.00026766045153) < 1e-6]
    assert counts[0] == 4


@pytest.mark.parametrize("key", ["step_constant", "deviation"])
def test_control_lemma_b_2_as_printed_at_its_edges(key):
    start = draw_xor_start(17, 0.1, 200, step_share=0.1)
    most = 10 * (1 + 6 / np.sqrt(2 * start.fits.size))
    columns, edge, beyond = {
        "step_constant": ("step_constant", np.nextafter(0.5, 0), 0.5),
        "deviation": ("spread", most - 1e-6, most + 1e-6),
    }[key]
    assert lacking_in(lemma_b_2_as_printed([start.replace(**{columns: edge})])) == []
    assert lacking_in(lemma_b_2_as_printed([start.replace(**{columns: beyond})])) == [key]


def test_lemma_b_2_as_printed_with_a_smaller_deviation():
    spared(lemma_b_2_as_printed, at(draw_xor_start(17, 0.1, 200, spread=0.9)))


def test_lemma_b_2_as_printed_fails_in_both_ways():
    small = lemma_b_2_as_printed([draw_xor_start(17, 0.1, 200, step_share=0.1)])
    assert small.verdict is Verdict.VIOLATED
    assert not lacking_in(small)
    # The limit √2η/4 is 0.4·√17 deviations of a fit, and 4·17 fits are independent.
    assert small.measured == pytest.approx(1 - (1 - 2 * stats.norm.sf(0.4 * np.sqrt(17))) ** 68, rel=1e-9)
    assert small.details["settings"][0]["outside"] > 190
    # At η = c_η/k no draw shows it, but the exact tail does: π is printed for √π.
    cap = lemma_b_2_as_printed([draw_xor_start(17, 0.1, 200)])
    assert cap.verdict is Verdict.VIOLATED
    assert cap.details["settings"][0]["outside"] == 0
    assert cap.details["settings"][0]["ratio"] == pytest.approx(np.sqrt(np.pi), rel=0.01)


def test_the_printed_probability_of_lemma_b_2():
    evidence = lemma_b_2_as_printed([draw_xor_start(2, 0.1, 200)])
    assert evidence.promised == pytest.approx(7.16421173131e-8, rel=1e-11)
    assert evidence.conclusion is False


def test_control_lemma_b_2_as_printed_outside_its_setting_and_far_inside():
    assert lacking_in(lemma_b_2_as_printed([draw_xor_start(2, 0.1, 200)])) == ["width"]
    assert lacking_in(lemma_b_2_as_printed([draw_xor_start(17, 0.1, 200, spread=2.0)])) == ["deviation"]
    assert lemma_b_2_as_printed([draw_xor_start(17, 0.1, 200, spread=0.9)]).verdict is Verdict.HOLDS


def large(n_runs):
    """Starts with k = 1 of which so many are outside the event."""
    start = draw_xor_start(1, 0.1, 200)
    fits = np.clip(start.fits, -0.35, 0.35)
    fits[:n_runs, 0, 0, 0] = 0.36
    return dataclasses.replace(start, fits=fits)


def test_two_large_starts_of_two_hundred_are_chance_at_k_1():
    """c is 2.7e-4 at k = 1: a seed in a thousand draws two of 200 outside."""
    evidence = lemma_b_2([large(2)])
    assert evidence.details["settings"][0]["outside"] == 2
    assert evidence.verdict is Verdict.HOLDS


def test_control_ten_large_starts_of_two_hundred_are_not():
    assert broken_in(lemma_b_2([large(10)])) == [REFUTED]


def test_lemma_3_1_reads_the_starts_that_are_trained_elsewhere():
    """The counts of the half-planes and those of `XorStart` are the same."""
    start = drawn(17, 0.1, 200)
    counts = count_filters(start).half_planes
    odd = np.arange(4) % 2 == 0
    assert np.array_equal(start.own_counts, np.where(odd, counts[:, 0], counts[:, 1]))
    assert np.array_equal(start.opposing_counts, np.where(odd, counts[:, 1], counts[:, 0]))


TAIL = unexplored(105)
COUNTS = (lemma_3_1, observation_half_planes_cover)


def tail_of(share):
    """3.123e-4 at k = 105, the worst width."""
    return at(halves(105, 12_000), allowed=TAIL * share)


def covering(**less):
    """k = 16 in ten starts, with fewer filters in the half-plane of a point (by sign and point) of the fourth."""
    counts = halves(16, 10).half_planes
    for place, by in less.items():
        counts[3, "wu".index(place[0]), int(place[1]) - 1] -= by
    return at(halves(16, 10), half_planes=counts)


def shares(share):
    """k = 17 and k = 120 with a share of the rate of Lemma B.2."""
    return at([draw_xor_start(k, 0.1, 200) for k in (17, 120)], constant=share)


RATIO = lemma_b_2([draw_xor_start(k, 0.1, 200) for k in (17, 120)]).measured
test_control = controls(
    xor_exploration,
    halves(64),
    # 8e⁻⁸: seven of 1200 refute it.
    (lemma_3_1, "drawn", at(counted()), at(counted(failures=7))),
    (lemma_3_1, "exact", tail_of(1 - 0.5e-12), tail_of(1 - 3e-12)),
    (observation_half_planes_cover, "of_w", covering(w2=1, w4=1), covering(w3=1)),
    (observation_half_planes_cover, "of_w", covering(), covering(w1=-1)),
    (observation_half_planes_cover, "of_u", covering(u1=1, u3=1), covering(u4=1)),
    (observation_half_planes_cover, "of_u", covering(), covering(u2=-1)),
    but=(lemma_b_2, lemma_b_2_as_printed, observation_active_at_start),
)
START = draw_xor_start(17, 0.1, 200)
test_control_of_starts = controls(
    xor_exploration,
    START,
    *deviation_rows(START, lemma_b_2),  # pyright: ignore[reportArgumentType]
    # At k = 120 the exact probability is 0.99948 of the rate.
    (lemma_b_2, "exact", shares(RATIO * (1 - 0.5e-12)), shares(RATIO * (1 - 3e-12))),  # pyright: ignore[reportOptionalOperand]
    (lemma_b_2, "drawn", at(large(3)), at(large(4))),
    but=(*COUNTS, lemma_b_2_as_printed, observation_active_at_start),
)
