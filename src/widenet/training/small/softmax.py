"""Softmax networks over a fixed second layer in NumPy (li2018): outputs, residuals, gradients, and descents.

f(x) = A·ReLU(Wx); W is trained on the cross-entropy of the softmax. ReLU has derivative 1 at 0.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

Points = Float[np.ndarray, "point dim"]
Classes = Int[np.ndarray, " point"]
Shares = Float[np.ndarray, " point"]
Gates = Bool[np.ndarray, "point neuron"]


@dataclass(frozen=True, eq=False)
class SoftmaxNetwork:
    """`hidden` is W, one row per neuron; `votes` is A, one row per class."""

    hidden: Float[np.ndarray, "neuron dim"]
    votes: Float[np.ndarray, "kind neuron"]

    @property
    def n_neurons(self) -> int:
        """m."""
        return len(self.hidden)

    @property
    def largest_vote(self) -> float:
        """max |a|."""
        return float(np.abs(self.votes).max())

    def preactivations(self, points: Points) -> Float[np.ndarray, "point neuron"]:
        """⟨w_r, x⟩."""
        return points @ self.hidden.T

    def gates(self, points: Points) -> Gates:
        """1[⟨w_r, x⟩ ≥ 0], as in the gradient."""
        return self.preactivations(points) >= 0

    def logits(self, points: Points) -> Float[np.ndarray, "point kind"]:
        """f."""
        return np.maximum(self.preactivations(points), 0) @ self.votes.T

    def gated_logits(self, points: Points, gates: Gates) -> Float[np.ndarray, "point kind"]:
        """g: the outputs under given gates."""
        return (self.preactivations(points) * gates) @ self.votes.T

    def moved(self, change: Float[np.ndarray, "neuron dim"]) -> "SoftmaxNetwork":
        """With W + change."""
        return replace(self, hidden=self.hidden + change)


def start_softmax(
    draw: np.random.Generator, n_neurons: int, dim: int, n_classes: int, *, deviation: float | None = None
) -> SoftmaxNetwork:
    """Independent Gaussian weights: W of standard deviation m^{−1/2} unless told otherwise, A of 1."""
    scale = n_neurons**-0.5 if deviation is None else deviation
    return SoftmaxNetwork(scale * draw.normal(size=(n_neurons, dim)), draw.normal(size=(n_classes, n_neurons)))


def wrong_mass(logits: Float[np.ndarray, "point kind"], classes: Classes) -> Float[np.ndarray, " point"]:
    """1 − o_y, without cancellation."""
    return np.exp(log_wrong_mass(logits, classes))


def log_wrong_mass(logits: Float[np.ndarray, "point kind"], classes: Classes) -> Float[np.ndarray, " point"]:
    """log(1 − o_y), to the last digits also where logits are large; NaN where they overflowed."""
    leads = _leads(logits)
    total = _log_sum(leads)
    leads[np.arange(len(classes)), classes] = -np.inf
    with np.errstate(invalid="ignore"):
        return _log_sum(leads) - total


def cross_entropies(logits: Float[np.ndarray, "point kind"], classes: Classes) -> Float[np.ndarray, " point"]:
    """−log o_y, down to the smallest number."""
    leads = logits - logits[np.arange(len(classes)), classes][:, None]
    leads[np.arange(len(classes)), classes] = -np.inf
    return np.logaddexp(0, _log_sum(leads))


def _log_sum(logits: Float[np.ndarray, "point kind"]) -> Float[np.ndarray, " point"]:
    """log Σ exp of each row. At these sizes SciPy's takes ten times as long, and it is called at every step."""
    shift = _finite_top(logits)
    with np.errstate(divide="ignore", over="ignore"):
        return shift[:, 0] + np.log(np.exp(logits - shift).sum(axis=1))


def _leads(logits: Float[np.ndarray, "point kind"]) -> Float[np.ndarray, "point kind"]:
    """Each row less its largest number."""
    return logits - _finite_top(logits)


def _finite_top(logits: Float[np.ndarray, "point kind"]) -> Float[np.ndarray, "point 1"]:
    """The largest number of each row; 0 where that is infinite."""
    top = logits.max(axis=1, keepdims=True)
    return np.where(np.isfinite(top), top, 0.0)


def residuals(logits: Float[np.ndarray, "point kind"], classes: Classes) -> Float[np.ndarray, "point kind"]:
    """v: 1 − o_y at the class of the point, −o_i at the others."""
    with np.errstate(over="ignore", invalid="ignore"):
        powers = np.exp(_leads(logits))
        found = -powers / powers.sum(axis=1, keepdims=True)
    found[np.arange(len(classes)), classes] = wrong_mass(logits, classes)
    return found


def decided_rightly(logits: Float[np.ndarray, "point kind"], classes: Classes) -> Bool[np.ndarray, " point"]:
    """f_y > f_j for every other class; a tie is wrong."""
    own = logits[np.arange(len(classes)), classes]
    others = logits.copy()
    others[np.arange(len(classes)), classes] = -np.inf
    return own > others.max(axis=1)


def gradient(
    network: SoftmaxNetwork,
    points: Points,
    classes: Classes,
    shares: Shares,
    *,
    gates: Gates | None = None,
    logits: Float[np.ndarray, "point kind"] | None = None,
) -> Float[np.ndarray, "neuron dim"]:
    """Σ p·∂L(x, y)/∂w_r by Eq. 1; with the gates of the start, the pseudo gradient."""
    if gates is None:
        gates = network.gates(points)
    if logits is None:
        logits = network.logits(points)
    pulls = (shares[:, None] * residuals(logits, classes)) @ network.votes
    return -(pulls * gates).T @ points


@dataclass(frozen=True, eq=False)
class SoftmaxStep:
    """Before a step of descent: the network, what it sees of the points that are followed, and the step itself."""

    number: int
    network: SoftmaxNetwork
    preactivations: Float[np.ndarray, "point neuron"]
    logits: Float[np.ndarray, "point kind"]
    gradient: Float[np.ndarray, "neuron dim"]


def descend(
    network: SoftmaxNetwork, points: Points, classes: Classes, shares: Shares, step_size: float, n_steps: int
) -> Iterator[SoftmaxStep]:
    """Full-batch gradient descent: n_steps + 1 states, the last one without a step taken from it."""
    for number in range(n_steps + 1):
        z = network.preactivations(points)
        logits = np.maximum(z, 0) @ network.votes.T
        slope = gradient(network, points, classes, shares, gates=z >= 0, logits=logits)
        yield SoftmaxStep(number, network, z, logits, slope)
        network = network.moved(-step_size * slope)


def descend_by_batches(
    network: SoftmaxNetwork,
    points: Points,
    classes: Classes,
    batches: Int[np.ndarray, "step place"],
    step_size: float,
) -> Iterator[tuple[int, SoftmaxNetwork, Float[np.ndarray, "neuron dim"]]]:
    """Mini-batch SGD: (number, network before the step, mean gradient of its batch); the last has a zero gradient."""
    shares = np.full(batches.shape[1], 1 / batches.shape[1])
    for number, rows in enumerate(batches):
        slope = gradient(network, points[rows], classes[rows], shares)
        yield number, network, slope
        network = network.moved(-step_size * slope)
    yield len(batches), network, np.zeros_like(network.hidden)
