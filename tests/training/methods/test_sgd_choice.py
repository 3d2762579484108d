"""Which kernel SGD takes, from what fits and what pays; each kernel is asked about itself elsewhere."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.problems import networks
from widenet.losses import hinge, logistic
from widenet.networks import TwoLayer, leaky_relu
from widenet.training import SGD, Adam, Cyclic, LogSquared, Permutation
from widenet.training.kernels import block, fused, gram, minibatch, single
from widenet.training.methods.base import without_runs
from widenet.types import Dataset, Layers


@pytest.fixture
def say(monkeypatch):
    """Have kernels fit or pay as told, whatever they are asked about."""

    def told(**answers):
        for name, answer in answers.items():
            kernel, question = name.split("_")
            module = {"block": block, "fused": fused, "gram": gram, "minibatch": minibatch, "single": single}[kernel]
            monkeypatch.setattr(module, question, lambda *_, answer=answer: answer)

    return told


@functools.cache
def points(n_samples=40):
    return Dataset(jnp.ones((n_samples, 5)), jnp.ones(n_samples))


@functools.cache
def one_network():
    return networks(1)


def kernel(method, n_samples=40):
    return method.fitted(one_network(), points(n_samples), hinge, Layers.HIDDEN, None).kernel


NAMES = (
    *("block_fits", "gram_pays", "fused_fits", "fused_pays", "minibatch_fits", "minibatch_pays"),
    *("single_fits", "single_pays"),
)


def test_the_fastest_that_fits_and_pays(say):
    for answers in itertools.product((False, True), repeat=len(NAMES)):
        told = dict(zip(NAMES, answers, strict=True))
        say(**told)
        ladder = ["plain"]
        if told["block_fits"]:
            ladder.append("gram" if told["gram_pays"] else "blocked")
        if told["single_fits"] and (told["single_pays"] or not told["block_fits"]):
            ladder.append("single")
        if told["fused_fits"] and told["fused_pays"]:
            ladder.append("fused")
        if told["minibatch_fits"] and told["minibatch_pays"]:
            ladder.append("minibatch")
        assert kernel(SGD(0.1)) == ladder[-1]
        assert kernel(SGD(LogSquared(0.1))) == ("single" if told["single_fits"] else "plain")
        dense = SGD(0.1).fitted(one_network(), points(), hinge, Layers.HIDDEN, None, True)
        assert dense.kernel == ("single" if told["single_fits"] else "plain")
        assert kernel(SGD(0.1, kernel="plain")) == "plain"


@pytest.mark.parametrize(("batch", "n_samples", "chosen"), [
    (32, 40, "blocked"), (33, 40, "plain"), (None, 32, "blocked"), (None, 33, "plain"), (1, 40, "blocked"),
])  # fmt: skip
def test_blocks_of_64_rows_hold_batches_of_at_most_half_as_many(batch, n_samples, chosen, say):
    say(block_fits=True, gram_pays=False, fused_fits=False, minibatch_fits=False, single_pays=False)
    assert kernel(SGD(0.1, batch_size=batch), n_samples) == chosen


@pytest.mark.parametrize("name", ["blocked", "gram", "fused", "minibatch", "single"])
@pytest.mark.parametrize("others", [False, True])
def test_a_kernel_asked_for_by_name_must_fit_and_need_not_pay(name, others, say):
    own = {"blocked": "block", "gram": "block"}.get(name, name)
    pays = {each: False for each in NAMES if each.endswith("pays")}
    for fits in (False, True):
        say(
            **pays,
            **{f"{each}_fits": fits if each == own else others for each in ("block", "fused", "minibatch", "single")},
        )
        if fits:
            assert kernel(SGD(0.1, batch_size=40, kernel=name)) == name
        else:
            with pytest.raises(ValueError, match=f"the {name} kernel trains"):
                kernel(SGD(0.1, batch_size=40, kernel=name))
        if name != "single":
            with pytest.raises(ValueError, match=f"the {name} kernel trains"):
                kernel(SGD(LogSquared(0.1), kernel=name))


@pytest.mark.parametrize("wrong", ["fast", "Gram", None, ["gram"]])
def test_what_names_no_kernel_is_refused(wrong):
    method = SGD(0.1)
    object.__setattr__(method, "kernel", wrong)  # in tests, types refuse some of them before
    with pytest.raises(ValueError, match="kernel must be 'auto' or one of"):
        kernel(method)


def test_single_steps_fit_one_sample_of_a_two_layer_network_and_pay_where_small_runs_have_no_idle_steps():
    net = one_network()
    assert single.fits(net, 1)
    assert not single.fits(net, 2)
    assert not single.fits(object(), 1)
    assert single.pays(net, logistic)
    assert not single.pays(net, hinge)
    rows = net.hidden_weights
    assert not single.pays(TwoLayer(rows, jnp.ones((1, 3, rows.shape[1])), None, leaky_relu(0.5)), logistic)
    for dim, pays in ((511, True), (512, False)):  # of 4 neurons with 8 bytes a number
        assert single.pays(networks(3, n_neurons=4, dim=dim), logistic) is pays


def test_what_was_said_is_kept_beside_the_kernel(say):
    say(block_fits=True, gram_pays=True, fused_fits=False, minibatch_fits=False)
    fitted = SGD(0.1, Cyclic(), 7).fitted(networks(1), points(), hinge, Layers.HIDDEN, None)
    assert (fitted.step_size, fitted.batch_size, fitted.kernel) == (0.1, 7, "gram")
    assert isinstance(fitted.order, Cyclic)


def test_every_kernel_and_every_batch_size_is_a_program_of_its_own():
    same = jax.tree.structure(without_runs(SGD(0.1)))
    assert same == jax.tree.structure(without_runs(SGD(0.2, Permutation(), 1, "auto")))
    assert same != jax.tree.structure(without_runs(SGD(0.1, kernel="plain")))
    assert same != jax.tree.structure(without_runs(SGD(0.1, batch_size=2)))
    assert jax.tree.structure(without_runs(Adam(0.1))) == jax.tree.structure(without_runs(Adam(0.2, batch_size=1)))
    assert jax.tree.structure(without_runs(Adam(0.1))) != jax.tree.structure(without_runs(Adam(0.1, batch_size=2)))
    assert jax.tree.leaves(SGD(0.5)) == jax.tree.leaves(Adam(0.5)) == [0.5]


@pytest.mark.parametrize("method", [SGD, Adam])
def test_one_sample_with_a_gradient_is_a_move(method):
    """Of two points, the first has a margin of 2 and the second of −2."""
    net = TwoLayer(jnp.full((1, 1), 2.0), jnp.ones(1), None, leaky_relu(0.5))
    for labels, moves in (([1.0, 1.0], False), ([1.0, -1.0], True)):
        data = Dataset(jnp.ones((2, 1)), jnp.asarray(labels))
        assert bool(method.moves_left(net, data, loss=hinge, layers=Layers.HIDDEN)) is moves


def test_steps_of_each_run_may_be_said_as_a_list():
    np.testing.assert_array_equal(SGD([0.1, 0.2]).step_size, [0.1, 0.2])
