"""The same run with biases and without them: Appendix A, step by step."""

from dataclasses import dataclass

import numpy as np
from pydantic import Field

from widenet.claims.experiments import Experiment
from widenet.diagnostics.huberized import HuberNetwork, gradient, log_mean_loss
from widenet.papers.chatterji2021.settings import (
    STEP_FACTOR,
    PointsSetting,
    Sphere,
    reduced_points,
    reduced_weights,
)
from widenet.progress import Progress
from widenet.records import Scale


class CoordinatesSetting(PointsSetting):
    """One pair of runs from Gaussian weights and biases; α = `step_scale`·log²(1/L), plus a little."""

    half_width: int = Field(default=8, ge=1)
    step_scale: float = 0.05
    n_steps: int = Field(default=300, ge=1)
    seed: int = 0


@dataclass(frozen=True, eq=False)
class BothCoordinates:
    """Largest differences over all steps.

    Attributes:
      unit_error: the largest |‖x‖ − 1|.
      weights: of Ṽ^(t) − √2θ^(t), relative to the largest weight; preactivations, losses: likewise.
      smallest_overlap: min ⟨x̃_s, x̃_q⟩; overlaps, halves: ⟨x̃_s, x̃_q⟩ and (1 + ⟨x_s, x_q⟩)/2, flat.
      moved: how far the weights went, so that equal means something.
    """

    unit_error: float
    weights: np.ndarray
    preactivations: np.ndarray
    losses: np.ndarray
    overlaps: np.ndarray
    halves: np.ndarray
    moved: float


def run_coordinates(setting: CoordinatesSetting, progress: Progress) -> BothCoordinates:
    """Train both ways. With biases the gradient of b_i is that of a weight whose input is 1."""
    reduced, labels = setting.points.draw(setting.seed)
    plain = np.sqrt(2) * reduced[:, :-1]
    found = both_ways(plain, labels, setting)
    progress(1.0, "both coordinates")
    return found


def both_ways(points: np.ndarray, labels: np.ndarray, setting: CoordinatesSetting) -> BothCoordinates:
    """The two runs side by side, on inputs with norm 1."""
    draw, p = np.random.default_rng([setting.seed, 47]), setting.half_width
    rows = draw.normal(size=(2 * p, points.shape[1])) / np.sqrt(p)
    biases = draw.normal(size=2 * p) / np.sqrt(p)
    extended, reduced = np.column_stack([points, np.ones(len(points))]), reduced_points(points)
    theta, tilde = np.column_stack([rows, biases]), reduced_weights(rows, biases)
    start, kept = theta, {"weights": [], "preactivations": [], "losses": []}
    for _ in range(setting.n_steps + 1):
        with_biases, without = HuberNetwork(theta, 1 / p), HuberNetwork(tilde, 1 / p)
        logs = [
            float(log_mean_loss(with_biases.margins(extended, labels))),
            float(log_mean_loss(without.margins(reduced, labels))),
        ]
        size = max(1.0, float(np.abs(tilde).max()))
        apart = with_biases.preactivations(extended) - without.preactivations(reduced)
        kept["weights"].append(float(np.abs(tilde - np.sqrt(2) * theta).max()) / size)
        kept["preactivations"].append(float(np.abs(apart).max()) / size)
        kept["losses"].append(abs(logs[0] - logs[1]))
        theta = theta - setting.step_scale * (logs[0] ** 2 + 1) * gradient(with_biases, extended, labels)
        step = STEP_FACTOR * setting.step_scale * (logs[1] ** 2 + 1)
        tilde = tilde - step * gradient(without, reduced, labels)
    return BothCoordinates(
        unit_error=float(np.abs(np.linalg.norm(points, axis=1) - 1).max()),
        overlaps=(reduced @ reduced.T).ravel(),
        halves=((1 + points @ points.T) / 2).ravel(),
        moved=float(np.abs(theta - start).max()),
        **{name: np.array(values) for name, values in kept.items()},
    )


def coordinates_settings(scale: Scale, seed: int) -> list[CoordinatesSetting]:
    """Twelve points of R³, and two opposite ones."""
    return [CoordinatesSetting(points=Sphere(n_samples=12, dim=3), seed=seed)]


coordinates = Experiment("chatterji2021.coordinates", coordinates_settings, run_coordinates, seconds=0.1)
