"""What a JAX user would write: a scan over steps, vmapped over runs, gradients by autodiff, as one program.

On a CPU the scan is also run for one run after the other, in one thread per core: weights then stay in the cache.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from widenet.bench.measure import Peer
from widenet.bench.threads import in_threads, shares
from widenet.bench.workloads import SgdWorkload
from widenet.bench.xord import XordWorkload
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

    side_by_side = _peer(jax.jit(jax.vmap(one)), (start, orders), workload.n_runs, steps)
    if jax.default_backend() != "cpu":
        return [side_by_side]
    parts = [(start[share], orders[share]) for share in shares(workload.n_runs)]
    run_by_run = jax.jit(lambda starts, orders: jax.lax.map(lambda pair: one(*pair), (starts, orders)))

    def train(_: int) -> jax.Array:
        return jnp.concatenate(in_threads(lambda *part: run_by_run(*part).block_until_ready(), parts))

    return [side_by_side, Peer(IN_THREADS, train, workload.n_runs, steps, note="one run at a time per thread")]


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


def _peer(program: Callable[..., jax.Array], arguments: tuple[Any, ...], n_runs: int, steps: int) -> Peer:
    def train(asked: int) -> jax.Array:
        if asked != steps:
            raise ValueError(f"this program was written for {steps} steps, not {asked}")
        return jax.block_until_ready(program(*arguments))

    return Peer(NAME, train, n_runs, steps)
