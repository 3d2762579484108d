"""Proposition 1 holds, and its checks fail where they must."""

import dataclasses

import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims import landscape
from widenet.papers.brutzkus2018.claims.landscape import (
    OnePair,
    Point,
    balanced_landscape,
    check_proposition_1_1,
    check_proposition_1_2,
    check_proposition_1_2_own_example,
    gradient,
    random_landscape,
)
from widenet.papers.brutzkus2018.runs.draws import plus_minus_weights
from widenet.papers.brutzkus2018.runs.nonconvexity import Landscape, certify
from widenet.types import Scale

CLAIMS = (landscape.proposition_1_1, landscape.proposition_1_2, landscape.proposition_1_2_own_example)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_it_holds(claim):
    evidence = claim.check(claim.setting(Scale.QUICK, 0), lambda *_: None)
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


def test_the_setting_has_exact_kinks():
    """Rows at 0 and rows orthogonal to a sample: without them the three values of σ'(0) would be the same test."""
    points = landscape.proposition_1_1.setting(Scale.QUICK, 0)
    kinks = [np.any(p.landscape.inputs @ p.hidden.T == 0) for p in points]
    zeros = [not p.hidden.any() for p in points]
    assert sum(kinks) > sum(zeros) + 30 > 60


def _single(slope: float) -> Landscape:
    return Landscape(np.ones((1, 1)), np.ones(1), np.ones(1), plus_minus_weights(2, 0.5), slope)


def test_control_relu_with_every_neuron_off_is_critical():
    """α = 0: the gradient is 0 and the loss 1."""
    point = Point(_single(0.0), np.full((4, 1), -0.1), 0.0)
    evidence = check_proposition_1_1([point])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.config["critical_points_met"] == 1
    assert point.landscape.loss(point.hidden) == 1


def test_control_contradictory_data_has_a_critical_point_with_positive_loss():
    scape = Landscape(np.ones((2, 1)), np.array([1.0, -1.0]), np.ones(1), plus_minus_weights(1, 1.0), 0.5)
    evidence = check_proposition_1_1([Point(scape, np.zeros((2, 1)), 1.0)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


def test_control_proposition_1_1_without_the_slope():
    """The bound with 1 in place of α fails at the point where the true one is an equality."""
    point = Point(_single(0.25), np.full((4, 1), -0.1), 1.0)
    assert check_proposition_1_1([point]).tightness == 1
    assert check_proposition_1_1([point], leak=1.0).verdict is Verdict.VIOLATED


def test_only_points_of_zero_loss_decide_nothing():
    point = Point(_single(0.25), np.array([[5.0], [5.0], [-5.0], [-5.0]]), 1.0)
    assert check_proposition_1_1([point]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_certificates_of_both_kinds_are_found_everywhere():
    draw = np.random.default_rng(7)
    for number in range(150):
        balanced = number % 2 == 0
        certificate = certify(balanced_landscape(draw) if balanced else random_landscape(draw), seed=number)
        assert certificate is not None
        assert certificate.balanced == balanced
        assert certificate.measured == pytest.approx(certificate.predicted, rel=1e-6)


def test_balanced_data_defeats_the_simple_certificate():
    """Σ y‖x‖ = 0 on each line, so moving the plus rows along ±z from 0 changes nothing, whatever z."""
    draw = np.random.default_rng(0)
    scape = balanced_landscape(draw)
    for _ in range(20):
        end = 0.01 * np.outer(scape.outputs > 0, draw.normal(size=scape.inputs.shape[1]))
        assert scape.loss(0 * end) == pytest.approx((scape.loss(end) + scape.loss(-end)) / 2, abs=1e-14)


def test_control_a_linear_network_has_a_convex_loss():
    """α = 1: no certificate anywhere."""
    scapes = [dataclasses.replace(s, slope=1.0) for s in landscape.proposition_1_2.setting(Scale.QUICK, 0)]
    evidence = check_proposition_1_2(scapes)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.config["certificates"] < evidence.config["landscapes"] / 4


def test_control_a_wrong_closed_form_is_noticed(monkeypatch):
    monkeypatch.setattr(landscape, "largest_gap_error", lambda found: 0.5)
    assert check_proposition_1_2(landscape.proposition_1_2.setting(Scale.QUICK, 0)).verdict is Verdict.VIOLATED


def test_control_the_papers_three_points_with_slope_1():
    pairs = [OnePair(np.array([0.6, 0.3]), 1.0)]
    evidence = check_proposition_1_2_own_example(pairs)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


def test_control_the_papers_three_points_say_nothing_about_the_loss_of_a_positive_sample():
    evidence = check_proposition_1_2_own_example(landscape.proposition_1_2_own_example.setting(Scale.QUICK, 0))
    assert evidence.config["hinge_not_convex_here_for_label_plus"] == 0
    assert evidence.config["hinge_not_convex_here_for_label_minus"] == evidence.config["pairs"]
