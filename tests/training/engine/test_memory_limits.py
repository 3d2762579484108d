"""What may be used on a device, how many cores there are, and estimates for what is no network of two layers."""

import os
from types import SimpleNamespace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.problems import networks, toy
from widenet.errors import InputError
from widenet.losses import hinge
from widenet.training import SGD, Recipe, Record
from widenet.training.engine import memory
from widenet.types import Layers


class Bare(eqx.Module):
    """A network of which nothing is known but its weights."""

    weights: jax.Array

    def __call__(self, x):
        return jnp.sum(self.weights) * x[0]


def need(nets, record=None):
    """Of three runs on 24 points of 5 numbers, 8 bytes each, with the plain kernel."""
    method = Recipe(hinge, SGD(0.5, kernel="plain"), 500).method
    return memory.estimate(nets, toy(), method, Layers.HIDDEN, record or Record(), 3)


@pytest.fixture
def device(monkeypatch):
    """A graphics card; `stats` are those of its memory, which a second card does not share."""
    found = SimpleNamespace(stats=None)
    cards = [
        SimpleNamespace(memory_stats=lambda: found.stats),
        SimpleNamespace(memory_stats=lambda: {"bytes_limit": 7}),
    ]
    monkeypatch.delenv(memory.VARIABLE, raising=False)
    monkeypatch.setattr(memory.jax, "default_backend", lambda: "gpu")
    monkeypatch.setattr(memory.jax, "local_devices", lambda: cards)
    monkeypatch.setattr(memory, "_main_memory", lambda: 5000)
    return found


@pytest.mark.parametrize(
    ("stats", "bytes_"),
    [
        ({"bytes_limit": 1000, "bytes_in_use": 200}, 680),
        ({"bytes_limit": 1000}, 850),
        ({"bytes_in_use": 200}, 2500),
        ({}, 2500),
        (None, 2500),
    ],
)
def test_a_share_of_what_is_free_on_a_card_or_of_the_main_memory(device, stats, bytes_):
    device.stats = stats
    assert memory.limit() == bytes_


def test_on_a_cpu_half_of_the_main_memory_whatever_its_devices_tell(device, monkeypatch):
    device.stats = {"bytes_limit": 1000}
    monkeypatch.setattr(memory.jax, "default_backend", lambda: "cpu")
    assert memory.limit() == 2500


def test_records_stay_in_the_memory_of_a_cpu_alone(device):
    """On a card they are moved away as they are taken."""
    record = Record((0, 10, 20), {"inputs": lambda now: now.data.inputs})
    assert need(networks(3), record).kept == need(networks(3)).kept == 2 * 304


def test_what_is_no_number_of_bytes():
    wrong: Any
    for wrong in ("2GB", True, [1000]):
        with pytest.raises(Exception, match=r"(?i)memory must be a positive number of bytes|type-check"):
            memory.limit(wrong)


def test_the_cores_of_this_process_or_of_the_machine(monkeypatch):
    """Process 0 is the one that asks. Where nobody can tell, there is one core."""
    monkeypatch.setattr(memory.os, "sched_getaffinity", lambda process: {0: {1, 4, 5}}[process], raising=False)
    assert memory.cores() == 3
    monkeypatch.delattr(memory.os, "sched_getaffinity")
    for count, cores in ((6, 6), (None, 1)):
        monkeypatch.setattr(memory.os, "cpu_count", lambda count=count: count)
        assert memory.cores() == cores


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system does not tell")
def test_at_least_one_core_works_here():
    assert 1 <= memory.cores() <= (os.cpu_count() or 1)


@pytest.mark.parametrize(("weights", "neurons"), [(1, 1), (4, 1), (5, 1), (10, 2), (17, 3)])
def test_the_neurons_of_an_unknown_network_are_rows_of_weights(weights, neurons):
    """As many rows as long as a sample as its weights would fill, and at least one."""
    asked = need(Bare(jnp.ones((3, weights))))
    assert asked.neurons == neurons
    assert (asked.kept, asked.held) == (2 * 8 * weights, 3 * 8 * weights)
    assert asked.working == 8 * (2 * 24 * neurons + 3 * 24)


def test_records_are_those_of_one_run():
    """Of hidden weights, 6 rows of 5 numbers, and of the labels of 24 points."""
    record = Record((0, 10), {"rows": lambda now: now.network.hidden_weights, "labels": lambda now: now.data.labels})
    assert memory._records(networks(3), toy(), record, 3) == (8 * (30 + 24), 2 * 8 * (30 + 24))
    own = jax.tree.map(lambda leaf: jnp.tile(leaf, (3, *[1] * leaf.ndim)), toy())
    assert memory._records(networks(3), own, record, 3) == (8 * (30 + 24), 2 * 8 * (30 + 24))
    assert memory._records(networks(3), toy(), Record(), 3) == (0, 0)


def test_a_request_of_one_run_is_refused_with_its_own_size():
    """117 bytes for all together, and one less is there."""
    asked = memory.Need(100, 10, 5, 2, 1, lambda count: asked)
    assert memory.largest_chunk(asked, 1, 117, 1, False) == 1
    with pytest.raises(InputError, match="one run needs about 117 B of memory, and 116 B are there"):
        memory.largest_chunk(asked, 1, 116, 1, False)


def test_weights_of_a_part_are_rounded_up():
    """Three sevenths of 7 · 5 + 7 + 2 numbers of each run are 8 · 44 · 3 / 7 = 150.9 bytes."""
    nets = networks(3, n_neurons=14)
    asked = need(jax.tree.map(lambda leaf: leaf[:, :7] if leaf.ndim > 1 else leaf, nets))
    assert (asked.neurons, asked.kept) == (7, 2 * 8 * 44)
    assert asked.narrower(3).kept == 2 * 151
    assert np.isclose(asked.narrower(0).kept, 0)
