"""The gradient of the hinge loss by automatic differentiation, at random networks with one sample each."""

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from widenet.claims.cases import Cases, Number
from widenet.claims.experiments import Experiment
from widenet.losses import hinge
from widenet.papers.brutzkus2018.sources import plus_minus_weights
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale


class GradientSetting(ClosedModel):
    """How many states, of networks of which size."""

    seed: int
    count: int
    half_width: int
    dim: int
    slope: float = 0.2
    step_size: float = 0.7


@dataclass(frozen=True, eq=False)
class Gradients(Cases):
    """States (networks, each with one sample) and ∂/∂(W, a) of the loss of that sample."""

    rows: ClassVar = "state"

    hidden: Float[np.ndarray, "state neuron dim"]
    outputs: Float[np.ndarray, "state neuron"]
    inputs: Float[np.ndarray, "state dim"]
    labels: Float[np.ndarray, " state"]
    slope: Number
    step_size: Number
    by_hidden: Float[np.ndarray, "state neuron dim"]
    by_outputs: Float[np.ndarray, "state neuron"]


def differentiate(
    hidden: Float[np.ndarray, "state neuron dim"],
    outputs: Float[np.ndarray, "state neuron"],
    inputs: Float[np.ndarray, "state dim"],
    labels: Float[np.ndarray, " state"],
    slope: float,
    step_size: float,
) -> Gradients:
    """All states in one compiled program."""

    def loss(weights: Array, output: Array, x: Array, y: Array) -> Array:
        z = weights @ x
        return hinge(output @ jnp.where(z > 0, z, slope * z), y)

    found = jax.jit(jax.vmap(jax.grad(loss, argnums=(0, 1))))(hidden, outputs, inputs, labels)
    by_hidden, by_outputs = (np.asarray(each) for each in found)
    return Gradients(hidden, outputs, inputs, labels, slope, step_size, by_hidden, by_outputs)


def run_gradients(setting: GradientSetting, progress: Progress) -> Gradients:
    """One cell."""
    draw = np.random.default_rng(setting.seed)
    count, half, dim = setting.count, setting.half_width, setting.dim
    progress(0.0, "differentiating")
    scales = np.exp(draw.uniform(-3, 1, (count, 1, 1)))
    return differentiate(
        scales * draw.normal(size=(count, 2 * half, dim)),
        plus_minus_weights(half, 1.0) * np.exp(draw.normal(size=(count, 2 * half))),
        draw.normal(size=(count, dim)) / dim,
        draw.choice([-1.0, 1.0], count),
        setting.slope,
        setting.step_size,
    )


def gradient_settings(scale: Scale, seed: int) -> list[GradientSetting]:
    """One cell."""
    count, half, dim = (200, 4, 6) if scale is Scale.QUICK else (2000, 20, 20)
    return [GradientSetting(seed=seed, count=count, half_width=half, dim=dim)]


gradients = Experiment("brutzkus2018.gradients", gradient_settings, run_gradients, seconds=0.5)
