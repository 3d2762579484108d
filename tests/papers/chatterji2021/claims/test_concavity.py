"""Lemma 9, and the function F with the range in which it is concave."""

import numpy as np
import pytest

from tests.controls import breaks_part, every_part_of, hypothesis_edges, part_edges
from tests.papers.chatterji2021.toys import from_step
from tests.papers.records import altered
from widenet.claims.base import Verdict
from widenet.papers.chatterji2021.claims import concavity
from widenet.papers.chatterji2021.claims.concavity import entropy_concave, lemma_9
from widenet.papers.chatterji2021.formulas import INFLECTION
from widenet.papers.chatterji2021.runs.splits import (
    draw_bend,
    draw_bend_to,
    draw_concave,
    draw_split,
    draw_splits,
    smoothed,
)
from widenet.records import Scale

SPLITS = draw_splits(Scale.QUICK, 0)
CONCAVE = draw_concave()


def test_lemma_9_holds():
    found = lemma_9(SPLITS)
    assert found.verdict is Verdict.HOLDS
    assert found.parts[1].cases == 3 * len(CONCAVE)


def test_the_infimum_of_a_known_function():
    """2 − z² with M = 1 and three parts: 1 + 2·2 = 5."""
    two = draw_split(*CONCAVE["2 − z²"], 1.0, 3, 0)
    assert lemma_9([two]).parts[0].promised == 5


@breaks_part(lemma_9, "the way comes near")
def test_control_an_infimum_a_little_too_small():
    return lemma_9(SPLITS), lemma_9(SPLITS, shift=-5e-9)


@breaks_part(lemma_9, "the way comes near")
def test_control_an_infimum_a_little_too_large():
    """By less than any of the random points lies above it."""
    return lemma_9(SPLITS[:1], shift=5e-9)


@breaks_part(lemma_9, "no point lies below")
def test_control_a_point_that_is_not_on_the_simplex():
    roots = draw_split(*CONCAVE["√z"], 1.0, 2, 0)
    return lemma_9([roots]), lemma_9([altered(roots, samples=np.array([[1 - 1e-11, 1e-300]]))])


@breaks_part(lemma_9, "no move raises the sum")
def test_control_moves_in_the_wrong_order():
    roots = draw_split(*CONCAVE["√z"], 1.0, 5, 0)
    return lemma_9([roots]), lemma_9([*SPLITS, altered(roots, moves=lambda moves: moves[:, ::-1])])


def test_a_move_keeps_the_total_and_ends_at_the_corner():
    moves = smoothed(np.array([[0.2, 0.5, 0.3]]))[0]
    np.testing.assert_allclose(moves, [[0.2, 0.5, 0.3], [0.6, 0.1, 0.3], [0.8, 0.1, 0.1]])
    assert SPLITS[-1].moves.shape == (20, 20, 20)


@pytest.mark.parametrize(("excess", "kept"), [(9e-13, True), (5e-12, False)])
def test_the_room_of_a_move(excess, kept):
    """ψ = z: every move leaves the sum as it is, to the rounding of both sums, 1e-12 of 2."""
    line = draw_split(np.positive, 0.0, 1.0, 2, 0)
    raised = line.moves + np.array([0.0, 2 * excess])[None, :, None] * np.array([1.0, 0.0])
    assert lemma_9([altered(line, moves=raised)]).parts[2].kept is kept


def test_control_a_convex_function_has_points_below():
    found = lemma_9([draw_split(np.square, 0.0, 1.0, 3, 0)])
    assert found.verdict is Verdict.HYPOTHESES_NOT_MET
    assert found.conclusion is False


def of(function, limit):
    """Among others."""
    return lemma_9([*SPLITS[:2], draw_split(function, limit, 1.0, 3, 0)])


def _nearly_straight(z):
    return z - 1e-9 * z**2


def _slightly_convex(z):
    return z + 1e-7 * z**2


test_edges_of_lemma_9 = hypothesis_edges(
    lemma_9,
    of,
    finite_limit=({"function": np.sqrt, "limit": 0.0}, {"function": np.log, "limit": -np.inf}),
    concave=({"function": _nearly_straight, "limit": 0.0}, {"function": _slightly_convex, "limit": 0.0}),
)

BEND = draw_bend(Scale.QUICK, 0)


def bent(end=INFLECTION, **changes):
    return entropy_concave(altered(draw_bend_to(end), **changes))


test_parts_of_entropy_concave = part_edges(
    entropy_concave,
    bent,
    {
        "F(0⁺) = 0": ({}, {"value": from_step(0, 5e-9)}, "F(z) = H(e^{−z}) − z"),
        "F'' ≤ 0": ({}, {"curvature": lambda c: c + np.where(BEND.z == BEND.z.max(), 5e-12, 0)}),
        "F(z) = H(e^{−z}) − z": ({}, {"value": lambda v: v + np.where(BEND.z == BEND.z.max(), 5e-12, 0)}),
    },
)
test_parts_of_entropy_concave_from_the_other_side = part_edges(
    entropy_concave,
    bent,
    {
        "F(0⁺) = 0": ({}, {"value": from_step(0, -5e-9)}, "F(z) = H(e^{−z}) − z"),
        "F(z) = H(e^{−z}) − z": ({}, {"value": lambda v: v - np.where(BEND.z == BEND.z.max(), 5e-12, 0)}),
    },
)
test_edges_of_entropy_concave = hypothesis_edges(
    entropy_concave, bent, below_inflection=({"end": INFLECTION}, {"end": INFLECTION + 5e-12})
)


def test_control_beyond_the_inflection_it_is_convex():
    """The paper calls it concave without a range."""
    found = bent(1.63)
    assert found.verdict is Verdict.HYPOTHESES_NOT_MET
    assert found.parts[1].kept is False
    assert found.parts[1].measured == pytest.approx(0.033, abs=0.01)


test_every_part_has_a_control = every_part_of(concavity)
