"""Data, networks and starts of the paper: points as records of plain values, and the ±v network in NumPy."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from jaxtyping import Float
from pydantic import Field

from widenet.claims.user_data import Order
from widenet.data.gaussians import two_gaussians, with_outlier
from widenet.data.mnist import load_mnist
from widenet.data.sources import ListedPoints, OwnPoints
from widenet.networks.arrays import leaky, outputs_of
from widenet.records import ClosedModel

EpochOrder = Literal[Order.PERMUTATION, Order.CYCLIC]
"""Orders in which every epoch visits each point once."""

Points = Float[np.ndarray, "point dim"]
Labels = Float[np.ndarray, " point"]


def lift(points: Points) -> Float[np.ndarray, "point more"]:
    """(x, 1): what a network with biases sees."""
    return np.concatenate([points, np.ones((len(points), 1))], axis=1)


def lengths(points: Float[np.ndarray, "*batch point dim"]) -> Float[np.ndarray, "*batch point"]:
    """‖x‖ of every point, of numbers too whose squares are too small or too large for float64."""
    largest = np.abs(points).max(axis=-1, keepdims=True, initial=0.0)
    scaled = np.divide(points, largest, out=np.zeros(np.shape(points)), where=largest > 0)
    return largest[..., 0] * np.linalg.norm(scaled, axis=-1)


class SmallCloud(ClosedModel):
    """Gaussian points of the plane (or R^d) with |x₁| > least_margin, labelled by the sign of x₁.

    `lifted` appends a coordinate that is always 1, so that the last entry of a row is a bias.
    """

    kind: Literal["small cloud"] = "small cloud"
    n_samples: int = 20
    dim: int = 2
    least_margin: float = 0.5
    lifted: bool = False

    def draw(self, seed: int) -> tuple[Points, Labels]:
        """Other points for every seed."""
        draw = np.random.default_rng([seed, 4])
        points = draw.normal(size=(self.n_samples, self.dim))
        while (short := np.abs(points[:, 0]) <= self.least_margin).any():
            points[short] = draw.normal(size=(int(short.sum()), self.dim))
        labels = np.sign(points[:, 0])
        return (lift(points) if self.lifted else points), labels


class TwoGaussians(ClosedModel):
    """Two Gaussians with mirrored means; see `widenet.data.gaussians`."""

    kind: Literal["gaussians"] = "gaussians"
    n_samples: int = 100
    n_test: int = 0
    mean: tuple[float, ...] = (2.0, 2.0)
    spread: float = 1.0
    least_margin: float = 0.5
    mirrored: bool = False
    outlier: tuple[float, ...] | None = None

    def draw(self, seed: int) -> tuple[Points, Labels]:
        """Other points for every seed; the outlier, labelled +1, comes last."""
        points, labels = self._two(np.random.default_rng([seed, 6]), self.n_samples)
        return (points, labels) if self.outlier is None else with_outlier(points, labels, np.asarray(self.outlier))

    def draw_all(self, seed: int) -> tuple[Points, Labels]:
        """The training points, and behind them the test points, where there are any."""
        points, labels = self.draw(seed)
        if not self.n_test:
            return points, labels
        more, their_labels = self._two(np.random.default_rng([seed, 7]), self.n_test)
        return np.concatenate([points, more]), np.concatenate([labels, their_labels])

    def _two(self, draw: np.random.Generator, n_samples: int) -> tuple[Points, Labels]:
        mean = np.asarray(self.mean)
        how = {"spread": self.spread, "least_margin": self.least_margin, "mirrored": self.mirrored}
        return two_gaussians(draw, n_samples, mean, **how)


class OutlierCloud(ClosedModel):
    """Two Gaussians of the plane around (±3, 0) without the points of y x₁ ≤ 1/2, and one positive point far away.

    The points are the same for every seed. The outlier lies at 110° and distance 30, behind the negative points.
    """

    kind: Literal["outlier cloud"] = "outlier cloud"
    with_outlier: bool = True

    def draw(self, seed: int) -> tuple[Points, Labels]:
        """98 points, and the outlier last."""
        labels = np.repeat([1.0, -1.0], 50)
        points = labels[:, None] * np.array([3.0, 0.0]) + np.random.default_rng(1).normal(size=(100, 2))
        kept = labels * points[:, 0] > 0.5
        points, labels = points[kept], labels[kept]
        angle = np.radians(110.0)
        far = 30 * np.array([np.cos(angle), np.sin(angle)])
        return with_outlier(points, labels, far) if self.with_outlier else (points, labels)


class DigitPair(ClosedModel):
    """Random images of two digits of MNIST, pixels from 0 to 1, the first digit labelled +1."""

    kind: Literal["digit pair"] = "digit pair"
    digits: tuple[int, int] = (0, 1)
    n_samples: int = 1000
    n_test: int = 1000

    def draw(self, seed: int) -> tuple[Points, Labels]:
        """Other images for every seed."""
        points, labels = self.draw_all(seed)
        return points[: self.n_samples], labels[: self.n_samples]

    def draw_all(self, seed: int) -> tuple[Points, Labels]:
        """The training images, and behind them the test images; none occurs twice, and all are training files'."""
        images, digits = load_mnist("train")
        rows = np.flatnonzero(np.isin(digits, self.digits))
        chosen = np.random.default_rng([seed, 11]).permutation(rows)[: self.n_samples + self.n_test]
        return images[chosen] / 255.0, np.where(digits[chosen] == self.digits[0], 1.0, -1.0)


PointsSource = Annotated[
    ListedPoints | SmallCloud | TwoGaussians | OutlierCloud | DigitPair | OwnPoints, Field(discriminator="kind")
]
"""Where points come from: `draw(seed)`."""


class PointsSetting(ClosedModel):
    """What every setting with data has."""

    points: PointsSource


TWO_POINTS = ListedPoints(inputs=((2.0, 1.0), (-1.0, -3.0)), labels=(1.0, -1.0))
"""Two points on which, with α = 1/3, every hypothesis of Theorem 6.2 holds."""
CROSS = ListedPoints(inputs=((3.0, 0.0), (1.0, 2.0), (-3.0, 0.0), (-1.0, -2.0)), labels=(1.0, 1.0, -1.0, -1.0))
"""Four antipodal points."""
BROKEN_CROSS = ListedPoints(inputs=((3.0, 0.0), (1.0, 2.0), (-3.0, 0.0)), labels=(1.0, 1.0, -1.0))
"""The same without (−1, −2): no longer antipodal."""
WEDGE = ListedPoints(inputs=((0.0, 2.0), (3.0, 3.0), (2.0, -1.0)), labels=(1.0, 1.0, -1.0))
"""Three points on which, with α = 1/20, gradient flow stays in a regime that is not of perfect agreement."""
WEDGE_PLUS, WEDGE_MINUS = (1.0, 1.0, -1.0), (-1.0, 1.0, 1.0)
"""The signs of that regime."""


@dataclass(frozen=True, eq=False)
class SignedNetwork:
    """N(x) = v(Σ σ(⟨w_j, x⟩) − Σ σ(⟨u_j, x⟩)); `plus` are the rows w, `minus` the rows u, σ'(0) = α."""

    plus: Float[np.ndarray, "neuron dim"]
    minus: Float[np.ndarray, "neuron dim"]
    output_weight: float
    slope: float

    @property
    def half_width(self) -> int:
        """k."""
        return len(self.plus)

    @property
    def weights(self) -> Float[np.ndarray, "both dim"]:
        """W, the plus rows first."""
        return np.concatenate([self.plus, self.minus])

    @property
    def norm(self) -> float:
        """‖W‖."""
        return float(np.linalg.norm(self.weights))

    @property
    def output_weights(self) -> Float[np.ndarray, " both"]:
        """+v and −v."""
        return self.output_weight * np.repeat([1.0, -1.0], [len(self.plus), len(self.minus)])

    def activated(self, products: np.ndarray) -> np.ndarray:
        """σ."""
        return leaky(products, self.slope)

    def outputs(self, points: Points) -> Labels:
        """N."""
        return outputs_of(self.weights, self.output_weights, points, self.slope)

    def scale(self, points: Points) -> Labels:
        """v Σ |σ(z_j)|: what rounding of N is measured against."""
        return np.abs(self.activated(points @ self.weights.T)) @ np.abs(self.output_weights)


def unit(vector: Float[np.ndarray, " dim"]) -> Float[np.ndarray, " dim"]:
    """Of length 1; 0 stays 0."""
    length = np.linalg.norm(vector)
    return vector / length if length > 0 else vector


def split(weights: Float[np.ndarray, "both dim"], output_weight: float, slope: float) -> SignedNetwork:
    """The network whose first half of the rows votes plus."""
    half = len(weights) // 2
    return SignedNetwork(weights[:half], weights[half:], output_weight, slope)


def turning_point(slope: float, half_width: int) -> float:
    """(w̄ − ū)·x at which the output of `kappa_network` at x = (1, 0) is 0; NaN if it does not grow towards it."""
    point = np.array([[1.0, 0.0]])
    low, high = (float(kappa_network(slope, c, half_width).outputs(point)[0]) for c in (0.0, 0.5))
    return 0.5 * low / (low - high) if low < high else np.nan


def kappa_network(slope: float, distance: float, half_width: int = 2, *, swapped: bool = False) -> SignedNetwork:
    """At x = (1, 0) its sign is that of (w̄ − ū)·x = `distance` exactly from κ on: Theorem 5.1 with κ is sharp.

    The minus rows lie at ±1 around −distance (one at −distance itself where k is odd), the plus rows across. `swapped`
    exchanges the signs, and with them the sign of everything.
    """
    across = np.tile([0.0, 1.0], (half_width, 1))
    places = np.array([1.0] * (half_width // 2) + [-1.0] * (half_width // 2) + [0.0] * (half_width % 2)) - distance
    spread = np.stack([places, np.zeros(half_width)], axis=1)
    return SignedNetwork(spread, across, 1.0, slope) if swapped else SignedNetwork(across, spread, 1.0, slope)
