"""Theorems 6.1 and 6.2 on altered records of a path whose limit is known."""

import functools

import numpy as np
import pytest

from tests.controls import breaks_hypothesis, breaks_part, every_part_of, part_edges
from tests.papers.sarussi2021.inputs import handed, looks_read
from tests.papers.sarussi2021.toys import altered, changed_weights, flow_runs
from widenet.claims.base import Verdict
from widenet.diagnostics.homogeneous_margins import smoothed_margin
from widenet.papers.sarussi2021.claims import flow_limits
from widenet.papers.sarussi2021.claims.flow_limits import (
    arrivals,
    corollary_6_2,
    falls,
    settles,
    theorem_6_1,
    theorem_6_2_direction,
    theorem_6_2_first_step,
    theorem_6_2_region,
)
from widenet.papers.sarussi2021.formulas import cluster_bound
from widenet.papers.sarussi2021.runs.flows import READINGS


@functools.cache
def toy_path():
    return flow_runs()


CLAIMS = (theorem_6_1, corollary_6_2, theorem_6_2_region, theorem_6_2_first_step, theorem_6_2_direction)
LAST, AT_20 = len(READINGS) - 1, READINGS.index(20)
BOUNDED = "r/‖w̄ − ū‖ is below its bound at every time"


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_it_holds_on_the_toy_path(claim):
    assert claim([toy_path()]).verdict is Verdict.HOLDS


@pytest.mark.parametrize(("rule", "goal"), [(settles, 1 / 2), (falls, 1 / 3)])
def test_what_a_limit_asks_of_two_looks(rule, goal):
    """Kept up to the goal, undecided while there was any progress, broken without."""
    answers = [rule(np.array([share]), np.ones(1)).part("").kept for share in (goal - 1e-9, goal + 1e-9, 1.0, 1 + 1e-9)]
    assert answers == [True, None, None, False]


@pytest.mark.parametrize(("moved", "kept"), [(0.5, True), (1.3, None), (1.3 + 1e-9, False)])
def test_a_direction_that_follows_a_flow_that_turned(moved, kept):
    assert settles(np.array([moved]), np.ones(1), [0.3]).part("").kept is kept


def test_which_looks_are_read():
    read = looks_read(theorem_6_1, toy_path())
    assert read["the direction settles"] == {50, 100, 200, 400}
    assert read["r/‖w̄ − ū‖ falls to a third"] == {20, 400}
    assert read["the direction is that of the program"] == {400}
    assert looks_read(corollary_6_2, toy_path())["the uncovered directions shrink to a third"] == {20, 400}
    last = looks_read(theorem_6_2_direction, toy_path())
    assert last["the direction is that of Eq. 7"] == {400}
    assert last["it never exceeds it"] == {reading for reading in READINGS if reading >= 20}


def test_the_bound_on_the_ratio_is_asked_from_the_settling_on():
    """At every look from the last crossing on; r of that look, and how far the weights have come since."""
    parts, _ = handed(theorem_6_1, [altered(toy_path(), last_crossing=np.array([10.0]))])
    assert len(parts[BOUNDED].measured) == len(READINGS) - 10
    course = toy_path().courses()[0]
    first = READINGS.index(10)
    w_star = course.separator
    difference = course.plus[first].mean(axis=0) - course.minus[first].mean(axis=0)
    rows = np.stack([course.plus[first], course.minus[first]])
    radius = np.linalg.norm(rows - rows.mean(axis=1, keepdims=True), axis=2).max()
    moved = np.sqrt(((course.weights[first:] - course.weights[first]) ** 2).sum(axis=(1, 2)))
    below = difference @ w_star + 2 / 3 * moved / (np.sqrt(6) * np.sqrt(10))
    np.testing.assert_allclose(parts[BOUNDED].promised, radius * np.linalg.norm(w_star) / below, rtol=1e-12)
    late = altered(toy_path(), last_crossing=np.array([1e3]))
    assert len(handed(theorem_6_1, [late])[0][BOUNDED].measured) == 1


def turn(weights):
    """The last look turned by 0.03 towards a vector orthogonal to it: 1 − cos is 4.5e-4."""
    flat = weights[LAST].ravel()
    other = np.tile([1.0, -2.0], 6) * np.repeat([1.0, -1.0], 6)
    other -= flat * (other @ flat) / (flat @ flat)
    weights[LAST] = (flat + 0.03 * np.linalg.norm(flat) * other / np.linalg.norm(other)).reshape(6, 2)


@breaks_part(theorem_6_1, "the direction settles")
def test_control_a_last_look_that_is_turned():
    return theorem_6_1([toy_path()]), theorem_6_1([changed_weights(toy_path(), turn)])


def test_a_direction_follows_a_flow_that_turned_since_50(monkeypatch):
    monkeypatch.setattr(flow_limits, "turned", lambda course, since: 9.0 if since == 50 else np.nan)
    found = theorem_6_1([changed_weights(toy_path(), turn)])
    assert {part.name: part.kept for part in found.parts}["the direction settles"] is None


def spread(weights):
    """Deviations from the means as large as they were, relative to the means, at s = 20."""
    for rows in (weights[:, :3], weights[:, 3:]):
        mean = rows[LAST].mean(axis=0)
        rows[LAST] = mean + (rows[LAST] - mean) * 40


@breaks_part(theorem_6_1, "r/‖w̄ − ū‖ falls to a third", also=(BOUNDED,))
def test_control_a_cluster_that_spreads():
    return theorem_6_1([toy_path()]), theorem_6_1([changed_weights(toy_path(), spread)])


@breaks_part(theorem_6_1, "the direction is that of the program")
def test_control_another_direction():
    other = toy_path().solutions * np.array([1.0, -1.0, 1.0, 1.0])
    return theorem_6_1([toy_path()]), theorem_6_1([altered(toy_path(), solutions=other)])


def test_an_error_in_between_decides_nothing():
    other = toy_path().solutions * np.array([1.0, 1.15, 1.0, 1.0])
    assert theorem_6_1([altered(toy_path(), solutions=other)]).verdict is Verdict.INSUFFICIENT_EVIDENCE


@breaks_part(theorem_6_1, BOUNDED)
def test_control_a_bound_that_is_too_small():
    return theorem_6_1([toy_path()]), theorem_6_1([toy_path()], bound=lambda *given: 0.1 * cluster_bound(*given))


@breaks_part(corollary_6_2, "the uncovered directions shrink to a third")
def test_control_the_last_look_is_that_at_20():
    def repeat(weights):
        weights[LAST] = weights[AT_20 - 1]

    return corollary_6_2([toy_path()]), corollary_6_2([changed_weights(toy_path(), repeat)])


@breaks_part(corollary_6_2, "elsewhere the network is the linear classifier")
def test_control_a_slab_of_width_zero():
    """Plus rows at 0°, 50° and 100° still agree on both points, but the network bends; at s = 20 they spread more."""
    angles = np.radians([0.0, 50.0, 100.0])
    fan = np.stack([np.cos(angles), np.sin(angles)], axis=1)

    def loosen(weights):
        for look, lengths in ((AT_20, (100.0, 1.0, 1.0)), (LAST, (100.0, 100.0, 100.0))):
            weights[look, :3] = np.array(lengths)[:, None] * fan
            weights[look, 3:] = -min(lengths) * fan[1]

    loose = changed_weights(toy_path(), loosen)
    return corollary_6_2([loose]), corollary_6_2([loose], radius_share=0.0)


def test_the_same_network_is_linear_outside_its_slab():
    """Asked about 500 directions, but for those with |cos| ≤ κr/‖w̄ − ū‖, κ = (1 − 1/3)/(1 + 1/3)."""
    assert corollary_6_2([toy_path()]).parts[1].cases > 400

    def widen(weights):
        weights[LAST] = weights[LAST].reshape(2, 3, 2).mean(axis=1).repeat(3, axis=0)
        weights[LAST, :3] += 0.5 * np.linalg.norm(weights[LAST, 0]) * np.array([[1.0, -1.0], [0.0, 0.0], [-1.0, 1.0]])

    wide = changed_weights(toy_path(), widen)
    plus, minus = wide.courses()[0].plus[-1], wide.courses()[0].minus[-1]
    line, radius = plus.mean(axis=0) - minus.mean(axis=0), np.linalg.norm(plus - plus.mean(axis=0), axis=1).max()
    drawn = np.random.default_rng(62).normal(size=(500, 2))
    cosines = np.abs(drawn @ line) / np.linalg.norm(drawn, axis=1) / np.linalg.norm(line)
    covered = (cosines > 0.5 * radius / np.linalg.norm(line)).sum()
    assert covered < 480
    assert corollary_6_2([wide]).parts[1].cases == covered


def test_it_says_which_classifier_was_learned():
    """The toy path ends at the solution of Eq. 7; the SVM of its two points is another line."""
    found = corollary_6_2([toy_path()])
    pair = toy_path().perfect_solutions[0]
    line = (pair[:2] - pair[2:]) / np.linalg.norm(pair[:2] - pair[2:])
    np.testing.assert_allclose(found.details["classifiers"][0], line, atol=0.01)
    assert found.details["from_equation_7"][0] < 1
    assert found.details["from_regime"] == found.details["from_equation_7"]
    machine = toy_path().separators[0]
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
    lost = corollary_6_2([altered(toy_path(), solutions=lambda pair: pair * np.nan)])
    assert lost.details["from_regime"] == [None]


def flip_one(weights):
    weights[AT_20 + 2, 0] *= -1


def flip_minus(weights):
    weights[AT_20 + 2, 3] *= -1


def flip_early(weights):
    weights[AT_20 - 1, [0, 3]] *= -1


def test_minus_rows_must_agree_too_and_only_late_ones():
    for claim in CLAIMS:
        found = claim([changed_weights(toy_path(), flip_minus)])
        assert {h.key: h.met for h in found.hypotheses}["agreement"] is False
        assert all(h.met for h in claim([changed_weights(toy_path(), flip_early)]).hypotheses)


@pytest.mark.parametrize("claim", CLAIMS[:2], ids=lambda claim: claim.name)
def test_one_run_of_several_is_enough(claim):
    for make, key in (
        (lambda: altered(toy_path(), weights=-toy_path().weights), "separating"),
        (lambda: altered(toy_path(), last_crossing=np.array([20.001])), "stays"),
        (lambda: changed_weights(toy_path(), flip_one), "agreement"),
        (lambda: changed_weights(toy_path(), orthogonal), "margin"),
    ):
        for cells in ([toy_path(), make()], [make(), toy_path()]):
            assert [h.key for h in claim(cells).hypotheses if not h.met] == [key]


def orthogonal(weights):
    """A plus row orthogonal to the negative point (−1, −3), on which plus rows are negative."""
    weights[AT_20 + 2, 0] = np.linalg.norm(weights[AT_20 + 2, 0]) * np.array([3.0, -1.0]) / 10**0.5


for _claim in (theorem_6_1, corollary_6_2, theorem_6_2_region, theorem_6_2_first_step, theorem_6_2_direction):
    _also = ("smoothed_margin",) if "6_2_" in _claim.name else ()
    for _key, _make, _more in (
        ("separating", lambda: altered(toy_path(), weights=-toy_path().weights), _also),
        ("stays", lambda: altered(toy_path(), last_crossing=np.array([20.001])), ()),
        ("agreement", lambda: changed_weights(toy_path(), flip_one), ()),
        ("margin", lambda: changed_weights(toy_path(), orthogonal), ()),
    ):
        if "6_2_" in _claim.name and _key == "margin" and _claim is not theorem_6_2_first_step:
            _more = ("critical_margin",)
        globals()[f"test_control_{_key}_of_{_claim.name}"] = breaks_hypothesis(_claim, _key, also=_more)(
            lambda c=_claim, make=_make: c([make()])
        )


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_a_run_that_settles_after_its_end_has_no_margin(claim):
    found = {h.key: h for h in claim([altered(toy_path(), last_crossing=np.array([401.0]))]).hypotheses}
    assert found["margin"].actual == 0
    assert found["margin"].met is False
    assert found["stays"].met is False


def far_by(share):
    """A third point that makes √k·αvR_x this share of the largest smoothed margin, and is no support vector."""
    course = toy_path().courses()[0]
    best = float(smoothed_margin(course.margins, course.norms).max())
    reach = share * best / (3**0.5 / 3 * 0.4)
    return flow_runs(far_point=reach / 5**0.5)


@pytest.mark.parametrize("claim", CLAIMS[2:], ids=lambda claim: claim.name)
def test_the_edge_of_the_margin_hypothesis(claim):
    for share, met in ((0.999, True), (1.001, False)):
        assert {h.key: h.met for h in claim([far_by(share)]).hypotheses}["smoothed_margin"] is met


@pytest.mark.parametrize("number", range(4))
def test_a_point_on_which_neurons_disagree_is_not_right(number):
    name = list(SIDES)[number]
    undecided = {field: np.where(value == toy_signs(field), value, 0.0) for field, value in SIDES[name].items()}
    found = theorem_6_2_region([altered(toy_path(), **undecided)])
    assert [part.name for part in found.parts if part.kept is False] == [name]


def toy_signs(field):
    return getattr(toy_path(), field)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_control_each_hypothesis_about_the_path(claim):
    for make, key in (
        (lambda: altered(toy_path(), last_crossing=np.array([20.001])), "stays"),
        (lambda: changed_weights(toy_path(), flip_one), "agreement"),
    ):
        assert key in {h.key for h in claim([make()]).hypotheses if not h.met}


@breaks_hypothesis(theorem_6_2_region, "smoothed_margin")
def test_control_a_far_point_raises_the_threshold():
    return theorem_6_2_region([toy_path()]), theorem_6_2_region([flow_runs(far_point=True)])


@breaks_hypothesis(theorem_6_2_first_step, "smoothed_margin")
def test_control_the_first_step_needs_the_margin_too():
    return theorem_6_2_first_step([flow_runs(far_point=True)])


@breaks_hypothesis(theorem_6_2_direction, "smoothed_margin")
def test_control_the_direction_needs_the_margin_too():
    return theorem_6_2_direction([flow_runs(far_point=True)])


@functools.cache
def toy_margin():
    return float(flow_limits._margin(toy_path().courses()[0]))


@breaks_hypothesis(theorem_6_2_region, "critical_margin")
def test_control_a_vector_that_gets_a_point_of_the_other_class():
    return (
        theorem_6_2_region([altered(toy_path(), critical=np.array([toy_margin() * (1 - 1e-9)]))]),
        theorem_6_2_region([altered(toy_path(), critical=np.array([toy_margin() * (1 + 1e-9)]))]),
    )


@breaks_hypothesis(theorem_6_2_direction, "critical_margin")
def test_control_the_direction_needs_the_data_too():
    return theorem_6_2_direction([altered(toy_path(), critical=np.array([toy_margin() * 1.01]))])


def test_the_first_step_does_not_need_it():
    found = theorem_6_2_first_step([altered(toy_path(), critical=np.array([9.0]))])
    assert found.verdict is Verdict.HOLDS
    assert found.runs.outside == 0


def with_critical(share):
    return altered(toy_path(), critical=np.array([share * toy_margin()]))


def test_every_run_that_meets_them_is_judged_and_the_nearest_shown():
    for cells in ([toy_path(), with_critical(0.999)], [with_critical(0.999), toy_path()]):
        found = theorem_6_2_region(cells)
        assert found.parts[0].cases == 2 * theorem_6_2_region([toy_path()]).parts[0].cases
        assert {h.key: h.actual for h in found.hypotheses}["critical_margin"] == pytest.approx(0.999 * toy_margin())


def test_where_none_does_the_run_that_is_least_short_is_shown():
    """One is far below the margin of Assumption 3, the other a little beyond the β of Assumption 4."""
    for cells in ([flow_runs(far_point=True), with_critical(1.001)], [with_critical(1.001), flow_runs(far_point=True)]):
        found = theorem_6_2_region(cells)
        assert [h.key for h in found.hypotheses if not h.met] == ["critical_margin"]
        assert found.runs.outside == 2


def test_runs_outside_are_counted_not_scored():
    both = [toy_path(), flow_runs(far_point=True)]
    found = theorem_6_2_region(both)
    assert found.verdict is Verdict.HOLDS
    assert (found.runs.tried, found.runs.outside) == (2, 1)


def signs(**fields):
    return {name: np.array([values]) for name, values in fields.items()}


SIDES = {
    "plus neurons are right on positive points": signs(plus_signs=(-1.0, -1.0)),
    "minus neurons are right on negative points": signs(minus_signs=(-1.0, -1.0)),
    "plus neurons are right on negative points": signs(plus_signs=(1.0, 1.0)),
    "minus neurons are right on positive points": signs(minus_signs=(1.0, 1.0)),
}

test_control_each_side = part_edges(
    theorem_6_2_region,
    lambda **fields: theorem_6_2_region([altered(toy_path(), **fields)]),
    {name: ({}, change) for name, change in SIDES.items()},
)
test_control_each_side_of_the_first_step = part_edges(
    theorem_6_2_first_step,
    lambda **fields: theorem_6_2_first_step([altered(toy_path(), **fields)]),
    {name: ({}, SIDES[name]) for name in list(SIDES)[:2]},
)


@pytest.mark.parametrize("name", list(SIDES)[2:])
def test_the_first_step_says_nothing_about_the_other_sides(name):
    assert theorem_6_2_first_step([altered(toy_path(), **SIDES[name])]).verdict is Verdict.HOLDS


def turned_minus(solutions, degrees=15):
    angle = np.radians(degrees)
    turn_by = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    solution = solutions.copy()
    solution[0, 2:] = turn_by @ solution[0, 2:]
    return solution


test_control_each_part_of_the_direction = part_edges(
    theorem_6_2_direction,
    lambda share=1.0, **fields: theorem_6_2_direction([altered(toy_path(), **fields)], share=share),
    {
        "the direction is that of Eq. 7": ({}, {"perfect_solutions": turned_minus}),
        "‖w‖/‖u‖ is that of Eq. 7": (
            {},
            {"perfect_solutions": lambda pair: pair * np.array([1.3, 1.3, 1.0, 1.0])},
        ),
        "the margin tends to v√(k/val)": ({}, {"share": 1.05}),
        "it never exceeds it": ({}, {"share": 0.998}),
    },
)


def arrived(part, last, early, plateau=0.0):
    """The answer of this part for a run that is so far off at the end, and was at s = 100."""
    now, then = np.zeros((3, 1)), np.zeros((3, 1))
    now[part], then[part] = last, early
    return list(arrivals(now, then, np.array([plateau])).values())[part].part("").kept


@pytest.mark.parametrize(("part", "goal"), [(0, 2e-3), (1, 0.05), (2, 0.02)])
def test_what_counts_as_arrived_and_as_failed(part, goal):
    """Within the goal; up to twice, or halved since s = 100, undecided; else broken."""
    assert arrived(part, 0.999 * goal, goal) is True
    assert arrived(part, 1.001 * goal, goal) is None
    assert arrived(part, 1.999 * goal, 2 * goal) is None
    assert arrived(part, 2.001 * goal, 2 * goal) is False
    assert arrived(part, 2.001 * goal, 4.003 * goal) is None
    assert arrived(part, 2.001 * goal, 4.001 * goal) is False
    assert arrived(part, 0.25, 0.5) is None


@pytest.mark.parametrize(("part", "edge"), [(0, 0.2), (1, 3 * 0.1**0.5), (2, 0.2)])
def test_what_the_losses_cannot_tell_apart_yet_decides_nothing(part, edge):
    assert arrived(part, 0.999 * edge, edge, plateau=0.1) is None
    assert arrived(part, 1.001 * edge, edge, plateau=0.1) is False


def test_the_plateau_is_measured(monkeypatch):
    """log(2n) over the smallest margin at the end, n = 2."""
    seen = []
    monkeypatch.setattr(flow_limits, "arrivals", lambda *given: seen.append(given) or {})
    theorem_6_2_direction([toy_path()])
    ((last, before, plateau),) = seen
    course = toy_path().courses()[0]
    np.testing.assert_allclose(plateau, np.log(4) / course.margins[-1].min())
    errors = flow_limits.direction_errors(course, course.perfect_solution)
    np.testing.assert_allclose([last[0, 0], before[0, 0]], [errors[-1], errors[READINGS.index(100)]])
    theorem_6_2_direction([altered(toy_path(), weights=-toy_path().weights)])
    assert np.isinf(seen[1][2]).all()


test_every_part_has_a_control = every_part_of(flow_limits)
