"""What the theorems about the limit of gradient flow all ask of a path."""

import numpy as np
import pytest

from tests.controls import unmet_in
from tests.papers.records import altered
from tests.papers.sarussi2021.paths import AT_20, UNMET, toy_path
from tests.papers.sarussi2021.toys import changed_weights
from widenet.claims.base import Verdict
from widenet.papers.sarussi2021.claims.flow_limits import (
    corollary_6_2,
    theorem_6_1,
    theorem_6_2_direction,
    theorem_6_2_first_step,
    theorem_6_2_region,
)
from widenet.papers.sarussi2021.claims.paths import angle_to

CLAIMS = (theorem_6_1, corollary_6_2, theorem_6_2_region, theorem_6_2_first_step, theorem_6_2_direction)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_it_holds_on_the_toy_path(claim):
    assert claim([toy_path()]).verdict is Verdict.HOLDS


def flip_minus(weights):
    weights[AT_20 + 2, 3] *= -1


def flip_early(weights):
    weights[AT_20 - 1, [0, 3]] *= -1


def test_minus_rows_must_agree_too_and_only_late_ones():
    for claim in CLAIMS:
        found = claim([changed_weights(toy_path(), flip_minus)])
        assert {h.key: h.met for h in found.hypotheses}["agreement"] is False
        assert all(h.met for h in claim([changed_weights(toy_path(), flip_early)]).hypotheses)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_a_run_that_settles_after_its_end_has_no_margin(claim):
    found = {h.key: h for h in claim([altered(toy_path(), last_crossing=np.array([401.0]))]).hypotheses}
    assert found["margin"].actual == 0
    assert found["margin"].met is False
    assert found["stays"].met is False


ALSO = {"separating": "smoothed_margin", "margin": "critical_margin"}
"""A path that never separates has no margin, and where β is 0 there is always a vector of that margin."""


@pytest.mark.parametrize("key", UNMET)
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_control_each_hypothesis_about_the_path(claim, key):
    assert set(unmet_in(claim([UNMET[key]()]))) == {key, ALSO.get(key, key)} & claim.hypotheses.keys()


def test_without_a_line_there_is_no_angle():
    assert angle_to(np.array([2.0, 0.0]), np.array([1.0, 1.0])) == pytest.approx(45)
    assert np.isnan(angle_to(np.array([2.0, 0.0]), np.full(2, np.nan)))
