"""Derivatives, the reduction to zero biases, and the start of Theorem 1, each part broken alone."""

import functools
import math

import numpy as np
import pytest

from tests.control_table import at, controls
from tests.papers.chatterji2021.toys import from_step
from tests.papers.records import altered
from widenet.claims.base import Verdict
from widenet.data.sources import ListedPoints
from widenet.diagnostics.huberized import HuberNetwork
from widenet.papers.chatterji2021.claims import network
from widenet.papers.chatterji2021.claims.network import appendix_a, equations_19_20, section_2_gradient, theorem_1_start
from widenet.papers.chatterji2021.formulas import equation_5_threshold
from widenet.papers.chatterji2021.runs.coordinates import CoordinatesSetting, run_coordinates
from widenet.papers.chatterji2021.runs.derivatives import (
    CURVED,
    HESSIAN_NEAR,
    HESSIAN_NUDGE,
    NEAR_KINK,
    NUDGE,
    OFF,
    STRAIGHT,
    curvatures_of,
    draw_curvatures,
    draw_slopes,
    slopes_of,
)
from widenet.papers.chatterji2021.runs.fits import BuiltFit, draw_fits, fit
from widenet.papers.chatterji2021.sources import Case, Sphere, reduced_points
from widenet.progress import silent
from widenet.records import Scale

SLOPES = draw_slopes(Scale.QUICK, 0)
CURVATURES = draw_curvatures(Scale.QUICK, 0)


def entry(kinds, kind, amount):
    """Adds an amount to the first entry of this kind."""
    return from_step(int(np.flatnonzero(kinds == kind)[0]), amount)


def test_control_without_the_mean_over_points():
    found = section_2_gradient(altered(SLOPES, formula=lambda values: 3 * values))
    assert [part.kept for part in found.parts] == [False, False]


def test_control_the_slope_of_a_relu_is_not_that_of_phi():
    """A unit on its parabola: φ' = 1 there would be wrong."""
    case = Case(np.array([[0.6, 0.8]]), np.ones(1), HuberNetwork(np.array([[0.3, 0.4], [-1.0, 0.0]]), 1.0))
    found = slopes_of([case])
    assert section_2_gradient(found).verdict is Verdict.HOLDS
    assert section_2_gradient(altered(found, formula=lambda values: 2 * values)).conclusion is False


def test_how_near_a_kink_may_be():
    assert (NEAR_KINK, HESSIAN_NEAR, NUDGE, HESSIAN_NUDGE) == (2e-6, 1e-4, 1e-6, 1e-5)


def test_the_three_kinds_of_entries():
    """One unit on its parabola and one on its line, one point."""
    case = Case(np.array([[0.6, 0.8]]), np.ones(1), HuberNetwork(np.array([[0.3, 0.4], [3.0, 4.0]]), 1.0))
    found = curvatures_of([case])
    assert [(found.kinds == kind).sum() for kind in (OFF, CURVED, STRAIGHT)] == [8, 4, 4]
    assert equations_19_20(found).verdict is Verdict.HOLDS


@functools.cache
def trained_pair():
    setting = CoordinatesSetting(points=Sphere(n_samples=5, dim=3), half_width=3, n_steps=20)
    return run_coordinates(setting, silent)


def pair(**fields):
    return altered(trained_pair(), **fields)


def test_an_overlap_that_is_too_small_is_noticed_too():
    largest = int(np.argmax(trained_pair().overlaps))
    assert appendix_a([pair(overlaps=from_step(largest, -5e-12))]).parts[3].kept is False


def test_opposite_inputs_have_overlap_zero():
    points = reduced_points(np.array([[0.6, 0.8], [-0.6, -0.8]]))
    listed = ListedPoints(inputs=tuple(map(tuple, points.tolist())), labels=(1.0, -1.0))
    found = run_coordinates(CoordinatesSetting(points=listed, half_width=2, n_steps=3), silent)
    assert appendix_a([found]).verdict is Verdict.HOLDS
    assert found.overlaps.min() == pytest.approx(0, abs=1e-15)


def test_the_weights_move():
    assert pair().moved > 0.05


FITS = draw_fits(Scale.QUICK, 0)


def fits(**fields):
    return theorem_1_start([altered(FITS[-1], **fields), *FITS[:-1]])


def test_points_that_float64_cannot_keep_apart_decide_nothing():
    turn = 1e-5
    points = reduced_points(np.array([[1.0, 0.0], [math.cos(turn), math.sin(turn)]]))
    found = theorem_1_start([fit(points, np.array([1.0, -1.0]), 2, too_close=True)])
    assert found.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert found.conclusion is None


def test_one_pair_that_is_too_close_leaves_it_open_and_one_clash_does_not():
    assert fits(too_close=True).verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert fits(too_close=True, why_not="points 1 and 2 are equal").verdict is Verdict.HYPOTHESES_NOT_MET


def test_the_target_is_the_loss_at_which_equation_5_gives_lemma_10():
    assert [each.target for each in FITS] == [equation_5_threshold(n) for n in (2, 4, 12, 30)]


def clashing():
    points = reduced_points(np.array([[1.0, 0.0], [1.0, 0.0]]))
    return [fit(points, np.array([1.0, -1.0]), 2, "points 1 and 2 are equal")]


def test_why_no_network_fits():
    (distinct, _) = theorem_1_start([*FITS, *clashing()]).hypotheses
    assert (distinct.met, distinct.actual, distinct.why) == (False, 1.0, "points 1 and 2 are equal")


def with_target(factor):
    return {"loss": factor * FITS[-1].target}


def below_zero(values):
    return np.append(values[1:], -5e-12)


test_control = controls(
    network,
    {section_2_gradient: SLOPES, equations_19_20: CURVATURES, appendix_a: lambda: [pair(), pair()], BuiltFit: FITS},
    *(
        (section_2_gradient, key, {}, {"formula": entry(SLOPES.votes, sign, amount)})
        for key, sign in (("plus", 1), ("minus", -1))
        for amount in (5e-6, -5e-6)
    ),
    *(
        (equations_19_20, key, {}, {"formula": entry(CURVATURES.kinds, kind, amount)})
        for key, kind in (("off_diagonal", OFF), ("curved", CURVED), ("straight", STRAIGHT))
        for amount in (5e-6, -5e-6)
    ),
    (appendix_a, "weights", {}, {"weights": from_step(7, 5e-10)}),
    (appendix_a, "preactivations", {}, {"preactivations": from_step(7, 5e-10)}),
    (appendix_a, "losses", {}, {"losses": from_step(7, 5e-10)}),
    (appendix_a, "halves", {}, {"overlaps": from_step(0, 5e-12)}),
    (appendix_a, "overlaps", {}, {"overlaps": below_zero, "halves": below_zero}),
    (theorem_1_start, "loss", with_target(1.0), with_target(1 + 5e-12)),
    (theorem_1_start, "distinct", {}, at([*FITS, *clashing()])),
)
