"""Small problems that the training tests share."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np

from widenet.networks import TwoLayer, leaky_relu, make_two_layer
from widenet.training.engine.batch import in_turn, together
from widenet.types import Dataset


def separable(n_samples=24, dim=5, seed=0, dtype=jnp.float64):
    """Points of norm at most 1 with margin at least 0.15 around a random direction."""
    draw = np.random.default_rng(seed)
    direction = draw.normal(size=dim)
    direction /= np.linalg.norm(direction)
    inputs = draw.normal(size=(n_samples, dim))
    inputs /= 2 * np.linalg.norm(inputs, axis=1, keepdims=True)
    labels = np.where(inputs @ direction > 0, 1.0, -1.0)
    inputs += 0.15 * labels[:, None] * direction
    return Dataset(jnp.asarray(inputs, dtype), jnp.asarray(labels, dtype))


@functools.cache
def toy():
    """The points that most tests train on, made when a test asks: nothing is computed while tests are collected."""
    return separable()


def awkward(dim=4, dtype=jnp.float64):
    """Duplicates, a zero input, exact multiples, points on coordinate axes: kinks and ties by construction."""
    inputs = np.zeros((9, dim))
    inputs[0, 0] = inputs[1, 0] = 1.0
    inputs[2, 1] = 0.5
    inputs[3, 1] = -0.5
    inputs[4] = 0.25
    inputs[5] = 0.25
    inputs[6, 2], inputs[7, 2] = 0.5, 0.25
    labels = np.array([1, 1, -1, 1, -1, 1, 1, 1, -1.0])
    return Dataset(jnp.asarray(inputs, dtype), jnp.asarray(labels, dtype))


def networks(n_runs, n_neurons=6, dim=5, slope=0.2, seed=1, bias=False, dtype=jnp.float64, activation=None):
    """One network per run, as `make_two_layer` has them; run i is the same whatever `n_runs` is.

    Drawn by NumPy: the constructor is compiled anew for every shape, and most tests need only some network.
    """
    rows = np.stack([np.random.default_rng([seed, run]).normal(size=(n_neurons, dim)) for run in range(n_runs)])
    rows /= np.linalg.norm(rows, axis=2, keepdims=True) * n_neurons**0.5
    signs = np.repeat([1.0, -1.0], n_neurons // 2)
    return TwoLayer(
        jnp.asarray(rows, dtype),
        jnp.asarray(np.tile(signs / n_neurons**0.5, (n_runs, 1)), dtype),
        jnp.zeros((n_runs, n_neurons), dtype) if bias else None,
        jax.tree.map(lambda leaf: jnp.full(n_runs, leaf), activation or leaky_relu(slope)),
    )


def drawn_networks(n_runs, n_neurons=6, dim=5, slope=0.2, seed=1, dtype=jnp.float64):
    """One network per run from the constructor itself, for tests of the bits that a run starts from."""

    def make(key):
        return make_two_layer(key, n_neurons, dim, leaky_relu(slope), dtype=dtype)

    return jax.jit(jax.vmap(make))(run_keys(n_runs, seed))


def with_method(recipe, **changes):
    """The same recipe with other values in its method."""
    return dataclasses.replace(recipe, method=dataclasses.replace(recipe.method, **changes))


def kernel_of(recipe, nets, data, watch=None):
    """The kernel that SGD would choose."""
    return recipe.method.fitted(nets, data, recipe.loss, recipe.layers, watch).kernel


def n_programs():
    """How many programs for steps, side by side or in turn, have been compiled."""
    return sum(program._cache_size() for program in (together, in_turn))  # pyright: ignore[reportAttributeAccessIssue]


def forget_programs():
    """The next segment is compiled anew."""
    for program in (together, in_turn):
        program.clear_cache()  # pyright: ignore[reportAttributeAccessIssue]


def run_keys(n_runs, seed=1):
    return jax.vmap(jax.random.fold_in, (None, 0))(jax.random.key(seed), jnp.arange(n_runs))
