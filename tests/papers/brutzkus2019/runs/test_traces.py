"""Traces agree with automatic differentiation on real points, with training on pattern sets, and do not round."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from tests.papers.brutzkus2019.claims.plain import DIVERSE, plain_trace, points
from tests.papers.brutzkus2019.claims.settings import SMALL, toy, traced
from widenet.data.xord import DIVERSE_NEGATIVE, DIVERSE_POSITIVE, PATTERNS, set_index
from widenet.networks.conv_maxpool import ConvMaxPool
from widenet.networks.two_layer import plus_minus
from widenet.papers.brutzkus2019.runs.lattice import in_13
from widenet.papers.brutzkus2019.runs.traces import GRID, TraceSetting, draw_fits, follow, traces
from widenet.records import Scale
from widenet.run.records import decode, encode
from widenet.training.xord import train_patterns
from widenet.types import RunStatus


@pytest.mark.parametrize("spread", [1.0, 100.0])
def test_every_sum_at_every_step_is_that_of_automatic_differentiation(spread):
    """Also far outside the event of Lemma E.3, where filters change cones."""
    setting = SMALL.model_copy(update={"spread": spread})
    ours = traced(setting)
    n_steps = ours.s_plus.shape[1] - 1
    plain = plain_trace(setting, ours.start, points(*DIVERSE), n_steps)
    for field in dataclasses.fields(ours):
        mine, theirs = getattr(ours, field.name), getattr(plain, field.name)
        if isinstance(mine, dict):
            for group, pair in mine.items():
                assert np.array_equal(pair[..., :-1], theirs[group][..., :-1]), (field.name, group)
        elif isinstance(mine, np.ndarray) and mine.shape == ours.s_plus.shape:
            # The last column looks one step ahead, which the plain run does not take.
            np.testing.assert_allclose(mine[:, :-1], theirs[:, :-1], atol=1e-7, err_msg=field.name)
    assert np.array_equal(ours.steps, plain.steps)
    np.testing.assert_allclose(ours.end, plain.end, atol=1e-7)
    if spread > 1:
        assert (ours.w_moved > 0).any()
        assert (ours.u13[:, 1:] > 0).any()


def test_it_ends_where_training_on_pattern_sets_ends():
    setting = TraceSetting(half_width=16, step_constant=1 / 41, margin=8.0, n_runs=12, seed=1)
    trace = traced(setting)
    eta = setting.step_size
    filters = jnp.asarray(eta * trace.start @ PATTERNS[:2] / 2)
    votes = jnp.broadcast_to(plus_minus(32, 1.0, jnp.float64), (12, 32))
    counts = np.zeros((12, 15), int)
    counts[:, [DIVERSE_POSITIVE, DIVERSE_NEGATIVE]] = 6
    other = train_patterns(
        ConvMaxPool(filters, votes), counts, eta, margin=8.0, max_steps=setting.max_steps, patience=None
    )
    assert np.array_equal(trace.steps, other.zero_loss_step)
    np.testing.assert_allclose(eta * trace.end @ PATTERNS[:2] / 2, other.network.filters, atol=1e-12)
    np.testing.assert_allclose(eta * trace.outputs(), other.outputs, atol=1e-11)
    assert trace.converged.all()


@pytest.mark.parametrize(
    ("name", "steps", "phases", "outputs"),
    [
        (
            "D2",
            25,
            "bbbbbbbbbbmbmbbbmbmpmpmpm.",
            "-7/64 0 9/4 -289/256 -7/64 137/64 -289/256 9/4 -289/256 581/512 137/64 -289/256 581/512 581/512 581/512",
        ),
        (
            "D3",
            46,
            "bbbbbbbbbbbbbbbbbbbbbbbbbmbmbbbbbmbmpmpmpmpmpm.",
            "1159/384 0 -39/512 -137/128 1159/384 4519/1536 989/512 -39/512 -137/128 -137/128 4519/1536 989/512 "
            "989/512 -137/128 989/512",
        ),
        (
            "D4",
            20,
            "bbbbbbbbbmbmbmbmpmmp.",
            "1677/1024 -635/1024 1801/1024 -525/1024 145/128 1739/512 1157/1024 581/512 -145/128 319/256 2957/1024 5/8 "
            "1479/512 637/1024 2437/1024",
        ),
    ],
)
def test_runs_that_were_followed_in_fractions(name, steps, phases, outputs):
    """Which points are active at each t (both, only x⁻ or x⁺, none), and N on all sets at the end."""
    trace = toy(name)
    assert trace.steps.tolist() == [steps]
    letters = np.array([".", "m", "p", "b"])
    assert "".join(letters[2 * trace.plus_active[0] + trace.minus_active[0]]) == phases
    sets = [1, 2, 3, 4, 12, 13, 14, 23, 24, 34, 123, 124, 134, 234, 1234]
    places = [set_index(*map(int, str(held))) for held in sets]
    expected = [int(top) / int(bottom or 1) for top, _, bottom in (word.partition("/") for word in outputs.split())]
    np.testing.assert_allclose(trace.outputs()[0, places] * trace.setting.step_size, expected, atol=1e-12)


def test_places_of_filters_that_were_followed_in_fractions():
    """D2, (A, B) of each filter at t = 1 and t = 25, read from the record of its group."""
    trace = toy("D2")
    for t, places in ((1, [(1, -1), (0, 0), (0, 0), (-1, 1)]), (25, [(18, 0), (0, 0), (0, 4), (-1, 5)])):
        for group, (a, b) in zip(("w13", "w24", "u24", "u13"), places, strict=True):
            assert trace.a_range[group][..., t].tolist() == [[a], [a]], (t, group)
            assert trace.b_range[group][..., t].tolist() == [[b], [b]], (t, group)


def test_the_end_is_what_the_last_column_sums():
    trace = traced(SMALL)
    sizes = np.abs(trace.end[:, :4])
    in_cone = sizes[..., 0] > sizes[..., 1]
    assert np.array_equal(trace.at_end(trace.s_plus), np.where(in_cone, sizes[..., 0], 0).sum(axis=1))


def test_nothing_is_rounded():
    """Fits differ from their start by whole multiples of 2, sums are multiples of the grid."""
    trace = traced(SMALL)
    lattice = (trace.end - trace.start) / 2
    assert np.array_equal(lattice, np.round(lattice))
    assert np.array_equal(trace.n_plus / GRID, np.round(trace.n_plus / GRID))


def test_without_a_positive_filter_a_run_stalls_at_loss_gamma_plus_one():
    """W13(0) = ∅: from t = 1 on the two active points cancel, and N(x⁺) = N(x⁻)."""
    trace = traced(SMALL.model_copy(update={"n_positive": 0}))
    assert (trace.status == RunStatus.STALLED).all()
    assert (trace.steps <= 1).all()
    assert np.array_equal(trace.at_end(trace.n_plus), trace.at_end(trace.n_minus))


@pytest.mark.parametrize("n_positive", [1, 4])
def test_the_number_of_positive_filters_can_be_prescribed(n_positive):
    setting = SMALL.model_copy(update={"n_positive": n_positive, "n_minus_positive": 4 - n_positive})
    fits = draw_fits(setting)
    positive = in_13(fits[..., 0], fits[..., 1])
    assert (positive[:, :4].sum(axis=1) == n_positive).all()
    assert (positive[:, 4:].sum(axis=1) == 4 - n_positive).all()
    assert np.array_equal(np.sort(np.abs(fits)), np.sort(np.abs(draw_fits(SMALL))))


def test_a_run_does_not_depend_on_its_batch():
    """Eight runs together, one of them alone, and the same runs cut into cells."""
    many = SMALL.model_copy(update={"n_runs": 8, "seed": 5})
    fits = draw_fits(many)
    together, alone = follow(many, fits), follow(many, fits[7:])
    length = alone.s_plus.shape[1]
    assert np.array_equal(together.s_plus[7, :length], alone.s_plus[0])
    assert (together.s_plus[7, length:] == alone.s_plus[0, -1]).all()
    assert together.steps[7] == alone.steps[0]
    pieces = many.in_cells_of(3)
    assert [piece.n_runs for piece in pieces] == [3, 3, 2]
    assert np.array_equal(np.concatenate([draw_fits(piece) for piece in pieces]), fits)


def test_updates_count_the_steps_before():
    """n(0) = 0 and the paper's a⁺(0) = 1."""
    trace = traced(SMALL)
    assert (trace.updates[:, 0] == 0).all()
    assert np.array_equal(trace.updates[:, 5], trace.plus_active[:, :5].sum(axis=1))


def test_the_event_of_lemma_e_3_is_read_off_the_start():
    fits = draw_fits(SMALL)
    assert traced(SMALL).in_event.all()
    fits[0, 0, 0] = 0.36
    fits[1, 0] = (0.25, -0.25)
    fits[2, 0, 1] = 0.0
    fits[3, 5, 1] = -0.36  # a u
    fits[4, 7] = (-0.25, 0.25)
    fits = np.round(fits / GRID) * GRID
    assert follow(SMALL, fits).in_event.tolist() == [False] * 5 + [True]


def test_what_would_round_is_refused():
    fits = draw_fits(SMALL)
    with pytest.raises(ValueError, match="multiples of GRID"):
        follow(SMALL, fits + GRID / 4)
    with pytest.raises(ValueError, match="not exact"):
        follow(SMALL.model_copy(update={"step_constant": 1e-6}), fits)
    with pytest.raises(ValueError, match="shape"):
        follow(SMALL, fits[:, :5])


def test_a_trace_survives_its_cell():
    trace = traced(SMALL)
    arrays, layout = encode(trace)
    again = decode(traces.result_type, arrays, layout)
    assert again.setting == SMALL
    assert np.array_equal(again.n_plus, trace.n_plus)
    assert all(np.array_equal(again.b_range[group], values) for group, values in trace.b_range.items())


def test_cells_stay_small():
    """164 bytes per run and step, and at most some 5000 or 700 steps: below 30 MB also at the sizes of the paper."""
    arrays, _ = encode(traced(SMALL))
    over_time = [array for array in arrays.values() if array.shape[-1:] == (traced(SMALL).s_plus.shape[1],)]
    per_step = sum(array.nbytes for array in over_time) / traced(SMALL).s_plus.size
    assert per_step <= 164
    for scale in Scale:
        for setting in traces.settings(scale, 0):
            expected_steps = 2 * (setting.margin + 1) / setting.step_constant
            assert setting.n_runs * expected_steps * per_step < 3.5e7, setting
