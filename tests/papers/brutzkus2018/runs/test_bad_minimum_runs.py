"""Two networks on the same points."""

import numpy as np

from widenet.papers.brutzkus2018.runs.bad_minimum_runs import BadGlobalSetting, run_bad_globals
from widenet.progress import silent


def test_one_is_wrong_where_the_other_is_right():
    (case,) = run_bad_globals(BadGlobalSetting(shapes=((40, 8),)), silent).cases
    assert case.n_train == 20
    np.testing.assert_allclose(case.built, np.repeat([2.0, -2.0], 20), atol=1e-5)
    assert (case.trained[:20] >= 1).all()
    assert case.trained_to_the_end
