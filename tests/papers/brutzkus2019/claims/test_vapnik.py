"""Remark 4.1: pattern sets are all the network sees, and its VC dimension is 8."""

import jax.numpy as jnp
import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.data.xord import set_index, set_points
from widenet.papers.brutzkus2019.claims.vapnik import (
    CLAIMS,
    FEATURES,
    SHATTERED,
    Shattering,
    Words,
    check_remark_4_1,
    check_remark_4_1_sharp,
    network_for,
    remark_4_1,
    words_of,
)
from widenet.papers.brutzkus2019.claims.xord_structure import on_sets
from widenet.papers.brutzkus2019.runs.xord_descent import diverse_points
from widenet.types import Scale, silent

FILTERS = np.random.default_rng(0).normal(size=(60, 2))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_verdict_on_the_default_setting(claim):
    evidence = claim.check(claim.setting(Scale.QUICK, 1), silent)
    assert evidence.verdict is claim.expected
    assert all(h.met for h in evidence.hypotheses)


def test_control_a_gradient_that_is_not_a_number_does_not_pass():
    """The outputs agree (all are 0); only the gradients are NaN."""
    evidence = check_remark_4_1(
        remark_4_1.setting(Scale.QUICK, 0), pooling=lambda filters, votes, x: jnp.sqrt(0 * filters.sum())
    )
    assert evidence.verdict is Verdict.VIOLATED


def test_control_copies_of_a_point_show_nothing():
    """Even the mean agrees on them, so they cannot speak for the maximum."""
    copies = diverse_points(1)[np.array([0, 0, 6, 6])]
    assert check_remark_4_1(words_of(copies)).verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert check_remark_4_1(words_of(diverse_points(1))).verdict is Verdict.HOLDS


def test_control_mean_pooling_sees_more_than_the_set():
    def mean_pooling(filters, votes, x):
        return votes @ jnp.maximum(filters @ x.reshape(-1, 2).T, 0).mean(axis=1)

    evidence = check_remark_4_1(remark_4_1.setting(Scale.QUICK, 0), pooling=mean_pooling)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured is not None
    assert evidence.measured > 0.1


def test_own_points_and_what_they_lack():
    assert check_remark_4_1(words_of(diverse_points(0))).verdict is Verdict.HOLDS
    once = check_remark_4_1(words_of(set_points()))
    assert once.verdict is Verdict.INSUFFICIENT_EVIDENCE
    words = words_of(diverse_points(0))
    assert check_remark_4_1(Words(words.inputs / 2, words.filters)).verdict is Verdict.HYPOTHESES_NOT_MET


def test_every_coefficient_vector_has_a_network():
    coefficients = np.random.default_rng(1).normal(size=8)
    assert on_sets(network_for(coefficients)) == pytest.approx(FEATURES @ coefficients)


def test_control_nine_sets_are_not_shattered():
    evidence = check_remark_4_1_sharp(Shattering((*SHATTERED, set_index(1, 3)), FILTERS))
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured is not None
    assert evidence.measured >= 2


def test_control_filters_of_one_octant_have_a_smaller_rank():
    narrow = np.abs(FILTERS) @ [[1.0, 0.2], [0.2, 1.0]]
    assert check_remark_4_1_sharp(Shattering(SHATTERED, narrow)).verdict is Verdict.VIOLATED
    assert check_remark_4_1_sharp(Shattering(SHATTERED, FILTERS[:10])).verdict is Verdict.HYPOTHESES_NOT_MET
