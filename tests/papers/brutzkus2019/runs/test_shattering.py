"""Linear programs for labellings, and the features they are in."""

import numpy as np

from widenet.data.xord import set_index
from widenet.papers.brutzkus2019.runs.shattering import (
    FEATURES,
    INFEASIBLE,
    SHATTERED,
    SOLVED,
    shatter,
    shatterings,
)
from widenet.run.records import decode, encode

FILTERS = np.zeros((1, 2))


def test_features_have_rank_eight_on_the_eight_sets():
    assert np.linalg.matrix_rank(FEATURES) == np.linalg.matrix_rank(FEATURES[list(SHATTERED)]) == 8


def test_labellings_are_taken_up_to_their_sign():
    found = shatter(SHATTERED[:3], FILTERS)
    assert found.labellings.tolist() == [[1, 1, 1], [1, 1, -1], [1, -1, 1], [1, -1, -1]]
    margins = found.labellings * (found.coefficients @ FEATURES[list(SHATTERED[:3])].T)
    assert margins.min() >= 1 - 1e-9
    assert set(found.status) == {SOLVED}


def test_what_no_coefficients_realize():
    """The features of {1, 3} are those of {1} plus those of {3}: + + − is impossible."""
    found = shatter((set_index(1), set_index(3), set_index(1, 3)), FILTERS)
    both = found.labellings.tolist().index([1, 1, -1])
    assert found.status[both] == INFEASIBLE
    assert np.isnan(found.coefficients[both]).all()
    back = decode(shatterings.result_type, *encode(found))
    assert np.array_equal(back.status, found.status)
