"""The XOR program against plain gradient descent by automatic differentiation, and its starts."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.diagnostics.exploration import XOR_LABELS, XOR_POINTS, half_planes, plus_and_minus, sizes
from widenet.networks import ConvMaxPool
from widenet.papers.brutzkus2019.claims.xor_narrow import outputs
from widenet.papers.brutzkus2019.runs.xor import XorStart, draw_start, every_octant, solution_start, trace
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
    start = draw_start(half_width, step_constant, 20, 3)
    run = trace(start)
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
    start = draw_start(17, 0.1, 5, 4)
    run = trace(start)
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


def test_counts_are_those_of_the_half_planes():
    start = draw_start(17, 0.1, 50, 5)
    plus, minus = (sizes(half_planes(half)) for half in plus_and_minus(start.filters))
    odd = np.arange(4) % 2 == 0
    assert np.array_equal(start.own_counts, np.where(odd, plus, minus))
    assert np.array_equal(start.opposing_counts, np.where(odd, minus, plus))


def test_blocks_and_padding_change_nothing():
    start = draw_start(3, 0.2, 300, 6)
    whole, part = trace(start), trace(XorStart(start.fits[260:270], start.step_size, start.step_constant))
    assert np.array_equal(whole.end[260:270], part.end)
    assert np.array_equal(whole.steps[260:270], part.steps)
    length = len(part.margins)
    assert np.array_equal(whole.margins[:length, 260:270], part.margins)


def test_every_octant_once():
    start = every_octant(0.1)
    assert start.n_runs == 8**4
    signs = np.concatenate([start.fits > 0, np.abs(start.fits[..., :1]) > np.abs(start.fits[..., 1:])], axis=-1)
    assert len(np.unique(signs.reshape(8**4, -1), axis=0)) == 8**4
    assert start.in_event.all()


def test_a_solution_does_not_move():
    run = trace(solution_start())
    assert run.steps.tolist() == [0]
    assert run.status.tolist() == [RunStatus.CONVERGED]
    assert run.margins[0] == pytest.approx(np.full((1, 4), 20.0))


def test_control_starts_that_are_not_numbers_or_too_large_are_refused():
    with pytest.raises(ValueError, match="finite"):
        XorStart(np.full((1, 2, 2, 2), np.nan), 0.05, 0.1)
    with pytest.raises(ValueError, match="not exact"):
        XorStart(np.ones((1, 2, 2, 2)), 1e-7, 0.1)
