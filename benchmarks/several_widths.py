"""Networks of several widths by one call of `ensembles`, beside a loop over `ensemble`.

    python -m benchmarks.several_widths

For each grid of widths it prints how far weights differ, and the seconds of the processor for the first call, which
compiles, and for later ones.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import widenet as wn

DIM, SAMPLES, RUNS, STEPS = 10, 200, 10, 4000
GRIDS = {
    "near each other": (18, 20, 22, 24, 26, 28, 40, 44, 48, 52, 56, 60),
    "powers of two": (4, 8, 16, 32, 64, 128, 256),
}
Runs = list[wn.Trajectory]


def ways(widths: Sequence[int], runs: int, steps: int) -> dict[str, Callable[[], Runs]]:
    """The same trainings by each way."""
    keys = jax.random.split(jax.random.key(0), runs)
    draw = np.random.default_rng(0)
    points = draw.normal(size=(SAMPLES, DIM))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    data = wn.from_arrays(points.astype(np.float32), np.sign(points[:, 0] + 0.1 * draw.normal(size=SAMPLES)))
    networks = [jax.vmap(lambda key, n=n: wn.make_two_layer(key, n, DIM, wn.leaky_relu(0.2)))(keys) for n in widths]
    recipes = [wn.Recipe(wn.hinge, wn.SGD(10 / n), max_steps=steps) for n in widths]
    return {
        "together": lambda: wn.ensembles(networks, data, recipes, [keys] * len(widths)),
        "one by one": lambda: [
            wn.ensemble(network, data, recipe, keys) for network, recipe in zip(networks, recipes, strict=True)
        ],
    }


def difference(widths: Sequence[int], runs: int = RUNS, steps: int = STEPS) -> float:
    """By how much weights differ at most."""
    together, apart = (way() for way in ways(widths, runs, steps).values())
    pairs = [(one.network.hidden_weights, two.network.hidden_weights) for one, two in zip(together, apart, strict=True)]
    return max(float(jnp.abs(one - two).max()) for one, two in pairs)


def seconds(widths: Sequence[int], runs: int = RUNS, steps: int = STEPS, times: int = 5) -> dict[str, float]:
    """Of the processor: the first call of each way, and the median of later ones."""
    found: dict[str, Any] = {}
    for name, way in ways(widths, runs, steps).items():
        jax.clear_caches()
        took = []
        for _ in range(times + 1):
            start = time.process_time()
            jax.block_until_ready([run.network for run in way()])
            took.append(time.process_time() - start)
        found |= {f"{name}, first call": took[0], f"{name}, later": statistics.median(took[1:])}
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--steps", type=int, default=STEPS)
    chosen = parser.parse_args()
    for name, widths in GRIDS.items():
        row = {"widths": name, "largest difference of a weight": difference(widths, chosen.runs, chosen.steps)}
        print(json.dumps(row | seconds(widths, chosen.runs, chosen.steps), indent=2))
