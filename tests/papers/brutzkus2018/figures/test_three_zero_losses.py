"""Three networks with zero training loss, at toy size, through the same functions."""

import pytest

from widenet.papers.brutzkus2018.figures.three_zero_losses import (
    compare_three_zero_losses,
    reduce_three_zero_losses,
)
from widenet.papers.brutzkus2018.runs.bad_global_minimum import SOLUTIONS, BadMinimumSetting, run_bad_minimum
from widenet.progress import silent


def small(**changes):
    setting = BadMinimumSetting(multiples=(1, 2), n_sets=2, n_train=30, n_test=30, dim=10, **changes)
    return reduce_three_zero_losses([run_bad_minimum(setting, silent)])


def verdicts(rows):
    return [row.verdict for row in rows]


def test_a_global_minimum_can_fail_everywhere_and_sgd_does_not():
    numbers = small()
    assert verdicts(compare_three_zero_losses(numbers))[:2] == ["AGREES", "AS EXPECTED"]
    assert float(numbers.test_error.sel(solution="SGD").max()) < 0.3
    assert compare_three_zero_losses(numbers.assign(train_loss=numbers.train_loss + 1e-9))[0].verdict == "DIFFERS"
    assert compare_three_zero_losses(numbers.assign(test_error=numbers.test_error + 0.5))[2].verdict == "DIFFERS"


def test_control_without_flipped_labels_the_built_network_is_right():
    numbers = small(flipped=False)
    assert float(numbers.test_error.sel(solution=SOLUTIONS[0]).max()) == 0
    assert compare_three_zero_losses(numbers)[1].verdict == "NOT AS EXPECTED"


@pytest.mark.parametrize(("error", "agrees"), [(0.099, True), (0.101, False)])
def test_control_what_generalizes(error, agrees):
    numbers = small()
    levelled = numbers.assign(test_error=(0 * numbers.test_error + error))
    assert compare_three_zero_losses(levelled)[2].agrees is agrees


def test_control_one_test_point_that_the_built_network_gets_right():
    numbers = small()
    numbers.test_error.loc[{"solution": SOLUTIONS[0], "multiple": 1, "run": 0}] = 29 / 30
    assert compare_three_zero_losses(numbers)[1].verdict == "NOT AS EXPECTED"
