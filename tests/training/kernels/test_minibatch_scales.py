"""The kernel that sweeps over the weights, interpreted, against SGD in NumPy: in float32, with classes, with biases."""

import jax
import numpy as np
import pytest

from tests.training.kernels.test_fused_scales import hold_in
from tests.training.problems import forget_programs
from widenet.losses import cross_entropy, logistic
from widenet.training import Cyclic
from widenet.training.kernels import minibatch


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Several tiles of columns, and blocks that do not divide an epoch; no optimizations, as in `test_minibatch`."""
    if jax.default_backend() == "gpu":
        pytest.skip("interpreted on a CPU")
    for name, value in {"NEURONS": 2, "COLUMNS": 4, "STEPS": 3}.items():
        monkeypatch.setattr(minibatch, name, value)
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
    forget_programs()


@pytest.mark.usefixtures("half_precision")
def test_steps_in_float32():
    """Weights and inputs of very different sizes; σ'(0) is neither of the slopes."""
    draw = np.random.default_rng(0)
    inputs, labels = draw.normal(size=(15, 5)), draw.choice([-1, 1], 15)
    rows, outer = 2.0**-9 * draw.normal(size=(3, 5)), np.array([8.0, 0.125, -1.0])
    rows[1] = 0
    problem = inputs, labels, rows, outer, (0.25, 0.5), 2.0**-6
    hold_in(
        np.float32,
        "minibatch",
        logistic,
        [problem],
        2,
        bias=False,
        spans=np.array([(0, 7), (3, 4), (5, 18)]),
        order=Cyclic(),
    )


def test_classes_and_biases():
    """Neurons that no output listens to are a tile that never moves; the last tile has one neuron alone."""
    draw = np.random.default_rng(4)
    inputs = np.concatenate([draw.normal(size=(22, 5)), np.ones((22, 1))], axis=1)
    inputs[3, :5] = 0
    outer = draw.normal(size=(3, 7))
    outer[:, 2:4] = 0
    labels = np.argmax(inputs[:, :3], axis=1)
    problem = inputs, labels, 0.3 * draw.normal(size=(7, 6)), outer, (0.25, 0.5), 0.25
    spans = np.array([(0, 4), (1, 3), (2, 2), (3, 15)])
    hold_in(np.float64, "minibatch", cross_entropy, [problem], 5, bias=True, spans=spans, order=Cyclic())
