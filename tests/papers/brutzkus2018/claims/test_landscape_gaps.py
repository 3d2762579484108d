"""Proposition 1.2: gaps between segments and their closed forms, and the example of the paper."""

import dataclasses

import numpy as np
import pytest

from tests.controls import (
    answers_in,
    breaks_hypothesis,
    breaks_part,
    broken_in,
    every_part_of,
    hypothesis_edges,
    lacking_in,
    part_edges,
)
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims import landscape
from widenet.papers.brutzkus2018.claims.landscape import (
    Certified,
    OnePair,
    certified_landscapes,
    proposition_1_1,
    proposition_1_2,
    proposition_1_2_own_example,
    random_pairs,
)
from widenet.papers.brutzkus2018.runs.nonconvexity import certify
from widenet.records import Scale


@pytest.mark.parametrize("claim", [proposition_1_2, proposition_1_2_own_example], ids=lambda claim: claim.name)
def test_gaps_hold(claim):
    evidence = claim(claim.draws(Scale.QUICK, 0))
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.tightness == pytest.approx(1)


def test_control_a_linear_network_has_a_convex_loss():
    """α = 1: no certificate anywhere, and what is not found decides nothing."""
    linear = [dataclasses.replace(each.landscape, slope=1.0) for each in certified_landscapes(Scale.QUICK, 0)]
    evidence = proposition_1_2([Certified(scape, certify(scape)) for scape in linear])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is None
    assert evidence.details["certificates"] == 0
    assert lacking_in(evidence) == ["slope_below_one"]


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
    assert answers_in(evidence) == [True, False, True, True, True]


@pytest.mark.parametrize(
    ("factors", "expected"),
    [
        ((1.001, 1.0, 1.0), [True, True, True, False, True]),
        ((1.0, 1.001, 1.0), [True, True, True, True, False]),
        ((1.0, 1.0, 1.001), [False, True, True, True, True]),
    ],
)
def test_control_each_value_of_the_papers_example(factors, expected):
    assert answers_in(proposition_1_2_own_example(random_pairs(Scale.QUICK, 0), factors=factors)) == expected


def test_control_the_papers_three_points_say_nothing_about_the_loss_of_a_positive_sample():
    evidence = proposition_1_2_own_example(random_pairs(Scale.QUICK, 0))
    assert evidence.details["hinge_not_convex_here_for_label_plus"] == 0
    assert evidence.details["hinge_not_convex_here_for_label_minus"] == evidence.details["pairs"]


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


test_every_part_has_a_control = every_part_of(landscape, elsewhere=(proposition_1_1,))
