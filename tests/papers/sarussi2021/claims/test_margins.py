import functools

import numpy as np
import pytest

from tests.controls import breaks_hypothesis, breaks_part, every_part_of, part_edges, spares
from widenet.claims.base import Verdict
from widenet.papers.sarussi2021.claims import margins
from widenet.papers.sarussi2021.claims.margins import (
    draw_wrong_side,
    equation_30,
    on_the_wrong_side,
    section_12_lipschitz,
    section_12_lipschitz_as_printed,
    weight_pairs,
    wrong_side,
)
from widenet.papers.sarussi2021.formulas import lipschitz_constant
from widenet.papers.sarussi2021.settings import SignedNetwork
from widenet.records import Scale


@functools.cache
def loose_networks():
    return {1.0: on_the_wrong_side(0.5, 1.0), -1.0: on_the_wrong_side(0.5, -1.0)}


def near(sign, share=1.0):
    """One side nearly attains the bound (0.999), the other has 0.447 of it."""
    return equation_30(wrong_side([on_the_wrong_side(0.001, sign), loose_networks()[-sign]]), share=share)


@breaks_part(equation_30, "plus neurons, a positive point")
def test_control_the_bound_a_little_too_small():
    assert near(1.0).parts[0].tightness == pytest.approx(0.9989995005)
    return near(1.0), near(1.0, 0.998)


@breaks_part(equation_30, "minus neurons, a negative point")
def test_control_the_mirrored_bound_a_little_too_small():
    assert near(-1.0).parts[0].tightness == pytest.approx(0.4472135955)
    return near(-1.0), near(-1.0, 0.998)


@breaks_hypothesis(equation_30, "wrong_side")
def test_control_neurons_on_the_right_side():
    """w = x, u = −x has the margin v√(k/2)(1 + α)‖x‖."""
    point = np.array([[1.0, 2.0]])
    right = SignedNetwork(np.tile(point, (3, 1)), np.tile(-point, (3, 1)), 0.7, 0.3)
    found = equation_30(wrong_side([(right, point, np.ones(1)), loose_networks()[-1.0]]))
    assert found.conclusion is False
    return found


def test_it_holds_on_random_networks():
    assert equation_30(draw_wrong_side(Scale.QUICK, 3)).verdict is Verdict.HOLDS


@functools.cache
def toy_pairs():
    return weight_pairs((1, 2, 3))


test_control_each_part_of_the_lipschitz_constant = part_edges(
    section_12_lipschitz,
    lambda pairs=toy_pairs, **constants: section_12_lipschitz(pairs(), **constants),
    {
        "|N₁ − N₂| ≤ v‖x‖√(2k)·‖W₁ − W₂‖": ({}, {"constant": lambda *g: 0.999 * lipschitz_constant(*g)}),
        "it is attained": ({}, {"pairs": lambda: weight_pairs((1, 2, 3), equal_rows=1)}),
        "2v‖x‖ is enough for k ≤ 2": ({}, {"narrow": 3}),
    },
)


def test_the_printed_constant_is_too_small_from_k_3_on():
    """Rows 2x for w and x for u, and the other way round: N changes by 2kv‖x‖² and W by √(2k)‖x‖, so the ratio to what
    is printed is √(k/2), which is 1.2247 for k = 3.
    """
    found = section_12_lipschitz_as_printed(weight_pairs((3,), 0))
    assert found.verdict is Verdict.VIOLATED
    assert found.tightness == pytest.approx((3 / 2) ** 0.5)


@spares(section_12_lipschitz_as_printed)
def test_two_neurons_of_each_sign_are_few_enough():
    return section_12_lipschitz_as_printed(weight_pairs((1, 2), 0))


test_every_part_has_a_control = every_part_of(margins)
