"""Is the data separable through the origin, by how much, and how do we know?

Every answer carries a certificate that is judged here, in float64 and with room for rounding, and not by the solver
that found it:

- a separator w with y⟨w, x⟩ ≥ 1 on every point bounds the smallest such norm from above;
- weights a ≥ 0 with Σ a = 1 bound it from below: 1 ≤ Σ aᵢ yᵢ⟨w, xᵢ⟩ ≤ ‖w‖ ‖Σ aᵢ yᵢ xᵢ‖ for every separator w;
- if Σ aᵢ yᵢ xᵢ = 0, the lower bound is infinite and no separator exists (Gordan's alternative).

The solver is least-distance programming (Lawson and Hanson, "Solving Least Squares Problems", chapter 23): the
non-negative least-squares problem min ‖Σ aᵢ yᵢ xᵢ‖² + (Σ a − 1)² over a ≥ 0 has both certificates in its solution,
w ∝ Σ aᵢ yᵢ xᵢ and a itself, and they meet: w is the hard-margin support-vector machine without intercept.
"""

import math
import sys
from dataclasses import dataclass

import numpy as np
import scipy
from jaxtyping import Float, Int

from widenet.diagnostics.work import PER_CALL, Work
from widenet.errors import DataError
from widenet.types import Dataset, require_dataset

NEGLIGIBLE = 1e-12
"""A weighted mean of points this much shorter than the points themselves counts as zero: data that only a vector of
norm above 1e12 separates is beyond float64."""
SMALLEST = 1e-150
"""Entries below this, beside entries of size 1, would vanish when they are squared."""
GAP = 1e-5
"""Certified bounds on the norm that lie farther apart than this, relative, are brought together."""
WORKING_SET = 1500
"""How many points are solved for at once; the others join when they turn out to matter."""
FEWEST_ITERATIONS = 10_000
"""Of the solver of least squares, before it gives up."""
BEGINNING, ITERATION = 700, 5
"""Products of a linear program per entry of its matrix: before the first iteration, and in each."""
MOST_ITERATIONS = 2**31 - 1
CUT_OFF = 1
"""What `linprog` returns as its status where a limit ended it."""


@dataclass(frozen=True)
class Separation:
    """What is known about separators of a data set, with the proof.

    Attributes:
      separable: True; False when no vector of norm below 1/`residual`, some 1e12, separates (beyond that float64 cannot
        tell separable from not); None when neither could be shown.
      separator: w with y⟨w, x⟩ ≥ 1 on every point, equal to 1 on the closest up to rounding; None unless separable.
      norm_upper: ‖w‖ of that separator; infinite without one.
      norm_lower: no separator has a smaller norm.
      weights: a ≥ 0 with Σ a = 1, the proof of `norm_lower`, and of separable=False.
      residual: ‖Σ aᵢ yᵢ xᵢ‖, rounding errors included: the true length is at most this. Its reciprocal is
        `norm_lower`.
      is_truncated: whether the search ended because its work was spent, or the seconds that you allowed; only where
        `separable` is None.
    """

    separable: bool | None
    separator: Float[np.ndarray, " dim"] | None
    norm_upper: float
    norm_lower: float
    weights: Float[np.ndarray, " sample"]
    residual: float
    is_truncated: bool = False

    @property
    def margin(self) -> float:
        """The distance of the closest point from the separating hyperplane (1/‖w*‖); 0 without a separator."""
        return 1 / self.norm_upper

    def vector(self, dim: int) -> Float[np.ndarray, " dim"]:
        """The separator; zeros where there is none, and NaN where that is not known, so that what it enters shows."""
        if self.separator is not None:
            return self.separator
        return np.full(dim, np.nan if self.separable is None else 0.0)

    @property
    def sentence(self) -> str:
        """The finding in words."""
        if self.separable:
            return (
                f"separable through the origin: a certified separator has norm {self.norm_upper:.6g}, "
                f"and none has norm below {self.norm_lower:.6g}"
            )
        points = int(np.count_nonzero(self.weights))
        proof = f"a weighted mean of {points} signed points y·x has length {self.residual:.1e}"
        if self.separable is None:
            return f"undecided: no separator was found, and {proof}, so any separator has norm above its reciprocal"
        limit = f" by any vector of norm below {1 / self.residual:.1e}" if self.residual > 0 else ""
        return f"not separable through the origin{limit}: {proof}"


def find_separator(dataset: Dataset, *, seconds: float = math.inf) -> Separation:
    """The shortest separator through the origin, or the proof that there is none.

    For separation with a bias, pass `widenet.data.with_bias(dataset)`.

    The search has `widenet.diagnostics.work.USUAL` products to spend, and may find neither. With `seconds`, it begins
    nothing new after so many of computing: then whether it finds one depends on the machine.
    """
    return find_separator_within(dataset, Work(seconds=seconds))


def find_separator_within(dataset: Dataset, work: Work) -> Separation:
    """The same, by work that other searches may share."""
    inputs = np.asarray(require_dataset(dataset).inputs, np.float64)
    labels = np.asarray(dataset.labels, np.float64)
    if inputs.ndim != 2 or not len(inputs):
        raise DataError(f"separability is decided for one data set with at least one point, got {inputs.shape}.")
    if not (np.isfinite(inputs).all() and np.isin(labels, (-1.0, 1.0)).all()):
        raise DataError("inputs must be finite and labels -1 or +1; widenet.data.from_arrays says where they are not.")
    # A power of two scales without rounding, so what is certified about the scaled rows holds for the data.
    scale = float(np.ldexp(0.5, int(np.frexp(np.abs(inputs).max())[1])))
    rows = labels[:, None] * (inputs / scale)
    if np.any((np.abs(rows) < SMALLEST) & (inputs != 0)):
        raise DataError("inputs span more than 150 orders of magnitude; drop what is zero beside the rest.")

    found = _judge(rows, *_least_distance(rows, work))
    if found.separable is None and not work.is_spent:
        found = _better(found, _judge(rows, *_linear_program(rows, work)))
    if found.separable and found.norm_upper > (1 + GAP) * found.norm_lower:
        found = _polished(rows, found)
    if found.separator is not None and not found.norm_upper < sys.float_info.max * min(scale, 1.0):
        raise DataError("inputs are so small that their separator overflows; multiply them by a number first.")
    return Separation(
        separable=found.separable,
        separator=None if found.separator is None else found.separator / scale,
        norm_upper=found.norm_upper / scale,
        norm_lower=found.norm_lower / scale,
        weights=found.weights,
        residual=found.residual * scale,
        is_truncated=found.separable is None and work.is_spent,
    )


def _judge(
    rows: Float[np.ndarray, "sample dim"],
    candidate: Float[np.ndarray, " dim"],
    weights: Float[np.ndarray, " sample"],
) -> Separation:
    """What the two vectors prove, whatever the solver said about them."""
    epsilon = float(np.finfo(np.float64).eps)
    n_samples, dim = rows.shape

    # Weights at the level of rounding are noise of the solver, and a proof is better read without them.
    weights = np.where(weights > epsilon * weights.max(), weights, 0.0)
    weights = weights / weights.sum() if weights.sum() > 0 else np.full(n_samples, 1 / n_samples)
    support = np.flatnonzero(weights)
    combination = weights[support] @ rows[support]
    length = float(np.linalg.norm(combination))
    # A sum of m products is off by at most m·ε/2 times the sum of their absolute values; doubled to be safe.
    rounding = (len(support) + 2) * epsilon * float(np.linalg.norm(weights[support] @ np.abs(rows[support])))
    residual = length + rounding

    norm = float(np.linalg.norm(candidate))
    direction = candidate / norm if norm > 0 else candidate
    sure_margins = rows @ direction - (dim + 2) * epsilon * (np.abs(rows) @ np.abs(direction))
    smallest = float(sure_margins.min())
    separable = True if smallest > 0 else (False if _is_negligible(length, rows[support], weights[support]) else None)
    separator = direction / smallest if separable else None
    return Separation(
        separable=separable,
        separator=separator,
        norm_upper=np.inf if separator is None else float(np.linalg.norm(separator)),
        norm_lower=1 / residual if residual > 0 else np.inf,
        weights=weights,
        residual=residual,
    )


def _is_negligible(length: float, rows: Float[np.ndarray, "sample dim"], weights: Float[np.ndarray, " sample"]) -> bool:
    """Whether a combination of this length is zero beside the points it is made of."""
    return length <= NEGLIGIBLE * float(weights @ np.linalg.norm(rows, axis=1))


def _polished(rows: Float[np.ndarray, "sample dim"], found: Separation) -> Separation:
    """The separator with y⟨w, x⟩ = 1 on all points of the proof, where it is shorter: with a margin of some 1e-6 the
    solver stops a little early.
    """
    support = np.flatnonzero(found.weights)
    separator = np.linalg.lstsq(rows[support], np.ones(len(support)), rcond=None)[0]
    weights = np.zeros(len(rows))
    weights[support] = np.maximum(np.linalg.lstsq(rows[support].T, separator, rcond=None)[0], 0.0)
    other = _judge(rows, separator, weights)
    return other if other.separable and other.norm_upper < found.norm_upper else found


def _better(first: Separation, second: Separation) -> Separation:
    """The one that decides; if neither does, the one with the stronger lower bound."""
    if second.separable is not None or second.norm_lower > first.norm_lower:
        return second
    return first


def _least_distance(
    rows: Float[np.ndarray, "sample dim"], work: Work
) -> tuple[Float[np.ndarray, " dim"], Float[np.ndarray, " sample"]]:
    """Least-distance programming on a growing working set.

    Points off the support do not matter unless they are violated, so each round keeps the support and adds the most
    violated points. The distance shrinks every round, so the rounds end. A proof that some of the points cannot be
    separated is a proof for all.
    """
    n_samples = len(rows)
    working = np.unique(np.linspace(0, n_samples - 1, min(n_samples, WORKING_SET)).astype(int))
    weights = np.zeros(n_samples)
    shortest = np.inf
    while (solved := solve_working_set(rows, working, work)) is not None:
        combination = solved @ rows[working]
        length = float(np.linalg.norm(combination))
        if length >= shortest:
            break
        shortest = length
        weights = np.zeros(n_samples)
        weights[working] = solved
        margins = rows @ combination
        work.spend(rows.size)
        margins[working] = np.inf
        violated = np.flatnonzero(margins < length**2 * (1 - 1e-9))
        if _is_negligible(length, rows[working], solved) or not len(violated) or work.is_spent:
            break
        worst = violated[np.argsort(margins[violated])[:WORKING_SET]]
        working = np.union1d(np.flatnonzero(weights), worst)
    return weights @ rows, weights


def solve_working_set(
    rows: Float[np.ndarray, "sample dim"], working: Int[np.ndarray, " working"], work: Work
) -> Float[np.ndarray, " working"] | None:
    """Weights of the shortest convex combination of these rows; None if the solver gives up, or has no work left."""
    balance = 1.0
    weights = None
    for _ in range(3):
        system = np.vstack([rows[working].T, np.full(len(working), balance)])
        target = np.zeros(len(system))
        target[-1] = balance
        most, allowed = max(FEWEST_ITERATIONS, 10 * len(working)), int(max(work.left, 0.0) // system.size)
        if work.is_spent or allowed < 1:
            work.end()
            break
        try:
            solution, _ = scipy.optimize.nnls(system, target, maxiter=min(most, allowed))
        except RuntimeError:
            work.spend(PER_CALL + min(most, allowed) * system.size)
            if allowed < most:
                work.end()
            break
        # The solver does not say how many iterations it took: one for each weight, and about as many on the way.
        work.spend(PER_CALL + 2 * (1 + np.count_nonzero(solution)) * system.size)
        if solution.sum() <= 0:
            break
        weights = solution / solution.sum()
        length = float(np.linalg.norm(weights @ rows[working]))
        # The last equation must be neither lost beside the others nor drown them: it should weigh as much as the
        # distance that is sought, which is known only after a first solution.
        if length > 1e-2 * balance or _is_negligible(length, rows[working], weights):
            break
        balance = length
    return weights


def _linear_program(
    rows: Float[np.ndarray, "sample dim"], work: Work
) -> tuple[Float[np.ndarray, " dim"], Float[np.ndarray, " sample"]]:
    """Second opinion: max t with y⟨w, x⟩ ≥ t and |w| ≤ 1 entrywise; its dual variables are the weights."""
    n_samples, dim = rows.shape
    each, nothing = ITERATION * rows.size, (np.zeros(dim), np.zeros(n_samples))
    work.spend(PER_CALL + BEGINNING * rows.size)
    if work.left < each * dim:  # a program rarely ends in fewer iterations than it has columns
        work.end()
        return nothing
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    unit_rows = rows / np.where(norms > 0, norms, 1.0)
    options: dict[str, float] = {"maxiter": int(min(work.left // each, MOST_ITERATIONS))}
    if work.seconds < math.inf:
        options["time_limit"] = max(work.seconds, 0.0)
    solution = scipy.optimize.linprog(
        np.r_[np.zeros(dim), -1.0],
        A_ub=np.hstack([-unit_rows, np.ones((n_samples, 1))]),
        b_ub=np.zeros(n_samples),
        bounds=[(-1, 1)] * dim + [(None, 1)],
        method="highs",
        options=options,
    )
    work.spend(each * solution.nit)
    if solution.x is None:
        if solution.status == CUT_OFF:
            work.end()
        return nothing
    weights = np.maximum(-solution.ineqlin.marginals, 0.0) / np.where(norms[:, 0] > 0, norms[:, 0], 1.0)
    support = np.flatnonzero(weights)
    # The program stops at a residual near 1e-7; least squares on the few points it chose brings it to rounding.
    polished = solve_working_set(rows, support, work) if len(support) else None
    if polished is not None:
        weights = np.zeros(n_samples)
        weights[support] = polished
    return solution.x[:dim], weights
