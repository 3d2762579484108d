"""Part 4 of Lemma 15: true for pairs and in few dimensions, false as printed."""

import math

import numpy as np
import pytest

from tests.controls import breaks_hypothesis, breaks_part, every_part_of, hypothesis_edges, part_edges, spares
from tests.papers.chatterji2021.cluster_toys import clusters, expects, with_entry
from tests.papers.records import altered
from widenet.claims.base import Silence, Verdict
from widenet.claims.specimen import Specimen
from widenet.data import from_arrays
from widenet.papers.chatterji2021 import cluster_formulas as f
from widenet.papers.chatterji2021.claims import whole_clusters
from widenet.papers.chatterji2021.claims.whole_clusters import (
    Caps,
    crossed,
    draw_caps,
    draw_crossed,
    lemma_15_4,
    lemma_15_4_as_printed,
    lemma_15_4_few_dimensions,
)
from widenet.records import Scale

P, N = 2000, 8


def judge(**fields):
    return lemma_15_4([altered(clusters(), **fields)])


def pairs(beyond, at=(0, 1)):
    """The count of a pair of one cluster at the last whole number inside its bound, or one below, in three runs."""

    def change(counts):
        cell = clusters()
        chance = f.both_captured(cell.level, cell.deviation, cell.products[at][None])
        bound = P * (float(chance[0]) - f.tight_slack(P, 2 * N**2))
        return with_entry((slice(0, 3), *at), math.ceil(bound) - beyond)(counts)

    return change


test_control_each_sign = part_edges(
    lemma_15_4,
    judge,
    {
        "units in I_+s and I_+q": ({"helpful_pairs": pairs(0)}, {"helpful_pairs": pairs(1)}),
        "units in I_−s and I_−q": ({"harmful_pairs": pairs(0)}, {"harmful_pairs": pairs(1)}),
    },
)


@breaks_part(lemma_15_4, "P[both captured] ≥ (1 − √r)/2 − 2a/(σ√(2π))")
def test_control_points_farther_apart_than_their_radius():
    """With r = 0 and a tenth of the loss, half of all units would have to capture both."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            whole_clusters, "pair_share", lambda r, a, s: f.same_cluster_share(r) - 0.2 * f.capture_loss(a, s)
        )
        broken = judge()
    return judge(), broken


test_control_each_hypothesis = hypothesis_edges(
    lemma_15_4,
    judge,
    unit_inputs=({"products": with_entry((0, 0), 1 + 5e-10)}, {"products": with_entry((0, 0), 1 + 5e-9)}),
    bandwidth=({"bandwidth": lambda h: h * (1 + 5e-13)}, {"bandwidth": lambda h: h * (1 + 5e-12)}),
    radius=({"radius": 1 + 5e-13}, {"radius": 1 + 5e-12}),
    one_cluster=(
        {"radius": 0.02, "products": with_entry((0, 1), 0.96)},
        {"radius": 0.02, "products": with_entry((0, 1), 0.96 - 1e-11)},
    ),
)


def test_the_largest_radius_of_all_cells_counts():
    keys = [[h.key for h in lemma_15_4(cells).hypotheses if not h.met] for cells in both_orders({"radius": 1.1})]
    assert keys == [["radius"], ["radius"]]


def both_orders(change):
    pair = [clusters(), altered(clusters(), **change)]
    return pair, pair[::-1]


@pytest.mark.parametrize(("factor", "kept"), [(1 - 1e-9, True), (1 + 1e-9, False)])
def test_the_chance_of_the_pair_that_is_farthest_apart(factor, kept):
    turned = altered(clusters(), products=with_entry((0, 1), 0.5))
    chance = f.both_captured(turned.level, turned.deviation, np.array([0.5]))[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(whole_clusters, "pair_share", lambda *_: factor * chance)
        assert lemma_15_4([turned]).parts[2].kept is kept


def test_pairs_of_two_clusters_do_not_count():
    assert judge(helpful_pairs=with_entry((slice(None), 0, 2), 0)).verdict is Verdict.HOLDS
    assert judge(helpful_pairs=with_entry((slice(None), 3, 2), 0)).verdict is Verdict.VIOLATED


def test_every_pair_has_its_own_bound():
    """Two points at an angle are captured together less often than one point twice."""
    cell = clusters()
    turned = altered(cell, products=with_entry((0, 1), 0.5))
    few = with_entry((slice(None), 0, 1), lambda counts: 0.8 * counts)
    assert lemma_15_4([altered(cell, helpful_pairs=few)]).verdict is Verdict.VIOLATED
    assert lemma_15_4([altered(turned, helpful_pairs=few, radius=0.3)]).verdict is Verdict.HOLDS


def test_it_speaks_about_data_on_the_sphere_only():
    corners = np.array([(1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0)])
    labels = np.array([1.0, 1.0, -1.0, -1.0])
    assert isinstance(lemma_15_4.on(Specimen(from_arrays(corners, labels))), Silence)
    assert len(lemma_15_4.on(Specimen(from_arrays(corners / np.sqrt(2), labels)))) == 2


def test_a_share_below_zero_says_nothing():
    """(1 − √r)/2 − 2a/(σ√(2π)) just above and just below 0."""
    wide = altered(clusters(), deviation=lambda s: 10 * s)
    edge = (1 - 4 * f.capture_loss(wide.level, wide.deviation)) ** 2
    for radius, vacuous in ((edge - 1e-9, False), (edge + 1e-9, True)):
        assert judge(radius=radius, deviation=wide.deviation).parts[2].vacuous is vacuous


def test_the_bound_of_pairs():
    cell = clusters()
    bounds = P * (f.both_captured(cell.level, cell.deviation, cell.products) - f.tight_slack(P, 2 * N**2))
    found = whole_clusters.together(cell, cell.helpful_pairs)
    expects(found, found.sides.promised, 0, 0.005)
    lowest = np.where(cell.same_cluster, cell.helpful_pairs - bounds, np.inf).min(axis=(1, 2))
    np.testing.assert_allclose(found.sides.measured - found.sides.promised, lowest)


def test_as_printed_it_fails_for_every_radius():
    evidence = lemma_15_4_as_printed(draw_crossed(Scale.QUICK, 0))
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.parts[0].broken == evidence.parts[0].cases == 5


@spares(lemma_15_4_as_printed)
def test_control_ten_points_are_captured_together():
    return lemma_15_4_as_printed(crossed(0.5, math.log(5)))


@breaks_hypothesis(lemma_15_4_as_printed, "radius")
def test_control_a_radius_of_one():
    small, large = crossed(0.99, math.log(5)), crossed(1.0, math.log(5))
    both = type(small)(*(np.append(getattr(small, name), getattr(large, name)) for name in small.__annotations__))
    return lemma_15_4_as_printed(small), lemma_15_4_as_printed(both)


def test_the_share_by_drawing_units_and_points():
    """Derived apart: real units (v, b) of R^(D+2) against the points themselves; 5 standard errors."""
    radius, many, units = 0.5, 500, 6000
    angle = 2 * math.asin(radius / 2)
    draw = np.random.default_rng(0)
    weights, bias = draw.standard_normal((units, many + 1)), draw.standard_normal(units)
    lowest = math.cos(angle) * weights[:, 0] - math.sin(angle) * np.abs(weights[:, 1:]).max(axis=1)
    share, exact = float((lowest + bias >= 0).mean()), f.whole_cluster_share(radius, math.log(many))
    error = math.sqrt(exact * (1 - exact) / units)
    assert abs(share - exact) < 5 * error
    assert share < f.same_cluster_share(radius) - 5 * error


@pytest.mark.parametrize(
    ("radius", "points"), [(0.7, 93), (0.6, 111), (0.5, 169), (0.4, 354), (0.3, 1.3e3), (0.2, 2.0e4), (0.1, 6.6e7)]
)
def test_from_how_many_points_on_it_fails(radius, points):
    """The critical D; two of them are known to two digits only."""
    room = 1 if points < 1000 else 0.05 * points
    before, after = (f.whole_cluster_share(radius, math.log(points + side * room)) for side in (-1, 1))
    assert after < f.same_cluster_share(radius) < before


CAPS = draw_caps(Scale.QUICK, 0)


def judge_caps(**fields):
    return lemma_15_4_few_dimensions(altered(CAPS, **fields))


@breaks_part(lemma_15_4_few_dimensions, "a unit captures the whole cap at least as often as promised")
def test_control_units_that_miss_more():
    missed = CAPS.captured & (np.arange(CAPS.captured.shape[1]) % 10 > 0)
    return judge_caps(), judge_caps(captured=missed)


@breaks_part(lemma_15_4_few_dimensions, "the promise is at least (1 − √r)/2")
def test_control_a_smaller_promise():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(whole_clusters, "whole_cap_share", lambda d, r: f.whole_cap_share(d, r) - 0.01)
        broken = judge_caps()
    return judge_caps(), broken


@breaks_hypothesis(lemma_15_4_few_dimensions, "few_dimensions")
def test_control_more_dimensions():
    more = CAPS.captured | (np.arange(CAPS.captured.shape[1]) < 20_000)
    inside, outside = (Caps((2, 6), (0.1, math.pi / 6 * factor), more) for factor in (1 - 1e-9, 1 + 1e-9))
    return lemma_15_4_few_dimensions(inside), lemma_15_4_few_dimensions(outside)


def test_shares_of_the_caps():
    np.testing.assert_allclose(CAPS.captured.mean(axis=1), (0.4774, 0.2250), atol=0.008)


test_every_part_has_a_control = every_part_of(whole_clusters)
