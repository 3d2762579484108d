"""Lemmas B.3 and B.4 on batches: gaps that fall like S^{−1/2}."""

import functools

import numpy as np
import pytest

from tests.control_table import at, controls
from tests.papers.li2018.toys import own_toy, separated_rows
from tests.papers.records import altered
from widenet.claims.base import Verdict
from widenet.papers.li2018.claims import mixing
from widenet.papers.li2018.claims.mixing import (
    fitted_slope,
    lemma_5_2,
    lemma_5_2_as_printed,
    lemma_a_3_mixing,
    lemma_a_3_mixing_as_printed,
    lemma_b_2,
    lemma_b_2_event,
    lemma_b_3,
    lemma_b_3_as_printed,
    lemma_b_4_batches,
)
from widenet.papers.li2018.formulas import batch_deviation_bound
from widenet.papers.li2018.runs.batches import SIZES, BatchSetting, run_batches
from widenet.papers.li2018.sources import Caps
from widenet.progress import silent


@functools.cache
def batched(copies=False):
    return run_batches(BatchSetting(data=Caps(dim=10), width=60, n_reference=4000, copies=copies), silent)


def test_batches_whose_width_is_not_given_neither_confirm_nor_refute():
    less = altered(batched(), large=0.5 * 0.0829 * batched().distance / (2 * batched().per_class))
    for found, kept, words in (
        (lemma_b_3([batched(), less]), False, "is 0.5 times"),
        (lemma_b_3([batched()]), True, "the share seen"),
    ):
        assert (found.verdict, found.conclusion) == (Verdict.CONSTANT_UNSPECIFIED, kept)
        assert words in found.open_constant


def test_control_a_bound_that_is_twenty_times_too_small():
    assert lemma_b_4_batches([batched()], factor=0.05).conclusion is False


def test_slopes():
    assert np.isnan(fitted_slope(np.array([4.0]), np.array([3.0])))
    assert fitted_slope(np.array([1.0, 4.0, 16.0]), np.array([3.0, 1.5, 0.75])) == pytest.approx(-0.5)


def sloped(power):
    """Gaps that are exactly proportional to a power of the size."""
    return altered(batched(), gaps=lambda g: np.ones_like(g) * batched().batch_sizes[:, None] ** power)


@pytest.mark.parametrize(("power", "kept"), [(-0.36, True), (-0.34, False), (-0.64, True), (-0.66, False)])
def test_the_slope_of_samples_at_its_edges(power, kept):
    assert lemma_b_3([sloped(power)]).conclusion is kept


def test_large_shares_of_batches_at_their_edges():
    level = 0.0829 * batched().distance / (2 * batched().per_class)
    for factor, kept in ((1.01, True), (0.99, False)):
        assert lemma_b_3([altered(batched(), large=factor * level)]).parts[2].kept is kept


def test_batches_may_fail_once_in_a_hundred():
    few = altered(batched(), gaps=batched().gaps[:, :298])
    assert lemma_b_4_batches([few]).verdict is Verdict.INSUFFICIENT_EVIDENCE
    limit = 2 * batched().largest_vote * (1 + np.sqrt(2 * np.log(60 / 0.01))) / np.sqrt(batched().batch_sizes)
    for factor, kept in ((0.99, True), (1.01, False)):
        gaps = np.ones((3, 300)) * factor * limit[:, None]
        assert lemma_b_4_batches([altered(batched(), gaps=gaps)]).conclusion is kept


def test_slopes_need_two_sizes_and_no_zeros():
    two, three = np.array([1.0, 4.0]), np.array([1.0, 4.0, 16.0])
    assert fitted_slope(two, np.array([2.0, 1.0])) == pytest.approx(-0.5)
    assert fitted_slope(three, np.array([1.0, 0.9, 0.1])) == pytest.approx(-np.log(10) / np.log(16))
    for zero in ([1.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, -1.0, 1.0]):
        assert np.isnan(fitted_slope(three, np.array(zero)))
    assert fitted_slope(three, np.array([0.09, 0.05, 0.02])) < 0


def test_a_gap_as_large_as_the_bound_is_not_beyond_it():
    limit = batch_deviation_bound(batched().largest_vote, 60, batched().batch_sizes)
    exactly = altered(batched(), gaps=np.ones((3, 300)) * limit[:, None])
    assert lemma_b_4_batches([exactly]).conclusion is True


def test_nobody_has_fresh_batches_of_a_reader_s_data():
    for claim in (lemma_b_3, lemma_b_4_batches):
        assert "fresh batches" in claim.on(own_toy())


def far_batches(place, every=10):
    """Every tenth batch of this size lies beyond the bound."""
    gaps = batched().gaps.copy()
    gaps[place, ::every] = 100.0
    return {"gaps": gaps}


test_control = controls(
    mixing,
    batched,
    (lemma_b_3, "large"),
    (lemma_b_3, "not_slower", {}, at(lambda: batched(copies=True))),
    (lemma_b_3, "not_faster", {}, {"gaps": lambda gaps: gaps / batched().batch_sizes[:, None]}),
    *((lemma_b_4_batches, f"batches_of_{size}", {}, far_batches(place)) for place, size in enumerate(SIZES)),
    *((lemma_b_4_batches, f"batches_of_{size}", {}, far_batches(place, 40)) for place, size in enumerate(SIZES)),
    *separated_rows(lemma_b_3),
    but=(
        lemma_5_2,
        lemma_5_2_as_printed,
        lemma_a_3_mixing,
        lemma_a_3_mixing_as_printed,
        lemma_b_3_as_printed,
        lemma_b_2,
        lemma_b_2_event,
    ),
)
