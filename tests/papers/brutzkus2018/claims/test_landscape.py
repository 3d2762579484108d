"""Proposition 1 holds, and its checks fail where they must."""

import dataclasses

import numpy as np
import pytest

from tests.control_table import at, controls
from tests.controls import answers_in
from widenet.claims.base import Verdict
from widenet.networks.arrays import plus_minus_weights
from widenet.papers.brutzkus2018.claims import landscape
from widenet.papers.brutzkus2018.claims.landscape import (
    gradient,
    proposition_1_1,
    proposition_1_2,
    proposition_1_2_own_example,
)
from widenet.papers.brutzkus2018.runs.landscapes import (
    Certified,
    OnePair,
    Point,
    certified_landscapes,
    random_landscape,
    random_points,
)
from widenet.papers.brutzkus2018.runs.nonconvexity import Landscape
from widenet.records import Scale

THREE = Landscape(
    np.array([[0.6, 0.8], [0.0, -0.8], [-0.6, 0.8]]),
    np.array([1.0, -1.0, 1.0]),
    np.array([0, 1.25]),
    plus_minus_weights(2, 0.5),
    0.2,
)
"""Three points with all margins 1."""


def test_it_holds():
    evidence = proposition_1_1(random_points(Scale.QUICK, 0))
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
    return Landscape(np.ones((1, 1)), np.ones(1), np.ones(1), plus_minus_weights(2, 0.5), slope)


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
        (dataclasses.replace(ORIGIN, at_zero=1.0), 2, 0.8, 2 / 5),
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


SMALL = Point(dataclasses.replace(single(0.25), outputs=plus_minus_weights(2, 0.05)), np.full((4, 1), -0.1), 1.0)
"""An equality at 2kvα = 0.05."""


@pytest.mark.parametrize("point", [OFF, ORIGIN, SMALL])
def test_control_a_bound_that_is_a_little_too_large(point):
    assert answers_in(proposition_1_1([point], factor=1 + 1e-10)) == [True, True, True]
    assert answers_in(proposition_1_1([point], factor=1 + 5e-9)) == [False, False, True]


def test_the_gradient_beside_its_kinks():
    """One point x = 1, k = 1, v = 1, α = ¼, σ'(0) = ½: at z = 0.05 the neuron is on, and y N(x) = 1 is solved."""
    scape = Landscape(np.ones((1, 1)), np.ones(1), np.ones(1), plus_minus_weights(1, 1.0), 0.25)
    slopes, active = gradient(Point(scape, np.array([[0.05], [0.0]]), 0.5))
    assert (slopes.ravel().tolist(), active) == ([-1.0, 0.5], 1.0)
    slopes, active = gradient(Point(scape, np.array([[1.0], [0.0]]), 0.5))
    assert (np.abs(slopes).max(), active) == (0.0, 0.0)


def test_control_relu_with_every_neuron_off_is_critical():
    """α = 0: the gradient is 0 and the loss 1."""
    point = Point(single(0.0), np.full((4, 1), -0.1), 0.0)
    evidence = proposition_1_1([point])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert answers_in(evidence) == [None, None, False]
    assert evidence.details["critical_points_met"] == 1
    assert point.landscape.loss(point.hidden) == 1


def test_control_contradictory_data_has_a_critical_point_with_positive_loss():
    scape = Landscape(np.ones((2, 1)), np.array([1.0, -1.0]), np.ones(1), plus_minus_weights(1, 1.0), 0.5)
    evidence = proposition_1_1([Point(scape, np.zeros((2, 1)), 1.0)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


def test_control_proposition_1_1_without_the_slope():
    """The bound with 1 in place of α fails at the point where the true one is an equality."""
    assert proposition_1_1([OFF]).tightness == 1
    assert proposition_1_1([OFF], leak=1.0).verdict is Verdict.VIOLATED


def test_only_points_of_zero_loss_decide_nothing():
    point = Point(single(0.25), np.array([[5.0], [5.0], [-5.0], [-5.0]]), 1.0)
    assert proposition_1_1([point]).verdict is Verdict.INSUFFICIENT_EVIDENCE


@pytest.mark.parametrize(("point", "slope", "values"), [([0.6, 0.8], 0.2, (0, 6 / 5, 1)), ([2.0], 0.75, (0, 7, 4))])
def test_the_papers_three_points(point, slope, values):
    pair = OnePair(np.array(point), slope)
    assert [pair.value(factor * pair.point) for factor in (1.0, -1.0, 0.0)] == pytest.approx(values)


START = Point(THREE, np.array([[-0.3, -0.4], [0.1, 0.2], [0.4, 0.3], [-0.1, 0.25]]), 1.0)
"""−⟨∇L, W*⟩ = 1.3333, ‖∇L‖‖W*‖ = 1.3532 and 2kvα·a(W) = 0.4."""


def flat(point):
    """A gradient of 0, planted."""
    slopes, active = gradient(point)
    return 0 * slopes, active


def test_a_critical_point_of_small_loss_is_seen_too():
    """N(1) = 0.95."""
    nearly = Point(single(0.25), np.array([[0.95], [0.95], [0.0], [0.0]]), 1.0)
    assert nearly.landscape.loss(nearly.hidden) == pytest.approx(0.05)
    evidence = proposition_1_1([nearly], slopes_at=lambda point: (0 * point.hidden, 0.0))
    assert answers_in(evidence) == [None, None, False]


def certified(balanced, **changes):
    """The first certificate of a kind with other numbers, given as functions of what it was."""
    changed = list(MATERIAL)
    place = next(place for place, each in enumerate(MATERIAL) if each.certificate.balanced == balanced)  # pyright: ignore[reportOptionalMemberAccess]
    found = MATERIAL[place].certificate
    fields = {name: change(found) for name, change in changes.items()}
    changed[place] = dataclasses.replace(MATERIAL[place], certificate=dataclasses.replace(found, **fields))  # pyright: ignore[reportArgumentType]
    return at(changed)


def predicted(balanced, factor):
    return certified(balanced, predicted=lambda found: factor * found.predicted)


@pytest.mark.parametrize(("balanced", "key"), [(False, "from_zero"), (True, "on_balanced")])
def test_a_closed_form_that_was_lost_is_no_missing_certificate(balanced, key):
    """All certificates of a kind are there, and what they predict is NaN."""
    lost = [
        dataclasses.replace(each, certificate=dataclasses.replace(each.certificate, predicted=np.nan))  # pyright: ignore[reportArgumentType]
        if each.certificate.balanced == balanced  # pyright: ignore[reportOptionalMemberAccess]
        else each
        for each in MATERIAL
    ]
    found = proposition_1_2(lost)
    assert found.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert [part.key for part in found.parts if part.kept is None] == [key]


def with_factors(opposite=1.0, halfway=1.0, excess=1.0):
    return {"factors": (opposite, halfway, excess)}


class Planted(OnePair):
    """Values of f that are not those of the network."""

    def value(self, u):
        """0.5, 1.5 and 1 at the three places: the middle is the mean."""
        return {1.0: 0.5, -1.0: 1.5, 0.0: 1.0}[float(np.sign(u[0]))]


def beside(pair):
    return at([*PAIRS, pair])


MATERIAL = certified_landscapes(Scale.QUICK, 0)[:6]
PAIRS = [OnePair(np.array([0.6, 0.8]), 0.2), OnePair(np.array([2.0]), 0.75)]
GRADIENT, GAPS, EXAMPLE = proposition_1_1, proposition_1_2, proposition_1_2_own_example
FAR = OnePair(np.array([1.0]), 0.2)
test_control = controls(
    landscape,
    {Point: [START, OFF], Certified: MATERIAL, OnePair: PAIRS},
    (GRADIENT, "descent", at(START, factor=3.33), at(START, factor=3.34)),
    (GRADIENT, "descent", at(OFF, factor=1 + 1e-10), at(OFF, factor=1 + 5e-9), "length"),
    # By Cauchy and Schwarz the gradient is too short only where the inner product is too small.
    (GRADIENT, "length", at([OFF, ORIGIN], factor=1 + 1e-10), at([OFF, ORIGIN], factor=1 + 5e-9), "descent"),
    # Planted; without a bound (α taken as 0) nothing else is promised.
    (GRADIENT, "not_critical", {}, {"leak": 0.0, "slopes_at": flat}),
    (GRADIENT, "derivative_above_slope", {"at_zero": 0.25}, {"at_zero": 0.25 - 1e-15}),
    (GAPS, "from_zero", predicted(False, 1 + 1e-8), predicted(False, 1 + 5e-6)),
    (GAPS, "from_zero", predicted(False, 1 - 1e-8), predicted(False, 1 - 5e-6)),
    (GAPS, "on_balanced", predicted(True, 1 + 1e-8), predicted(True, 1 + 5e-6)),
    (GAPS, "on_balanced", predicted(True, 1 - 1e-8), predicted(True, 1 - 5e-6)),
    (GAPS, "gap", {}, certified(True, measured=lambda found: 0.0, predicted=lambda found: 1e-13)),
    (EXAMPLE, "excess", with_factors(excess=1 + 1e-13), with_factors(excess=1 + 5e-12)),
    (EXAMPLE, "excess", with_factors(excess=1 - 1e-13), with_factors(excess=1 - 5e-12)),
    (EXAMPLE, "opposite", with_factors(opposite=1 - 1e-13), with_factors(opposite=1 - 5e-12)),
    (EXAMPLE, "opposite", with_factors(opposite=1 + 1e-13), with_factors(opposite=1 + 5e-12)),
    (EXAMPLE, "halfway", with_factors(halfway=1 + 1e-13), with_factors(halfway=1 + 5e-12)),
    (EXAMPLE, "halfway", with_factors(halfway=1 - 1e-13), with_factors(halfway=1 - 5e-12)),
    (EXAMPLE, "same", at(FAR, same=1e-13), at(FAR, same=5e-12), "excess"),
    (EXAMPLE, "same", at(FAR, same=-1e-13), at(FAR, same=-5e-12), "excess"),
    (EXAMPLE, "same", {}, beside(Planted(np.array([1.0]), 0.2)), "excess", "exceeds", "opposite"),
    # α = 1 − 1e-15: all values are right, and the midpoint is hardly above the mean.
    (EXAMPLE, "exceeds", beside(OnePair(np.array([1.0]), 1 - 1e-6)), beside(OnePair(np.array([1.0]), 1 - 1e-15))),
)


def test_the_pinned_gaps():
    """Two sets where the certificate is exact: 1/60 and 1/320; and the balanced one, 1/288."""
    first = Landscape(
        np.array([[0.6, 0.8], [0.5, 0.0]]), np.array([1.0, -1.0]), np.zeros(2), plus_minus_weights(2, 0.5), 0.2
    )
    z, s = np.array([1.0, 0.0]), 5 / 6
    rows = np.concatenate([np.tile(s * z, (2, 1)), np.zeros((2, 2))])
    gap = first.loss(np.zeros((4, 2))) - (first.loss(rows) + first.loss(-rows)) / 2
    assert gap == pytest.approx(1 / 60)
    second = Landscape(
        np.array([[0.8, 0.0], [0.1, 0.5], [0.2, -0.5]]),
        np.array([-1.0, 1.0, 1.0]),
        np.zeros(2),
        plus_minus_weights(1, 3.0),
        0.7,
    )
    row = 5 / 24 * np.array([1.0, 1.0])
    q = float(second.labels @ np.abs(second.inputs @ [1.0, 1.0]))
    rows = np.stack([row, 0 * row] if q > 0 else [0 * row, row])
    gap = second.loss(np.zeros((2, 2))) - (second.loss(rows) + second.loss(-rows)) / 2
    assert gap == pytest.approx(1 / 320)
