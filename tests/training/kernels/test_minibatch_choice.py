"""Where the kernel that sweeps over the weights fits, and where it pays."""

import pytest

from tests.training.kernels.test_fused_choice import (
    HIDDEN,
    answers,
    hold_devices,
    one_network,
    refused,
    two_columns,
)
from tests.training.problems import networks, toy
from widenet.training.kernels import minibatch


@pytest.mark.usefixtures("as_on_cpu")
def test_what_it_can_do():
    nets, data = networks(1), toy()
    assert [minibatch.fits(nets, data, batch, HIDDEN, None) for batch in (1, 64, 65)] == [True, True, False]
    found = [minibatch.fits(answers(nets, count), data, 1, HIDDEN, None) for count in (2, 32, 33)]
    assert found == [True, True, False]
    refused(minibatch, nets, data)


@pytest.mark.usefixtures("as_on_cpu")
def test_on_which_devices_it_runs(monkeypatch):
    hold_devices(minibatch, monkeypatch)


@pytest.mark.parametrize("has", [True, False])
def test_where_it_pays(monkeypatch, has):
    """With tensor cores, in float32, for a batch and a wide network, where one scale serves all columns."""
    monkeypatch.setattr(minibatch, "has_tensor_cores", lambda: has)
    wide = one_network(512, "float32")
    assert [minibatch.pays(wide, two_columns(ratio), 2) for ratio in (1.0, 4096.0, 4100.0)] == [has, has, False]
    assert [minibatch.pays(one_network(n, "float32"), two_columns(1.0), 2) for n in (511, 512)] == [False, has]
    assert [minibatch.pays(wide, two_columns(1.0), batch) for batch in (1, 2)] == [False, has]
    assert not minibatch.pays(one_network(512), two_columns(1.0), 2)
