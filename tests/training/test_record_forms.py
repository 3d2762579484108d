"""Which observations a record takes, until when, and which values a watch may give back; nothing is trained here."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.problems import networks, toy
from widenet.training import Record
from widenet.training.record import Step, _of_one_run, check_fold, seen_shapes
from widenet.types import RunStatus, Trajectory


def weight(now):
    return now.network.hidden_weights[0, 0]


@pytest.mark.parametrize("what", [weight, [weight], {"weight": "weight"}, {"weight": weight, "step": None}])
def test_observations_are_functions_by_name(what: Any):
    with pytest.raises(Exception, match=r"(?i)what must be observations by name|type-check|type check"):
        Record((0,), what)


def test_times_within_a_budget():
    record = Record((0, 10, 20), {"weight": weight})
    assert [record.until(last).times for last in (0, 9, 10, 19, 20, 99)] == [
        (0,),
        (0,),
        (0, 10),
        (0, 10),
        (0, 10, 20),
        (0, 10, 20),
    ]
    assert record.until(10).what is record.what
    with pytest.raises(ValueError, match="start within the budget of 4 steps, got 5 first"):
        Record((5, 6), {"weight": weight}).until(4)


def test_the_shortest_rows_of_times():
    assert Record((0,)).times == (0,)
    assert Record((3, 4)).times == (3, 4)
    for wrong in ((4, 3), (0, 2, 1), (1, 0, 2), (-1,)):
        with pytest.raises(ValueError, match="must increase from 0 on"):
            Record(wrong)


def one_run():
    """The shapes of a network and of the data it is trained on."""
    struct = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype), networks(2))
    return struct, jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), toy())


def test_shapes_are_those_of_one_run():
    what = {
        "rows": lambda now: now.network.hidden_weights,
        "points": lambda now: now.data.inputs,
        "step": lambda now: now.step,
    }
    found = seen_shapes(Record((0,), what), *one_run())
    assert [(each.shape, each.dtype.name) for each in found] == [
        ((6, 5), "float64"),
        ((24, 5), "float64"),
        ((), "int32"),
    ]
    assert seen_shapes(Record(), *one_run()) == []


@pytest.mark.parametrize(
    ("observation", "words"),
    [
        (lambda: 0.0, r"takes one Snapshot, .*; 'it' takes \(\)"),
        (lambda network, data: 0.0, r"takes one Snapshot, .*; 'it' takes \(network, data\)"),
        (lambda now: {"weight": now.step}, "must return one array or number, got dict from 'it'"),
    ],
)
def test_an_observation_takes_one_moment_and_gives_one_array(observation, words):
    with pytest.raises(ValueError, match=words):
        seen_shapes(Record((0,), {"it": observation}), *one_run())


class Fold(eqx.Module):
    scale: Any
    then: Any = eqx.field(static=True)

    def start(self, network):
        return self.scale

    def update(self, value, step):
        return self.then(self.scale, value)


def a_step():
    network, _ = one_run()
    number = jax.ShapeDtypeStruct((), np.float64)
    few = jax.ShapeDtypeStruct((1,), np.float64)
    points = jax.ShapeDtypeStruct((1, 5), np.float64)
    step: Any = object.__new__(Step)
    values = (
        network,
        network,
        points,
        few,
        few,
        None,
        number,
        jax.ShapeDtypeStruct((), bool),
        jax.ShapeDtypeStruct((), np.int32),
    )
    for field, value in zip(Step.__dataclass_fields__, values, strict=True):
        object.__setattr__(step, field, value)
    return step


@pytest.mark.parametrize(
    ("then", "got"),
    [
        (lambda scale, value: {"value": value}, r"\{'value': 'float64\[3\]'\}"),
        (lambda scale, value: value[:2], r"float64\[2\]"),
        (lambda scale, value: (value, value), r"\('float64\[3\]', 'float64\[3\]'\)"),
    ],
    ids=["another structure", "another shape", "both"],
)
def test_a_fold_keeps_structure_and_shapes_of_its_value(then, got):
    """Two runs with three numbers each."""
    value = jnp.ones((2, 3))
    check_fold(Fold(value, lambda scale, value: scale + value), value, a_step())
    with pytest.raises(ValueError, match=rf"the form that start gives, float64\[3\], got {got}"):
        check_fold(Fold(value, then), value, a_step())


@pytest.mark.parametrize("make", [np.ones, jnp.ones])
def test_the_form_of_one_run(make):
    one = _of_one_run(make((2, 3, 4), np.float32))
    assert (one.shape, one.dtype, one.weak_type) == ((3, 4), np.float32, False)


def test_a_record_and_a_run_are_shown_in_one_line():
    assert repr(Record((0, 10), {})) == "Record(times=(0, 10), what={})"
    assert repr(Record(range(201), {})) == "Record(times=(0, 1, …, 200), what={})"
    counts = np.zeros(3, np.int32)
    ends = np.asarray([RunStatus.CONVERGED, RunStatus.DIVERGED, RunStatus.CONVERGED])
    seen = {"norm": np.zeros((3, 1, 2))}
    runs = Trajectory(None, ends, counts, counts, counts, counts, counts, np.zeros(3), (0,), seen)
    assert repr(runs) == "<Trajectory: 2 CONVERGED, 1 DIVERGED; records norm (3, 1, 2)>"
    one = jax.tree.map(lambda leaf: leaf[0], runs)
    assert repr(one) == "<Trajectory: 1 CONVERGED; records norm (1, 2)>"
    assert "status=f32[3]" in repr(eqx.tree_at(lambda each: each.status, runs, jnp.zeros(3, jnp.float32)))
