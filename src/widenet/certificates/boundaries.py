"""Linear boundaries between classes: whether there is one, the widest, and who is in the way; of all points, proved."""

import math
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from widenet.certificates.misplaced_points import clashing
from widenet.certificates.preparation import Prepared, Scaling, search
from widenet.certificates.reading import Table
from widenet.data.arrays import with_bias
from widenet.diagnostics import Separation
from widenet.diagnostics.widest_margin import find_widest_margin
from widenet.diagnostics.work import Work
from widenet.records import ClosedModel
from widenet.types import Dataset

MOST_CLASSES_SEPARATED = 12
EPSILON = float(np.finfo(np.float64).eps)


class Separability(ClosedModel):
    """Whether a linear boundary separates two classes, with a proof that was checked on all points.

    The boundary is ⟨normal, x⟩ + offset = 0 in scaled coordinates (see `Preparation`); the second class, or the one
    that is singled out, is on its positive side.

    Attributes:
      between: what is separated, in words.
      class_number: the class that is separated from all others, where there are more than two.
      through_origin: whether the boundary has to pass through the origin.
      points: how many points were examined: all of them.
      separable: None where neither could be shown; `is_truncated` where the work for searches was spent.
      margin: the distance of the closest point from the boundary, in scaled coordinates; None without one.
      margin_limit: no boundary has a wider margin: equal to `margin` up to rounding where the search came to its end.
        Where there is no boundary: 0 if that is proved of the exact numbers, else what float64 cannot exclude.
      theorem_margin: the margin that theorems get, of boundaries through the origin, in their coordinates: (x, 1)/√2
        with a bias; None without one.
      norm_upper, norm_lower: a separator w with y⟨w, x⟩ ≥ 1 has this norm, and none has a smaller one than this; of
        (x, 1)/√2, with x in the unit ball, unless it has to pass through the origin.
      normal, offset: the boundary: the widest, or the best that was found; empty where none was looked for.
      witnesses, weights: the rows (from 1) of the points that prove it, and their weights a ≥ 0. With a boundary the
        length of Σ a·y·x is its margin (half of it with a bias, where the weights of each class have sum 1); without
        one Σ a·y·(x, 1) is 0.
      proof: the certificate of the norms in a sentence.
      in_the_way: where there is no such boundary, the rows (from 1) of the points on the wrong side of `normal`.
    """

    between: str
    class_number: int | None
    through_origin: bool
    points: int
    separable: bool | None
    is_truncated: bool = False
    margin: float | None
    margin_limit: float | None
    theorem_margin: float | None
    norm_upper: float
    norm_lower: float
    normal: tuple[float, ...] = ()
    offset: float = 0.0
    witnesses: tuple[int, ...]
    weights: tuple[float, ...]
    proof: str
    in_the_way: tuple[int, ...] = ()


def find_boundaries(
    table: Table, prepared: Prepared, equal: Sequence[tuple[int, int]], work: Work
) -> tuple[Separability, ...]:
    """What is known about boundaries between two classes, or between each of several and the rest.

    `equal` are pairs of rows (from 1) with equal points of different classes.
    """
    if len(table.class_names) == 2:
        names, origin = " and ".join(table.class_names), prepared.through_origin
        margin = _theorem_margin(origin, prepared.with_bias, prepared)
        found = [] if origin is None else [_through_origin(f"{names}, through the origin", origin, margin, prepared)]
        between, biased = f"{names}, with a bias", prepared.with_bias
        if biased is None:
            return *found, _unknown(between, prepared, None)
        return *found, _with_bias(between, biased, margin, prepared, prepared.labels, equal, None, work)
    if len(table.class_names) > MOST_CLASSES_SEPARATED:
        return ()
    answers = []
    lifted = with_bias(Dataset(jnp.asarray(prepared.points), jnp.asarray(prepared.labels)))
    for number, name in enumerate(table.class_names):
        signs = np.where(table.classes == number, 1.0, -1.0)
        separation = search(Dataset(lifted.inputs, jnp.asarray(signs)), work)
        if separation is None:
            answers.append(_unknown(f"{name} against the rest", prepared, number))
            continue
        origin = None
        if prepared.record.scaling is Scaling.NONE and separation.separable is not False:
            origin = search(Dataset(jnp.asarray(table.inputs), jnp.asarray(signs)), work)
        margin = _theorem_margin(origin, separation, prepared)
        answers.append(_with_bias(f"{name} against the rest", separation, margin, prepared, signs, equal, number, work))
    return tuple(answers)


def _theorem_margin(origin: Separation | None, biased: Separation | None, prepared: Prepared) -> float | None:
    found = biased if prepared.record.has_bias else origin
    return found.margin if found is not None and found.separable else None


def _unknown(between: str, prepared: Prepared, class_number: int | None) -> Separability:
    """Nothing is known: float64 cannot even ask."""
    return Separability(
        between=between,
        class_number=class_number,
        through_origin=False,
        points=len(prepared.points),
        separable=None,
        margin=None,
        margin_limit=None,
        theorem_margin=None,
        norm_upper=math.inf,
        norm_lower=0.0,
        witnesses=(),
        weights=(),
        proof="inconclusive: the numbers span more than 150 orders of magnitude",
    )


def _through_origin(between: str, found: Separation, theorem_margin: float | None, prepared: Prepared) -> Separability:
    separator = found.separator
    return Separability(
        between=between,
        class_number=None,
        through_origin=True,
        points=len(prepared.points),
        separable=found.separable,
        is_truncated=found.is_truncated,
        margin=found.margin if found.separable else None,
        margin_limit=1 / found.norm_lower,
        theorem_margin=theorem_margin,
        norm_upper=found.norm_upper,
        norm_lower=found.norm_lower,
        normal=() if separator is None else tuple((separator / np.linalg.norm(separator)).tolist()),
        witnesses=_rows(found.weights > 0),
        weights=tuple(found.weights[found.weights > 0].tolist()),
        proof=found.sentence,
    )


def _with_bias(
    between: str,
    found: Separation,
    theorem_margin: float | None,
    prepared: Prepared,
    signs: Float[np.ndarray, " point"],
    equal: Sequence[tuple[int, int]],
    class_number: int | None,
    work: Work,
) -> Separability:
    """What was `found` for (x, 1)/√2, the widest boundary where there is one, and who is in the way where not."""
    margin, limit, weights = None, 2 / found.norm_lower, found.weights
    boundary, in_the_way = np.zeros(0), ()
    if found.separator is not None:
        widest = find_widest_margin(prepared.points, signs, found.separator[:-1], work)
        margin, limit, weights = widest.margin, min(widest.limit, limit), widest.weights
        boundary = np.append(widest.normal, widest.offset)
        # y(⟨u, x⟩ + v) ≥ √2 was checked more sharply, which matters where rounding is nearly as large as the margin.
        sure = math.sqrt(2) / float(np.linalg.norm(found.separator[:-1])) * (1 - 8 * EPSILON)
        if margin < sure:
            margin, boundary = sure, found.separator
    elif found.separable is False:
        lifted = with_bias(Dataset(jnp.asarray(prepared.points), jnp.asarray(signs)))
        pair = next(((one, two) for one, two in equal if signs[one - 1] != signs[two - 1]), None)
        if pair is not None:  # the shortest proof, in which nothing is rounded
            limit, weights = 0.0, np.where(np.isin(np.arange(len(signs)) + 1, pair), 0.5, 0.0)
        elif _is_exact(np.asarray(lifted.inputs, np.float64), signs, found):
            limit = 0.0
        clash = clashing(lifted)
        boundary, in_the_way = clash.boundary, tuple((clash.rows + 1).tolist())
    length = float(np.linalg.norm(boundary[:-1])) or 1.0
    used = weights > 0
    return Separability(
        between=between,
        class_number=class_number,
        through_origin=False,
        points=len(prepared.points),
        separable=found.separable,
        is_truncated=found.is_truncated,
        margin=None if margin is None else margin * prepared.stretch,
        margin_limit=limit * prepared.stretch,
        theorem_margin=theorem_margin,
        norm_upper=found.norm_upper,
        norm_lower=found.norm_lower,
        normal=tuple((boundary[:-1] / length).tolist()),
        offset=float(boundary[-1]) / length * prepared.stretch if len(boundary) else 0.0,
        witnesses=_rows(used),
        weights=tuple(weights[used].tolist()),
        proof=found.sentence,
        in_the_way=in_the_way,
    )


def _rows(used: Bool[np.ndarray, " point"]) -> tuple[int, ...]:
    return tuple((np.flatnonzero(used) + 1).tolist())


def _is_exact(inputs: Float[np.ndarray, "point dim"], signs: Float[np.ndarray, " point"], found: Separation) -> bool:
    """Whether weights near those of the proof, all positive, make Σ a·y·x exactly 0, so that rounding plays no part.

    With A the points of the proof in columns, a of length r away from solving A a = 0 is no farther than r/σ from a
    solution, where σ is the smallest singular value and A has full row rank. Coordinates that are 0 in all of them
    are left out. What rounding has done to the points themselves, a few ε of each entry, is allowed for.
    """
    own = np.flatnonzero(found.weights)
    weights, columns = found.weights[own], signs[own, None] * inputs[own]
    columns = columns[:, np.any(columns != 0, axis=0)].T
    if not columns.shape[0] < columns.shape[1]:
        return False
    values = np.linalg.svd(columns, compute_uv=False)
    rounding = 8 * (sum(columns.shape) + 4) * EPSILON
    smallest = float(values[-1]) - rounding * float(values[0])
    residual = float(np.linalg.norm(columns @ weights)) + rounding * float(np.linalg.norm(np.abs(columns) @ weights))
    return smallest > 0 and residual < smallest * float(weights.min())
