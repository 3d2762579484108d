"""Points of the balls of Figure 3."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from widenet.claims.experiments import Experiment
from widenet.data.components import xor_balls
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale


class BallsSetting(ClosedModel):
    """So many points in each of the four balls."""

    per_ball: int = 300
    diameter: float = 0.1
    seed: int = 0


@dataclass(frozen=True, eq=False)
class BallPoints:
    """Uniform points with their classes and their balls."""

    points: Float[np.ndarray, "point 2"]
    classes: Int[np.ndarray, " point"]
    balls: Int[np.ndarray, " point"]
    diameter: float


def run_balls(setting: BallsSetting, progress: Progress) -> BallPoints:
    """Centres (0, 0) and (2, 2) for one class, (0, 2) and (2, 0) for the other."""
    drawn = xor_balls(np.random.default_rng([setting.seed, 89]), setting.per_ball, setting.diameter)
    return BallPoints(*drawn, setting.diameter)


def balls_settings(scale: Scale, seed: int) -> list[BallsSetting]:
    """The same at both scales."""
    return [BallsSetting(seed=seed)]


ball_points = Experiment("li2018.ball_points", balls_settings, run_balls, seconds=0.1)
