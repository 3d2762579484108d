"""Eq. 18: how large the output on a positive point is at zero loss, line by line."""

import numpy as np
import pytest

from tests.control_table import at, broken_in, controls
from tests.papers.brutzkus2019.claims.networks import altered, in_the_corner, many_in_the_corner, number, part
from tests.papers.brutzkus2019.claims.trained_edges import DEVIATION
from widenet.claims import Verdict
from widenet.data.xord import PATTERNS, SET_LABELS, set_index
from widenet.papers.brutzkus2019.claims import generalization
from widenet.papers.brutzkus2019.claims.generalization import equation_18, proposition_e_18, proposition_e_22
from widenet.papers.brutzkus2019.formulas import positive_output_limit
from widenet.papers.brutzkus2019.runs.trained import TrainedXord


@pytest.fixture(scope="module")
def corner() -> TrainedXord:
    return many_in_the_corner(1115)


POSITIVE, NEGATIVE = np.flatnonzero(SET_LABELS > 0), np.flatnonzero(SET_LABELS < 0)


def test_what_the_cones_give_and_what_all_u_can_take_by_hand():
    """Filters with fits (⟨·, p_1⟩, ⟨·, p_2⟩).

    First run: X(1) = 3, X(3) = 5, the third w is in no positive cone; P⁺ = 2 + 6, Y(2) + Y(4) = 4. Second run: both w's
    of the first two are in the cone of p_1, X(1) = 1 + 2; P⁺ = 0, Y = 1 + 2 + 3.
    """
    fits = np.array(
        [
            [[3.0, 1.0], [-5.0, 2.0], [1.0, 7.0], [2.0, 0.5], [0.5, -4.0], [-6.0, 1.0]],
            [[1.0, 0.5], [2.0, -0.5], [0.5, -9.0], [0.5, 1.0], [-0.5, 2.0], [0.5, -3.0]],
        ]
    )
    found = generalization.cone_against_minus(fits @ PATTERNS[:2] / 2)
    np.testing.assert_array_equal(found, [[3 - 12, 5 - 12], [3 - 6, 0 - 6]])


def above_its_cone(rooms) -> TrainedXord:
    """The output on {1} of one run lies this far above X(1) − P⁺ − Y, in units of what rounding may take."""
    runs = in_the_corner()
    between = generalization.cone_against_minus(runs.final)[3, 0]
    return altered(runs, outputs=((3, set_index(1)), between + rooms * 1e-9 * runs.step_size))


def chain(rooms) -> TrainedXord:
    """The u's of one run are scaled until X(i) − P⁺ − Y is this far above the limit, for the worse i."""
    runs = in_the_corner()
    fits = np.abs(runs.final[3] @ PATTERNS[:2].T).max(axis=1)
    cones_of = generalization.cone_against_minus(runs.final)[3] + fits[120:].sum()
    limit = positive_output_limit(120, runs.step_constant, 8.0)
    scale = (cones_of.min() - limit - rooms * 1e-9 * runs.step_size) / fits[120:].sum()
    return altered(runs, final=((3, slice(120, None)), scale * runs.final[3, 120:]))


test_control = controls(
    generalization,
    in_the_corner,
    (equation_18, "cones", at(lambda: above_its_cone(-0.5)), at(lambda: above_its_cone(-2))),
    (equation_18, "sums", at(lambda: chain(0.0)), at(lambda: chain(-3))),
    # Where X(i) − P⁺ − Y is above the limit, an output below it breaks the first line too.
    (
        equation_18,
        "output",
        {},
        at(lambda: altered(in_the_corner(), outputs=((3, set_index(1)), below_the_limit(2)))),
        "cones",
    ),
    (equation_18, *DEVIATION),
    but=(proposition_e_18, proposition_e_22),
)


def below_the_limit(rooms) -> float:
    runs = in_the_corner()
    return positive_output_limit(120, runs.step_constant, 8.0) - rooms * 1e-9 * runs.step_size


def test_an_output_within_rounding_of_the_limit():
    runs = altered(in_the_corner(), outputs=((3, set_index(1)), below_the_limit(0.5)))
    assert broken_in(equation_18([runs])) == ["cones"]


def test_each_positive_set_is_compared_with_each_of_its_patterns():
    """{1, 3} has two lines, {1} one; in all 8 + 8 pairs."""
    assert len(generalization.POSITIVE_CASES) == 16
    runs = in_the_corner()
    for place in POSITIVE:
        assert "cones" in broken_in(equation_18([altered(runs, outputs=((3, place), -9.0))]))
    for place in NEGATIVE:
        assert broken_in(equation_18([altered(runs, outputs=((3, place), -9.0))])) == []


def test_the_chain_of_equation_18_is_asked_inside_the_events_at_zero_loss():
    """One run with heavy u's and a low output, first at zero loss, then not."""
    runs = in_the_corner()
    heavy = {"final": ((0, slice(120, None)), 4 * runs.final[0, 120:]), "outputs": ((0, set_index(1)), -9.0)}
    assert broken_in(equation_18([altered(runs, **heavy)])) == ["output", "cones", "sums"]
    assert broken_in(equation_18([altered(runs, loss=(0, 1e-12), **heavy)])) == []


def test_control_a_larger_output_is_not_reached(corner):
    assert broken_in(equation_18([corner], limit=lambda k, c, gamma: 3.0)) == ["output", "sums"]


def test_control_a_limit_just_above_the_smallest_output():
    smallest = number(equation_18([in_the_corner()]).measured)
    assert "output" in broken_in(equation_18([in_the_corner()], limit=lambda k, c, gamma: smallest + 1e-6))
    assert "output" not in broken_in(equation_18([in_the_corner()], limit=lambda k, c, gamma: smallest - 1e-6))


def test_control_the_first_line_of_equation_18(corner):
    """The filters of its cone less all of u: an output on {3} below that by 1e-6."""
    evidence = equation_18([altered(corner, outputs=((slice(None), set_index(3)), 0.2))])
    assert evidence.verdict is Verdict.VIOLATED
    assert broken_in(evidence) == ["cones"]
    assert part(evidence, "cones").broken == 1115


def test_control_the_second_line_of_equation_18(corner):
    """All u filters four times as large: the chain is too low, whatever the outputs."""
    heavier = altered(corner, final=((slice(None), slice(120, None)), 4 * corner.final[:, 120:]))
    assert broken_in(equation_18([heavier])) == ["sums"]
