"""The plane on which points are drawn, where there is hardly one."""

import numpy as np
import pytest

from widenet.certificates.making import certify


@pytest.mark.parametrize("step", [0.0, 1.0, 1e-90], ids=["one place", "two places", "two places nearly one"])
def test_points_without_spread_have_a_plane(step):
    labels = ["b", "a", "b", "b", "a", "b"]
    points = np.where(np.array(labels)[:, None] == "a", step, 0.0) * np.ones(3)
    assert certify(points, labels, scaling="none")
