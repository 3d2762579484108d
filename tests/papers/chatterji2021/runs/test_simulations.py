"""The simulations against plain NumPy, reading by reading."""

import functools

import jax
import numpy as np
import pytest

from widenet.data import make_shoulders
from widenet.papers.chatterji2021.runs.simulations import (
    READINGS,
    SimulationSetting,
    relu_runs,
    run_simulations,
    shoulder_runs,
    xor_runs,
)
from widenet.progress import silent
from widenet.records import Scale

P, STEPS = 6, 4


@functools.cache
def simulated(activation):
    setting = SimulationSetting(
        data="shoulders", activation=activation, n_runs=2, n_samples=10, half_width=P, n_steps=STEPS
    )
    return run_simulations(setting, silent)


def follow(run, scale, biased, activation):
    """Losses and errors of one run, written out: biases are trained beside the weights."""
    data = make_shoulders().sample(jax.random.key(run), 10)
    x, y = np.asarray(data.inputs), np.asarray(data.labels)
    start = (4 * P) ** -0.625 * np.random.default_rng([run, 5]).standard_normal((2 * P, 3))
    weights, bias, u, h = start[:, :2].copy(), start[:, 2] * biased, np.repeat([1.0, -1.0], P), 1 / P
    losses, errors = [], []
    for t in range(STEPS + 1):
        z = x @ weights.T + bias
        if activation == "huberized":
            value, slope = np.where(z > h, z - h / 2, np.clip(z, 0, h) ** 2 / (2 * h)), np.clip(z / h, 0, 1)
        else:
            value, slope = np.maximum(z, 0), (z > 0).astype(float)
        margins = y * scale * (value @ u)
        losses.append(np.log1p(np.exp(-margins)).mean())
        errors.append((margins <= 0).mean())
        step = (4 * P) ** -0.75 if t == 0 else np.log(1 / losses[-1]) ** 2 / P
        pushes = (scale * y / (1 + np.exp(margins)) / 10)[:, None] * slope * u
        weights, bias = weights + step * pushes.T @ x, bias + step * biased * pushes.sum(axis=0)
    return losses, errors


@pytest.mark.parametrize("activation", ["huberized", "relu"])
@pytest.mark.parametrize("reading", READINGS)
def test_each_reading_is_what_it_says(reading, activation):
    numbers = simulated(activation).sel(reading=reading)
    for run in (0, 1):
        losses, errors = follow(run, *READINGS[reading], activation)
        np.testing.assert_allclose(numbers.loss[run], losses, rtol=1e-11)
        np.testing.assert_allclose(numbers.error[run], errors, rtol=1e-12)


def test_the_readings_and_their_data():
    assert READINGS == {"A": (1.0, False), "B": (1.0, True), "C": (2.0, False), "D": (2.0, True)}
    assert simulated("relu").attrs == {"data": "shoulders", "activation": "relu"}
    quick = [settings(Scale.QUICK, 0)[0] for settings in (xor_runs, shoulder_runs, relu_runs)]
    assert [(each.data, each.activation) for each in quick] == [
        ("xor", "huberized"), ("shoulders", "huberized"), ("shoulders", "relu"),
    ]  # fmt: skip
    assert {(each.n_runs, each.n_samples, each.half_width, each.n_steps, each.faster) for each in quick} == {
        (40, 128, 100, 100, 1.0)
    }
