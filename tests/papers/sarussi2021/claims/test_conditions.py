"""Hypotheses that a choice makes true are shown as such, and not as met by a hair."""

import numpy as np

from tests.papers.records import altered
from tests.papers.sarussi2021 import toys
from tests.papers.sarussi2021.pairs import toy_pairs
from widenet.papers.sarussi2021.claims.convergence import theorem_4_1
from widenet.papers.sarussi2021.claims.linear_region import lemma_10_1, theorem_5_1


def shown(evidence, key):
    (found,) = (each for each in evidence.hypotheses if each.key == key)
    return found.met, found.slack, found.normalization


def test_a_maximum_divided_by_itself_has_no_slack():
    runs = toys.small_epochs()
    assert shown(theorem_4_1([runs]), "input_norm") == (True, None, "R_x is the largest input norm")
    assert shown(theorem_4_1([runs]), "row_norm") == (True, None, "R_0 is the largest initial row norm")
    assert shown(theorem_5_1([toy_pairs()]), "balls") == (True, None, "r is the largest distance")
    assert shown(lemma_10_1([toy_pairs()]), "open_balls") == (True, None, "r is 1.0001 times the largest distance")


def test_where_it_fails_it_has_one():
    far = altered(toys.small_epochs(), relative_input=np.array([1.0, 1.5]))
    met, slack, choice = shown(theorem_4_1([far]), "input_norm")
    assert (met, choice) == (False, "")
    assert slack is not None
    assert slack < -0.49
