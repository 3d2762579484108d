"""What a TOML file may ask, and the sentence for what it may not."""

import math

import pytest

from widenet.errors import InputError
from widenet.sweeps.spec import read_spec, spec_of


def axis(**row):
    return spec_of({"of": "x", "over": {"a": row}}).axes()["a"]


def test_ranges_include_both_ends():
    assert axis(**{"from": 0.1, "to": 10, "steps": 3, "log": True}) == (0.1, 1.0, 10.0)
    assert axis(**{"from": 0, "to": 1, "steps": 5}) == (0.0, 0.25, 0.5, 0.75, 1.0)


def test_ranges_between_whole_numbers_are_whole_where_they_can_be():
    values = axis(**{"from": 4, "to": 256, "steps": 4, "log": True})
    assert values == (4, 16, 64, 256)
    assert all(isinstance(each, int) for each in values)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"oof": "x"}, "there is no key 'oof'; did you mean 'of'"),
        ({}, "name a claim or an experiment"),
        ({"of": "x", "look": {"measure": "a"}}, "look: there is no key 'measure'; did you mean 'measured'"),
        (
            {"of": "x", "over": {"a": {"form": 1, "to": 2, "steps": 2}}},
            "a: there is no key 'form'; did you mean 'from'",
        ),
        ({"of": "x", "over": {"a": []}}, "a has no values"),
        ({"of": "x", "over": {"a": [1, 2, 1]}}, "a has the value 1 twice"),
        ({"of": "x", "over": {"a": [math.nan, math.nan, 1.0]}}, "a must have finite values, got nan; leave it out"),
        ({"of": "x", "over": {"a": {"from": 0, "to": math.inf, "steps": 3}}}, "a: a range needs finite ends, got 0"),
        ({"of": "x", "over": {"a": {"from": 0, "to": 1}}}, "over.a.steps is missing; a range has from, to and steps"),
        ({"of": "x", "over": {"a": [1, "b"]}}, "a has text beside numbers"),
        ({"of": "x", "over": {"a": {"from": 0, "to": 1, "steps": 2, "log": True}}}, "needs positive ends"),
        ({"of": "x", "over": {"a": {"from": 0, "to": 1, "steps": 0}}}, "over.a.steps: must be greater"),
        ({"of": "x", "runs": 0}, "runs: must be greater than or equal to 1, got 0"),
        ({"of": "x", "set": {"a": 1}, "over": {"a": [1, 2]}}, "one value under set and several under over"),
        ({"of": "x", "over": {name: list(range(1000)) for name in "abc"}}, "more than 10,000,000 points"),
    ],
)
def test_a_mistake_is_one_sentence(row, words):
    with pytest.raises(InputError, match=words):
        spec_of(row).axes()


def test_a_file_that_is_no_toml(tmp_path):
    (tmp_path / "a.toml").write_text("of = ")
    with pytest.raises(InputError, match=r"a\.toml: invalid value"):
        read_spec(tmp_path / "a.toml")
    with pytest.raises(InputError, match="there is no file"):
        read_spec(tmp_path / "b.toml")


def test_files_are_seen_from_the_folder_of_the_spec(tmp_path):
    (tmp_path / "leaves.csv").touch()
    (tmp_path / "a.toml").write_text('of = "x"\ndata = "leaves.csv"\n')
    assert read_spec(tmp_path / "a.toml").data == str(tmp_path / "leaves.csv")
