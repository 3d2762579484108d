"""Where XOR runs start: counts, octants, what is refused."""

import numpy as np
import pytest

from widenet.diagnostics.exploration import half_planes, plus_and_minus, sizes
from widenet.papers.brutzkus2019.runs.xor_counts import XorCounts, run_xor_counts
from widenet.papers.brutzkus2019.xor_sources import (
    XorDraw,
    XorSetting,
    XorStart,
    draw_xor_start,
    every_octant,
    start_of,
)
from widenet.progress import silent
from widenet.run.records import decode, encode


def test_counts_are_those_of_the_half_planes():
    start = draw_xor_start(17, 0.1, 50, 5)
    plus, minus = (sizes(half_planes(half)) for half in plus_and_minus(start.filters))
    odd = np.arange(4) % 2 == 0
    assert np.array_equal(start.own_counts, np.where(odd, plus, minus))
    assert np.array_equal(start.opposing_counts, np.where(odd, minus, plus))


def test_events_look_at_own_and_opposing_filters_of_both_signs():
    """k = 18: counts from 1 to 17 are within 9 ± 2√18. All u's before x_1, all w's, a long u, a fit of 0."""
    fits = np.tile(0.1 * np.where(np.arange(18) % 2, 1, -1)[:, None], (5, 2, 1, 2))
    fits[1, 1, :, 0] = fits[2, 0, :, 0] = 0.1
    fits[3, 1, 4, 1] = -0.36
    fits[4, 1, 4, 0] = 0
    start = XorStart(fits, 0.1 / 18, 0.1)
    assert start.explored.tolist() == [True, False, False, True, True]
    assert start.in_event.tolist() == [True, True, True, False, False]


def test_every_octant_once():
    start = every_octant(0.1)
    assert start.n_runs == 8**4
    signs = np.concatenate([start.fits > 0, np.abs(start.fits[..., :1]) > np.abs(start.fits[..., 1:])], axis=-1)
    assert len(np.unique(signs.reshape(8**4, -1), axis=0)) == 8**4
    assert start.in_event.all()


def test_control_starts_that_are_not_numbers_or_too_large_are_refused():
    with pytest.raises(ValueError, match="finite"):
        XorStart(np.full((1, 2, 2, 2), np.nan), 0.05, 0.1)
    with pytest.raises(ValueError, match="not exact"):
        XorStart(np.ones((1, 2, 2, 2)), 1e-7, 0.1)
    with pytest.raises(ValueError, match="every octant"):
        start_of(XorSetting(half_width=3, step_constant=0.1, n_runs=8**4, draw=XorDraw.OCTANTS))


def test_a_setting_means_the_same_weights_every_time():
    setting = XorSetting(half_width=5, step_constant=0.1, n_runs=7, seed=3, spread=2.0, step_share=0.5)
    first, second = start_of(setting), draw_xor_start(5, 0.1, 7, 3, spread=2.0, step_share=0.5)
    assert np.array_equal(first.fits, second.fits)
    assert first.step_size == 0.01
    assert not np.array_equal(first.fits, start_of(setting.model_copy(update={"seed": 4})).fits)


def test_a_cell_gives_back_the_counts():
    counts = run_xor_counts(XorSetting(half_width=17, step_constant=0.1, n_runs=50), silent)
    again = decode(XorCounts, *encode(counts))
    assert np.array_equal(again.half_planes, counts.half_planes)
    assert (again.half_width, again.uniform, len(again)) == (17, counts.uniform, 50)
    assert not again.uncovered.any()
