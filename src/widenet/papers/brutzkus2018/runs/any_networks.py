"""Networks with any output weights, rewritten with output weights ±v (footnote 5)."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from widenet.claims.cases import Cases, Number, column
from widenet.networks.arrays import leaky
from widenet.records import Scale

Activation = Callable[[np.ndarray], np.ndarray]


ACTIVATIONS: dict[str, Activation] = {
    "Leaky ReLU": functools.partial(leaky, slope=0.2),
    "ReLU": functools.partial(leaky, slope=0.0),
}


@dataclass(frozen=True, eq=False)
class AnyNetwork(Cases):
    """A network with k neurons and any output weights, and points to compare it on."""

    weights: Float[np.ndarray, "neuron dim"]
    outputs: Float[np.ndarray, " neuron"]
    points: Float[np.ndarray, "point dim"]
    output_weight: Number  #: v of the network that it is rewritten as
    activations: Mapping[str, Activation] = field(default_factory=lambda: ACTIVATIONS)  #: σ, by name

    @column
    def homogeneity(self) -> Number:
        """The largest |σ(3z) − 3σ(z)|, relative to the largest |z|."""
        z = self.points @ self.weights.T
        errors = [np.abs(sigma(3 * z) - 3 * sigma(z)).max() for sigma in self.activations.values()]
        return float(max(errors) / np.abs(z).max())


def rewrite(network: AnyNetwork) -> Float[np.ndarray, "twice dim"]:
    """W of the equal network with 2k neurons and output weights ±v: row i is (a_i/v)w_i in a slot of its sign."""
    scaled = (np.abs(network.outputs) / network.output_weight)[:, None] * network.weights
    positive = (network.outputs > 0)[:, None]
    return np.concatenate([np.where(positive, scaled, 0.0), np.where(positive, 0.0, scaled)])


def any_networks(scale: Scale, seed: int) -> list[AnyNetwork]:
    """Networks of random sizes; some output weights are exactly 0."""
    draw = np.random.default_rng(seed)
    networks = []
    for _ in range(20 if scale is Scale.QUICK else 100):
        half, dim = int(draw.integers(1, 40)), int(draw.integers(1, 20))
        outputs = draw.normal(size=half) * (draw.random(half) < 0.9)
        points = draw.normal(size=(1000, dim))
        networks.append(AnyNetwork(draw.normal(size=(half, dim)), outputs, points, float(np.exp(draw.normal()))))
    return networks
