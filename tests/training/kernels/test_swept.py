"""The kernel that sweeps over the weights, interpreted: against the step-by-step autodiff oracle."""

import pytest

from tests.training.kernels.test_kernels import STEPS, assert_same, both_ways
from tests.training.kernels.test_outputs import classes, several
from tests.training.problems import networks, separable
from widenet.losses import cross_entropy, hinge, logistic, multiclass_hinge
from widenet.networks import relu
from widenet.training import Continued, Recipe
from widenet.training.kernels import swept

pytestmark = pytest.mark.filterwarnings("ignore:The Pallas Triton backend is deprecated")


@pytest.mark.parametrize(
    ("loss", "batch", "bias"), [(cross_entropy, 5, True), (cross_entropy, 16, False), (multiclass_hinge, 5, False)]
)
def test_several_outputs_follow_plain_at_every_step(loss, batch, bias):
    recipe = Recipe(loss, 0.3, STEPS, Continued(), batch, check_every=35)
    plain, quick = both_ways(several(2, bias=bias), classes(), recipe, 2, "swept")
    assert_same(plain, quick, rtol=1e-12)
    assert (plain.updates > 10).all()


@pytest.mark.parametrize("loss", [hinge, logistic], ids=lambda loss: loss.__name__)
def test_one_output_and_more_than_one_tile(loss, monkeypatch):
    monkeypatch.setattr(swept, "NEURONS", 4)
    monkeypatch.setattr(swept, "STEPS", 3)  # an epoch has four steps: blocks end inside it
    nets = networks(2, 6, 37, activation=relu())
    recipe = Recipe(loss, 0.7, STEPS, batch_size=6, check_every=35)
    assert_same(*both_ways(nets, separable(24, 37), recipe, 2, "swept", times=(0, 1, 2, 33, STEPS)), rtol=1e-12)
