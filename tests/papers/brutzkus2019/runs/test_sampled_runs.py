"""Runs on fresh training sets: draws that belong to the run alone, laws that are laws, errors of the law."""

import jax
import numpy as np
import pytest

from tests.papers.brutzkus2019.toy_runs import N_RUNS, sampled
from widenet.data import count_sets, make_xord
from widenet.networks import make_conv_maxpool
from widenet.papers.brutzkus2019.runs.sampled_runs import (
    ALL_SETS,
    CHANNELS,
    DRAWN_RUNS,
    INITIAL_SCALE,
    LAWS,
    draw_networks,
    draw_training_sets,
    law_of,
    sampled_settings,
)
from widenet.records import Scale

LABELS = np.array([1.0 if number & 0b0101 else -1.0 for number in range(1, 16)])
"""f* on the 15 sets: + where the first or the third pattern is held, bits 0 and 2 of the number of a set."""


@pytest.mark.parametrize(("n_channels", "run"), [(4, 0), (6, 7), (200, DRAWN_RUNS + 2), (220, 3)])
def test_a_draw_belongs_to_seed_width_and_number(n_channels, run):
    """Whatever is drawn beside it: the key of the run alone gives the same network and the same training set."""
    own = jax.random.fold_in(jax.random.key(5), n_channels * 100_000 + run)
    for_filters, for_points = jax.random.split(own)
    networks = draw_networks(5, n_channels, run + 1, INITIAL_SCALE)
    alone = make_conv_maxpool(for_filters, n_channels, INITIAL_SCALE)
    np.testing.assert_array_equal(networks.filters[run], alone.filters)
    np.testing.assert_array_equal(networks.output_weights[run], alone.output_weights)
    counts = draw_training_sets(5, n_channels, run + 1, make_xord())
    np.testing.assert_array_equal(counts[run], count_sets(make_xord().sample_balanced(for_points, 6)))
    assert counts.sum(axis=1).tolist() == [12] * (run + 1)


def test_test_errors_are_those_of_the_law():
    runs = sampled(4)
    wrong = ~(LABELS * runs.outputs > 0)
    np.testing.assert_allclose(runs.test_error, wrong @ np.asarray(make_xord().probabilities), atol=1e-15)
    assert runs.test_error.max() <= 1


def test_solved_is_zero_training_error_and_leniency_never_counts_fewer():
    runs = sampled(4)
    np.testing.assert_array_equal(runs.solved(), runs.train_error == 0)
    for sign in (1, -1):
        assert (runs.solved(sign_of_zero=sign) >= runs.solved()).all()
    assert runs.solved(sign_of_zero=1).sum() > runs.solved().sum()


def test_two_margins_are_pairs():
    small, large = sampled(4), sampled(4, margin=5.0)
    np.testing.assert_array_equal(small.counts, large.counts)
    assert (small.outputs != large.outputs).any()


def test_laws_are_laws_and_the_first_is_the_default():
    for name in LAWS:
        law = law_of(name)
        assert float(law.probabilities[14]) == pytest.approx(0.25)
        assert float(law.probabilities[9]) == pytest.approx(0.45)
        assert float(law.probabilities.sum()) == pytest.approx(1.0)
    np.testing.assert_array_equal(law_of(ALL_SETS).probabilities, make_xord().probabilities)
    assert len({tuple(np.asarray(law_of(name).probabilities).tolist()) for name in LAWS}) == len(LAWS)


def test_seven_uniform_patches_against_a_count_of_all_points():
    """How often each set occurs among the 4⁷ points of seven patches, by listing them."""
    digits = np.indices((4,) * 7).reshape(7, -1)
    held = np.bitwise_or.reduce(1 << digits, axis=0) - 1
    counts = np.bincount(held, minlength=15).astype(float)
    others = np.flatnonzero(LABELS[:14] > 0)
    found = np.asarray(law_of("7 uniform patches").probabilities)[others]
    np.testing.assert_allclose(found, 0.25 * counts[others] / counts[others].sum(), rtol=1e-12)


def test_scales_have_at_least_the_runs_of_the_paper():
    for scale in Scale:
        settings = sampled_settings(scale, 0)
        assert tuple(setting.n_channels for setting in settings) == CHANNELS
        assert all(setting.n_runs >= 400 for setting in settings)
    assert sampled(4).outputs.shape == (N_RUNS, 15)
