"""A reader's own XORD points: every statement of Section 6 that can take them."""

import jax.numpy as jnp
import pytest

from widenet.claims.base import Verdict
from widenet.claims.brutzkus2019.own_data import check_on
from widenet.claims.brutzkus2019.training_set import from_data
from widenet.errors import DataError
from widenet.types import Dataset

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


def test_labels_that_are_not_signs_are_named():
    data = points("1234", "2424")
    with pytest.raises(DataError, match=r"1 with a label that is not f\*"):
        check_on(Dataset(data.inputs, jnp.array([1.0, 0.0])), n_runs=2)


def test_points_that_are_not_made_of_pairs_are_refused():
    with pytest.raises(DataError, match=r"made of pairs; inputs have the shape \(2, 3\)"):
        check_on(Dataset(jnp.ones((2, 3)), jnp.array([1.0, -1.0])), n_runs=2)


def test_no_points_at_all_are_counted_as_none():
    assert from_data(Dataset(jnp.zeros((0, 8)), jnp.zeros(0))).per_class == (0, 0)
