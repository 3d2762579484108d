"""Updates at many step sizes."""

import numpy as np
import pytest

from widenet.papers.brutzkus2018.runs import step_sizes as module
from widenet.papers.brutzkus2018.runs.sgd import train_trials
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


def test_the_random_data_is_as_hard_as_the_basis(monkeypatch):
    """100 points in 16 dimensions with ‖w*‖ = 4 under Eq. 6; each power has its own starts."""
    seen = []

    def keep(trials, budgets, progress):
        seen.extend(trials)
        return train_trials(trials, budgets, progress=progress)

    monkeypatch.setattr(module, "train_trials", keep)
    run_step_sizes(StepSizeSetting(powers=(2, 3), n_runs=2), lambda done, words: None)
    assert [trial.step_size for trial in seen] == [4, 4, 8, 8]
    assert len({trial.hidden.tobytes() for trial in seen}) == 4
    for trial in seen:
        assert trial.parameters == pytest.approx((4, 0.5, trial.step_size, 0.25, 0.25, 8), rel=1e-12)
        assert trial.inputs.shape == (100, 16)
        assert 1 <= trial.smallest_margin < 1.2
        assert np.linalg.norm(trial.hidden, axis=1) == pytest.approx(np.full(16, 0.25), rel=1e-12)


def test_step_sizes_lie_on_both_sides_of_one():
    for scale in Scale:
        (setting,) = step_size_settings(scale, 0)
        assert np.prod(setting.step_sizes) == 1
