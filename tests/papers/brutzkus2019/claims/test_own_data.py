"""A reader's own XORD points: every statement of Section 6 that can take them."""

import jax.numpy as jnp
import pytest

from widenet.claims.base import Verdict
from widenet.claims.statistics import runs_needed
from widenet.errors import DataError
from widenet.papers.brutzkus2019.claims.narrow import (
    can_converge,
    check_observation_small_convergence,
    small_networks_on,
)
from widenet.papers.brutzkus2019.claims.own_data import check_on, settings_on
from widenet.papers.brutzkus2019.claims.sign_flip import check_lemma_f_2, make_twins
from widenet.papers.brutzkus2019.claims.xord_structure import check_observation_decoy, decoy_on
from widenet.papers.brutzkus2019.claims.xord_updates import (
    check_equation_7_8,
    check_footnote_10,
    check_observation_decomposition,
    check_observation_one_pair,
)
from widenet.papers.brutzkus2019.formulas import SMALLEST_WIDTH, UNEXPLORED, c_value, recovery_failure
from widenet.papers.brutzkus2019.runs.training_set import from_data
from widenet.papers.brutzkus2019.runs.xord_descent import runs_on
from widenet.types import Dataset

UNMET = Verdict.HYPOTHESES_NOT_MET
SIGNS = {"1": (1, 1), "2": (1, -1), "3": (-1, -1), "4": (-1, 1)}


def points(*words: str) -> Dataset:
    inputs = jnp.asarray([[entry for letter in word for entry in SIGNS[letter]] for word in words], float)
    return Dataset(inputs, jnp.asarray([1.0 if set(word) & {"1", "3"} else -1.0 for word in words]))


def test_diverse_points_meet_every_hypothesis():
    found = check_on(points("1234", "4321", "2424", "2244"), n_runs=20)
    assert len(found) == 11
    assert {evidence.verdict for evidence in found.values()} == {Verdict.HOLDS, Verdict.INSUFFICIENT_EVIDENCE}
    deterministic = ("theorem_6_3_angle", "lemma_e_17", "equation_18", "lemma_f_2", "observation_small_failure")
    for name in (*deterministic, "theorem_6_4"):
        assert found[f"brutzkus2019.{name}"].verdict is Verdict.HOLDS, name


def test_control_points_that_are_not_diverse():
    data = points("1234", "2424", "4321", "2222")
    found = check_on(data, n_runs=20, required_margin=1.0)
    assert {evidence.verdict for evidence in found.values()} == {Verdict.HYPOTHESES_NOT_MET}
    assert "diverse_only=True takes 1 diverse points" in found["brutzkus2019.theorem_6_3"].note


def test_data_without_a_negative_point_is_refused():
    with pytest.raises(DataError, match=r"of each class, got 2 of \+1 and 0 of -1"):
        check_on(points("1234", "1111"), n_runs=2)


@pytest.mark.parametrize("words", [("1234", "1111"), ("2424", "2222")])
def test_data_of_one_class_is_refused_in_one_sentence_or_fails_the_hypotheses(words: tuple[str, ...]) -> None:
    data = points(*words)
    for diverse_only in (False, True):
        with pytest.raises(DataError, match="of each class") as caught:
            check_on(data, n_runs=2, diverse_only=diverse_only)
        assert "\n" not in str(caught.value)
    assert check_lemma_f_2(make_twins(0, 2, required_margin=1.0, points=from_data(data))).verdict is UNMET
    assert check_observation_decoy(decoy_on(data)).verdict is UNMET
    for check in (check_observation_one_pair, check_equation_7_8, check_footnote_10, check_observation_decomposition):
        assert check([runs_on(data, n_runs=1)]).verdict is UNMET


def test_a_single_run_in_which_a_condition_does_not_occur_is_no_error():
    """One start of k = 2 may be unable to reach zero loss; then there is no rate to compare with."""
    alone = [small_networks_on(points("1234", "2424"), 1, 1.0, seed) for seed in range(4)]
    assert any(not can_converge(networks.drawn[0].start).any() for networks in alone)
    assert {check_observation_small_convergence(networks).verdict for networks in alone} == {Verdict.HOLDS}


def test_diverse_only_says_what_it_left_out_and_why():
    data = points("1234", "2424", "4321", "2222", "1114", "2442")
    data = Dataset(data.inputs.at[4, 0].set(0.5), data.labels.at[5].set(1.0))
    found = check_on(data, n_runs=2, required_margin=1.0, diverse_only=True)
    (left_out,) = {evidence.note.partition("diverse_only=True")[2] for evidence in found.values()}
    assert left_out == (
        " left out 4 of 6 points: 1 not diverse, 1 with a label that is not f*(x), which is +1 where (1, 1) or (-1, -1)"
        " occurs, 1 with an entry that is not ±1, 1 diverse but without a partner in the other class."
    )


def test_the_numbers_of_runs_that_confirm_are_those_of_the_docstring():
    width = SMALLEST_WIDTH
    rates = (recovery_failure(width), c_value(width) + 8 * UNEXPLORED, c_value(width) + 4 * UNEXPLORED)
    assert [runs_needed(rate) for rate in rates] == [557, 1115, 2232]
    assert all(str(runs_needed(rate)) in (settings_on.__doc__ or "") for rate in rates)


def test_labels_that_are_not_signs_are_named():
    data = points("1234", "2424")
    with pytest.raises(DataError, match=r"1 with a label that is not f\*"):
        check_on(Dataset(data.inputs, jnp.array([1.0, 0.0])), n_runs=2)


def test_points_that_are_not_made_of_pairs_are_refused():
    with pytest.raises(DataError, match=r"made of pairs; inputs have the shape \(2, 3\)"):
        check_on(Dataset(jnp.ones((2, 3)), jnp.array([1.0, -1.0])), n_runs=2)


def test_no_points_at_all_are_counted_as_none():
    assert from_data(Dataset(jnp.zeros((0, 8)), jnp.zeros(0))).per_class == (0, 0)
