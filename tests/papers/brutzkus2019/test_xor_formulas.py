"""The bounds of Section 3 and Appendix B against values that were computed apart from the code."""

import numpy as np
import pytest
from scipy import stats

from widenet.papers.brutzkus2019 import xor_formulas as xor
from widenet.papers.brutzkus2019.xor_sources import EVENT_RADIUS, draw_xor_start


def counts(*values):
    return np.array(values)


@pytest.mark.parametrize(
    ("value", "pin"),
    [
        (lambda: xor.RADIUS / 16, 0.0220970869121),
        (lambda: xor.RADIUS * 3 / 100, 0.0106066017178),
        (lambda: xor.failure_rate(1), 0.00295136147475),
        (lambda: xor.failure_rate(2), 0.00268382800557),
        (lambda: xor.failure_rate(17), 0.00268370102322),
        (lambda: xor.opposing_limit(counts(1), counts(2))[0] / 8, 0.544194173824),
        (lambda: xor.opposing_limit(counts(12), counts(5))[0] / 170, 0.083780239336),
        (lambda: xor.active_limit(8.0, 3, counts(2))[0], 3.5),
        (lambda: xor.active_limit(62.5, 25, counts(9))[0], 6.25),
        (lambda: xor.active_limit_by_width(170.0, 17), 401.90907003),
        (lambda: xor.active_limit_by_width(125.0, 50), 10.3611535475),
        (lambda: xor.active_limit_as_printed(17), 7.76806500038),
        (lambda: xor.active_limit_as_printed(50), 5.57757701076),
        (lambda: xor.iterations_as_printed(17)[0], 17.0333007175),
        (lambda: xor.iterations_as_printed(50)[0], 16.3299316186),
        (lambda: xor.iterations_as_printed(17)[1], 31.0722600015),
        (lambda: xor.iterations_as_printed(50)[1], 22.310308043),
        (lambda: xor.iterations_needed(8.0, 2), 3.8232233047),
        (lambda: xor.iterations_needed(125.0, 50), 2.3232233047),
        (lambda: xor.angle_limit(0.49), 89.230906038),
        (lambda: xor.angle_limit(0.3), 72.0797868606),
        (lambda: xor.angle_limit(1 / 8), 48.1896851042),
        (lambda: xor.fewest_updates(0.3), 0.666666666667),
        (lambda: xor.fewest_updates(0.01), 49.0),
        (lambda: xor.cosine_after(counts(2))[0], 0.571428571429),
        (lambda: xor.cosine_after(counts(13))[0], 0.896551724138),
    ],
)
def test_pins(value, pin):
    assert value() == pytest.approx(pin, rel=1e-11)


def test_the_radius_is_that_of_the_event():
    assert xor.RADIUS == EVENT_RADIUS


@pytest.mark.parametrize(("step_size", "half_width", "deviation"), [(1 / 50, 3, 0.000721687836487)])
def test_the_largest_deviation_of_a_start(step_size, half_width, deviation):
    start = draw_xor_start(half_width, half_width * step_size, 1)
    assert start.deviation == pytest.approx(deviation, rel=1e-11)
    assert draw_xor_start(17, 0.1, 1).deviation == pytest.approx(8.91675092045e-5, rel=1e-11)


def test_how_often_the_printed_bound_of_lemma_b_4_fails_for_sure():
    # Eleven of the seventeen filters on one side are enough: 11·(2 − √2/4) > 17.
    tail = stats.binom.sf(10, 17, 0.5)
    assert xor.sure_to_exceed(17) == pytest.approx(1 - (1 - 2 * tail) ** 2)
    assert 0 < xor.sure_to_exceed(200) < xor.sure_to_exceed(17)


def test_what_section_3_asks_for():
    assert (xor.LARGEST_STEP, xor.SMALLEST_WIDTH) == (0.5, 16)


def test_where_a_formula_says_nothing():
    assert np.isinf(xor.active_limit(8.0, 2, counts(0))).all()
    assert np.isinf(
        [xor.active_limit_by_width(8.0, 16), xor.active_limit_as_printed(4), *xor.iterations_as_printed(2)]
    ).all()
