"""Steps in the span of the data: what a block adds, which rows can move, and twins in batches."""

import numpy as np
import pytest

from tests.training.kernels.test_blocked_steps import hold_ones, hold_rows_that_move, trained
from tests.training.problems import separable
from widenet.losses import hinge
from widenet.training.kernels import gram


@pytest.mark.parametrize("hold", [hold_ones, hold_rows_that_move])
def test_gram(hold):
    hold("gram")


def test_samples_of_a_batch_that_cancel_each_other_are_no_update():
    """Equal samples with other labels, then one that moves."""
    inputs, labels = [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [1.0, -1.0, 1.0, 1.0]
    rows, _, counts = trained("gram", hinge, inputs, labels, [[0.25, 0.5, -0.5]], [1.0], None, 2, batch=2)
    np.testing.assert_array_equal(rows, [[0.25, 1.0, -0.25]])
    assert counts == [1, 2, 2]


def test_it_pays_with_fewer_samples_than_dimensions():
    assert [gram.pays(separable(count, 5)) for count in (4, 5, 6)] == [True, False, False]
