"""What networks are compared with, on the same points: the most common class, a linear model, and two that bend."""

import warnings
from collections.abc import Callable, Iterator

import numpy as np
from jaxtyping import Float, Int

from widenet.certificates.preparation import NEGLIGIBLE
from widenet.certificates.widths import PointScale, scaling_of

MAJORITY, LINEAR, NEIGHBOURS, RADIAL = (
    "the most common class",
    "a linear classifier",
    "nearest neighbours",
    "an RBF SVM",
)
BENDING = (NEIGHBOURS, RADIAL)
"""Those whose boundary bends."""
NEAREST, ITERATIONS = 5, 1000
MOST_FOR_RADIAL = 4000
"""Support-vector machines take minutes on more points."""

Model = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""(training points, their classes, other points) → the classes of the others."""


def predictions(
    inputs: Float[np.ndarray, "sample dim"],
    labels: Int[np.ndarray, " sample"],
    parts: Int[np.ndarray, " sample"],
    *,
    scales: bool,
) -> Iterator[tuple[str, Int[np.ndarray, " sample"]]]:
    """By name: the class that each model names for each point, from the points outside its part alone.

    It is −1 for points that are in no part; see `held_out_parts`.
    """
    models: dict[str, Model] = {MAJORITY: _majority, LINEAR: _linear, NEIGHBOURS: _neighbours}
    if len(labels) <= MOST_FOR_RADIAL:
        models[RADIAL] = _radial
    for name, model in models.items():
        found = np.full(len(labels), -1)
        for part in range(parts.max() + 1):
            own, kept = parts == part, parts != part
            if not own.any():
                continue
            if name == LINEAR:
                centre, unit = inputs[kept].mean(axis=0), inputs[kept].std(axis=0)
                varies = unit > NEGLIGIBLE * np.abs(inputs[kept]).max(axis=0, initial=0.0)
                scale = PointScale(centre, np.where(varies, unit, np.inf), is_by_column=True)
            else:
                scale = scaling_of(inputs[kept], scales=scales)
            is_answered = len(np.unique(labels[kept])) > 1
            chosen = model if is_answered else _majority
            found[own] = chosen(scale(inputs[kept]), labels[kept], scale(inputs[own]))
        yield name, found


def _majority(points: np.ndarray, labels: np.ndarray, others: np.ndarray) -> np.ndarray:
    return np.full(len(others), np.bincount(labels).argmax())


def _linear(points: np.ndarray, labels: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Logistic regression of columns with variance 1."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # more iterations would hardly help
        return LogisticRegression(max_iter=ITERATIONS).fit(points, labels).predict(others)


def _neighbours(points: np.ndarray, labels: np.ndarray, others: np.ndarray) -> np.ndarray:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(min(NEAREST, len(labels))).fit(points, labels).predict(others)


def _radial(points: np.ndarray, labels: np.ndarray, others: np.ndarray) -> np.ndarray:
    from sklearn.svm import SVC

    return SVC(C=10.0).fit(points, labels).predict(others)
