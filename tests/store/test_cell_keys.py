import dataclasses
import enum
import hashlib
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from widenet.store import CellKey
from widenet.store.keys import canonical_json


class Colour(enum.StrEnum):
    RED = "red"


def key(parameters) -> CellKey:
    return CellKey("paper.statement", parameters, version="1")


finite = st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | finite | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def test_canonical_json_is_one_text():
    assert canonical_json({"b": [1, 2.5], "a": "η", "c": None}) == '{"a":"\\u03b7","b":[1,2.5],"c":null}'


def test_the_digest_is_the_hash_of_the_documented_text():
    text = '{"name":"paper.statement","parameters":{"width":4},"version":"1"}'
    assert key({"width": 4}).digest == hashlib.sha256(text.encode()).hexdigest()


@settings(deadline=None, max_examples=50)
@given(st.dictionaries(st.text(), json_values))
def test_order_does_not_matter_and_json_round_trips(parameters):
    reversed_order = dict(reversed(list(parameters.items())))
    assert key(parameters).digest == key(reversed_order).digest
    assert CellKey(**json.loads(canonical_json(key(parameters).as_json()))) == key(parameters)


def test_subclasses_of_json_types_are_their_plain_values():
    plain = key({"colour": "red", "rate": 0.5, "sizes": [1, 2]})
    assert key({"colour": Colour.RED, "rate": np.float64(0.5), "sizes": (1, 2)}) == plain


def test_a_change_after_the_fact_does_not_reach_the_key():
    sizes = [1, 2]
    made = key({"sizes": sizes})
    before = made.digest
    sizes.append(3)
    assert made.digest == before


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "paper.other"},
        {"parameters": {"width": 5}},
        {"parameters": {"width": 4.0}},
        {"version": "2"},
    ],
)
def test_every_part_of_the_key_counts(changed):
    base = key({"width": 4})
    assert dataclasses.replace(base, **changed).digest != base.digest


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({"rate": float("nan")}, ValueError, r"parameters.rate must be finite.*nan"),
        ({"sizes": [1, float("inf")]}, ValueError, r"parameters.sizes\[1\] must be finite.*inf"),
        ({"width": np.int64(4)}, TypeError, r"parameters.width must be a JSON value, got int64"),
        ({"a": {"b": np.zeros(2)}}, TypeError, r"parameters.a.b must be a JSON value, got ndarray"),
        ({"a": {1, 2}}, TypeError, r"parameters.a must be a JSON value, got set"),
        ({"a": {1: "one"}}, TypeError, r"parameters.a must have strings as its keys, got 1"),
        ({"a": b"bytes"}, TypeError, r"parameters.a must be a JSON value, got bytes"),
    ],
)
def test_what_json_cannot_hold_is_refused_by_name(parameters, error, words):
    with pytest.raises(error, match=words):
        key(parameters)
