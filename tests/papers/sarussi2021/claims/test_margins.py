import functools

import numpy as np
import pytest

from tests.control_table import at, controls, spared
from widenet.claims.base import Verdict
from widenet.papers.sarussi2021.claims import margins
from widenet.papers.sarussi2021.claims.margins import (
    draw_wrong_side,
    equation_30,
    section_12_lipschitz,
    section_12_lipschitz_as_printed,
)
from widenet.papers.sarussi2021.formulas import lipschitz_constant
from widenet.papers.sarussi2021.runs.single_networks import (
    WeightPairs,
    WrongSide,
    on_the_wrong_side,
    weight_pairs,
    wrong_side,
)
from widenet.papers.sarussi2021.sources import SignedNetwork
from widenet.records import Scale


@functools.cache
def loose_networks():
    return {1.0: on_the_wrong_side(0.5, 1.0), -1.0: on_the_wrong_side(0.5, -1.0)}


def near(sign):
    """One side nearly attains the bound (0.999), the other has 0.447 of it."""
    return wrong_side([on_the_wrong_side(0.001, sign), loose_networks()[-sign]])


def test_how_near_they_come():
    assert equation_30(near(1.0)).parts[0].tightness == pytest.approx(0.9989995005)
    assert equation_30(near(-1.0)).parts[0].tightness == pytest.approx(0.4472135955)


def right_side():
    """w = x, u = −x has the margin v√(k/2)(1 + α)‖x‖."""
    point = np.array([[1.0, 2.0]])
    right = SignedNetwork(np.tile(point, (3, 1)), np.tile(-point, (3, 1)), 0.7, 0.3)
    return wrong_side([(right, point, np.ones(1)), loose_networks()[-1.0]])


def test_on_the_right_side_the_margin_is_larger():
    assert equation_30(right_side()).conclusion is False


def test_it_holds_on_random_networks():
    assert equation_30(draw_wrong_side(Scale.QUICK, 3)).verdict is Verdict.HOLDS


@functools.cache
def toy_pairs():
    return weight_pairs((1, 2, 3))


def test_the_printed_constant_is_too_small_from_k_3_on():
    """Rows 2x for w and x for u, and the other way round: N changes by 2kv‖x‖² and W by √(2k)‖x‖, so the ratio to what
    is printed is √(k/2), which is 1.2247 for k = 3.
    """
    found = section_12_lipschitz_as_printed(weight_pairs((3,), 0))
    assert found.verdict is Verdict.VIOLATED
    assert found.tightness == pytest.approx((3 / 2) ** 0.5)


def test_two_neurons_of_each_sign_are_few_enough():
    spared(section_12_lipschitz_as_printed, at(weight_pairs((1, 2), 0)))


def extreme(share, *half_widths):
    """Outputs of the extreme pairs of these k, moved by a share."""
    pairs = toy_pairs()
    moved = pairs.extreme & np.isin(pairs.half_width, half_widths)
    return {"outputs": lambda outputs: np.where(moved, (1 + share) * outputs, outputs)}


LIPSCHITZ = section_12_lipschitz
test_control = controls(
    margins,
    {WrongSide: lambda: draw_wrong_side(Scale.QUICK, 0), WeightPairs: toy_pairs},
    (equation_30, "positive_point", at(near(1.0)), at(near(1.0), share=0.998)),
    (equation_30, "negative_point", at(near(-1.0)), at(near(-1.0), share=0.998)),
    (equation_30, "wrong_side", at(near(1.0)), at(right_side)),
    (LIPSCHITZ, "lipschitz", {}, {"constant": lambda *given: (1 - 5e-10) * lipschitz_constant(*given)}),
    (LIPSCHITZ, "attained", {}, at(weight_pairs((1, 2, 3), equal_rows=1))),
    (LIPSCHITZ, "attained", {}, extreme(-5e-10, 1, 2, 3)),
    (LIPSCHITZ, "narrow", {}, {"narrow": 3}),
    (LIPSCHITZ, "narrow", {}, extreme(5e-10, 2), "lipschitz", "attained"),  # there the two constants are equal
    but=(section_12_lipschitz_as_printed,),
)
