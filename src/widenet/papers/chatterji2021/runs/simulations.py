"""The simulations of Section 5: 100 steps of gradient descent from random weights, in all readings at once."""

from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from widenet.claims.experiments import Experiment
from widenet.data.mixtures import make_shoulders, make_xor_mixture
from widenet.losses import logistic, zero_one
from widenet.networks import TwoLayer, huberized_relu, relu
from widenet.networks.two_layer import plus_minus
from widenet.papers.chatterji2021.cluster_formulas import simulation_deviation, simulation_first_step
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale
from widenet.training import GradientDescent, LogSquared, Recipe, Record, ensemble
from widenet.types import Dataset

READINGS = {"A": (1.0, False), "B": (1.0, True), "C": (2.0, False), "D": (2.0, True)}
"""By name: the loss is that of scale·f (2 is a softmax over the logits f and −f), and whether there are biases."""
READING = "D"
"""The reading of the drawings."""


class SimulationSetting(ClosedModel):
    """Runs on data of their own, the same in every reading.

    Attributes:
      n_runs: runs of each reading; half_width: p.
      faster: steps after the first are multiplied by this; 1 but for controls.
    """

    data: Literal["xor", "shoulders"]
    activation: Literal["huberized", "relu"] = "huberized"
    n_runs: int = 40
    n_samples: int = 128
    half_width: int = 100
    n_steps: int = 100
    faster: float = 1.0
    seed: int = 0


def run_simulations(setting: SimulationSetting, progress: Progress) -> xr.Dataset:
    """Train all readings in one go: biases are the weights of a coordinate that is 1, or 0 where there are none."""
    seeds = [1000 * setting.seed + run for run in range(setting.n_runs)]
    keys = jax.vmap(jax.random.key)(jnp.asarray(seeds))
    made = make_xor_mixture() if setting.data == "xor" else make_shoulders()
    points = jax.vmap(lambda key: made.sample(key, setting.n_samples))(keys)
    start = [np.random.default_rng([seed, 5]).standard_normal((2 * setting.half_width, 3)) for seed in seeds]
    hidden = simulation_deviation(setting.half_width) * np.stack(start)
    biased = np.array([bias for _, bias in READINGS.values()], np.float64)
    last = np.broadcast_to(biased[:, None, None, None], (4, setting.n_runs, setting.n_samples, 1))
    inputs = np.concatenate([np.broadcast_to(points.inputs, (4, *points.inputs.shape)), last], axis=3)
    votes = jnp.stack([plus_minus(2 * setting.half_width, scale) for scale, _ in READINGS.values()])
    activation = huberized_relu(1 / setting.half_width) if setting.activation == "huberized" else relu()
    every = tuple(range(setting.n_steps + 1))
    rule = LogSquared(setting.faster / setting.half_width, simulation_first_step(setting.half_width))
    done = ensemble(
        TwoLayer(_per_run(np.broadcast_to(hidden, (4, *hidden.shape))), jnp.repeat(votes, setting.n_runs, axis=0), None,
                 activation),
        Dataset(_per_run(inputs), jnp.tile(points.labels, (4, 1))),
        Recipe(logistic, method=GradientDescent(rule), max_steps=setting.n_steps),
        jnp.tile(keys, 4),
        record=Record(every, {"loss": _loss, "error": _error}),
        progress=progress,
    )  # fmt: skip
    return xr.Dataset(
        {
            name: (("reading", "run", "step"), np.asarray(values).reshape(4, setting.n_runs, -1))
            for name, values in done.records.items()
        },
        coords={"reading": list(READINGS), "step": list(every)},
        attrs={"data": setting.data, "activation": setting.activation},
    )


def _per_run(values: np.ndarray) -> jax.Array:
    """The readings and their runs on one axis."""
    return jnp.asarray(values).reshape(-1, *values.shape[2:])


def _outputs(seen):
    return jax.vmap(seen.network)(seen.data.inputs)


def _loss(seen):
    return jnp.mean(logistic(_outputs(seen), seen.data.labels))


def _error(seen):
    return jnp.mean(zero_one(_outputs(seen), seen.data.labels))


def xor_runs(scale: Scale, seed: int) -> list[SimulationSetting]:
    """Figure 2."""
    return [SimulationSetting(data="xor", seed=seed)]


def shoulder_runs(scale: Scale, seed: int) -> list[SimulationSetting]:
    """Figures 3 and 4."""
    return [SimulationSetting(data="shoulders", seed=seed)]


def relu_runs(scale: Scale, seed: int) -> list[SimulationSetting]:
    """Figure 4: the same data and starts with a ReLU."""
    return [SimulationSetting(data="shoulders", activation="relu", seed=seed)]


simulations = Experiment("chatterji2021.simulations", xor_runs, run_simulations, seconds=15.0)
