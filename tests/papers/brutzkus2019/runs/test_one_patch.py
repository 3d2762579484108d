"""XOR and XORD from the same start: both records are those of gradient descent."""

import dataclasses

import numpy as np
import pytest

from widenet.diagnostics.exploration import XOR_LABELS, XOR_POINTS
from widenet.papers.brutzkus2019.runs.one_patch import LABELS_OF_XORD, OnePatchSetting, one_patch
from widenet.progress import silent
from widenet.run.records import decode, encode

RECORD = one_patch.run(OnePatchSetting(half_width=3, n_runs=4), silent)


def test_one_step_of_xor_by_hand():
    """The sum of the gradients of the active points, filter by filter."""
    weights, step_size = RECORD.xor_weights, RECORD.step_constant / 3
    moved = np.zeros_like(weights[0])
    for x, y, output in zip(XOR_POINTS, XOR_LABELS, RECORD.xor_outputs[0].T, strict=True):
        active = (y * output < 1)[:, None, None]
        votes = np.repeat([1.0, -1.0], 3)[:, None]
        moved += active * (weights[0] @ x > 0)[..., None] * y * votes * x
    assert np.allclose(weights[1], weights[0] + step_size * moved, rtol=0, atol=1e-15)


def test_the_record_ends_when_nothing_moves():
    assert not RECORD.unfinished.any()
    assert RECORD.half_width == 3
    assert len(RECORD) == 4
    assert (RECORD.xord_weights[-3] != RECORD.xord_weights[-2]).any()


@pytest.mark.parametrize("channel", [0, 5])
def test_a_run_of_xord_that_moves_in_the_last_step_is_not_finished(channel):
    weights = RECORD.xord_weights.copy()
    weights[-1, 2, channel, 1] += 1e-9
    assert dataclasses.replace(RECORD, xord_weights=weights).unfinished.tolist() == [False, False, True, False]


def test_labels_of_one_patch():
    assert np.array_equal(LABELS_OF_XORD, XOR_LABELS)


def test_a_record_comes_back_from_its_cell():
    back = decode(one_patch.result_type, *encode(RECORD))
    assert np.array_equal(back.xor_weights, RECORD.xor_weights)
    assert back.step_ratio == 2
