"""What a certificate states about a table, against programs that share nothing with the package.

Plain NumPy, SciPy's linear program (HiGHS) and scikit-learn's support-vector machine. `disagreements` gets the table
and the JSON of the certificate, and nothing else.
"""

import collections
import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.optimize

MOST_FOR_PROGRAM, MOST_FOR_MACHINE, MOST_COMPARED = 300_000, 2_000, 300
"""Numbers that a linear program gets, and a support-vector machine, and points whose distances are compared."""
NEAR, CLEAR = 1e-9, 1e-6


def disagreements(inputs: np.ndarray, labels: np.ndarray, portrait: dict[str, Any]) -> list[str]:
    """Every fact of the certificate that these programs do not find."""
    said = [*_counts(inputs, labels, portrait), *_equal_points(inputs, labels, portrait)]
    said += _preparation(inputs, portrait)
    if said:  # scaled coordinates would be others, too
        return said
    scaled = scaled_points(inputs, portrait["preparation"])
    names = [each["name"] for each in portrait["classes"]]
    for found in portrait["separability"]:
        single = names[1] if found["class_number"] is None else names[found["class_number"]]
        signs = np.where(labels == single, 1.0, -1.0)
        said += [f"{found['between']}: {each}" for each in _boundary(scaled, signs, found, portrait)]
    if portrait["preparation"]["used"] == len(inputs) <= MOST_COMPARED:
        said += _groups(scaled, labels, portrait)
    return said


def _counts(inputs: np.ndarray, labels: np.ndarray, portrait: dict[str, Any]) -> Iterator[str]:
    if (portrait["points"], portrait["columns"]) != inputs.shape:
        yield f"shape {inputs.shape}"
    counts = sorted(collections.Counter(labels.tolist()).items())
    if [(each["name"], each["points"]) for each in portrait["classes"]] != counts:
        yield f"classes {counts}"
    lengths = sorted(math.sqrt(math.fsum(float(value) ** 2 for value in row)) for row in inputs)
    middle = (lengths[(len(lengths) - 1) // 2] + lengths[len(lengths) // 2]) / 2
    if not np.allclose(portrait["norms"], [lengths[0], middle, lengths[-1]], rtol=1e-12, atol=0):
        yield f"norms {lengths[0], middle, lengths[-1]}"


def _equal_points(inputs: np.ndarray, labels: np.ndarray, portrait: dict[str, Any]) -> Iterator[str]:
    seen: dict[tuple[float, ...], dict[str, list[int]]] = {}
    for row, (point, label) in enumerate(zip(inputs.tolist(), labels.tolist(), strict=True), 1):
        seen.setdefault(tuple(point), {}).setdefault(label, []).append(row)
    repeats = sorted((row, rows[0]) for kinds in seen.values() for rows in kinds.values() for row in rows[1:])
    clashes = [kinds for kinds in seen.values() if len(kinds) > 1]
    if portrait["duplicates"] != len(repeats) or [tuple(each) for each in portrait["repeats"]] != repeats[:5]:
        yield f"repeats {len(repeats)}: {repeats[:5]}"
    if portrait["n_contradicting"] != sum(len(rows) for kinds in clashes for rows in kinds.values()):
        yield f"{len(clashes)} points with several labels"
    for first, second in portrait["contradictions"]:
        if inputs[first - 1].tolist() != inputs[second - 1].tolist() or labels[first - 1] == labels[second - 1]:
            yield f"rows {first} and {second} do not contradict each other"
    if bool(clashes) is not bool(portrait["contradictions"]):
        yield "contradictions"


def _preparation(inputs: np.ndarray, portrait: dict[str, Any]) -> Iterator[str]:
    done = portrait["preparation"]
    rows, columns = inputs.shape
    dim = columns - len(done["constant_columns"]) - len(done["negligible_columns"])
    dim += done["bias"] in ("general", "needed", "wider")
    if done["points"] != rows or done["used"] != min(rows, 20_000, max(540_000 // dim, 200)):
        yield f"{done['used']} of {done['points']} points used"
    if done["scaling"] == "none":
        if done["factor"] is not None or done["bias"] != "unwanted" or done["is_standardized"]:
            yield "points were not taken as they are"
        return
    constant = [column + 1 for column in range(columns) if len(set(inputs[:, column].tolist())) == 1]
    if done["constant_columns"] != constant or done["negligible_columns"]:
        yield f"constant columns {constant}"
    varying = inputs[:, [column for column in range(columns) if column + 1 not in constant]]
    deviations = [math.sqrt(float(np.mean((each - each.mean()) ** 2))) for each in varying.T]
    spread = max(deviations) / sorted(deviations)[(len(deviations) - 1) // 2]
    if not math.isclose(done["spread"], spread, rel_tol=1e-6):
        yield f"spread {spread}"
    if done["is_standardized"] is not (done["scaling"] == "auto" and spread > 10):
        yield f"standardized: {done['is_standardized']}, although the spread is {spread}"
        return
    if done["is_standardized"] and not np.allclose(done["unit"], deviations, rtol=1e-6, atol=0):
        yield f"units {deviations}"
    longest = np.linalg.norm(scaled_points(inputs, done), axis=1).max()
    if not 1 - CLEAR < longest <= 1 + NEAR:
        yield f"the longest scaled point has length {longest}"


def scaled_points(inputs: np.ndarray, done: dict[str, Any]) -> np.ndarray:
    """The scaled coordinates, by what the certificate says was done."""
    left_out = {*done["constant_columns"], *done["negligible_columns"]}
    kept = inputs[:, [column for column in range(inputs.shape[1]) if column + 1 not in left_out]]
    if done["is_standardized"]:
        kept = (kept - np.array(done["centre"])) / np.array(done["unit"])
    return kept if done["factor"] is None else kept / done["factor"]


def _boundary(scaled: np.ndarray, signs: np.ndarray, found: dict[str, Any], portrait: dict[str, Any]) -> Iterator[str]:
    """The boundary, its margin, the proof that there is no wider one or none, and who is on its wrong side."""
    longest = float(np.linalg.norm(scaled, axis=1).max()) or 1.0
    points = scaled / longest
    if found["points"] != len(points):
        yield f"{found['points']} points examined"
    width = None
    if points.size <= MOST_FOR_PROGRAM:
        width = widest_in_a_box(points, signs, through_origin=found["through_origin"])
        if found["separable"] is None:
            if not abs(width) < CLEAR:
                yield f"not known, but a linear program finds {width}"
            return
        if width > 1e-7 and not found["separable"]:
            yield f"separable {found['separable']}, but a linear program finds {width}"
    weights, used = np.array(found["weights"]), np.array(found["witnesses"], int) - 1
    if len(weights) != len(used) or (weights < 0).any() or (found["margin"] is None) is bool(found["separable"]):
        yield "a proof that proves nothing"
        return
    combination = (weights * signs[used]) @ points[used]
    balance = float((weights * signs[used]).sum())
    if found["separable"]:
        yield from _margin(points, signs, found, longest, width, float(np.linalg.norm(combination)), balance)
    else:
        gap = float(np.linalg.norm(combination)) + (0.0 if found["through_origin"] else abs(balance))
        if not gap < 1e-10 or not math.isclose(weights.sum(), 1, rel_tol=1e-9):
            yield f"the proof against a boundary leaves {gap}"
        if not found["through_origin"]:
            yield from _wrong_side(points, signs, found, longest)
    yield from _theorem_margin(points, signs, found, longest, portrait["preparation"])


def _margin(
    points: np.ndarray, signs: np.ndarray, found: dict[str, Any], longest: float, width: float | None,
    length: float, balance: float,
) -> Iterator[str]:  # fmt: skip
    margin, limit = found["margin"] / longest, found["margin_limit"] / longest
    normal, offset = np.array(found["normal"]), found["offset"] / longest
    least = float((signs * (points @ normal + offset)).min())
    if not math.isclose(float(np.linalg.norm(normal)), 1, rel_tol=NEAR) or not least >= margin - 1e-13 or margin <= 0:
        yield f"a margin of {margin}, but the closest point is {least} away"
    # Weak duality: no margin is wider than this.
    above = length if found["through_origin"] else length / 2
    if not (above <= limit * (1 + NEAR) + 1e-13 and limit <= margin * (1 + 1e-5) + 1e-12):
        yield f"a limit of {limit} for the margin {margin}, but the weights prove {above}"
    if not found["through_origin"] and abs(balance) > NEAR:
        yield f"weights of the classes differ by {balance}"
    if width is not None and width < margin * (1 - CLEAR) - 1e-9:
        yield f"a margin of {margin}, but a linear program finds {width}"
    if not found["through_origin"] and points.size <= MOST_FOR_MACHINE and margin > 1e-3:
        machine = margin_of_machine(points, signs)
        if not 0.98 * margin <= machine <= limit * (1 + NEAR):
            yield f"a margin of {margin}, but a support-vector machine has {machine}"


def _wrong_side(points: np.ndarray, signs: np.ndarray, found: dict[str, Any], longest: float) -> Iterator[str]:
    places = signs * (points @ np.array(found["normal"]) + found["offset"] / longest)
    size = float(np.abs(places).max())
    sure, possible = (set((np.flatnonzero(places <= limit) + 1).tolist()) for limit in (-NEAR * size, 3e-7 * size))
    if not (sure <= set(found["in_the_way"]) <= possible) or not found["in_the_way"]:
        yield f"{len(found['in_the_way'])} points in the way, but between {len(sure)} and {len(possible)} are"


def _theorem_margin(
    points: np.ndarray, signs: np.ndarray, found: dict[str, Any], longest: float, done: dict[str, Any]
) -> Iterator[str]:
    """The margin through the origin in the coordinates of the theorems, by a solver for smooth programs."""
    has_bias = done["bias"] in ("needed", "wider", "general")
    theirs = found["theorem_margin"]
    coordinates = np.column_stack([points, np.ones(len(points))]) / math.sqrt(2) if has_bias else points
    is_theirs = has_bias and found["separable"] is not None and not found["through_origin"]
    if is_theirs and (theirs is None) is not (found["separable"] is False):
        yield f"theorems get the margin {theirs}"
    if theirs is None or coordinates.size > 400:
        return
    theirs = theirs if has_bias else theirs / longest
    ours = margin_through_origin(coordinates, signs)
    # Of narrow margins its digits are not reliable.
    if ours is not None and max(ours, theirs) > 1e-2 and not math.isclose(ours, theirs, rel_tol=1e-3):
        yield f"theorems get the margin {theirs}, but {ours} is possible"


def widest_in_a_box(points: np.ndarray, signs: np.ndarray, *, through_origin: bool) -> float:
    """The largest t with y(⟨w, x⟩ + b) ≥ t for some w in the cube [−1, 1], by HiGHS; positive if the classes are apart.

    No hyperplane has a margin above it, since normals of length 1 are in the cube.
    """
    own = points if through_origin else np.column_stack([points, np.ones(len(points))])
    dim = own.shape[1]
    solved = scipy.optimize.linprog(
        np.append(np.zeros(dim), -1.0),
        A_ub=np.column_stack([-signs[:, None] * own, np.ones(len(own))]),
        b_ub=np.zeros(len(own)),
        bounds=[(-1, 1)] * points.shape[1] + [(None, None)] * (dim - points.shape[1]) + [(None, None)],
        method="highs",
    )
    if solved.status != 0:
        raise RuntimeError(f"the linear program ended with {solved.message}")
    return -float(solved.fun)


def margin_of_machine(points: np.ndarray, signs: np.ndarray) -> float:
    """Half the gap between the classes across the boundary of scikit-learn's support-vector machine."""
    from sklearn.svm import SVC

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        machine = SVC(kernel="linear", C=1e9, tol=1e-6, max_iter=5_000_000).fit(100 * points, signs)
    places = points @ (machine.coef_[0] / np.linalg.norm(machine.coef_))
    return float(places[signs > 0].min() - places[signs < 0].max()) / 2


def margin_through_origin(points: np.ndarray, signs: np.ndarray) -> float | None:
    """1/‖w‖ of the shortest w with y⟨w, x⟩ ≥ 1, by sequential quadratic programming; None where it fails."""
    rows = signs[:, None] * points
    solved = scipy.optimize.minimize(
        lambda w: w @ w / 2,
        np.linalg.lstsq(rows, np.ones(len(rows)), rcond=None)[0],
        jac=lambda w: w,
        constraints={"type": "ineq", "fun": lambda w: rows @ w - 1, "jac": lambda w: rows},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    return 1 / float(np.linalg.norm(solved.x)) if solved.success else None


def _groups(scaled: np.ndarray, labels: np.ndarray, portrait: dict[str, Any]) -> Iterator[str]:
    """Distances of points of length 1, in the coordinates of the theorems."""
    has_bias = portrait["preparation"]["bias"] in ("needed", "wider", "general")
    points = np.column_stack([scaled, np.ones(len(scaled))]) if has_bias else scaled
    lengths = np.linalg.norm(points, axis=1)
    if (found := portrait["components"]) is None or not lengths.all():
        if bool(lengths.all()) is (found is None):
            yield "no groups, although every point has a direction"
        return
    points = points / lengths[:, None]
    apart = labels[:, None] != labels[None, :]
    least = min(np.linalg.norm(points[:, None] + sign * points[None], axis=2)[apart].min() for sign in (-1.0, 1.0))
    if not math.isclose(found["distance"], least, rel_tol=1e-6, abs_tol=1e-7):
        yield f"classes are {least} apart"
    kinds = collections.Counter(labels.tolist())
    if found["classes"] != len(kinds) or not 1 <= found["per_class"] <= max(kinds.values()):
        yield f"{found['classes']} classes of {found['per_class']} groups"
    if float(found["relative_diameter"]) > 1 / (8 * found["per_class"]) * (1 + NEAR):
        yield "groups that are too wide"
    if (four := portrait["clusters"]) is not None:
        shares = np.arange(len(points) + 1) / len(points)
        if np.abs(np.abs(shares - 0.25) - four["imbalance"]).min() > NEAR or not 0 <= four["overlap"] <= 1 + NEAR:
            yield f"clusters {four}"
        if not 0 <= four["radius"] <= 2 + NEAR:
            yield f"clusters {four}"
