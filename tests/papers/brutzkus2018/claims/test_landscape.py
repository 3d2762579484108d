"""Proposition 1 holds, and its checks fail where they must."""

import dataclasses

import numpy as np
import pytest

from tests.controls import breaks_hypothesis, breaks_part, broken_in, every_part_of, hypothesis_edges, part_edges
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims import landscape
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


SMALL = Point(dataclasses.replace(single(0.25), outputs=votes(2, 0.05)), np.full((4, 1), -0.1), 1.0)
"""An equality at 2kvα = 0.05."""


@pytest.mark.parametrize("point", [OFF, ORIGIN, SMALL])
def test_control_a_bound_that_is_a_little_too_large(point):
    assert answers(proposition_1_1([point], factor=1 + 1e-10)) == [True, True, True]
    assert answers(proposition_1_1([point], factor=1 + 5e-9)) == [False, False, True]


def test_the_gradient_beside_its_kinks():
    """One point x = 1, k = 1, v = 1, α = ¼, σ'(0) = ½: at z = 0.05 the neuron is on, and y N(x) = 1 is solved."""
    scape = Landscape(np.ones((1, 1)), np.ones(1), np.ones(1), votes(1, 1.0), 0.25)
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


def test_a_certificate_that_is_missing_decides_nothing():
    missing = [dataclasses.replace(certified_landscapes(Scale.QUICK, 0)[0], certificate=None)]
    evidence = proposition_1_2(missing)
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert "1 of 1" in evidence.note
    assert [part.name for part in evidence.parts] == ["a positive gap"]


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


def test_control_the_papers_three_points_say_nothing_about_the_loss_of_a_positive_sample():
    evidence = proposition_1_2_own_example(random_pairs(Scale.QUICK, 0))
    assert evidence.details["hinge_not_convex_here_for_label_plus"] == 0
    assert evidence.details["hinge_not_convex_here_for_label_minus"] == evidence.details["pairs"]


START = Point(THREE, np.array([[-0.3, -0.4], [0.1, 0.2], [0.4, 0.3], [-0.1, 0.25]]), 1.0)
"""−⟨∇L, W*⟩ = 1.3333, ‖∇L‖‖W*‖ = 1.3532 and 2kvα·a(W) = 0.4."""
INNER, LENGTH, CRITICAL = (
    "−⟨∇L, W*⟩ ≥ 2kvα·a(W)",
    "‖∇L‖ ≥ √(2k)vα·a(W)/‖w*‖",
    "a gradient other than 0 wherever the loss is positive",
)


@breaks_part(proposition_1_1, INNER)
def test_control_the_inner_product_alone():
    return proposition_1_1([START], factor=3.33), proposition_1_1([START], factor=3.34)


@breaks_part(proposition_1_1, LENGTH, also=(INNER,))
def test_control_the_length_falls_with_the_inner_product():
    """By Cauchy and Schwarz the gradient is too short only where the inner product is too small."""
    return proposition_1_1([OFF, ORIGIN]), proposition_1_1([OFF, ORIGIN], factor=1.001)


@breaks_part(proposition_1_1, CRITICAL)
def test_control_a_critical_point_of_positive_loss():
    """Planted; without a bound (α taken as 0) nothing else is promised."""

    def flat(point):
        slopes, active = gradient(point)
        return 0 * slopes, active

    return proposition_1_1([OFF]), proposition_1_1([START, OFF], leak=0.0, slopes_at=flat)


def test_a_critical_point_of_small_loss_is_seen_too():
    """N(1) = 0.95."""
    nearly = Point(single(0.25), np.array([[0.95], [0.95], [0.0], [0.0]]), 1.0)
    assert nearly.landscape.loss(nearly.hidden) == pytest.approx(0.05)
    evidence = proposition_1_1([nearly], slopes_at=lambda point: (0 * point.hidden, 0.0))
    assert answers(evidence) == [None, None, False]


def scaped(**changes):
    return dataclasses.replace(single(0.25), **changes)


def beside(point=OFF, **changes):
    """Another point beside one that meets everything."""
    return proposition_1_1([START, dataclasses.replace(point, **changes)])


test_control_the_hypotheses_of_proposition_1_1 = hypothesis_edges(
    proposition_1_1,
    beside,
    derivative_above_slope=({"at_kink": 0.25}, {"at_kink": 0.25 - 1e-15}),
    derivative_at_zero=({"at_kink": 1.0}, {"at_kink": 1 + 1e-15}),
    separable=({}, {"landscape": scaped(separator=np.full(1, 1 - 5e-12))}),
    output_weight=({"landscape": scaped(outputs=votes(2, 1e-9))}, {"landscape": scaped(outputs=np.zeros(4))}),
    slope_positive=({"landscape": single(1e-6)}, {"landscape": single(0.0)}),
)


GENERAL, BALANCED, GAP_PART = (
    "the gap from W = 0 has its closed form",
    "the gap on balanced data has its closed form",
    "a positive gap",
)
MATERIAL = certified_landscapes(Scale.QUICK, 0)[:6]


def certified(balanced=None, scape=None, **changes):
    """The first certificate of a kind with other numbers, given as functions of what it was; or another landscape."""
    changed, found = [], False
    for each in MATERIAL:
        if not found and balanced is not None and each.certificate.balanced == balanced:  # pyright: ignore[reportOptionalMemberAccess]
            fields = {name: change(each.certificate) for name, change in changes.items()}
            each, found = dataclasses.replace(each, certificate=dataclasses.replace(each.certificate, **fields)), True  # pyright: ignore[reportArgumentType]
        changed.append(each)
    if scape is not None:
        changed[-1] = dataclasses.replace(changed[-1], landscape=dataclasses.replace(changed[-1].landscape, **scape))
    return proposition_1_2(changed)


def times(factor):
    return {"predicted": lambda found: factor * found.predicted}


test_control_each_part_of_proposition_1_2 = part_edges(
    proposition_1_2,
    certified,
    {
        GENERAL: ({"balanced": False} | times(1 + 1e-8), {"balanced": False} | times(1 + 5e-6)),
        BALANCED: ({"balanced": True} | times(1 + 1e-8), {"balanced": True} | times(1 + 5e-6)),
        GAP_PART: (
            {},
            {"balanced": True, "measured": lambda found: 0.0, "predicted": lambda found: 1e-13},
        ),
    },
)


@pytest.mark.parametrize(("balanced", "part"), [(False, GENERAL), (True, BALANCED)])
def test_a_gap_above_its_closed_form_is_noticed_too(balanced, part):
    assert broken_in(certified(balanced, **times(1 - 5e-6))) == [part]


LAST = MATERIAL[-1].landscape
test_control_the_hypotheses_of_proposition_1_2 = hypothesis_edges(
    proposition_1_2,
    certified,
    separable=(
        {"scape": {"separator": LAST.separator / LAST.smallest_margin}},
        {"scape": {"separator": LAST.separator / LAST.smallest_margin * (1 - 5e-12)}},
    ),
    output_weight=({"scape": {"outputs": LAST.outputs * 1e-9}}, {"scape": {"outputs": 0 * LAST.outputs}}),
    slope_below_one=({"scape": {"slope": 1 - 1e-6}}, {"scape": {"slope": 1.0}}),
)

PAIRS = [OnePair(np.array([0.6, 0.8]), 0.2), OnePair(np.array([2.0]), 0.75)]
EXCESS, EXCEEDS, SAME, OPPOSITE, HALFWAY = (
    "the midpoint exceeds the mean by (1 − α)‖x‖²/2",
    "the midpoint exceeds the mean",
    "0 at (x, x)",
    "(1 + α)‖x‖² at (x, −x)",
    "‖x‖² halfway",
)


def example(opposite=1.0, halfway=1.0, excess=1.0, extra=None):
    return proposition_1_2_own_example([*PAIRS, *([extra] if extra else [])], factors=(opposite, halfway, excess))


test_control_each_part_of_the_papers_example = part_edges(
    proposition_1_2_own_example,
    example,
    {
        EXCESS: ({"excess": 1 + 1e-13}, {"excess": 1 + 5e-12}),
        OPPOSITE: ({"opposite": 1 - 1e-13}, {"opposite": 1 - 5e-12}),
        HALFWAY: ({"halfway": 1 + 1e-13}, {"halfway": 1 + 5e-12}),
    },
)


@pytest.mark.parametrize(
    ("change", "part"),
    [({"excess": 1 - 5e-12}, EXCESS), ({"opposite": 1 + 5e-12}, OPPOSITE), ({"halfway": 1 - 5e-12}, HALFWAY)],
)
def test_control_each_value_from_its_other_side(change, part):
    assert broken_in(example(**change)) == [part]


@pytest.mark.parametrize(
    ("value", "parts"), [(1e-13, []), (5e-12, [EXCESS, SAME]), (-1e-13, []), (-5e-12, [EXCESS, SAME])]
)
def test_control_a_first_end_near_zero(value, parts):
    """‖x‖ = 1, α = 0.2."""

    class NearZero(OnePair):
        def value(self, u):
            return super().value(u) if u[0] != 1 else value

    assert broken_in(example(extra=NearZero(np.array([1.0]), 0.2))) == parts


class Planted(OnePair):
    """Values of f that are not those of the network."""

    def value(self, u):
        """0.5, 1.5 and 1 at the three places: the middle is the mean."""
        return {1.0: 0.5, -1.0: 1.5, 0.0: 1.0}[float(np.sign(u[0]))]


@breaks_part(proposition_1_2_own_example, SAME, also=(EXCESS, EXCEEDS, OPPOSITE))
def test_control_a_value_at_the_first_end():
    return example(), example(extra=Planted(np.array([1.0]), 0.2))


@breaks_part(proposition_1_2_own_example, EXCEEDS)
def test_control_an_excess_that_is_within_rounding():
    """α = 1 − 1e-15: all values are right, and the midpoint is hardly above the mean."""
    return example(extra=OnePair(np.array([1.0]), 1 - 1e-6)), example(extra=OnePair(np.array([1.0]), 1 - 1e-15))


@breaks_hypothesis(proposition_1_2_own_example, "slope_below_one")
def test_control_a_straight_activation_is_no_example():
    return example(extra=OnePair(np.array([1.0]), 1 - 5e-12)), example(extra=OnePair(np.array([1.0]), 1.0))


@breaks_hypothesis(proposition_1_2_own_example, "nonzero_point")
def test_control_a_point_at_zero_is_no_example():
    return example(extra=OnePair(np.array([1e-9, 0.0]), 0.5)), example(extra=OnePair(np.zeros(2), 0.5))


def test_the_pinned_gaps():
    """Two sets where the certificate is exact: 1/60 and 1/320; and the balanced one, 1/288."""
    first = Landscape(np.array([[0.6, 0.8], [0.5, 0.0]]), np.array([1.0, -1.0]), np.zeros(2), votes(2, 0.5), 0.2)
    z, s = np.array([1.0, 0.0]), 5 / 6
    rows = np.concatenate([np.tile(s * z, (2, 1)), np.zeros((2, 2))])
    gap = first.loss(np.zeros((4, 2))) - (first.loss(rows) + first.loss(-rows)) / 2
    assert gap == pytest.approx(1 / 60)
    second = Landscape(
        np.array([[0.8, 0.0], [0.1, 0.5], [0.2, -0.5]]), np.array([-1.0, 1.0, 1.0]), np.zeros(2), votes(1, 3.0), 0.7
    )
    row = 5 / 24 * np.array([1.0, 1.0])
    q = float(second.labels @ np.abs(second.inputs @ [1.0, 1.0]))
    rows = np.stack([row, 0 * row] if q > 0 else [0 * row, row])
    gap = second.loss(np.zeros((2, 2))) - (second.loss(rows) + second.loss(-rows)) / 2
    assert gap == pytest.approx(1 / 320)


test_every_part_has_a_control = every_part_of(landscape)
