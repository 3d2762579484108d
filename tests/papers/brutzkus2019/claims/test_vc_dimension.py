"""Remark 4.1: pattern sets are all the network sees, and its VC dimension is 8."""

import functools
from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from tests.control_table import at, broken_in, controls
from widenet.claims.base import NotApplicable, Verdict
from widenet.claims.user_data import UserData
from widenet.data.xord import PATTERN_SETS, set_index, set_points
from widenet.papers.brutzkus2019.claims import vc_dimension
from widenet.papers.brutzkus2019.claims.vc_dimension import (
    Mates,
    Realized,
    margins,
    off_span,
    remark_4_1,
    remark_4_1_sharp,
)
from widenet.papers.brutzkus2019.runs.outputs import on_sets
from widenet.papers.brutzkus2019.runs.same_pattern_set import (
    compare_mates,
    random_networks,
    random_words,
    same_pattern_set,
)
from widenet.papers.brutzkus2019.runs.shattering import FEATURES, SHATTERED, network_for, shatter, shatterings
from widenet.papers.brutzkus2019.runs.xord_descent import diverse_points
from widenet.progress import silent
from widenet.records import Scale
from widenet.types import Dataset

FILTERS = np.random.default_rng(0).normal(size=(60, 2))
NETWORKS = random_networks(0)
WORDS = random_words(0, 120)


@functools.cache
def mates():
    return compare_mates(WORDS, NETWORKS)


@functools.cache
def eight():
    return shatter(SHATTERED, FILTERS)


def judge_own(data):
    return remark_4_1([same_pattern_set.run(setting, silent) for setting in remark_4_1.on(UserData(data)).settings])


@pytest.mark.parametrize(("claim", "experiment"), [(remark_4_1, same_pattern_set), (remark_4_1_sharp, shatterings)])
def test_verdict_on_the_default_setting(claim, experiment):
    evidence = claim([experiment.run(setting, silent) for setting in experiment.settings(Scale.QUICK, 1)])
    assert evidence.verdict is claim.expected
    assert all(h.met for h in evidence.hypotheses)
    assert claim.reads == (experiment,)


def test_control_a_gradient_that_is_not_a_number_does_not_pass():
    """The outputs agree (all are 0); only the gradients are NaN."""
    compared = compare_mates(WORDS, NETWORKS, pooling=lambda filters, votes, x: jnp.sqrt(0 * filters.sum()))
    evidence = remark_4_1([compared])
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert [part.key for part in evidence.parts if part.kept is None] == ["gradients"]


def spread(name, by):
    """Outputs or gradients of one network that differ by this much between two inputs with one set."""
    array = getattr(mates(), name).copy()
    array[3, 15] = by
    return at(replace(mates(), **{name: array}))


def status_of_one(status):
    """Another answer of the linear program to one labelling."""
    array = eight().status.copy()
    array[5] = status
    return {"status": array}


def coefficients_of_one(row):
    """Another network for one of the labellings."""
    array = eight().coefficients.copy()
    array[5] = row
    return {"coefficients": array}


def wrong_on_one_set():
    """The coefficients of the labelling that differs in one set."""
    differ = (eight().labellings != eight().labellings[5]).sum(axis=1)
    return eight().coefficients[int(np.argmax(differ == 1))]


def of_two_rays():
    return np.concatenate([FILTERS[:1] * np.arange(1, 11)[:, None], FILTERS[1:2] * np.arange(1, 11)[:, None]])


def off_features(by, scale=1.0):
    """The answers of these filters against features of which one is off."""
    other = FEATURES.copy()
    other[3, 2] += by
    runs = replace(eight(), filters=scale * FILTERS)
    return at(runs, residual=off_span(Realized.join([runs]).cells[0].answers, other))


test_control = controls(
    vc_dimension,
    {Mates: mates, Realized: eight},
    (remark_4_1, "sets"),
    (remark_4_1, "outputs", spread("output_spread", 0.9e-12), spread("output_spread", 1.1e-12)),
    (remark_4_1, "outputs", spread("output_spread", -0.9e-12), spread("output_spread", -1.1e-12)),
    (remark_4_1, "gradients", spread("gradient_spread", 0.9e-12), spread("gradient_spread", 1.1e-12)),
    (remark_4_1, "gradients", spread("gradient_spread", -0.9e-12), spread("gradient_spread", -1.1e-12)),
    # Two labellings fail, this one and its negative.
    (remark_4_1_sharp, "realized", {}, coefficients_of_one(wrong_on_one_set())),
    # The network of its coefficients is still there, so the other part does not notice.
    (remark_4_1_sharp, "linear_labellings", status_of_one(0), status_of_one(2)),
    (remark_4_1_sharp, "rank", {}, {"filters": of_two_rays()}),
    # Rounding may take 3.4e-12, a share of the largest answer; what is left is 1.34 times what the feature is off.
    (remark_4_1_sharp, "linear_answers", off_features(2e-12), off_features(3e-12)),
    # 1e-12, where no answer is above 1.
    (remark_4_1_sharp, "linear_answers", off_features(7.4e-12, 0.1), off_features(7.6e-12, 0.1)),
    (remark_4_1_sharp, "linear_answers", {}, {"residual": lambda residual: residual - 1e-6}),
)


def test_both_labellings_of_a_pair_fail():
    evidence = remark_4_1_sharp([replace(eight(), **coefficients_of_one(wrong_on_one_set()))])
    assert evidence.measured == 2


def test_a_set_with_one_input_shows_nothing():
    counts = mates().inputs_per_set.copy()
    counts[15] = 1
    array = mates().output_spread.copy()
    array[3, 15] = 1.0
    assert broken_in(remark_4_1([replace(mates(), output_spread=array, inputs_per_set=counts)])) == []
    counts[15] = 2
    assert broken_in(remark_4_1([replace(mates(), output_spread=array, inputs_per_set=counts)])) == ["outputs"]


def test_control_a_sixteenth_set():
    """An input that holds none of the four patterns: entries that are not ±1 make it, and are not looked at here."""
    counts = mates().inputs_per_set.copy()
    assert (counts[0], int((counts > 0).sum())) == (0, 15)
    assert [part.vacuous for part in remark_4_1([mates()]).parts] == [False, False, True]  # there are no more
    counts[0] = 1
    assert broken_in(remark_4_1([replace(mates(), inputs_per_set=counts)])) == ["sets"]


def test_control_copies_of_a_point_show_nothing():
    """Even the mean agrees on them, so they cannot speak for the maximum."""
    copies = diverse_points(1)[np.array([0, 0, 6, 6])]
    assert judge_own(copies).verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert judge_own(diverse_points(1)).verdict is Verdict.HOLDS


def test_control_mean_pooling_sees_more_than_the_set():
    def mean_pooling(filters, votes, x):
        return votes @ jnp.maximum(filters @ x.reshape(-1, 2).T, 0).mean(axis=1)

    evidence = remark_4_1([compare_mates(WORDS, NETWORKS, pooling=mean_pooling)])
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured is not None
    assert evidence.measured > 0.1


def test_own_points_and_what_they_lack():
    assert judge_own(diverse_points(0)).verdict is Verdict.HOLDS
    assert judge_own(set_points()).verdict is Verdict.INSUFFICIENT_EVIDENCE
    words = np.asarray(diverse_points(0).inputs)
    assert remark_4_1([compare_mates(words / 2, NETWORKS)]).verdict is Verdict.HYPOTHESES_NOT_MET
    words = words.copy()
    words[0, 0] = 0.5
    assert judge_own(Dataset(jnp.asarray(words), jnp.ones(12))).verdict is Verdict.HYPOTHESES_NOT_MET


@pytest.mark.parametrize("inputs", [np.ones((4, 3)), np.full((4, 6), 0.25)])
def test_data_that_is_not_of_xord_is_met_with_silence(inputs):
    answer = remark_4_1.on(UserData(Dataset(jnp.asarray(inputs), jnp.ones(len(inputs)))))
    assert isinstance(answer, NotApplicable)
    assert "a point of XORD is made of pairs" in answer.lower().replace("xord", "XORD")


def test_every_coefficient_vector_has_a_network():
    coefficients = np.random.default_rng(1).normal(size=8)
    assert on_sets(network_for(coefficients)) == pytest.approx(FEATURES @ coefficients)


def test_control_nine_sets_are_not_shattered():
    evidence = remark_4_1_sharp([shatter((*SHATTERED, set_index(1, 3)), FILTERS)])
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured is not None
    assert evidence.measured >= 2
    assert broken_in(evidence) == ["realized", "linear_labellings"]


def test_control_filters_of_one_octant_have_a_smaller_rank():
    narrow = np.abs(FILTERS) @ [[1.0, 0.2], [0.2, 1.0]]
    evidence = remark_4_1_sharp([replace(eight(), filters=narrow)])
    assert evidence.verdict is Verdict.VIOLATED
    assert broken_in(evidence) == ["rank"]
    assert remark_4_1_sharp([replace(eight(), filters=FILTERS[:14])]).verdict is Verdict.HYPOTHESES_NOT_MET
    assert remark_4_1_sharp([replace(eight(), filters=FILTERS[:15])]).verdict is Verdict.HOLDS


def test_control_another_feature():
    """1[A meets {1, 3}] in place of 1[A meets {1, 2}]."""
    other = FEATURES.copy()
    other[:, 4] = PATTERN_SETS[:, 0] | PATTERN_SETS[:, 2]
    runs = Realized.join([eight()]).cells[0]
    assert broken_in(remark_4_1_sharp(runs.replace(residual=off_span(runs.answers, other)))) == ["linear_answers"]


def test_control_networks_with_u_filters_that_are_too_large():
    def build(coefficients):
        return network_for(np.where(coefficients < 0, 20, 1) * coefficients)

    assert broken_in(remark_4_1_sharp(built_by(build, eight()))) == ["realized"]


def built_by(build, runs):
    """The same labellings with other networks."""
    right = (margins(runs, build) > 0).all(axis=1)
    return Realized.join([runs]).cells[0].replace(right=right)


@pytest.mark.parametrize(("scale", "is_right"), [(1e-9, True), (0.0, False), (-1e-9, False)])
def test_how_large_outputs_are_does_not_matter(scale, is_right):
    """And an output of 0 has no sign."""
    runs = replace(eight(), **coefficients_of_one(scale * eight().coefficients[5]))
    assert broken_in(remark_4_1_sharp([runs])) == ([] if is_right else ["realized"])


def test_a_labelling_without_one_of_its_coefficients_has_no_network():
    """Whatever is built from the others."""
    kept = eight().coefficients
    runs = replace(eight(), **coefficients_of_one([np.nan, *kept[5, 1:]]))
    built = built_by(lambda found: network_for(np.where(np.isnan(found), kept, found)), runs)
    assert broken_in(remark_4_1_sharp(built)) == ["realized"]


def test_what_is_broken_stays_broken_beside_a_linear_program_that_fails():
    status, coefficients = eight().status.copy(), eight().coefficients.copy()
    status[4], coefficients[4] = 4, np.nan
    one_lost = replace(eight(), status=status, coefficients=coefficients)
    assert [part.kept for part in remark_4_1_sharp([one_lost]).parts] == [None, None, True, True]
    coefficients[5] = 0.0
    assert broken_in(remark_4_1_sharp([replace(one_lost, coefficients=coefficients)])) == ["realized"]


def test_the_ranks_of_the_table():
    """Eight features have rank 8 on all 15 sets, on the eight sets, and with {1, 3} or {1, 2, 3} beside them."""
    eight = list(SHATTERED)
    for sets in (list(range(15)), eight, [*eight, set_index(1, 3)], [*eight, set_index(1, 2, 3)]):
        assert np.linalg.matrix_rank(FEATURES[sets]) == 8


def test_control_a_linear_program_that_fails_decides_nothing():
    status, coefficients = eight().status.copy(), eight().coefficients.copy()
    status[5], coefficients[5] = 4, np.nan
    evidence = remark_4_1_sharp([replace(eight(), status=status, coefficients=coefficients)])
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE
