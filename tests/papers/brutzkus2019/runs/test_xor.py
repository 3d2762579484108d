"""The XOR program against plain gradient descent by automatic differentiation, and its starts."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.papers.brutzkus2019.claims.xor_toys import solution_start
from widenet.diagnostics.exploration import XOR_LABELS, XOR_POINTS, half_planes, plus_and_minus
from widenet.networks import ConvMaxPool
from widenet.papers.brutzkus2019.runs.xor import XorTrace, run_xor, trace_xor, xor_traces
from widenet.papers.brutzkus2019.runs.xor_networks import outputs
from widenet.papers.brutzkus2019.xor_sources import (
    XorSetting,
    XorStart,
    draw_xor_start,
    octant_setting,
)
from widenet.progress import silent
from widenet.run.records import decode, encode
from widenet.types import RunStatus


def plain_path(start, n_steps):
    """Weights (t, run, filter, 2): the sum of the four hinge losses, differentiated through the network."""
    votes = jnp.asarray(np.repeat([1.0, -1.0], start.half_width))

    def loss(filters):
        values = jax.vmap(ConvMaxPool(filters, votes))(jnp.asarray(XOR_POINTS))
        slack = 1 - XOR_LABELS * values
        return jnp.sum(jnp.where(slack > 0, slack, 0.0))

    def step(filters, _):
        return filters - start.step_size * jax.vmap(jax.grad(loss))(filters), filters

    _, path = jax.jit(lambda first: jax.lax.scan(step, first, length=n_steps + 1))(jnp.asarray(start.filters))
    return np.asarray(path)


@pytest.mark.parametrize(("half_width", "step_constant"), [(2, 0.1), (17, 0.1), (17, 0.03)])
def test_every_step_agrees_with_automatic_differentiation(half_width, step_constant):
    start = draw_xor_start(half_width, step_constant, 20, 3)
    run = trace_xor(start)
    path = plain_path(start, len(run.margins) - 1) / start.step_size
    plus, minus = plus_and_minus(path)
    assert run.margins == pytest.approx(XOR_LABELS * outputs(plus, minus), abs=1e-9)
    end = (run.end @ XOR_POINTS[:2]).reshape(20, -1, 2) / 2
    assert path[-1] == pytest.approx(end, abs=1e-9)
    losses = np.maximum(1 - run.margins * start.step_size, 0).sum(axis=2)
    for number, steps in enumerate(run.steps):
        assert steps == 0 or losses[steps - 1, number] > 0
        assert np.array_equal(path[steps, number], path[-1, number])


def test_the_record_by_its_definition():
    """The extremes over own filters, written out for each point."""
    start = draw_xor_start(17, 0.1, 5, 4)
    run = trace_xor(start)
    path = plain_path(start, len(run.margins) - 1) / start.step_size
    for i, x in enumerate(XOR_POINTS):
        own = path[:, :, :17] if i % 2 == 0 else path[:, :, 17:]
        across = XOR_POINTS[1 - i % 2]
        member = half_planes(own[0])[..., i]
        for number in range(5):
            inside = own[:, number, member[number]]
            moved = (inside - inside[0]) / 2
            assert run.own_low[:, number, i] == pytest.approx((moved @ x).min(axis=1), abs=1e-6)
            assert run.own_high[:, number, i] == pytest.approx((moved @ x).max(axis=1), abs=1e-6)
            assert run.fit_low[:, number, i] == pytest.approx((inside @ x).min(axis=1), abs=1e-6)
            assert run.across_fit[:, number, i] == pytest.approx(np.abs(inside @ across).max(axis=1), abs=1e-6)
            against = -(moved @ across) * np.sign(inside[0] @ across)
            assert run.across_low[:, number, i] == pytest.approx(against.min(axis=1), abs=1e-6)
            assert run.across_high[:, number, i] == pytest.approx(against.max(axis=1), abs=1e-6)


def test_blocks_and_padding_change_nothing():
    start = draw_xor_start(3, 0.2, 300, 6)
    whole, part = trace_xor(start), trace_xor(XorStart(start.fits[260:270], start.step_size, start.step_constant))
    assert np.array_equal(whole.end[260:270], part.end)
    assert np.array_equal(whole.steps[260:270], part.steps)
    length = len(part.margins)
    assert np.array_equal(whole.margins[:length, 260:270], part.margins)


def test_a_solution_does_not_move():
    run = trace_xor(solution_start())
    assert run.steps.tolist() == [0]
    assert run.status.tolist() == [RunStatus.CONVERGED]
    assert run.margins[0] == pytest.approx(np.full((1, 4), 20.0))


def toy(step_size, plus, minus):
    return trace_xor(XorStart(np.array([[plus, minus]]) / 64, step_size, len(plus) * step_size))


def test_a_run_in_exact_fractions():
    """k = 3, η = 1/9; outputs, active points and T were worked out apart from the code."""
    run = toy(1 / 9, [(13, -7), (-5, 18), (-21, -2)], [(3, 11), (-17, -9), (8, -20)])
    outputs_at = {
        0: (1 / 288, 7 / 576, 1 / 64, -5 / 144),
        1: (5 / 96, 3 / 16, 37 / 576, -175 / 576),
        2: (43 / 96, -83 / 192, 521 / 576, -133 / 144),
        3: (143 / 288, -37 / 144, 61 / 64, -229 / 192),
        5: (653 / 576, -217 / 192, 197 / 144, -113 / 96),
    }
    for time, values in outputs_at.items():
        assert XOR_LABELS * run.margins[time, 0] / 9 == pytest.approx(values, rel=1e-14)
    assert run.active[:4, 0].tolist() == [[True] * 4] * 3 + [[True, True, True, False]]
    assert run.steps.tolist() == [5]
    assert run.updates.tolist() == [[5, 5, 4, 3]]
    assert run.final_loss.tolist() == [0]
    assert run.reached.all()


def test_a_run_that_stands_still_at_loss_1():
    """k = 2, η = 1/8: no w starts in the half-plane of x_3."""
    run = toy(1 / 8, [(13, -7), (5, 18)], [(3, 11), (-17, -9)])
    assert XOR_LABELS * run.margins[6, 0] / 8 == pytest.approx((21 / 16, -1, 0, -649 / 512), rel=1e-14)
    assert run.steps.tolist() == [6]
    assert run.updates.tolist() == [[3, 5, 7, 5]]
    assert run.final_loss.tolist() == [1]
    assert run.status.tolist() == [RunStatus.STALLED]
    assert not run.unfinished.any()
    assert not run.reached.any()


def test_a_cell_gives_back_what_was_traced():
    run = run_xor(XorSetting(half_width=3, step_constant=0.2, n_runs=10, seed=1), silent)
    arrays, layout = encode(run)
    again = decode(XorTrace, arrays, layout)
    assert np.array_equal(again.margins, run.margins)
    assert np.array_equal(again.fits, run.fits)
    assert (again.step_size, again.deviation) == (run.step_size, run.deviation)
    assert np.array_equal(again.end, run.end)
    assert xor_traces.result_type is XorTrace


def test_a_cell_of_every_octant():
    run = run_xor(octant_setting(0.1), silent)
    assert run.n_runs == 8**4
    assert np.isnan(decode(XorTrace, *encode(run)).deviation)


def test_progress_is_told_by_blocks_of_runs():
    told = []
    trace_xor(draw_xor_start(2, 0.1, 600), lambda fraction, words: told.append(fraction))
    assert told == pytest.approx([1 / 3, 2 / 3, 1])
