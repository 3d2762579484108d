"""Three networks with zero training loss on the same data."""

import numpy as np
import pytest

from widenet.papers.brutzkus2018.runs.bad_global_minimum import BadMinimumSetting, run_bad_minimum
from widenet.progress import silent


@pytest.fixture(scope="module")
def found():
    return run_bad_minimum(BadMinimumSetting(multiples=(1, 2), n_sets=2, n_train=30, n_test=30, dim=10), silent)


def test_margins_say_what_was_asked_for(found):
    np.testing.assert_allclose(found.margins[0, :, :, :30], 2, rtol=1e-5)
    np.testing.assert_allclose(found.margins[0, :, :, 30:], -2, rtol=1e-5)
    np.testing.assert_allclose(found.margins[1, :, :, :30], 2, rtol=1e-5)
    assert (found.margins[2, :, :, :30] >= 1).all()
    assert found.trained_to_the_end.all()
    assert (found.smallest_margin >= 1).all()


def test_loss_and_error_follow_from_the_margins(found):
    assert found.train_loss.shape == found.test_error.shape == (3, 2, 2)
    assert (found.train_loss == 0).all()
    assert (found.test_error[0] == 1).all()
    assert (found.test_error[2] == (found.margins[2, :, :, 30:] <= 0).mean(axis=2)).all()


def test_widths_are_multiples_of_what_theorem_7_asks_for(found):
    assert found.setting.half_widths == [8, 16]
