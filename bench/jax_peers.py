"""What a JAX user would write: a scan over steps, vmapped over runs, compiled as one program."""

import jax
import jax.numpy as jnp
import numpy as np

from bench.measure import Measured, timed
from bench.workloads import Workload

EXACT = jax.lax.Precision.HIGHEST


def vmap_of_scan(workload: Workload, steps: int) -> Measured:
    """`jax.vmap` of `jax.lax.scan`, gradients by autodiff, true float32 products."""
    data, networks = workload.data(), workload.networks()
    inputs, labels = jnp.asarray(data.inputs), jnp.asarray(data.labels)
    outgoing = networks.output_weights[0]
    orders = jnp.asarray(workload.orders(steps))

    def one(weights: jax.Array, order: jax.Array) -> jax.Array:
        def loss(weights: jax.Array, x: jax.Array, y: jax.Array) -> jax.Array:
            hidden = jnp.dot(weights, x, precision=EXACT)
            features = jnp.where(hidden > 0, hidden, workload.slope * hidden)
            return jax.nn.softplus(-y * jnp.dot(features, outgoing, precision=EXACT))

        def step(weights: jax.Array, index: jax.Array) -> tuple[jax.Array, None]:
            return weights - workload.step_size * jax.grad(loss)(weights, inputs[index], labels[index]), None

        return jax.lax.scan(step, weights, order)[0]

    train = jax.jit(jax.vmap(one))
    call = lambda: train(networks.hidden_weights, orders).block_until_ready()  # noqa: E731
    seconds, compiling, weights = timed(call)
    per = seconds / steps / workload.n_runs * 1e6
    return Measured("JAX vmap of scan", per, compiling, np.asarray(weights), steps)
