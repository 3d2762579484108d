"""Figure 2 of brutzkus2019 at toy size: who fails on XOR, and where."""

import jax.numpy as jnp
import numpy as np
import pytest

from tests.papers.brutzkus2019.figures.rows import verdicts
from tests.papers.brutzkus2019.toy_runs import N_RECORDED, NARROW, WIDE, both, recorded
from widenet.data.xord import SET_LABELS, set_index
from widenet.networks import ConvMaxPool
from widenet.papers.brutzkus2019.figures.figure_2 import compare_figure_2, figure_2_numbers
from widenet.papers.brutzkus2019.runs.recorded_runs import RecordedSetting, record_from
from widenet.papers.brutzkus2019.runs.sampled_runs import draw_networks


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


def test_control_plus_neurons_in_one_half_plane_lose_a_point():
    setting = RecordedSetting(seed=0, half_width=WIDE, xor=True, n_runs=N_RECORDED, n_times=30)
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
