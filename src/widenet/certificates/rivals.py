"""What networks are compared with, on the same points: the most common class, a linear model, and two that bend."""

import warnings
from collections.abc import Callable, Iterator
from typing import NamedTuple

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


class ModelAnswers(NamedTuple):
    """What a model says about points.

    Attributes:
      predicted: the number of the class of each.
      scores: of two classes, what it ranks them by: larger for the second class.
    """

    predicted: Int[np.ndarray, " sample"]
    scores: Float[np.ndarray, " sample"]


Model = Callable[[np.ndarray, np.ndarray, np.ndarray], ModelAnswers]
"""(training points, their classes, other points) → what it says about the others."""


def predictions(
    inputs: Float[np.ndarray, "sample dim"],
    labels: Int[np.ndarray, " sample"],
    parts: Int[np.ndarray, " sample"],
    *,
    scales: bool,
) -> Iterator[tuple[str, ModelAnswers]]:
    """By name: what each model says about each point, from the points outside its part alone.

    The class is −1 and the score NaN for points that are in no part; see `held_out_parts`.
    """
    models: dict[str, Model] = {MAJORITY: _majority, LINEAR: _linear, NEIGHBOURS: _neighbours}
    if len(labels) <= MOST_FOR_RADIAL:
        models[RADIAL] = _radial
    for name, model in models.items():
        predicted, scores = np.full(len(labels), -1), np.full(len(labels), np.nan)
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
            predicted[own], scores[own] = chosen(scale(inputs[kept]), labels[kept], scale(inputs[own]))
        yield name, ModelAnswers(predicted, scores)


def _majority(points: np.ndarray, labels: np.ndarray, others: np.ndarray) -> ModelAnswers:
    return ModelAnswers(np.full(len(others), np.bincount(labels).argmax()), np.zeros(len(others)))


def _linear(points: np.ndarray, labels: np.ndarray, others: np.ndarray) -> ModelAnswers:
    """Logistic regression of columns with variance 1."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # more iterations would hardly help
        model = LogisticRegression(max_iter=ITERATIONS).fit(points, labels)
    return ModelAnswers(model.predict(others), _of_second(model.decision_function(others)))


def _neighbours(points: np.ndarray, labels: np.ndarray, others: np.ndarray) -> ModelAnswers:
    from sklearn.neighbors import KNeighborsClassifier

    model = KNeighborsClassifier(min(NEAREST, len(labels))).fit(points, labels)
    return ModelAnswers(model.predict(others), np.asarray(model.predict_proba(others))[:, 1])


def _radial(points: np.ndarray, labels: np.ndarray, others: np.ndarray) -> ModelAnswers:
    from sklearn.svm import SVC

    model = SVC(C=10.0).fit(points, labels)
    return ModelAnswers(model.predict(others), _of_second(model.decision_function(others)))


def _of_second(scores: np.ndarray) -> Float[np.ndarray, " sample"]:
    """Scores that rank points, of two classes; of more, where there is no one order, those of the second class."""
    return scores if scores.ndim == 1 else scores[:, 1]
