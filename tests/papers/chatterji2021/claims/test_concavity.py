"""Lemma 9, and the function F with the range in which it is concave."""

import numpy as np
import pytest

from tests.control_table import at, controls
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
    assert found.parts[1].n_cases == 3 * len(CONCAVE)


def test_the_infimum_of_a_known_function():
    """2 − z² with M = 1 and three parts: 1 + 2·2 = 5."""
    two = draw_split(*CONCAVE["2 − z²"], 1.0, 3, 0)
    assert lemma_9([two]).parts[0].promised == 5


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
    return at([*SPLITS[:2], draw_split(function, limit, 1.0, 3, 0)])


def _nearly_straight(z):
    return z - 1e-9 * z**2


def _slightly_convex(z):
    return z + 1e-7 * z**2


BEND = draw_bend(Scale.QUICK, 0)


def moved_at(place, amount):
    return lambda values: values + np.where(BEND.z == place, amount, 0)


def test_control_beyond_the_inflection_it_is_convex():
    """The paper calls it concave without a range."""
    found = entropy_concave(draw_bend_to(1.63))
    assert found.verdict is Verdict.HYPOTHESES_NOT_MET
    assert found.parts[1].kept is False
    assert found.parts[1].measured == pytest.approx(0.033, abs=0.01)


def roots(parts, **changes):
    return altered(draw_split(*CONCAVE["√z"], 1.0, parts, 0), **changes)


OFF_THE_SIMPLEX = roots(2, samples=np.array([[1 - 1e-11, 1e-300]]))
BACKWARDS = roots(5, moves=lambda moves: moves[:, ::-1])
FIRST, LAST = BEND.z.min(), BEND.z.max()
test_control = controls(
    concavity,
    {lemma_9: SPLITS, entropy_concave: BEND},
    (lemma_9, "corner", {}, {"shift": -5e-9}),
    # By less than any of the random points lies above it.
    (lemma_9, "corner", at(SPLITS[:1]), at(SPLITS[:1], shift=5e-9)),
    (lemma_9, "no_point", at(roots(2)), at(OFF_THE_SIMPLEX)),
    (lemma_9, "no_move", at(roots(5)), at([*SPLITS, BACKWARDS])),
    (lemma_9, "finite_limit", of(np.sqrt, 0.0), of(np.log, -np.inf)),
    (lemma_9, "concave", of(_nearly_straight, 0.0), of(_slightly_convex, 0.0)),
    (entropy_concave, "limit", {}, {"value": moved_at(FIRST, 5e-9)}, "entropy"),
    (entropy_concave, "limit", {}, {"value": moved_at(FIRST, -5e-9)}, "entropy"),
    (entropy_concave, "concave", {}, {"curvature": moved_at(LAST, 5e-12)}),
    (entropy_concave, "entropy", {}, {"value": moved_at(LAST, 5e-12)}),
    (entropy_concave, "entropy", {}, {"value": moved_at(LAST, -5e-12)}),
    (entropy_concave, "below_inflection", at(draw_bend_to(INFLECTION)), at(draw_bend_to(INFLECTION + 5e-12))),
)
