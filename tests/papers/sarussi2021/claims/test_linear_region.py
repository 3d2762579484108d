"""Theorem 5.1: sharp networks, stored signs that are turned, and factors that are too small."""

import numpy as np
import pytest

from tests.controls import breaks_hypothesis, breaks_part, every_part_of, part_edges
from tests.papers.records import altered
from tests.papers.sarussi2021.pairs import ALPHA, KAPPA, POINT, SHAPES, network, toy_pairs, turned, zero_pair
from widenet.claims.base import Verdict
from widenet.claims.specimen import Choices, Specimen
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
from widenet.papers.sarussi2021.settings import kappa_network, turning_point
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
    assert [theorem_5_1([edge], factor=f).parts[0].cases for f in (1.97, 2.0, 2.02)] == [2, 1, 0]
    assert theorem_5_1([edge]).details["in_the_region"] == 1
    assert equation_6([edge]).parts[0].cases == 1
    assert theorem_5_1([edge], factor=2.02).verdict is Verdict.INSUFFICIENT_EVIDENCE


SIGN = "sign N = sign (w̄ − ū)·x where |(w̄ − ū)·x| ≥ 2r‖x‖"


@breaks_part(theorem_5_1, SIGN)
def test_control_one_sign_in_the_region_is_turned():
    inside = np.abs(toy_pairs().difference) >= 2.1 * toy_pairs().radius * toy_pairs().norms
    return theorem_5_1([toy_pairs()]), theorem_5_1([turned(toy_pairs(), inside)])


@breaks_part(theorem_5_1, SIGN)
def test_control_a_factor_below_kappa():
    pairs = with_sharp(KAPPA - 1e-3)
    return theorem_5_1([pairs]), theorem_5_1([pairs], factor=KAPPA - 2e-3)


@pytest.mark.parametrize("swapped", [False, True])
def test_control_the_radius_of_one_block_only(swapped):
    pairs = with_sharp(KAPPA - 1e-3, swapped=swapped)
    small = altered(pairs, plus_radius=np.zeros(len(pairs)), minus_radius=np.zeros(len(pairs)))
    assert theorem_5_1([small]).conclusion is False
    assert [h.key for h in theorem_5_1([small]).hypotheses if not h.met] == ["balls"]


EVEN, ODD = "beyond κr‖x‖ the signs agree (even k)", "beyond κ_k r‖x‖ the signs agree (odd k)"
SIDES = "each side needs the radius of the other sign only"


def lowered(half_width):
    def factor(slope, k):
        return sharp_factor(slope, k) - (2e-3 if k == half_width else 0.0)

    return factor


@breaks_part(theorem_5_1_sharp, EVEN, also=(SIDES,))
def test_control_kappa_lowered_for_even_widths():
    pairs = with_sharp(KAPPA - 1e-3)
    return theorem_5_1_sharp([pairs]), theorem_5_1_sharp([pairs], factor=lowered(2))


@breaks_part(theorem_5_1_sharp, ODD, also=(SIDES,))
def test_control_kappa_lowered_for_odd_widths():
    pairs = with_sharp(float(sharp_factor(ALPHA, 3)) - 1e-3, 3)
    return theorem_5_1_sharp([pairs]), theorem_5_1_sharp([pairs], factor=lowered(3))


@breaks_part(theorem_5_1_sharp, SIDES)
def test_control_the_two_radii_exchanged():
    pairs = with_sharp(KAPPA - 1e-3)
    return theorem_5_1_sharp([pairs]), theorem_5_1_sharp([pairs], swapped=True)


test_control_a_factor_that_could_be_lowered = part_edges(
    theorem_5_1_sharp,
    lambda **given: theorem_5_1_sharp([toy_pairs()], **given),
    {
        "κ cannot be lowered (even k)": ({}, {"shares": (0.999, 1.0)}),
        "κ_k cannot be lowered (odd k)": ({}, {"shares": (1.0, 0.999)}),
    },
)


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


@breaks_part(equation_6, "|cos| ≥ 2r/‖w̄ − ū‖", also=("|cos| ≥ r/‖w̄ − ū‖",))
def test_control_a_sign_turned_far_out():
    inside = np.abs(toy_pairs().difference) >= 2.1 * toy_pairs().radius * toy_pairs().norms
    return equation_6([toy_pairs()]), equation_6([turned(toy_pairs(), inside)])


@breaks_part(equation_6, "|cos| ≥ r/‖w̄ − ū‖")
def test_control_a_factor_below_kappa_in_cosines():
    pairs = with_sharp(KAPPA - 1e-3)
    return equation_6([pairs]), equation_6([pairs], factors=(2.0, KAPPA - 2e-3))


@breaks_part(corollary_10_1, "the larger of |w̄·x|, |ū·x| is at least r‖x‖")
def test_control_a_factor_of_nineteen_tenths():
    """r = 1, w̄ = 0.96e₁, ū = −0.96e₁: 1.92 is above 1.9, and neither mean reaches 1."""
    short = ask(network([(0.96, 1), (0.96, -1)], [(-0.96, 1), (-0.96, -1)]), POINT)
    pairs = Clouds.joined([toy_pairs(), short])
    return corollary_10_1([pairs]), corollary_10_1([pairs], factor=1.9)


def test_corollary_10_1_is_attained():
    edge = ask(network([(1, 1), (1, -1)], [(-1, 1), (-1, -1)]), POINT)
    assert corollary_10_1([edge]).tightness == 1


@pytest.mark.parametrize("claim", [theorem_5_1, theorem_5_1_sharp, equation_6], ids=lambda claim: claim.name)
@pytest.mark.parametrize("key", SHAPES)
def test_control_each_hypothesis_is_measured(claim, key):
    assert [h.key for h in claim([altered(toy_pairs(), **SHAPES[key])]).hypotheses if not h.met] == [key]


for _claim in (theorem_5_1, theorem_5_1_sharp, equation_6):
    for _key, _change in SHAPES.items():
        globals()[f"test_control_{_key}_of_{_claim.name}"] = breaks_hypothesis(_claim, _key)(
            lambda c=_claim, change=_change: c([altered(toy_pairs(), **change)])
        )


def test_a_tie_needs_no_radius():
    assert theorem_5_1_sharp([zero_pair()]).parts[2].cases == 0


def test_an_output_of_zero_beside_a_classifier_that_is_not_is_not_scored():
    blurred = zero_pair(plus_mean=1.0, scales=1.0)
    assert theorem_5_1([blurred]).parts[0].cases == 0
    assert theorem_5_1([zero_pair(scales=1.0)]).parts[0].cases == 1
    cancelled = zero_pair(plus_mean=1.0, minus_mean=1.0, outputs=1.0, scales=1.0)
    assert theorem_5_1([cancelled]).parts[0].cases == 0


@pytest.mark.parametrize(("share", "cases"), [(1 - 1e-9, 0), (1 + 1e-9, 1)])
def test_products_of_rows_across_the_point_are_rounding(share, cases):
    """Two rows of each sign, of length 1, and ‖x‖ = 1: w̄·x is off by some 1e-12 at most."""
    across = zero_pair(plus_mean=share * 2e-12, outputs=-1.0, scales=4.0)
    assert theorem_5_1([across]).parts[0].cases == cases
    assert equation_6([altered(across, differences=np.ones(1), norms=np.ones(1))]).parts[0].cases == cases


def test_what_rounding_is_measured_against():
    """‖x‖ = 5; rows of length 1 and 2 that vote plus, 13 and 0 that vote minus."""
    seen = ask(network([(0, 1), (2, 0)], [(5, -12), (0, 0)]), np.array([[4.0, 3.0]]))
    assert seen.scales == pytest.approx(5 * 16)


@breaks_hypothesis(equation_6, "means_apart")
def test_control_means_that_coincide():
    same = ask(network([(1, 0), (1, 0)], [(1, 0), (1, 0)]), POINT)
    return equation_6([toy_pairs()]), equation_6([Clouds.joined([toy_pairs(), same])])


def test_it_speaks_about_a_readers_data():
    points = np.random.default_rng(0).normal(size=(12, 3)) + 0.1
    specimen = Specimen(from_arrays(points, np.sign(points[:, 0])), Choices(n_neurons=4))
    cells = [run_clouds(setting, silent) for setting in theorem_5_1.on(specimen)]
    for claim in (theorem_5_1, equation_6, corollary_10_1):
        assert claim(cells).verdict in (Verdict.HOLDS, Verdict.INSUFFICIENT_EVIDENCE), claim.id
    assert theorem_5_1(cells).verdict is Verdict.HOLDS


test_every_part_has_a_control = every_part_of(
    linear_region, elsewhere=(lemma_10_1, lemma_10_1_as_printed, proposition_10_1, proposition_10_2, lemma_10_2)
)
