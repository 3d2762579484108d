"""Where the kernel of one program per run fits, and where it pays."""

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from tests.training.problems import networks, toy
from widenet.networks import TwoLayer, huberized_relu, leaky_relu
from widenet.training.kernels import fused
from widenet.types import Dataset, Layers

HIDDEN = Layers.HIDDEN


def two_columns(ratio):
    """One sample whose second coordinate is so many times the first."""
    return Dataset(jnp.asarray([[1.0, ratio]], jnp.float32), jnp.ones(1, jnp.float32))


def answers(nets, count):
    """The same networks with so many outputs."""
    return eqx.tree_at(lambda net: net.output_weights, nets, jnp.ones((1, count, nets.n_neurons)))


def single(tree):
    """In float32."""
    return jax.tree.map(lambda leaf: jnp.asarray(leaf).astype(jnp.float32), tree)


def one_network(neurons, dtype="float64"):
    """Of this width."""
    return TwoLayer(jnp.zeros((neurons, 5), dtype), jnp.zeros(neurons, dtype), None, leaky_relu(0.5))


def refused(kernel, nets, data):
    """What no kernel of this kind can do: another network, another precision, both layers, a watch."""
    smooth = networks(1, activation=huberized_relu(0.5))
    for wrong in (
        (smooth, data, 1, HIDDEN, None),
        (object(), data, 1, HIDDEN, None),
        (nets, single(data), 1, HIDDEN, None),
        (nets, Dataset(data.inputs, data.labels.astype(jnp.float32)), 1, HIDDEN, None),
        (nets, data, 1, Layers.BOTH, None),
        (nets, data, 1, HIDDEN, object()),
    ):
        assert not kernel.fits(*wrong)


def hold_devices(kernel, monkeypatch):
    """On a CPU in either precision, on a GPU in float32; nowhere without Triton."""
    nets, data = networks(1), toy()
    for given in ((nets, data), (single(nets), single(data))):
        assert kernel.fits(*given, 1, HIDDEN, None)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert not kernel.fits(nets, data, 1, HIDDEN, None)
    assert kernel.fits(single(nets), single(data), 1, HIDDEN, None)
    monkeypatch.setattr(kernel, "triton", None)
    assert not kernel.fits(single(nets), single(data), 1, HIDDEN, None)


@pytest.mark.usefixtures("as_on_cpu")
def test_what_it_can_do():
    nets, data = networks(1), toy()
    assert fused.fits(nets, data, 1, HIDDEN, None)
    refused(fused, nets, data)
    assert not fused.fits(answers(nets, 2), data, 1, HIDDEN, None)
    assert [fused.fits(nets, data, batch, HIDDEN, None) for batch in (0, 1, 2, None)] == [False, True, False, False]
    assert [fused.fits(one_network(n), data, 1, HIDDEN, None) for n in (256, 257)] == [True, False]


@pytest.mark.usefixtures("as_on_cpu")
def test_on_which_devices_it_runs(monkeypatch):
    hold_devices(fused, monkeypatch)


@pytest.mark.parametrize("has", [True, False])
def test_where_it_pays(monkeypatch, has):
    """With tensor cores, in float32, where one scale serves all columns."""
    monkeypatch.setattr(fused, "has_tensor_cores", lambda: has)
    found = [fused.pays(one_network(8, "float32"), two_columns(ratio)) for ratio in (1.0, 4096.0, 4100.0)]
    assert found == [has, has, False]
    assert not fused.pays(one_network(8), two_columns(1.0))
