"""Part 4 of Lemma 15: true for pairs and in few dimensions, false as printed."""

import math

import numpy as np
import pytest

from tests.control_table import at, controls, spared
from tests.papers.chatterji2021.cluster_toys import clusters, columns, expects, with_entry
from tests.papers.records import altered
from widenet.claims.base import NotApplicable, Verdict
from widenet.claims.user_data import UserData
from widenet.data import from_arrays
from widenet.papers.chatterji2021 import cluster_formulas as f
from widenet.papers.chatterji2021.claims import whole_clusters
from widenet.papers.chatterji2021.claims.starts import RandomStarts
from widenet.papers.chatterji2021.claims.whole_clusters import (
    lemma_15_4,
    lemma_15_4_as_printed,
    lemma_15_4_few_dimensions,
)
from widenet.papers.chatterji2021.runs.start_laws import Cap, CrossedClusters, crossed, draw_caps, draw_crossed
from widenet.records import Scale

P, N = 2000, 8


def judge(**fields):
    return lemma_15_4([altered(clusters(), **fields)])


def pairs(beyond, place=(0, 1)):
    """The count of a pair of one cluster at the last whole number inside its bound, or one below, in two runs."""

    def change(counts):
        cell = clusters()
        chance = f.both_captured(cell.level, cell.deviation, cell.products[place][None])
        bound = P * (float(chance[0]) - f.tight_slack(P, 2 * N**2))
        return with_entry((slice(0, 2), *place), math.ceil(bound) - beyond)(counts)

    return change


@pytest.mark.parametrize(("factor", "kept"), [(1 - 1e-9, True), (1 + 1e-9, False)])
def test_the_chance_of_the_pair_that_is_farthest_apart(factor, kept):
    turned = altered(clusters(), products=with_entry((0, 1), 0.5))
    chance = f.both_captured(turned.level, turned.deviation, np.array([0.5]))[0]
    assert lemma_15_4([columns(turned).replace(pair_share=factor * chance)]).parts[2].kept is kept


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
    assert isinstance(lemma_15_4.on(UserData(from_arrays(corners, labels))), NotApplicable)
    assert len(lemma_15_4.on(UserData(from_arrays(corners / np.sqrt(2), labels))).settings) == 2


def test_a_share_below_zero_says_nothing():
    """(1 − √r)/2 − 2a/(σ√(2π)) just above and just below 0."""
    wide = altered(clusters(), deviation=lambda s: 10 * s)
    edge = (1 - 4 * f.capture_loss(wide.level, wide.deviation)) ** 2
    for radius, vacuous in ((edge - 1e-9, False), (edge + 1e-9, True)):
        assert judge(radius=radius, deviation=wide.deviation).parts[2].vacuous is vacuous


def test_the_bound_of_pairs():
    cell = columns(clusters())
    bounds = P * (f.both_captured(cell.level, cell.deviation, cell.products) - f.tight_slack(P, 2 * N**2))
    found = whole_clusters.together(cell, cell.helpful_together, "")
    expects(found, found.sides.promised, 0, 0.005)  # pyright: ignore[reportOptionalMemberAccess]
    lowest = np.where(cell.same_cluster, cell.helpful_pairs - bounds, np.inf).min(axis=(1, 2))
    np.testing.assert_allclose(found.sides.measured - found.sides.promised, lowest)  # pyright: ignore[reportOptionalMemberAccess]


def test_as_printed_it_fails_for_every_radius():
    evidence = lemma_15_4_as_printed(draw_crossed(Scale.QUICK, 0))
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.parts[0].broken == evidence.parts[0].n_cases == 5


def test_control_ten_points_are_captured_together():
    spared(lemma_15_4_as_printed, at(crossed((0.5, math.log(5)))))


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


CAPS = draw_caps(Scale.QUICK, 0)[::-1]  # the tighter one comes last


def test_columns_of_a_cap():
    """1/2 − (r/√2)√(d/(2π)), (1 − √r)/2 and dr."""
    each = CAPS[0]
    bound = 0.5 - 0.5 / math.sqrt(2) * math.sqrt(6 / (2 * math.pi))
    assert (each.bound, each.claimed, each.spread) == pytest.approx((bound, (1 - math.sqrt(0.5)) / 2, 3.0))


def test_shares_of_the_caps():
    np.testing.assert_allclose([each.captured.mean() for each in CAPS], (0.2250, 0.4774), atol=0.008)


def missing(captured):
    """A tenth of the units that captured the cap miss a point of it."""
    return captured & (np.arange(len(captured)) % 10 > 0)


def one_pair(value):
    return {"radius": 0.02, "products": with_entry((0, 1), value)}


def shares(beyond):
    """The share that a pair must have, at what it has and so much beyond it."""
    return {"pair_share": columns(clusters()).pair_chance + beyond}


test_control = controls(
    whole_clusters,
    {RandomStarts: clusters, CrossedClusters: crossed((0.5, math.log(5))), Cap: CAPS},
    (lemma_15_4_as_printed, "share"),
    (lemma_15_4, "helpful", {"helpful_pairs": pairs(0)}, {"helpful_pairs": pairs(1)}),
    (lemma_15_4, "harmful", {"harmful_pairs": pairs(0)}, {"harmful_pairs": pairs(1)}),
    (lemma_15_4, "chance", shares(0.0), shares(1e-12)),
    (lemma_15_4, "one_cluster", one_pair(0.96), one_pair(0.96 - 1e-11)),
    (lemma_15_4_few_dimensions, "captures", {}, {"captured": missing}),
    (lemma_15_4_few_dimensions, "promise", {"bound": CAPS[1].claimed}, {"bound": CAPS[1].claimed - 1e-12}),
)
