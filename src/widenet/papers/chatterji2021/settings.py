"""Data of the paper as records of plain values, in the coordinates of Appendix A, where biases are zero.

A network with biases on unit inputs x is a network without biases on x̃ = (x, 1)/√2, which are unit vectors too: its
rows are ṽ = √2(v, b), and a step α there is a step 2α here. All statements of Section 3 are about these coordinates.
"""

from typing import Annotated, Literal

import numpy as np
from jaxtyping import Float
from pydantic import Field

from widenet.data.own import recall
from widenet.diagnostics.huberized import Labels, Points, Rows
from widenet.records import ClosedModel

STEP_FACTOR = 2.0
"""α̃ = 2α."""


def reduced_points(points: Points) -> Float[np.ndarray, "point more"]:
    """x̃ = (x, 1)/√2, of unit length where x is."""
    return np.concatenate([points, np.ones((len(points), 1))], axis=1) / np.sqrt(2)


def reduced_weights(weights: Rows, biases: Float[np.ndarray, " both"]) -> Float[np.ndarray, "both more"]:
    """ṽ = √2(v, b)."""
    return np.sqrt(2) * np.concatenate([weights, biases[:, None]], axis=1)


def restored_weights(weights: Float[np.ndarray, "both more"]) -> tuple[Rows, Float[np.ndarray, " both"]]:
    """(v, b) of rows ṽ."""
    return weights[:, :-1] / np.sqrt(2), weights[:, -1] / np.sqrt(2)


class Listed(ClosedModel):
    """Reduced inputs given one by one."""

    kind: Literal["listed"] = "listed"
    inputs: tuple[tuple[float, ...], ...]
    labels: tuple[float, ...]

    def draw(self, seed: int) -> tuple[Points, Labels]:
        """The same for every seed."""
        return np.asarray(self.inputs, np.float64), np.asarray(self.labels, np.float64)


class Axes(ClosedModel):
    """e_1, …, e_n as reduced inputs, all labelled +1: the least overlap that reduced inputs can have."""

    kind: Literal["axes"] = "axes"
    n_samples: int = Field(ge=1)

    def draw(self, seed: int) -> tuple[Points, Labels]:
        """The same for every seed."""
        return np.eye(self.n_samples), np.ones(self.n_samples)


class Sphere(ClosedModel):
    """Unit points of R^d in random directions, reduced; every second one is labelled −1."""

    kind: Literal["sphere"] = "sphere"
    n_samples: int = Field(ge=1)
    dim: int = Field(ge=1)

    def draw(self, seed: int) -> tuple[Points, Labels]:
        """Other points for every seed."""
        drawn = np.random.default_rng([seed, 2021]).normal(size=(self.n_samples, self.dim))
        points = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
        return reduced_points(points), np.where(np.arange(self.n_samples) % 2, -1.0, 1.0)


class OwnPoints(ClosedModel):
    """A reader's own data, reduced."""

    kind: Literal["own"] = "own"
    own_data: str

    def draw(self, seed: int) -> tuple[Points, Labels]:
        """The same for every seed."""
        data = recall(self.own_data)
        return reduced_points(np.asarray(data.inputs, np.float64)), np.asarray(data.labels, np.float64)


PointsSource = Annotated[Listed | Axes | Sphere | OwnPoints, Field(discriminator="kind")]
"""Where reduced inputs come from: `draw(seed)`."""


class PointsSetting(ClosedModel):
    """What every setting with data has."""

    points: PointsSource

    @property
    def own_data(self) -> str | None:
        """The digest of a reader's data, where it is one."""
        return self.points.own_data if isinstance(self.points, OwnPoints) else None
