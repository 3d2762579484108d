"""Separability, measured: the balls of Figure 3, angles across classes, a reader's classes."""

import dataclasses
import functools

import jax.numpy as jnp
import numpy as np
import pytest

from tests.controls import breaks_hypothesis, breaks_part, every_part_of, part_edges, spares
from tests.papers.li2018.toys import sample
from tests.papers.records import altered
from widenet.claims.base import Silence, Verdict
from widenet.claims.specimen import Specimen
from widenet.data import from_arrays
from widenet.data.components import xor_balls
from widenet.diagnostics.components import Structure
from widenet.papers.li2018.claims import structure
from widenet.papers.li2018.claims.specimens import separated, separated_as_printed, structure_of
from widenet.papers.li2018.claims.structure import (
    Assumed,
    Pairs,
    assumption_a1,
    assumption_a1_balls,
    cross_class_sine,
    cross_class_sine_as_printed,
    draw_balls,
    draw_cancelled,
    draw_pairs,
    measure_balls,
    measure_pairs,
    pair_at,
    remark_without_relu,
    with_extremes,
)
from widenet.papers.li2018.formulas import widest_component
from widenet.papers.li2018.settings import HEXAGON, TOY, Caps
from widenet.records import Scale
from widenet.types import Dataset


@functools.cache
def figure_3():
    return draw_balls(Scale.QUICK, 0)


def balls(**changes):
    """Figure 3 with other numbers of its two readings; `separable` and the constants as they are."""
    apart = {name[6:]: changes.pop(name) for name in list(changes) if name.startswith("apart_")}
    fields = {"separable": changes.pop("separable")} if "separable" in changes else {}
    return assumption_a1_balls(altered(figure_3(), apart=altered(figure_3().apart, **apart), **fields), **changes)


test_control_each_part_of_figure_3 = part_edges(
    assumption_a1_balls,
    balls,
    {
        "distance 19/10 across classes": ({}, {"apart_separation": 1.8}),
        "diameters of 1/10": ({}, {"apart_diameter": 0.11}),
        "λ ≤ 1/(8l) with two components": ({}, {"apart_per_class": 3}),
        "λ > 1/8 with one component": ({"one_component": 1.54}, {"one_component": 1.6}),
        "no line separates the classes": ({}, {"separable": True}),
    },
)


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
def toy_pairs():
    return draw_pairs(Scale.QUICK, 0)


@functools.cache
def edge():
    return measure_pairs([pair_at(0.9)])


test_control_each_part_of_the_sine = part_edges(
    cross_class_sine,
    lambda fields=None, **constants: cross_class_sine(altered(edge(), **(fields or {})), **constants),
    {
        "1 − ⟨x, x'⟩² = ‖x − x'‖²·‖x + x'‖²/4": ({}, {"quarter": 3.96}),
        "at least δ²(1 − δ²/4)": ({}, {"share": 1.001}),
        "from one distance alone: u(4 − u)/4": (
            {},
            {"fields": {"squares": lambda u: 1.001 * u, "opposite_squares": lambda u: u / 1.001}},
        ),
    },
)


@breaks_hypothesis(cross_class_sine, "unit_norm")
def test_control_longer_points():
    return cross_class_sine(toy_pairs()), cross_class_sine(
        measure_pairs([sample(1.01 * TOY.draw(0).points, TOY.draw(0).classes)])
    )


def test_the_bound_is_attained_at_the_edge():
    assert cross_class_sine(edge()).parts[1].tightness == pytest.approx(1, abs=1e-12)
    assert edge().sines[0] == pytest.approx(0.645975)
    assert measure_pairs([pair_at(1.3)]).sines[0] == pytest.approx(0.975975)


def test_the_printed_sine_fails_twice():
    assert cross_class_sine_as_printed(measure_pairs([HEXAGON.draw(0)])).verdict is Verdict.VIOLATED
    assert cross_class_sine_as_printed(edge()).verdict is Verdict.VIOLATED


@spares(cross_class_sine_as_printed)
def test_orthogonal_points_of_smaller_separation_spare_it():
    pairs = Pairs(np.ones(1), np.full(1, 2.0), np.full(1, 2.0), np.ones(1), np.full(1, 0.9), 0.0)
    return cross_class_sine_as_printed(pairs)


def judged(points, **constants):
    return assumption_a1(Assumed(points), **constants)


@breaks_part(assumption_a1, "δ ≤ √2")
def test_control_a_smaller_limit():
    edge = sample([[1.0, 0.0], [0.0, 1.0]], [0, 1])
    return judged(edge), judged(edge, widest=1.414)


@breaks_part(assumption_a1, "no antipodal obstruction")
def test_control_a_hexagon_called_separated():
    """The hexagon has no distance to mirror images; with one claimed, the obstruction alone is seen."""
    found = judged(HEXAGON.draw(0))
    wrong = [each.model_copy(update={"met": True, "slack": 1.0}) for each in found.hypotheses]
    return found.model_copy(update={"hypotheses": tuple(wrong)})


@breaks_hypothesis(assumption_a1, "unit_norm")
def test_control_points_off_the_sphere():
    toy = TOY.draw(0)
    return judged(toy), judged(sample(1.01 * toy.points, toy.classes))


@breaks_hypothesis(assumption_a1, "distance")
def test_control_a_point_in_two_classes():
    return judged(sample([[1.0, 0.0], [1.0, 0.0]], [0, 1]))


@breaks_hypothesis(assumption_a1, "opposite_distance")
def test_control_a_point_and_its_mirror_image():
    return judged(sample([[1.0, 0.0], [-1.0, 0.0]], [0, 1]))


@breaks_hypothesis(assumption_a1, "relative_diameter")
def test_control_wider_components():
    inside = Caps(dim=8, relative_diameter=1 / 16, n_points=60).draw(0)
    outside = Caps(dim=8, relative_diameter=0.2, n_points=400).draw(0)
    return judged(inside), judged(outside)


def test_its_limit_is_a_sixteenth_for_two_components():
    assert (widest_component(2), widest_component(3)) == (0.0625, pytest.approx(0.04166666666667))


@functools.cache
def cancelled():
    return draw_cancelled(Scale.QUICK, 0)


test_control_each_kind_of_unit = part_edges(
    remark_without_relu,
    lambda **fields: remark_without_relu(altered(cancelled(), **fields)),
    {
        "0 with linear units": ({}, {"linear": lambda _: cancelled().gated}),
        "v with ReLU": ({}, {"gated": lambda norms: np.concatenate([norms[:-1], [0.0]])}),
    },
)


class TestOwnData:
    def own(self, **changes):
        caps = Caps(**{"n_classes": 3, "per_class": 2, "dim": 6, "n_points": 60, "relative_diameter": 0.04} | changes)
        drawn = caps.draw(1)
        return Specimen(from_arrays(5 * drawn.points, drawn.classes))

    def test_three_classes_of_two_components_are_found(self):
        found = assumption_a1(assumption_a1.on(self.own()))
        assert found.verdict is Verdict.HOLDS
        assert (found.details["classes"], found.details["components per class"]) == (3, 2)
        assert found.details["δ"] > 0.86
        assert 0 < found.details["λ"] <= 1 / 16
        assert cross_class_sine(cross_class_sine.on(self.own())).details["components per class"] == 2

    def test_scattered_points_are_components_of_their_own(self):
        drawn = np.random.default_rng(0).normal(size=(30, 4))
        found = assumption_a1(assumption_a1.on(Specimen(from_arrays(drawn, np.arange(30) % 3))))
        assert found.details["components"] == 30
        assert found.details["λ"] == 0
        assert found.verdict is Verdict.HOLDS

    def test_two_classes_are_classes_too(self):
        found = assumption_a1(assumption_a1.on(Specimen(from_arrays([[0.6, 0.8], [-0.5, 0.1]], [1, -1]))))
        assert found.details["classes"] == 2

    def test_what_is_missing_is_named(self):
        one = Dataset(jnp.ones((3, 2)), jnp.ones(3))
        assert "has one" in assumption_a1.on(Specimen(one))
        many = Dataset(jnp.ones((5001, 2)), jnp.arange(5001.0) % 3)
        assert "at most 5000 points" in assumption_a1.on(Specimen(many))
        assert "at most 1000 points" in cross_class_sine.on(Specimen(many))
        regression = Dataset(jnp.ones((200, 2)), jnp.arange(200.0))
        assert "200 different labels" in assumption_a1.on(Specimen(regression))
        assert isinstance(assumption_a1.on(Specimen(Dataset(1e200 * jnp.eye(2), jnp.arange(2.0)))), Silence)


def test_structure_knows_its_distance():
    found = Structure(1.0, 0.5, 0.1, 2, 3, 6)
    assert (found.distance, found.relative_diameter, found.widest_allowed) == (0.5, 0.2, 1 / 24)


def test_equalities_have_two_sides():
    for separation in (1.9 - 1e-11, 1.9 + 1e-11):
        assert balls(apart_separation=separation).parts[0].kept is False
    for diameter in (0.1 - 1e-11, 0.1 + 1e-11):
        assert balls(apart_diameter=diameter).parts[1].kept is False


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


def test_rooms_of_figure_3():
    for miss, kept in ((5e-13, True), (5e-12, False)):
        assert balls(apart_separation=1.9 + miss).parts[0].kept is kept
        assert balls(apart_diameter=0.1 + miss).parts[1].kept is kept
    together = figure_3().together
    exactly = together.diameter / together.separation
    assert balls(one_component=exactly).parts[3].kept is False


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


def test_rooms_of_the_assumption_and_of_units():
    right = sample([[1.0, 0.0], [0.0, 1.0]], [0, 1])
    for miss, kept in ((5e-13, True), (5e-12, False)):
        assert judged(right, widest=2**0.5 - miss).parts[0].kept is kept
        for sign in (1, -1):
            gated = cancelled().gated + sign * miss
            assert remark_without_relu(altered(cancelled(), gated=gated)).parts[1].kept is kept
        assert remark_without_relu(altered(cancelled(), linear=np.full(2000, miss))).parts[0].kept is kept
    for norm in (0.95, 1.05):
        assert remark_without_relu(altered(cancelled(), gated=np.full(2000, norm))).parts[1].kept is False


def test_the_assumption_is_asked_of_the_worst_data():
    good = Structure(1.0, 1.0, 0.05, 2, 2, 4)
    for key, bad in (
        ("distance", Structure(0.0, 1.0, 0.0, 2, 2, 4)),
        ("opposite_distance", Structure(1.0, 0.0, 0.0, 2, 2, 4)),
        ("relative_diameter", Structure(1.2, 1.2, 0.0751, 2, 2, 4)),
        ("relative_diameter", Structure(1.0, 1.0, 0.05, 2, 3, 6)),
    ):
        for both in ((good, bad), (bad, good)):
            assert key in [h.key for h in separated(*both) if not h.met]
    assert all(h.met for h in separated(good, good))


def test_limits_of_the_assumption():
    """λ ≤ 1/(8l) with l = 2, and δ however small."""
    for diameter, met in ((0.0625 + 5e-13, True), (0.0625 + 5e-12, False)):
        assert separated(Structure(1.0, 1.0, diameter, 2, 2, 4))[2].met is met
    tiny = Structure(1e-6, 2e-6, 0.0, 2, 2, 4)
    assert [h.met for h in separated(tiny)] == [True, True, True]
    assert [h.slack for h in separated(tiny)][:2] == pytest.approx([1e-6, 2e-6])


def test_mirror_images_do_not_count_in_print():
    found = separated_as_printed(Structure(1.0, 0.1, 0.05, 2, 2, 4))
    assert [(h.key, h.met) for h in found] == [("distance", True), ("relative_diameter", True)]
    assert found[1].actual == pytest.approx(0.05)
    assert separated(Structure(1.0, 0.1, 0.05, 2, 2, 4))[2].actual == pytest.approx(0.5)


@dataclasses.dataclass
class Cell:
    separation: float
    opposite_separation: float
    relative_diameter: float
    per_class: int = 2
    n_classes: int = 3


def test_what_a_cell_says_about_its_data():
    found = structure_of(Cell(0.8, 0.05, 0.04))
    assert (found.separation, found.opposite_separation) == (0.8, 0.05)
    assert found.diameter == pytest.approx(0.04 * 0.05)
    assert (found.n_classes, found.per_class, found.widest_allowed) == (3, 2, 1 / 16)
    touching = structure_of(Cell(0.8, 0.0, float("inf")))
    assert (touching.distance, touching.diameter) == (0, 0)


def test_components_that_are_a_little_too_wide_are_named():
    """Caps of λ = 0.1 stand apart and are too wide; of 0.04, they are not."""
    own = TestOwnData().own(relative_diameter=0.1, n_points=200)
    found = assumption_a1(assumption_a1.on(own))
    natural = assumption_a1.on(own).natural
    assert (natural.n_components, natural.per_class) == (6, 2)
    assert 1 / 16 < natural.relative_diameter <= 0.1
    assert "6 components stand apart, 2 in a class at most" in found.note
    assert f"by {natural.relative_diameter - 0.0625:.2g}" in found.note
    assert found.details["λ"] == 0
    assert assumption_a1(assumption_a1.on(TestOwnData().own())).note == ""


def test_limits_that_are_not_given():
    """1/8 for one component per class, and √2 for δ."""
    together = figure_3().together
    for ratio, kept in ((0.13, True), (0.12, False)):
        one = altered(figure_3(), together=altered(together, diameter=ratio * together.separation))
        assert assumption_a1_balls(one).parts[3].kept is kept
    assert judged(sample(1.02 * np.eye(2), [0, 1])).parts[0].kept is False


test_every_part_has_a_control = every_part_of(structure)
