"""Theorem 6.1 and Corollary 6.2 on altered records of a path whose limit is known."""

import numpy as np
import pytest

from tests.control_table import at, controls, leaves_open
from tests.papers.records import altered
from tests.papers.sarussi2021.inputs import handed, looks_read
from tests.papers.sarussi2021.paths import AT_20, LAST, flip_one, toy_path
from tests.papers.sarussi2021.toys import changed_weights
from widenet.papers.sarussi2021.claims import flow_limits
from widenet.papers.sarussi2021.claims.flow_limits import (
    corollary_6_2,
    falls,
    theorem_6_1,
    theorem_6_2_direction,
    theorem_6_2_first_step,
    theorem_6_2_region,
)
from widenet.papers.sarussi2021.claims.paths import Paths
from widenet.papers.sarussi2021.formulas import approach_bound, cluster_bound
from widenet.papers.sarussi2021.runs.flows import READINGS

BOUNDED = "r/‖w̄ − ū‖ is below its bound at every time"


NEAR = "the direction is near that of the program at every time"


def test_what_a_limit_asks_of_two_looks():
    """Kept up to a third, undecided while there was any progress, broken without."""
    answers = [falls(np.array([share]), np.ones(1), "").part("").kept for share in (1 / 3, 0.334, 1.0, 1 + 1e-9)]
    assert answers == [True, None, None, False]


def test_which_looks_are_read():
    read = looks_read(theorem_6_1, toy_path())
    assert read[NEAR] == set(READINGS)
    assert read["r/‖w̄ − ū‖ falls to a third"] == {20, 400}
    assert looks_read(corollary_6_2, toy_path())["the uncovered directions shrink to a third"] == {20, 400}


def test_the_bound_on_the_ratio_is_asked_from_the_settling_on():
    """At every look from the last crossing on; r of that look, and how far the weights have come since."""
    parts, _ = handed(theorem_6_1, [altered(toy_path(), last_crossing=np.array([10.0]))])
    assert parts[BOUNDED].scored.tolist() == [False] * 10 + [True] * (len(READINGS) - 10)
    course = next(toy_path().each())
    first = READINGS.index(10)
    w_star = course.separator
    difference = course.plus[first].mean(axis=0) - course.minus[first].mean(axis=0)
    rows = np.stack([course.plus[first], course.minus[first]])
    radius = np.linalg.norm(rows - rows.mean(axis=1, keepdims=True), axis=2).max()
    moved = np.sqrt(((course.weights[first:] - course.weights[first]) ** 2).sum(axis=(1, 2)))
    below = difference @ w_star + 2 / 3 * moved / (np.sqrt(6) * np.sqrt(10))
    np.testing.assert_allclose(parts[BOUNDED].promised[10:], radius * np.linalg.norm(w_star) / below, rtol=1e-12)
    late = altered(toy_path(), last_crossing=np.array([1e3]))
    assert handed(theorem_6_1, [late])[0][BOUNDED].scored.sum() == 1


@pytest.mark.parametrize(
    ("limit", "n_cases", "kept"), [(np.inf, len(READINGS) - 1, True), (np.nan, len(READINGS), None)]
)
def test_a_look_at_which_nothing_is_bounded_is_not_asked_about(limit, n_cases, kept):
    """An infinite bound promises nothing; one that is not a number leaves the look open, where a side is not one."""

    def bound(*given):
        return np.where(np.arange(len(READINGS)) == 3, limit, cluster_bound(*given))

    (part,) = [part for part in theorem_6_1([toy_path()], bound=bound).parts if part.name == BOUNDED]
    assert (part.n_cases, part.kept) == (n_cases, kept)


def turn(weights):
    """The last look turned by 0.06 towards a vector orthogonal to it: 1 − cos is 0.0017, and 0.00165 is allowed."""
    flat = weights[LAST].ravel()
    other = np.tile([1.0, -2.0], 6) * np.repeat([1.0, -1.0], 6)
    other -= flat * (other @ flat) / (flat @ flat)
    weights[LAST] = (flat + 0.06 * np.linalg.norm(flat) * other / np.linalg.norm(other)).reshape(6, 2)


def spread(weights):
    """Deviations from the means as large as they were, relative to the means, at s = 20."""
    for rows in (weights[:, :3], weights[:, 3:]):
        mean = rows[LAST].mean(axis=0)
        rows[LAST] = mean + (rows[LAST] - mean) * 40


def loose():
    """Plus rows at 0°, 50° and 100° still agree on both points, but the network bends; at s = 20 they spread more."""
    angles = np.radians([0.0, 50.0, 100.0])
    fan = np.stack([np.cos(angles), np.sin(angles)], axis=1)

    def loosen(weights):
        for look, lengths in ((AT_20, (100.0, 1.0, 1.0)), (LAST, (100.0, 100.0, 100.0))):
            weights[look, :3] = np.array(lengths)[:, None] * fan
            weights[look, 3:] = -min(lengths) * fan[1]

    return changed_weights(toy_path(), loosen)


def test_the_same_network_is_linear_outside_its_slab():
    """Asked about 500 directions, but for those with |cos| ≤ κr/‖w̄ − ū‖, κ = (1 − 1/3)/(1 + 1/3)."""
    assert corollary_6_2([toy_path()]).parts[1].n_cases > 400

    def widen(weights):
        weights[LAST] = weights[LAST].reshape(2, 3, 2).mean(axis=1).repeat(3, axis=0)
        weights[LAST, :3] += 0.5 * np.linalg.norm(weights[LAST, 0]) * np.array([[1.0, -1.0], [0.0, 0.0], [-1.0, 1.0]])

    wide = changed_weights(toy_path(), widen)
    plus, minus = wide.plus[0, -1], wide.minus[0, -1]
    line, radius = plus.mean(axis=0) - minus.mean(axis=0), np.linalg.norm(plus - plus.mean(axis=0), axis=1).max()
    drawn = np.random.default_rng(62).normal(size=(500, 2))
    cosines = np.abs(drawn @ line) / np.linalg.norm(drawn, axis=1) / np.linalg.norm(line)
    covered = (cosines > 0.5 * radius / np.linalg.norm(line)).sum()
    assert covered < 480
    assert corollary_6_2([wide]).parts[1].n_cases == covered


def test_it_says_which_classifier_was_learned():
    """The toy path ends at the solution of Eq. 7; the SVM of its two points is another line."""
    found = corollary_6_2([toy_path()])
    pair = toy_path().perfect_solution[0]
    line = (pair[:2] - pair[2:]) / np.linalg.norm(pair[:2] - pair[2:])
    np.testing.assert_allclose(found.details["classifiers"][0], line, atol=0.01)
    assert found.details["from_equation_7"][0] < 1
    assert found.details["from_regime"] == found.details["from_equation_7"]
    machine = toy_path().separator[0]
    cosine = machine @ found.details["classifiers"][0] / np.linalg.norm(machine)
    assert found.details["from_svm"][0] == pytest.approx(np.degrees(np.arccos(cosine)))
    assert found.details["share"] == [1.0]
    np.testing.assert_allclose(found.details["predicted"][0], line)
    assert "sign of the linear classifier (0.775, 0.632)·x on 100% of its points" in found.note
    assert "It was predicted: Eq. 7 gives (0.776, 0.631)·x" in found.note  # (96, 78)/√(96² + 78²)
    for name in ("plus_signs", "minus_signs"):
        wrong = altered(toy_path(), **{name: np.array([(1.0, 1.0)])})
        assert "neurons agree, but are not all right" in corollary_6_2([wrong]).note
    assert "Nothing predicts it" in corollary_6_2([changed_weights(toy_path(), flip_one)]).note
    assert "sign of one linear classifier on at least 100% of its points" in corollary_6_2([toy_path()] * 2).note
    lost = corollary_6_2([altered(toy_path(), solution=lambda pair: pair * np.nan)])
    assert lost.details["from_regime"] == [None]


def repeat(weights):
    weights[LAST] = weights[AT_20 - 1]


def changed(change):
    return at(lambda: changed_weights(toy_path(), change))


def missed(formula, measured, away):
    """At the first look the bound is so far below what is measured, or this share of it."""

    def bound(*given):
        limit = formula(*given)
        limit[0] = away(measured)
        return limit

    return bound


PATHS = Paths.join([toy_path()])


def direction_off(by):
    return {"approach": missed(approach_bound, PATHS.program_error[0, 0], lambda error: error - by)}


def ratio_off(share):
    return {"bound": missed(cluster_bound, PATHS.ratio[0, 0], lambda ratio: ratio * (1 - share))}


FAR = {"bound": lambda *given: 1e9 * cluster_bound(*given)}


def slowed(share, setup=at, **constants):
    """r/‖w̄ − ū‖ falls to this share from s = 20 on."""
    ratio = PATHS.ratio.copy()
    ratio[:, -1] = share * PATHS.early_ratio
    return setup(toy_path, ratio=ratio, **constants)


def lost_at_the_end(moved):
    """NaN at the last look."""
    return np.where(np.arange(moved.shape[1]) == moved.shape[1] - 1, np.nan, moved)


OTHER = toy_path().solution * np.array([1.0, -1.0, 1.0, 1.0])
test_control = controls(
    flow_limits,
    toy_path,
    (theorem_6_1, "direction", {}, changed(turn)),
    (theorem_6_1, "direction", {}, {"solution": OTHER}),
    (theorem_6_1, "direction", direction_off(5e-8), direction_off(5e-7)),
    (theorem_6_1, "clusters", {}, changed(spread), "ratio"),
    (theorem_6_1, "clusters", slowed(0.333, **FAR), slowed(0.335, leaves_open, **FAR)),
    (theorem_6_1, "ratio", {}, {"bound": lambda *given: 0.1 * cluster_bound(*given)}),
    (theorem_6_1, "ratio", ratio_off(5e-10), ratio_off(5e-9)),
    # A bound that is not a number is not one that is infinite.
    (theorem_6_1, "ratio", {}, leaves_open(toy_path, moved_since=lost_at_the_end)),
    (theorem_6_1, "agreement", {}, {"disagrees": 1.0}),
    (corollary_6_2, "uncovered", {}, changed(repeat)),
    (corollary_6_2, "uncovered", slowed(0.333), slowed(0.335, leaves_open)),
    (corollary_6_2, "linear", at(loose), at(loose, radius_share=0.0)),
    (corollary_6_2, "agreement", {}, {"disagrees": 1.0}),
    but=(theorem_6_2_region, theorem_6_2_direction, theorem_6_2_first_step),
)
