"""The printed examples of Section 6.3: how many samples a small network needs."""

import math

import numpy as np
import pytest

from tests.control_table import broken_in, controls
from tests.papers.brutzkus2019.claims.networks import number
from widenet.claims import Verdict
from widenet.papers.brutzkus2019.claims import sample_gap
from widenet.papers.brutzkus2019.claims.sample_gap import (
    section_6_3_examples,
    theorem_6_5_large_network,
    theorem_6_5_small_network,
)
from widenet.papers.brutzkus2019.formulas import samples_of_small_network, smallest_delta
from widenet.papers.brutzkus2019.runs.printed_examples import EXAMPLES, Examples, as_examples, printed_examples
from widenet.records import Scale

PRINTED = printed_examples(Scale.QUICK, 0)


def times(factor):
    return {"bound": lambda *law: factor * samples_of_small_network(*law)}


def second(name, value):
    """Another number of the second example."""
    return {name: np.array([getattr(PRINTED, name)[0], value])}


def constant(hard, easy, other=1.0):
    """m_2 of the two examples, and of all other shares."""
    return {"bound": lambda share, _, delta: {0.98: hard, 0.92: easy}.get(share, other)}


def gaps(share):
    return {"without_gap": np.array([0.7, share])}


test_control = controls(
    sample_gap,
    {Examples: PRINTED},
    (section_6_3_examples, "hard_share"),
    # 17.48 samples; a number above it is not what it rounds down to either.
    (section_6_3_examples, "at_least_printed", {}, second("claimed", 18.0), "as_printed"),
    (section_6_3_examples, "at_least_printed", constant(129.0, 17.0), constant(129 - 1e-9, 17.0), "as_printed"),
    (section_6_3_examples, "as_printed", times(1.002), times(1.03)),
    (section_6_3_examples, "as_printed", {}, second("claimed", 18.0), "at_least_printed"),
    (section_6_3_examples, "no_gap", constant(129.0, 17.0, 2 - 1e-9), constant(129.0, 17.0, 2.0)),
    (section_6_3_examples, "no_gap", gaps(0.77102), gaps(0.77103)),
    but=(theorem_6_5_large_network, theorem_6_5_small_network),
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
    evidence = section_6_3_examples(PRINTED, **times(0.5))
    assert evidence.verdict is Verdict.VIOLATED
    assert math.isclose(number(evidence.measured), 64.87, abs_tol=0.01)


def test_a_narrow_network_that_needs_two_samples_is_no_gap_either_way():
    """m_2 must be below m_1 = 2."""
    evidence = section_6_3_examples(PRINTED, bound=lambda *law: 2.0)
    assert "no_gap" in broken_in(evidence)
    assert "no_gap" not in broken_in(section_6_3_examples(PRINTED, bound=lambda *law: 2 - 1e-9))


def test_no_sample_at_all_says_nothing():
    for samples, vacuous in ((0, True), (1, False)):
        none = PRINTED.replace(claimed=np.full(2, float(samples)))
        assert section_6_3_examples(none).parts[0].vacuous is vacuous


def test_control_another_smallest_share():
    other = EXAMPLES[1].model_copy(update={"largest_error": 0.0201})
    evidence = section_6_3_examples(as_examples((EXAMPLES[0], other), PRINTED.without_gap))
    assert broken_in(evidence) == ["hard_share"]


@pytest.mark.parametrize(("share", "gap"), [(0.77, False), (0.78, True)])
def test_control_a_share_with_a_gap(share, gap):
    """The gap begins at 0.771028."""
    wider = PRINTED.replace(without_gap=np.array([0.7, share]))
    assert broken_in(section_6_3_examples(wider)) == (["no_gap"] if gap else [])
