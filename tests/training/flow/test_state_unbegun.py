"""The state of a flow before its first step: what it has room for, and that nothing is written there yet."""

import jax.numpy as jnp
import numpy as np

from widenet.training.flow.state import KEPT, unbegun
from widenet.types import RunStatus


def test_there_is_room_for_sixteen_episodes_and_for_every_neuron_sample_and_slot():
    state = unbegun(2, 3, 5, ("high", "low"), jnp.float64)
    sliding, pattern = state.report.sliding, state.pattern
    assert KEPT == 16
    assert {part.shape for part in (sliding.begun, sliding.ended, sliding.neuron, sliding.sample)} == {(16,)}
    assert (pattern.sides.shape, pattern.slots.shape, pattern.inverse.shape) == ((2, 3), (2, 5), (2, 5, 5))
    assert (state.reach.shape, pattern.episodes.shape) == ((2,), (2, 5))
    assert sorted(state.report.events) == ["high", "low"]


def test_nobody_has_met_a_kink():
    report = unbegun(2, 3, 5, ("low",), jnp.float64).report
    assert (int(report.status), float(report.now.reading), float(report.now.log_time)) == (
        RunStatus.RUNNING,
        0,
        -np.inf,
    )
    nobody = (report.crossings.neuron, report.crossings.sample, report.corners.neuron)
    assert [int(each) for each in nobody] == [-1, -1, -1]
    np.testing.assert_array_equal(np.stack([report.sliding.neuron, report.sliding.sample]), np.full((2, 16), -1))
