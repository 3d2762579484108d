"""Points that are in the way of a linear boundary: on the wrong side of the best one that was found."""

import functools
import warnings
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
import scipy.optimize
import scipy.sparse
from jaxtyping import Float, Int

from widenet.certificates.samples import drawn_points
from widenet.data.own import keep, recall
from widenet.diagnostics import find_separator
from widenet.errors import DataError
from widenet.types import Dataset

MOST_NUMBERS = 40_000
"""Above so many numbers a linear program would take long, and logistic regression finds the boundary."""
MOST_PUT_BACK = 25
"""More points than this, or points of large data, are not put back one by one: each takes a program of its own."""
MOST_WORK = 300_000
MOST_FITTED = 20_000
"""Logistic regression gets no more points."""
MOST_KEPT = 400_000
"""The boundary of larger data, in numbers, is found anew each time it is asked for."""
LP_ITERATIONS, ITERATIONS = 20_000, 100
EDGE = 1e-7
"""A point this close to the boundary counts as being on it, which is the wrong side."""


@dataclass(frozen=True, eq=False)
class Clash:
    """A boundary ⟨v, x⟩ = 0 through the origin that has some points on its wrong side.

    Attributes:
      boundary: v.
      rows: the points with y⟨v, x⟩ ≤ 0, or above it by no more than rounding.
    """

    boundary: Float[np.ndarray, " dim"]
    rows: Int[np.ndarray, " clash"]


def clashing(data: Dataset) -> Clash:
    """The best boundary found through the origin, and the points on its wrong side; labels are −1 and +1.

    Without them it separates the rest. If they are few, and the data is not large, none of them can be put back. There
    may be a smaller set all the same: the least number is hard to find.
    """
    if data.inputs.size > MOST_KEPT:
        return _found(data)
    return _kept(keep(data))


@functools.lru_cache(maxsize=32)
def _kept(digest: str) -> Clash:
    return _found(recall(digest))


def _found(data: Dataset) -> Clash:
    inputs, labels = np.asarray(data.inputs, np.float64), np.asarray(data.labels, np.float64)
    small = inputs.size <= MOST_NUMBERS
    boundary = _by_program(labels[:, None] * inputs) if small else None
    if boundary is None:
        # A part is enough to find a boundary; which points are on its wrong side is asked of all.
        part = drawn_points(labels, MOST_FITTED, seed=0)
        boundary = _by_regression(inputs[part], labels[part])
    drop = _wrong(inputs, labels, boundary)
    return _put_back(inputs, labels, Clash(boundary, drop)) if small else Clash(boundary, drop)


def _wrong(inputs: np.ndarray, labels: np.ndarray, boundary: np.ndarray) -> Int[np.ndarray, " clash"]:
    margins = labels * (inputs @ boundary)
    return np.flatnonzero(margins <= EDGE * np.abs(margins).max())


def _by_program(signed: Float[np.ndarray, "point dim"]) -> Float[np.ndarray, " dim"] | None:
    """The boundary that is least wrong in sum; None where the program takes too many iterations."""
    count, dim = signed.shape
    solved = scipy.optimize.linprog(
        np.r_[np.zeros(dim), np.ones(count)],
        A_ub=-scipy.sparse.hstack([scipy.sparse.csr_array(signed), scipy.sparse.eye_array(count)], format="csr"),
        b_ub=-np.ones(count),
        bounds=[(None, None)] * dim + [(0, None)] * count,
        method="highs",
        options={"maxiter": LP_ITERATIONS},
    )
    return solved.x[:dim] if solved.status == 0 else None


def _by_regression(inputs: Float[np.ndarray, "point dim"], labels: np.ndarray) -> Float[np.ndarray, " dim"]:
    """The boundary of logistic regression in coordinates that vary alike, in which it takes few iterations."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    spread = inputs.T @ inputs / len(inputs)
    root = np.linalg.cholesky(spread + 1e-6 * np.trace(spread) / len(spread) * np.eye(len(spread)))
    model = LogisticRegression(C=10.0, fit_intercept=False, max_iter=ITERATIONS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # more iterations would hardly help
        model.fit(np.linalg.solve(root, inputs.T).T, labels)
    return np.linalg.solve(root.T, np.asarray(model.coef_[0], np.float64))


def _put_back(inputs: np.ndarray, labels: np.ndarray, found: Clash) -> Clash:
    """Only those points that still have to go when each is put back in turn; all of them where that takes long."""
    drop, boundary = found.rows, None
    if len(drop) > MOST_PUT_BACK or len(drop) * inputs.size > MOST_WORK:
        return found
    for point in drop:
        rest = np.setdiff1d(np.arange(len(labels)), drop[drop != point])
        separator = _separator(Dataset(jnp.asarray(inputs[rest]), jnp.asarray(labels[rest])))
        if separator is not None:
            drop, boundary = drop[drop != point], separator
    return found if boundary is None else Clash(boundary, drop)


def _separator(data: Dataset) -> Float[np.ndarray, " dim"] | None:
    try:
        return find_separator(data).separator
    except DataError:  # a single class, or numbers beyond float64
        return None
