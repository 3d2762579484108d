"""Every claim of every paper, asked about a battery of data sets: a program of its own.

    python -m tests.run.battery

It prints a JSON object: for each data set the answer to every claim. One process for all,
compiled as users have it: the trainings are long enough that XLA's optimizer pays, and programs are shared.
"""

import json
import sys
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from widenet.claims import Evidence
from widenet.data import from_arrays, make_separable, make_xord
from widenet.run import check_on
from widenet.types import Dataset

KEY = jax.random.key(0)
RNG = np.random.default_rng(0)
CORNERS = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])


def separable() -> Dataset:
    return make_separable(KEY, 5, 5.0).sample(KEY, 40)


def barely_separable() -> Dataset:
    """Its separator has norm 10⁶."""
    inputs = RNG.uniform(-0.5, 0.5, (20, 3))
    labels = np.where(np.arange(20) % 2, 1.0, -1.0)
    inputs[:, 0] = labels * 1e-6
    inputs[:2, 1:] = 0.0
    return from_arrays(inputs, labels)


def not_separable() -> Dataset:
    inputs = RNG.uniform(-0.5, 0.5, (30, 3))
    return from_arrays(np.concatenate([inputs, inputs]), np.repeat([1.0, -1.0], 30))


def one_class() -> Dataset:
    return Dataset(jnp.asarray(RNG.uniform(-0.5, 0.5, (12, 4))), jnp.ones(12))


def three_classes() -> Dataset:
    return Dataset(jnp.asarray(RNG.uniform(-0.5, 0.5, (12, 4))), jnp.asarray(np.arange(12) % 3, jnp.float64))


def a_zero_row() -> Dataset:
    data = separable()
    return Dataset(data.inputs.at[3].set(0.0), data.labels)


def on_a_sphere() -> Dataset:
    """Unit vectors, labelled by a coin."""
    inputs = RNG.standard_normal((12, 3))
    return from_arrays(inputs / np.linalg.norm(inputs, axis=1, keepdims=True), np.where(np.arange(12) % 2, 1.0, -1.0))


def large() -> Dataset:
    inputs = RNG.standard_normal((20_000, 20)) / 10
    labels = np.where(inputs @ np.ones(20) + 0.1 * RNG.standard_normal(20_000) > 0, 1.0, -1.0)
    return from_arrays(inputs, labels)


BATTERY: dict[str, Callable[[], Dataset]] = {
    "separable": separable,
    "margin 1e-6": barely_separable,
    "not separable": not_separable,
    "corners of XOR": lambda: from_arrays(CORNERS, [1.0, 1.0, -1.0, -1.0]),
    "points of XORD": lambda: make_xord(4).sample(KEY, 24),
    "one class": one_class,
    "three classes": three_classes,
    "a zero row": a_zero_row,
    "unit vectors": on_a_sphere,
    "4 points": lambda: from_arrays(CORNERS / 2, [1.0, -1.0, 1.0, -1.0]),
    "20,000 × 20": large,
}


def answers(data: Dataset) -> dict[str, dict[str, str]]:
    """What all claims say about this data."""
    found = check_on(data, n_runs=2)
    return {
        id: {"kind": type(answer).__name__, "words": str(answer.verdict if isinstance(answer, Evidence) else answer)}
        for id, answer in found.items()
    }


if __name__ == "__main__":
    json.dump({name: answers(make()) for name, make in BATTERY.items()}, sys.stdout)
