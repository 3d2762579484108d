"""The printed examples of Section 6.3: how many samples a small network needs."""

import math

import pytest

from tests.controls import breaks_hypothesis, breaks_part, broken_in, every_part_of, part_edges
from tests.papers.brutzkus2019.claims.networks import number
from widenet.claims import Verdict
from widenet.papers.brutzkus2019.claims import sample_gap
from widenet.papers.brutzkus2019.claims.sample_gap import (
    EXAMPLES,
    Example,
    equal_law,
    printed_examples,
    section_6_3_examples,
    theorem_6_5_large_network,
    theorem_6_5_small_network,
)
from widenet.papers.brutzkus2019.formulas import samples_of_small_network, smallest_delta
from widenet.records import Scale

HARD, EASY = (example.law for example in EXAMPLES)
PRINTED = printed_examples(Scale.QUICK, 0)


def examples(bound=1.0, without_gap=PRINTED.without_gap, **second):
    other = PRINTED.with_gap[1].model_copy(update=second)
    changed = PRINTED.model_copy(update={"with_gap": (PRINTED.with_gap[0], other), "without_gap": without_gap})
    return section_6_3_examples(changed, bound=lambda *law: bound * samples_of_small_network(*law))


AT_LEAST, FLOOR = "m_2 is at least the printed number", "m_2 rounded down is the printed number"


test_control_the_examples_part_by_part = part_edges(
    section_6_3_examples,
    examples,
    {
        FLOOR: ({"bound": 1.002}, {"bound": 1.03}),
        "p* is the printed limit of ε": ({"largest_error": 0.02 + 0.9e-12}, {"largest_error": 0.02 + 1.1e-12}),
        "no gap up to 0.7": ({"without_gap": (0.7, 0.77102)}, {"without_gap": (0.7, 0.77103)}),
    },
)


@breaks_part(section_6_3_examples, AT_LEAST, also=(FLOOR,))
def test_control_a_number_that_is_not_reached():
    """17.48 samples; a number above it is not what it rounds down to either."""
    return examples(samples=18)


@breaks_hypothesis(section_6_3_examples, "delta")
def test_control_a_delta_below_the_smallest():
    """0.158142969092 at p = 0.92."""
    return (
        examples(law=equal_law(0.92, 0.158142969093)),
        examples(law=equal_law(0.92, 0.158142969091), samples=17),
    )


def test_the_examples():
    evidence = section_6_3_examples(printed_examples(Scale.QUICK, 0))
    assert evidence.verdict is Verdict.HOLDS
    first, second = evidence.details["examples"]
    assert math.isclose(first["bound"], 129.74, abs_tol=0.01)
    assert math.isclose(second["bound"], 17.484525735048, rel_tol=1e-12)
    assert math.isclose(evidence.details["largest_bound_without_gap"], 0.82, abs_tol=0.01)
    assert math.isclose(samples_of_small_network(0.98, 0.98, smallest_delta(0.98, 0.98)), 135.22, abs_tol=0.01)


def test_control_a_factor_of_two():
    evidence = section_6_3_examples(
        printed_examples(Scale.QUICK, 0), bound=lambda *law: samples_of_small_network(*law) / 2
    )
    assert evidence.verdict is Verdict.VIOLATED
    assert math.isclose(number(evidence.measured), 64.87, abs_tol=0.01)


def test_control_a_bound_that_rounds_to_another_number():
    evidence = section_6_3_examples(
        printed_examples(Scale.QUICK, 0), bound=lambda *law: 1.03 * samples_of_small_network(*law)
    )
    assert broken_in(evidence) == ["m_2 rounded down is the printed number"]


def test_control_a_printed_limit_of_the_error_that_is_too_small():
    assert broken_in(examples(largest_error=0.02 - 0.9e-12)) == []
    assert broken_in(examples(largest_error=0.02 - 1.1e-12)) == ["p* is the printed limit of ε"]


def test_a_narrow_network_that_needs_two_samples_is_no_gap_either_way():
    """m_2 must be below m_1 = 2."""
    evidence = section_6_3_examples(PRINTED, bound=lambda *law: 2.0)
    assert "no gap up to 0.7" in broken_in(evidence)
    assert "no gap up to 0.7" not in broken_in(section_6_3_examples(PRINTED, bound=lambda *law: 2 - 1e-9))


def test_no_sample_at_all_says_nothing():
    for samples, vacuous in ((0, True), (1, False)):
        none = tuple(each.model_copy(update={"samples": samples}) for each in PRINTED.with_gap)
        assert section_6_3_examples(PRINTED.model_copy(update={"with_gap": none})).parts[0].vacuous is vacuous


def test_control_another_smallest_share():
    printed = printed_examples(Scale.QUICK, 0)
    other = Example(law=EASY, largest_error=0.0201, samples=17)
    evidence = section_6_3_examples(printed.model_copy(update={"with_gap": (printed.with_gap[0], other)}))
    assert broken_in(evidence) == ["p* is the printed limit of ε"]


@pytest.mark.parametrize(("share", "gap"), [(0.77, False), (0.78, True)])
def test_control_a_share_with_a_gap(share, gap):
    """The gap begins at 0.771028."""
    wider = printed_examples(Scale.QUICK, 0).model_copy(update={"without_gap": (0.7, share)})
    assert broken_in(section_6_3_examples(wider)) == (["no gap up to 0.7"] if gap else [])


test_every_part_has_a_control = every_part_of(
    sample_gap, elsewhere=(theorem_6_5_large_network, theorem_6_5_small_network)
)
