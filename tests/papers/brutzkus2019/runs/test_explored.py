"""Exact probabilities and drawn starts, as one cell."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

from widenet.papers.brutzkus2019.runs.explored import LAWS, Explored, ExploredSetting, explore, run, settings
from widenet.papers.brutzkus2019.runs.octants import from_octant
from widenet.records import Scale
from widenet.run.records import decode, encode


def test_the_probabilities_at_some_widths():
    """Computed apart from this code; a count on its limit is inside (k = 64 and 144)."""
    found = run(ExploredSetting(widths=(17, 64, 141, 142, 144), half_width=20, n_starts=50, seed=0))
    pins = {
        "axes": {17: 3.05173452944e-5, 64: 4.87285506935e-5, 142: 0.000138258151733},
        "positive_cones": {17: 2.47284770012e-5, 141: 1.80513190398e-5, 144: 8.0437810847e-6},
        "negative_parts": {17: 4.94569540024e-5, 141: 3.60993876442e-5, 144: 1.60864658265e-5},
    }
    for name, by_width in pins.items():
        exact = dict(zip(found.widths.tolist(), found.exact[:, list(LAWS).index(name)], strict=True))
        for width, value in by_width.items():
            assert math.isclose(exact[width], value, rel_tol=1e-11), (name, width)


def test_misses_are_counted_at_the_radius_and_given_at_the_width_of_theorem_6_3():
    """k = 2 and a radius of 0: one w and one u must be on each axis. At k = 120, counts from 39 to 81 are inside."""
    rows = np.array([[5, 2, 2, 5], [5, 5, 2, 5], [5, 2, 2, 2], [2, 5, 5, 2]])
    found = explore((2,), from_octant(rows), Fraction(0))
    assert (found.missed[0], found.n_starts, found.half_width) == (2, 4, 2)
    assert explore((2,), from_octant(rows)).missed[0] == 0
    assert found.expected[0] == pytest.approx(1 - 0.5**2)
    inside = scipy.stats.binom.cdf(81, 120, 0.5) - scipy.stats.binom.cdf(38, 120, 0.5)
    assert explore((2,), from_octant(rows)).at_120[0] == pytest.approx(1 - inside**2, rel=1e-6)


def test_a_cell_is_read_as_it_was_written():
    found = run(ExploredSetting(widths=(3, 5), half_width=4, n_starts=30, seed=1))
    read = decode(Explored, *encode(found))
    assert (read.widths == found.widths).all()
    assert (read.missed == found.missed).all()
    assert (read.exact == found.exact).all()


def test_progress_reaches_the_end():
    told = []
    run(ExploredSetting(widths=(3, 5), half_width=4, n_starts=3, seed=1), lambda fraction, words: told.append(fraction))
    assert told == [0.5, 1.0]


def test_starts_have_the_width_of_theorem_6_3():
    (setting,) = settings(Scale.QUICK, 7)
    assert (setting.half_width, setting.n_starts, setting.seed) == (120, 2300, 7)
    assert 105 in setting.widths  # the worst one of Lemma 6.1
    assert 14 in setting.widths  # and of Lemmas E.15 and E.19
