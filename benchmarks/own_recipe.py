"""200 runs with your own loss, activation, step rule and recorded quantity, beside the same in plain JAX.

    python -m benchmarks.own_recipe

It prints how far weights and records differ, the processor's seconds of either after its first call, and the median
ratio: other work on the machine does not count.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

import widenet as wn
from widenet.training import Cyclic

RUNS, NEURONS, DIM, SAMPLES, STEPS, EVERY = 200, 50, 20, 100, 2000, 200


def loss(outputs: Any, labels: Any) -> Any:
    """A squared hinge."""
    return jnp.maximum(1 - labels * outputs, 0) ** 2


class Slower(wn.StepRule):
    """η_t = 0.1/√(1 + t/100)."""

    def __call__(self, log_loss: Any, step: Any) -> Any:
        """η of the next step."""
        return 0.1 / jnp.sqrt(1 + step / 100)


def distance(now: Any) -> Any:
    """‖W − W₀‖."""
    return jnp.linalg.norm(now.network.hidden_weights - now.start.hidden_weights)


def problem(runs: int = RUNS) -> tuple[wn.Dataset, Any, Any]:
    """(data, networks with tanh neurons, keys)."""
    keys = jax.random.split(jax.random.key(0), runs)
    data = wn.make_separable(jax.random.key(1), dim=DIM, separator_norm=4.0).sample(jax.random.key(2), SAMPLES)
    networks = jax.vmap(lambda key: wn.make_two_layer(key, NEURONS, DIM, jnp.tanh))(keys)
    return data, networks, keys


def with_widenet(data: wn.Dataset, networks: Any, keys: Any, steps: int = STEPS) -> tuple[Any, Any]:
    """(last weights, records)."""
    recipe = wn.Recipe(loss, wn.SGD(Slower(), order=Cyclic()), max_steps=steps)
    record = wn.Record(times=tuple(range(0, steps + 1, EVERY)), what={"distance": distance})
    runs = wn.ensemble(networks, data, recipe, keys, record=record)
    return runs.network.hidden_weights, runs.records["distance"]


def plain_jax(data: wn.Dataset, steps: int = STEPS) -> Callable[[Any, Any], tuple[Any, Any]]:
    """The same as a scan over steps, vmapped over runs."""

    def one(start: Any, votes: Any) -> tuple[Any, Any]:
        def value(weights: Any, x: Any, y: Any) -> Any:
            return loss(votes @ jnp.tanh(weights @ x), y)

        def step(weights: Any, t: Any) -> tuple[Any, None]:
            place = t % data.n_samples
            slope = jax.grad(value)(weights, data.inputs[place], data.labels[place])
            return weights - 0.1 / jnp.sqrt(1 + t / 100) * slope, None

        def stretch(weights: Any, first: Any) -> tuple[Any, Any]:
            weights = jax.lax.scan(step, weights, first + jnp.arange(EVERY))[0]
            return weights, jnp.linalg.norm(weights - start)

        weights, found = jax.lax.scan(stretch, start, jnp.arange(0, steps, EVERY))
        return weights, jnp.concatenate([jnp.zeros(1), found])

    return jax.jit(jax.vmap(one))


def differences(runs: int = RUNS, steps: int = STEPS) -> dict[str, float]:
    """By how much weights and records differ at most."""
    data, networks, keys = problem(runs)
    ours = with_widenet(data, networks, keys, steps)
    theirs = plain_jax(data, steps)(networks.hidden_weights, networks.output_weights)
    names = "largest difference of a weight", "largest difference of a record"
    return {name: float(jnp.abs(one - two).max()) for name, one, two in zip(names, ours, theirs, strict=True)}


def seconds(runs: int = RUNS, steps: int = STEPS, times: int = 11) -> dict[str, float]:
    """Medians of several calls after the first, in seconds of the processor."""
    data, networks, keys = problem(runs)
    program = plain_jax(data, steps)
    ways = {
        "widenet": lambda: with_widenet(data, networks, keys, steps),
        "plain JAX": lambda: program(networks.hidden_weights, networks.output_weights),
    }
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(times + 1):  # in turn, so that both meet the same machine
        for name, way in ways.items():
            start = time.process_time()
            jax.block_until_ready(way())
            found[name].append(time.process_time() - start)
    ours, theirs = (rows[1:] for rows in found.values())
    ratios = [one / two for one, two in zip(ours, theirs, strict=True)]
    return {
        "seconds, widenet": statistics.median(ours),
        "seconds, plain JAX": statistics.median(theirs),
        "ratio of two calls in a row": statistics.median(ratios),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--steps", type=int, default=STEPS)
    chosen = parser.parse_args()
    print(json.dumps(differences(chosen.runs, chosen.steps) | seconds(chosen.runs, chosen.steps), indent=2))
