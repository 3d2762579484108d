"""Drawn data sets: the same each time, of every kind and of few shapes; and whatever must not be is told."""

import numpy as np

from tools import drawn_data
from tools.drawn_kinds import DIMS, SHARES, SIZES, drawn
from widenet import run
from widenet.claims import Verdict
from widenet.claims.conclusion import evidence
from widenet.claims.sides import Sides
from widenet.run import Mishap
from widenet.store import CellKey


def test_a_set_is_the_same_each_time():
    for number in range(30):
        first, second = drawn(number), drawn(number)
        assert np.array_equal(first[0], second[0])
        assert np.array_equal(first[1], second[1])
        assert first[2:] == second[2:]


def test_sets_are_finite_of_every_kind_and_of_few_shapes():
    sets = [drawn(number) for number in range(600)]
    assert {each[3].split()[0] for each in sets} == {kind.__name__ for kind in SHARES}
    assert all(np.isfinite(inputs).all() for inputs, *_ in sets)
    assert {inputs.dtype for inputs, *_ in sets} == {np.dtype(np.float32), np.dtype(np.float64)}
    assert {inputs.shape for inputs, *_ in sets} <= {(n, d) for n in SIZES for d in (*DIMS, 8)}
    assert {tuple(np.unique(labels)) for _, labels, *_ in sets} == {
        (-1.0,), (1.0,), (-1.0, 1.0), (0.0, 1.0, 2.0), (0.0, 1.0, 2.0, 3.0),
    }  # fmt: skip


def test_cells_in_memory_are_read_as_they_were_put():
    store, key = drawn_data.InMemory(), CellKey("toy.runs", {"seed": 0}, "1")
    assert store.get(key) is None
    assert not store.holds(key)
    store.put(key, {"x": np.arange(3.0)}, {"seconds": 1.0})
    found = store.get(key)
    assert found is not None
    assert found.arrays["x"].tolist() == [0.0, 1.0, 2.0]
    assert found.content == {"seconds": 1.0}


def violated() -> object:
    found = evidence({"bound": Sides([3.0], 2.0)})
    assert found.verdict is Verdict.VIOLATED
    return found


def test_everything_that_must_not_be_is_told(monkeypatch):
    def answers(*_, **__):
        return {"toy.a": Mishap("it raised"), "toy.b": violated(), "toy.c_as_printed": violated()}

    monkeypatch.setattr(run, "check_on", answers)
    row = drawn_data.ask(0)
    assert set(row["trouble"]) == {"toy.a", "toy.b"}
    assert row["verdicts"] == {"toy": {"VIOLATED": 2}}
    assert "1 with a refutation" in drawn_data.summary([row])
    head, rule, toy = (line for line in drawn_data.summary([row]).splitlines() if line.startswith("|"))
    assert toy == "| toy | 1 | 0 | 0 | 0 | 0 | 2 |"
    assert head.count("|") == rule.count("|") == toy.count("|")
    assert rule.startswith("| --- | ---: |")
    monkeypatch.setattr(run, "check_on", lambda *_, **__: 1 / 0)
    assert "ZeroDivisionError" in drawn_data.ask(0)["trouble"]["raised"]
