"""Lemma F.2: twins that differ in one sign, with controls in every array of the pairs."""

import dataclasses
import functools

import numpy as np
import pytest

from tests.control_table import broken_in, controls
from tests.papers.brutzkus2019.claims.networks import part
from widenet.claims import Verdict
from widenet.data.xord import set_index
from widenet.papers.brutzkus2019.claims import sign_flip
from widenet.papers.brutzkus2019.claims.sign_flip import lemma_f_2
from widenet.papers.brutzkus2019.runs.sign_flips import SignFlips, flip_setting, run, settings
from widenet.papers.brutzkus2019.sources import from_sets
from widenet.records import Scale
from widenet.types import RunStatus

FLIPPED, SAME, STEPS, STATUS = "negated", "others", "steps", "status"


@functools.cache
def twenty_pairs() -> SignFlips:
    return run(flip_setting(3, 20, 1.0))


@pytest.fixture(scope="module")
def pairs() -> SignFlips:
    return twenty_pairs()


def entry(name, place, change):
    """One entry of an array changed."""
    array = getattr(twenty_pairs(), name).copy()
    array[place] = change(array[place])
    return {name: array}


def last_bit(value):
    return np.nextafter(value, np.inf)


test_control = controls(
    sign_flip,
    twenty_pairs,
    (lemma_f_2, FLIPPED, {}, entry("paths", (1, 7, 4, 2, 1), last_bit)),
    (lemma_f_2, SAME, {}, entry("paths", (0, -1, 19, 1, 0), last_bit)),
    (lemma_f_2, STEPS, {}, entry("steps", (0, 3), lambda steps: steps + 1)),
    (lemma_f_2, STATUS, {}, entry("status", (1, 3), lambda status: RunStatus.DIVERGED)),
)


def test_lemma_f_2_at_another_width(pairs):
    """The same filters again and again: six of each sign, of which the seventh is u^(1)."""
    wider = dataclasses.replace(pairs, paths=pairs.paths[:, :, :, [0] * 6 + [2] + [3] * 5])
    assert lemma_f_2([wider]).verdict is Verdict.HOLDS
    assert [each.required for each in lemma_f_2([wider]).hypotheses if each.key == "width"] == ["≥ 1"]


def test_a_pair_that_was_cut_off_has_no_end(pairs):
    steps, status = pairs.steps.copy(), pairs.status.copy()
    steps[0, 3] += 1
    status[1, 3] = RunStatus.BUDGET_SPENT
    evidence = lemma_f_2([dataclasses.replace(pairs, steps=steps, status=status)])
    assert [part(evidence, name).kept for name in (STEPS, STATUS)] == [None, None]


def test_lemma_f_2(pairs):
    evidence = lemma_f_2([pairs])
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.details["steps"] > 50
    assert evidence.runs.tried == 20
    assert settings(Scale.QUICK, 0)[0].n_pairs == 50


def test_control_a_point_that_is_not_diverse_tells_the_twins_apart():
    decoy = from_sets({set_index(1, 2, 3, 4): 6, set_index(2, 4): 5, set_index(2): 1})
    setting = flip_setting(3, 20, 1.0, decoy).model_copy(update={"max_steps": 20})
    evidence = lemma_f_2([run(setting)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert part(evidence, FLIPPED).broken == 20


@pytest.mark.parametrize(("filter_", "name"), [(0, SAME), (1, SAME), (2, FLIPPED), (3, SAME)])
def test_control_the_last_bit_of_one_filter_at_one_time(pairs, filter_, name):
    paths = pairs.paths.copy()
    paths[1, 7, 4, filter_, 1] = np.nextafter(paths[1, 7, 4, filter_, 1], np.inf)
    evidence = lemma_f_2([dataclasses.replace(pairs, paths=paths)])
    assert broken_in(evidence) == [name]
    assert part(evidence, name).broken == 1


def test_pairs_that_were_not_followed_to_their_end_decide_nothing():
    cut = run(flip_setting(3, 3, 1.0).model_copy(update={"max_steps": 4}))
    evidence = lemma_f_2([cut])
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert evidence.runs.unfinished > 0
