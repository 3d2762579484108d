"""Section 6.2: what networks that fit any labels say about zero training loss."""

import dataclasses

import numpy as np
import pytest

from tests.controls import answers_in, every_part_of, hypothesis_edges, lacking_in, part_edges
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims import expressiveness
from widenet.papers.brutzkus2018.claims.expressiveness import (
    section_6_2_bad_global,
    theorem_7,
    theorem_7_bumps,
    theorem_7_sweep,
)
from widenet.papers.brutzkus2018.formulas import printed_half_width
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


def global_with(solution=None, points=None, value=None, needed=printed_half_width, **changes):
    if solution is not None:
        changes["margins"] = margins_with(GLOBAL, solution, points, value)
    return section_6_2_bad_global([dataclasses.replace(GLOBAL, **changes)], needed=needed)


def at(solution, points, value):
    return {"solution": solution, "points": points, "value": value}


def wrong_on(count):
    """Margins of the test points, so many of which are wrong."""
    return np.where(np.arange(40) < count, -1.0, 1.0)


test_control_each_part_of_bad_global = part_edges(
    section_6_2_bad_global,
    global_with,
    {
        "the built network is wrong on every test point": (at(0, 60, 0.0), at(0, 60, 0.1)),
        "the built network has training loss 0": (at(0, 5, 1.0), at(0, 5, 1 - 5e-12)),
        "SGD reaches training loss 0": (at(2, 5, 1.0), at(2, 5, 1 - 5e-12)),
        "SGD generalizes": (at(2, slice(40, 80), wrong_on(20)), at(2, slice(40, 80), wrong_on(21))),
    },
)


def test_control_a_network_of_zeros_has_learned_nothing():
    assert answers_in(global_with(**at(2, slice(None), 0.0))) == [True, True, False, False]


test_control_the_hypotheses_of_bad_global = hypothesis_edges(
    section_6_2_bad_global,
    global_with,
    width=({}, {"needed": lambda n, dim: printed_half_width(n, dim) + 0.05}),
    separable=({"smallest_margin": np.array([2.0, 1.0])}, {"smallest_margin": np.array([2.0, 1 - 5e-12])}),
)


def test_each_setting_must_be_wide_enough():
    """Beside a setting of eighty points, one whose k is too small for its forty-one."""
    setting = GLOBAL.setting.model_copy(update={"n_test": 1})
    runs = [dataclasses.replace(GLOBAL, setting=setting), GLOBAL, dataclasses.replace(GLOBAL, setting=setting)]
    for asked, keys in ((10, []), (11, ["width"])):
        evidence = section_6_2_bad_global(runs, needed=lambda n, dim, k=asked: k if n == 80 else 1)
        assert lacking_in(evidence) == keys


def test_the_width_is_that_of_all_points_together():
    """80 points in 10 dimensions: k = 2⌈80/18⌉ = 10; for the 40 training points alone it were 6."""
    seen = []
    global_with(needed=lambda n, dim: seen.append((n, dim)) or 10)
    assert seen == [(80, 10)]
    assert GLOBAL.setting.half_widths == [10, 20]


test_every_part_has_a_control = every_part_of(expressiveness, elsewhere=(theorem_7, theorem_7_sweep, theorem_7_bumps))
