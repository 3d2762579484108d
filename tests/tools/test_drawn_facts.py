"""A few of the drawn tables, and every fact changed alone; `make drawn-facts` draws a thousand."""

import copy
import functools
import json

import numpy as np
import pytest

from tests.packages import EMPTY, TOY
from tools import drawn_facts
from tools.drawn_tables import KINDS, drawn
from tools.known_facts import disagreements
from widenet import papers
from widenet.certificates.portrait import portray
from widenet.certificates.preparation import Scaling, prepare
from widenet.certificates.reading import read

APART, MIXED = (
    np.array([[1.0, 0.0, 7.0], [1.0, 0.4, 7.0], [1.0, 0.4, 7.0], [4.0, 0.0, 7.0], [4.0, 0.4, 7.0]]),
    np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]),
)
NAMES = {"apart": np.array(list("aaabb")), "mixed": np.array(list("abbab"))}


@pytest.fixture(autouse=True)
def toy_papers(monkeypatch):
    monkeypatch.setattr(papers, "PAPERS", (TOY, EMPTY))


@pytest.mark.parametrize("number", range(2 * len(KINDS)))
def test_facts_are_those_of_other_programs(number):
    assert drawn_facts.look(number) == []


@pytest.mark.parametrize("number", [0, 1])
def test_whole_certificates_too(number):
    assert drawn_facts.look_at_whole(number) == []


def test_tables_are_the_same_each_time_and_have_many_rows_now_and_then():
    assert np.array_equal(drawn(5).inputs, drawn(5).inputs)
    assert len(drawn(99).inputs) > 20_000
    assert len(set(drawn(7).labels)) >= 2


@functools.cache
def facts(name: str):
    table = read(APART if name == "apart" else MIXED, NAMES[name])
    return json.loads(portray(table, prepare(table, Scaling.AUTO)).model_dump_json())


def known(name: str, portrait) -> list[str]:
    return disagreements(APART if name == "apart" else MIXED, NAMES[name], portrait)


def test_other_programs_agree_about_two_tables():
    assert known("apart", facts("apart")) == known("mixed", facts("mixed")) == []
    assert facts("mixed")["n_contradicting"] == 2
    assert facts("apart")["duplicates"] == 1


CHANGES = [
    ("apart", ("points",), 6), ("apart", ("columns",), 2), ("apart", ("classes", 0, "points"), 2),
    ("apart", ("norms",), [7.0, 7.0, 9.0]), ("apart", ("duplicates",), 0), ("apart", ("repeats",), [[2, 1]]),
    ("mixed", ("n_contradicting",), 1), ("mixed", ("contradictions",), [[1, 2]]),
    ("apart", ("preparation", "used"), 4), ("apart", ("preparation", "constant_columns"), []),
    ("apart", ("preparation", "spread"), 3.0), ("apart", ("preparation", "is_standardized"), True),
    ("apart", ("preparation", "factor"), 5.0), ("apart", ("separability", -1, "points"), 4),
    ("apart", ("separability", -1, "separable"), False), ("apart", ("separability", -1, "separable"), None),
    ("apart", ("separability", -1, "margin"), 0.9), ("apart", ("separability", -1, "margin"), 0.01),
    ("apart", ("separability", -1, "margin_limit"), 0.9), ("apart", ("separability", -1, "offset"), 0.0),
    ("apart", ("separability", -1, "normal"), [0.6, 0.8]), ("apart", ("separability", -1, "theorem_margin"), 0.001),
    ("apart", ("separability", -1, "theorem_margin"), 0.9), ("apart", ("separability", -1, "witnesses"), [1, 2]),
    ("mixed", ("separability", -1, "separable"), True), ("mixed", ("separability", -1, "in_the_way"), []),
    ("mixed", ("separability", -1, "in_the_way"), [1, 2, 3, 4, 5]),
    ("mixed", ("separability", -1, "witnesses"), [2, 3]),
    ("apart", ("components", "distance"), 0.5), ("apart", ("components", "per_class"), 9),
    ("apart", ("components", "relative_diameter"), 0.9), ("apart", ("clusters", "imbalance"), 0.123),
    ("apart", ("clusters", "overlap"), 1.5), ("apart", ("clusters", "radius"), 2.5),
]  # fmt: skip


@pytest.mark.parametrize(("name", "path", "value"), CHANGES)
def test_control_a_fact_that_is_changed_is_noticed(name, path, value):
    changed = copy.deepcopy(facts(name))
    place = changed
    for step in path[:-1]:
        place = place[step]
    assert place[path[-1]] != value
    place[path[-1]] = value
    assert known(name, changed)
