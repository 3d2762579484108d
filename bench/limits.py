"""What the machine allows: the rate of float32 products of this shape, and of copies."""

import jax
import jax.numpy as jnp
import numpy as np

from bench.measure import Measured, timed
from bench.workloads import Workload

ROWS = 64
REPEATS = 20


def matrix_products(workload: Workload, algorithm: str = "F32_F32_F32") -> Measured:
    """Microseconds per step and run if there were nothing but the two products, in blocks of `ROWS` rows."""
    draw = np.random.default_rng(0)
    left = jnp.asarray(draw.normal(size=(workload.n_runs, ROWS, workload.dim)), workload.dtype)
    right = jnp.asarray(draw.normal(size=(workload.n_runs, workload.dim, workload.n_neurons)), workload.dtype)
    known = jax.default_backend() == "gpu" and workload.dtype == "float32"
    precision = getattr(jax.lax.DotAlgorithmPreset, algorithm) if known else jax.lax.Precision.HIGHEST
    multiply = jax.jit(lambda a, b: jnp.matmul(a, b, precision=precision))

    def call() -> jax.Array:
        results = [multiply(left, right) for _ in range(REPEATS)]
        return jax.block_until_ready(results)[-1]

    seconds, compiling, result = timed(call)
    seconds /= REPEATS
    exact = np.einsum("rbd,rdk->rbk", *(np.asarray(part[:2], np.float64) for part in (left, right)))
    error = np.abs(np.asarray(result[:2]) - exact).max() / np.abs(exact).max()
    rate = 2 * left.size * workload.n_neurons / seconds / 1e12
    per = 2 * seconds / ROWS / workload.n_runs * 1e6
    note = f"{rate:.1f} TFLOP/s, error {error:.1e}"
    return Measured(f"limit: products, {algorithm if known else workload.dtype}", per, compiling, note=note)


def copies(workload: Workload, megabytes: int = 1024) -> Measured:
    """Microseconds per step and run to read and write the weights once per block of `ROWS` steps."""
    array = jnp.ones(megabytes * 2**18, jnp.float32)
    double = jax.jit(lambda x: x + 1)
    seconds, compiling, _ = timed(lambda: double(array).block_until_ready(), repeats=10)
    bandwidth = 2 * array.nbytes / seconds
    weight_bytes = workload.n_neurons * workload.dim * np.dtype(workload.dtype).itemsize
    return Measured(
        "limit: copies", 2 * weight_bytes / ROWS / bandwidth * 1e6, compiling, note=f"{bandwidth / 1e9:.0f} GB/s"
    )
