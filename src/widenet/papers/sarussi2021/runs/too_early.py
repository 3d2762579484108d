"""Gradient flow while the sum of the losses lies between log 2 and 1."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.cases import Cases, column
from widenet.diagnostics.homogeneous_margins import log_total_loss, loss_weights, smoothed_margin
from widenet.papers.sarussi2021.settings import SignedNetwork

SHORT = 1e-6
"""The time between two readings."""


@dataclass(frozen=True, eq=False)
class TooEarly(Cases):
    """Gradient flow while log 2 < nL < 1, at small steps, for several t."""

    margins: Float[np.ndarray, "run look"]  #: the smoothed margin
    totals: Float[np.ndarray, "run look"]  #: nL

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


def too_early(stretches: Sequence[float]) -> TooEarly:
    """k = 1, v = 1, α = 1/2, x₁ = (1, 1), x₂ = t(−1, 0.2), both positive, w = −0.02(1, 1), u = 0.04(1, 1).

    The weights point against the gradient of x₁, whose margin is −0.1, while t makes that of x₂ large.
    """
    margins, totals = [], []
    for stretch in stretches:
        points, labels = np.array([[1.0, 1.0], [-stretch, 0.2 * stretch]]), np.ones(2)
        weights = np.array([[-0.02, -0.02], [0.04, 0.04]])
        path, sums = [], []
        for _ in range(6):
            network = SignedNetwork(weights[:1], weights[1:], 1.0, 0.5)
            q = labels * network.outputs(points)
            path.append(float(smoothed_margin(q, network.norm)))
            sums.append(float(np.exp(log_total_loss(q))))
            slopes = np.where(points @ weights.T > 0, 1.0, 0.5) * network.output_weights
            pushes = loss_weights(q) * sums[-1]
            weights = weights + SHORT * np.einsum("n,nj,nd->jd", pushes, slopes, points)
        margins.append(path)
        totals.append(sums)
    return TooEarly(np.array(margins), np.array(totals))
