"""Separability, measured: the balls of Figure 3, angles across classes, a reader's classes."""

import functools

import jax.numpy as jnp
import numpy as np
import pytest

from tests.control_table import at, controls
from tests.papers.li2018.toys import sample, separated_rows
from tests.papers.records import altered
from widenet.claims.base import NotApplicable, Verdict
from widenet.claims.user_data import UserData
from widenet.data import from_arrays
from widenet.data.components import xor_balls
from widenet.diagnostics.components import Structure
from widenet.papers.li2018.claims import structure
from widenet.papers.li2018.claims.structure import (
    assumption_a1,
    assumption_a1_balls,
    cross_class_sine,
    cross_class_sine_as_printed,
    remark_without_relu,
)
from widenet.papers.li2018.formulas import widest_component
from widenet.papers.li2018.hypotheses import DATA_AS_PRINTED, relative_diameter_as_printed
from widenet.papers.li2018.runs.point_structure import (
    Assumed,
    Cancelled,
    CrossPairs,
    XorBalls,
    draw_bad_pairs,
    draw_balls,
    draw_cancelled,
    measure_assumed,
    measure_balls,
    measure_pairs,
    pair_at,
    with_extremes,
)
from widenet.papers.li2018.sources import HEXAGON, TOY, Caps
from widenet.records import Form, Scale
from widenet.types import Dataset


@functools.cache
def figure_3():
    return draw_balls(Scale.QUICK, 0)


def test_figure_3_has_the_values_computed_apart():
    found = assumption_a1_balls(figure_3())
    assert found.details["λ with l = 2"] == pytest.approx(0.05263157894737, rel=1e-12)
    assert found.details["λ with l = 1"] == pytest.approx(1.541277434077, rel=1e-12)


@pytest.mark.parametrize(("diameter", "kept"), [(0.1176, True), (0.1177, False)])
def test_the_largest_balls_that_meet_the_assumption(diameter, kept):
    """2/17 = 0.11765."""
    drawn = with_extremes(*xor_balls(np.random.default_rng(0), 5, diameter), diameter=diameter)
    assert assumption_a1_balls(measure_balls(*drawn)).parts[2].kept is kept


def test_a_line_is_found_where_there_is_one():
    points, _, components = xor_balls(np.random.default_rng(0), 20)
    assert measure_balls(points, (components % 2).astype(int), components).separable
    assert not figure_3().separable


@functools.cache
def edge():
    return measure_pairs([pair_at(0.9)])


def test_the_bound_is_attained_at_the_edge():
    assert cross_class_sine(edge()).parts[1].tightness == pytest.approx(1, abs=1e-12)
    assert edge().sines[0] == pytest.approx(0.645975)
    assert measure_pairs([pair_at(1.3)]).sines[0] == pytest.approx(0.975975)


def test_the_printed_sine_fails_twice():
    assert cross_class_sine_as_printed(measure_pairs([HEXAGON.draw(0)])).verdict is Verdict.VIOLATED
    assert cross_class_sine_as_printed(edge()).verdict is Verdict.VIOLATED


def test_its_limit_is_a_sixteenth_for_two_components():
    assert (widest_component(2), widest_component(3)) == (0.0625, pytest.approx(0.04166666666667))


@functools.cache
def cancelled():
    return draw_cancelled(Scale.QUICK, 0)


class TestOwnData:
    def own(self, **changes):
        caps = Caps(**{"n_classes": 3, "per_class": 2, "dim": 6, "n_points": 60, "relative_diameter": 0.04} | changes)
        drawn = caps.draw(1)
        return UserData(from_arrays(5 * drawn.points, drawn.classes))

    def test_three_classes_of_two_components_are_found(self):
        found = assumption_a1(assumption_a1.on(self.own()).settings)
        assert found.verdict is Verdict.HOLDS
        assert (found.details["classes"], found.details["components per class"]) == (3, 2)
        assert found.details["δ"] > 0.86
        assert 0 < found.details["λ"] <= 1 / 16
        assert cross_class_sine(cross_class_sine.on(self.own()).settings).details["components per class"] == 2

    def test_scattered_points_are_components_of_their_own(self):
        drawn = np.random.default_rng(0).normal(size=(30, 4))
        found = assumption_a1(assumption_a1.on(UserData(from_arrays(drawn, np.arange(30) % 3))).settings)
        assert found.details["components"] == 30
        assert found.details["λ"] == 0
        assert found.verdict is Verdict.HOLDS

    def test_two_classes_are_classes_too(self):
        found = assumption_a1(assumption_a1.on(UserData(from_arrays([[0.6, 0.8], [-0.5, 0.1]], [1, -1]))).settings)
        assert found.details["classes"] == 2

    def test_what_is_missing_is_named(self):
        one = Dataset(jnp.ones((3, 2)), jnp.ones(3))
        assert "has one" in assumption_a1.on(UserData(one))
        many = Dataset(jnp.ones((5001, 2)), jnp.arange(5001.0) % 3)
        assert "at most 5000 points" in assumption_a1.on(UserData(many))
        assert "at most 1000 points" in cross_class_sine.on(UserData(many))
        regression = Dataset(jnp.ones((200, 2)), jnp.arange(200.0))
        assert "200 different labels" in assumption_a1.on(UserData(regression))
        assert isinstance(assumption_a1.on(UserData(Dataset(1e200 * jnp.eye(2), jnp.arange(2.0)))), NotApplicable)


def test_structure_knows_its_distance():
    found = Structure(1.0, 0.5, 0.1, 2, 3, 6)
    assert (found.distance, found.relative_diameter, found.widest_allowed) == (0.5, 0.2, 1 / 24)


def test_the_printed_bound_is_the_square():
    found = cross_class_sine_as_printed(edge())
    assert (found.measured, found.promised) == (pytest.approx(0.645975), pytest.approx(0.81))


def test_all_pairs_and_the_worst_norm_are_seen():
    toy = TOY.draw(0)
    assert len(measure_pairs([toy]).sines) == 12
    long = sample(1.5 * toy.points, toy.classes)
    assert measure_pairs([long, toy]).norm_error == measure_pairs([toy, long]).norm_error == pytest.approx(0.5)
    np.testing.assert_array_equal(pair_at(0.9).shares, [0.5, 0.5])


def test_sines_off_by_a_little():
    for excess, kept in ((5e-13, True), (5e-12, False)):
        assert cross_class_sine(altered(edge(), sines=lambda s, e=excess: s - e)).parts[1].kept is kept


def test_the_rims_of_the_balls():
    points, classes, components = with_extremes(np.zeros((0, 2)), np.zeros(0, int), np.zeros(0, int), diameter=0.2)
    centres = np.array([[0, 0], [2, 2], [0, 2], [2, 0]])
    np.testing.assert_array_equal(components, np.repeat(np.arange(4), 8))
    np.testing.assert_array_equal(classes, np.repeat([0, 0, 1, 1], 8))
    np.testing.assert_allclose(np.linalg.norm(points - centres[components], axis=1), 0.1)
    for centre in centres:
        for way in ([1, 0], [-1, 0], [0, 1], [0, -1], [0.5**0.5, 0.5**0.5], [-(0.5**0.5), -(0.5**0.5)]):
            assert np.linalg.norm(points - (centre + 0.1 * np.array(way)), axis=1).min() < 1e-12


def test_the_pair_is_two_unit_vectors_at_a_distance():
    pair = pair_at(1.2)
    np.testing.assert_allclose(pair.points[0], [1, 0])
    assert np.linalg.norm(pair.points[0] - pair.points[1]) == pytest.approx(1.2)
    assert np.linalg.norm(pair.points[1]) == pytest.approx(1)
    np.testing.assert_array_equal(pair.classes, [0, 1])
    np.testing.assert_array_equal(pair.components, [0, 1])


def test_pairs_are_those_across_classes():
    points = sample([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]], [0, 0, 1])
    found = measure_pairs([points])
    np.testing.assert_allclose(found.sines, [1.0, 1 - 0.64])
    np.testing.assert_allclose(found.squares, [2.0, 0.4])
    np.testing.assert_allclose(found.opposite_squares, [2.0, 3.6])
    np.testing.assert_allclose(found.distances, 0.4**0.5)
    np.testing.assert_allclose(found.separations, 0.4**0.5)


def test_rooms_of_the_sine():
    one = edge()
    for sign in (1, -1):
        for miss, kept in ((5e-13, True), (5e-12, False)):
            moved = altered(one, sines=one.squares * one.opposite_squares / 4 + sign * miss)
            assert cross_class_sine(moved).parts[0].kept is kept
        for miss, kept in ((5e-11, True), (5e-10, False)):
            moved = altered(one, sines=one.squares * (4 - one.squares) / 4 + sign * miss)
            assert cross_class_sine(moved).parts[2].kept is kept
    for miss, kept in ((5e-13, True), (5e-12, False)):
        at = altered(one, sines=one.separations**2 - miss)
        assert cross_class_sine_as_printed(at).conclusion is kept
    assert cross_class_sine_as_printed(altered(one, norm_error=0.01)).verdict is Verdict.HYPOTHESES_NOT_MET


def test_the_hexagon_meets_the_printed_assumption_and_is_obstructed():
    """So the statement is no longer the paper's: it needs (A1'), which its title names."""
    hexagon = measure_assumed(HEXAGON.draw(0))
    found = assumption_a1(hexagon)
    assert next(h.key for h in found.hypotheses if not h.met) == "opposite_distance"
    printed = [each.measured(each(Assumed.join([hexagon]))) for each in DATA_AS_PRINTED]
    assert [h.met for h in printed] == [True] * 3
    assert not found.part("no_obstruction").kept
    assert assumption_a1.form is Form.REPAIR
    assert "(A1')" in assumption_a1.title


def test_rooms_of_the_assumption_and_of_units():
    right = sample([[1.0, 0.0], [0.0, 1.0]], [0, 1])
    for miss, kept in ((5e-13, True), (5e-12, False)):
        assert assumption_a1(measure_assumed(right), widest=2**0.5 - miss).parts[0].kept is kept
        for sign in (1, -1):
            gated = cancelled().gated + sign * miss
            assert remark_without_relu(altered(cancelled(), gated=gated)).parts[1].kept is kept
        assert remark_without_relu(altered(cancelled(), linear=np.full(2000, miss))).parts[0].kept is kept
    for norm in (0.95, 1.05):
        assert remark_without_relu(altered(cancelled(), gated=np.full(2000, norm))).parts[1].kept is False


def test_components_that_are_a_little_too_wide_are_named():
    """Caps of λ = 0.1 stand apart and are too wide; of 0.04, they are not."""
    own = TestOwnData().own(relative_diameter=0.1, n_points=200)
    found = assumption_a1(assumption_a1.on(own).settings)
    natural = assumption_a1.on(own).settings.natural
    assert (natural.n_components, natural.per_class) == (6, 2)
    assert 1 / 16 < natural.relative_diameter <= 0.1
    assert "6 components stand apart, 2 in a class at most" in found.note
    assert f"by {natural.relative_diameter - 0.0625:.2g}" in found.note
    assert found.details["λ"] == 0
    assert assumption_a1(assumption_a1.on(TestOwnData().own()).settings).note == ""


def test_limits_of_the_assumption():
    """δ however small, if it is no rounding; mirror images do not count in print."""
    far = toy()
    tiny = altered(far, separation=1e-6, opposite_separation=2e-6)
    found = assumption_a1(tiny).hypotheses
    assert [h.met for h in found] == [True] * 4
    assert [h.slack for h in found][1:3] == pytest.approx([1e-6, 2e-6])
    assert found[1].why == "k = 3 classes, l = 2 components in one at most"
    blurred = assumption_a1(altered(far, separation=4e-15)).hypotheses[1]
    assert (blurred.met, blurred.actual) == (None, 4e-15)
    assert "may be rounding" in blurred.why
    near = altered(far, separation=1.0, opposite_separation=0.1, relative_diameter=0.5)
    printed = relative_diameter_as_printed(Assumed.join([near]))
    assert printed.measured.tolist() == pytest.approx([0.05])
    touching = altered(near, opposite_separation=0.0, relative_diameter=np.inf)
    assert relative_diameter_as_printed(Assumed.join([touching])).measured.tolist() == [0]


def toy():
    return measure_assumed(TOY.draw(0))


RIGHT_ANGLE = measure_assumed(sample([[1.0, 0.0], [0.0, 1.0]], [0, 1]))
ORTHOGONAL = CrossPairs(np.ones(1), np.full(1, 2.0), np.full(1, 2.0), np.ones(1), np.full(1, 0.9), 0.0)
"""Orthogonal points of smaller separation."""
MORE, LESS = (
    {"squares": lambda u, factor=factor: factor * u, "opposite_squares": lambda u, factor=factor: u / factor}
    for factor in (1 + 1e-9, 1 - 1e-9)
)
test_control = controls(
    structure,
    {XorBalls: figure_3, CrossPairs: edge, Assumed: toy, Cancelled: cancelled, cross_class_sine_as_printed: ORTHOGONAL},
    (assumption_a1_balls, "distance"),
    (assumption_a1_balls, "diameter"),
    (remark_without_relu, "linear"),
    (remark_without_relu, "gated"),
    (assumption_a1_balls, "two_components", {}, {"per_class": 3}),
    (assumption_a1_balls, "one_component", {}, {"whole_diameter": 0.1}),
    (assumption_a1_balls, "one_component", {"one_component": 1.54}, {"one_component": 1.6}),
    (assumption_a1_balls, "no_line", {}, {"separable": True}),
    (cross_class_sine, "product", {}, {"quarter": 4 + 1e-10}),
    (cross_class_sine, "product", {}, {"quarter": 4 - 1e-10}),
    (cross_class_sine, "bound", {"share": 1 + 5e-13}, {"share": 1 + 5e-12}),
    (cross_class_sine, "one_distance", {}, MORE),
    (cross_class_sine, "one_distance", {}, LESS),
    (cross_class_sine_as_printed, "bound", {}, at(edge)),
    (cross_class_sine_as_printed, "bound", {}, at(draw_bad_pairs(Scale.QUICK, 0))),
    (assumption_a1, "distance_limit", at(RIGHT_ANGLE), at(RIGHT_ANGLE, widest=1.414)),
    (assumption_a1, "no_obstruction", {}, {"obstructed": True}),
    *separated_rows(assumption_a1),
)
