"""How widely can a hyperplane with a bias separate two classes, and how do we know?

The answer is two numbers with a certificate each, judged here in float64 with an allowance for rounding:

- a hyperplane ⟨w, x⟩ + b = 0 with ‖w‖ = 1 and y(⟨w, x⟩ + b) ≥ m on every point shows that a margin of m is possible;
- weights a ≥ 0 with Σ a = 1 in each class bound every margin m from above: 2m ≤ Σ aᵢ yᵢ(⟨w, xᵢ⟩ + b) ≤ ‖Σ aᵢ yᵢ xᵢ‖,
  half the distance between a point of one convex hull and a point of the other.

They meet in the hard-margin support-vector machine with intercept. The solver is that of `separability`: for points
(x − c, s), boundaries through the origin are all boundaries, and their norm ‖w‖² + (⟨w, c⟩ + b)²/s² is that of w where
the boundary passes through c. So c is moved onto the boundary that was found, and everything is solved again.
"""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from widenet.diagnostics.separability import WORKING_SET, solve_working_set
from widenet.diagnostics.work import Work

CLOSE = 1e-7
"""Two bounds this close, relative, are close enough."""
LIFT = 10.0
"""The constant coordinate s over the largest ‖x − c‖: each move of c then shrinks what is left about a hundredfold."""
MOST_ROUNDS = 60
ROUND = 6
"""Products per number of the data in each round, beside those of the solver."""
EPSILON = float(np.finfo(np.float64).eps)

Points = Float[np.ndarray, "sample dim"]
Signs = Float[np.ndarray, " sample"]


@dataclass(frozen=True, eq=False)
class WidestMargin:
    """The hyperplane with the widest margin that was found, and the limit of all others.

    Attributes:
      normal: w, of length 1 up to rounding.
      offset: b.
      margin: y(⟨w, x⟩ + b) ≥ margin on every point, rounding errors included.
      limit: no hyperplane has a wider margin than this, rounding errors included.
      weights: a ≥ 0 with Σ a = 1 in each class, the proof of `limit`.
    """

    normal: Float[np.ndarray, " dim"]
    offset: float
    margin: float
    limit: float
    weights: Signs


def find_widest_margin(points: Points, signs: Signs, normal: Float[np.ndarray, " dim"], work: Work) -> WidestMargin:
    """The hyperplane with the widest margin between the points of sign +1 and those of sign −1.

    Arguments:
      normal: of a hyperplane that separates them; the search begins there.
      work: what this search and others may compute together; when it is spent, the bounds may be apart.
    """
    radius = float(np.linalg.norm(points, axis=1).max())
    middle = points.mean(axis=0)
    best = _with_margin(points, signs, radius, normal)
    support: Int[np.ndarray, " support"] = np.zeros(0, int)
    for _ in range(MOST_ROUNDS):
        working = _working_set(signs * (points @ best.normal + best.offset), signs, support)
        centre = middle - (middle @ best.normal + best.offset) * best.normal
        lift = np.full(len(working), LIFT * 2 * radius)
        lifted = signs[working, None] * np.column_stack([points[working] - centre, lift])
        weights = solve_working_set(lifted, np.arange(len(working)), work)
        if weights is None:
            break
        support = working[weights > 0]
        previous = best
        work.spend(ROUND * points.size)
        best = _better(best, points, signs, radius, working, weights, lifted)
        if best.limit - best.margin <= CLOSE * best.limit or work.is_spent:
            break
        if (best.margin, best.limit) == (previous.margin, previous.limit):
            break
    return best


def _working_set(margins: Signs, signs: Signs, support: Int[np.ndarray, " support"]) -> Int[np.ndarray, " working"]:
    """The points of the last proof, and those of each class that are closest to the boundary or beyond it."""
    chosen = [support]
    for sign in (-1.0, 1.0):
        own = np.flatnonzero(signs == sign)
        few = min(len(own), WORKING_SET // 2)
        chosen.append(own[np.argpartition(margins[own], few - 1)[:few]])
    return np.unique(np.concatenate(chosen))


def _better(
    best: WidestMargin,
    points: Points,
    signs: Signs,
    radius: float,
    working: Int[np.ndarray, " working"],
    weights: Float[np.ndarray, " working"],
    lifted: Float[np.ndarray, "working lifted"],
) -> WidestMargin:
    """The widest margin and the lowest limit that these weights give, or the points of their proof."""
    own = np.flatnonzero(weights)
    # The solver stops a little early where the margin is narrow: the boundary at equal distance from all points of
    # its proof is the one that it seeks.
    exact = np.linalg.lstsq(lifted[own], np.ones(len(own)), rcond=None)[0]
    polished = np.zeros(len(working))
    polished[own] = np.maximum(np.linalg.lstsq(lifted[own].T, exact, rcond=None)[0], 0.0)
    for each, direction in ((weights, (weights @ lifted)[:-1]), (polished, exact[:-1])):
        found = _with_margin(points, signs, radius, direction)
        if found.margin > best.margin:
            best = dataclasses.replace(found, limit=best.limit, weights=best.weights)
        limit, even = _limit(points[working], signs[working], radius, each)
        if limit < best.limit:
            every = np.zeros(len(signs))
            every[working] = even
            best = dataclasses.replace(best, limit=limit, weights=every)
    return best


def _with_margin(points: Points, signs: Signs, radius: float, direction: Float[np.ndarray, " dim"]) -> WidestMargin:
    """The hyperplane across this direction in the middle between the classes, and the margin it is sure to have."""
    length = float(np.linalg.norm(direction))
    if not 0 < length < math.inf:
        return WidestMargin(direction, 0.0, -math.inf, math.inf, np.zeros(len(signs)))
    normal = direction / length
    places = points @ normal
    low, high = float(places[signs < 0].max()), float(places[signs > 0].min())
    # Each place is off by at most (dim + 2)·ε·‖x‖, and the length of the normal by as much; doubled to be safe.
    rounding = 2 * (len(normal) + 4) * EPSILON * radius
    return WidestMargin(normal, -(low + high) / 2, (high - low) / 2 - rounding, math.inf, np.zeros(len(signs)))


def _limit(points: Points, signs: Signs, radius: float, weights: Signs) -> tuple[float, Signs]:
    """No margin is wider than this; and the weights that show it, with sum 1 in each class."""
    sums = {sign: float(weights[signs == sign].sum()) for sign in (-1.0, 1.0)}
    if not all(0 < each < math.inf for each in sums.values()):
        return math.inf, weights
    even = weights / np.where(signs > 0, sums[1.0], sums[-1.0])
    length = float(np.linalg.norm((even * signs) @ points))
    # Sums of as many products as there are weights, each at most its weight times the radius. The sums of weights are
    # off 1 by as much, and a separating hyperplane passes the origin at no more than the radius.
    rounding = 4 * (np.count_nonzero(even) + 4) * EPSILON * radius
    return (length + rounding) / 2, even
