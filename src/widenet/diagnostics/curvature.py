"""How strongly a loss curves: the operator norm of its weak Hessian, by a dense matrix or by products alone."""

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, eigsh

from widenet.diagnostics.huberized import HuberNetwork, Labels, Points, hessian, hessian_product

DENSE = 1500
"""Parameters up to which the whole matrix is diagonalized."""


def hessian_norm(network: HuberNetwork, points: Points, labels: Labels, *, dense: int = DENSE) -> float:
    """‖∇²L‖_op: LAPACK where the matrix is small, Lanczos (ARPACK) on products with it where it is not.

    The relative error of Lanczos is about 1e-8. NaN where the weights are not finite.
    """
    rows, dim = network.weights.shape
    if not np.isfinite(network.weights).all():
        return float("nan")
    if rows * dim <= dense:
        return float(np.abs(scipy.linalg.eigvalsh(hessian(network, points, labels))).max())

    def product(flat: np.ndarray) -> np.ndarray:
        return hessian_product(network, points, labels, flat.reshape(rows, dim)).ravel()

    size = rows * dim
    operator = LinearOperator((size, size), matvec=product, dtype=np.float64)  # pyright: ignore[reportCallIssue]
    # A start that belongs to the problem and not to chance: the same network gets the same number.
    start = np.random.default_rng(0).normal(size=size)
    if not product(start).any():
        return 0.0
    found = eigsh(operator, k=1, which="LM", return_eigenvectors=False, v0=start)
    return float(np.abs(found).max())
