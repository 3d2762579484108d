"""A training set as training sees it."""

import jax.numpy as jnp
import numpy as np
import pytest

from tests.papers.brutzkus2019.claims.networks import points
from widenet.data.xord import set_points
from widenet.errors import DataError
from widenet.papers.brutzkus2019.sources import PAIR, TrainingSet, from_data, from_sets
from widenet.types import Dataset


def test_what_is_wrong_with_a_readers_points_is_measured():
    data = points("12342", "43211", "24242", "44444", "11111")
    mixed = Dataset(data.inputs.at[0, 0].set(0.5), data.labels.at[1].set(-1.0))
    found = from_data(mixed)
    assert (found.not_signs, found.mislabelled, found.non_diverse) == (1, 1, 2)
    assert found.per_class == (1, 2)
    assert found.size == 5
    assert from_data(data).diverse_part() == from_sets({14: 1, 9: 1}) == PAIR


def test_points_are_counted_by_their_sets():
    assert from_data(set_points()).counts == (1,) * 15


def test_no_points_at_all_are_counted_as_none():
    assert from_data(Dataset(jnp.zeros((0, 8)), jnp.zeros(0))).per_class == (0, 0)


@pytest.mark.parametrize("shape", [(2, 3), (2, 2, 2)])
def test_points_that_are_not_made_of_pairs_are_refused(shape):
    with pytest.raises(DataError, match="made of pairs; inputs have the shape"):
        from_data(Dataset(jnp.ones(shape), jnp.ones(shape[:-1])))


def test_proportions_are_reduced_class_by_class():
    """Six and four diverse positives of ten, five negatives of one set: 3 to 2, and 1."""
    training = from_sets({14: 6, 0: 4, 9: 5})
    expected = np.zeros(15, int)
    expected[[14, 0, 9]] = 3, 2, 1
    assert (training.proportions == expected).all()
    assert (from_sets({14: 3}).proportions.sum(), from_sets({}).proportions.sum()) == (1, 0)


def test_it_is_plain_and_comes_back_from_json():
    whole = from_sets({14: 3, 9: 2})
    part = whole.diverse_part().model_copy(update={"whole": whole})
    assert TrainingSet.model_validate_json(part.model_dump_json()) == part
    assert hash(part) != hash(whole)
