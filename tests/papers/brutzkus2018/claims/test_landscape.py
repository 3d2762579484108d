"""Proposition 1 holds, and its checks fail where they must."""

import dataclasses

import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims.landscape import (
    Certified,
    OnePair,
    Point,
    certified_landscapes,
    gradient,
    proposition_1_1,
    proposition_1_2,
    proposition_1_2_own_example,
    random_landscape,
    random_pairs,
    random_points,
)
from widenet.papers.brutzkus2018.runs.nonconvexity import Landscape, certify
from widenet.papers.brutzkus2018.runs.online import votes
from widenet.records import Scale

THREE = Landscape(
    np.array([[0.6, 0.8], [0.0, -0.8], [-0.6, 0.8]]),
    np.array([1.0, -1.0, 1.0]),
    np.array([0, 1.25]),
    votes(2, 0.5),
    0.2,
)
"""Three points with all margins 1."""


def answers(evidence):
    return [part.kept for part in evidence.parts]


def unmet(evidence):
    return [hypothesis.key for hypothesis in evidence.hypotheses if not hypothesis.met]


@pytest.mark.parametrize("claim", [proposition_1_1, proposition_1_2, proposition_1_2_own_example])
def test_it_holds(claim):
    evidence = claim(claim.draws(Scale.QUICK, 0))
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.tightness == pytest.approx(1)


def test_the_gradient_is_the_slope_of_the_loss():
    draw = np.random.default_rng(0)
    for _ in range(20):
        scape = random_landscape(draw)
        hidden = draw.normal(size=(len(scape.outputs), scape.inputs.shape[1]))
        direction = draw.normal(size=hidden.shape)
        slope = float(np.vdot(gradient(Point(scape, hidden, 1.0))[0], direction))
        step = 1e-7
        measured = (scape.loss(hidden + step * direction) - scape.loss(hidden - step * direction)) / (2 * step)
        assert measured == pytest.approx(slope, rel=1e-5, abs=1e-7)


def test_the_material_has_exact_kinks():
    """Rows at 0 and rows orthogonal to a sample: without them the three values of σ'(0) would be the same test."""
    points = random_points(Scale.QUICK, 0)
    kinks = [np.any(p.landscape.inputs @ p.hidden.T == 0) for p in points]
    zeros = [not p.hidden.any() for p in points]
    assert sum(kinks) > sum(zeros) + 30 > 60


def single(slope):
    return Landscape(np.ones((1, 1)), np.ones(1), np.ones(1), votes(2, 0.5), slope)


OFF = Point(single(0.25), np.full((4, 1), -0.1), 1.0)
"""Every neuron off: both bounds are equalities."""
ORIGIN = Point(THREE, np.zeros((4, 2)), 0.2)
"""W = 0 with σ'(0) = α: an equality too."""


@pytest.mark.parametrize(
    ("point", "inner", "length", "bound"),
    [
        (
            Point(THREE, np.array([[-0.3, -0.4], [0.1, 0.2], [0.4, 0.3], [-0.1, 0.25]]), 1.0),
            4 / 3,
            0.541274216805,
            2 / 5,
        ),
        (OFF, 1 / 2, 0.25, 1 / 2),
        (ORIGIN, 2 / 5, 0.16, 2 / 5),
        (dataclasses.replace(ORIGIN, at_kink=1.0), 2, 0.8, 2 / 5),
    ],
)
def test_the_pinned_gradients(point, inner, length, bound):
    evidence = proposition_1_1([point])
    descent, size, _ = evidence.parts
    norm = np.sqrt(4) * np.linalg.norm(point.landscape.separator)
    assert descent.measured == pytest.approx(inner, rel=1e-11)
    assert descent.promised == pytest.approx(bound, rel=1e-11)
    assert size.measured == pytest.approx(length * norm, rel=1e-11)
    assert evidence.verdict is Verdict.HOLDS


@pytest.mark.parametrize("point", [OFF, ORIGIN])
def test_control_a_bound_that_is_a_thousandth_too_large(point):
    assert answers(proposition_1_1([point], factor=1.001)) == [False, False, True]


def test_control_relu_with_every_neuron_off_is_critical():
    """α = 0: the gradient is 0 and the loss 1."""
    point = Point(single(0.0), np.full((4, 1), -0.1), 0.0)
    evidence = proposition_1_1([point])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert answers(evidence) == [None, None, False]
    assert evidence.details["critical_points_met"] == 1
    assert point.landscape.loss(point.hidden) == 1


def test_control_contradictory_data_has_a_critical_point_with_positive_loss():
    scape = Landscape(np.ones((2, 1)), np.array([1.0, -1.0]), np.ones(1), votes(1, 1.0), 0.5)
    evidence = proposition_1_1([Point(scape, np.zeros((2, 1)), 1.0)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


def test_control_proposition_1_1_without_the_slope():
    """The bound with 1 in place of α fails at the point where the true one is an equality."""
    assert proposition_1_1([OFF]).tightness == 1
    assert proposition_1_1([OFF], leak=1.0).verdict is Verdict.VIOLATED


@pytest.mark.parametrize(
    ("change", "keys"),
    [
        ({"at_kink": 0.99 * 0.25}, ["derivative_above_slope"]),
        ({"at_kink": 1.01}, ["derivative_at_zero"]),
        ({"landscape": dataclasses.replace(single(0.25), separator=np.full(1, 1 - 1e-6))}, ["separable"]),
        ({"landscape": dataclasses.replace(single(0.25), outputs=np.zeros(4))}, ["output_weight"]),
        ({"landscape": single(0.0)}, ["slope_positive"]),
    ],
)
def test_control_the_hypotheses_of_proposition_1_1(change, keys):
    assert unmet(proposition_1_1([dataclasses.replace(OFF, **change)])) == keys


def test_only_points_of_zero_loss_decide_nothing():
    point = Point(single(0.25), np.array([[5.0], [5.0], [-5.0], [-5.0]]), 1.0)
    assert proposition_1_1([point]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_a_linear_network_has_a_convex_loss():
    """α = 1: no certificate anywhere, and what is not found decides nothing."""
    linear = [dataclasses.replace(each.landscape, slope=1.0) for each in certified_landscapes(Scale.QUICK, 0)]
    evidence = proposition_1_2([Certified(scape, certify(scape)) for scape in linear])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is None
    assert evidence.details["certificates"] == 0
    assert unmet(evidence) == ["slope_below_one"]


def with_certificates(change, *, balanced):
    """The material with the certificates of one kind altered."""
    return [
        dataclasses.replace(each, certificate=dataclasses.replace(each.certificate, **change(each.certificate)))
        if each.certificate is not None and each.certificate.balanced == balanced
        else each
        for each in certified_landscapes(Scale.QUICK, 0)
    ]


@pytest.mark.parametrize(("balanced", "expected"), [(False, [False, True, True]), (True, [True, False, True])])
def test_control_a_wrong_closed_form_is_noticed(balanced, expected):
    wrong = with_certificates(lambda found: {"predicted": 1.001 * found.predicted}, balanced=balanced)
    evidence = proposition_1_2(wrong)
    assert evidence.verdict is Verdict.VIOLATED
    assert answers(evidence) == expected


def test_control_a_gap_that_is_not_there():
    flat = with_certificates(lambda found: {"measured": 0.0, "predicted": 1e-13}, balanced=True)
    assert answers(proposition_1_2(flat)) == [True, True, False]


def test_a_certificate_that_is_missing_decides_nothing():
    missing = [dataclasses.replace(certified_landscapes(Scale.QUICK, 0)[0], certificate=None)]
    evidence = proposition_1_2(missing)
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert "1 of 1" in evidence.note


def test_control_the_papers_three_points_with_slope_1():
    evidence = proposition_1_2_own_example([OnePair(np.array([0.6, 0.3]), 1.0)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert answers(evidence) == [True, False, True, True, True]


@pytest.mark.parametrize(
    ("factors", "expected"),
    [
        ((1.001, 1.0, 1.0), [True, True, True, False, True]),
        ((1.0, 1.001, 1.0), [True, True, True, True, False]),
        ((1.0, 1.0, 1.001), [False, True, True, True, True]),
    ],
)
def test_control_each_value_of_the_papers_example(factors, expected):
    assert answers(proposition_1_2_own_example(random_pairs(Scale.QUICK, 0), factors=factors)) == expected


@pytest.mark.parametrize(("point", "slope", "values"), [([0.6, 0.8], 0.2, (0, 6 / 5, 1)), ([2.0], 0.75, (0, 7, 4))])
def test_the_papers_three_points(point, slope, values):
    pair = OnePair(np.array(point), slope)
    assert [pair.value(factor * pair.point) for factor in (1.0, -1.0, 0.0)] == pytest.approx(values)


def test_control_a_point_at_zero_is_no_example():
    assert unmet(proposition_1_2_own_example([OnePair(np.zeros(2), 0.5)])) == ["nonzero_point"]


def test_control_the_papers_three_points_say_nothing_about_the_loss_of_a_positive_sample():
    evidence = proposition_1_2_own_example(random_pairs(Scale.QUICK, 0))
    assert evidence.details["hinge_not_convex_here_for_label_plus"] == 0
    assert evidence.details["hinge_not_convex_here_for_label_minus"] == evidence.details["pairs"]
