"""Section 6.2: what networks that fit any labels say about zero training loss."""

import dataclasses

import numpy as np
import pytest

from tests.control_table import at, controls
from tests.controls import answers_in
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims import expressiveness
from widenet.papers.brutzkus2018.claims.expressiveness import (
    section_6_2_bad_global,
    theorem_7,
    theorem_7_bumps,
    theorem_7_sweep,
)
from widenet.papers.brutzkus2018.runs.bad_global_minimum import BadMinimumSetting, run_bad_minimum
from widenet.progress import silent


@pytest.fixture(scope="module")
def bad_global():
    """Two widths on two data sets, forty points to train on and forty to test on."""
    setting = BadMinimumSetting(n_train=40, n_test=40, dim=10, multiples=(1, 2), n_sets=2, separator_norm=6.0)
    return run_bad_minimum(setting, silent)


def judged(run, **changes):
    return section_6_2_bad_global([dataclasses.replace(run, **changes)])


def margins_with(run, solution, points, value):
    """One network of this kind with other margins."""
    margins = run.margins.copy()
    margins[solution, 0, 1, points] = value
    return margins


def test_bad_global_minima_exist(bad_global):
    evidence = judged(bad_global)
    assert evidence.verdict is Verdict.HOLDS
    assert (evidence.promised, evidence.measured) == (1, 1)
    assert evidence.runs.tried == 4


def test_control_bad_global_by_sgd(bad_global):
    """SGD reaches loss 0 on the same points, with a test error far below 1."""
    swapped = bad_global.margins.copy()
    swapped[0] = swapped[2]
    evidence = judged(bad_global, margins=swapped)
    assert evidence.verdict is Verdict.VIOLATED
    assert answers_in(evidence) == [False, True, True, True]
    assert evidence.measured is not None
    assert evidence.measured < 0.3


def test_weights_not_found_and_training_cut_off_decide_nothing(bad_global):
    lost = np.array([[0.0, 1.0], [0.0, 0.0]])
    assert answers_in(judged(bad_global, fit_error=lost)) == [None, None, True, True]
    assert answers_in(judged(bad_global, trained_to_the_end=lost == 0)) == [True, True, None, None]


GLOBAL = run_bad_minimum(
    BadMinimumSetting(n_train=40, n_test=40, dim=10, multiples=(1, 2), n_sets=2, separator_norm=6.0), silent
)


def changed(solution, points, value):
    """Other margins of one network."""
    return at(dataclasses.replace(GLOBAL, margins=margins_with(GLOBAL, solution, points, value)))


def with_margin(value):
    """The smallest margin of one data set."""
    return {"smallest_margin": np.array([2.0, value])}


def wrong_on(count):
    """Margins of the test points, so many of which are wrong."""
    return np.where(np.arange(40) < count, -1.0, 1.0)


BAD, TEST = section_6_2_bad_global, slice(40, 80)
test_control = controls(
    expressiveness,
    GLOBAL,
    (BAD, "built_error", changed(0, 60, 0.0), changed(0, 60, 0.1)),
    (BAD, "built_loss", changed(0, 5, 1.0), changed(0, 5, 1 - 5e-12)),
    (BAD, "sgd_loss", changed(2, 5, 1.0), changed(2, 5, 1 - 5e-12)),
    (BAD, "sgd_error", changed(2, TEST, wrong_on(20)), changed(2, TEST, wrong_on(21))),
    (BAD, "separable", with_margin(1 - 5e-13), with_margin(1 - 5e-12)),
    but=(theorem_7, theorem_7_sweep, theorem_7_bumps),
)


def test_control_a_network_of_zeros_has_learned_nothing():
    zeros = dataclasses.replace(GLOBAL, margins=margins_with(GLOBAL, 2, slice(None), 0.0))
    assert answers_in(section_6_2_bad_global([zeros])) == [True, True, False, False]


def test_the_width_is_that_of_all_points_together():
    """80 points in 10 dimensions: k = 2⌈80/18⌉ = 10; for the 40 training points alone it were 6."""
    assert GLOBAL.setting.half_widths == [10, 20]
    assert expressiveness.Solutions.join([GLOBAL]).spare[0] == 0
