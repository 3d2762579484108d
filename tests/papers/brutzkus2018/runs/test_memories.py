"""Points on one ray, and cells of what was fitted."""

import numpy as np
import pytest

from widenet.papers.brutzkus2018.runs.memories import (
    Construction,
    Memory,
    MemorySetting,
    MemoryShape,
    memories_of,
    run_memories,
    search,
)
from widenet.progress import silent
from widenet.run.records import decode, encode


def memory(inputs, labels):
    return Memory(np.array(inputs, float), np.array(labels, float)[:, None], 2, 0.3)


@pytest.mark.parametrize(
    ("inputs", "labels", "contradictory"),
    [
        ([[1, 0], [2, 0]], [1, -1], True),
        ([[1, 0], [2, 0]], [1, 1], True),  # N(2x) = 2N(x)
        ([[1, 0], [1, 0]], [1, -1], True),
        ([[1, 0], [1, 0]], [1, 1], False),
        ([[1, 0], [-1, 0]], [1, -1], False),
        ([[1, 0], [-1, 0]], [1, 1], False),
        ([[1, 0], [0, 1]], [1, -1], False),
    ],
)
def test_contradictions(inputs, labels, contradictory):
    assert memory(inputs, labels).is_contradictory == contradictory


def test_the_closest_directions():
    assert memory([[1, 0], [0, 3], [-2, 0]], [1, 1, 1]).closest_directions == pytest.approx(2**0.5, rel=1e-12)
    assert memory([[1, 0]], [1]).closest_directions == 2


def test_what_no_network_can_do_needs_no_search():
    found = search(memory([[1, 0], [2, 0], [0, 1]], [1, -1, 1]), np.random.default_rng(0))
    assert found.is_contradictory
    assert found.errors.max() >= 0.5


@pytest.mark.parametrize(
    ("construction", "half_width"), [(Construction.SEARCH, 14), (Construction.SWEEP, 10), (Construction.BUMPS, 14)]
)
def test_each_construction_has_its_own_width(construction, half_width):
    """n = 28, d = 3: k = 2⌈28/4⌉ of the statement, and ⌈28/3⌉ of swept gates."""
    shape = MemoryShape(n_samples=28, dim=3, slope=0.3)
    (found,) = memories_of(MemorySetting(construction=construction, shapes=(shape,), labellings=1))
    assert found.half_width == half_width


@pytest.mark.parametrize("construction", list(Construction))
def test_a_cell_is_read_as_it_was_written(construction):
    shapes = (
        MemoryShape(n_samples=8, dim=3, slope=0.3, planes=2),
        MemoryShape(n_samples=5, dim=2, slope=0.5, planes=2),
    )
    found = run_memories(MemorySetting(construction=construction, shapes=shapes, labellings=2), silent)
    again = decode(type(found), *encode(found))
    assert len(again.cases) == 2
    for case, other in zip(found.cases, again.cases, strict=True):
        np.testing.assert_array_equal(case.outputs, other.outputs)
        assert case.half_width == other.half_width
        assert case.gates == other.gates
