"""Figure 2 of brutzkus2019 at toy size: who fails on XOR, and where."""

from fractions import Fraction

import jax.numpy as jnp
import numpy as np
import pytest
import scipy

from tests.papers.brutzkus2019.claims.xor_toys import drawn
from tests.papers.brutzkus2019.figures.rows import verdicts
from tests.papers.brutzkus2019.toy_runs import N_RECORDED, NARROW, WIDE, both, recorded
from widenet.data.xord import SET_LABELS, set_index
from widenet.networks import ConvMaxPool
from widenet.papers.brutzkus2019.figures.figure_2 import compare_figure_2, figure_2_numbers
from widenet.papers.brutzkus2019.figures.recorded_pair import FALSE_ALARM, exact_band
from widenet.papers.brutzkus2019.runs.recorded_runs import ShownRunSetting, record_from
from widenet.papers.brutzkus2019.runs.sampled_runs import draw_networks
from widenet.papers.brutzkus2019.xor_formulas import forgotten_rate, sharp_angle_limit


@pytest.fixture(scope="module")
def xor():
    return figure_2_numbers(both(xor=True))


def reflected(networks: ConvMaxPool) -> ConvMaxPool:
    """The same filters, but every w turned into the half-plane ⟨w, p₁⟩ > 0, so that none looks at p₃."""
    filters = np.asarray(networks.filters).copy()
    plus = filters[:, : filters.shape[1] // 2]
    plus[plus.sum(axis=-1) < 0] *= -1
    return ConvMaxPool(jnp.asarray(filters), networks.output_weights)


def test_figure_2_agrees(xor):
    rows = verdicts(compare_figure_2(xor))
    assert rows["share of runs that fail, k = 32"] == "AGREES"
    assert rows["final loss of the network shown, k = 2"] == "AGREES"
    assert set(rows.values()) == {"AGREES"}


def test_figure_2_fails_where_and_only_where_nobody_looks(xor):
    start, outputs = xor.narrow_filters.values[0], xor.narrow_outputs.values[-1]
    points = np.array([[1, 1], [1, -1], [-1, -1], [-1, 1.0]])
    looked = np.array([(start[:2] @ point > 0).any() if i % 2 == 0 else (start[2:] @ point > 0).any()
                       for i, point in enumerate(points)])  # fmt: skip
    singles = [set_index(i) for i in (1, 2, 3, 4)]
    right = SET_LABELS[singles] * outputs[singles] > 0
    assert (right == looked).all()
    assert not right.all()
    assert xor.narrow_loss.values[-1] == (~right).sum()


@pytest.mark.parametrize(("k", "rate"), [(2, 0.75), (3, 1 - 9 / 16), (50, 2.0**-48)])
def test_how_often_a_half_plane_is_empty(k, rate):
    """1 − (1 − 2^{1−k})², in exact fractions."""
    exact = 1 - (1 - Fraction(1, 2 ** (k - 1))) ** 2
    assert forgotten_rate(k) == pytest.approx(float(exact), rel=1e-15)
    assert forgotten_rate(k) == pytest.approx(rate, rel=1e-13)


@pytest.mark.parametrize(("n_runs", "rate"), [(200, 0.75), (200, 33 / 48), (60, 0.75), (200, 2.0**-48)])
def test_an_exact_band_is_left_by_chance_once_in_two_million(n_runs, rate):
    low, high = (round(n_runs * share) for share in exact_band(n_runs, rate))
    law = scipy.stats.binom(n_runs, rate)
    assert law.cdf(low - 1) + law.sf(high) <= FALSE_ALARM
    assert law.cdf(low) > FALSE_ALARM / 2, "one more would be too narrow"
    assert low == high == 0 or law.sf(high - 1) > FALSE_ALARM / 2


def test_the_share_of_seed_1_agrees():
    """163 of 200 lay outside two standard deviations."""
    low, high = exact_band(200, 0.75)
    assert low < 0.69
    assert 0.815 < high < 0.92


@pytest.mark.parametrize(("count", "verdict"), [(45, "AGREES"), (25, "DIFFERS"), (60, "DIFFERS")])
def test_control_another_share_of_narrow_failures(xor, count, verdict):
    """Of 60 runs: 3/4 is 45."""
    wrong = xor.n_wrong_sets.copy()
    wrong.loc[{"network": "narrow"}] = np.arange(N_RECORDED) < count
    assert verdicts(compare_figure_2(xor.assign(n_wrong_sets=wrong)))["share of runs that fail, k = 2"] == verdict


@pytest.mark.parametrize(("k", "step_constant"), [(17, 0.1), (17, 0.4), (50, 0.1), (3, 0.3)])
def test_no_filter_at_loss_0_is_farther_than_the_sharp_angle(k, step_constant):
    run = drawn(k, step_constant, 100)
    inside = run.reached & run.in_event
    assert inside.any()
    angles = np.degrees(np.arctan2(run.across_fit[-1][inside], run.fit_low[-1][inside]))
    assert angles.max() < sharp_angle_limit(step_constant)
    assert sharp_angle_limit(0.1) == pytest.approx(11.7132, abs=1e-4)


def test_control_plus_neurons_in_one_half_plane_lose_a_point():
    setting = ShownRunSetting(seed=0, half_width=WIDE, xor=True, n_runs=N_RECORDED, n_times=30)
    drawn = draw_networks(0, 2 * WIDE, N_RECORDED, setting.initial_scale)
    numbers = figure_2_numbers([record_from(reflected(drawn), setting), recorded(NARROW, xor=True)])
    rows = verdicts(compare_figure_2(numbers))
    assert rows["share of runs that fail, k = 32"] == "DIFFERS"
    assert rows["final loss of the network shown, k = 32"] == "DIFFERS"
    assert float(numbers.wide_outputs.values[-1, set_index(3)]) == 0.0


def test_control_the_opposite_of_what_is_shown_is_seen(xor):
    """The wide network fails and its neurons lie between the points, the narrow one never fails."""
    opposite = xor.assign(
        n_wrong_sets=xor.n_wrong_sets.where(xor.network == "wide", 0).where(xor.network == "narrow", 1),
        wide_filters=xor.wide_filters[..., ::-1] * [1, -1],
        wide_loss=xor.wide_loss * 0 + 1e-9,
        narrow_loss=xor.narrow_loss * 0,
    )
    assert set(verdicts(compare_figure_2(opposite)).values()) == {"DIFFERS"}


def test_control_one_failure_of_the_wide_network_is_seen(xor):
    once = xor.n_wrong_sets.copy()
    once.loc[{"network": "wide", "run": 3}] = 1
    assert verdicts(compare_figure_2(xor.assign(n_wrong_sets=once)))["share of runs that fail, k = 32"] == "DIFFERS"
