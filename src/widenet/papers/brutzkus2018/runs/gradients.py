"""The gradient of the hinge loss by automatic differentiation, at random networks with one sample each."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from widenet.claims.cases import Cases, Number, column
from widenet.claims.experiments import Experiment
from widenet.losses import hinge
from widenet.networks.arrays import plus_minus_weights
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


@dataclass(frozen=True, eq=False)
class ScalarStep(Cases):
    """One neuron of each sign in one dimension, and a point with label +1, in exact numbers."""

    w: Fraction
    u: Fraction
    plus_output: Fraction  #: v
    minus_output: Fraction  #: v̂, negative, as the paper introduces it: v_0 = −v̂_0
    point: Fraction  #: x
    slope: Fraction  #: α
    step_size: Fraction  #: η
    moves_outputs: bool  #: whether the output weights are trained too

    @column
    def before(self) -> Number:
        """y N(x)."""
        return float(self.output)

    @property
    def output(self) -> Fraction:
        """N(x) = vσ(wx) + v̂σ(ux)."""
        return self.plus_output * self._activation(self.w) + self.minus_output * self._activation(self.u)

    def by_gradient(self) -> tuple[Fraction, Fraction]:
        """(w, u) after a step along −∂/∂(w, u) of 1 − N(x)."""
        return (
            self.w + self.step_size * self.plus_output * self._derivative(self.w) * self.point,
            self.u + self.step_size * self.minus_output * self._derivative(self.u) * self.point,
        )

    def as_printed(self) -> tuple[Fraction, Fraction]:
        """(w + ηv_t p x, u − ηv̂_t q x), with the output weights after their own update."""
        moved = self.step_size if self.moves_outputs else Fraction(0)
        plus = self.plus_output + moved * self._activation(self.w)
        minus = self.minus_output + moved * self._activation(self.u)
        return (
            self.w + self.step_size * plus * self._derivative(self.w) * self.point,
            self.u - self.step_size * minus * self._derivative(self.u) * self.point,
        )

    def _derivative(self, weight: Fraction) -> Fraction:
        return Fraction(1) if weight * self.point >= 0 else self.slope

    def _activation(self, weight: Fraction) -> Fraction:
        return weight * self.point * self._derivative(weight)


def scalar_steps(scale: Scale, seed: int) -> list[ScalarStep]:
    """w = u = ½, v = −v̂ = x = η = 1, α = ½: first with output weights at rest, then with both layers trained."""
    half, one = Fraction(1, 2), Fraction(1)
    return [ScalarStep(half, half, one, -one, one, half, one, moves) for moves in (False, True)]
