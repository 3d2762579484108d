"""A reader's data, with what was found out about it once."""

import jax.numpy as jnp
import numpy as np
import pytest

from widenet.claims import specimen as module
from widenet.claims.specimen import Choices, Specimen
from widenet.data import from_arrays
from widenet.data.own import recall, recall_for
from widenet.errors import DataError
from widenet.records import ClosedModel
from widenet.types import Dataset

DATA = from_arrays([[0.6, 0.8], [-0.5, 0.1], [0.3, 0.2]], [1, -1, 1])


def test_what_is_known_about_the_data():
    specimen = Specimen(DATA)
    assert specimen.classes == (-1.0, 1.0)
    assert specimen.has_signs_as_labels
    assert specimen.largest_norm == pytest.approx(1.0)
    assert (specimen.inputs.dtype, specimen.labels.dtype) == (np.float64, np.float64)
    assert specimen.separation.separable is True


def test_it_is_found_out_once(monkeypatch):
    specimen, calls, find = Specimen(DATA), [], module.find_separator
    monkeypatch.setattr(module, "find_separator", lambda data: calls.append(data) or find(data))
    assert specimen.separation is specimen.separation
    assert len(calls) == 1


def test_settings_name_the_data_by_its_digest():
    class Setting(ClosedModel):
        own_data: str | None

    specimen = Specimen(DATA)
    assert specimen.digest == Specimen(from_arrays(DATA.inputs, DATA.labels)).digest
    assert specimen.digest != Specimen(from_arrays(-DATA.inputs, DATA.labels)).digest
    assert specimen.digest != Specimen(from_arrays(DATA.inputs, -DATA.labels)).digest
    assert specimen.digest != Specimen(from_arrays(DATA.inputs, DATA.labels, dtype=np.float32)).digest
    np.testing.assert_array_equal(recall(specimen.digest).inputs, DATA.inputs)
    assert set(recall_for(Setting(own_data=specimen.digest))) == {specimen.digest}
    assert recall_for(Setting(own_data=None)) == {}
    with pytest.raises(DataError, match="is not at hand"):
        recall("0" * 64)


@pytest.mark.parametrize(
    ("labels", "classes", "signs"),
    [([1, 1, 1], (1.0,), False), ([0, 1, 2], (0.0, 1.0, 2.0), False), ([0, 1, 1], (0.0, 1.0), False)],
)
def test_other_labels_are_seen(labels, classes, signs):
    specimen = Specimen(Dataset(DATA.inputs, jnp.asarray(labels, jnp.float64)))
    assert (specimen.classes, specimen.has_signs_as_labels) == (classes, signs)


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
        Specimen(Dataset(jnp.asarray(inputs), jnp.asarray(labels)))


@pytest.mark.parametrize(
    "choices",
    [{"n_runs": 0}, {"n_neurons": 3}, {"slope": 1.0}, {"step_size": 0.0}, {"seed": -1}, {"width": 4}],
)
def test_impossible_choices_are_refused(choices):
    with pytest.raises(ValueError, match=next(iter(choices))):
        Choices(**choices)
