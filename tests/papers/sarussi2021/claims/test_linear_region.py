"""Theorem 5.1: sharp networks, stored signs that are turned, and factors that are too small."""

import numpy as np
import pytest

from tests.control_table import at, controls
from tests.papers.records import altered
from tests.papers.sarussi2021.pairs import ALPHA, KAPPA, POINT, network, toy_pairs, turned, zero_pair
from widenet.claims.base import NotApplicable, Verdict
from widenet.claims.user_data import Choices, UserData
from widenet.data import from_arrays
from widenet.papers.sarussi2021.claims import linear_region
from widenet.papers.sarussi2021.claims.linear_region import (
    corollary_10_1,
    equation_6,
    lemma_10_1,
    lemma_10_1_as_printed,
    lemma_10_2,
    proposition_10_1,
    proposition_10_2,
    theorem_5_1,
    theorem_5_1_sharp,
)
from widenet.papers.sarussi2021.formulas import sharp_factor
from widenet.papers.sarussi2021.runs.clouds import Clouds, ask, run_clouds
from widenet.papers.sarussi2021.sources import kappa_network, turning_point
from widenet.progress import silent


def with_sharp(distance, half_width=2, *, swapped=False):
    """The toy pairs and one more, whose sign turns at κ."""
    return Clouds.joined([toy_pairs(), ask(kappa_network(ALPHA, distance, half_width, swapped=swapped), POINT)])


@pytest.mark.parametrize(
    "claim", [theorem_5_1, theorem_5_1_sharp, equation_6, corollary_10_1], ids=lambda claim: claim.name
)
def test_it_holds_on_toy_networks(claim):
    assert claim([toy_pairs()]).verdict is Verdict.HOLDS


def test_the_factor_two_at_the_edge_of_the_region():
    edge = ask(network([(1, 1), (1, -1)], [(-1.01, 0), (-1.01, 0)]), np.array([(1.0, 0.0), (1.0, 0.2)]))
    assert [theorem_5_1([edge], factor=f).parts[0].n_cases for f in (1.97, 2.0, 2.02)] == [2, 1, 0]
    assert theorem_5_1([edge]).details["in_the_region"] == 1
    assert equation_6([edge]).parts[0].n_cases == 1
    assert theorem_5_1([edge], factor=2.02).verdict is Verdict.INSUFFICIENT_EVIDENCE


@pytest.mark.parametrize(("rows", "points"), [(1e-3, 1.0), (1.0, 1e-3)])
def test_equation_6_is_asked_at_any_scale(rows, points):
    network_ = network(rows * np.array([(1, 1), (1, -1)]), rows * np.array([(-1.01, 0), (-1.01, 0)]))
    edge = ask(network_, points * np.array([(1.0, 0.0), (1.0, 0.2)]))
    assert [part.n_cases for part in equation_6([edge]).parts] == [1, 2]


@pytest.mark.parametrize("swapped", [False, True])
def test_control_the_radius_of_one_block_only(swapped):
    pairs = with_sharp(KAPPA - 1e-3, swapped=swapped)
    small = altered(pairs, plus_radius=np.zeros(len(pairs)), minus_radius=np.zeros(len(pairs)))
    assert theorem_5_1([small]).conclusion is False
    assert [h.key for h in theorem_5_1([small]).hypotheses if not h.met] == ["balls"]


def lowered(half_width):
    def factor(slope, k):
        return sharp_factor(slope, k) - (2e-3 if k == half_width else 0.0)

    return factor


@pytest.mark.parametrize("k", [2, 3, 7])
def test_the_sharp_networks_turn_at_kappa(k):
    kappa = float(sharp_factor(ALPHA, k))
    assert turning_point(ALPHA, k) == pytest.approx(kappa, rel=1e-12)
    below, above = (kappa_network(ALPHA, kappa * share, k).outputs(POINT)[0] for share in (0.999, 1.001))
    assert below < 0 < above


def test_the_odd_factor_is_too_small_for_even_widths():
    def odd(slope, k):
        return sharp_factor(slope, k + 1 - k % 2)

    assert theorem_5_1_sharp([with_sharp(KAPPA - 1e-3)], factor=odd).conclusion is False


def test_corollary_10_1_is_attained():
    edge = ask(network([(1, 1), (1, -1)], [(-1, 1), (-1, -1)]), POINT)
    assert corollary_10_1([edge]).tightness == 1


def test_a_tie_needs_no_radius():
    assert theorem_5_1_sharp([zero_pair()]).parts[2].n_cases == 0


def test_an_output_of_zero_beside_a_classifier_that_is_not_is_not_scored():
    blurred = zero_pair(plus_mean=1.0, scales=1.0)
    assert theorem_5_1([blurred]).parts[0].n_cases == 0
    assert theorem_5_1([zero_pair(scales=1.0)]).parts[0].n_cases == 1
    cancelled = zero_pair(plus_mean=1.0, minus_mean=1.0, outputs=1.0, scales=1.0)
    assert theorem_5_1([cancelled]).parts[0].n_cases == 0


@pytest.mark.parametrize(("share", "cases"), [(1 - 1e-9, 0), (1 + 1e-9, 1)])
def test_products_of_rows_across_the_point_are_rounding(share, cases):
    """Two rows of each sign, of length 1, and ‖x‖ = 1: w̄·x is off by some 1e-12 at most."""
    across = zero_pair(plus_mean=share * 2e-12, outputs=-1.0, scales=4.0)
    assert theorem_5_1([across]).parts[0].n_cases == cases
    assert equation_6([altered(across, differences=np.ones(1), norms=np.ones(1))]).parts[0].n_cases == cases


def test_what_rounding_is_measured_against():
    """‖x‖ = 5; rows of length 1 and 2 that vote plus, 13 and 0 that vote minus."""
    seen = ask(network([(0, 1), (2, 0)], [(5, -12), (0, 0)]), np.array([[4.0, 3.0]]))
    assert seen.scales == pytest.approx(5 * 16)


def test_it_speaks_about_a_readers_data():
    points = np.random.default_rng(0).normal(size=(12, 3)) + 0.1
    user_data = UserData(from_arrays(points, np.sign(points[:, 0])), Choices(n_neurons=4))
    cells = [run_clouds(setting, silent) for setting in theorem_5_1.on(user_data)]
    of_section_10 = (corollary_10_1, lemma_10_1, proposition_10_1, proposition_10_2, lemma_10_2)
    for claim in (theorem_5_1, equation_6, *of_section_10):
        assert claim.on(user_data) == theorem_5_1.on(user_data)
        assert claim(cells).verdict in (Verdict.HOLDS, Verdict.INSUFFICIENT_EVIDENCE), claim.id
    assert theorem_5_1(cells).verdict is Verdict.HOLDS
    # It is about widths of both kinds, and a reader has one.
    assert isinstance(theorem_5_1_sharp.on(user_data), NotApplicable)


def turned_in(claim, key, *others):
    """For either sign of (w̄ − ū)·x, one sign of N turned where this part is asked about it and the others are not."""
    asked = [claim.clauses[each](*claim.tables([toy_pairs()])).scored for each in (key, *others)]
    inside = asked[0] & ~np.any([np.zeros_like(asked[0]), *asked[1:]], axis=0)
    return [at(turned(toy_pairs(), inside & (side * toy_pairs().difference > 0))) for side in (1, -1)]


def even():
    return with_sharp(KAPPA - 1e-3)


def odd():
    return with_sharp(float(sharp_factor(ALPHA, 3)) - 1e-3, 3)


def short_means():
    """r = 1, w̄ = 0.96e₁, ū = −0.96e₁: 1.92 is above 1.9, and neither mean reaches 1."""
    return Clouds.joined([toy_pairs(), ask(network([(0.96, 1), (0.96, -1)], [(-0.96, 1), (-0.96, -1)]), POINT)])


def coinciding():
    return Clouds.joined([toy_pairs(), ask(network([(1, 0), (1, 0)], [(1, 0), (1, 0)]), POINT)])


SHARP = theorem_5_1_sharp
test_control = controls(
    linear_region,
    toy_pairs,
    *((theorem_5_1, "signs", {}, each) for each in turned_in(theorem_5_1, "signs")),
    (theorem_5_1, "signs", at(even), at(even, factor=KAPPA - 2e-3)),
    (SHARP, "even", at(even), at(even, factor=lowered(2)), "one_radius"),
    (SHARP, "odd", at(odd), at(odd, factor=lowered(3)), "one_radius"),
    (SHARP, "one_radius", at(even), at(even, swapped=True)),
    *((SHARP, "one_radius", {}, each) for each in turned_in(SHARP, "one_radius", "even", "odd")),
    (SHARP, "even_least", {"shares": (1 - 5e-13, 1.0)}, {"shares": (1 - 5e-12, 1.0)}),
    (SHARP, "even_least", {}, {"shares": (1 + 5e-12, 1.0)}),
    (SHARP, "odd_least", {"shares": (1.0, 1 - 5e-13)}, {"shares": (1.0, 1 - 5e-12)}),
    (SHARP, "odd_least", {}, {"shares": (1.0, 1 + 5e-12)}),
    *((equation_6, "wide", {}, each, "printed") for each in turned_in(equation_6, "wide")),
    *((equation_6, "printed", {}, each) for each in turned_in(equation_6, "printed", "wide")),
    (equation_6, "printed", at(even), at(even, factors=(2.0, KAPPA - 2e-3))),
    (equation_6, "means_apart", {}, at(coinciding)),
    (corollary_10_1, "larger_mean", at(short_means), at(short_means, factor=1.9)),
    but=(lemma_10_1, lemma_10_1_as_printed, proposition_10_1, proposition_10_2, lemma_10_2),
)
