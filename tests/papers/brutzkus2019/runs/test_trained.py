"""Exact gradient descent on one training set: toy runs computed apart from this code, cells, and budgets."""

from fractions import Fraction

import numpy as np
import pytest

from widenet.claims.statistics import runs_needed
from widenet.data.xord import PATTERNS, set_index
from widenet.papers.brutzkus2019.formulas import SMALLEST_WIDTH, UNEXPLORED, c_value, recovery_failure
from widenet.papers.brutzkus2019.runs.octants import octant
from widenet.papers.brutzkus2019.runs.trained import (
    OctantSetting,
    TrainedSetting,
    TrainedXord,
    corner_settings,
    octant_settings,
    run_octants,
    run_trained,
    train_from,
)
from widenet.papers.brutzkus2019.sources import PAIR, from_sets
from widenet.records import Scale
from widenet.run.records import decode, encode
from widenet.types import RunStatus

TOYS = {
    "D2": (1 / 16, 1035 / 1024, [(-15, -1), (1, -22), (-15, -19), (-15, -8)], 25, "1 2 12 14 124"),
    "D3": (1 / 24, 355 / 192, [(-2, -22), (12, -22), (2, 1), (14, -9), (-5, -6), (-14, -8)], 46, "2 3 23 34 234"),
    "D4": (1 / 16, 2.0, [(11, 3), (-9, 4), (5, -13), (-7, 2)], 20, ""),
}
"""η, γ, the fits ⟨w, p_1⟩ and ⟨w, p_2⟩ in units of η/64, the steps to zero loss, and the wrong sets."""


def toy(name: str) -> TrainedXord:
    step, margin, fits, _, _ = TOYS[name]
    filters = np.array(fits)[None] * step / 64 @ PATTERNS[:2] / 2
    return train_from(filters, step, margin, max_steps=100)


@pytest.mark.parametrize("name", TOYS)
def test_toy_runs_end_as_computed_by_hand(name):
    run, (_, _, _, steps, wrong) = toy(name), TOYS[name]
    sets = {set_index(*map(int, word)) for word in wrong.split()}
    assert run.small_start.all()
    assert run.converged.all()
    assert run.steps.tolist() == [steps]
    assert set(np.flatnonzero(run.wrong[0]).tolist()) == sets


def test_the_outputs_of_a_toy_run():
    outputs = toy("D4").outputs[0]
    expected = {(1,): "1677/1024", (2,): "-635/1024", (2, 4): "-145/128", (1, 2, 4): "5/8", (1, 2, 3, 4): "2437/1024"}
    for patterns, value in expected.items():
        assert outputs[set_index(*patterns)] == float(Fraction(value))


def test_any_diverse_training_set_gives_the_same_bits():
    filters = np.random.default_rng(0).normal(0, 1e-4, (5, 4, 2))
    one = train_from(filters, 1 / 82, 2.0, max_steps=300)
    many = train_from(filters, 1 / 82, 2.0, points=from_sets({14: 6, 9: 7}), max_steps=300)
    assert one.step_size == many.step_size
    assert (one.final == many.final).all()
    assert (one.steps == many.steps).all()


def test_class_sizes_without_a_grid_are_trained_all_the_same():
    """lcm(49 999·…, 50 021) is so large that no multiple of the grid is near η."""
    uneven = from_sets({14: 49_998, 0: 1, 9: 50_020, 1: 1})
    run = train_from(np.full((1, 4, 2), 1e-4), 1 / 82, 1.0, points=uneven, max_steps=5)
    assert run.step_size == 1 / 82
    assert run.status.tolist() == [RunStatus.BUDGET_SPENT]


def test_a_run_without_a_filter_on_the_positive_axis_is_stuck_at_once():
    filters = np.array([[(1, -22), (1, -22), (2, 1), (3, 1)]]) / (16 * 64) @ PATTERNS[:2] / 2
    run = train_from(filters, 1 / 16, 2.0, max_steps=100)
    assert run.status.tolist() == [RunStatus.STALLED]
    assert run.loss.tolist() == [3.0]


def test_a_cell_is_read_as_it_was_written():
    run = toy("D2")
    read = decode(TrainedXord, *encode(run))
    assert read.points == run.points == PAIR
    assert read.max_steps == 100
    for name in ("start", "final", "outputs", "steps", "status", "loss"):
        assert (getattr(read, name) == getattr(run, name)).all()


def test_octants_are_covered_once_each():
    setting = OctantSetting(step_constant=1 / 41, required_margin=1.0, max_steps=1, seed=5)
    run = run_octants(setting)
    assert len(np.unique(octant(run.start), axis=0)) == 8**4 == run.n_runs
    assert run.half_width == 2
    assert run.small_start.all()


def test_progress_is_told():
    told = []
    setting = TrainedSetting(half_width=2, step_constant=1 / 41, required_margin=1.0, n_runs=8, max_steps=9, seed=0)
    run_trained(setting, lambda fraction, words: told.append((fraction, words)))
    assert told[-1] == (1.0, "training 8 networks")


def test_the_numbers_of_runs_that_confirm():
    width = SMALLEST_WIDTH
    rates = (recovery_failure(width), c_value(width) + 8 * UNEXPLORED, c_value(width) + 4 * UNEXPLORED)
    assert [runs_needed(rate) for rate in rates] == [557, 1115, 2232]
    (setting,) = corner_settings(Scale.QUICK, 3)
    assert (setting.n_runs, setting.max_steps, setting.seed) == (557, 103_544, 3)


def test_margins_of_the_octant_runs_have_their_own_seeds():
    assert [(each.required_margin, each.seed) for each in octant_settings(Scale.QUICK, 4)] == [(1, 4), (2, 5), (8, 6)]
