"""Multiples of W* have loss 0, W* itself not always: the judges tell the difference."""

from fractions import Fraction

import numpy as np
import pytest

from tests.control_table import at, broken_in, controls, spared
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims import zero_loss
from widenet.papers.brutzkus2018.claims.zero_loss import (
    section_2_zero_minimum,
    separator_is_global_minimum,
    separator_is_global_minimum_as_printed,
)
from widenet.papers.brutzkus2018.runs.separated import (
    ExactPoint,
    Separated,
    cases_around_one,
    exact_points,
    separated_cases,
)
from widenet.records import Scale


def one_point(half_width, output_weight, slope):
    return Separated(np.ones((1, 1)), np.ones(1), np.ones(1), half_width, output_weight, slope)


def both(half_width, output_weight, slope):
    return [one_point(half_width, output_weight, slope), one_point(half_width, output_weight, 0.0)]


def test_the_verdicts_are_the_expected_ones():
    assert section_2_zero_minimum(separated_cases(Scale.QUICK, 0)).verdict is Verdict.HOLDS
    assert separator_is_global_minimum(cases_around_one(Scale.QUICK, 0)).verdict is Verdict.HOLDS
    assert separator_is_global_minimum_as_printed(exact_points(Scale.QUICK, 0)).verdict is Verdict.VIOLATED


BOTH = [Separated(np.ones((1, 1)), np.ones(1), np.ones(1), 2, 0.75, slope) for slope in (0.2, 0.0)]


def shrunk(which, by):
    """s·W* with a smaller s for one activation."""
    return {"share": lambda case: 1 - by * (case.slope == which)}


def test_what_s_is():
    """x = w* = 1, k = 2, v = 3/4: s = 5/9 for α = 1/5 and 2/3 for ReLU, and neither serves the other exactly."""
    leaky, relu = BOTH
    assert (1 / leaky.gain, 1 / relu.gain) == pytest.approx((5 / 9, 2 / 3))
    assert leaky.outputs(2 / 3 * leaky.stacked())[0] == pytest.approx(6 / 5)
    assert relu.mean_hinge(5 / 9 * relu.stacked()) == pytest.approx(1 / 6)


def test_one_activation_alone_does_not_decide_both():
    assert section_2_zero_minimum([one_point(3, 0.7, 0.3)]).verdict is Verdict.INSUFFICIENT_EVIDENCE


EDGES = [one_point(1, weight, 0.25) for weight in (0.8, 0.79, 2 / 3)]
"""kv(1 + α) = 1, 79/80, 5/6; with 1 + 2α the last were 1."""


def test_where_the_loss_of_the_separator_begins():
    assert [case.reach for case in EDGES] == pytest.approx([1, 79 / 80, 5 / 6])
    assert [case.mean_hinge(case.stacked()) for case in EDGES] == pytest.approx([0, 1 / 80, 1 / 6])
    narrow = one_point(1, 0.5**0.5, 0.1)
    assert narrow.mean_hinge(narrow.stacked()) == pytest.approx(1 - 1.1 / 2**0.5)
    drawn = cases_around_one(Scale.QUICK, 0)
    assert [case.output_weight for case in drawn[-3:]] == [case.output_weight for case in EDGES]


@pytest.mark.parametrize(("share", "fails"), [(1.9e-12, []), (2.1e-12, ["outputs"])])
def test_control_the_room_of_an_output_below_one(share, fails):
    """N = ½ has the room of an output of 1: 1e-12."""
    small = one_point(1, 0.4, 0.25)
    evidence = separator_is_global_minimum([small], weights=lambda case: (1 + share) * case.stacked())
    assert broken_in(evidence) == fails


@pytest.mark.parametrize(("share", "count"), [(1e-13, 0), (5e-12, 2)])
def test_a_loss_at_the_separator_is_known_to_rounding(share, count):
    """kv(1 + α) = 1 with W* shorter by so much: the loss is `share`, and N is off by it too."""
    evidence = separator_is_global_minimum(EDGES, weights=lambda case: (1 - share) * case.stacked())
    assert len(broken_in(evidence)) == count
    assert evidence.parts[0].kept is (count == 0)


def test_the_whole_of_s_is_taken():
    assert zero_loss.whole(EDGES[0]) == 1


def test_a_small_loss_violates_the_printed_statement():
    """kv(1 + α) = 19/20."""
    point = ExactPoint(1, Fraction(19, 22), Fraction(1, 10))
    assert separator_is_global_minimum_as_printed([point]).verdict is Verdict.VIOLATED


def test_the_printed_statement_fails_exactly_where_the_condition_does():
    """In fractions: kv(1 + α) = 11/20 fails, 11/10 does not; two derivations of the same loss."""
    failing, holding = ExactPoint(1, Fraction(1, 2), Fraction(1, 10)), ExactPoint(2, Fraction(1, 2), Fraction(1, 10))
    evidence = separator_is_global_minimum_as_printed([failing])
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured == float(Fraction(9, 20))
    assert one_point(1, 0.5, 0.1).mean_hinge(one_point(1, 0.5, 0.1).stacked()) == pytest.approx(0.45)
    assert separator_is_global_minimum_as_printed([holding]).verdict is Verdict.HOLDS


def twice(case):
    """The reach with the slope counted twice."""
    return case.reach * (1 + 2 * case.slope) / (1 + case.slope)


def off(share):
    """One row of the separator is off: at kv(1 + α) = 2 the loss stays 0, at 79/80 it stays positive."""

    def weights(case):
        hidden = case.stacked()
        hidden[0] *= 1 + share
        return hidden

    return at([one_point(2, 0.8, 0.25), EDGES[1]], weights=weights)


def shorter(share):
    """W* shorter by this share."""
    return at(EDGES[:2], weights=lambda case: (1 - share) * case.stacked())


MULTIPLE, GLOBAL, PRINTED = section_2_zero_minimum, separator_is_global_minimum, separator_is_global_minimum_as_printed
WIDER = [*EDGES, one_point(2, 0.8, 0.25)]
SOUND = ExactPoint(2, Fraction(1, 2), Fraction(1, 10))
test_control = controls(
    zero_loss,
    {MULTIPLE: BOTH, GLOBAL: EDGES, PRINTED: SOUND},
    (PRINTED, "zero_loss"),
    (MULTIPLE, "leaky_relu", shrunk(0.2, 1e-10), shrunk(0.2, 1e-6)),
    (MULTIPLE, "relu", shrunk(0.0, 1e-10), shrunk(0.0, 1e-6)),
    (GLOBAL, "zero_loss", {}, {"reach": twice}),
    (GLOBAL, "zero_loss", shorter(1e-13), shorter(5e-12), "outputs"),
    (GLOBAL, "positive", at(WIDER), at(WIDER, reach=lambda case: case.reach * (1 - 5e-12))),
    (GLOBAL, "outputs", off(0.0), off(5e-12)),
    (GLOBAL, "outputs", off(0.0), off(-5e-12)),
)


def test_a_wider_network_keeps_the_printed_statement():
    spared(PRINTED, at(SOUND))
