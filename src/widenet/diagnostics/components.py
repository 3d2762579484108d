"""How well classes that consist of components are separated (li2018): δ, λ and l, measured or found."""

from dataclasses import dataclass

import numpy as np
import scipy.cluster.hierarchy
import scipy.optimize
import scipy.spatial.distance
from jaxtyping import Float, Int

Points = Float[np.ndarray, "point dim"]
Numbers = Int[np.ndarray, " point"]

CUTS = 40
"""How many thresholds of single linkage are tried."""


@dataclass(frozen=True)
class Structure:
    """Classes and components, measured on points.

    Attributes:
      separation: the least distance of two points of different classes.
      opposite_separation: the same for x and −x'; infinite, like the first, where there is one class.
      diameter: the largest of a component.
      n_classes, per_class: k, and l = the most components of a class.
      n_components: all of them.
    """

    separation: float
    opposite_separation: float
    diameter: float
    n_classes: int
    per_class: int
    n_components: int

    @property
    def distance(self) -> float:
        """δ for which both separations hold."""
        return min(self.separation, self.opposite_separation)

    @property
    def relative_diameter(self) -> float:
        """λ: the diameter over δ; see `relative`."""
        return relative(self.diameter, self.distance)

    @property
    def widest_allowed(self) -> float:
        """1/(8l)."""
        return 1 / (8 * self.per_class)


def relative(diameter: float, distance: float) -> float:
    """λ = diameter/δ, the least with diameter ≤ λδ: 0 for points, infinite for others where δ is 0."""
    if diameter == 0:
        return 0.0
    return diameter / distance if distance > 0 else float("inf")


def measure_structure(points: Points, classes: Numbers, components: Numbers) -> Structure:
    """δ, λ and l of points whose components are known."""
    kinds = np.unique(classes)
    separation, opposite = _across(points, classes, kinds)
    counts = [len(np.unique(components[classes == kind])) for kind in kinds]
    return Structure(separation, opposite, _diameter(points, components), len(kinds), max(counts), sum(counts))


def find_components(points: Points, classes: Numbers) -> Numbers:
    """Components of a reader's data: as few as single linkage within classes gives with λ ≤ 1/(8l).

    Where no cut does, every distinct point is a component of its own (λ = 0).
    """
    kinds = np.unique(classes)
    distance = min(_across(points, classes, kinds))
    trees = {kind: _tree(points[classes == kind]) for kind in kinds}
    heights = _heights(trees)
    usable = heights[heights <= distance / 8]
    cuts = usable[::-1][:: max(1, len(usable) // CUTS)]
    for cut in cuts:
        components = _cut(classes, trees, float(cut))
        most = max(len(np.unique(components[classes == kind])) for kind in kinds)
        if relative(_diameter(points, components), distance) <= 1 / (8 * most):
            return components
    return _cut(classes, trees, 0.0)


def components_per_class(points: Points, classes: Numbers, count: int) -> Numbers:
    """As many components in every class as are asked for, by single linkage; fewer where a class has fewer points.

    Points at equal distances join together, so a class may have fewer for that reason too.
    """
    components, used = np.zeros(len(classes), np.int64), 0
    for kind in np.unique(classes):
        rows = np.flatnonzero(classes == kind)
        tree = _tree(points[rows])
        found = np.ones(1, np.int64) if tree is None else scipy.cluster.hierarchy.fcluster(tree, count, "maxclust")
        components[rows] = used + found - 1
        used += int(found.max())
    return components


def natural_components(points: Points, classes: Numbers) -> Numbers:
    """Components as the widest gap between the heights of single linkage has them, whether (A1) allows them or not."""
    trees = {kind: _tree(points[classes == kind]) for kind in np.unique(classes)}
    heights = _heights(trees)
    steps = np.diff(heights, prepend=0.0)
    place = int(steps.argmax()) if len(steps) else 0
    return _cut(classes, trees, float(heights[place - 1]) if place else 0.0)


def is_obstructed(points: Points, classes: Numbers) -> bool:
    """Whether no two-layer ReLU network without biases classifies the data, because of antipodal pairs.

    f_a(x) − f_a(−x) = ⟨u_a, x⟩ for one vector u_a per class, so x in class a and −x in class b need
    ⟨u_a − u_b, x⟩ > 0; that these have no common solution is a linear program.
    """
    kinds = np.unique(classes)
    places = np.searchsorted(kinds, classes)
    by_point = {tuple(point + 0.0): kind for point, kind in zip(points, places, strict=True)}
    rows = []
    for point, kind in zip(points, places, strict=True):
        other = by_point.get(tuple(-point + 0.0))
        if other is not None and other != kind:
            row = np.zeros((len(kinds), points.shape[1]))
            row[kind] += point
            row[other] -= point
            rows.append(row.ravel())
    if not rows:
        return False
    solved = scipy.optimize.linprog(
        np.zeros(len(rows[0])), A_ub=-np.array(rows), b_ub=-np.ones(len(rows)), bounds=(None, None), method="highs"
    )
    return solved.status == 2


def count_lines(points: Points) -> int:
    """How many distinct lines through 0 the points lie on."""
    units = points / np.linalg.norm(points, axis=1, keepdims=True)
    first = (np.abs(units) > 1e-9).argmax(axis=1)
    signs = np.sign(units[np.arange(len(units)), first])
    return len(np.unique(np.round(units * signs[:, None], 9), axis=0))


def _across(points: Points, classes: Numbers, kinds: np.ndarray) -> tuple[float, float]:
    nearest, opposite = float("inf"), float("inf")
    for place, kind in enumerate(kinds):
        others = np.isin(classes, kinds[place + 1 :])
        if others.any():
            own = points[classes == kind]
            nearest = min(nearest, float(scipy.spatial.distance.cdist(own, points[others]).min()))
            opposite = min(opposite, float(scipy.spatial.distance.cdist(own, -points[others]).min()))
    return nearest, opposite


def _diameter(points: Points, components: Numbers) -> float:
    """The largest of a component; 0 where every point is one."""
    order = np.argsort(components, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(components[order])) + 1)
    sizes = [float(scipy.spatial.distance.pdist(points[each]).max()) for each in groups if len(each) > 1]
    return max(sizes, default=0.0)


def _heights(trees: dict) -> Float[np.ndarray, " merge"]:
    """At which points of a class are joined, in order."""
    return np.unique(np.concatenate([np.zeros(0), *(tree[:, 2] for tree in trees.values() if tree is not None)]))


def _tree(points: Points) -> np.ndarray | None:
    if len(points) < 2:
        return None
    # SciPy warns of square arrays that look like distances; distances themselves leave nothing to guess.
    return scipy.cluster.hierarchy.linkage(scipy.spatial.distance.pdist(points), "single")


def _cut(classes: Numbers, trees: dict, height: float) -> Numbers:
    components, used = np.zeros(len(classes), np.int64), 0
    for kind, tree in trees.items():
        rows = np.flatnonzero(classes == kind)
        if tree is None:
            found = np.ones(len(rows), np.int64)
        else:
            found = scipy.cluster.hierarchy.fcluster(tree, height, "distance")
        components[rows] = used + found - 1
        used += int(found.max())
    return components
