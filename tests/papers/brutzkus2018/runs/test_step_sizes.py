"""Updates at many step sizes."""

import numpy as np

from widenet.papers.brutzkus2018.runs.step_sizes import StepSizeSetting, run_step_sizes, step_size_settings
from widenet.records import Scale
from widenet.types import RunStatus


def test_each_basis_vector_is_updated_once_by_a_long_step():
    seen = []
    setting = StepSizeSetting(powers=(0, 3), n_runs=2)
    runs = run_step_sizes(setting, lambda done, words: seen.append(done))
    assert runs.basis_updates[1] == setting.dim < runs.basis_updates[0]
    assert (runs.status == RunStatus.CONVERGED).all()
    assert runs.updates.shape == (2, 2)
    assert seen == sorted(seen)
    assert seen[-1] == 1


def test_step_sizes_lie_on_both_sides_of_one():
    for scale in Scale:
        (setting,) = step_size_settings(scale, 0)
        assert np.prod(setting.step_sizes) == 1
