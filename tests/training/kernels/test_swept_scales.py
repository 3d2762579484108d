"""The kernel that sweeps over the weights, interpreted in float32, against SGD in NumPy: powers of two that fit."""

import jax
import numpy as np
import pytest

from tests.training.kernels.test_fused_scales import hold_in_float32
from tests.training.problems import forget_programs
from widenet.losses import cross_entropy, logistic
from widenet.training.kernels import swept


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Several tiles of columns, and blocks that do not divide an epoch; without optimizations, as in `test_swept`."""
    if jax.default_backend() == "gpu":
        pytest.skip("interpreted on a CPU")
    for name, value in {"NEURONS": 2, "COLUMNS": 4, "STEPS": 3}.items():
        monkeypatch.setattr(swept, name, value)
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
    forget_programs()


def alike(kink, seed):
    """Inputs that point the same way, with one label: all rows of a batch add up. Rows are small beside that."""
    draw = np.random.default_rng(seed)
    inputs = 1 + 0.1 * draw.normal(size=(71, 5))
    rows, outer = 2.0**-9 * draw.normal(size=(2, 5)), np.array([1.0, 0.125])
    rows[1] = 0
    return inputs, np.ones(71), rows, outer, kink, 0.25


def test_a_batch_of_which_all_rows_add_up():
    """Four steps to an epoch, of 17 samples each: more than the smallest tile of rows, and no power of two."""
    problems = [alike((0.25, 0.5), 0), alike((0.0, 1.0), 1)]
    hold_in_float32("swept", logistic, problems, 17, bias=False, spans=np.array([(0, 1), (0, 7), (3, 4), (5, 11)]))


def test_classes_and_biases():
    """Neurons that no output listens to are a tile that never moves; the last tile has one neuron alone."""
    draw = np.random.default_rng(4)
    inputs = np.concatenate([draw.normal(size=(22, 5)), np.ones((22, 1))], axis=1)
    inputs[3, :5] = 0
    outer = draw.normal(size=(3, 7))
    outer[:, 2:4] = 0
    labels = np.argmax(inputs[:, :3], axis=1)
    problem = inputs, labels, 0.3 * draw.normal(size=(7, 6)), outer, (0.25, 0.5), 0.25
    hold_in_float32("swept", cross_entropy, [problem], 5, bias=True, spans=np.array([(0, 4), (1, 3), (2, 2), (3, 15)]))
