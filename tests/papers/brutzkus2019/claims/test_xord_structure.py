"""XORD before training: its solution with k = 2, the decoy, and the shares of diverse points."""

from dataclasses import replace
from fractions import Fraction

import jax.numpy as jnp
import numpy as np
import pytest

from tests.control_table import at, broken_in, controls, spared
from widenet.claims.base import NotApplicable, Verdict
from widenet.claims.user_data import Choices, UserData
from widenet.data.xord import DIVERSE_NEGATIVE, DIVERSE_POSITIVE, PATTERNS, SET_LABELS, set_index
from widenet.papers.brutzkus2019.claims import xord_structure
from widenet.papers.brutzkus2019.claims.xord_structure import (
    DECOY_ERRORS,
    Trap,
    diverse_probabilities,
    diverse_probabilities_as_printed,
    observation_decoy,
    observation_diverse_probability,
    observation_diverse_probability_as_printed,
    observation_xord_realizable,
)
from widenet.papers.brutzkus2019.runs.decoy import DECOY, decoy_on
from widenet.papers.brutzkus2019.runs.outputs import on_sets
from widenet.papers.brutzkus2019.runs.xord_descent import diverse_points
from widenet.papers.brutzkus2019.runs.xord_inputs import (
    SOLUTION,
    Candidates,
    DiverseShares,
    candidates_on,
    count_diverse,
    every_word,
)
from widenet.papers.brutzkus2019.sources import PAIR, from_data, from_sets
from widenet.records import Scale
from widenet.types import Dataset

CLAIMS = (
    observation_xord_realizable,
    observation_diverse_probability,
    observation_diverse_probability_as_printed,
    observation_decoy,
)
SINGLES = np.random.default_rng(0).normal(size=(500, 2, 2))
LOSS, POSITIVE, NEGATIVE, SETS = "loss", "on_positive", "on_negative", "errors"


def on_own(data, **choices):
    return observation_decoy(observation_decoy.on(UserData(data, Choices(**choices))).settings)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_verdict_on_the_default_material(claim):
    evidence = claim(claim.draws(Scale.QUICK, 1))
    assert evidence.verdict is claim.expected
    assert all(h.met for h in evidence.hypotheses)
    assert not evidence.vacuous


SETS_IN_ORDER = ["1", "2", "3", "4", "12", "13", "14", "23", "24", "34", "123", "124", "134", "234", "1234"]


@pytest.mark.parametrize(
    ("filters", "values"),
    [
        (SOLUTION, "6 -2 6 -2 4 12 4 4 -4 4 10 2 10 2 8"),
        (DECOY, "12 -4 0 0 8 12 12 -4 -4 0 8 8 12 -4 8"),
        (np.stack([2 * PATTERNS[0], 2 * PATTERNS[2], PATTERNS[1], PATTERNS[3]]), "4 -2 4 -2 2 8 2 2 -4 2 6 0 6 0 4"),
    ],
    ids=["solution", "decoy", "a factor of two"],
)
def test_outputs_of_the_constructions(filters, values):
    found = on_sets(filters, [set_index(*map(int, held)) for held in SETS_IN_ORDER])
    assert found.tolist() == [float(value) for value in values.split()]


FACTOR_OF_TWO = np.stack([2 * PATTERNS[0], 2 * PATTERNS[2], PATTERNS[1], PATTERNS[3]])


def solving(filters=SOLUTION, singles=SINGLES):
    return candidates_on(filters, singles, 2)


def sixth_output(value):
    """The sixth word, 11 of 00, 01, …, is negative."""
    return {"outputs": lambda outputs: np.where(np.arange(len(outputs)) == 5, value, outputs)}


def decoy(plus=3.0, minus=1.0, margin=8.0, points=PAIR):
    return decoy_on(points, margin, DECOY * np.array([plus / 3, plus / 3, minus, minus])[:, None])


def shares(d, positive, negative):
    """These shares of diverse points at d, beside those at 5."""
    return count_diverse(5, d).replace(
        share_of_positive=np.array([15 / 62, positive]), share_of_negative=np.array([15 / 16, negative])
    )


test_control = controls(
    xord_structure,
    {Candidates: solving, Trap: decoy, DiverseShares: lambda: count_diverse(5, 4)},
    (observation_diverse_probability, "positive"),
    (observation_diverse_probability, "negative"),
    (observation_xord_realizable, "inputs", sixth_output(-1e-12), sixth_output(0.0)),
    # w = 2p_1, 2p_3: N = 0 on {1, 2, 4} and {2, 3, 4}, which need three patches.
    (
        observation_xord_realizable,
        "sets",
        at(lambda: solving(SOLUTION * (np.array([2 / 3, 2 / 3, 1, 1])[:, None] + 1e-9))),
        at(lambda: solving(FACTOR_OF_TWO)),
    ),
    (observation_xord_realizable, "single_filters", {}, at(lambda: solving(singles=np.stack([1e-9 * SOLUTION])))),
    # Rounding may take 1.2e-11, a share of the largest output, 12.
    (observation_decoy, POSITIVE, at(lambda: decoy(3 + 2e-12)), at(lambda: decoy(3 + 4e-12))),
    # N(x⁺) = 4·plus − 4·minus stays 8.
    (observation_decoy, NEGATIVE, at(lambda: decoy(3 + 2e-12, 1 + 2e-12)), at(lambda: decoy(3 + 4e-12, 1 + 4e-12))),
    (observation_decoy, SETS, {}, {"expected_errors": DECOY_ERRORS - {set_index(3, 4)}}),
    # At γ = 8 the loss is 0 exactly where N(x⁺) ≥ 8 and N(x⁻) ≤ −1.
    (observation_decoy, LOSS, at(lambda: decoy(3 - 2e-12)), at(lambda: decoy(3 - 4e-12)), POSITIVE),
    but=(observation_diverse_probability_as_printed,),
)


def test_control_the_loss_of_the_negative_point():
    assert broken_in(observation_decoy(decoy(plus=2.25 - 1e-10, minus=0.25 - 1e-10))) == [LOSS, NEGATIVE]
    assert broken_in(observation_decoy(decoy(plus=2.25, minus=0.25))) == [NEGATIVE]


@pytest.mark.parametrize(
    ("counts", "loss"),
    [
        ({DIVERSE_POSITIVE: 3, set_index(2, 3, 4): 1, DIVERSE_NEGATIVE: 2}, 12 / 4),
        ({DIVERSE_POSITIVE: 3, DIVERSE_NEGATIVE: 1, set_index(4): 1}, 1 / 2),
        ({DIVERSE_POSITIVE: 3}, 0.0),
    ],
)
def test_the_loss_has_the_mean_of_each_class(counts, loss):
    assert observation_decoy(decoy(points=from_sets(counts))).parts[0].measured == pytest.approx(loss, abs=1e-12)


def test_small_outputs_have_the_same_signs():
    assert SETS not in broken_in(observation_decoy(decoy(plus=3e-9, minus=1e-9)))


def test_shares_of_one_say_nothing():
    for share, says_nothing in ((1 - Fraction(1, 10**9), False), (Fraction(1), True)):
        found = observation_diverse_probability(
            [shares(4, float(share), float(share))], formula=lambda _, share=share: (share, share)
        )
        assert [part.vacuous for part in found.parts] == [says_nothing] * 2


def test_every_input_and_its_label():
    words, labels = every_word(2)
    assert ["".join(map(str, word)) for word in words[:6]] == ["00", "01", "02", "03", "10", "11"]
    assert labels.tolist() == [1, 1, 1, 1, 1, -1, 1, -1, 1, 1, 1, 1, 1, -1, 1, -1]


@pytest.mark.parametrize(
    ("d", "positive", "negative", "printed"),
    [
        (4, (1, 10), (7, 8), (3, 32)),
        (5, (15, 62), (15, 16), (15, 64)),
        (6, (65, 168), (31, 32), (195, 512)),
        (7, (525, 1016), (63, 64), (525, 1024)),
    ],
)
def test_shares_against_fractions_computed_apart(d, positive, negative, printed):
    assert diverse_probabilities(d) == (Fraction(*positive), Fraction(*negative))
    assert diverse_probabilities_as_printed(d) == (Fraction(*printed), Fraction(*negative))


def test_the_printed_share_among_all_inputs():
    spared(observation_diverse_probability_as_printed, at(count_diverse(4), share_of_positive=24 / 4**4))


def test_the_smallest_margin_of_the_solution():
    evidence = observation_xord_realizable(candidates_on(SOLUTION, SINGLES))
    assert evidence.details["smallest_margin"] == 2


def test_control_a_solution_without_its_factor_three():
    evidence = observation_xord_realizable(candidates_on(PATTERNS[[0, 2, 1, 3]], SINGLES))
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.details["wrong_sets"] == 7
    values = on_sets(PATTERNS[[0, 2, 1, 3]])
    negative = np.flatnonzero((values < 0) & (SET_LABELS > 0))
    assert set(negative) == {set_index(1, 2, 4), set_index(2, 3, 4)}


def test_control_a_factor_of_two_is_wrong_where_the_output_is_zero():
    evidence = observation_xord_realizable(candidates_on(FACTOR_OF_TWO, SINGLES))
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.details["wrong_sets"] == 2
    assert on_sets(FACTOR_OF_TWO, (set_index(1, 2, 4), set_index(2, 3, 4))).tolist() == [0, 0]


def test_control_one_wrong_output_among_all_inputs():
    candidates = candidates_on(SOLUTION, SINGLES)
    outputs = candidates.outputs.copy()
    outputs[17] *= -1
    assert broken_in(observation_xord_realizable(replace(candidates, outputs=outputs))) == ["inputs"]


def test_control_too_many_filters_are_not_the_construction():
    six = np.concatenate([SOLUTION[:2], SOLUTION[:1], SOLUTION[2:], SOLUTION[2:3]])
    evidence = observation_xord_realizable(candidates_on(six, SINGLES))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET


def test_control_singles_that_detect_both_would_be_noticed():
    """Not possible with ReLU, so the outputs of a k = 2 network are put through the same door."""
    evidence = observation_xord_realizable(candidates_on(SOLUTION, np.stack([SOLUTION])))
    assert evidence.verdict is Verdict.VIOLATED
    assert broken_in(evidence) == ["single_filters"]


def test_without_networks_with_k_1_nothing_is_decided():
    evidence = observation_xord_realizable(candidates_on(SOLUTION, SINGLES[:0]))
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_the_decoy_at_a_larger_margin():
    evidence = observation_decoy(decoy(margin=8.1))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.measured == pytest.approx(0.1)


def test_control_the_true_solution_is_no_decoy():
    evidence = observation_decoy(decoy_on(filters=SOLUTION))
    assert evidence.verdict is Verdict.VIOLATED
    assert broken_in(evidence) == [SETS]


@pytest.mark.parametrize(
    ("plus", "minus", "part"),
    [
        (3.1, 1.0, [POSITIVE]),
        (3.05, 1.05, [NEGATIVE]),
        (2.999, 1.0, [LOSS, POSITIVE]),
        (2.2, 0.2, [LOSS, NEGATIVE]),
    ],
)
def test_control_other_sizes_of_the_decoy(plus, minus, part):
    """The five wrong sets stay; N is 2·(2·plus) − 2·(2·minus) on x⁺ and −4·minus on x⁻."""
    assert broken_in(observation_decoy(decoy(plus, minus))) == part


def test_the_decoy_on_own_points():
    assert on_own(diverse_points(0)).verdict is Verdict.HOLDS
    mixed = from_sets({DIVERSE_POSITIVE: 5, set_index(2, 3, 4): 1, DIVERSE_NEGATIVE: 6})
    evidence = observation_decoy(decoy(points=mixed))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.measured == pytest.approx(12 / 6)


def test_the_diverse_part_of_own_points_alone():
    points = diverse_points(0)
    mixed = Dataset(points.inputs.at[0].set(1.0), points.labels)
    assert on_own(mixed).verdict is Verdict.HYPOTHESES_NOT_MET
    assert on_own(mixed, diverse_only=True).verdict is Verdict.HOLDS
    assert on_own(mixed, diverse_only=True, required_margin=9.0).verdict is Verdict.HYPOTHESES_NOT_MET


@pytest.mark.parametrize("words", [(0, 1, 2, 3), (6, 7, 8)])
def test_control_own_points_of_one_class(words):
    data = diverse_points(0)[np.array(words)]
    assert observation_decoy(decoy(points=from_data(data))).verdict is Verdict.HYPOTHESES_NOT_MET
    assert isinstance(observation_decoy.on(UserData(data)), NotApplicable)


def test_control_labels_that_are_not_those_of_xord():
    points = diverse_points(0)
    wrong = Dataset(points.inputs, -points.labels)
    evidence = observation_decoy(decoy(points=from_data(wrong)))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [h.actual for h in evidence.hypotheses if h.key == "labels"] == [12]
    assert isinstance(observation_decoy.on(UserData(wrong)), NotApplicable)
    halves = points.inputs.at[0].set(0.5)
    assert on_own(Dataset(halves, points.labels)).verdict is Verdict.HYPOTHESES_NOT_MET
    assert isinstance(observation_decoy.on(UserData(Dataset(points.inputs / 2, points.labels))), NotApplicable)


@pytest.mark.parametrize(("patches", "printed", "counted"), [(4, 0.09375, 0.1), (5, 0.23438, 0.24194)])
def test_shares_of_diverse_points(patches, printed, counted):
    listed = count_diverse(patches)
    (positive,), (negative,) = listed.share_of_positive, listed.share_of_negative
    assert float(diverse_probabilities_as_printed(patches)[0]) == pytest.approx(printed, abs=1e-5)
    assert float(diverse_probabilities(patches)[0]) == pytest.approx(counted, abs=1e-5)
    assert tuple(map(float, diverse_probabilities(patches))) == (positive, negative)
    assert float(diverse_probabilities_as_printed(patches)[1]) == negative


def test_control_another_share_of_negative_points():
    def formula(patches):
        return diverse_probabilities(patches)[0], 1 - Fraction(1, 2**patches)

    evidence = observation_diverse_probability([count_diverse(4)], formula=formula)
    assert evidence.verdict is Verdict.VIOLATED
    assert broken_in(evidence) == ["negative"]
    assert observation_diverse_probability([count_diverse(3)]).verdict is Verdict.HYPOTHESES_NOT_MET


def test_control_the_printed_share_of_positive_points():
    """At d = 4 it is 3/32, the share of all inputs; of the positive ones it is 1/10."""
    evidence = observation_diverse_probability_as_printed([count_diverse(4)])
    assert broken_in(evidence) == ["positive"]
    assert (evidence.measured, evidence.promised) == (0.1, 3 / 32)


def test_points_as_arrays():
    assert jnp.asarray(diverse_points(3).inputs).shape == (12, 14)
