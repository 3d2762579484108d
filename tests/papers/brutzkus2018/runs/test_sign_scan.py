"""The scan of step sizes: what is tried, what is chosen."""

import dataclasses

import numpy as np
import pytest

from tests.papers.brutzkus2018 import toys
from widenet.papers.brutzkus2018.runs import sign_scan
from widenet.papers.brutzkus2018.runs.mnist import OutputRatios
from widenet.papers.brutzkus2018.runs.sign_scan import (
    NOT_TRIED,
    PILOT_RUN,
    run_sign_scan,
    sign_scan_settings,
)
from widenet.progress import silent
from widenet.records import Scale
from widenet.types import RunStatus


@pytest.mark.parametrize("width", toys.WIDTHS)
def test_the_step_size_is_the_largest_whose_pilot_keeps_the_signs(width):
    scan = toys.scan(width)
    assert scan.tried[: scan.chosen + 1].all()
    assert not scan.tried[scan.chosen + 1 :].any()
    assert np.isnan(scan.smallest_ratios[scan.chosen + 1 :]).all()
    assert list(np.flatnonzero(scan.suitable)) == [scan.chosen]
    assert scan.runs.setting.step_size == scan.setting.step_sizes[scan.chosen]
    assert scan.chosen > 0  # the largest of the list changes signs


def test_a_sign_that_changes_in_the_first_epoch_spares_the_rest():
    scan = toys.scan(8)
    assert (scan.smallest_ratios[0] <= 0).any()
    assert (scan.status[0] == RunStatus.BUDGET_SPENT).all()


def test_without_a_suitable_step_size_the_smallest_is_run():
    scan = toys.scan(4, step_sizes=(3.0, 2.0), max_epochs=5)
    assert not scan.suitable.any()
    assert scan.tried.all()
    assert scan.chosen == 1
    assert scan.runs.setting.step_size == 2.0


def test_signs_that_are_kept_without_zero_loss_do_not_suit(monkeypatch):
    """At the first step size every ratio stays 1 and the loss does not vanish: the next one is tried and taken."""
    known = toys.scan(4)

    def run(setting, progress):
        ones, looks = np.ones(2), np.ones_like(known.runs.train_error)
        unsolved = setting.step_size == 3.0 and setting.first_run == PILOT_RUN
        status = np.full(2, RunStatus.BUDGET_SPENT if unsolved else RunStatus.CONVERGED)
        ratios = OutputRatios(looks, looks, ones, ones)
        return dataclasses.replace(known.runs, setting=setting, status=status, ratios=ratios)

    monkeypatch.setattr(sign_scan, "run_mnist", run)
    scan = run_sign_scan(known.setting, silent)
    assert scan.keeps_signs.tolist() == [True, True, False]
    assert (scan.chosen, scan.runs.setting.step_size) == (1, known.setting.step_sizes[1])


def test_control_a_nan_keeps_no_sign():
    scan = toys.scan(4)
    ratios = scan.smallest_ratios.copy()
    ratios[scan.chosen, 0] = np.nan
    assert not dataclasses.replace(scan, smallest_ratios=ratios).suitable.any()


@pytest.mark.parametrize("pilot", [0, 1])
def test_every_pilot_has_to_keep_its_signs_and_to_reach_loss_0(pilot):
    scan = toys.scan(4)
    ratios, status = scan.smallest_ratios.copy(), scan.status.copy()
    ratios[scan.chosen, pilot], status[scan.chosen, pilot] = -0.5, RunStatus.STALLED
    assert not dataclasses.replace(scan, smallest_ratios=ratios).keeps_signs.any()
    unsolved = dataclasses.replace(scan, status=status)
    assert np.flatnonzero(unsolved.keeps_signs).tolist() == [scan.chosen]
    assert not unsolved.suitable.any()


@pytest.mark.parametrize("pilot", [0, 1])
def test_one_pilot_that_changes_a_sign_late_is_enough_to_try_the_next_step_size(pilot, monkeypatch):
    """At the first step size one of two pilots has c = −½, but after its first epoch only."""
    known = toys.scan(4)

    def run(setting, progress):
        ones, looks, smallest = np.ones(2), np.ones_like(known.runs.train_error), np.ones(2)
        if setting.step_size == known.setting.step_sizes[0] and setting.max_epochs > 1:
            smallest[pilot] = -0.5
        status = np.full(2, RunStatus.CONVERGED)
        ratios = OutputRatios(looks, looks, smallest, ones)
        return dataclasses.replace(known.runs, setting=setting, status=status, ratios=ratios)

    monkeypatch.setattr(sign_scan, "run_mnist", run)
    scan = run_sign_scan(known.setting, silent)
    assert scan.smallest_ratios[0, pilot] == -0.5
    assert (scan.keeps_signs.tolist(), scan.chosen) == ([False, True, False], 1)


def test_pilots_are_other_runs():
    setting = toys.scan(4).setting
    assert setting.pilots(0.3, 7).first_run == PILOT_RUN
    assert setting.runs(0.3).first_run == 0
    assert setting.pilots(0.3, 7).max_epochs == 7


def test_progress_ends_at_one():
    seen = []
    setting = toys.scan(4).setting.model_copy(update={"step_sizes": (0.1,)})
    scan = run_sign_scan(setting, lambda done, words: seen.append(done))
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1)
    assert NOT_TRIED not in scan.status


def test_paper_scale_has_forty_runs_of_each_width():
    assert [setting.n_runs for setting in sign_scan_settings(Scale.PAPER, 0)] == [40, 40, 40]
