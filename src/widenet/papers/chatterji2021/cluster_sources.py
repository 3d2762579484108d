"""Clustered data as records of plain values, and what an experiment needs to know of it, in reduced coordinates."""

from dataclasses import dataclass
from typing import Annotated, Literal

import jax
import numpy as np
from jaxtyping import Float, Int
from pydantic import Field

from widenet.data.clusters import EQUAL, make_clusters
from widenet.data.own import recall_points
from widenet.diagnostics.four_clusters import ClusterShape, find_clusters, measure_clusters
from widenet.papers.chatterji2021.sources import reduced_points
from widenet.records import ClosedModel


@dataclass(frozen=True, eq=False)
class LabelledClusters:
    """Points of unit length with labels and clusters, as they were given; `shape` has r, Δ, ε and the centres."""

    points: Float[np.ndarray, "point dim"]
    labels: Float[np.ndarray, " point"]
    clusters: Int[np.ndarray, " point"]
    shape: ClusterShape

    @property
    def reduced(self) -> Float[np.ndarray, "point more"]:
        """(x, 1)/√2."""
        return reduced_points(self.points)


class DrawnClusters(ClosedModel):
    """Four clusters of unit vectors; see `widenet.data.clusters`. r and Δ are those of the generator's centres."""

    kind: Literal["clusters"] = "clusters"
    n_samples: int = Field(ge=4)
    dim: int = 2
    radius: float = 0.1
    overlap: float = 0.0
    shares: tuple[float, float, float, float] = EQUAL

    def draw(self, seed: int) -> LabelledClusters:
        """Other points for every seed."""
        made = make_clusters(self.dim, self.radius, self.overlap, self.shares)
        data, own = made.sample(jax.random.key(seed), self.n_samples), made.clusters(self.n_samples)
        return clustered(np.asarray(data.inputs), np.asarray(data.labels), own, np.asarray(made.centres))


class Centres(ClosedModel):
    """The four centres of XOR themselves: ±(√½, −√½) labelled +1, ±(√½, √½) labelled −1."""

    kind: Literal["centres"] = "centres"

    def draw(self, seed: int) -> LabelledClusters:
        """The same for every seed."""
        half = np.sqrt(0.5)
        points = np.array([(half, -half), (-half, half), (half, half), (-half, -half)])
        return clustered(points, np.array([1.0, 1.0, -1.0, -1.0]), np.arange(4), points)


class OnePointCluster(ClosedModel):
    """One point, labelled +1."""

    kind: Literal["one"] = "one"

    def draw(self, seed: int) -> LabelledClusters:
        """The same for every seed."""
        return clustered(np.array([(1.0, 0.0)]), np.ones(1), np.zeros(1, int), np.array([(1.0, 0.0)] * 4))


class OwnClusters(ClosedModel):
    """Your own data; each class is split in two."""

    kind: Literal["own"] = "own"
    own_data: str

    def draw(self, seed: int) -> LabelledClusters:
        """The same for every seed."""
        points, labels = recall_points(self.own_data)
        return clustered(points, labels, find_clusters(points, labels))


def clustered(
    points: Float[np.ndarray, "point dim"],
    labels: Float[np.ndarray, " point"],
    clusters: Int[np.ndarray, " point"],
    centres: Float[np.ndarray, "4 dim"] | None = None,
) -> LabelledClusters:
    """The same with its clusters measured."""
    return LabelledClusters(points, labels, clusters, measure_clusters(points, labels, clusters, centres))


ClusterSource = Annotated[DrawnClusters | Centres | OnePointCluster | OwnClusters, Field(discriminator="kind")]
"""Where clustered points come from: `draw(seed)`."""


class ClusterSetting(ClosedModel):
    """What every setting with clusters has."""

    points: ClusterSource
