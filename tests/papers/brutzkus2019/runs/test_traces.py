"""Traces agree with automatic differentiation on real points, with training on pattern sets, and do not round."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from tests.papers.brutzkus2019.claims.plain import DIVERSE, plain_trace, points
from tests.papers.brutzkus2019.claims.settings import SMALL
from widenet.data.xord import DIVERSE_NEGATIVE, DIVERSE_POSITIVE, PATTERNS
from widenet.networks.conv_maxpool import ConvMaxPool
from widenet.networks.two_layer import plus_minus
from widenet.papers.brutzkus2019.claims import traces
from widenet.papers.brutzkus2019.runs.traces import GRID, Setting, draw_fits, finish, follow, in_positive_cone, trace
from widenet.training.xord import train_patterns
from widenet.types import RunStatus


@pytest.mark.parametrize("spread", [1.0, 100.0])
def test_every_sum_at_every_step_is_that_of_automatic_differentiation(spread):
    """Also far outside the event of Lemma E.3, where filters change cones."""
    setting = dataclasses.replace(SMALL, spread=spread)
    ours = trace(setting)
    n_steps = ours.s_plus.shape[1] - 1
    plain = plain_trace(setting, ours.ending.start, points(*DIVERSE), n_steps)
    for field in dataclasses.fields(ours):
        mine, theirs = getattr(ours, field.name), getattr(plain, field.name)
        if isinstance(mine, dict):
            for group, pair in mine.items():
                assert np.array_equal(np.stack(pair)[..., :-1], np.stack(theirs[group])[..., :-1]), (field.name, group)
        elif isinstance(mine, np.ndarray):
            # The last column looks one step ahead, which the plain run does not take.
            np.testing.assert_allclose(mine[:, :-1], theirs[:, :-1], atol=1e-7, err_msg=field.name)
    assert np.array_equal(ours.ending.steps, plain.ending.steps)
    if spread > 1:
        assert (ours.w_moved > 0).any()
        assert (ours.u13[:, 1:] > 0).any()


def test_it_ends_where_training_on_pattern_sets_ends():
    setting = Setting(half_width=16, step_constant=1 / 41, margin=8.0, n_runs=12, seed=1)
    ending = finish(setting)
    eta = setting.step_size
    filters = jnp.asarray(eta * ending.start @ PATTERNS[:2] / 2)
    votes = jnp.broadcast_to(plus_minus(32, 1.0, jnp.float64), (12, 32))
    counts = np.zeros((12, 15), int)
    counts[:, [DIVERSE_POSITIVE, DIVERSE_NEGATIVE]] = 6
    other = train_patterns(
        ConvMaxPool(filters, votes), counts, eta, margin=8.0, max_steps=setting.max_steps, patience=None
    )
    assert np.array_equal(ending.steps, other.zero_loss_step)
    np.testing.assert_allclose(eta * ending.filters(), other.network.filters, atol=1e-12)
    np.testing.assert_allclose(eta * ending.outputs(), other.outputs, atol=1e-11)
    assert ending.converged.all()


def test_finish_is_the_end_of_the_trace():
    ending, traced = finish(SMALL), trace(SMALL).ending
    assert np.array_equal(ending.end, traced.end)
    assert np.array_equal(ending.steps, traced.steps)
    assert np.array_equal(ending.status, traced.status)
    last = np.take_along_axis(trace(SMALL).s_plus, traced.steps[:, None], axis=1)[:, 0]
    from_end = [np.abs(row[:4][np.abs(row[:4, 0]) > np.abs(row[:4, 1])][:, 0]).sum() for row in ending.end]
    assert np.array_equal(last, from_end)


def test_nothing_is_rounded():
    """Fits differ from their start by whole multiples of 2, sums are multiples of the grid."""
    seen = trace(SMALL)
    lattice = (seen.ending.end - seen.ending.start) / 2
    assert np.array_equal(lattice, np.round(lattice))
    assert np.array_equal(seen.n_plus / GRID, np.round(seen.n_plus / GRID))


def test_without_a_positive_filter_a_run_stalls_at_loss_gamma_plus_one():
    """W13(0) = ∅: from t = 1 on the two active points cancel, and N(x⁺) = N(x⁻)."""
    setting = dataclasses.replace(SMALL, n_positive=0)
    seen = trace(setting)
    assert (seen.ending.status == RunStatus.STALLED).all()
    assert (seen.ending.steps <= 1).all()
    end = np.arange(6), seen.ending.steps
    assert np.array_equal(seen.n_plus[end], seen.n_minus[end])


@pytest.mark.parametrize("n_positive", [1, 4])
def test_the_number_of_positive_filters_can_be_prescribed(n_positive):
    setting = dataclasses.replace(SMALL, n_positive=n_positive, n_minus_positive=4 - n_positive)
    fits = draw_fits(setting)
    assert (in_positive_cone(fits[:, :4]).sum(axis=1) == n_positive).all()
    assert (in_positive_cone(fits[:, 4:]).sum(axis=1) == 4 - n_positive).all()
    assert np.array_equal(np.sort(np.abs(fits)), np.sort(np.abs(draw_fits(SMALL))))


def test_a_run_does_not_depend_on_its_batch(monkeypatch):
    """More runs than one block holds, against one run alone."""
    many = dataclasses.replace(SMALL, n_runs=8, seed=5)
    fits = draw_fits(many)
    alone = follow(many, fits[7:])
    monkeypatch.setattr(traces, "BLOCK", 6)
    together = follow(many, fits)
    length = alone.s_plus.shape[1]
    assert np.array_equal(together.s_plus[7, :length], alone.s_plus[0])
    assert (together.s_plus[7, length:] == alone.s_plus[0, -1]).all()
    assert together.ending.steps[7] == alone.ending.steps[0]
    assert len(together.s_plus) == len(together.ending.steps) == len(together.ending.end) == 8
    assert np.array_equal(draw_fits(many), fits)


def test_updates_count_the_steps_before():
    """n(0) = 0 and the paper's a⁺(0) = 1."""
    seen = trace(SMALL)
    assert (seen.updates[:, 0] == 0).all()
    assert np.array_equal(seen.updates[:, 5], seen.plus_active[:, :5].sum(axis=1))


def test_the_event_of_lemma_e_3_is_read_off_the_start():
    fits = draw_fits(SMALL)
    assert trace(SMALL).ending.in_event.all()
    fits[0, 0, 0] = 0.36
    fits[1, 0] = (0.25, -0.25)
    fits[2, 0, 1] = 0.0
    fits = np.round(fits / GRID) * GRID
    assert follow(SMALL, fits).ending.in_event.tolist() == [False] * 3 + [True] * 3


def test_what_would_round_is_refused():
    fits = draw_fits(SMALL)
    with pytest.raises(ValueError, match="multiples of GRID"):
        follow(SMALL, fits + GRID / 4)
    with pytest.raises(ValueError, match="not exact"):
        follow(dataclasses.replace(SMALL, step_constant=1e-6), fits)
    with pytest.raises(ValueError, match="shape"):
        follow(SMALL, fits[:, :5])
