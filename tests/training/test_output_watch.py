"""A watch of the output weights sees the same steps from every kernel."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.problems import kernel_of, networks, run_keys, separable, with_method
from widenet.losses import hinge, logistic
from widenet.training import SGD, OutputWatch, Recipe, ensemble
from widenet.types import Layers


class Extremes(OutputWatch):
    """The smallest and the largest output weight of the run, and how often it was looked at."""

    def start(self, network):
        return network.output_weights.min(), network.output_weights.max()

    def fold(self, value, output_weights):
        return jnp.minimum(value[0], output_weights.min()), jnp.maximum(value[1], output_weights.max())


RECIPE = Recipe(hinge, SGD(0.7), 130, layers=Layers.BOTH, check_every=35)


@pytest.mark.parametrize("loss", [hinge, logistic], ids=lambda loss: loss.__name__)
@pytest.mark.parametrize(("batch", "bias"), [(1, False), (1, True), (5, False)])
def test_every_kernel_shows_the_watch_the_same(loss, batch, bias):
    recipe = with_method(dataclasses.replace(RECIPE, loss=loss), batch_size=batch)
    seen = {}
    for kernel in ("plain", "blocked", "gram"):
        own = with_method(recipe, kernel=kernel)
        seen[kernel] = ensemble(networks(3, bias=bias), separable(), own, run_keys(3), watch=Extremes()).watched
    assert (seen["plain"][1] > seen["plain"][0] + 0.1).all()
    for kernel in ("blocked", "gram"):
        np.testing.assert_allclose(seen[kernel], seen["plain"], rtol=1e-12, err_msg=kernel)


def test_control_weights_between_two_looks_are_seen():
    """The ends alone would miss an extreme on the way; steps this long swing the weights to and fro."""
    recipe = with_method(RECIPE, step_size=5.0)
    runs = ensemble(networks(3), separable(), recipe, run_keys(3), watch=Extremes())
    ends = np.asarray(runs.network.output_weights)
    smallest, largest = (np.asarray(each) for each in runs.watched)
    assert (smallest <= ends.min(axis=1)).all()
    assert (largest >= ends.max(axis=1)).all()
    assert ((smallest < ends.min(axis=1)) | (largest > ends.max(axis=1))).any()


def test_a_watch_of_output_weights_keeps_the_fast_kernel():
    assert kernel_of(RECIPE, networks(1), separable(), Extremes()) in ("blocked", "gram")
