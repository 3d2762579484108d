"""Two points, an epoch in which every sampled loss is small, and one update more."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.cases import Cases, Number, column
from widenet.losses import logistic
from widenet.papers.sarussi2021.formulas import one_epoch
from widenet.records import Scale
from widenet.training.small import SmallNetworks, Update, cyclic, train_small

CLEAN_LEVEL = float(np.exp(-5))


@dataclass(frozen=True, eq=False)
class AfterCleanEpoch(Cases):
    """Two points, one clean epoch, and one update more."""

    margins: Float[np.ndarray, "state point"]  #: y N(x) before the epoch, inside it, at its end, and one update later
    sampled: Float[np.ndarray, " sample"]  #: the two losses sampled in the epoch
    reach: Number  #: 2v²R_x²ηkn
    points: Float[np.ndarray, "point 2"]
    neurons: Float[np.ndarray, "neuron 2"]  #: w and u before the epoch
    clean_level: Number = CLEAN_LEVEL  #: ε_0

    @column
    def moved(self) -> Float[np.ndarray, " change"]:
        """|ℓ(N_{t+s}(x)) − ℓ(N_t(x))| for t and s from 1 to n, the printed range, as far as the updates go."""
        states = np.logaddexp(0, -self.margins)
        pairs = [(t, t + s) for t in (1, 2) for s in (1, 2) if t + s < len(states)]
        return np.concatenate([np.abs(states[end] - states[start]) for start, end in pairs])

    @column
    def late_losses(self) -> Float[np.ndarray, " point"]:
        """The losses one update after the epoch."""
        return np.logaddexp(0, -self.margins[-1])

    @column
    def sampled_share(self) -> Float[np.ndarray, " sample"]:
        """The sampled losses over ε_0."""
        return self.sampled / self.clean_level

    @property
    def instance(self) -> str:
        """In words."""
        step_size = np.max(self.reach) / (4 * 1.01)
        return (
            "x₁ = (1, 0.1), x₂ = (−1, 0.1), both positive, k = v = 1, α = 0.9, ε_0 = e^{−5}, "
            f"η = {step_size:.4g}, w = −u, order x₁, x₂, and x₁ again after the clean epoch."
        )


def one_update_more(step_share: float = 1.0) -> AfterCleanEpoch:
    """x₁ = (1, 0.1), x₂ = (−1, 0.1), both positive, k = 1, v = 1, α = 0.9, and a step so large that 2v²R_x²ηknε_0 = 20.

    w = −u is such that the loss of x₁ is far below ε_0 = e^{−5} and that of x₂ just below it. `step_share` scales η.
    """
    points = np.array([[1.0, 0.1], [-1.0, 0.1]])
    radius_square = float((points[0] ** 2).sum())
    step_size = step_share * 10 / (2 * radius_square * CLEAN_LEVEL)
    edge = -np.log(np.expm1(CLEAN_LEVEL))
    along = np.linalg.solve(points, np.array([edge + 5, edge + 0.2]) / 1.9)
    neurons = np.stack([along, -along])
    networks = SmallNetworks(neurons[None], np.array([[1.0, -1.0]]), 0.9, 0.9)
    margins, sampled = [networks.outputs(points)[0]], []

    def look(update: Update) -> None:
        sampled.append(np.logaddexp(0, -update.margins[0]))
        margins.append(update.networks.outputs(points)[0])

    train_small(
        networks,
        points,
        np.ones((1, 2)),
        step_size=step_size,
        max_updates=3,
        order=cyclic(),
        loss=logistic,
        watch=look,
    )
    reach = one_epoch(2, step_size, 1.0, 1, radius_square**0.5)
    return AfterCleanEpoch(np.stack(margins), np.array(sampled[:2]), float(reach), points, neurons)


def draw_after(scale: Scale, seed: int) -> AfterCleanEpoch:
    """Nothing here is random."""
    return one_update_more()
