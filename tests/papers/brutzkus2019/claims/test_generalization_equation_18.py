"""Eq. 18: how large the output on a positive point is at zero loss, line by line."""

import dataclasses

import numpy as np
import pytest

from tests.controls import breaks_part, broken_in, every_part_of
from tests.papers.brutzkus2019.claims.networks import altered, in_the_corner, many_in_the_corner, number, part
from tests.papers.brutzkus2019.claims.trained_edges import declared, edges, narrowed
from widenet.claims import Verdict
from widenet.data.xord import PATTERNS, SET_LABELS, set_index
from widenet.papers.brutzkus2019.claims import generalization
from widenet.papers.brutzkus2019.claims.generalization import equation_18, proposition_e_18, proposition_e_22
from widenet.papers.brutzkus2019.formulas import positive_output_limit
from widenet.papers.brutzkus2019.runs.trained import Trained

OUTPUT, FIRST, SECOND = (
    "N(z) is at least the limit",
    "N(z) ≥ X(i) − P⁺ − Y(2) − Y(4)",
    "X(i) − P⁺ − Y(2) − Y(4) is at least the limit",
)


def many(n_runs: int = 1115) -> Trained:
    """As many runs as 8e⁻⁸ needs."""
    return many_in_the_corner(n_runs)


@pytest.fixture(scope="module")
def corner() -> Trained:
    return many()


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
    found = generalization._cone_against_minus(fits @ PATTERNS[:2] / 2)
    np.testing.assert_array_equal(found, [[3 - 12, 5 - 12], [3 - 6, 0 - 6]])


def at_least_limit(value):
    """Eq. 18 where the output on {1} of one run is such that it is this much above X(1) − P⁺ − Y."""
    runs = in_the_corner()
    between = generalization._cone_against_minus(runs.final)[3, 0]
    return equation_18([altered(runs, outputs=((3, set_index(1)), between + value))])


def room() -> float:
    """What rounding may take: 1e-9 of a step."""
    return 1e-9 * in_the_corner().step_size


@breaks_part(equation_18, FIRST)
def test_control_an_output_just_below_what_its_cone_gives():
    return at_least_limit(-0.5 * room()), at_least_limit(-2 * room())


def chain(value):
    """Eq. 18 where the u's of one run are scaled until X(i) − P⁺ − Y is this much above the limit, for the worse i."""
    runs = in_the_corner()
    fits = np.abs(runs.final[3] @ PATTERNS[:2].T).max(axis=1)
    cones_of = generalization._cone_against_minus(runs.final)[3] + fits[120:].sum()
    limit = positive_output_limit(120, runs.step_constant, 8.0)
    scale = (cones_of.min() - limit - value) / fits[120:].sum()
    return equation_18([altered(runs, final=((3, slice(120, None)), scale * runs.final[3, 120:]))])


@breaks_part(equation_18, SECOND)
def test_control_a_chain_just_below_the_limit():
    return chain(0.0), chain(-3 * room())


@breaks_part(equation_18, OUTPUT, also=(FIRST,))
def test_control_an_output_below_the_limit():
    """X(i) − P⁺ − Y is above the limit, so an output below it breaks the first line too."""
    runs = in_the_corner()
    limit = positive_output_limit(120, runs.step_constant, 8.0)
    assert broken_in(equation_18([altered(runs, outputs=((3, set_index(1)), limit - 0.5 * room()))])) == [FIRST]
    return equation_18([altered(runs, outputs=((3, set_index(1)), limit - 2 * room()))])


def test_each_positive_set_is_compared_with_each_of_its_patterns():
    """{1, 3} has two lines, {1} one; in all 8 + 8 pairs."""
    assert len(generalization.POSITIVE_CASES) == 16
    runs = in_the_corner()
    for place in POSITIVE:
        assert FIRST in broken_in(equation_18([altered(runs, outputs=((3, place), -9.0))]))
    for place in NEGATIVE:
        assert broken_in(equation_18([altered(runs, outputs=((3, place), -9.0))])) == []


def test_the_chain_of_equation_18_is_asked_inside_the_events_at_zero_loss():
    """One run with heavy u's and a low output, first at zero loss, then not."""
    runs = in_the_corner()
    heavy = {"final": ((0, slice(120, None)), 4 * runs.final[0, 120:]), "outputs": ((0, set_index(1)), -9.0)}
    assert broken_in(equation_18([altered(runs, **heavy)])) == [OUTPUT, FIRST, SECOND]
    assert broken_in(equation_18([altered(runs, loss=(0, 1e-12), **heavy)])) == []


def with_width(claim, half_width):
    return claim([narrowed(in_the_corner(), half_width)])


def at(claim, **fields):
    return claim([dataclasses.replace(in_the_corner(), **fields)])


EIGHTH = {"step_size": 1 / 960}, {"step_size": 1 / 960 + 1e-9}


test_control_equation_18_at_its_edges = declared(
    equation_18,
    {
        **edges(lambda runs: equation_18([runs]), in_the_corner),
        # At c_η = 1/8 the limit is far below any output.
        "step_constant": lambda: (at(equation_18, **EIGHTH[0]), at(equation_18, **EIGHTH[1])),
        "width": lambda: (with_width(equation_18, 65), with_width(equation_18, 64)),
    },
)


def test_control_a_larger_output_is_not_reached(corner):
    assert broken_in(equation_18([corner], limit=lambda k, c, gamma: 3.0)) == [OUTPUT, SECOND]


def test_control_a_limit_just_above_the_smallest_output():
    smallest = number(equation_18([in_the_corner()]).measured)
    assert OUTPUT in broken_in(equation_18([in_the_corner()], limit=lambda k, c, gamma: smallest + 1e-6))
    assert OUTPUT not in broken_in(equation_18([in_the_corner()], limit=lambda k, c, gamma: smallest - 1e-6))


def test_control_the_first_line_of_equation_18(corner):
    """The filters of its cone less all of u: an output on {3} below that by 1e-6."""
    evidence = equation_18([altered(corner, outputs=((slice(None), set_index(3)), 0.2))])
    assert evidence.verdict is Verdict.VIOLATED
    assert broken_in(evidence) == [FIRST]
    assert part(evidence, FIRST).broken == 1115


def test_control_the_second_line_of_equation_18(corner):
    """All u filters four times as large: the chain is too low, whatever the outputs."""
    heavier = altered(corner, final=((slice(None), slice(120, None)), 4 * corner.final[:, 120:]))
    assert broken_in(equation_18([heavier])) == [SECOND]


test_every_part_has_a_control = every_part_of(generalization, elsewhere=(proposition_e_18, proposition_e_22))
