"""What a JAX user would write: a scan over steps, vmapped over runs, gradients by autodiff, as one program.

On a CPU the scan is also run for one run after the other, in one thread per core: weights then stay in the cache.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp

from benchmarks.descent import DescentWorkload
from benchmarks.flow import FlowWorkload
from benchmarks.measure import Peer
from benchmarks.softmax import SoftmaxWorkload
from benchmarks.threads import in_threads, shares
from benchmarks.workloads import SgdWorkload
from benchmarks.xord import XordWorkload
from widenet.losses import hinge

NAME, IN_THREADS = "JAX vmap of scan", "JAX scan in threads"
EXACT = jax.lax.Precision.HIGHEST


def sgd(workload: SgdWorkload, steps: int) -> list[Peer]:
    """One sample per step, true float32 products."""
    inputs, labels = workload.data.inputs, workload.data.labels
    outgoing = workload.networks.output_weights[0]
    start, orders = workload.networks.hidden_weights, jnp.asarray(workload.orders(steps))

    def loss(weights: jax.Array, x: jax.Array, y: jax.Array) -> jax.Array:
        hidden = jnp.dot(weights, x, precision=EXACT)
        features = jnp.where(hidden > 0, hidden, workload.slope * hidden)
        margin = y * jnp.dot(features, outgoing, precision=EXACT)
        return jax.nn.relu(1 - margin) if workload.loss is hinge else jax.nn.softplus(-margin)

    def one(weights: jax.Array, order: jax.Array) -> jax.Array:
        def step(weights: jax.Array, index: jax.Array) -> tuple[jax.Array, None]:
            return weights - workload.step_size * jax.grad(loss)(weights, inputs[index], labels[index]), None

        return jax.lax.scan(step, weights, order)[0]

    return _both_ways(one, (start, orders), workload.n_runs, steps)


def softmax(workload: SoftmaxWorkload, steps: int) -> list[Peer]:
    """A mini-batch per step, true float32 products."""
    inputs, labels = workload.data.inputs, workload.data.labels.astype(jnp.int32)
    start, votes = workload.networks.hidden_weights, workload.networks.output_weights
    orders = jnp.asarray(workload.orders(steps))

    def one(weights: jax.Array, votes: jax.Array, order: jax.Array) -> jax.Array:
        def loss(weights: jax.Array, x: jax.Array, y: jax.Array) -> jax.Array:
            features = jax.nn.relu(jnp.dot(x, weights.T, precision=EXACT))
            shares = jax.nn.log_softmax(jnp.dot(features, votes.T, precision=EXACT))
            return -jnp.mean(jnp.take_along_axis(shares, y[:, None], axis=1))

        def step(weights: jax.Array, chosen: jax.Array) -> tuple[jax.Array, None]:
            return weights - workload.step_size * jax.grad(loss)(weights, inputs[chosen], labels[chosen]), None

        return jax.lax.scan(step, weights, order)[0]

    return _both_ways(one, (start, votes, orders), workload.n_runs, steps)


def descent(workload: DescentWorkload, steps: int) -> Peer:
    """The whole set per step, and a step size from its loss."""
    votes = workload.networks.output_weights

    def one(weights: jax.Array, votes: jax.Array, inputs: jax.Array, labels: jax.Array) -> jax.Array:
        def loss(weights: jax.Array) -> jax.Array:
            outputs = jax.nn.relu(inputs @ weights.T) @ votes
            return jnp.mean(jax.nn.softplus(-labels * outputs))

        def step(weights: jax.Array, _: None) -> tuple[jax.Array, None]:
            value, gradient = jax.value_and_grad(loss)(weights)
            return weights - workload.factor * jnp.log(value) ** 2 * gradient, None

        return jax.lax.scan(step, weights, None, length=steps)[0]

    arguments = workload.weights, votes, workload.inputs, workload.data.labels
    return _peer(jax.jit(jax.vmap(one)), arguments, workload.n_runs, steps)


def flow(workload: FlowWorkload, steps: int, per_tick: int) -> Peer:
    """The classical Runge-Kutta method of order 4 with a fixed step, gradients by autodiff."""
    inputs, labels = workload.data.inputs, workload.data.labels
    length = workload.tick / per_tick

    def one(weights: jax.Array, votes: jax.Array) -> jax.Array:
        def loss(weights: jax.Array) -> jax.Array:
            hidden = inputs @ weights.T
            outputs = jnp.where(hidden > 0, hidden, workload.slope * hidden) @ votes
            return jnp.mean(jax.nn.softplus(-labels * outputs))

        def step(weights: jax.Array, _: None) -> tuple[jax.Array, None]:
            def field(weights):
                return -jax.grad(loss)(weights)

            first = field(weights)
            second = field(weights + length / 2 * first)
            third = field(weights + length / 2 * second)
            last = field(weights + length * third)
            return weights + length / 6 * (first + 2 * second + 2 * third + last), None

        return jax.lax.scan(step, weights, None, length=steps * per_tick)[0]

    arguments = workload.networks.hidden_weights, workload.networks.output_weights
    peer = _peer(jax.jit(jax.vmap(one)), arguments, workload.n_runs, steps)
    return replace(peer, name=f"JAX RK4, {per_tick} per tick")


def xord(workload: XordWorkload, steps: int) -> Peer:
    """The whole training set per step, point by point."""
    votes = workload.networks.output_weights[0]

    def loss(filters: jax.Array, patches: jax.Array, labels: jax.Array) -> jax.Array:
        fits = jax.nn.relu(jnp.einsum("npd,kd->nkp", patches, filters)).max(axis=-1)
        asked = jnp.where(labels > 0, workload.margin, 1.0)
        return jnp.maximum(asked - labels * (fits @ votes), 0).sum() * 2 / len(labels)

    def one(filters: jax.Array, patches: jax.Array, labels: jax.Array) -> jax.Array:
        def step(filters: jax.Array, _: None) -> tuple[jax.Array, None]:
            return filters - workload.step_size * jax.grad(loss)(filters, patches, labels), None

        return jax.lax.scan(step, filters, None, length=steps)[0]

    arguments = workload.networks.filters, workload.patches, workload.data.labels
    return _peer(jax.jit(jax.vmap(one)), arguments, workload.n_runs, steps)


def _both_ways(one: Callable[..., jax.Array], arguments: tuple[Any, ...], n_runs: int, steps: int) -> list[Peer]:
    """All runs side by side; on a CPU also one after the other, in one thread per core."""
    side_by_side = _peer(jax.jit(jax.vmap(one)), arguments, n_runs, steps)
    if jax.default_backend() != "cpu":
        return [side_by_side]
    parts = [tuple(part[share] for part in arguments) for share in shares(n_runs)]
    run_by_run = jax.jit(lambda *own: jax.lax.map(lambda each: one(*each), own))

    def train(_: int) -> jax.Array:
        return jnp.concatenate(in_threads(lambda *part: run_by_run(*part).block_until_ready(), parts))

    return [side_by_side, Peer(IN_THREADS, train, n_runs, steps, note="one run at a time per thread")]


def _peer(program: Callable[..., jax.Array], arguments: tuple[Any, ...], n_runs: int, steps: int) -> Peer:
    def train(asked: int) -> jax.Array:
        if asked != steps:
            raise ValueError(f"this program was written for {steps} steps, not {asked}")
        return jax.block_until_ready(program(*arguments))

    return Peer(NAME, train, n_runs, steps)
