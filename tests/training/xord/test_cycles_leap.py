"""One lane at the end of a cycle that has been checked: when its copies are leapt over, and when not."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.training.xord import cycles
from widenet.training.xord.cycles import CHECK, LARGEST, SEARCH, Cycle, LeapRule, Seen

COPIES = 7


@functools.cache
def compiled():
    return jax.jit(cycles.leap)


def after_a_cycle(first, second, drifts, known=None, phase=CHECK):
    """(weights, copies) after the leap. Two channels moved by `drifts`, and by `known` in the cycle before."""
    first, second = np.array(first, float), np.array(second, float)
    drifts = np.array(drifts, float)
    before = drifts if known is None else np.array(known, float)
    begun, begun_too = (
        jnp.asarray((part - drift)[:, None]) for part, drift in zip((first, second), drifts, strict=True)
    )
    drift, drift_too = (jnp.asarray(part[:, None]) for part in before)
    one = jnp.ones(1, jnp.int32)
    cycle = Cycle(phase * one, one, begun, begun_too, drift, drift_too, jnp.ones(1, bool))
    table, slope = jnp.zeros((cycles.LONGEST, 1)), jnp.full(1, -0.5)
    seen = Seen(table, table.astype(jnp.int32), 0 * one, jnp.full(1, float(COPIES)), slope, slope)
    rule = LeapRule(jnp.ones(1, bool), jnp.bool_(False), 0 * one, 100 * one)
    here = jnp.asarray(first[:, None]), jnp.asarray(second[:, None])
    moved, moved_too, copies, *_ = compiled()(cycle, seen, *here, rule)
    return np.stack([moved[:, 0], moved_too[:, 0]]), int(copies[0])


@pytest.mark.parametrize("part", [0, 1])
@pytest.mark.parametrize("channel", [0, 1])
def test_every_weight_must_have_moved_as_before(part, channel):
    drifts = np.array([[0.5, -0.25], [0.25, 1.0]])
    weights, copies = after_a_cycle([3, -2], [1, 4], drifts)
    assert copies == COPIES
    np.testing.assert_array_equal(weights, [[3 + 7 * 0.5, -2 - 7 * 0.25], [1 + 7 * 0.25, 4 + 7 * 1.0]])
    known = drifts.copy()
    known[part, channel] += 0.25
    weights, copies = after_a_cycle([3, -2], [1, 4], drifts, known)
    assert copies == 0
    np.testing.assert_array_equal(weights, [[3, -2], [1, 4]])


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("shares", [(1.0, 0.0), (0.0, 1.0), (0.5, 0.5), (0.25, 0.75)])
def test_sums_stay_below_the_largest(shares, sign):
    """All absolute weights together, after the leap: 512 is too much, a sixteenth less is not."""
    for room, copies in ((0.0, 0), (0.0625, COPIES)):
        size = (LARGEST - COPIES - room) * np.array(shares)
        first, second = [0.0, sign * size[0]], [-sign * size[1], 0.0]
        drifts = [[0.0, sign * shares[0]], [-sign * shares[1], 0.0]]
        weights, found = after_a_cycle(first, second, drifts)
        assert found == copies
        np.testing.assert_array_equal(weights, np.array([first, second]) + copies * np.array(drifts))


@pytest.mark.parametrize("part", [0, 1])
def test_nothing_is_added_where_no_leap_is_taken(part):
    """Not even 0 copies of an infinite drift, which are no number."""
    drifts = np.zeros((2, 2))
    drifts[part, 1] = np.inf
    weights, copies = after_a_cycle([3, -2], [1, 4], drifts, phase=SEARCH)
    assert copies == 0
    np.testing.assert_array_equal(weights, [[3, -2], [1, 4]])
