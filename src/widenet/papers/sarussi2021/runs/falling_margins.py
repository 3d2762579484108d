"""Gradient flow while the sum of the losses lies between log 2 and 1."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.cases import Cases, column
from widenet.diagnostics.homogeneous_margins import log_total_loss, smoothed_margin
from widenet.losses import logistic
from widenet.records import Scale
from widenet.training.small import SmallNetworks, train_small

SHORT = 1e-6
"""The time between two readings."""


@dataclass(frozen=True, eq=False)
class FallingMargins(Cases):
    """Gradient flow while log 2 < nL < 1, at small steps, for several t."""

    margins: Float[np.ndarray, "run look"]  #: the smoothed margin
    totals: Float[np.ndarray, "run look"]  #: nL
    points: Float[np.ndarray, "run 2 2"]
    neurons: Float[np.ndarray, "run 2 2"]  #: w and u at the start

    @column
    def margin_then(self) -> Float[np.ndarray, "run stretch"]:
        """The smoothed margin before each step."""
        return self.margins[:, :-1]

    @column
    def margin_next(self) -> Float[np.ndarray, "run stretch"]:
        """And after it."""
        return self.margins[:, 1:]

    @column
    def rate(self) -> Float[np.ndarray, "run stretch"]:
        """At which it falls."""
        return -np.diff(self.margins, axis=1) / SHORT


def falling_margins(stretches: Sequence[float]) -> FallingMargins:
    """k = 1, v = 1, α = 1/2, x₁ = (1, 1), x₂ = t(−1, 0.2), both positive, w = −0.02(1, 1), u = 0.04(1, 1).

    The weights point against the gradient of x₁, whose margin is −0.1, while t makes that of x₂ large.
    """
    n_runs = len(stretches)
    points = np.array([[(1.0, 1.0), (-t, 0.2 * t)] for t in stretches])
    start = np.tile([[-0.02, -0.02], [0.04, 0.04]], (n_runs, 1, 1))
    networks = SmallNetworks(start, np.tile([1.0, -1.0], (n_runs, 1)), 0.5, 0.5)
    margins, totals = [], []

    def look(networks: SmallNetworks) -> None:
        outputs = networks.outputs(points)  # the margins too, of positive points
        margins.append(smoothed_margin(outputs, np.linalg.norm(networks.hidden, axis=(1, 2))))
        totals.append(np.exp(log_total_loss(outputs)))

    look(networks)
    train_small(
        networks,
        points,
        np.ones((n_runs, 2)),
        step_size=SHORT,
        max_updates=5,
        order=None,
        loss=logistic,
        shares=np.ones((n_runs, 2)),
        watch=lambda update: look(update.networks),
    )
    return FallingMargins(np.stack(margins, axis=1), np.stack(totals, axis=1), points, start)


def draw_falling(scale: Scale, seed: int) -> FallingMargins:
    """t = 200, 300, 400."""
    return falling_margins((200.0, 300.0, 400.0))
