"""Inner products of clustered points, both coordinates, and two angles."""

import functools
import math

import numpy as np
import pytest

from tests.control_table import at, controls
from tests.papers.chatterji2021.cluster_toys import with_entry
from tests.papers.records import altered
from widenet.claims.base import NotApplicable, Verdict
from widenet.claims.user_data import UserData
from widenet.data import from_arrays
from widenet.papers.chatterji2021 import cluster_formulas as f
from widenet.papers.chatterji2021.claims import geometry
from widenet.papers.chatterji2021.claims.geometry import appendix_c, appendix_d_4, appendix_d_5, lemma_21
from widenet.papers.chatterji2021.runs import cluster_pairs
from widenet.papers.chatterji2021.runs.cluster_pairs import (
    Radii,
    Shapes,
    draw_angles,
    draw_products,
    draw_radii,
    draw_reduced,
    ends,
    products_of_clusters,
    reduced_clusters,
    scattered,
    shrunk,
    stretched,
)
from widenet.records import Scale


@functools.cache
def products():
    return draw_products(Scale.QUICK, 0)


@functools.cache
def reduced():
    return draw_reduced(Scale.QUICK, 0)


def test_all_pairs_and_both_attained():
    evidence = lemma_21(products())
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.parts[1].tightness == pytest.approx(1, abs=1e-12)
    assert evidence.parts[0].tightness == pytest.approx(2.911799849 / 2.998, rel=1e-6)
    assert stretched(0.999).opposite.max() == pytest.approx(1 + math.sqrt(2) * 0.999 + 0.999**2 / 2)
    assert shrunk(0.01).same.min() == pytest.approx(1 - math.sqrt(2) * 0.01 + 0.01**2 / 2)
    assert ends(0.05).same.min() == pytest.approx(1 - 0.05**2 + 0.05**4 / 4)


def beside(pairs):
    """Beside one pair of unit vectors, so that every part is decided; these pairs come last."""
    return [ends(0.05), stretched(0.1), pairs]


def with_bound(pairs, place, value):
    """These pairs with another bound: (1 + Δ)/2 + 2r, (1 + Δ)/2 + √2 r + r²/2, 1 − 2r, 1 − √2 r − r²/2."""
    return at(beside(pairs), bounds=with_entry(place, value))


def test_the_bounds_of_the_lemma():
    np.testing.assert_allclose(stretched(0.1).bounds, f.cluster_product_bounds(1.0, 0.1))


def test_vectors_of_other_lengths_are_not_asked_for_the_sharp_form():
    assert shrunk(0.01).same.min() < 1 - 0.01**2
    assert lemma_21(products()).parts[4].n_cases < lemma_21(products()).parts[3].n_cases


def test_a_point_outside_its_radius_is_noticed():
    moved = scattered(5, 0.3, 0.0, 0)
    assert products_of_clusters(moved).distance == pytest.approx(1)
    shape = altered(moved.shape, radius=0.29)
    assert [h.key for h in lemma_21(products_of_clusters(altered(moved, shape=shape))).hypotheses if not h.met] == [
        "from_centre"
    ]
    longer = altered(moved, shape=altered(moved.shape, centres=with_entry(2, lambda centre: 1.1 * centre)))
    assert products_of_clusters(longer).centre_error > 1e-3
    assert reduced_clusters(longer, 0).centre_error == pytest.approx(0.1)
    narrow = scattered(3, 0.05, 0.0, 0)
    assert products_of_clusters(altered(narrow, shape=altered(narrow.shape, radius=0.04))).distance == pytest.approx(
        1.25
    )
    still = altered(narrow, points=narrow.shape.centres[narrow.clusters], shape=altered(narrow.shape, radius=0.0))
    assert products_of_clusters(still).distance == 1


def test_two_clusters_of_each_label():
    drawn = scattered(3, 0.3, 0.0, 0)
    assert [set(drawn.labels[drawn.clusters == cluster]) for cluster in range(4)] == [{1.0}, {1.0}, {-1.0}, {-1.0}]


def of_deviation(excess):
    """Entries whose deviation is √2 σ and so much of σ."""
    return {"entries": lambda _: (math.sqrt(2) + excess) * reduced().deviation * np.repeat([1.0, -1.0], 10)}


def test_the_unscaled_start_is_noticed():
    assert appendix_c(altered(reduced(), entries=lambda e: e / math.sqrt(2))).parts[0].kept is False
    assert appendix_c(altered(reduced(), entries=lambda e: 0.99 * e)).parts[0].kept is False


def test_values_of_the_first_angle():
    """Pinned; r in place of √r fails at 1/4."""
    for radius, left, right in ((0.07, 0.170463428383, 0.264575131106), (0.1, 0.204832764699, 0.316227766017)):
        part = appendix_d_4(Radii(np.array([radius]))).parts[0]
        assert (part.measured, part.promised) == (pytest.approx(left), pytest.approx(right))
    assert appendix_d_4(Radii(np.array([0.25]))).measured == pytest.approx(1 / 3)


def shapes(*cases):
    """Pairs of Δ and r."""
    return Shapes(*np.array(cases).T)


def slack_at_zero(less):
    """Slopes so large that the constant decides nowhere else."""
    return {"constant": 1 / 3 - less, "of_overlap": 200.0, "of_radius": 200.0}


def test_values_of_the_second_angle():
    for case, left, right in (
        ((0.13, 0.07), 0.37452651125, 0.435833333333),
        ((0.4, 0.1), 0.428216853436, 0.533333333333),
    ):
        part = appendix_d_5(shapes((0.0, 0.0), (0.1, 0.0), case)).parts[2]
        assert (part.measured, part.promised) == (pytest.approx(left), pytest.approx(right))


def test_beyond_its_range_the_angle_is_zero():
    """(1 + Δ)/2 + 2r ≥ 1: the left side is 1/2."""
    assert appendix_d_5(shapes((0.0, 0.0), (0.1, 0.0), (1.0, 0.5))).parts[2].measured == 0.5


def test_which_part_a_case_belongs_to():
    for case, cases in (((0.0, 0.0), [1, 0, 0]), ((0.05, 0.0), [0, 1, 0]), ((0.0, 0.05), [0, 0, 1])):
        assert [part.n_cases for part in appendix_d_5(shapes(case)).parts] == cases


@pytest.mark.parametrize(("excess", "kept"), [(5e-13, True), (5e-12, False)])
def test_the_room_of_each_bound_of_lemma_21(excess, kept):
    """One pair at each of its bounds, Δ = 0.2 and r = 0.3, and a little beyond it."""
    drawn = products_of_clusters(scattered(3, 0.3, 0.2, 0))
    spread = math.sqrt(2) * 0.3 + 0.3**2 / 2
    for part, name, bound in (
        (0, "opposite", 0.6 + 0.6 + excess),
        (1, "opposite", 0.6 + spread + excess),
        (2, "same", 1 - 0.6 - excess),
        (3, "same", 1 - spread - excess),
        (4, "same", 1 - 0.09 - excess),
    ):
        assert lemma_21(altered(drawn, **{name: with_entry(0, bound)})).parts[part].kept is kept


def test_one_point_outside_is_enough():
    drawn = scattered(3, 0.3, 0.0, 0)
    far = altered(drawn, points=with_entry(5, -drawn.shape.centres[1]))
    assert products_of_clusters(far).distance == pytest.approx(2 / 0.3)


def test_the_identity_of_the_first_angle():
    radii = np.linspace(0.01, 0.99, 99)
    np.testing.assert_allclose(2 * np.arcsin(np.sqrt(radii)), np.arccos(1 - 2 * radii))
    assert appendix_d_4(Radii(np.array([0.6]))).measured == pytest.approx(np.arccos(-0.2) / np.pi)


def test_data_of_a_reader():
    angles = np.radians([-45, -40, 130, 135, 40, 45, 220, 225])
    data = from_arrays(np.stack([np.cos(angles), np.sin(angles)], axis=1), np.repeat([1.0, -1.0], 4))
    assert lemma_21(lemma_21.on(UserData(data))).verdict is Verdict.HOLDS
    assert appendix_c(appendix_c.on(UserData(data))).verdict is Verdict.HOLDS
    cross = from_arrays(np.array([(1.0, 0), (-1, 0), (0, 1), (0, -1)]), np.array([1.0, 1, -1, -1]))
    assert lemma_21(lemma_21.on(UserData(cross))).verdict is Verdict.HOLDS
    long = from_arrays(2 * np.asarray(cross.inputs), cross.labels)
    assert isinstance(lemma_21.on(UserData(long)), NotApplicable)
    assert isinstance(appendix_c.on(UserData(long)), NotApplicable)


def test_a_cluster_whose_mean_is_zero_gets_a_silence():
    square = np.array([(1.0, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, 1)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster_pairs, "find_clusters", lambda *_: np.array([0, 0, 1, 1, 2, 3]))
        said = lemma_21.on(UserData(from_arrays(square, np.array([1.0, 1, 1, 1, -1, -1]))))
    assert isinstance(said, NotApplicable)
    assert "mean of a cluster is 0" in said


ALL = draw_angles(Scale.QUICK, 0)
FAR, NEAR = stretched(0.999), shrunk(0.01)
LOWEST = ends(0.05).same < 0.9976
SHIFT = with_entry(3, lambda value: value + 5e-13), with_entry(3, lambda value: value + 5e-12)
BACK = with_entry(3, lambda value: value - 5e-13), with_entry(3, lambda value: value - 5e-12)
ANGLES = shapes((0.0, 0.0), (0.1, 0.0), (0.1, 0.1), (0.2, 0.2))


def highest(excess):
    return FAR.opposite.max() - excess


def lowest(excess):
    return NEAR.same.min() + excess


test_control = controls(
    geometry,
    {lemma_21: lambda: products()[::-1], appendix_c: reduced, Radii: draw_radii(Scale.QUICK, 0), Shapes: ANGLES},
    (lemma_21, "opposite", with_bound(FAR, 0, highest(5e-13)), with_bound(FAR, 0, highest(5e-12))),
    (lemma_21, "opposite_sharp", with_bound(FAR, 1, highest(5e-13)), with_bound(FAR, 1, highest(5e-12))),
    (lemma_21, "same", with_bound(NEAR, 2, lowest(5e-13)), with_bound(NEAR, 2, lowest(5e-12))),
    (lemma_21, "same_sharp", with_bound(NEAR, 3, lowest(5e-13)), with_bound(NEAR, 3, lowest(5e-12))),
    (
        lemma_21,
        "unit",
        at([stretched(0.3), ends(0.05)]),
        at([stretched(0.3), ends(0.05)], same=lambda same: same - 1e-5 * LOWEST),
    ),
    (
        lemma_21,
        "unit",
        at([stretched(0.3), ends(0.05)], same=np.full(4, 1 - 0.05**2 - 5e-13)),
        at([stretched(0.3), ends(0.05)], same=np.full(4, 1 - 0.05**2 - 5e-12)),
    ),
    (appendix_c, "deviation", of_deviation(0.0095), of_deviation(0.0105)),
    (appendix_c, "deviation", of_deviation(-0.0095), of_deviation(-0.0105)),
    *((appendix_c, "distances", *({"reduced_distances": each} for each in pair)) for pair in (SHIFT, BACK)),
    *((appendix_c, "products", *({"reduced_between": each} for each in pair)) for pair in (SHIFT, BACK)),
    # At r = 1 both sides are 1.
    (appendix_d_4, "angle", {"share": 1 - 5e-13}, {"share": 1 - 5e-12}),
    (appendix_d_5, "at_zero", at(ALL, **slack_at_zero(5e-13)), at(ALL, **slack_at_zero(5e-12))),
    (appendix_d_5, "along", at(ALL), at(ALL, of_overlap=0.09), "across"),
    (appendix_d_5, "across", at(ALL), at(ALL, of_radius=0.36)),
)
