"""Your data, with what was found out about it once."""

import jax.numpy as jnp
import numpy as np
import pytest

from widenet.claims import user_data as module
from widenet.claims.user_data import Choices, UserData
from widenet.data import from_arrays
from widenet.data.own import recall, recall_for
from widenet.errors import DataError, InputError
from widenet.records import ClosedModel
from widenet.types import Dataset

DATA = from_arrays([[0.6, 0.8], [-0.5, 0.1], [0.3, 0.2]], [1, -1, 1])


def test_what_is_known_about_the_data():
    user_data = UserData(DATA)
    assert user_data.classes == (-1.0, 1.0)
    assert user_data.has_signs_as_labels
    assert user_data.largest_norm == pytest.approx(1.0)
    assert (user_data.inputs.dtype, user_data.labels.dtype) == (np.float64, np.float64)
    assert user_data.separation.separable is True


def test_it_is_found_out_once(monkeypatch):
    user_data, calls, find = UserData(DATA), [], module.find_separator
    monkeypatch.setattr(module, "find_separator", lambda data: calls.append(data) or find(data))
    assert user_data.separation is user_data.separation
    assert len(calls) == 1


def test_settings_name_the_data_by_its_digest():
    class Setting(ClosedModel):
        own_data: str | None

    class Sources(ClosedModel):
        sources: tuple[Setting, ...]

    user_data = UserData(DATA)
    assert user_data.digest == UserData(from_arrays(DATA.inputs, DATA.labels)).digest
    assert user_data.digest != UserData(from_arrays(-DATA.inputs, DATA.labels)).digest
    assert user_data.digest != UserData(from_arrays(DATA.inputs, -DATA.labels)).digest
    assert user_data.digest != UserData(from_arrays(DATA.inputs, DATA.labels, dtype=np.float32)).digest
    np.testing.assert_array_equal(recall(user_data.digest).inputs, DATA.inputs)
    assert set(recall_for(Setting(own_data=user_data.digest))) == {user_data.digest}
    assert recall_for(Setting(own_data=None)) == {}
    inside = Sources(sources=(Setting(own_data=None), Setting(own_data=user_data.digest)))
    assert set(recall_for(inside)) == {user_data.digest}, "a record in a setting may name it"
    with pytest.raises(DataError, match="is not at hand"):
        recall("0" * 64)


@pytest.mark.parametrize(
    ("labels", "classes", "signs"),
    [([1, 1, 1], (1.0,), False), ([0, 1, 2], (0.0, 1.0, 2.0), False), ([0, 1, 1], (0.0, 1.0), False)],
)
def test_other_labels_are_seen(labels, classes, signs):
    user_data = UserData(Dataset(DATA.inputs, jnp.asarray(labels, jnp.float64)))
    assert (user_data.classes, user_data.has_signs_as_labels) == (classes, signs)


@pytest.mark.parametrize(
    ("inputs", "labels"),
    [
        (np.zeros((2, 3, 4)), np.ones((2, 3))),
        (np.zeros((0, 3)), np.ones(0)),
        (np.full((2, 2), np.nan), np.ones(2)),
        (np.ones((2, 2)), np.array([1.0, np.inf])),
    ],
)
def test_what_no_claim_could_speak_about_is_refused(inputs, labels):
    with pytest.raises(DataError):
        UserData(Dataset(jnp.asarray(inputs), jnp.asarray(labels)))


@pytest.mark.parametrize(
    "choices",
    [{"n_runs": 0}, {"n_neurons": 3}, {"slope": 1.0}, {"step_size": 0.0}, {"seed": -1}, {"width": 4}],
)
def test_impossible_choices_are_refused(choices):
    with pytest.raises(InputError, match=next(iter(choices))):
        Choices(**choices)
