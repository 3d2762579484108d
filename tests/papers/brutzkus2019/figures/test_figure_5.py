"""Figure 5 of brutzkus2019: a larger margin errs less, and a control where none is larger."""

import dataclasses

import numpy as np
import pytest

from tests.papers.brutzkus2019.figures.rows import verdicts
from tests.papers.brutzkus2019.toy_runs import N_RUNS, sampled
from widenet.papers.brutzkus2019.figures.figure_1 import figure_1_numbers
from widenet.papers.brutzkus2019.figures.figure_5 import compare_figure_5, figure_5_numbers, paired_p


@pytest.fixture(scope="module")
def margins():
    return figure_5_numbers([sampled(20), sampled(20, margin=5.0)], n_runs=N_RUNS)


def test_the_larger_margin_errs_less(margins):
    assert set(verdicts(compare_figure_5(margins)).values()) == {"AGREES"}


def test_runs_are_paired(margins):
    errors = figure_1_numbers([sampled(20)])
    np.testing.assert_array_equal(errors.test_error.sel(channels=20), margins.test_error.sel(channels=20, margin=1.0))


def test_control_the_same_margin_with_other_seeds_is_no_better():
    other = sampled(20, seed=1)
    renamed = dataclasses.replace(other, setting=other.setting.model_copy(update={"margin": 1.5}))
    rows = verdicts(compare_figure_5(figure_5_numbers([sampled(20), renamed], n_runs=N_RUNS)))
    assert rows["p-value of the paired test that γ = 1.5 errs less, 20 channels"] == "DIFFERS"


def test_equal_pairs_are_no_evidence():
    assert paired_p(np.zeros(10)) == 1.0
