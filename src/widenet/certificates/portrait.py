"""What the data is: its size, what separates its classes and how widely, its clusters, its contradictions."""

import hashlib
import math

import numpy as np

from widenet.certificates.boundaries import Separability, find_boundaries
from widenet.certificates.preparation import Preparation, Prepared
from widenet.certificates.reading import ReadingNotes, Table
from widenet.certificates.relabelled import Relabelled, relabel
from widenet.diagnostics.components import find_components, measure_structure
from widenet.diagnostics.four_clusters import find_clusters, measure_clusters
from widenet.diagnostics.work import Work
from widenet.records import ClosedModel

MOST_COMPARED = 1500
"""Above so many points distances are taken between a random part of them."""
ROW_NUMBERS = ("witnesses", "in_the_way")
"""Fields of a boundary that name rows."""
SHOWN_PAIRS = 5
HARDLY = 0.8
"""A boundary that has more than this share of the smaller class on its wrong side says nothing about these points."""


class ClassCount(ClosedModel):
    """A class and how many points it has."""

    name: str
    points: int


class ClusterSummary(ClosedModel):
    """Two clusters per class of unit vectors: r, Δ, ε.

    Attributes:
      radius: r, the largest distance of a point from the centre of its cluster.
      overlap: Δ, the largest inner product of centres of different classes.
      imbalance: ε, the largest distance of a cluster's share of the points from 1/4.
      points: how many points were looked at.
    """

    radius: float
    overlap: float
    imbalance: float
    points: int


class ComponentSummary(ClosedModel):
    """Classes as components of unit vectors: k, l, δ, λ.

    Attributes:
      classes, per_class: k, and l, the most components of a class.
      distance: δ, the least distance between points of different classes, or of one and the mirror image of another.
      relative_diameter: λ, the largest diameter of a component over δ.
      points: how many points were compared.
    """

    classes: int
    per_class: int
    distance: float
    relative_diameter: float
    points: int


class Portrait(ClosedModel):
    """What the data is.

    Attributes:
      norms: the least, the middle and the largest length of a point, as given.
      duplicates: points that occur before with the same class.
      repeats: the first few of them: the row (from 1), and the row of the earlier one.
      contradictions: pairs of rows (from 1) with equal inputs and different classes; the first few.
      n_contradicting: how many points have an equal one in another class.
      reading, preparation: what was done while reading, and before theorems were asked.
      separability: what is known about linear boundaries.
      relabelled: how many labels drawn at random are separable too; None where the given ones are not, or where there
        are so many points that none would be.
      clusters, components: how the points, divided by their lengths, lie in groups; None where a point is 0.
    """

    source: str
    label: str
    points: int
    columns: int
    classes: tuple[ClassCount, ...]
    norms: tuple[float, float, float]
    duplicates: int
    repeats: tuple[tuple[int, int], ...] = ()
    contradictions: tuple[tuple[int, int], ...]
    n_contradicting: int
    reading: ReadingNotes
    preparation: Preparation
    separability: tuple[Separability, ...]
    relabelled: Relabelled | None = None
    clusters: ClusterSummary | None
    components: ComponentSummary | None

    @property
    def columns_used(self) -> int:
        """Without the columns that were left out."""
        left_out = (*self.preparation.constant_columns, *self.preparation.negligible_columns)
        return self.columns - len(left_out)

    @property
    def longest(self) -> float:
        """The length of the longest point in scaled coordinates."""
        return self.norms[2] if self.preparation.factor is None else 1.0

    def hardly_helps(self, found: Separability) -> bool:
        """Whether the boundary found is hardly better than always answering one class, so that it tells no odd points.

        It has nearly as many points on its wrong side as the smaller of the classes that it is between has.
        """
        own = self.classes[found.class_number or 0].points
        return len(found.in_the_way) >= HARDLY * min(own, self.points - own)

    @property
    def separable(self) -> bool | None:
        """Whether a plane, with a bias if need be, separates every class from the rest."""
        answers = [each.separable for each in self.separability if not each.through_origin]
        if not answers or (None in answers and False not in answers):
            return None
        return False not in answers


def portray(table: Table, prepared: Prepared, work: Work | None = None, seed: int = 0) -> Portrait:
    """Look at the data once; the `work` is what all searches for boundaries may compute together."""
    work = work or Work()
    norms = np.linalg.norm(table.inputs, axis=1)
    repeats, pairs, contradicting = _equal_rows(table)
    units = _unit_rows(prepared)
    separability = find_boundaries(table, prepared, pairs, work)

    def given(row: int) -> int:
        """The number of a row (from 1) in what you gave, some rows of which may have been left out."""
        return int(table.rows[row - 1]) + 1

    return Portrait(
        source=table.source,
        label=table.label,
        points=len(table.inputs),
        columns=table.inputs.shape[1],
        classes=tuple(
            ClassCount(name=name, points=int((table.classes == number).sum()))
            for number, name in enumerate(table.class_names)
        ),
        norms=(float(norms.min()), float(np.median(norms)), float(norms.max())),
        duplicates=len(repeats),
        repeats=tuple((given(one), given(other)) for one, other in repeats[:SHOWN_PAIRS]),
        contradictions=tuple((given(one), given(other)) for one, other in pairs[:SHOWN_PAIRS]),
        n_contradicting=contradicting,
        reading=table.reading,
        preparation=prepared.record,
        separability=tuple(
            each.model_copy(update={name: tuple(map(given, getattr(each, name))) for name in ROW_NUMBERS})
            for each in separability
        ),
        relabelled=relabel(prepared, _separated(table, separability), seed, work),
        clusters=None if units is None or len(table.class_names) != 2 else _clusters(units, prepared),
        components=None if units is None else _components(units, prepared),
    )


def _equal_rows(table: Table) -> tuple[list[tuple[int, int]], list[tuple[int, int]], int]:
    """Points that repeat an earlier one, pairs that contradict each other, and how many points contradict one."""
    rows_of: dict[bytes, list[int]] = {}
    for row, point in enumerate(table.inputs + 0.0):  # −0 is 0
        rows_of.setdefault(hashlib.sha256(point.tobytes()).digest(), []).append(row)
    repeats, pairs, contradicting = [], [], 0
    for rows in rows_of.values():
        kinds = table.classes[rows]
        first_of = {int(kind): rows[int(np.argmax(kinds == kind))] for kind in kinds}
        repeats += [
            (row + 1, first_of[kind] + 1) for row, kind in zip(rows, kinds, strict=True) if row != first_of[kind]
        ]
        others = np.flatnonzero(kinds != kinds[0])
        if len(others):
            contradicting += len(rows)
            pairs += [(rows[0] + 1, rows[int(other)] + 1) for other in others]
    return sorted(repeats), sorted(pairs), contradicting


def _separated(table: Table, found: tuple[Separability, ...]) -> list[np.ndarray]:
    """The signs of each class, or pair, that a linear boundary separates."""
    own = [each for each in found if each.separable and not each.through_origin]
    return [table.signs if each.class_number is None else np.where(table.classes == each.class_number, 1.0, -1.0)
            for each in own]  # fmt: skip


def _unit_rows(prepared: Prepared) -> np.ndarray | None:
    """The points divided by their norms; None where one is 0."""
    points = np.asarray(prepared.data.inputs, np.float64)
    norms = np.linalg.norm(points, axis=1, keepdims=True)
    return points / norms if norms.all() else None


def _clusters(units: np.ndarray, prepared: Prepared) -> ClusterSummary:
    units, labels = _compared(units, np.asarray(prepared.data.labels))
    found = measure_clusters(units, labels, find_clusters(units, labels))
    return ClusterSummary(radius=found.radius, overlap=found.overlap, imbalance=found.imbalance, points=len(units))


def _compared(units: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All points, or a random part of them that is not too large to be compared."""
    if len(units) <= MOST_COMPARED:
        return units, labels
    part = np.random.default_rng(0).choice(len(units), MOST_COMPARED, replace=False)
    return units[part], labels[part]


def _components(units: np.ndarray, prepared: Prepared) -> ComponentSummary:
    units, labels = _compared(units, np.asarray(prepared.data.labels))
    classes = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    found = measure_structure(units, classes, find_components(units, classes))
    return ComponentSummary(
        classes=found.n_classes,
        per_class=found.per_class,
        distance=found.distance if math.isfinite(found.distance) else 0.0,
        relative_diameter=found.relative_diameter,
        points=len(units),
    )
