"""Two clusters per class: found in data that does not say which, and how far, how close and how uneven they are."""

from dataclasses import dataclass

import numpy as np
import scipy.cluster.vq
from jaxtyping import Float, Int

Points = Float[np.ndarray, "point dim"]
Labels = Float[np.ndarray, " point"]
Clusters = Int[np.ndarray, " point"]
MOST_ROUNDS = 100


@dataclass(frozen=True, eq=False)
class ClusterShape:
    """Four clusters as chatterji2021 measures them.

    Attributes:
      radius: r, the largest distance of a point from the centre of its cluster.
      overlap: Δ, the largest inner product of centres of opposite classes, at least 0.
      imbalance: ε, the largest distance of a cluster's share of the points from 1/4.
      centres: μ_1, …, μ_4, unit vectors; the first two of the label +1. NaN where there is none.
    """

    radius: float
    overlap: float
    imbalance: float
    centres: Float[np.ndarray, "4 dim"]


def find_clusters(points: Points, labels: Labels) -> Clusters:
    """Each class split in two by 2-means from its two ends: 0 and 1 for the label +1, 2 and 3 for −1.

    The ends are the point farthest from the mean of the class and the point farthest from that one, so the answer is
    always the same. Another split may fit the hypotheses of a theorem better.
    """
    found = np.zeros(len(points), np.int64)
    for first, sign in ((0, 1.0), (2, -1.0)):
        own = np.flatnonzero(labels == sign)
        if len(own):
            found[own] = first + _halves(points[own])
    return found


def measure_clusters(
    points: Points, labels: Labels, clusters: Clusters, centres: Float[np.ndarray, "4 dim"] | None = None
) -> ClusterShape:
    """r, Δ and ε around these centres, or around the normalized means where none are given."""
    centres = _centres(points, clusters) if centres is None else centres
    distances = np.linalg.norm(points - centres[clusters], axis=1)
    between = centres[:2] @ centres[2:].T
    counts = np.bincount(clusters, minlength=4)
    return ClusterShape(
        radius=float(distances.max()),
        overlap=float(max(0.0, between[np.isfinite(between)].max(initial=0.0))),
        imbalance=float(np.abs(counts / len(points) - 0.25).max()),
        centres=centres,
    )


def _halves(points: Points) -> Clusters:
    """0 for the points around one end and 1 for those around the other."""
    one = points[np.argmax(np.linalg.norm(points - points.mean(axis=0), axis=1))]
    other = points[np.argmax(np.linalg.norm(points - one, axis=1))]
    if np.array_equal(one, other):  # all points are equal: shared out evenly
        return np.arange(len(points)) % 2
    _, halves = scipy.cluster.vq.kmeans2(points, np.stack([one, other]), iter=MOST_ROUNDS, minit="matrix")
    return halves.astype(np.int64)


def _centres(points: Points, clusters: Clusters) -> Float[np.ndarray, "4 dim"]:
    """Normalized means; NaN where a cluster is empty or its mean is 0."""
    centres = np.full((4, points.shape[1]), np.nan)
    for cluster in np.unique(clusters):
        mean = points[clusters == cluster].mean(axis=0)
        if (length := np.linalg.norm(mean)) > 0:
            centres[cluster] = mean / length
    return centres
