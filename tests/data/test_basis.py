import numpy as np
import pytest

from widenet.data import make_basis


def test_separator_has_margin_one_everywhere():
    basis = make_basis(5)
    points = basis.points
    np.testing.assert_array_equal(points.inputs, np.eye(5))
    np.testing.assert_array_equal(points.labels * (points.inputs @ basis.separator), np.ones(5))


def test_no_dimension_is_refused():
    with pytest.raises(ValueError, match="got 0"):
        make_basis(0)
