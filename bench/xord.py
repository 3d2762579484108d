"""python -m bench.xord [runs] [steps]: full-batch gradient descent on XORD, and Figure 1 of brutzkus2019 at its size.

Everybody gets the same points, initial filters and steps, in float64: 200 channels, 6 + 6 points of 8 patches. The
margin is 100, so that no run is done before the last step. Ours sees the points only through their pattern sets.
"""

import sys
import time
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from bench.measure import Measured, missing, timed
from widenet.data import count_sets, make_xord
from widenet.networks import ConvMaxPool, make_conv_maxpool
from widenet.training import on_grid, train_patterns
from widenet.types import Dataset

REPORTED = {4: 62, 6: 79, 8: 94, 20: 100, 50: 100, 100: 100, 200: 100}
"""Channels → runs of 100 at zero training error, Figure 1 of brutzkus2019."""

LAW = make_xord()


@dataclass(frozen=True)
class Workload:
    """Runs side by side, one data set and one network each."""

    networks: ConvMaxPool
    data: Dataset
    step_size: float
    margin: float

    @property
    def n_runs(self) -> int:
        return self.data.labels.shape[0]


def xord(n_runs: int, n_channels: int = 200, n_per_class: int = 6, margin: float = 100.0) -> Workload:
    """The setting of Figure 1 at this width."""

    def one(key: jax.Array) -> tuple[ConvMaxPool, Dataset]:
        init_key, data_key = jax.random.split(key)
        return make_conv_maxpool(init_key, n_channels, 1e-5), LAW.sample_balanced(data_key, n_per_class)

    keys = jax.vmap(jax.random.fold_in, (None, 0))(jax.random.key(0), n_channels * 100_000 + jnp.arange(n_runs))
    networks, data = jax.jit(jax.vmap(one))(keys)
    return Workload(networks, data, 0.04 / n_channels, margin)


def by_pattern_sets(workload: Workload, steps: int) -> Measured:
    """`widenet.training.train_patterns`."""
    counts = np.asarray(count_sets(workload.data))
    train = lambda: train_patterns(  # noqa: E731
        workload.networks, counts, workload.step_size, margin=workload.margin, max_steps=steps, patience=steps + 1
    )
    seconds, compiling, run = timed(train, repeats=20)  # milliseconds each: take one that nobody interrupted
    if not (run.steps == steps).all():
        raise RuntimeError(f"some runs were done before {steps} steps, so the peers would do more than ours")
    per = seconds / steps / workload.n_runs * 1e6
    return Measured("widenet, pattern sets", per, compiling, np.asarray(run.network.filters), steps)


def vmap_of_scan(workload: Workload, steps: int) -> Measured:
    """What a JAX user would write: a scan of autodiff steps on the points, vmapped over runs."""
    votes = workload.networks.output_weights[0]

    def loss(filters: jax.Array, patches: jax.Array, labels: jax.Array) -> jax.Array:
        fits = jax.nn.relu(jnp.einsum("npd,kd->nkp", patches, filters)).max(axis=-1)
        asked = jnp.where(labels > 0, workload.margin, 1.0)
        return jnp.maximum(asked - labels * (fits @ votes), 0).sum() * 2 / len(labels)

    def one(filters: jax.Array, patches: jax.Array, labels: jax.Array) -> jax.Array:
        def step(filters: jax.Array, _: None) -> tuple[jax.Array, None]:
            return filters - workload.step_size * jax.grad(loss)(filters, patches, labels), None

        return jax.lax.scan(step, filters, None, length=steps)[0]

    train, patches = jax.jit(jax.vmap(one)), _patches(workload)
    call = lambda: train(workload.networks.filters, patches, workload.data.labels).block_until_ready()  # noqa: E731
    seconds, compiling, filters = timed(call)
    per = seconds / steps / workload.n_runs * 1e6
    return Measured("JAX vmap of scan", per, compiling, np.asarray(filters), steps)


def torch_loop(workload: Workload, steps: int) -> Measured:
    """One run, one step at a time, autograd and `torch.optim.SGD`."""
    return _torch("torch loop", workload, steps, slice(0, 1))


def torch_batched(workload: Workload, steps: int) -> Measured:
    """All runs in one tensor, one step after the other."""
    return _torch("torch batched", workload, steps, slice(None))


def _torch(name: str, workload: Workload, steps: int, runs: slice) -> Measured:
    try:
        import torch  # pyright: ignore[reportMissingImports]
    except ImportError:
        return missing(name, "torch is not installed")
    put = lambda array: torch.tensor(np.asarray(array))  # noqa: E731
    patches, labels = put(_patches(workload))[runs], put(workload.data.labels)[runs]
    start, votes = put(workload.networks.filters)[runs], put(workload.networks.output_weights[0])
    if alone := runs == slice(0, 1):  # a loop over runs has no run axis to carry
        patches, labels, start = patches[0], labels[0], start[0]
    asked = torch.where(labels > 0, workload.margin, 1.0).to(labels.dtype)

    def train() -> Any:
        filters = start.clone().requires_grad_(True)
        optimizer = torch.optim.SGD([filters], lr=workload.step_size)
        for _ in range(steps):
            optimizer.zero_grad()
            fits = torch.relu(torch.einsum("...npd,...kd->...nkp", patches, filters)).amax(-1)
            loss = torch.clamp(asked - labels * (fits @ votes), min=0).sum() * 2 / labels.shape[-1]
            loss.backward()
            optimizer.step()
        return filters.detach()

    seconds, compiling, filters = timed(train, repeats=4)
    trained = filters.numpy()[None] if alone else filters.numpy()
    return Measured(name, seconds / steps / len(trained) * 1e6, compiling, trained, steps)


def _patches(workload: Workload) -> jax.Array:
    inputs = workload.data.inputs
    return inputs.reshape(*inputs.shape[:2], -1, 2)


def farthest(one: Measured, other: Measured) -> float:
    """The largest difference of weights, relative to the largest weight."""
    if one.weights is None or other.weights is None or one.steps != other.steps:
        return float("nan")
    runs = min(len(one.weights), len(other.weights))
    return float(np.abs(one.weights[:runs] - other.weights[:runs]).max() / np.abs(other.weights[:runs]).max())


def figure_1(n_runs: int = 100) -> dict[int, tuple[int, float, int]]:
    """Per width: runs at zero training error, seconds after compilation, iterations of all runs together."""
    counted = {}
    for n_channels in REPORTED:
        workload = xord(n_runs, n_channels, margin=1.0)
        counts = np.asarray(count_sets(workload.data))
        networks, step_size = on_grid(workload.networks, counts, workload.step_size)
        train_patterns(networks, counts, step_size, max_steps=2)  # compiles
        start = time.perf_counter()
        run = train_patterns(networks, counts, step_size)
        seconds = time.perf_counter() - start
        counted[n_channels] = int((run.train_error == 0).sum()), seconds, int(run.steps.sum())
    return counted


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    workload, few = xord(runs), 30
    ours = by_pattern_sets(workload, steps)
    print(f"XORD, {jax.devices()[0].device_kind}, float64, {runs} runs x 200 channels x 12 points, {steps} steps")
    print(f"{'peer':24s} {'us/step/run':>12s} {'ratio':>8s} {'compile s':>9s} {'weights apart':>14s}  note")
    same = by_pattern_sets(workload, few)
    for row in (ours, *(peer(workload, few) for peer in (vmap_of_scan, torch_batched, torch_loop))):
        apart = farthest(same if row is ours else row, same)
        ratio = row.us_per_step_per_run / ours.us_per_step_per_run
        print(
            f"{row.peer:24s} {row.us_per_step_per_run:12.3f} {ratio:8.1f} {row.compile_seconds:9.2f} {apart:14.1e}"
            f"  {row.note}"
        )
    print("\nFigure 1 of brutzkus2019, 100 runs per width; non-diverse points uniform on their sets, an assumption")
    for n_channels, (zero, seconds, iterations) in (counted := figure_1()).items():
        reported = REPORTED[n_channels]
        print(f"{n_channels:4d} channels: {zero:3d} at zero training error (reported {reported})", end="")
        print(f", {seconds:.3f} s, {iterations} iterations")
    print(f"{sum(seconds for _, seconds, _ in counted.values()):.2f} s for all, after compilation")


if __name__ == "__main__":
    main()
