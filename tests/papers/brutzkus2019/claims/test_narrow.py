"""Theorem 6.4 from every octant, and Lemma F.2, with controls that the same checks reject."""

import dataclasses
from fractions import Fraction

import jax.numpy as jnp
import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.data.xord import set_index
from widenet.diagnostics.exploration import on_positive_axis, plus_and_minus
from widenet.papers.brutzkus2019.claims.narrow import (
    CLAIMS,
    ITEM_SETS,
    SmallNetworks,
    check_observation_small_convergence,
    check_observation_small_failure,
    check_theorem_6_4,
    must_fail,
    small_networks,
    small_networks_on,
)
from widenet.papers.brutzkus2019.claims.sign_flip import check_lemma_f_2, flip, lemma_f_2, make_twins
from widenet.papers.brutzkus2019.runs.octants import share_of
from widenet.papers.brutzkus2019.runs.trained import train_networks
from widenet.papers.brutzkus2019.runs.training_set import from_sets
from widenet.types import Dataset, Scale


@pytest.fixture(scope="module")
def networks() -> SmallNetworks:
    return small_networks(2, 4096)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_it_holds(claim, networks):
    assert claim.check(networks, lambda *_: None).verdict is Verdict.HOLDS


def test_the_event_is_33_of_48():
    assert share_of(must_fail, 4) == Fraction(33, 48)


def test_frequencies_are_only_consistent(networks):
    """For γ ≥ 2 the outcome is the event itself, so 33/48 is attained and no interval excludes it."""
    rows = check_theorem_6_4(networks).config["cases"]
    for row in rows:
        if row["required_margin"] >= 2:
            assert row["zero_loss_and_wrong"] == row["in_the_event"]
            assert row["zero_loss_and_wrong_outside_the_event"] == 0
    low, high = rows[-1]["interval"]
    assert low < 33 / 48 < high
    assert rows[0]["zero_loss_and_wrong_outside_the_event"] > 0  # γ = 1: other runs fail too


def test_control_wider_networks():
    """k = 8 ends at zero loss and wrong in a fifth of the runs."""
    wider = SmallNetworks([], [train_networks(0, 600, 8, 1 / 41, 8.0, max_steps=3000)])
    evidence = check_theorem_6_4(wider)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert check_theorem_6_4(wider, half_width=8).verdict is Verdict.VIOLATED


def test_control_one_run_that_ends_otherwise(networks):
    whole = networks.from_every_octant[2]
    outputs = np.where(must_fail(whole.start)[:, None], 1.0, whole.outputs)
    outputs[:, [set_index(2), set_index(4), set_index(2, 4)]] = -1.0
    lucky = dataclasses.replace(whole, outputs=outputs)
    evidence = check_theorem_6_4(SmallNetworks([lucky], networks.drawn))
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.config["runs_that_do_not_end_as_the_event_says"] == 33 * 4096 // 48


def test_missing_octants_decide_nothing(networks):
    evidence = check_theorem_6_4(SmallNetworks([], networks.drawn))
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert check_observation_small_convergence(SmallNetworks([], networks.drawn)).conclusion is None


def test_control_the_minus_filters_do_not_decide_convergence(networks):
    criterion = lambda filters: on_positive_axis(plus_and_minus(filters)[1]).any(axis=-1)  # noqa: E731
    evidence = check_observation_small_convergence(networks, criterion=criterion)
    assert evidence.verdict is Verdict.VIOLATED
    assert 0.3 < evidence.config["converged_against_the_criterion"] / evidence.runs.tried < 0.45


def test_control_the_items_name_their_own_set(networks):
    swapped = (ITEM_SETS[1], ITEM_SETS[0], *ITEM_SETS[2:])
    evidence = check_observation_small_failure(networks, item_sets=swapped)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.config["items_with_their_set_wrong"][0] < evidence.config["items_seen"][0]


def test_runs_without_zero_loss_are_outside(networks):
    runs = check_observation_small_failure(networks).runs
    assert 0.2 < runs.outside / runs.tried < 0.3


def test_control_a_start_that_is_too_large(networks):
    """σ_g sixty times its limit: the start is no longer small, and nothing is scored."""
    wild = train_networks(0, 500, 2, 1 / 41, 8.0, max_steps=3000, relative_deviation=60.0)
    evidence = check_observation_small_failure(SmallNetworks([], [wild]))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.runs.outside > 490


def test_a_readers_own_points():
    """All patterns and both negative ones, in twos: the theorem speaks; with {2} among them it does not."""
    signs = jnp.asarray([[1, 1, 1, -1, -1, -1, -1, 1], [1, -1, -1, 1, 1, -1, -1, 1]], float)
    data = Dataset(signs, jnp.asarray([1.0, -1.0]))
    assert check_theorem_6_4(small_networks_on(data, 4096, 1.0)).verdict is Verdict.HOLDS
    more = Dataset(jnp.concatenate([signs, signs[:1], jnp.tile(signs[1:, :2], 4)]), jnp.asarray([1.0, -1.0, 1.0, -1.0]))
    evidence = check_theorem_6_4(small_networks_on(more, 500, 1.0))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [h.actual for h in evidence.hypotheses if h.name == "points that are not diverse"] == [1]


def test_lemma_f_2():
    evidence = lemma_f_2.check(make_twins(3, 20, required_margin=1.0), lambda *_: None)
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.config["steps"] > 50
    assert lemma_f_2.setting(Scale.QUICK, 0).filters.shape == (50, 4, 2)


def test_control_a_point_that_is_not_diverse_tells_the_twins_apart():
    decoy = from_sets({set_index(1, 2, 3, 4): 6, set_index(2, 4): 5, set_index(2): 1})
    twins = dataclasses.replace(make_twins(3, 20, required_margin=1.0, points=decoy), max_steps=20)
    evidence = check_lemma_f_2(twins)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.measured == 20


def test_flipping_twice_is_nothing():
    filters = make_twins(0, 3).filters
    assert (flip(flip(filters)) == filters).all()
    assert (flip(filters) != filters).sum() == 6
