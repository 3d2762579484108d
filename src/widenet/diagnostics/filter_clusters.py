"""Clusters among the filters of a network: k-means on unit filters, and the angle of each one to its centre."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

STARTS: Any = {"n_init": 10}  # scikit-learn's own annotation knows the word "auto" alone


@dataclass(frozen=True)
class FilterClusters:
    """Four centres, say, and where each filter stands.

    Attributes:
      centres: the means of the filters of each cluster, largest cluster first.
      cluster: which centre each filter belongs to.
      angles: degrees from each filter to the nearest centre, by angle. A centre of length 0 has no direction.
    """

    centres: Float[np.ndarray, "cluster pixel"]
    cluster: Int[np.ndarray, " filter"]
    angles: Float[np.ndarray, " filter"]


def cluster_filters(
    filters: Float[np.ndarray, "filter pixel"], n_clusters: int = 4, seed: int = 0, *, unit: bool = True
) -> FilterClusters:
    """k-means (the best of ten starts) on the filters, scaled to unit length first unless `unit` is False.

    Raises:
      ValueError: a filter is zero or not finite, so that it has no direction, or there are fewer than clusters.
    """
    filters = np.asarray(filters, np.float64)
    lengths = np.linalg.norm(filters, axis=1)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise ValueError("every filter must be finite and not zero to have a direction")
    directions = filters / lengths[:, None]
    from sklearn.cluster import KMeans  # half a second, and nobody else needs it

    found = KMeans(n_clusters, **STARTS, random_state=seed).fit(directions if unit else filters)
    assert found.labels_ is not None
    order = np.argsort(-np.bincount(found.labels_, minlength=n_clusters), kind="stable")
    centres = found.cluster_centers_[order]
    return FilterClusters(centres, np.argsort(order)[found.labels_], angles_to(directions, centres).min(axis=1))


def angles_to(
    filters: Float[np.ndarray, "filter pixel"], centres: Float[np.ndarray, "cluster pixel"]
) -> Float[np.ndarray, "filter cluster"]:
    """Degrees between each filter and each centre; accurate for small angles too, where an arccosine is not."""
    first = filters / np.linalg.norm(filters, axis=1, keepdims=True)
    second = centres / np.linalg.norm(centres, axis=1, keepdims=True)
    apart = np.linalg.norm(first[:, None] - second, axis=-1)
    together = np.linalg.norm(first[:, None] + second, axis=-1)
    return np.degrees(2 * np.arctan2(apart, together))
